/* program.h - the one internal form of a program: kernels of fixed-size decoded instructions.
 *
 * Every front end produces it; executing an instruction never looks at text.
 * Operands: a value operand is an index into the rows a warp sees. Index >= 0 is a register of the lane (row
 * `index` of the warp's register file); index < 0 is row ~index of the kernel's constant table (immediates, RZ, words
 * of the constant bank), filled at launch. A destination RZ is row `nregs`, the sink, which is never read.
 * Predicates 0-6 are P0-P6, 7 is PT (always true), 8 is the sink of discarded results, 9 the carry (CC).
 * Ownership: a Program owns everything below it and is immutable once a front end has returned it. */
#ifndef LOCKSTEP_ISA_PROGRAM_H
#define LOCKSTEP_ISA_PROGRAM_H

#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/opcode.h"

enum {
  PRED_TRUE = 7,
  PRED_SINK = 8,
  PRED_CARRY = 9,
  PRED_ROWS = 10,
  SASS_REGISTERS_MAX = 63, /* R0..R62; 63 is RZ */
  NO_TARGET = -1,
};

typedef enum { CMP_F, CMP_LT, CMP_EQ, CMP_LE, CMP_GT, CMP_NE, CMP_GE, CMP_T,
               CMP_LTU, CMP_EQU, CMP_LEU, CMP_GTU, CMP_NEU, CMP_GEU, CMP_NUM, CMP_NAN } CmpOp;
typedef enum { LOP_AND, LOP_OR, LOP_XOR, LOP_PASS_B } LogicOp;
typedef enum { TYPE_S32, TYPE_U32, TYPE_F32 } DataType;
typedef enum { WIDTH_32, WIDTH_U8, WIDTH_S8, WIDTH_U16, WIDTH_S16, WIDTH_64, WIDTH_128 } MemWidth;
typedef enum { CACHE_DEFAULT, CACHE_CA, CACHE_CG, CACHE_CS, CACHE_CV, CACHE_WB, CACHE_WT } CacheOp;
typedef enum { ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_CAS } AtomOp;
typedef enum { VOTE_ALL, VOTE_ANY, VOTE_EQ } VoteMode;
typedef enum { BAR_SYNC, BAR_ARV, BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR } BarMode;
typedef enum { FENCE_CTA, FENCE_GL, FENCE_SYS } FenceScope;
typedef enum { ROUND_TRUNC, ROUND_FLOOR, ROUND_CEIL, ROUND_NEAREST } RoundMode;
typedef enum { SR_LANEID, SR_TID_X, SR_TID_Y, SR_TID_Z, SR_CTAID_X, SR_CTAID_Y, SR_CTAID_Z, SR_NTID_X, SR_NTID_Y,
               SR_NTID_Z, SR_NCTAID_X, SR_NCTAID_Y, SR_NCTAID_Z, SR_WARPID, SR_NWARPID, SR_SMID, SR_NSMID,
               SR_CLOCKLO, SR_CLOCKHI, SR_LANEMASK_EQ, SR_LANEMASK_LT, SR_LANEMASK_LE, SR_LANEMASK_GT,
               SR_LANEMASK_GE, SR_COUNT } SpecialReg;

/* Inst.flags */
enum {
  INST_GUARD_NOT = 1u << 0,   /* the guard predicate is negated */
  INST_POP = 1u << 1,         /* `.S`: execute, then pop the SIMT stack */
  INST_NEG_A = 1u << 2, INST_NEG_B = 1u << 3, INST_NEG_C = 1u << 4,
  INST_ABS_A = 1u << 5, INST_ABS_B = 1u << 6,
  INST_INV_A = 1u << 7, INST_INV_B = 1u << 8, /* LOP: ~operand */
  INST_HI = 1u << 9,          /* IMUL/IMAD high half */
  INST_SAT = 1u << 10,
  INST_CARRY_IN = 1u << 11, INST_CARRY_OUT = 1u << 12, /* .X, .CC */
  INST_WRAP = 1u << 13,       /* SHL/SHR .W */
  INST_BF = 1u << 14,         /* ISET .BF */
  INST_SH = 1u << 15,         /* FLO .SH */
  INST_FTZ = 1u << 16,
  INST_ADDR64 = 1u << 17,     /* LD.E ...: the address is a register pair */
  INST_HAS_COUNT = 1u << 18,  /* BAR with a thread count (operand b) */
  INST_JOIN_TARGET = 1u << 19,/* some SSY names this instruction, or a branch reconverges here: look at the stack before it */
  INST_UNIFORM = 1u << 20,    /* BRA.U */
  INST_MAYBE_UNSET = 1u << 21,/* reads a register or predicate that some path leaves unwritten (set by cfg_annotate) */
  INST_MARKS = 1u << 22,      /* a `.mark` stands before this instruction; see Kernel.marks */
};

