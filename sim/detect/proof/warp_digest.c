#include "sim/detect/proof/warp_digest.h"

#include <string.h>

#include "base/bits.h"
#include "base/wide.h"
#include "sim/core/lane_groups.h"

static void add_shuffled(const Inst *inst, KernelState *state) {
  if (inst->op == OP_SHFL && inst->a >= 0)
    regset_put(&state->shuffled, (unsigned)inst->a);
}

/* Numbers without a pattern, one a lane and sum, for NH (Black and others, UMAC, 1999): pairs of lanes are multiplied
 * and added up, which is quick in wide registers. */
static const uint32_t lane_key[2][WARP_LANES] = {
    {0xc2c063ff, 0x239eed25, 0x958507ad, 0xf768064f, 0x0e9a8df5, 0x55113dc3, 0xe0c67745, 0x5966eb45,
     0xfcb042d9, 0x4ca82985, 0x1720800f, 0xb9c48cb1, 0xa9f18631, 0xd6c93f01, 0xbc4d13dd, 0xa83c546d,
     0xdf2d5c05, 0xa3966023, 0xcddba417, 0xace970fd, 0x2b5eadad, 0x4fe2c4e1, 0xe25fe71d, 0x00633257,
     0xa9998119, 0x34c6049f, 0x19428e8b, 0xe66c0e99, 0xbe71c2d9, 0xa62d2465, 0xd9f9bacd, 0x3c19c841},
    {0x57a73cab, 0xf5a6b47b, 0xa11b5c7d, 0xe7f137f5, 0xfdbc4be3, 0x60a8a1e3, 0x43d2ba11, 0x12f034c1,
     0xcfbaa4dd, 0xd6567965, 0x946a0999, 0x83de0b93, 0x923fe54f, 0x9f777337, 0xf65cc903, 0x068c193b,
     0x12806dcd, 0x3379782f, 0x6546e4bf, 0xc85ad6ff, 0x53c80a75, 0x33ba20d3, 0x2fb71ead, 0x10cc8043,
     0xdba55617, 0xf7453615, 0x3701003f, 0x33393139, 0x5879f225, 0xca927d73, 0x17b98c29, 0x4223d05b},
};

/* Those bits of a register of all lanes, as two sums: 2^-64 is the chance that other values give the same two. */
WIDE_CLONES static uint64_t digest_row(uint64_t hash, const uint32_t row[WARP_LANES], uint32_t bits) {
  enum { HALF = WARP_LANES / 2 };
  uint64_t first = 0, second = 0;
  for (unsigned lane = 0; lane < HALF; lane++) {
    uint32_t low = row[lane] & bits, high = row[lane + HALF] & bits;
    first += (uint64_t)(low + lane_key[0][lane]) * (uint64_t)(high + lane_key[0][lane + HALF]);
    second += (uint64_t)(low + lane_key[1][lane]) * (uint64_t)(high + lane_key[1][lane + HALF]);
  }
  return bits_mix(bits_mix(hash, first), second);
}

/* The groups of a warp; their order says who runs next. Where lanes go on behind a collective, and who has saved
 * what, stays there when it is over: then it is the same each time. */
static uint64_t digest_groups(const LaneGroups *groups) {
  uint64_t sum = digest_row(bits_mix(groups->gathering, groups->marked), groups->comes_back, UINT32_MAX);
  for (uint32_t i = 0; i < groups->count; i++) {
    const LaneGroup *group = &groups->group[i];
    sum = bits_mix(sum, i) +
          bits_mix(bits_mix(bits_mix(group->state, group->mask), (uint64_t)group->pc << 32 | group->which),
                   (uint64_t)group->yields << 1 | group->due);
  }
  for (unsigned barrier = 0; barrier < CONVERGENCE_BARRIERS; barrier++) {
    sum += groups->sync.saved[barrier] ? bits_mix(bits_mix(~(uint64_t)barrier, groups->sync.saved[barrier]), 1) : 0;
    sum += groups->sync.freed[barrier] ? bits_mix(bits_mix(~(uint64_t)barrier, groups->sync.freed[barrier]), 2) : 0;
    for (uint32_t rest = groups->sync.used[barrier]; rest; rest &= rest - 1) {
      const SyncRecord *record = sync_record(&groups->sync, barrier, (unsigned)__builtin_ctz(rest));
      sum +=
          bits_mix(bits_mix(barrier + 1, record->lanes), (uint64_t)record->away << 32 | groups->sync.saved[barrier]);
    }
  }
  for (unsigned id = 0; id < BLOCK_BARRIERS; id++)
    sum += groups->come[id] ? bits_mix(bits_mix(~(uint64_t)id, groups->come[id]), groups->executed[id]) : 0;
  if (groups->owes[0] | groups->owes[1])
    sum += bits_mix(~UINT64_C(0), (uint64_t)groups->owes[0] << 32 | groups->owes[1]);
  return sum;
}

