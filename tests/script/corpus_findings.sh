#!/bin/sh
# `lockstep run` (of dispatch-order, and where only a warp that is held up shows it: `check`) finds what the scenarios of tests/corpus/ list as misuse, on each machine that they name (TAP): the tests of
# the scenarios themselves only tell that nothing else is found.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# missed ID: scenarios that list the finding, and in whose run it isn't.
missed() {
  for file in $(grep -lE "^  findings: .*\<$1\>" tests/corpus/*.yaml); do
    for machine in $(sed -n 's/^machines: *\[\(.*\)\]/\1/p' "$file" | tr ',' ' '); do
      "$LOCKSTEP" run "$file" -m "$machine" >"$folder/out" 2>"$folder/err" || :
      grep -q ": warning: $1: " "$folder/out" || "$LOCKSTEP" check "$file" -m "$machine" >"$folder/out" 2>"$folder/err" || :
      grep -q ": warning: $1: " "$folder/out" || echo "$file on $machine: no $1"
    done
  done
  grep -qE "^  findings: .*\<$1\>" tests/corpus/*.yaml || echo "no scenario lists $1"
}

# reliances: scenarios whose `lockstep check` doesn't find what they list, dispatch-order or nothing.
reliances() {
  for file in tests/corpus/cuda_dispatch_*.yaml; do
    machine=$(sed -n 's/^machines: *\[\(.*\)\]/\1/p' "$file")
    "$LOCKSTEP" check "$file" -m "$machine" --seeds 1 -j 2 >"$folder/out" 2>"$folder/err" || echo "$file: exit status $?"
    listed=$(grep -c '^  findings: .*dispatch-order' "$file" || :)
    found=$(grep -c ': warning: dispatch-order: ' "$folder/out" || :)
    test "$listed" = "$found" || echo "$file: dispatch-order found $found times"
  done
}

plan 6
for id in partial-barrier sync-mask uninitialized-read unset-register hazard; do
  point "each $id that is listed" "$(missed $id)"
done
point "dispatch-order where it is listed, and nowhere else" "$(reliances)"
finish
