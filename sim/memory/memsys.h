/* memsys.h - the way to global memory, and the only header of it that sim/core includes.
 * Models, for now: one server for the chip with a latency and a bandwidth, in order of arrival; atomics on one word
 * follow each other at atomic_interval; host-mapped memory has the host's latency. The seat of the full hierarchy (L1, interconnect, slices, DRAM).
 * Time: all SMs are equally far away and accesses are served in order of issue, so effects happen in issue order;
 * sim/core applies them when it submits the request. */
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
  uint32_t mask;  /* lanes that take part */
  uint32_t bytes; /* of each lane */
  bool host;      /* some lane goes to host-mapped memory */
  uint64_t address[32];
} MemRequest;

typedef struct MemSys MemSys;

MemSys *memsys_new(const Machine *machine, Backing *backing, Counters *counters);
void memsys_free(MemSys *memsys);

/* Serves a request issued now; returns the cycle in which its result can be used (a store: in which it is performed). */
uint64_t memsys_submit(MemSys *memsys, const MemRequest *request, uint64_t now);

#endif
