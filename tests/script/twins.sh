#!/bin/sh
# tests/twins/: pairs of lock programs that differ in one place, 20 kinds among lanes, warps and blocks. Of each pair the one is a deadlock
# and the other ends, as PTX, as machine code, and on a real H200 (validation/hardware/run_code_h200.csv). TAP, a point for each kind and form.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR/tests/twins"
measured=$SRCDIR/validation/hardware/run_code_h200.csv

# look KIND CODE: prints what isn't as it should be.
look() {
  for scope in "lanes 1 32" "warps 1 128" "blocks 4 32"; do
    # shellcheck disable=SC2086 # scope, grid, block
    set -- "$1" "$2" $scope
    for end in dead live; do
      kernel=$1_$3_$end
      "$LOCKSTEP" run "$1.ptx" -m h200 --code "$2" --kernel "$kernel" --grid "$4" --block "$5" --buffer x=64 --arg x \
        --limit-cycles 20000000 --format csv >"$folder/out" 2>"$folder/err" || :
      verdict=$(tail -n 1 "$folder/out" | cut -d, -f4)
      case $end,$verdict in
      live,completed | dead,orphan-wait | dead,lock-order-deadlock) ;;
      *) echo "$kernel: $verdict $(head -n 1 "$folder/err")" ;;
      esac
      case $end in
      dead) gpu=hung ;;
      *) gpu=completed ;;
      esac
      grep -q "^tests/twins/$kernel,$gpu\$" "$measured" || echo "$kernel: the H200 differs"
    done
  done
}

plan 40
for file in *.cu; do
  for code in ptx sass; do
    point "${file%.cu}, $code" "$(look "${file%.cu}" $code)"
  done
done
finish
