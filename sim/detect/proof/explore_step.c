#include "sim/detect/proof/explore_step.h"

#include "base/bits.h"
#include "sim/core/simt_stack.h"

static const Inst *inst_at(const LaneWalk *walk, uint32_t pc) { return &walk->view->launch->kernel->insts[pc]; }

void explore_fault(LaneWalk *walk) { walk->reach.may_exit = walk->reach.may_fault = true; }

void explore_come_to(LaneWalk *walk, uint32_t *mask) {
  if (read_only(walk))
    return;
  walk->effects.of_warp = true;
  if (!g_ptr_array_find(walk->effects.masks, mask, NULL))
    g_ptr_array_add(walk->effects.masks, mask);
  view_add_lanes(walk->explorer, walk->view, mask, 1u << walk->lane);
}

/* ---- paths: pushes, joins, arrivals ---- */

/* The topmost entry of the warp's stack below `level` that isn't a pending path and holds the lane, or -1. */
static int entry_below(LaneWalk *walk, uint32_t level) {
  const Warp *warp = walk->view->warp;
  walk->effects.of_warp |= level > 0;
  for (int i = (int)level - 1; i >= 0; i--)
    if (warp->stack[i].kind != STACK_PATH && warp->stack[i].mask >> walk->lane & 1)
      return i;
  return -1;
}

static bool joins(uint32_t kind) { return kind == STACK_SSY || kind == STACK_IMPLICIT; }

/* Convergence points with one target and the same lanes, pushed one upon another, are popped together. */
static uint32_t lowest_alike(const Warp *warp, uint32_t index) {
  const StackEntry *entry = &warp->stack[index];
  while (index > 0 && joins(entry->kind) && joins(warp->stack[index - 1].kind) &&
         warp->stack[index - 1].pc == entry->pc && warp->stack[index - 1].mask == entry->mask)
    index--;
  return index;
}

/* The lane arrives at entry `index` of the warp's own stack and would go on at that entry's target. */
static void arrive(LaneWalk *walk, LaneState *state, uint32_t index) {
  index = lowest_alike(walk->view->warp, index);
  walk->reach.lowest_entry = MIN(walk->reach.lowest_entry, index);
  if (!assumes_all_open(walk) && !walk->view->entry_open[index])
    return;
  state->pc = walk->view->warp->stack[index].pc;
  state->level = index;
  explore_enter(walk, state);
}

void explore_enter(LaneWalk *walk, LaneState *state) {
  if (walk->ended)
    return;
  while (state->depth > 0 && state->stack[state->depth - 1].kind == STACK_SSY &&
         state->stack[state->depth - 1].pc == state->pc)
    state->depth--; /* the path ends here, the lane goes on from here once the others came */
  if (state->depth == 0) {
    int below = entry_below(walk, state->level);
    const StackEntry *entry = below >= 0 ? &walk->view->warp->stack[below] : NULL;
    if (entry && joins(entry->kind) && entry->pc == state->pc) {
      arrive(walk, state, (uint32_t)below);
      return;
    }
  }
  state_set_add(&walk->view->facts->states, state);
}

/* On the lane's stack lie the entries below it, the frames that it pushed, and up to two entries for each branch
 * that parted it from other lanes. A full stack is a fault. */
static void check_depth(LaneWalk *walk, const LaneState *state) {
  uint32_t depth = walk->explorer->gpu->machine->sm.simt_stack.depth, known = state->level + state->depth;
  if (known + 2 * (WARP_LANES - 1) < depth)
    return;
  walk->effects.of_warp = true;
  if (known + 2 * (bits_count(walk->view->warp->alive) - 1) >= depth)
    explore_fault(walk);
}

static void push_frame(LaneWalk *walk, LaneState *state, StackKind kind, uint32_t pc) {
  check_depth(walk, state);
  if (state->depth == LANE_STACK_MAX) {
    walk->explorer->gave_up = true;
    return;
  }
  state->stack[state->depth++] = (LaneFrame){.kind = kind, .pc = pc};
}

