#include "sim/core/hazards.h"

#include "sim/core/tell.h"

/* The first hazard of `pc` or of an instruction behind it. */
static uint32_t first_at(const Kernel *kernel, uint32_t pc) {
  uint32_t low = 0, high = kernel->nhazards;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (kernel->hazards[middle].pc < pc)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void tell(const Issue *issue, uint32_t lanes, bool guard_only) {
  const Kernel *kernel = issue->block->launch->kernel;
  for (uint32_t i = first_at(kernel, issue->pc); i < kernel->nhazards && kernel->hazards[i].pc == issue->pc; i++) {
    const CodeHazard *hazard = &kernel->hazards[i];
    ProbePoint point = issue_point(issue, lanes);
    if (!guard_only || (hazard->predicate && hazard->number == issue->inst->guard))
      tell_hazard(&point, HAZARD_CODE | i, hazard->producer);
  }
}

bool hazards_has(const Kernel *kernel, uint32_t pc) {
  uint32_t first = first_at(kernel, pc);
  return first < kernel->nhazards && kernel->hazards[first].pc == pc;
}

void hazards_execute(Issue *issue) {
  tell(issue, issue->mask, false);
  executors[issue->inst->op](issue);
}

void hazards_skip(const Issue *issue, uint32_t active) { tell(issue, active, true); }
