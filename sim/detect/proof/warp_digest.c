#include "sim/detect/proof/warp_digest.h"

#include "base/bits.h"
#include "sim/core/lane_groups.h"

static void add_shuffled(const Inst *inst, KernelState *state) {
  if (inst->op == OP_SHFL && inst->a >= 0)
    regset_put(&state->shuffled, (unsigned)inst->a);
}

/* The groups of a warp; their order says who runs next. Where lanes go on behind a collective, and who has saved
 * what, stays there when it is over: then it is the same each time. */
static uint64_t digest_groups(const LaneGroups *groups, uint32_t alive) {
  uint64_t sum = bits_mix(groups->gathering, groups->marked);
  for (uint32_t rest = alive; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    sum += groups->comes_back[lane] ? bits_mix(bits_mix(~(uint64_t)lane, groups->comes_back[lane]), lane) : 0;
  }
  for (unsigned barrier = 0; barrier < CONVERGENCE_BARRIERS; barrier++)
    sum += groups->sync.saved[barrier] ? bits_mix(bits_mix(~(uint64_t)barrier, groups->sync.saved[barrier]), 1) : 0;
  for (uint32_t i = 0; i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i];
    sum = bits_mix(sum, i) +
          bits_mix(bits_mix(bits_mix(group->state, group->mask), (uint64_t)group->pc << 32 | group->which),
                   group->yields);
  }
  for (unsigned barrier = 0; barrier < CONVERGENCE_BARRIERS; barrier++)
    for (uint32_t rest = groups->sync.used[barrier]; rest; rest &= rest - 1) {
      const SyncRecord *record = sync_record(&groups->sync, barrier, (unsigned)__builtin_ctz(rest));
      sum +=
          bits_mix(bits_mix(barrier + 1, record->lanes), (uint64_t)record->away << 32 | groups->sync.saved[barrier]);
    }
  for (unsigned id = 0; id < BLOCK_BARRIERS; id++)
    sum += groups->come[id] ? bits_mix(bits_mix(~(uint64_t)id, groups->come[id]), groups->executed[id]) : 0;
  if (groups->owes[0] | groups->owes[1])
    sum += bits_mix(~UINT64_C(0), (uint64_t)groups->owes[0] << 32 | groups->owes[1]);
  return sum;
}

/* Predicates that may be read where lanes are, or will go on. */
static uint32_t live_preds(const Warp *warp, const KernelState *state) {
  const uint32_t *live = state->liveness.live_preds;
  uint32_t preds = live[warp->pc];
  for (uint32_t i = 0; warp->groups && i < warp->groups->count; i++)
    preds |= live[warp->groups->group[i].pc];
  for (uint32_t rest = warp->groups ? warp->alive : 0; rest; rest &= rest - 1)
    preds |= live[warp->groups->comes_back[__builtin_ctz(rest)]];
  for (uint32_t i = 0; i < warp->depth; i++)
    preds |= live[warp->stack[i].pc];
  return preds & state->needed.preds;
}

uint64_t warp_digest(uint64_t hash, const Sm *sm, const Warp *warp, const KernelState *state) {
  hash = bits_mix(hash, (uint64_t)warp->pc << 32 | warp->active);
  hash = bits_mix(hash, (uint64_t)warp->state << 32 | warp->alive);
  hash = bits_mix(hash, warp->ssys);
  if (warp->state == WARP_AT_BARRIER && !warp->groups)
    hash = bits_mix(bits_mix(hash, (uint64_t)warp->barrier << 32 | warp->barrier_mask), warp->barrier_pc);
  for (uint32_t i = 0; i < warp->depth; i++)
    hash = bits_mix(bits_mix(hash, (uint64_t)warp->stack[i].pc << 32 | warp->stack[i].mask),
                    (uint64_t)warp->stack[i].kind << 32 | warp->stack[i].ssy_below);
  if (warp->groups)
    hash = bits_mix(hash, digest_groups(warp->groups, warp->alive));
  for (uint32_t preds = live_preds(warp, state); preds; preds &= preds - 1)
    hash = bits_mix(hash, warp->pred[__builtin_ctz(preds)]);
  /* Lanes that wait elsewhere on the stack may need other registers than those live here: all that matter count. */
  for (unsigned reg = 0; reg < REGSET_MAX; reg++) {
    uint32_t bits = state->needed.reg[reg];
    for (unsigned lane = 0; bits && lane < WARP_LANES; lane += 2)
      hash = bits_mix(hash, (uint64_t)(flights_register(&sm->flights, warp, reg, lane) & bits) << 32 |
                                (flights_register(&sm->flights, warp, reg, lane + 1) & bits));
  }
  return hash;
}

/* What it gives depends on something that is no state: the time, or how much has been printed so far. */
static bool gives_other_values(const Inst *inst) {
  return inst->op == OP_PRINTF || (op_info[inst->op].unit == UNIT_SYSREG && special_is_clock(inst->mode));
}

/* Almost nobody looks at what printing in a kernel returns, and another value may be in that register later. */
static bool is_dropped(const Inst *inst, unsigned reg, const RegSet *live_behind) {
  return inst->op == OP_PRINTF && !regset_has(live_behind, reg);
}

/* True if such a value can matter: then a state that comes back says nothing about the next time. */
static bool reads_clock(const Kernel *kernel, const KernelState *state) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (!gives_other_values(inst))
      continue;
    RegList writes = inst_writes(inst, kernel->nregs);
    for (unsigned i = 0; i < writes.count; i++)
      if (state->needed.reg[writes.reg[i]] &&
          !is_dropped(inst, (unsigned)writes.reg[i], &state->liveness.live_regs[pc + 1]))
        return true;
  }
  return false;
}

void kernel_state_init(KernelState *state, const Kernel *kernel) {
  if (state->liveness.live_regs)
    return;
  *state = (KernelState){.needed = needed_bits(kernel)};
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    add_shuffled(&kernel->insts[pc], state);
  state->liveness = cfg_liveness(kernel);
  state->clocked = reads_clock(kernel, state);
}

void kernel_state_clear(KernelState *state) { liveness_clear(&state->liveness); }
