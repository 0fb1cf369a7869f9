#include "sim/report/reference.h"

#include <glib.h>
#include <string.h>

#include "isa/opcode.h"
#include "sim/detect/finding.h"
#include "sim/engine/counter.h"

static const char *const unit_names[UNIT_COUNT] = {"ALU",     "shared memory", "global memory",   "control",
                                                   "barrier", "vote",          "special register"};

/* A `|` would end a cell of the table. */
static void append_cell(GString *page, const char *text) {
  g_auto(GStrv) parts = g_strsplit(text, "|", -1);
  g_autofree char *escaped = g_strjoinv("\\|", parts);
  g_string_append_printf(page, " %s |", escaped);
}

char *reference_isa(void) {
  GString *page = g_string_new(
      "# Instructions\n\nGenerated from `isa/opcodes.def` by `lockstep doc isa`; `doc/sass.md` has the syntax with "
      "examples.\n\n| SASS | unit | what it does |\n| --- | --- | --- |\n");
  for (unsigned op = 0; op < OP_COUNT; op++) {
    g_string_append_printf(page, "| `%s` | %s |", op_info[op].sass, unit_names[op_info[op].unit]);
    append_cell(page, op_info[op].doc);
    g_string_append_c(page, '\n');
  }
  return g_string_free(page, FALSE);
}

char *reference_counters(void) {
  GString *page = g_string_new("# Counters\n\nGenerated from `sim/engine/counters.def` by `lockstep doc counters`. "
                               "They stand in every run's output, in "
                               "JSON under `counters`.\n\n| counter | unit | meaning |\n| --- | --- | --- |\n");
  for (unsigned i = 0; i < COUNTER_COUNT; i++)
    g_string_append_printf(page, "| `%s` | %s | %s |\n", counter_info[i].name, counter_info[i].unit,
                           counter_info[i].doc);
  return g_string_free(page, FALSE);
}

char *reference_findings(void) {
  GString *page = g_string_new("# Verdicts and findings\n\nGenerated from `sim/detect/*.def` by `lockstep doc "
                               "findings`. A run ends in exactly one "
                               "verdict; each verdict but `completed` and `undecided` has a finding of its "
                               "name.\n\n| verdict | meaning |\n| --- | --- |\n");
  for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
    g_string_append_printf(page, "| `%s` | %s |\n", verdict_name(verdict), verdict_doc(verdict));
  g_string_append(page, "\n| finding | severity | meaning |\n| --- | --- | --- |\n");
  for (int id = 0; id < FINDING_COUNT; id++)
    g_string_append_printf(page, "| `%s` | %s | %s |\n", finding_name(id), severity_name(finding_severity(id)),
                           finding_doc(id));
  return g_string_free(page, FALSE);
}
