/* ptx_tree.h - a PTX module as it was written: names resolved, modifiers decoded, nothing lowered.
 *
 * Everything lies in arrays of the module, in the order of the text; a function has a range of each. What has a place
 * has a byte offset `at`; ptx_module_place() makes a line and column of it.
 * Registers of a function are numbered from 0: those of `.reg .b32 %r<12>` are 12 numbers from PtxVar.base on. Only a
 * few of them may be in use.
 * Not kept: `.pragma` other than "nounroll", debug sections, comments.
 * Ownership: a PtxModule owns everything below it and is immutable once ptx_parse() has returned it. */
#ifndef LOCKSTEP_ISA_PTX_PTX_TREE_H
#define LOCKSTEP_ISA_PTX_PTX_TREE_H

#include <assert.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "isa/ptx/ptx_names.h"
#include "isa/ptx/ptx_ops.h"

#define PTX_NO_INDEX UINT32_MAX

typedef enum { PTX_LINK_NONE, PTX_LINK_VISIBLE, PTX_LINK_EXTERN, PTX_LINK_WEAK, PTX_LINK_COMMON } PtxLinkage;

/* One value of an initialiser; those that are 0 aren't stored. */
typedef struct PtxInit {
  union {
    uint64_t bits; /* of the element's type */
    struct {
      uint32_t symbol; /* variable or function */
      int32_t offset;
    };
  };
  uint32_t element; /* index in the array, flattened */
  uint8_t kind;     /* PtxInitKind */
  uint8_t byte;     /* `0xFF00(x)` is byte 1 of the address; PTX_INIT_WHOLE without such a mask */
  uint16_t reserved;
} PtxInit;
typedef enum { PTX_INIT_BITS, PTX_INIT_VAR, PTX_INIT_VAR_GENERIC, PTX_INIT_FUNCTION } PtxInitKind;
enum { PTX_INIT_WHOLE = 0xff };

/* A variable, parameter, or range of registers. */
typedef struct PtxVar {
  uint32_t at;
  uint32_t name;       /* of `names`; 0: the parameter `_` */
  uint32_t scope;      /* of the module's scopes, or PTX_NO_INDEX */
  uint32_t inst;       /* index of the instruction behind it */
  uint8_t space;       /* PtxWord: REG, PARAM, LOCAL, SHARED, GLOBAL, CONST */
  uint8_t type;        /* PtxWord */
  uint8_t vec;         /* PtxWord V2 V4, or 0 */
  uint8_t linkage;     /* PtxLinkage */
  bool array, managed; /* `.attribute(.managed)` */
  uint8_t ptr_space;   /* `.ptr .global`: PtxWord; PTX_NONE if it has no `.ptr` or no space */
  bool ptr;
  uint32_t ptr_align;
  uint32_t align;    /* bytes; the type's own if none was given */
  uint32_t count;    /* `%r<12>`: 12; 0 if it isn't a range */
  uint32_t base;     /* number of its first register (of the next register if it isn't one) */
  uint32_t elements; /* of the array, flattened; 0: `[]`; 1 if it isn't one */
  uint32_t first_init, ninits;
} PtxVar;

typedef enum {
  PTX_OPERAND_REG,          /* index: register number; component 1-4: .x .y .z .w of a vector register */
  PTX_OPERAND_INTEGER,      /* bits */
  PTX_OPERAND_F32,          /* bits, the low 32 */
  PTX_OPERAND_F64,          /* bits */
  PTX_OPERAND_SPECIAL,      /* index: PtxSpecial */
  PTX_OPERAND_VAR,          /* index: variable; offset: its address plus that */
  PTX_OPERAND_FUNCTION,     /* index: function */
  PTX_OPERAND_LABEL,        /* index: label */
  PTX_OPERAND_TABLE,        /* index: table */
  PTX_OPERAND_SINK,         /* `_` */
  PTX_OPERAND_MEM_REG,      /* [index: register number + offset] */
  PTX_OPERAND_MEM_VAR,      /* [index: variable + offset] */
  PTX_OPERAND_MEM_ABSOLUTE, /* [bits] */
  PTX_OPERAND_VECTOR,       /* {...}: `count` operands from `index` on */
  PTX_OPERAND_PAIR,         /* d|p: 2 operands from `index` on */
  PTX_OPERAND_LIST          /* (...) of a call: `count` operands from `index` on */
} PtxOperandKind;

