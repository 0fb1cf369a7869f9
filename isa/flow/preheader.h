/* preheader.h - a place of its own before each loop, for what runs once and not in each round. Private to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_PREHEADER_H
#define LOCKSTEP_ISA_FLOW_PREHEADER_H

#include "isa/flow/virtual_view.h"

/* Puts a NOP before each loop's header: those who come into the loop pass by it, those who go round don't. Two loops
 * that share a header come apart: nvcc writes `for (...) while (!lock);` with one label for both. */
void preheaders_insert(VKernel *vkernel);

#endif
