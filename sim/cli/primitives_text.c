#include "sim/cli/primitives_text.h"

#include <math.h>
#include <string.h>

#include "sim/cli/session.h"
#include "sim/cli/studies.h"
#include "sim/report/json_studies.h"
#include "sim/study/csv_field.h"
#include "sim/study/sweep/primitives.h"

/* Seeds, if the user says nothing. The programs are lockstep's own, so notes on them would tell nothing. */
enum { SEEDS = 2, NAME_COLUMN = 26 };

/* --- the ranking --- */

/* Of the word "block" behind a number. */
static const char *ending(guint blocks) { return blocks == 1 ? "" : "s"; }

/* 4, 8, 16 ... and the capacity. */
static void default_blocks(GArray *blocks, guint capacity) {
  for (guint i = 4; i < capacity; i *= 2)
    g_array_append_val(blocks, i);
  g_array_append_val(blocks, capacity);
}

static bool read_blocks(const Options *options, const Machine *machine, GArray *blocks, Diag *diag) {
  g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
  AxisPlace place = {.option = "--blocks"};
  guint capacity = primitives_capacity(machine, diag);
  if (!capacity)
    return false;
  if (!options->blocks)
    return default_blocks(blocks, capacity), true;
  if (!axis_parse(options->blocks, &place, values, diag))
    return false;
  for (guint i = 0; i < values->len; i++) {
    guint64 value;
    if (!g_ascii_string_to_unsigned(g_ptr_array_index(values, i), 10, 1, G_MAXINT32, &value, NULL))
      return diag_usage(diag, "--blocks: `%s` isn't a number of blocks", (char *)g_ptr_array_index(values, i));
    if (value > capacity)
      return diag_usage(diag,
                        "--blocks %" G_GUINT64_FORMAT ": %s holds %u block%s at a time; others wait for room, and "
                        "don't contend",
                        value, machine->name, capacity, ending(capacity));
    guint number = (guint)value;
    g_array_append_val(blocks, number);
  }
  return true;
}

static void append_contest(GString *out, const Contest *contest, const char *before) {
  const Contender *first = &g_array_index(contest->contenders, Contender, 0);
  g_autofree char *rate = studies_rate(first->rate);
  double margin = contest_margin(contest);
  if (first->rate <= 0) {
    g_string_append_printf(out, "  %6u  none completes (%s)\n", contest->blocks, first->problem);
    return;
  }
  g_string_append_printf(out, "  %6u  %-*s %8s/s", contest->blocks, NAME_COLUMN, first->name, rate);
  if (isinf(margin))
    g_string_append(out, "  no other completes in time");
  else
    g_string_append_printf(out, "  %5.1f %% ahead of %s", (margin - 1) * 100, first[1].name);
  g_string_append_printf(out, "%s%s\n", before ? "; was " : "", before ? before : "");
}

/* Those that don't complete; a changed param may have kept them from it. */
static void append_failed(GString *out, const Contest *contest) {
  g_autoptr(GString) slow = g_string_new(NULL);
  for (guint i = 0; i < contest->contenders->len; i++) {
    const Contender *contender = &g_array_index(contest->contenders, Contender, i);
    if (contender->rate > 0)
      continue;
    if (strcmp(contender->problem, verdict_names()[VERDICT_UNDECIDED]) == 0)
      g_string_append_printf(slow, "%s%s", slow->len ? ", " : "", contender->name);
    else
      g_string_append_printf(out, "          %s doesn't complete: %s\n", contender->name, contender->problem);
  }
  if (slow->len)
    g_string_append_printf(out, "          given up, at %u cycles an operation: %s\n", PRIMITIVE_CYCLES_MOST,
                           slow->str);
}

static void append_ranking(GString *out, const GPtrArray *contests, const char *machine, const Options *options,
                           guint seeds) {
  guint ops = (guint)options->ops;
  const char *best = NULL;
  g_string_append_printf(out, "%s: operations a second, over %u seed%s", machine, seeds, seeds == 1 ? "" : "s");
  if (ops)
    g_string_append_printf(out, ", %u operation%s a block", ops, ops == 1 ? "" : "s");
  studies_changes(out, options);
  g_string_append_c(out, '\n');
  for (guint i = 0; i < contests->len; i++) {
    const Contest *contest = g_ptr_array_index(contests, i);
    bool is_first = i == 0 || ((const Contest *)g_ptr_array_index(contests, i - 1))->kind != contest->kind;
    const Contender *winner = &g_array_index(contest->contenders, Contender, 0);
    if (is_first)
      g_string_append_printf(out, "\n%s\n", primitive_kind_name(contest->kind));
    bool changes = !is_first && best && winner->rate > 0 && strcmp(best, winner->name) != 0;
    append_contest(out, contest, changes ? best : NULL);
    append_failed(out, contest);
    best = winner->rate > 0 ? winner->name : is_first ? NULL : best;
  }
  g_string_append(out,
                  "\nBackoff has the Imin and Imax of the scenarios (traces/primitives), but for what -p imin= and "
                  "-p imax= change;\n`lockstep tune` looks for better ones.\n");
}

