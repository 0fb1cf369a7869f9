#include "sim/detect/race/polling.h"

#include <string.h>

#include "isa/flow/cfg.h"
#include "sim/core/queue_unit.h"

/* Where an instruction or block stands towards a choice by the loaded value. */
enum { ALWAYS = 1, IF_TRUE = 2, IF_FALSE = 4 };
enum { NOBODY = UINT32_MAX };

/* What holds at one place of a loop. */
typedef struct Facts {
  uint64_t carried; /* registers that depend on what an earlier round left */
  uint64_t told;    /* registers that depend on the load, over data or choices */
  uint64_t copied;  /* ... over data alone */
  uint32_t told_preds;
} Facts;

typedef struct Loop {
  const Kernel *kernel;
  const Cfg *cfg;
  GArray *blocks;  /* uint32_t, rising */
  uint8_t *inside; /* of each block of the kernel */
  uint8_t *chosen; /* IF_TRUE, IF_FALSE: the block runs if the load says so; 0: always */
  Facts *entry;    /* of each block */
  uint32_t head;
  uint32_t load;   /* whose value is followed, or NOBODY */
  uint64_t stands; /* registers that are written under one choice of the load only */
  bool tries;      /* atomic operations and LDSLK are looked at, too */
  bool quiet;      /* it passes nothing that changes memory */
  GPtrArray *ended; /* of each polling load: bool *, the blocks of the loops that it ends; NULL: not wanted */
  int64_t steps;   /* that may still be taken */
} Loop;

static uint64_t bits_of(RegList list) {
  uint64_t bits = 0;
  for (unsigned i = 0; i < list.count; i++)
    bits |= list.reg[i] < 64 ? UINT64_C(1) << list.reg[i] : 0;
  return bits;
}

static const CfgBlock *block_at(const Loop *loop, uint32_t block) {
  return g_ptr_array_index(loop->cfg->blocks, block);
}

static uint32_t loop_block(const Loop *loop, guint index) { return g_array_index(loop->blocks, uint32_t, index); }

/* ---- the blocks of a loop ---- */

/* No such loop passes the block. */
static bool is_outside(const Loop *loop, uint32_t block) {
  for (uint32_t pc = block_at(loop, block)->first; pc <= block_at(loop, block)->last; pc++) {
    const OpInfo *info = &op_info[loop->kernel->insts[pc].op];
    if (info->unit == UNIT_BARRIER || (loop->quiet && info->flags & (OPF_STORE | OPF_ATOMIC)))
      return true;
  }
  return false;
}

