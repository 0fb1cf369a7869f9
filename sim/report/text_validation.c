#include <math.h>
#include <string.h>

#include "base/quote.h"
#include "sim/report/text.h"

static int widest_name(const Validation *validation) {
  int widest = (int)strlen("row");
  for (guint i = 0; i < validation->rows->len; i++)
    widest = paint_widen(widest, ((const ValidationRow *)g_ptr_array_index(validation->rows, i))->row);
  return widest;
}

static void append_row(const ValidationRow *row, int widest, Canvas *canvas) {
  g_autofree char *judgement = validation_judgement_text(row);
  g_autofree char *error =
      row->has_error && !row->is_baseline ? g_strdup_printf("%+.1f %%", row->error_percent) : g_strdup("");
  paint_plain(canvas, "  ");
  paint_cell(canvas, row->row, widest);
  paint_plain(canvas, "  %-12s %12.6g ", metric_name(row->metric), row->published);
  if (isnan(row->predicted))
    paint_plain(canvas, "%12s %10s %10s  ", "-", "-", "");
  else
    paint_plain(canvas, "%12.6g %10.3g %10s  ", row->predicted, row->deviation, error);
  paint_append(canvas, row->judgement == JUDGED_OUTSIDE ? PAINT_RED : PAINT_GREEN, "%s", judgement);
  if (!row->as_expected)
    paint_append(canvas, PAINT_RED, " (%s: not as its scenario expects)", verdict_name(row->verdict));
  else if (isnan(row->predicted))
    paint_plain(canvas, " (no time: %s)",
                row->verdict != VERDICT_COMPLETED ? verdict_name(row->verdict)
                : metric_is_mean(row->metric)     ? "a row of the mean has none"
                                                  : "the baseline has none");
  paint_plain(canvas, "\n");
}

static void append_rows(const Validation *validation, ValidationGroup group, Canvas *canvas) {
  int widest = widest_name(validation);
  bool first = true;
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    if (row->group != group)
      continue;
    if (first) {
      paint_plain(canvas, " %s\n",
                  group == GROUP_FITTED ? "rows that parameters were fitted on" : "rows that test the prediction");
      paint_append(canvas, PAINT_DIM, "  %-*s  %-12s %12s %12s %10s %10s", widest, "row", "metric", "published",
                   "predicted", "+-", "error");
      paint_plain(canvas, "\n");
    }
    first = false;
    append_row(row, widest, canvas);
  }
}

static void append_notes(const Validation *validation, Canvas *canvas) {
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    g_autofree char *name = quote_name(row->row), *note = g_strdelimit(g_strdup(row->note), "\r\n", ' ');
    if (*note)
      paint_plain(canvas, "  note on %s, %s: %s\n", name, metric_name(row->metric), note);
  }
}

static void append_summary(const ValidationSummary *summary, Canvas *canvas) {
  paint_plain(canvas, "  %s, %s: ", validation_group_name(summary->group), metric_name(summary->metric));
  if (summary->errors)
    paint_append(canvas, PAINT_BOLD, "mean absolute error %.1f %% over %u row%s", summary->mean_error_percent,
                 summary->errors, summary->errors == 1 ? "" : "s");
  else
    paint_plain(canvas, "no row with a relative error");
  if (summary->statements)
    paint_plain(canvas, "; %.1f %% over the nearest readings of %u statement%s, %.1f %% at most",
                summary->statement_error_percent, summary->statements, summary->statements == 1 ? "" : "s",
                summary->statement_worst_percent);
  if (summary->has_correlation)
    paint_plain(canvas, ", rank correlation %.2f", summary->correlation);
  paint_plain(canvas, "\n");
}

/* Each source once, with its page. */
static void append_sources(const Validation *validation, Canvas *canvas) {
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    char *source = g_strdup_printf("%s%s%s", row->source,
                                   g_ascii_isdigit(*row->page) ? ", page "
                                   : *row->page                ? ", "
                                                               : "",
                                   row->page);
    if (!g_hash_table_contains(seen, source))
      paint_plain(canvas, "  source: %s\n", source);
    g_hash_table_add(seen, source);
  }
}

/* Some rows need fewer seeds than the others. */
static bool has_fewer_seeds(const Validation *validation) {
  for (guint i = 0; i < validation->rows->len; i++) {
    const ValidationRow *row = g_ptr_array_index(validation->rows, i);
    if (row->most_seeds && row->most_seeds < validation->seeds)
      return true;
  }
  return false;
}

void text_validation(const Validation *validation, const Changes *changes, Canvas *canvas) {
  paint_append(canvas, PAINT_BOLD, "%s", validation->suite);
  text_changes(changes, canvas);
  paint_plain(canvas, ", mean of %s%u seeds\n", has_fewer_seeds(validation) ? "up to " : "", validation->seeds);
  append_sources(validation, canvas);
  append_rows(validation, GROUP_FITTED, canvas);
  append_rows(validation, GROUP_TEST, canvas);
  append_notes(validation, canvas);
  for (guint i = 0; i < validation->summaries->len; i++)
    append_summary(&g_array_index(validation->summaries, ValidationSummary, i), canvas);
}
