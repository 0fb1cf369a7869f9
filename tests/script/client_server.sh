#!/bin/sh
# Messages between blocks, and servers made of them (TAP): `check` finds nothing wrong with the right ones, and in each broken one what is broken.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

check_complaint() { # SCHEDULES FILE MACHINE [ARGUMENT...]
  schedules=$1
  file=$2
  machine=$3
  shift 3
  "$LOCKSTEP" check "traces/client_server/$file.yaml" -m "$machine" --schedules "$schedules" "$@" >"$folder/out" 2>&1 || tail -5 "$folder/out"
}
safe_complaint() {
  check_complaint 4 "$@"
  grep -q ": completed (the worst of" "$folder/out" || echo "no verdict"
  grep -E 'warning|error|timing' "$folder/out" || :
}
racy_complaint() {
  check_complaint 2 "$@"
  grep -q 'warning: data-race' "$folder/out" || echo "no data race is found"
}
# A run that ends otherwise than expected, and says TEXT.
run_complaint() { # TEXT FILE MACHINE [ARGUMENT...]
  text=$1
  file=$2
  machine=$3
  shift 3
  status=0
  "$LOCKSTEP" run "traces/client_server/$file.yaml" -m "$machine" "$@" >"$folder/out" 2>&1 || status=$?
  test "$status" = 1 || echo "exit status $status"
  grep -q "$text" "$folder/out" || echo "doesn't say: $text"
}
# What locks and messages hand over is in order; a look at a mask may see it as it was (doc/client_server.md).
ordered_complaint() {
  check_complaint 4 "$@"
  grep -q ": completed (the worst of" "$folder/out" || echo "no verdict"
  grep -E 'warning|error|timing' "$folder/out" | grep -v 'unordered-access' || :
}
unordered_complaint() {
  check_complaint 2 "$@" >"$folder/ending"
  grep -q 'warning: unordered-access' "$folder/out" || echo "no unordered access is found"
}
lost_complaint() { run_complaint 'the words of owed sum to' "$@"; }

plan 79
for machine in gtx1080ti rtx3070 h200; do
  point "basic, on $machine" "$(safe_complaint messages_basic $machine)"
  point "no fence before the mask, on $machine" "$(racy_complaint messages_no_fence $machine)"
  point "reset before the data are read, on $machine" "$(racy_complaint messages_reset_first $machine)"
  point "batches, on $machine" "$(safe_complaint batches $machine)"
  point "batches, no fence before the mask, on $machine" "$(racy_complaint batches_no_fence $machine)"
  point "batches, reset before the data are read, on $machine" "$(racy_complaint batches_reset_first $machine)"
done
# Blocks of two kernels begin at once on an SM, and want lines of constant memory.
for machine in rtx3070 h100 h200; do
  expect "senders and receivers share SMs, on $machine" 0 '^as expected' \
    "$LOCKSTEP" run traces/client_server/batches.yaml -m $machine -s gpu.sms=2 -p senders=4 -p receivers=1 --limit-cycles 3000000
done
for words in 1 3 4; do
  point "basic, $words words, uneven" "$(safe_complaint messages_basic gtx1080ti -p words=$words -p uneven=1 -p pause=4 -p each=2)"
  point "batches, $words words, uneven" "$(safe_complaint batches gtx1080ti -p words=$words -p uneven=1 -p pause=4 -p senders=3)"
done
# In one stream senders would never start while receivers wait for them.
expect "who waits for the other isn't told to share its stream" 0 'repair: .* stream if neither waits for the other' \
  "$LOCKSTEP" check traces/client_server/messages_reset_first.yaml -m gtx1080ti --schedules 2 -p senders=3
point "the read index freed too early" "$(racy_complaint messages_free_at_once gtx1080ti)"
point "receivers that leave when senders are done lose messages" "$(lost_complaint messages_basic h200 -p fault=5 -p entries=256 -p period=1)"
point "lanes that wait hold those that needn't, on a SIMT stack" "$(run_complaint 'reconvergence\|nobody is left' messages_wait_alone gtx1080ti)"
point "more blocks than are resident" "$("$LOCKSTEP" run traces/client_server/messages_crowd.yaml >"$folder/out" 2>&1 || tail -5 "$folder/out")"
point "one block less" "$(run_complaint ': completed' messages_crowd gtx1080ti -p crowd=55)"
point "forty blocks" "$("$LOCKSTEP" run traces/client_server/messages_basic.yaml -m h200 -p senders=20 -p receivers=20 -p each=1 >"$folder/out" 2>&1 || tail -5 "$folder/out")"
point "batches, full buffers" "$(safe_complaint batches rtx3070 -p senders=4 -p receivers=1 -p entries=32)"
# Without __launch_bounds__ 1024 threads of a sender took over half of an SM's registers, and half of the blocks never began.
point "batches, blocks of 1024 threads, two an SM" "$("$LOCKSTEP" run traces/client_server/batches.yaml -m gtx1080ti -p senders=28 -p receivers=28 -p threads=1024 -p readers=1024 -p each=1 >"$folder/out" 2>&1 || tail -5 "$folder/out")"
point "batches, a hundred blocks" "$("$LOCKSTEP" run traces/client_server/batches.yaml -p senders=50 -p receivers=50 -p each=2 >"$folder/out" 2>&1 || tail -5 "$folder/out")"
for pool in 3 1024; do
  point "hash table by servers, pool of $pool" "$(ordered_complaint hash_server gtx1080ti -p pool=$pool)"
  point "hash table by servers, aliased locks, pool of $pool" "$(ordered_complaint hash_server h200 -p pool=$pool -p locks=2 -p servers=3)"
