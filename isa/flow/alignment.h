/* alignment.h - of what power of two each register is a multiple, up to 16. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_ALIGNMENT_H
#define LOCKSTEP_ISA_FLOW_ALIGNMENT_H

#include "isa/flow/virtual_view.h"

enum { ALIGNMENT_MAX = 16 };

/* Of each virtual register's first row, by all instructions that write it; 1 where it isn't known. Free with
 * g_free(). */
uint8_t *alignment_new(const VKernel *vkernel);

#endif
