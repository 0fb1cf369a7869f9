/* Listings of machine code: recorded ones, operands one by one, data and resources, mistakes. */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "isa/mc/mc_listing.h"
#include "tests/unit/unit.h"

static McModule *parse(const char *text, Diag *diag) {
  return mc_listing_parse("dir/prog.sass", text, strlen(text), diag);
}

static McModule *parse_right(const char *text) {
  g_autoptr(Diag) diag = diag_new();
  McModule *module = parse(text, diag);
  g_autofree char *shown = diag_render(diag);
  ck_assert_msg(module && diag_count(diag) == 0, "%s\n%s", text, shown);
  return module;
}

static char *recorded(const char *name) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "tests", "machine_code", name, NULL);
  char *text = NULL;
  ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
  return text;
}

static const McKernel *only_kernel(const McModule *module) {
  ck_assert_uint_eq(module->kernels->len, 1);
  return mc_kernel(module, 0);
}

/* ---- recorded listings ---- */

static char *without_space(const char *from, gsize length) {
  GString *out = g_string_new(NULL);
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isspace(from[i]))
      g_string_append_c(out, from[i]);
  return g_string_free(out, FALSE);
}

/* Prints each instruction and compares with its line; labels of nvdisasm are numbers there, so such lines are left
 * out. */
static unsigned check_lines(const char *name, const char *text, const McModule *module) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  unsigned checked = 0;
  for (guint i = 0; i < module->insts->len; i++) {
    const McInst *inst = &g_array_index(module->insts, McInst, i);
    const char *line = lines[inst->line - 1], *start = line + inst->column - 1, *end = strchr(start, ';');
    g_autofree char *printed = mc_print_inst(module, inst);
    g_autofree char *left = without_space(printed, strlen(printed)), *right = without_space(start, end - start);
    UNIT_ASSERT(inst->encoded, "%s:%u: no encoding", name, inst->line);
    if (strpbrk(right, "`*"))
      continue;
    UNIT_ASSERT(strcmp(left, right) == 0, "%s:%u: %s printed as %s", name, inst->line, right, left);
    checked++;
  }
  return checked;
}

START_TEST(listings_print_as_they_were_read) {
  g_autofree char *folder = g_build_filename(g_getenv("SRCDIR"), "tests", "machine_code", NULL);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *name;
  unsigned checked = 0;
  while ((name = g_dir_read_name(dir))) {
    if (!g_str_has_suffix(name, ".sass"))
      continue;
    g_autofree char *text = recorded(name);
    ck_assert_msg(mc_is_listing(text, strlen(text)), "%s", name);
    g_autoptr(McModule) module = parse_right(text);
    checked += check_lines(name, text, module);
  }
  ck_assert_uint_gt(checked, 2700);
}
END_TEST

/* nvdisasm and cuobjdump print the same code: the first with labels, the second with addresses. */
START_TEST(both_tools_say_the_same) {
  static const char *const pairs[][2] = {{"calls.sm_90.nvdisasm.sass", "calls.sm_90.sass"},
                                         {"switches.sm_75.nvdisasm.sass", "switches.sm_75.sass"},
                                         {"prints.sm_90.nvdisasm.sass", "prints.sm_90.sass"},
                                         {"constants.sm_75.nvdisasm.sass", "constants.sm_75.sass"}};
  g_autofree char *one = recorded(pairs[_i][0]), *two = recorded(pairs[_i][1]);
  g_autoptr(McModule) left = parse_right(one);
  g_autoptr(McModule) right = parse_right(two);
  const McKernel *a = only_kernel(left), *b = only_kernel(right);
  ck_assert_str_eq(a->name, b->name);
  ck_assert_uint_eq(a->sm, b->sm);
  ck_assert_uint_eq(a->insts, b->insts);
  ck_assert(left->has_data && !right->has_data && a->entry);
  for (guint i = 0; i < a->insts; i++) {
    const McInst *x = mc_inst(left, a, i), *y = mc_inst(right, b, i);
    g_autofree char *said = mc_print_inst(left, x), *other = mc_print_inst(right, y);
    UNIT_ASSERT(strcmp(said, other) == 0, "%s: %s", said, other);
    UNIT_ASSERT(x->address == i * MC_INST_BYTES && x->low == y->low && x->high == y->high, "%s", said);
    for (guint o = 0; o < x->operands; o++)
      UNIT_ASSERT(mc_operand(left, x, o)->kind == mc_operand(right, y, o)->kind, "%s", said);
  }
}
END_TEST

