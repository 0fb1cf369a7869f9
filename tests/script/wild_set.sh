# What tests/script/wild.sh, wild2.sh, wild3.sh, wild4.sh and wild5.sh share: a folder of validation/ with scenarios, and how long they take on a real GPU (cycles_h200.csv). Sourced.
# shellcheck shell=sh
# shellcheck disable=SC2154 # tap.sh has the folder
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/gpu_cycles.sh"

# wild_set FOLDER MOST [MACHINE]: runs those that take fewer than MOST cycles, and aren't among $slow, in both forms, into $folder/all.csv. With TABLE=FILE
# all of them, and a table there.
wild_set() {
  cd "$SRCDIR/validation/$1" || exit
  most=$2
  machine=${3:-h200}
  test -z "${TABLE:-}" || most=1000000000 slow=
  awk -F, -v most="$most" -v slow=" ${slow-} " 'FNR > 2 && $2 * 1.98 < most && !index(slow, " " $1 " ") { printf "%s,%.0f,%s,%s\n", $1, $2 * 1.98, $3, $4 }' "cycles_$machine.csv" | sort -t, -k2,2n | both_forms >"$folder/all.csv"
  test -z "${TABLE:-}" || say_table "$folder/all.csv" scenarios >"$TABLE"
}
