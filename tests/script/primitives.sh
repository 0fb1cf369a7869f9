#!/bin/sh
# The primitives between blocks (TAP): `check` finds nothing wrong with those that have fences, and the race in each as the paper prints it.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

check_complaint() { # FILE MACHINE [ARGUMENT...]
  file=$1
  machine=$2
  shift 2
  "$LOCKSTEP" check "traces/primitives/section_$file.yaml" -m "$machine" "$@" >"$folder/out" 2>&1 || tail -5 "$folder/out"
  grep -q ": completed (the worst of" "$folder/out" || echo "no verdict"
}
safe_complaint() {
  check_complaint "$@"
  grep -E 'warning|error|timing' "$folder/out" | grep -v 'timing-dependent-starvation' || :
}
racy_complaint() {
  check_complaint "$@" --seeds 1 # a race comes up under the first seed, or it is none of those
  grep -q 'warning: data-race' "$folder/out" || echo "no data race is found"
}

# Each row of a suite is run with three blocks of an operation, since only the file is under test.
suite_complaint() {
  for suite in table5 section6 semaphores places; do
    sed -E 's/blocks=[0-9]+ ops=[0-9]+/blocks=3 ops=1/; s/imin=[0-9]+ imax=[0-9]+/imax=2/' \
      "validation/published/stuart2011_$suite.csv" >"$folder/$suite.csv"
  done
  "$LOCKSTEP" validate "$folder/table5.csv" "$folder/section6.csv" "$folder/semaphores.csv" "$folder/places.csv" --format csv \
    >"$folder/out" 2>"$folder/err" || cat "$folder/err"
  rows=$(grep -cE '^(table5|section6|semaphores|places),' "$folder/out" || :)
  wanted=$(cat "$folder"/table5.csv "$folder"/section6.csv "$folder"/semaphores.csv "$folder"/places.csv | grep -cE '^"?GTX')
  test "$rows" = "$wanted" || echo "$rows rows, expected $wanted"
  grep -E '^(table5|section6|semaphores|places),' "$folder/out" | grep -v ',completed,yes,' || :
}

# Metrics that count, by figures that don't hang on the number of blocks.
count_complaint() {
  for row in 'XF, blocks at once.*,180,180' 'atomic, blocks at once.*,128,128' 'FA, atomics.*,1,1' 'XF, atomics.*,0,0'; do
    grep -q "$row," "$folder/out" || { echo "no row $row" && grep "${row%%.*}" "$folder/out"; }
  done
}

printed="barrier_xf barrier_atomic mutex_spin mutex_spin_backoff mutex_spin_then_backoff mutex_fa mutex_fa_backoff mutex_ring
semaphore_spin semaphore_spin_backoff semaphore_sleep"
plan $((11 * 4 + 2 * 3 + 2 * 2 + 2 * 2 + 12 + 8))
for name in $printed; do
  for machine in gtx580 h200; do
    point "$name on $machine" "$(safe_complaint "$name" $machine)"
    point "$name as printed on $machine: a race" "$(racy_complaint "${name}_printed" $machine)"
  done
done
for name in condition readers_writers; do
  for machine in gtx580 rtx3070 h200; do
    point "$name on $machine" "$(safe_complaint $name $machine)"
  done
done
for machine in gtx580 h200; do
  point "a barrier of two stages on $machine" "$(safe_complaint barrier_atomic $machine -p stages=2)"
  point "a barrier of two stages as printed on $machine: a race" "$(racy_complaint barrier_atomic_printed $machine -p stages=2)"
done
for sleeps in 0 1; do
  for machine in gtx580 h200; do
    point "posts before waits, sleeps=$sleeps, on $machine" "$(safe_complaint semaphore_ahead $machine -p sleeps=$sleeps)"
  done
done
for kind in 0 1 2 3; do
  point "barrier $kind, in launches that go on with its words" "$(safe_complaint barrier_again h200 -p kind=$kind --seeds 1)"
done
point "a barrier that isn't told of the launch before: a race" "$(racy_complaint barrier_again_untold h200)"
for name in block_condition block_readers_writers; do
  point "$name" "$(safe_complaint $name h200 --seeds 1)"
done
point "more blocks than threads" "$(safe_complaint barrier_xf_many gtx1080ti)"
point "the second block is the checker" "$(safe_complaint barrier_xf rtx3070 -p checker=1)"
point "a flag behind the counter" "$(safe_complaint barrier_atomic rtx3070 -p flag=1)"
point "a store unlocks" "$(safe_complaint mutex_spin rtx3070 -p store=1)"
point "a store puts the count back" "$(safe_complaint semaphore_spin rtx3070 -p store=1 -p initial=2)"
point "two within a sleeping semaphore" "$(safe_complaint semaphore_sleep gtx1080ti -p initial=2 -p blocks=4)"
point "a broadcast" "$(safe_complaint condition h200 -p broadcast=1)"
point "a turn that equals the ticket is too early" "$(racy_complaint semaphore_sleep_reached h200)"
point "what the paper says is read" "$(suite_complaint)"
point "blocks at once, atomics of an operation" "$(count_complaint)"
point "a ring has a slot for each block" "$("$LOCKSTEP" sweep traces/primitives/mutex_ring.yaml -m gtx1080ti -p ops=1 -p blocks=256,257,448 2>&1 | grep -v -e '^scenario' -e ': note:' -e ',completed,' || :)"
expect "a barrier of three stages" 3 "param .stages. is 3, expected 1 to 2" "$LOCKSTEP" run traces/primitives/barrier_atomic.yaml -m gtx1080ti -p stages=3
expect "a ring with fewer slots than blocks" 3 "param .size. is 4, expected a power of two, at least 9" \
  "$LOCKSTEP" run traces/primitives/section_mutex_ring.yaml -m h200 -p blocks=9
finish
