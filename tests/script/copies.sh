#!/bin/sh
# Asynchronous copies to shared memory, as machine code and PTX of tests/machine_code/copies.cu (TAP): an access before the wait is a hazard, one of
# another thread behind the wait alone a race, and programs with both the wait and a barrier are clean.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"
launch="--grid 2 --block 96 --buffer out=192 --buffer in=192:1 --arg out --arg in"

plan 34
# shellcheck disable=SC2086 # options
for at in 86.cubin:rtx3070 90.cubin:h200 80.ptx:rtx3070 90.ptx:h200; do
  program=$SRCDIR/tests/machine_code/copies.sm_${at%:*} machine=${at#*:}
  for kernel in sizes filled stages pipelined together waited; do
    expect "$kernel of $at" 0 '^copies.sm_.. on [a-z0-9]*: completed' "$LOCKSTEP" check "$program" -m "$machine" \
      --kernel $kernel $launch
  done
  expect "before the wait of $at" 1 'copies.cu:105: warning: hazard: .* which the asynchronous copy .* \(line 102\) writes' \
    "$LOCKSTEP" check "$program" -m "$machine" --kernel unwaited $launch
  expect "another thread's of $at" 1 'data-race: .* read .* shared address' "$LOCKSTEP" check "$program" -m "$machine" \
    --kernel unordered $launch
done
check_set="--schedules 1 --kernel k --grid 1 --block 64 --buffer in=512:iota --buffer out=64 --arg in --arg out --arg 4"
# shellcheck disable=SC2086 # words
expect "a scoreboard that a DEPBAR names beside its own" 0 'completed' "$LOCKSTEP" check "$SRCDIR/tests/machine_code/depbar_set.sm_86.cubin" -m rtx3070 $check_set
point "is waited for" "$(grep hazard "$folder/out" || :)"
finish
