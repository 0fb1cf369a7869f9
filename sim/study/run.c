#include "sim/study/run.h"

#include <string.h>

#include "base/quote.h"
#include "sim/core/gpu.h"
#include "sim/core/record.h"
#include "sim/core/symbols.h"
#include "sim/detect/detectors.h"
#include "sim/detect/progress.h"
#include "sim/engine/team.h"

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
  g_free(result->printed);
  g_array_free(result->regions, TRUE);
  if (result->occupancy)
    g_array_unref(result->occupancy);
  g_ptr_array_unref(result->findings);
  g_ptr_array_unref(result->failures);
  if (result->schedules)
    g_array_free(result->schedules, TRUE);
  g_clear_pointer(&result->results, g_ptr_array_unref);
  g_clear_pointer(&result->buffers, g_ptr_array_unref);
  g_free(result->again);
  details_free(result->details);
  g_free(result->wait_graph_dot);
  g_free(result->wait_graph_json);
  g_free(result);
}

/* ---- one simulation ---- */

typedef struct Simulation {
  const Scenario *scenario;
  const RunOptions *options;
  const Program *program;
  Backing *backing;
  guint *buffers;    /* for each buffer of the scenario the one in `backing` */
  uint64_t *symbols; /* addresses of the program's variables */
  Gpu *gpu;
  Detectors *detectors;
  HotLines *lines; /* NULL: nobody wants details */
  GPtrArray *findings;
} Simulation;

static uint64_t buffer_base(const Simulation *simulation, guint buffer) {
  return backing_buffer(simulation->backing, simulation->buffers[buffer])->base;
}

/* The bytes of one argument: 4 of an address or number of SASS, else as many as its parameter has. */
static void append_arg(const Simulation *simulation, const ScenarioArg *arg, uint32_t bytes, GByteArray *into) {
  uint64_t bits = 0;
  gsize size;
  switch (arg->kind) {
  case ARG_BUFFER: bits = buffer_base(simulation, arg->buffer); break;
  case ARG_INTEGER: bits = (uint64_t)arg->integer; break;
  case ARG_F32: memcpy(&bits, &arg->f32, sizeof arg->f32); break;
  case ARG_F64: memcpy(&bits, &arg->f64, sizeof arg->f64); break;
  case ARG_BYTES: {
    const guint8 *data = g_bytes_get_data(arg->bytes, &size);
    guint start = into->len;
    g_byte_array_append(into, data, (guint)size);
    for (guint i = 0; arg->addresses && i < arg->addresses->len; i++) {
      const ScenarioAddress *address = &g_array_index(arg->addresses, ScenarioAddress, i);
      bits = GUINT64_TO_LE(buffer_base(simulation, address->buffer));
      memcpy(into->data + start + address->offset, &bits, address->bytes);
    }
    return;
  }
  }
  bits = GUINT64_TO_LE(bits);
  g_byte_array_append(into, (const guint8 *)&bits, bytes);
}

static void pad_args(GByteArray *bytes, guint length) {
  while (bytes->len < length)
    g_byte_array_append(bytes, (const guint8 *)"", 1);
}

/* Arguments as sm_20 lays them out, 32-bit words and structs padded to a word; those of PTX where its parameters are. */
static GByteArray *marshal_args(const Simulation *simulation, const ScenarioLaunch *launch, const Kernel *kernel) {
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < launch->args->len; i++) {
    const KernelParam *param = kernel->params ? &g_array_index(kernel->params, KernelParam, i) : NULL;
    pad_args(bytes, param ? param->offset : (bytes->len + 3) / 4 * 4);
    append_arg(simulation, &g_array_index(launch->args, ScenarioArg, i), param ? param->bytes : 4, bytes);
  }
  pad_args(bytes, MAX(kernel->param_bytes, (bytes->len + 3) / 4 * 4));
  return bytes;
}

static bool refuse_launch(const ScenarioLaunch *launch, const char *why, Diag *diag) {
  if (!launch->file)
    return diag_usage(diag, "%s", why);
  return diag_error(diag, launch->file, launch->line, launch->column, "%s", why);
}

/* All blocks of a cooperative launch must be resident together, or CUDA refuses it. */
static char *refuse_cooperation(const Machine *machine, const Kernel *kernel, const ScenarioLaunch *launch) {
  Occupancy occupancy = occupancy_of(machine, kernel, launch->block, launch->shared_bytes);
  uint64_t resident = (uint64_t)occupancy.blocks * machine->gpu.sms;
  uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  if (blocks <= resident)
    return NULL;
  return g_strdup_printf("a cooperative launch of %" G_GUINT64_FORMAT
                         " blocks, but %s holds at most %" G_GUINT64_FORMAT " of them at once: %u on each of %u SMs",
                         blocks, machine->name, resident, occupancy.blocks, machine->gpu.sms);
}

