#!/bin/sh
# The programs of traces/irregular/ under check, their broken neighbours, and convoys (TAP). The scenarios alone are tests, too.
# shellcheck disable=SC2154 # tap.sh has the folder
set -eu
. "$SRCDIR/tests/script/tap.sh"
traces=$SRCDIR/traces/irregular

# changed NAME SED: NAME.yaml and its program with a change, in a folder of their own.
changed() {
  mkdir -p "$folder/irregular"
  for ending in yaml ptx cu; do
    test -e "$traces/$1.$ending" || continue
    sed -E "$2" "$traces/$1.$ending" >"$folder/irregular/$1.$ending"
  done
  cp "$traces"/*.cuh "$folder/irregular"
}

plan 43
for machine in gtx1080ti h200; do
  expect "$machine: hash table, completed and without a finding" 0 "^as expected" \
    "$LOCKSTEP" check "$traces/hash_table.yaml" -m $machine -p each=1
  expect "$machine: accounts, likewise" 0 "^as expected" "$LOCKSTEP" check "$traces/accounts.yaml" -m $machine -p each=1 -p blocks=2
  expect "$machine: accounts with the first lock given back, likewise" 0 "^as expected" \
    "$LOCKSTEP" check "$traces/accounts_retry.yaml" -m $machine -p each=1 -p blocks=2
  expect "$machine: minimum spanning tree, ticket lock, likewise" 0 "^as expected" \
    "$LOCKSTEP" check "$traces/spanning_tree_random.yaml" -m $machine -p vertices=64 -p edges=200 -p blocks=2
  expect "$machine: with a compare-and-swap lock, likewise" 0 "^as expected" \
    "$LOCKSTEP" check "$traces/spanning_tree_rmat.yaml" -m $machine -p vertices=64 -p edges=200 -p blocks=2 -p ticket=0
  expect "$machine: gradient descent, likewise" 0 "^as expected" "$LOCKSTEP" check "$traces/gradient.yaml" -m $machine -p edges=128
  expect "$machine: maximum flow, likewise" 0 "^as expected" \
    "$LOCKSTEP" check "$traces/maximum_flow.yaml" -m $machine -p width=4 -p length=3
done
expect "Listing 1 as printed: the fence behind the lock is missing" 1 "unordered-access.*reads table" \
  "$LOCKSTEP" check "$traces/hash_table.yaml" -m gtx1080ti -p fence=0 -p each=1
expect "no order of the locks: a deadlock" 1 "^accounts on gtx1080ti: lock-order-deadlock" \
  "$LOCKSTEP" run "$traces/accounts.yaml" -m gtx1080ti -p ordered=0 -p pool=4
expect "a convoy, two ordered locks on four accounts: slow, and no deadlock" 0 "^as expected" \
  "$LOCKSTEP" check "$traces/accounts.yaml" -m gtx1080ti -p each=1 -p pool=4
expect "and none at full occupancy, when the cycles run out" 1 "^accounts on gtx1080ti: undecided" \
  "$LOCKSTEP" run "$traces/accounts.yaml" -m gtx1080ti -p blocks=56 -p threads=1024 -p pool=256 -p places=256 -p each=1 \
  --limit-cycles 100000

# --- lock transfers ---

timed="$traces/hash_table_timed.yaml -m gtx1080ti -p fence=0 -s clocks.globaltimer=1000MHz"
# quantity NAME: of all locks, in what `run --details --format csv` wrote to $folder/locks.
quantity() {
  awk -F, -v name="$1" '$4 == "locks" && $5 == "all" && $6 == name { print $7 }' "$folder/locks"
}
# shellcheck disable=SC2086 # words
{
  "$LOCKSTEP" run $timed --details --format csv >"$folder/locks" 2>/dev/null
  "$LOCKSTEP" run $timed >"$folder/text" 2>/dev/null
  "$LOCKSTEP" run $timed --details --format csv --timeline "$folder/timeline" >"$folder/followed" 2>/dev/null
}
point "each operation took a lock, and each other try failed" "$(awk -v taken="$(quantity taken)" -v failed="$(quantity failed)" '
  $1 == "global" && $2 == "atomics" && taken + failed != $3 - 8 * 2 * 32 { print $0, taken, failed }
  END { if (taken != 512) print taken, "instead of 512" }' "$folder/text")"
point "a transfer is the longer the earlier it begins" "$(awk -v fence="$(quantity from_fence)" -v unlock="$(quantity from_unlock)" \
  -v port="$(quantity from_port)" -v l2="$(quantity at_l2)" 'BEGIN {
    if (!(fence >= unlock + 227 && unlock > port && port > l2 && l2 > 0)) print fence, unlock, port, l2 }')"
point "the program measures what begins at the fence, and its own instructions" "$(awk -v fence="$(quantity from_fence)" '
  /ns each/ { cycles = $5 * 1.68 } END { if (!(cycles > fence && cycles < fence + 150)) print cycles, "and", fence }' "$folder/text")"
point "the same when each instruction is followed" "$(diff "$folder/locks" "$folder/followed" 2>&1 | head -3)"
expect "steps of a microsecond: a mean in between" 0 "^496 transfers of locks, [0-9]{3}\.[0-9]+ ns each" \
  "$LOCKSTEP" run "$traces/hash_table_timed.yaml" -m gtx1080ti -p fence=0

# --- a convoy, for so many cycles ---

expect "a window ends the run, and that is as expected" 0 '^accounts_convoy on gtx1080ti: undecided .*ended by its window' \
  "$LOCKSTEP" run "$traces/accounts_convoy.yaml" -m gtx1080ti
point "not all operations were done: no rate" "$(grep -E "^  operations" "$folder/out" || :)"
expect "a window that is longer than the run" 1 'the verdict is completed, expected undecided' \
  "$LOCKSTEP" run "$traces/accounts_convoy.yaml" -m gtx1080ti -p window=2000000
expect "a smaller limit comes first" 0 'ended by --limit-cycles' \
  "$LOCKSTEP" run "$traces/accounts_convoy.yaml" -m gtx1080ti --limit-cycles 5000

# --- published figures ---

common="traces/irregular/hash_table.yaml,gtx1080ti,fence=0 check=0"
cat >"$folder/suite.csv" <<END
row,scenario,machine,params,group,metric,published,unit,source,page,baseline,seeds
fence,$common,test,transfer,1,cycles,x,1,,1
l2,$common,test,transfer_l2,1,cycles,x,1,,1
all,$common,test,l2_ratio,100,%,x,1,all,1
own,traces/irregular/hash_table_timed.yaml,gtx1080ti,fence=0,test,transfer_measured,1,cycles,x,1,,1
ratio,traces/irregular/hash_table_timed.yaml,gtx1080ti,fence=0,test,transfer_ratio,1,,x,1,ratio,1
longer,traces/irregular/hash_table_timed.yaml,gtx1080ti,fence=0 rounds=88,test,transfer_ratio,1,,x,1,ratio,1
convoy,traces/irregular/accounts_convoy.yaml,gtx1080ti,,test,transfer,1,cycles,x,1,,1
half,$common each=1,test,l2_ratio,50,%,x,1,all,1
all_lines,$common,test,l2_line_ratio,100,%,x,1,all_lines,1
half_lines,$common each=1,test,l2_line_ratio,50,%,x,1,all_lines,1
warm,$common pool=100000 places=1000000,test,dram_ratio,100,%,x,1,warm,1
cold,$common pool=100000 places=1000000 each=1,test,dram_ratio,50,%,x,1,warm,1
less,$common each=1,test,less_l2,1,,x,1,all,1
more,$common,test,less_l2,0,,x,1,half,1
less,$common pool=100000 places=1000000 each=1,test,less_dram,1,,x,1,warm,1
same,$common pool=100000 places=1000000,test,less_dram,0,,x,1,warm,1
END
"$LOCKSTEP" run "$traces/hash_table.yaml" -m gtx1080ti -p fence=0 -p check=0 -s memory.l2.start=cold --details --format csv \
  >"$folder/locks" 2>/dev/null
"$LOCKSTEP" run "$traces/hash_table_timed.yaml" -m gtx1080ti -p fence=0 -s memory.l2.start=cold >"$folder/text" 2>/dev/null
lines() { # lines OPTION...: loads, stores and atomics in slices, of lines or parts of them
  "$LOCKSTEP" run "$traces/hash_table.yaml" -m gtx1080ti -p fence=0 -p check=0 -s memory.l2.start=cold --details "$@" 2>/dev/null |
    awk '/slices of L2/ { slices = 1 } slices && $1 ~ /^(loads|stores|atomics)$/ { sum += $2 } END { print sum }'
}
"$LOCKSTEP" validate "$folder/suite.csv" -s memory.l2.start=cold --format csv >"$folder/validation" 2>"$folder/err" || cat "$folder/err"
point "transfers and traffic of a suite" "$(awk -F, -v fence="$(quantity from_fence)" -v l2="$(quantity at_l2)" \
  -v lines="$(lines)" -v half_lines="$(lines -p each=1)" -v own="$(awk '/ns each/ { print $5 * 1.68 }' "$folder/text")" '
  NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
  { predicted[$2] = $at["predicted"] }
  END {
    if (predicted["fence"] - fence > 0.01 || fence - predicted["fence"] > 0.01) print predicted["fence"], "and", fence
    if (predicted["l2"] - l2 > 0.01 || l2 - predicted["l2"] > 0.01) print predicted["l2"], "and", l2
    if (predicted["own"] - own > 0.5 || own - predicted["own"] > 0.5) print predicted["own"], "and", own
    if (predicted["ratio"] != 1 || !(predicted["longer"] > 0.5 && predicted["longer"] < 3 && predicted["longer"] != 1)) print predicted["ratio"], predicted["longer"]
    if (!(predicted["convoy"] > 500)) print predicted["convoy"], "cycles from owner to owner"
    if (!(predicted["half"] > 0.3 && predicted["half"] < 0.8)) print predicted["half"], "of the traffic to the L2"
    if (!(lines > 0) || (predicted["half_lines"] - half_lines / lines) ^ 2 > 1e-8) print predicted["half_lines"], "and", half_lines, "of", lines
    if (!(predicted["cold"] > 0.3 && predicted["cold"] < 0.8)) print predicted["cold"], "of the traffic to DRAM"
  }' "$folder/validation")"
point "which of two has less" "$(awk -F, '$6 ~ /^less_/ && $10 != $11 { print $2, $6, $11 }
  $6 ~ /^less_/ { signs++ } END { if (signs != 4) print signs + 0, "signs" }' "$folder/validation")"

# All rows of the paper can be run, though not here: it ends before the first.
expect "suites of the paper: scenarios, params, baselines" 4 "^warning: --limit-seconds" "$LOCKSTEP" validate wang2019_figure9 wang2019_inputs wang2019_run_time \
  wang2019_servers wang2019_table2 wang2019_table3 wang2019_table4 --limit-seconds 0.001
# Table 4's line of servers with a 32th of the threads and an eighth of the locks: what is published for each must keep its order.
sed -E -e 's/blocks=56 threads=1024 /blocks=14 threads=128 /' -e 's/clients=28 servers=28 threads=1024 workers=1024 /clients=7 servers=7 threads=128 workers=128 /' \
  -e 's/places=4194304/places=65536/' -e 's/pool=32 /pool=4 /; s/pool=128 /pool=16 /; s/pool=512 /pool=64 /; s/pool=1024 /pool=128 /' \
  -e '/^HT-/s/,3,([^,]*)$/,1,\1/' "$SRCDIR/validation/published/wang2019_run_time.csv" |
  grep -E '^(row|HT-(32|128|512|1K): (baseline|28 servers)),' >"$folder/table4.csv"
expect "Table 4, small" 0 '^ *HT-1K: 28 servers' "$LOCKSTEP" validate "$folder/table4.csv"
point "the fewer locks, the more servers gain" "$(awk '$2 == "28" { if (n++ && $6 >= last) print $0, "behind", last; last = $6; if ($1 == "HT-32:" && $6 < 1.5) print }
  END { if (n != 4) print n + 0, "rows" }' "$folder/out")"

# Elements that are read come from DRAM if the L2 is cold: 2048 words are 8 KiB, twice that with two words each.
read="traces/client_server/hash_server_read.yaml,gtx1080ti"
cat >"$folder/read.csv" <<END
row,scenario,machine,params,set,group,metric,published,unit,source,page,baseline,seeds
one,$read,check=0 touch=0 each=16,memory.l2.start=cold,test,dram_ratio,100,%,x,1,one,1
two,$read,check=0 touch=0 each=16 words=2,memory.l2.start=cold,test,dram_ratio,200,%,x,1,one,1
warm,$read,check=0 touch=0 each=16,,test,dram_ratio,0,%,x,1,one,1
END
"$LOCKSTEP" validate "$folder/read.csv" --format csv >"$folder/validation" 2>"$folder/err" || cat "$folder/err"
point "a row changes its own machine" "$(awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
  { predicted[$2] = $at["predicted"] }
  END {
    if (predicted["one"] != 1 || !(predicted["two"] > 1.6 && predicted["two"] < 2.1)) print "two words:", predicted["two"]
    if (predicted["warm"] != 0) print "warm:", predicted["warm"]
  }' "$folder/validation")"
sed -i 's/start=cold/start=cool/' "$folder/read.csv"
expect "a change that is none is an error, and the row is told" 2 'memory.l2.start.*cool' "$LOCKSTEP" validate "$folder/read.csv"
point "of that row" "$(grep -q 'row `one`' "$folder/out" "$folder/err" || cat "$folder/out" "$folder/err")"

changed hash_table 's/atom.global.cas.b32 ([^,]*), ([^,]*),.*/ld.volatile.global.u32 \1, \2;/'
expect "without the lock, nodes are lost: the check sees it" 1 "result\[0\] is [0-9]+, expected 512" \
  "$LOCKSTEP" run "$folder/irregular/hash_table.yaml" -m gtx1080ti
changed accounts 's/atom.global.cas.b32 ([^,]*), ([^,]*),.*/ld.volatile.global.u32 \1, \2;/'
expect "without locks, money is lost: the check sees it" 1 "result\[0\] is [0-9]+, expected 0" \
  "$LOCKSTEP" run "$folder/irregular/accounts.yaml" -m gtx1080ti
mkdir -p "$folder/irregular"
sed 's/part: tree, \(.*\)seed: seed/part: tree, \1seed: seed + 1/' "$traces/spanning_tree_rmat.yaml" >"$folder/irregular/tree.yaml"
cp "$traces/spanning_tree.ptx" "$traces/spanning_tree.cu" "$folder/irregular"
expect "another weight: the check sees it" 1 "result\[0\] is 1, expected 0" \
  "$LOCKSTEP" run "$folder/irregular/tree.yaml" -m gtx1080ti
changed gradient 's/atom.global.cas.b32 ([^,]*), ([^,]*),.*/ld.volatile.global.u32 \1, \2;/'
expect "without locks, steps are lost: the check sees it" 1 "result\[0\] is [0-9]+, expected 0" \
  "$LOCKSTEP" run "$folder/irregular/gradient.yaml" -m gtx1080ti
sed 's/part: flow, \(.*\)seed: seed/part: flow, \1seed: seed + 1/' "$traces/maximum_flow.yaml" >"$folder/irregular/maximum_flow.yaml"
cp "$traces/maximum_flow.ptx" "$traces/maximum_flow.cu" "$folder/irregular"
expect "another flow: the check sees it" 1 "result\[0\] is 1, expected 0" \
  "$LOCKSTEP" run "$folder/irregular/maximum_flow.yaml" -m gtx1080ti

# --- graphs as input ---

sed 's/columns: {words: 2 \* edges/columns: {words: 10/; s/edges: 1024/edges: 512/' "$traces/spanning_tree_rmat.yaml" >"$folder/irregular/small.yaml"
sed 's/kind: rmat/kind: rmatt/' "$traces/spanning_tree_rmat.yaml" >"$folder/irregular/kind.yaml"
sed '/expected:/s/kind: bipartite/kind: random/' "$traces/gradient.yaml" >"$folder/irregular/rated.yaml"
expect "an error of what has no ratings" 3 "graph: .error. is a part of .bipartite., whose edges are ratings, not of .random." \
  "$LOCKSTEP" run "$folder/irregular/rated.yaml" -m gtx1080ti
expect "a part that doesn't fit its buffer" 3 "graph: its columns are 1024 words, but buffer .columns. has 10" \
  "$LOCKSTEP" run "$folder/irregular/small.yaml" -m gtx1080ti
expect "an unknown kind" 3 "graph: unknown kind .rmatt." "$LOCKSTEP" run "$folder/irregular/kind.yaml" -m gtx1080ti
finish
