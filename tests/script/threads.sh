#!/bin/sh
# A run comes out the same, byte by byte, however many threads share its SMs: each scenario of traces/, for its first 100,000 cycles (TAP).
# Four threads and one, and two for each third scenario: other numbers of threads share windows in the same way. All run in one process; if
# something differs, each alone.
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

same() { # same "THREADS..." SCENARIO...: what differs from one thread
  numbers=$1
  shift
  run 1 "$@" >"$folder/1"
  grep -q '"verdict"' "$folder/1" || head -5 "$folder/1"
  for more in $numbers; do
    run "$more" "$@" >"$folder/more"
    diff "$folder/1" "$folder/more" | head -10
  done
}

all=$(ls traces/*/*.yaml)
first=$(echo "$all" | awk 'NR % 3 == 1' | grep -vxF "$long")
others=$(echo "$all" | awk 'NR % 3 != 1' | grep -vxF "$long")
# shellcheck disable=SC2086 # words
different=$(same "2 4" $first; same 4 $others; same 4 "$long")

# shellcheck disable=SC2086 # words
plan "$(echo $all | wc -w)"
for scenario in $all; do
  numbers=4
  test $((number % 3)) != 0 || numbers="2 4"
  # shellcheck disable=SC2154 # tap.sh counts the points
  point "${scenario#traces/}" "$(test -z "$different" || same "$numbers" "$scenario")"
done
finish
