/* record.h - what a run keeps of single moments: the fault that ends it, and when marks fired. */
#ifndef LOCKSTEP_CORE_RECORD_H
#define LOCKSTEP_CORE_RECORD_H

#include "sim/core/state.h"

/* Raises a fault (the first one counts). Takes ownership of `message` and `repair`. */
void record_fault(Issue *issue, uint32_t lanes, const char *space, uint64_t address, char *message, char *repair);
/* Mark `number` fires now. */
void record_mark(Gpu *gpu, uint32_t number, uint64_t now);
/* The mark's times, or NULL. */
const MarkTime *record_mark_time(const Gpu *gpu, uint32_t number);

#endif
