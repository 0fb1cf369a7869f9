#include "sim/study/run.h"

#include <string.h>

#include "base/quote.h"
#include "sim/core/hold_once.h"
#include "sim/core/look.h"
#include "sim/core/record.h"
#include "sim/detect/detectors.h"
#include "sim/detect/naming/locate.h"
#include "sim/detect/progress.h"
#include "sim/study/simulation.h"
#include "sim/study/unexpected.h"

/* A livelock must recur under this many seeds before it is called one (SEMANTICS, "Timing noise"). */
enum { LIVELOCK_SEEDS = 4 };

RunOptions run_options_default(void) {
  return (RunOptions){.seed = 1, .limit_cycles = LIMIT_CYCLES_DEFAULT, .threads = 1};
}

void run_result_free(RunResult *result) {
  if (!result)
    return;
  g_free(result->scenario);
  g_free(result->file);
  g_free(result->machine);
  g_free(result->code);
  g_free(result->absent);
  g_free(result->printed);
  g_array_free(result->regions, TRUE);
  if (result->occupancy)
    g_array_unref(result->occupancy);
  g_ptr_array_unref(result->findings);
  g_ptr_array_unref(result->failures);
  if (result->schedules)
    g_array_free(result->schedules, TRUE);
  g_clear_pointer(&result->results, g_ptr_array_unref);
  g_clear_pointer(&result->dumps, g_array_unref);
  g_clear_pointer(&result->buffers, g_ptr_array_unref);
  g_free(result->again);
  g_free(result->unfinished.again);
  details_free(result->details);
  g_free(result->wait_graph_dot);
  g_free(result->wait_graph_json);
  g_free(result);
}

/* They stand after the verdict's and before those of buffers. */
void run_result_expect_findings(RunResult *result, const Expectation *expect, const GPtrArray *before) {
  g_autoptr(GPtrArray) old = g_ptr_array_new_with_free_func(g_free), new = g_ptr_array_new();
  expectation_findings(expect, before, old);
  expectation_findings(expect, result->findings, new);
  guint first = result->failures->len - result->wrong_buffers - old->len;
  if (old->len)
    g_ptr_array_remove_range(result->failures, first, old->len);
  for (guint i = 0; i < new->len; i++)
    g_ptr_array_insert(result->failures, (gint)(first + i), g_ptr_array_index(new, i));
}

/* ---- one simulation ---- */

static Outcome simulate(Simulation *simulation, bool livelocks) {
  uint64_t limit = simulation->options->limit_cycles, window = simulation->scenario->measure.window;
  bool windowed = window && window <= limit;
  ProgressOptions progress = {.limit_cycles = windowed ? window : limit,
                              .patience_cycles = simulation->options->patience_cycles,
                              .windowed = windowed,
                              .stop = simulation->options->stop,
                              .heartbeat = simulation->options->heartbeat,
                              .heartbeat_user = simulation->options->heartbeat_user,
                              .livelocks = livelocks,
                              .graph = simulation->options->graph};
  return progress_run(simulation->gpu, &progress, simulation->findings);
}

static void add_choices(Choices *all, const Gpu *gpu) {
  if (!gpu)
    return;
  Choices more = look_choices(gpu);
  all->warps |= more.warps;
  all->ways |= more.ways;
}

/* True if the candidate livelock recurs under the further seeds too. */
static bool recurs_elsewhere(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                             Choices *choices, Diag *diag) {
  RunOptions silent = *options;
  silent.observer = NULL;
  silent.details = false;
  silent.races = false;
  for (uint64_t i = 1; i < LIVELOCK_SEEDS; i++) {
    Simulation other;
    bool recurs = false;
    if (simulation_init(&other, scenario, machine, &silent, options->seed + i, diag)) {
      Outcome outcome = simulate(&other, true);
      recurs = outcome.candidate;
      outcome_clear(&outcome);
    }
    add_choices(choices, other.gpu);
    simulation_clear(&other);
    if (!recurs)
      return false;
  }
  return true;
}

/* ---- the result ---- */

static void collect_region(const Simulation *simulation, RunResult *result) {
  const ScenarioMeasure *measure = &simulation->scenario->measure;
  if (!measure->has_region)
    return;
  const MarkTime *from = record_mark_time(simulation->gpu, measure->region.from);
  const MarkTime *to = record_mark_time(simulation->gpu, measure->region.to);
  RegionResult region = {.from = measure->region.from, .to = measure->region.to};
  if (from && to && to->last >= from->first) {
    region.found = true;
    region.first_cycle = from->first;
    region.last_cycle = to->last;
  }
  g_array_append_val(result->regions, region);
}

static void clear_occupancy(gpointer data) { g_free(((LaunchOccupancy *)data)->kernel); }

