/* flow.h - the flow graph of a kernel in flat arrays: what the analyses of isa/ run on. Private to isa/; others use
 * cfg.h.
 * Models the flow of one lane: a `.S`, BRK, CONT or RET leads to the targets that an enclosing SSY, PBK, PCNT or CAL
 * can name. They are found by a walk that carries the stack of targets.
 * Limits: a block is walked under at most 64 different stacks, stacks of more than 64 entries lose the newest, and a
 * push of what a stack already holds goes back to that entry. Where one of these may lose an edge, `incomplete` says
 * so. */
#ifndef LOCKSTEP_ISA_FLOW_FLOW_H
#define LOCKSTEP_ISA_FLOW_FLOW_H

#include "isa/program.h"

/* Edges in compressed rows: those of block b are to[start[b]] .. to[start[b + 1] - 1]. */
typedef struct FlowEdges {
  uint32_t *start, *to;
} FlowEdges;

typedef struct Flow {
  uint32_t nblocks;
  uint32_t *first;    /* nblocks + 1; first[nblocks] is the number of instructions */
  uint32_t *block_of; /* of each instruction */
  FlowEdges out, in;
  uint8_t *exits;     /* an edge to the virtual exit */
  uint8_t *reachable; /* from the first instruction */
  bool incomplete;    /* a limit cut the walk: edges of `.S`, BRK, CONT and RET may be missing */
  int32_t past_end;   /* an instruction from which a reachable path leaves the kernel at its end, or NO_TARGET */
} Flow;

void flow_init(Flow *flow, const Kernel *kernel);
void flow_clear(Flow *flow);
/* The same graph within each function: a CAL goes on behind it, a RET leaves by the virtual exit. Lanes that call on
 * both sides of a branch meet in the function, but don't rejoin there. Only for post-dominators. */
void flow_init_within_functions(Flow *local, const Flow *flow, const Kernel *kernel);

/* The immediate post-dominator of each block, NO_TARGET for the virtual exit. Blocks that can't reach an exit get one
 * at the last block of their loop. Lengauer and Tarjan, O(edges log blocks). Free with g_free. */
int32_t *flow_postdominators(const Flow *flow);

#endif
