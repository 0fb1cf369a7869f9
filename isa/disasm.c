#include "isa/disasm.h"

#include <math.h>
#include <string.h>

#include "isa/disasm_new.h"
#include "isa/sass_names.h"

enum { BYTES_PER_INST = 8, GUARD_COLUMNS = 6 };

static void append_register(GString *out, int row, uint32_t nregs) {
  if ((uint32_t)row >= nregs)
    g_string_append(out, "RZ");
  else
    g_string_append_printf(out, "R%d", row);
}

static void append_predicate(GString *out, unsigned predicate, bool negated) {
  if (predicate == PRED_TRUE || predicate == PRED_SINK)
    g_string_append(out, negated ? "!PT" : "PT");
  else
    g_string_append_printf(out, "%sP%u", negated ? "!" : "", predicate);
}

/* As a decimal fraction where that gives the same bits back, otherwise as the bits. */
static void append_float(GString *out, uint32_t bits) {
  float value;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  memcpy(&value, &bits, sizeof value);
  if (!isfinite(value)) {
    g_string_append_printf(out, "0x%x", bits);
    return;
  }
  g_ascii_formatd(text, sizeof text, "%.9g", (double)value);
  g_string_append(out, text);
  if (!strpbrk(text, ".e"))
    g_string_append(out, ".0");
}

/* A shift count or offset reads better with its sign: -0x1, not 0xffffffff. */
static void append_integer(GString *out, uint32_t bits) {
  int32_t value = (int32_t)bits;
  if (value < 0 && value >= -0x10000)
    g_string_append_printf(out, "-0x%x", 0u - bits);
  else
    g_string_append_printf(out, "0x%x", bits);
}

/* An immediate of two rows. */
static void append_wide(GString *out, const Inst *inst, uint64_t bits) {
  double value;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  memcpy(&value, &bits, sizeof value);
  if (bits && op_info[inst->op].flags & OPF_FLOAT && isfinite(value))
    g_string_append(out, g_ascii_dtostr(text, sizeof text, value));
  else if (bits == 0)
    g_string_append(out, "RZ");
  else if ((int64_t)bits < 0 && (int64_t)bits >= -0x10000)
    g_string_append_printf(out, "-0x%x", (unsigned)(0 - bits));
  else
    g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", bits);
}

static void append_constant(GString *out, const Inst *inst, const ConstRef *constant, bool wide) {
  if (constant->kind == CONST_BANK)
    g_string_append_printf(out, "c[0x0][0x%x]", constant->value);
  else if (constant->kind == CONST_SYMBOL)
    g_string_append_printf(out, constant->value ? "v[%u]+0x%x" : "v[%u]", constant->symbol, constant->value);
  else if (wide)
    append_wide(out, inst, (uint64_t)constant[1].value << 32 | constant->value);
  else if (constant->value == 0 && inst->op != OP_MOV32I)
    g_string_append(out, "RZ");
  else if (op_info[inst->op].flags & OPF_FLOAT)
    append_float(out, constant->value);
  else
    append_integer(out, constant->value);
}

/* Value operand 0, 1 or 2 with its signs. */
static void append_value(GString *out, const Kernel *kernel, const Inst *inst, unsigned which) {
  static const uint32_t neg[] = {INST_NEG_A, INST_NEG_B, INST_NEG_C}, absolute[] = {INST_ABS_A, INST_ABS_B, 0},
                        inverted[] = {INST_INV_A, INST_INV_B, 0};
  int slot = which == 0 ? inst->a : which == 1 ? inst->b : inst->c;
  if (inst->flags & neg[which])
    g_string_append_c(out, '-');
  if (inst->flags & inverted[which])
    g_string_append_c(out, '~');
  if (inst->flags & absolute[which])
    g_string_append_c(out, '|');
  if (slot >= 0)
    append_register(out, slot, kernel->nregs);
  else
    append_constant(out, inst, &kernel->consts[~slot], inst->wide & WIDE_A << which);
  if (inst->flags & absolute[which])
    g_string_append_c(out, '|');
}

static void append_memory(GString *out, const Kernel *kernel, const Inst *inst) {
  const ConstRef *address = inst->a < 0 ? &kernel->consts[~inst->a] : NULL;
  if (address && address->kind == CONST_IMMEDIATE) {
    g_string_append_printf(out, "[0x%x]", address->value + (uint32_t)inst->imm);
    return;
  }
  g_string_append_c(out, '[');
  if (address)
    append_constant(out, inst, address, false);
  else
    append_register(out, inst->a, kernel->nregs);
  if (inst->imm < 0)
    g_string_append_printf(out, "+-0x%x", 0u - (uint32_t)inst->imm);
  else if (inst->imm > 0)
    g_string_append_printf(out, "+0x%x", (uint32_t)inst->imm);
  g_string_append_c(out, ']');
}