static GArray *collect_occupancy(const Simulation *simulation) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(LaunchOccupancy));
  g_auto(GStrv) names = programs_kernel_names(simulation->scenario->programs);
  g_array_set_clear_func(all, clear_occupancy);
  for (guint i = 0; i < simulation->scenario->launches->len; i++) {
    const ScenarioLaunch *launch = g_ptr_array_index(simulation->scenario->launches, i);
    const Kernel *kernel = program_kernel(simulation->program, launch->kernel);
    LaunchOccupancy item = {.kernel = g_strdup(names[launch->kernel]),
                            .is_ptx = simulation->program->dialect == DIALECT_PTX,
                            .occupancy =
                                occupancy_of(simulation->gpu->machine, kernel, launch->block, launch->shared_bytes)};
    item.resident_blocks = item.occupancy.blocks * simulation->gpu->machine->gpu.sms;
    g_array_append_val(all, item);
  }
  return all;
}

/* Those that a right result shows to be harmless. */
static void drop_harmless(const Scenario *scenario, const Expectation *expect, const uint32_t *const *memory,
                          RunResult *result) {
  g_autoptr(GPtrArray) failures = g_ptr_array_new_with_free_func(g_free), none = g_ptr_array_new();
  if (!expect->buffers->len || result->verdict != VERDICT_COMPLETED ||
      expectation_compare(scenario, expect, result->verdict, none, memory, failures))
    return;
  for (guint i = result->findings->len; i-- > 0;)
    if (((const Finding *)g_ptr_array_index(result->findings, i))->unless_right)
      g_ptr_array_remove_index(result->findings, i);
}

static void compare_expectation(const Simulation *simulation, const Machine *machine, RunResult *result) {
  const Scenario *scenario = simulation->scenario;
  const Expectation *expect = scenario_expectation(scenario, machine->name);
  if (!expect)
    return;
  result->has_expectation = true;
  g_autofree const uint32_t **memory = g_new(const uint32_t *, scenario->buffers->len + 1);
  for (guint i = 0; i < scenario->buffers->len; i++)
    memory[i] = look_words(simulation->gpu, simulation->buffers[i]).words;
  drop_harmless(scenario, expect, memory, result);
  if (unexpected_may_be(machine)) { /* the verdict that is expected is what a GPU does by itself */
    result->expects_findings = true;
    expectation_findings(expect, result->findings, result->failures);
    return;
  }
  result->wrong_buffers =
      expectation_compare(scenario, expect, result->verdict, result->findings, memory, result->failures);
}

static void free_buffer(gpointer data) {
  ResultBuffer *result = data;
  g_free(result->name);
  g_free(result->data);
  g_free(result);
}

bool run_keeps_buffer(const Scenario *scenario, guint buffer) {
  const ScenarioBuffer *own = g_ptr_array_index(scenario->buffers, buffer);
  if (own->variable < 0)
    return true;
  const ProgramVariable *variable = g_ptr_array_index(scenario->program->variables, own->variable);
  return !variable->constant && own->name[0] != '$' && !g_str_has_prefix(own->name, "__unnamed_");
}

static GPtrArray *collect_buffers(const Simulation *simulation) {
  GPtrArray *all = g_ptr_array_new_with_free_func(free_buffer);
  for (guint i = 0; i < simulation->scenario->buffers->len; i++) {
    BufferLook from = look_words(simulation->gpu, simulation->buffers[i]);
    if (!run_keeps_buffer(simulation->scenario, i))
      continue;
    ResultBuffer *buffer = g_new(ResultBuffer, 1);
    *buffer = (ResultBuffer){g_strdup(from.name), from.count, g_memdup2(from.words, (gsize)from.count * 4)};
    g_ptr_array_add(all, buffer);
  }
  return all;
}

/* Blocks that are still resident weren't counted when they exited. */
static void count_resident(Gpu *gpu) {
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].resident_blocks && slot < gpu->machine->sm.max_blocks; slot++)
      if (gpu->sms[i].blocks[slot].launch)
        sm_count_shared_bytes(&gpu->sms[i], &gpu->sms[i].blocks[slot]);
  gpu_collect(gpu);
}

static LongestLaunch longest_launch(const Gpu *gpu) {
  LongestLaunch longest = {.found = true, .launches = gpu->launches->len};
  for (guint i = 0; i < gpu->launches->len; i++) {
    const Launch *launch = g_ptr_array_index(gpu->launches, i);
    uint64_t cycles = launch->last_end - launch->first;
    if (cycles > longest.cycles) {
      longest.cycles = cycles;
      longest.launch = i;
    }
  }
  return longest;
}

static uint64_t word_pair(const uint32_t *words) { return (uint64_t)words[1] << 32 | words[0]; }

