#include "sim/study/forms.h"

/* A run of the PTX that doesn't end gets so many times the cycles of the machine code. */
enum { SOURCE_FACTOR = 20, SOURCE_CYCLES_MIN = 1000000 };

/* What PTX tells better. */
static bool is_of_source(FindingId id) {
  return id == FINDING_DATA_RACE || id == FINDING_UNORDERED_ACCESS || id == FINDING_SPECULATIVE_LOAD ||
         id == FINDING_LOST_UPDATE || id == FINDING_STALE_SWAP || id == FINDING_PROXY_FENCE ||
         id == FINDING_EXITED_PEER || id == FINDING_UNEXPECTED_RESULT || id == FINDING_SYNC_MASK ||
         id == FINDING_UNSET_REGISTER || id == FINDING_UNINITIALIZED_READ;
}

static bool has_place(const GPtrArray *findings, const Finding *finding) {
  return finding_find(findings, finding) != NULL;
}

static bool is_wait(Verdict verdict) { return verdict == VERDICT_LIVELOCK || verdict == VERDICT_ORPHAN_WAIT; }

/* The PTX comes as far as the machine code. One form may name a wait that the other finds no name for. */
static bool comes_as_far(const RunResult *source, const RunResult *code) {
  return source->verdict == VERDICT_COMPLETED || source->verdict == code->verdict ||
         (is_wait(source->verdict) && is_wait(code->verdict));
}

/* The findings of the machine code with those of its PTX in their place. Of two of the PTX at one place, each with a
 * doubt of its own, both are there: either may turn out to be nothing. */
static GPtrArray *unite(const RunResult *code, RunResult *source) {
  GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  bool same_end = comes_as_far(source, code);
  for (guint i = 0; i < code->findings->len; i++) {
    const Finding *finding = g_ptr_array_index(code->findings, i);
    if (is_of_source(finding->id) && (same_end || has_place(source->findings, finding)))
      continue;
    Finding *copy = finding_copy(finding), *other = finding_find(source->findings, finding);
    if (other) /* fences are tried in the PTX, which has to have the finding, too */
      copy->fences = g_steal_pointer(&other->fences);
    g_ptr_array_add(all, copy);
  }
  for (guint i = 0; i < source->findings->len; i++) {
    Finding *finding = g_ptr_array_index(source->findings, i);
    if (!is_of_source(finding->id))
      continue;
    Finding *copy = finding_copy(finding);
    copy->repairs = g_steal_pointer(&finding->repairs); /* to be tried with the PTX */
    copy->doubt = g_steal_pointer(&finding->doubt);
    copy->fences = g_steal_pointer(&finding->fences);
    copy->atomics = g_steal_pointer(&finding->atomics);
    g_ptr_array_add(all, copy);
  }
  return all;
}

static void add_to_code(RunResult *result, const char *text) {
  char *code = result->code;
  result->code = g_strconcat(code ? code : "machine code", text, NULL);
  g_free(code);
}

static void add_choices(Choices *all, const RunResult *run) {
  all->warps |= run && run->choices.warps;
  all->ways |= run && run->choices.ways;
}

static void adopt(RunResult *result, RunResult *source, const Expectation *expect) {
  GPtrArray *before = result->findings;
  result->findings = unite(result, source);
  result->source_cycles = source->cycles;
  if (expect)
    run_result_expect_findings(result, expect, before);
  g_ptr_array_unref(before);
  add_to_code(result, "; races and misuse are looked for in its PTX");
}

/* The run of the PTX; NULL: it can't run on the machine. */
static RunResult *run_source(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                             uint64_t cycles) {
  g_autoptr(Diag) ignored = diag_new();
  RunOptions source = *options;
  source.as_source = true;
  source.observer = NULL;
  source.details = source.keep_buffers = false;
  source.limit_cycles = MIN(options->limit_cycles, cycles * SOURCE_FACTOR + SOURCE_CYCLES_MIN);
  return run_scenario(scenario, machine, &source, ignored);
}

/* Why there is no PTX to look at: " (an atomic operation on 16 bits isn't supported)", or nothing. */
static char *why_no_source(const Diag *found) {
  for (unsigned i = 0; i < diag_count(found); i++)
    if (diag_item(found, i)->severity == DIAG_ERROR)
      return g_strdup_printf(" (%s)", diag_item(found, i)->message);
  return g_strdup("");
}

/* What has one form; `found` says why it has no other. */
static RunResult *run_alone(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                            const Diag *found, Diag *diag) {
  RunResult *result = run_scenario(scenario, machine, options, diag);
  const Program *program = result ? scenario_program(scenario, machine, diag) : NULL;
  if (options->races && program && program->dialect == DIALECT_MACHINE_CODE) {
    g_autofree char *why = why_no_source(found);
    g_autofree char *text =
        g_strconcat(" without its PTX", why, ": missing fences, __syncwarp() and lanes of masks can't be told", NULL);
    add_to_code(result, text);
  }
  return result;
}

RunResult *forms_run(const Scenario *scenario, const Machine *machine, const RunOptions *options, Diag *diag) {
  g_autoptr(Diag) found = diag_new();
  if (!options->races || !scenario_source(scenario, machine, found))
    return run_alone(scenario, machine, options, found, diag);
  RunOptions plain = *options;
  plain.races = false;
  RunResult *code = run_scenario(scenario, machine, &plain, diag);
  g_autoptr(RunResult) source = code && !code->stop ? run_source(scenario, machine, options, code->cycles) : NULL;
  bool same_end = source && comes_as_far(source, code);
  Choices choices = {0}; /* of all these runs */
  add_choices(&choices, code);
  add_choices(&choices, source);
  if (code && !same_end && !code->stop) { /* its own races count */
    run_result_free(code);
    code = run_scenario(scenario, machine, options, diag);
    add_choices(&choices, code);
  }
  if (code)
    code->choices = choices;
  if (code && source)
    adopt(code, source, scenario_expectation(scenario, machine->name));
  return code;
}
