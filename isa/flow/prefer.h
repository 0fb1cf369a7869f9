/* prefer.h - which registers ptxas chooses while there is room, beyond what liveness asks for. Private to isa/.
 *
 * It spends registers to hide latency, since up to 32 of them cost no occupancy. So a row is in use for longer than
 * its value is wanted: what depends on nothing is loaded where the block first waits, or at its top if it takes long
 * to come, and what an access reads isn't written soon. And two operands of an instruction come from different banks,
 * which are the even and the odd registers. Seen in the machine code of ptxas 13.0 for sm_90. */
#ifndef LOCKSTEP_ISA_FLOW_PREFER_H
#define LOCKSTEP_ISA_FLOW_PREFER_H

#include "isa/flow/classes.h"

typedef struct Prefer {
  const VKernel *vkernel;
  const Flow *flow;
  Classes *classes;
  uint32_t *waits;    /* of each block: its first instruction that waits for a value, or UINT32_MAX */
  GArray *neighbours; /* those of a class in a row */
  uint8_t *placed;    /* of each class */
} Prefer;

/* The classes are joined; their spans grow. */
void prefer_init(Prefer *prefer, const VKernel *vkernel, const Flow *flow, Classes *classes);
void prefer_clear(Prefer *prefer);

/* 1: the class of one row wants an odd row; 0: an even one; -1: any. By the classes that have their rows already. */
int prefer_parity(const Prefer *prefer, uint32_t root, const uint32_t *rows);

/* When a constant that instruction `i` brings to memory is in its register. */
Span prefer_constant_span(const Prefer *prefer, uint32_t i);
/* When operands of access `i` are read, half open. */
Span prefer_access_span(const Prefer *prefer, uint32_t i);
/* True if the access reads a pair that soon gets a new value from its old one, which an address in a loop does: the
 * access has a copy. */
bool prefer_copies_address(const Prefer *prefer, uint32_t i);

#endif
