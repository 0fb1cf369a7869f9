#include "isa/ptx/ptx_example.h"

#include <string.h>

/* The letter of a register of that type. */
static char letter_for(PtxWord type) {
  if (ptx_type_kind(type) == PTX_KIND_PRED)
    return 'p';
  if (ptx_type_kind(type) == PTX_KIND_FLOAT && ptx_type_bytes(type) > 2)
    return type == PTX_F32 ? 'f' : 'd';
  return ptx_type_bytes(type) == 16 ? 'q' : ptx_type_bytes(type) == 8 ? 'l' : ptx_type_bytes(type) == 4 ? 'r' : 'h';
}

static PtxWord type_for(const PtxShape *shape, const PtxMods *mods) {
  switch (shape->type) {
  case 'T': return (PtxWord)mods->type;
  case 'U': return (PtxWord)mods->type2;
  case 'W': return ptx_type_bytes((PtxWord)mods->type) == 2 ? PTX_B32 : PTX_B64;
  case '*': return PTX_B64;
  default: return (PtxWord)shape->word;
  }
}

static void append_example(const PtxShape *shape, const PtxMods *mods, unsigned number, GString *text) {
  char name[] = {'%', letter_for(type_for(shape, mods)), (char)('1' + number), 0};
  switch (shape->kind) {
  case 'M': g_string_append(text, "[%l2+8]"); return;
  case 'i': g_string_append(text, shape->word == PTX_U32 ? "16" : "3"); return; /* a copy has 16 bytes */
  case 'l': g_string_append(text, "DONE"); return;
  case 't': g_string_append(text, "TABLE"); return;
  case 'q': g_string_append(text, "!"); break;
  case 'C': g_string_append(text, "callee, (%r1)"); return;
  default: break;
  }
  if (shape->vector && mods->vec)
    g_string_append_printf(text, mods->vec == PTX_V2 ? "{%s, %s}" : "{%s, %s, %s, %s}", name, name, name, name);
  else
    g_string_append(text, name);
  if (shape->pairs)
    g_string_append(text, "|%p3");
}

char *ptx_example(const PtxOps *ops, const char *mnemonic) {
  PtxMnemonic decoded;
  PtxMnemonicError error;
  unsigned count;
  if (!ptx_ops_read(ops, mnemonic, strlen(mnemonic), &decoded, &error))
    g_error("%s: %s", mnemonic, error.message);
  const PtxShape *shapes = ptx_ops_shapes(ops, decoded.form, &count);
  GString *text = g_string_new(mnemonic);
  for (unsigned i = 0; i < count; i++) {
    g_string_append(text, i ? ", " : " ");
    append_example(&shapes[i], &decoded.mods, i, text);
  }
  return g_string_free(text, FALSE);
}
