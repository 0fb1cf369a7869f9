#include "sim/study/fences.h"

#include <string.h>

#include "sim/study/put_fences.h"
#include "sim/study/repairs.h"

/* Fences of one proposal; runs of one check; how many times the cycles of the run without them, since each waits for
 * late stores. */
enum { FENCES_MAX = 5, RUNS_MAX = 160, CYCLES_FACTOR = 4, CYCLES_MIN = 1000000 };

struct FenceSearch {
  const Scenario *scenario;
  const Machine *machine;
  const RunOptions *options;
  const GArray *schedules;
  GHashTable *runs; /* text of fences and schedule -> RunResult *; NULL: it wasn't made */
  unsigned made;
};

/* What is looked for, and where. */
typedef struct Sought {
  FenceSearch *search;
  const Finding *finding;
  guint index;
  const RunResult *run;
  Diag *diag;
  unsigned trials; /* runs under which it is gone */
  bool meets;      /* what it leads to has come up in spite of fences */
} Sought;

typedef enum { FENCES_HELP, FENCES_DONT_HELP, FENCES_NOT_KNOWN } Answer;

static void free_run(gpointer run) { run_result_free(run); }

FenceSearch *fence_search_new(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                              const GArray *schedules) {
  FenceSearch *search = g_new0(FenceSearch, 1);
  *search = (FenceSearch){.scenario = scenario, .machine = machine, .options = options, .schedules = schedules};
  search->runs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_run);
  return search;
}

void fence_search_free(FenceSearch *search) {
  g_hash_table_destroy(search->runs);
  g_free(search);
}

/* ---- runs ---- */

static char *key_of(const GPtrArray *fences, guint index, bool as_source) {
  GString *key = g_string_new(NULL);
  for (guint i = 0; i < fences->len; i++) {
    const LateFence *fence = g_ptr_array_index(fences, i);
    g_string_append_printf(key, "%s %d %u,", fence->kernel, fence->before, g_array_index(fence->insts, uint32_t, 0));
  }
  g_string_append_printf(key, "%u %d", index, as_source);
  return g_string_free(key, FALSE);
}

/* Of a run under schedule `index` with the fences. */
static RunOptions options_of(const Sought *sought, const GPtrArray *fences, guint index) {
  uint64_t cycles = sought->run->source_cycles ? sought->run->source_cycles : sought->run->cycles;
  RunOptions trial = *sought->search->options;
  trial.seed = g_array_index(sought->search->schedules, Schedule, index).seed;
  trial.races = true;
  trial.as_source = sought->run->source_cycles > 0;
  trial.fences = fences;
  trial.observer = NULL;
  trial.heartbeat = NULL;
  trial.details = trial.keep_buffers = false;
  trial.limit_cycles = MIN(trial.limit_cycles, cycles * CYCLES_FACTOR + CYCLES_MIN);
  return trial;
}

/* NULL: it can't be made, or there have been too many. */
static RunResult *run_with(const Sought *sought, const GPtrArray *fences, guint index, const Machine *machine,
                           const RunOptions *options) {
  FenceSearch *search = sought->search;
  g_autofree char *key = key_of(fences, index, options->as_source);
  gpointer known;
  if (g_hash_table_lookup_extended(search->runs, key, NULL, &known))
    return known;
  RunResult *run = NULL;
  if (search->made < RUNS_MAX && !stop_asked(search->options->stop)) {
    run = run_scenario(search->scenario, machine, options, sought->diag);
    search->made++;
  }
  g_hash_table_insert(search->runs, g_steal_pointer(&key), run);
  return run;
}

/* It is what the finding leads to. */
static bool is_meeting(const Finding *race, const unsigned meets[2]) {
  if (race->id != FINDING_DATA_RACE || !meets[0] || race->evidence->len < 2)
    return false;
  unsigned one = ((const Evidence *)g_ptr_array_index(race->evidence, 0))->line,
           other = ((const Evidence *)g_ptr_array_index(race->evidence, 1))->line;
  return (one == meets[0] && other == meets[1]) || (one == meets[1] && other == meets[0]);
}

/* The same finding, unless its doubt ends it; or the race that it leads to. */
static const Finding *find_again(Sought *sought, RunResult *run, const Machine *machine, const RunOptions *options) {
  for (guint i = 0; i < run->findings->len; i++) {
    Finding *again = g_ptr_array_index(run->findings, i);
    if (is_meeting(again, sought->finding->meets)) {
      sought->meets = true;
      return again;
    }
    if (!finding_same_place(again, sought->finding))
      continue;
    if (!repairs_doubt(again, sought->search->scenario, machine, options, run->cycles, sought->diag)) {
      finding_trust(again);
      return again;
    }
    g_ptr_array_remove_index(run->findings, i--);
  }
  return NULL;
}

/* What a run with the fences has of the finding. *ended: it came to its end, and counts. */
static const Finding *look_under(Sought *sought, const GPtrArray *fences, guint index, bool *ended) {
  const FenceSearch *search = sought->search;
  Machine *machine = schedule_machine(&g_array_index(search->schedules, Schedule, index), search->machine);
  RunOptions options = options_of(sought, fences, index);
  RunResult *run = run_with(sought, fences, index, machine, &options);
  const Finding *still = run ? find_again(sought, run, machine, &options) : NULL;
  *ended = run && (run->verdict != VERDICT_UNDECIDED || sought->run->verdict == VERDICT_UNDECIDED);
  machine_free(machine);
  return still;
}

/* Whether the finding is gone in the run that has it, and in all with late stores. If not, *still is what one of
 * them has. Runs that don't end in time say nothing, but for that under the schedule that has the finding. */
