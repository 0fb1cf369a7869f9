/* Machine code from cubins: encodings to text, whole cubins against nvdisasm's listings of the same sources, and what
 * is wrong with one. */
#include <elf.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_cubin_decode.h"
#include "isa/mc/mc_listing.h"
#include "tests/unit/unit.h"

typedef struct Bytes {
  char *at;
  gsize length;
} Bytes;

static Bytes recorded(const char *name) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "tests", "machine_code", name, NULL);
  Bytes bytes;
  ck_assert_msg(g_file_get_contents(path, &bytes.at, &bytes.length, NULL), "%s", path);
  return bytes;
}

static McModule *read_cubin(const Bytes *bytes, Diag *diag) {
  return mc_cubin_read("dir/prog.cubin", (const uint8_t *)bytes->at, bytes->length, diag);
}

static McModule *read_right(const char *name) {
  g_autoptr(Diag) diag = diag_new();
  Bytes bytes = recorded(name);
  ck_assert(mc_is_cubin((const uint8_t *)bytes.at, bytes.length));
  McModule *module = read_cubin(&bytes, diag);
  g_autofree char *shown = diag_render(diag);
  ck_assert_msg(module && diag_count(diag) == 0, "%s: %s", name, shown);
  g_free(bytes.at);
  return module;
}

static McModule *read_listing(const char *name) {
  g_autoptr(Diag) diag = diag_new();
  Bytes bytes = recorded(name);
  McModule *module = mc_listing_parse(name, bytes.at, bytes.length, diag);
  ck_assert_msg(module, "%s", name);
  g_free(bytes.at);
  return module;
}

/* ---- encodings ---- */

/* The message names what who extends the table wants to know. */
static void check_encoding(const McEncoding *encoding, const char *expected, const char *place) {
  g_autoptr(GString) text = g_string_new(NULL);
  McFormMatch match = {0};
  if (mc_decode(encoding, text)) {
    UNIT_ASSERT(strcmp(text->str, expected) == 0, "%s: %s decoded as %s", place, expected, text->str);
    return;
  }
  bool matched = mc_decode_match(encoding, text, &match);
  ck_abort_msg("%s: %s isn't decoded (%s, row %u leaves bits %#" G_GINT64_MODIFIER "x %#" G_GINT64_MODIFIER "x)",
               place, expected, matched ? text->str : "no row", match.row, match.rest_low, match.rest_high);
}

START_TEST(listings_decode_to_their_text) {
  g_autofree char *folder = g_build_filename(g_getenv("SRCDIR"), "tests", "machine_code", NULL);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *name;
  unsigned checked = 0;
  while ((name = g_dir_read_name(dir))) {
    if (!g_str_has_suffix(name, ".sass"))
      continue;
    g_autoptr(McModule) module = read_listing(name);
    for (guint k = 0; k < module->kernels->len; k++) {
      const McKernel *kernel = mc_kernel(module, k);
      for (guint i = 0; i < kernel->insts; i++, checked++) {
        const McInst *inst = mc_inst(module, kernel, i);
        McEncoding encoding = {.sm = kernel->sm, .address = inst->address, .low = inst->low, .high = inst->high};
        g_autofree char *expected = mc_print_inst(module, inst);
        check_encoding(&encoding, expected, name);
      }
    }
  }
  ck_assert_uint_gt(checked, 2700);
}
END_TEST

/* One line for each form: sm, address, two words, text. */
static unsigned check_forms(const char *file) {
  Bytes bytes = recorded(file);
  char **lines = g_strsplit(bytes.at, "\n", -1);
  unsigned checked = 0;
  for (guint i = 0; lines[i]; i++) {
    unsigned sm, address;
    guint64 low, high;
    int end = 0;
    if (*lines[i] == '#' || *lines[i] == '\0')
      continue;
    int fields = sscanf(lines[i], "%u %x %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %n", &sm, &address, &low,
                        &high, &end);
    UNIT_ASSERT(fields == 4 && end > 0, "line %u", i + 1);
    McEncoding encoding = {.sm = sm, .address = address, .low = low, .high = high};
    check_encoding(&encoding, lines[i] + end, lines[i]);
    checked++;
  }
  g_strfreev(lines);
  g_free(bytes.at);
  return checked;
}