/* One decoded instruction. Which fields mean something depends on OpInfo.form; the others are zero, with
 * predicates PRED_TRUE (read) or PRED_SINK (written), so that two instructions can be compared byte by byte. */
typedef struct Inst {
  uint16_t op;          /* Opcode */
  uint8_t guard;        /* predicate 0-7 */
  uint8_t pdst, pdst2;  /* predicates written */
  uint8_t psrc[3];      /* predicates read */
  uint8_t psrc_not;     /* bit i: psrc[i] is negated */
  uint8_t cmp;          /* CmpOp */
  uint8_t lop, lop2;    /* LogicOp */
  uint8_t type;         /* DataType */
  uint8_t width;        /* MemWidth */
  uint8_t cache;        /* CacheOp */
  uint8_t mode;         /* AtomOp, VoteMode, BarMode, FenceScope, RoundMode, SpecialReg or the shift of ISCADD */
  uint32_t flags;       /* INST_* */
  int16_t dst;          /* register row; nregs is the sink */
  int16_t a, b, c;      /* value operands; memory forms: a is the address register */
  int32_t imm;          /* address offset in bytes */
  int32_t target;       /* index of the target instruction in the kernel, or NO_TARGET */
  int32_t reconv;       /* BRA: index of the immediate post-dominator, or NO_TARGET if there is none */
  uint32_t address;     /* address in the listing, or 8 * index if it had none */
  uint32_t line, column;/* where in the source, from 1 */
  uint32_t reserved[3];
} Inst;
static_assert(sizeof(Inst) == 64, "Inst is one cache line");

/* A row of a kernel's constant table. */
typedef struct ConstRef {
  enum { CONST_IMMEDIATE, CONST_BANK } kind;
  uint32_t value; /* the immediate's bits, or the byte offset in c[0x0] */
} ConstRef;

/* `.mark n` before instruction `pc`: fires when a warp issues that instruction, and costs nothing. */
typedef struct Mark {
  uint32_t pc, number;
} Mark;

/* A label or other name for an instruction; the printer uses it. */
typedef struct Label {
  char *name;
  uint32_t pc;
} Label;

typedef struct Kernel {
  char *name;
  uint32_t line;
  Inst *insts;
  uint32_t ninsts;
  uint32_t nregs;        /* rows of the register file a lane needs; .reg raises it */
  uint32_t shared_bytes; /* static shared memory (.shared) */
  ConstRef *consts;
  uint32_t nconsts;
  Mark *marks;
  uint32_t nmarks;
  Label *labels;
  uint32_t nlabels;
} Kernel;

/* A directive that gives a bare program its launch: `.grid`, `.block`, `.buffer`, `.arg`, `.expect`, `.findings`,
 * `.name`. Kept as text with its place; sim/scenario evaluates it. */
typedef struct LaunchDirective {
  char *name;   /* without the dot */
  char *text;   /* the rest of the line, comments removed, trimmed */
  uint32_t line, column; /* of `text` */
  uint32_t kernel;       /* index of the kernel it stands in */
} LaunchDirective;

typedef enum { DIALECT_FERMI_SASS, DIALECT_PTX } Dialect;

typedef struct Program {
  char *file;        /* as the user named it */
  Dialect dialect;
  uint32_t target_sm; /* 20 for sm_20 */
  GPtrArray *kernels; /* Kernel * */
  GPtrArray *launch;  /* LaunchDirective * */
  char **lines;       /* the source, line by line, NULL-terminated; for findings; program_set_source() fills it */
  uint32_t nlines;
} Program;

Program *program_new(const char *file, Dialect dialect);
void program_free(Program *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Program, program_free)

/* Keeps a copy of the source for program_source_line(). */
void program_set_source(Program *program, const char *text, gsize length);

Kernel *program_kernel(const Program *program, guint index);
/* The kernel of that name, or NULL. */
Kernel *program_find_kernel(const Program *program, const char *name);
/* Source line `line` (from 1) with white space at both ends removed, or "" if there is none. Newly allocated. */
char *program_source_line(const Program *program, unsigned line);

/* True if both programs have the same kernels, instruction for instruction, places in the text and raw addresses
 * aside (targets compare by index). */
bool program_equal(const Program *a, const Program *b);

/* The registers an instruction reads and writes, for scoreboard, liveness and slicing. Rows, not counting constants;
 * 64- and 128-bit accesses name each register of the group. `count` is at most 8. */
typedef struct RegList {
  uint8_t count;
  int16_t reg[8];
} RegList;
RegList inst_reads(const Inst *inst);
RegList inst_writes(const Inst *inst, uint32_t nregs);
/* Masks of predicate numbers (bit 0 = P0 ... bit 9 = CC), PT and the sink left out. The guard counts as read. */
uint32_t inst_pred_reads(const Inst *inst);
uint32_t inst_pred_writes(const Inst *inst);
/* True if the instruction writes only some lanes of its destinations (guard other than PT). */
bool inst_is_guarded(const Inst *inst);

#endif
