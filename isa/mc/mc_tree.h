/* mc_tree.h - machine code of Turing and later as it was disassembled: kernels, instructions and operands by their
 * parts, control bits, data of the constant banks, resources. Nothing is lowered.
 *
 * It comes from a listing (mc_listing.h) of `cuobjdump -sass` or `nvdisasm -hex`, or from a cubin. The first has code
 * and register counts at most; nvdisasm and cubins have everything.
 * Strings belong to the module. If a comment says "interned", equal ones are one (mc_module_intern()).
 * Ownership: an McModule owns everything below it and is immutable once its reader has returned it. */
#ifndef LOCKSTEP_ISA_MC_MC_TREE_H
#define LOCKSTEP_ISA_MC_MC_TREE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum {
  MC_RZ = 255,
  MC_URZ = 63,
  MC_PT = 7,           /* and UPT */
  MC_NO_REGISTER = -1, /* McOperand.base, uniform */
  MC_INST_BYTES = 16,
  MC_MODIFIERS_MAX = 12,
};

typedef enum {
  MC_REGISTER,          /* R0 ... R254, RZ: number */
  MC_UNIFORM,           /* UR0 ... UR62, URZ: number */
  MC_PREDICATE,         /* P0 ... P6, PT: number */
  MC_UNIFORM_PREDICATE, /* UP0 ... UP6, UPT: number */
  MC_BARRIER,           /* B0 ... B15, convergence barriers: number */
  MC_SCOREBOARD,        /* SB0 ... SB5: number */
  MC_INTEGER,           /* value; a minus sign of the text is applied */
  MC_REAL,              /* real; +INF, -QNAN and the like, too */
  MC_CONSTANT, /* c[bank][base + offset]; base is a register or MC_NO_REGISTER; uniform likewise (cx[UR4][0x8]: bank is -1) */
  MC_MEMORY,  /* [base.width * scale + uniform + offset], perhaps with a descriptor before it */
  MC_SPECIAL, /* SR_TID.X, SRZ: text is the name, interned, as written */
  /* Place in the kernel: value is the byte address, of `(.L_x_3), and of cuobjdump's number where only a place can
   * stand; the offset of BRX, which is added to a register, is an MC_INTEGER. */
  MC_TARGET,
  MC_SYMBOL,             /* `(name), 32@lo((name)): text is the name, interned; `part` says which bits */
  MC_PREDICATES,         /* PR: all predicates as one word */
  MC_PREDICATES_UNIFORM, /* UPR: the same of uniform ones */
  MC_SCOREBOARDS,        /* {2,1}: value has a bit for each */
  MC_NAME,               /* any other word: text, interned */
} McOperandKind;

/* Which part of a register an operand takes. */
typedef enum {
  MC_ALL,
  MC_H0_H0,
  MC_H1_H1,
  MC_H0_NH1, /* the low half, then the high one, negated */
  MC_H0,
  MC_H1,
  MC_B0,
  MC_B1,
  MC_B2,
  MC_B3,
  MC_PAIR64 /* R4.64 */,
  MC_U32 /* R4.U32 */,
  MC_SIGN /* R4.SIGN, in place of a predicate */
} McPart;
/* MC_SYMBOL. */
typedef enum { MC_SYMBOL_WHOLE, MC_SYMBOL_LOW32, MC_SYMBOL_HIGH32 } McSymbolPart;

typedef struct McOperand {
  uint8_t kind;  /* McOperandKind */
  bool minus;    /* -R3, before a register, constant or |x| */
  bool absolute; /* |R3| */
  bool inverted; /* ~R3 */
  bool negated;  /* !P0 */
  bool reuse;    /* R3.reuse */
  uint8_t part;  /* McPart: of a register; MEMORY: of its base. McSymbolPart of a symbol */
  uint8_t scale; /* MEMORY: [R3.X4]: 4; 1 otherwise */
  int16_t bank;  /* CONSTANT */
  int16_t number, base, uniform, descriptor; /* descriptor: the uniform register of desc[UR4], or MC_NO_REGISTER */
  bool uniform_pair;                         /* MEMORY: the uniform register is UR4.64 */
  int32_t offset;
  union {
    uint64_t value;
    double real;
    const char *text;
  };
  uint32_t column; /* from 1 */
} McOperand;

typedef struct McInst {
  uint32_t address;                        /* in the kernel, bytes */
  uint32_t line, column;                   /* in the listing */
  bool encoded;                            /* low and high are there */
  uint64_t low, high;                      /* the 128 bits */
  McOperand guard;                         /* PT if there is none */
  const char *name;                        /* interned: ISETP.NE.AND, with all its modifiers */
  const char *root;                        /* interned: ISETP */
  const char *modifiers[MC_MODIFIERS_MAX]; /* interned, in order, without dots: NE, AND; NULL-terminated if fewer */
  uint32_t first_operand, operands;        /* in McModule.operands */
  uint32_t source_file;                    /* index + 1 into McModule.files, 0: unknown. The innermost place */
  uint32_t source_line;
  uint32_t inlined; /* index + 1 into McModule.frames of where that was inlined, 0: nowhere */
} McInst;