START_TEST(each_recorded_form) { ck_assert_uint_gt(check_forms("encodings.txt"), 2590); }
END_TEST

START_TEST(each_inferred_form) { ck_assert_uint_gt(check_forms("inferred.txt"), 15); }
END_TEST

/* What no row has, or has with other bits set, is unknown rather than guessed. */
START_TEST(other_encodings_have_no_text) {
  static const McEncoding encodings[] = {
      {.sm = 90, .low = 0x00000000000079ff, .high = 0x000fe20000000000}, /* no such opcode */
      {.sm = 75, .low = 0x00000000ff007b82, .high = 0x000fe20000001000}, /* LDC with a width that doesn't exist */
      {.sm = 90, .low = 0x000000ff0000720c, .high = 0x002fda0103f05270}, /* ISETP with bit 96 */
      {.sm = 75, .low = 0x0000002404007981, .high = 0x0010e8000c1e1900}, /* LDG as sm_90 has it */
      {.sm = 90,
       .low = 0x0000000000ff7919,
       .high = 0x000e620000007700}, /* S2R of a special register without a name */
      {.sm = 90, .low = 0x8000000000007947, .high = 0x000fea000383ffff}, /* BRA to a place before the kernel */
  };
  for (guint i = 0; i < G_N_ELEMENTS(encodings); i++) {
    g_autoptr(GString) text = g_string_new("kept");
    ck_assert_msg(!mc_decode(&encodings[i], text), "%u: %s", i, text->str);
    ck_assert_str_eq(text->str, "kept");
  }
}
END_TEST

/* ---- whole cubins ---- */

static void check_inst(const McModule *left, const McInst *a, const McModule *right, const McInst *b) {
  g_autofree char *said = mc_print_inst(left, a), *other = mc_print_inst(right, b);
  UNIT_ASSERT(strcmp(said, other) == 0, "%s: %s", said, other);
  UNIT_ASSERT(a->encoded && a->low == b->low && a->high == b->high && a->address == b->address, "%s", said);
  UNIT_ASSERT(strcmp(a->name, b->name) == 0 && strcmp(a->root, b->root) == 0 && a->operands == b->operands, "%s",
              said);
  for (guint i = 0; i < a->operands; i++)
    UNIT_ASSERT(mc_operand(left, a, i)->kind == mc_operand(right, b, i)->kind, "%s", said);
  UNIT_ASSERT(a->source_line == b->source_line, "%s: lines %u, %u", said, a->source_line, b->source_line);
  const char *file = g_ptr_array_index(left->files, a->source_file - 1),
             *same = g_ptr_array_index(right->files, b->source_file - 1);
  UNIT_ASSERT(g_str_has_suffix(file, same), "%s: %s, %s", said, file, same);
}

static void check_kernel(const McModule *left, const McModule *right) {
  const McKernel *a = mc_kernel(left, 0), *b = mc_kernel(right, 0);
  ck_assert(left->kernels->len == 1 && right->kernels->len == 1);
  ck_assert_str_eq(a->name, b->name);
  ck_assert(a->sm == b->sm && a->entry && b->entry);
  ck_assert(a->registers == b->registers && a->stack_bytes == b->stack_bytes && a->shared_bytes == b->shared_bytes);
  ck_assert(a->param_base == b->param_base && a->param_bytes == b->param_bytes && a->barriers == b->barriers);
  ck_assert_uint_eq(a->params->len, b->params->len);
  ck_assert_int_eq(memcmp(a->params->data, b->params->data, a->params->len * sizeof(McParam)), 0);
  ck_assert(!a->targets == !b->targets);
  if (a->targets) {
    ck_assert_uint_eq(a->targets->len, b->targets->len);
    ck_assert_int_eq(memcmp(a->targets->data, b->targets->data, a->targets->len * sizeof(uint32_t)), 0);
  }
  ck_assert_uint_eq(a->insts, b->insts);
  for (guint i = 0; i < a->insts; i++)
    check_inst(left, mc_inst(left, a, i), right, mc_inst(right, b, i));
}

