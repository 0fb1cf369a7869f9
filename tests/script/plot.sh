#!/bin/sh
# lockstep plot: what the pictures show, by gnuplot's program; SVG that is well-formed and the same each time (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
plan 58
cd "$folder"

cat >sweep.csv <<E2
scenario,machine,blocks,imax,seed,verdict,exit_status,cycles,measured_cycles,microseconds,operations,operations_per_second,findings,ended_by,error,key
spin,a,1,,1,completed,0,10,10,1,10,1000,,,,k1
spin,a,1,,2,completed,0,10,10,1,10,3000,,,,k2
spin,a,2,,1,completed,0,10,10,2,10,500,,,,k3
spin,b,1,,1,completed,0,10,10,3,10,70,,,,k4
fa,a,1,8,1,completed,0,10,10,4,10,20,,,,k5
fa,a,2,8,1,deadlock,1,10,10,5,10,,deadlock,,,k6
fa,a,2,16,1,,,,,,,,,,no such thing,k7
E2
cat >suite.csv <<E2
row,scenario,machine,params,group,metric,published,unit,source,page
one,traces/x/spin.yaml,a,blocks=2,test,ms,0.25,ms,"A, B",1
two,traces/x/spin.yaml,a,blocks=2 write=1,test,ms,9,ms,"A, B",1
three,traces/x/spin.yaml,c,blocks=2,test,ms,8,ms,"A, B",1
E2

script() { # prints gnuplot's program for a figure of sweep.csv
  rm -f figure.gp
  "$LOCKSTEP" plot sweep.csv -o figure.svg --script figure.gp "$@" >out 2>err || :
  if test -e figure.gp; then
    cat figure.gp
  else
    cat err
  fi
}

has() { # complains unless standard input holds each of the lines
  cat >found
  for line; do
    grep -qxF -- "$line" found || { echo "no line: $line" && cat found; }
  done
}

point "mean and band over seeds" "$(script | has ' 1 0 2000 1000 3000' ' 2 0 500 500 500')"
point "a panel for each machine" "$(script | has "set title 'a'" "set title 'b'" "set multiplot layout 1,2")"
point "a panel for each value of a param" "$(script --panels blocks --x seed --y cycles --curves scenario,machine,imax | has "set title 'blocks 1'" "set title 'blocks 2'")"
awk -F, -v OFS=, 'NR == 1 { print } NR == 2 { for (i = 1; i < 9; i++) { $2 = "m" i; print; $3 = 2; print; $3 = 1 } }' sweep.csv >eight.csv
"$LOCKSTEP" plot eight.csv -o x.svg --script eight.gp 2>err || cat err
point "six panels in a row, so that there is room" "$(has "set title 'm8'" "set multiplot layout 2,6" <eight.gp; grep -q 'size 3360,796 ' eight.gp || grep size eight.gp)"
point "curves by what varies" "$(script | grep -q "title 'fa, imax 8'" || echo "no such curve")"
point "rows without a value are told" "$(script >all; grep -q '2 of 7 rows have no value here' err || cat err)"
point "published times in the unit of the column" \
  "$(script --y microseconds --over suite.csv --where imax= | has ' 2 0 250 250 250')"
point "a logarithmic axis where values are far apart" "$(script | has 'set logscale y')"
point "--log none" "$(script --log none | grep logscale || :)"
sed '/,k6$/s/deadlock,1/completed,0/' sweep.csv >whole.csv
"$LOCKSTEP" plot whole.csv -o x.svg --map imax --x blocks --where scenario=fa --y microseconds --script map.gp 2>err || :
point "a map" "$(has ' 0 0 4 4 4' ' 1 0 5 5 5' <map.gp)"
point "the time of a hang is no time" \
  "$(script --y microseconds --where scenario=fa --where imax=8 --x blocks | grep ' 2 0 5 5 5'; grep -q '1 of 2 rows' err || cat err)"
grep -v -e completed -e k7 sweep.csv >hang.csv
expect "nothing but hangs" 3 "no row has a value of .microseconds." "$LOCKSTEP" plot hang.csv -o x.svg --x blocks --y microseconds
expect "what varies must be shown" 2 "\`scenario. varies, too" \
  "$LOCKSTEP" plot sweep.csv -o x.svg --map imax --x blocks