static Answer ask(Sought *sought, const GPtrArray *fences, const Finding **still) {
  guint count = sought->search->schedules->len;
  sought->trials = 0;
  for (guint i = 0; i < count; i++) {
    guint index = (sought->index + i) % count;
    if (i > 0 && !g_array_index(sought->search->schedules, Schedule, index).late_stores)
      continue;
    bool ended;
    *still = look_under(sought, fences, index, &ended);
    if (*still)
      return FENCES_DONT_HELP;
    if (!ended && i == 0)
      return FENCES_NOT_KNOWN;
    sought->trials += ended;
  }
  return FENCES_HELP;
}

/* ---- the search ---- */

static GPtrArray *no_fences(void) { return g_ptr_array_new_with_free_func(late_fence_free); }

/* The likeliest of those that the finding asks for and that aren't there yet. False: there is none. */
static bool add_next(GPtrArray *fences, const Finding *finding) {
  for (guint i = 0; finding->fences && i < finding->fences->len; i++) {
    LateFence *next = put_fences_before(fences, g_ptr_array_index(finding->fences, i));
    if (!put_fences_has(fences, next)) {
      g_ptr_array_add(fences, next);
      return true;
    }
    late_fence_free(next);
  }
  return false;
}

/* Leaves out those without which the finding is gone, too. */
static void make_fewer(Sought *sought, GPtrArray *fences) {
  for (guint i = 0; fences->len > 1 && i < fences->len;) {
    const Finding *still;
    LateFence *without = g_ptr_array_steal_index(fences, i);
    if (ask(sought, fences, &still) == FENCES_HELP) {
      late_fence_free(without);
    } else {
      g_ptr_array_insert(fences, (gint)i, without);
      i++;
    }
  }
}

static Answer search_fences(Sought *sought, GPtrArray *fences) {
  const Finding *still = sought->finding;
  Answer answer = FENCES_DONT_HELP;
  while (answer == FENCES_DONT_HELP && fences->len < FENCES_MAX && add_next(fences, still))
    answer = ask(sought, fences, &still);
  if (answer == FENCES_HELP && fences->len > 1) {
    make_fewer(sought, fences);
    answer = ask(sought, fences, &still);
  }
  return answer;
}

/* ---- what is said ---- */

static char *places_text(const GPtrArray *fences) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < fences->len; i++)
    g_string_append_printf(text, "%s%s", i ? ", and " : "", ((const LateFence *)g_ptr_array_index(fences, i))->where);
  return g_string_free(text, FALSE);
}

static void add_evidence(Finding *finding, const GPtrArray *fences) {
  bool loads = false, overtaken = false;
  for (guint i = 0; i < fences->len; i++) {
    const LateFence *fence = g_ptr_array_index(fences, i);
    finding_add_fence_evidence(finding, fence);
    loads |= fence->load;
    overtaken |= fence->overtaken;
  }
  if (!overtaken)
    return;
  finding_add_evidence(finding, 0,
                       g_strdup_printf("no GPU's stores are as late as those of this run: the memory model allows "
                                       "it, since only %s between the two keeps their order",
                                       loads ? "fence.sc (__threadfence())" : "a fence"));
}

static void tell_failure(Finding *finding, const GPtrArray *fences) {
  g_autofree char *places = places_text(fences);
  finding_add_evidence(finding, 0,
                       g_strdup_printf("__threadfence() %s doesn't help in the model: it was tried", places));
}

/* The two that would meet do so whatever is read. */
static void drop_repairs(Finding *finding) {
  g_clear_pointer(&finding->repairs, g_ptr_array_unref);
  g_free(finding->repair);
  finding->repair = g_strdup("see to it that the word says who may go on: what is read there now lets both do so");
}

static char *success_text(const Sought *sought, const char *places, guint fences) {
  bool one = sought->trials == 1;
  return g_strdup_printf("put __threadfence() (fence.sc) %s; tried: %u %s with %s %s this finding", places,
                         sought->trials, one ? "run" : "runs", fences > 1 ? "them" : "it", one ? "lacks" : "lack");
}

static gint compare_texts(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The same for the same fences, in whatever order they were found. */
static char *set_key(const GPtrArray *fences) {
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < fences->len; i++) {
    const LateFence *fence = g_ptr_array_index(fences, i);
    g_ptr_array_add(
        texts, g_strdup_printf("%s %d %u", fence->kernel, fence->before, g_array_index(fence->insts, uint32_t, 0)));
  }
  g_ptr_array_sort(texts, compare_texts);
  g_ptr_array_add(texts, NULL);
  return g_strjoinv(",", (char **)texts->pdata);
}

bool fence_search_try(FenceSearch *search, Finding *finding, guint index, const RunResult *run, Diag *diag) {
  if (!finding->fences)
    return false;
  Sought sought = {search, finding, index, run, diag, 0, false};
  g_autoptr(GPtrArray) fences = no_fences();
  Answer answer = search_fences(&sought, fences);
  if (answer != FENCES_HELP && finding->repairs && !sought.meets)
    return false;
  if (answer == FENCES_DONT_HELP) {
    tell_failure(finding, fences);
    if (sought.meets)
      drop_repairs(finding);
    if (finding->id == FINDING_UNEXPECTED_RESULT)
      g_clear_pointer(&finding->repair, g_free); /* it asks for a fence */
    return false;
  }
  g_autofree char *places = places_text(fences);
  add_evidence(finding, fences);
  g_free(finding->mended_by);
  finding->mended_by = answer == FENCES_HELP ? set_key(fences) : NULL;
  g_free(finding->repair);
  finding->repair = answer == FENCES_HELP
                        ? success_text(&sought, places, fences->len)
                        : g_strdup_printf("hint, tried without an answer: put __threadfence() (fence.sc) %s", places);
  return true;
}