/* Where the function that a source place belongs to was inlined. */
typedef struct McFrame {
  uint32_t file, line; /* file: index + 1 into McModule.files */
  uint32_t parent;     /* index + 1 into McModule.frames, or 0 */
} McFrame;

/* A word or pair of words in a data section whose value is the address of a symbol. */
typedef struct McReloc {
  uint32_t offset;    /* in the section, bytes */
  uint8_t bytes;      /* 4 or 8 */
  uint8_t part;       /* McSymbolPart */
  const char *symbol; /* interned */
  int64_t addend;
} McReloc;

/* Bytes of a constant bank, of initialised global memory, or of shared memory (which has a size only). */
typedef struct McData {
  const char *section; /* interned: .nv.constant4, .nv.constant2.kernel, .nv.global.init, .nv.global, .nv.constant3 */
  uint32_t bytes;
  uint8_t *data;  /* `bytes` of them; NULL: zeros, or reserved only */
  GArray *relocs; /* McReloc; NULL: none */
} McData;

/* A name for a place in a section. */
typedef struct McSymbol {
  const char *name;    /* interned */
  const char *section; /* interned; NULL: defined elsewhere (vprintf) */
  uint64_t value;      /* bytes from the start of the section */
  uint64_t bytes;
  bool function;
} McSymbol;

typedef struct McParam {
  uint32_t ordinal, offset, bytes; /* offset: from the start of the parameters */
} McParam;

/* A kernel, or a function that others call (then `entry` is false). */
typedef struct McKernel {
  const char *name; /* interned */
  unsigned sm;      /* 90 for sm_90 */
  bool entry;
  uint32_t line;              /* of the listing */
  /* In McModule.insts, which stand in order of address. Between its own and those of functions that were linked to it
   * there may be holes. */
  uint32_t first_inst, insts;
  int32_t registers;          /* of a thread, from the resource lines; -1: unknown. The rest likewise */
  int32_t stack_bytes;        /* frame and calls below it: local memory of a thread */
  int32_t shared_bytes;       /* static */
  int32_t param_base;         /* byte of c[0x0] where parameters begin */
  int32_t param_bytes;
  int32_t barriers;    /* named block barriers */
  int32_t max_threads; /* .maxntid, of a block */
  uint32_t cluster[3]; /* __cluster_dims__; 0: it doesn't say */
  GArray *params;      /* McParam by ordinal; NULL: unknown */
  GArray *targets; /* uint32_t, byte addresses: of indirect branches (EIATTR_INDIRECT_BRANCH_TARGETS); NULL: none */
  GArray *starts;  /* uint32_t, byte addresses, rising: of functions that were linked to it (mc_link.h); NULL: none */
} McKernel;

typedef struct McModule {
  char *file;       /* as the user named it */
  bool has_data;    /* it comes from nvdisasm or a cubin: data, symbols and resources are whole */
  GArray *kernels;  /* McKernel */
  GArray *insts;    /* McInst */
  GArray *operands; /* McOperand */
  GPtrArray *files; /* char *: source files of -lineinfo */
  GArray *frames;   /* McFrame */
  GArray *data;     /* McData */
  GArray *symbols;  /* McSymbol */
  GStringChunk *interned;
} McModule;

McModule *mc_module_new(const char *file);
void mc_module_free(McModule *module);
/* The module's own copy of that text, the same for equal ones; lives as long as the module. */
const char *mc_module_intern(McModule *module, const char *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(McModule, mc_module_free)

static inline const McKernel *mc_kernel(const McModule *module, guint index) {
  return &g_array_index(module->kernels, McKernel, index);
}
static inline const McInst *mc_inst(const McModule *module, const McKernel *kernel, guint index) {
  return &g_array_index(module->insts, McInst, kernel->first_inst + index);
}
static inline const McOperand *mc_operand(const McModule *module, const McInst *inst, guint index) {
  return &g_array_index(module->operands, McOperand, inst->first_operand + index);
}
bool mc_has_modifier(const McInst *inst, const char *modifier);
const McSymbol *mc_find_symbol(const McModule *module, const char *name);
/* The data of that section, or NULL. */
const McData *mc_find_data(const McModule *module, const char *section);

/* ---- control bits: bits 105 to 127 of an instruction ---- */

enum { MC_SCOREBOARDS_MAX = 6, MC_NO_SCOREBOARD = 7 };

/* What the encoding says about the instruction's issue. */
typedef struct McControl {
  uint8_t stall; /* cycles until the warp's next instruction, at least; 0 counts as 1 */
  bool yield;    /* the bit, which has no effect on time */
  uint8_t write,
      read; /* scoreboard that goes up at issue, down when the result is there, or when the sources have been read; 7: none */
  uint8_t wait;  /* bit i: scoreboard i must be 0 */
  uint8_t reuse; /* operands that stay in the reuse cache */
} McControl;

static inline McControl mc_control(const McInst *inst) {
  uint32_t bits = (uint32_t)(inst->high >> 41);
  return (McControl){.stall = bits & 15,
                     .yield = bits >> 4 & 1,
                     .write = bits >> 5 & 7,
                     .read = bits >> 8 & 7,
                     .wait = bits >> 11 & 63,
                     .reuse = bits >> 17 & 15};
}

#endif