expect "a column that isn't there" 2 "did you mean .blocks.\?" "$LOCKSTEP" plot sweep.csv -o x.svg --x block
expect "a column without numbers" 2 "column .verdict. has no numbers" "$LOCKSTEP" plot sweep.csv -o x.svg --y verdict
point "a title in any letters, in the C locale" "$(LC_ALL=C script --title 'Mutexe für 8 Blöcke' | grep -q "title 'Mutexe für 8 Blöcke'" || cat err)"
expect "a column in two places" 2 "^lockstep: error: --panels blocks: .blocks. is shown already, by --x" \
  "$LOCKSTEP" plot sweep.csv -o x.svg --x blocks --panels blocks
expect "a column twice among the curves" 2 "^lockstep: error: --curves imax: .imax. is shown already, by --curves" \
  "$LOCKSTEP" plot sweep.csv -o x.svg --curves scenario,imax,imax
expect "curves of a map" 2 "^lockstep: error: --curves can't go with --map" \
  "$LOCKSTEP" plot sweep.csv -o x.svg --x blocks --map imax --curves scenario
expect "published times over a map" 2 "^lockstep: error: --over can't go with --map" \
  "$LOCKSTEP" plot sweep.csv -o x.svg --x blocks --map imax --over suite.csv --where scenario=fa
expect "a logarithmic map" 2 "^lockstep: error: --log x can't go with --map" \
  "$LOCKSTEP" plot sweep.csv -o x.svg --x blocks --map imax --where scenario=fa --log xy
point "machines as curves: no panel for each" "$(script --curves scenario,machine,imax >all
  { grep -q "title 'spin, b'" all && grep -qx 'set multiplot layout 1,1' all; } || cat all)"
expect "an x axis without numbers" 2 "column .verdict. has no numbers" "$LOCKSTEP" plot sweep.csv -o x.svg --x verdict
sed '/,k2$/s/3000/3e3s/' sweep.csv >letters.csv
expect "a number that is none" 3 "^letters.csv:3: error: expected a number in column .operations_per_second., found .3e3s." "$LOCKSTEP" plot letters.csv -o x.svg
sed '/,k2$/s/3000/-1/' sweep.csv >below.csv
expect "a band that reaches below 0" 2 "values that aren't above 0" "$LOCKSTEP" plot below.csv -o x.svg --log y
sed 's/^spin,b,1,,1,completed/spin,b,1,,1,undecided/' sweep.csv >gap.csv
"$LOCKSTEP" plot gap.csv -o x.svg --script gap.gp 2>err || cat err
point "a panel without a value keeps its place" "$(has "set title 'b'" "plot NaN notitle" <gap.gp)"
expect "a title that isn't UTF-8" 2 "^lockstep: error: --title .*: isn't UTF-8" \
  "$LOCKSTEP" plot sweep.csv -o x.svg --title "$(printf 'a\377')"
expect "no picture format" 2 "expected -o FILE" "$LOCKSTEP" plot sweep.csv -o x.gif
expect "no table" 3 "is no table of" "$LOCKSTEP" plot suite.csv -o x.svg
expect "a row is left over" 2 "no row is left" "$LOCKSTEP" plot sweep.csv -o x.svg --where blocks=7
ln -s kept.gp link.gp
"$LOCKSTEP" plot sweep.csv -o x.svg --script link.gp 2>err || :
point "a program that goes through a link" "$(test -L link.gp || echo "the link is gone"; grep -L multiplot kept.gp 2>&1)"
"$LOCKSTEP" rank "$SRCDIR/traces/reduction/tiny_lock.yaml" "$SRCDIR/traces/reduction/warp_vote.yaml" -m gtx570 \
  --format csv >rank.csv
