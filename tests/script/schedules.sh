#!/bin/sh
# `lockstep check --schedules` (TAP): how many schedules it tries, what it says of results and verdicts that depend on them, and
# that the command it names runs the worst again.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

check() { # check SCENARIO OPTION...: its output in $folder/out
  "$LOCKSTEP" check "$@" >"$folder/out" 2>"$folder/err" || :
}

expects() { # complains unless the output has the line or words $1
  grep -qF -e "$1" "$folder/out" || { echo "no \`$1\` in" && head -20 "$folder/out" "$folder/err"; }
}

refuses() { # refuses WORDS OPTION...: wrong usage with these words
  words=$1
  shift
  status=0
  "$LOCKSTEP" check traces/slides/k1.yaml "$@" >"$folder/out" 2>&1 || status=$?
  test "$status" = 2 || echo "exit status $status"
  expects "$words"
}

plan 21
check traces/slides/k1.yaml -m h200 --schedules 30
point "as many schedules as asked for" "$(expects '(the worst of 30 schedules)'
  expects '  random               fallthrough-first  1,2 ')"
point "one result under all of them" "$(expects 'the same result under 30 schedules: gg = -1, success = 1 0 1, thread = 0 -1 1')"
check traces/slides/k1.yaml -m h200 --schedules 3 --format json
point "each schedule of JSON names its result" "$(test "$(grep -c '"result" : 1' "$folder/out")" = 3 || cat "$folder/out"
  expects '"again" : null')"
check traces/slides/list_lock_then_copy.yaml -m gtx1080ti --schedules 16
point "results that differ are a note" "$(expects 'note: result-depends-on-schedule: the result depends on the schedule: '
  expects 'result 2, 2 schedules: -s sm.policy=youngest -s sm.simt_stack.branch_order=taken-first --seed 1: head[0] is 4 instead of 8'
  expects 'completed, result 2'
  expects 'as expected')"
check traces/slides/lock_v1_warps.yaml -m h200 --schedules 8 -s sm.jitter_cycles=3
again=$(sed -n 's/^  again: lockstep //p' "$folder/out")
verdict=$(sed -n '1s/.*: \([a-z-]*\) (.*/\1/p' "$folder/out")
# shellcheck disable=SC2086 # words
"$LOCKSTEP" $again >"$folder/out" 2>&1 || :
point "the worst schedule can be run again" "$(expects "lock_v1_warps on h200: $verdict (seed")"
check tests/corpus/alias_barrier.sass -m gtx570 --schedules 1 -s 'sm.policy = random' -s sm.jitter_cycles=3
again=$(sed -n 's/^  again: lockstep //p' "$folder/out")
# shellcheck disable=SC2086 # words
"$LOCKSTEP" $again >"$folder/out" 2>&1 || :
point "where it takes the place of a change, too" "$(expects 'alias_barrier on gtx570: alias-deadlock (seed 1, -s sm.jitter_cycles=3 -s sm.policy=')"
"$LOCKSTEP" machine show gtx570 >"$folder/my machine.yaml"
check tests/corpus/alias_barrier.sass -m "$folder/my machine.yaml" --schedules 1
point "on a machine of a file" "$(expects "  again: lockstep run tests/corpus/alias_barrier.sass -m '$folder/my machine.yaml' -s ")"
for jobs in 1 2 5; do
  "$LOCKSTEP" check traces/slides/list_lock_then_copy.yaml traces/slides/k1.yaml -m gtx1080ti -m h200 -j "$jobs" --format json \
    >"$folder/jobs$jobs" 2>&1 || :
done
point "the same output on any number of threads" "$(for jobs in 2 5; do
  cmp "$folder/jobs1" "$folder/jobs$jobs" || :
done
  grep -q '"schedules"' "$folder/jobs1" || head -5 "$folder/jobs1")"
point "no negative number of threads" "$(refuses '--jobs must be between 0 and 1024' -j -1)"
point "not with --seeds" "$(refuses 'give --seeds or --schedules' --seeds 2 --schedules 2)"
point "at least one" "$(refuses '--schedules must be between 1 and 1000000' --schedules 0)"
status=0
"$LOCKSTEP" run traces/slides/k1.yaml --schedules 2 >"$folder/out" 2>&1 || status=$?
point "an option of check only" "$(expects 'unknown option --schedules' || test "$status" = 2)"

# Peterson's lock between distant blocks, with the expectation that they exclude each other: without fences both come in (a load overtakes
# a store), and the seed that is named shows it again; with fences they never do.
sed -e "s|^program: |program: $PWD/traces/slides/|" traces/slides/peterson_rounds.yaml >"$folder/peterson.yaml"
printf '  buffers:\n    section: [0, 0, 40]\n' >>"$folder/peterson.yaml"
check "$folder/peterson.yaml" -m h200 --schedules 24
seed=$(sed -n 's/^  section\[1\] is .* expected 0 .*(policy .*, seed \([0-9]*\))$/\1/p' "$folder/out" | head -n 1)
point "both inside without fences, with a seed" "$(test -n "$seed" || expects 'section[1] is ')"
"$LOCKSTEP" run "$folder/peterson.yaml" -m h200 --seed "${seed:-1}" >"$folder/out" 2>&1 || :
point "and again with that seed" "$(expects 'section[1] is ')"
check traces/slides/peterson_rounds_fence.yaml -m h200 --schedules 24
point "never with fences" "$(grep -qx 'as expected' "$folder/out" || head -20 "$folder/out")"

# Where one waits asleep only if the other was held up: a hang is proved, and what just takes long is left, and said to be.
for machine in h200 gtx1080ti; do
  check tests/corpus/cuda_slow_wait_untold.yaml -m "$machine"
  point "a hang of library code that sleeps, $machine" "$(expects ": orphan-wait (the worst of "
    expects 'flag[0] (global 0x10400) to change from 0; nobody is left'
    ! grep 'not finished' "$folder/out")"
done
check tests/corpus/cuda_arrives_twice.yaml -m h200
point "a warp that is held up behind a barrier" "$(expects ': barrier-deadlock (the worst of '
  expects 'error: barrier-deadlock: all 32 lanes of warp 0 of block 0 wait at barrier 2 (32 of 64 threads have come)')"
check tests/corpus/cuda_slow_sleep.yaml -m h200
point "schedules that weren't finished" "$(expects 'cuda_slow_sleep on h200: completed'
  expects 'not finished: 6 of the 88 schedules in which warps are held up, after up to '
  expects '  to go on: lockstep run tests/corpus/cuda_slow_sleep.yaml -m h200 '
  expects ' -s sm.held_up=20000 -s sm.held_once=2 --seed 1')"
check tests/corpus/cuda_slow_sleep.yaml -m h200 --format json
point "the same in JSON" "$(expects '"held_up_unfinished" : {'
  expects '"tried" : 88')"

# The race shows under an earlier schedule than the hang, which has it, too: its repairs were tried under the first.
check tests/corpus/cuda_named_groups_one.yaml -m h200 --seed 7
point "a race beside a later hang, with what was tried" "$(expects 'cuda_named_groups_one on h200: barrier-deadlock'
  expects 'repair: put __syncthreads() behind the store of `word[thread] += thread;` in line 13, before the load of ')"
finish
