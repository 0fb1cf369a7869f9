/* The tables of a run's units for people: 132 SMs and 96 slices in a screen. */
#include "sim/report/details.h"

enum { NAME_WIDTH = 16, BUSIEST = 4, BUSIEST_COLUMNS = 8, SOURCE_WIDTH = 60 };

static double number(const DetailRow *row, DetailsColumn column) {
  const DetailValue *value = details_value(row, column);
  return value->kind == DETAIL_REAL ? value->real : (double)value->integer;
}

static bool is_share(DetailsColumn column) { return g_str_equal(details_column_info[column].unit, "share"); }

/* "queue mean" */
static char *title(DetailsColumn column) {
  return g_strdelimit(g_strdup(details_column_info[column].name), "_", ' ');
}

/* A number of a column: whole, with two digits, or as a percentage. */
static char *shown(DetailsColumn column, double value) {
  if (is_share(column))
    return g_strdup_printf("%.1f %%", value * 100);
  return value == (double)(uint64_t)value ? g_strdup_printf("%.0f", value) : g_strdup_printf("%.2f", value);
}

/* ---- summaries ---- */

typedef struct Summary {
  double sum;
  guint least, most; /* rows, the first of several */
} Summary;

static Summary summarize(const GPtrArray *rows, DetailsColumn column) {
  Summary summary = {0};
  for (guint i = 0; i < rows->len; i++) {
    double value = number(g_ptr_array_index(rows, i), column);
    summary.sum += value;
    if (value < number(g_ptr_array_index(rows, summary.least), column))
      summary.least = i;
    if (value > number(g_ptr_array_index(rows, summary.most), column))
      summary.most = i;
  }
  return summary;
}

static void append_summary(const RunDetails *details, DetailsColumn column, double slots, Canvas *canvas) {
  const GPtrArray *rows = details->table[details_column_info[column].table];
  Summary summary = summarize(rows, column);
  const DetailRow *least = g_ptr_array_index(rows, summary.least), *most = g_ptr_array_index(rows, summary.most);
  bool adds_up = !is_share(column) && !g_str_has_prefix(details_column_info[column].name, "queue");
  if (summary.sum == 0)
    return;
  g_autofree char *name = title(column), *all = adds_up ? shown(column, summary.sum) : g_strdup("");
  g_autofree char *mean = shown(column, summary.sum / rows->len);
  g_autofree char *low = shown(column, number(least, column)), *high = shown(column, number(most, column));
  g_autofree char *part = slots ? g_strdup_printf("%5.1f %%", summary.sum / slots * 100) : g_strdup("");
  if (rows->len == 1)
    paint_plain(canvas, "    %-*s %12s %7s\n", NAME_WIDTH, name, high, part);
  else
    paint_plain(canvas, "    %-*s %12s %7s %12s %10s at %-3s %10s at %s\n", NAME_WIDTH, name, all, part, mean, low,
                least->key, high, most->key);
}

static void append_summaries(const RunDetails *details, DetailsTable table, const char *heading, Canvas *canvas) {
  const GPtrArray *rows = details->table[table];
  double slots = 0, all = 0;
  for (DetailsColumn column = details_first(table); column < details_end(table); column++)
    all += summarize(rows, column).sum;
  if (all == 0)
    return;
  paint_append(canvas, PAINT_DIM, rows->len == 1 ? "  %-*s %12s" : "  %-*s %12s %7s %12s %17s %17s", NAME_WIDTH + 2,
               heading, "all", "share", "mean", "least", "most");
  paint_plain(canvas, "\n");
  for (DetailsColumn column = details_first(table); column < details_end(table); column++) {
    if (column == DETAILS_sms_slots)
      slots = summarize(rows, column).sum;
    append_summary(details, column, column <= DETAILS_sms_empty ? slots : 0, canvas);
  }
}

/* ---- the busiest ---- */

static gint by_column(gconstpointer a, gconstpointer b, gpointer user) {
  DetailsColumn column = *(const DetailsColumn *)user;
  const DetailRow *first = *(DetailRow *const *)a, *second = *(DetailRow *const *)b;
  double left = number(first, column), right = number(second, column);
  return left > right ? -1 : left < right;
}

static void append_busiest(const RunDetails *details, const DetailsColumn columns[BUSIEST_COLUMNS],
                           const char *heading, Canvas *canvas) {
  DetailsTable table = details_column_info[columns[0]].table;
  g_autoptr(GPtrArray) rows = g_ptr_array_new();
  DetailsColumn first = columns[0];
  for (guint i = 0; i < details->table[table]->len; i++)
    g_ptr_array_add(rows, g_ptr_array_index(details->table[table], i));
  if (rows->len <= 1)
    return;
  g_ptr_array_sort_with_data(rows, by_column, &first); /* a stable sort: of equal ones the lower number */
  paint_append(canvas, PAINT_DIM, "  %-*s", NAME_WIDTH + 2, heading);
  for (guint i = 0; i < BUSIEST_COLUMNS; i++) {
    g_autofree char *name = title(columns[i]);
    paint_append(canvas, PAINT_DIM, " %11s", name);
  }
  paint_plain(canvas, "\n");
  for (guint row = 0; row < MIN(rows->len, BUSIEST) && number(g_ptr_array_index(rows, row), first) > 0; row++) {
    const DetailRow *shown_row = g_ptr_array_index(rows, row);
    paint_plain(canvas, "    %-*s", NAME_WIDTH, shown_row->key);
    for (guint i = 0; i < BUSIEST_COLUMNS; i++) {
      g_autofree char *text = shown(columns[i], number(shown_row, columns[i]));
      paint_plain(canvas, " %11s", text);
    }
    paint_plain(canvas, "\n");
  }
}

