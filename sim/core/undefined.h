/* undefined.h - values that come from memory which nobody has written: kept apart byte by byte while they lie in registers,
 * until one of them matters.
 * Models: moves, selections and stores to shared and local memory pass them on, arithmetic spoils its whole result. They matter
 * where they become an address, a predicate, a mask, an operand of an atomic operation, or what is stored in global memory
 * (unless a byte of it is defined: padding); then the detectors are told. What is loaded and never used doesn't matter.
 * Does not model: values that pass through a shuffle, the carry, or global memory; constant bits of an undefined value (save
 * those that LOP.AND clears).
 * Ownership: an Sm owns the marks of its warps, which are made when a warp first loads such a value. */
#ifndef LOCKSTEP_CORE_UNDEFINED_H
#define LOCKSTEP_CORE_UNDEFINED_H

#include "sim/core/exec.h"

/* Where an undefined value was loaded. */
typedef struct UndefinedFrom {
  uint32_t pc;
  uint32_t space;   /* MemSpace */
  uint64_t address; /* where a lane loaded it; of shared memory the physical one */
  uint32_t lane;    /* that lane */
} UndefinedFrom;

typedef struct UndefinedRow {
  uint32_t byte[4]; /* lanes in which this byte of the register is undefined */
  UndefinedFrom from;
} UndefinedRow;

/* The warp starts anew: nothing in its registers is undefined. */
void undefined_reset(Warp *warp);
/* Before an instruction of a warp with undefined registers executes: tells of uses, passes marks on. */
void undefined_step(const Issue *issue);
/* Register row `part` of the load that executes: bit b of undefined[lane] says that byte b of the register is undefined.
 * `address` is that of the lowest lane which has one. */
void undefined_loaded(const Issue *issue, uint32_t part, const uint8_t undefined[WARP_LANES], MemSpace space,
                      const uint64_t address[WARP_LANES]);
/* The bytes that are undefined in `lane` of what the store writes: row `part`, a mask. */
uint8_t undefined_stored(const Issue *issue, uint32_t part, unsigned lane);
/* The executing lanes store to global memory: tells of registers without a defined byte. */
void undefined_leaves(const Issue *issue);
/* True if what the atomic operation finds in memory matters: all but an exchange whose result nobody takes. */
bool undefined_atomic_reads(const Issue *issue);
/* An atomic operation of `lanes` meets memory that nobody has written. */
void undefined_atomic(const Issue *issue, uint32_t lanes, MemSpace space, uint64_t address);
/* What a narrow load of `bytes` at byte `offset` of a word makes of the word's undefined bytes. */
uint8_t undefined_narrowed(uint8_t undefined, uint32_t bytes, uint32_t offset);

#endif
