/* random_ptx.h - random programs of PTX for property tests: loads, stores and atomics in every space, faults, votes,
 * block barriers, spins on words and locks, and, if asked for, malloc() and free() with pointers that go from thread
 * to thread, or two queues that hardware works on (RANDOM_QUEUE_BYTES each, in the variable `queues`).
 * Every kernel takes the address of RANDOM_WORDS words; pointers go through the variable `nodes` of the module. */
#ifndef LOCKSTEP_TESTS_RANDOM_PTX_H
#define LOCKSTEP_TESTS_RANDOM_PTX_H

#include <glib.h>
#include <stdbool.h>

#include "sim/engine/rng.h"

enum { RANDOM_WORDS = 8, RANDOM_HEAP_BYTES = 4096, RANDOM_QUEUE_BYTES = 32 };

typedef enum {
  RANDOM_NO_HEAP,
  RANDOM_HEAP_FIRST, /* all calls of malloc() at the beginning of a kernel */
  RANDOM_HEAP_ANYWHERE
} RandomHeap;

typedef struct RandomPtx {
  Rng rng;
  GString *text;
  unsigned labels;
  bool gentle; /* no endless waits, so that many launches follow each other */
  RandomHeap heap;
  bool queues;
} RandomPtx;

static inline unsigned random_ptx_pick(RandomPtx *writer, unsigned n) { return rng_below(&writer->rng, n); }

/* A module of kernels k0, k1 ... Free with g_free. */
char *random_ptx_module(RandomPtx *writer, unsigned kernels);

#endif
