/* stale_swap.h - the ABA problem: a compare-and-swap that succeeds though its word was changed, and changed back,
 * since it was looked at, and that stores what was read meanwhile from a word that is another one by now. So a free
 * list without a count beside its head loses places: `next[head]` is read, others take the first place and the next
 * one and give the first one back, and the old `next` becomes the head.
 *
 * Found where it happens in a run, and nowhere else. For one thread
 * - a look at the word (a load, or an atomic operation) gives the value that is expected, and by which the address of
 *   a second load is computed;
 * - what is stored comes from that load (sources.h);
 * - since the look the word has held something else, since the load another thread gave that one's word another
 *   value, and the compare-and-swap succeeds.
 * A count that each change raises makes it fail; a list that never takes up a place again doesn't change `next`.
 * Strong loads of global memory of 32 and 64 bits; values that pass through other lanes, local or shared memory
 * aren't followed. So findings can be missed.
 * Ownership: a RaceDetector owns it. */
#ifndef LOCKSTEP_DETECT_RACE_STALE_SWAP_H
#define LOCKSTEP_DETECT_RACE_STALE_SWAP_H

#include "sim/core/gpu.h"

typedef struct StaleSwaps StaleSwaps;

/* Findings are added to `findings`, which is borrowed. */
StaleSwaps *stale_swaps_new(const Gpu *gpu, GPtrArray *findings);
void stale_swaps_free(StaleSwaps *swaps);
/* A block of that kernel begins. */
void stale_swaps_begin(StaleSwaps *swaps, const Kernel *kernel);
/* False: no kernel that has begun can have one, and what is performed needn't be told. */
bool stale_swaps_wants(const StaleSwaps *swaps);
/* As Probe.performed. `base`: lane 0 of its warp; THREAD_HOST: somebody that isn't watched. */
void stale_swaps_performed(StaleSwaps *swaps, const ProbePoint *point, const AccessPart *part, ThreadId base);

#endif