/* What a grid synchronizes through (cooperative_groups: a size, and the barrier's word): zeros, by the address that the
 * program finds in %envreg1 and %envreg2. */
static uint64_t add_workspace(Simulation *simulation, const ScenarioLaunch *launch) {
  enum { WORKSPACE_WORDS = 64 };
  g_autofree char *name =
      g_strdup_printf("workspace of %s", program_kernel(simulation->program, launch->kernel)->name);
  return backing_buffer(simulation->backing, backing_add(simulation->backing, name, WORKSPACE_WORDS, NULL))->base;
}

static bool add_launch(Simulation *simulation, const ScenarioLaunch *launch, Diag *diag) {
  const Kernel *kernel = program_kernel(simulation->program, launch->kernel);
  GByteArray *args = marshal_args(simulation, launch, kernel);
  LaunchConfig config = {.program = simulation->program,
                         .kernel = kernel,
                         .shared_bytes = launch->shared_bytes,
                         .stream = launch->stream,
                         .envreg = launch->cooperative ? add_workspace(simulation, launch) : 0,
                         .symbols = simulation->symbols,
                         .args = args->data,
                         .args_bytes = args->len};
  memcpy(config.grid, launch->grid, sizeof config.grid);
  memcpy(config.block, launch->block, sizeof config.block);
  g_autofree char *why = NULL;
  bool fine = gpu_add_launch(simulation->gpu, &config, &why);
  if (fine && launch->cooperative)
    why = refuse_cooperation(simulation->gpu->machine, kernel, launch);
  fine = !why || refuse_launch(launch, why, diag);
  g_byte_array_free(args, TRUE);
  return fine;
}

/* The addresses in what buffers hold at first, once all have their places. They begin at words. */
static void place_addresses(const Simulation *simulation) {
  for (guint i = 0; i < simulation->scenario->buffers->len; i++) {
    const ScenarioBuffer *buffer = g_ptr_array_index(simulation->scenario->buffers, i);
    uint32_t *data = backing_buffer(simulation->backing, simulation->buffers[i])->data;
    for (guint k = 0; buffer->addresses && k < buffer->addresses->len; k++) {
      const ScenarioAddress *address = &g_array_index(buffer->addresses, ScenarioAddress, k);
      uint64_t base = buffer_base(simulation, address->buffer);
      for (uint32_t byte = 0; byte < address->bytes; byte += 4)
        data[(address->offset + byte) / 4] = (uint32_t)(base >> 8 * byte);
    }
  }
}

/* Buffers, and behind them the module variables. */
static void place_buffers(Simulation *simulation) {
  const Scenario *scenario = simulation->scenario;
  simulation->buffers = g_new0(guint, scenario->buffers->len + 1);
  for (guint i = 0; i < scenario->buffers->len; i++) {
    const ScenarioBuffer *buffer = g_ptr_array_index(scenario->buffers, i);
    if (buffer->variable >= 0)
      continue;
    simulation->buffers[i] = backing_add(simulation->backing, buffer->name, buffer->words, buffer->init);
    if (buffer->undefined)
      backing_undefine(simulation->backing, simulation->buffers[i]);
  }
  guint first = simulation->backing->buffers->len;
  simulation->symbols = symbols_place(simulation->program, simulation->backing);
  for (guint i = 0; i < scenario->buffers->len; i++) {
    const ScenarioBuffer *buffer = g_ptr_array_index(scenario->buffers, i);
    if (buffer->variable >= 0)
      simulation->buffers[i] = first + (guint)buffer->variable;
  }
  for (guint i = 0; i < scenario->buffers->len; i++)
    backing_buffer(simulation->backing, simulation->buffers[i])->host =
        ((const ScenarioBuffer *)g_ptr_array_index(scenario->buffers, i))->host;
  place_addresses(simulation);
}

static bool asks_for_memory(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_MALLOC)
      return true;
  return false;
}

/* The device heap, if some launch may ask for memory. */
static bool add_heap(Simulation *simulation, Diag *diag) {
  const Scenario *scenario = simulation->scenario;
  bool asks = false;
  for (guint i = 0; i < scenario->launches->len && !asks; i++) {
    const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, i);
    asks = asks_for_memory(program_kernel(simulation->program, launch->kernel));
  }
  if (asks)
    gpu_add_heap(simulation->gpu, scenario->heap_bytes);
  return backing_fits(simulation->backing) ||
         diag_error(
             diag, scenario->file, 0, 0,
             "the buffers and the heap need more than the 3.5 GiB that lie below the windows of generic addresses");
}

