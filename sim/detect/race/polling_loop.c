#include "sim/detect/race/polling_loop.h"

#include "sim/detect/race/values.h"

uint64_t poll_bits(RegList list) {
  uint64_t bits = 0;
  for (unsigned i = 0; i < list.count; i++)
    bits |= list.reg[i] < 64 ? UINT64_C(1) << list.reg[i] : 0;
  return bits;
}

PollInst *poll_read_kernel(const Kernel *kernel) {
  PollInst *insts = g_new0(PollInst, kernel->ninsts);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    insts[pc] = (PollInst){.reads = poll_bits(inst_reads(inst)),
                           .writes = poll_bits(inst_writes(inst, kernel->nregs)),
                           .pred_reads = inst_pred_reads(inst),
                           .pred_writes = inst_pred_writes(inst),
                           .never_runs = poll_never_runs(inst),
                           .guarded = inst_is_guarded(inst),
                           .loads = op_info[inst->op].flags & OPF_LOAD};
  }
  return insts;
}

/* ---- the blocks of a loop ---- */

/* The instruction may change memory. */
static bool may_change(const Kernel *kernel, const Inst *inst) {
  return op_info[inst->op].flags & (OPF_STORE | OPF_ATOMIC) && !value_is_only_read(kernel, inst);
}

/* No such loop passes the block. */
static bool is_outside(const PollLoop *loop, uint32_t block) {
  for (uint32_t pc = poll_block(loop, block)->first; pc <= poll_block(loop, block)->last; pc++) {
    const Inst *inst = &loop->kernel->insts[pc];
    if (op_info[inst->op].unit == UNIT_BARRIER || (loop->quiet && may_change(loop->kernel, inst)))
      return true;
  }
  return false;
}

/* Adds to `list` and marks in `inside` what lies before its blocks; if `within`, what lies behind and has that mark.
 */
static bool flood(PollLoop *loop, GArray *list, uint8_t mark, uint8_t within) {
  for (guint next = 0; next < list->len; next++) {
    const CfgBlock *block = poll_block(loop, g_array_index(list, uint32_t, next));
    const GArray *row = within ? block->successors : block->predecessors;
    loop->steps -= block->last - block->first + 1;
    if (list->len > POLLING_LOOP_BLOCKS_MAX || loop->steps < 0)
      return false;
    for (guint i = 0; i < row->len; i++) {
      uint32_t to = g_array_index(row, uint32_t, i);
      if ((loop->inside[to] & mark) || (loop->inside[to] & within) != within || is_outside(loop, to))
        continue;
      loop->inside[to] |= mark;
      g_array_append_val(list, to);
    }
  }
  return true;
}