/* Adds to `list` and marks in `inside` what lies before its blocks; if `within`, what lies behind and has that mark. */
static bool flood(Loop *loop, GArray *list, uint8_t mark, uint8_t within) {
  for (guint next = 0; next < list->len; next++) {
    const CfgBlock *block = block_at(loop, g_array_index(list, uint32_t, next));
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

/* The blocks from which `latch` is reached without passing `head`, and that `head` reaches. False if that is no loop,
 * or too large a one. */
static bool find_blocks(Loop *loop, uint32_t head, uint32_t latch) {
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

static void leave_blocks(Loop *loop) {
  for (guint i = 0; i < loop->blocks->len; i++)
    loop->inside[loop_block(loop, i)] = 0;
  g_array_set_size(loop->blocks, 0);
}

/* ---- what depends on what ---- */

static bool never_runs(const Inst *inst) { return inst->guard == PRED_TRUE && (inst->flags & INST_GUARD_NOT); }

/* Under which choice by the load the instruction runs. */
static uint8_t choice_of(const Loop *loop, uint32_t block, const Inst *inst, const Facts *facts) {
  uint8_t choice = loop->chosen[block];
  if (inst_is_guarded(inst) && (facts->told_preds >> inst->guard & 1))
    choice |= inst->flags & INST_GUARD_NOT ? IF_FALSE : IF_TRUE;
  return choice ? choice : ALWAYS;
}

/* What is told may be written over what each round changes, but not mixed with it; a register that rounds change
 * under one choice of the load only (a count of messages) stands still while it waits. */
static void follow(const Loop *loop, uint32_t block, uint32_t pc, Facts *facts) {
  const Inst *inst = &loop->kernel->insts[pc];
  if (never_runs(inst))
    return;
  uint64_t reads = bits_of(inst_reads(inst)), writes = bits_of(inst_writes(inst, loop->kernel->nregs));
  uint32_t pred_reads = inst_pred_reads(inst), pred_writes = inst_pred_writes(inst);
  uint8_t choice = choice_of(loop, block, inst, facts);
  bool carried = reads & facts->carried, mixed = reads & facts->carried & ~facts->told, is_load = pc == loop->load;
  bool by_data = !mixed && (reads & facts->told), chosen = choice != ALWAYS || (pred_reads & facts->told_preds);
  bool copies = is_load || (reads & facts->copied && !(op_info[inst->op].flags & OPF_LOAD));
  uint64_t stands = writes & loop->stands;
  if (!inst_is_guarded(inst)) {
    facts->carried &= ~writes;
    facts->told &= ~writes;
    facts->copied &= ~writes;
    facts->told_preds &= ~pred_writes;
  }
  facts->carried |= carried ? writes : 0;
  facts->told |= is_load || by_data || (chosen && !mixed) ? writes : stands;
  facts->copied |= copies ? writes : 0;
  facts->told_preds |= is_load || by_data || chosen ? pred_writes : 0;
}

static Facts at_end(Loop *loop, uint32_t block) {
  Facts facts = loop->entry[block];
  for (uint32_t pc = block_at(loop, block)->first; pc <= block_at(loop, block)->last; pc++)
    follow(loop, block, pc, &facts);
  loop->steps -= block_at(loop, block)->last - block_at(loop, block)->first + 1;
  return facts;
}

static bool add_facts(Facts *to, const Facts *more) {
  Facts sum = {to->carried | more->carried, to->told | more->told, to->copied | more->copied,
               to->told_preds | more->told_preds};
  bool grows = sum.carried != to->carried || sum.told != to->told || sum.copied != to->copied ||
               sum.told_preds != to->told_preds;
  *to = sum;
  return grows;
}

/* Until nothing is added. */
static void spread(Loop *loop) {
  bool grows = true;
  while (grows && loop->steps > 0) {
    grows = false;
    for (guint i = 0; i < loop->blocks->len; i++) {
      uint32_t block = loop_block(loop, i);
      Facts end = at_end(loop, block);
      const GArray *row = block_at(loop, block)->successors;
      for (guint k = 0; k < row->len; k++) {
        uint32_t next = g_array_index(row, uint32_t, k);
        if (loop->inside[next])
          grows |= add_facts(&loop->entry[next], &end);
      }
    }
  }
}

static void forget_load(Loop *loop) {
  loop->stands = 0;
  for (guint i = 0; i < loop->blocks->len; i++) {
    uint32_t block = loop_block(loop, i);
    loop->chosen[block] = 0;
    loop->entry[block] = (Facts){.carried = loop->entry[block].carried};
  }
}

/* Every register that the loop writes may hold at its head what the round before left there. */
static void start(Loop *loop) {
  Facts *head = &loop->entry[loop->head];
  for (guint i = 0; i < loop->blocks->len; i++)
    loop->entry[loop_block(loop, i)] = (Facts){0};
  for (guint i = 0; i < loop->blocks->len; i++) {
    const CfgBlock *block = block_at(loop, loop_block(loop, i));
    for (uint32_t pc = block->first; pc <= block->last; pc++)
      head->carried |= bits_of(inst_writes(&loop->kernel->insts[pc], loop->kernel->nregs));
  }
  loop->load = NOBODY;
  forget_load(loop);
  spread(loop);
}

/* Machine code's look at the phase of an mbarrier. */
static bool checks_phase(const Inst *inst) { return inst->op == OP_LDS && inst->sem == SEM_RELAXED; }

static bool is_load(const Inst *inst, bool tries) {
  bool is_try = inst->op == OP_ATOM || inst->op == OP_ATOMS || inst->op == OP_LDSLK || queue_unit_has(inst);
  return (inst->op == OP_LDS || inst->op == OP_LD || (tries && is_try)) && !never_runs(inst);
}

/* The loads of the loop, not known as polls yet unless all loops that they end are wanted, whose address stands
 * still. */
static GArray *find_candidates(Loop *loop, const bool *known) {
  GArray *list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (guint i = 0; i < loop->blocks->len; i++) {
    uint32_t block = loop_block(loop, i);
    Facts facts = loop->entry[block];
    for (uint32_t pc = block_at(loop, block)->first; pc <= block_at(loop, block)->last; pc++) {
      const Inst *inst = &loop->kernel->insts[pc];
      if (is_load(inst, loop->tries) && (loop->ended || !known[pc]) && !(bits_of(inst_reads(inst)) & facts.carried))
        g_array_append_val(list, pc);
      follow(loop, block, pc, &facts);
    }
  }
  return list;
}

/* ---- does the load end the loop ---- */

static bool leads_out(const Loop *loop, uint32_t block) {
  const GArray *row = block_at(loop, block)->successors;
  for (guint i = 0; i < row->len; i++)
    if (!loop->inside[g_array_index(row, uint32_t, i)])
      return true;
  return block_at(loop, block)->exits;
}

/* Blocks from `block` on, up to where the branch's paths meet, the loop's head or its end, run by that choice. */
static bool choose(Loop *loop, uint32_t block, int32_t meet, uint8_t choice) {
  if (!loop->inside[block] || block == loop->head || (int32_t)block == meet || (loop->chosen[block] & choice))
    return false;
  loop->chosen[block] |= choice;
  const GArray *row = block_at(loop, block)->successors;
  for (guint i = 0; i < row->len; i++)
    choose(loop, g_array_index(row, uint32_t, i), meet, choice);
  return true;
}

/* Looks at the branch that ends a block. Returns true if the load decides it and it leaves the loop. */
static bool is_way_out(Loop *loop, uint32_t block, const Facts *end, bool *more) {
  const CfgBlock *place = block_at(loop, block);
  const Inst *inst = &loop->kernel->insts[place->last];
  if (!(op_info[inst->op].flags & OPF_BRANCH) || !inst_is_guarded(inst) || !(end->told_preds >> inst->guard & 1))
    return false;
  if (leads_out(loop, block))
    return true;
  uint8_t taken = inst->flags & INST_GUARD_NOT ? IF_FALSE : IF_TRUE, not_taken = taken ^ IF_TRUE ^ IF_FALSE;
  for (guint i = 0; i < place->successors->len && inst->op == OP_BRA; i++) {
    uint32_t next = g_array_index(place->successors, uint32_t, i);
    bool is_taken = inst->target == (int32_t)block_at(loop, next)->first;
    *more |= choose(loop, next, place->ipdom, is_taken ? taken : not_taken);
  }
  return false;
}

static bool same_address(const Inst *x, const Inst *y) {
  return op_info[x->op].unit == op_info[y->op].unit && x->a == y->a && x->imm == y->imm;
}

/* True if each round stores to the word what it made of the loaded value. */
static bool stores_back(Loop *loop) {
  const Inst *load = &loop->kernel->insts[loop->load];
  for (guint i = 0; i < loop->blocks->len; i++) {
    uint32_t block = loop_block(loop, i);
    Facts facts = loop->entry[block];
    for (uint32_t pc = block_at(loop, block)->first; pc <= block_at(loop, block)->last; pc++) {
      const Inst *inst = &loop->kernel->insts[pc];
      uint64_t data = bits_of(inst_reads(inst)) & ~bits_of(inst_reads(load));
      if ((op_info[inst->op].flags & OPF_STORE) && same_address(inst, load) && (data & facts.copied) &&
          choice_of(loop, block, inst, &facts) == ALWAYS)
        return true;
      follow(loop, block, pc, &facts);
    }
  }
  return false;
}

/* Registers that are written under one choice only. */
static uint64_t find_standing(Loop *loop) {
  uint64_t written[IF_TRUE | IF_FALSE | ALWAYS] = {0};
  for (guint i = 0; i < loop->blocks->len; i++) {
    uint32_t block = loop_block(loop, i);
    Facts facts = loop->entry[block];
    for (uint32_t pc = block_at(loop, block)->first; pc <= block_at(loop, block)->last; pc++) {
      const Inst *inst = &loop->kernel->insts[pc];
      uint8_t choice = choice_of(loop, block, inst, &facts);
      for (uint8_t kind = ALWAYS; kind <= IF_FALSE && !never_runs(inst); kind <<= 1)
        written[kind] |= choice & kind ? bits_of(inst_writes(inst, loop->kernel->nregs)) : 0;
      follow(loop, block, pc, &facts);
    }
  }
  return (written[IF_TRUE] ^ written[IF_FALSE]) & ~written[ALWAYS];
}

/* True if the branch at the end of the block depends on what the block itself loads. */
static bool decides_by_itself(Loop *loop, uint32_t block) {
  const CfgBlock *place = block_at(loop, block);
  const Inst *branch = &loop->kernel->insts[place->last];
  uint32_t followed = loop->load;
  bool decides = false;
  for (uint32_t load = place->first; load < place->last && !decides; load++) {
    if (!is_load(&loop->kernel->insts[load], false))
      continue;
    Facts facts = {0};
    loop->load = load;
    for (uint32_t pc = load; pc < place->last; pc++)
      follow(loop, block, pc, &facts);
    decides = inst_is_guarded(branch) && (facts.told_preds >> branch->guard & 1);
  }
  loop->load = followed;
  return decides;
}

/* Between the load, which has been followed, and the end of the round nothing leads out of the loop but its value,
 * and what is loaded behind it: who leaves knew nothing more when it was loaded. */
static bool leads_out_alone(Loop *loop) {
  g_autoptr(GArray) behind = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autofree bool *seen = g_new0(bool, loop->cfg->blocks->len);
  uint32_t home = loop->cfg->block_of[loop->load];
  g_array_append_val(behind, home);
  for (guint next = 0; next < behind->len; next++) {
    uint32_t block = g_array_index(behind, uint32_t, next);
    Facts end = at_end(loop, block);
    bool more;
    if (leads_out(loop, block) && !is_way_out(loop, block, &end, &more) &&
        (block == home || !decides_by_itself(loop, block)))
      return false;
    const GArray *row = block_at(loop, block)->successors;
    for (guint i = 0; i < row->len; i++) {
      uint32_t to = g_array_index(row, uint32_t, i);
      if (loop->inside[to] && to != loop->head && !seen[to])
        g_array_append_val(behind, to);
      seen[to] = true;
    }
  }
  return true;
}

/* True if the loaded value decides a branch out of the loop. Choices that it makes inside let it reach more. */
static bool ends_loop(Loop *loop, uint32_t load) {
  bool out = false, more = true;
  forget_load(loop);
  loop->load = load;
  while (more && !out && loop->steps > 0) {
    more = false;
    spread(loop);
    for (guint i = 0; i < loop->blocks->len; i++) {
      Facts end = at_end(loop, loop_block(loop, i));
      out |= is_way_out(loop, loop_block(loop, i), &end, &more);
    }
    uint64_t stands = find_standing(loop);
    more |= stands != loop->stands;
    loop->stands = stands;
  }
  return out && !stores_back(loop) && (!loop->quiet || leads_out_alone(loop));
}

static bool comes_to(const Loop *loop, uint32_t from, uint32_t to) {
  g_autofree bool *seen = g_new0(bool, loop->cfg->blocks->len);
  g_autoptr(GArray) behind = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_array_append_val(behind, from);
  for (guint next = 0; next < behind->len; next++) {
    uint32_t block = g_array_index(behind, uint32_t, next);
    if (block == to)
      return true;
    const GArray *row = block_at(loop, block)->successors;
    for (guint i = 0; i < row->len; i++) {
      uint32_t successor = g_array_index(row, uint32_t, i);
      if (!seen[successor])
        g_array_append_val(behind, successor);
      seen[successor] = true;
    }
  }
  return false;
}

/* A way out of the loop at the end of the block, from which nobody comes back to `home`. */
static bool leads_away(const Loop *loop, uint32_t block, uint32_t home) {
  const GArray *row = block_at(loop, block)->successors;
  for (guint i = 0; i < row->len; i++) {
    uint32_t next = g_array_index(row, uint32_t, i);
    if (!loop->inside[next] && !comes_to(loop, next, home))
      return true;
  }
  return block_at(loop, block)->exits;
}

/* True if the value itself, and not what it chooses, decides a branch out of the loop for good. */
static bool ends_by_value(Loop *loop, uint32_t load) {
  bool out = false;
  forget_load(loop);
  loop->load = load;
  spread(loop);
  for (guint i = 0; i < loop->blocks->len && !out; i++) {
    uint32_t block = loop_block(loop, i);
    const Inst *branch = &loop->kernel->insts[block_at(loop, block)->last];
    Facts end = at_end(loop, block);
    out = op_info[branch->op].flags & OPF_BRANCH && inst_is_guarded(branch) &&
          (end.told_preds >> branch->guard & 1) && leads_away(loop, block, loop->cfg->block_of[load]);
  }
  return out;
}

/* What a load before it in its block found ends the loop for good, and what it finds itself doesn't: `if (head <
 * tail) ...; else if (closed) break;`. */
static bool ends_by_earlier(Loop *loop, uint32_t load) {
  if (ends_by_value(loop, load))
    return false;
  for (uint32_t pc = block_at(loop, loop->cfg->block_of[load])->first; pc < load; pc++)
    if (is_load(&loop->kernel->insts[pc], false) && ends_by_value(loop, pc))
      return true;
  return false;
}

static void note_ended(Loop *loop, uint32_t load) {
  if (!loop->ended)
    return;
  bool **blocks = (bool **)&g_ptr_array_index(loop->ended, load);
  if (!*blocks)
    *blocks = g_new0(bool, loop->cfg->blocks->len);
  for (guint i = 0; i < loop->blocks->len; i++)
    (*blocks)[loop_block(loop, i)] = true;
}

/* ---- the kernel ---- */

/* The load's copy in a block: true if it is there, or the search ends there. */
static bool copy_in(const Loop *loop, const CfgBlock *block, const Inst *inst, bool *polls) {
  uint64_t address = bits_of(inst_reads(inst));
  for (uint32_t pc = block->last + 1; pc-- > block->first;) {
    const Inst *other = &loop->kernel->insts[pc];
    if (bits_of(inst_writes(other, loop->kernel->nregs)) & address)
      return true;
    if (other->op == inst->op && other->width == inst->width && same_address(other, inst)) {
      polls[pc] = true;
      return true;
    }
  }
  return false;
}

/* The copies of a polling load in blocks that lead into its loop, and in those that lead to nothing but these. */
static void add_copies(const Loop *loop, uint32_t load, bool *polls) {
  enum { BLOCKS_BACK = 4 };
  const GArray *ways_in = block_at(loop, loop->head)->predecessors;
  for (guint i = 0; i < ways_in->len; i++) {
    uint32_t at = g_array_index(ways_in, uint32_t, i);
    for (unsigned back = 0; back < BLOCKS_BACK; back++) {
      const CfgBlock *before = block_at(loop, at);
      if (copy_in(loop, before, &loop->kernel->insts[load], polls) || before->predecessors->len != 1)
        break;
      at = g_array_index(before->predecessors, uint32_t, 0);
    }
  }
}

static void look_at_loop(Loop *loop, bool *polls) {
  start(loop);
  g_autoptr(GArray) loads = find_candidates(loop, polls);
  for (guint i = 0; i < loads->len && loop->steps > 0; i++) {
    uint32_t load = g_array_index(loads, uint32_t, i);
    if (!ends_loop(loop, load))
      continue;
    polls[load] = true;
    note_ended(loop, load);
    add_copies(loop, load, polls);
  }
}

static bool any_load(const Kernel *kernel, bool tries) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (is_load(&kernel->insts[pc], tries))
      return true;
  return false;
}

/* Every cycle holds an edge that doesn't lead forwards in the text. */
/* Takes back those that wait for nothing: an old value ends all loops that they end together, if an earlier load says
 * so. */
static void take_back(Loop *loop, bool *polls) {
  for (uint32_t load = 0; load < loop->kernel->ninsts && loop->steps > 0; load++) {
    const bool *blocks = g_ptr_array_index(loop->ended, load);
    for (uint32_t block = 0; blocks && block < loop->cfg->blocks->len; block++) {
      loop->inside[block] = blocks[block];
      if (blocks[block])
        g_array_append_val(loop->blocks, block);
    }
    loop->head = loop->cfg->block_of[load];
    if (blocks && polls[load]) {
      start(loop);
      polls[load] = !ends_by_earlier(loop, load);
    }
    leave_blocks(loop);
  }
}

static bool *find_polls(const Kernel *kernel, bool tries, bool quiet, bool waits) {
  if (!any_load(kernel, tries))
    return NULL;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  bool *polls = g_new0(bool, kernel->ninsts), found = false;
  Loop loop = {.kernel = kernel,
               .cfg = cfg,
               .blocks = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
               .inside = g_new0(uint8_t, cfg->blocks->len),
               .chosen = g_new0(uint8_t, cfg->blocks->len),
               .entry = g_new0(Facts, cfg->blocks->len),
               .steps = POLLING_STEPS_MAX,
               .tries = tries,
               .quiet = quiet,
               .ended = waits ? g_ptr_array_new_with_free_func(g_free) : NULL};
  if (waits)
    g_ptr_array_set_size(loop.ended, (gint)kernel->ninsts);
  for (uint32_t latch = 0; latch < cfg->blocks->len && loop.steps > 0; latch++) {
    const GArray *row = block_at(&loop, latch)->successors;
    for (guint i = 0; i < row->len && loop.steps > 0; i++) {
      uint32_t head = g_array_index(row, uint32_t, i);
      if (head <= latch && find_blocks(&loop, head, latch))
        look_at_loop(&loop, polls);
      leave_blocks(&loop);
    }
  }
  if (waits)
    take_back(&loop, polls);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    polls[pc] |= checks_phase(&kernel->insts[pc]);
    found |= polls[pc];
  }
  g_array_free(loop.blocks, TRUE);
  g_free(loop.inside);
  g_free(loop.chosen);
  g_free(loop.entry);
  g_clear_pointer(&loop.ended, g_ptr_array_unref);
  if (!found)
    g_clear_pointer(&polls, g_free);
  return polls;
}

bool *polling_loads(const Kernel *kernel) { return find_polls(kernel, false, false, false); }
bool *polling_tries(const Kernel *kernel) { return find_polls(kernel, true, false, false); }

bool *polling_waits(const Kernel *kernel) {
  bool *loads = find_polls(kernel, false, false, true), *quiet = find_polls(kernel, false, true, true);
  for (uint32_t pc = 0; loads && quiet && pc < kernel->ninsts; pc++)
    loads[pc] |= quiet[pc];
  if (loads)
    g_free(quiet);
  return loads ? loads : quiet;
}
