#!/bin/sh
# lockstep tune, sensitivity, rank --primitives and machine classify: what they say of programs whose answer is known (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
plan 76

cd "$folder"

# A program whose time is known: a loop whose length is the distance of n from 40, and of m from 3.
cat >valley.ptx <<E2
.version 6.3
.target sm_75
.address_size 64
.visible .entry valley(.param .u32 n, .param .u32 m) {
  .reg .pred %p;
  .reg .b32 %r<6>;
  ld.param.u32 %r0, [n];
  ld.param.u32 %r1, [m];
  sub.s32 %r0, %r0, 40;
  abs.s32 %r0, %r0;
  sub.s32 %r1, %r1, 3;
  abs.s32 %r1, %r1;
  mad.lo.s32 %r2, %r1, 7, %r0;
  add.s32 %r2, %r2, 1;
LOOP:
  .pragma "nounroll";
  sub.s32 %r2, %r2, 1;
  setp.gt.s32 %p, %r2, 0;
  @%p bra LOOP;
  ret;
}
E2
cat >valley.yaml <<E2
about: a valley
program: valley.ptx
params: {n: 500, m: 9}
launches: [{grid: 1, block: 32, args: [n, m]}]
machines: [h200]
E2

expect "tune finds the bottom of a valley" 0 "^best: n=40 m=3, " \
  "$LOCKSTEP" tune valley.yaml -p n=1..1000 -p m=1..16 --seeds 1 -o land.csv
point "it says what it cost" "$(grep -qE '^[0-9]+ points \([0-9]+ of the grid\), [0-9]+ runs$' "$folder/out" || cat "$folder/out")"
point "it is compared with the scenario's own values" "$(grep -q '^with the scenario.s own values: ' "$folder/out" || cat "$folder/out")"
points=$(sed -n 's/^\([0-9]*\) points.*/\1/p' "$folder/out")
point "the landscape is the table of a sweep" "$(test "$(wc -l <land.csv)" = $((points + 1)) && head -1 land.csv | grep -q '^scenario,machine,n,m,seed,' || cat land.csv)"
expect "a budget" 0 "^12 points" "$LOCKSTEP" tune valley.yaml -p n=1..1000 -p m=1..16 --seeds 1 --budget 12
expect "one param, the other fixed" 0 "^best: n=40, " "$LOCKSTEP" tune valley.yaml -p n=1..1000 -p m=9 --seeds 1
expect "tune as JSON" 0 '"schema" : 1' "$LOCKSTEP" tune valley.yaml -p n=1..1000 -p m=9 --seeds 1 --format json
point "it has the best and each point" "$(awk '/"best" :/ { best = 1 } best == 1 && /"n" : 40/ { best = 2 } /"mean_microseconds"/ { points++ }
  END { if (best != 2 || points < 10) print best ", " points }' "$folder/out")"
expect "tune as CSV" 0 "^40,([0-9.]+),\\1,\\1,\\1,1$" "$LOCKSTEP" tune valley.yaml -p n=1..1000 -p m=9 --seeds 1 --format csv
expect "rank names what it gives up" 0 "given up, at 10000 cycles an operation: mutex_spin, " \
  "$LOCKSTEP" rank --primitives -m gtx295 --blocks 120 --ops 1 --seeds 1
expect "nothing to search" 2 "nothing to search" "$LOCKSTEP" tune valley.yaml -p n=4
for values in '1..9*2' '1..9:2' 1,2,4 a..b; do
  expect "values of a sweep: $values" 2 "-p n=.*: expected LOWEST..HIGHEST" "$LOCKSTEP" tune valley.yaml -p "n=$values"
done
# With twice as many operations in less than twice the time an operation is faster: n is compared by that.
sed 's/params:.*/params: {n: 500, m: 9, count: 1}/; $a measure: {operations: count * count}' valley.yaml >counted.yaml
sed 's/params:.*/params: {count: 3}/; s/\[n, m\]/["40 + count", 3]/' valley.yaml >rises.yaml
sed 's/params:.*/params: {m: 9}/; s/\[n, m\]/["40 + min(m, 64)", 3]/' valley.yaml >wide.yaml
expect "by the time of an operation, if their number varies" 0 "^best: count=8, " \
  "$LOCKSTEP" tune counted.yaml -p count=1..8 --seeds 1
