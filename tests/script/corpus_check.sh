#!/bin/sh
# `lockstep check` finds a data race in exactly those programs that list one in `.findings`, among the small programs of
# tests/corpus/ and the scenarios of traces/ for a GTX 570 (TAP). It also ends each as expected under every policy and branch order (most of what an h200 runs: nine schedules).
set -eu
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/machines_of.sh"
. "$SRCDIR/tests/script/check_set.sh"
cd "$SRCDIR"

# Long runs, which no race depends on, of SASS and of PTX.
slow="fault_after_long_walk slow_chain_live slow_releaser_live slow_releaser_word_live slow_barrier_live slow_contention_word_live slow_float_live
spin_attempt_limit_live spin_attempt_limit_high_live proof_counter_through_memory_live undecided_clock undecided_counter
undecided_passed"
slow_ptx="cuda_polled_rounds_nobody cuda_kept_two cuda_still_gives_up_live cuda_two_tries_warps"

# The files that the test suite runs (x.yaml stands for x.sass), less the slow ones and those of PTX and machine code.
list_corpus() {
  for file in $(grep -L \
    -e '^program: .*\.ptx' -e '^machines: \[h200\]' -e '^machines: \[gtx5[78]0-' tests/corpus/*.yaml) tests/corpus/*.sass; do
    name=${file##*/}
    name=${name%.*}
    case " $(echo $slow) " in
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

# schedules_of FILE MACHINE: how much of `check` it gets. What is long, and the same under all of them, gets three schedules, and so does a second
# machine, with a SIMT stack, of what an h200 runs.
schedules_of() {
  case ${1##*/}:$2 in
  cuda_dispatch_crossed*) echo "--seeds 1" ;; # it hangs in other orders of dispatch only
  cuda_still_* | cuda_two_tries_* | cuda_kept_two* | cuda_polled_queue_nobody* | cuda_polled_rounds_nobody*) echo "--schedules 1" ;; # it goes on for as long as others hang; proofs that take seconds
  cuda_countdown_* | cuda_reduction_rounds* | cuda_warp_queue_open* | cuda_slow_fence_* | cuda_dispatch_* | flight_stale* | fault_late_* | name_* | race_launches*) echo "--schedules 3" ;;
  cuda_slow_[bci]* | cuda_arrives_twice* | cuda_named_groups_* | cuda_prefer_* | exclusion_readers_* | exclusion_*_acq_rel* | cuda_entry_* | cuda_event_count_* | cuda_late_*) ;; # whether they meet is chance
  *:gtx1080ti) ! grep -q '^machines:.*h200' "$1" && echo "--seeds 1" || echo "--schedules 3" ;;
  cuda_rcu_unfenced.*:h200 | ring_laps.*:h200) echo "--seeds 1" ;; # what races there comes late
  *:h200) echo "--schedules 9" ;; # about half of those of a seed
  *) echo "--seeds 1" ;;
  esac
}

# runs FILE...: a line `FILE MACHINE` for each machine that a file names; of rtx3070 and h200, whose warps take turns alike, the second. The long ones,
# which are there for names, faults and long proofs, are checked on the first only. What corpus_races.sh checks under all schedules is left out.
runs() {
  # shellcheck disable=SC2046 # one word for each file
  machines_of $(grep -LE '^program: (cuda_(races|exclusion|half_locks|guesses|guesses_wide|own_place|bulk|overwritten|combining|grace|stale_swap|marked_list|hazard_pointers|seqlock_wide|bounded_queue|epochs|dissemination|deque|older)|race_ptx)\.' "$@") | awk '
    { machines[$1] = machines[$1] " " $2 }
    !seen[$1]++ { file[++files] = $1 }
    END {
      for (i = 1; i <= files; i++) {
        n = split(machines[file[i]], machine, " ")
        for (k = 1; k <= n; k++)
          if (file[i] ~ /\/(name_|fault_late_|cuda_still_|cuda_polled_|cuda_two_tries_)/ ? k == 1 : machine[k] != "rtx3070" || machines[file[i]] !~ /h200/) print file[i], machine[k]
      }
    }'
}

# check_ptx: the same for the programs of PTX and machine code. Those that are checked alike are checked together; fences_tried.sh has some.
check_ptx() {
  sed -n 's/.*\$(names \(cuda_[a-z_]*\) .*/tests\/corpus\/\1.yaml/p' tests/script/fences_tried.sh >"$folder/tried"
  # shellcheck disable=SC2086 # one word for each
  printf 'tests/corpus/%s.yaml\n' $slow_ptx >>"$folder/tried"
  # shellcheck disable=SC2046 # one word for each file
  runs $(grep -l -e '^program: .*\.ptx' -e '^machines: \[h200\]' -e '^machines: \[gtx5[78]0-' tests/corpus/*.yaml |
    grep -vxFf "$folder/tried") |
    while read -r file machine; do
      echo "$machine;$(schedules_of "$file" "$machine");$file"
    done | LC_ALL=C sort >"$folder/runs"
  cut -d';' -f1,2 "$folder/runs" | uniq | while IFS=';' read -r machine options; do
    # shellcheck disable=SC2046 # one word for each file
    check_together "data-race unordered-access speculative-load" "$machine" "$options" $(sed -n "s/^$machine;$options;//p" "$folder/runs") </dev/null
  done
}

plan 4
# shellcheck disable=SC2046 # one word for each file
point "no data race in the corpus but those listed" "$(check $(list_corpus))"
point "each data race that is listed" "$(missed)"
point "PTX: each data race that is listed, and no other" "$(check_ptx)"
# grid_atomic_lock is atomic_lock on more tiles, which starves under `youngest`: with three million cycles, more than any other schedule takes.
# shellcheck disable=SC2046 # one word for each file
point "no data race in traces/ that isn't listed" "$(check $(grep -l '^machines:.*gtx570[],]' traces/*/*.yaml | grep -v atomic_lock)
check traces/wavefront/atomic_lock.yaml --limit-cycles 3000000)"
finish