static void append_csv(GString *out, const GPtrArray *contests, const char *machine, const Options *options) {
  for (guint i = 0; i < contests->len; i++) {
    const Contest *contest = g_ptr_array_index(contests, i);
    for (guint j = 0; j < contest->contenders->len; j++) {
      const Contender *contender = &g_array_index(contest->contenders, Contender, j);
      csv_field(out, machine);
      csv_field(out, primitive_kind_name(contest->kind));
      csv_field_format(out, "%u", contest->blocks);
      csv_field_format(out, "%u", j + 1);
      csv_field(out, contender->name);
      csv_field_format(out, "%.6g", contender->rate);
      csv_field(out, contender->problem);
      csv_field_values(out, (const char *const *)options->overrides);
      csv_field_values(out, (const char *const *)options->params);
      g_string_append_c(out, '\n');
    }
  }
}

/* One object for one machine, an array for several. */
static void append_json(GString *out, const GPtrArray *contests, const Machine *machine, const Options *options,
                        guint seeds, bool first) {
  Changes changes = options_changes(options);
  g_autofree char *object = json_primitives(contests, machine, &changes, seeds);
  bool several = options->machines[1] != NULL;
  g_string_append_printf(out, "%s%s%s", !several ? "" : first ? "[\n" : ",\n", object, several ? "" : "\n");
}

static int rank_machine(const char *name, const Options *options, bool first, Diag *diag) {
  g_autoptr(Machine) machine = machine_load(name, (const char *const *)options->overrides, diag);
  g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(guint));
  guint ops = (guint)options->ops, seeds = options->seeds > 0 ? (guint)options->seeds : SEEDS;
  if (!machine || !read_blocks(options, machine, blocks, diag))
    return STATUS_OK;
  Progress progress;
  SweepOptions sweep = studies_begin(options, &progress);
  g_autoptr(GPtrArray) contests =
      primitives_rank(name, (const char *const *)options->overrides, (const char *const *)options->params, blocks,
                      ops, seeds, &sweep, diag);
  progress_end(&progress);
  if (!contests)
    return diag_has_errors(diag) ? STATUS_OK : studies_cut_short(options, diag);
  g_autoptr(GString) text = g_string_new(NULL);
  if (options->format == FORMAT_CSV) {
    if (first)
      g_string_append(text, "machine,kind,blocks,rank,primitive,operations_per_second,problem,settings,params\n");
    append_csv(text, contests, machine->name, options);
  } else if (options->format == FORMAT_JSON) {
    append_json(text, contests, machine, options, seeds, first);
  } else {
    g_string_append(text, first ? "" : "\n");
    append_ranking(text, contests, machine->name, options, seeds);
  }
  return session_write(text->str);
}

int primitives_rank_machines(const Options *options, Diag *diag) {
  int status = STATUS_OK;
  if (!options->machines || options->rest[0])
    return diag_usage(diag, "--primitives ranks those of traces/primitives: name a machine with -m, and no scenario"),
           status;
  if (options->baseline)
    return diag_usage(diag, "--primitives takes --blocks, --ops and -p, no --baseline"), status;
  for (char **name = options->machines; *name && !diag_has_errors(diag); name++) {
    g_autoptr(Diag) found = diag_new();
    status = exit_status_worst(status, rank_machine(*name, options, name == options->machines, found));
    diag_add_serious(diag, found);
  }
  if (options->format == FORMAT_JSON && options->machines[1] && !diag_has_errors(diag))
    status = exit_status_worst(status, session_write("\n]\n"));
  return status;
}

/* --- the characteristics --- */

