#!/bin/sh
# What a fence takes in a loop, as Burtchell and Burtscher (IISWC 2024) measure it: the difference of a loop with and one without (traces/accesses/fence_loop.cu).
# In print are 640 to 715 cycles on a RTX 2070 Super, 680 to 790 on an A100, 870 to 930 on a RTX 4090; an RTX 3070 is between the first and the last. An H200 takes
# 1052 (one thread) and 1070 (32 threads on words side by side), as measured with the same program, 2000 rounds. Where the words lie decides a tenth (950 to 1113 by seed): the median of three seeds. TAP.
set -eu
. "$SRCDIR/tests/script/tap.sh"
rounds=200

# cycles MACHINE FENCE CODE THREADS SEED
cycles() {
  "$LOCKSTEP" run "$SRCDIR/traces/accesses/fence_loop.yaml" -m "$1" --code "$3" -p rounds=$rounds -p step=1 -p "fence=$2" -p "threads=$4" --seed "$5" --format csv 2>/dev/null |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i } NR == 2 { print $column["cycles"] }'
}

# within MACHINE CODE THREADS LEAST MOST
within() {
  fence=$(for seed in 1 2 3; do
    echo $((($(cycles "$1" 1 "$2" "$3" $seed) - $(cycles "$1" 0 "$2" "$3" $seed)) / rounds))
  done | sort -n | sed -n 2p)
  point "$1, $2, $3 threads: $4 to $5 cycles a fence" "$(test "$fence" -ge "$4" -a "$fence" -le "$5" || echo "$fence cycles")"
}

plan 6
within rtx3070 ptx 1 640 930
within rtx3070 ptx 32 640 930
within h200 ptx 1 946 1158
within h200 ptx 32 963 1177
within h200 sass 1 946 1158
within h200 sass 32 963 1177
finish