typedef struct PtxOperand {
  uint8_t kind;                       /* PtxOperandKind */
  uint8_t negated : 1, component : 3; /* `!%p`, and `-%r` nowhere */
  uint16_t count;
  uint32_t at;
  union {
    uint64_t bits;
    struct {
      uint32_t index;
      int32_t offset;
    };
  };
} PtxOperand;
static_assert(sizeof(PtxOperand) == 16, "16 MB of text have up to 4 million operands");

/* The operands stand in the order in which they are written; an optional one that isn't there isn't counted.
 * A call has [results LIST] [FUNCTION or REG] [arguments LIST], then the TABLE of an indirect one. */
typedef struct PtxInst {
  uint32_t at;
  uint16_t op, form; /* PtxOp, row of ptx_ops.def */
  uint32_t guard;    /* register number of the predicate, or PTX_NO_INDEX */
  bool guard_not;
  uint8_t noperands;
  bool rolled; /* `.pragma "nounroll"` stands before it: the loop whose first block it is in isn't unrolled */
  uint8_t reserved;
  uint32_t operands; /* first, in the module's operands */
  uint32_t loc;      /* in the module's locs, or PTX_NO_INDEX */
  uint32_t scope;    /* in the module's scopes, or PTX_NO_INDEX */
  PtxMods mods;
} PtxInst;
static_assert(sizeof(PtxInst) == 48, "a million of them are 48 MB");

typedef struct PtxLabel {
  uint32_t at, name, scope, inst; /* the instruction behind it; the end of the function's if none follows */
} PtxLabel;

typedef struct PtxScope {
  uint32_t at, end_at, parent;
  uint32_t first_inst, end_inst;
} PtxScope;

/* `.loc FILE LINE COLUMN, function_name NAME, inlined_at FILE LINE COLUMN`: of the instructions from `inst` on. */
typedef struct PtxLoc {
  uint32_t at, inst;
  uint32_t file, line, column;
  uint32_t function_name; /* of `names`: a label in .debug_str; 0 if it isn't inlined */
  uint32_t function_offset;
  uint32_t inlined_file, inlined_line, inlined_column;
  uint32_t parent; /* loc of the place that it was inlined at; PTX_NO_INDEX if there is none, or none is known */
  uint32_t block;  /* how many labels stand before it */
} PtxLoc;

/* A statement whose instruction is known, but isn't supported: kernels that reach it are refused. It counts as no
 * instruction. */
typedef struct PtxSkipped {
  uint32_t at, inst; /* the instruction behind it */
  uint32_t why_at;   /* where `why` belongs */
  char *text;        /* without its `;` */
  char *why;         /* "`mma.sync` isn't supported" */
} PtxSkipped;

/* A function whose text has errors: kernels that reach it are refused. Of it there are its head, as far as that could
 * be read, and no instructions. */
typedef struct PtxBroken {
  char *text; /* all of it */
  Diag *errors;
} PtxBroken;

/* What a name in front of `.branchtargets`, `.calltargets` or `.callprototype` stands for. */
typedef struct PtxTable {
  uint32_t at, name, scope, inst;
  uint8_t kind; /* PtxTableKind */
  uint8_t reserved[3];
  uint32_t operands, noperands; /* LABEL or FUNCTION operands */
  uint32_t prototype;           /* function without body, for PROTOTYPE */
} PtxTable;
typedef enum { PTX_TABLE_BRANCH, PTX_TABLE_CALL, PTX_TABLE_PROTOTYPE } PtxTableKind;

