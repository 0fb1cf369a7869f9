#!/bin/sh
# How warps of `h200` issue beside an H200: the kernels of validation/hardware/mc_*.cu, run as the GPU ran them, and the cycles that the longest warp counted
# (mc_*_h200.csv); as PTX, and as the machine code that ptxas made of it. Rows that parameters were set from and the others apart. A chain of polling warps is
# chaotic in phase, so five start offsets are one row, their median. TAP; the error of each kernel is a comment. What PTX takes isn't judged: of each kernel the
# first row is run, of fewest threads. With ISSUE_ROWS a file's name, all rows go there: code,program,kernel,threads,n,lockstep,GPU,group.
set -eu
# shellcheck disable=SC2034 # known_PROGRAM is read by eval
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# Machine code above 30 %: a kernel, or kernel/threads. The reasons are in doc/hardware.md.
known_alu="rcp_d
"
known_control="barrier_pair
"
known_warp=""
known_poll="fence_block_load/1024
fence_block_shared_store
fence_system
"
known_paths=""
known_wide=""
known_copies="group_wait/1024
group_wait_all/1024
"
known_shared="hit_halves_load_32/256
hit_row_put_row
"
known_special="shared_before/1024
beside_laneid/1024
beside_lanemask/1024
four_clusterid/1024
"
known_generic="fence_store/256
fence_store/512
red_own
"
known_lane="no_red/32
lds_beside_fence/384
lds_beside_fence/512
lds_beside_fence/768
lds_beside_fence/1024
fence_alone/512
fence_beside_put/1024
put_fence_4/512
put_fence_beside_put/1024
"
known_table="again_blocks_16/512
"
known_nap="nap_else_nap/1024
lock_lane_nap_100_sync/128
lock_lane_nap_100_sync/256
"
known_mbarrier="hand_one_test/1024
hand_test/1024
round_one_waits/1024
"

# scenario PROGRAM WHAT: each row of its table (or of each kernel the first) as a launch with a buffer of its own, row_LINE, expected to be 0, so that what it holds is told.
scenario() {
  awk -F, -v program="$PWD/validation/hardware/mc_$1.ptx" -v first="${2#row}" '
    FNR < 3 || first && seen[$2]++ { next }
    {
      buffers = buffers "  row_" FNR ": {words: 4}\n"
      launches = launches "  - {kernel: " $2 ", grid: 1, block: " $3 ", args: [row_" FNR ", " $4 ", 0, words]}\n"
      expected = expected "    row_" FNR ": [0]\n"
    }
    END { printf "program: %s\nbuffers:\n  words: {words: 4096}\n%slaunches:\n%sexpect:\n  buffers:\n%s", program, buffers, launches, expected }' \
    "validation/hardware/mc_$1_h200.csv"
}

# rows CODE PROGRAM: of $folder/cycles, one line a row: kernel,threads,n,lockstep,GPU,group.
rows() {
  awk -F, -v code="$1" -v program="$2" '
    function fitted(kernel, threads) {
      if (program == "alu")
        return threads == 32 && kernel ~ /^(popc_d|ex2_d|lop3_d|mix_lop_imad|mix_lop_ffma|ffma_i|dfma_i)$/ ||
          threads == 1024 && kernel ~ /^(lop3_i|imad_i|imad_hi_i|fadd_i|ffma_d|dadd_i|dfma_d|popc_i)$/
      if (program == "control") return threads == 32 && kernel ~ /^(loop_1|loop_lanes_2|if_none|if_half|barrier_count)$/
      if (program == "paths")
        return threads == 32 && kernel ~ /^(in_half_before|nested_3|call_1|table_(same|two|four)|sides_meet|arms_meet_[34])$/
      if (program == "wide")
        return threads == 32 && kernel !~ /divide|modulo/ || threads == 1024 && kernel ~ /^(high|wide)_logic_4_[di]$/
      if (program == "warp")
        return threads == 32 && kernel ~ /^(shfl_idx_d|match_any_(2|8|32)|constant|constant_(4|32)|constant_first_(16|64)|source_global)$/
      if (program == "copies") return threads == 32 && kernel ~ /^(group_wait|(one|two|four)_1)$/ || threads == 1024 && kernel ~ /^(group|two_groups_1)$/
      if (program == "shared")
        return threads == 32 && kernel ~ /^(chain_.*|store_(64|128)|put)_row$/ || threads == 1024 && kernel ~ /^(load|store)_(64|128)_(row|one)$/ ||
          threads >= 512 && kernel ~ /^(put_row|put_row_four_load_32)$/
      if (program == "table") return kernel ~ /^first_(words|lines)_16$/
      if (program == "special") return threads == 32 && kernel == "once_nctaid"
      if (program == "generic") return threads >= 256 && kernel ~ /^(store_four|store_release|lock_lane|fence_.*)$/
      if (program == "lane") return kernel ~ /fence|^(if_(red|exch|loop|else|syncwarp|beside)|half_(exch|loop)|most_loop|two_ifs|in_if)$/
      if (program == "nap") return kernel ~ /^nap_(all|lane|half)/ && kernel !~ /_100/ || threads == 32 && kernel == "lock_lane_sync"
      if (program == "mbarrier")
        return threads == 32 && kernel ~ /^(test_(true|false)_(1|32)|try_false_(1|32))$/ ||
          threads == 32 && kernel ~ /^(arrive_32|round_one_waits)$/ || threads == 1024 && kernel ~ /^(arrive_only_(1|32)|test_(true|false)_(1|32)|table_1)$/
      return (threads == 32 || threads == 1024) && kernel ~ /^poll_lane_(meets|syncwarp)$/ || kernel ~ /^fence_(block|acq_rel_block|block_shared_store)$/ ||
        threads == 32 && kernel == "fence_device"
    }
    function put(kernel, threads, n, ours, theirs) {
      print code "," program "," kernel "," threads "," n "," ours "," theirs "," (fitted(kernel, threads) ? "fitted" : "predicted")
    }
    function median(key, which,   i, k, count, value, swap) {
      for (i = 0; i < 5; i++) value[++count] = offset[key, i, which]
      for (i = 1; i < count; i++)
        for (k = i + 1; k <= count; k++)
          if (value[k] < value[i]) { swap = value[i]; value[i] = value[k]; value[k] = swap }
      return value[3]
    }
    FILENAME == ARGV[1] { cycles[$1] = $2; next }
    !(FNR in cycles) { next }
    match($2, /_o[0-4]$/) {
      key = substr($2, 1, RSTART - 1) "," $3 "," $4
      offset[key, substr($2, RSTART + 2), 0] = cycles[FNR] + 0
      offset[key, substr($2, RSTART + 2), 1] = $6 + 0
      if (!seen[key]++) order[++keys] = key
      next
    }
    { put($2, $3, $4, cycles[FNR], $6) }
    END {
      for (i = 1; i <= keys; i++) {
        split(order[i], part, ",")
        put(part[1], part[2], part[3], median(order[i], 0), median(order[i], 1))
      }
    }' "$folder/cycles" "validation/hardware/mc_$2_h200.csv"
}

