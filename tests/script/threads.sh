#!/bin/sh
# A run comes out the same, byte by byte, however many threads share its SMs: each scenario of traces/, for its first 100,000 cycles (TAP).
# One, two and four threads: other numbers share windows in the same way. All run in one process; if something differs, each alone.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
long=traces/slides/barrier_over_capacity_h200.yaml # the proof takes seconds, in one thread

run() { # run THREADS SCENARIO...
  threads=$1
  shift
  small=
  test "$1" != "$long" || small='-p blocks=33 -s gpu.sms=16'
  # shellcheck disable=SC2086 # some words
  "$LOCKSTEP" run --threads "$threads" --limit-cycles 100000 --format json "$@" $small 2>&1 </dev/null || :
}

same() { # same SCENARIO...: what differs from one thread
  run 1 "$@" >"$folder/1"
  grep -q '"verdict"' "$folder/1" || head -5 "$folder/1"
  for more in 2 4; do
    run "$more" "$@" >"$folder/more"
    diff "$folder/1" "$folder/more" | head -10
  done
}

all=$(ls traces/*/*.yaml)
# shellcheck disable=SC2046 # words
different=$(same $(echo "$all" | grep -vxF "$long"); same "$long")

# shellcheck disable=SC2086 # words
plan "$(echo $all | wc -w)"
for scenario in $all; do
  point "${scenario#traces/}" "$(test -z "$different" || same "$scenario")"
done
finish
