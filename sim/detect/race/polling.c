#include "sim/detect/race/polling.h"

#include "sim/core/queue_unit.h"
#include "sim/detect/race/values.h"

/* Machine code's look at the phase of an mbarrier. */
static bool checks_phase(const Inst *inst) { return inst->op == OP_LDS && inst->sem == SEM_RELAXED; }

static bool is_load(const Inst *inst, bool tries) {
  bool is_try = inst->op == OP_ATOM || inst->op == OP_ATOMS || inst->op == OP_LDSLK || queue_unit_has(inst);
  return (inst->op == OP_LDS || inst->op == OP_LD || (tries && is_try)) && !poll_never_runs(inst);
}

/* The loads of the loop, not known as polls yet unless all loops that they end are wanted, whose address stands
 * still. */
static GArray *find_candidates(PollLoop *loop, const bool *known) {
  GArray *list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (guint i = 0; i < loop->blocks->len; i++) {
    uint32_t block = poll_block_number(loop, i);
    PollFacts facts = loop->entry[block];
    for (uint32_t pc = poll_block(loop, block)->first; pc <= poll_block(loop, block)->last; pc++) {
      const Inst *inst = &loop->kernel->insts[pc];
      if (is_load(inst, loop->tries) && (loop->ended || !known[pc]) && !(poll_bits(inst_reads(inst)) & facts.carried))
        g_array_append_val(list, pc);
      poll_follow(loop, block, pc, &facts);
    }
  }
  return list;
}

/* ---- does the load end the loop ---- */

/* Blocks from `block` on, up to where the branch's paths meet, the loop's head or its end, run by that choice. */
static bool choose(PollLoop *loop, uint32_t block, int32_t meet, uint8_t choice) {
  if (!loop->inside[block] || block == loop->head || (int32_t)block == meet || (loop->chosen[block] & choice))
    return false;
  loop->chosen[block] |= choice;
  const GArray *row = poll_block(loop, block)->successors;
  for (guint i = 0; i < row->len; i++)
    choose(loop, g_array_index(row, uint32_t, i), meet, choice);
  return true;
}

/* Looks at the branch that ends a block. Returns true if the load decides it and it leaves the loop. */
static bool is_way_out(PollLoop *loop, uint32_t block, const PollFacts *end, bool *more) {
  const CfgBlock *place = poll_block(loop, block);
  const Inst *inst = &loop->kernel->insts[place->last];
  if (!(op_info[inst->op].flags & OPF_BRANCH) || !inst_is_guarded(inst) || !(end->told_preds >> inst->guard & 1))
    return false;
  if (poll_leads_out(loop, block))
    return true;
  uint8_t taken = inst->flags & INST_GUARD_NOT ? POLL_IF_FALSE : POLL_IF_TRUE,
          not_taken = taken ^ POLL_IF_TRUE ^ POLL_IF_FALSE;
  for (guint i = 0; i < place->successors->len && inst->op == OP_BRA; i++) {
    uint32_t next = g_array_index(place->successors, uint32_t, i);
    bool is_taken = inst->target == (int32_t)poll_block(loop, next)->first;
    *more |= choose(loop, next, place->ipdom, is_taken ? taken : not_taken);
  }
  return false;
}

static bool same_address(const Inst *x, const Inst *y) {
  return op_info[x->op].unit == op_info[y->op].unit && x->a == y->a && x->imm == y->imm;
}

/* A compare-and-swap stores in the round that ends the loop. */
static bool stores(const Inst *inst) {
  bool swaps = (inst->op == OP_ATOM || inst->op == OP_ATOMS) && inst->mode == ATOM_CAS;
  return (op_info[inst->op].flags & OPF_STORE) && !swaps;
}

/* True if each round stores to the word what it made of the loaded value. */
static bool stores_back(PollLoop *loop) {
  const Inst *load = &loop->kernel->insts[loop->load];
  for (guint i = 0; i < loop->blocks->len; i++) {
    uint32_t block = poll_block_number(loop, i);
    PollFacts facts = loop->entry[block];
    for (uint32_t pc = poll_block(loop, block)->first; pc <= poll_block(loop, block)->last; pc++) {
      const Inst *inst = &loop->kernel->insts[pc];
      uint64_t data = poll_bits(inst_reads(inst)) & ~poll_bits(inst_reads(load));
      if (stores(inst) && same_address(inst, load) && (data & facts.copied) &&
          poll_choice(loop, block, inst, &facts) == POLL_ALWAYS)
        return true;
      poll_follow(loop, block, pc, &facts);
    }
  }
  return false;
}

