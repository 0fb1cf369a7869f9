#!/bin/sh
# lockstep sweep: the same bytes for any number of threads, shards and interruptions; what goes wrong at a point is its row (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
plan 52
scenario=$SRCDIR/traces/accesses/accesses.yaml
cd "$folder"

sweep() { # the sweep that all of this is about
  "$LOCKSTEP" sweep "$scenario" -m gtx580 -m gtx295 -p blocks=1..17:8 -p accesses=400 -p atomic=0,1 --seeds 3 "$@"
}

same() { # prints a complaint unless two files are the same
  cmp -s "$1" "$2" || echo "$1 and $2 differ"
}

sweep -j 1 >one.csv 2>err || :
point "36 points" "$(test "$(wc -l <one.csv)" = 37 || echo "$(wc -l <one.csv) lines")"
sweep -j 4 -o four.csv 2>err
point "the same on four threads, into a file" "$(same one.csv four.csv)"
expect "nothing is left to do" 0 "36 points \(36 were there\)" sweep -o four.csv
expect "--count" 0 "^36 points, 36 done$" sweep -o four.csv --count
point "no journal is left" "$(ls | grep journal || :)"
ln -s /dev/zero zero.csv
expect "a file that never ends" 3 "zero.csv: error: is not a regular file" timeout 20 "$LOCKSTEP" sweep "$scenario" -m gtx580 -p accesses=1 -o zero.csv
point "no journal beside it" "$(ls /dev/*.journal 2>/dev/null || :)"
ln -s real.csv link.csv
: >real.csv
expect "a file by a link" 0 "2 points" "$LOCKSTEP" sweep "$scenario" -m gtx580 -m gtx295 -p blocks=1 -p accesses=1 -p atomic=0 -o link.csv
point "goes through the link" "$(test -L link.csv || echo "the link is gone"; grep -L ^accesses real.csv)"

# killed again and again, until it is done
runs=0
until test -e killed.csv || test $runs = 200; do
  runs=$((runs + 1))
  sweep -j 2 -o killed.csv 2>err &
  victim=$!
  sleep 0.1
  kill -9 $victim 2>kill.err || :
  wait $victim 2>wait.err || :
done
point "killed with SIGKILL until it was done" "$(same one.csv killed.csv)"

# a torn row at the journal's end
head -c 900 four.csv | sed '1d' >torn
sweep --shard 1/2 -o torn.csv 2>err
mv torn.csv.shard-1-of-2 torn.csv.shard-1-of-2.whole
sweep -j 1 -o torn.csv --limit-seconds 0.05 2>err || :
if test -e torn.csv.journal; then
  printf 'deadbeef half a row,without end' >>torn.csv.journal
fi
sweep -o torn.csv 2>err
point "half a row at the end of the journal" "$(same one.csv torn.csv)"

# a second sweep of the same file, before the first one has a row
"$LOCKSTEP" sweep "$scenario" -m gtx580 -p accesses=10000000 -o both.csv 2>first.err &
victim=$!
tries=0
until test -s both.csv.journal || test $tries = 400; do
  tries=$((tries + 1))
  sleep 0.05
done
expect "two sweeps of one file" 3 "both.csv: error: another sweep is writing it" \
  "$LOCKSTEP" sweep "$scenario" -m gtx580 -p accesses=10000000 -o both.csv
point "the first one keeps its journal" "$(test -s both.csv.journal || echo "it is gone")"
kill -9 $victim 2>kill.err || :
wait $victim 2>wait.err || :

# a full disk
(trap "" XFSZ && ulimit -f 4 && sweep -j 4 -o full.csv 2>err >out) && status=0 || status=$?
point "a full disk is told once" "$(test "$status" = 3 || echo "exit status $status"; grep -v note err | grep -vx "full.csv.journal: error: can't be written: File too large" || test "$(grep -c error err)" = 1 || cat err)"
point "and the rest runs when there is room" "$(test -e full.csv && echo "it was written"; sweep -o full.csv 2>err; same one.csv full.csv; grep -q '(0 were there)' err && cat err)"

# shards
for shard in 3 1; do
  sweep --shard $shard/3 -o shards.csv 2>err
done
expect "a shard is missing" 3 "12 of 36 points are missing" sweep --merge -o shards.csv
expect "--count sees the shards" 0 "^36 points, 24 done$" sweep -o shards.csv --count
expect "--count and --merge" 2 "one at a time" sweep --merge --count -o shards.csv
sweep --shard 2/3 -o shards.csv 2>err
expect "--merge" 0 "36 points" sweep --merge -o shards.csv
point "the same of three shards" "$(same one.csv shards.csv)"

