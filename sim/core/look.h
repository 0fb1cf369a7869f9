/* look.h - what memory holds, for whoever looks at the machine without being part of it: the proof, races, diagnosis,
 * findings, reports. They read memory here and nowhere else, so that it may lie where it likes.
 * Between two gpu_run()s this is a cut of the machine: the words as they are, and what is under way to registers in
 * flight.h. */
#ifndef LOCKSTEP_CORE_LOOK_H
#define LOCKSTEP_CORE_LOOK_H

#include "sim/core/gpu.h"

/* The word of global memory at `address` (a multiple of 4); 0 where no buffer is. */
uint32_t look_global(const Gpu *gpu, uint64_t address);
/* Word `word` of the SM's shared memory, counted from its start. */
uint32_t look_shared(const Sm *sm, uint32_t word);
/* Word `word` of that lane's local memory. */
uint32_t look_local(const Sm *sm, uint32_t slot, uint32_t word, unsigned lane);

/* Who changed the word last, and when; THREAD_NONE for one that hasn't changed. */
WordChange look_global_change(const Gpu *gpu, uint64_t address);
WordChange look_shared_change(const Sm *sm, uint32_t word);

/* The buffer that `address` lies in, and which of its words. False if there is none, or the device heap. The name is
 * borrowed. */
bool look_buffer(const Gpu *gpu, uint64_t address, const char **name, uint64_t *word);
/* True if that is an address of the device heap. */
bool look_in_heap(const Gpu *gpu, uint64_t address);
/* The address of word `word` of buffer number `buffer`. */
uint64_t look_address(const Gpu *gpu, uint32_t buffer, uint32_t word);

/* What the memory system has done so far. Borrowed. */
const MemStats *look_memory(const Gpu *gpu);
/* All of buffer number `buffer`. Borrowed, and good until the machine runs on. */
typedef struct BufferLook {
  const char *name;
  const uint32_t *words;
  uint32_t count;
  uint64_t base; /* address */
} BufferLook;
BufferLook look_words(const Gpu *gpu, uint32_t buffer);
/* A number for what all buffers hold (backing_digest()). */
uint64_t look_digest(const Gpu *gpu);

/* What has been up to the machine's schedule so far: without it, other policies and branch orders do the same. */
typedef struct Choices {
  bool warps; /* sm.policy has chosen between warps */
  bool ways;  /* sm.simt_stack.branch_order has said which way of a branch goes first */
} Choices;
Choices look_choices(const Gpu *gpu);

/* All blocks of some launch have exited, and it ends as soon as their stores are performed: others may follow it. */
bool look_launch_ends(const Gpu *gpu);

/* A lock bit of the SM. Borrowed. */
const LockBit *look_bit(const Sm *sm, uint32_t bit);

#endif
