#include "isa/opcode.h"

#include <glib.h>

const OpInfo op_info[OP_COUNT] = {
#define OP(id, sass, unit, form, flags, doc) [OP_##id] = {#id, sass, UNIT_##unit, FORM_##form, flags, doc},
#include "isa/opcodes.def"
};

static const char *const sass_names[OP_COUNT + 1] = {
#define OP(id, sass, unit, form, flags, doc) [OP_##id] = sass,
#include "isa/opcodes.def"
};

Opcode opcode_from_sass(const char *mnemonic) {
  char first = g_ascii_toupper(mnemonic[0]);
  for (unsigned op = 0; op < OP_COUNT; op++)
    if (sass_names[op][0] == first && g_ascii_strcasecmp(sass_names[op], mnemonic) == 0)
      return (Opcode)op;
  return OP_COUNT;
}

const char *const *opcode_sass_names(void) { return sass_names; }