static void check_relocs(const McData *a, const McData *b) {
  ck_assert_msg(!a->relocs == !b->relocs && (!a->relocs || a->relocs->len == b->relocs->len), "%s", a->section);
  for (guint i = 0; a->relocs && i < a->relocs->len; i++) {
    const McReloc *x = &g_array_index(a->relocs, McReloc, i), *y = &g_array_index(b->relocs, McReloc, i);
    ck_assert_msg(x->offset == y->offset && x->bytes == y->bytes && strcmp(x->symbol, y->symbol) == 0 &&
                      x->addend == y->addend,
                  "%s: %u, %s", a->section, x->offset, x->symbol);
  }
}

static void check_data(const McModule *left, const McModule *right) {
  for (guint i = 0; i < right->data->len; i++) {
    const McData *b = &g_array_index(right->data, McData, i), *a = mc_find_data(left, b->section);
    ck_assert_msg(a && a->bytes == b->bytes, "%s", b->section);
    for (guint at = 0; at < a->bytes; at++)
      UNIT_ASSERT((a->data ? a->data[at] : 0) == (b->data ? b->data[at] : 0), "%s: byte %#x", b->section, at);
    check_relocs(a, b);
  }
  for (guint i = 0; i < right->symbols->len; i++) {
    const McSymbol *b = &g_array_index(right->symbols, McSymbol, i), *a = mc_find_symbol(left, b->name);
    if (*b->name == '.')
      continue; /* nvdisasm has a label before each section */
    ck_assert_msg(a && g_strcmp0(a->section, b->section) == 0, "%s", b->name);
    ck_assert_msg(a->value == b->value && a->function == b->function, "%s", b->name);
    ck_assert_msg(b->bytes == 0 || a->bytes == b->bytes, "%s", b->name);
  }
}

START_TEST(cubins_say_what_nvdisasm_says) {
  static const char *const names[] = {"calls.sm_90", "switches.sm_75", "prints.sm_90", "constants.sm_75"};
  g_autofree char *cubin = g_strconcat(names[_i], ".cubin", NULL),
                  *listing = g_strconcat(names[_i], ".nvdisasm.sass", NULL);
  g_autoptr(McModule) left = read_right(cubin);
  g_autoptr(McModule) right = read_listing(listing);
  ck_assert(left->has_data);
  check_kernel(left, right);
  check_data(left, right);
}
END_TEST

/* inner() stands in middle() twice, and that in the kernel, inlined.cu:10. */
START_TEST(inlined_calls) {
  g_autoptr(McModule) module = read_right("inlined.sm_90.cubin");
  const McKernel *kernel = mc_kernel(module, 0);
  unsigned deep[12] = {0}; /* by line of middle(): instructions of inner() */
  for (guint i = 0; i < kernel->insts; i++) {
    const McInst *inst = mc_inst(module, kernel, i);
    ck_assert(g_str_has_suffix(g_ptr_array_index(module->files, inst->source_file - 1), "tests/ptx/inlined.cu"));
    if (inst->source_line > 3) {
      const McFrame *frame = inst->inlined ? &g_array_index(module->frames, McFrame, inst->inlined - 1) : NULL;
      ck_assert_msg(inst->source_line >= 9 ? !frame : frame && frame->line == 10 && frame->parent == 0, "%u",
                    inst->source_line);
      continue;
    }
    const McFrame *frame = &g_array_index(module->frames, McFrame, inst->inlined - 1);
    const McFrame *outer = &g_array_index(module->frames, McFrame, frame->parent - 1);
    ck_assert(frame->line < G_N_ELEMENTS(deep) && frame->parent > 0 && outer->line == 10 && outer->parent == 0);
    deep[frame->line]++;
  }
  ck_assert(deep[6] > 0 && deep[7] > 0);
}
END_TEST

/* In a cubin of several kernels places are counted in each by itself: what is inlined in two_operations() is so at
 * its own lines. */
