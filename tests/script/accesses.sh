#!/bin/sh
# The memory benchmarks of Stuart and Owens (TAP): the published tables are read and agree with each other, and each of the
# twelve benchmarks makes the accesses that it is said to make. What the model predicts isn't judged here.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
suites="$SRCDIR/validation/published/stuart2011_table"
scenario=traces/accesses/accesses.yaml

# Each row of a table is run with 8 accesses a block instead of 1000, and one seed, since only the file is under test.
read_complaint() {
  { echo "row,scenario,machine,params,group,metric,published,unit,source,page$2,note,seeds"; grep '^GTX' "${suites}$1.csv"; } |
    sed -e 's/blocks=/accesses=8 &/' -e '2,$s/$/,1/' >"$folder/table$1.csv"
  "$LOCKSTEP" validate "$folder/table$1.csv" --format csv >"$folder/out" 2>"$folder/err" || cat "$folder/err"
  rows=$(grep -c '^table' "$folder/out" || :)
  test "$rows" = "$3" || echo "$rows rows, expected $3"
  awk -F, 'NR > 1 && ($15 != "completed" || $16 != "yes" || !($11 > 0)) { print }' "$folder/out"
}

# The same of what the text says.
text_complaint() {
  sed -e 's/,contentious=/,accesses=8 contentious=/' -e '/^row,/s/$/,seeds/' -e '/^"*GTX/s/$/,1/' validation/published/stuart2011_section3.csv >"$folder/text.csv"
  "$LOCKSTEP" validate "$folder/text.csv" --format csv >"$folder/out" 2>"$folder/err" || cat "$folder/err"
  test "$(grep -c ',completed,yes,' "$folder/out")" = "$(grep -c '^"*GTX' "$folder/text.csv")" || cat "$folder/out"
}

# A row of Table 2 or 3 is the quotient of two rows of Table 1, rounded or cut off to the digits that are printed.
quotient_complaint() {
  awk -F, '
    FNR == NR { if (/^GTX/) time[$1] = $7; next }
    /^GTX/ && $1 != $13 {
      rows++
      quotient = time[$1] / time[$13]
      if (quotient < $7 - 0.0051 || quotient >= $7 + 0.01)
        printf "%s is %s, Table 1 says %.4f\n", $1, $7, quotient
    }
    END { if (rows != wanted) printf "%d rows, expected %d\n", rows, wanted }' \
    "${suites}1.csv" wanted="$2" "${suites}$1.csv"
}

# The counters of a benchmark with 200 accesses a block: accesses (of a block, with the store of its sum) and atomic operations.
count_complaint() {
  "$LOCKSTEP" run "$scenario" -m "$1" -p "blocks=$2" -p "contentious=$3" -p "atomic=$4" -p "preceded=$5" -p "write=$6" -p accesses=200 \
    --format json >"$folder/out" 2>"$folder/err" || cat "$folder/err"
  awk -v accesses=$(($2 * (201 + $5))) -v atomics=$(($2 * (200 * $4 + $5))) '
    function number() { gsub(/[^0-9]/, "", $3); return $3 }
    /"global_accesses"/ { n = number(); if (n != accesses) print n " accesses, expected " accesses }
    /"global_atomics"/ { n = number(); seen = 1; if (n != atomics) print n " atomic operations, expected " atomics }
    END { if (!seen) print "no counters" }' "$folder/out"
}

machines=$(sed -n 's/^machines: \[\(.*\)\]/\1/p' "$scenario" | tr ',' ' ')
set -- $machines
plan $((6 + 12 * $#))
point "Table 1 is read" "$(read_complaint 1 '' $((12 * $#)))"
point "Table 2 is read" "$(read_complaint 2 ,baseline $((12 * $#)))"
point "Table 3 is read" "$(read_complaint 3 ,baseline $((12 * $#)))"
point "what sections 3 and 7 say is read" "$(text_complaint)"
point "Table 2 follows from Table 1" "$(quotient_complaint 2 $((6 * $#)))"
point "Table 3 follows from Table 1" "$(quotient_complaint 3 $((8 * $#)))"
for machine; do
  case $machine in gtx295) blocks=240 ;; *) blocks=128 ;; esac
  for contentious in 1 0; do
    for kind in "0 0" "1 0" "0 1"; do
      for write in 0 1; do
        atomic=${kind% *} preceded=${kind#* }
        point "$machine: contentious $contentious, atomic $atomic, preceded $preceded, write $write" \
          "$(count_complaint "$machine" $blocks $contentious "$atomic" "$preceded" $write)"
      done
    done
  done
done
finish
