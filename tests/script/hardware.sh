#!/bin/sh
# `lockstep run` beside a real H200 that ran the same PTX (validation/hardware/run_ptx_h200.csv): whether a program hangs,
# and each buffer that all runs of the GPU left alike. tests/divergent/ also on a GTX 1080 Ti, since its results don't
# depend on the machine. TAP, two points for each folder and machine.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
measured=validation/hardware/run_ptx_h200.csv

# Buffers that lockstep is known to leave otherwise: a data race decides them, and the H200 happens to decide it otherwise.
known="
convolution_no_barrier output
lock_v2_warps victim
peterson_victim_read_first_warps victim
peterson_warps victim
"

# expected FILE: FILE with what the rows in $folder/rows say as its expectation, on each machine.
expected() {
  awk -v folder="$PWD/${1%/*}/" '
    /^[a-z]/ { keep = !/^expect/ }
    /^program: / { sub(/^program: */, "program: " folder) }
    keep' "$1"
  awk -F, '
    NR == 1 && $2 == "completed" { print "expect:\n  verdict: completed" }
    NR == 1 && $2 != "completed" {
      print "expect:\n  verdict: [livelock, orphan-wait, lock-order-deadlock, barrier-deadlock, simd-deadlock, residency-deadlock]" }
    $2 == "completed" && $3 == $5 {
      gsub(/ /, ", ", $7)
      print (buffers++ ? "" : "  buffers:\n") "    " $4 ": [" $7 "]" }' "$folder/rows"
}

# compare FOLDER MACHINE: complaints go to $folder/outcomes and $folder/buffers.
compare() {
  : >"$folder/outcomes"
  : >"$folder/buffers"
  : >"$folder/differ"
  for name in $(sed -n "s|^\\($1/[^,]*\\),.*|\\1|p" "$measured" | uniq); do
    grep -q "^machines:.*\\<$2\\>" "$name.yaml" || continue
    grep "^$name," "$measured" >"$folder/rows"
    expected "$name.yaml" >"$folder/case.yaml"
    "$LOCKSTEP" run "$folder/case.yaml" -m "$2" --format json >"$folder/out" 2>"$folder/err" || :
    grep -q '"verdict"' "$folder/out" || echo "$name: $(head -n 3 "$folder/err")" >>"$folder/outcomes"
    sed -n "s|^ *\"\\(the verdict is .*\\)\",*\$|$name: \\1|p" "$folder/out" >>"$folder/outcomes"
    sed -n 's/^ *"\([A-Za-z0-9_]*\)\[[0-9]*\] is .*, expected .*/\1/p' "$folder/out" | while read -r buffer; do
      echo "${name##*/} $buffer"
    done >>"$folder/differ"
  done
  # The lines of `known` for this folder, and what differs, must be the same.
  for line in $(tr ' ' : <"$folder/differ"); do
    case "$known" in
      *"
$(echo "$line" | tr : ' ')
"*) ;;
      *) echo "$line differs" ;;
    esac
  done >"$folder/buffers"
  for line in $(echo "$known" | tr ' ' :); do
    test ! -f "$1/${line%%:*}.yaml" || grep -qx "$(echo "$line" | tr : ' ')" "$folder/differ" || echo "$line no longer differs"
  done >>"$folder/buffers"
  point "$1 on $2: hangs where the H200 hangs" "$(cat "$folder/outcomes")"
  point "$1 on $2: leaves what the H200 leaves" "$(cat "$folder/buffers")"
}

plan 8
compare tests/divergent h200
compare tests/divergent gtx1080ti
compare traces/slides h200
compare traces/blog h200
finish
