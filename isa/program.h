/* program.h - the one internal form of a program: kernels of fixed-size decoded instructions.
 *
 * Every front end produces it; executing an instruction never looks at text.
 * Operands: a value operand is an index into the rows a warp sees. Index >= 0 is a register of the lane (row
 * `index` of the warp's register file); index < 0 is row ~index of the kernel's constant table (immediates, RZ, words
 * of the constant bank), filled at launch. A destination RZ is row `nregs`, the sink, which is never read; it has
 * SINK_ROWS rows.
 * A 64-bit value is two rows, the low one first: registers r and r + 1, constants ~i and ~(i + 1). Inst.wide says
 * which operands are. A destination pair is a source pair or disjoint from all of them. Values of 8 and 16 bits lie
 * in one row, extended as their type says.
 * Predicates 0-6 are P0-P6, 7 is PT (always true), 8 is the sink of discarded results, 9 the carry (CC); PTX has 10
 * to 31, too.
 * Addresses: global memory lies below 4 GiB. A generic address in [SHARED_WINDOW, SHARED_WINDOW + WINDOW_BYTES) is
 * byte (address - SHARED_WINDOW) of the block's shared memory, LOCAL_WINDOW the same of the lane's local memory.
 * Machine code makes the former of a byte of shared memory and a high word, which is SHARED_HIGH here (SR_SWINHI).
 * Ownership: a Program owns everything below it and is immutable once a front end has returned it. */
#ifndef LOCKSTEP_ISA_PROGRAM_H
#define LOCKSTEP_ISA_PROGRAM_H

#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "isa/opcode.h"

enum {
  PRED_TRUE = 7,
  PRED_SINK = 8,
  PRED_CARRY = 9,
  PRED_ROWS = 32,
  SASS_REGISTERS_MAX = 63, /* R0..R62; 63 is RZ */
  SINK_ROWS = 2,
  NO_TARGET = -1,
  CONVERGENCE_BARRIERS = 16, /* B0..B15 of a warp */
};
#define SHARED_WINDOW UINT32_C(0xe0000000)
#define SHARED_HIGH UINT32_C(0x7fff0000)
#define LOCAL_WINDOW UINT32_C(0xf0000000)
#define WINDOW_BYTES UINT32_C(0x08000000)
/* In a cluster (Kernel.ranked) an address of shared memory has the rank of its block above CLUSTER_RANK_SHIFT, as
 * sm_90 has it; the window has room for CLUSTER_BLOCKS_MAX of them. */
enum { CLUSTER_RANK_SHIFT = 24, CLUSTER_BLOCKS_MAX = 8 };

typedef enum {
  CMP_F,
  CMP_LT,
  CMP_EQ,
  CMP_LE,
  CMP_GT,
  CMP_NE,
  CMP_GE,
  CMP_T,
  CMP_LTU,
  CMP_EQU,
  CMP_LEU,
  CMP_GTU,
  CMP_NEU,
  CMP_GEU,
  CMP_NUM,
  CMP_NAN
} CmpOp;
typedef enum { LOP_AND, LOP_OR, LOP_XOR, LOP_PASS_B } LogicOp;
typedef enum {
  TYPE_S32,
  TYPE_U32,
  TYPE_F32,
  TYPE_S8,
  TYPE_U8,
  TYPE_S16,
  TYPE_U16,
  TYPE_S64,
  TYPE_U64,
  TYPE_F16,
  TYPE_F64,
  TYPE_BF16
} DataType;
/* True if the type is one of the four of floats. */
static inline bool type_is_float(DataType type) {
  return type == TYPE_F16 || type == TYPE_F32 || type == TYPE_F64 || type == TYPE_BF16;
}
/* How many bits a value of the type has. */
static inline unsigned type_bits(DataType type) {
  switch (type) {
  case TYPE_S8:
  case TYPE_U8: return 8;
  case TYPE_S16:
  case TYPE_U16:
  case TYPE_F16:
  case TYPE_BF16: return 16;
  case TYPE_S64:
  case TYPE_U64:
  case TYPE_F64: return 64;
  default: return 32;
  }
}
typedef enum { WIDTH_32, WIDTH_U8, WIDTH_S8, WIDTH_U16, WIDTH_S16, WIDTH_64, WIDTH_128 } MemWidth;
typedef enum { CACHE_DEFAULT, CACHE_CA, CACHE_CG, CACHE_CS, CACHE_CV, CACHE_WB, CACHE_WT } CacheOp;
typedef enum {
  ATOM_ADD,
  ATOM_MIN,
  ATOM_MAX,
  ATOM_INC,
  ATOM_DEC,
  ATOM_AND,
  ATOM_OR,
  ATOM_XOR,
  ATOM_EXCH,
  ATOM_CAS,
  ATOM_ARRIVE /* machine code: at a barrier in shared memory; Inst.lop says how: MBARRIER_* */
} AtomOp;

