#include "sim/report/reference.h"

#include <glib.h>
#include <string.h>

#include "isa/opcode.h"
#include "sim/detect/naming/finding.h"
#include "sim/engine/counter.h"
#include "sim/study/details.h"

static const char *const unit_names[] = {
    [UNIT_ALU] = "ALU",
    [UNIT_SHARED] = "shared memory",
    [UNIT_GLOBAL] = "global memory",
    [UNIT_CONTROL] = "control",
    [UNIT_BARRIER] = "barrier",
    [UNIT_VOTE] = "vote",
    [UNIT_SYSREG] = "special register",
    [UNIT_SFU] = "special function",
    [UNIT_FP64] = "f64",
    [UNIT_DIVIDE] = "divide",
    [UNIT_SHUFFLE] = "shuffle",
    [UNIT_LOCAL] = "local memory",
};
G_STATIC_ASSERT(G_N_ELEMENTS(unit_names) == UNIT_COUNT);

static const char *const form_operands[] = {
    [FORM_NONE] = "",
    [FORM_D_A] = "d, a",
    [FORM_D_A_B] = "d, a, b",
    [FORM_D_A_B_C] = "d, a, b, c",
    [FORM_D_A_B_S] = "d, a, b, imm5",
    [FORM_D_A_B_Q] = "d, a, b, q",
    [FORM_D_A_B_CMP] = "d, a, b, q",
    [FORM_P_A_B_CMP] = "p, p2, a, b, q",
    [FORM_P_Q_Q_Q] = "p, p2, q1, q2, q3",
    [FORM_D_SR] = "d, special register",
    [FORM_D_P_Q] = "d, p, q",
    [FORM_D_M] = "d, m",
    [FORM_P_D_M] = "p, d, m",
    [FORM_M_A] = "m, a",
    [FORM_P_M_A] = "p, m, a",
    [FORM_D_M_B_C] = "d, m, b(, c)",
    [FORM_BAR] = "by form",
    [FORM_T] = "t",
    [FORM_A] = "a",
    [FORM_A_B] = "a, b",
    [FORM_P_A] = "p, a",
};

/* A `|` would end a cell of the table. */
static void append_cell(GString *page, const char *text) {
  g_auto(GStrv) parts = g_strsplit(text, "|", -1);
  g_autofree char *escaped = g_strjoinv("\\|", parts);
  g_string_append_printf(page, " %s |", escaped);
}

static void append_opcodes(GString *page, uint32_t flag) {
  g_string_append(page, "| name | operands | unit | what it does |\n| --- | --- | --- | --- |\n");
  for (unsigned op = 0; op < OP_COUNT; op++) {
    if ((op_info[op].flags & OPF_NEW) != flag)
      continue;
    g_string_append_printf(page, "| `%s` | %s | %s |", op_info[op].sass, form_operands[op_info[op].form],
                           unit_names[op_info[op].unit]);
    append_cell(page, op_info[op].doc);
    g_string_append_c(page, '\n');
  }
}

char *reference_isa(void) {
  GString *page = g_string_new(
      "# Instructions\n\nGenerated from `isa/opcodes.def` by `lockstep doc isa`.\n\n"
      "These are the instructions that run: SASS is read as them, and PTX is lowered to them "
      "([ptx-forms.md](ptx-forms.md)). `lockstep show PROGRAM -m MACHINE` prints a program in them.\n\n"
      "Operands: `d` a register written; `a`, `b`, `c` a register, a constant or an immediate; `p` a predicate "
      "written, `q` one read; `m` an address `[register+offset]`; `t` a branch target. The unit decides which "
      "latency and pipe of the "
      "[machine](machine.md) it uses.\n\n## Fermi SASS\n\nSyntax and examples are in "
      "[sass.md](sass.md). PTX uses these rows, too, wherever they fit.\n\n");
  append_opcodes(page, 0);
  g_string_append(page, "\n## Only from PTX\n\nThe SASS reader doesn't take these; the names are for people.\n\n");
  append_opcodes(page, OPF_NEW);
  return g_string_free(page, FALSE);
}

static void append_details(GString *page) {
  g_string_append_printf(
      page,
      "\n## What `--details` adds\n\nGenerated from `sim/study/details.def`. `lockstep run --details` "
      "has these tables: in text as summaries, in JSON under `details`, in CSV as a row for each "
      "number ([json.md](json.md)). A share is a number from 0 to 1. A wait counts when it begins. "
      "A slice with more than %d times the mean load, and %d requests at least, is warned of.\n",
      DETAILS_WARN_TIMES, DETAILS_WARN_PARTS);
  for (DetailsTable table = 0; table < DETAILS_TABLES; table++) {
    g_string_append_printf(
        page, "\n### `%s`\n\nOf %s. A row goes by its `%s`.\n\n| quantity | unit | meaning |\n| --- | --- | --- |\n",
        details_table_info[table].name, details_table_info[table].doc, details_table_info[table].key);
    for (DetailsColumn column = details_first(table); column < details_end(table); column++)
      g_string_append_printf(page, "| `%s` | %s | %s |\n", details_column_info[column].name,
                             details_column_info[column].unit, details_column_info[column].doc);
  }
}

char *reference_counters(void) {
  GString *page = g_string_new("# Counters\n\nGenerated from `sim/engine/counters.def` by `lockstep doc counters`. "
                               "They stand in every run's output, in "
                               "JSON under `counters`.\n\n| counter | unit | meaning |\n| --- | --- | --- |\n");
  for (unsigned i = 0; i < COUNTER_COUNT; i++)
    g_string_append_printf(page, "| `%s` | %s | %s |\n", counter_info[i].name, counter_info[i].unit,
                           counter_info[i].doc);
  append_details(page);
  return g_string_free(page, FALSE);
}

char *reference_findings(void) {
  GString *page = g_string_new("# Verdicts and findings\n\nGenerated from `sim/detect/*.def` by `lockstep doc "
                               "findings`. A run ends in exactly one "
                               "verdict; each verdict but `completed` has a finding of its "
                               "name.\n\n| verdict | meaning |\n| --- | --- |\n");
  for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
    g_string_append_printf(page, "| `%s` | %s |\n", verdict_name(verdict), verdict_doc(verdict));
  g_string_append(page, "\n| finding | severity | meaning |\n| --- | --- | --- |\n");
  for (int id = 0; id < FINDING_COUNT; id++)
    g_string_append_printf(page, "| `%s` | %s | %s |\n", finding_name(id), severity_name(finding_severity(id)),
                           finding_doc(id));
  return g_string_free(page, FALSE);
}
