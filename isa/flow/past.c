#include "isa/flow/past.h"

#include <glib.h>

#include "isa/flow/flow.h"

/* True of instructions that only lead lanes about. */
static bool is_control(const Inst *inst) {
  switch ((Opcode)inst->op) {
  case OP_NOP:
  case OP_BRA:
  case OP_BRADIV:
  case OP_EXIT:
  case OP_SSY:
  case OP_BSSY:
  case OP_BSYNC:
  case OP_BREAK:
  case OP_YIELD: return true;
  default: return false;
  }
}

/* Nothing is behind a fence in a block that ends the lanes: code for debuggers has one there. */
static bool block_works(const Kernel *kernel, const Flow *flow, uint32_t block) {
  const Inst *last = &kernel->insts[flow->first[block + 1] - 1];
  bool ends = last->op == OP_EXIT && !inst_is_guarded(last);
  for (uint32_t pc = flow->first[block]; pc < flow->first[block + 1]; pc++) {
    const Inst *inst = &kernel->insts[pc];
    bool idle = ends && op_info[inst->op].flags & OPF_FENCE;
    if (!is_control(inst) && !idle)
      return true;
  }
  return false;
}

static bool lanes_meet(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (op_info[kernel->insts[pc].op].flags & OPF_BARRIER || kernel->insts[pc].op == OP_WARPSYNC ||
        kernel->insts[pc].flags & INST_SYNCED)
      return true;
  return false;
}

/* Backwards from the exits, through blocks that do no work. */
void past_mark(Kernel *kernel, const Flow *flow) {
  if (!lanes_meet(kernel))
    return;
  g_autoptr(GArray) work = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autofree uint8_t *seen = g_new0(uint8_t, flow->nblocks + 1);
  for (uint32_t b = 0; b < flow->nblocks; b++)
    if (flow->exits[b] && flow->reachable[b]) {
      seen[b] = 1;
      g_array_append_val(work, b);
    }
  while (work->len) {
    uint32_t b = g_array_index(work, uint32_t, work->len - 1);
    g_array_set_size(work, work->len - 1);
    if (block_works(kernel, flow, b)) {
      kernel->insts[flow->first[b + 1] - 1].flags |= INST_LEAVES;
      continue;
    }
    for (uint32_t e = flow->in.start[b]; e < flow->in.start[b + 1]; e++)
      if (!seen[flow->in.to[e]]) {
        seen[flow->in.to[e]] = 1;
        g_array_append_val(work, flow->in.to[e]);
      }
  }
}

/* Whether a path of at least one edge leads from block `from` to block `to`, not through `without`. */
static bool leads(const Flow *flow, uint32_t from, uint32_t to, uint32_t without) {
  g_autoptr(GArray) work = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autofree uint8_t *seen = g_new0(uint8_t, flow->nblocks + 1);
  g_array_append_val(work, from);
  while (work->len) {
    uint32_t b = g_array_index(work, uint32_t, work->len - 1);
    g_array_set_size(work, work->len - 1);
    for (uint32_t e = flow->out.start[b]; e < flow->out.start[b + 1]; e++) {
      uint32_t next = flow->out.to[e];
      if (next == to)
        return true;
      if (next == without || seen[next])
        continue;
      seen[next] = 1;
      g_array_append_val(work, next);
    }
  }
  return false;
}

/* True if others see what the block does. */
static bool has_effect(const Kernel *kernel, const Flow *flow, uint32_t block) {
  enum { EFFECTS = OPF_STORE | OPF_LOCK };
  for (uint32_t pc = flow->first[block]; pc < flow->first[block + 1]; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (op_info[inst->op].flags & (EFFECTS | OPF_BARRIER) || inst->op == OP_PRINTF || inst->op == OP_FREE)
      return true;
  }
  return false;
}

Past past_skipped(const Kernel *kernel, uint32_t pc, uint32_t left) {
  Flow flow;
  Past past = PAST_EARLY;
  if (left == PAST_NOWHERE)
    return past;
  flow_init(&flow, kernel);
  uint32_t none = flow.nblocks, at = flow.block_of[pc], last = flow.block_of[left];
  bool there = at != last && leads(&flow, at, last, none), back = leads(&flow, last, at, none);
  bool avoidable = at != 0 && (last == 0 || leads(&flow, 0, last, at));
  if (there && !back && (avoidable || leads(&flow, at, at, none)))
    past = PAST_BEHIND;
  else if (!there && !back && at != last && has_effect(kernel, &flow, last))
    past = PAST_BESIDE;
  flow_clear(&flow);
  return past;
}