/* Lanes of a warp whose atomic operations go to memory as one, as ptxas writes them: values are those of each lane's
 * own one, in the order of the lanes (isa/flow/merge.h). */
typedef enum {
  MERGE_NONE,
  MERGE_COUNT, /* those that execute it are counted, since they all add the same */
  MERGE_REDUX, /* what they bring is reduced by one instruction */
  MERGE_WARP,  /* by shuffles, if all lanes of the warp execute it */
} MergeMode;
/* ATOM_ARRIVE: so many arrive: 1, as many as the operand says; the phase waits for that many more bytes, or fewer;
 * those who arrive take no part any more; the word is as sm_80 has it. */
enum {
  MBARRIER_ONE = 1,
  MBARRIER_COUNT = 2,
  MBARRIER_EXPECTS = 4,
  MBARRIER_COMPLETES = 8,
  MBARRIER_DROPS = 16,
  MBARRIER_BEFORE_HOPPER = 32
};
/* Inst.lop of ATOM_EXCH: 0, or the exchange gives an mbarrier its first word (sm_90: SYNCS.EXCH), as a plain store
 * does. */
enum { EXCH_INITS = 1 };
/* Inst.lop of LDS: 0, or a look at the phase of an mbarrier (sm_90: SYNCS.PHASECHK), or that of a try (.TRYWAIT). */
enum { LDS_CHECKS_PHASE = 1, LDS_TRIES_PHASE = 2 };
/* Inst.mode of ISETP: 0, or it says whether a try found the phase complete. */
enum { ISETP_OF_TRY = 1 };
/* IADD and IADD64 that make a generic address of one of shared memory, where the window's place has to be asked for
 * (sm_90: S2R of SR_SWINHI; older GPUs have it in the constant bank). */
enum { SUM_OF_WINDOW = 1 };
/* Inst.lop of LDGSTS: all bytes; zeros where psrc[0] is false; and in as many bytes at the end as the low bits of the
 * address say. */
typedef enum { COPY_ALL, COPY_OR_ZEROS, COPY_PART } CopyMode;
typedef enum { VOTE_ALL, VOTE_ANY, VOTE_EQ } VoteMode;
typedef enum { BAR_SYNC, BAR_ARV, BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR } BarMode;
/* CLUSTERBAR: it waits, or it arrives, as BAR_SYNC and BAR_ARV have it. */
typedef enum { CLUSTERBAR_WAIT = BAR_SYNC, CLUSTERBAR_ARRIVE = BAR_ARV } ClusterBarMode;
/* WARPSYNC: lanes of the mask meet wherever they are; or all lanes at this instruction, as ptxas has it before a
 * block barrier; or lanes of the mask at any WARPSYNC.COLLECTIVE, which execute what stands behind one of these
 * together, up to ENDCOLLECTIVE; or as the first, and lanes with other masks go on apart. */
