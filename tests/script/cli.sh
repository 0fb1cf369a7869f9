#!/bin/sh
# The command line: help, options, formats, exit statuses (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"
unset LOCKSTEP_DATA

cat >good.sass <<'END'
.target sm_20
.kernel k
.grid 1
.block 64
  S2R R0, SR_TID_X;
  IADD R1, R0, R0;
  EXIT;
END
sed 's/^.grid 1$/&\n.expect fault/' good.sass >wrong.sass
sed 's/S2R R0.*/IADD R0, R9, R9;/' good.sass >unset.sass
cat >spin.sass <<'END'
.target sm_20
.kernel k
.grid 1
.block 32
loop:
  S2R R0, SR_ClockLo;
  ISETP.NE.AND P0, pt, R0, 0x1, pt;
  @P0 BRA loop;
  EXIT;
END
printf 'row,scenario,machine,group,metric,published,unit,source,baseline,tolerance,note\n' >head.csv
{ cat head.csv && printf '%s\n' 'all,good.sass,gtx570,fitted,lock_bits,0,bits,nobody,,0,' \
  'a,good.sass,gtx570,test,cycles,1,cycles,nobody,,,"twice, really"' \
  'b,good.sass,gtx570,test,speedup,3,x,nobody,b,20,'; } >suite.csv
{ sed 's/$/,params/' head.csv && printf '%s\n' 'one,two.yaml,gtx570,test,time_ratio,1,x,nobody,one,,,' \
  'nine,two.yaml,gtx570,test,time_ratio,9,x,nobody,one,,,n=900' 'time,good.sass,gtx570,test,ms,1,ms,nobody,,,,'; } >params.csv
sed 's/n=900/m=1/' params.csv >wrong_params.csv
sed 's/n=900/n=900 n=1/' params.csv >twice_params.csv
{ sed 's/$/,seeds/' head.csv && echo 'a,good.sass,gtx570,test,cycles,1,cycles,nobody,,,,2'; } >seeds.csv
sed 's/2$/0.5/' seeds.csv >wrong_seeds.csv
{ cat head.csv && echo 'a,good.sass,gtx570,test,cycles,1,cycles,nobody,,20,'; } >miss.csv
{ cat head.csv && echo 'a,good.sass,gtx570,test,cyclse,1,cycles,nobody,,20,'; } >wrong.csv

ESC=$(printf '\033')
{ sed "s/^.kernel k$/&\n.name red ${ESC}[31m/" unset.sass && printf '// %s[31m\n' "$ESC"; } >"red${ESC}[31m.sass"
sed -i "s/IADD R0, R9, R9;/& \/\/ ${ESC}[31m/" "red${ESC}[31m.sass"
cat >two.yaml <<'END'
program: good.sass
params: {n: 1}
launches: [{grid: n, block: 32}]
END
{ cat two.yaml && echo 'measure: {operations: n}'; } >counted.yaml
{ sed 's/$/,params/' head.csv && printf '%s\n' 'one,counted.yaml,gtx570,test,rate_ratio,1,x,nobody,one,,,' \
  'many,counted.yaml,gtx570,test,rate_ratio,9,x,nobody,one,,,n=15' 'over,counted.yaml,gtx570,test,faster,1,,nobody,one,0,,n=15' \
  'under,counted.yaml,gtx570,test,faster,1,,nobody,many,0,,'; } >rates.csv
{ sed 's/$/,params/' head.csv && printf '%s\n' 'one,two.yaml,gtx570,test,speedup,1,x,nobody,one,,,' \
  'few,two.yaml,gtx570,test,speedup,1,x,nobody,one,,,n=200' 'many,two.yaml,gtx570,test,speedup,1,x,nobody,one,,,n=900' \
  'mean,,,test,mean_speedup,0.5,x,nobody,,,,' 'geometric,,,test,geomean_speedup,0.5,x,nobody,,,,'; } >means.csv
{ cat rates.csv && echo 'mean,,,test,mean_speedup,2,x,nobody,,,,'; } >rates_mean.csv
sed '3,4d' means.csv >no_mean.csv
sed '5s/,,,test/,two.yaml,,test/' means.csv >run_mean.csv
sed 's/counted.yaml/two.yaml/' rates.csv >uncounted.csv
{ sed 2q rates.csv && sed -n '3s/,9,/,>2,/p' rates.csv && sed -n '3{s/many/less/;s/,9,/,<2,/p;}' rates.csv; } >bounds.csv
sed '3s/>2/>=2/' bounds.csv >no_bound.csv
# Of 1 and more than 9, 2 lies between them, and 0.5 beside the first.
{ sed '1s/$/,statement/; 2s/$/,/; 2q' rates.csv && printf '%s\n' 'many,counted.yaml,gtx570,test,rate_ratio,2,x,nobody,one,,,n=15,between' \
  'few,counted.yaml,gtx570,test,rate_ratio,2,x,nobody,one,,,n=1,between' 'half,counted.yaml,gtx570,test,rate_ratio,0.5,x,nobody,one,,,n=1,'; } >statements.csv
sed '4s/gtx570/gtx580/' rates.csv >two_machines.csv
cat >repeat.yaml <<'END'
program: good.sass
launches: [{grid: 1, block: 32}]
host: [{launch: 0}, {repeat: 1000000000, steps: []}]
END
sed 's/repeat: 1000000000, steps: \[\]/repeat: 2, steps: [{delay: 1}]/' repeat.yaml >repeats.yaml

# killed SIGNAL COMMAND...: sends the signal after three quarters of a second.
# shellcheck disable=SC2317 # called by name
killed() {
  signal=$1
  shift
  timeout --preserve-status -s "$signal" 0.75 "$LOCKSTEP" "$@"
}
raw() { grep -l "$ESC" "$folder/out" "$folder/err" || :; }