/* ---- operands ---- */

typedef struct Shape {
  const char *text; /* an instruction */
  guint index;      /* the operand that is looked at */
  McOperand expected;
} Shape;

#define NONE .base = MC_NO_REGISTER, .uniform = MC_NO_REGISTER, .descriptor = MC_NO_REGISTER, .scale = 1

static const Shape shapes[] = {
    {"MOV R4, RZ", 0, {.kind = MC_REGISTER, .number = 4, NONE}},
    {"MOV R4, RZ", 1, {.kind = MC_REGISTER, .number = MC_RZ, NONE}},
    {"IADD3 R1, -R4.reuse, RZ, RZ", 1, {.kind = MC_REGISTER, .number = 4, .minus = true, .reuse = true, NONE}},
    {"FADD R1, -|R0|.reuse, RZ", 1, {.kind = MC_REGISTER, .minus = true, .absolute = true, .reuse = true, NONE}},
    {"IADD3.X R1, ~R254, RZ, RZ, P0, !PT", 1, {.kind = MC_REGISTER, .number = 254, .inverted = true, NONE}},
    {"IADD3.X R1, ~R254, RZ, RZ, P0, !PT", 5, {.kind = MC_PREDICATE, .number = MC_PT, .negated = true, NONE}},
    {"I2F.U16 R1, R20.H1", 1, {.kind = MC_REGISTER, .number = 20, .part = MC_H1, NONE}},
    {"I2F.S8 R1, R23.B2", 1, {.kind = MC_REGISTER, .number = 23, .part = MC_B2, NONE}},
    {"HADD2 R1, R2.H0_H0, -R3.reuse.H1_H1",
     2,
     {.kind = MC_REGISTER, .number = 3, .part = MC_H1_H1, .minus = true, .reuse = true, NONE}},
    {"VOTEU.ANY UR4, UPT, P3", 0, {.kind = MC_UNIFORM, .number = 4, NONE}},
    {"VOTEU.ANY URZ, UPT, P3", 0, {.kind = MC_UNIFORM, .number = MC_URZ, NONE}},
    {"VOTEU.ANY UR4, UP5, P3", 1, {.kind = MC_UNIFORM_PREDICATE, .number = 5, NONE}},
    {"BSYNC B15", 0, {.kind = MC_BARRIER, .number = 15, NONE}},
    {"DEPBAR.LE SB5, 0x0, {4,1}", 0, {.kind = MC_SCOREBOARD, .number = 5, NONE}},
    {"DEPBAR.LE SB5, 0x0, {4,1}", 2, {.kind = MC_SCOREBOARDS, .value = 0x12, NONE}},
    {"VIADD R1, R1, 0xffffffd0", 2, {.kind = MC_INTEGER, .value = 0xffffffd0, NONE}},
    {"IADD3 R1, R1, -0x30, RZ", 2, {.kind = MC_INTEGER, .value = (uint64_t)-0x30, NONE}},
    {"MOV R1, 0x0", 1, {.kind = MC_INTEGER, NONE}},
    {"FADD R1, R2, -24", 2, {.kind = MC_REAL, .real = -24, NONE}},
    {"FADD R1, R2, 4.17232513427734375e-07", 2, {.kind = MC_REAL, .real = 4.17232513427734375e-07, NONE}},
    {"FADD R1, R2, +INF ", 2, {.kind = MC_REAL, .real = INFINITY, NONE}},
    {"FADD R1, R2, -INF ", 2, {.kind = MC_REAL, .real = -INFINITY, NONE}},
    {"LDC R1, c[0x3][0x1c]", 1, {.kind = MC_CONSTANT, .bank = 3, .offset = 0x1c, NONE}},
    {"LDC R1, c[0x2][R0+0xc]",
     1,
     {.kind = MC_CONSTANT, .bank = 2, .offset = 0xc, .base = 0, .uniform = -1, .descriptor = -1, .scale = 1}},
    {"LDC R1, c[0x2][RZ]",
     1,
     {.kind = MC_CONSTANT, .bank = 2, .base = MC_RZ, .uniform = -1, .descriptor = -1, .scale = 1}},
    {"ULDC UR1, c[0x0][UR4+0x8]",
     1,
     {.kind = MC_CONSTANT, .offset = 8, .base = -1, .uniform = 4, .descriptor = -1, .scale = 1}},
    {"ULDC UR1, cx[UR4][0x8]",
     1,
     {.kind = MC_CONSTANT, .bank = -1, .offset = 8, .base = -1, .uniform = 4, .descriptor = -1, .scale = 1}},
    {"IADD3 R1, R1, -c[0x0][0x20], RZ", 2, {.kind = MC_CONSTANT, .offset = 0x20, .minus = true, NONE}},
    {"LDS R1, [0x20]", 1, {.kind = MC_MEMORY, .offset = 0x20, NONE}},
    {"LDS R1, [R4+-0x8]",
     1,
     {.kind = MC_MEMORY, .offset = -8, .base = 4, .uniform = -1, .descriptor = -1, .scale = 1}},
    {"LDS R1, [R0.X4+URZ]", 1, {.kind = MC_MEMORY, .base = 0, .uniform = MC_URZ, .descriptor = -1, .scale = 4}},
    {"LDS R1, [R9.X16+0x100]",
     1,
     {.kind = MC_MEMORY, .base = 9, .offset = 0x100, .uniform = -1, .descriptor = -1, .scale = 16}},
    {"LDG.E.SYS R1, [R3.U32+UR6+0x8]",
     1,
     {.kind = MC_MEMORY, .base = 3, .part = MC_U32, .offset = 8, .uniform = 6, .descriptor = -1, .scale = 1}},
    {"LDG.E R1, desc[UR4][R2.64+0x4]",
     1,
     {.kind = MC_MEMORY, .base = 2, .part = MC_PAIR64, .offset = 4, .uniform = -1, .descriptor = 4, .scale = 1}},
    {"LDG.E R1, [UR4.64]",
     1,
     {.kind = MC_MEMORY, .base = -1, .uniform = 4, .uniform_pair = true, .descriptor = -1, .scale = 1}},
    {"BRA 0x40", 0, {.kind = MC_TARGET, .value = 0x40, NONE}},
    {"BRA !P1, 0x40", 0, {.kind = MC_PREDICATE, .number = 1, .negated = true, NONE}},
    {"BRA.CONV ~URZ, 0x620", 0, {.kind = MC_UNIFORM, .number = MC_URZ, .inverted = true, NONE}},
    {"BRX R6 -0x1c0", 1, {.kind = MC_INTEGER, .value = (uint64_t)-0x1c0, NONE}},
    {"RET.REL.NODEC R2 0x0", 1, {.kind = MC_TARGET, NONE}},
    {"LEPC R20, 0x170", 1, {.kind = MC_TARGET, .value = 0x170, NONE}},
    {"WARPSYNC 0xffffffff", 0, {.kind = MC_INTEGER, .value = 0xffffffff, NONE}},
    {"WARPSYNC.COLLECTIVE R5, 0x420", 1, {.kind = MC_TARGET, .value = 0x420, NONE}},
    {"R2P PR, R0, 0x3", 0, {.kind = MC_PREDICATES, NONE}},
};