static void append_times(GString *out, const Characteristics *found) {
  static const char *const ways[] = {"volatile", "atomic", "volatile after an atomic"};
  g_string_append_printf(out, "%-26s%14s%14s%14s%14s   (us)\n", "", "reads, one", "own word", "writes, one",
                         "own word");
  for (guint way = 0; way < G_N_ELEMENTS(ways); way++) {
    g_string_append_printf(out, "%-26s", ways[way]);
    for (guint write = 0; write < 2; write++)
      for (guint apart = 0; apart < 2; apart++)
        g_string_append_printf(out, "%14.3f", found->time[write][!apart][way]);
    g_string_append_c(out, '\n');
  }
}

static void append_characteristics(GString *out, const Characteristics *found, const char *machine,
                                   const Options *options) {
  g_string_append_printf(out, "%s, %u block%s, one thread of each makes 1000 accesses", machine, found->blocks,
                         ending(found->blocks));
  studies_changes(out, options);
  g_string_append(out, "\n\n");
  append_times(out, found);
  g_string_append_printf(
      out,
      "\natomic : volatile             %6.2f   contentious reads\n"
      "contentious : noncontentious  %6.2f   volatile reads\n"
      "lines held hostage            %6s   volatile reads after an atomic take %.2f times as long\n\n",
      found->atomic_volatile, found->contentious, found->hostage ? "yes" : "no", found->preceded);
}

static const Contender *find_contender(const Contest *contest, const char *name) {
  for (guint i = 0; i < contest->contenders->len; i++)
    if (strcmp(g_array_index(contest->contenders, Contender, i).name, name) == 0)
      return &g_array_index(contest->contenders, Contender, i);
  return NULL;
}

static void append_difference(GString *out, const Contest *contest, const Contender *advised,
                              const Contender *first) {
  const char *why = primitives_difference(advised->name, first->name);
  g_string_append_printf(out, "  rank has %s, %.1f %% ahead of it at %u block%s%s%s\n", first->name,
                         (first->rate / advised->rate - 1) * 100, contest->blocks, ending(contest->blocks),
                         why ? ": " : "", why ? why : "");
}

/* Whether the ranking at full scale says the same as the advice. */
static void append_agreement(GString *out, const Contest *contest, const char *advice) {
  const Contender *first = &g_array_index(contest->contenders, Contender, 0),
                  *advised = find_contender(contest, advice);
  double margin = contest_margin(contest);
  if (advised->rate <= 0)
    g_string_append_printf(out, "  but it doesn't complete with %u block%s: %s\n", contest->blocks,
                           ending(contest->blocks), advised->problem);
  else if (advised != first)
    append_difference(out, contest, advised, first);
  else if (isinf(margin))
    g_string_append_printf(out, "  rank agrees: no other completes at %u block%s in time\n", contest->blocks,
                           ending(contest->blocks));
  else
    g_string_append_printf(out, "  rank agrees: %.1f %% ahead of %s at %u block%s\n", (margin - 1) * 100,
                           first[1].name, contest->blocks, ending(contest->blocks));
}

static void append_advice(GString *out, const Characteristics *found, const GPtrArray *contests) {
  for (guint i = 0; i < contests->len; i++) {
    const Contest *contest = g_ptr_array_index(contests, i);
    const char *why;
    const char *advice = primitives_recommend(found, contest->kind, &why);
    g_string_append_printf(out, "%s: %s, since %s\n", primitive_kind_name(contest->kind), advice, why);
    append_agreement(out, contest, advice);
  }
}

static int classify(const char *name, const Options *options, Diag *diag) {
  const char *const *settings = (const char *const *)options->overrides;
  Characteristics found;
  Progress progress;
  SweepOptions sweep = studies_begin(options, &progress);
  bool good = primitives_classify(name, settings, &sweep, &found, diag);
  g_autoptr(GArray) blocks = g_array_new(FALSE, FALSE, sizeof(guint));
  g_array_append_val(blocks, found.blocks);
  g_autoptr(GPtrArray) contests = good ? primitives_rank(name, settings, NULL, blocks, 0, 1, &sweep, diag) : NULL;
  progress_end(&progress);
  if (!contests)
    return diag_has_errors(diag) ? STATUS_OK : studies_cut_short(options, diag);
  g_autoptr(GString) text = g_string_new(NULL);
  append_characteristics(text, &found, name, options);
  append_advice(text, &found, contests);
  return session_write(text->str);
}

int primitives_classify_machine(const char *name, const Options *options, Diag *diag) {
  g_autoptr(Diag) found = diag_new();
  int status = classify(name, options, found);
  diag_add_serious(diag, found);
  return status;
}
