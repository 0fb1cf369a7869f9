#!/bin/sh
# `lockstep run` against a real H200 that ran the same PTX (validation/hardware/run_ptx_h200.csv): whether a program
# hangs, and each buffer that all runs of the GPU left alike. TAP, two points for each folder and machine.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
measured=validation/hardware/run_ptx_h200.csv

# Where lockstep is known to differ, and why: "SCENARIO outcome" or "SCENARIO BUFFER".
known="
"

# scenario_of ROWS FILE: FILE with what the GPU did as its expectation, on each machine.
scenario_of() {
  awk -v path="$(pwd)/${2%/*}/" '/^expect/ { skip = 1; next } /^[a-z]/ { skip = 0 }
    /^program: / { sub(/^program: */, "program: " path) } !skip' "$2"
  awk -F, '{ if ($2 == "completed" && $3 == $5) list = list "    " $4 ": [" $7 "]\n"; outcome = $2 }
    END { print "expect:"
      if (outcome == "completed")
        print "  verdict: completed\n  findings: [partial-barrier, data-race]"
      else
        print "  verdict: [livelock, simd-deadlock, lock-order-deadlock, alias-deadlock, barrier-deadlock, residency-deadlock, orphan-wait]"
      if (list != "") { gsub(/ /, ", ", list); gsub(/, , , , /, "    ", list); gsub(/:, /, ": ", list); printf "  buffers:\n%s", list } }' "$1"
}

# compare FOLDER MACHINE: complaints go to $folder/outcomes and $folder/buffers.
compare() {
  : >"$folder/outcomes"
  : >"$folder/buffers"
  for name in $(sed -n "s|^\\($1/[^,]*\\),.*|\\1|p" "$measured" | uniq); do
    grep -q "^machines:.*\\<$2\\>" "$name.yaml" || continue
    grep "^$name," "$measured" >"$folder/rows"
    scenario_of "$folder/rows" "$name.yaml" >"$folder/case.yaml"
    "$LOCKSTEP" run "$folder/case.yaml" -m "$2" --format json >"$folder/out" 2>"$folder/err" || :
    cat "$folder/case.yaml" >"$folder/last.yaml"
    grep -A20 '"failures"' "$folder/out" | sed -n '/"failures"/,/\]/p' >"$folder/failures"
    echo "== $name on $2"; cat "$folder/failures"; grep '"verdict"' "$folder/out" || cat "$folder/err"
  done
}
for m in h200 gtx1080ti; do for f in tests/divergent traces/slides traces/blog; do test $m = h200 || test $f = tests/divergent || continue; compare $f $m; done; done
