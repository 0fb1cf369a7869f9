/* Instructions of a listing: guard, mnemonic, operands, encoding. */
#include <string.h>

#include "isa/mc/mc_listing_reader.h"

/* ---- mnemonics ---- */

static bool is_one_of(const char *word, const char *const *words, gsize count) {
  for (gsize i = 0; i < count; i++)
    if (strcmp(word, words[i]) == 0)
      return true;
  return false;
}

/* Whose last operand, if it is a number, is a place: of a label in nvdisasm's listings. BRX's number is added to a
 * register. */
static bool takes_target(const McMnemonic *mnemonic) {
  static const char *const roots[] = {"BRA", "BSSY", "CALL", "RET", "JMP", "LEPC"};
  if (is_one_of(mnemonic->root, roots, G_N_ELEMENTS(roots)))
    return true;
  return strcmp(mnemonic->root, "WARPSYNC") == 0 && mnemonic->modifiers[0] &&
         strcmp(mnemonic->modifiers[0], "COLLECTIVE") == 0;
}

static bool takes_base(const McMnemonic *mnemonic) {
  static const char *const roots[] = {"CALL", "RET", "BRX", "JMP", "JMX", "BRXU", "JMXU"};
  return is_one_of(mnemonic->root, roots, G_N_ELEMENTS(roots));
}

static const McMnemonic *find_mnemonic(McReader *reader, const char *text, gsize length) {
  char word[128];
  if (length >= sizeof word)
    return NULL;
  memcpy(word, text, length);
  word[length] = '\0';
  McMnemonic *mnemonic = g_hash_table_lookup(reader->mnemonics, word);
  if (mnemonic)
    return mnemonic;
  mnemonic = g_new0(McMnemonic, 1);
  mnemonic->name = mc_module_intern(reader->module, word);
  guint count = 0;
  for (char *rest = word; rest;) {
    char *dot = strchr(rest, '.');
    if (dot)
      *dot++ = '\0';
    if (!mnemonic->root)
      mnemonic->root = mc_module_intern(reader->module, rest);
    else if (count < MC_MODIFIERS_MAX)
      mnemonic->modifiers[count++] = mc_module_intern(reader->module, rest);
    else
      mnemonic->too_long = true;
    rest = dot;
  }
  mnemonic->target = takes_target(mnemonic);
  mnemonic->base = takes_base(mnemonic);
  g_hash_table_insert(reader->mnemonics, (char *)mnemonic->name, mnemonic);
  return mnemonic;
}

static bool read_mnemonic(McReader *reader, McInst *inst, const McMnemonic **found) {
  const char *at = reader->p;
  gsize length = mc_reader_word(reader, at);
  const McMnemonic *mnemonic = length > 0 && g_ascii_isupper(*at) ? find_mnemonic(reader, at, length) : NULL;
  if (!mnemonic)
    return mc_reader_unexpected(reader, at, "an instruction");
  if (mnemonic->too_long)
    return mc_reader_error(reader, at, "an instruction has at most %d modifiers, found %s", MC_MODIFIERS_MAX,
                           mnemonic->name);
  reader->p += length;
  inst->name = mnemonic->name;
  inst->root = mnemonic->root;
  memcpy(inst->modifiers, mnemonic->modifiers, sizeof inst->modifiers);
  *found = mnemonic;
  return true;
}

/* ---- guard and operands ---- */

static bool read_guard(McReader *reader, McInst *inst) {
  inst->guard = (McOperand){.kind = MC_PREDICATE, .number = MC_PT, .column = inst->column};
  if (!mc_reader_take(reader, "@"))
    return true;
  const char *at = reader->p;
  if (!mc_read_operand(reader, &inst->guard))
    return false;
  bool predicate = inst->guard.kind == MC_PREDICATE || inst->guard.kind == MC_UNIFORM_PREDICATE;
  if (!predicate || inst->guard.minus || inst->guard.inverted || inst->guard.absolute)
    return mc_reader_unexpected(reader, at, "a predicate");
  mc_reader_space(reader);
  return true;
}

/* (*"BRANCH_TARGETS .L_x_1,.L_x_2"*), nvdisasm's note of what a branch may reach. */
static void skip_note(McReader *reader) {
  mc_reader_space(reader);
  if (!mc_reader_starts(reader, "(*"))
    return;
  for (const char *p = reader->p + 2; p + 1 < reader->stop; p++)
    if (p[0] == '*' && p[1] == ')') {
      reader->p = p + 2;
      break;
    }
  mc_reader_space(reader);
}

static bool at_inst_end(const McReader *reader) { return reader->p == reader->stop || *reader->p == ';'; }