# rows that fail or hang
expect "a point that can't run is a row" 1 "accesses,gtx580,0,.*the size of buffer .words. .*,[0-9a-f]{16}$" \
  "$LOCKSTEP" sweep "$scenario" -p blocks=0..2 -p accesses=8
expect "a point that hangs is a row" 0 ",alias-deadlock,0," \
  "$LOCKSTEP" sweep "$SRCDIR/tests/corpus/alias_barrier.sass" -m gtx570
expect "a param that the scenario hasn't" 2 "did you mean .blocks.\?" \
  "$LOCKSTEP" sweep "$scenario" -p blok=1,2
expect "a parameter that the machine hasn't" 2 "unknown parameter .memory.slce.interval." \
  "$LOCKSTEP" sweep "$scenario" -s memory.slce.interval=1,2
expect "the rows of another sweep" 3 "holds 36 rows that this sweep doesn't have" \
  "$LOCKSTEP" sweep "$scenario" -m gtx580 -m gtx295 -p blocks=1..17:8 -p accesses=408 -p atomic=0,1 --seeds 3 -o four.csv
cat >plan.yaml <<EOF
scenarios: [$scenario]
machines: [gtx580, gtx295]
params: {blocks: 1..17:8, accesses: 400, atomic: [0, 1]}
seeds: 3
EOF
"$LOCKSTEP" sweep plan.yaml -o plan.csv 2>err
point "the same as a plan" "$(same one.csv plan.csv)"
echo 'scenarios: []' >none.yaml
expect "a plan of nothing" 3 "^none.yaml:1:12: error: expected a list of scenarios, found an empty list" "$LOCKSTEP" sweep none.yaml
mkdir beside
printf 'name: near\nbase: gtx580\n' >beside/near.yaml
printf 'scenarios: [%s]\nmachines: near.yaml\nparams: {accesses: 1, blocks: 1}\n' "$scenario" >beside/plan.yaml
expect "a machine beside a plan" 0 "^accesses,near,1,1,1,completed" "$LOCKSTEP" sweep beside/plan.yaml
# what a plan names wrongly is told where it stands, with what is nearest
wrong() { # TEXT PATTERN HINT: complains unless the plan is refused so
  printf '%s\n' "$1" >wrong.yaml
  status=0
  "$LOCKSTEP" sweep wrong.yaml --count >out 2>&1 || status=$?
  { test $status = 3 && grep -qE "$2" out && grep -qE "$3" out; } || { echo "status $status"; cat out; }
}
cp "$scenario" beside.yaml
point "a scenario that isn't there" "$(wrong "machines: gtx580
scenarios: [$scenario,
  besides.yaml]" '^wrong.yaml:3:3: error: .besides.yaml.: no such file' 'did you mean .beside.yaml.\?')"
point "one of the data folder" "$(wrong 'scenarios: traces/accesses/acceses.yaml' \
  '^wrong.yaml:1:12: error: .traces/accesses/acceses.yaml.: no such' 'did you mean .traces/accesses/accesses.yaml.\?')"
point "a machine that isn't there" "$(wrong "scenarios: $scenario
parts: [{machines: [gtx580, gtx29]}]" '^wrong.yaml:2:29: error: there is no machine .gtx29.' 'did you mean .gtx295.\?')"
point "a parameter and a param that aren't there" "$(wrong "scenarios: $scenario
set: {sm.schedulrs: 2}
params: {blok: 1}" '^wrong.yaml:2:7: error: unknown parameter .sm.schedulrs.' '^wrong.yaml:3:10: error: .* has no param .blok.')"
point "a value of a name that is no param" "$(wrong "scenarios: $scenario
params: {blocks: [1, contentous * 2]}" '^wrong.yaml:2:10: error: .*unknown name .contentous.' 'did you mean .contentious.\?')"
point "a value that is wrong whatever the point" "$(wrong "scenarios: $scenario
params: {blocks: 1 / 0}" '^wrong.yaml:2:10: error: .*division by zero' .)"
point "a key that is nearly a plan's" "$(wrong "scenario: $scenario
machines: gtx580" '^wrong.yaml:1:1: error: unknown key .scenario. in a plan' 'did you mean .scenarios.\?')"
point "a part without a scenario" "$(wrong "parts:
  - {machines: gtx580, params: {blocks: 1}}" '^wrong.yaml:2:5: error: no scenario named' .)"
