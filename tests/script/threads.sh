#!/bin/sh
# A run comes out the same, byte by byte, however many threads share its SMs: each scenario of traces/, for its first 100,000 cycles (TAP).
# Four threads and one, and two for each third scenario: other numbers of threads share windows in the same way.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

run() { # run THREADS SCENARIO
  small=
  case $2 in */barrier_over_capacity_h200.yaml) small='-p blocks=33 -s gpu.sms=16' ;; esac # the proof takes seconds, in one thread
  # shellcheck disable=SC2086 # some words
  "$LOCKSTEP" run --threads "$1" --limit-cycles 100000 --format json "$2" $small 2>&1 </dev/null || :
}

# shellcheck disable=SC2012
plan "$(ls traces/*/*.yaml | wc -l)"
for scenario in traces/*/*.yaml; do
  run 1 "$scenario" >"$folder/1"
  difference=
  numbers=4
  test $((number % 3)) != 0 || numbers="2 4"
  for threads in $numbers; do
    run "$threads" "$scenario" >"$folder/$threads"
    difference=$difference$(diff "$folder/1" "$folder/$threads" | head -10)
  done
  point "${scenario#traces/}" "$difference"
done
finish
