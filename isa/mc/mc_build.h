/* mc_build.h - what the files of the lowering share: the kernel that is built, operands as rows, emission. Private to
 * them.
 *
 * While a kernel is built, rows of uniform registers are MC_ROW_UNIFORM + n, rows between parts MC_ROW_SCRATCH + n,
 * and the sink MC_ROW_SINK; mc_lower.c numbers them when it knows how many registers there are. */
#ifndef LOCKSTEP_ISA_MC_MC_BUILD_H
#define LOCKSTEP_ISA_MC_MC_BUILD_H

#include "base/diag.h"
#include "isa/mc/mc_issue.h"
#include "isa/mc/mc_tree.h"
#include "isa/program.h"

enum {
  MC_ROW_UNIFORM = 256,
  MC_ROW_SCRATCH = 512,
  MC_ROW_RESULT = 768, /* what the last BAR.RED.POPC gave, until B2R takes it */
  MC_ROW_SINK = 1024,
  MC_SCRATCH_MAX = 16,
  MC_UNIFORM_PREDICATES = 10, /* UP0 */
  MC_SCRATCH_PREDICATES = 18, /* and on */
  MC_RESULT_PREDICATE = 17,   /* what the last BAR.RED.AND or .OR gave, until B2R takes it */
};

typedef struct McBuild {
  const McModule *module;
  const McKernel *source;
  Program *program;
  Kernel *kernel;
  unsigned sm;
  GArray *insts;       /* Inst */
  GArray *control;     /* uint32_t, of each Inst */
  GArray *consts;      /* ConstRef */
  GHashTable *known;   /* of constants: key -> 1 + index */
  GArray *jumps;       /* uint32_t: byte addresses that a BRX may go to */
  int missing_bank;    /* a constant bank that it reads and the module has no data of; 0: none */
  GHashTable *refused; /* interned name -> uses */
  int top_register, top_uniform, scratch_rows; /* how many of each are used */
  bool uses_result;                            /* there is a row MC_ROW_RESULT */
  bool calls_pointers;                         /* nobody knows how deep its stack gets */
  bool encoded;                                /* all instructions have encodings */
  McReuse reuse;                               /* what the instructions so far have left */
  /* of the instruction that is lowered: */
  const McInst *inst;
  uint32_t index; /* in the kernel */
  uint32_t first; /* its first Inst */
  int scratch, scratch_predicates;
  uint8_t guard;
  bool guard_not;
  bool failed;      /* it isn't modelled */
  bool raises_each; /* its accesses raise its scoreboards, each of them, instead of its last part */
} McBuild;

typedef bool (*McLowerer)(McBuild *build);
/* The function for a root, or NULL. */
McLowerer mc_lowerer(const char *root);

/* ---- modifiers ---- */
bool mc_has(const McBuild *build, const char *modifier);
/* The instruction isn't modelled. Returns false. */
bool mc_refuse(McBuild *build);
/* False if it has a modifier that isn't among those (NULL at the end). */
bool mc_only(const McBuild *build, ...) G_GNUC_NULL_TERMINATED;

/* The CmpOp that a modifier names, or -1. */
int mc_comparison(const McBuild *build);

/* ---- operands ---- */
guint mc_count(const McBuild *build);
/* Operand `index`; one that says nothing (RZ, PT) beyond the last. */
const McOperand *mc_at(const McBuild *build, guint index);
bool mc_is_register(const McOperand *operand); /* or a uniform one */
bool mc_is_predicate(const McOperand *operand);
/* Rows of a value of 32 or 64 bits: a register, an immediate (of a float: its bits), a word of a constant bank. A
 * minus or bars aren't looked at. MC_BAD after mc_refuse(). */
int16_t mc_value(McBuild *build, const McOperand *operand);
int16_t mc_pair(McBuild *build, const McOperand *operand);
/* The same with the bits of a float (double) for an integer or real immediate. */
int16_t mc_float(McBuild *build, const McOperand *operand);
int16_t mc_double(McBuild *build, const McOperand *operand);
/* A register to be written: of 32 bits, of `words` words. */
int16_t mc_destination(McBuild *build, const McOperand *operand, unsigned words);
int16_t mc_constant(McBuild *build, uint32_t value);
int16_t mc_constant_pair(McBuild *build, uint64_t value);
/* A predicate to be written: PRED_SINK for PT. */
uint8_t mc_predicate_out(const McOperand *operand);
/* Source predicate `index` of `inst`; `operand` NULL: false. */
void mc_predicate_in(Inst *inst, unsigned index, const McOperand *operand);

/* ---- instructions ---- */
/* A blank instruction with the guard. */
Inst mc_blank(const McBuild *build, Opcode op);
/* Appends it; it issues with the one that is appended next for this instruction. */
void mc_emit(McBuild *build, const Inst *inst);
/* A row, a pair of rows, a predicate for a value between parts. */
int16_t mc_scratch(McBuild *build, unsigned rows);
uint8_t mc_scratch_predicate(McBuild *build);
/* A value with its minus, bars or tilde applied by an instruction before (integers: two's complement; floats: the
 * sign bit). */
int16_t mc_signed_value(McBuild *build, const McOperand *operand);
int16_t mc_signed_float(McBuild *build, const McOperand *operand);
/* What is written is a uniform register: all lanes of the path get it if the guard holds in one of them. Row of a
 * mask of those in which it does; those that follow have the guard that is meant. */
int16_t mc_guard_path(McBuild *build);
/* The address of `inst` is that operand's; false after mc_refuse(). */
bool mc_address(McBuild *build, Inst *inst, const McOperand *memory, MemSpace space);
/* The instruction on shared memory, an access or an arrival, may go to another block of the cluster, if there are
 * several: it becomes `op`, by a generic address. */
void mc_reach_cluster(const McBuild *build, Inst *inst, Opcode op);
/* Index of the variable that holds that bank's bytes for the kernel, -1 without data. */
int mc_bank_variable(McBuild *build, int bank);
/* Rows of the address of a variable (a pair), and of what a symbol's address is. */
int16_t mc_symbol_pair(McBuild *build, uint32_t variable, uint32_t offset);

/* Index of the first instruction at that address, once all are there; -1 if none is. Until then a target is the
 * address. */
#define MC_BAD INT16_MIN

/* ---- lowerers, by root: mc_int.c, mc_vector.c, mc_float.c, mc_half.c, mc_memory.c, mc_async.c, mc_bulk.c,
 * mc_control.c, mc_warp.c ---- */
#define MC(root, function) bool function(McBuild *build);
#include "isa/mc/mc_ops.def"
#undef MC

#endif
