#include "isa/mc/mc_print.h"

#include <math.h>
#include <string.h>

#include "isa/mc/mc_listing.h"

static void print_numbered(GString *out, const char *letters, int number, int zero) {
  if (number == zero)
    g_string_append_printf(out, "%s%s", letters, zero == MC_PT ? "T" : "Z");
  else
    g_string_append_printf(out, "%s%d", letters, number);
}

static void print_register(GString *out, int number) { print_numbered(out, "R", number, MC_RZ); }
static void print_uniform(GString *out, int number) { print_numbered(out, "UR", number, MC_URZ); }

void mc_print_integer(GString *out, int64_t value) {
  uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
  g_string_append_printf(out, "%s0x%" G_GINT64_MODIFIER "x", value < 0 ? "-" : "", size);
}

/* Whole numbers that fit an int as such, large ones with 20 digits behind the point, others with 20 digits in all. */
void mc_print_real(GString *out, double real) {
  char digits[48];
  if (isnan(real) || isinf(real)) {
    g_string_append_printf(out, "%c%s", signbit(real) ? '-' : '+', isnan(real) ? "QNAN" : "INF");
    return;
  }
  bool large = fabs(real) > INT32_MAX;
  g_string_append(out, g_ascii_formatd(digits, sizeof digits, large ? "%.20e" : "%.20g", real));
}

static void print_part(GString *out, unsigned part) {
  static const char *const texts[] = {
      [MC_ALL] = "",           [MC_H0_H0] = ".H0_H0", [MC_H1_H1] = ".H1_H1", [MC_H0] = ".H0",
      [MC_H0_NH1] = ".H0_NH1", [MC_H1] = ".H1",       [MC_B0] = ".B0",       [MC_B1] = ".B1",
      [MC_B2] = ".B2",         [MC_B3] = ".B3",       [MC_PAIR64] = ".64",   [MC_U32] = ".U32",
      [MC_SIGN] = ".SIGN"};
  g_string_append(out, texts[part]);
}

/* Base, uniform register and offset, joined by plus signs. */
static void print_terms(GString *out, const McOperand *operand, int uniform) {
  const char *plus = "";
  if (operand->base != MC_NO_REGISTER) {
    print_register(out, operand->base);
    if (operand->kind == MC_MEMORY)
      print_part(out, operand->part);
    if (operand->scale != 1)
      g_string_append_printf(out, ".X%d", operand->scale);
    plus = "+";
  }
  if (uniform != MC_NO_REGISTER) {
    g_string_append(out, plus);
    print_uniform(out, uniform);
    if (operand->uniform_pair)
      g_string_append(out, ".64");
    plus = "+";
  }
  if (operand->offset != 0 || *plus == '\0') {
    g_string_append(out, plus);
    mc_print_integer(out, operand->offset);
  }
}

static void print_constant(GString *out, const McOperand *operand) {
  if (operand->bank < 0) {
    g_string_append(out, "cx[");
    print_uniform(out, operand->uniform);
  } else {
    g_string_append_printf(out, "c[0x%x", (unsigned)operand->bank);
  }
  g_string_append(out, "][");
  print_terms(out, operand, operand->bank < 0 ? MC_NO_REGISTER : operand->uniform);
  g_string_append_c(out, ']');
}

static void print_memory(GString *out, const McOperand *operand) {
  if (operand->descriptor != MC_NO_REGISTER) {
    g_string_append(out, "desc[");
    print_uniform(out, operand->descriptor);
    g_string_append_c(out, ']');
  }
  g_string_append_c(out, '[');
  print_terms(out, operand, operand->uniform);
  g_string_append_c(out, ']');
}

static void print_symbol(GString *out, const McOperand *operand) {
  static const char *const forms[] = {
      [MC_SYMBOL_WHOLE] = "`(%s)", [MC_SYMBOL_LOW32] = "32@lo(%s)", [MC_SYMBOL_HIGH32] = "32@hi(%s)"};
  const char *form = forms[operand->part];
  const char *name = strstr(form, "%s");
  g_string_append_len(out, form, name - form);
  g_string_append(out, operand->text);
  g_string_append(out, name + 2);
}