static void append_target(GString *out, const Kernel *kernel, const Inst *inst, const uint32_t *addresses) {
  if (inst->target == NO_TARGET)
    g_string_append(out, "?");
  else
    g_string_append_printf(out, "0x%x",
                           addresses ? addresses[inst->target] : kernel_address(kernel, (uint32_t)inst->target));
}

static void append_barrier_number(GString *out, const Kernel *kernel, int slot) {
  if (slot >= 0)
    append_register(out, slot, kernel->nregs);
  else
    g_string_append_printf(out, "0x%x", kernel->consts[~slot].value);
}

static void append_barrier(GString *out, const Kernel *kernel, const Inst *inst) {
  g_string_append_c(out, ' ');
  if (inst->mode == BAR_RED_POPC)
    append_register(out, inst->dst, kernel->nregs);
  else if (inst->mode != BAR_SYNC && inst->mode != BAR_ARV)
    append_predicate(out, inst->pdst, false);
  if (inst->mode != BAR_SYNC && inst->mode != BAR_ARV)
    g_string_append(out, ", ");
  append_barrier_number(out, kernel, inst->a);
  if (inst->flags & INST_HAS_COUNT) {
    g_string_append(out, ", ");
    append_barrier_number(out, kernel, inst->b);
  }
  if (inst->psrc[0] != PRED_TRUE || (inst->psrc_not & 1)) {
    g_string_append(out, ", ");
    append_predicate(out, inst->psrc[0], inst->psrc_not & 1);
  }
}

/* The operands of each form, in the letters of sass_form.c. */
static const char *spec_of(const Inst *inst) {
  static const char *const specs[] = {
      [FORM_NONE] = "",         [FORM_D_A] = "da",       [FORM_D_A_B] = "dab",      [FORM_D_A_B_C] = "dabc",
      [FORM_D_A_B_S] = "dabs",  [FORM_D_A_B_Q] = "dabq", [FORM_D_A_B_CMP] = "dabq", [FORM_P_A_B_CMP] = "pPabq",
      [FORM_P_Q_Q_Q] = "pPqqq", [FORM_D_SR] = "dr",      [FORM_D_P_Q] = "dpq",      [FORM_D_M] = "dm",
      [FORM_P_D_M] = "pdm",     [FORM_M_A] = "mb",       [FORM_D_M_B_C] = "dmb",    [FORM_BAR] = "",
      [FORM_T] = "t",           [FORM_A] = "a",          [FORM_P_A] = "pa",         [FORM_P_M_A] = "pmb",
      [FORM_A_B] = "ab",
  };
  if (op_info[inst->op].form == FORM_D_M_B_C && inst->mode == ATOM_CAS)
    return "dmbc";
  switch ((Opcode)inst->op) {
  case OP_VOTE: return inst->flags & INST_HAS_MASK ? "dpqa" : "dpq";
  case OP_BSSY: return "Bt";
  case OP_BSYNC:
  case OP_BREAK: return "B";
  case OP_BMOVR: return "dB";
  case OP_BMOVW: return "Ba";
  case OP_LOP3: return "dabcs";
  default: return specs[op_info[inst->op].form];
  }
}

static void append_operands(GString *out, const Kernel *kernel, const Inst *inst, const uint32_t *addresses) {
  unsigned sources = 0;
  const char *separator = " ";
  for (const char *letter = spec_of(inst); *letter; letter++, separator = ", ") {
    g_string_append(out, separator);
    switch (*letter) {
    case 'd':
      append_register(out, inst->dst, kernel->nregs);
      g_string_append(out, inst->flags & INST_CARRY_OUT ? ".CC" : "");
      break;
    case 'a': append_value(out, kernel, inst, 0); break;
    case 'b': append_value(out, kernel, inst, 1); break;
    case 'c': append_value(out, kernel, inst, 2); break;
    case 'p': append_predicate(out, inst->pdst, false); break;
    case 'P': append_predicate(out, inst->pdst2, false); break;
    case 'q':
      append_predicate(out, inst->psrc[sources], inst->psrc_not >> sources & 1);
      sources++;
      break;
    case 'm': append_memory(out, kernel, inst); break;
    case 'B': g_string_append_printf(out, "B%u", inst->mode); break;
    case 'r': g_string_append(out, sass_names_special_text(inst->mode)); break;
    case 's': g_string_append_printf(out, "0x%x", inst->mode); break;
    default: append_target(out, kernel, inst, addresses); break;
    }
  }
}

static void append_guard(GString *out, const Inst *inst) {
  g_string_append_c(out, '@');
  append_predicate(out, inst->guard, inst->flags & INST_GUARD_NOT);
}

