#include <stdio.h>
#include <string.h>

#include "tests/property/litmus_table.h"

enum { COLUMNS = 7 };

static const LitmusCase *find_case(const char *test, const char *form, const char *fence) {
  static LitmusCase cases[LITMUS_CASES_MAX];
  unsigned count = litmus_cases(cases, LITMUS_CASES_MAX);
  for (unsigned i = 0; i < count; i++)
    if (strcmp(cases[i].test->name, test) == 0 && strcmp(cases[i].form->name, form) == 0 &&
        strcmp(cases[i].fence->name, fence) == 0)
      return &cases[i];
  return NULL;
}

static LitmusTally *tally_of(LitmusTallies *tallies, const LitmusCase *one, LitmusPlace place, bool copies) {
  return &tallies->of[one->test - litmus_tests][one->form - litmus_forms][one->fence - litmus_fences][place][copies];
}

/* ---- a file ---- */

static bool add_outcomes(const LitmusCase *one, LitmusPlace place, const char *text, LitmusTally *tally) {
  LitmusSet allowed, sequential;
  litmus_allowed(one, place, &allowed);
  litmus_sequential(one->test, &sequential);
  g_auto(GStrv) parts = g_strsplit(text, " ", -1);
  for (char **part = parts; *part; part++) {
    g_auto(GStrv) pair = g_strsplit(*part, ":", 2);
    unsigned outcome = pair[0] && pair[1] ? litmus_outcome_parse(one->test, pair[0]) : LITMUS_OUTCOMES;
    if (outcome == LITMUS_OUTCOMES)
      return false;
    unsigned count = (unsigned)g_ascii_strtoull(pair[1], NULL, 10);
    tally->tries += count;
    tally->weak += sequential.has[outcome] ? 0 : count;
    tally->forbidden += allowed.has[outcome] ? 0 : count;
  }
  return true;
}

static bool read_line(const char *line, LitmusTallies *tallies) {
  g_auto(GStrv) fields = g_strsplit(line, ",", -1);
  if (g_strv_length(fields) != COLUMNS)
    return false;
  const LitmusCase *one = find_case(fields[0], fields[1], fields[2]);
  LitmusPlace place = 0;
  while (place < PLACE_COUNT && strcmp(litmus_places[place], fields[3]) != 0)
    place++;
  return one && place < PLACE_COUNT &&
         add_outcomes(one, place, fields[6], tally_of(tallies, one, place, strcmp(fields[4], "yes") == 0));
}

LitmusTallies *litmus_read(const char *path, char **why) {
  g_autofree char *text = NULL;
  g_autofree LitmusTallies *tallies = g_new0(LitmusTallies, 1);
  g_autoptr(GError) error = NULL;
  if (!g_file_get_contents(path, &text, NULL, &error)) {
    *why = g_strdup(error->message);
    return NULL;
  }
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (unsigned i = 0; lines[i]; i++) {
    if (!*lines[i] || *lines[i] == '#' || strcmp(lines[i], LITMUS_COLUMNS) == 0 || read_line(lines[i], tallies))
      continue;
    *why = g_strdup_printf("%s:%u: error: found `%s`, expected " LITMUS_COLUMNS, path, i + 1, lines[i]);
    return NULL;
  }
  return g_steal_pointer(&tallies);
}

LitmusTally litmus_sum(const LitmusTallies *tallies, LitmusPlace place, bool copies) {
  LitmusTally sum = {0};
  for (unsigned test = 0; test < litmus_test_count; test++)
    for (unsigned form = 0; form < litmus_form_count; form++)
      for (unsigned fence = 0; fence < litmus_fence_count; fence++) {
        const LitmusTally *tally = &tallies->of[test][form][fence][place][copies];
        sum.tries += tally->tries;
        sum.weak += tally->weak;
        sum.forbidden += tally->forbidden;
      }
  return sum;
}

/* ---- tables ---- */

typedef struct Sides {
  LitmusTallies *model, *gpu;
} Sides;

static void append_share(const LitmusTally *tally, GString *out) {
  double percent = tally->tries ? 100.0 * (double)tally->weak / (double)tally->tries : 0;
  if (!tally->weak)
    g_string_append(out, "0");
  else
    g_string_append_printf(out, percent < 0.1 ? "%.3f" : percent < 10 ? "%.1f" : "%.0f", percent);
}

