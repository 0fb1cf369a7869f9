#!/bin/sh
# The same input, machine, options and seed give the same bytes, wherever and in whatever environment it runs (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

same() { # same NAME ARGUMENTS...: two runs of lockstep in different environments must agree
  name=$1
  shift
  "$LOCKSTEP" "$@" >"$folder/a" 2>&1 </dev/null || :
  env -i LC_ALL=C.UTF-8 TZ=Asia/Kathmandu COLUMNS=40 MALLOC_PERTURB_=85 "$LOCKSTEP" "$@" >"$folder/b" 2>&1 </dev/null || :
  point "$name" "$(cmp "$folder/a" "$folder/b" 2>&1 || :)"
}

same_jobs() { # same_jobs NAME ARGUMENTS...: one run at a time or four must agree
  name=$1
  shift
  "$LOCKSTEP" "$@" -j 1 >"$folder/a" 2>&1 </dev/null || :
  "$LOCKSTEP" "$@" -j 4 >"$folder/b" 2>&1 </dev/null || :
  point "$name" "$(cmp "$folder/a" "$folder/b" 2>&1 || :)"
}

plan 9
same "run as text" run traces/reduction/atom_lock.yaml traces/listings/listing3_as_printed.yaml
same "run as JSON" run traces/reduction/atom_lock.yaml --format json --seed 5
same "check" check traces/reduction/tiny_lock.yaml --format json
same "rank" rank traces/reduction/tiny_lock.yaml traces/reduction/warp_barrier.yaml --format csv
same_jobs "rank on threads" rank traces/reduction/*.yaml -m gtx570 -m gtx580 --format csv
same_jobs "validate on threads" validate li2015_table1 li2015_table2 --format json
same_jobs "an error on threads" rank traces/reduction/*.yaml -m h200
same_jobs "an error in a suite on threads" validate li2015_table1 -m h200

"$LOCKSTEP" run traces/reduction/atom_lock.yaml --format json --seed 1 >"$folder/a" 2>&1 || :
"$LOCKSTEP" run traces/reduction/atom_lock.yaml --format json --seed 2 >"$folder/b" 2>&1 || :
grep -v '"seed"' "$folder/a" >"$folder/c"
grep -v '"seed"' "$folder/b" >"$folder/d"
if cmp -s "$folder/c" "$folder/d"; then
  point "another seed changes a spinning program" "seeds 1 and 2 give the same run"
else
  point "another seed changes a spinning program" ""
fi
finish
