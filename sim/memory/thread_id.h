/* thread_id.h - names one thread of a run: launch, linear block index, thread in the block. Each part has the room
 * that its largest value needs: a run can have any number of launches, a grid up to 2^63 blocks.
 * Only findings use it: the hardware has no owners. */
#ifndef LOCKSTEP_MEMORY_THREAD_ID_H
#define LOCKSTEP_MEMORY_THREAD_ID_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ThreadId {
  uint64_t block;
  uint32_t launch;
  uint32_t thread; /* in the block */
} ThreadId;

/* Launches that there can't be. */
enum { THREAD_LAUNCH_NONE = INT32_MAX, THREAD_LAUNCH_HOST = INT32_MAX - 1 };
#define THREAD_NONE ((ThreadId){.launch = THREAD_LAUNCH_NONE})
#define THREAD_HOST ((ThreadId){.launch = THREAD_LAUNCH_HOST}) /* the CPU (sim/core/host.h) */

static inline ThreadId thread_id(uint32_t launch, uint64_t block, uint32_t thread) {
  return (ThreadId){.block = block, .launch = launch, .thread = thread};
}
/* The thread `lanes` behind `base` in its block. */
static inline ThreadId thread_plus(ThreadId base, uint32_t lanes) {
  return thread_id(base.launch, base.block, base.thread + lanes);
}
static inline uint32_t thread_warp(ThreadId id) { return id.thread / 32; }
static inline uint32_t thread_lane(ThreadId id) { return id.thread % 32; }
static inline bool thread_is_none(ThreadId id) { return id.launch == THREAD_LAUNCH_NONE; }
static inline bool thread_is_host(ThreadId id) { return id.launch == THREAD_LAUNCH_HOST; }
static inline bool thread_same_block(ThreadId a, ThreadId b) { return a.launch == b.launch && a.block == b.block; }
static inline bool thread_same_warp(ThreadId a, ThreadId b) {
  return thread_same_block(a, b) && thread_warp(a) == thread_warp(b);
}
static inline bool thread_equal(ThreadId a, ThreadId b) { return thread_same_block(a, b) && a.thread == b.thread; }

/* Who last changed the value of a word, for findings. */
typedef struct WordChange {
  uint64_t cycle;
  ThreadId thread; /* THREAD_NONE: still the initial value */
  uint32_t pc;     /* instruction index in the thread's kernel */
} WordChange;

#endif