typedef enum { WARPSYNC_ANY, WARPSYNC_ALL, WARPSYNC_COLLECTIVE, WARPSYNC_EXCLUSIVE } WarpsyncMode;
/* BRADIV: to its target if lanes of the mask are elsewhere, or if none are. */
typedef enum { BRANCH_DIVERGED, BRANCH_CONVERGED } BranchDivMode;
/* BRX: whether its register is one of each lane or of the warp. */
typedef enum { JUMP_OF_LANES, JUMP_OF_WARP } JumpMode;
/* BULKWAIT: until the lane's groups have been read, and whether what they wrote is known then. */
typedef enum { BULKWAIT_READ, BULKWAIT_WRITTEN } BulkWaitMode;
/* INIT: a release of what mbarrier.init did, for the cluster, which takes no time. */
typedef enum { FENCE_CTA, FENCE_GL, FENCE_SYS, FENCE_INIT } FenceScope;
/* It waits for accesses, and empties the L1. */
static inline bool fence_drains(unsigned scope) { return scope == FENCE_GL || scope == FENCE_SYS; }
typedef enum { ROUND_TRUNC, ROUND_FLOOR, ROUND_CEIL, ROUND_NEAREST } RoundMode;
typedef enum { FROUND_NEAREST, FROUND_ZERO, FROUND_DOWN, FROUND_UP } FloatRound; /* Inst.round */
typedef enum {
  MUFU_RCP,
  MUFU_RSQ,
  MUFU_SQRT,
  MUFU_SIN,
  MUFU_COS,
  MUFU_EX2,
  MUFU_LG2,
  MUFU_TANH,
  /* machine code: of x turns; the high words of 1 / x and 1 / sqrt(x) from that of x (f64) */
  MUFU_SIN_TURNS,
  MUFU_COS_TURNS,
  MUFU_RCP64H,
  MUFU_RSQ64H
} MufuFunction;
typedef enum { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX } ShflMode;
typedef enum { MATCH_ANY, MATCH_ALL } MatchMode;
typedef enum { PRMT_INDEX, PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 } PrmtMode;
typedef enum {
  TESTP_FINITE,
  TESTP_INFINITE,
  TESTP_NUMBER,
  TESTP_NOTANUMBER,
  TESTP_NORMAL,
  TESTP_SUBNORMAL
} TestpMode;
/* Where LD, ST, ATOM, RED, ISSPACEP go (Inst.space). PARAM: the kernel's parameters, from byte 0. */
typedef enum { MEM_GLOBAL, MEM_GENERIC, MEM_CONST, MEM_PARAM, MEM_SHARED, MEM_LOCAL } MemSpace;
/* The order of an access or fence (Inst.sem): weak and volatile accesses, then the strong ones of the PTX memory
 * model. */
typedef enum { SEM_WEAK, SEM_VOLATILE, SEM_RELAXED, SEM_ACQUIRE, SEM_RELEASE, SEM_ACQ_REL, SEM_SC } MemSem;
/* The threads that a strong access or a fence is strong for (Inst.scope; a MEMBAR has FenceScope in `mode`, too). */
typedef enum { SCOPE_GPU, SCOPE_CTA, SCOPE_SYS } MemScope;
/* Inst.wide: the operands that are 64-bit values. (Those of 128 bits are told by Inst.width.) */
enum { WIDE_DST = 1u << 0, WIDE_A = 1u << 1, WIDE_B = 1u << 2, WIDE_C = 1u << 3 };
typedef enum {
  SR_LANEID,
  SR_TID_X,
  SR_TID_Y,
  SR_TID_Z,
  SR_CTAID_X,
  SR_CTAID_Y,
  SR_CTAID_Z,
  SR_NTID_X,
  SR_NTID_Y,
  SR_NTID_Z,
  SR_NCTAID_X,
  SR_NCTAID_Y,
  SR_NCTAID_Z,
  SR_WARPID,
  SR_NWARPID,
  SR_SMID,
  SR_NSMID,
  SR_CLOCKLO,
  SR_CLOCKHI,
  SR_LANEMASK_EQ,
  SR_LANEMASK_LT,
  SR_LANEMASK_LE,
  SR_LANEMASK_GT,
  SR_LANEMASK_GE,
  SR_FERMI_COUNT,
  SR_CLOCK64 = SR_FERMI_COUNT,
  SR_GLOBALTIMER,
  SR_GLOBALTIMERLO,
  SR_GLOBALTIMERHI,
  SR_GRIDID,
  SR_SHARED_BYTES,
  SR_DYNAMIC_SHARED_BYTES,
  SR_ENVREG1,
  SR_ENVREG2,
  /* Of clusters of blocks, which lie in the grid as blocks of threads would: which one; how many there are; the
   * block's place in its own; how many blocks that has; the same as one number, x first; whether the launch has
   * clusters. */
  SR_CLUSTERID_X,
  SR_CLUSTERID_Y,
  SR_CLUSTERID_Z,
  SR_NCLUSTERID_X,
  SR_NCLUSTERID_Y,
  SR_NCLUSTERID_Z,
  SR_CLUSTER_CTAID_X,
  SR_CLUSTER_CTAID_Y,
  SR_CLUSTER_CTAID_Z,
  SR_CLUSTER_NCTAID_X,
  SR_CLUSTER_NCTAID_Y,
  SR_CLUSTER_NCTAID_Z,
  SR_CLUSTER_CTARANK,
  SR_CLUSTER_NCTARANK,
  SR_IS_CLUSTER,
  SR_COUNT
} SpecialReg;

