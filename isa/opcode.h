/* opcode.h - enum and facts of each opcode, from opcodes.def. */
#ifndef LOCKSTEP_ISA_OPCODE_H
#define LOCKSTEP_ISA_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  UNIT_ALU,
  UNIT_SHARED,
  UNIT_GLOBAL,
  UNIT_CONTROL,
  UNIT_BARRIER,
  UNIT_VOTE,
  UNIT_SYSREG,
  UNIT_SFU,
  UNIT_FP64,
  UNIT_DIVIDE,
  UNIT_SHUFFLE,
  UNIT_LOCAL,
  UNIT_COUNT
} Unit;

typedef enum {
  FORM_NONE,
  FORM_D_A,
  FORM_D_A_B,
  FORM_D_A_B_C,
  FORM_D_A_B_S,
  FORM_D_A_B_Q,
  FORM_D_A_B_CMP,
  FORM_P_A_B_CMP,
  FORM_P_Q_Q_Q,
  FORM_D_SR,
  FORM_D_P_Q,
  FORM_D_M,
  FORM_P_D_M,
  FORM_M_A,
  FORM_P_M_A,
  FORM_D_M_B_C,
  FORM_BAR,
  FORM_T,
  FORM_A,
  FORM_A_B,
  FORM_P_A
} Form;

enum {
  OPF_NONE = 0,
  OPF_LOAD = 1 << 0,
  OPF_STORE = 1 << 1,
  OPF_ATOMIC = 1 << 2,
  OPF_LOCK = 1 << 3,   /* takes a lock bit */
  OPF_UNLOCK = 1 << 4, /* frees a lock bit */
  OPF_FENCE = 1 << 5,
  OPF_BARRIER = 1 << 6,
  OPF_CONTROL = 1 << 7, /* changes the SIMT stack or the program counter */
  OPF_BRANCH = 1 << 8,  /* may leave the straight line */
  OPF_FLOAT = 1 << 9,
  OPF_NEW = 1 << 10,    /* not an instruction of Fermi SASS: only PTX is lowered to it */
  OPF_SWITCH = 1 << 11, /* lane groups of a warp may switch here (convergence barriers) */
};

typedef enum {
#define OP(id, sass, unit, form, flags, doc) OP_##id,
#include "isa/opcodes.def"
  OP_COUNT
} Opcode;

typedef struct OpInfo {
  const char *id;
  const char *sass;
  Unit unit;
  Form form;
  uint32_t flags;
  const char *doc;
} OpInfo;

extern const OpInfo op_info[OP_COUNT];

/* True for units whose executors touch only rows (registers, constants, predicates) of the executing lanes. */
bool unit_is_arithmetic(Unit unit);

/* The opcode of that Fermi SASS mnemonic (without suffixes), in any case, or OP_COUNT. */
Opcode opcode_from_sass(const char *mnemonic);
/* All SASS mnemonics, NULL-terminated, for "did you mean". */
const char *const *opcode_sass_names(void);

#endif