/* The scenario's host, its buffers by their place in the backing store. */
static bool set_host(Simulation *simulation, Diag *diag) {
  const Scenario *scenario = simulation->scenario;
  if (!scenario->host)
    return true;
  g_autoptr(GArray) steps = g_array_copy(scenario->host);
  for (guint i = 0; i < steps->len; i++) {
    HostStep *step = &g_array_index(steps, HostStep, i);
    step->buffer = simulation->buffers[step->buffer];
  }
  g_autofree char *why = NULL;
  return gpu_set_host(simulation->gpu, (const HostStep *)steps->data, steps->len, &why) ||
         diag_error(diag, scenario->file, scenario->host_line, scenario->host_column, "%s", why);
}

/* SMs that are busy at the same time, at most. */
static uint64_t busy_sms(const Gpu *gpu) {
  uint64_t blocks = 0;
  for (guint i = 0; i < gpu->launches->len; i++)
    blocks += gpu_launch(gpu, i)->blocks;
  return MIN(blocks, gpu->machine->gpu.sms);
}

/* With fewer busy SMs threads cost more than they bring. */
enum { BUSY_SMS_MIN = 8 };

static void set_threads(Gpu *gpu, uint32_t wanted) {
  uint64_t busy = busy_sms(gpu);
  uint32_t threads = wanted ? wanted : busy < BUSY_SMS_MIN ? 1 : g_get_num_processors();
  gpu_set_threads(gpu, (uint32_t)MIN(MIN(threads, busy), (uint64_t)TEAM_THREADS_MAX));
}

static bool simulation_init(Simulation *simulation, const Scenario *scenario, const Machine *machine,
                            const RunOptions *options, uint64_t seed, Diag *diag) {
  *simulation = (Simulation){.scenario = scenario, .options = options, .backing = backing_new()};
  simulation->findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  simulation->program = scenario_program(scenario, machine, diag);
  if (!simulation->program)
    return false;
  place_buffers(simulation);
  simulation->gpu = gpu_new(machine, simulation->backing, seed);
  if (!add_heap(simulation, diag))
    return false;
  if (scenario->measure.has_shared_data)
    gpu_set_shared_data(simulation->gpu, scenario->measure.shared_data_offset, scenario->measure.shared_data_bytes);
  simulation->detectors = detectors_attach(simulation->gpu, simulation->findings, options->races, options->trial);
  if (options->observer)
    gpu_subscribe(simulation->gpu, options->observer);
  if (options->details) {
    simulation->lines = hot_lines_new(machine);
    gpu_subscribe(simulation->gpu, hot_lines_probe(simulation->lines));
  }
  for (guint i = 0; i < scenario->launches->len; i++)
    if (!add_launch(simulation, g_ptr_array_index(scenario->launches, i), diag))
      return false;
  set_threads(simulation->gpu, options->threads);
  return set_host(simulation, diag);
}

static void simulation_clear(Simulation *simulation) {
  if (simulation->gpu)
    gpu_free(simulation->gpu);
  detectors_free(simulation->detectors);
  hot_lines_free(simulation->lines);
  g_free(simulation->buffers);
  g_free(simulation->symbols);
  backing_free(simulation->backing);
  g_ptr_array_unref(simulation->findings);
}

static Outcome simulate(Simulation *simulation, bool livelocks) {
  ProgressOptions progress = {.limit_cycles = simulation->options->limit_cycles,
                              .stop = simulation->options->stop,
                              .heartbeat = simulation->options->heartbeat,
                              .heartbeat_user = simulation->options->heartbeat_user,
                              .livelocks = livelocks};
  return progress_run(simulation->gpu, &progress, simulation->findings);
}

/* True if the candidate livelock recurs under the further seeds too. */
static bool recurs_elsewhere(const Scenario *scenario, const Machine *machine, const RunOptions *options,
                             Diag *diag) {
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
  g_array_set_clear_func(all, clear_occupancy);
  for (guint i = 0; i < simulation->scenario->launches->len; i++) {
    const ScenarioLaunch *launch = g_ptr_array_index(simulation->scenario->launches, i);
    const Kernel *kernel = program_kernel(simulation->program, launch->kernel);
    LaunchOccupancy item = {.kernel = g_strdup(kernel->name),
                            .is_ptx = simulation->program->dialect == DIALECT_PTX,
                            .occupancy =
                                occupancy_of(simulation->gpu->machine, kernel, launch->block, launch->shared_bytes)};
    g_array_append_val(all, item);
  }
  return all;
}