/* `.S`: the lane waits at its innermost convergence point. */
static void pop_to_join(LaneWalk *walk, LaneState *state) {
  if (state->depth > 0) {
    if (state->stack[state->depth - 1].kind != STACK_SSY) {
      explore_fault(walk);
      return;
    }
    state->pc = state->stack[--state->depth].pc;
    explore_enter(walk, state);
    return;
  }
  int below = entry_below(walk, state->level);
  if (below >= 0 && walk->view->warp->stack[below].kind == STACK_SSY)
    arrive(walk, state, (uint32_t)below);
  else
    explore_fault(walk);
}

/* BRK, CONT, RET: the lane leaves to its innermost frame of that kind. */
static void leave_to(LaneWalk *walk, LaneState *state, StackKind kind) {
  while (state->depth > 0) {
    LaneFrame frame = state->stack[--state->depth];
    if (frame.kind == kind) {
      state->pc = frame.pc;
      explore_enter(walk, state);
      return;
    }
  }
  walk->effects.of_warp = true;
  for (int i = (int)state->level - 1; i >= 0; i--) {
    const StackEntry *entry = &walk->view->warp->stack[i];
    if (entry->kind == kind && entry->mask >> walk->lane & 1) {
      arrive(walk, state, (uint32_t)i);
      return;
    }
  }
  explore_fault(walk);
}

void explore_go_on(LaneWalk *walk, LaneState *state, const Inst *inst, uint32_t next) {
  if (walk->flight) {
    explore_next_flight(walk, state);
    return;
  }
  state->pc = next;
  if (inst->flags & INST_POP)
    pop_to_join(walk, state);
  else
    explore_enter(walk, state);
}

/* ---- control ---- */

/* Which lanes are together isn't followed: either way, or as it was seen. */
static void branch_divergent(LaneWalk *walk, LaneState *state, const Inst *inst) {
  const SeenValues *seen = walk->explorer->exchanged ? explore_exchange_seen(walk, state->pc) : NULL;
  bool may[2] = {!seen, !seen};
  for (uint32_t i = 0; seen && i < seen->count; i++)
    may[seen->value[i]] = true;
  for (int way = 0; way < 2; way++) {
    LaneSpace after;
    lane_state_copy(&after.state, state, walk_nregs(walk));
    if (may[way])
      explore_go_on(walk, &after.state, inst, way ? (uint32_t)inst->target : state->pc + 1);
  }
}

static void branch_indirect(LaneWalk *walk, LaneState *state, const Inst *inst) {
  const Kernel *kernel = walk->view->launch->kernel;
  if (slot_unknown(state, inst->a)) {
    for (uint32_t i = 0; i < kernel->njumps; i++) {
      LaneSpace taken;
      lane_state_copy(&taken.state, state, walk_nregs(walk));
      explore_go_on(walk, &taken.state, inst, kernel->jumps[i]);
    }
    return;
  }
  int32_t target = kernel_at_address(kernel, slot_value(walk, state, inst->a) + (uint32_t)inst->imm);
  if (target < 0)
    explore_fault(walk);
  else
    explore_go_on(walk, state, inst, (uint32_t)target);
}

static void step_control(LaneWalk *walk, LaneState *state, const Inst *inst) {
  switch ((Opcode)inst->op) {
  case OP_BRA: explore_go_on(walk, state, inst, (uint32_t)inst->target); return;
  case OP_BRADIV: branch_divergent(walk, state, inst); return;
  case OP_BRX: branch_indirect(walk, state, inst); return;
  case OP_BMOVR: explore_forget_writes(walk, state, inst); break;
  case OP_BMOVW: state->begun &= ~(1u << inst->mode); break;
  case OP_SSY: push_frame(walk, state, STACK_SSY, (uint32_t)inst->target); break;
  case OP_PBK: push_frame(walk, state, STACK_BREAK, (uint32_t)inst->target); break;
  case OP_PCNT: push_frame(walk, state, STACK_CONTINUE, (uint32_t)inst->target); break;
  case OP_CAL:
    push_frame(walk, state, STACK_CALL, state->pc + 1);
    explore_go_on(walk, state, inst, (uint32_t)inst->target);
    return;
  case OP_BRK: leave_to(walk, state, STACK_BREAK); return;
  case OP_CONT: leave_to(walk, state, STACK_CONTINUE); return;
  case OP_RET: leave_to(walk, state, STACK_CALL); return;
  case OP_EXIT: walk->reach.may_exit = true; return;
  case OP_TRAP:
  case OP_ASSERTFAIL: explore_fault(walk); return;
  case OP_PRINTF: explore_forget_writes(walk, state, inst); break;
  case OP_MALLOC: explore_malloc(walk, state, inst); break;
  case OP_FREE: explore_free(walk, state, inst); break;
  default: break;
  }
  explore_go_on(walk, state, inst, state->pc + 1);
}

