# What scripts share that set whole scenarios beside a real GPU (validation/hardware/run_cycles_h200.csv). Sourced behind tap.sh.
# A scenario is called as gpu_list has it: its file without `.yaml`, and parameters, `traces/primitives/mutex_spin:blocks=32:ops=100`.

# cycles SCENARIO CODE: what the model says on an h200; empty if it doesn't complete.
cycles() {
  # shellcheck disable=SC2046 # two words for each parameter
  "$LOCKSTEP" run "${1%%:*}.yaml" $(echo "$1" | sed 's/^[^:]*//; s/:/ -p /g') -m h200 --code "$2" --format csv 2>"$folder/err" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    NR == 2 && $column["verdict"] == "completed" { print $column["cycles"] }'
}

# both_forms: of `SCENARIO,CYCLES` of the GPU `SCENARIO,CYCLES,PTX,MACHINE CODE`.
both_forms() {
  while IFS=, read -r name gpu; do
    echo "$name,$gpu,$(cycles "$name" ptx),$(cycles "$name" sass)"
  done
}

# median COLUMN FILE: of the errors of column 3 or 4, in percent.
median() {
  awk -F, -v column="$1" '{ error = 100 * ($column / $2 - 1); print error < 0 ? -error : error }' "$2" | sort -n |
    awk '{ error[NR] = $1 } END { print error[int((NR + 1) / 2)] }'
}