/* ---- links and lines ---- */

static void append_links(const RunDetails *details, Canvas *canvas) {
  const GPtrArray *rows = details->table[DETAILS_links];
  paint_append(canvas, PAINT_DIM, "  %-*s %12s %14s %12s", NAME_WIDTH + 8, "links", "messages", "bytes", "a cycle");
  paint_plain(canvas, "\n");
  for (guint i = 0; i < rows->len; i++) {
    const DetailRow *row = g_ptr_array_index(rows, i);
    paint_plain(canvas, "    %-*s %12.0f %14.0f %12.2f\n", NAME_WIDTH + 6, row->key,
                number(row, DETAILS_links_messages), number(row, DETAILS_links_bytes),
                number(row, DETAILS_links_bytes_per_cycle));
  }
}

static void append_lines(const RunDetails *details, Canvas *canvas) {
  const GPtrArray *rows = details->table[DETAILS_lines];
  if (!rows->len)
    return;
  paint_append(canvas, PAINT_DIM, "  %-*s %10s %10s %10s %12s %12s  %s", NAME_WIDTH + 6, "hottest lines", "requests",
               "atomics", "operations", "waited", "as hostages", "asked for most often by");
  paint_plain(canvas, "\n");
  for (guint i = 0; i < rows->len; i++) {
    const DetailRow *row = g_ptr_array_index(rows, i);
    g_autofree char *source = g_strdup(details_value(row, DETAILS_lines_source)->text);
    if (g_utf8_validate(source, -1, NULL) && g_utf8_strlen(source, -1) > SOURCE_WIDTH)
      *g_utf8_offset_to_pointer(source, SOURCE_WIDTH) = '\0';
    paint_plain(canvas, "    %-*s %10.0f %10.0f %10.0f %12.0f %12.0f  %s:%.0f: %s\n", NAME_WIDTH + 4, row->key,
                number(row, DETAILS_lines_requests), number(row, DETAILS_lines_atomics),
                number(row, DETAILS_lines_operations), number(row, DETAILS_lines_waited),
                number(row, DETAILS_lines_hostage), details_value(row, DETAILS_lines_file)->text,
                number(row, DETAILS_lines_source_line), source);
  }
}

/* A title, and a number of each lock. */
static void append_locks(const RunDetails *details, Canvas *canvas) {
  const GPtrArray *rows = details->table[DETAILS_locks];
  if (!rows->len)
    return;
  paint_append(canvas, PAINT_DIM, "  %-*s", NAME_WIDTH + 6, "locks");
  for (DetailsColumn column = details_first(DETAILS_locks); column < details_end(DETAILS_locks); column++) {
    g_autofree char *name = title(column);
    paint_append(canvas, PAINT_DIM, " %11s", name);
  }
  paint_plain(canvas, "\n");
  for (guint i = 0; i < rows->len; i++) {
    const DetailRow *row = g_ptr_array_index(rows, i);
    paint_plain(canvas, "    %-*s", NAME_WIDTH + 4, row->key);
    for (DetailsColumn column = details_first(DETAILS_locks); column < details_end(DETAILS_locks); column++) {
      bool none = details_value(row, column)->kind == DETAIL_NONE;
      g_autofree char *text = none ? g_strdup("-") : shown(column, number(row, column));
      paint_plain(canvas, " %11s", text);
    }
    paint_plain(canvas, "\n");
  }
}

/* ---- all ---- */

void details_text(const RunDetails *details, Canvas *canvas) {
  static const DetailsColumn sms[BUSIEST_COLUMNS] = {DETAILS_sms_issued,  DETAILS_sms_latency, DETAILS_sms_memory,
                                                     DETAILS_sms_barrier, DETAILS_sms_fence,   DETAILS_sms_port,
                                                     DETAILS_sms_empty,   DETAILS_sms_requests};
  static const DetailsColumn slices[BUSIEST_COLUMNS] = {
      DETAILS_slices_requests,   DETAILS_slices_operations, DETAILS_slices_merged,      DETAILS_slices_queue_mean,
      DETAILS_slices_queue_peak, DETAILS_slices_busy,       DETAILS_slices_atomic_busy, DETAILS_slices_hostage};
  static const char *const form[] = {
      [MEM_IS_SERVER] = "memory server", [MEM_IS_PARTITIONS] = "partitions", [MEM_IS_L2] = "slices of L2"};
  append_summaries(details, DETAILS_sms, "issue slots, SMs", canvas);
  append_busiest(details, sms, "busiest SMs", canvas);
  append_summaries(details, DETAILS_slices, form[details->form], canvas);
  append_busiest(details, slices, details->form == MEM_IS_L2 ? "busiest slices" : "busiest", canvas);
  append_summaries(details, DETAILS_channels, "DRAM channels", canvas);
  append_links(details, canvas);
  append_lines(details, canvas);
  append_locks(details, canvas);
  for (guint i = 0; i < details->warnings->len; i++) {
    paint_append(canvas, PAINT_YELLOW, "  warning: ");
    paint_plain(canvas, "%s\n", (const char *)g_ptr_array_index(details->warnings, i));
  }
}