point "a scenario is no plan" "$(wrong 'program: x.ptx
sets: 1' '^wrong.yaml:2:1: error: unknown key .sets. in a scenario' .)"
# rows that couldn't be told apart
printf 'name: gtx580\nbase: gtx580\ngpu: {sms: 4}\n' >four_sms.yaml
expect "two machines of one name" 2 "two machines are called .gtx580. in the rows: .gtx580. and .four_sms.yaml." \
  "$LOCKSTEP" sweep "$scenario" -m gtx580 -m four_sms.yaml --count
point "in a plan" "$(wrong "scenarios: $scenario
parts: [{machines: gtx580}, {machines: four_sms.yaml}]" '^wrong.yaml:2:40: error: two machines are called' '.name. in its file')"
mkdir other && cp "$scenario" "${scenario%.yaml}.ptx" other/
expect "two scenarios of one name" 2 "two scenarios are called .accesses. in the rows" \
  "$LOCKSTEP" sweep "$scenario" other/accesses.yaml -m gtx580 --count
expect "no name of a file" 2 "^lockstep: error: --output: the name is empty" sweep -o ""
point "nothing is left of it" "$(ls -A | grep '^\.journal' || :)"
point "a counter that is named twice is one column" "$("$LOCKSTEP" sweep "$scenario" -p blocks=1 -p accesses=1 -p atomic=0 -m gtx580 --counter global_atomics --counter global_atomics 2>err | head -n 1 | grep -o global_atomics | tail -n +2)"
expect "one that is named twice" 0 "^1 point$" "$LOCKSTEP" sweep other/accesses.yaml ./other/../other/accesses.yaml -m gtx580 -m gtx580 --count
expect "a file of the command line: the nearest" 3 "did you mean .wrong.yaml.\?" "$LOCKSTEP" sweep wong.yaml
for figure in "$SRCDIR"/validation/figures/*.yaml; do
  "$LOCKSTEP" sweep "$figure" --count 2>count.err | grep -qE '^[0-9]+ points$' || cat "$figure" count.err
done >figures
point "the plans of the figures" "$(cat figures)"
# Stuart and Owens' figures, of two numbers of blocks and two operations: each point completes, and has its place in a picture.
for n in 1 2 3; do
  "$LOCKSTEP" sweep "$SRCDIR/validation/figures/stuart2011_figure$n.yaml" -p blocks=1,4 -p ops=2 --seeds 1 -o reduced$n.csv 2>sweep.err || cat sweep.err
  points=$(sed 1d reduced$n.csv | wc -l)
  completed=$(grep -c ',completed,0,' reduced$n.csv || :)
  test "$points" = "$completed" || echo "figure $n: $completed of $points points complete"
  "$LOCKSTEP" plot reduced$n.csv --x blocks --log y -o reduced$n.svg --script reduced$n.gp >plot.out 2>&1 || cat plot.out
  curves=$(grep -c "with linespoints" reduced$n.gp || :)
  test "$((2 * curves))" = "$points" || echo "figure $n: $curves curves of $points points"
done >reduced
point "the figures, reduced" "$(cat reduced)"
mkdir printed
cp "$SRCDIR"/traces/primitives/mutex_spin.yaml "$SRCDIR"/traces/primitives/mutex_fa.yaml "$SRCDIR"/traces/primitives/benchmarks.ptx printed/
for page in sweep howto/sweep howto/cluster; do
  sed -n '/^```yaml$/,/^```$/p' "$SRCDIR/doc/$page.md" | grep -v '^```' >printed/plan.yaml
  "$LOCKSTEP" sweep printed/plan.yaml --count 2>count.err | grep -qE '^[0-9]+ points$' || cat "$SRCDIR/doc/$page.md" count.err
done >pages
point "the plans of the manual" "$(cat pages)"
# CUDA source is compiled once for all points.
cat >compiler <<'E2'
#!/bin/sh
echo "$1" >>calls
while test "$1" != -o; do shift; done
printf '.version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n' >"$2"
E2
chmod +x compiler
echo '// nothing' >source.cu
printf 'program: source.cu\nparams: {n: 1}\nlaunches: [{grid: n, block: 1}]\n' >source.yaml
expect "points of CUDA source" 0 '^source,h200,8,1,completed' env NVCC=./compiler "$LOCKSTEP" sweep source.yaml -m h200 -p n=1..8 --code ptx
point "are compiled once" "$(test "$(cat calls)" = -ptx || cat calls)"
expect "source alone says nothing of its launch" 2 "^lockstep: error: source.cu says nothing of its launch, and this command has no options" \
  env NVCC=./compiler "$LOCKSTEP" sweep source.cu -m h200 --code ptx
point "what does is a scenario" "$(grep -q 'write a scenario: a .yaml with .program: source.cu' err || cat err)"
finish
