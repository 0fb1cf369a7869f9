#include "isa/opcode.h"

#include <glib.h>

const OpInfo op_info[OP_COUNT] = {
#define OP(id, sass, unit, form, flags, doc) [OP_##id] = {#id, sass, UNIT_##unit, FORM_##form, flags, doc},
#include "isa/opcodes.def"
};

static const char *const fermi_names[] = {
#define OP(id, sass, unit, form, flags, doc) (((flags)&OPF_NEW) ? NULL : sass),
#include "isa/opcodes.def"
    NULL};

/* In Fermi SASS's table the new ones come last, so that their NULLs end the list of names. */
Opcode opcode_from_sass(const char *mnemonic) {
  char first = g_ascii_toupper(mnemonic[0]);
  for (unsigned op = 0; fermi_names[op]; op++)
    if (fermi_names[op][0] == first && g_ascii_strcasecmp(fermi_names[op], mnemonic) == 0)
      return (Opcode)op;
  return OP_COUNT;
}

const char *const *opcode_sass_names(void) { return fermi_names; }

bool unit_is_arithmetic(Unit unit) {
  return unit == UNIT_ALU || unit == UNIT_SFU || unit == UNIT_FP64 || unit == UNIT_DIVIDE;
}