static void dispatch(LaneWalk *walk, LaneState *state, const Inst *inst) {
  switch (op_info[inst->op].unit) {
  case UNIT_ALU:
  case UNIT_SFU:
  case UNIT_FP64:
  case UNIT_DIVIDE: explore_arithmetic(walk, state, inst); break;
  case UNIT_SYSREG: explore_sysreg(walk, state, inst); break;
  case UNIT_VOTE: explore_vote(walk, state, inst); break;
  case UNIT_SHUFFLE: explore_shuffle(walk, state, inst); break;
  case UNIT_BARRIER: explore_barrier(walk, state, inst); break;
  case UNIT_SHARED:
  case UNIT_GLOBAL:
  case UNIT_LOCAL: explore_memory(walk, state, inst); break;
  default:
    if (walk->view->warp->groups &&
        (op_info[inst->op].flags & OPF_SWITCH || inst->op == OP_BSSY || inst->op == OP_BREAK))
      explore_group_step(walk, state, inst);
    else
      step_control(walk, state, inst);
    break;
  }
}

/* A guarded branch may fill the stack; a call that only some lanes take is a fault. */
static void step_guarded(LaneWalk *walk, const LaneState *state, const Inst *inst, bool executes) {
  if (inst->op == OP_BRA && !walk->view->warp->groups) {
    check_depth(walk, state);
  } else if (inst->op == OP_CAL) {
    walk->effects.of_warp = true;
    if (!read_only(walk))
      view_note_way(walk->explorer, walk->view, state->pc, executes);
    if (view_ways(walk->view, state->pc) == 3)
      explore_fault(walk);
  }
}

void explore_step(LaneWalk *walk, LaneState *state) {
  const Inst *inst = inst_at(walk, state->pc);
  uint32_t needed = inst_pred_reads(inst) & state->preds_unknown;
  if (needed) {
    /* Both values of an unknown predicate, one at a time: afterwards each state knows which it took. */
    unsigned predicate = (unsigned)__builtin_ctz(needed);
    for (int value = 0; value < 2; value++) {
      LaneSpace known;
      lane_state_copy(&known.state, state, walk_nregs(walk));
      explore_set_predicate(&known.state, predicate, value);
      explore_step(walk, &known.state);
    }
    return;
  }
  bool guard = inst->guard == PRED_TRUE || (state->preds >> inst->guard & 1);
  bool executes = guard == !(inst->flags & INST_GUARD_NOT);
  if (inst->guard != PRED_TRUE)
    step_guarded(walk, state, inst, executes);
  walk->view->facts->states.change = 0;
  if (executes) {
    dispatch(walk, state, inst);
    return;
  }
  uint32_t pc = state->pc;
  if (op_info[inst->op].flags & OPF_BARRIER && walk->view->warp->groups && !(inst->flags & INST_UNALIGNED))
    explore_barrier_beside(walk, state, inst);
  if (inst->op == OP_SSY || inst->op == OP_PBK || inst->op == OP_PCNT) {
    /* If the guard holds in another lane, the warp pushes for all active ones. */
    LaneSpace pushed;
    lane_state_copy(&pushed.state, state, walk_nregs(walk));
    dispatch(walk, &pushed.state, inst);
  }
  explore_go_on(walk, state, inst, pc + 1);
}
