#!/bin/sh
# Needleman-Wunsch on grids of tiles (TAP): each scheme computes the right grid, a wrong one is noticed, and both readings of
# Li et al.'s Table 3 are read from the smaller grids. How far off the model is isn't judged here.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
traces=traces/wavefront

# verify SCENARIO ARGUMENT...: complains unless each point of the grid is right.
verify() {
  "$LOCKSTEP" run "$@" -p verify=1 >"$folder/out" 2>&1 || tail -3 "$folder/out"
}

# The same program with a maximum of two instead of three: the kernel that verifies has to see it.
wrong_complaint() {
  cp "$traces"/grid_data_parallel.yaml "$folder"
  awk '/^\.kernel/ { n = 0 } /IMNMX/ && ++n == 2 && !done { sub("IMNMX", "//"); done = 1 } { print }' "$traces/grid.sass" >"$folder/grid.sass"
  ! cmp -s "$traces/grid.sass" "$folder/grid.sass" || echo "nothing was changed"
  ! "$LOCKSTEP" run "$folder/grid_data_parallel.yaml" -p tiles=2 -p verify=1 >"$folder/out" 2>&1 || echo "not noticed"
  grep -q 'errors.0. is [1-9]' "$folder/out" || tail -3 "$folder/out"
}

# The longest launch is one of those that the sum is made of: of 3 diagonals at least a third of the sum, and less than all.
longest_complaint() {
  for scheme in atomic_lock data_parallel tiny_lock; do
    for longest in 0 1; do
      "$LOCKSTEP" run "$traces/grid_$scheme.yaml" -p tiles=2 -p longest=$longest --format json >"$folder/$longest" 2>&1 || cat "$folder/$longest"
    done
    awk -v scheme=$scheme '
      function number() { gsub(/[^0-9]/, "", $3); return $3 }
      /"measured_cycles"/ { cycles[FILENAME] = number() }
      /"longest_launch"/ { seen[FILENAME]++ }
      END { sum = cycles[ARGV[1]]; longest = cycles[ARGV[2]]
        if (seen[ARGV[1]] || !seen[ARGV[2]] || !(longest > sum / 3.1 && longest < sum / 2)) print scheme, sum, longest }' \
      "$folder/0" "$folder/1"
  done
}

# The rows of grids of up to 2 x 2 tiles.
read_complaint() {
  grep -E '^(#|row|31x|62x)' "validation/published/li2015_table3_$1.csv" >"$folder/li2015_table3_$1.csv"
  "$LOCKSTEP" validate "$folder/li2015_table3_$1.csv" --format csv >"$folder/out" 2>"$folder/err" || cat "$folder/err"
  rows=$(grep -c '^li2015' "$folder/out" || :)
  test "$rows" = "$2" || echo "$rows rows, expected $2"
  awk -F, 'NR > 1 && ($15 != "completed" || $16 != "yes" || !($11 >= 0)) { print }' "$folder/out"
}

plan 7
for scheme in atomic_lock data_parallel tiny_lock; do
  point "$scheme: each point of 3 x 3 tiles" "$(verify "$traces/grid_$scheme.yaml" -p tiles=3)"
done
point "a wrong point is noticed" "$(wrong_complaint)"
point "the longest launch is one of them" "$(longest_complaint)"
point "Table 3 as sums is read" "$(read_complaint sum 6)"
point "Table 3 as longest launches is read" "$(read_complaint longest 8)"
finish