static bool same_operand(const McOperand *a, const McOperand *b) {
  return a->kind == b->kind && a->minus == b->minus && a->absolute == b->absolute && a->inverted == b->inverted &&
         a->negated == b->negated && a->reuse == b->reuse && a->part == b->part && a->scale == b->scale &&
         a->bank == b->bank && a->number == b->number && a->base == b->base && a->uniform == b->uniform &&
         a->descriptor == b->descriptor && a->uniform_pair == b->uniform_pair && a->offset == b->offset &&
         a->value == b->value;
}

#define HEADER "\tcode for sm_90\n\t\tFunction : k\n"

START_TEST(operands_by_their_parts) {
  const Shape *shape = &shapes[_i];
  g_autofree char *text = g_strdup_printf(HEADER "/*0000*/ %s ;\n", shape->text);
  g_autoptr(McModule) module = parse_right(text);
  const McInst *inst = mc_inst(module, only_kernel(module), 0);
  ck_assert_msg(shape->index < inst->operands, "%s", shape->text);
  ck_assert_msg(same_operand(mc_operand(module, inst, shape->index), &shape->expected), "%s", shape->text);
  g_autofree char *printed = mc_print_inst(module, inst), *squeezed = without_space(shape->text, strlen(shape->text));
  g_autofree char *again = without_space(printed, strlen(printed));
  ck_assert_str_eq(again, squeezed);
}
END_TEST

