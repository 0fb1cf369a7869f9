#include "sim/report/text.h"

#include <math.h>
#include <string.h>

#include "base/quote.h"
#include "sim/report/details.h"
#include "sim/report/dump_text.h"
#include "sim/report/explain.h"

enum { NAME_WIDTH = 26, NUMBER_WIDTH = 14, MACHINE_WIDTH = 10 };

static void append_time(double cycles, double hz, Canvas *canvas) {
  double seconds = cycles / hz;
  if (seconds < 1e-3)
    paint_plain(canvas, "%.3f us", seconds * 1e6);
  else if (seconds < 1)
    paint_plain(canvas, "%.3f ms", seconds * 1e3);
  else
    paint_plain(canvas, "%.3f s", seconds);
}

static void append_cycles(const char *name, uint64_t cycles, double hz, Canvas *canvas) {
  paint_plain(canvas, "  %-*s%*" G_GUINT64_FORMAT "  cycles, ", NAME_WIDTH, name, NUMBER_WIDTH, cycles);
  append_time((double)cycles, hz, canvas);
  paint_plain(canvas, " at %.0f MHz\n", hz / 1e6);
}

/* What other seeds gave. */
static void append_span(const RunResult *result, Canvas *canvas) {
  const SeedSpan *span = &result->span;
  if (!span->seeds)
    return;
  g_autofree char *name = g_strdup_printf("over %u seeds", span->seeds);
  if (run_result_exit_status(result)) {
    paint_plain(canvas, "  %-*s%*u  end like this one, which is the first of them\n", NAME_WIDTH, name, NUMBER_WIDTH,
                span->alike);
    return;
  }
  paint_plain(canvas, "  %-*s%*.0f  cycles in the mean, ", NAME_WIDTH, name, NUMBER_WIDTH, span->mean);
  append_time(span->mean, result->clock_hz, canvas);
  paint_plain(canvas, "; from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ", and this run has the median\n",
              span->least, span->most);
}

static void append_regions(const RunResult *result, Canvas *canvas) {
  for (guint i = 0; result->regions && i < result->regions->len; i++) {
    const RegionResult *region = &g_array_index(result->regions, RegionResult, i);
    g_autofree char *name = g_strdup_printf("marks %u to %u", region->from, region->to);
    if (region->found)
      append_cycles(name, region->last_cycle - region->first_cycle, result->clock_hz, canvas);
    else
      paint_plain(canvas, "  %-*s%*s  (the program didn't reach both marks)\n", NAME_WIDTH, name, NUMBER_WIDTH,
                  "none");
  }
}

static void append_longest(const LongestLaunch *longest, double hz, Canvas *canvas) {
  g_autofree char *name = g_strdup_printf("launch %u of %u", longest->launch + 1, longest->launches);
  append_cycles(name, longest->cycles, hz, canvas);
}

/* One line for each kernel and block size; only of PTX, whose registers the user doesn't know. */
static void append_occupancy(const RunResult *result, Canvas *canvas) {
  g_autoptr(GHashTable) shown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; result->occupancy && i < result->occupancy->len; i++) {
    const LaunchOccupancy *item = &g_array_index(result->occupancy, LaunchOccupancy, i);
    const Occupancy *occupancy = &item->occupancy;
    g_autofree char *limits = occupancy_limits_text(occupancy);
    char *line = g_strdup_printf("%*u  blocks per SM (limited by %s), %u of %u warps, %u registers a thread",
                                 NUMBER_WIDTH, occupancy->blocks, limits, occupancy->warps, occupancy->max_warps,
                                 occupancy->thread_registers);
    g_autofree char *name =
        result->occupancy->len > 1 ? g_strdup_printf("occupancy of %s", item->kernel) : g_strdup("occupancy");
    bool is_new = item->is_ptx && !g_hash_table_contains(shown, line);
    if (is_new)
      paint_plain(canvas, "  %-*s%s\n", NAME_WIDTH, name, line);
    if (is_new && occupancy->spill_bytes)
      paint_plain(canvas, "  %-*s%*u  bytes of a thread's local memory\n", NAME_WIDTH, "registers spilled",
                  NUMBER_WIDTH, occupancy->spill_bytes);
    g_hash_table_add(shown, line);
  }
}

