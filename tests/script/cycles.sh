#!/bin/sh
# How long whole scenarios take as PTX, as machine code and on a real H200 (validation/hardware/run_cycles_h200.csv). Only those
# count whose launches take so long that their start and end, some 1,000 cycles, don't hide the rest; and of which
# the GPU had read the instructions before. TAP. TABLE=FILE writes the table of doc/results.md, with the longest ones, too.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/gpu_cycles.sh"
cd "$SRCDIR"
measured=validation/hardware/run_cycles_h200.csv

# Cycles of the H200, at its 1980 MHz: `NAME,CYCLES` from 10,000 a launch on, in the order of the cycles. What prints (_timed) takes the GPU longer.
# primitives_h200.sh has the library. TABLE also those with parameters, and programs with module variables, of 25,000 cycles a launch and more.
least=10000
most=400000
only='!/:/ && $5 == 1'
test -z "${TABLE:-}" || { most=5000000 only='($5 == 1 || /irregular|client_server/ && $6 * 1.98 >= 25000 * $3)'; }
awk -F, -v least=$least -v most=$most '
  $2 == "completed" && $1 !~ /^traces\/(primitives|accesses)|_timed/ && '"$only"' {
    cycles = $6 * 1.98; if (cycles >= least * $3 && cycles < most) printf "%s,%.0f,%s,%s\n", $1, cycles, $7, $8
  }' "$measured" | sort -t, -k2,2n | both_forms >"$folder/all.csv"

test -z "${TABLE:-}" || say_table "$folder/all.csv" scenarios >"$TABLE"

plan 4
judge "$folder/all.csv" 30 10
point "none is over half off" "$(awk -F, '{ for (i = 3; i <= 4; i++) if ($i > 1.5 * $2 || $i < 0.5 * $2) print }' "$folder/all.csv")"
finish