expect "by that of an operation, if the scenario's own number is another" 0 "^with the scenario.s own values: .* us, an operation " \
  "$LOCKSTEP" tune counted.yaml -p count=2..8 --seeds 1 --budget 1
point "the time of an operation in CSV, the least of all" "$("$LOCKSTEP" tune counted.yaml -p count=1..8 --seeds 1 --format csv 2>err |
  awk -F, 'NR > 1 && $2 / ($1 * $1) - $5 > 0.00001 { print "count " $1 ": " $5 } $6 == "1" { best = $5 } NR > 1 && (!least || $5 < least) { least = $5 }
    END { if (best != least) print "best " best ", least " least }')"
point "and in JSON" "$("$LOCKSTEP" tune counted.yaml -p count=1..8 --seeds 1 --format json 2>err |
  awk -F'[ ,:]+' '/"compared_microseconds"/ { if (!best) best = $3; else if ($3 < best) print $3 " is less than " best; points++ } END { if (points < 4) print points + 0 }')"
expect "the whole of a small range, the best at 0" 0 "^best: count=0, " \
  "$LOCKSTEP" tune rises.yaml -p count=0..8 --seeds 1 --budget 6
point "with the values beside it" "$(grep -qE '^ +1 ' "$folder/out" || cat "$folder/out")"
for values in 1..99999999999999999999 1..9007199254740993 -1..4; do
  expect "no number for a search: $values" 2 "-p n=.*: expected LOWEST..HIGHEST, whole numbers from 0 to 9007199254740992" \
    "$LOCKSTEP" tune valley.yaml -p "n=$values"
done
for again in n=1..4 n=7; do
  expect "a param twice: $again" 2 "^lockstep: error: -p $again: it is given already, as -p n=1..9$" "$LOCKSTEP" tune valley.yaml -p n=1..9 -p m=3 -p $again
done
expect "a range as wide as can be" 0 "^best: m=1, " "$LOCKSTEP" tune wide.yaml -p m=1..9007199254740992 --seeds 1 --budget 12
expect "why no point completes" 3 "no point of the grid completes: undecided" \
  "$LOCKSTEP" tune valley.yaml -p n=1000..1001 --seeds 1 --limit-cycles 100
expect "why one point doesn't" 0 "^ +1000 +-  doesn.t complete: undecided$" \
  "$LOCKSTEP" tune valley.yaml -p n=40..1000 -p m=3 --seeds 1 --budget 4 --limit-cycles 1000
expect "and in JSON" 0 '"problem" : "undecided"' \
  "$LOCKSTEP" tune valley.yaml -p n=40..1000 -p m=3 --seeds 1 --budget 4 --limit-cycles 1000 --format json
expect "a file of another search" 3 "or --fresh to lose what it holds" "$LOCKSTEP" tune valley.yaml -p n=1..9 --seeds 1 --budget 1 -o land.csv
expect "which may be lost" 0 "^best: " "$LOCKSTEP" tune valley.yaml -p n=1..9 --seeds 1 --budget 2 -o land.csv --fresh
expect "a file that is none" 2 "--output -: expected the name of a file; /dev/stdout is standard output" \
  "$LOCKSTEP" tune valley.yaml -p n=1..9 -o -
expect "a range downwards" 2 "expected LOWEST..HIGHEST" "$LOCKSTEP" tune valley.yaml -p n=9..4
expect "a param that isn't there" 2 "has no param .k." "$LOCKSTEP" tune valley.yaml -p k=1..4

# All of this program's time is arithmetic and branches, none is memory.
expect "sensitivity" 0 "^sm\.latency\.branch_taken|^sm\.latency\.alu" \
  "$LOCKSTEP" sensitivity valley.yaml --seeds 1 --only sm.latency