/* Which registers are written under which choice (an index), what is compared with the load's value though rounds may
 * change it, and what decides a branch out of the loop. */
typedef struct Roles {
  uint64_t written[POLL_ALWAYS | POLL_IF_TRUE | POLL_IF_FALSE];
  uint64_t compared, decides;
} Roles;

static void add_roles(const PollLoop *loop, uint32_t block, uint32_t pc, const PollFacts *facts, Roles *roles) {
  const Inst *inst = &loop->kernel->insts[pc], *branch = &loop->kernel->insts[poll_block(loop, block)->last];
  uint64_t reads = loop->insts[pc].reads;
  uint8_t choice = poll_choice(loop, block, inst, facts);
  for (uint8_t kind = POLL_ALWAYS; kind <= POLL_IF_FALSE; kind <<= 1)
    roles->written[kind] |= choice & kind ? loop->insts[pc].writes : 0;
  if (reads & facts->told)
    roles->compared |= reads & facts->carried & ~facts->copied;
  if (poll_leads_out(loop, block) && inst_is_guarded(branch) && (inst_pred_writes(inst) >> branch->guard & 1))
    roles->decides |= reads;
}

static Roles find_roles(PollLoop *loop) {
  Roles roles = {0};
  for (guint i = 0; i < loop->blocks->len; i++) {
    uint32_t block = poll_block_number(loop, i);
    PollFacts facts = loop->entry[block];
    for (uint32_t pc = poll_block(loop, block)->first; pc <= poll_block(loop, block)->last; pc++) {
      if (!poll_never_runs(&loop->kernel->insts[pc]))
        add_roles(loop, block, pc, &facts, &roles);
      poll_follow(loop, block, pc, &facts);
    }
  }
  return roles;
}

/* Registers that are written under that choice only. */
static uint64_t written_only(const Roles *roles, uint8_t choice) {
  uint8_t other = choice ^ POLL_IF_TRUE ^ POLL_IF_FALSE;
  return roles->written[choice] & ~roles->written[other] & ~roles->written[POLL_ALWAYS];
}

/* The loop goes on with what it has changed, and ends with what it hasn't: `if (*n <= i) done = true; else i++`. */
static bool counts_on(const Roles *roles, uint8_t choice) {
  return (written_only(roles, choice) & roles->compared) && !(written_only(roles, choice) & roles->decides) &&
         (written_only(roles, choice ^ POLL_IF_TRUE ^ POLL_IF_FALSE) & roles->decides);
}

/* Blocks that the load leads to in its round, its own first. */
static GArray *find_behind(const PollLoop *loop) {
  GArray *behind = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autofree bool *seen = g_new0(bool, loop->cfg->blocks->len);
  uint32_t home = loop->cfg->block_of[loop->load];
  seen[home] = true;
  g_array_append_val(behind, home);
  for (guint next = 0; next < behind->len; next++) {
    const GArray *row = poll_block(loop, g_array_index(behind, uint32_t, next))->successors;
    for (guint i = 0; i < row->len; i++) {
      uint32_t to = g_array_index(row, uint32_t, i);
      if (loop->inside[to] && to != loop->head && !seen[to])
        g_array_append_val(behind, to);
      seen[to] = true;
    }
  }
  return behind;
}

/* Takes from the list the blocks whose last branch depends on what `load` finds. */
static void drop_decided(PollLoop *loop, uint32_t load, GArray *blocks) {
  poll_forget_load(loop);
  loop->load = load;
  poll_spread(loop);
  for (guint i = blocks->len; i-- > 0;) {
    uint32_t block = g_array_index(blocks, uint32_t, i);
    const Inst *branch = &loop->kernel->insts[poll_block(loop, block)->last];
    PollFacts end = poll_at_end(loop, block);
    if (inst_is_guarded(branch) && (end.told_preds >> branch->guard & 1))
      g_array_remove_index(blocks, i);
  }
}

/* Between the load, which has been followed, and the end of the round nothing leads out of the loop but its value,
 * and what is loaded behind it, also by way of registers and shuffles (a leader that looks for all lanes): who leaves
 * knew nothing more when it was loaded. */
