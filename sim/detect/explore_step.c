#include "sim/detect/explore_step.h"

#include "sim/base/bits.h"
#include "sim/core/simt_stack.h"

static const Inst *inst_at(const LaneWalk *walk, uint32_t pc) { return &walk->view->launch->kernel->insts[pc]; }

static bool assumes_all_open(const LaneWalk *walk) { return walk->assumption && walk->assumption->all_open; }
static bool read_only(const LaneWalk *walk) { return walk->assumption && walk->assumption->read_only; }

/* Keeps the first touch of a key. */
static void note(GHashTable *touches, uint64_t key, uint32_t pc, uint32_t physical) {
  if (!touches || g_hash_table_contains(touches, &key))
    return;
  Touch *touch = g_new(Touch, 1);
  *touch = (Touch){.key = key, .pc = pc, .physical = physical};
  g_hash_table_insert(touches, &touch->key, touch);
}

void footprint_init(Footprint *footprint) {
  GHashTable **table[] = {&footprint->reads, &footprint->lock_reads, &footprint->writes, &footprint->frees};
  for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
    *table[i] = g_hash_table_new_full(bits_hash_key, g_int64_equal, NULL, g_free);
}

void footprint_clear(Footprint *footprint) {
  GHashTable *table[] = {footprint->reads, footprint->lock_reads, footprint->writes, footprint->frees};
  for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
    g_hash_table_destroy(table[i]);
}

/* A fault ends the run, whatever the others do. */
static void fault(LaneWalk *walk) { walk->reach.exits = walk->reach.faults = true; }

/* ---- paths: pushes, joins, arrivals ---- */

