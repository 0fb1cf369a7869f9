#!/bin/sh
# Tables of validation/hardware whose programs print the same rows on a GPU and in lockstep (mem_kinds, mem_flow, mem_size, mem_cross, mem_bins, mem_after, mem_gather, mem_hot, mem_ways, mem_try, mem_look, mem_crowded, mem_window, mem_shapes, mem_pairs, mem_far, mem_fences, mem_order, mem_critical, mem_vectors, mem_lanes, mem_spans): some of their rows beside an H200, as the
# machine code that is recorded beside them. TAP. MEASURED=all: all rows, which takes some minutes.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR/validation/hardware"

# compare TABLE LIMIT KNOWN CONDITION [RESULTS]: every third one of the rows of which the awk condition holds: mean error, and those above 30 % that KNOWN, a condition too, isn't true of. The last RESULTS columns (1) are
# what the program prints, the others parameters; the first of them is compared.
compare() {
  names=$(sed -n 2p "$1_h200.csv")
  awk -F, -v names="$names" 'FNR > 2 { print }' "$1_h200.csv" | awk -F, "$4" | awk "${all:-NR % 3 == 1}" >"$folder/rows"
  rm -f "$folder"/ran*
  awk -F, -v names="$names" -v results="${5:-1}" 'BEGIN { n = split(names, name, ",") } { for (i = 1; i <= n - results; i++) printf " -p %s=%s", name[i], $i; print "" }' "$folder/rows" |
    while read -r options; do
      ran="$folder/ran$(echo "$options" | tr -d ' ')" # some rows were measured twice
      # shellcheck disable=SC2086 # several options
      test -e "$ran" || "$LOCKSTEP" run "$1.yaml" --code sass $options 2>/dev/null </dev/null | sed -n 1p >"$ran"
      cat "$ran"
    done >"$folder/ours"
  paste -d, "$folder/rows" "$folder/ours" | awk -F, -v limit="$2" -v table="$1" -v results="${5:-1}" '
    { theirs = $(NF / 2 - results + 1); error = $(NF - results + 1) / theirs - 1; size = error < 0 ? -error : error; sum += size; if (size > worst) worst = size }
    size > 0.3 && !('"$3"') { print $0 }
    END {
      printf "# %s: %d rows, mean error %.1f %%, worst %.1f %%\n", table, NR, 100 * sum / NR, 100 * worst
      if (!NR || 100 * sum / NR > limit) printf "mean error %.1f %%\n", 100 * sum / NR
    }' >"$folder/wrong"
  grep '^#' "$folder/wrong"
  point "$1: as on the H200" "$(grep -v '^#' "$folder/wrong" || :)"
}

# crowded: mem_crowded with 131 blocks that crowd a word. Lines are told apart by what they wait for, which is another one's slice here: the word's slice, one of
# its plane, none of both. The median load of each kind, and that loads of the last kind don't wait. Posted additions don't fill the port here, which has more room.
crowded() {
  awk -F, '$1 == 5 && $2 == 131 { print ($5 > 24 * 3000 ? "slice" : $4 > 3300 ? "plane" : "none"), $5 / 24 }' mem_crowded_h200.csv >"$folder/theirs"
  for line in $lines; do
    for crowd in 131 0; do
      "$LOCKSTEP" run mem_crowded.yaml -p crowd=$crowd -p line="$line" -p loads=1 2>/dev/null | sed -n 1p
    done | awk -F, '{ load[$2] = $5 / 24 } END { print (load[131] > 3000 ? "slice" : load[131] > load[0] + 50 ? "plane" : "none"), load[131] }'
  done >"$folder/ours"
  for kind in slice plane none; do
    for side in theirs ours; do
      awk -v kind=$kind '$1 == kind { print $2 }' "$folder/$side" | sort -n | awk '{ load[NR] = $1 } END { print load[int((NR + 1) / 2)] }'
    done | paste -sd' ' | sed "s/^/$kind /"
  done >"$folder/medians"
  sed 's/^/# mem_crowded: /' "$folder/medians"
  point "mem_crowded: loads beside a crowd wait as on the H200" "$(awk 'NF < 3 || $3 > 1.2 * $2 || $3 < $2 / 1.2' "$folder/medians")"
}

