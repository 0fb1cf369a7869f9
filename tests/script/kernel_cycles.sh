#!/bin/sh
# How long the kernels of tests/kernels take as PTX, as machine code and on a real H200 (validation/hardware/kernel_cycles_h200.csv): 8 blocks of 256 threads, on
# random words. They take 1 to 50 us, so some 1,000 cycles in which a launch begins and ends count. TAP. TABLE=FILE writes the table of doc/results.md.
# SCENARIOS=FOLDER only writes a scenario for each kernel there, beside which its program is to lie: for gpu_list, and `run_ptx -c` after it.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/gpu_cycles.sh"
measured=$SRCDIR/validation/hardware/kernel_cycles_h200.csv
blocks=8

# arguments KERNEL
arguments() {
  case $1 in
  collatz_kernel | mandelbrot_kernel | text_kernel | bitonic_kernel | scan_kernel) echo out ;;
  sort_local_kernel) echo "out, 7" ;;
  horner_kernel) echo "out, {f64: 0.001}, 9" ;;
  struct_kernel) echo "out, [{u8: 3}, {i16: -5}, 70000, {u64: 90000000000}, {f32: 1.5}, {f64: -2.25}, {i32: [1, -2, 3, -4, 5]}], 11" ;;
  vector_kernel) echo "out, in, in, in, more" ;;
  atomics_kernel) echo "out, more, single, in" ;;
  *) echo "out, in" ;;
  esac
}

# scenario FILE KERNEL: a program of tests/kernels.
scenario() {
  cat <<EOF
program: $1
buffers:
  out: {words: 65536}
  in: {words: 16384, init: {random: {seed: 1, below: 1000000000}}}
  more: {words: 65536}
  single: {words: 1}
machines: [h200]
launches:
  - {kernel: $2, grid: $blocks, block: 256, shared: 1024, args: [$(arguments "$2")]}
EOF
}

kernels() { sed -n 's/^\.visible \.entry \([a-z_0-9]*\)(.*/\1/p' "$1"; }

write_scenarios() {
  for kernel in $(kernels "$SRCDIR/tests/kernels/kernels_90.ptx"); do
    scenario "$2kernels_90.ptx" "$kernel" >"$1/$kernel.yaml"
  done
}

if test "${SCENARIOS:-}"; then
  write_scenarios "$SCENARIOS" ""
  exit
fi
write_scenarios "$folder" "$SRCDIR/tests/kernels/"
cd "$folder"
awk -F, 'FNR > 2 { n = $1; sub(/.*\//, "", n); if ($1 !~ /#/) printf "%s,%.0f\n", n, $6 * 1.98 }' "$measured" | sort -t, -k2,2n >gpu.csv
for code in ptx sass; do
  "$LOCKSTEP" run ./*.yaml -m h200 --code $code --format csv >$code.csv 2>>errors || :
done
# NAME,CYCLES,PTX,MACHINE CODE; a run that didn't complete has no cycles.
awk -F, '
  FILENAME ~ /^(ptx|sass)/ && FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
  FILENAME ~ /^(ptx|sass)/ { if ($column["verdict"] == "completed") cycles[FILENAME, $1] = $column["cycles"]; next }
  { print $0 "," cycles["ptx.csv", $1] "," cycles["sass.csv", $1] }' ptx.csv sass.csv gpu.csv >all.csv
test -z "${TABLE:-}" || say_table all.csv kernels >"$TABLE"

plan 4
judge all.csv 79 15
# atomics_kernel's first look at the word that it swaps is plain; the machine code comes to that word by another register, so it isn't known to be a guess.
point "none has a finding" "$(cat errors
  awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next } $column["findings"] != "" && !(FILENAME == "sass.csv" && $1 == "atomics_kernel" && $column["findings"] == "stale-read")' ptx.csv sass.csv)"
finish
