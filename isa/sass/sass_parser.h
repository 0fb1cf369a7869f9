/* sass_parser.h - what the parts of the SASS front end share: sass.c (statements, directives, branch targets),
 * sass_operand.c (operands as they are written), sass_form.c (operands into an Inst). Private to them. */
#ifndef LOCKSTEP_ISA_SASS_SASS_PARSER_H
#define LOCKSTEP_ISA_SASS_SASS_PARSER_H

#include "base/diag.h"
#include "isa/program.h"
#include "isa/scanner.h"

enum {
  SASS_BYTES_MAX = 16 << 20,
  SASS_INSTS_MAX = 1 << 18, /* keeps the analyses of any input within 200 MB */
  SASS_LINE_MAX = 65536,    /* bytes */
  SASS_WORD_MAX = 255,
  SASS_CONSTS_MAX = 1 << 15, /* slots are 16-bit */
  SASS_OPERANDS_MAX = 8,
  SASS_RZ = 63,
  SASS_SINK = -1, /* Inst.dst until the kernel's register count is known */
};

/* A branch whose target is looked up when the kernel is complete. */
typedef struct Fixup {
  uint32_t pc;
  Token token; /* a label, or an address in `value` */
} Fixup;

typedef struct SassParser {
  const char *file;
  Diag *diag;
  Scanner scanner;
  GArray *line_starts; /* uint32_t */
  Token token;         /* the current one */
  Program *program;
  GHashTable *kernel_names; /* name -> 1, borrowed from the kernels */
  uint32_t total_insts;
  bool stopped; /* a limit was hit: nothing further is read */

  Kernel *kernel; /* being built, or NULL */
  bool named;     /* by a `.kernel` */
  Token start;    /* where it began */
  GArray *insts, *consts, *marks, *labels, *fixups;
  GHashTable *immediates, *bank_words; /* value -> 1 + index in consts */
  GHashTable *label_index;             /* name -> 1 + index in labels; borrowed names */
  int top_register;                    /* highest used, or -1 */
  bool has_address, has_last;
  uint32_t address, last_address;
  uint32_t pending_marks;
} SassParser;

/* Goes to the next token. */
void sass_parser_advance(SassParser *parser);
/* An error at a token. Returns false. */
bool sass_parser_error(SassParser *parser, const Token *at, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* "expected EXPECTED, found TOKEN", or what is wrong with the token itself. Returns false. */
bool sass_parser_unexpected(SassParser *parser, const Token *at, const char *expected);

typedef enum {
  OPERAND_REGISTER,
  OPERAND_PREDICATE,
  OPERAND_INTEGER,
  OPERAND_REAL,
  OPERAND_BANK,
  OPERAND_MEMORY,
  OPERAND_NAME
} OperandKind;

typedef struct Operand {
  OperandKind kind;
  bool neg, absolute, inverted, negated; /* - |x| ~ ! */
  bool carry;                            /* R0.CC */
  bool hex;                              /* INTEGER */
  uint8_t number;                        /* REGISTER, PREDICATE; MEMORY: the address register */
  uint64_t value;                        /* INTEGER; BANK: byte offset */
  double real;                           /* REAL */
  int32_t offset;                        /* MEMORY */
  Token token;                           /* where it starts */
  Token name;                            /* its own token, behind the signs */
} Operand;

bool sass_operand_parse(SassParser *parser, Operand *operand);
/* PT, P0..P6 as a guard or operand: the number in *number. */
bool sass_operand_predicate(SassParser *parser, const Token *token, uint8_t *number);
/* "the register `R3`": for messages. Free with g_free. */
char *sass_operand_show(const Operand *operand);

/* Fills `inst` (blank but for guard and modifiers) from its operands. `end` is the token behind them. */
bool sass_form_fill(SassParser *parser, Inst *inst, const Operand *operands, unsigned count, const Token *end);

#endif
