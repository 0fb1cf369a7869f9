#!/bin/sh
# Prints what ptxas -v says of each kernel's registers on sm_90: FILE KERNEL REGISTERS, for registers_sm_90.txt.
# Run in the root of the tree: tests/converge/registers.sh [FILE.ptx...].
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2046 # no names with spaces
test $# -gt 0 || set -- $(find traces tests/converge tests/kernels tests/corpus tests/divergent -name '*.ptx' 2>/dev/null | sort)
for file; do
  sed 's/^\.target.*/.target sm_90/' "$file" >"$folder/k.ptx"
  ptxas -v -arch=sm_90 -o "$folder/k.cubin" "$folder/k.ptx" 2>"$folder/log" || continue # an older .version
  awk -v file="$file" '/Compiling entry function/ {split($0, part, "\047"); kernel = part[2]}
    /Used [0-9]+ registers/ {for (i = 1; i < NF; i++) if ($i == "Used") print file, kernel, $(i + 1)}' "$folder/log" | sort
done