START_TEST(words_that_nobody_knows) {
  g_autoptr(McModule) module =
      parse_right(HEADER "/*0000*/ @!UP2 TMAX.2D.B R4.T, gdesc[UR8].sel, 2D, SR_CLOCKLO, SRZ, -QNAN , MACTIVE ;\n");
  static const McOperandKind kinds[] = {MC_NAME, MC_NAME, MC_NAME, MC_SPECIAL, MC_SPECIAL, MC_REAL, MC_NAME};
  static const char *const texts[] = {"R4.T", "gdesc[UR8].sel", "2D", "SR_CLOCKLO", "SRZ", NULL, "MACTIVE"};
  const McInst *inst = mc_inst(module, only_kernel(module), 0);
  ck_assert_str_eq(inst->name, "TMAX.2D.B");
  ck_assert_str_eq(inst->root, "TMAX");
  ck_assert(mc_has_modifier(inst, "2D") && mc_has_modifier(inst, "B") && !mc_has_modifier(inst, "TMAX"));
  ck_assert_uint_eq(inst->operands, G_N_ELEMENTS(kinds));
  ck_assert(inst->guard.kind == MC_UNIFORM_PREDICATE && inst->guard.number == 2 && inst->guard.negated &&
            !inst->encoded);
  for (guint i = 0; i < inst->operands; i++) {
    ck_assert_uint_eq(mc_operand(module, inst, i)->kind, kinds[i]);
    if (texts[i])
      ck_assert_str_eq(mc_operand(module, inst, i)->text, texts[i]);
  }
  ck_assert(isnan(mc_operand(module, inst, 5)->real) && signbit(mc_operand(module, inst, 5)->real));
}
END_TEST

/* ---- control bits ---- */

START_TEST(control_bits) {
  g_autoptr(McModule) module = parse_right(HEADER "/*0000*/ LDC R1, c[0x0][0x28] ; /* 0x00000a00ff017b82 */\n"
                                                  "            /* 0x000e220000000800 */\n");
  const McInst *inst = mc_inst(module, only_kernel(module), 0);
  ck_assert(inst->encoded && inst->low == 0x00000a00ff017b82 && inst->high == 0x000e220000000800);
  McControl control = mc_control(inst);
  ck_assert(control.stall == 1 && control.yield && control.write == 0 && control.read == MC_NO_SCOREBOARD &&
            control.wait == 0);
}
END_TEST

/* ---- data, symbols, resources ---- */

START_TEST(nvdisasm_has_resources) {
  g_autofree char *text = recorded("calls.sm_90.nvdisasm.sass");
  g_autoptr(McModule) module = parse_right(text);
  const McKernel *kernel = only_kernel(module);
  ck_assert_int_eq(kernel->registers, 24);
  ck_assert_int_eq(kernel->stack_bytes, 48);
  ck_assert_int_eq(kernel->shared_bytes, 0);
  ck_assert_int_eq(kernel->param_base, 0x210);
  ck_assert_int_eq(kernel->param_bytes, 0x4c);
  ck_assert_int_eq(kernel->barriers, 0);
  static const McParam params[] = {{0, 0, 8}, {1, 8, 12}, {2, 0x14, 12}, {3, 0x20, 32}, {4, 0x40, 8}, {5, 0x48, 4}};
  ck_assert_uint_eq(kernel->params->len, G_N_ELEMENTS(params));
  ck_assert_int_eq(memcmp(kernel->params->data, params, sizeof params), 0);
  const McSymbol *function = mc_find_symbol(module, "$calls$_Z3fibi");
  ck_assert(function && function->function && function->bytes > 0 && function->value > 0);
  ck_assert_str_eq(function->section, ".text.calls");
  const McInst *first = mc_inst(module, kernel, 0);
  ck_assert_str_eq(g_ptr_array_index(module->files, first->source_file - 1), "tests/ptx/calls.cu");
  ck_assert(first->source_line == 22 && first->inlined == 0);
}
END_TEST

