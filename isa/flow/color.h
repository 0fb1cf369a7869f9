/* color.h - places for the registers and predicates of a virtual kernel. Private to isa/.
 *
 * Registers that moves join (and the parts of vectors) become one class if they never hold two values that are wanted
 * at once. Classes are given the lowest free row, aligned to their size, in the order in which they are first
 * written: for code without branches and single rows that is optimal. R1 stays free: it is the stack pointer of the
 * ABI. */
#ifndef LOCKSTEP_ISA_FLOW_COLOR_H
#define LOCKSTEP_ISA_FLOW_COLOR_H

#include "isa/flow/live_range.h"

enum {
  COLOR_ROWS_MAX = 1024, /* where counting ends: more than any machine has */
  COLOR_ROOM = 30, /* so many cost no occupancy, with the program counter: there ptxas chooses what it prefers */
};

typedef struct Colors {
  uint32_t *row;         /* of each virtual register */
  uint32_t nrows;        /* rows in use; COLOR_ROWS_MAX: that many or more */
  uint32_t uniform_rows; /* so many more, which only uniform registers have */
  uint32_t *predicate;   /* the number of each virtual predicate; PRED_SINK: it found no place */
} Colors;

/* With `prefer`, the flow graph, registers are chosen as ptxas does while there is room: what is stored is odd, and
 * what an access reads isn't written soon after.
 * `keep` (virtual predicates; may be NULL) tells which of them must have a place: others give way to them.
 * `uniform` (virtual registers; may be NULL) tells which of them are uniform registers (uniform.h). */
void colors_init(Colors *colors, const VKernel *vkernel, const LiveRanges *ranges, const Flow *prefer,
                 const uint8_t *keep, const uint8_t *uniform);
void colors_clear(Colors *colors);

#endif
