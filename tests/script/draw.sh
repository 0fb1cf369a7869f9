#!/bin/sh
# lockstep draw: pictures of runs that hang, and of live ones; their rows cover the run; what can't be drawn (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
traces=$SRCDIR/traces

# drawn NAME ARGUMENT...: draws into $folder/NAME.svg.
# shellcheck disable=SC2317 # called by name
drawn() {
  picture=$1
  shift
  "$LOCKSTEP" draw "$@" -o "$folder/$picture.svg" && echo drawn
}

# Complains about rows of picture $1 whose spans don't follow each other from cycle $2 to $3, and unless it has $4 rows.
# shellcheck disable=SC2154 # tap.sh has the folder
cover() {
  sed -n 's/.*<title>\(.*\): \([a-z]*\), cycles \([0-9]*\) to \([0-9]*\).*/\1;\2;\3;\4/p' "$folder/$1.svg" | awk -F ';' '
    !($1 in at) { at[$1] = from; rows++ }
    at[$1] != $3 { print $1 ": a span from " $3 " behind " at[$1] }
    { at[$1] = $4 }
    END { for (row in at) if (at[row] != to) print row " ends in " at[row]; if (rows != wanted) print rows " rows" }
  ' from="$2" to="$3" wanted="$4"
}

# Complains unless picture $1 has $2 rows that match the extended regular expression $3 somewhere in a title.
has() {
  count=$(grep -oE "<title>[^<]*" "$folder/$1.svg" | grep -E "$3" | sed 's/:.*//' | sort -u | wc -l)
  test "$count" -eq "$2" || echo "$count rows with $3"
}

whole() { # complains unless picture $1 is well-formed
  if command -v xmllint >/dev/null; then
    xmllint --noout "$folder/$1.svg" 2>&1
  else
    tail -1 "$folder/$1.svg" | grep -qx '</svg>' || echo "no end"
  fi
}

plan 36
expect "a spin lock that hangs in a warp" 0 "^drawn" drawn hang "$traces/slides/lock_cpu_lanes.yaml" -m gtx1080ti
point "is well-formed" "$(whole hang)"
end=$(sed -n 's/.*cycles 0 to \([0-9]*\) of [0-9]*, since what follows only repeats itself.*/\1/p' "$folder/hang.svg")
point "is cut where nothing new comes" "$(test "${end:-9999999}" -lt 3000 || echo "${end:-not cut}")"
point "has rows that cover it" "$(cover hang 0 "${end:-0}" 32)"
point "has the verdict" "$(grep -q '>lock_cpu_lanes on gtx1080ti: simd-deadlock<' "$folder/hang.svg" || echo none)"
point "has one lane that holds the lock and waits" "$(has hang 1 "^<title>lane 0: holds lockvar.* to $end")"
point "at reconvergence" "$(has hang 1 "^<title>lane 0: reconv, .* to $end, line 41")"
point "for lanes that spin" "$(has hang 31 ": spin, .* to $end, line 39")"
cp "$folder/hang.svg" "$folder/first.svg"
expect "again" 0 "^drawn" drawn hang "$traces/slides/lock_cpu_lanes.yaml" -m gtx1080ti
point "the same bytes" "$(cmp "$folder/first.svg" "$folder/hang.svg" 2>&1)"

expect "its live twin" 0 "^drawn" drawn live "$traces/slides/lock_cpu_lanes.yaml" -m h200 --to 6000
point "is well-formed" "$(whole live)"
point "has rows that cover it" "$(cover live 0 6000 32)"
point "has lanes that exit" "$(has live 3 ': exited, .* to 6000')"
cycles=$("$LOCKSTEP" run "$traces/slides/lock_cpu_lanes.yaml" -m h200 | sed -n 's/^  cycles *\([0-9]*\) .*/\1/p')
expect "all of it" 0 "^drawn" drawn live "$traces/slides/lock_cpu_lanes.yaml" -m h200
point "has as many cycles as the run" "$(cover live 0 "$cycles" 32)"

expect "aliased lock bits" 0 "^drawn" drawn alias "$traces/alias/barrier.yaml" -m gtx570 --warps
point "a warp holds the bit at the barrier" "$(has alias 1 '^<title>warp 0: barrier, .*line 18')$(has alias 1 '^<title>warp 0: holds lock bit 0')"
point "and one spins" "$(has alias 1 '^<title>warp 1: spin, .*line 15')"
expect "their live twin" 0 "^drawn" drawn alias "$traces/alias/barrier_near.yaml" -m gtx570 --warps
point "holds two bits" "$(has alias 2 ': holds lock bit')"
point "and ends" "$(grep -o 'since what follows.*' "$folder/alias.svg" || :)"

expect "a line held hostage" 0 "^drawn" drawn hostage "$traces/whatif/hostage.yaml" -m gtx580 --warps
point "loads queue" "$(has hostage 3 '^<title>block [234]: queue,')"
expect "another line" 0 "^drawn" drawn hostage "$traces/whatif/hostage.yaml" -m gtx580 --warps -p offset=512
point "loads don't" "$(has hostage 0 '^<title>block [234]: queue,')"

expect "too many rows" 2 '8448 warps: a picture has room for 64' drawn no "$traces/slides/barrier_capacity_h200.yaml"
expect "too long" 2 'choose fewer cycles with --from and --to' drawn no "$traces/whatif/hostage.yaml" -m gtx580 --warps -p rounds=300
expect "nothing there" 2 'the run has 4495 cycles' drawn no "$traces/whatif/hostage.yaml" -m gtx580 --from 5000
expect "an empty window" 2 'expected a cycle behind 100' drawn no "$traces/whatif/hostage.yaml" -m gtx580 --from 100 --to 100
expect "a file that can't be written" 3 "can't write the picture" "$LOCKSTEP" draw "$traces/whatif/hostage.yaml" -m gtx580 -o "$folder/no/such.svg"
expect "no name of a file" 2 "^lockstep: error: --output: the name is empty; expected that of a file" "$LOCKSTEP" draw "$traces/whatif/hostage.yaml" -m gtx580 -o ""
ln -s kept.svg "$folder/link.svg"
point "a file through a link" "$("$LOCKSTEP" draw "$traces/whatif/hostage.yaml" -m gtx580 --warps -o "$folder/link.svg" 2>&1 | grep -v note)"
cp "$folder/kept.svg" "$folder/whole.svg"
expect "no room for the whole picture" 3 "^$folder/link.svg: error: can't write the picture: .*File too large" \
  sh -c 'trap "" XFSZ && ulimit -f 1 && exec "$@"' sh "$LOCKSTEP" draw "$traces/whatif/hostage.yaml" -m gtx580 --warps -o "$folder/link.svg"
point "the earlier one stays" "$(cmp "$folder/kept.svg" "$folder/whole.svg" 2>&1; test -L "$folder/link.svg" || echo "the link is gone"; ls "$folder" | grep 'svg\..' || :)"
expect "another kind of picture" 2 "x.PNG: the picture is SVG" "$LOCKSTEP" draw "$traces/whatif/hostage.yaml" -m gtx580 -o "$folder/x.PNG"
finish