/* The highest first. */
static void print_scoreboards(GString *out, uint64_t set) {
  const char *comma = "";
  g_string_append_c(out, '{');
  for (int i = MC_SCOREBOARDS_MAX - 1; i >= 0; i--)
    if (set >> i & 1) {
      g_string_append_printf(out, "%s%d", comma, i);
      comma = ",";
    }
  g_string_append_c(out, '}');
}

static void print_core(GString *out, const McOperand *operand) {
  switch ((McOperandKind)operand->kind) {
  case MC_REGISTER: print_register(out, operand->number); break;
  case MC_UNIFORM: print_uniform(out, operand->number); break;
  case MC_PREDICATE: print_numbered(out, "P", operand->number, MC_PT); break;
  case MC_UNIFORM_PREDICATE: print_numbered(out, "UP", operand->number, MC_PT); break;
  case MC_BARRIER: g_string_append_printf(out, "B%d", operand->number); break;
  case MC_SCOREBOARD: g_string_append_printf(out, "SB%d", operand->number); break;
  case MC_INTEGER:
  case MC_TARGET: mc_print_integer(out, (int64_t)operand->value); break;
  case MC_REAL: mc_print_real(out, operand->real); break;
  case MC_CONSTANT: print_constant(out, operand); break;
  case MC_MEMORY: print_memory(out, operand); break;
  case MC_SYMBOL: print_symbol(out, operand); break;
  case MC_PREDICATES: g_string_append(out, "PR"); break;
  case MC_PREDICATES_UNIFORM: g_string_append(out, "UPR"); break;
  case MC_SCOREBOARDS: print_scoreboards(out, operand->value); break;
  case MC_SPECIAL:
  case MC_NAME: g_string_append(out, operand->text); break;
  }
}

static void print_operand(GString *out, const McOperand *operand) {
  if (operand->negated)
    g_string_append_c(out, '!');
  if (operand->minus)
    g_string_append_c(out, '-');
  if (operand->inverted)
    g_string_append_c(out, '~');
  if (operand->absolute)
    g_string_append_c(out, '|');
  print_core(out, operand);
  if (operand->absolute)
    g_string_append_c(out, '|');
  if (operand->reuse)
    g_string_append(out, ".reuse");
  if (operand->kind <= MC_UNIFORM || operand->kind == MC_CONSTANT)
    print_part(out, operand->part);
}

/* BRX R6 -0x1c0: the number is added to the register, and no comma stands between them. */
static bool is_sum(const McInst *inst, const McOperand *left, const McOperand *right) {
  static const char *const roots[] = {"CALL", "RET", "BRX", "JMP", "JMX", "BRXU", "JMXU"};
  bool number = right->kind == MC_INTEGER || right->kind == MC_TARGET || right->kind == MC_SYMBOL;
  if (left->kind > MC_UNIFORM || !number)
    return false;
  for (guint i = 0; i < G_N_ELEMENTS(roots); i++)
    if (strcmp(inst->root, roots[i]) == 0)
      return true;
  return false;
}

char *mc_print_inst(const McModule *module, const McInst *inst) {
  GString *out = g_string_new(NULL);
  bool guarded = inst->guard.kind != MC_PREDICATE || inst->guard.number != MC_PT || inst->guard.negated;
  if (guarded) {
    g_string_append_c(out, '@');
    print_operand(out, &inst->guard);
    g_string_append_c(out, ' ');
  }
  g_string_append(out, inst->name);
  for (guint i = 0; i < inst->operands; i++) {
    const McOperand *operand = mc_operand(module, inst, i);
    const char *join = i == 0 || is_sum(inst, operand - 1, operand) ? " " : ", ";
    g_string_append(out, join);
    print_operand(out, operand);
  }
  return g_string_free(out, FALSE);
}
