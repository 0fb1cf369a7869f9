#!/bin/sh
# Barriers in shared memory, as machine code and PTX of tests/machine_code/mbarrier.cu (TAP): an arrival that is missing and a wait that is missing
# are named, and programs that have both are clean.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"
programs=$SRCDIR/tests/machine_code
launch="--grid 2 --block 96 --buffer out=192 --buffer in=192:1 --arg out --arg in"

plan 28
# shellcheck disable=SC2086 # options
for at in 86.cubin:rtx3070 90.cubin:h200 80.ptx:rtx3070 90.ptx:h200; do
  program=$programs/mbarrier.sm_${at%:*} machine=${at#*:}
  for kernel in rounds drops raw hopper; do
    expect "$kernel of $at" 0 '^mbarrier.sm_.. on [a-z0-9]*: completed' "$LOCKSTEP" check "$program" -m "$machine" \
      --kernel $kernel $launch
  done
  expect "an arrival is missing of $at" 1 \
    'orphan-wait: lanes 0-4, 6-31 of warp 0 of block 0 wait for shared address 0x4(04)? to change' "$LOCKSTEP" check \
    "$program" -m "$machine" --kernel missing $launch
  point "and the line that waits" "$(grep -q 'inlined in .*mbarrier.cu:101 (.while (!mb_test(&barrier, state)).)' out || cat out)"
done
# shellcheck disable=SC2086 # options
for at in 86.cubin:rtx3070 90.cubin:h200 80.ptx:rtx3070 90.ptx:h200; do
  expect "a wait is missing of $at" 1 'data-race: .* shared address .* nothing orders' "$LOCKSTEP" check \
    "$programs/mbarrier.sm_${at%:*}" -m "${at#*:}" --kernel unwaited $launch
done
finish