"$LOCKSTEP" plot rank.csv -o rank.svg --script rank.gp 2>err || :
sed 's/^warp_vote,/a_name_that_is_longer_than_half,/' rank.csv >long.csv
"$LOCKSTEP" plot long.csv -o rank.svg --script long.gp 2>err || cat err
point "bars with a label longer than its place lie on their side" "$(has "set ytics ('tiny_lock' 0, 'a_name_that_is_longer_than_half' 1)" "set yrange [1.5:-0.5]" "set lmargin 33" <long.gp)"
sed 's/^warp_vote,/a_name_that_is_so_long_that_it_takes_the_room_of_the_bars,/' rank.csv >long.csv
"$LOCKSTEP" plot long.csv -o rank.svg --script long.gp 2>err || cat err
point "and it has room of its own" "$(grep -q 'size 896,116 ' long.gp || grep size long.gp)"
point "bars of a ranking" "$(has "set xtics ('tiny_lock' 0, 'warp_vote' 1)" <rank.gp)"
expect "what a figure has no use for: bars" 2 "rank.csv gives bars: --log x is for curves" "$LOCKSTEP" plot rank.csv -o x.svg --log x
expect "published times over bars" 2 "rank.csv gives bars: --over is for curves" "$LOCKSTEP" plot rank.csv -o x.svg --over suite.csv
cat >elastic.csv <<E2
parameter,value,lower,higher,elasticity,elasticity_lowest,elasticity_highest,source,problem
a,1,,2,-0.5,-0.5,-0.5,guess,
E2
expect "a logarithm of a negative elasticity" 2 "values that aren't above 0" "$LOCKSTEP" plot elastic.csv -o x.svg --log y
sed 's/,gtx570,12,completed,/,other,12,livelock,/; 2q' rank.csv >rank2.csv
tail -n 1 rank.csv >>rank2.csv
"$LOCKSTEP" plot rank2.csv -o x.svg --script rank2.gp 2>err || cat err
point "a machine where nothing completes keeps its place" "$(has "set title 'other'" "set xtics ('tiny_lock (livelock)' 0)" "plot NaN notitle" "set title 'gtx570'" <rank2.gp)"
sed 's/^ 0 0 \([0-9]*\).*/\1/p' -n rank.gp >bar
mean=$(sed -n 2p rank.csv | cut -d, -f10)
point "a bar is as high as the mean time" "$(test "$(cat bar)" = "${mean%.*}" || cat bar rank.csv)"
cat >kinds.csv <<E2
machine,kind,blocks,rank,primitive,operations_per_second,problem
a,barrier,4,1,xf,900,
a,barrier,8,1,xf,800,
a,mutex,4,1,spin,30,
a,mutex,4,2,fa,20,
a,mutex,8,1,fa,15,
a,mutex,8,2,spin,0,undecided
E2
"$LOCKSTEP" plot kinds.csv -o kinds.svg --script kinds.gp 2>err || :
point "a ranking of primitives: a panel for each kind, over blocks" \
  "$(has "set title 'barrier'" "set title 'mutex'" "set xlabel 'blocks'" ' 4 0 30 30 30' ' 8 0 15 15 15' <kinds.gp; grep ' 8 0 0 ' kinds.gp)"
point "what doesn't complete is told" "$(grep -q '1 of 6 rows' err || cat err)"
"$LOCKSTEP" plot kinds.csv --where blocks=8 -o kinds.svg --script kinds.gp 2>err || :
point "at one number of blocks: bars" "$(has "set title 'mutex, 8 blocks'" "set xtics ('fa' 0)" <kinds.gp)"
point "a sweep's param that is called so is none" "$(sed 's/imax/kind/' sweep.csv >kind.csv
  "$LOCKSTEP" plot kind.csv -o kind.svg --script kind.gp 2>err; has "set title 'a'" "set title 'b'" <kind.gp)"
expect "published times of what is no suite" 3 "^[^ ]*rank.csv:1: error: column .published. is missing" "$LOCKSTEP" plot sweep.csv -o x.svg --over rank.csv
expect "a suite that isn't there" 2 "did you mean .stuart2011_table1.\?" \
  "$LOCKSTEP" plot sweep.csv -o x.svg --over stuart2011_tabl1