/* True if what the register gives changes as time goes by. */
static inline bool special_is_clock(unsigned special) {
  return special == SR_CLOCKLO || special == SR_CLOCKHI || special == SR_CLOCK64 || special == SR_GLOBALTIMER ||
         special == SR_GLOBALTIMERLO || special == SR_GLOBALTIMERHI;
}

/* Inst.flags */
enum {
  INST_GUARD_NOT = 1u << 0, /* the guard predicate is negated */
  INST_POP = 1u << 1,       /* `.S`: execute, then pop the SIMT stack */
  INST_NEG_A = 1u << 2,
  INST_NEG_B = 1u << 3,
  INST_NEG_C = 1u << 4,
  INST_ABS_A = 1u << 5,
  INST_ABS_B = 1u << 6,
  INST_INV_A = 1u << 7,
  INST_INV_B = 1u << 8, /* LOP: ~operand */
  INST_HI = 1u << 9,    /* IMUL/IMAD high half */
  INST_SAT = 1u << 10,
  INST_CARRY_IN = 1u << 11,
  INST_CARRY_OUT = 1u << 12, /* .X, .CC */
  INST_WRAP = 1u << 13,      /* SHL/SHR .W */
  INST_BF = 1u << 14,        /* ISET .BF */
  INST_SH = 1u << 15,        /* FLO .SH */
  INST_OF_TWO = 1u << 13,    /* ATOM, RED: the first word of a vector of two, which is aligned as a whole */
  INST_OF_FOUR = 1u << 14,   /* ... of four */
  INST_OF_VECTOR = 1u << 15, /* ATOM, RED: a word of a vector behind its first: it takes no time of its own */
  INST_READ_ONLY = 1u << 15, /* LD of PTX: of memory that nothing writes while the kernel runs (ld.global.nc) */
  INST_FTZ = 1u << 16,
  INST_ADDR64 = 1u << 17,    /* LD.E ...: the address is a register pair */
  INST_HAS_COUNT = 1u << 18, /* BAR with a thread count (operand b) */
  INST_JOIN_TARGET =
      1u << 19, /* some SSY names this instruction, or a branch reconverges here: look at the stack before it */
  INST_UNIFORM = 1u << 20, /* BRA.U */
  INST_MAYBE_UNSET =
      1u << 21,             /* reads a register or predicate that some path leaves unwritten (set by cfg_annotate) */
  INST_MARKS = 1u << 22,    /* a `.mark` stands before this instruction; see Kernel.marks */
  INST_HAS_MASK = 1u << 23, /* VOTE: operand a is the member mask */
  /* While convergence barriers are placed: of the head of a loop, one of whose exits depends on what an atomic or
   * strong load of it gave. */
  INST_AWAITS = 1u << 31,
  INST_SYNCED = 1u << 27,    /* a WARPSYNC stood before it, and was left out since its lanes are together there */
  INST_UNALIGNED = 1u << 24, /* BAR: lanes of a warp may arrive at different times (PTX barrier without .aligned) */
  INST_INTEGRAL = 1u << 25, /* CVT of float to float: first rounds to an integral value by `mode` (cvt.rni.f32.f32) */
  INST_KEEP_NAN = 1u << 26, /* FMNMX: a NaN wins over a number (min.NaN) */
  INST_FUSED = 1u << 29,    /* a part of one instruction of machine code: it issues with the next one */
  INST_LOCK = 1u << 30,     /* ATOM.CAS, RED.EXCH: of a lock in the tags of L1 and L2 (sim/core/locks.h) */
  INST_LEAVES = 1u << 28,   /* lanes may exit behind it without further work (set by cfg_annotate; isa/flow/past.h) */
};

