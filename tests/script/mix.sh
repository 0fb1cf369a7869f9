#!/bin/sh
# Synchronization as programs have it (validation/mix/mix.cu) as PTX, as machine code and on a real H200 (validation/hardware/mix_cycles_h200.csv, the median of
# 20 places of the words). Nothing in configs/h200.yaml is fitted on them; that atomics of an SM to one word fill its port was looked for in view of the hot
# words, and measured by mem_under_way.cu. TAP. TABLE=FILE writes the table of doc/results.md, with all parameters.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/gpu_cycles.sh"
cd "$SRCDIR"
measured=validation/hardware/mix_cycles_h200.csv
some='^[^:]*$|hot_words:kinds=(16|64)$|queue:blocks=16:'
test -z "${TABLE:-}" || some=.

awk -F, -v some="$some" '$2 == "completed" && $1 ~ /^validation/ && $1 ~ some { printf "%s,%.0f,%s,%s\n", $1, $6 * 1.98, $7, $8 }' "$measured" |
  both_forms >"$folder/all.csv"
test -z "${TABLE:-}" || { sed 's,^validation/mix/,,' "$folder/all.csv" >"$folder/short.csv" && say_table "$folder/short.csv" programs >"$TABLE"; }

# Of these an error above 30 % is known: what many SMs have under way to some hot words stands in the way of the rest of their traffic, which isn't modelled (doc/results.md). A queue of 256 places is full now and then with 256 blocks.
known='hot_words|queue:blocks=256|table:kinds=8:'
plan 5
grep -v hot_words "$folder/all.csv" >"$folder/predicted.csv" # the hot words led to a parameter
judge "$folder/predicted.csv" 15 10
point "no program is over 30 % off, but those that are known" "$(grep -Ev "$known" "$folder/all.csv" | awk -F, '{
  for (i = 3; i <= 4; i++) if ($i > 1.3 * $2 || $i < $2 / 1.3) print }')"
point "additions to hot words take more than half of what they do on the GPU" "$(grep hot_words "$folder/all.csv" | awk -F, '
  $4 < 0.5 * $2 || $4 > 1.3 * $2')"
finish
