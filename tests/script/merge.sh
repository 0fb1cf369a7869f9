#!/bin/sh
# Rounds of atomic operations whose lanes ptxas makes one (tests/converge/merge_rounds.cu) on an h200: PTX, which says so of each
# operation, beside the machine code, in which instructions do it. TAP; with TABLE the table of doc/results.md goes there.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# run KERNEL BLOCKS THREADS CODE: `CYCLES VERDICT`, with the values that both forms must leave in $folder/values.CODE.
run() {
  cat >"$folder/rounds.yaml" <<END
program: $PWD/tests/converge/merge_rounds.ptx
buffers: {x: {words: 1}, o: {words: $2 * $3}}
launches: [{kernel: $1, grid: $2, block: $3, args: [x, 32, o]}]
expect: {verdict: completed, buffers: {x: [-1]}}
END
  "$LOCKSTEP" run "$folder/rounds.yaml" -m h200 --code "$4" --format json >"$folder/out" 2>"$folder/err" || :
  grep -o 'x\[0\] is [0-9-]*' "$folder/out" >"$folder/values.$4" || :
  sed -n 's/^ *"cycles" : \([0-9]*\),*$/\1/p' "$folder/out" | head -n 1
}

for kernel in add_one take_number highest take_shared; do
  for size in "1 32" "1 256" "132 32" "132 256"; do
    # shellcheck disable=SC2086 # blocks and threads
    set -- $size
    ptx=$(run "$kernel" "$1" "$2" ptx)
    sass=$(run "$kernel" "$1" "$2" sass)
    same=$(cmp -s "$folder/values.ptx" "$folder/values.sass" && echo same || echo other)
    echo "$kernel $1 $2 $ptx $sass $same"
  done
done >"$folder/rows"

test -z "${TABLE:-}" || {
  echo "| | blocks | threads | PTX | machine code | |"
  echo "| --- | --- | --- | --- | --- | --- |"
  awk '{ printf "| %s | %d | %d | %d | %d | %+.0f %% |\n", $1, $2, $3, $4, $5, 100 * ($4 / $5 - 1) }' "$folder/rows"
} >"${TABLE:-/dev/null}"

plan 2
point "PTX is within 12 % of machine code" "$(awk '!($5 > 0 && $4 < 1.12 * $5 && $4 > 0.88 * $5)' "$folder/rows")"
point "both leave the same sum" "$(awk '$6 != "same"' "$folder/rows")"
finish
