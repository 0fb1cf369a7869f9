#include "sim/core/hold_once.h"

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

uint64_t hold_once_places(const Launch *launch) {
  return launch->blocks * launch->block_warps * instructions(launch->kernel, launch->program->dialect);
}

/* Of all launches, for one time. */
static uint64_t all_places(const Gpu *gpu) {
  uint64_t all = 0;
  for (guint i = 0; i < gpu->launches->len; i++)
    all += gpu_launch(gpu, i)->hold_places;
  return all;
}

uint32_t hold_once_number(const Gpu *gpu, const Launch *launch, uint32_t pc, uint64_t warp, uint32_t time) {
  Dialect dialect = launch->program->dialect;
  uint64_t number = time * all_places(gpu) + warp + 1, instruction = 0;
  for (guint i = 0; i < launch->index; i++)
    number += gpu_launch(gpu, i)->hold_places;
  for (uint32_t at = 0; pc != HOLD_START && at <= pc; at++)
    instruction += hold_is_place(&launch->kernel->insts[at], dialect);
  number += instruction * launch->blocks * launch->block_warps;
  return number <= HOLD_NUMBER_MAX ? (uint32_t)number : 0;
}

void hold_once_begin(Gpu *gpu) {
  uint64_t all = all_places(gpu), place = gpu->machine->sm.held_once;
  guint index = 0;
  if (!place || !all)
    return;
  HoldOnce *hold = &gpu->hold;
  hold->passes = (uint32_t)((place - 1) / all);
  for (place = (place - 1) % all; place >= gpu_launch(gpu, index)->hold_places; index++)
    place -= gpu_launch(gpu, index)->hold_places;
  const Launch *launch = gpu_launch(gpu, index);
  uint64_t warps = launch->blocks * launch->block_warps;
  uint32_t number = (uint32_t)(place / warps);
  hold->launch = launch;
  hold->warp = place % warps;
  hold->pc = number ? find_instruction(launch->kernel, launch->program->dialect, number) : HOLD_START;
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