expect "nothing hangs on memory" 0 "^[0-9]+ parameters with an elasticity below" \
  "$LOCKSTEP" sensitivity valley.yaml --seeds 1 --only memory.
point "no row of it" "$(grep '^memory' "$folder/out" || :)"
"$LOCKSTEP" sensitivity valley.yaml --seeds 1 --only clocks.sm --format csv >clock.csv
point "time goes with the inverse of the clock" "$(awk -F, 'NR == 2 && $5 < -0.99 && $5 > -1.01 { found = 1 } END { if (!found) print "elasticity of the clock" }' clock.csv)"
"$LOCKSTEP" plot clock.csv -o clock.svg --script clock.gp 2>err || :
point "bars of elasticities" "$(grep -q "'clocks.sm'" clock.gp || cat err)"
expect "sensitivity as JSON" 0 '"elasticity" : -(1|0.99|1.00)' "$LOCKSTEP" sensitivity valley.yaml --seeds 1 --only clocks.sm --format json
expect "a parameter that is changed, around its new value" 0 '^clocks.sm,990 MHz,891 MHz,1089 MHz,-(1|0.99|1.00)[0-9.]*,' \
  "$LOCKSTEP" sensitivity valley.yaml --seeds 1 --only clocks.sm -s "clocks.sm=990 MHz" --format csv
expect "a generation is no amount" 0 "^[0-9.]+ us on h200; 1 run$" \
  "$LOCKSTEP" sensitivity valley.yaml --seeds 1 --only gpu.compute_capability
expect "stopped: no report, and it says so" 4 "^warning: no report, which needs all points" \
  "$LOCKSTEP" sensitivity "$SRCDIR/traces/primitives/mutex_spin.yaml" -m gtx580 --limit-seconds 0.3
expect "a tune that is stopped can go on" 4 "kept in landscape.csv.journal: the same command goes on" \
  "$LOCKSTEP" tune "$SRCDIR/traces/primitives/mutex_spin_backoff.yaml" -m gtx580 -p blocks=64 -p imax=1..512 \
  -o landscape.csv --limit-seconds 0.3
expect "a change that is none" 2 "expected a percentage" "$LOCKSTEP" sensitivity valley.yaml --by 0

# Table 5 of Stuart and Owens, small.
"$LOCKSTEP" rank --primitives -m gtx580 --blocks 64 --ops 4 --seeds 1 --format csv >rank.csv 2>notes
best() { # prints the first of kind $1
  awk -F, -v kind="$1" '$2 == kind && $4 == 1 { print $5 }' rank.csv
}
point "the best barrier" "$(test "$(best barrier)" = barrier_xf || cat rank.csv)"
# The table has the one with backoff, and the text of section 6 says that backoff makes it slower on Fermi.
point "the best semaphore of one spins" "$(case $(best 'semaphore (initial value 1)') in semaphore_spin | semaphore_spin_backoff) ;; *) cat rank.csv ;; esac)"
point "the best semaphore of many" "$(test "$(best 'semaphore (initial value 120)')" = semaphore_sleep || cat rank.csv)"
expect "the ranking as JSON" 0 '"primitive" : "barrier_xf"' \
  "$LOCKSTEP" rank --primitives -m gtx580 --blocks 64 --ops 4 --seeds 1 --format json
expect "what -s changed" 0 "^gtx580: .*, 1 operation a block, -s gpu.sms=2$" \
  "$LOCKSTEP" rank --primitives -m gtx580 -s gpu.sms=2 --blocks 4 --ops 1 --seeds 1
expect "as CSV" 0 "^gtx580,barrier,4,1,.*,,gpu.sms=2,$" \
  "$LOCKSTEP" rank --primitives -m gtx580 -s gpu.sms=2 --blocks 4 --ops 1 --seeds 1 --format csv
expect "of a sensitivity" 0 "^[0-9.]+ us on h200, -s gpu.sms=2; 1 run$" \
  "$LOCKSTEP" sensitivity valley.yaml -s gpu.sms=2 --seeds 1 --only gpu.compute_capability
