/* lock_unit.h - the lock bits beside one SM's shared memory (Li et al., section 3; US patent 8375176).
 * Models: lock_unit.bits bits; the bit of a word is (physical byte address >> low_bit) mod bits; LDSLK of a free bit
 * takes it for exactly one lane; STSUL frees it whoever holds it, STSCUL (lock_unit.conditional_unlock) only if it is
 * held. No latency of its own: it is read with the data.
 * Does not model: ownership. Owners are kept for findings only, and nothing reads them to decide what happens.
 * All resident blocks of the SM share the bits. Bits are set free when the machine starts. */
#ifndef LOCKSTEP_MEMORY_LOCK_UNIT_H
#define LOCKSTEP_MEMORY_LOCK_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/machine/machine.h"
#include "sim/memory/thread_id.h"

typedef struct LockBit {
  uint64_t since;   /* cycle in which it was taken */
  ThreadId owner;   /* who took it; meaningless while free */
  uint32_t address; /* physical byte address it was taken for */
  uint32_t pc;      /* the LDSLK */
  bool held;
  bool ever_taken;
} LockBit;

typedef struct LockUnit {
  LockBit *bit;
  uint32_t bits, low_bit;
  uint32_t mask;     /* bits - 1 if bits is a power of two, else 0 */
  uint32_t distinct; /* bits ever taken */
} LockUnit;

void lock_unit_init(LockUnit *unit, const Machine *machine);
void lock_unit_clear(LockUnit *unit);
/* Kernel launch: all bits become free (guess, SEMANTICS "Lock unit"). */
void lock_unit_release_all(LockUnit *unit);

/* True if the machine has STSCUL: a bit that is taken may be what somebody waits for. */
static inline bool lock_unit_is_conditional(const Machine *machine) {
  return machine->sm.lock_unit.conditional_unlock != CONDITIONAL_UNLOCK_NONE;
}

/* The lock bit of a physical byte address. */
static inline uint32_t lock_unit_index(const LockUnit *unit, uint32_t address) {
  uint32_t index = address >> unit->low_bit;
  return unit->mask ? (index & unit->mask) : index % unit->bits;
}

/* True if the caller took the bit; then it is recorded as the owner. */
static inline bool lock_unit_try(LockUnit *unit, uint32_t address, ThreadId who, uint32_t pc, uint64_t now) {
  LockBit *bit = &unit->bit[lock_unit_index(unit, address)];
  if (bit->held)
    return false;
  unit->distinct += !bit->ever_taken;
  *bit = (LockBit){.since = now, .owner = who, .address = address, .pc = pc, .held = true, .ever_taken = true};
  return true;
}

#endif
