#!/bin/sh
# The library of primitives (traces/primitives/benchmarks.cu) as PTX, as machine code and on a real H200: 100 operations of each block, by blocks, as printed and
# with fences (validation/hardware/run_cycles_h200.csv, the median of 20 places of the words). Nothing in configs/h200.yaml is fitted on them. TAP.
# TABLE=FILE writes the table of doc/results.md, with other numbers of blocks, too; of 132 those with fences, of 264 the barriers, since the rest takes minutes.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/gpu_cycles.sh"
cd "$SRCDIR"
measured=validation/hardware/run_cycles_h200.csv
some=':blocks=8:ops=100:fences=1|barrier_.*:blocks=(32|132):'
test -z "${TABLE:-}" || some=':blocks=(2|8|32):|:blocks=132:ops=100:fences=1|barrier_'

awk -F, -v some="$some" '$2 == "completed" && $1 ~ /^traces\/primitives\/.*:blocks/ && $1 ~ some { printf "%s,%.0f,%s,%s\n", $1, $6 * 1.98, $7, $8 }' "$measured" |
  both_forms >"$folder/all.csv"

test -z "${TABLE:-}" || awk -F, '
  function cell(which) {
    return which in gpu ? sprintf(" %.0f, %+.0f, %+.0f |", gpu[which] / 1000, 100 * (ptx[which] / gpu[which] - 1), 100 * (code[which] / gpu[which] - 1)) : " |"
  }
  {
    count = split($1, part, ":"); name = part[1]; sub(/.*\//, "", name); blocks = ""
    for (i = 2; i <= count; i++)
      if (part[i] ~ /^blocks=/) blocks = substr(part[i], 8)
      else if (part[i] != "ops=100") name = name " " part[i]
    if (!(name in known)) { known[name]; row[++rows] = name }
    gpu[name, blocks] = $2; ptx[name, blocks] = $3; code[name, blocks] = $4
  }
  END {
    print "| | 2 blocks | 8 | 32 | 132 | 264 |\n| --- | --- | --- | --- | --- | --- |"
    for (i = 1; i <= rows; i++)
      print "| " row[i] " |" cell(row[i] SUBSEP 2) cell(row[i] SUBSEP 8) cell(row[i] SUBSEP 32) cell(row[i] SUBSEP 132) cell(row[i] SUBSEP 264)
  }' "$folder/all.csv" >"${TABLE:-/dev/null}"
test -z "${TABLE:-}" || say_medians "$folder/all.csv" rows >>"$TABLE"

# Who gets a spin semaphore of few places is a lottery in which a try more or less decides.
plan 4
judge "$folder/all.csv" 20 12
point "none is over 40 % off" "$(awk -F, '
  $1 !~ /semaphore_spin:/ { for (i = 3; i <= 4; i++) if ($i > 1.4 * $2 || $i < $2 / 1.4) print }' "$folder/all.csv")"
finish
