/* undefined.h - values that come from memory, or from registers, which nobody has written, and what a shuffle of PTX
 * gives that reads from a lane which doesn't take part in it: kept apart bit by bit
 * while they lie in registers, byte by byte in memory (but for words that the block has stored to shared or local
 * memory), until one of them matters.
 * Models: moves, selections, shuffles, the results of atomic operations, and stores to shared and local memory
 * pass them on (and a finding goes back to where they were first loaded); logic, permutations, shifts, sums and
 * products of words work by their bits (unknown_bits.h), other arithmetic spoils its whole result; a comparison
 * makes an undefined predicate, unless the predicate that it is combined with decides. They matter where they
 * become an address, a branch's condition, a vote, a mask, the guard of an instruction that does more than compute,
 * an operand of an atomic operation (or what it adds to or
 * compares), or what is stored in global memory (unless a byte of it is defined, or of the other half of 64 bits:
 * padding); then the detectors are
 * told. What is loaded and never used doesn't matter. An atomic AND or OR that sets or clears a bit of a byte
 * defines the byte: so the barriers of cooperative groups start, bit by bit.
 * Does not model: values that pass through the carry or global memory.
 * Ownership: an Sm owns the marks of its warps, which are made when a warp first loads such a value. */
#ifndef LOCKSTEP_CORE_UNDEFINED_H
#define LOCKSTEP_CORE_UNDEFINED_H

#include "sim/core/exec.h"

/* Where an undefined value was loaded, or read from a register. */
typedef struct UndefinedFrom {
  uint32_t pc;
  enum {
    UNDEFINED_MEMORY,
    UNDEFINED_REGISTER,
    UNDEFINED_PREDICATE, /* of this and the one before `address` is the number */
    UNDEFINED_EXITED,
    UNDEFINED_OUTSIDE /* a shuffle's, from lane `address`, which has exited; which isn't in the mask */
  } kind;
  uint32_t space;   /* MemSpace */
  uint64_t address; /* where a lane loaded it; of shared memory the physical one */
  uint32_t lane;    /* that lane */
  uint32_t warp;    /* of that warp of the block */
} UndefinedFrom;

typedef struct UndefinedRow {
  uint32_t
      bits[WARP_LANES]; /* of each lane: the bits of the register that are undefined; of a predicate all or none */
  UndefinedFrom from;
} UndefinedRow;

/* The warp starts anew: nothing in its registers is undefined. */
void undefined_reset(Warp *warp);
/* The instruction reads register `number`, which `lanes` never wrote; or that predicate. */
void undefined_unset(const Issue *issue, unsigned number, bool is_predicate, uint32_t lanes);
/* Behind the shuffle, which all lanes of its masks have come to that haven't exited: marks what lanes got from others
 * that don't take part. source[lane] is where each has read. */
void undefined_shuffled(const Issue *issue, const uint8_t source[WARP_LANES]);
/* Before an instruction of a warp with undefined registers executes: tells of uses, passes marks on. Of the
 * `active` lanes those of issue->mask, for which the guard holds, execute it. */
void undefined_step(const Issue *issue, uint32_t active);
/* Register row `part` of the load that executes: bit b of undefined[lane] says that byte b of the register is
 * undefined. `address` is that of the lowest lane which has one. */
void undefined_loaded(const Issue *issue, uint32_t part, const uint8_t undefined[WARP_LANES], MemSpace space,
                      const uint64_t address[WARP_LANES]);
/* The bytes that are undefined in `lane` of what the store writes: row `part`, a mask. */
uint8_t undefined_stored(const Issue *issue, uint32_t part, unsigned lane);
/* The lane stores such bytes of row `part` there, in shared memory (the physical address) or its own local memory:
 * who loads them is told where they come from. */
void undefined_keep(const Issue *issue, uint32_t part, unsigned lane, MemSpace space, uint64_t address);
/* The executing lanes store to global memory: tells of registers without a defined byte; of two that are stored as
 * 64 bits, if neither has one. */
void undefined_leaves(const Issue *issue);
/* What the lanes of an atomic operation meet in memory that nobody has written. */
typedef struct UndefinedMet {
  uint32_t lanes;               /* the rest is set once there are such */
  uint8_t bytes[4][WARP_LANES]; /* of each row of the result */
  uint64_t address[WARP_LANES];
} UndefinedMet;
/* `lane`, whose operand b is given, comes to row `part` of the word at `address`, of which the bytes `undefined`
 * have no value. Returns those that have none afterwards either. */
uint8_t undefined_meet(UndefinedMet *met, const Inst *inst, uint32_t part, unsigned lane, uint8_t undefined,
                       uint64_t address, uint64_t operand);
/* Behind the last lane, if there are `met->lanes`: tells of a use, or marks the result, unless the warp has
 * exited. */
void undefined_atomic(const Issue *issue, const UndefinedMet *met, MemSpace space, bool marks);
/* What a narrow load of `bytes` at byte `offset` of a word makes of the word's undefined bytes. */
uint8_t undefined_narrowed(uint8_t undefined, uint32_t bytes, uint32_t offset);

#endif
