/* cfg.h - control flow graph, post-dominators, reconvergence points and liveness of a kernel. */
#ifndef LOCKSTEP_ISA_FLOW_CFG_H
#define LOCKSTEP_ISA_FLOW_CFG_H

#include "base/diag.h"
#include "isa/flow/liveness.h"
#include "isa/program.h"

/* A basic block: instructions first..last; up to two successors (NO_TARGET: none), and the virtual exit. A `.S`
 * instruction, BRK, CONT and RET end a block; their successors are the targets that the enclosing SSY/PBK/PCNT/CAL
 * can name (found by a forward walk that carries the stack of targets). */
typedef struct CfgBlock {
  uint32_t first, last;
  GArray *successors;   /* uint32_t block indices */
  GArray *predecessors; /* uint32_t */
  bool exits;           /* an edge to the virtual exit */
  bool reachable;       /* some path from the first instruction leads here */
  int32_t ipdom;        /* immediate post-dominator block, or NO_TARGET for the virtual exit */
} CfgBlock;

typedef struct Cfg {
  GPtrArray *blocks;  /* CfgBlock * in order of `first` */
  uint32_t *block_of; /* block index of each instruction */
} Cfg;

static inline const CfgBlock *cfg_block(const Cfg *cfg, uint32_t block) {
  return g_ptr_array_index(cfg->blocks, block);
}

Cfg *cfg_new(const Kernel *kernel);
void cfg_free(Cfg *cfg);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cfg, cfg_free)

/* Fills Inst.reconv of each BRA (within its function: a CAL goes on behind it, a RET leaves), INST_JOIN_TARGET,
 * INST_MAYBE_UNSET and INST_LEAVES. */
void cfg_annotate(Kernel *kernel);

/* An instruction from which a path from the kernel's first instruction runs past the last one, or NO_TARGET. */
int32_t cfg_past_end(const Kernel *kernel);

/* The graph in DOT: a node for each block with its instructions, an edge for each successor, dashed edges from each
 * branch to its reconvergence point. Free with g_free. */
char *cfg_dot(const Program *program, const Kernel *kernel);

Liveness cfg_liveness(const Kernel *kernel);

#endif
