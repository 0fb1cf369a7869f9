/* serve.h - accesses have their effect where the words are: lanes of an access (flight.h) read words of global
 * memory, change them, or both. Nothing here knows of warps and SMs: they may have gone on, or exited. Replies go to
 * the SM that sent the access.
 * Time: when the memory system performs the lanes (memsys.h).
 * Threads: where windows run, lanes of accesses to different words may be performed side by side
 * (memsys_perform()). */
#ifndef LOCKSTEP_CORE_SERVE_H
#define LOCKSTEP_CORE_SERVE_H

#include "sim/core/access.h"
#include "sim/core/flight.h"

/* What the memory system calls (MemClient.perform), with the Gpu as user. */
void serve_perform(void *user, MemRequest *request, uint32_t lanes, uint64_t time);
/* Lanes of an atomic operation that is seen to in the SM: as serve_perform(). */
void serve_at_once(Gpu *gpu, Flight *flight, uint32_t lanes, uint64_t now);
/* The same for MemClient.soon. */
void serve_soon(void *user, const MemRequest *request, uint32_t lanes);
/* The same for memsys_follow(). */
void serve_part(void *user, const MemTrace *trace);

/* The buffer that holds what the lane accesses. */
static inline BackingBuffer *serve_buffer(const Gpu *gpu, const Flight *flight, unsigned lane) {
  return G_LIKELY(flight->buffer != NULL)
             ? flight->buffer
             : backing_find(gpu->backing, flight->request.address[lane], flight->request.bytes);
}
/* Words that the lanes, side by side, of a run access: they lie side by side, too. NULL: no such lanes, or words. */
static inline uint32_t *serve_run(const Flight *flight, uint32_t lanes) {
  const BackingBuffer *buffer = flight->buffer;
  bool run = buffer && flight->request.run && flight->request.bytes == 4 && bits_in_a_row(lanes);
  return run ? &buffer->data[(flight->request.address[__builtin_ctz(lanes)] - buffer->base) / 4] : NULL;
}
/* No two accesses of a run have the same number. */
static inline uint64_t serve_number(const Sm *sm, const Flight *flight) {
  return flight->number * sm->gpu->machine->gpu.sms + sm->index;
}
/* Bytes of memory from each lane's address on that the access is to: of a queue all of it. */
static inline uint32_t serve_span(const Gpu *gpu, const Flight *flight) {
  return G_UNLIKELY(flight->request.queue) ? gpu->machine->memory.queue.bytes : flight->request.bytes;
}
/* Tells who listens that lanes are performed now, before their words are read or changed. */
void serve_tell_all(const Sm *sm, const Flight *flight, uint32_t lanes, uint64_t now);
static inline void serve_tell(const Sm *sm, const Flight *flight, uint32_t lanes, uint64_t now) {
  if (G_UNLIKELY(PROBE_WANTED(sm->gpu, performed)))
    serve_tell_all(sm, flight, lanes, now);
}
/* The lanes of `mask` read their words, each extended as the instruction says. */
void serve_load(Gpu *gpu, Flight *flight, uint32_t mask);
/* Notes which bytes those lanes of a load find without a value. */
void serve_note_undefined(const Gpu *gpu, Flight *flight, uint32_t mask);

/* Bytes of its word, by bit, that an access of so many bytes to that address touches. */
static inline uint32_t serve_bytes(uint32_t bytes, uint64_t address) {
  return (bytes >= 4 ? 15u : (1u << bytes) - 1) << address % 4;
}

#endif