START_TEST(inlined_in_one_of_several) {
  g_autoptr(Diag) diag = diag_new();
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "tests", "corpus", "cuda_masks.sm_90.cubin", NULL);
  Bytes bytes;
  ck_assert_msg(g_file_get_contents(path, &bytes.at, &bytes.length, NULL), "%s", path);
  g_autoptr(McModule) module = read_cubin(&bytes, diag);
  g_free(bytes.at);
  ck_assert(module != NULL);
  unsigned at_shuffle = 0, at_vote = 0;
  for (guint k = 0; k < module->kernels->len; k++) {
    const McKernel *kernel = mc_kernel(module, k);
    for (guint i = 0; i < kernel->insts && strcmp(kernel->name, "two_operations") == 0; i++) {
      const McInst *inst = mc_inst(module, kernel, i);
      if (!inst->inlined)
        continue;
      uint32_t line = g_array_index(module->frames, McFrame, inst->inlined - 1).line;
      ck_assert_msg(line == 62 || line == 66, "%s: inlined at line %u", inst->root, line);
      at_shuffle += line == 62 && strcmp(inst->root, "SHFL") == 0;
      at_vote += line == 66;
    }
  }
  ck_assert(at_shuffle == 1 && at_vote > 0);
}
END_TEST

static const McOperand *operand_at(const McModule *module, const McKernel *kernel, guint inst, guint operand) {
  return mc_operand(module, mc_inst(module, kernel, inst), operand);
}

/* An object file for the linker: addresses stand in immediates. */
START_TEST(addresses_in_code) {
  g_autoptr(McModule) module = read_right("relocated.sm_75.cubin");
  ck_assert_uint_eq(module->kernels->len, 2);
  const McKernel *kernel = mc_kernel(module, strcmp(mc_kernel(module, 0)->name, "relocated") == 0 ? 0 : 1);
  const McKernel *function = mc_kernel(module, kernel == mc_kernel(module, 0) ? 1 : 0);
  ck_assert(kernel->entry && !function->entry);
  const McOperand *low = operand_at(module, kernel, 1, 1), *high = operand_at(module, kernel, 2, 1);
  ck_assert(low->kind == MC_SYMBOL && low->part == MC_SYMBOL_LOW32 && high->kind == MC_SYMBOL &&
            high->part == MC_SYMBOL_HIGH32);
  ck_assert_str_eq(low->text, "words");
  ck_assert_str_eq(high->text, "words");
  const McOperand *address = operand_at(module, kernel, 4, 1), *above = operand_at(module, kernel, 5, 1);
  ck_assert(address->kind == MC_INTEGER && address->value == 0x100 && above->kind == MC_INTEGER && above->value == 0);
  ck_assert_uint_eq(kernel->insts, 0x100 / MC_INST_BYTES + function->insts); /* it calls by a pointer */
  ck_assert_uint_eq(mc_inst(module, kernel, 0x100 / MC_INST_BYTES)->address, 0x100);
  const McOperand *back = operand_at(module, kernel, 8, 1), *zero = operand_at(module, kernel, 9, 1);
  ck_assert(back->kind == MC_TARGET && back->value == 0xb0 && zero->kind == MC_INTEGER && zero->value == 0);
}
END_TEST

/* The line of the kernel that the instruction is for. */
static uint32_t outermost_line(const McModule *module, const McInst *inst) {
  uint32_t line = inst->source_line;
  for (uint32_t frame = inst->inlined; frame; frame = g_array_index(module->frames, McFrame, frame - 1).parent)
    line = g_array_index(module->frames, McFrame, frame - 1).line;
  return line;
}

/* `nvcc -G` calls inline functions by their addresses: the code of those that a kernel needs stands behind its own,
 * a copy for each call, with the places of the calls. */
START_TEST(functions_behind_kernels) {
  g_autoptr(McModule) module = read_right("debug.sm_90.cubin");
  const McKernel *kernel = NULL;
  for (guint i = 0; i < module->kernels->len; i++)
    if (strcmp(mc_kernel(module, i)->name, "turns") == 0)
      kernel = mc_kernel(module, i);
  enum { TAKES = 22 }; /* line of debug.cu */
  unsigned calls = 0, swaps = 0;
  for (guint i = 0; kernel && i < kernel->insts; i++) {
    const McInst *inst = mc_inst(module, kernel, i);
    const McOperand *first = inst->operands ? mc_operand(module, inst, 0) : NULL;
    if (mc_has_modifier(inst, "CAS")) {
      ck_assert_uint_eq(outermost_line(module, inst), TAKES);
      swaps++;
    }
    ck_assert(strcmp(inst->root, "RET") != 0 || mc_operand(module, inst, 0)->kind == MC_TARGET);
    if (strcmp(inst->name, "CALL.ABS.NOINC") == 0) {
      bool there = false;
      for (guint k = 0; k < kernel->insts; k++)
        there |= mc_inst(module, kernel, k)->address == first->value;
      ck_assert(first->kind == MC_TARGET && first->value > 0 && there);
      calls++;
    }
  }
  ck_assert(calls >= 6 && swaps == 1);
}
END_TEST

