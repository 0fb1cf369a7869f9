#include "sim/study/schedule_kinds.h"

#include "sim/detect/race/unfenced.h"
#include "sim/memory/lock_unit.h"

static uint64_t blocks_of(const ScenarioLaunch *launch) {
  return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

static uint64_t warps_of(const ScenarioLaunch *launch) {
  return blocks_of(launch) * (((uint64_t)launch->block[0] * launch->block[1] * launch->block[2] + 31) / 32);
}

/* With late stores a large launch takes long: waits become as many times longer as there are threads in a row. A lock
 * that lacks a fence shows that with few threads, too. */
enum { LATE_WARPS_FEW = 256, LATE_WARPS_MAX = 1024, HELD_SEEDS_MAX = 64 };

/* The kernel has an access that asks what others have done: an atomic operation with a result, a load that isn't
 * plain, the lock unit's; or it arrives at a barrier without waiting there, or at one of so many threads, where
 * whoever comes first meets. */
static bool asks_others(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    const OpInfo *info = &op_info[inst->op];
    bool asks = info->flags & OPF_LOAD && (inst->sem != SEM_WEAK || inst->cache == CACHE_CV);
    if (asks || info->flags & (OPF_ATOMIC | OPF_LOCK) ||
        (inst->op == OP_BAR && (inst->mode == BAR_ARV || inst->flags & INST_HAS_COUNT)))
      return true;
  }
  return false;
}

/* Under how many seeds, at most, stores are to be late: none, unless some launch has threads on several SMs that
 * a late store could mislead, and no launch is too large. */
static unsigned late_seeds(const Scenario *scenario, const Machine *machine, const Program *program) {
  bool unfenced = false;
  uint64_t most = 0;
  if (!program || program->dialect != DIALECT_PTX || !machine->memory.slices)
    return 0;
  for (guint i = 0; i < scenario->launches->len; i++)
    most = MAX(most, warps_of(g_ptr_array_index(scenario->launches, i)));
  for (guint i = 0; most <= LATE_WARPS_MAX && i < scenario->launches->len && !unfenced; i++) {
    const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, i);
    if (blocks_of(launch) > 1 || scenario->launches->len > 1)
      unfenced = unfenced_has_pair(g_ptr_array_index(program->kernels, launch->kernel));
  }
  return !unfenced ? 0 : most <= LATE_WARPS_FEW ? G_MAXUINT : 1;
}

/* Under how many seeds, at most, warps are to be held up: none, unless there are several, or the host, which may wait
 * for each other or tell each other something by accesses to memory, and no launch is too large. */
static unsigned held_seeds(const Scenario *scenario, const Machine *machine, const Program *program) {
  bool found = false;
  uint64_t most = 0, all = scenario->host ? 1 : 0;
  if (lock_unit_is_conditional(machine)) /* which no GPU is */
    return 0;
  for (guint i = 0; program && i < scenario->launches->len; i++) {
    const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, i);
    most = MAX(most, warps_of(launch));
    all += warps_of(launch);
    found = found || asks_others(g_ptr_array_index(program->kernels, launch->kernel));
  }
  return !found || all < 2 || most > LATE_WARPS_MAX ? 0 : most <= LATE_WARPS_FEW ? HELD_SEEDS_MAX : 1;
}

ScheduleKinds schedule_kinds(const Scenario *scenario, const Machine *machine, Diag *diag) {
  g_autoptr(Diag) ignored = diag_new(), found = diag_new();
  const Program *program = scenario_source(scenario, machine, ignored);
  bool blocks = false;
  if (!program && (program = scenario_program(scenario, machine, found)))
    diag_add_all(diag, found); /* it is lowered once */
  for (guint i = 0; i < scenario->launches->len; i++)
    blocks |= blocks_of(g_ptr_array_index(scenario->launches, i)) > 1;
  return (ScheduleKinds){.blocks = blocks,
                         .held = held_seeds(scenario, machine, program),
                         .late = late_seeds(scenario, machine, program)};
}
