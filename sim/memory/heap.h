/* heap.h - the device heap: what malloc() and free() of kernels give and take back.
 * Models: memory in units of 16 bytes, a unit before each piece of memory (its header), the next hole that is
 * large enough from where the newest piece ends (so what was freed comes back late, and who still uses it is
 * found), holes that lie side by side made one. What a kernel leaves stays for the next one. Does not model: where
 * the GPU's own allocator puts what. Only memory that malloc() returned, and that free() hasn't taken back, may be
 * accessed (sim/core/place.h).
 * Ownership: a Heap owns its books; its bytes are a buffer of the Backing, which is borrowed. */
#ifndef LOCKSTEP_MEMORY_HEAP_H
#define LOCKSTEP_MEMORY_HEAP_H

#include "sim/memory/backing.h"

enum { HEAP_UNIT = 16, HEAP_BYTES_DEFAULT = 8 << 20, HEAP_BYTES_MIN = 4096, HEAP_BYTES_MAX = 1 << 30 };

typedef struct HeapPiece {
  uint32_t offset, bytes; /* in the heap: what malloc() returned, and how much was asked for */
  uint32_t units;         /* of the heap that still name it; 0: the piece is nobody's */
  bool freed;
  WordChange taken, given; /* who called malloc(), and free() if it was freed */
} HeapPiece;

typedef struct HeapHole {
  uint32_t offset, bytes;
} HeapHole;

typedef struct Heap {
  Backing *backing;
  guint buffer; /* its number there */
  uint64_t base;
  uint32_t bytes;
  uint32_t *piece_of; /* of each unit: number of the newest piece that it is part of, 0: none */
  GArray *pieces;     /* HeapPiece; 0 stands for none */
  GArray *unused;     /* uint32_t: numbers of pieces that are nobody's */
  GArray *holes;      /* HeapHole, by rising offset */
  uint32_t next;      /* where the search for a hole begins */
  uint64_t free_at;   /* the cycle in which it can serve the next call */
} Heap;

/* Adds a buffer of that size (a multiple of HEAP_UNIT) without values to the backing store. */
Heap *heap_new(Backing *backing, uint32_t bytes);
void heap_free(Heap *heap);

/* Memory of `bytes` bytes at a multiple of `alignment` (a power of 2), without values, for `who`; 0 if there is
 * none, or if `bytes` is 0. */
uint64_t heap_take(Heap *heap, uint64_t bytes, uint64_t alignment, const WordChange *who);

typedef enum { HEAP_FINE, HEAP_FREED, HEAP_NEVER } HeapAnswer;

/* What free() of that address is: fine, of a piece that was freed before, of what malloc() didn't return. */
HeapAnswer heap_can_give(const Heap *heap, uint64_t address);
/* Takes back what heap_can_give(). */
void heap_give(Heap *heap, uint64_t address, const WordChange *who);

/* What an access to these bytes of the heap is: fine, to what was freed, to what isn't memory that malloc()
 * returned. */
HeapAnswer heap_access(const Heap *heap, uint64_t address, uint32_t bytes);
/* The piece that the address lies in, or else the newest one before it, for messages; NULL: there is none. */
const HeapPiece *heap_piece(const Heap *heap, uint64_t address);

/* Words that no program can access; the proof of deadlocks uses them as names: of calls of malloc() that may still
 * come, and of free(). */
static inline uint64_t heap_taking(const Heap *heap) { return heap->base; }
static inline uint64_t heap_giving(const Heap *heap) { return heap->base + 4; }

#endif