static gsize section_offset(const Bytes *bytes, const char *name, gsize *header) {
  Elf64_Ehdr elf;
  memcpy(&elf, bytes->at, sizeof elf);
  for (unsigned i = 0; i < elf.e_shnum; i++) {
    Elf64_Shdr names, section;
    memcpy(&names, bytes->at + elf.e_shoff + elf.e_shstrndx * sizeof names, sizeof names);
    *header = elf.e_shoff + i * sizeof section;
    memcpy(&section, bytes->at + *header, sizeof section);
    if (strcmp(bytes->at + names.sh_offset + section.sh_name, name) == 0)
      return section.sh_offset;
  }
  ck_abort_msg("%s", name);
}

/* A relocation that isn't known makes its instruction unknown. */
START_TEST(other_relocations_in_code) {
  g_autoptr(Diag) diag = diag_new();
  Bytes bytes = recorded("relocated.sm_75.cubin");
  gsize header, at = section_offset(&bytes, ".rel.text.relocated", &header);
  Elf64_Rel first;
  memcpy(&first, bytes.at + at, sizeof first);
  bytes.at[at + offsetof(Elf64_Rel, r_info)] = 0x3b;
  g_autoptr(McModule) module = read_cubin(&bytes, diag);
  ck_assert(module);
  const McKernel *kernel = mc_kernel(module, strcmp(mc_kernel(module, 0)->name, "relocated") == 0 ? 0 : 1);
  unsigned unknown = 0;
  for (guint i = 0; i < kernel->insts; i++)
    unknown += strcmp(mc_inst(module, kernel, i)->root, "?") == 0;
  ck_assert_uint_eq(unknown, 1);
  ck_assert_str_eq(mc_inst(module, kernel, (guint)(first.r_offset / MC_INST_BYTES))->root, "?");
  g_free(bytes.at);
}
END_TEST

START_TEST(unknown_encodings_stay) {
  g_autoptr(Diag) diag = diag_new();
  Bytes bytes = recorded("calls.sm_90.cubin");
  gsize header, code = section_offset(&bytes, ".text.calls", &header);
  bytes.at[code + 0x20] = (char)0xff;
  bytes.at[code + 0x21] = (char)0x2b; /* guard @P2 */
  g_autoptr(McModule) module = read_cubin(&bytes, diag);
  ck_assert(module);
  const McInst *inst = mc_inst(module, mc_kernel(module, 0), 2), *next = mc_inst(module, mc_kernel(module, 0), 3);
  ck_assert_str_eq(inst->name, "?.0xbff");
  ck_assert_str_eq(inst->root, "?");
  ck_assert(mc_has_modifier(inst, "0xbff") && inst->operands == 0 && inst->encoded && inst->address == 0x20);
  ck_assert(inst->guard.kind == MC_PREDICATE && inst->guard.number == 2 && !inst->guard.negated);
  ck_assert(next->address == 0x30 && next->operands > 0);
  g_free(bytes.at);
}
END_TEST

/* ---- mistakes ---- */

typedef enum { MAGIC, MACHINE, ARCHITECTURE, SECTIONS, CODE, ATTRIBUTES, LINES, RELOCATION, EMPTY } Damage;