expect "no machine is named" 2 "name a machine with -m" "$LOCKSTEP" rank --primitives
expect "--blocks of a scenario" 2 "are for --primitives" "$LOCKSTEP" rank valley.yaml --blocks 8
expect "a param that --primitives sets" 2 "sets .ops. itself \(--blocks, --ops\)" "$LOCKSTEP" rank --primitives -m gtx580 -p ops=4
expect "a param that no primitive has" 2 "did you mean .imax.\?" "$LOCKSTEP" rank --primitives -m gtx580 -p imx=4
expect "a param without a value" 2 "^lockstep: error: -p imax: expected NAME=VALUE" "$LOCKSTEP" rank --primitives -m gtx580 -p imax
expect "one that keeps some from completing" 0 "^ +mutex_fa_backoff doesn't complete: param .imax. is 0, expected at least 1" \
  "$LOCKSTEP" rank --primitives -m gtx580 --blocks 8 --ops 1 --seeds 1 -p imax=0
expect "a param of some" 0 "^gtx580: operations a second, over 1 seed, 1 operation a block, -p imax=4" "$LOCKSTEP" rank --primitives -m gtx580 --blocks 8 --ops 1 --seeds 1 -p imax=4
expect "blocks that are none" 2 "isn't a number of blocks" "$LOCKSTEP" rank --primitives -m gtx580 --blocks 0
expect "more blocks than there is room for" 2 "^lockstep: error: --blocks 129: gtx580 holds 128 blocks at a time; others wait for room" \
  "$LOCKSTEP" rank --primitives -m gtx580 --blocks 8,129

# Scenarios that do different amounts of work.
for n in 1 4; do
  { sed "s/params:.*/params: {n: 40, m: 3, done: $n}/" valley.yaml && echo 'measure: {operations: done}'; } >done$n.yaml
done
expect "by the operation" 0 "^done4 .* 4 +26.1 +4\.00 +0\.03 " "$LOCKSTEP" rank done1.yaml done4.yaml
point "and it says so" "$(grep -q '; ratio is how many times as fast as done1 an operation is$' "$folder/out" || cat "$folder/out")"
"$LOCKSTEP" rank done1.yaml done4.yaml --format csv >each.csv 2>notes
point "in CSV" "$(grep -q '^done4,.*,4\.0000,0\.0279,0,0,4,operation,,$' each.csv || cat each.csv)"
"$LOCKSTEP" plot each.csv -o each.svg --script each.gp 2>err || :
point "and in a picture" "$(grep -q "^set ylabel 'time of an operation (us)'" each.gp || cat err)"
expect "in JSON" 0 '"ratio_of" : "operation"' "$LOCKSTEP" rank done1.yaml done4.yaml --format json
expect "where not all count them" 0 "note: valley counts no operations .*, so ratios are of whole runs$" \
  "$LOCKSTEP" rank done4.yaml valley.yaml -p n=40 -p m=3

# With few SMs classify is quick, and its characteristics are those of the machine.
point "nothing is noted of lockstep's own programs" "$(cat notes)"
expect "classify takes the machine as an argument, and no -m" 2 "unknown option -m" \
  "$LOCKSTEP" machine classify gtx580 -m gtx295
expect "classify on one thread" 0 "^lines held hostage +yes" "$LOCKSTEP" machine classify gtx580 -s gpu.sms=2 -j 1
point "what was changed" "$(grep -q '^gtx580, 16 blocks, .*, -s gpu.sms=2$' "$folder/out" || cat "$folder/out")"
expect "classify" 0 "^lines held hostage +yes" "$LOCKSTEP" machine classify gtx580 -s gpu.sms=2
expect "one block" 0 "^gtx580, 1 block, one thread" "$LOCKSTEP" machine classify gtx580 -s gpu.sms=1 -s sm.max_blocks=1
point "is no blocks" "$(grep '1 blocks' "$folder/out" || :)"
expect "why the ranking has another" 0 "^  rank has barrier_atomic, [0-9.]+ % ahead of it at 32 blocks: it hands over once" \
  "$LOCKSTEP" machine classify gtx1060 -s gpu.sms=2
finish
