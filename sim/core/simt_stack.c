#include "sim/core/simt_stack.h"

#include "base/assert.h"

/* The topmost entry that isn't a pending path, or -1. */
static int top_join(const Warp *warp) {
  for (int i = (int)warp->depth - 1; i >= 0; i--)
    if (warp->stack[i].kind != STACK_PATH)
      return i;
  return -1;
}

static bool is_join(const StackEntry *entry) { return entry->kind == STACK_SSY || entry->kind == STACK_IMPLICIT; }

/* True if a path at `pc` would join at once: the top entry that isn't a path joins there. */
static bool joins_at(const Warp *warp, uint32_t pc) {
  int top = top_join(warp);
  return top >= 0 && is_join(&warp->stack[top]) && warp->stack[top].pc == pc;
}

static bool push(Warp *warp, uint32_t depth_max, StackKind kind, uint32_t pc, uint32_t mask) {
  if (warp->depth == depth_max)
    return false;
  warp->stack[warp->depth++] =
      (StackEntry){.pc = pc, .mask = mask, .kind = (uint16_t)kind, .ssy_below = (uint16_t)warp->ssys};
  return true;
}

bool simt_push(Warp *warp, uint32_t depth_max, StackKind kind, uint32_t pc) {
  if (!push(warp, depth_max, kind, pc, warp->active))
    return false;
  if (kind == STACK_SSY)
    warp->ssys++;
  else if (kind == STACK_CALL)
    warp->ssys = 0;
  return true;
}

bool simt_diverge(Warp *warp, const Machine *machine, const Inst *inst, uint32_t taken, bool *ordered) {
  uint32_t depth_max = machine->sm.simt_stack.depth;
  uint32_t fallthrough = warp->active & ~taken;
  LS_REQUIRE("simt-diverges", taken && fallthrough);
  if (warp->ssys == 0 && machine->sm.simt_stack.implicit_reconvergence == IMPLICIT_IPDOM &&
      inst->reconv != NO_TARGET) {
    int top = top_join(warp);
    bool there = top >= 0 && warp->stack[top].kind == STACK_IMPLICIT && warp->stack[top].pc == (uint32_t)inst->reconv;
    if (!there && !push(warp, depth_max, STACK_IMPLICIT, (uint32_t)inst->reconv, warp->active))
      return false;
  }
  uint32_t pc[2] = {(uint32_t)inst->target, warp->pc + 1}, mask[2] = {taken, fallthrough};
  unsigned first = branch_takes_first(machine->sm.simt_stack.branch_order, taken, fallthrough) ? 0 : 1;
  if (joins_at(warp, pc[first]))
    first = !first; /* the lanes of the preferred side wait at once */
  bool waits = joins_at(warp, pc[!first]);
  *ordered = *ordered || !waits || pc[0] == pc[1];
  if (!waits && !push(warp, depth_max, STACK_PATH, pc[!first], mask[!first]))
    return false;
  warp->pc = pc[first];
  warp->active = mask[first];
  return true;
}

static void drop_top(Warp *warp) {
  StackEntry *entry = &warp->stack[--warp->depth];
  if (entry->kind == STACK_SSY)
    warp->ssys--;
  else if (entry->kind == STACK_CALL)
    warp->ssys = entry->ssy_below;
}

void simt_pop(Warp *warp) {
  warp->active = 0;
  while (warp->depth > 0) {
    StackEntry entry = warp->stack[warp->depth - 1];
    drop_top(warp);
    uint32_t mask = entry.mask & warp->alive;
    if (mask == 0 || joins_at(warp, entry.pc))
      continue;
    warp->pc = entry.pc;
    warp->active = mask;
    return;
  }
}

bool simt_join(Warp *warp) {
  int top = top_join(warp);
  if (top < 0 || warp->stack[top].kind != STACK_SSY)
    return false;
  simt_pop(warp);
  return true;
}

void simt_arrive(Warp *warp) {
  if (joins_at(warp, warp->pc))
    simt_pop(warp);
}

bool simt_leave(Warp *warp, StackKind kind, uint32_t lanes) {
  int found = (int)warp->depth - 1;
  while (found >= 0 && warp->stack[found].kind != kind)
    found--;
  if (found < 0)
    return false;
  for (uint32_t i = (uint32_t)found + 1; i < warp->depth; i++)
    warp->stack[i].mask &= ~lanes;
  warp->active &= ~lanes;
  if (warp->active == 0)
    simt_pop(warp);
  return true;
}
