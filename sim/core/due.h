/* due.h - when each component has something to do next. Between windows these are events of Gpu.queue: the host's
 * first within a cycle, then each SM's, by number, then the memory's. While windows run (windows.h) nobody looks at
 * that queue. */
#ifndef LOCKSTEP_CORE_DUE_H
#define LOCKSTEP_CORE_DUE_H

#include "sim/core/state.h"

/* The SM has something to do in cycle `time`. */
void due_sm(Sm *sm, uint64_t time);
/* The memory system has something to do: its next event is queued, unless it is already. */
void due_memory(Gpu *gpu);
/* Source of the memory's events. */
static inline uint32_t due_memory_source(const Gpu *gpu) { return 1 + gpu->machine->gpu.sms; }

#endif