/* The topmost entry of the warp's stack below `level` that isn't a pending path and holds the lane, or -1. */
static int entry_below(const LaneWalk *walk, uint32_t level) {
  const Warp *warp = walk->view->warp;
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

void explore_arrive(LaneWalk *walk, LaneState state, uint32_t index) {
  index = lowest_alike(walk->view->warp, index);
  walk->reach.lowest = MIN(walk->reach.lowest, index);
  if (!assumes_all_open(walk) && !walk->view->entry_open[index])
    return;
  state.pc = walk->view->warp->stack[index].pc;
  state.level = index;
  explore_enter(walk, state);
}

void explore_enter(LaneWalk *walk, LaneState state) {
  while (state.depth > 0 && state.stack[state.depth - 1].kind == STACK_SSY &&
         state.stack[state.depth - 1].pc == state.pc)
    state.depth--; /* the path ends here, the lane goes on from here once the others came */
  if (state.depth == 0) {
    int below = entry_below(walk, state.level);
    const StackEntry *entry = below >= 0 ? &walk->view->warp->stack[below] : NULL;
    if (entry && joins(entry->kind) && entry->pc == state.pc) {
      explore_arrive(walk, state, (uint32_t)below);
      return;
    }
  }
  state_set_add(walk->view->states, &state);
}

static void push_frame(LaneWalk *walk, LaneState *state, StackKind kind, uint32_t pc) {
  if (state->depth == LANE_STACK_MAX) {
    walk->explorer->gave_up = true;
    return;
  }
  state->stack[state->depth++] = (LaneFrame){.kind = kind, .pc = pc};
}

/* `.S`: the lane waits at its innermost convergence point. */
static void pop_to_join(LaneWalk *walk, LaneState state) {
  if (state.depth > 0) {
    if (state.stack[state.depth - 1].kind != STACK_SSY) {
      fault(walk);
      return;
    }
    state.pc = state.stack[--state.depth].pc;
    explore_enter(walk, state);
    return;
  }
  int below = entry_below(walk, state.level);
  if (below >= 0 && walk->view->warp->stack[below].kind == STACK_SSY)
    explore_arrive(walk, state, (uint32_t)below);
  else
    fault(walk);
}

/* BRK, CONT, RET: the lane leaves to its innermost frame of that kind. */
static void leave_to(LaneWalk *walk, LaneState state, StackKind kind) {
  while (state.depth > 0) {
    LaneFrame frame = state.stack[--state.depth];
    if (frame.kind == kind) {
      state.pc = frame.pc;
      explore_enter(walk, state);
      return;
    }
  }
  for (int i = (int)state.level - 1; i >= 0; i--) {
    const StackEntry *entry = &walk->view->warp->stack[i];
    if (entry->kind == kind && entry->mask >> walk->lane & 1) {
      explore_arrive(walk, state, (uint32_t)i);
      return;
    }
  }
  fault(walk);
}

/* The lane goes on behind instruction `inst`. */
static void go_on(LaneWalk *walk, LaneState state, const Inst *inst, uint32_t next) {
  state.pc = next;
  if (inst->flags & INST_POP)
    pop_to_join(walk, state);
  else
    explore_enter(walk, state);
}

/* ---- values ---- */

static bool slot_unknown(const LaneState *state, int16_t slot) {
  return slot >= 0 && regset_has(&state->unknown, (unsigned)slot);
}

static uint32_t slot_value(const LaneWalk *walk, const LaneState *state, int16_t slot) {
  return slot >= 0 ? state->regs[slot] : walk->view->warp->consts[WARP_LANES * (uint32_t)~slot];
}

static void set_register(const LaneWalk *walk, LaneState *state, int reg, bool unknown, uint32_t value) {
  if ((uint32_t)reg >= walk->view->launch->kernel->nregs)
    return; /* the sink */
  if (unknown)
    regset_put(&state->unknown, (unsigned)reg);
  else
    regset_drop(&state->unknown, (unsigned)reg);
  state->regs[reg] = unknown ? 0 : value;
}

/* Predicate `index` among those an instruction reads, which is known by now. */
static bool source_predicate(const LaneState *state, const Inst *inst, unsigned index) {
  unsigned predicate = inst->psrc[index];
  bool value = predicate == PRED_TRUE || (state->preds >> predicate & 1);
  return value != (inst->psrc_not >> index & 1);
}

static void set_predicate(LaneState *state, unsigned predicate, bool value) {
  if (predicate == PRED_SINK || predicate == PRED_TRUE)
    return;
  state->preds_unknown &= ~(1u << predicate);
  state->preds = (state->preds & ~(1u << predicate)) | (uint32_t)value << predicate;
}

static void forget_writes(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  RegList writes = inst_writes(inst, walk->view->launch->kernel->nregs);
  for (unsigned i = 0; i < writes.count; i++)
    set_register(walk, state, writes.reg[i], true, 0);
  uint32_t predicates = inst_pred_writes(inst);
  state->preds_unknown |= predicates;
  state->preds &= ~predicates;
}

/* Runs the simulator's own executor on one lane. */
static void execute(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  Explorer *explorer = walk->explorer;
  unsigned lane = walk->lane;
  RegList reads = inst_reads(inst), writes = inst_writes(inst, walk->view->launch->kernel->nregs);
  uint32_t *rows = explorer->scratch_rows;
  for (unsigned i = 0; i < reads.count; i++)
    rows[reads.reg[i] * WARP_LANES + (int)lane] = state->regs[reads.reg[i]];
  for (unsigned predicate = 0; predicate < PRED_ROWS; predicate++)
    explorer->scratch_preds[predicate] = state->preds >> predicate & 1 ? ALL_LANES : 0;
  explorer->scratch_preds[PRED_TRUE] = ALL_LANES;
  Issue issue = {.inst = inst,
                 .regs = rows,
                 .consts = walk->view->warp->consts,
                 .pred = explorer->scratch_preds,
                 .mask = 1u << lane,
                 .gpu = explorer->gpu,
                 .sm = walk->view->sm,
                 .warp = walk->view->warp};
  executors[inst->op](&issue);
  for (unsigned i = 0; i < writes.count; i++)
    set_register(walk, state, writes.reg[i], false, rows[writes.reg[i] * WARP_LANES + (int)lane]);
  for (uint32_t rest = inst_pred_writes(inst); rest; rest &= rest - 1) {
    unsigned predicate = (unsigned)__builtin_ctz(rest);
    set_predicate(state, predicate, explorer->scratch_preds[predicate] >> lane & 1);
  }
}

static bool reads_unknown(const LaneState *state, const Inst *inst) {
  RegList reads = inst_reads(inst);
  for (unsigned i = 0; i < reads.count; i++)
    if (slot_unknown(state, reads.reg[i]))
      return true;
  return false;
}

static void step_alu(LaneWalk *walk, LaneState state, const Inst *inst) {
  if (inst->op == OP_SEL) {
    /* Its predicate is known here; only the chosen operand matters. */
    int16_t slot = source_predicate(&state, inst, 0) ? inst->a : inst->b;
    set_register(walk, &state, inst->dst, slot_unknown(&state, slot), slot_value(walk, &state, slot));
  } else if (reads_unknown(&state, inst)) {
    forget_writes(walk, &state, inst);
  } else {
    execute(walk, &state, inst);
  }
  go_on(walk, state, inst, state.pc + 1);
}

static void step_sysreg(LaneWalk *walk, LaneState state, const Inst *inst) {
  bool block_index = inst->mode >= SR_CTAID_X && inst->mode <= SR_CTAID_Z;
  if (inst->mode == SR_CLOCKLO || inst->mode == SR_CLOCKHI || (block_index && walk->view->any_block))
    forget_writes(walk, &state, inst);
  else
    execute(walk, &state, inst);
  go_on(walk, state, inst, state.pc + 1);
}

/* ---- votes and barriers ---- */

static void step_vote(LaneWalk *walk, LaneState state, const Inst *inst) {
  VoteSet *votes = abstract_vote(&walk->explorer->memory, walk->view->warp, walk->view->sm, state.pc);
  bool mine = source_predicate(&state, inst, 0);
  uint32_t own = 1u << walk->lane, others = ~own;
  uint32_t *said = mine ? &votes->may_true : &votes->may_false;
  if (!(*said & own) && !read_only(walk)) {
    *said |= own;
    walk->explorer->memory.version++;
  }
  bool others_true = votes->may_true & others, others_false = votes->may_false & others;
  bool may_true, may_false;
  switch ((VoteMode)inst->mode) {
  case VOTE_ANY:
    may_true = mine || others_true;
    may_false = !mine;
    break;
  case VOTE_ALL:
    may_true = mine;
    may_false = !mine || others_false;
    break;
  default:
    may_true = true;
    may_false = mine ? others_false : others_true;
    break;
  }
  for (int outcome = 0; outcome < 2; outcome++) {
    if (!(outcome ? may_true : may_false))
      continue;
    LaneState after = state;
    forget_writes(walk, &after, inst); /* a ballot depends on all lanes */
    set_predicate(&after, inst->pdst, outcome);
    go_on(walk, after, inst, state.pc + 1);
  }
}

/* Notes that a lane may arrive. `count` is 0 without a thread count. An arrival with another count than those that are
 * there already is a fault. */
static void arrive_at_barrier(LaneWalk *walk, uint32_t id, uint32_t count, bool signal) {
  WarpView *view = walk->view;
  const Barrier *barrier = &view->block->barrier[id];
  uint32_t id_bit = 1u << id, lane_bit = signal ? 0 : 1u << walk->lane, fewest = view->fewest[id];
  fewest = count && (!fewest || count < fewest) ? count : fewest;
  bool news = (signal && !(view->signals & id_bit)) || (lane_bit & ~view->arrives[id]) ||
              fewest != view->fewest[id] || (!count && !(view->uncounted & id_bit));
  view->signals |= signal ? id_bit : 0;
  view->arrives[id] |= lane_bit;
  view->fewest[id] = fewest;
  view->uncounted |= count ? 0 : id_bit;
  walk->explorer->memory.version += news;
  if (barrier->arrived && barrier->expected != count)
    fault(walk);
}

static void step_barrier(LaneWalk *walk, LaneState state, const Inst *inst) {
  WarpView *view = walk->view;
  bool has_count = inst->flags & INST_HAS_COUNT;
  if (slot_unknown(&state, inst->a) || (has_count && slot_unknown(&state, inst->b))) {
    walk->explorer->gave_up = true;
    return;
  }
  uint32_t id = slot_value(walk, &state, inst->a), count = has_count ? slot_value(walk, &state, inst->b) : 0;
  if (id >= walk->explorer->gpu->machine->sm.barrier.count || (has_count && (count == 0 || count % WARP_LANES))) {
    fault(walk);
    return;
  }
  if (!read_only(walk))
    arrive_at_barrier(walk, id, count, inst->mode == BAR_ARV);
  if (inst->mode == BAR_ARV) {
    go_on(walk, state, inst, state.pc + 1);
    return;
  }
  walk->reach.barriers |= 1u << id;
  if (!assumes_all_open(walk) && !explorer_barrier_opens(walk->explorer, view->block, id))
    return;
  forget_writes(walk, &state, inst);
  go_on(walk, state, inst, state.pc + 1);
}

/* ---- memory ---- */

/* The word of a lane's access, or false if it would fault. */
static bool locate(LaneWalk *walk, const LaneState *state, const Inst *inst, uint32_t bytes, WordKey *key,
                   uint32_t *offset, uint32_t *physical) {
  uint64_t address = slot_value(walk, state, inst->a);
  if (op_info[inst->op].unit == UNIT_SHARED) {
    const Block *block = walk->view->block;
    uint32_t relative = (uint32_t)address + (uint32_t)inst->imm;
    if (relative % bytes || (uint64_t)relative + bytes > block->shared_bytes)
      return false;
    *physical = block->shared_base + relative;
    *key = word_key_shared(walk->view->sm->index, *physical / 4);
    *offset = *physical % 4;
    return true;
  }
  if (inst->flags & INST_ADDR64 && inst->a >= 0)
    address |= (uint64_t)slot_value(walk, state, (int16_t)(inst->a + 1)) << 32;
  address += (uint64_t)(int64_t)inst->imm;
  if (!(inst->flags & INST_ADDR64))
    address &= UINT32_MAX;
  if (address % bytes || !backing_find(walk->explorer->gpu->backing, address, bytes))
    return false;
  *key = word_key_global(address);
  *offset = (uint32_t)(address % 4);
  *physical = 0;
  return true;
}

static ValueSet *word_set(LaneWalk *walk, WordKey key, uint32_t pc) {
  if (walk->footprint)
    note(walk->footprint->reads, key, pc, 0);
  return abstract_word(&walk->explorer->memory, walk->view->sm, key);
}

static bool word_is_anything(const LaneWalk *walk, const ValueSet *set, WordKey key) {
  return set->anything || (walk->assumption && walk->assumption->free_words &&
                           g_hash_table_contains(walk->assumption->free_words, &key));
}

static void store_value(LaneWalk *walk, uint32_t pc, WordKey key, bool unknown, uint32_t value) {
  AbstractMemory *memory = &walk->explorer->memory;
  ValueSet *set = abstract_word(memory, walk->view->sm, key);
  bool news = unknown ? !set->anything : !abstract_has(set, value);
  if (news && walk->footprint)
    note(walk->footprint->writes, key, pc, 0);
  if (read_only(walk))
    return;
  if (unknown)
    abstract_add_anything(memory, set);
  else
    abstract_add(memory, set, value);
}

/* Part `part` of a load: every value the word may hold, then the next part. */
static void load_parts(LaneWalk *walk, LaneState state, const Inst *inst, WordKey key, uint32_t offset,
                       uint32_t parts, uint32_t part) {
  if (part == parts) {
    go_on(walk, state, inst, state.pc + 1);
    return;
  }
  const ValueSet *set = word_set(walk, key + part, state.pc);
  int reg = inst->dst + (int)(parts > 1 ? part : 0);
  if (word_is_anything(walk, set, key + part) || (parts > 1 && set->count > 4)) {
    set_register(walk, &state, reg, true, 0);
    load_parts(walk, state, inst, key, offset, parts, part + 1);
    return;
  }
  for (uint32_t i = 0; i < set->count; i++) {
    set_register(walk, &state, reg, false, narrow_load(set->value[i], offset, inst->width));
    load_parts(walk, state, inst, key, offset, parts, part + 1);
  }
}

/* LDSLK: the bit may be free, or held, or either. */
static void load_locked(LaneWalk *walk, LaneState state, const Inst *inst, WordKey key, uint32_t physical) {
  AbstractMemory *memory = &walk->explorer->memory;
  const Sm *sm = walk->view->sm;
  uint32_t index = lock_unit_index(&sm->lock_unit, physical);
  BitSet *bit = abstract_bit(memory, sm, index);
  BitKey bkey = bit_key(sm->index, index);
  if (walk->footprint)
    note(walk->footprint->lock_reads, bkey, state.pc, physical);
  bool may_be_free = bit->may_be_free || (walk->assumption && walk->assumption->free_bits &&
                                          g_hash_table_contains(walk->assumption->free_bits, &bkey));
  if (bit->may_be_held) {
    LaneState refused = state;
    set_predicate(&refused, inst->pdst, false);
    load_parts(walk, refused, inst, key, 0, 1, 0);
  }
  if (may_be_free) {
    LaneState taken = state;
    set_predicate(&taken, inst->pdst, true);
    if (!read_only(walk))
      abstract_hold_bit(memory, bit);
    load_parts(walk, taken, inst, key, 0, 1, 0);
  }
}

static void store_part(LaneWalk *walk, const LaneState *state, const Inst *inst, WordKey key, uint32_t offset,
                       uint32_t bytes, int16_t slot) {
  bool unknown = slot_unknown(state, slot);
  uint32_t value = slot_value(walk, state, slot);
  if (bytes >= 4) {
    store_value(walk, state->pc, key, unknown, value);
    return;
  }
  const ValueSet *set = abstract_word(&walk->explorer->memory, walk->view->sm, key);
  if (unknown || set->anything) {
    store_value(walk, state->pc, key, true, 0);
    return;
  }
  uint32_t count = set->count, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++)
    store_value(walk, state->pc, key, false, narrow_store(values[i], offset, bytes, value));
}