/* One decoded instruction. Which fields mean something depends on OpInfo.form; the others are zero, with
 * predicates PRED_TRUE (read) or PRED_SINK (written), so that two instructions can be compared byte by byte. */
typedef struct Inst {
  uint16_t op;           /* Opcode */
  uint8_t guard;         /* predicate */
  uint8_t pdst, pdst2;   /* predicates written */
  uint8_t psrc[3];       /* predicates read */
  uint8_t psrc_not;      /* bit i: psrc[i] is negated */
  uint8_t cmp;           /* CmpOp; ATOM, RED, ATOMS: MergeMode */
  uint8_t lop, lop2;     /* LogicOp */
  uint8_t type;          /* DataType */
  uint8_t width;         /* MemWidth */
  uint8_t cache;         /* CacheOp */
  uint8_t mode;          /* AtomOp, VoteMode, BarMode, FenceScope, RoundMode, SpecialReg, MufuFunction, ShflMode,
                         * MatchMode, PrmtMode, TestpMode, the shift of ISCADD, the table of LOP3, the barrier of
                         * BSSY, BSYNC and BREAK; SHF: 0 left, 1 right; HADD2, HMUL2, HFMA2: 1 if what is negative
                         * becomes 0;
                         * WARPSYNC: WarpsyncMode */
  uint32_t flags;        /* INST_* */
  int16_t dst;           /* register row; nregs is the sink */
  int16_t a, b, c;       /* value operands; memory forms: a is the address register */
  int32_t imm;           /* address offset in bytes */
  int32_t target;        /* index of the target instruction in the kernel, or NO_TARGET */
  int32_t reconv;        /* BRA: index of the immediate post-dominator, or NO_TARGET if there is none */
  uint32_t address;      /* address in the listing, or 8 * index if it had none; PTX: the line in the .ptx */
  uint32_t line, column; /* where in the source (Inst.file), from 1 */
  uint8_t type2;         /* DataType: CVT, DP4A: of the source */
  uint8_t wide;          /* WIDE_* */
  uint8_t sem, scope;    /* MemSem, MemScope */
  uint8_t space;         /* MemSpace */
  uint8_t round;         /* FloatRound */
  uint16_t file;         /* index into Program.sources */
  uint32_t inlined;      /* index + 1 into Program.frames of the innermost frame, 0 if line and file say it all */
} Inst;
static_assert(sizeof(Inst) == 64, "Inst is one cache line");

/* An arrival at an mbarrier: in the block's own shared memory, or (RED) by a generic address. */
static inline bool inst_arrives(const Inst *inst) {
  return (inst->op == OP_ATOMS || inst->op == OP_RED) && inst->mode == ATOM_ARRIVE;
}

/* SYNCS of sm_90 and newer: an instruction of its own for mbarriers, which ptxas doesn't take for an atomic
 * operation: lanes that do the same get the same. (Before, ATOMS.ARRIVE and stores did it.) */