plan 226
expect "no command" 2 '^Usage: lockstep' "$LOCKSTEP"
expect "help" 0 '^Usage: lockstep' "$LOCKSTEP" --help
expect "version" 0 '^lockstep [0-9]' "$LOCKSTEP" --version
expect "unknown command" 2 'did you mean .check' "$LOCKSTEP" chekc
long=
for command in run check draw rank validate machine show doc; do
  expect "help of $command" 0 '^Example:' "$LOCKSTEP" $command --help
  test "$(wc -l <"$folder/out")" -le 40 || long="$long $command"
done
point "help fits a screen" "${long:+too long:$long}"
expect "unknown option" 2 'did you mean .--format' "$LOCKSTEP" run good.sass --fromat json
expect "unknown format" 2 'xml' "$LOCKSTEP" run good.sass --format xml
expect "no scenario" 2 'no scenario' "$LOCKSTEP" run
expect "a run" 0 '^good on gtx570: completed' "$LOCKSTEP" run good.sass
point "no colour in a file" "$(grep "$(printf '\033')" "$folder/out" || :)"
expect "two machines" 0 '^good +gtx580 +completed' "$LOCKSTEP" run good.sass -m gtx570 -m gtx580
expect "JSON" 0 '"verdict" : "completed"' "$LOCKSTEP" run good.sass --format json
expect "CSV" 0 '^good,gtx570,1,completed,0,' "$LOCKSTEP" run good.sass --format csv
expect "check" 0 '^good on gtx570: completed' "$LOCKSTEP" check good.sass
expect "rank" 0 '^good +[0-9.]+ ' "$LOCKSTEP" rank good.sass
expect "an option's value without a blank" 0 '^good +[0-9.]+ ' "$LOCKSTEP" rank good.sass -mgtx570 -j2
expect "expectation not met" 1 'not as expected' "$LOCKSTEP" run wrong.sass
expect "a finding" 1 'unset-register' "$LOCKSTEP" run unset.sass
expect "undecided" 4 'undecided' "$LOCKSTEP" run spin.sass --limit-cycles 20000
expect "the worst of several" 3 'no such file' "$LOCKSTEP" run good.sass spin.sass missing.sass --limit-cycles 20000
expect "machines of the build tree" 0 '^gtx570 ' "$LOCKSTEP" machine list
expect "difference of machines" 0 '^gpu.sms +15 +16' "$LOCKSTEP" machine diff gtx570 gtx580
"$LOCKSTEP" show good.sass >again.sass
expect "a program survives its print" 0 '^good|^again' "$LOCKSTEP" run again.sass
expect "reconvergence" 0 'BRA' "$LOCKSTEP" show spin.sass --reconvergence
expect "validate" 0 '^  a +cycles +1 +[0-9]+' "$LOCKSTEP" validate ./suite.csv
expect "validate as CSV" 0 '^suite,b,good.sass,gtx570,test,speedup,b,3,x,1,1,0,0.00,baseline,completed,yes,nobody,,,,,,$' \
  "$LOCKSTEP" validate ./suite.csv --format csv
expect "a row's params" 0 '^params,nine,two.yaml,.*,completed,yes,nobody,,,,,n=900,$' "$LOCKSTEP" validate ./params.csv --format csv
point "params change what runs" "$(awk -F, '$2 == "nine" && $11 <= 1 { print }' "$folder/out")"
point "milliseconds" "$(awk -F, '$2 == "time" && ($11 <= 0 || $11 > 0.01) { print }' "$folder/out")"
expect "a ratio of operations a second" 1 '^rates,many,.*,rate_ratio,one,9,x,9,(1[0-9]|[2-9])[.0-9]*,' "$LOCKSTEP" validate ./rates.csv --format csv
expect "a bound that is kept" 0 '^bounds,many,.*,rate_ratio,one,2,x,2,[0-9.]*,[^,]*,0.00,is above,' "$LOCKSTEP" validate ./bounds.csv --format csv
expect "one that isn't" 0 "^bounds,less,.*,rate_ratio,one,2,x,2,[0-9.]*,[^,]*,[1-9][0-9.]*,isn't below," "$LOCKSTEP" validate ./bounds.csv --format csv
expect "readings of a statement" 0 'mean absolute error [1-9][0-9.]* % over 3 rows; 50.0 % over the nearest readings of 2 statements, 100.0 % at most' \
  "$LOCKSTEP" validate ./statements.csv
expect "no statement" 0 'mean absolute error [0-9.]* % over 2 rows, rank' "$LOCKSTEP" validate ./bounds.csv
expect "what is no bound" 3 'no_bound.csv:3: error: published: `=2` isn.t a number' "$LOCKSTEP" validate ./no_bound.csv
expect "a higher rate is faster" 1 '^rates,over,.*,faster,one,1,,1,1,0,' "$LOCKSTEP" validate ./rates.csv --format csv
expect "a lower rate isn't" 1 '^rates,under,.*,faster,many,1,,1,0,0,' "$LOCKSTEP" validate ./rates.csv --format csv
expect "what isn't faster, in a table" 1 '^ *under .*differs' "$LOCKSTEP" validate ./rates.csv
expect "means of speedups" 0 '^means,geometric,,,test,geomean_speedup,,0.5,x,0.5,' "$LOCKSTEP" validate ./means.csv --format csv
point "of the rows above that aren't baselines" "$(awk -F, '{ predicted[$2] = $11 }
  END {
    few = predicted["few"]; many = predicted["many"]
    if (!(few > many && many > 0)) print few, many
    if ((predicted["mean"] - (few + many) / 2) ^ 2 > 1e-10) print "mean:", predicted["mean"]
    if ((predicted["geometric"] - sqrt(few * many)) ^ 2 > 1e-10) print "geometric mean:", predicted["geometric"]
  }' "$folder/out")"