static MeasuredTransfers measured_transfers(const Simulation *simulation, const Machine *machine) {
  const ScenarioMeasure *measure = &simulation->scenario->measure;
  const uint32_t *words = look_words(simulation->gpu, simulation->buffers[measure->transfers]).words;
  uint64_t nanoseconds = word_pair(words), transfers = word_pair(words + 2);
  if (transfers == 0)
    return (MeasuredTransfers){0};
  return (MeasuredTransfers){true, transfers, (double)nanoseconds / (double)transfers * machine->clocks.sm / 1e9};
}

static uint64_t dram_bytes(const Gpu *gpu) {
  const MemStats *stats = look_memory(gpu);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < stats->channels; i++)
    bytes += stats->channel[i].read.bytes + stats->channel[i].written.bytes;
  return bytes;
}

static uint64_t l2_lines(const Gpu *gpu) {
  const MemStats *stats = look_memory(gpu);
  uint64_t lines = 0;
  for (uint32_t i = 0; i < stats->slices; i++)
    lines += stats->slice[i].loads + stats->slice[i].stores + stats->slice[i].atomics;
  return lines;
}

/* Somebody waits for what was done while the warp was held up, or for what the warp missed then. What is known of the
 * word says more. */
static void tell_missed(Finding *finding) {
  if (finding->id != FINDING_ORPHAN_WAIT || !finding_repair_is_general(finding->repair))
    return;
  g_free(finding->repair);
  finding->repair = g_strdup("what others do while a thread stands still there is missed: let it read what it waits "
                             "for before it lets them go on, or let the change stay until it has been seen");
}

/* What went wrong did so because a warp was held up at one place (sm.held_once): says where. */
static void tell_hold(const Gpu *gpu, const GPtrArray *findings) {
  const HoldOnce *hold = &gpu->hold;
  if (!hold_once_was(gpu))
    return;
  uint64_t warps = hold->launch->block_warps;
  g_autofree char *launch = gpu->launches->len > 1
                                ? g_strdup_printf(" of launch %u (%s)", hold->launch->index, hold->launch->name)
                                : g_strdup("");
  g_autofree char *who = g_strdup_printf("in this run warp %" G_GUINT64_FORMAT " of block %" G_GUINT64_FORMAT
                                         "%s was held up for %u cycles",
                                         hold->warp % warps, hold->warp / warps, launch, gpu->machine->sm.held_up);
  for (guint i = 0; i < findings->len; i++) {
    Finding *finding = g_ptr_array_index(findings, i);
    if (finding_severity(finding->id) != SEVERITY_ERROR && finding->id != FINDING_UNEXPECTED_RESULT)
      continue;
    g_autofree char *source = hold->pc == HOLD_START ? NULL : locate_source(hold->launch, hold->pc);
    if (source)
      locate_evidence(finding, hold->launch, hold->pc,
                      *source ? g_strdup_printf("%s behind `%s`", who, source)
                              : g_strdup_printf("%s behind this", who));
    else
      finding_add_evidence(finding, 0, g_strdup_printf("%s before its first instruction", who));
    tell_missed(finding);
  }
}

/* *ends: the livelock that the run ended in is none: some order of steps ends it, which the first finding shows. */
static RunResult *collect(Simulation *simulation, const Machine *machine, Outcome *outcome, bool *ends) {
  Gpu *gpu = simulation->gpu;
  const Scenario *scenario = simulation->scenario;
  RunResult *result = g_new0(RunResult, 1);
  count_resident(gpu);
  unexpected_tell(simulation, machine, outcome->verdict);
  result->trial_misplaced = !detectors_conclude(simulation->detectors);
  result->scenario = g_strdup(scenario->name);
  result->file = g_strdup(scenario->file);
  result->machine = g_strdup(machine->name);
  result->seed = simulation->options->seed;
  result->verdict = outcome->verdict;
  result->stop = outcome->stop;
  result->cycles = outcome->verdict == VERDICT_COMPLETED ? gpu->end_cycle : gpu->cycle;
  result->clock_hz = machine->clocks.sm;
  result->regions = g_array_new(FALSE, FALSE, sizeof(RegionResult));
  collect_region(simulation, result);
  if (scenario->measure.longest_launch && outcome->verdict == VERDICT_COMPLETED)
    result->longest = longest_launch(gpu);
  if (scenario->measure.has_transfers && (outcome->verdict == VERDICT_COMPLETED || outcome->stop == STOP_WINDOW))
    result->transfers = measured_transfers(simulation, machine);
  result->code = g_strdup(simulation->program->made_of);
  result->occupancy = collect_occupancy(simulation);
  if (gpu->printed->len)
    result->printed = quote_lines(gpu->printed->str, gpu->printed->len);
  result->printed_lost = gpu->printed_lost;
  result->findings = g_ptr_array_ref(simulation->findings);
  result->counters = gpu->counters;
  result->has_operations = scenario->measure.has_operations;
  result->operations = scenario->measure.operations;
  result->dram_bytes = dram_bytes(gpu);
  result->l2_lines = l2_lines(gpu);
  if (simulation->locks)
    result->locks = lock_times_all(simulation->locks);
  if (simulation->lines)
    result->details = details_new(gpu, simulation->lines, simulation->locks, result->cycles);
  if (simulation->options->keep_buffers)
    result->buffers = collect_buffers(simulation);
  result->wait_graph_dot = g_steal_pointer(&outcome->wait_graph_dot);
  result->wait_graph_json = g_steal_pointer(&outcome->wait_graph_json);
  result->memory_digest = simulation->options->digest ? look_digest(gpu) : 0;
  *ends = outcome_explain(outcome, gpu, simulation->findings); /* the last that the machine has to say */
  tell_hold(gpu, simulation->findings);
  result->failures = g_ptr_array_new_with_free_func(g_free);
  compare_expectation(simulation, machine, result);
  return result;
}