static inline bool inst_is_syncs(const Inst *inst) {
  return (inst_arrives(inst) && inst->lop != MBARRIER_BEFORE_HOPPER) ||
         (inst->op == OP_ATOMS && inst->mode == ATOM_EXCH && inst->lop == EXCH_INITS);
}

/* A copy in bulk between global and shared memory: operand a is the address in global memory, b that in shared memory
 * and (BULKLOAD) behind it that of the mbarrier, c the bytes. INST_UNIFORM: it is one of the warp, not of each
 * lane. */
static inline bool inst_is_bulk(const Inst *inst) {
  return inst->op == OP_BULKLOAD || inst->op == OP_BULKSTORE || inst->op == OP_BULKRED;
}

/* A row of a kernel's constant table. */
typedef struct ConstRef {
  enum { CONST_IMMEDIATE, CONST_BANK, CONST_SYMBOL } kind;
  uint32_t value;  /* the immediate's bits; the byte offset in c[0x0]; what is added to the variable's address */
  uint32_t symbol; /* CONST_SYMBOL: index into Program.variables */
} ConstRef;

/* A word of a variable's initial value that is the address of another variable. */
typedef struct ProgramReloc {
  uint32_t word;   /* in the variable; a 64-bit address has zeros in the word behind it */
  uint32_t symbol; /* index into Program.variables */
  int32_t addend;
} ProgramReloc;

/* A module-scope variable: a buffer of the same name that each run makes (`.global`, `.const` of PTX). */
typedef struct ProgramVariable {
  char *name;
  bool constant; /* `.const`: a kernel can't write it */
  uint32_t bytes, align;
  uint32_t *init; /* (bytes + 3) / 4 words; NULL: zeros */
  GArray *relocs; /* ProgramReloc; NULL if there are none */
} ProgramVariable;

/* A parameter of a kernel. */
typedef struct KernelParam {
  char *name;
  uint32_t offset, bytes; /* from the start of the parameters, c[0x0][PARAM_BANK_OFFSET] */
  uint8_t type;           /* DataType of a scalar; undefined for `bytes_array` */
  bool bytes_array;       /* a by-value struct: `.b8 name[n]` */
} KernelParam;
enum { PARAM_BANK_OFFSET = 0x20 };

/* How c[0x0] is laid out before the parameters: as sm_20 has it; sm_70 and later. */
typedef enum { BANK_FERMI, BANK_VOLTA } ConstBank;

/* What the warps of a scheduler wait for each other at: units that take an instruction each so many cycles
 * (sm.encoded). */
typedef enum {
  ISSUE_ANY,      /* none of them */
  ISSUE_LOGIC,    /* 16 lanes wide: additions, logic, comparisons, votes */
  ISSUE_MULTIPLY, /* 16 lanes wide: IMAD */
  ISSUE_FLOAT,
  ISSUE_DOUBLE,
  ISSUE_SLOW, /* 4 lanes wide: conversions, MUFU, POPC */
  ISSUE_UNITS
} IssueUnit;

/* Kernel.control: what the encoding says of issue (isa/mc/mc_tree.h, McControl), and what follows from the opcode
 * (isa/mc/mc_issue.h). */
enum {
  CONTROL_STALL = 15, /* cycles to the warp's next instruction */
  CONTROL_WRITE_SHIFT = 5,
  CONTROL_READ_SHIFT = 8,  /* scoreboards, 3 bits each; 7: none */
  CONTROL_WAIT_SHIFT = 11, /* mask of 6 */
  CONTROL_SCOREBOARDS = 6,
  CONTROL_NONE = 7,
  CONTROL_UNIT_SHIFT = 24, /* IssueUnit, 4 bits */
  CONTROL_READS_SHIFT =
      28, /* registers that it reads from one bank, 2 bits: floats take their unit as many cycles at least, others a
             port that all of the scheduler's warps share */
  CONTROL_TWICE = 1 << 30, /* a product of 64 bits: it takes its unit twice as long as others, and its scheduler
                              sm.encoded.wide_issue more */
};

/* `.mark n` before instruction `pc`: fires when a warp issues that instruction, and costs nothing. */
typedef struct Mark {
  uint32_t pc, number;
} Mark;

