#!/bin/sh
# The programs of tests/corpus/ end the same way under the other branch order, the other policy and other seeds (TAP,
# one point for each schedule): their verdicts are proved for every schedule, or the program is live under every one.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR/tests/corpus"

# The files that the test suite runs: x.yaml stands for x.sass. Those that end by a limit, and those that run long, are left out: no schedule
# changes that.
list_corpus() {
  for file in $(grep -L -e '^program: .*\.ptx' ./*.yaml); do
    case "$(sed -n 's/^machines: //p' "$file")" in
    '' | *gtx570[],]*) echo "$file" ;;
    esac
  done
  for file in *.sass; do
    case $file in undecided_* | slow_chain_live* | fault_after_long_walk* | spin_attempt_limit_high_live*) continue ;; esac
    test -f "${file%.sass}.yaml" || echo "$file"
  done
}

# check NAME OPTION...: all programs in one go; complains about those that don't end as they expect.
check() {
  name=$1
  shift
  complaint=
  # shellcheck disable=SC2046 # one word for each file
  "$LOCKSTEP" run $(list_corpus) -m gtx570 "$@" >"$folder/out" 2>"$folder/err" ||
    complaint="exit status $?: lockstep run $*
$(awk '/ on gtx570: / { heading = $0 } /^not as expected/ { print heading; lines = 4 } lines-- > 0' "$folder/out")
$(head -c 2000 "$folder/err")"
  point "$name" "$complaint"
}

# Each change alone is a schedule of `lockstep check` (corpus_check.sh).
plan 3
check "youngest, the other branch order" -s sm.policy=youngest -s sm.simt_stack.branch_order=fallthrough-first
check "seed 7, no jitter" --seed 7 -s sm.jitter_cycles=0
check "seed 5, much jitter" --seed 5 -s sm.jitter_cycles=40
finish