expect "of rates, where one is said to be faster" 1 '^rates_mean,mean,' "$LOCKSTEP" validate ./rates_mean.csv --format csv
point "that of over and under, each beside the other" "$(awk -F, '$2 == "many" { many = $11 }
  $2 == "mean" && ($11 - (many + 1 / many) / 2) ^ 2 > 1e-6 { print $11, "and", many }' "$folder/out")"
expect "a mean of nothing" 3 'no_mean.csv:3: error: metric .mean_speedup.: no row above it is a .speedup. or .faster.' "$LOCKSTEP" validate ./no_mean.csv
expect "a mean that would run something" 3 'run_mean.csv:5: error: metric .mean_speedup. is a mean of other rows' \
  "$LOCKSTEP" validate ./run_mean.csv
expect "a rate of what isn't counted" 3 'row .one.: its scenario, or the baseline.s, doesn.t say how many operations' "$LOCKSTEP" validate ./uncounted.csv
expect "rates of two machines" 3 ':4: error: rates of two machines' "$LOCKSTEP" validate ./two_machines.csv
expect "a row's seeds" 0 '^seeds, mean of up to 12 seeds' "$LOCKSTEP" validate ./seeds.csv
expect "all rows' seeds" 0 '^suite, mean of 12 seeds' "$LOCKSTEP" validate ./suite.csv
expect "a row's wrong seeds" 3 'wrong_seeds.csv:2: error: seeds: 0.5 isn.t a whole number from 1 to' "$LOCKSTEP" validate ./wrong_seeds.csv
expect "a row's wrong params" 2 'two.yaml has no param .m.' "$LOCKSTEP" validate ./wrong_params.csv
point "which row has them" "$(grep -q '^./wrong_params.csv:3: note: the suite.s row .nine. asks for it' "$folder/err" || cat "$folder/err")"
{ cat head.csv && printf '%s\n' 'ünï,good.sass,gtx570,test,cycles,1,cycles,nobody,,,"two
lines"' 'cost,good.sass,gtx580,test,cycles,1,cycles,nobody,,,'; } >letters.csv
expect "letters that aren't ASCII in a column" 0 '^  ünï   cycles   ' "$LOCKSTEP" validate ./letters.csv
point "a note of two lines on one" "$(grep -q '^  note on ünï, cycles: two lines$' "$folder/out" || cat "$folder/out")"
expect "a machine with a long name" 0 '^two       gtx580-syncblocks completed             ' "$LOCKSTEP" run two.yaml good.sass -m gtx580 -m gtx580-syncblocks
expect "a row's param twice" 3 '^./twice_params.csv:3: error: params: .n=900. and .n=1. are of one name$' "$LOCKSTEP" validate ./twice_params.csv
for command in run check rank 'draw -o twice.svg' sensitivity show; do
  # shellcheck disable=SC2086 # words
  expect "a setting twice: $command" 2 '^lockstep: error: -s gpu.sms=2: it is given already, as -s gpu.sms = 1$' \
    "$LOCKSTEP" $command two.yaml -s 'gpu.sms = 1' -s gpu.sms=2
done
expect "a param that is no number" 2 '^lockstep: error: -p n: expected a whole number in .3.5.$' "$LOCKSTEP" run counted.yaml -p n=3.5
point "and nothing that follows from it" "$(test "$(wc -l <"$folder/err")" = 1 || cat "$folder/err")"
expect "a param twice" 2 '^lockstep: error: -p n=2: it is given already, as -p n=1$' "$LOCKSTEP" run two.yaml -p n=1 -p n=2
for twice in '--seed 1 --seed=2' '--seed=1 --seed 2' '--seeds 1 --seeds 2' '--format csv --format csv' '-j2 -j 3'; do
  # shellcheck disable=SC2086 # words
  expect "an option twice: $twice" 2 '^lockstep: error: --[a-z]+ is given twice: .[a-z0-9]+. and .[a-z0-9]+.$' \
    "$LOCKSTEP" check good.sass $twice
done
expect "several machines" 0 'gtx580 +completed' "$LOCKSTEP" run two.yaml good.sass -m gtx570 -m gtx580
expect "a param of a sweep twice" 2 '^  several values are a list: -p n=1,2..4$' "$LOCKSTEP" sweep two.yaml -p n=1 -p n=2..4
{ sed 's/$/,seeds/' head.csv && printf '%s\n' "hangs,$SRCDIR/traces/slides/lock_cpu_lanes.yaml,gtx1080ti,test,cycles,1000,cycles,nobody,,,,1" \
  "ratio,$SRCDIR/traces/slides/lock_cpu_lanes.yaml,h200,test,speedup,2,x,nobody,base,,,1" \
  "base,$SRCDIR/traces/slides/lock_cpu_lanes.yaml,gtx1080ti,test,speedup,1,x,nobody,base,,,1" 'ends,good.sass,gtx570,test,cycles,7,cycles,nobody,,,,1'; } >hangs.csv
expect "the time of a hang is no prediction" 0 '^  hangs +cycles +1000 +- +- +\(no time: simd-deadlock\)$' "$LOCKSTEP" validate ./hangs.csv
point "nor what is compared with it" "$(grep -qE '^  ratio +speedup +2 +- +- +\(no time: the baseline has none\)$' "$folder/out" || cat "$folder/out")"
point "and no part of the mean" "$(grep -q '^  test, cycles: mean absolute error .* over 1 row$' "$folder/out" || cat "$folder/out")"
expect "in CSV" 0 '^hangs,hangs,.*,1000,cycles,1000,,,,,simd-deadlock,yes,' "$LOCKSTEP" validate ./hangs.csv --format csv
expect "in JSON" 0 '"predicted" : null' "$LOCKSTEP" validate ./hangs.csv --format json
sed '2s/nobody,,,/nobody,,50,/' hangs.csv >judged.csv
expect "it fails a tolerance" 1 '^  hangs +cycles .*outside 50 %' "$LOCKSTEP" validate ./judged.csv
expect "no ratio to a baseline that hangs" 0 '^lock_gpu_lanes( +[0-9.]+){5} +- +- +0 +0  completed$' "$LOCKSTEP" rank \
  "$SRCDIR/traces/slides/lock_cpu_lanes.yaml" "$SRCDIR/traces/slides/lock_gpu_lanes.yaml" -m gtx1080ti
expect "and null in JSON" 0 '"ratio" : null' "$LOCKSTEP" rank \
  "$SRCDIR/traces/slides/lock_cpu_lanes.yaml" "$SRCDIR/traces/slides/lock_gpu_lanes.yaml" -m gtx1080ti --format json
point "for both, with its deviation" "$(test "$(grep -c '"ratio_deviation" : null' "$folder/out")" = 2 || cat "$folder/out")"
expect "a suite without rows" 3 '^./head.csv: error: has no rows' "$LOCKSTEP" validate ./head.csv
{ cat seeds.csv && sed -n 2p seeds.csv; } >again.csv
expect "a row that stands twice" 3 '^./again.csv:3: error: a row .a. with metric .cycles. stands in line 2 already' "$LOCKSTEP" validate ./again.csv
sed 's/,20,/,-20,/' miss.csv >below.csv
expect "a tolerance below 0" 3 '^./below.csv:2: error: tolerance: -20 is below 0' "$LOCKSTEP" validate ./below.csv
sed 's/1,cycles,/1,us,/' miss.csv >unit.csv
expect "a time in another unit" 3 '^./unit.csv:2: error: expected the unit .cycles., which the metric is in, found .us.' "$LOCKSTEP" validate ./unit.csv
{ cat miss.csv && printf '\0'; } >zero.csv
expect "a byte 0" 3 '^./zero.csv: error: isn.t text: it has a byte 0' "$LOCKSTEP" validate ./zero.csv
expect "a miss" 1 'outside 20 %' "$LOCKSTEP" validate ./miss.csv
expect "a wrong suite" 3 '^./wrong.csv:2: error: unknown metric .cyclse' "$LOCKSTEP" validate ./wrong.csv
expect "an unknown suite" 2 'did you mean .li2015_table1' "$LOCKSTEP" validate li2105_table1

# What a command line changes stands in each form of output.
expect "settings and params in text" 0 '^two on gtx570: completed \(seed 1, -s sm.jitter_cycles=0 -p n=2\)' \
  "$LOCKSTEP" run two.yaml -s sm.jitter_cycles=0 -p n=2
expect "settings and params in CSV" 0 '^two,gtx570,.*,sm.jitter_cycles=0,n=2,' \
  "$LOCKSTEP" run two.yaml -s sm.jitter_cycles=0 -p n=2 --format csv
expect "settings in JSON" 0 '"sm.jitter_cycles=0"' "$LOCKSTEP" run two.yaml -s sm.jitter_cycles=0 -p n=2 --format json
expect "settings and params in a ranking" 0 '^gtx570, 12 seeds, -s sm.jitter_cycles=0 -p n=2;' \
  "$LOCKSTEP" rank two.yaml -s sm.jitter_cycles=0 -p n=2
expect "settings and params in its CSV" 0 ',sm.jitter_cycles=0,n=2$' \
  "$LOCKSTEP" rank two.yaml -s sm.jitter_cycles=0 -p n=2 --format csv
expect "settings in a validation" 0 '^suite, -s sm.jitter_cycles=0, mean' \
  "$LOCKSTEP" validate ./suite.csv -s sm.jitter_cycles=0

# Of several seeds the run of the median time, and how far the others are from it.
few="$SRCDIR/traces/slides/lock_cpu_blocks.yaml"
for seed in 4 5 6 7 8; do "$LOCKSTEP" run "$few" -m h200 --seed $seed --format csv; done | grep ^lock | cut -d, -f3,6 | sort -t, -n -k2 >of_seeds
least=$(sed -n '1s/.*,//p' of_seeds) middle=$(sed -n 3p of_seeds) most=$(sed -n '5s/.*,//p' of_seeds)
mean=$(awk -F, '{ sum += $2 } END { printf "%.0f", sum / 5 }' of_seeds)
expect "the median of seeds" 0 "^lock_cpu_blocks,h200,${middle%,*},completed,0,${middle#*,},.*,5,$mean,$least,$most\$" \
  "$LOCKSTEP" run "$few" -m h200 --seed 4 --seeds 5 --format csv
expect "their span in text" 0 "over 5 seeds +$mean  cycles in the mean, .*from $least to $most, .*median" "$LOCKSTEP" run "$few" -m h200 --seed 4 --seeds 5 -j 1
expect "their span in JSON" 0 "\"least_cycles\" : $least" "$LOCKSTEP" run "$few" -m h200 --seed 4 --seeds 5 --format json
expect "the first that ends badly" 4 'over 3 seeds +3  end like this one' "$LOCKSTEP" run spin.sass --seeds 3 --limit-cycles 20000
expect "one run has no span" 0 ',1,([0-9]+),\1,\1$' "$LOCKSTEP" run good.sass --format csv
expect "a timeline of several seeds" 2 '^lockstep: error: --timeline is for one run, and --seeds 2 makes 2' \
  "$LOCKSTEP" run good.sass --seeds 2 --timeline x.json
expect "no seeds" 2 'seeds must be between 1 and' "$LOCKSTEP" run good.sass --seeds 0

# Limits and signals.
expect "a limit of time is above 0" 2 'limit-seconds must be above 0' "$LOCKSTEP" run good.sass --limit-seconds 0
expect "a limit of time" 4 '^spin on gtx570: undecided .*ended by --limit-seconds' \
  "$LOCKSTEP" run spin.sass --limit-seconds 0.75
expect "no such limit of time" 2 'limit-seconds must be above 0' "$LOCKSTEP" run good.sass --limit-seconds nan
for option in '--seeds -1' '--schedules -1' '--limit-cycles 0' '--seed -1'; do
  # shellcheck disable=SC2086 # words
  expect "check $option" 2 "${option% *} must be (at least|between) [01]" "$LOCKSTEP" check good.sass $option
done
expect "a picture from before the start" 2 'from must be at least 0' "$LOCKSTEP" draw good.sass -o x.svg --from -1
expect "no points to measure" 2 'budget must be between 1 and' "$LOCKSTEP" tune good.sass -p n=1..4 --budget 0
expect "no operations" 2 'ops must be between 1 and' "$LOCKSTEP" rank --primitives -m gtx570 --ops 0
expect "operations without end" 2 'ops must be between 1 and 10000' "$LOCKSTEP" rank --primitives -m gtx570 --ops 10001
expect "no shards" 2 'shards must be between 1 and' "$LOCKSTEP" sweep good.sass -o x.csv --slurm --shards 0
expect "no percentage" 2 'by must be a number' "$LOCKSTEP" sensitivity good.sass --by nan
expect "no parameters" 2 'only memory.nope: no parameter starts so' "$LOCKSTEP" sensitivity good.sass --only memory.nope
expect "it holds for the whole check" 4 'the worst of 1 of 8 schedules, ended by --limit-seconds' \
  timeout 60 "$LOCKSTEP" check spin.sass --limit-seconds 0.75
expect "and for all scenarios" 4 'time was over before' \
  timeout 60 "$LOCKSTEP" run spin.sass spin.sass spin.sass --limit-seconds 0.75
expect "and for a ranking" 4 'time was over before' timeout 60 "$LOCKSTEP" rank spin.sass --limit-seconds 0.75
expect "a disturbed run that ends: only findings are compared" 0 '^findings as expected .the verdict isn' \
  "$LOCKSTEP" run "$SRCDIR/traces/slides/atm_atomic.yaml" -m h200 -s memory.late_stores=300
expect "in JSON, too" 0 '"expects_findings_only" : true' \
  "$LOCKSTEP" run "$SRCDIR/traces/slides/atm_atomic.yaml" -m h200 -s sm.held_up=300 --format json
expect "of an undisturbed one all is" 0 '"expects_findings_only" : false' "$LOCKSTEP" run good.sass --format json
expect "one that doesn't end isn't as expected" 4 'undecided' \
  "$LOCKSTEP" run "$SRCDIR/traces/slides/atm_atomic.yaml" -m h200 -s memory.late_stores=300 --limit-cycles 100
expect "a limit of cycles is named" 4 'ended by --limit-cycles' "$LOCKSTEP" run spin.sass --limit-cycles 20000
expect "SIGINT" 130 '^spin on gtx570: undecided .*ended by a signal' killed INT run spin.sass
expect "SIGTERM" 143 'ended by SIGTERM' killed TERM check spin.sass
expect "SIGINT, several runs" 130 '"ended_by" : "signal"' killed INT run good.sass spin.sass good.sass --format json
point "the JSON is closed" "$(tail -1 "$folder/out" | grep -vx '\]')"
expect "SIGTERM, with a timeline" 143 'undecided' killed TERM run spin.sass --timeline timeline.json
point "the timeline is closed" "$(tail -c 3 timeline.json | grep -vx '\]}')"
expect "SIGINT, ranking" 130 '^gtx570, 12 seeds' killed INT rank good.sass spin.sass
expect "SIGTERM, ranking as JSON" 143 '"rows" : \[' killed TERM rank spin.sass --format json

# Output that can't be written.
# shellcheck disable=SC2317 # called by name
full() { "$LOCKSTEP" "$@" >/dev/full; }
expect "help to a full disk" 3 'No space left' full --help
expect "help of a command to a full disk" 3 'No space left' full run --help
expect "the version to a full disk" 3 'No space left' full --version
mkfifo pipe
ln -s graph.dot link
echo old >graph.dot
cat pipe >piped &
expect "a wait-for graph into a pipe" 0 'completed' "$LOCKSTEP" run good.sass --wait-graph pipe
wait
point "is written through it" "$(test -p pipe || echo "the pipe is gone"; grep -L digraph piped)"
expect "a wait-for graph through a link" 0 'completed' "$LOCKSTEP" run good.sass --wait-graph link
point "leaves the link" "$(test -L link || echo "the link is gone"; grep -L digraph graph.dot)"
expect "a wait-for graph to a full disk" 3 '/dev/full: error: can.t write' "$LOCKSTEP" run good.sass --wait-graph /dev/full
expect "a timeline to a full disk" 3 '/dev/full: error: can.t write the timeline: No space left' "$LOCKSTEP" run good.sass --timeline /dev/full
mkdir kept && echo old >kept/way
# shellcheck disable=SC2317 # called by name
little() { (trap "" XFSZ && ulimit -f 8 && "$LOCKSTEP" "$@"); }
expect "too much for the disk: a timeline" 3 '^kept/way: error: can.t write the timeline: File too large' \
  little run "$SRCDIR/traces/reduction/tiny_lock.yaml" -m gtx570 --timeline kept/way
expect "too much for the disk: a picture" 3 '^kept/way: error: can.t write the picture: File too large' \
  little draw "$SRCDIR/traces/reduction/tiny_lock.yaml" -m gtx570 -o kept/way
point "what was there before stays, and nothing else" "$(cat kept/* | grep -vx old; test "$(ls -A kept)" = way || ls -A kept)"
"$LOCKSTEP" machine show gtx570 | sed 's/^name:.*/name: "mine"/' >named.yaml
cp two.yaml own.yaml
ln own.yaml other.name
for option in '--timeline own.yaml' '--wait-graph ./other.name'; do
  # shellcheck disable=SC2086 # words
  expect "what is read isn't written over: $option" 2 'that is a file which the command reads$' "$LOCKSTEP" run own.yaml $option
done
expect "nor is a machine" 2 '^lockstep: error: --output named.yaml: that is a file which' \
  "$LOCKSTEP" sweep own.yaml -m named.yaml -o named.yaml --fresh
expect "nor a program" 2 'the picture is SVG; expected a name that ends in .svg' "$LOCKSTEP" draw own.yaml -m gtx570 -o good.sass
point "they are as they were" "$(cmp two.yaml own.yaml 2>&1 || :; grep -L '^name: .mine' named.yaml; grep -L kernel good.sass)"

printf '\001\000\002\n' >noise.cubin
expect "noise for a cubin" 3 '^noise.cubin: error: neither a cubin nor a listing' "$LOCKSTEP" run noise.cubin -m h200
expect "no machines at all" 2 'no machines in .*; is LOCKSTEP_DATA right' env LOCKSTEP_DATA=/nonexistent "$LOCKSTEP" run good.sass
expect "help by that word" 0 '^Usage: lockstep run ' "$LOCKSTEP" help run
expect "help of what isn't there" 2 'did you mean .check.' "$LOCKSTEP" help chek

# What a machine is called.
"$LOCKSTEP" machine show gtx570 -s sm.lock_unit.bits=2048 >many.yaml
expect "a changed machine has its file's name" 0 '^good on many: completed' "$LOCKSTEP" run good.sass -m many.yaml
point "and says what it is" "$(grep -q '^about: "GeForce GTX 570 .*, with sm.lock_unit.bits=2048"$' many.yaml || head -2 many.yaml)"
expect "a machine as it is keeps its own" 0 '^name: "gtx570"' "$LOCKSTEP" machine show gtx570
"$LOCKSTEP" machine show gtx570 >copied.yaml
expect "a copy that calls itself as another machine" 0 '^copied.yaml: note: it calls itself gtx570, which is another machine' \
  "$LOCKSTEP" run good.sass -m copied.yaml
sed 's/^name:.*/name: "mine"/' copied.yaml >named.yaml
expect "one with a name of its own" 0 '^good on mine: completed' "$LOCKSTEP" run good.sass -m named.yaml
point "is nothing to note" "$(cat "$folder/err")"
point "names of machines line up" "$("$LOCKSTEP" machine list | sed -n 's/^\([^ ]* *  \)[^ ].*/\1/p' | awk '{ print length }' | uniq | sed 1d)"

# What a machine is named for.
printf '.version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n' >other.ptx
sed 's/good.sass/other.ptx/; s/n: 1/n: 1/' two.yaml >other.yaml
expect "a ranking on the machine named" 0 '^other +[0-9.]+ ' "$LOCKSTEP" rank other.yaml -m h200
expect "a ranking on no machine" 2 'no machine named' "$LOCKSTEP" rank other.yaml

# Nothing repeats for ever, nothing is half said.
expect "an empty repetition" 3 '^repeat.yaml:3:[0-9]+: error: .*.steps. is empty' "$LOCKSTEP" run repeat.yaml
expect "one with a step" 0 'completed' "$LOCKSTEP" run repeats.yaml
expect "half a grid" 2 'grid: .1,.: a value is missing' "$LOCKSTEP" run good.sass --grid 1,
expect "half an argument" 2 'arg: .,1.: a value is missing before' "$LOCKSTEP" run good.sass --arg ,1

# Control characters stay away from the terminal.
expect "control characters in text" 1 '^red .x1b\[31m on gtx570' "$LOCKSTEP" run "red${ESC}[31m.sass"
point "none of them come through" "$(raw)"
expect "in CSV" 1 '^red .x1b\[31m,' "$LOCKSTEP" run "red${ESC}[31m.sass" --format csv
point "none of them come through in CSV" "$(raw)"
expect "in JSON" 1 'red .u001b' "$LOCKSTEP" run "red${ESC}[31m.sass" --format json
point "none of them come through in JSON" "$(raw)"
expect "in a ranking" 1 '^red .x1b' "$LOCKSTEP" rank "red${ESC}[31m.sass"
point "none of them come through in a ranking" "$(raw)"
expect "in names of files that aren't there" 3 '^no.x1b.*: error: no such file' "$LOCKSTEP" run "no${ESC}[31m.sass"
point "none of them come through in messages" "$(raw)"
expect "in a program that is shown" 0 'kernel k' "$LOCKSTEP" show "red${ESC}[31m.sass"
point "none of them come through when shown" "$(raw)"

# Kernels of C++, structs, buffers, flags of the compiler.
cat >names.ptx <<'END'
.version 9.0
.target sm_75
.address_size 64
.visible .entry _Z1fILi128ELb1EEv1PPi(.param .align 8 .b8 p[16], .param .u64 out) {
  .reg .u64 %l<4>; .reg .f32 %f<2>; .reg .u32 %r<3>;
  ld.param.u64 %l1, [p]; ld.param.f32 %f1, [p+8]; ld.param.u32 %r1, [p+12];
  ld.param.u64 %l2, [out];
  st.global.f32 [%l1], %f1; st.global.u32 [%l2], %r1;
  ret;
}
.visible .entry _Z1fILi64ELb0EEv1PPi(.param .u64 out) { ret; }
.visible .entry _ZN2ns5plainEPPi(.param .u64 list) {
  .reg .u64 %l<4>; .reg .u32 %r<2>;
  ld.param.u64 %l1, [list]; ld.global.u64 %l2, [%l1+8]; ld.global.u32 %r1, [%l2]; st.global.u32 [%l2+4], %r1;
  ret;
}
END
one='-m h200 --grid 1 --block 1'
if command -v c++filt >"$folder/filter"; then
  # shellcheck disable=SC2086 # words
  expect "a template by its name" 0 'the same result under 9 schedules: a = 1056964608, b = 7' "$LOCKSTEP" check names.ptx $one \
    --kernel 'f<128, true>' --buffer a=1 --buffer b=1 --arg '[a, 0.5, 7]' --arg b
  # shellcheck disable=SC2086 # words
  expect "several templates of a name" 2 'kernels: .f<128, true>., .f<64, false>.$' "$LOCKSTEP" run names.ptx $one --kernel f
  # shellcheck disable=SC2086 # words
  expect "the nearest template" 2 'did you mean .f<128, true>' "$LOCKSTEP" run names.ptx $one --kernel 'f<129, true>'
else
  point "a template by its name # SKIP no c++filt" ""
  point "several templates of a name # SKIP no c++filt" ""
  point "the nearest template # SKIP no c++filt" ""
fi
# shellcheck disable=SC2086 # words
expect "addresses in a buffer" 0 'x = 1, y = 5 5' "$LOCKSTEP" check names.ptx $one --kernel _ZN2ns5plainEPPi \
  --buffer 'list=4:[x, y]' --buffer x=1:1 --buffer 'y=2:[5]' --arg list
# shellcheck disable=SC2086 # words
expect "floats in a buffer" 0 'x = 1069547520 1069547520' "$LOCKSTEP" check names.ptx $one --kernel _ZN2ns5plainEPPi \
  --buffer 'list=4:[x, x]' --buffer 'x=2:{f32: 1.5}' --arg list
# shellcheck disable=SC2086 # words
expect "a fraction for an address" 2 'parameter .list. .u64. can.t take .1.5.; expected a whole number, or a buffer' \
  "$LOCKSTEP" run names.ptx $one --kernel _ZN2ns5plainEPPi --arg 1.5
# shellcheck disable=SC2086 # words
expect "a float of no type" 2 'write .f32: 0.5. or .f64: 0.5' "$LOCKSTEP" run names.ptx $one --kernel _ZN2ns5plainEPPi \
  --buffer 'list=4:[list, 0.5]' --arg list
cat >nameless.ptx <<'END'
.version 9.0
.target sm_75
.address_size 64
.visible .entry _Z5emptyPii(.param .u64 _Z5emptyPii_param_0, .param .u32 _Z5emptyPii_param_1) { ret; }
END
expect "all that is missing" 2 'takes 2 arguments, 0 given; parameter 1 .u64. is missing' "$LOCKSTEP" run nameless.ptx -m h200
point "at once" "$(test "$(wc -l <"$folder/err")" = 3 || cat "$folder/err")"
if command -v c++filt >"$folder/filter"; then
  expect "the kernel as its source calls it" 2 'kernel .empty. has no grid' "$LOCKSTEP" run nameless.ptx -m h200
else
  point "the kernel as its source calls it # SKIP no c++filt" ""
fi
cat >module.ptx <<'END'
.version 9.0
.target sm_75
.address_size 64
.const .align 4 .u32 fixed = 3;
.global .align 4 .u32 count;
.global .align 1 .b8 __unnamed_1[3] = {104, 105};
.global .align 4 .u32 _ZN3app4flagE;
.extern .shared .align 4 .b8 some[];
.visible .entry adds() { .reg .u32 %r<3>; ld.const.u32 %r1, [fixed]; atom.global.add.u32 %r2, [count], %r1; ret; }
.visible .entry sets(.param .u64 p) { .reg .u64 %l<2>; ld.param.u64 %l1, [p]; st.global.u32 [%l1], 4; ret; }
.visible .entry stores() { st.shared.u32 [some], 1; st.global.u32 [_ZN3app4flagE], 2; ret; }
END
# shellcheck disable=SC2086 # words
expect "results are what a kernel may change" 0 'under 9 schedules: count = 3, [^ ]* = 0$' "$LOCKSTEP" check module.ptx $one --kernel adds
for flag in app::flag _ZN3app4flagE; do
  if command -v c++filt >"$folder/filter" || test "$flag" = _ZN3app4flagE; then
    # shellcheck disable=SC2086 # words
    expect "a variable by its name $flag" 0 'count = 0, (app::flag|_ZN3app4flagE) = 4$' "$LOCKSTEP" check module.ptx $one \
      --kernel sets --arg $flag
  else
    point "a variable by its name $flag # SKIP no c++filt" ""
  fi
done
# shellcheck disable=SC2086 # words
expect "no dynamic shared memory" 1 'repair: give the launch dynamic shared memory' "$LOCKSTEP" run module.ptx $one --kernel stores
# shellcheck disable=SC2086 # words
expect "some" 0 'completed' "$LOCKSTEP" run module.ptx $one --kernel stores --shared 4
expect "the half of 64 bits that is waited for" 0 'waits for word\[1\] .* to change from 0; nobody is left' \
  "$LOCKSTEP" run "$SRCDIR/tests/corpus/cuda_word_halves_lower.yaml" -m h200
expect "the lower half of a lock of 64 bits" 0 'waits for word\[0\] .* to change from 2; only' \
  "$LOCKSTEP" run "$SRCDIR/tests/corpus/cuda_word_halves_reader.yaml" -m h200
expect "its upper half" 0 'waits for word\[1\] .* to change from 2147483648; only' \
  "$LOCKSTEP" run "$SRCDIR/tests/corpus/cuda_word_halves_writer.yaml" -m h200
expect "what a compiler has moved behind a loop" 0 'moved it behind the loop, go on until all lanes are done' \
  "$LOCKSTEP" run "$SRCDIR/tests/corpus/cuda_moved.yaml" -m gtx1080ti
printf 'program: nameless.ptx\nbuffers: {a: {words: 1}}\nlaunches:\n  - {kernel: _Z5emptyPii, grid: 1, block: 32, args: [a, 1]}\n' >one.yaml
{ cat one.yaml && sed -n '$p' one.yaml; } | sed 's/nameless/stuck/' >stuck.yaml
sed 's/{ ret; }/{ .reg .pred %p; .reg .u32 %r; .reg .u64 %l; ld.param.u64 %l, [_Z5emptyPii_param_0];\nl: ld.volatile.global.u32 %r, [%l]; setp.eq.u32 %p, %r, 0; @%p bra l; ret; }/' nameless.ptx >stuck.ptx
if command -v c++filt >"$folder/filter"; then
  expect "a launch by its kernel's name" 1 'of launch 0 \(empty\) waits? for a' "$LOCKSTEP" run stuck.yaml -m h200
else
  point "a launch by its kernel's name # SKIP no c++filt" ""
fi
cat >halves.ptx <<'END'
.version 9.0
.target sm_75
.address_size 64
.visible .entry lock_cpu(.param .u64 lock, .param .u64 count, .param .u32 apart) {
  .reg .u64 %l<2>; .reg .b32 %r<2>;
  ld.param.u64 %l1, [lock]; fence.proxy.alias; ret;
}
END
cp "$SRCDIR/traces/slides/cas_lock.sm_90.cubin" halves.sm_90.cubin
expect "why there is no PTX to check" 0 'without its PTX \(fence\.proxy\.alias isn.t supported\): missing' "$LOCKSTEP" check \
  halves.ptx --code sass -m h200 --kernel lock_cpu --grid 1 --block 32 --buffer lock=1 --buffer count=1 --arg lock --arg count --arg 1
cat >compiler <<'END'
#!/bin/sh
printf '%s\n' "$@" >flags
while test "$1" != -o; do shift; done
printf '.version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n' >"$2"
END
chmod +x compiler
echo '// nothing' >source.cu
printf '#!/bin/sh\necho "source.cu(1): warning #1-D: twice" >&2\n. ./compiler\n' >chatty
chmod +x chatty
cp "$SRCDIR/traces/slides/cas_lock.sm_90.cubin" made.cubin
sed 's/^while.*/&; case $2 in *.cubin) cp made.cubin "$2"; exit;; esac/' compiler >both
printf '#!/bin/sh\necho "source.cu(1): warning #1-D: twice" >&2\n. ./both\n' >chatty
# shellcheck disable=SC2086 # words
expect "a warning of the compiler" 3 'warning: nvcc: #1-D: twice' env NVCC=./chatty "$LOCKSTEP" run source.cu --code sass $one
point "is told once" "$(test "$(grep -c twice "$folder/err")" = 1 || cat "$folder/err")"
# shellcheck disable=SC2086 # words
expect "flags for the compiler" 0 '^source on h200: completed' env NVCC=./compiler "$LOCKSTEP" run source.cu --code ptx $one -- -I 'a b' -DN=4
point "reach it" "$(tr '\n' '|' <flags | grep -q '|-I|a b|-DN=4|-o|' || cat flags)"
point "and leave the architecture" "$(grep -qx -- -arch=sm_90 flags || cat flags)"
# shellcheck disable=SC2086 # words
expect "an architecture of one's own" 0 'completed' env NVCC=./compiler "$LOCKSTEP" run source.cu --code ptx $one -- -arch=sm_80
point "replaces the machine's" "$(test "$(grep -c arch flags)" = 1 || cat flags)"
expect "a program behind --" 2 'behind .--. goes to the compiler' "$LOCKSTEP" run -- names.ptx
# shellcheck disable=SC2086 # words
expect "flags for what isn't compiled" 2 'flags of the compiler are for a .cu' "$LOCKSTEP" run names.ptx $one -- -DN=4
expect "an L1 whose lines are one set, less than the array has" 1 'on rtx3070: completed' \
  "$LOCKSTEP" run "$SRCDIR/doc/blog_totals.yaml" -m rtx3070 -p blocks=8 -p right=512 -s sm.l1.ways=1024
expect "a block that never fits beside what the system keeps" 3 'with what the system keeps of it \(49152\)' \
  "$LOCKSTEP" run "$SRCDIR/traces/reduction/tiny_lock.yaml" -m gtx570 -s sm.shared.reserved=48KiB
expect "primitives that never fit" 3 'no room for a block of 128 threads \(it lacks registers\)' "$LOCKSTEP" rank --primitives -m gtx580 -s sm.registers=2048
expect "more threads than a block may have" 3 'have 128 threads, gtx570 allows at most 32' "$LOCKSTEP" machine classify gtx570 -s grid.max_block_threads=32
lanes=$SRCDIR/traces/slides/lock_cpu_lanes.yaml
expect "what a buffer holds at the end" 0 '^ *0: 32$' "$LOCKSTEP" run "$lanes" -m h200 --dump counter
expect "as another kind of value, beside another one" 0 '^ *0: 0x00000000$' "$LOCKSTEP" run "$lanes" -m h200 --dump counter --dump lockvar:x32
expect "in JSON" 0 '"counter" : .$' "$LOCKSTEP" run "$lanes" -m h200 --dump counter --format json
expect "a buffer that isn't there" 2 "has no buffer .countr.; did you mean .counter." "$LOCKSTEP" run "$lanes" -m h200 --dump countr
expect "a kind of value that isn't there" 2 'expected one of u32, .* behind the colon' "$LOCKSTEP" run "$lanes" -m h200 --dump counter:f16
expect "a buffer in a row of CSV" 2 'not for rows of CSV' "$LOCKSTEP" run "$lanes" -m h200 --dump counter --format csv
expect "states that recur, and an order that ends them: undecided" 4 'an order that ends it, from cycle' \
  "$LOCKSTEP" run "$SRCDIR/tests/batches/count_back.yaml" --limit-cycles 300000000
finish