static void free_bit(LaneWalk *walk, uint32_t pc, uint32_t physical) {
  const Sm *sm = walk->view->sm;
  uint32_t index = lock_unit_index(&sm->lock_unit, physical);
  if (walk->footprint)
    note(walk->footprint->frees, bit_key(sm->index, index), pc, physical);
  if (!read_only(walk))
    abstract_free_bit(&walk->explorer->memory, abstract_bit(&walk->explorer->memory, sm, index));
}

static void step_store(LaneWalk *walk, LaneState state, const Inst *inst, WordKey key, uint32_t offset,
                       uint32_t physical) {
  uint32_t bytes = width_bytes[inst->width], parts = bytes > 4 ? bytes / 4 : 1;
  for (uint32_t part = 0; part < parts; part++)
    store_part(walk, &state, inst, key + part, offset, bytes,
               inst->b >= 0 ? (int16_t)(inst->b + (int)part) : inst->b);
  if (op_info[inst->op].flags & OPF_UNLOCK)
    free_bit(walk, state.pc, physical);
  go_on(walk, state, inst, state.pc + 1);
}

static void step_atomic(LaneWalk *walk, LaneState state, const Inst *inst, WordKey key) {
  int16_t c_slot = inst->mode == ATOM_CAS ? inst->c : inst->b;
  bool unknown = slot_unknown(&state, inst->b) || slot_unknown(&state, c_slot);
  uint32_t b = slot_value(walk, &state, inst->b), c = slot_value(walk, &state, c_slot);
  const ValueSet *set = word_set(walk, key, state.pc);
  bool anything = word_is_anything(walk, set, key);
  if (anything || unknown) {
    bool exchange = inst->mode == ATOM_EXCH && !slot_unknown(&state, inst->b);
    if (exchange || (inst->mode == ATOM_CAS && !unknown))
      store_value(walk, state.pc, key, false,
                  exchange ? b : c); /* what it stores is known although the old value isn't */
    else
      store_value(walk, state.pc, key, true, 0);
    if (op_info[inst->op].flags & OPF_LOAD)
      forget_writes(walk, &state, inst);
    go_on(walk, state, inst, state.pc + 1);
    return;
  }
  uint32_t count = set->count, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++) {
    LaneState after = state;
    store_value(walk, state.pc, key, false, atomic_apply(inst, values[i], b, c));
    if (op_info[inst->op].flags & OPF_LOAD)
      set_register(walk, &after, inst->dst, false, values[i]);
    go_on(walk, after, inst, state.pc + 1);
  }
}

