#!/bin/sh
# Copies in bulk (cp.async.bulk) of `h200` (TAP). Programs of tests/machine_code/bulk.cu, as PTX and as machine code: those that are right are clean, and a
# barrier that expects its bytes twice is named. And the kernels of validation/hardware/mc_bulk.cu, run as the GPU ran them, beside the cycles that
# the longest block counted on an H200 (mc_bulk_h200.csv), as machine code; the error of each kernel is a comment. Of rows of all SMs each third. With BULK_ROWS a file's name, all
# rows go there: kernel,blocks,bytes,n,lockstep,GPU,group.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
rows=validation/hardware/mc_bulk_h200.csv

# Above 30 %: a kernel, or kernel/blocks. The reasons are in doc/hardware.md.
known="add_one/132
expect_arrive
issue_prefetch
issue_store
put_one
store_four/132
store_one/132
store_read/132
"

# of_program CODE: each program on its own.
of_program() {
  program=tests/machine_code/bulk.sm_90.$1
  for kernel in "add_one 1 --arg data --arg 0" "copy_async 1 --arg data --arg out" "sum_tiles 2 --arg data --arg out --arg 8" "pipeline 1 --arg data --arg out --arg 16"; do
    # shellcheck disable=SC2086 # options
    set -- $kernel
    name=$1 grid=$2
    shift 2
    expect "$name of $program" 0 '^bulk.sm_90 on h200: completed' "$LOCKSTEP" check "$program" -m h200 --kernel "$name" --grid "$grid" --block 128 \
      --buffer data=4096:3 --buffer out=256 "$@"
    point "without a finding" "$(grep -E ': (warning|note): ' "$folder/out" || :)"
  done
  expect "bytes are expected twice of $program" 1 'error: orphan-wait: ' "$LOCKSTEP" run "$program" -m h200 --kernel expects_twice --grid 1 --block 128 \
    --buffer data=256:3 --arg data
  point "and how many are missing" "$(grep -q '128 of this one have come, 0 are missing, and 1024 bytes that it expects' "$folder/out" || cat "$folder/out")"
}

# scenario: each row as a launch with a buffer of its own, row_LINE, expected to be 0, so that what it holds is told.
scenario() {
  awk -F, -v program="$PWD/validation/hardware/mc_bulk.ptx" -v all="${BULK_ROWS-}" '
    FNR < 3 || !all && $3 > 66 && FNR % 3 != 1 { next }
    {
      buffers = buffers "  row_" FNR ": {words: 4}\n"
      launches = launches "  - {kernel: " $2 ", grid: " $3 ", block: 32, args: [row_" FNR ", " $5 ", " $4 ", words]}\n"
      expected = expected "    row_" FNR ": [0]\n"
    }
    END { printf "program: %s\nbuffers:\n  words: {words: 1081344}\n%slaunches:\n%sexpect:\n  buffers:\n%s", program, buffers, launches, expected }' $rows
}

# rows_of FILE: kernel,blocks,bytes,n,lockstep,GPU,group. Parameters were set from a few rows of one SM.
rows_of() {
  awk -F, '
    function fitted(kernel, blocks, bytes) {
      if (blocks > 1) return 0
      if (kernel == "load_one") return bytes == 16 || bytes == 16384 || bytes == 32768
      if (kernel == "store_one") return bytes == 128 || bytes == 16384 || bytes == 32768
      if (kernel == "add_one") return bytes == 16 || bytes == 4096 || bytes == 16384
      return kernel == "read_nothing"
    }
    FILENAME == ARGV[1] { cycles[$1] = $2; next }
    FNR in cycles { print $2 "," $3 "," $4 "," $5 "," cycles[FNR] "," $7 "," (fitted($2, $3, $4) ? "fitted" : "predicted") }' "$1" $rows
}

# compare GROUP: the mean error of its rows, and what is wrong with it: rows above 30 % that aren't known.
compare() {
  awk -F, -v group="$1" -v known="$known" '
    BEGIN { count = split(known, lines, "\n"); for (i = 1; i <= count; i++) allowed[lines[i]] }
    $7 != group { next }
    {
      size = ($5 - $6) / $6 * 100
      size = size < 0 ? -size : size
      key = $1 "/" $2
      if (!number[key]++) order[++kernels] = key
      sum[key] += size; if (size > worst[key]) worst[key] = size
      all++; total += size
      if ($2 == 1) { single++; of_single += size }
      met[$1] = met[key] = 1
      if (size > 30) above[$1] = above[key] = 1
      if (size > 30 && !($1 in allowed) && !(key in allowed)) printf "%s of %d bytes: %d instead of %d cycles\n", key, $3, $5, $6
    }
    END {
      for (i = 1; i <= kernels; i++)
        printf "# %s: %d rows, mean %.1f %%, worst %.1f %%\n", order[i], number[order[i]], sum[order[i]] / number[order[i]], worst[order[i]]
      if (!all) { print "no row was simulated"; exit }
      printf "# %s: %d rows, mean error %.1f %%; of one SM %d, mean %.1f %%\n", group, all, total / all, single, single ? of_single / single : 0
      for (i = 1; i < count; i++)
        if (lines[i] in met && !(lines[i] in above)) print lines[i] ": no row is above 30 % any longer, so take it off the list"
      if (single && of_single / single >= 12) printf "mean error of one SM %.1f %%\n", of_single / single
    }' "$folder/rows" >"$folder/$1"
  grep '^#' "$folder/$1" || :
  point "$1 rows: as on the H200" "$(grep -v '^#' "$folder/$1" || :)"
}

plan 24
for code in ptx cubin; do
  of_program $code
done
sed 's/mbarrier.arrive.shared::cta.b64 _, .*;//' tests/machine_code/bulk.sm_90.ptx >"$folder/ring.ptx"
expect "nobody says that a stage is empty" 1 'each phase expects 3 arrivals: 0 of this one have come, 3 are missing' "$LOCKSTEP" run "$folder/ring.ptx" \
  -m h200 --kernel pipeline --grid 1 --block 128 --buffer data=4096:3 --buffer out=4 --arg data --arg out --arg 16
scenario >"$folder/bulk.yaml"
"$LOCKSTEP" run "$folder/bulk.yaml" -m h200 --code sass >"$folder/out" 2>"$folder/err" || :
sed -n 's/^ *row_\([0-9]*\)\[0\] is \([0-9]*\), expected 0.*$/\1,\2/p' "$folder/out" >"$folder/cycles"
lacking=$(($(grep -c 'kernel:' "$folder/bulk.yaml") - $(wc -l <"$folder/cycles")))
point "each row is simulated" "$(test "$lacking" = 0 || { echo "$lacking rows are not"; head -n 3 "$folder/err"; })"
rows_of "$folder/cycles" >"$folder/rows"
test -z "${BULK_ROWS-}" || cp "$folder/rows" "$BULK_ROWS"
compare fitted
compare predicted
finish