static const char *const complaints[] = {
    [MAGIC] = "dir/prog.cubin: error: this is no cubin that can be read: it isn't an ELF file\n",
    [MACHINE] = "dir/prog.cubin: error: this is no cubin that can be read: it isn't an ELF file of 64 bits, lowest "
                "byte first, for CUDA\n",
    [ARCHITECTURE] = "dir/prog.cubin: error: this cubin is of sm_120, expected sm_70 to sm_90\n",
    [SECTIONS] =
        "dir/prog.cubin: error: this is no cubin that can be read: its table of sections lies outside the file\n",
    [CODE] = "dir/prog.cubin: error: section `.text.prints`: expected instructions of 16 bytes, found 1016 bytes\n",
    [ATTRIBUTES] = "dir/prog.cubin: error: section `.nv.info.prints`: the attribute at byte 0x8 is cut off or has an "
                   "unknown format\n",
    [LINES] = "dir/prog.cubin: error: section `.debug_line`: the line table ends too early, at byte 0x4\n",
    [RELOCATION] = "dir/prog.cubin: error: section `.nv.constant4`: the relocation at byte 0x30 is of type 119, "
                   "which isn't known\n",
    [EMPTY] = "dir/prog.cubin: error: this is no cubin that can be read: it isn't an ELF file\n",
};

static void put64(Bytes *bytes, gsize at, guint64 value) { memcpy(bytes->at + at, &value, sizeof value); }

static void damage(Bytes *bytes, Damage damage) {
  gsize header, at;
  switch (damage) {
  case MAGIC: bytes->at[0] = 'E'; break;
  case MACHINE: bytes->at[offsetof(Elf64_Ehdr, e_machine)] = 62; break;
  case ARCHITECTURE: bytes->at[offsetof(Elf64_Ehdr, e_flags) + 1] = 120; break;
  case SECTIONS: put64(bytes, offsetof(Elf64_Ehdr, e_shoff), bytes->length - 1); break;
  case CODE:
    section_offset(bytes, ".text.prints", &header);
    put64(bytes, header + offsetof(Elf64_Shdr, sh_size), 1016);
    break;
  case ATTRIBUTES:
    at = section_offset(bytes, ".nv.info.prints", &header);
    bytes->at[at + 8] = 9;
    break;
  case LINES:
    at = section_offset(bytes, ".debug_line", &header);
    bytes->at[at + 1] = 1;
    break;
  case RELOCATION:
    at = section_offset(bytes, ".rela.nv.constant4", &header);
    bytes->at[at + offsetof(Elf64_Rela, r_info)] = 119;
    break;
  case EMPTY: bytes->length = 0; break;
  }
}

START_TEST(what_is_wrong_is_said) {
  g_autoptr(Diag) diag = diag_new();
  Bytes bytes = recorded("prints.sm_90.cubin");
  damage(&bytes, (Damage)_i);
  g_autoptr(McModule) module = read_cubin(&bytes, diag);
  g_autofree char *shown = diag_render(diag);
  ck_assert(!module);
  ck_assert_str_eq(shown, complaints[_i]);
  g_free(bytes.at);
}
END_TEST

/* Any length that doesn't have the whole table of sections is an error, and no more than that. */
START_TEST(cut_files) {
  Bytes whole = recorded("inlined.sm_90.cubin");
  Elf64_Ehdr elf;
  memcpy(&elf, whole.at, sizeof elf);
  for (gsize length = 0; length < elf.e_shoff + elf.e_shnum * sizeof(Elf64_Shdr); length += 7) {
    g_autoptr(Diag) diag = diag_new();
    g_autofree char *copy = g_memdup2(whole.at, length);
    Bytes bytes = {copy, length};
    g_autoptr(McModule) module = read_cubin(&bytes, diag);
    ck_assert_msg(!module && diag_has_errors(diag), "%zu bytes", length);
  }
  g_free(whole.at);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("mc_cubin");
  TCase *tcase = tcase_create("mc_cubin");
  tcase_add_test(tcase, listings_decode_to_their_text);
  tcase_add_test(tcase, each_recorded_form);
  tcase_add_test(tcase, each_inferred_form);
  tcase_add_test(tcase, other_encodings_have_no_text);
  tcase_add_loop_test(tcase, cubins_say_what_nvdisasm_says, 0, 4);
  tcase_add_test(tcase, inlined_calls);
  tcase_add_test(tcase, inlined_in_one_of_several);
  tcase_add_test(tcase, addresses_in_code);
  tcase_add_test(tcase, functions_behind_kernels);
  tcase_add_test(tcase, other_relocations_in_code);
  tcase_add_test(tcase, unknown_encodings_stay);
  tcase_add_loop_test(tcase, what_is_wrong_is_said, 0, G_N_ELEMENTS(complaints));
  tcase_add_test(tcase, cut_files);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
