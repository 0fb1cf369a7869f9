#include <string.h>

#include "sim/machine/machine.h"
#include "sim/machine/params.h"

/* `text` in double quotes, as YAML reads them. */
static void append_quoted(GString *out, const char *text) {
  g_string_append_c(out, '"');
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      g_string_append_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      g_string_append_printf(out, "\\x%02x", c);
    else
      g_string_append_c(out, (char)c);
  }
  g_string_append_c(out, '"');
}

static void append_param(GString *out, const Machine *machine, const Param *param) {
  g_autofree char *text = param_format(param, param_get(machine, param));
  const char *source = machine->sources[param_index(param)];
  if (!source) {
    g_string_append_printf(out, " %s\n", text);
    return;
  }
  g_string_append_printf(out, " {value: %s, source: ", text);
  append_quoted(out, source);
  g_string_append(out, "}\n");
}

char *machine_dump(const Machine *machine) {
  GString *out = g_string_new("name: ");
  append_quoted(out, machine->name);
  if (*machine->about) {
    g_string_append(out, "\nabout: ");
    append_quoted(out, machine->about);
  }
  g_string_append_c(out, '\n');
  unsigned count;
  const Param *rows = param_rows(&count);
  for (unsigned i = 0; i < count; i++) {
    g_string_append_printf(out, "%*s%s:", (int)(2 * param_depth(&rows[i])), "", param_key(&rows[i]));
    if (rows[i].kind == PARAM_SECTION)
      g_string_append_c(out, '\n');
    else
      append_param(out, machine, &rows[i]);
  }
  return g_string_free(out, FALSE);
}

static char *pad_row(const char *path, unsigned path_width, const char *a, unsigned a_width, const char *b) {
  return g_strdup_printf("%-*s  %-*s  %s\n", (int)path_width, path, (int)a_width, a, b);
}

char *machine_diff(const Machine *a, const Machine *b) {
  unsigned path_width = (unsigned)strlen("parameter"), a_width = (unsigned)strlen(a->name), differing = 0;
  for (unsigned i = 0; i < PARAM_COUNT; i++) {
    if (param_get(a, param_at(i)) == param_get(b, param_at(i)))
      continue;
    g_autofree char *text = machine_param_text(a, i);
    path_width = MAX(path_width, (unsigned)strlen(machine_param_path(i)));
    a_width = MAX(a_width, (unsigned)strlen(text));
    differing++;
  }
  if (differing == 0)
    return g_strdup("");
  g_autofree char *header = pad_row("parameter", path_width, a->name, a_width, b->name);
  GString *out = g_string_new(header);
  for (unsigned i = 0; i < PARAM_COUNT; i++) {
    if (param_get(a, param_at(i)) == param_get(b, param_at(i)))
      continue;
    g_autofree char *a_text = machine_param_text(a, i), *b_text = machine_param_text(b, i);
    g_autofree char *row = pad_row(machine_param_path(i), path_width, a_text, a_width, b_text);
    g_string_append(out, row);
  }
  return g_string_free(out, FALSE);
}

static void append_doc_row(GString *out, const Param *param) {
  g_autofree char *dflt = param_format(param, param->dflt);
  g_string_append_printf(out, "| `%s` | %s | ", param->path, dflt);
  if (param->kind == PARAM_ENUM) {
    g_autofree char *list = g_strjoinv("`, `", (char **)param->choices);
    g_string_append_printf(out, "`%s`", list);
  } else {
    g_autofree char *min = param_format(param, param->min), *max = param_format(param, param->max);
    g_string_append_printf(out, "%s to %s%s", min, max, param->kind == PARAM_MILLI ? ", by 0.001" : "");
  }
  g_string_append_printf(out, " | %s |\n", param->doc);
}

static void append_doc_section(GString *out, const Param *section) {
  unsigned count;
  const Param *rows = param_rows(&count);
  g_string_append_printf(out, "\n## `%s`: %s\n\n", section->path, section->doc);
  g_string_append(out, "| parameter | default | range | meaning |\n| --- | --- | --- | --- |\n");
  for (unsigned i = 0; i < count; i++)
    if (rows[i].kind != PARAM_SECTION && param_is_child(&rows[i], section->path))
      append_doc_row(out, &rows[i]);
}

char *machine_doc_markdown(void) {
  GString *out = g_string_new(
      "# Machine parameters\n\n"
      "Generated from `sim/machine/params.def`; don't edit.\n\n"
      "A machine is a YAML file with the keys `name` (else the file's name), `about` (one line), `base` (a\n"
      "machine it inherits all values from: a name, or a path relative to the file) and the sections below. A\n"
      "path such as `sm.latency.alu` is the key `alu` in `latency` in `sm`; `-s sm.latency.alu=20` overrides it.\n"
      "A value is written as `18 cycles`, or with where it comes from as `{value: 18 cycles, source: \"...\"}`. A\n"
      "parameter that isn't given has its default.\n\n"
      "Units: `cycles`, `bytes`, `KiB`, `MiB`, `GiB`, `bits`, `bytes/cycle`, `Hz`, `kHz`, `MHz`, `GHz`. Only a\n"
      "frequency needs its unit; another number alone is one of cycles, bytes, bits or things. Cycles are those of\n"
      "the clock `clocks.sm`, but in `memory.port`, `memory.crossbar`, `memory.l2`, `memory.atomic` and\n"
      "`memory.queue` those of `clocks.core`, and in `memory.dram` those of `clocks.dram`. Cycles may have a "
      "fraction\n"
      "where the range says `by 0.001`, and are whole elsewhere; whatever waits for them goes on in a whole cycle "
      "of\n"
      "the SM clock.\n");
  unsigned count;
  const Param *rows = param_rows(&count);
  for (unsigned i = 0; i < count; i++)
    if (rows[i].kind == PARAM_SECTION)
      append_doc_section(out, &rows[i]);
  return g_string_free(out, FALSE);
}