/* Why an instruction of machine code may issue too early (isa/mc/mc_hazards.h). */
typedef enum {
  HAZARD_READ,      /* it reads what the producer, which raises a scoreboard, hasn't written */
  HAZARD_OVERWRITE, /* it overwrites that */
  HAZARD_LATENCY,   /* it reads what the producer, of fixed latency, hasn't written */
  HAZARD_SOURCE,    /* it overwrites what the producer hasn't read */
} CodeHazardKind;

/* Instruction `pc` may issue before `producer` is that far, on some path. */
typedef struct CodeHazard {
  uint32_t pc, producer;
  uint8_t kind;   /* CodeHazardKind */
  bool predicate; /* of `number`, a row of a register otherwise */
  uint8_t number;
  uint8_t distance, latency; /* HAZARD_LATENCY: cycles between their issue, and those that it takes */
} CodeHazard;

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
  uint32_t nregs; /* rows of the register file that instructions name; .reg raises it */
  uint32_t
      uniform_registers; /* of these, the last ones, which hold values that the GPU has in uniform registers: they don't count */
  uint32_t inner_rows;       /* of these, the last ones: rows of machine code that are no registers */
  uint32_t hidden_registers; /* a thread's registers that no instruction names, which a thread has as well */
  uint32_t shared_bytes;     /* static shared memory (.shared); dynamic shared memory begins behind it */
  uint32_t local_bytes;      /* local memory of each lane */
  uint32_t spill_bytes;      /* of it, for registers that the limit leaves no room for */
  GArray *params;            /* KernelParam; NULL for SASS, whose parameters aren't declared */
  uint32_t param_bytes;
  bool params_lost; /* it is refused, and `params` aren't all that it has: they couldn't be read */
  uint32_t max_threads;          /* of a block, by .maxntid or .reqntid; 0: not given */
  uint32_t exact_block[3];       /* .reqntid; 0: not given */
  uint32_t cluster[3];           /* .reqnctapercluster, __cluster_dims__; 0: not given */
  bool ranked; /* in a cluster addresses of its shared memory have the block's rank (CLUSTER_RANK_SHIFT) */
  uint32_t convergence_barriers; /* how many of B0.. the kernel uses */
  ConstRef *consts;
  uint32_t nconsts;
  Mark *marks;
  uint32_t nmarks;
  Label *labels;
  uint32_t nlabels;
  GPtrArray *
      undefined; /* char *: functions without a body that it calls: a TRAP with imm i + 1 stands for a call; NULL: none */
  uint32_t *control;   /* of each instruction of machine code: CONTROL_*; NULL: it has no encodings, or is none */
  CodeHazard *hazards; /* of machine code, by rising pc */
  uint32_t nhazards;
  uint32_t *jumps; /* instructions that its BRX may go to, rising */
  uint32_t njumps;
  uint16_t param_base;    /* where parameters begin in c[0x0] */
  uint16_t bank;          /* ConstBank: what else c[0x0] holds */
  uint32_t shared_system; /* bytes at the start of shared_bytes that belong to the system, as sm_90 has it */
  uint32_t shared_behind; /* the system's behind all others, dynamic ones too: before sm_90, if it asks for them */
  Diag *refusal;          /* why the kernel can't run (then it has no instructions); NULL: it can */
} Kernel;

/* A directive that gives a bare program its launch: `.grid`, `.block`, `.buffer`, `.arg`, `.expect`, `.findings`,
 * `.name`. Kept as text with its place; sim/scenario evaluates it. */
typedef struct LaunchDirective {
  char *name;            /* without the dot */
  char *text;            /* the rest of the line, comments removed, trimmed */
  uint32_t line, column; /* of `text` */
  uint32_t kernel;       /* index of the kernel it stands in */
} LaunchDirective;

typedef enum { DIALECT_FERMI_SASS, DIALECT_PTX, DIALECT_MACHINE_CODE } Dialect;

