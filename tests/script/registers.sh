#!/bin/sh
# Registers of each kernel of traces/ and tests/ beside those that ptxas gives it (tests/converge/registers_sm_90.txt, TAP).
# A fourth number is ours, of kernels that take over a tenth more than ptxas: such a kernel has to be listed with what it takes.
set -eu
. "$SRCDIR/tests/script/tap.sh"
table=tests/converge/registers_sm_90.txt
cd "$SRCDIR"

plan 5
grep -v '^#' "$table" | cut -d' ' -f1 | sort -u | while read -r file; do
  "$LOCKSTEP" show "$file" -m h200 2>/dev/null |
    awk -v file="$file" '/^\.kernel/ {kernel = $2} /^\.reg/ {print file, kernel, $2}'
done >"$folder/ours"
grep -v '^#' "$table" >"$folder/theirs"
awk -v out="$folder" '
  NR == FNR {ours[$1 " " $2] = $3; next}
  !(($1 " " $2) in ours) {print $1, $2 > (out "/missing"); next}
  {
    mine = ours[$1 " " $2]; all += mine; ptxas += $3; apart = mine - $3
    more = mine * 10 > $3 * 11
    if (more ? $4 != mine : $4 != "") print $1, $2 ": " mine ", ptxas " $3 ", listed " ($4 == "" ? "as no more" : $4) > (out "/more")
    over += more
    near += (apart >= -1 && apart <= 1) || (!more && mine * 10 >= $3 * 9)
  }
  END {
    ratio = 100 * all / ptxas
    printf "# %d registers in all, ptxas %d: %.1f %%; %d of %d kernels within 10 %% or one register, %d over\n", all, ptxas, ratio,
      near, FNR, over
    if (ratio < 91 || ratio > 101) printf "%.1f %% of the registers of ptxas\n", ratio > (out "/total")
    if (near < 475) printf "only %d kernels\n", near > (out "/near")
  }' "$folder/ours" "$folder/theirs"
show() {
  test ! -s "$folder/$1" || cat "$folder/$1"
}
point "each kernel is there" "$(show missing)"
point "those that take over a tenth more than ptxas are known" "$(show more)"
point "all together take 91 to 101 % of what ptxas takes" "$(show total)"
point "475 of 883 kernels are within a tenth of ptxas, or one register" "$(show near)"
if ptxas --version 2>/dev/null | grep -q 'release 13.0'; then
  one=tests/converge/convergence.ptx
  LOCKSTEP= tests/converge/registers.sh "$one" >"$folder/now"
  grep "^$one " "$table" | cut -d' ' -f1-3 | sort >"$folder/then"
  sort "$folder/now" >"$folder/sorted"
  point "ptxas says the same today" "$(diff "$folder/then" "$folder/sorted" | head -20)"
else
  point "ptxas says the same today # SKIP no ptxas 13.0" ""
fi
finish
