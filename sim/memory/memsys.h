/* memsys.h - the way to global memory, and the only header of it that sim/core includes for traffic.
 * An SM sends requests, each a warp's access. The memory system says when the words of which lanes are read or changed, and when the
 * SM has the reply: the caller keeps the words (serve.h), and what waits for replies (flight.h).
 * Models, for now: one server for the chip with a latency and a bandwidth, in order of arrival; atomics on one word
 * follow each other at atomic_interval; host-mapped memory has the host's latency.
 * Time: cycles of the SM clock. All SMs are equally far away. A request is performed memory.request_latency cycles after the server
 * took it, and answered when the rest of the latency has passed.
 * Ownership: a request is its sender's, and borrowed from memsys_send() until its reply. */
#ifndef LOCKSTEP_MEMORY_MEMSYS_H
#define LOCKSTEP_MEMORY_MEMSYS_H

#include <stdint.h>

#include "sim/engine/counter.h"
#include "sim/machine/machine.h"
#include "sim/memory/backing.h"

typedef enum { MEM_LOAD, MEM_STORE, MEM_ATOMIC } MemKind;

/* One warp's access. */
typedef struct MemRequest {
  MemKind kind;
  uint32_t sm;    /* who sends it */
  uint32_t mask;  /* lanes that take part */
  uint32_t bytes; /* of each lane */
  bool host;      /* some lane goes to host-mapped memory */
  bool unused;    /* of an atomic: nobody uses what it returns */
  uint64_t address[32];
  /* The memory system's own while the request is under way: parts that aren't answered yet, and the newest answer. */
  uint32_t parts;
  uint64_t answered;
} MemRequest;

/* Who is told what becomes of requests. */
typedef struct MemClient {
  void *user;
  /* The words of these lanes are read or changed now. Calls come by rising time; on one line, in the order of service. */
  void (*perform)(void *user, MemRequest *request, uint32_t lanes, uint64_t time);
  /* The last lanes have been performed. The SM has the reply in cycle `time`: of a store, the acknowledgement that fences wait for. */
  void (*reply)(void *user, MemRequest *request, uint64_t time);
} MemClient;

typedef struct MemSys MemSys;

/* The client is copied; `backing` and `counters` are borrowed. */
MemSys *memsys_new(const Machine *machine, uint64_t seed, Backing *backing, const MemClient *client,
                   Counters *counters);
void memsys_free(MemSys *memsys);

/* SM request->sm sends, in cycle `time` or later than all its requests before. */
void memsys_send(MemSys *memsys, MemRequest *request, uint64_t time);
/* When something is due; WHEEL_NEVER: nothing is under way. */
uint64_t memsys_next(const MemSys *memsys);
/* Does all that is due before cycle `end`. */
void memsys_run(MemSys *memsys, uint64_t end);
/* The shortest way between an SM and memory, in cycles: what is sent at t is performed at t plus so many at the earliest, and answered
 * so many after it was performed. */
uint32_t memsys_window(const MemSys *memsys);

#endif