static void step_memory(LaneWalk *walk, LaneState state, const Inst *inst) {
  uint32_t flags = op_info[inst->op].flags, bytes = width_bytes[inst->width];
  if (flags & OPF_FENCE) {
    go_on(walk, state, inst, state.pc + 1);
    return;
  }
  bool wide = inst->flags & INST_ADDR64 && inst->a >= 0;
  if (slot_unknown(&state, inst->a) || (wide && slot_unknown(&state, (int16_t)(inst->a + 1)))) {
    if (flags & (OPF_STORE | OPF_LOCK) && !read_only(walk)) {
      walk->explorer->gave_up = true; /* it may change any word */
      return;
    }
    fault(walk); /* it may lie anywhere */
    forget_writes(walk, &state, inst);
    go_on(walk, state, inst, state.pc + 1);
    return;
  }
  WordKey key;
  uint32_t offset, physical;
  if (!locate(walk, &state, inst, bytes, &key, &offset, &physical)) {
    fault(walk);
    return;
  }
  if (flags & OPF_LOCK)
    load_locked(walk, state, inst, key, physical);
  else if (flags & OPF_ATOMIC)
    step_atomic(walk, state, inst, key);
  else if (flags & OPF_STORE)
    step_store(walk, state, inst, key, offset, physical);
  else
    load_parts(walk, state, inst, key, offset, bytes > 4 ? bytes / 4 : 1, 0);
}