# window: mem_window, how many accesses a warp has issued 8000 cycles after its first one. Additions of all SMs to one word set how many are under way; others test that. What words of one sector take on the way, which is one turn, isn't known. Where four warps add to 16 lines and more, as many of each wait at the port here as of one, half as many on the GPU.
window() {
  awk -F, '$5 == 132 && $6 == 63 || $5 == 1 { print $1, $2, $3, $4, $5, $7, $8 }' mem_window_h200.csv >"$folder/issued"
  cut -d' ' -f1-5 "$folder/issued" | uniq | awk "${all:-\$1 == 0 && (\$2 == 3 || \$4 == 1) && k++ % 4 == 0}" | while read -r store where lanes warps blocks; do
    awk -v row="$store $where $lanes $warps $blocks " 'index($0, row) == 1 { print "theirs", $6, $7 }' "$folder/issued"
    "$LOCKSTEP" run mem_window.yaml --code sass -p store="$store" -p where="$where" -p lanes="$lanes" -p warps="$warps" -p blocks="$blocks" \
      -p count=$((lanes < 16 ? 400 : 100)) 2>/dev/null </dev/null | awk -F, -v block=$((blocks == 132 ? 63 : 0)) 'NF == 8 && $6 == block { print "ours", $7, $8 }'
    echo "end $store $where $lanes $warps $blocks"
  done | awk '
    $1 == "end" { print substr($0, 5), issued["theirs"] + 0, issued["ours"] + 0; delete issued; next }
    $3 <= 8000 { issued[$1] = $2 }' >"$folder/window"
  awk '{ error = $7 / ($6 ? $6 : 1) - 1; sum += error < 0 ? -error : error } END { printf "# mem_window: %d rows, mean error %.1f %%\n", NR, 100 * sum / NR }' "$folder/window"
  point "mem_window: as many are under way as on the H200" "$(awk '!($2 == 1 && $5 == 132) && !($2 == 3 && $3 > 8 && $4 == 4) && ($7 > 1.3 * $6 + 4 || $7 < $6 / 1.3 - 4)' "$folder/window"; test -s "$folder/window" || echo "no row")"
}

