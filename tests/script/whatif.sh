#!/bin/sh
# GPUs that don't exist, of doc/howto/whatif.md: what comes out of each question (TAP). What the page shows is read there and not run again:
# docs.sh runs its examples, and they print what it shows.
set -eu
. "$SRCDIR/tests/script/tap.sh"
# shellcheck disable=SC2154 # tap.sh has the folder
traces=$SRCDIR/traces

# shown PATTERN FIELD COMMAND: that field of each line with the pattern that the page shows below `lockstep run COMMAND`.
shown() {
  awk -v pattern="$1" -v field="$2" -v command="    \$ lockstep run $3 " '
    /^    \$ / { inside = index($0, command "|") == 1; next }
    !/^    / { inside = 0 }
    inside && $0 ~ pattern { printf "%s ", $field }' "$SRCDIR/doc/howto/whatif.md"
}
each() { shown '^ *operations ' 3 "$1"; }    # cycles of an operation
whole() { shown '^ *cycles ' 2 "$1"; }       # of the run
between() { shown '^ *marks 0 to 1 ' 5 "$1"; }
# figure WORDS FIELD ARGUMENT...: the same of a run.
figure() {
  words=$1 field=$2
  shift 2
  "$LOCKSTEP" run "$@" 2>/dev/null | awk -v words="$words" -v field="$field" 'index($0, "  " words) == 1 { print $field }'
}

# cycles ARGUMENT...: of a run; 0 if it doesn't complete.
cycles() {
  "$LOCKSTEP" run "$@" --format csv 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 2 { print $at["verdict"] == "completed" ? $at["cycles"] : 0 }'
}

# less NAME A B FACTOR: A cycles, times FACTOR, are fewer than B cycles.
less() {
  point "$1" "$(awk -v a="$2" -v b="$3" -v f="$4" 'BEGIN { if (!(a > 0 && b > 0 && a * f < b)) print a " times " f ", and " b }')"
}