START_TEST(tables_of_branches) {
  g_autofree char *text = recorded("switches.sm_75.nvdisasm.sass");
  g_autoptr(McModule) module = parse_right(text);
  static const uint32_t targets[] = {0x1f0, 0x1c0, 0x830, 0x340, 0x310, 0x850,
                                     0x510, 0x4e0, 0x870, 0x6e0, 0x660, 0x730};
  const McKernel *kernel = only_kernel(module);
  ck_assert_uint_eq(kernel->targets->len, G_N_ELEMENTS(targets));
  const McData *table = mc_find_data(module, ".nv.constant2.switches");
  ck_assert_uint_eq(table->bytes, 0x50);
  for (guint i = 0; i < G_N_ELEMENTS(targets); i++) {
    uint32_t word;
    memcpy(&word, table->data + 4 * i, 4);
    bool found = false;
    for (guint t = 0; t < kernel->targets->len; t++)
      found = found || g_array_index(kernel->targets, uint32_t, t) == word;
    ck_assert_msg(found, "%#x", word);
  }
}
END_TEST

static void check_reloc(const McData *data, guint index, uint32_t offset, const char *symbol, int64_t addend) {
  ck_assert_uint_lt(index, data->relocs->len);
  const McReloc *reloc = &g_array_index(data->relocs, McReloc, index);
  ck_assert_uint_eq(reloc->offset, offset);
  ck_assert_uint_eq(reloc->bytes, 8);
  ck_assert_str_eq(reloc->symbol, symbol);
  ck_assert_int_eq(reloc->addend, addend);
}

START_TEST(addresses_in_data) {
  g_autofree char *text = recorded("prints.sm_90.nvdisasm.sass"), *other = recorded("constants.sm_75.nvdisasm.sass");
  g_autoptr(McModule) prints = parse_right(text);
  const McData *bank = mc_find_data(prints, ".nv.constant4");
  ck_assert_uint_eq(bank->bytes, 0x38);
  check_reloc(bank, 0, 0, "vprintf", 0);
  check_reloc(bank, 6, 0x30, "$str$3", 0);
  const McSymbol *symbol = mc_find_symbol(prints, "vprintf"), *string = mc_find_symbol(prints, "$str$1");
  ck_assert(symbol && !symbol->section && symbol->function);
  ck_assert(string && string->value == 0 && string->bytes == 8 && !string->function);
  ck_assert_str_eq((const char *)mc_find_data(prints, string->section)->data, "quoted\t");
  g_autoptr(McModule) constants = parse_right(other);
  const McData *global = mc_find_data(constants, ".nv.global.init");
  check_reloc(global, 0, 8, "target", 0);
  check_reloc(global, 1, 0x10, "primes", 0);
  check_reloc(global, global->relocs->len - 1, 0x38, "partly", 0x10);
  const McData *zeroed = mc_find_data(constants, ".nv.global");
  ck_assert(zeroed->bytes == 400 && !zeroed->data);
  ck_assert_int_eq(only_kernel(constants)->shared_bytes, 4);
}
END_TEST