# a landscape of `tune`: points in the order in which they were measured, with gaps between them
cat >landscape.csv <<E2
scenario,machine,imin,imax,seed,verdict,exit_status,cycles,measured_cycles,microseconds,operations,operations_per_second,findings,ended_by,error,key
spin,a,1,8,1,completed,0,10,10,1,,,,,,k1
spin,a,8,8,1,completed,0,10,10,2,,,,,,k2
spin,a,1,64,1,completed,0,10,10,3,,,,,,k3
spin,a,3,16,1,completed,0,10,10,4,,,,,,k4
E2
"$LOCKSTEP" plot landscape.csv --x imin --map imax -o map.svg --script map.gp 2>err || :
point "a map's axes go upwards" "$(has "set xtics ('1' 0, '3' 1, '8' 2)" "set ytics ('8' 0, '16' 1, '64' 2)" ' 1 1 4 4 4' <map.gp)"
point "no colour of a map is white, as a gap is" "$(has "set palette defined (0 '#440154', 1 '#414487', 2 '#2a788e', 3 '#22a884', 4 '#7ad151', 5 '#fde725')" <map.gp)"
sed '/k1$/s/,10,1,/,10,0.15,/' landscape.csv >wide.csv
"$LOCKSTEP" plot wide.csv --x imin --map imax -o map.svg --script map.gp 2>err || :
point "numbers along a logarithmic bar of colours" "$(has 'set cbtics (1e-1, 2e-1, 5e-1, 1e0, 2e0, 5e0)' <map.gp)"
point "a map with gaps is no image, which has a value at each place" "$(grep ' with image' map.gp || :)"
if command -v gnuplot >/dev/null; then
  sed -E 's/^(fa.*),10,20,/\1,10,1660880,/; s/^(fa,a,2,8.*),10,,deadlock/\1,10,902182,deadlock/' sweep.csv >large.csv
  "$LOCKSTEP" plot large.csv --map imax --x blocks --where scenario=fa -o map.svg 2>err || cat err
  point "a map says what its colours are" "$(grep -q 'operations a second' map.svg || echo "it doesn't")"
  "$LOCKSTEP" plot sweep.csv -o one.svg && mv one.svg first.svg && "$LOCKSTEP" plot sweep.csv -o one.svg
  point "the same SVG for the same data" "$(cmp one.svg first.svg 2>&1)"
  point "an SVG with its curves" "$(grep -c '<path' one.svg | awk '$1 < 5 { print "only " $1 " paths" }'
    if command -v xmllint >/dev/null; then xmllint --noout one.svg 2>&1; fi)"
  "$LOCKSTEP" plot sweep.csv -o one.png
  point "a PNG" "$(head -c 8 one.png | od -An -c | grep -q 'P   N   G' || echo "no PNG")"
  expect "a folder that isn't there" 3 "^no/x.svg: error: can't write the picture: No such file" \
    "$LOCKSTEP" plot sweep.csv -o no/x.svg
  point "no picture instead" "$(cat "$folder/out")"
  ln -s /dev/full full.svg
  expect "a full disk" 3 'full.svg: error: ' "$LOCKSTEP" plot sweep.csv -o full.svg
  mkdir bin
  cat >bin/gnuplot <<'E2'
#!/bin/sh
# draws half a picture
file=$(sed -n "s/^set output '\(.*\)'/\1/p")
echo '<svg' | tee ${file:+"$file"}
echo 'line 7: no font' >&2
exit 1
E2
  chmod +x bin/gnuplot
  expect "gnuplot ends early" 3 "^error: gnuplot: line 7: no font" env PATH="$folder/bin:$PATH" "$LOCKSTEP" plot sweep.csv -o one.svg
  point "the earlier picture stays" "$(cmp one.svg first.svg 2>&1)"
else
  for what in "a map says what its colours are" "the same SVG for the same data" "an SVG with its curves" "a PNG" "a folder that isn't there" "no picture instead" "a full disk" "gnuplot ends early" "the earlier picture stays"; do
    number=$((number + 1))
    echo "ok $number - $what # SKIP no gnuplot"
  done
fi
finish