static void compare_expectation(const Simulation *simulation, const Machine *machine, RunResult *result) {
  const Scenario *scenario = simulation->scenario;
  const Expectation *expect = scenario_expectation(scenario, machine->name);
  if (!expect)
    return;
  result->has_expectation = true;
  const uint32_t **memory = g_new(const uint32_t *, scenario->buffers->len + 1);
  for (guint i = 0; i < scenario->buffers->len; i++)
    memory[i] = backing_buffer(simulation->backing, simulation->buffers[i])->data;
  result->wrong_buffers =
      expectation_compare(scenario, expect, result->verdict, result->findings, memory, result->failures);
  g_free(memory);
}

static void free_buffer(gpointer data) {
  ResultBuffer *buffer = data;
  g_free(buffer->name);
  g_free(buffer->data);
  g_free(buffer);
}

static GPtrArray *collect_buffers(const Simulation *simulation) {
  GPtrArray *all = g_ptr_array_new_with_free_func(free_buffer);
  for (guint i = 0; i < simulation->scenario->buffers->len; i++) {
    const BackingBuffer *from = backing_buffer(simulation->backing, simulation->buffers[i]);
    if (from->name[0] == '$')
      continue; /* the compiler's: formats of printf */
    ResultBuffer *buffer = g_new(ResultBuffer, 1);
    *buffer = (ResultBuffer){g_strdup(from->name), from->words, g_memdup2(from->data, (gsize)from->words * 4)};
    g_ptr_array_add(all, buffer);
  }
  return all;
}

/* Blocks that are still resident weren't counted when they exited. */
static void count_resident(Gpu *gpu) {
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].ready && slot < gpu->machine->sm.max_blocks; slot++)
      if (gpu->sms[i].blocks[slot].launch)
        sm_count_shared_bytes(&gpu->sms[i], &gpu->sms[i].blocks[slot]);
  gpu_collect(gpu);
}

static RunResult *collect(Simulation *simulation, const Machine *machine, Outcome *outcome) {
  Gpu *gpu = simulation->gpu;
  const Scenario *scenario = simulation->scenario;
  RunResult *result = g_new0(RunResult, 1);
  count_resident(gpu);
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
  result->occupancy = collect_occupancy(simulation);
  if (gpu->printed->len)
    result->printed = quote_lines(gpu->printed->str, gpu->printed->len);
  result->printed_lost = gpu->printed_lost;
  result->findings = g_ptr_array_ref(simulation->findings);
  result->counters = gpu->counters;
  result->has_operations = scenario->measure.has_operations;
  result->operations = scenario->measure.operations;
  result->failures = g_ptr_array_new_with_free_func(g_free);
  compare_expectation(simulation, machine, result);
  if (simulation->lines)
    result->details = details_new(gpu, simulation->lines, result->cycles);
  if (simulation->options->keep_buffers)
    result->buffers = collect_buffers(simulation);
  result->wait_graph_dot = g_steal_pointer(&outcome->wait_graph_dot);
  result->wait_graph_json = g_steal_pointer(&outcome->wait_graph_json);
  result->memory_digest = backing_digest(simulation->backing);
  return result;
}

RunResult *run_scenario(const Scenario *scenario, const Machine *machine, const RunOptions *options, Diag *diag) {
  Simulation simulation;
  RunResult *result = NULL;
  for (bool livelocks = true; !result; livelocks = false) {
    if (!simulation_init(&simulation, scenario, machine, options, options->seed, diag)) {
      simulation_clear(&simulation);
      return NULL;
    }
    Outcome outcome = simulate(&simulation, livelocks);
    /* A recurrence that another seed escapes is a matter of phase: then the run goes on to its end or limit. */
    bool recurs = outcome.candidate && recurs_elsewhere(scenario, machine, options, diag);
    if (outcome.candidate && !recurs && stop_asked(options->stop)) {
      outcome.verdict = VERDICT_UNDECIDED; /* the other seeds had no time */
      outcome.stop = stop_asked(options->stop);
    }
    if (!outcome.candidate || recurs || outcome.stop)
      result = collect(&simulation, machine, &outcome);
    if (result)
      result->starved = !livelocks;
    outcome_clear(&outcome);
    simulation_clear(&simulation);
  }
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
  if (result->has_expectation)
    return result->failures->len ? 1 : cut_short ? 4 : 0;
  if (result->verdict == VERDICT_COMPLETED)
    return has_finding_above_note(result) ? 1 : cut_short ? 4 : 0;
  return result->verdict == VERDICT_UNDECIDED && !has_finding_above_note(result) ? 4 : 1;
}

uint64_t run_result_measured_cycles(const RunResult *result) {
  if (result->regions->len > 0) {
    const RegionResult *region = &g_array_index(result->regions, RegionResult, 0);
    if (region->found)
      return region->last_cycle - region->first_cycle;
  }
  return result->cycles;
}