done
point "accounts by servers that measure their locks" "$(ordered_complaint accounts_server_timed gtx1080ti -p each=1)"
point "accounts by servers" "$(ordered_complaint accounts_server gtx1080ti -p each=1)"
point "accounts by servers, aliased locks" "$(ordered_complaint accounts_server h200 -p pool=64 -p servers=3 -p locks=4 -p each=1)"
# Batches used wrongly: leaders and followers poll by ballots and shuffles for what never comes.
for use in right "forgotten -p readers=16" "left_out -p readers=16"; do
  # shellcheck disable=SC2086 # options
  point "batches, $use" "$("$LOCKSTEP" run -m h200 tests/batches/${use%% *}.yaml ${use#"${use%% *}"} 2>&1 | grep -q '^as expected$' || echo "not as expected")"
done
# An SM that clients fill before their servers come.
for use in "clients=32 -p threads=32 -p servers=2" "clients=1 -p threads=128 -p servers=1 -s sm.max_blocks=1"; do
  point "clients first: $use" "$("$LOCKSTEP" run tests/batches/clients_first.yaml -s gpu.sms=1 -p each=4 -p $use 2>&1 | grep -q '^as expected$' || echo "not as expected")"
done
point "accounts by servers, no hierarchy: no end" "$(run_complaint 'no word of memory changes any more' accounts_server gtx1080ti -p ordered=0 -p each=1)"
point "accounts by servers, one channel: no end" "$(run_complaint 'no word of memory changes any more' accounts_server rtx3070 -p separate=0 -p each=1)"
for machine in gtx1080ti h200; do
  point "gradient descent by servers, on $machine" "$(ordered_complaint gradient_server $machine -p edges=96)"
  point "spanning tree by servers, on $machine" "$(ordered_complaint spanning_server $machine -p vertices=64 -p edges=200)"
  point "maximum flow by servers, on $machine" "$(ordered_complaint maximum_server $machine -p width=4 -p length=3)"
done
# A worker that waited here for room for one of its requests while another one's lock was granted to it hung (seed 1).
expect "gradient descent by servers, channels of requests that run full" 0 "^as expected" \
  "$LOCKSTEP" run traces/client_server/gradient_server.yaml -m gtx1080ti -p blocks=8 -p servers=4 -p edges=512 -p entries=32 \
  -p local=32 -p workers=3 --limit-cycles 3000000
point "a round is handled when its messages are handled, not when they are read" "$(unordered_complaint spanning_server h200 -p vertices=64 -p edges=200 -p fault=2)"
point "spanning tree by servers that measure their locks" "$(safe_complaint spanning_server_timed gtx1080ti)"
point "the same on a random graph" "$(ordered_complaint spanning_server_random_timed gtx1080ti)"
point "clients that don't wait for servers" "$(unordered_complaint spanning_server gtx1080ti -p vertices=64 -p edges=200 -p fault=1 --limit-cycles 200000)"
point "a mark that is reset late: work is lost" "$(run_complaint 'result\[0\] is 1' maximum_server gtx1080ti -p fault=1 -p width=8 -p length=6)"
point "a message for each push: buffers run full" "$(run_complaint 'ended by --limit-cycles' maximum_server h200 -p fault=2 -p length=8 -p width=7 --limit-cycles 700000 --seed 2)"
point "a message isn't pending while it is handled: servers leave" "$(run_complaint 'pending\[0\] is' maximum_server gtx1080ti -p fault=3)"
for machine in gtx1080ti h200; do
  point "two nested locks, on $machine" "$(ordered_complaint nested_small $machine -p pool=5 -p each=3)"
  point "two nested locks, no hierarchy, on $machine" "$(check_complaint 3 nested_small_no_hierarchy $machine)"
  point "two nested locks, one channel, on $machine" "$(check_complaint 2 nested_small_one_channel $machine)"
  point "two nested locks, channels that run full, on $machine" "$(ordered_complaint nested_small_close $machine)"
  point "all kinds of messages in one that runs full, on $machine" "$(check_complaint 2 nested_small_together $machine)"
  point "all in one with room for all, on $machine" "$(run_complaint ': completed' nested_small_together $machine -p room=4)"
done
point "two nested locks, channels that run full, as machine code" "$(ordered_complaint nested_small_close h200 --code sass)"
point "all kinds of messages in one that runs full, as machine code" "$(check_complaint 1 nested_small_together h200 --code sass)"
finish
