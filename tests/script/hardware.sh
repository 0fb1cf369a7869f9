#!/bin/sh
# `lockstep run` beside a real H200 that ran the same PTX (validation/hardware/run_ptx_h200.csv): whether a program hangs,
# and each buffer that all runs of the GPU left alike. tests/divergent/ also on a GTX 1080 Ti where it is for that, too:
# these results don't depend on the machine. Both as PTX and as the machine code that ptxas made of it (--code sass). TAP, a point for each
# folder, machine and form.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
measured=validation/hardware/run_ptx_h200.csv

# Where lockstep is known to differ: a scenario and a buffer, or `outcome` (doc/validation.md has the reasons).
known_ptx="
convolution_no_barrier output
peterson_blocks victim
"

known_sass="
peterson_blocks victim
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

# run_case NAME MACHINE CODE: prints `NAME WHAT: how it differs` for the outcome and each buffer that differ.
run_case() {
  grep "^$1," "$measured" >"$folder/rows"
  expected "$1.yaml" >"$folder/case.yaml"
  "$LOCKSTEP" run "$folder/case.yaml" -m "$2" --code "$3" --format json >"$folder/out" 2>"$folder/err" || :
  if ! grep -q '"verdict"' "$folder/out"; then
    echo "${1##*/} run: $(head -n 3 "$folder/err")"
  fi
  sed -n -e "s|^ *\"the verdict is \\(.*\\)\",*\$|${1##*/} outcome: \\1|p" \
    -e "s|^ *\"\\([A-Za-z0-9_]*\\)\\(\\[[0-9]*\\] is .*, expected .*\\)\",*\$|${1##*/} \\1: \\1\\2|p" "$folder/out"
}

# compare FOLDER MACHINE CODE
compare() {
  if test "$3" = ptx; then known=$known_ptx; else known=$known_sass; fi
  for name in $(sed -n "s|^\\($1/[^,]*\\),.*|\\1|p" "$measured" | uniq); do
    ! grep -q "^machines:.*\\<$2\\>" "$name.yaml" || run_case "$name" "$2" "$3"
  done >"$folder/differ"
  echo "$known" | grep . >"$folder/known"
  # Of the known ones those that are of this folder.
  while read -r name what; do
    test ! -f "$1/$name.yaml" || ! grep -q "^machines:.*\\<$2\\>" "$1/$name.yaml" ||
      grep -q "^$name $what: " "$folder/differ" || echo "$name $what: differs no longer, so take it off the list"
  done <"$folder/known" >"$folder/complaints"
  sed 's/$/:/' "$folder/known" >"$folder/prefixes"
  grep -vF -f "$folder/prefixes" "$folder/differ" >>"$folder/complaints" || :
  point "$1 on $2, $3: as on the H200" "$(cat "$folder/complaints")"
}

plan 7
compare tests/divergent h200 ptx
compare tests/divergent h200 sass
compare tests/divergent gtx1080ti ptx
compare traces/slides h200 ptx
compare traces/slides h200 sass
compare traces/blog h200 ptx
compare traces/blog h200 sass
finish