# compare GROUP KNOWN LIMIT: the mean error of the rows of a group, and what is wrong with it; rows above 30 % that aren't known, if a limit is given.
compare() {
  awk -F, -v group="$1" -v known="$2" -v limit="$3" '
    BEGIN { count = split(known, lines, "\n"); for (i = 1; i <= count; i++) allowed[lines[i]] }
    $8 != group { next }
    {
      error = ($6 - $7) / $7 * 100
      size = error < 0 ? -error : error
      if (!number[$3]++) order[++kernels] = $3
      sum[$3] += size; if (size > worst[$3]) worst[$3] = size
      all++; total += size; if (size > most) most = size
      if ($4 == 32) { single++; of_single += size; exact += size <= 2 }
      met[$3] = met[$3 "/" $4] = 1
      if (size > 30) above[$3] = above[$3 "/" $4] = 1
      if (limit && size > 30 && !($3 in allowed) && !($3 "/" $4 in allowed))
        printf "%s of %d threads, n %s: %d instead of %d cycles\n", $3, $4, $5, $6, $7
    }
    END {
      for (i = 1; i <= kernels; i++)
        printf "# %s: %d rows, mean %.1f %%, worst %.1f %%\n", order[i], number[order[i]], sum[order[i]] / number[order[i]], worst[order[i]]
      if (!all) { print "no row was simulated"; exit }
      printf "# %s: %d rows, mean error %.1f %%, worst %.1f %%; of one warp %d, mean %.1f %%, %d within 2 %%\n", group, all, total / all, most, single,
        single ? of_single / single : 0, exact
      for (i = 1; limit && i < count; i++)
        if (lines[i] in met && !(lines[i] in above)) print lines[i] ": no row is above 30 % any longer, so take it off the list"
      if (limit && total / all >= limit) printf "mean error %.1f %%\n", total / all
    }' "$folder/rows"
}

# measure CODE PROGRAM LIMIT [FITTED]: the points of one program; FITTED: another limit for the rows that parameters were set from.
measure() {
  table=validation/hardware/mc_$2_h200.csv
  what=row wanted=$(grep -c "^$2," "$table")
  test -n "$3${ISSUE_ROWS-}" || what=kernel wanted=$(sed -n "s/^$2,\([^,]*\),.*/\1/p" "$table" | sort -u | wc -l)
  scenario "$2" "$what" >"$folder/issue.yaml"
  "$LOCKSTEP" run "$folder/issue.yaml" -m h200 --code "$1" >"$folder/out" 2>"$folder/err" || :
  sed -n 's/^ *row_\([0-9]*\)\[0\] is \([0-9]*\), expected 0.*$/\1,\2/p' "$folder/out" >"$folder/cycles"
  lacking=$((wanted - $(wc -l <"$folder/cycles")))
  point "$1, $2: each $what is simulated" "$(test "$lacking" = 0 || { echo "$lacking rows are not"; head -n 3 "$folder/err"; })"
  rows "$1" "$2" >"$folder/rows"
  test -z "${ISSUE_ROWS-}" || cat "$folder/rows" >>"$ISSUE_ROWS"
  for group in fitted predicted; do
    eval "known=\$known_$2"
    limit=$3
    test "$group" = predicted || limit=${4:-$3}
    compare "$group" "$known" "$limit" >"$folder/$group"
    grep '^#' "$folder/$group" | sed "s/^#/# $1, $2,/" || :
    test -z "$3" || point "$1, $2, $group rows: as on the H200" "$(grep -v '^#' "$folder/$group" || :)"
  done
}

test -z "${ISSUE_ROWS-}" || : >"$ISSUE_ROWS"
plan 56
for program in alu control paths wide warp copies shared special table mbarrier nap; do
  measure sass "$program" 8
done
# What fences of a block by many warps take is fitted, and not understood (doc/hardware.md).
measure sass poll 8 9
measure sass generic 8 16
measure sass lane 8 11
for program in alu control paths wide warp poll copies shared special generic lane table mbarrier nap; do
  measure ptx "$program" ""
done
finish
