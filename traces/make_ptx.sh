#!/bin/sh
# Usage: make_ptx.sh FILE.cu... - makes FILE.ptx beside each FILE.cu, for sm_75 (the oldest that nvcc 13 knows), with
# the lines of the .cu. What is declared as `extern "C" __device__` is defined nowhere: functions of hypothetical
# machines. File names in it are bare, since nvcc writes where it found its headers and the .cu.
set -eu
for file; do
  (
    cd "$(dirname "$file")"
    name=$(basename "$file" .cu)
    # shellcheck disable=SC2046 # none or one
    "${NVCC:-nvcc}" $(grep -q '^extern "C" __device__ ' "$name.cu" && echo -rdc=true) -ptx -lineinfo -arch=sm_75 -o "$name.ptx" "$name.cu"
    sed 's|^\([[:space:]]*\.file[[:space:]]*[0-9]*[[:space:]]*"\)[^"]*/\([^/"]*"\)|\1\2|' "$name.ptx" >"$name.ptx.new"
    mv "$name.ptx.new" "$name.ptx"
  )
done
