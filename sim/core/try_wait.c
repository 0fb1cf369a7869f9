#include "sim/core/try_wait.h"

#include "sim/core/sm.h"

enum { NO_WORD = UINT32_MAX, PHASE = UINT32_C(1) << 31, MOST_BETWEEN = 6 };

void try_wait_look(Issue *issue, const uint32_t physical[WARP_LANES]) {
  uint32_t first = physical[__builtin_ctz(issue->mask)];
  issue->warp->tried_word = first / 4;
  issue->warp->tried = issue->sm->shared.words[first / 4];
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1)
    if (physical[__builtin_ctz(rest)] != first)
      issue->warp->tried_word = NO_WORD;
}

static bool has(const RegList *list, int reg) {
  for (unsigned i = 0; i < list->count; i++)
    if (list->reg[i] == reg)
      return true;
  return false;
}

/* True if some instruction from `first` up to that one reads a register that one of them writes later, or itself:
 * then they can't be done again. */
static bool changes_own_sources(const Kernel *kernel, const Inst *first, const Inst *last) {
  for (const Inst *writer = first; writer <= last; writer++) {
    RegList writes = inst_writes(writer, kernel->nregs);
    for (unsigned i = 0; i < writes.count; i++) {
      bool defined = false;
      for (const Inst *reader = first; reader <= writer && !defined; reader++) {
        RegList reads = inst_reads(reader), others = inst_writes(reader, kernel->nregs);
        if (has(&reads, writes.reg[i]))
          return true;
        defined = has(&others, writes.reg[i]);
      }
    }
  }
  return false;
}

/* The look that the comparison tells of, if it and what stands between can be done again; else NULL. */
static const Inst *look_before(const Issue *issue) {
  const Kernel *kernel = issue->block->launch->kernel;
  for (const Inst *inst = issue->inst - 1; inst >= kernel->insts && inst + MOST_BETWEEN >= issue->inst; inst--) {
    if (inst->guard != PRED_TRUE)
      return NULL;
    if (inst->op == OP_LDS && inst->lop == LDS_TRIES_PHASE)
      return changes_own_sources(kernel, inst, issue->inst) ? NULL : inst;
    if (op_info[inst->op].unit != UNIT_ALU || op_info[inst->op].flags & OPF_BRANCH || inst_pred_writes(inst))
      return NULL;
  }
  return NULL;
}

/* The try is made again, until a time that stands since its first look. */
static void look_again(Issue *issue, const Inst *look) {
  if (!issue->warp->tries_until)
    issue->warp->tries_until = issue->now + issue->gpu->machine->sm.shared.try_limit;
  issue->next_pc = issue->pc - (uint32_t)(issue->inst - look);
}

/* Of a try in vain. */
static void fall_asleep(Issue *issue, const Inst *look) {
  Warp *warp = issue->warp;
  if (look)
    look_again(issue, look);
  issue->next = MAX(issue->next, look ? warp->tries_until : issue->now + issue->gpu->machine->sm.shared.try_limit);
  issue->sm->stall[warp->slot] = STALL_BARRIER;
  warp->tried_at = warp->issued;
  warp_set_add(&issue->sm->trying, warp->slot);
}

void try_wait_compare(Issue *issue) {
  const Machine *machine = issue->gpu->machine;
  Warp *warp = issue->warp;
  executors[OP_ISETP](issue);
  bool ended = warp->pred[issue->inst->pdst] & issue->mask;
  bool apart = warp->tried_word == NO_WORD || issue->mask != warp->alive;
  bool over = warp->tries_until && issue->now >= warp->tries_until;
  if (ended || apart || over || !machine->sm.shared.try_limit) {
    warp->tries_until = 0;
    issue->next += !ended && apart ? machine->sm.shared.try_apart : 0;
    return;
  }
  const Inst *look = look_before(issue);
  if (!((issue->sm->shared.words[warp->tried_word] ^ warp->tried) & PHASE))
    fall_asleep(issue, look);
  else if (look) /* it has ended since the look, which on a GPU is one instruction with the comparison */
    look_again(issue, look);
}

void try_wait_changed(Sm *sm, uint32_t word, uint32_t before, uint32_t after, uint64_t time) {
  if (!((before ^ after) & PHASE))
    return;
  for (WarpSet rest = sm->trying; rest; rest = warp_set_rest(rest)) {
    Warp *warp = &sm->warps[warp_set_first(rest)];
    if (warp->tried_word != word)
      continue;
    warp_set_remove(&sm->trying, warp->slot);
    if (warp->issued == warp->tried_at) /* else it woke at the limit, or is another warp */
      sm_release(sm, warp, time);
  }
}