static bool leads_out_alone(PollLoop *loop) {
  g_autoptr(GArray) behind = find_behind(loop), ways = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  uint32_t followed = loop->load, home = loop->cfg->block_of[followed];
  for (guint i = 0; i < behind->len; i++) {
    uint32_t block = g_array_index(behind, uint32_t, i);
    PollFacts end = poll_at_end(loop, block);
    bool more;
    if (!poll_leads_out(loop, block) || is_way_out(loop, block, &end, &more))
      continue;
    if (block == home)
      return false;
    g_array_append_val(ways, block);
  }
  for (guint i = 0; i < behind->len && ways->len && loop->steps > 0; i++) {
    const CfgBlock *block = poll_block(loop, g_array_index(behind, uint32_t, i));
    for (uint32_t pc = MAX(block->first, i ? 0 : followed + 1); pc <= block->last && ways->len; pc++)
      if (is_load(&loop->kernel->insts[pc], false) || value_is_only_read(loop->kernel, &loop->kernel->insts[pc]))
        drop_decided(loop, pc, ways);
  }
  loop->load = followed;
  return !ways->len;
}

/* Follows the load until it reaches nothing more. Choices that it makes inside let it reach more. Returns true if it
 * decides a branch out of the loop. */
static bool reaches_out(PollLoop *loop) {
  bool out = false, more = true;
  while (more && loop->steps > 0) {
    more = false;
    poll_spread(loop);
    for (guint i = 0; i < loop->blocks->len; i++) {
      PollFacts end = poll_at_end(loop, poll_block_number(loop, i));
      out |= is_way_out(loop, poll_block_number(loop, i), &end, &more);
    }
  }
  return out;
}

/* True if the loaded value decides a branch out of the loop. What it is compared with may change from round to round
 * (`if (look(served) == round) { ...; round++; }`) as long as that happens under one choice of the load only. So all
 * registers are taken to stand, and those given up that don't. */
static bool ends_loop(PollLoop *loop, uint32_t load) {
  uint64_t stands = UINT64_MAX;
  Roles roles;
  bool out;
  do {
    poll_forget_load(loop);
    loop->load = load;
    loop->stands = stands;
    out = reaches_out(loop);
    roles = find_roles(loop);
    stands &= written_only(&roles, POLL_IF_TRUE) | written_only(&roles, POLL_IF_FALSE);
  } while (out && stands != loop->stands && loop->steps > 0);
  out &= !counts_on(&roles, POLL_IF_TRUE) && !counts_on(&roles, POLL_IF_FALSE);
  return out && !stores_back(loop) && (!loop->quiet || leads_out_alone(loop));
}

/* A way out of the loop at the end of the block, from which nobody comes back to `home`. */
static bool leads_away(const PollLoop *loop, uint32_t block, uint32_t home) {
  const GArray *row = poll_block(loop, block)->successors;
  for (guint i = 0; i < row->len; i++) {
    uint32_t next = g_array_index(row, uint32_t, i);
    if (!loop->inside[next] && !poll_comes_to(loop, next, home))
      return true;
  }
  return poll_block(loop, block)->exits;
}

/* True if the value itself, and not what it chooses, decides a branch out of the loop for good. */
static bool ends_by_value(PollLoop *loop, uint32_t load) {
  bool out = false;
  poll_forget_load(loop);
  loop->load = load;
  poll_spread(loop);
  for (guint i = 0; i < loop->blocks->len && !out; i++) {
    uint32_t block = poll_block_number(loop, i);
    const Inst *branch = &loop->kernel->insts[poll_block(loop, block)->last];
    PollFacts end = poll_at_end(loop, block);
    out = op_info[branch->op].flags & OPF_BRANCH && inst_is_guarded(branch) &&
          (end.told_preds >> branch->guard & 1) && leads_away(loop, block, loop->cfg->block_of[load]);
  }
  return out;
}

/* What a load before it in its block found ends the loop for good, and what it finds itself doesn't: `if (head <
 * tail) ...; else if (closed) break;`. */
static bool ends_by_earlier(PollLoop *loop, uint32_t load) {
  if (ends_by_value(loop, load))
    return false;
  for (uint32_t pc = poll_block(loop, loop->cfg->block_of[load])->first; pc < load; pc++)
    if (is_load(&loop->kernel->insts[pc], false) && ends_by_value(loop, pc))
      return true;
  return false;
}