/* A run that goes on to its limit without progress may have an end all the same: takes over what shows one. */
static void tell_way_out(const RunResult *result, Finding *way_out) {
  if (way_out && result->verdict == VERDICT_UNDECIDED && result->findings->len) {
    Finding *undecided = g_ptr_array_index(result->findings, 0);
    g_ptr_array_extend_and_steal(undecided->evidence, g_steal_pointer(&way_out->evidence));
    way_out->evidence = g_ptr_array_new();
    if (!undecided->repair)
      undecided->repair = g_steal_pointer(&way_out->repair);
  }
  finding_free(way_out);
}

RunResult *run_scenario(const Scenario *scenario, const Machine *machine, const RunOptions *options, Diag *diag) {
  Simulation simulation;
  RunResult *result = NULL;
  Finding *way_out = NULL;
  Choices choices = {0};
  for (bool livelocks = true; !result; livelocks = false) {
    if (!simulation_init(&simulation, scenario, machine, options, options->seed, diag)) {
      simulation_clear(&simulation);
      finding_free(way_out);
      return NULL;
    }
    Outcome outcome = simulate(&simulation, livelocks);
    /* A recurrence that another seed escapes, or another order of steps, is a matter of phase: then the run goes on
     * to its end or limit. */
    bool ends = false, recurs = outcome.candidate && recurs_elsewhere(scenario, machine, options, &choices, diag);
    if (outcome.candidate && !recurs && stop_asked(options->stop)) {
      outcome.verdict = VERDICT_UNDECIDED; /* the other seeds had no time */
      outcome.stop = stop_asked(options->stop);
      outcome.candidate = false;
    }
    if (!outcome.candidate || recurs || outcome.stop)
      result = collect(&simulation, machine, &outcome, &ends);
    if (result && ends) {
      way_out = g_ptr_array_steal_index(simulation.findings, 0);
      g_clear_pointer(&result, run_result_free);
    }
    if (result)
      result->starved = !livelocks;
    add_choices(&choices, simulation.gpu);
    outcome_clear(&outcome);
    simulation_clear(&simulation);
  }
  result->choices = choices;
  tell_way_out(result, way_out);
  return result;
}

/* ---- reading a result ---- */

int exit_status_worst(int a, int b) {
  static const int rank[] = {[0] = 0, [4] = 1, [1] = 2, [2] = 3, [3] = 4};
  return rank[a] >= rank[b] ? a : b;
}

static bool has_finding_above_note(const RunResult *result) {
  for (guint i = 0; i < result->findings->len; i++) {
    const Finding *finding = g_ptr_array_index(result->findings, i);
    if (finding_severity(finding->id) != SEVERITY_NOTE)
      return true;
  }
  return false;
}

int run_result_exit_status(const RunResult *result) {
  bool cut_short = stop_is_final(result->stop);
  bool open = result->verdict == VERDICT_UNDECIDED && !has_finding_above_note(result);
  if (result->has_expectation && (result->failures->len || !result->expects_findings || !open))
    return result->failures->len ? 1 : cut_short ? 4 : 0;
  if (result->verdict == VERDICT_COMPLETED)
    return has_finding_above_note(result) ? 1 : cut_short ? 4 : 0;
  return open ? 4 : 1;
}

uint64_t run_result_measured_cycles(const RunResult *result) {
  if (result->regions->len > 0) {
    const RegionResult *region = &g_array_index(result->regions, RegionResult, 0);
    if (region->found)
      return region->last_cycle - region->first_cycle;
  }
  if (result->longest.found)
    return result->longest.cycles;
  return result->cycles;
}