START_TEST(resource_lines) {
  g_autoptr(McModule) module =
      parse_right("Fatbin elf code:\n================\narch = sm_75\ncode version = [1,8]\n\nResource usage:\n"
                  " Common:\n  GLOBAL:108 CONSTANT[4]:56\n Function k:\n"
                  "  REG:24 STACK:48 SHARED:16 LOCAL:8 CONSTANT[0]:428 TEXTURE:0 SURFACE:0 SAMPLER:0\n"
                  "\tcode for sm_75\n\t\tFunction : k\n/*0000*/ EXIT ;\n\t\t..........\n" HEADER
                  "\t.headerflags\t@\"EF_CUDA_SM90\"\n/*0000*/ NOP;\n/*0010*/ EXIT;\n");
  ck_assert_uint_eq(module->kernels->len, 2);
  const McKernel *old = mc_kernel(module, 0), *new = mc_kernel(module, 1);
  ck_assert(old->sm == 75 && old->registers == 24 && old->stack_bytes == 56 && old->shared_bytes == 16);
  ck_assert(old->param_base == 0x160 && old->param_bytes == 0x4c);
  ck_assert(new->sm == 90 && new->registers == -1 && new->insts == 2 && new->first_inst == 1);
}
END_TEST

START_TEST(inlined_places) {
  static const char text[] =
      "\t.target\tsm_90\n\t.elftype\t@\"ET_EXEC\"\n\t.section\t.text.k,\"ax\",@progbits\n"
      "\t.other\tk,@\"STO_CUDA_ENTRY STV_DEFAULT\"\nk:\n.text.k:\n"
      "\t//## File \"a.h\", line 3 inlined at \"b.h\", line 5\n"
      "\t//## File \"b.h\", line 5 inlined at \"c.cu\", line 9\n"
      "\t//## File \"c.cu\", line 9\n"
      "/*0000*/ BRA `(.L_x_0) ;\n"
      "\t//## File \"c.cu\", line 9\n"
      ".L_x_0:\n/*0010*/ MOV R4, 32@lo((k + .L_x_0@srel)) ;\n/*0020*/ MOV R5, 32@hi((k + .L_x_0@srel)) ;\n"
      "/*0030*/ CALL.ABS.NOINC `(vprintf) ;\n";
  g_autoptr(McModule) module = parse_right(text);
  const McKernel *kernel = only_kernel(module);
  const McInst *first = mc_inst(module, kernel, 0), *second = mc_inst(module, kernel, 1),
               *third = mc_inst(module, kernel, 2), *call = mc_inst(module, kernel, 3);
  ck_assert(mc_is_listing(text, strlen(text)) && kernel->entry);
  ck_assert(first->source_line == 3 && first->inlined == 2 && second->source_line == 9 && second->inlined == 0);
  const McFrame *inner = &g_array_index(module->frames, McFrame, 1),
                *outer = &g_array_index(module->frames, McFrame, 0);
  ck_assert(inner->line == 5 && inner->parent == 1 && outer->line == 9 && outer->parent == 0);
  ck_assert(mc_operand(module, first, 0)->kind == MC_TARGET && mc_operand(module, first, 0)->value == 0x10);
  ck_assert(mc_operand(module, second, 1)->kind == MC_TARGET && mc_operand(module, second, 1)->value == 0x10);
  ck_assert(mc_operand(module, third, 1)->kind == MC_INTEGER && mc_operand(module, third, 1)->value == 0);
  ck_assert(mc_operand(module, call, 0)->kind == MC_SYMBOL && !mc_find_symbol(module, ".L_x_0"));
  ck_assert_str_eq(mc_operand(module, call, 0)->text, "vprintf");
}
END_TEST

/* ---- which texts are listings ---- */

START_TEST(other_texts_are_none) {
  static const char *const texts[] = {".kernel k\nNOP\nEXIT\n",
                                      "\tcode for sm_20\n\t\tFunction : k\n/*0000*/ EXIT;\n",
                                      ".version 8.0\n.target sm_90\n.address_size 64\n",
                                      "",
                                      "\n\n",
                                      "code for sm_"};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
    ck_assert_msg(!mc_is_listing(texts[i], strlen(texts[i])), "%s", texts[i]);
}
END_TEST

/* ---- mistakes ---- */

typedef struct Mistake {
  const char *text, *message;
} Mistake;

#define ONE(text) HEADER "/*0000*/ " text " ;\n"
#define DATA "\t.target sm_90\n\t.section .text.k,\"ax\"\n/*0000*/ EXIT;\n\t.section .nv.constant3,\"a\",@progbits\n"

