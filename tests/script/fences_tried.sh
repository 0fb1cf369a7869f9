#!/bin/sh
# `lockstep check` names the fences that a program of tests/corpus/ lacks: each has been tried, by a run with it or in what the run knows,
# and none is named that doesn't help (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# names SCENARIO PATTERN [CODE]: the repair of some finding matches the extended regular expression; of none: no fence is proposed.
# What is listed is told: corpus_check.sh leaves these to this script.
names() {
  "$LOCKSTEP" check "tests/corpus/$1.yaml" -m h200 ${3:+--code "$3"} >"$folder/out" 2>"$folder/err" || echo "exit status $?"
  for id in data-race unordered-access; do
    ! grep -q "^  findings:.*$id" "tests/corpus/$1.yaml" || grep -q ": warning: $id: " "$folder/out" || echo "no $id"
  done
  grep '^  repair: ' "$folder/out" >"$folder/repairs" || echo "no repair"
  if test "$2" = none; then
    ! grep -E '__threadfence\(\)' "$folder/repairs"
  else
    grep -qE "$2" "$folder/repairs" || cat "$folder/repairs"
  fi
}

plan 22
point "the one that a value that can't be told from an older one needs, where two words share a line" \
  "$(names cuda_entry_fast_second 'behind the store of `\*x = me;` in line 101 and before .* in line 103; tried: ')"
point "one in a loop, which the first look doesn't pass" \
  "$(names cuda_entry_dekker_second 'behind the store of `wants\[me\] = 1;` in line 44 and before .* in line 38; tried: ')"
point "both that a lock lacks" \
  "$(names cuda_late_fast_both 'behind the store of `\*[xy] = me;` .*, and behind the store of `\*[xy] = me;` .*; tried: [0-9]+ runs with them')"
point "one for who waits for ever" \
  "$(names cuda_late_mcs_no_fence 'behind the store of `mine->locked = 1;` .* before the atomic operation of .*atomicExch')"
point "one for who waits for ever, between words of one line" \
  "$(names cuda_event_count_unfenced 'behind the store of `events->count = i \+ 1;` in line 11 .* in line 14; tried: ')"
point "the same of machine code, in whose PTX fences are tried" \
  "$(names cuda_szymanski 'behind the store of `flag\[me\] = 3;` in line 9 and before the load of .* in line 14; tried: ' sass)"
point "those of a lock about atomic operations, which only the result shows" \
  "$(names cuda_unexpected_entry 'behind the store of `\*turn = other;` in line 10 and before the load of .*; tried: [0-9]+ runs with them')"
point "both of a seqlock's writer, which only the result shows" \
  "$(names cuda_unexpected_numbers 'behind the store of .* in line 32 and .*, and behind the store of .* in line 36 .*; tried: [0-9]+ runs with them')"
point "one in a call whose loop has copies, and no other" \
  "$(names cuda_deque_unfenced 'behind the store of `bottom.store\(place, [^`]*` in line 29 and before [^`]*`[^`]*` in line 32; tried: ')"
point "none for a lock that nobody locks" "$(names cuda_late_mcs_unlocked none)"
point "one behind an atomic operation" "$(names cuda_late_hazard_no_fence 'behind the atomic operation of .*exchange.*; tried: ')"
point "one behind a load whose loop has copies" "$(names cuda_late_tournament_load '^  repair: put __threadfence\(\) behind `while .* in line 130')"
point "one before a store whose loop has copies" "$(names cuda_late_tournament_store '^  repair: put __threadfence\(\) before .* in line 133')"
point "a seqlock's first" "$(names cuda_seqlock_no_first '^  repair: put __threadfence\(\) right behind the change, .* in line 70')"
point "a seqlock's second" "$(names cuda_seqlock_no_second '^  repair: put __threadfence\(\) right before the second look, .* in line 93')"
point "a seqlock's second, with which the next round begins" \
  "$(names cuda_seqlock_turned_no_second '^  repair: put __threadfence\(\) right before the second look, `int after = .* in line 67')"
point "one between atomic operations and the count behind them" \
  "$(names cuda_sums_no_release '^  repair: put __threadfence\(\) before .*atomicAdd\(count, 1\)')"
point "a barrier of the block before its count, or behind a wait for it, beside an atomic operation" \
  "$(for side in no_barrier no_barrier_behind; do names "cuda_sums_$side" 'hint, .* __syncthreads\(\) between'; done)"
point "a barrier of the block before its count" "$(names cuda_rows_no_barrier '^  repair: hint, not tried in the model: put __syncthreads\(\) behind')"
point "a barrier of the warp behind a look" "$(names cuda_own_item_warp_once '^  repair: put __syncwarp\(\) behind `unsigned mine = item\[warp\];` in line 11')"
point "one of the block, where other warps look, too" "$(names cuda_own_item_block_once '^  repair: put __syncthreads\(\) behind the load of .* in line 25')"
point "a barrier of the block behind a wait" "$(names cuda_rows_no_barrier_behind 'hint, .* __syncthreads\(\) between')"
finish