typedef struct PtxFunction {
  uint32_t at, name; /* 0 for a prototype */
  uint8_t linkage;   /* PtxLinkage */
  bool entry, has_body, noreturn, prototype, explicit_cluster;
  bool params_lost;    /* it is broken, and its parameters couldn't be read */
  bool rolled;         /* `.pragma "nounroll"` in its head: none of its loops is unrolled */
  uint32_t definition; /* the function of that name that has a body; itself if it has; PTX_NO_INDEX if none has */
  uint32_t first_var, nvars; /* results, then parameters, then those of the body */
  uint32_t nrets, nparams;
  uint32_t first_inst, ninsts, first_label, nlabels, first_scope, nscopes, first_loc, nlocs, first_table, ntables;
  uint32_t first_skipped, nskipped;
  uint32_t broken;                 /* 1 + in PtxModule.broken, or 0 */
  uint32_t nregs;                  /* register numbers, used or not */
  uint32_t maxntid[3], reqntid[3], cluster[3]; /* 0: not given */
  uint32_t minnctapersm, maxnreg;
} PtxFunction;

typedef struct PtxFile {
  uint32_t at, number;
  char *path;
} PtxFile;

typedef struct PtxModule {
  char *file; /* as the user named it */
  uint32_t version_major, version_minor;
  uint32_t target_sm;    /* 75 for sm_75, sm_90a */
  char *target;          /* all of `.target`: "sm_75, debug" */
  uint32_t address_size; /* 32 or 64 */
  bool rolled;           /* `.pragma "nounroll"` outside functions: no loop is unrolled */
  PtxNames *names;
  PtxOps *ops;
  GArray *line_starts; /* uint32_t */
  GArray *vars;        /* PtxVar */
  GArray *functions;   /* PtxFunction */
  GArray *insts, *operands, *labels, *scopes, *locs, *tables, *inits;
  GArray *files;   /* PtxFile */
  GArray *skipped; /* PtxSkipped */
  GArray *broken;  /* PtxBroken */
} PtxModule;

PtxModule *ptx_module_new(const char *file);
void ptx_module_free(PtxModule *module);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PtxModule, ptx_module_free)

#define ptx_var(module, i) (&g_array_index((module)->vars, PtxVar, i))
#define ptx_function(module, i) (&g_array_index((module)->functions, PtxFunction, i))
#define ptx_skipped(module, i) (&g_array_index((module)->skipped, PtxSkipped, i))
#define ptx_broken(module, i) (&g_array_index((module)->broken, PtxBroken, i))
#define ptx_inst(module, i) (&g_array_index((module)->insts, PtxInst, i))
#define ptx_operand(module, i) (&g_array_index((module)->operands, PtxOperand, i))
#define ptx_label(module, i) (&g_array_index((module)->labels, PtxLabel, i))
#define ptx_scope(module, i) (&g_array_index((module)->scopes, PtxScope, i))
#define ptx_loc(module, i) (&g_array_index((module)->locs, PtxLoc, i))
#define ptx_table(module, i) (&g_array_index((module)->tables, PtxTable, i))
#define ptx_init(module, i) (&g_array_index((module)->inits, PtxInit, i))

/* Line and column, from 1, of a byte offset. */
void ptx_module_place(const PtxModule *module, uint32_t at, unsigned *line, unsigned *column);
const char *ptx_module_name(const PtxModule *module, uint32_t name);
/* The path of `.file NUMBER`, or NULL. */
const char *ptx_module_file(const PtxModule *module, uint32_t number);
/* The variable that declares a register of the function. */
uint32_t ptx_module_register(const PtxModule *module, const PtxFunction *function, uint32_t number);
/* The bytes of a variable, 0 for `[]`. */
uint64_t ptx_var_bytes(const PtxVar *var);

#endif
