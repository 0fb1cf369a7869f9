#!/bin/sh
# What the paper (Li et al., ICS 2015) states and the scenarios' own expectations can't say (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# Section 4.4.1: a chain of dependent lanes within a warp costs up to 32-fold.
chain() {
  "$LOCKSTEP" run traces/chain/chain.yaml -m gtx570 -p "lanes=$1" | sed -n 's/^ *marks 0 to 1 *\([0-9]*\) .*/\1/p'
}
chain_complaint() {
  first=$(chain 1)
  before=0
  for lanes in 1 2 4 8 16 32; do
    cycles=$(chain "$lanes")
    test "${cycles:-0}" -gt "$before" || echo "$lanes lanes: ${cycles:-nothing} cycles after $before"
    before=${cycles:-0}
  done
  test "$before" -ge $((16 * first)) && test "$before" -le $((32 * first)) || echo "32 lanes: $before cycles, 1 lane: $first"
}

# Section 4.4.2: what is safe with 2048 lock bits hangs with 1024, by option as well as by machine.
safe_with_2048() {
  "$LOCKSTEP" run "traces/alias/$1.yaml" -m gtx570 -s sm.lock_unit.bits=2048 >"$folder/out" 2>&1 || :
  grep -q '^'"$1"' on gtx570: completed' "$folder/out" || head -3 "$folder/out"
}

plan 7
point "the chain's cycles rise, 16 to 32 times for 32 lanes" "$(chain_complaint)"
point "two words of one bit, one thread: safe with 2048 bits" "$(safe_with_2048 self)"
point "a warp at a barrier: safe with 2048 bits" "$(safe_with_2048 barrier)"
point "1025 locks: safe with 2048 bits" "$(safe_with_2048 locks_1025)"
for table in 1 2 3; do
  expect "Table $table" 0 "^li2015_table$table" "$LOCKSTEP" validate "li2015_table$table"
done
finish
