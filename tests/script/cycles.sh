#!/bin/sh
# How long whole scenarios take as PTX, as machine code and on a real H200 (validation/hardware/run_cycles_h200.csv). Only those
# count whose launches take so long that their start and end, some 4,000 cycles more or less, don't hide the rest; and of which
# the GPU had read the instructions before. TAP. TABLE=FILE writes the table of doc/results.md, with the longest ones, too.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
measured=validation/hardware/run_cycles_h200.csv

# Cycles of the H200, at its 1980 MHz: `NAME,CYCLES` from 20,000 a launch on, in the order of the cycles.
least=20000
most=500000
test -z "${TABLE:-}" || most=1000000000
awk -F, -v least=$least -v most=$most '
  $2 == "completed" && $5 == 1 { cycles = $6 * 1.98; if (cycles >= least * $3 && cycles < most) printf "%s,%.0f\n", $1, cycles }' \
  "$measured" | sort -t, -k2,2n >"$folder/gpu.csv"

# cycles SCENARIO CODE: what the model says; empty if it doesn't complete.
cycles() {
  "$LOCKSTEP" run "$1.yaml" -m h200 --code "$2" --format csv 2>"$folder/err" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    NR == 2 && $column["verdict"] == "completed" { print $column["cycles"] }'
}

while IFS=, read -r name gpu; do
  echo "$name,$gpu,$(cycles "$name" ptx),$(cycles "$name" sass)"
done <"$folder/gpu.csv" >"$folder/all.csv"

# median COLUMN: of the errors, in percent.
median() {
  awk -F, -v column="$1" '{ error = 100 * ($column / $2 - 1); print error < 0 ? -error : error }' "$folder/all.csv" | sort -n |
    awk '{ error[NR] = $1 } END { print error[int((NR + 1) / 2)] }'
}

test -z "${TABLE:-}" || {
  echo "| scenario | H200 | PTX | | machine code | |"
  echo "| --- | --- | --- | --- | --- | --- |"
  awk -F, '{ printf "| %s | %d | %d | %+.0f %% | %d | %+.0f %% |\n", $1, $2, $3, 100 * ($3 / $2 - 1), $4, 100 * ($4 / $2 - 1) }' "$folder/all.csv"
  printf '\nMedian error over %d scenarios: PTX %.1f %%, machine code %.1f %%.\n' "$(grep -c . "$folder/all.csv")" "$(median 3)" "$(median 4)"
} >"${TABLE:-/dev/null}"

plan 4
point "both forms complete" "$(awk -F, 'NF != 4 || $3 == "" || $4 == ""' "$folder/all.csv")"
point "enough of them" "$(awk 'END { if (NR < 20) print NR }' "$folder/all.csv")"
point "the median error is below 20 %" "$(for column in 3 4; do
  median $column | awk -v column=$column '!($1 < 20) { print "column", column, $1 }'
done)"
point "none is over half off" "$(awk -F, '{ for (i = 3; i <= 4; i++) if ($i > 1.5 * $2 || $i < 0.5 * $2) print }' "$folder/all.csv")"
finish
