#!/bin/sh
# Asynchronous copies that arrive at a barrier in shared memory, as machine code and PTX of tests/machine_code/arrivals.cu
# (TAP): an access without a wait is a hazard, a thread that doesn't arrive beside its copies leaves the others waiting, and
# their twins are clean.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"
launch="--grid 2 --block 96 --buffer out=192 --buffer in=192:1 --arg out --arg in"

plan 28
# shellcheck disable=SC2086 # options
for at in 86.cubin:rtx3070 90.cubin:h200 80.ptx:rtx3070 90.ptx:h200; do
  program=$SRCDIR/tests/machine_code/arrivals.sm_${at%:*} machine=${at#*:}
  for kernel in added counted library alone; do
    expect "$kernel of $at" 0 '^arrivals.sm_.. on [a-z0-9]*: completed' "$LOCKSTEP" check "$program" -m "$machine" \
      --kernel $kernel $launch
  done
  expect "no wait, $at" 1 'arrivals.cu:99: warning: hazard: .* which the asynchronous copy .* \(line 96\) writes' \
    "$LOCKSTEP" check "$program" -m "$machine" --kernel unwaited $launch
  expect "nobody arrives beside the copies, $at" 1 \
    'orphan-wait: all 32 lanes of warp . of block . wait for shared address 0x4(04)? to change' "$LOCKSTEP" check "$program" \
    -m "$machine" --kernel missing $launch
  point "and the line that waits, $at" "$(grep -q 'inlined in .*arrivals.cu:112 (.wait(&barrier, 0);.)' out || cat out)"
done
finish