plan 47
batch="memory.atomic.batch_loads=64"
sleeping="traces/primitives/semaphore_sleep.yaml -m gtx580 -p blocks=128"
ticket="traces/primitives/mutex_fa.yaml -m gtx580 -p blocks=128 -p apart=1"
spin="$traces/primitives/mutex_spin.yaml -p blocks=128"
# shellcheck disable=SC2046,SC2086 # words
{
  one=$(each "$sleeping") many=$(each "$sleeping -s $batch")
  less "queued loads at once: the sleeping semaphore is more than twice as fast" "$many" "$one" 2
  one=$(each "$ticket") many=$(each "$ticket -s $batch")
  less "and so is the ticket lock with both words in a line" "$many" "$one" 2
  one=$(cycles $spin -m gtx580) many=$(cycles $spin -m gtx580 -s $batch)
  point "a spin lock, which loads nothing, isn't" "$(test "$one" = "$many" || echo "$one $many")"

  set -- $(each "traces/whatif/fast_atomics.yaml -m gtx580 -m gtx580-fast") 0
  slow=$1 fast=$2
  less "fast atomics: backoff gains" "$fast" "$slow" 1.3
  set -- $(each "traces/primitives/mutex_spin.yaml -p blocks=128 -m gtx580 -m gtx580-fast") 0
  spins=$1 fast_spins=$2
  less "spinning gains more" "$(awk "BEGIN { print $fast_spins * $slow / $fast }")" "$spins" 1.1
  less "backoff still beats spinning" "$fast" "$fast_spins" 1.3
  few="-p blocks=48" most="-p blocks=96"
  less "of 48 blocks it doesn't" "$(cycles "$traces/primitives/mutex_spin.yaml" -m gtx580-fast $few)" \
    "$(cycles "$traces/whatif/fast_atomics.yaml" -m gtx580-fast $few)" 1.05
  less "of 96 it does" "$(cycles "$traces/whatif/fast_atomics.yaml" -m gtx580-fast $most)" \
    "$(cycles "$traces/primitives/mutex_spin.yaml" -m gtx580-fast $most)" 1.05
  set -- $(each "traces/primitives/mutex_fa.yaml -p blocks=128 -m gtx580 -m gtx580-fast") 0
  less "and mutex_fa" "$fast" "$2" 1.3
  for other in fa_backoff ring; do
    less "and mutex_$other" "$fast" "$(figure operations 3 "$traces/primitives/mutex_$other.yaml" -p blocks=128 -m gtx580-fast)" 1.3
  done

  # A scheduler that holds spinning warps back: they try less often and get on sooner; nobody else notices, and a hang stays one.
  table="traces/irregular/hash_table.yaml -m gtx1080ti -m gtx1080ti-bows -p blocks=28 -p threads=256 -p pool=16 -p each=1"
  set -- $(whole "$table") 0
  free=$1 held=$2
  set -- $(shown '^ *global atomics ' 3 "$table") 0
  less "spinning warps held back: a crowded hash table is faster" "$held" "$free" 1.2
  less "by a quarter of the attempts" "$2" "$1" 4
  for program in slides/scan_v2 slides/convolution accesses/accesses; do
    one=$(cycles "$traces/$program.yaml" -m gtx1080ti) other=$(cycles "$traces/$program.yaml" -m gtx1080ti-bows)
    test "$one" = "$other" && test "$one" -gt 0 || echo "$program: $one, $other"
  done >"$folder/loops"
  point "loops that get on aren't held back" "$(cat "$folder/loops")"
  point "rank leaves out what a machine can't run, and says so" "$("$LOCKSTEP" rank traces/irregular/hash_table.yaml traces/irregular/hash_queue.yaml \
    -m gtx1080ti -m gtx1080ti-hql >"$folder/ranked" 2>&1 && grep -c '^hash_' "$folder/ranked" | grep -vx 3; grep -q "hash_queue isn't ranked on gtx1080ti: " "$folder/ranked" || echo "no note")"
  point "a spin lock in a warp still hangs" \
    "$("$LOCKSTEP" run "$traces/blog/naive.yaml" -m gtx1080ti-bows 2>&1 | grep -q 'gtx1080ti-bows: simd-deadlock' || echo "no simd-deadlock")"

  widest="-p tiles=64 -p first=63 -p diagonals=1 -m gtx570 -m gtx570-2blocks"
  set -- $(whole "traces/wavefront/grid_tiny_lock.yaml $widest") 0
  flow=$2
  less "2048 lock bits don't make data flow a quarter faster" "$1" "$flow" 0.8
  set -- $(whole "traces/wavefront/grid_data_parallel.yaml $widest") 0
  less "which is slower than data parallel on a large grid" "$2" "$flow" 3

  # 4096 bits and threads.
  wide="-p tiles=64 -p first=59 -p diagonals=1"
  data=$(whole "traces/wavefront/grid_data_parallel.yaml $wide -m gtx570-4blocks")
  set -- $(whole "traces/wavefront/grid_tiny_lock.yaml $wide -m gtx570 -m gtx570-2blocks -m gtx570-4blocks") 0
  two=$2 flow=$3
  less "60 tiles: data flow is faster with 4096 bits than with 2048" "$flow" "$two" 1.02
  less "but not by a quarter" "$two" "$flow" 0.8
  less "and data parallel is more than twice as fast" "$data" "$flow" 2

  # A barrier of all blocks in hardware.
  barriers=traces/whatif/syncblocks.yaml\ traces/primitives/barrier_xf.yaml
  for run in "$barriers -m gtx295" "$barriers traces/primitives/barrier_atomic.yaml -m gtx580"; do
    set -- $(each "$run-syncblocks -p blocks=128") 0
    less "__syncblocks on ${run##* }-syncblocks: more than twice as fast as the barrier of Xiao and Feng" "$1" "$2" 2
  done
  one=$(cycles "$traces/whatif/syncblocks.yaml" -m gtx580-syncblocks -p ops=1 -p blocks=100)
  two=$(cycles "$traces/whatif/syncblocks.yaml" -m gtx580-syncblocks -p ops=1 -p blocks=100 -s grid.barrier_latency=1280)
  point "its latency is a parameter" "$(test $((two - one)) = 1000 || echo "$one, $two")"
  two=$(cycles "$traces/whatif/syncblocks.yaml" -m gtx580-syncblocks -p ops=1 -p blocks=100 -s grid.barrier_interval=12)
  point "and so is what a block costs" "$(test $((two - one)) = 1000 || echo "$one, $two")"

  # Queues in hardware.
  queue="$traces/whatif/queue"
  all="traces/whatif/queue_hardware.yaml traces/whatif/queue_spin.yaml traces/whatif/queue_fa.yaml traces/whatif/queue_ring.yaml"
  set -- $(each "$all -m gtx580-queues -p blocks=64") 0
  less "a queue in hardware: more than 20 times as fast as one under a lock" "$1" "$2" 20
  less "and faster than a ring without locks" "$1" "$4" 1.2
  set -- $(each "$(echo "$all" | sed 's/ [^ ]*spin.yaml//') -m gtx295-queues -p blocks=64") 0
  less "where atomics are slow, still faster than under a lock" "$1" "$2" 4
  less "but slower than the ring, whose ends lie in two lines" "$3" "$1" 3
  # One block alone: 20 operations, one behind the other, and 2 SM cycles in each of 100 core cycles.
  on="${queue}_hardware.yaml -m gtx580-queues -p blocks=1 -p ops=10"
  one=$(cycles $on -s memory.queue.slot_interval=0) two=$(cycles $on -s memory.queue.slot_interval=100)
  point "what a slot takes is a parameter" "$(test $((two - one)) = 4000 || echo "$one, $two")"
  "$LOCKSTEP" run "${queue}_hardware.yaml" -m gtx580 >"$folder/refused" 2>&1 && status=0 || status=$?
  point "a machine without queue units refuses the program" \
    "$(test $status = 3 && grep -q 'queues.cu:42:.* error: ENQUEUE: gtx580 has no queue units' "$folder/refused" || cat "$folder/refused")"
  "$LOCKSTEP" run "$SRCDIR/tests/corpus/queue_copies_live.yaml" -s sm.l1.bytes=16384 -s sm.l1.sector=32 -s sm.l1.global_loads=cached \
    >"$folder/copies" 2>&1 || true
  point "an SM's copies of a queue go when it puts a value into it" "$(grep -q '^as expected' "$folder/copies" || cat "$folder/copies")"

  # Locks in tags: gain with few, lose with many; a machine without refuses; so does rank.
  table="-p blocks=28 -p threads=256 -p each=1"
  words=$(between "traces/irregular/hash_table.yaml -m gtx1080ti $table -p pool=64")
  less "64 locks in tags: faster than words" "$(between "traces/irregular/hash_queue.yaml $table -p pool=64")" "$words" 1.2
  words=$(between "traces/irregular/hash_table.yaml -m gtx1080ti $table -p pool=1024")
  tags=$(between "traces/irregular/hash_queue.yaml $table -p pool=1024")
  less "1024 of them: slower" "$words" "$tags" 1.05
  less "fewer tags: slower still" "$tags" \
    "$(figure "marks 0 to 1" 5 "$traces/irregular/hash_queue.yaml" $table -p pool=1024 -m gtx1080ti-hql-small -s sm.lock_queue.l1_ways=1)" 1.02
  # Threads and tags of a Radeon HD 5870 (Wang, Fussell and Lin, 2019, Table 4: 10 times as fast with 32 locks, 0.9 with 1024).
  table="-p blocks=31 -p threads=1024 -p places=4194304 -p fence=0 -p check=0 -p each=1"
  for pool in 1024 128; do
    figure "marks 0 to 1" 5 "$traces/irregular/hash_table.yaml" -m gtx1080ti $table -p pool=$pool
    figure "marks 0 to 1" 5 "$traces/irregular/hash_queue.yaml" -m gtx1080ti-hql-small $table -p pool=$pool
  done >"$folder/hql"
  set -- $(cat "$folder/hql") 0 0 0 0
  less "Table 4: 1024 locks are slower in tags" "$1" "$2" 1.02
  less "128 are faster" "$4" "$3" 1.5
  "$LOCKSTEP" run "$traces/irregular/hash_queue.yaml" -m gtx1080ti >"$folder/refused" 2>&1 && status=0 || status=$?
  point "a machine without locks in tags refuses them" "$(test "$status" = 3 &&
    grep -q 'error: ATOM: gtx1080ti has no locks in the tags of L1 and L2' "$folder/refused" || cat "$folder/refused")"
  "$LOCKSTEP" run "$traces/irregular/hash_queue.yaml" -m gtx1080ti-hql -s sm.lock_queue.keep=0 --limit-cycles 1000 >"$folder/refused" 2>&1 && status=0 || status=$?
  point "a lock that goes back before a lane can come for it is refused" "$(test "$status" = 2 &&
    grep -q 'sm.lock_queue.keep is 0 cycles, must be above 0 to go with sm.lock_queue.l1_ways, which is 4' "$folder/refused" || cat "$folder/refused")"
  for m in gtx1080ti gtx1080ti-hql; do
    "$LOCKSTEP" rank --primitives -m $m --blocks 64 --ops 4 --seeds 1 --format csv 2>/dev/null | awk -F, -v m=$m '/,mutex,64,1,/ { print m, $5 }'
  done >"$folder/best"
  point "a lock in tags is the best mutex of 64 blocks" \
    "$(printf '%s\n' "gtx1080ti mutex_spin" "gtx1080ti-hql mutex_tags" | diff - "$folder/best")"
  for threads in 1 2 4; do
    "$LOCKSTEP" run "$traces/irregular/hash_queue.yaml" --threads $threads --format json 2>/dev/null | md5sum
  done | sort -u >"$folder/sums"
  point "any number of threads gives the same bytes" "$(test "$(wc -l <"$folder/sums")" = 1 || cat "$folder/sums")"

  # Conditional unlock: a lock bit for each channel instead of two.
  chain="$traces/whatif/channel"
  less "conditional unlock: a chain of channels is faster" "$(each "traces/whatif/channel_one_bit.yaml -m gtx570-conditional")" \
    "$(each "traces/whatif/channel_two_bits.yaml -m gtx570")" 1.05
  verdict() { "$LOCKSTEP" run "$@" --format csv 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at["verdict"] }'; }
  is() { point "$1" "$(test "$2" = "$3" || echo "$2, not $3")"; }
  is "a long one has an alias deadlock with two bits a channel" "$(verdict "${chain}_two_bits.yaml" -p warps=20)" alias-deadlock
  is "also where there is conditional unlock" "$(verdict "${chain}_two_bits.yaml" -m gtx570-conditional -p warps=20)" alias-deadlock
  is "and none with one bit" "$(verdict "${chain}_one_bit.yaml" -p warps=32)" completed
  stolen() { "$LOCKSTEP" run "$traces/whatif/conditional_add.yaml" -m "$1" --format json 2>/dev/null | grep -c unlock-not-held; }
  is "without a guard a bit without owner is freed by others, one with an owner isn't" \
    "$(stolen gtx570-conditional) $(stolen gtx570-conditional-own)" "1 0"
  "$LOCKSTEP" run "${chain}_one_bit.yaml" -m gtx570 >"$folder/refused" 2>&1 && status=0 || status=$?
  is "a machine without it refuses the program" "$status $(grep -c 'error: STSCUL: gtx570 has no conditional unlock' "$folder/refused")" "3 1"
}
finish