static void append_operations(const RunResult *result, Canvas *canvas) {
  double cycles = (double)run_result_measured_cycles(result);
  if (!result->has_operations || result->operations <= 0 || cycles <= 0 || result->verdict != VERDICT_COMPLETED)
    return; /* or not all were done */
  double each = cycles / (double)result->operations;
  paint_plain(canvas, "  %-*s%*" G_GINT64_FORMAT "  %.2f cycles each, %.4g million a second\n", NAME_WIDTH,
              "operations", NUMBER_WIDTH, result->operations, each, result->clock_hz / each / 1e6);
}

static void append_transfers(const MeasuredTransfers *transfers, Canvas *canvas) {
  if (transfers->found)
    paint_plain(canvas, "  %-*s%*" G_GUINT64_FORMAT "  %.0f cycles each, as the program measured\n", NAME_WIDTH,
                "lock transfers", NUMBER_WIDTH, transfers->transfers, transfers->mean_cycles);
}

static void append_counters(const Counters *counters, Canvas *canvas) {
  for (unsigned i = 0; i < COUNTER_COUNT; i++) {
    uint64_t value = counter_value(counters, i);
    if (!value)
      continue;
    g_autofree char *name = g_strdelimit(g_strdup(counter_info[i].name), "_", ' ');
    paint_plain(canvas, "  %-*s%*" G_GUINT64_FORMAT "\n", NAME_WIDTH, name, NUMBER_WIDTH, value);
  }
}

enum { SEEDS_LISTED = 4 };

static bool is_one_group(const ScheduleResult *a, const ScheduleResult *b) {
  return a->verdict == b->verdict && a->result == b->result && g_str_equal(a->policy, b->policy) &&
         g_str_equal(a->branch_order, b->branch_order) && g_str_equal(a->dispatch_order, b->dispatch_order) &&
         a->held_up == b->held_up && !a->held_once == !b->held_once && a->late_stores == b->late_stores;
}

/* True if schedule `i` is the first with its policy, orders, verdict and result. */
static bool opens_group(const GArray *schedules, guint i) {
  const ScheduleResult *own = &g_array_index(schedules, ScheduleResult, i);
  for (guint j = 0; j < i; j++) {
    const ScheduleResult *other = &g_array_index(schedules, ScheduleResult, j);
    if (is_one_group(own, other))
      return false;
  }
  return true;
}

/* "1,2,9-24". */
static char *list_text(const GArray *numbers) {
  GString *text = g_string_new(NULL);
  for (guint i = 0, next; i < numbers->len; i = next) {
    uint64_t first = g_array_index(numbers, uint64_t, i);
    for (next = i + 1; next < numbers->len && g_array_index(numbers, uint64_t, next) == first + (next - i);)
      next++;
    if (next - i <= SEEDS_LISTED)
      next = i + 1;
    g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, text->len ? "," : "", first);
    if (next - i > 1)
      g_string_append_printf(text, "-%" G_GUINT64_FORMAT, first + (next - i - 1));
  }
  return g_string_free(text, FALSE);
}

static int by_size(gconstpointer a, gconstpointer b) {
  uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
  return (one > other) - (one < other);
}

/* `places`: of the runs in which one warp was held up, once. */
static void append_disturbance(const ScheduleResult *own, GArray *places, Canvas *canvas) {
  g_array_sort(places, by_size);
  g_autofree char *list = list_text(places);
  if (own->reordered)
    paint_plain(canvas, ", blocks dispatched in %s order", own->dispatch_order);
  if (own->held_once && places->len > SEEDS_LISTED)
    paint_plain(canvas, ", one warp held up for %u cycles at %u places", own->held_up, places->len);
  else if (own->held_once)
    paint_plain(canvas, ", one warp held up for %u cycles at place%s %s", own->held_up, places->len > 1 ? "s" : "",
                list);
  else if (own->held_up)
    paint_plain(canvas, ", warps held up to %u cycles", own->held_up);
  if (own->late_stores)
    paint_plain(canvas, ", stores up to %u cycles late", own->late_stores);
}

/* The seeds and the span of cycles of the schedules that share policy, orders, verdict and result with schedule
 * `i`. */