static void append_inst(GString *out, const Kernel *kernel, const Inst *inst, const uint32_t *addresses) {
  sass_names_print(out, inst);
  disasm_new_modifiers(out, inst);
  if (inst->op == OP_WARPSYNC && inst->mode == WARPSYNC_ALL) {
    g_string_append(out, ".ALL");
    return;
  }
  if (inst->op == OP_BAR) {
    append_barrier(out, kernel, inst);
    return;
  }
  if (inst->op == OP_TRAP && inst->imm) { /* a call of what isn't there */
    g_string_append_printf(out, " %s", (const char *)g_ptr_array_index(kernel->undefined, (guint)inst->imm - 1));
    return;
  }
  append_operands(out, kernel, inst, addresses);
  /* SHFL, MATCH, ELECT and LOP3 may write a predicate that their form doesn't have. */
  if (op_info[inst->op].flags & OPF_NEW && inst->pdst != PRED_SINK && !strchr(spec_of(inst), 'p')) {
    g_string_append(out, ", ");
    append_predicate(out, inst->pdst, false);
  }
}

char *disasm_inst(const Kernel *kernel, const Inst *inst) {
  GString *out = g_string_new(NULL);
  if (inst_is_guarded(inst)) {
    append_guard(out, inst);
    g_string_append_c(out, ' ');
  }
  append_inst(out, kernel, inst, NULL);
  return g_string_free(out, FALSE);
}

/* The addresses to print: those of the source if they rise in whole instructions, otherwise new ones. */
static uint32_t *printed_addresses(const Kernel *kernel) {
  uint32_t *addresses = g_new(uint32_t, kernel->ninsts + 1);
  bool rises = true;
  for (uint32_t i = 0; i < kernel->ninsts; i++) {
    addresses[i] = kernel_address(kernel, i);
    rises &= addresses[i] % BYTES_PER_INST == 0 && (i == 0 || addresses[i] > addresses[i - 1]);
  }
  for (uint32_t i = 0; i < kernel->ninsts && !rises; i++)
    addresses[i] = BYTES_PER_INST * i;
  return addresses;
}

static void append_launch(GString *out, const Program *program, uint32_t kernel) {
  for (guint i = 0; i < program->launch->len; i++) {
    const LaunchDirective *launch = g_ptr_array_index(program->launch, i);
    if (launch->kernel == kernel)
      g_string_append_printf(out, ".%s%s%s\n", launch->name, *launch->text ? " " : "", launch->text);
  }
}

static void append_kernel(GString *out, const Kernel *kernel) {
  g_autofree uint32_t *addresses = printed_addresses(kernel);
  uint32_t label = 0, mark = 0;
  for (uint32_t pc = 0; pc <= kernel->ninsts; pc++) {
    for (; label < kernel->nlabels && kernel->labels[label].pc == pc; label++)
      g_string_append_printf(out, "%s:\n", kernel->labels[label].name);
    for (; mark < kernel->nmarks && kernel->marks[mark].pc == pc; mark++)
      g_string_append_printf(out, ".mark %u\n", kernel->marks[mark].number);
    if (pc == kernel->ninsts)
      break;
    g_string_append_printf(out, "/*%04x*/ ", addresses[pc]);
    gsize guard = out->len;
    if (inst_is_guarded(&kernel->insts[pc]))
      append_guard(out, &kernel->insts[pc]);
    g_string_append_printf(out, "%*s", GUARD_COLUMNS - (int)(out->len - guard), "");
    append_inst(out, kernel, &kernel->insts[pc], addresses);
    g_string_append(out, ";\n");
  }
}

static void append_program_kernel(GString *out, const Program *program, guint index) {
  const Kernel *kernel = program_kernel(program, index);
  g_string_append_printf(out, "\n.kernel %s\n", kernel->name);
  if (kernel->nregs)
    g_string_append_printf(out, ".reg %u\n", kernel_registers(kernel));
  if (kernel->uniform_registers)
    g_string_append_printf(out, "// from R%u on: the GPU has these values in uniform registers\n",
                           kernel->nregs - kernel->uniform_registers);
  if (kernel->shared_bytes)
    g_string_append_printf(out, ".shared %u\n", kernel->shared_bytes);
  append_launch(out, program, index);
  append_kernel(out, kernel);
}

static GString *new_print(const Program *program) {
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, ".target sm_%u\n", program->target_sm);
  for (guint i = 0; i < program->variables->len; i++) {
    const ProgramVariable *variable = g_ptr_array_index(program->variables, i);
    g_string_append_printf(out, "// v[%u]: %s, %u bytes\n", i, variable->name, variable->bytes);
  }
  return out;
}

char *disasm_kernel(const Program *program, guint kernel) {
  GString *out = new_print(program);
  append_program_kernel(out, program, kernel);
  return g_string_free(out, FALSE);
}

char *disasm_program(const Program *program) {
  GString *out = new_print(program);
  for (guint i = 0; i < program->kernels->len; i++)
    if (!program_kernel(program, i)->refusal)
      append_program_kernel(out, program, i);
  return g_string_free(out, FALSE);
}
