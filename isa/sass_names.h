/* sass_names.h - spellings that parser and printer share: modifiers of mnemonics (`.EQ`, `.U32`, `.S`), modifiers of
 * operands, special registers. */
#ifndef LOCKSTEP_ISA_SASS_NAMES_H
#define LOCKSTEP_ISA_SASS_NAMES_H

#include "isa/program.h"

/* What a modifier sets. Two modifiers of one field contradict each other unless they say the same. */
typedef enum {
  FIELD_CMP,
  FIELD_LOP,
  FIELD_LOP2,
  FIELD_TYPE,
  FIELD_WIDTH,
  FIELD_CACHE,
  FIELD_MODE,
  FIELD_FLAG,
  FIELD_NOTHING
} SuffixField;

typedef struct Suffix {
  const char *name; /* without the leading dot; may hold dots (`RED.POPC`) */
  uint32_t group;   /* private to sass_names.c: which opcodes take it */
  SuffixField field;
  uint32_t value;
} Suffix;

/* The instruction of that opcode without modifiers and operands: default type, PT and sinks, no target. */
Inst sass_names_blank(Opcode op);
/* The modifier of `op` that `text` (of `length` bytes, behind a dot) begins with, or NULL. */
const Suffix *sass_names_suffix(Opcode op, const char *text, gsize length);
/* Applies it. `seen` is a mask of fields set so far, 0 at first. False if it contradicts an earlier one. */
bool sass_names_apply(const Suffix *suffix, Inst *inst, uint32_t *seen);
/* What `op` lacks after its modifiers, like "a comparison", or NULL. */
const char *sass_names_missing(Opcode op, uint32_t seen);
/* The modifiers of `op`, NULL-terminated. Free the array, not the names, with g_free. */
const char **sass_names_candidates(Opcode op);
/* Mnemonic and modifiers, canonical. */
void sass_names_print(GString *out, const Inst *inst);

/* The INST_NEG_*, INST_ABS_*, INST_INV_*, INST_CARRY_OUT flags that the operands of `op` may carry. */
uint32_t sass_names_operand_flags(Opcode op);

/* The special register of that name in any spelling (SR_Tid_X, SR_TID.X), or SR_COUNT. */
SpecialReg sass_names_special(const char *name);
/* Canonical names of those of Fermi, NULL-terminated, indexed by SpecialReg; of any one. */
const char *const *sass_names_specials(void);
const char *sass_names_special_text(SpecialReg special);

#endif
