/* ptx_parser.h - what the parts of the PTX reader share: ptx_parse.c (tokens, messages, names in scope), ptx_module.c
 * (directives, functions and their bodies), ptx_var.c (variables and initialisers), ptx_inst.c (instructions),
 * ptx_loc.c (places in the source), ptx_operand.c (operands as they are written), ptx_check.c (whether an operand
 * fits). Private to them. */
#ifndef LOCKSTEP_ISA_PTX_PTX_PARSER_H
#define LOCKSTEP_ISA_PTX_PTX_PARSER_H

#include "base/diag.h"
#include "isa/ptx/ptx_tree.h"
#include "isa/scanner.h"

enum {
  PTX_BYTES_MAX = 16 << 20,
  PTX_WORD_MAX = 1023,
  PTX_INSTS_MAX = 1 << 20,
  PTX_OPERAND_POOL_MAX = 1 << 22,
  PTX_VARS_MAX = 1 << 18,
  PTX_FUNCTIONS_MAX = 1 << 16,
  PTX_INITS_MAX = 1 << 21,
  PTX_RECORDS_MAX = 1 << 19, /* labels, blocks, .loc lines, tables: of each */
  PTX_DEPTH_MAX = 32,
  PTX_REGISTERS_MAX = 1 << 24,
  PTX_LIST_MAX = 4096, /* parameters of a function, operands of a call, targets of a table */
  PTX_ERRORS_MAX = 1000,
  PTX_HINTS_MAX = 32,
  PTX_CANDIDATES_MAX = 1000,
};

typedef enum { SYMBOL_VAR, SYMBOL_FUNCTION, SYMBOL_TABLE } PtxSymbolKind;

/* A name in scope; the list of them is undone when a block ends. */
typedef struct PtxSymbol {
  uint32_t name, index, depth;
  uint32_t hidden; /* 1 + the symbol of that name outside, or 0 */
  uint8_t kind;    /* PtxSymbolKind */
  bool range;      /* `%r<12>`: the name is only a part */
} PtxSymbol;

/* A use of a label that waits for the end of its block. */
typedef struct PtxFixup {
  uint32_t operand, name;
  uint32_t next; /* 1 + the fixup of that name before it, or 0 */
} PtxFixup;

/* What is known of a name, beside the symbol table. */
typedef struct PtxNameInfo {
  uint32_t plain, range; /* 1 + symbol, or 0 */
  uint32_t pending;      /* 1 + newest fixup */
  uint32_t mnemonic;     /* 1 + in mnemonics */
} PtxNameInfo;

/* An open block. */
typedef struct PtxBlock {
  uint32_t scope; /* PTX_NO_INDEX for a function's own */
  guint first_symbol, first_fixup, first_label_symbol;
} PtxBlock;

typedef struct PtxParser {
  PtxModule *module;
  Diag *file, *outer; /* outer: of what isn't supported between functions; what needs it has errors of its own */
  Diag *diag;         /* where errors go: `file`, `outer`, or those of the function that is read */
  unsigned errors;    /* in all of them */
  Scanner scanner;
  Token token;      /* the current one */
  bool stopped;     /* a limit was hit: nothing further is read */
  uint32_t item_at; /* where what is read on the outer level begins */

  GArray *infos;                      /* PtxNameInfo, by name */
  GArray *mnemonics;                  /* PtxMnemonic */
  GArray *symbols;                    /* PtxSymbol, a stack */
  GArray *fixups;                     /* PtxFixup, of the function */
  GArray *block_labels;               /* uint32_t labels of the open blocks, a stack */
  GHashTable *label_places;           /* (name, scope) -> 1 */
  PtxBlock blocks[PTX_DEPTH_MAX + 2]; /* a prototype may open one more */
  unsigned depth;                     /* 0 outside of functions */
  uint32_t function;                  /* being read, or PTX_NO_INDEX */
  uint32_t next_register;
  uint32_t loc; /* the current one, or PTX_NO_INDEX */
  bool has_version, has_target;
  bool rolled; /* the next instruction stands behind `.pragma "nounroll"` */
} PtxParser;

/* -- ptx_parse.c: tokens and messages -- */

