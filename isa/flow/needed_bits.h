/* needed_bits.h - which bits of a register can matter to what a kernel does (demanded bits, as compilers find them):
 * those that reach a branch, an address, a stored value or what a warp waits for. A counter that is read modulo 32
 * needs its low five bits, and one that is only counted needs none.
 * Method: backwards along the paths from the instructions that need all bits of what they read, until nothing
 * changes. An instruction that isn't known here needs all bits of its operands.
 * Ownership: the caller's, until needed_bits_clear(). */
#ifndef LOCKSTEP_ISA_FLOW_NEEDED_BITS_H
#define LOCKSTEP_ISA_FLOW_NEEDED_BITS_H

#include "isa/flow/regset.h"
#include "isa/program.h"

typedef struct NeededBits {
  uint32_t reg[REGSET_MAX]; /* of each register: at one instruction or another */
  uint32_t preds;           /* predicates that matter somewhere */
  uint32_t nregs;           /* of the kernel */
  uint32_t *before; /* [pc][register]: in front of that instruction; NULL: that isn't known, all of `reg` may be */
} NeededBits;

NeededBits needed_bits(const Kernel *kernel);
void needed_bits_clear(NeededBits *needed);

/* Those that matter to lanes that go on at that instruction, one number for each register of the kernel. */
static inline const uint32_t *needed_bits_before(const NeededBits *needed, uint32_t pc) {
  return needed->before ? &needed->before[(size_t)pc * needed->nregs] : needed->reg;
}

#endif
