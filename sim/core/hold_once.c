#include "sim/core/hold_once.h"

enum { HOLD_WARPS = 8, HOLD_TIMES = 2 };

bool hold_is_place(const Inst *inst, Dialect dialect) {
  const OpInfo *info = &op_info[inst->op];
  bool access = (info->unit == UNIT_GLOBAL || info->unit == UNIT_SHARED) && info->flags & (OPF_LOAD | OPF_STORE);
  bool weak = inst->sem == SEM_WEAK && dialect == DIALECT_PTX;
  return info->flags & (OPF_ATOMIC | OPF_FENCE | OPF_BARRIER) || (access && !weak);
}

/* And the start. */
static uint32_t instructions(const Kernel *kernel, Dialect dialect) {
  uint32_t count = 1;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    count += hold_is_place(&kernel->insts[pc], dialect);
  return count;
}

/* The one with this number, from 1 on. */
static uint32_t find_instruction(const Kernel *kernel, Dialect dialect, uint32_t number) {
  uint32_t pc = 0;
  for (; number > 1 || !hold_is_place(&kernel->insts[pc], dialect); pc++)
    number -= hold_is_place(&kernel->insts[pc], dialect);
  return pc;
}

uint64_t hold_once_places(const Kernel *kernel, Dialect dialect, uint64_t warps) {
  return HOLD_TIMES * MIN(warps, HOLD_WARPS) * instructions(kernel, dialect);
}

/* Evenly, with the first and the last. */
static uint64_t find_warp(uint64_t warps, uint32_t number) {
  return warps > HOLD_WARPS ? number * (warps - 1) / (HOLD_WARPS - 1) : number;
}

void hold_once_launch(Gpu *gpu, const Launch *launch) {
  HoldOnce *hold = &gpu->hold;
  if (!gpu->machine->sm.held_once || hold->launch)
    return;
  const Kernel *kernel = launch->kernel;
  Dialect dialect = launch->program->dialect;
  uint64_t warps = launch->blocks * launch->block_warps, places = hold_once_places(kernel, dialect, warps);
  if (hold->before >= places) {
    hold->before -= (uint32_t)places;
    return;
  }
  uint32_t tried = (uint32_t)MIN(warps, HOLD_WARPS), place = hold->before / tried;
  uint32_t number = place % instructions(kernel, dialect);
  hold->launch = launch;
  hold->warp = find_warp(warps, hold->before % tried);
  hold->pc = number ? find_instruction(kernel, dialect, number) : HOLD_START;
  hold->passes = place / instructions(kernel, dialect);
}

static bool is_warp(const HoldOnce *hold, const Block *block, uint32_t warp_in_block) {
  return hold->launch == block->launch && hold->warp == block->index * hold->launch->block_warps + warp_in_block;
}

uint64_t hold_once_behind(const Issue *issue) {
  Gpu *gpu = issue->gpu;
  HoldOnce *hold = &gpu->hold;
  if (issue->pc != hold->pc || !is_warp(hold, issue->block, issue->warp->warp_in_block) || hold->passes == UINT32_MAX)
    return 0;
  return hold->passes-- ? 0 : gpu->machine->sm.held_up; /* then it has been, and never is again */
}

bool hold_once_was(const Gpu *gpu) {
  const HoldOnce *hold = &gpu->hold;
  return hold->launch && (hold->pc == HOLD_START ? !hold->passes : hold->passes == UINT32_MAX);
}

uint64_t hold_once_start(const Gpu *gpu, const Block *block, uint32_t warp_in_block) {
  const HoldOnce *hold = &gpu->hold;
  return hold->pc == HOLD_START && !hold->passes && is_warp(hold, block, warp_in_block) ? gpu->machine->sm.held_up
                                                                                        : 0;
}
