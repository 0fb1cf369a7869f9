/* lock_queue.h - locks in the tags of L1 and L2, like HQL (Yilmazer and Kaeli, IPDPS 2013): a machine's option
 * (sm.lock_queue), which no GPU is known to have.
 *
 * Published (Wang, Fussell and Lin, 2019, section 5.4, who compare with it): locks live in the L1 and L2, whose tag
 * entries act as queue locks; L1 and L2 agree by something like a coherence protocol; transfers are handled in the L1
 * in part; locks take tags, and there are only so many. The rest is assumed here, since the paper itself isn't at
 * hand ("-like"):
 * - A lock is a word of global memory, 0 when free. A lane that wants it *tries*: it has the lock, or it hasn't and
 *   is to try again. Nobody sleeps: a warp whose lanes slept for a lock that another of them holds would hang.
 * - L1: a lock takes a way of the set that its line belongs to, with its SM as one waiter in the L2's queue. The
 *   first lane asks the L2; while that is under way, and while the SM is queued, the L1 answers tries by itself ("not
 *   yet"). Without a free way a try goes to the L2 each time, as a compare-and-swap does, and isn't queued.
 * - L2: a lock takes a way of a set while somebody has it, and queues SMs in the order in which they came. Without a
 *   free way the word is all there is: nobody is queued.
 * - Who is granted a lock is an SM: any of its lanes takes it in the L1. A lane that frees it leaves it in the L1 if
 *   some lane there was told to wait, at most `handovers` times in a row while other SMs are queued; else it goes
 *   back to the L2, which grants it to the next SM.
 * - An SM that has the lock, but whose lanes don't come for it, keeps it for `keep` cycles; then its L1 gives it
 *   back. So lanes that went away, or that can't run, hold nobody up for longer than that, and a lock that no lane
 *   holds can always be had in the end. Which lane of an SM comes first is its scheduler's choice.
 * Does not model: lines of data that give way to locks in the same tags; the port for what L1 and L2 tell each other
 * beside accesses (grants, and what comes back after `keep`), which takes `grant_latency` each way.
 * Time: cycles of the SM clock; calls come by rising `now`, and never in windows (Launch.orderly). What happens by
 * itself (a grant comes, `keep` is over) takes effect when somebody looks at the lock next, as of when it happened.
 * Ownership: owns its locks; `counters` is borrowed. */
#ifndef LOCKSTEP_MEMORY_LOCK_QUEUE_H
#define LOCKSTEP_MEMORY_LOCK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/engine/counter.h"
#include "sim/machine/machine.h"

typedef struct LockQueues LockQueues;

typedef enum {
  LOCK_TAKEN, /* the lane has it, from its L1 */
  LOCK_WAIT,  /* its L1 says: not yet */
  LOCK_ASK    /* it has to ask the L2: lock_queues_ask() when the access is there */
} LockAnswer;

/* NULL: the machine has none (sm.lock_queue.l1_ways is 0). */
LockQueues *lock_queues_new(const Machine *machine, Counters *counters);
void lock_queues_free(LockQueues *queues);

/* A warp of that SM looks up so many locks in its L1's tags, `interval` each: when the last has been found. */
uint64_t lock_queues_look_up(LockQueues *queues, uint32_t sm, uint32_t locks, uint64_t now);
/* A lane tries. `free`: what the word says. */
LockAnswer lock_queues_try(LockQueues *queues, uint32_t sm, uint64_t address, bool free, uint64_t now);
/* Its access has come to the L2. True: it has the lock; false: it hasn't. */
bool lock_queues_ask(LockQueues *queues, uint32_t sm, uint64_t address, bool free, uint64_t now);
/* A lane frees the lock. True: it stays in the L1; false: that is to be told to the L2 (lock_queues_give_back()). */
bool lock_queues_release(LockQueues *queues, uint32_t sm, uint64_t address, uint64_t now);
/* That has come to the L2. Nothing is done for a lock that nobody holds. */
void lock_queues_give_back(LockQueues *queues, uint32_t sm, uint64_t address, uint64_t now);

/* A number for what all locks and queues hold, without times. 0 for NULL. */
uint64_t lock_queues_digest(const LockQueues *queues);
/* True if nothing happens by itself from now on: no grant is on its way, no lock is kept for lanes that may come. */
bool lock_queues_are_still(const LockQueues *queues, uint64_t now);

#endif
