# What scripts share that set whole scenarios beside a real GPU (validation/hardware/run_cycles_h200.csv). Sourced behind tap.sh.
# A scenario is called as gpu_list has it: its file without `.yaml`, and parameters, `traces/primitives/mutex_spin:blocks=32:ops=100`.

# Each run of the GPU had its buffers in another place, in allocations of their own. Where it took over 1.15 times as long in one as in
# another, the model's figure is the mean of so many seeds, each of which has places of its own: two, and four for a table.
places=${TABLE:+4}
places=${places:-2}

# cycles SCENARIO CODE [SEEDS]: what the model says on an h200, or on $machine; empty if it doesn't complete.
cycles() {
  apart=
  test "${3:-1}" = 1 || apart="-s memory.buffer_alignment=65536"
  for seed in $(seq "${3:-1}"); do
    # shellcheck disable=SC2046,SC2086 # two words for each parameter
    "$LOCKSTEP" run "${1%%:*}.yaml" $(echo "$1" | sed 's/^[^:]*//; s/:/ -p /g') -m "${machine:-h200}" --code "$2" --seed "$seed" $apart \
      --format csv 2>"$folder/err" || : # what it expects may not be met
  done | awk -F, -v seeds="${3:-1}" '
    /^scenario,machine,/ { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $column["verdict"] == "completed" { sum += $column["cycles"]; runs++ }
    END { if (runs == seeds) printf "%.0f\n", sum / runs }'
}

# both_forms: of `SCENARIO,CYCLES,LEAST,MOST` of the GPU `SCENARIO,CYCLES,PTX,MACHINE CODE`.
both_forms() {
  while IFS=, read -r name gpu least most; do
    seeds=$(awk -v least="$least" -v most="$most" -v places=$places 'BEGIN { print (most > 1.15 * least ? places : 1) }')
    echo "$name,$gpu,$(cycles "$name" ptx "$seeds"),$(cycles "$name" sass "$seeds")"
  done
}

# judge FILE LEAST LIMIT: three points: all ran, there are enough of them, and the medians are below LIMIT percent.
judge() {
  point "both forms complete" "$(awk -F, 'NF != 4 || $3 == "" || $4 == ""' "$1")"
  point "enough of them" "$(awk -v least="$2" 'END { if (NR < least) print NR }' "$1")"
  point "the median error is below $3 %" "$(for column in 3 4; do
    median $column "$1" | awk -v column=$column -v limit="$3" '!($1 < limit) { print "column", column, $1 }'
  done)"
}

# say_table FILE WHAT: a table of doc/results.md, and the medians below it.
say_table() {
  echo "| ${2%s} | $(echo "${machine:-h200}" | tr h H) | PTX | | machine code | |"
  echo "| --- | --- | --- | --- | --- | --- |"
  awk -F, '{ gsub(":", " ", $1); printf "| %s | %d | %d | %+.0f %% | %d | %+.0f %% |\n", $1, $2, $3, 100 * ($3 / $2 - 1), $4, 100 * ($4 / $2 - 1) }' "$1"
  say_medians "$1" "$2"
}

# say_medians FILE WHAT: the line below a table.
say_medians() {
  printf '\nMedian error over %d %s: PTX %.1f %%, machine code %.1f %%.\n' "$(grep -c . "$1")" "$2" "$(median 3 "$1")" "$(median 4 "$1")"
}

# median COLUMN FILE: of the errors of column 3 or 4, in percent.
median() {
  awk -F, -v column="$1" '{ error = 100 * ($column / $2 - 1); print error < 0 ? -error : error }' "$2" | sort -n |
    awk '{ error[NR] = $1 } END { print error[int((NR + 1) / 2)] }'
}