void ptx_parser_advance(PtxParser *parser);
/* An error at a place, or at a token. Returns false. */
bool ptx_parser_error_at(PtxParser *parser, uint32_t at, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* "expected EXPECTED, found TOKEN", or what is wrong with the token itself. Returns false. */
bool ptx_parser_unexpected(PtxParser *parser, const char *expected);
bool ptx_parser_expect(PtxParser *parser, char punct);
/* Passes the character if it is there. */
bool ptx_parser_accept(PtxParser *parser, char punct);
/* Too many of something: an error, and nothing further is read. Returns false. */
bool ptx_parser_limit(PtxParser *parser, guint count, guint limit, const char *what);
/* `12`, `0x10`: a number up to `limit`. */
bool ptx_parser_number(PtxParser *parser, uint64_t limit, const char *what, uint32_t *value);
/* The current word as a name: its number, 0 after an error. Doesn't advance. */
uint32_t ptx_parser_name(PtxParser *parser, const char *what);
PtxNameInfo *ptx_parser_info(PtxParser *parser, uint32_t name);
/* Adds a candidate near `name` among the names in scope as a hint to the newest message. */
void ptx_parser_hint_symbol(PtxParser *parser, const char *name);

/* -- ptx_parse.c: names in scope -- */

bool ptx_parser_declare(PtxParser *parser, uint32_t name, uint32_t at, PtxSymbolKind kind, uint32_t index,
                        bool range);
/* The symbol of a name, or NULL. A register of a range gives the range and its *element. */
const PtxSymbol *ptx_parser_lookup(PtxParser *parser, const char *text, gsize length, uint32_t *element);
void ptx_parser_open_block(PtxParser *parser, uint32_t scope);
void ptx_parser_close_block(PtxParser *parser);
uint32_t ptx_parser_scope(const PtxParser *parser);
bool ptx_parser_add_label(PtxParser *parser, uint32_t name, uint32_t at);
/* Operand `operand` of the pool is that label, to be found at the end of the block. */
bool ptx_parser_use_label(PtxParser *parser, uint32_t name, uint32_t operand);
/* The labels that no block had. */
void ptx_parser_report_labels(PtxParser *parser);

/* -- ptx_module.c -- */

void ptx_module_read(PtxParser *parser);
/* `(.param .b32 a, ...)`: adds the variables; their number in *count. */
bool ptx_module_read_params(PtxParser *parser, uint32_t *count);

/* -- ptx_body.c -- */

/* From behind the `{` to behind the `}` that closes it. */
void ptx_body_read(PtxParser *parser);
bool ptx_body_read_file(PtxParser *parser);
/* Strings, as of .pragma, and `;`. One that is "nounroll" sets *rolled; others are dropped. */
bool ptx_body_read_pragma(PtxParser *parser, bool *rolled);
/* `.section .debug_str { ... }`. */
bool ptx_body_skip_section(PtxParser *parser);

/* -- ptx_loc.c -- */

/* Behind `.loc`. */
bool ptx_loc_read(PtxParser *parser);

/* -- ptx_var.c -- */

/* At a state space directive such as `.reg`: the declaration with its `;`. */
bool ptx_var_read(PtxParser *parser, PtxLinkage linkage);
/* One parameter: `.param .align 4 .b8 name[12]`, or `.reg .b32 name`. */
bool ptx_var_read_param(PtxParser *parser);
/* The space that a directive such as `.reg` names, or PTX_NONE. */
PtxWord ptx_var_space(const Token *token);

/* -- ptx_inst.c, ptx_operand.c, ptx_check.c -- */

/* An instruction up to its `;`, which the caller passes. */
bool ptx_inst_read(PtxParser *parser);
/* Appends an operand to the pool. */
bool ptx_operand_push(PtxParser *parser, const PtxOperand *operand);
/* One operand as it is written; vectors, pairs and lists have their parts in the pool. */
bool ptx_operand_read(PtxParser *parser, PtxOperand *operand);
/* `(a, b)` of a call. */
bool ptx_operand_read_list(PtxParser *parser, PtxOperand *operand);
/* A label: the operand is pushed to the pool and waits for its label. */
bool ptx_operand_push_label(PtxParser *parser);
/* True if the operand fits the shape; else an error. */
bool ptx_check_operand(PtxParser *parser, const PtxOperand *operand, const PtxShape *shape,
                       const PtxMnemonic *mnemonic);

#endif
