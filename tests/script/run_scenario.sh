#!/bin/sh
# Usage: run_scenario.sh FILE - runs a scenario, or a bare program, on each machine that it names (TAP, one point each):
# `lockstep run` must exit 0, which means that the run ended as FILE expects.
set -eu
file=$1
# `machines: [a, b]`, or a list with one `- a` on each line.
machines=$(awk '
  /^machines:/ { line = $0; sub(/^machines:/, "", line); sub(/#.*/, "", line); gsub(/[][,"]/, " ", line); print line
                 inside = 1; next }
  inside && /^ *- / { line = $0; sub(/#.*/, "", line); sub(/^ *- */, "", line); print line; next }
  { inside = 0 }' "$file")
# shellcheck disable=SC2086,SC2116 # joins the lines
machines=$(echo $machines)
test -n "$machines" || machines=gtx570
# shellcheck disable=SC2086 # one word for each machine
set -- $machines
echo "1..$#"
number=0
failed=0
for machine; do
  number=$((number + 1))
  status=0
  output=$("$LOCKSTEP" run "$file" -m "$machine" 2>&1) || status=$?
  if test "$status" = 0; then
    echo "ok $number - $machine"
  else
    failed=1
    echo "not ok $number - $machine: exit status $status"
    printf '%s\n' "$output" | sed 's/^/# /'
  fi
done
exit $failed
