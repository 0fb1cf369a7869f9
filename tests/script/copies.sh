#!/bin/sh
# Asynchronous copies to shared memory, as machine code of tests/machine_code/copies.cu (TAP): an access before the wait is a hazard, one of
# another thread behind the wait alone a race, and programs with both the wait and a barrier are clean.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"
launch="--grid 2 --block 96 --buffer out=192 --buffer in=192:1 --arg out --arg in"

plan 16
# shellcheck disable=SC2086 # options
for at in 86:rtx3070 90:h200; do
  program=$SRCDIR/tests/machine_code/copies.sm_${at%:*}.cubin machine=${at#*:}
  for kernel in sizes filled stages pipelined together waited; do
    expect "$kernel on $machine" 0 '^copies.sm_.. on [a-z0-9]*: completed' "$LOCKSTEP" check "$program" -m "$machine" \
      --kernel $kernel $launch
  done
  expect "before the wait on $machine" 1 'copies.cu:105: warning: hazard: .* which the asynchronous copy .* \(line 102\) writes' \
    "$LOCKSTEP" check "$program" -m "$machine" --kernel unwaited $launch
  expect "another thread's on $machine" 1 'data-race: .* read .* shared address' "$LOCKSTEP" check "$program" -m "$machine" \
    --kernel unordered $launch
done
finish