/* Predicates that are live where lanes go on behind a collective. */
static uint32_t preds_behind(const LaneGroups *groups, const uint32_t *live) {
  uint32_t preds = 0, last = UINT32_MAX;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    if (groups->comes_back[lane] != last) {
      last = groups->comes_back[lane];
      preds |= live[last];
    }
  return preds;
}

/* Predicates that may be read where lanes are, or will go on. */
static uint32_t live_preds(const Warp *warp, const KernelState *state) {
  const uint32_t *live = state->liveness.live_preds;
  uint32_t preds = live[warp->pc];
  for (uint32_t i = 0; warp->groups && i < warp->groups->count; i++)
    preds |= live[warp->groups->group[i].pc];
  if (warp->groups)
    preds |= preds_behind(warp->groups, live);
  for (uint32_t i = 0; i < warp->depth; i++)
    preds |= live[warp->stack[i].pc];
  return preds & state->needed.preds;
}

/* The register's values that lanes have, or that have been read for them. */
static const uint32_t *row_of(const Sm *sm, const Warp *warp, unsigned reg, uint32_t room[WARP_LANES]) {
  if (!warp->pending || warp->reg_ready[reg] != REG_PENDING)
    return &warp->regs[reg * WARP_LANES];
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    room[lane] = flights_register(&sm->flights, warp, reg, lane);
  return room;
}

static void need_at(const KernelState *state, uint32_t pc, uint32_t bits[REGSET_MAX]) {
  const uint32_t *here = needed_bits_before(&state->needed, pc);
  for (uint32_t reg = 0; reg < state->needed.nregs; reg++)
    bits[reg] |= here[reg];
}

/* Bits that matter where lanes are, or will go on: on the stack, in other groups, behind a collective. Returns them,
 * maybe in `room`. */
static const uint32_t *bits_needed(const Warp *warp, const KernelState *state, uint32_t room[REGSET_MAX]) {
  const LaneGroups *groups = warp->groups;
  if ((!groups && warp->depth == 0) || !state->needed.before)
    return needed_bits_before(&state->needed, warp->pc);
  memset(room, 0, state->needed.nregs * sizeof *room);
  need_at(state, warp->pc, room);
  for (uint32_t i = 0; groups && i < groups->count; i++)
    if (groups->group[i].pc != warp->pc)
      need_at(state, groups->group[i].pc, room);
  for (unsigned lane = 0; groups && lane < WARP_LANES; lane++)
    if (lane == 0 || groups->comes_back[lane] != groups->comes_back[lane - 1])
      need_at(state, groups->comes_back[lane], room);
  for (uint32_t i = 0; i < warp->depth; i++)
    need_at(state, warp->stack[i].pc, room);
  return room;
}

static uint64_t digest_registers(uint64_t hash, const Sm *sm, const Warp *warp, const KernelState *state) {
  uint32_t room[WARP_LANES], all[REGSET_MAX];
  const uint32_t *bits = bits_needed(warp, state, all);
  for (unsigned word = 0; word < REGSET_WORDS; word++)
    for (uint64_t rest = state->needed_rows.word[word]; rest; rest &= rest - 1) {
      unsigned reg = word * 64 + (unsigned)__builtin_ctzll(rest);
      if (bits[reg])
        hash = digest_row(bits_mix(hash, reg), row_of(sm, warp, reg, room), bits[reg]);
    }
  return hash;
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
    hash = bits_mix(hash, digest_groups(warp->groups));
  for (uint32_t preds = live_preds(warp, state); preds; preds &= preds - 1)
    hash = bits_mix(hash, warp->pred[__builtin_ctz(preds)]);
  return digest_registers(hash, sm, warp, state);
}

void warp_values(const Sm *sm, const Warp *warp, const KernelState *state, WarpValue each, gpointer user) {
  uint32_t room[WARP_LANES], all[REGSET_MAX];
  const uint32_t *bits = bits_needed(warp, state, all);
  for (unsigned reg = 0; reg < state->needed.nregs; reg++) {
    const uint32_t *row = bits[reg] ? row_of(sm, warp, reg, room) : NULL;
    uint64_t last = UINT64_MAX;
    for (uint32_t rest = row ? warp->alive : 0; rest; rest &= rest - 1) {
      uint64_t value = (uint64_t)reg << 32 | (row[__builtin_ctz(rest)] & bits[reg]);
      if (value != last)
        each(user, value);
      last = value;
    }
  }
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
  for (unsigned reg = 0; reg < REGSET_MAX; reg++)
    if (state->needed.reg[reg])
      regset_put(&state->needed_rows, reg);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    add_shuffled(&kernel->insts[pc], state);
  state->liveness = cfg_liveness(kernel);
  state->clocked = reads_clock(kernel, state);
}

void kernel_state_clear(KernelState *state) {
  needed_bits_clear(&state->needed);
  liveness_clear(&state->liveness);
}
