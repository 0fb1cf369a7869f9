/* virtual.h - a kernel whose registers aren't allocated yet: what isa/lower/ptx_lower.c makes of PTX, and the passes
 * that make a Kernel of it for one machine. Private to isa/.
 *
 * Instructions are Insts whose operands stand beside them as virtual numbers: any number of registers of one, two or
 * four consecutive rows, and of predicates. Branch targets are indices into `insts`.
 * Passes, in this order: vkernel_early_exits(); vkernel_fold_copies() (copies.h), vkernel_unroll() (unroll.h) and
 * vkernel_converge() and vkernel_straighten() on machines with convergence barriers, else vkernel_lockstep();
 * vkernel_allocate(). */
#ifndef LOCKSTEP_ISA_FLOW_VIRTUAL_H
#define LOCKSTEP_ISA_FLOW_VIRTUAL_H

#include <glib.h>

#include "base/diag.h"
#include "isa/program.h"

enum {
  VREG_SINK = INT32_MAX, /* a destination nobody reads */
  VPRED_TRUE = -1,       /* PT */
  VPRED_SINK = -2,
};

typedef struct VInst {
  Inst inst;            /* everything but register and predicate numbers; `target` is an index into VKernel.insts */
  int32_t dst, a, b, c; /* >= 0: virtual register; < 0: row ~x of kernel->consts; VREG_SINK (dst only) */
  /* Which row of a register the operand begins with: 1 is the high word of a pair. */
  uint8_t a_row, b_row, c_row, dst_row;
  int32_t guard;       /* virtual predicate or VPRED_TRUE */
  int32_t pdst, pdst2; /* virtual predicate or VPRED_SINK */
  int32_t psrc[3];     /* virtual predicate or VPRED_TRUE */
  bool shifted;        /* it was a shift before vkernel_narrow() */
  bool rolled;         /* ptxas is told not to unroll the loop whose first block it is in, or has done so */
  bool apart;          /* in the first block of a loop whose lanes may be in different rounds (apart.h) */
  bool together;       /* a branch, which all lanes take alike, as vkernel_converge() finds */
  bool own; /* guarded: what it writes is read behind it under the same guard only, and lives in no other way */
} VInst;

typedef struct VKernel {
  Kernel *kernel;  /* name, consts, params, marks (pc: index into insts) ...; insts and nregs come with allocation */
  GArray *insts;   /* VInst */
  GArray *rows;    /* uint8_t: rows of each virtual register: 1, 2 or 4 */
  uint32_t npreds; /* virtual predicates */
  bool uniform_datapath; /* the GPU has uniform registers: sm_75 and newer */
  bool drops_atomics;    /* an EXCH or CAS on global memory whose result nobody reads has no register */
  bool hands_out_local;  /* generic addresses may be of local memory: some are made of it */
  bool loads_bases;      /* 64 bits of the constant bank come by LDC: sm_90 and newer */
} VKernel;

VKernel *vkernel_new(Kernel *kernel);
void vkernel_free(VKernel *vkernel); /* and the kernel, unless it was taken */
int32_t vkernel_register(VKernel *vkernel, uint8_t rows);
int32_t vkernel_predicate(VKernel *vkernel);
/* A VInst of `op` that reads and writes nothing: predicates PT and sink, no target. */
VInst vinst_new(Opcode op);
/* Gives it the place of another instruction in the source. */
void vinst_set_place(VInst *vinst, const Inst *place);

/* How many rows each value operand has; 0: the form or mode has no such operand. */
typedef struct VOperands {
  uint8_t dst, a, b, c;
} VOperands;
VOperands vinst_operands(const VInst *vinst);

/* Registers that an instruction reads and writes, as (register, first row, rows); at most 8. */
typedef struct VRegUse {
  int32_t reg;
  uint8_t row, rows;
} VRegUse;
unsigned vinst_reads(const VInst *vinst, VRegUse uses[8]);
unsigned vinst_writes(const VInst *vinst, VRegUse uses[8]);

/* A branch to an EXIT is that EXIT, as ptxas has it: lanes that return early are gone, and no barrier waits for them
 * or misses them. */
void vkernel_early_exits(VKernel *vkernel);

/* Volta and later: puts BSSY and BSYNC around the branches that may diverge, YIELD where ptxas puts it, and takes
 * WARPSYNCs away where the warp is provably converged (SEMANTICS, "Convergence barriers"). Says which atomic
 * operations a warp makes one (merge.h). `capability`: 75, 86, 90 ... `yields`: the program is for sm_70 or newer;
 * ptxas gives an older one no YIELD, on no GPU. */
void vkernel_converge(VKernel *vkernel, unsigned capability, bool yields);

/* A branch over a branch is one with the opposite guard, if lanes don't part there (VInst.together), and a branch to
 * a branch goes where that goes, as ptxas has it. */
void vkernel_straighten(VKernel *vkernel);

/* The mask of a WARPSYNC that stands in a register, since nvcc moves it there first, becomes a constant again. */
void vkernel_fold_masks(VKernel *vkernel);

/* Before Volta: takes WARPSYNCs away, since the lanes that execute one are together (INST_SYNCED). Those stay that
 * the next instruction can't stand for: what is guarded, what a branch passes by, and what has a mask that would be
 * lost. */
void vkernel_lockstep(VKernel *vkernel);

/* Allocates rows by liveness (graph colouring; moves between registers that don't interfere disappear) and
 * predicates, sets nregs and INST flags (cfg_annotate). Registers beyond `max_registers` (Kernel.hidden_registers
 * among them) are spilled to local memory (Kernel.spill_bytes). Returns the
 * kernel, owned by the caller; NULL after an error (too many predicates, or registers in one instruction: the place
 * and the number). */
Kernel *vkernel_allocate(VKernel *vkernel, unsigned max_registers, const char *file, Diag *diag);

#endif