#define W1 "0x0000000000007918"
#define W2 "0x000fc00000000000"
#define W3 "0x0000000000000003"

static const Mistake mistakes[] = {
    {"", "dir/prog.sass: error: this listing has no kernel of sm_70 to sm_90\n"},
    {"code for sm_90\nFunction : k\n", "dir/prog.sass:2:1: error: the kernel `k` has no instructions\n"},
    {"Function : k\n", "dir/prog.sass:1:12: error: expected `code for sm_90` or the like before the first kernel\n"
                       "dir/prog.sass: error: this listing has no kernel of sm_70 to sm_90\n"},
    {HEADER "/*0000*/ NOP;\n/*0020*/ EXIT;\n",
     "dir/prog.sass:4:1: error: expected the instruction at address 0010, found 0020\n"},
    {HEADER "/*0000*/ NOP; /* " W1 " */\n/*0010*/ EXIT;\n",
     "dir/prog.sass:4:10: error: expected the second word of the encoding, found `EXIT`\n"},
    {HEADER "/*0000*/ NOP; /* " W1 " */\n /* " W2 " */\n /* " W3 " */\n",
     "dir/prog.sass:5:2: error: an encoding has two words, found a third one\n"},
    {HEADER "/*0000*/ NOP; /* " W1 " */\n",
     "dir/prog.sass:3:39: error: expected the second word of the encoding, found the end of the line\n"},
    {HEADER "/*0000*/ NOP; /* 0x1234 */\n",
     "dir/prog.sass:3:18: error: a word of an encoding has 16 hexadecimal digits, found 4\n"},
    {HEADER "/*0000*/ NOP; /* nonsense */\n",
     "dir/prog.sass:3:18: error: expected an encoding such as 0x000fe20000000f00, found `nonsense`\n"},
    {ONE("nop"), "dir/prog.sass:3:10: error: expected an instruction, found `nop`\n"},
    {ONE("@R1 NOP"), "dir/prog.sass:3:11: error: expected a predicate, found `R1`\n"},
    {ONE("MOV R1,"), "dir/prog.sass:3:18: error: expected an operand, found `;`\n"},
    {ONE("MOV R1 R2"), "dir/prog.sass:3:17: error: expected `,` or `;`, found `R2`\n"},
    {ONE("MOV R1, R255"), "dir/prog.sass:3:18: error: expected R0 to R254, or RZ, found `R255`\n"},
    {ONE("MOV R1, UR63"), "dir/prog.sass:3:18: error: expected UR0 to UR62, or URZ, found `UR63`\n"},
    {ONE("MOV R1, P7"), "dir/prog.sass:3:18: error: expected P0 to P6, or PT, found `P7`\n"},
    {ONE("BSYNC B16"), "dir/prog.sass:3:16: error: expected B0 to B15, found `B16`\n"},
    {ONE("MOV R1, 0x"), "dir/prog.sass:3:18: error: expected a number, found `0x`\n"},
    {ONE("MOV R1, 0x10000000000000000"), "dir/prog.sass:3:18: error: a number has at most 64 bits\n"},
    {ONE("LDS R1, [R1+0x100000000]"), "dir/prog.sass:3:22: error: an offset has 32 bits, found 0x100000000\n"},
    {ONE("LDC R1, c[0x20][0x0]"),
     "dir/prog.sass:3:20: error: expected a constant bank from 0x0 to 0x1f, found 0x20\n"},
    {ONE("LDS R1, [R1"), "dir/prog.sass:3:22: error: expected a closing bracket, found `;`\n"},
    {ONE("LDS R1, R1]"), "dir/prog.sass:3:20: error: expected an operand, found `]`\n"},
    {ONE("MOV R1, #4"), "dir/prog.sass:3:18: error: expected an operand, found `#`\n"},
    {ONE("BRA `(.L_x_9)"), "dir/prog.sass:3:14: error: the label `.L_x_9` stands nowhere\n"},
    {ONE("BRA `(.L_x_9"), "dir/prog.sass:3:23: error: expected `)`, found `;`\n"},
    {DATA ".word 1 2\n", "dir/prog.sass:5:9: error: expected `,` or the end of the line, found `2`\n"},
    {DATA ".quad 1\n", "dir/prog.sass:5:1: error: expected data (.byte .short .word .dword .zero), a label or a "
                       "directive of nvdisasm, found `.quad`\n"},
    {DATA "/*0004*/ .word 1\n/*0000*/ .word 1\n",
     "dir/prog.sass:6:1: error: expected data at 0008 or above, found 0000\n"},
    {DATA ".short (.L_2 - .L_1)\n", "dir/prog.sass:5:8: error: the label `.L_2` stands nowhere\n"},
    {DATA "a:\na:\n", "dir/prog.sass:6:1: error: the label a stands twice\n"},
    {DATA "NOP\n", "dir/prog.sass:5:1: error: expected data, a label or a directive of nvdisasm, found `NOP`\n"},
    {DATA ".align 3\n", "dir/prog.sass:5:8: error: expected a power of two, found `3`\n"},
    {DATA ".zero 0x20000000\n", "dir/prog.sass:5:7: error: the sections' data are above 256 MiB\n"},
    {DATA "\t.section .nv.info.k,\"\"\n.byte 4, 0xa\n.short 12\n.word 0\n",
     "dir/prog.sass: error: .nv.info.k ends inside the attribute at byte 0000\n"},
    {HEADER "/*0000*/ NOP;\n//## File \"a.cu\", column 3\n",
     "dir/prog.sass:4:17: error: expected `, line`, found `,`\n"},
};

