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
{ cat head.csv && echo 'a,good.sass,gtx570,test,cycles,1,cycles,nobody,,20,'; } >miss.csv
{ cat head.csv && echo 'a,good.sass,gtx570,test,cyclse,1,cycles,nobody,,20,'; } >wrong.csv

plan 35
expect "no command" 2 '^Usage: lockstep' "$LOCKSTEP"
expect "help" 0 '^Usage: lockstep' "$LOCKSTEP" --help
expect "version" 0 '^lockstep [0-9]' "$LOCKSTEP" --version
expect "unknown command" 2 'did you mean .check' "$LOCKSTEP" chekc
long=
for command in run check rank validate machine show doc; do
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
expect "validate as CSV" 0 '^suite,b,good.sass,gtx570,test,speedup,b,3,x,1,1,0,0.00,baseline,completed,yes,nobody,,$' \
  "$LOCKSTEP" validate ./suite.csv --format csv
expect "a miss" 1 'outside 20 %' "$LOCKSTEP" validate ./miss.csv
expect "a wrong suite" 3 '^./wrong.csv:2: error: unknown metric .cyclse' "$LOCKSTEP" validate ./wrong.csv
expect "an unknown suite" 2 'did you mean .li2015_table1' "$LOCKSTEP" validate li2105_table1
finish