static void append_group(const GArray *schedules, guint i, bool results, Canvas *canvas) {
  const ScheduleResult *own = &g_array_index(schedules, ScheduleResult, i);
  g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  uint64_t lowest = own->cycles, highest = own->cycles;
  for (guint j = i; j < schedules->len; j++) {
    const ScheduleResult *other = &g_array_index(schedules, ScheduleResult, j);
    if (!is_one_group(own, other))
      continue;
    uint64_t number = other->held_once ? other->held_once : other->seed;
    g_array_append_val(numbers, number);
    lowest = MIN(lowest, other->cycles);
    highest = MAX(highest, other->cycles);
  }
  g_autofree char *span = lowest == highest
                              ? g_strdup_printf("%" G_GUINT64_FORMAT, lowest)
                              : g_strdup_printf("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, lowest, highest);
  g_autofree char *seeds = own->held_once ? g_strdup_printf("%" G_GUINT64_FORMAT, own->seed) : list_text(numbers);
  paint_plain(canvas, "  %-20s %-18s %-12s %16s  ", own->policy, own->branch_order, seeds, span);
  paint_append(canvas, paint_of_verdict(own->verdict), "%s", verdict_name(own->verdict));
  if (results && own->result)
    paint_plain(canvas, ", result %u", own->result);
  append_disturbance(own, numbers, canvas);
  paint_plain(canvas, "\n");
}

/* What the completed runs left, if it is the same under several schedules. */
static void append_one_result(const RunResult *result, Canvas *canvas) {
  guint completed = 0;
  for (guint i = 0; i < result->schedules->len; i++)
    completed += g_array_index(result->schedules, ScheduleResult, i).result != 0;
  if (completed < 2 || result->results->len != 1)
    return;
  const char *buffers = g_ptr_array_index(result->results, 0);
  paint_plain(canvas, "  the same result under %u schedules%s%s\n", completed, *buffers ? ": " : "", buffers);
}

static void append_unfinished(const Unfinished *unfinished, Canvas *canvas) {
  const char *ends = unfinished->left == 1 ? "it ends" : "they end";
  if (!unfinished->left)
    return;
  paint_plain(canvas,
              "  not finished: %u of the %u schedules in which warps are held up, after up to %" G_GUINT64_FORMAT
              " cycles; whether %s isn't known\n",
              unfinished->left, unfinished->tried, unfinished->cycles, ends);
  paint_plain(canvas, "  to go on: %s\n", unfinished->again);
}

static void append_schedules(const RunResult *result, Canvas *canvas) {
  const GArray *schedules = result->schedules;
  paint_append(canvas, PAINT_DIM, "  %-20s %-18s %-12s %16s  %s", "policy", "branch order", "seeds", "cycles",
               "verdict");
  paint_plain(canvas, "\n");
  for (guint i = 0; i < schedules->len; i++)
    if (opens_group(schedules, i))
      append_group(schedules, i, result->results->len > 1, canvas);
  append_one_result(result, canvas);
  append_unfinished(&result->unfinished, canvas);
  if (result->again)
    paint_plain(canvas, "  again: %s\n", result->again);
}

static void append_expectation(const RunResult *result, Canvas *canvas) {
  if (!result->has_expectation)
    return;
  if (result->failures->len == 0) {
    paint_append(canvas, PAINT_GREEN, result->expects_findings ? "findings as expected" : "as expected");
    paint_plain(canvas, "%s\n",
                result->expects_findings ? " (the verdict isn't compared with memory.late_stores or sm.held_up)"
                                         : "");
    if (result->absent)
      paint_plain(canvas, "  `expect` lists what didn't occur: %s\n", result->absent);
    return;
  }
  paint_append(canvas, PAINT_RED, "not as expected:");
  paint_plain(canvas, "\n");
  for (guint i = 0; i < result->failures->len; i++)
    paint_plain(canvas, "  %s\n", (const char *)g_ptr_array_index(result->failures, i));
}

/* What the program printed comes first, as it was printed. */
static void append_printed(const RunResult *result, Canvas *canvas) {
  if (!result->printed)
    return;
  paint_plain(canvas, "%s%s", result->printed, g_str_has_suffix(result->printed, "\n") ? "" : "\n");
  if (result->printed_lost)
    paint_plain(canvas, "(and %" G_GUINT64_FORMAT " more calls of printf)\n", result->printed_lost);
}

static void append_values(const char *option, const char *const *values, const char **separator, Canvas *canvas) {
  for (; values && *values; values++) {
    g_autofree char *word = quote_word(*values);
    paint_plain(canvas, "%s%s %s", *separator, option, word);
    *separator = " ";
  }
}

void text_changes(const Changes *changes, Canvas *canvas) {
  const char *separator = ", ";
  append_values("-s", changes->settings, &separator, canvas);
  append_values("-p", changes->params, &separator, canvas);
}

/* "(seed 1, -s sm.policy=gto)", "(the worst of 3 of 8 schedules, ended by --limit-seconds)" */
static void append_conditions(const RunResult *result, Canvas *canvas) {
  if (!result->schedules)
    paint_plain(canvas, " (seed %" G_GUINT64_FORMAT, result->seed);
  else if (result->schedules->len < result->schedules_wanted)
    paint_plain(canvas, " (the worst of %u of %u schedules", result->schedules->len, result->schedules_wanted);
  else
    paint_plain(canvas, " (the worst of %u schedules", result->schedules->len);
  text_changes(&result->changes, canvas);
  if (result->stop)
    paint_plain(canvas, ", ended by %s%s",
                result->stop == STOP_SIGNAL   ? "a "
                : result->stop == STOP_WINDOW ? "its "
                : result->stop == STOP_ROUND  ? "a counter's "
                                              : "--",
                stop_name(result->stop));
  paint_plain(canvas, ")\n");
}

void text_run(const RunResult *result, Canvas *canvas) {
  append_printed(result, canvas);
  paint_append(canvas, PAINT_BOLD, "%s on %s: ", result->scenario, result->machine);
  paint_append(canvas, paint_of_verdict(result->verdict), "%s", verdict_name(result->verdict));
  append_conditions(result, canvas);
  for (guint i = 0; i < result->findings->len; i++)
    explain_finding(g_ptr_array_index(result->findings, i), canvas);
  if (result->code)
    paint_plain(canvas, "  %-*s%s\n", NAME_WIDTH, "code", result->code);
  if (result->schedules) {
    append_schedules(result, canvas);
  } else {
    append_cycles("cycles", result->cycles, result->clock_hz, canvas);
    append_span(result, canvas);
    append_regions(result, canvas);
    if (result->longest.found)
      append_longest(&result->longest, result->clock_hz, canvas);
    append_operations(result, canvas);
    append_transfers(&result->transfers, canvas);
    append_occupancy(result, canvas);
    append_counters(&result->counters, canvas);
    if (result->details)
      details_text(result->details, canvas);
  }
  if (result->dumps)
    dump_text(result->dumps, canvas);
  append_expectation(result, canvas);
}

static const char *outcome(const RunResult *result) {
  if (result->has_expectation && result->failures->len)
    return "NOT as expected";
  if (result->has_expectation)
    return result->expects_findings ? "findings as expected" : "as expected";
  return run_result_exit_status(result) == 0 ? "ok" : result->verdict == VERDICT_UNDECIDED ? "undecided" : "findings";
}

void text_summary(const GPtrArray *results, Canvas *canvas) {
  int widest = (int)strlen("scenario"), machines = MACHINE_WIDTH;
  for (guint i = 0; i < results->len; i++) {
    widest = paint_widen(widest, ((const RunResult *)g_ptr_array_index(results, i))->scenario);
    machines = paint_widen(machines, ((const RunResult *)g_ptr_array_index(results, i))->machine);
  }
  paint_append(canvas, PAINT_DIM, "%-*s  %-*s %-21s %12s", widest, "scenario", machines, "machine", "verdict",
               "cycles");
  paint_plain(canvas, "\n");
  for (guint i = 0; i < results->len; i++) {
    const RunResult *result = g_ptr_array_index(results, i);
    paint_cell(canvas, result->scenario, widest);
    paint_plain(canvas, "  ");
    paint_cell(canvas, result->machine, machines);
    paint_plain(canvas, " ");
    paint_append(canvas, paint_of_verdict(result->verdict), "%-21s", verdict_name(result->verdict));
    paint_plain(canvas, " %12" G_GUINT64_FORMAT "  ", result->cycles);
    paint_append(canvas, run_result_exit_status(result) == 0 ? PAINT_GREEN : PAINT_RED, "%s", outcome(result));
    paint_plain(canvas, "\n");
  }
}

/* What ratios are of, if that isn't the whole run. */
static void append_each(const Measurement *row, Canvas *canvas) {
  if (row->by_operation && row->verdict != VERDICT_COMPLETED)
    paint_plain(canvas, " %10s %9s", "-", "-");
  else if (row->by_operation)
    paint_plain(canvas, " %10" G_GINT64_FORMAT " %9.1f", row->operations, row->cycles.mean / (double)row->operations);
}

static void append_rank_row(const Measurement *row, const Measurement *baseline, int widest, double hz,
                            Canvas *canvas) {
  paint_cell(canvas, row->scenario, widest);
  if (row->verdict != VERDICT_COMPLETED) { /* cycles until a proof are no performance */
    paint_plain(canvas, " %12s %9s %9s %9s %9s", "-", "-", "-", "-", "-");
    append_each(row, canvas);
    paint_plain(canvas, " %7s %7s %7" G_GUINT64_FORMAT " %5" G_GUINT64_FORMAT "  ", "-", "-", row->shared_bytes,
                row->lock_bits);
    paint_append(canvas, paint_of_verdict(row->verdict), "%s", verdict_name(row->verdict));
    paint_plain(canvas, "%s\n", row->as_expected ? "" : " (not as expected)");
    return;
  }
  paint_plain(canvas, " %12.1f %9.1f %9.0f %9.0f %9.3f", row->cycles.mean, row->cycles.deviation, row->cycles.lowest,
              row->cycles.highest, row->cycles.mean / hz * 1e6);
  append_each(row, canvas);
  if (isnan(row->ratio)) /* the baseline didn't complete */
    paint_plain(canvas, " %7s %7s", "-", "-");
  else
    paint_plain(canvas, " %7.2f %7.2f", row->ratio, rank_ratio_deviation(baseline, row));
  paint_plain(canvas, " %7" G_GUINT64_FORMAT " %5" G_GUINT64_FORMAT "  ", row->shared_bytes, row->lock_bits);
  paint_append(canvas, paint_of_verdict(row->verdict), "%s", verdict_name(row->verdict));
  if (!row->as_expected)
    paint_append(canvas, PAINT_RED, " (not as expected)");
  paint_plain(canvas, "\n");
}

static void append_rank_line(const char *const *words, int widest, bool by_operation, Canvas *canvas) {
  paint_append(canvas, PAINT_DIM, "%-*s %12s %9s %9s %9s %9s", widest, words[0], words[1], words[2], words[3],
               words[4], words[5]);
  if (by_operation)
    paint_append(canvas, PAINT_DIM, " %10s %9s", words[6], words[7]);
  paint_append(canvas, PAINT_DIM, " %7s %7s %7s %5s%s", words[8], words[9], words[10], words[11], words[12]);
  paint_plain(canvas, "\n");
}

void text_rank(const GPtrArray *rows, const Machine *machine, const Changes *changes, Canvas *canvas) {
  int widest = (int)strlen("scenario");
  for (guint i = 0; i < rows->len; i++)
    widest = paint_widen(widest, ((const Measurement *)g_ptr_array_index(rows, i))->scenario);
  const Measurement *baseline = rows->len ? g_ptr_array_index(rows, 0) : NULL;
  if (!baseline)
    return;
  paint_append(canvas, PAINT_BOLD, "%s, %u seeds", machine->name, baseline->cycles.runs);
  text_changes(changes, canvas);
  paint_plain(canvas, "; ratio is how many times as fast as %s%s\n", baseline->scenario,
              baseline->by_operation ? " an operation is" : "");
  append_rank_line((const char *const[]){"scenario", "mean cycles", "+-", "lowest", "highest", "us", "operations",
                                         "cycles", "ratio", "+-", "shared", "lock", "  verdict"},
                   widest, baseline->by_operation, canvas);
  append_rank_line((const char *const[]){"", "", "", "", "", "", "", "each", "", "", "bytes", "bits", ""}, widest,
                   baseline->by_operation, canvas);
  for (guint i = 0; i < rows->len; i++)
    append_rank_row(g_ptr_array_index(rows, i), baseline, widest, machine->clocks.sm, canvas);
}