/* ---- control ---- */

static void step_control(LaneWalk *walk, LaneState state, const Inst *inst) {
  switch ((Opcode)inst->op) {
  case OP_BRA: go_on(walk, state, inst, (uint32_t)inst->target); return;
  case OP_SSY: push_frame(walk, &state, STACK_SSY, (uint32_t)inst->target); break;
  case OP_PBK: push_frame(walk, &state, STACK_BREAK, (uint32_t)inst->target); break;
  case OP_PCNT: push_frame(walk, &state, STACK_CONTINUE, (uint32_t)inst->target); break;
  case OP_CAL:
    push_frame(walk, &state, STACK_CALL, state.pc + 1);
    go_on(walk, state, inst, (uint32_t)inst->target);
    return;
  case OP_BRK: leave_to(walk, state, STACK_BREAK); return;
  case OP_CONT: leave_to(walk, state, STACK_CONTINUE); return;
  case OP_RET: leave_to(walk, state, STACK_CALL); return;
  case OP_EXIT: walk->reach.exits = true; return;
  default: break;
  }
  go_on(walk, state, inst, state.pc + 1);
}

static void dispatch(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  switch (op_info[inst->op].unit) {
  case UNIT_ALU: step_alu(walk, *state, inst); break;
  case UNIT_SYSREG: step_sysreg(walk, *state, inst); break;
  case UNIT_VOTE: step_vote(walk, *state, inst); break;
  case UNIT_BARRIER: step_barrier(walk, *state, inst); break;
  case UNIT_SHARED:
  case UNIT_GLOBAL: step_memory(walk, *state, inst); break;
  default: step_control(walk, *state, inst); break;
  }
}

void explore_step(LaneWalk *walk, const LaneState *given) {
  LaneState state = *given;
  const Inst *inst = inst_at(walk, state.pc);
  uint32_t needed = inst_pred_reads(inst) & state.preds_unknown;
  if (needed) {
    /* Both values of an unknown predicate, one at a time: afterwards each state knows which it took. */
    unsigned predicate = (unsigned)__builtin_ctz(needed);
    for (int value = 0; value < 2; value++) {
      LaneState known = state;
      set_predicate(&known, predicate, value);
      explore_step(walk, &known);
    }
    return;
  }
  bool guard = inst->guard == PRED_TRUE || (state.preds >> inst->guard & 1);
  if (guard == !(inst->flags & INST_GUARD_NOT)) {
    dispatch(walk, &state, inst);
    return;
  }
  if (inst->op == OP_SSY || inst->op == OP_PBK || inst->op == OP_PCNT)
    dispatch(walk, &state, inst); /* if the guard holds in another lane, the warp pushes for all active ones */
  go_on(walk, state, inst, state.pc + 1);
}
