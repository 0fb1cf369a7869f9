#!/bin/sh
# Usage: make_ptx.sh FILE.cu... - makes FILE.ptx beside each FILE.cu, for sm_75 (the oldest that nvcc 13 knows), with
# the lines of the .cu. File names in it are bare, since nvcc writes where it found its headers and the .cu.
set -eu
for file; do
  (
    cd "$(dirname "$file")"
    name=$(basename "$file" .cu)
    "${NVCC:-nvcc}" -ptx -lineinfo -arch=sm_75 -o "$name.ptx" "$name.cu"
    sed 's|^\([[:space:]]*\.file[[:space:]]*[0-9]*[[:space:]]*"\)[^"]*/\([^/"]*"\)|\1\2|' "$name.ptx" >"$name.ptx.new"
    mv "$name.ptx.new" "$name.ptx"
  )
done
