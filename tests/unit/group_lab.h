/* group_lab.h - a Lab of lane groups: programs with convergence barriers on one SM.
 * Fermi SASS has no convergence barriers: the tests write them as "BSSY 1, label", "BSYNC 1", "BREAK 1", "YIELD",
 * "WARPSYNC R1", "NANOSLEEP 100" and "BAR.SYNC.UNALIGNED 0", which are parsed as other instructions of the same shape
 * and then changed. */
#ifndef LOCKSTEP_TESTS_GROUP_LAB_H
#define LOCKSTEP_TESTS_GROUP_LAB_H

#include "tests/unit/lab.h"

enum { GROUP_LAB_ORDERS = 2 };
/* taken-first, fallthrough-first: of sm.simt_stack.branch_order. */
extern const char *const group_lab_orders[GROUP_LAB_ORDERS];

/* A spin lock on word 0 of the buffer: what stands in its loop, and before its critical section. Word 1 counts who
 * was in it, word 2 + n is the lane that came as number n. */
#define SPIN(yield, before_section)                                                                               \
  "MOV R1, c[0x0][0x20]; MOV R2, 1; BSSY 0, end; loop: " yield "; ATOM.CAS R3, [R1], RZ, R2; "                    \
  "ISETP.NE P3, PT, R3, RZ, PT; @P3 BRA loop; end: BSYNC 0; " before_section "; LD R4, [R1+0x4]; SHL R5, R4, 2; " \
  "IADD R5, R5, R1; ST [R5+0x8], R0; IADD R4, R4, 1; ST [R1+0x4], R4; ATOM.EXCH R6, [R1], RZ; EXIT"

/* One block whose lanes stand before the first instruction. R0 is the lane; P0 holds in lanes 0 and 1, P1 in 0 and 2,
 * P2 in 3 of each warp. A buffer of 64 words is the argument. */
Lab *group_lab_new(const char *settings, const char *text, uint32_t threads);

#endif
