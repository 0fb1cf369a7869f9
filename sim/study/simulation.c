#include "sim/study/simulation.h"

#include <string.h>

#include "sim/core/occupancy.h"
#include "sim/core/symbols.h"
#include "sim/engine/team.h"
#include "sim/study/put_fences.h"

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

/* Arguments as sm_20 lays them out, 32-bit words and structs padded to a word; those of PTX where its parameters
 * are. */
static GByteArray *marshal_args(const Simulation *simulation, const ScenarioLaunch *launch, const Kernel *kernel) {
  GByteArray *bytes = g_byte_array_new();
  for (guint i = 0; i < launch->args->len; i++) {
    const KernelParam *param = kernel->params ? &g_array_index(kernel->params, KernelParam, i) : NULL;
    const ScenarioArg *arg = &g_array_index(launch->args, ScenarioArg, i);
    uint32_t size = param ? param->bytes : scenario_bare_arg_bytes(simulation->program, arg);
    pad_args(bytes, param ? param->offset : (bytes->len + size - 1) / size * size);
    append_arg(simulation, arg, size, bytes);
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

/* What a grid synchronizes through (cooperative_groups: a size, and the barrier's word): zeros, by the address that
 * the program finds in %envreg1 and %envreg2. */
static uint64_t add_workspace(Simulation *simulation, const ScenarioLaunch *launch) {
  enum { WORKSPACE_WORDS = 64 };
  g_autofree char *name =
      g_strdup_printf("workspace of %s", program_kernel(simulation->program, launch->kernel)->name);
  return backing_buffer(simulation->backing, backing_add(simulation->backing, name, WORKSPACE_WORDS, NULL))->base;
}

static bool add_launch(Simulation *simulation, const ScenarioLaunch *launch, char **names, Diag *diag) {
  const Kernel *kernel = program_kernel(simulation->program, launch->kernel);
  GByteArray *args = marshal_args(simulation, launch, kernel);
  LaunchConfig config = {.program = simulation->program,
                         .kernel = kernel,
                         .name = names[launch->kernel],
                         .shared_bytes = launch->shared_bytes,
                         .carveout = launch->carveout,
                         .stream = launch->stream,
                         .envreg = launch->cooperative ? add_workspace(simulation, launch) : 0,
                         .symbols = simulation->symbols,
                         .args = args->data,
                         .args_bytes = args->len};
  memcpy(config.grid, launch->grid, sizeof config.grid);
  memcpy(config.block, launch->block, sizeof config.block);
  memcpy(config.cluster, launch->cluster, sizeof config.cluster);
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
    if (buffer->variable < 0)
      continue;
    simulation->buffers[i] = first + (guint)buffer->variable;
    BackingBuffer *placed = backing_buffer(simulation->backing, simulation->buffers[i]);
    g_free(placed->name); /* the program's own may be mangled */
    placed->name = g_strdup(buffer->name);
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

bool simulation_init(Simulation *simulation, const Scenario *scenario, const Machine *machine,
                     const RunOptions *options, uint64_t seed, Diag *diag) {
  *simulation = (Simulation){.scenario = scenario, .options = options, .backing = backing_new()};
  simulation->findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  simulation->program = (options->as_source ? scenario_source : scenario_program)(scenario, machine, diag);
  if (!simulation->program)
    return false;
  if (options->atomics)
    simulation->program = simulation->fenced = atomics_new(simulation->program, options->atomics);
  else if (options->fences)
    simulation->program = simulation->fenced = put_fences(simulation->program, options->fences);
  simulation->backing->alignment = machine->memory.buffer_alignment;
  simulation->backing->page = machine->memory.page;
  place_buffers(simulation);
  simulation->gpu = gpu_new(machine, simulation->backing, seed);
  gpu_set_older(simulation->gpu, options->older);
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
  if (options->details || options->locks) {
    simulation->locks = lock_times_new();
    gpu_subscribe(simulation->gpu, lock_times_probe(simulation->locks));
  }
  g_auto(GStrv) names = programs_kernel_names(scenario->programs);
  for (guint i = 0; i < scenario->launches->len; i++)
    if (!add_launch(simulation, g_ptr_array_index(scenario->launches, i), names, diag))
      return false;
  set_threads(simulation->gpu, options->threads);
  return set_host(simulation, diag);
}

void simulation_clear(Simulation *simulation) {
  if (simulation->gpu)
    gpu_free(simulation->gpu);
  detectors_free(simulation->detectors);
  hot_lines_free(simulation->lines);
  lock_times_free(simulation->locks);
  g_free(simulation->buffers);
  g_free(simulation->symbols);
  backing_free(simulation->backing);
  fenced_free(simulation->fenced);
  g_ptr_array_unref(simulation->findings);
}
