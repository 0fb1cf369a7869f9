#!/bin/sh
# The SM's side of `h200` beside an H200: the kernels of validation/hardware/mem_sm.cu, run as the GPU ran them, and the cycles that they counted
# (mem_sm_h200.csv); as PTX, and as the machine code that ptxas made of it. A point for the rows that parameters were fitted on and one for the others: the mean error is below 10 %, and none
# is above 30 % without a reason (doc/hardware.md has them). TAP; the error of each variant is a comment.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
measured=validation/hardware/mem_sm_h200.csv

# Of these an error above 30 % is known: a variant, a variant and its n, or these and the number of threads.
known_both="
load by footprint beside shared memory of 195 KB/32768
"
known_ptx="${known_both}bar.warp.sync
vote.any/32/1024
"
known_sass="${known_both}
"

# scenario PART: each row of a part of the table (1 and 2: loads by footprint, which need large buffers; 0: the others) as a launch with a buffer of its own, row_LINE, that takes the cycles of each warp. Each is expected to
# count 0, so that what it counts is told.
scenario() {
  awk -F, -v part_wanted="$1" -v program="$PWD/validation/hardware/mem_sm.ptx" '
    BEGIN {
      count = split("ld.shared|st.shared|atom.shared.add|atom.shared.exch|atom.shared.cas|atom.shared.max|red.shared.add|" \
        "add and shfl.bfly|vote.ballot|vote.any|match.any|match.all|redux.add|redux.or|bar.warp.sync|clock|ld.const", names, "|")
      for (i = 1; i <= count; i++) operation[names[i]] = i - 1
      shape[""] = shape[" no conflict"] = shape[" equal values"] = "1, 32"
      shape[" one word"] = "0, 32"
      shape[" 2 words of a bank"] = "32, 64"
      shape[" 8 words of a bank"] = "32, 256"
      shape[" 32 words of a bank"] = "32, 1024"
    }
    # Lines in a circle: the first word of each is the index of the next.
    function circle(lines,   i, text) {
      if (made[lines]++) return
      for (i = 1; i <= lines; i++) text = text (i > 1 ? ", " : "") i % lines * 32 ", {pad: 124}"
      buffers = buffers "  circle_" lines ": {words: " lines * 32 ", init: {struct: [" text "]}}\n"
    }
    function launch(kernel, arguments, dynamic, carveout) {
      buffers = buffers "  row_" NR ": {words: 64}\n"
      launches = launches "  - {kernel: " kernel ", grid: 1, block: " $4 ", shared: " dynamic + 0 carveout ", args: [" arguments "row_" NR "]}\n"
      expected = expected "    row_" NR ": [0]\n"
    }
    ($2 ~ /^load by footprint/ ? 1 + $5 / 8192 % 2 : 0) != part_wanted { next }
    { split($2, part, ";") }
    part[1] in operation { launch("_Z10operationsILi" operation[part[1]] "EEviiijPx", shape[part[2]] ", " $5 ", 0, ") }
    $2 ~ /barrier of all warps/ { launch("_Z8barriersILb" ($2 ~ /store/) "EEvPx", "") }
    $2 == "poll of a shared word" { launch("_Z11poll_sharediPx", $6 ", ") }
    $2 ~ /^load by footprint/ {
      circle($5 / 128)
      split($2, word, " ")
      launch("_Z6circlePjiPx", "circle_" $5 / 128 ", " $5 / 128 ", ", word[8] * 1024, ", carveout: " int((word[8] + 1) * 100 / 228))
    }
    END { printf "program: %s\nbuffers:\n%slaunches:\n%sexpect:\n  buffers:\n%s", program, buffers, launches, expected }' "$measured"
}

# compare GROUP: the mean error of the rows of a group, and what is wrong with it.
compare() {
  awk -F, -v group="$1" -v known="$known" '
    BEGIN { count = split(known, lines, "\n"); for (i = 1; i <= count; i++) allowed[lines[i]] }
    FILENAME == ARGV[1] { cycles[$1] = $2; next }
    !(FNR in cycles) { next }
    # Parameters were set from one warp and 32 warps of these, and from all rounds of barriers.
    {
      fitted = $2 ~ /^barrier of all/ ||
        ($4 == 32 || $4 == 1024) && $2 !~ /max|^red|^store and|^poll|^bar.warp|match.all|redux.or|8 words|some lanes|footprint/
      if ((group == "fitted") != fitted) next
      error = (cycles[FNR] / $6 - $7) / $7 * 100
      size = error < 0 ? -error : error
      if (!rows[$2]++) order[++variants] = $2
      sum[$2] += size; if (size > worst[$2]) worst[$2] = size
      total += size; number++
      row = $2 "/" $5 "/" $4
      if (size > 30) above[$2] = above[$2 "/" $5] = above[row] = 1
      met[$2] = met[$2 "/" $5] = met[row] = 1
      if (size > most) most = size
      if (size > 30 && !($2 in allowed) && !($2 "/" $5 in allowed) && !(row in allowed))
        printf "%s of %d threads, n %s: %.1f instead of %.1f cycles\n", $2, $4, $5, cycles[FNR] / $6, $7
    }
    END {
      for (i = 1; i <= variants; i++)
        printf "# %s: %d rows, mean %.1f %%, worst %.1f %%\n", order[i], rows[order[i]], sum[order[i]] / rows[order[i]], worst[order[i]]
      if (number) printf "# all %s rows: %d, mean %.1f %%, worst %.1f %%\n", group, number, total / number, most
      if (!number) print "no row of the table was simulated"
      else printf "# %s: %d rows, mean error %.1f %%, worst %.1f %%\n", group, number, total / number, most
      for (i = 2; i < count; i++)
        if (lines[i] in met && !(lines[i] in above)) print lines[i] ": no row is above 30 % any longer, so take it off the list"
      if (number && total / number >= 10) printf "mean error %.1f %%\n", total / number
    }' "$folder/cycles" "$measured"
}

# measure CODE: the points of one form.
measure() {
  if test "$1" = ptx; then known=$known_ptx; else known=$known_sass; fi
  for part in 0 1 2; do
    scenario "$part" >"$folder/sm.yaml"
    "$LOCKSTEP" run "$folder/sm.yaml" -m h200 -s memory.buffer_alignment=1MiB --code "$1" >"$folder/out" 2>"$folder/err" || :
    sed -n 's/^ *row_\([0-9]*\)\[0\] is \([0-9]*\), expected 0$/\1,\2/p' "$folder/out"
  done >"$folder/cycles"
  lacking=$(($(grep -c '^sm,' "$measured") - $(grep -cE '^sm,(nanosleep|poll of a global)' "$measured") - $(wc -l <"$folder/cycles")))
  point "$1: each row is simulated" "$(test "$lacking" = 0 || { echo "$lacking rows are not"; head -n 3 "$folder/err"; })"
  for group in fitted predicted; do
    compare "$group" >"$folder/$group"
    grep '^#' "$folder/$group" || :
    point "$1: $group rows: as on the H200" "$(grep -v '^#' "$folder/$group" || :)"
  done
}

plan 6
measure ptx
measure sass
finish
