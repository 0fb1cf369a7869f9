/* thread_id.h - names one thread of a run: launch, linear block index, thread in the block.
 * Only findings use it: the hardware has no owners. */
#ifndef LOCKSTEP_MEMORY_THREAD_ID_H
#define LOCKSTEP_MEMORY_THREAD_ID_H

#include <stdint.h>

typedef uint64_t ThreadId;
#define THREAD_NONE UINT64_MAX
#define THREAD_HOST (UINT64_MAX - 1) /* the CPU (sim/core/host.h) */

enum { THREAD_BITS = 10, BLOCK_BITS = 46 };

static inline ThreadId thread_id(uint32_t launch, uint64_t block, uint32_t thread) {
  return ((uint64_t)launch << (BLOCK_BITS + THREAD_BITS)) | (block << THREAD_BITS) | thread;
}
static inline uint32_t thread_launch(ThreadId id) { return (uint32_t)(id >> (BLOCK_BITS + THREAD_BITS)); }
static inline uint64_t thread_block(ThreadId id) { return (id >> THREAD_BITS) & ((UINT64_C(1) << BLOCK_BITS) - 1); }
static inline uint32_t thread_in_block(ThreadId id) { return (uint32_t)(id & ((1u << THREAD_BITS) - 1)); }
static inline uint32_t thread_warp(ThreadId id) { return thread_in_block(id) / 32; }
static inline uint32_t thread_lane(ThreadId id) { return thread_in_block(id) % 32; }

/* Who last changed the value of a word, for findings. */
typedef struct WordChange {
  uint64_t cycle;
  ThreadId thread; /* THREAD_NONE: still the initial value */
  uint32_t pc;     /* instruction index in the thread's kernel */
} WordChange;

#endif
