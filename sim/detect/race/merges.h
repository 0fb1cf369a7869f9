/* merges.h - PRMTs that put bytes of one value beside bytes of another, each in its place, as ptxas does where 16
 * bits of a word change. */
#ifndef LOCKSTEP_DETECT_RACE_MERGES_H
#define LOCKSTEP_DETECT_RACE_MERGES_H

#include "isa/flow/cfg.h"

/* True if a PRMT at `pc` whose bytes `operand` chooses leaves each byte that it takes from its first value where
 * it is: the operand is such a constant, or a register that is one, or a choice of such ones, on every way to
 * `pc`. */
bool merges_keeps_places(const Kernel *kernel, const Cfg *cfg, uint32_t pc, int16_t operand);

#endif
