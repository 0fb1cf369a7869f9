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

# expected NAME: scenario NAME with what its rows say as its expectation, on each machine.
expected() {
  awk -F, -v folder="$PWD/${1%/*}/" -v name="$1" '
    FNR == NR && /^[a-z]/ { keep = !/^expect/ }
    FNR == NR && /^program: / { sub(/^program: */, "program: " folder) }
    FNR == NR { if (keep) print; next }
    $1 != name { next }
    !rows++ && $2 == "completed" { print "expect:\n  verdict: completed" }
    rows == 1 && $2 != "completed" {
      print "expect:\n  verdict: [livelock, orphan-wait, lock-order-deadlock, barrier-deadlock, simd-deadlock, residency-deadlock]" }
    $2 == "completed" && $3 == $5 {
      gsub(/ /, ", ", $7)
      print (buffers++ ? "" : "  buffers:\n") "    " $4 ": [" $7 "]" }' "$1.yaml" "$measured"
}

# run_cases MACHINE CODE FILE...: prints `NAME WHAT: how it differs` for the outcome and each buffer that differ.
run_cases() {
  machine=$1
  code=$2
  shift 2
  "$LOCKSTEP" run "$@" -m "$machine" --code "$code" --format json >"$folder/out" 2>"$folder/err" || :
  awk -v file="$folder/err" '
    BEGIN {
      for (i = 2; i < ARGC; i++) { name = ARGV[i]; sub(/.*\//, "", name); sub(/\.yaml$/, "", name); cases[i] = name }
      count = ARGC
      ARGC = 2
    }
    /^  "scenario" : / { name = $3; gsub(/[",]/, "", name) }
    /^  "verdict" : / { ran[name] = 1 }
    /^ *"the verdict is / { sub(/^ *"the verdict is /, ""); sub(/",*$/, ""); print name " outcome: " $0 }
    /^ *"[A-Za-z0-9_]*\[[0-9]*\] is .*, expected .*",*$/ {
      sub(/^ *"/, ""); sub(/",*$/, ""); buffer = $0; sub(/\[.*/, "", buffer); print name " " buffer ": " $0 }
    END {
      for (i = 2; i < count; i++)
        if (!(cases[i] in ran)) { print cases[i] " run: none"; lacks = 1 }
      while (lacks && (getline line <file) > 0)
        if (line ~ / error: /) print line
    }' "$folder/out" "$@"
}

# compare FOLDER MACHINE CODE
compare() {
  if test "$3" = ptx; then known=$known_ptx; else known=$known_sass; fi
  mkdir "$folder/cases"
  for name in $(sed -n "s|^\($1/[^,]*\),.*|\1|p" "$measured" | uniq); do
    ! grep -q "^machines:.*\<$2\>" "$name.yaml" || expected "$name" >"$folder/cases/${name##*/}.yaml"
  done
  run_cases "$2" "$3" "$folder"/cases/*.yaml >"$folder/differ"
  rm -r "$folder/cases"
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