/* A file that instructions come from. Source 0 is the program's own; `-lineinfo` PTX has those of its `.file`
 * lines. */
typedef struct SourceFile {
  char *name;   /* as shown */
  char **lines; /* NULL-terminated, or NULL if it couldn't be read */
  uint32_t nlines;
} SourceFile;

/* A place in the source that was inlined at another one (`.loc ... inlined_at`). Inst.file and line are the
 * outermost. */
typedef struct SourceFrame {
  uint32_t line, column;
  uint16_t file;
  uint32_t parent; /* index + 1 of the frame it was inlined at, 0 at the outermost */
} SourceFrame;

typedef struct Program {
  char *file; /* as the user named it */
  char *
      made_of; /* what runs in place of CUDA source, or of PTX: "machine code of sm_90, compiled by nvcc (...)"; NULL: the file itself */
  Dialect dialect;
  uint32_t target_sm; /* 20 for sm_20 */
  GPtrArray *kernels; /* Kernel * */
  GPtrArray *launch;  /* LaunchDirective * */
  char **lines;       /* the source, line by line, NULL-terminated; for findings; program_set_source() fills it */
  uint32_t nlines;
  GPtrArray *sources;   /* SourceFile *; 0 stands for `file` and `lines` and has neither */
  GArray *frames;       /* SourceFrame */
  GPtrArray *variables; /* ProgramVariable * */
} Program;

Program *program_new(const char *file, Dialect dialect);
/* What a compiler made of CUDA source, as PTX or machine code; Fermi code is taken as written by hand. */
static inline bool program_is_compiled(const Program *program) { return program->dialect != DIALECT_FERMI_SASS; }
void program_free(Program *program);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Program, program_free)

/* Keeps a copy of the source for program_file_line(). */
void program_set_source(Program *program, const char *text, gsize length);

/* Adds a source file (`text` NULL: it couldn't be read) and returns its index. At most 65535. */
uint16_t program_add_source(Program *program, const char *name, const char *text, gsize length);
/* Gives a source file a text, and the name that is shown from now on. */
void program_fill_source(Program *program, uint16_t file, const char *name, const char *text, gsize length);
/* The name of source file `file` (Inst.file; 0: the program's own), and its line (from 1) with white space at both
 * ends removed, "" if there is none or the file isn't at hand (newly allocated). */
const char *program_file_name(const Program *program, uint16_t file);
char *program_file_line(const Program *program, uint16_t file, unsigned line);
/* An empty array for Kernel.params. */
GArray *kernel_params_new(void);
/* For a kernel that no Program owns yet. NULL is allowed. */
void kernel_free(Kernel *kernel);

Kernel *program_kernel(const Program *program, guint index);
/* The registers that a thread is given. */
uint32_t kernel_registers(const Kernel *kernel);
/* The first instruction at that address of the listing, or -1. Addresses rise. */
int32_t kernel_at_address(const Kernel *kernel, uint32_t address);
/* An instruction's address as it is shown: that of the listing; of PTX, which has none, 8 * pc. */
uint32_t kernel_address(const Kernel *kernel, uint32_t pc);

/* The registers an instruction reads and writes, for scoreboard, liveness and slicing. Rows, not counting constants;
 * 64- and 128-bit accesses name each register of the group. `count` is at most 10: a CAS of 128 bits has an address
 * and two groups of four. */
typedef struct RegList {
  uint8_t count;
  int16_t reg[12];
} RegList;
RegList inst_reads(const Inst *inst);
RegList inst_writes(const Inst *inst, uint32_t nregs);
/* Whether it writes that register. */
bool inst_writes_to(const Inst *inst, uint32_t nregs, int16_t reg);
/* Masks of predicate numbers (bit 0 = P0, bit 9 = CC), PT and the sink left out. The guard counts as read. */
uint32_t inst_pred_reads(const Inst *inst);
uint32_t inst_pred_writes(const Inst *inst);
/* True if the instruction writes only some lanes of its destinations (guard other than PT). */
bool inst_is_guarded(const Inst *inst);

#endif