static int compare_blocks(gconstpointer x, gconstpointer y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

bool poll_find_blocks(PollLoop *loop, uint32_t head, uint32_t latch) {
  enum { LEADS = 1, FOLLOWS = 2 };
  if (is_outside(loop, head) || is_outside(loop, latch))
    return false;
  g_autoptr(GArray) before = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  loop->head = head;
  loop->inside[head] |= LEADS;
  loop->inside[latch] |= LEADS;
  if (latch != head)
    g_array_append_val(before, latch);
  bool whole = flood(loop, before, LEADS, 0);
  loop->inside[head] |= FOLLOWS;
  g_array_append_val(loop->blocks, head);
  whole = whole && flood(loop, loop->blocks, FOLLOWS, LEADS);
  whole = whole && (loop->inside[latch] & FOLLOWS);
  for (guint i = 0; i < before->len; i++)
    loop->inside[g_array_index(before, uint32_t, i)] &= FOLLOWS;
  g_array_sort(loop->blocks, compare_blocks);
  return whole;
}

void poll_leave_blocks(PollLoop *loop) {
  for (guint i = 0; i < loop->blocks->len; i++)
    loop->inside[poll_block_number(loop, i)] = 0;
  g_array_set_size(loop->blocks, 0);
}

/* ---- what depends on what ---- */

uint8_t poll_choice(const PollLoop *loop, uint32_t block, const Inst *inst, const PollFacts *facts) {
  uint8_t choice = loop->chosen[block];
  if (inst_is_guarded(inst) && (facts->told_preds >> inst->guard & 1))
    choice |= inst->flags & INST_GUARD_NOT ? POLL_IF_FALSE : POLL_IF_TRUE;
  return choice ? choice : POLL_ALWAYS;
}

/* What is told may be written over what each round changes, but not mixed with it; a register that rounds change
 * under one choice of the load only (a count of messages) stands still while it waits. */
void poll_follow(const PollLoop *loop, uint32_t block, uint32_t pc, PollFacts *facts) {
  const PollInst *inst = &loop->insts[pc];
  if (inst->never_runs)
    return;
  uint64_t reads = inst->reads, writes = inst->writes;
  uint32_t pred_reads = inst->pred_reads, pred_writes = inst->pred_writes;
  uint8_t choice = poll_choice(loop, block, &loop->kernel->insts[pc], facts);
  bool carried = reads & facts->carried, mixed = reads & facts->carried & ~facts->told & ~loop->stands;
  bool is_load = pc == loop->load;
  bool by_data = !mixed && (reads & facts->told), chosen = choice != POLL_ALWAYS || (pred_reads & facts->told_preds);
  bool copies = is_load || (reads & facts->copied && !inst->loads);
  if (!inst->guarded) {
    facts->carried &= ~writes;
    facts->told &= ~writes;
    facts->copied &= ~writes;
    facts->told_preds &= ~pred_writes;
  }
  facts->carried |= carried ? writes : 0;
  facts->told |= is_load || by_data || (chosen && !mixed) ? writes : 0;
  facts->copied |= copies ? writes : 0;
  facts->told_preds |= is_load || by_data || chosen ? pred_writes : 0;
}

PollFacts poll_at_end(PollLoop *loop, uint32_t block) {
  PollFacts facts = loop->entry[block];
  for (uint32_t pc = poll_block(loop, block)->first; pc <= poll_block(loop, block)->last; pc++)
    poll_follow(loop, block, pc, &facts);
  loop->steps -= poll_block(loop, block)->last - poll_block(loop, block)->first + 1;
  return facts;
}

static bool add_facts(PollFacts *to, const PollFacts *more) {
  PollFacts sum = {to->carried | more->carried, to->told | more->told, to->copied | more->copied,
                   to->told_preds | more->told_preds};
  bool grows = sum.carried != to->carried || sum.told != to->told || sum.copied != to->copied ||
               sum.told_preds != to->told_preds;
  *to = sum;
  return grows;
}

void poll_spread(PollLoop *loop) {
  bool grows = true;
  while (grows && loop->steps > 0) {
    grows = false;
    for (guint i = 0; i < loop->blocks->len; i++) {
      uint32_t block = poll_block_number(loop, i);
      PollFacts end = poll_at_end(loop, block);
      const GArray *row = poll_block(loop, block)->successors;
      for (guint k = 0; k < row->len; k++) {
        uint32_t next = g_array_index(row, uint32_t, k);
        if (loop->inside[next])
          grows |= add_facts(&loop->entry[next], &end);
      }
    }
  }
}

void poll_forget_load(PollLoop *loop) {
  loop->stands = 0;
  for (guint i = 0; i < loop->blocks->len; i++) {
    uint32_t block = poll_block_number(loop, i);
    loop->chosen[block] = 0;
    loop->entry[block] = (PollFacts){.carried = loop->entry[block].carried};
  }
}

/* Every register that the loop writes may hold at its head what the round before left there. */
void poll_start(PollLoop *loop) {
  PollFacts *head = &loop->entry[loop->head];
  for (guint i = 0; i < loop->blocks->len; i++)
    loop->entry[poll_block_number(loop, i)] = (PollFacts){0};
  for (guint i = 0; i < loop->blocks->len; i++) {
    const CfgBlock *block = poll_block(loop, poll_block_number(loop, i));
    for (uint32_t pc = block->first; pc <= block->last; pc++)
      head->carried |= loop->insts[pc].writes;
  }
  loop->load = POLL_NOBODY;
  poll_forget_load(loop);
  poll_spread(loop);
}

/* ---- ways out ---- */

bool poll_leads_out(const PollLoop *loop, uint32_t block) {
  const GArray *row = poll_block(loop, block)->successors;
  for (guint i = 0; i < row->len; i++)
    if (!loop->inside[g_array_index(row, uint32_t, i)])
      return true;
  return poll_block(loop, block)->exits;
}

bool poll_comes_to(const PollLoop *loop, uint32_t from, uint32_t to) {
  g_autofree bool *seen = g_new0(bool, loop->cfg->blocks->len);
  g_autoptr(GArray) behind = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_array_append_val(behind, from);
  for (guint next = 0; next < behind->len; next++) {
    uint32_t block = g_array_index(behind, uint32_t, next);
    if (block == to)
      return true;
    const GArray *row = poll_block(loop, block)->successors;
    for (guint i = 0; i < row->len; i++) {
      uint32_t successor = g_array_index(row, uint32_t, i);
      if (!seen[successor])
        g_array_append_val(behind, successor);
      seen[successor] = true;
    }
  }
  return false;
}
