#!/bin/sh
# `lockstep check` finds data races, accesses without an order, stale compare-and-swaps and lost updates in exactly those of some PTX programs of tests/corpus/ that list
# them, on each machine that they name, and a repair that helps with each (TAP); of rtx3070 and h200, whose warps take turns alike, on the second.
# corpus_check.sh leaves these out.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

programs="cuda_races cuda_seen cuda_labels cuda_exclusion cuda_half_locks cuda_guesses cuda_guesses_wide cuda_own_item cuda_own_place cuda_bulk cuda_bulk_copier cuda_overwritten cuda_combining cuda_grace cuda_buckets cuda_stale_swap cuda_marked_list cuda_hazard_pointers cuda_seqlock_wide cuda_seqlock_turned cuda_bounded_queue cuda_epochs cuda_dissemination cuda_deque cuda_older cuda_busy_stack cuda_same_value cuda_looks_twice cuda_lost_update cuda_lost_extreme cuda_unheeded cuda_lock_step race_ptx"

# schedules_of FILE MACHINE: how much of `check` it gets. These two take seconds a schedule, and what they list comes up in the first; a GPU with a SIMT stack
# is the second machine of most.
schedules_of() {
  case $1:$2 in
  */cuda_half_locks_peeked.yaml:* | */cuda_half_locks_warps_live.yaml:*) echo "--seeds 1" ;;
  */cuda_epochs_* | */cuda_deque_* | */cuda_own_place_again.* | */cuda_stale_swap.*) ;; # it hangs on the seed
  *:gtx1080ti) ! grep -q "^machines:.*h200" "$1" || echo "--seeds 1" ;;
  *:h200) echo "--seeds 1" ;;
  esac
}

# look ID: scenarios on machines where the finding is listed and not found, or the other way round.
look() {
  for program in $programs; do
    for file in $(grep -l "^program: $program.ptx" tests/corpus/*.yaml); do
      listed=$(grep -cE "^  findings: .*\<$1\>" "$file" || :)
      for machine in $(sed -n 's/^machines: *\[\(.*\)\]/\1/p' "$file" | sed -e '/h200/s/rtx3070//' -e 's/,/ /g'); do
        told=$folder/${file##*/}.$machine
        # shellcheck disable=SC2046 # an option and its value
        test -e "$told" || "$LOCKSTEP" check "$file" -m "$machine" $(schedules_of "$file" "$machine") >"$told" 2>"$folder/err" || echo "$file on $machine: exit status $?"
        found=$(grep -c ": warning: $1: " "$told" || :)
        test "$listed" = 0 && test "$found" = 0 && continue
        test "$listed" != 0 && test "$found" != 0 || echo "$file on $machine: $1 listed $listed times, found $found times"
        case $file in
        *cuda_bulk_again_early.yaml | *cuda_bulk_in_unwaited.yaml) continue ;; # the wait for a copy that is missing is none of the repairs that are tried
        esac
        ! grep -q 'hint, which alone' "$told" || echo "$file on $machine: no repair"
      done
    done
  done
}

plan 12
point "each data race that is listed, no other, with a repair" "$(look data-race)"
point "the same of accesses without an order" "$(look unordered-access)"
point "the same of copies in bulk without a fence before" "$(look proxy-fence)"
point "the same of compare-and-swaps that are stale" "$(look stale-swap)"
point "the same of updates that are lost" "$(look lost-update)"
# silent: runs of cuda_older in which no load that may give an older value is told of as a note.
silent() {
  for told in "$folder"/cuda_older_*_live.yaml.h200; do
    grep -q ': note: older-value: ' "$told" && grep -q 'tried: [0-9]* runs in which such a load gives the older value end as all schedules do' "$told" ||
      echo "$told"
  done
}
point "a note of loads whose older values do no harm" "$(silent)"
point "that older values weren't tried, where nothing says what is right" "$(grep -q 'not tried whether an older value does harm: ' "$folder/cuda_own_place_again.yaml.h200" ||
  echo "no such line")"
point "what to do about one store of several threads" "$(grep -q 'if all store the same value, .* volatile or atomic' "$folder/cuda_races_say.yaml.h200" ||
  echo "no such repair")"
point "an atomic operation that was tried in the place of an update" "$(grep -q 'repair: make it one atomic operation (atomicAdd()' "$folder/cuda_lost_update_relaxed.yaml.h200" ||
  echo "no such repair")"
point "an atomic maximum that was tried in the place of a comparison" "$(grep -q 'repair: make it one atomic operation (atomicMax()' "$folder/cuda_lost_extreme_launches.yaml.h200" ||
  echo "no such repair")"
# unheeded: runs of cuda_unheeded where the attempt at a lock that nobody heeds isn't the repair, or is though there is none.
unheeded() {
  for told in "$folder"/cuda_unheeded*.yaml.h200; do
    case $told in
    *_says.yaml.h200) ! grep -q 'heed what the attempt at the lock' "$told" || echo "$told" ;;
    *_live.yaml.h200) ;;
    *) grep -q 'repair: .*heed what the attempt at the lock, `.*` in line [0-9]*, returns' "$told" || echo "$told" ;;
    esac
  done
}
point "what to do about an attempt at a lock that nobody heeds" "$(unheeded)"
expect "a grid.sync() that is missing" 0 'put grid.sync\(\) between the two' "$LOCKSTEP" check "$SRCDIR/tests/corpus/cuda_grid_sync_forgotten.yaml" --schedules 2
finish
