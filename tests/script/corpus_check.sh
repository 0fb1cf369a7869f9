#!/bin/sh
# `lockstep check` finds a data race in exactly those programs that list one in `.findings`, among the small programs of
# tests/corpus/ and the scenarios of traces/ for a GTX 570 (TAP). It also ends each as expected under every policy and branch order.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# Long runs, which no race depends on.
slow="fault_after_long_walk slow_chain_live spin_attempt_limit_high_live undecided_clock undecided_counter"

# The files that the test suite runs (x.yaml stands for x.sass), less the slow ones and those of PTX and machine code.
list_corpus() {
  for file in $(grep -L \
    -e '^program: .*\.ptx' -e '^machines: \[h200\]' -e '^machines: \[gtx5[78]0-' tests/corpus/*.yaml) tests/corpus/*.sass; do
    name=${file##*/}
    name=${name%.*}
    case " $slow " in
      *" $name "*) continue ;;
    esac
    if test "$file" = "${file%.sass}" || test ! -f "${file%.sass}.yaml"; then
      echo "$file"
    fi
  done
}

# check FILE...: complains about those that don't end as they expect: a race that isn't listed is one of these.
check() {
  "$LOCKSTEP" check "$@" -m gtx570 --seeds 1 >"$folder/out" 2>"$folder/err" || {
    echo "exit status $?"
    awk '/ on gtx570: / { heading = $0 } /^not as expected/ { print heading; lines = 4 } lines-- > 0' "$folder/out"
    head -c 2000 "$folder/err"
  }
}

# missed: programs whose race wasn't found in the output of `check`.
missed() {
  for file in $(grep -l '^\.findings.*data-race' tests/corpus/*.sass); do
    grep -q "^$file:[0-9]*: warning: data-race: " "$folder/out" || echo "$file: no data race"
  done
}

# schedules_of FILE: how much of `check` it gets. What is long, and the same under all of them, gets three schedules.
schedules_of() {
  case ${1##*/} in
  cuda_dispatch_crossed*) echo "--seeds 1" ;; # it hangs in other orders of dispatch only
  cuda_slow_fence_* | cuda_dispatch_* | flight_stale* | fault_late_* | name_* | race_launches*) echo "--schedules 3" ;;
  exclusion_readers_* | exclusion_*_acq_rel* | cuda_entry_* | cuda_late_*) ;; # whether they meet is chance
  *) echo "--seeds 1" ;;
  esac
}

# machines_of FILE: those that it names; of rtx3070 and h200, whose warps take turns alike, the second. The long ones, which are there for names and
# faults, are checked on the first only.
machines_of() {
  machines=$(sed -n 's/^machines: \[\(.*\)\]/\1/p' "$1" | tr -d ',')
  case $machines in *h200*) machines=$(echo "$machines" | sed 's/rtx3070 *//') ;; esac
  case ${1##*/} in
  name_* | fault_late_*) echo "${machines%% *}" ;;
  *) echo "$machines" ;;
  esac
}

# check_ptx: the same for the programs of PTX and machine code.
check_ptx() {
  for file in $(grep -l -e '^program: .*\.ptx' -e '^machines: \[h200\]' -e '^machines: \[gtx5[78]0-' tests/corpus/*.yaml); do
    for machine in $(machines_of "$file"); do
      # shellcheck disable=SC2046 # an option and its value
      "$LOCKSTEP" check "$file" -m "$machine" $(schedules_of "$file") >"$folder/ptx" 2>&1 || {
        echo "$file on $machine: exit status $?"
        tail -n 3 "$folder/ptx"
      }
      ! grep -q '^  findings:.*data-race' "$file" || grep -q ' warning: data-race: ' "$folder/ptx" ||
        echo "$file on $machine: no data race"
      ! grep -q '^  findings:.*unordered-access' "$file" || grep -q ' warning: unordered-access: ' "$folder/ptx" ||
        echo "$file on $machine: no unordered access"
      ! grep -q '^  findings:.*speculative-load' "$file" || grep -q ' note: speculative-load: ' "$folder/ptx" ||
        echo "$file on $machine: no speculative load"
    done
  done
}

plan 4
# shellcheck disable=SC2046 # one word for each file
point "no data race in the corpus but those listed" "$(check $(list_corpus))"
point "each data race that is listed" "$(missed)"
point "PTX: each data race that is listed, and no other" "$(check_ptx)"
# grid_atomic_lock is atomic_lock on more tiles.
# shellcheck disable=SC2046 # one word for each file
point "no data race in traces/ that isn't listed" "$(check $(grep -l '^machines:.*gtx570[],]' traces/*/*.yaml | grep -v /grid_atomic_lock))"
finish
