/* serve.h - what an access to global memory does where the words are: to the buffers, to their last changes, to the host's view.
 * Everything that it needs is in the access (flight.h), and everything that its lanes get goes there. */
#ifndef LOCKSTEP_CORE_SERVE_H
#define LOCKSTEP_CORE_SERVE_H

#include "sim/core/access.h"

/* The buffer that holds what the lane accesses. */
static inline BackingBuffer *serve_buffer(const Gpu *gpu, const Flight *flight, unsigned lane) {
  return G_LIKELY(flight->buffer != NULL)
             ? flight->buffer
             : backing_find(gpu->backing, flight->request.address[lane], flight->request.bytes);
}
/* Tells who listens that lanes are performed now, before their words are read or changed; `last`: no others are still to come. */
void serve_tell(const Sm *sm, const Flight *flight, uint32_t lanes, bool last, uint64_t now);
/* The lanes of `mask` read their words, each extended as the instruction says. */
void serve_load(Gpu *gpu, Flight *flight, uint32_t mask);
/* The lanes store, as the machine has it where several store to one word. `note`: who changes words, and when. */
void serve_store(Gpu *gpu, const Flight *flight, ChangeNote *note);
/* One lane's atomic operation: the words change, and its data are what they held. `word` is the first of them in `buffer`. */
void serve_atomic(Gpu *gpu, Flight *flight, BackingBuffer *buffer, uint32_t word, unsigned lane, ChangeNote *note);

/* Bytes of its word, by bit, that an access of so many bytes to that address touches. */
static inline uint32_t serve_bytes(uint32_t bytes, uint64_t address) {
  return (bytes >= 4 ? 15u : (1u << bytes) - 1) << address % 4;
}

#endif
