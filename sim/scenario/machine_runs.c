#include "sim/scenario/machine_runs.h"

#include "sim/core/queue_unit.h"
#include "sim/memory/lock_unit.h"

/* What the machine lacks for the instruction, as text for people; NULL if it has it. */
static const char *lacking(const Machine *machine, const Inst *inst) {
  if (inst->op == OP_STSCUL && !lock_unit_is_conditional(machine))
    return "has no conditional unlock (sm.lock_unit.conditional_unlock is none); Kepler has STSCUL, Fermi STSUL";
  if (inst->op == OP_SYNCBLOCKS && !machine->grid.barrier_latency)
    return "has no barrier of all blocks (grid.barrier_latency is 0), nor has any GPU; a barrier in software is "
           "traces/primitives/barrier_xf.yaml";
  if (queue_unit_has(inst) && !machine->memory.queue.bytes)
    return "has no queue units (memory.queue.bytes is 0), nor has any GPU; queues in software are "
           "traces/whatif/queue_fa.yaml and queue_ring.yaml";
  if (inst->flags & INST_LOCK && !machine->sm.lock_queue.l1_ways)
    return "has no locks in the tags of L1 and L2 (sm.lock_queue.l1_ways is 0), nor has any GPU; "
           "a lock in software is traces/primitives/mutex_spin.yaml";
  return NULL;
}

bool machine_runs_kernel(const Machine *machine, const Program *program, const Kernel *kernel, Diag *diag) {
  unsigned last = 0;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    const char *what = lacking(machine, inst);
    if (what && inst->line != last)
      diag_error(diag, program_file_name(program, inst->file), inst->line, inst->column, "%s: %s %s",
                 op_info[inst->op].sass, machine->name, what);
    last = what ? inst->line : last;
  }
  return last == 0;
}
