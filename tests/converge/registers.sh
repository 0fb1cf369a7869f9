#!/bin/sh
# Prints what ptxas -v says of each kernel's registers on sm_90: FILE KERNEL REGISTERS, for registers_sm_90.txt. With LOCKSTEP (the program)
# in the environment, kernels that it refuses are left out, and a fourth number is what it takes where that is over a tenth more.
# Run in the root of the tree: tests/converge/registers.sh [FILE.ptx...].
#
# All PTX below traces/ and tests/ is asked, an older .version raised to the first that knows sm_90. Left out are
# - tests/fuzz/: copies of files of tests/ptx, and what can't be read,
# - tests/golden/refused.ptx: ptxas takes none of it, since its kernels are wrong on purpose,
# - tests/converge/unroll.ptx, whose kernels are one loop each, much alike,
# - nine in ten of the 630 kernels of tests/divergent/lanes/, which a program wrote and which are much alike,
# - kernels that lockstep refuses: `calls` (recursion), `specials` (performance monitors), `atomics_16` (16-bit atomics) of tests/ptx.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2046 # no names with spaces
test $# -gt 0 || set -- $(find traces tests -name '*.ptx' ! -path 'tests/fuzz/*' ! -name refused.ptx ! -name unroll.ptx 2>/dev/null | sort)
for file; do
  case $file in
  tests/divergent/lanes/*) one_in=10 ;;
  *) one_in=1 ;;
  esac
  awk '/^\.version/ && $2 < 7.8 {$2 = "7.8"} /^\.target/ {$0 = ".target sm_90"} {print}' "$file" >"$folder/k.ptx"
  ptxas -v -arch=sm_90 -o "$folder/k.cubin" "$folder/k.ptx" 2>"$folder/log" || continue
  awk -v file="$file" '/Compiling entry function/ {split($0, part, "\047"); kernel = part[2]}
    /Used [0-9]+ registers/ {for (i = 1; i < NF; i++) if ($i == "Used") print file, kernel, $(i + 1)}' "$folder/log" |
    sort | awk -v one_in="$one_in" 'NR % one_in == 0' >"$folder/theirs"
  if test -z "${LOCKSTEP:-}"; then
    cat "$folder/theirs"
    continue
  fi
  "$LOCKSTEP" show "$file" -m h200 2>/dev/null | awk '/^\.kernel/ {kernel = $2} /^\.reg/ {print kernel, $2}' >"$folder/ours"
  awk 'NR == FNR {ours[$1] = $2; next} $2 in ours {print $0 (ours[$2] * 10 > $3 * 11 ? " " ours[$2] : "")}' \
    "$folder/ours" "$folder/theirs"
done