all=${MEASURED:+1}
lines="0 18 56"
test -z "$all" || lines="$(seq 0 8 127) $(seq 2 8 127)"
plan 22
crowded
window
# Columns: kind, blocks, warps, words. Rows of 4 and 8 blocks with 8 and 16 words, of all blocks with 65,536 words and more, one word, kinds 3 and 5, and kind 9 of 4 and 8 blocks set parameters. The way of a GPC is from those of kind 9.
# Where the words of few SMs lie decides: near them on the GPU, far from them here.
compare mem_kinds 10 '$1 == 9 && $2 < 132' "${all:-\$3 == 8 && (\$2 == 8 && \$1 ~ /^[046]\$/ && (\$4 == 32 || \$4 == 256) || \$2 == 16 && \$1 == 0 && \$4 > 1 && \$4 < 1024 || \$2 == 132 && \$1 == 0 && \$4 == 8) && k++ % 2 == 0}"
# Columns: what, blocks, words of a row, rounds. Writes of many rounds by all SMs set a parameter.
compare mem_flow 10 0 "${all:-\$3 == 1024 && \$4 == 1 && (\$2 == 132 || \$2 == 1056) && \$1 < 4}"
# Columns: what, before, MB, step, pass. The last pass of 80 MB sets parameters. Between 40 and 60 MB sets of the L2 here hold their lines in more of the cases than there.
compare mem_size 12 '$3 > 40 && $3 < 64' "${all:-\$2 == 0 && \$5 == 2 && \$4 == 0 && \$3 == 8 && \$1 > 0}"
# Columns: MB, warps, lines under way, pass. 32 warps with 8 lines each of 16 and 32 MB set a parameter.
compare mem_cross 12 0 "${all:-\$1 == 4 && NR % 2}"
# Columns: how, words of a warp, groups of them, apart, stride, blocks, warps. Words of few lines: which others share a slice is chance. Eight words, one group, set a parameter.
compare mem_bins 3 0 "\$5 == 1 && \$6 == 132 && (\$3 == 1 || \$2 > 2 && \$4 == 0) && \$1 < 2 && ${all:-\$7 == 8 && \$3 < 16 && \$1 == 0 && k++ % 2}"
# Columns: first, its lanes, second, its lanes, same, pause, blocks. Behind stores and reductions of all warps the second access waits longer here, and the
# first one less; so does a store with its fence of 32 warps.
compare mem_after 22 '$1 == 1 || $1 == 2 || $3 == 4 && $8 == 32' "${all:-\$5 == 0 && \$6 == 0 && \$7 == 1 && NR % 2}"
# Columns: kind, lines, apart, of_bank, warps. The buffer lies elsewhere, so random words have other banks of tags.
compare mem_gather 5 0 "${all:-(\$1 == 0 && \$3 == 3 || \$1 == 1 && \$5 == 32 || \$1 == 2 && \$2 < 10) && NR % 3 == 0}"
# Columns: pattern, how, stored, what, who, delay, blocks, warps. A fence doesn't stand behind the loads of others here (16 warps of 264 blocks).
compare mem_hot 12 '$8 == 16 && $7 == 264' "${all:-\$2 == 0 && \$3 == 1 && \$4 != 2 && \$5 == 0 && \$6 == 0 && \$7 == 132 && \$8 == 16}"
# Columns: lines from one to the next, lines. The first loads of a few lines find nothing in the L2 there. Where some lines find no memory, which ones go isn't known.
compare mem_ways 12 '$2 > 1736 && $2 < 1984 || $2 < 100' "${all:-\$2 > 500 && NR % 13 == 0}"
# Columns: what, blocks, warps, lanes, words. Some SMs have more turns than others where many wait for one word, and finish early (doc/hardware.md).
compare mem_try 12 '$2 == 16 && $5 == 1' "${all:-\$3 == 4 && \$4 == 32 && \$5 < 65536 && \$5 != 8 && (\$2 == 1 || \$2 == 16) && NR % 3 && k++ % 2 == 0}"
# Columns: what, blocks, warps, lanes to a word, lines, apart, place. How long a warp is held up is as on the GPU; which of a few lines share a slice isn't.
compare mem_look 12 '$5 > 4' "${all:-\$2 == 132 && \$3 == 8 && \$7 == 0 && \$6 == 0 && k++ % 8 == 0}"
# Columns: kind, blocks, warps, lines, sectors, words. Reductions, compare-and-swaps and stores of one block, and reductions of all set parameters. Compare-and-swaps of a word of each sector are shorter there.
compare mem_shapes 5 '$1 == 3 && $4 < $5' "${all:-\$2 < 9 && \$3 == 32 && (\$2 == 8) == (\$4 == 8) && (\$6 == 2 || \$6 == 8) && \$4 != 3 && k++ % 7 == 0}"
# Columns: kind, blocks, warps, pairs of lanes, apart, how. An access with packets of a lane and of several takes up to 6 cycles more there.
compare mem_pairs 10 0 "\$2 == 1 && ${all:-\$5 == 4 && \$4 % 4 == 0 && (\$1 == 0 || \$1 == 4)}"
# Columns: kind, page, blocks, warps, words. Lanes of one instruction on words of neighbouring lines take longer there, and so do stores of all SMs to the same words, and additions of 8 SMs to a whole page of the other half.
compare mem_far 10 '$4 == 32 || $1 == 4 || $2 == 1 && $3 == 8 && $5 == 1024' "${all:-\$1 < 4 && (\$3 == 8 && \$5 > 1 && \$4 < 32 || \$1 == 3 && \$3 == 1 && \$5 > 32)}"
# Columns: warps, lanes, stores of the first warp and of each other, whether these fence, their loads, pauses. Rows of warps that all fence without a pause set parameters. A store behind 31 loads waits for
# them here; the first warp's fences have their turn later or earlier than others' there.
compare mem_fences 12 '$3 == 1 && $6 == 1 || $3 == 0 && $5 == 1 || $1 < 16 && $2 == 32' "${all:-\$7 == 0 && \$1 > 1 && (\$4 < 4 || \$1 == 16) || \$7 == 1000 && \$1 == 32}" 4
# Columns: warps of a block, lanes, stores in a row, warps. Two blocks' warps with 32 lanes set a parameter.
compare mem_order 18 '$3 == 1 && $1 < $4 || $1 == 16 && $3 == 2' "${all:-\$4 == 8 && \$2 != 8 || \$4 == 32 && \$2 == 32 && \$1 > 4 && \$3 == 2}" 3
# Columns: steps, blocks, warps, lanes, pool. Loads and stores of the same lines by 56 SMs and more: they keep slices busy for longer there.
compare mem_critical 12 '$2 > 8 && $1 % 64 > 48' "${all:-\$2 == 8 && \$5 == 32768 && \$3 > 1 && \$1 > 20 && \$4 != 4 && NR % 2}" 6
# Columns: kind, blocks, lanes, places. One address for many SMs, and 64 for all: how many lanes of floats become one isn't known. An SM issues vectors of four of one lane each five cycles there.
# Columns: kind, blocks, warps, sectors, per, lines. Those of the compare-and-swaps of all SMs on one line set memory.atomic.cas_span. Words of one bank take longer to leave an SM than others do, by how they are spread.
compare mem_spans 10 '$2 == 1' "${all:-\$1 == 1 && k++ % 5 == 0}"
# Columns: kind, lanes, columns, how, times. Loads and additions of 32 lanes set memory.port.bank_interval, those of one lane memory.atomic.switch_latency and memory.crossbar.far_atomic_latency.
compare mem_lanes 5 0 "${all:-\$2 > 1 && k++ % 3 == 0}"
compare mem_vectors 15 '$4 < 4096 && $2 > 1 || $2 == 132 && $3 == 32 || $3 == 1' "${all:-\$2 < 132 && \$4 > 64 && \$4 < 262144 && \$1 % 2 == 0 && k++ % 8 == 1}"
finish