static void note_ended(PollLoop *loop, uint32_t load) {
  if (!loop->ended)
    return;
  bool **blocks = (bool **)&g_ptr_array_index(loop->ended, load);
  if (!*blocks)
    *blocks = g_new0(bool, loop->cfg->blocks->len);
  for (guint i = 0; i < loop->blocks->len; i++)
    (*blocks)[poll_block_number(loop, i)] = true;
}

/* ---- the kernel ---- */

/* The load's copy in a block: true if it is there, or the search ends there. */
static bool copy_in(const PollLoop *loop, const CfgBlock *block, const Inst *inst, bool *polls) {
  uint64_t address = poll_bits(inst_reads(inst));
  for (uint32_t pc = block->last + 1; pc-- > block->first;) {
    const Inst *other = &loop->kernel->insts[pc];
    if (poll_bits(inst_writes(other, loop->kernel->nregs)) & address)
      return true;
    if (other->op == inst->op && other->width == inst->width && same_address(other, inst)) {
      polls[pc] = true;
      return true;
    }
  }
  return false;
}

/* The copies of a polling load in blocks that lead into its loop, and in those that lead to nothing but these. */
static void add_copies(const PollLoop *loop, uint32_t load, bool *polls) {
  enum { BLOCKS_BACK = 4 };
  const GArray *ways_in = poll_block(loop, loop->head)->predecessors;
  for (guint i = 0; i < ways_in->len; i++) {
    uint32_t at = g_array_index(ways_in, uint32_t, i);
    for (unsigned back = 0; back < BLOCKS_BACK; back++) {
      const CfgBlock *before = poll_block(loop, at);
      if (copy_in(loop, before, &loop->kernel->insts[load], polls) || before->predecessors->len != 1)
        break;
      at = g_array_index(before->predecessors, uint32_t, 0);
    }
  }
}

static void look_at_loop(PollLoop *loop, bool *polls) {
  poll_start(loop);
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

/* Takes back those that wait for nothing: an old value ends all loops that they end together, if an earlier load says
 * so. */
static void take_back(PollLoop *loop, bool *polls) {
  for (uint32_t load = 0; load < loop->kernel->ninsts && loop->steps > 0; load++) {
    const bool *blocks = g_ptr_array_index(loop->ended, load);
    for (uint32_t block = 0; blocks && block < loop->cfg->blocks->len; block++) {
      loop->inside[block] = blocks[block];
      if (blocks[block])
        g_array_append_val(loop->blocks, block);
    }
    loop->head = loop->cfg->block_of[load];
    if (blocks && polls[load]) {
      poll_start(loop);
      polls[load] = !ends_by_earlier(loop, load);
    }
    poll_leave_blocks(loop);
  }
}

/* Every cycle holds an edge that doesn't lead forwards in the text. */
static bool *find_polls(const Kernel *kernel, bool tries, bool quiet, bool waits) {
  if (!any_load(kernel, tries))
    return NULL;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  g_autofree PollInst *insts = poll_read_kernel(kernel);
  bool *polls = g_new0(bool, kernel->ninsts), found = false;
  PollLoop loop = {.kernel = kernel,
                   .cfg = cfg,
                   .insts = insts,
                   .blocks = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                   .inside = g_new0(uint8_t, cfg->blocks->len),
                   .chosen = g_new0(uint8_t, cfg->blocks->len),
                   .entry = g_new0(PollFacts, cfg->blocks->len),
                   .steps = POLLING_STEPS_MAX,
                   .tries = tries,
                   .quiet = quiet,
                   .ended = waits ? g_ptr_array_new_with_free_func(g_free) : NULL};
  if (waits)
    g_ptr_array_set_size(loop.ended, (gint)kernel->ninsts);
  for (uint32_t latch = 0; latch < cfg->blocks->len && loop.steps > 0; latch++) {
    const GArray *row = poll_block(&loop, latch)->successors;
    for (guint i = 0; i < row->len && loop.steps > 0; i++) {
      uint32_t head = g_array_index(row, uint32_t, i);
      if (head <= latch && poll_find_blocks(&loop, head, latch))
        look_at_loop(&loop, polls);
      poll_leave_blocks(&loop);
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
