/* unknown_bits.h - which bits of a result depend on bits of its operands that have no value.
 * Models: logic and permutations bit by bit; shifts and bit fields by a known amount move unknown bits as they move
 * values; of a sum or product of words the bits from the lowest unknown one on, since carries go upwards; halves of
 * pairs apart. What else computes has no known bit if an operand has an unknown one.
 * Pure functions of one lane; exec_undefined.c calls them for each. */
#ifndef LOCKSTEP_CORE_UNKNOWN_BITS_H
#define LOCKSTEP_CORE_UNKNOWN_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/program.h"

/* One lane's words of operands a, b and c. */
typedef struct UnknownOperands {
  uint32_t value[3], unknown[3];
  bool carry; /* a source predicate that is added has no value */
} UnknownOperands;

/* Whether unknown_bits() knows the instruction's opcode: it writes one word. */
bool unknown_bits_has(const Inst *inst);
uint32_t unknown_bits(const Inst *inst, const UnknownOperands *operands);
/* Of 32 lanes: where a function of three predicates by its table depends on those that are unknown. */
uint32_t unknown_truths(uint32_t table, const uint32_t value[3], const uint32_t unknown[3]);

#endif