static bool read_operands(McReader *reader, McInst *inst, const McMnemonic *mnemonic) {
  mc_reader_space(reader);
  while (!at_inst_end(reader)) {
    McOperand operand;
    if (!mc_read_operand(reader, &operand))
      return false;
    skip_note(reader);
    bool last = at_inst_end(reader);
    if (last && mnemonic->target && operand.kind == MC_INTEGER)
      operand.kind = MC_TARGET;
    g_array_append_val(reader->module->operands, operand);
    inst->operands++;
    bool base = mnemonic->base && (operand.kind == MC_REGISTER || operand.kind == MC_UNIFORM);
    if (last)
      break;
    if (!mc_reader_take(reader, ",") && !base)
      return mc_reader_unexpected(reader, reader->p, "`,` or `;`");
    mc_reader_space(reader);
    if (at_inst_end(reader))
      return mc_reader_unexpected(reader, reader->p, "an operand");
  }
  return true;
}

/* ---- encoding ---- */

enum { ENCODING_DIGITS = 16 };

bool mc_read_encoding(McReader *reader) {
  const char *at = reader->p;
  uint64_t value;
  mc_reader_take(reader, "/*");
  mc_reader_space(reader);
  if (!mc_reader_starts(reader, "0x"))
    return mc_reader_unexpected(reader, reader->p, "an encoding such as 0x000fe20000000f00");
  const char *word = reader->p;
  if (!mc_reader_number(reader, &value))
    return false;
  unsigned digits = (unsigned)(reader->p - word) - 2;
  if (digits != ENCODING_DIGITS)
    return mc_reader_error(reader, word, "a word of an encoding has %d hexadecimal digits, found %u", ENCODING_DIGITS,
                           digits);
  mc_reader_space(reader);
  if (!mc_reader_take(reader, "*/"))
    return mc_reader_unexpected(reader, reader->p, "`*/`");
  GArray *insts = reader->module->insts;
  if (!reader->kernel || reader->kernel->insts == 0)
    return mc_reader_error(reader, at, "expected an instruction before its encoding");
  McInst *inst = &g_array_index(insts, McInst, insts->len - 1);
  if (reader->half) {
    inst->high = value;
    inst->encoded = true;
  } else if (inst->encoded || inst->line != reader->number) {
    return mc_reader_error(reader, at, "an encoding has two words, found a third one");
  } else {
    inst->low = value;
  }
  reader->half = !reader->half;
  return true;
}

/* ---- instruction ---- */

/* Instructions follow one another without holes, as branches count on. */
static bool check_address(McReader *reader, bool has_address, uint64_t address) {
  uint64_t expected = reader->expected;
  reader->expected = (has_address ? address : expected) + MC_INST_BYTES;
  if (has_address && address != expected)
    return mc_reader_error(reader, reader->line,
                           "expected the instruction at address %04" G_GINT64_MODIFIER
                           "x, found %04" G_GINT64_MODIFIER "x",
                           expected, address);
  return true;
}

bool mc_read_inst(McReader *reader, bool has_address, uint64_t address) {
  if (!reader->kernel)
    return mc_reader_error(reader, reader->p,
                           "expected `Function : name` or `.section .text.name` before the first instruction");
  McModule *module = reader->module;
  McInst inst = {.line = reader->number,
                 .column = (uint32_t)(reader->p - reader->line) + 1,
                 .first_operand = module->operands->len};
  const McMnemonic *mnemonic = NULL;
  bool right = check_address(reader, has_address, address) && read_guard(reader, &inst) &&
               read_mnemonic(reader, &inst, &mnemonic) && read_operands(reader, &inst, mnemonic);
  inst.address = reader->kernel->insts * MC_INST_BYTES;
  mc_settle_place(reader);
  inst.source_file = reader->place_file;
  inst.source_line = reader->place_line;
  inst.inlined = reader->place_inlined;
  /* One that is wrong stays, so that those behind it have their addresses. */
  g_array_append_val(module->insts, inst);
  reader->kernel->insts++;
  reader->half = false;
  if (!right)
    return false;
  mc_reader_take(reader, ";");
  mc_reader_space(reader);
  if (mc_reader_starts(reader, "/*"))
    return mc_read_encoding(reader);
  if (reader->p < reader->stop && !mc_reader_starts(reader, "//"))
    return mc_reader_unexpected(reader, reader->p, "an encoding or the end of the line");
  return true;
}

void mc_begin_kernel(McReader *reader, const char *name) {
  mc_end_kernel(reader);
  bool listing = reader->kind == MC_NO_SECTION;
  McKernel kernel = {.name = name,
                     .sm = reader->sm,
                     .entry = listing,
                     .line = reader->number,
                     .first_inst = reader->module->insts->len,
                     .registers = -1,
                     .stack_bytes = -1,
                     .shared_bytes = listing ? -1 : 0,
                     .param_base = -1,
                     .param_bytes = -1,
                     .barriers = listing ? -1 : 0,
                     .max_threads = -1};
  g_array_append_val(reader->module->kernels, kernel);
  reader->expected = 0;
  reader->kernel = &g_array_index(reader->module->kernels, McKernel, reader->module->kernels->len - 1);
}

void mc_end_kernel(McReader *reader) {
  reader->kernel = NULL;
  reader->half = false;
}
