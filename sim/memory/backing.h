/* backing.h - global memory as the programs see it: buffers below the windows of the generic addresses
 * (isa/program.h), with gaps between them so that an access beyond a buffer is found.
 * Ownership: Backing owns the data. */
#ifndef LOCKSTEP_MEMORY_BACKING_H
#define LOCKSTEP_MEMORY_BACKING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/memory/change_log.h"

enum { BACKING_FIRST_ADDRESS = 0x10000, BACKING_GAP = 512 /* bytes behind a buffer, at least */ };

typedef struct BackingBuffer {
  char *name;
  uint64_t base; /* byte address */
  uint32_t words;
  uint32_t *data;
  ChangeLog changes;
  bool constant;         /* a kernel can't write it */
  bool copied;           /* it begins with words that the host has copied there (hierarchy_lines.c) */
  bool host;             /* host-mapped: the CPU sees it, too */
  uint8_t *defined;      /* of each word: mask of its bytes that have a value; NULL: all (backing_undefine()) */
  struct Heap *heap;     /* of the device heap: which bytes may be accessed (heap.h); else NULL. Borrowed */
  uint64_t *ready_milli; /* for each word: when its atomic unit is free (milli.h); NULL until an atomic came */
} BackingBuffer;

typedef struct Backing {
  GArray *buffers; /* BackingBuffer, by rising address */
  uint64_t next_address;
  uint32_t alignment; /* bytes: a buffer begins at multiples of it; BACKING_GAP, unless it is set */
  uint32_t page;      /* bytes: a buffer of half of it or more begins at multiples of it; 0: none does */
  guint last;     /* the buffer that was found last, by any thread */
  bool undefined; /* some buffer has `defined` */
} Backing;

Backing *backing_new(void);
void backing_free(Backing *backing);
/* Adds a buffer that starts with a copy of `init` (zeros if NULL). Returns its index. */
guint backing_add(Backing *backing, const char *name, uint32_t words, const uint32_t *init);
/* Nothing in the buffer has a value, as after cudaMalloc(); it holds zeros. */
void backing_undefine(Backing *backing, guint index);
/* Bytes of a word get a value: those of `mask` lose what they had, those of `defined` have one. */
static inline void backing_define(BackingBuffer *buffer, uint32_t word, uint32_t mask, uint32_t defined) {
  if (G_UNLIKELY(buffer->defined))
    buffer->defined[word] = (uint8_t)((buffer->defined[word] & ~mask) | (defined & mask));
}
BackingBuffer *backing_buffer(const Backing *backing, guint index);
/* False once the buffers take more than the addresses that there are. */
bool backing_fits(const Backing *backing);
/* The buffer that holds [address, address + bytes), or NULL. */
BackingBuffer *backing_find(Backing *backing, uint64_t address, uint32_t bytes);
/* The buffer nearest below or around an address that missed, for the message; NULL if there are none. */
const BackingBuffer *backing_nearest(const Backing *backing, uint64_t address);
/* The run goes on for long: what it has filled of its buffers gets large pages of the host (pages_enlarge()). */
void backing_enlarge(Backing *backing);
/* FNV-1a over names, sizes and contents of all buffers but the device heap, where what lies where is nobody's
 * result. */
uint64_t backing_digest(const Backing *backing);

#endif