static void append_cell(const Sides *sides, const char *test, const char *form, const char *fence, bool copies,
                        GString *out) {
  const LitmusCase *one = find_case(test, form, fence);
  g_string_append(out, " ");
  append_share(tally_of(sides->model, one, PLACE_DISTANT, copies), out);
  g_string_append(out, " : ");
  append_share(tally_of(sides->gpu, one, PLACE_DISTANT, copies), out);
  g_string_append(out, " |");
}

static void append_head(const char *first, const char *const *columns, unsigned count, GString *out) {
  g_string_append_printf(out, "| %s |", first);
  for (unsigned i = 0; i < count; i++)
    g_string_append_printf(out, " %s |", columns[i]);
  g_string_append(out, "\n| --- |");
  for (unsigned i = 0; i < count; i++)
    g_string_append(out, " --- |");
  g_string_append(out, "\n");
}

/* A form, by fence. */
static void append_fences(const Sides *sides, const char *form, bool copies, GString *out) {
  const char *names[16];
  for (unsigned i = 0; i < litmus_fence_count; i++)
    names[i] = litmus_fences[i].name;
  append_head("fence", names, litmus_fence_count, out);
  for (unsigned test = 0; test < litmus_test_count; test++) {
    g_string_append_printf(out, "| %s |", litmus_tests[test].name);
    for (unsigned i = 0; i < litmus_fence_count; i++)
      append_cell(sides, litmus_tests[test].name, form, names[i], copies, out);
    g_string_append(out, "\n");
  }
  g_string_append(out, "\n");
}

static void append_orders(const Sides *sides, GString *out) {
  static const char *const forms[] = {"relaxed.cta", "relaxed.sys", "acq_rel.cta", "acq_rel.gpu", "acq_rel.sys"};
  append_head("accesses", forms, G_N_ELEMENTS(forms), out);
  for (unsigned test = 0; test < litmus_test_count; test++) {
    g_string_append_printf(out, "| %s |", litmus_tests[test].name);
    for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++)
      append_cell(sides, litmus_tests[test].name, forms[i], "none", false, out);
    g_string_append(out, "\n");
  }
  g_string_append(out, "\n");
}

static void append_places(const Sides *sides, GString *out) {
  static const char *const columns[] = {"copies in the L1", "thousand tries", "weak, lockstep : H200",
                                        "forbidden, lockstep : H200"};
  append_head("threads", columns, G_N_ELEMENTS(columns), out);
  for (LitmusPlace place = 0; place < PLACE_COUNT; place++)
    for (unsigned copies = 0; copies < 2; copies++) {
      LitmusTally model = litmus_sum(sides->model, place, copies), gpu = litmus_sum(sides->gpu, place, copies);
      g_string_append_printf(out,
                             "| %s | %s | %.0f : %.0f | %" G_GUINT64_FORMAT " : %" G_GUINT64_FORMAT
                             " | %" G_GUINT64_FORMAT " : %" G_GUINT64_FORMAT " |\n",
                             litmus_places[place], copies ? "yes" : "no", (double)model.tries / 1e3,
                             (double)gpu.tries / 1e3, model.weak, gpu.weak, model.forbidden, gpu.forbidden);
    }
  g_string_append(out, "\n");
}

void litmus_table(LitmusTallies *model, LitmusTallies *gpu, GString *out) {
  static const char *const forms[] = {"relaxed.gpu", "volatile", "plain"};
  Sides sides = {model, gpu};
  g_string_append(out, "Percent of tries with a weak outcome, lockstep : H200, threads on distant SMs.\n\n");
  for (unsigned i = 0; i < G_N_ELEMENTS(forms); i++) {
    g_string_append_printf(out, "Accesses `%s`:\n\n", forms[i]);
    append_fences(&sides, forms[i], false, out);
  }
  g_string_append(out, "No fence:\n\n");
  append_orders(&sides, out);
  g_string_append(out, "Accesses `plain`, each thread has loaded both words before, so that the L1 has copies:\n\n");
  append_fences(&sides, "plain", true, out);
  g_string_append(out, "All programs, by where the threads are:\n\n");
  append_places(&sides, out);
}