START_TEST(mistakes_and_their_places) {
  const Mistake *mistake = &mistakes[_i];
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(McModule) module = parse(mistake->text, diag);
  g_autofree char *shown = diag_render(diag);
  ck_assert_msg(!module, "%s", mistake->text);
  ck_assert_str_eq(shown, mistake->message);
}
END_TEST

START_TEST(code_of_others_is_passed_over) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(McModule) module =
      parse("\tcode for sm_100\n\t\tFunction : k\n/*0000*/ ANYTHING R300 ;\n" HEADER "/*0000*/ EXIT ;\n", diag);
  g_autofree char *shown = diag_render(diag);
  ck_assert(module && module->kernels->len == 1 && mc_kernel(module, 0)->sm == 90);
  ck_assert_str_eq(
      shown, "dir/prog.sass:1:11: warning: code of sm_100 is passed over: lockstep reads that of sm_70 to sm_90\n");
}
END_TEST

/* ---- speed ---- */

START_TEST(ten_megabytes_in_a_second) {
  g_autofree char *one = recorded("calls.sm_90.sass");
  GString *text = g_string_new(NULL);
  while (text->len < 10 << 20)
    g_string_append(text, one);
  g_autoptr(Diag) diag = diag_new();
  double before = unit_cpu_seconds();
  g_autoptr(McModule) module = mc_listing_parse("long.sass", text->str, text->len, diag);
  double seconds = unit_cpu_seconds() - before;
  ck_assert(module && module->insts->len > 40000);
  ck_assert_msg(seconds < unit_patience(), "%.2f s", seconds);
  g_string_free(text, TRUE);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("mc_listing");
  TCase *tcase = tcase_create("mc_listing");
  tcase_add_test(tcase, listings_print_as_they_were_read);
  tcase_add_loop_test(tcase, both_tools_say_the_same, 0, 4);
  tcase_add_loop_test(tcase, operands_by_their_parts, 0, G_N_ELEMENTS(shapes));
  tcase_add_test(tcase, words_that_nobody_knows);
  tcase_add_test(tcase, control_bits);
  tcase_add_test(tcase, nvdisasm_has_resources);
  tcase_add_test(tcase, tables_of_branches);
  tcase_add_test(tcase, addresses_in_data);
  tcase_add_test(tcase, resource_lines);
  tcase_add_test(tcase, inlined_places);
  tcase_add_test(tcase, other_texts_are_none);
  tcase_add_loop_test(tcase, mistakes_and_their_places, 0, G_N_ELEMENTS(mistakes));
  tcase_add_test(tcase, code_of_others_is_passed_over);
  tcase_add_test(tcase, ten_megabytes_in_a_second);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
