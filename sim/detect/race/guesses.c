#include "sim/detect/race/guesses.h"

#include <string.h>

#include "isa/flow/cfg.h"
#include "sim/detect/race/guess_state.h"
#include "sim/detect/race/merges.h"
#include "sim/detect/race/narrow_guesses.h"
#include "sim/detect/race/values.h"

enum { GUESS_STATES_MAX = 2000 };

typedef struct Walk {
  const Kernel *kernel;
  const Cfg *cfg;
  const Liveness *liveness;
  uint32_t load;
  int32_t swap; /* the compare-and-swap that was pending, but for what goes on with its result; NO_TARGET: none yet */
  GArray *states;
  bool refused;
} Walk;

static bool is_wide(const Walk *walk) { return walk->kernel->insts[walk->load].width == WIDTH_64; }

/* What an operand has that is as wide as the load: of two halves VALUE or RESULT if they belong together. */
static GuessKind operand_kind(const Walk *walk, const GuessState *state, int16_t reg) {
  GuessKind low = guess_state_kind(state, reg),
            high = is_wide(walk) && reg >= 0 ? guess_state_kind(state, (int16_t)(reg + 1)) : FRESH;
  if (!is_wide(walk))
    return low;
  if ((low == VALUE && high == HIGH) || (low == RESULT && high == RESULT_HIGH))
    return low;
  return guess_kind_mix(low, high);
}

static void set_reg(Walk *walk, GuessState *state, int16_t reg, GuessHeld held) {
  for (unsigned i = state->count; i-- > 0;) {
    GuessHeld *other = &state->held[i];
    if (other->what == reg)
      guess_state_take_out(state->held, &state->count, i);
    else if (other->by == reg && (other->kind == PART || other->kind == RESULT_PART))
      *other = (GuessHeld){.what = other->what, .kind = other->kind == PART ? DERIVED : RESULT_PART, .by = WHOLE};
  }
  for (unsigned i = 0; i < state->preds; i++)
    if (state->pred[i].by == reg)
      state->pred[i] = (GuessHeld){.what = state->pred[i].what, .kind = PRED_DERIVED, .by = WHOLE};
  held.what = reg;
  if (held.kind != FRESH && (uint32_t)reg < walk->kernel->nregs)
    walk->refused |= !guess_state_put(state->held, &state->count, HELD_MAX, held) && held.kind != FIXED;
}

static void set_pred(Walk *walk, GuessState *state, unsigned pred, GuessPred kind, int16_t by) {
  for (unsigned i = state->preds; i-- > 0;)
    if (state->pred[i].what == (int16_t)pred)
      guess_state_take_out(state->pred, &state->preds, i);
  GuessHeld held = {.what = (int16_t)pred, .by = by, .kind = (uint16_t)kind};
  if (kind != PRED_FRESH)
    walk->refused |= !guess_state_put(state->pred, &state->preds, HELD_PREDS_MAX, held);
}

/* What nobody reads any more. */
static void drop_dead(const Walk *walk, GuessState *state) {
  for (unsigned i = state->count; i-- > 0;)
    if (state->held[i].what < REGSET_MAX &&
        !regset_has(&walk->liveness->live_regs[state->pc], (unsigned)state->held[i].what))
      guess_state_take_out(state->held, &state->count, i);
  for (unsigned i = state->preds; i-- > 0;)
    if (!(walk->liveness->live_preds[state->pc] >> state->pred[i].what & 1))
      guess_state_take_out(state->pred, &state->preds, i);
}

static bool holds_old(const GuessState *state) {
  bool old = state->preds > 0;
  for (unsigned i = 0; i < state->count; i++)
    old |= guess_kind_is_old((GuessKind)state->held[i].kind);
  return old;
}

static bool reads_old(const GuessState *state, const Inst *inst) { return guess_state_reads(state, inst) != FRESH; }

/* ---- ways ---- */

static void go(Walk *walk, const GuessState *from, uint32_t pc) {
  GuessState state = *from;
  state.pc = pc;
  drop_dead(walk, &state);
  if (!state.pending && !holds_old(&state))
    return;
  for (guint i = 0; i < walk->states->len; i++)
    if (memcmp(&g_array_index(walk->states, GuessState, i), &state, sizeof state) == 0)
      return;
  if (walk->states->len >= GUESS_STATES_MAX)
    walk->refused = true;
  else
    g_array_append_val(walk->states, state);
}

/* To all that may follow the instruction. */
static void go_on(Walk *walk, const GuessState *state) {
  const CfgBlock *block = g_ptr_array_index(walk->cfg->blocks, walk->cfg->block_of[state->pc]);
  if (state->pc < block->last) {
    go(walk, state, state->pc + 1);
    return;
  }
  walk->refused |= block->exits && state->pending;
  for (guint i = 0; i < block->successors->len; i++) {
    const CfgBlock *next = g_ptr_array_index(walk->cfg->blocks, g_array_index(block->successors, uint32_t, i));
    go(walk, state, next->first);
  }
}

/* Another round comes, or none if the value was right: `valid`. */
static void end_round(GuessState *state, bool valid) {
  state->overdue = valid ? 0 : state->stored ? state->stored : state->overdue;
  state->stored = 0;
}

/* The value is the newest after all, if it is `valid`; else another round has to come. */
static GuessState behind_choice(const GuessState *state, int16_t by, bool valid) {
  GuessState next = *state;
  next.pending = !valid;
  end_round(&next, valid);
  for (unsigned i = next.preds; i-- > 0 && valid;)
    if (next.pred[i].kind != PRED_EARLIER && (by == WHOLE || next.pred[i].by == by))
      guess_state_take_out(next.pred, &next.preds, i);
  for (unsigned i = next.count; i-- > 0 && valid;) {
    GuessKind kind = (GuessKind)next.held[i].kind;
    if ((by == WHOLE && (kind == VALUE || kind == HIGH || kind == PART || kind == DERIVED)) ||
        (kind == PART && next.held[i].by == by))
      guess_state_take_out(next.held, &next.count, i);
  }
  return next;
}

/* A branch or an exit that the value decides. */
static void choose(Walk *walk, const GuessState *state, const Inst *inst, const GuessHeld *guard) {
  bool branches = inst->op == OP_BRA && inst->target != NO_TARGET, ends = inst->op == OP_EXIT;
  if (!(branches || ends) || (inst->flags & INST_POP) || inst->psrc[0] != PRED_TRUE) {
    walk->refused = true;
    return;
  }
  bool by_not = inst->flags & INST_GUARD_NOT;
  GuessState taken = *state, past = *state;
  taken.pending = past.pending = true;
  if (guard->kind == PRED_SAME || guard->kind == PRED_DIFFERENT) {
    bool taken_if_same = (guard->kind == PRED_SAME) != by_not;
    taken = behind_choice(state, guard->by, taken_if_same);
    past = behind_choice(state, guard->by, !taken_if_same);
  }
  walk->refused |= ends && taken.pending;
  if (branches)
    go(walk, &taken, (uint32_t)inst->target);
  go(walk, &past, state->pc + 1);
}

static bool comes_back(const Walk *walk, uint32_t pc) {
  g_autofree bool *seen = g_new0(bool, walk->cfg->blocks->len);
  g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  uint32_t block = walk->cfg->block_of[pc], home = walk->cfg->block_of[walk->load];
  for (guint i = 0;; block = g_array_index(next, uint32_t, i++)) {
    const GArray *row = ((const CfgBlock *)g_ptr_array_index(walk->cfg->blocks, block))->successors;
    if (block == home)
      return true;
    for (guint k = 0; k < row->len; k++) {
      uint32_t to = g_array_index(row, uint32_t, k);
      if (!seen[to])
        g_array_append_val(next, to);
      seen[to] = true;
    }
    if (i == next->len)
      return false;
  }
}

/* A branch or an exit that is decided by a word that was looked at behind the value. Who leaves for good by that knew
 * nothing more when it looked for the value; so no other round has to come. */
static void leave(Walk *walk, const GuessState *state, const Inst *inst) {
  GuessState taken = *state, past = *state;
  taken.pending = inst->op == OP_BRA && comes_back(walk, (uint32_t)inst->target);
  past.pending = comes_back(walk, state->pc + 1);
  if (inst->op == OP_BRA)
    go(walk, &taken, (uint32_t)inst->target);
  go(walk, &past, state->pc + 1);
}

/* A branch or an exit of which it is known whether it is taken. */
static void follow(Walk *walk, const GuessState *state, const Inst *inst, bool taken) {
  walk->refused |= taken && inst->op == OP_EXIT && state->pending;
  if (!taken || inst->op != OP_EXIT)
    go(walk, state, taken ? (uint32_t)inst->target : state->pc + 1);
}

/* ---- instructions ---- */

static bool is_pure(const Inst *inst) {
  const OpInfo *info = &op_info[inst->op];
  return info->unit == UNIT_ALU || info->unit == UNIT_SYSREG || info->unit == UNIT_SFU || info->unit == UNIT_FP64 ||
         info->unit == UNIT_DIVIDE;
}

/* Nothing that others see, and no end. */
static bool is_quiet(const Inst *inst) {
  static const uint16_t quiet[] = {OP_NOP,   OP_BRA,       OP_BSSY,     OP_BSYNC, OP_BREAK,
                                   OP_YIELD, OP_NANOSLEEP, OP_WARPSYNC, OP_BMOVR, OP_BMOVW};
  for (unsigned i = 0; i < G_N_ELEMENTS(quiet); i++)
    if (inst->op == quiet[i])
      return true;
  bool constant = inst->op == OP_LD && (inst->space == MEM_CONST || inst->space == MEM_PARAM);
  return is_pure(inst) || constant || (op_info[inst->op].flags & OPF_FENCE);
}

/* It finds what a word has, and leaves that there: a load, or `atomicAdd(p, 0)`. */
static bool is_look(const Kernel *kernel, const Inst *inst) {
  bool loads = inst->op == OP_LD && op_info[OP_LD].unit == UNIT_GLOBAL && inst->sem != SEM_WEAK;
  return (loads || value_is_only_read(kernel, inst)) && !inst_is_guarded(inst);
}

static bool is_same_word(const Inst *load, const Inst *inst) {
  return op_info[inst->op].unit == op_info[load->op].unit && inst->a == load->a && inst->imm == load->imm &&
         inst->width == load->width && ((inst->flags ^ load->flags) & INST_ADDR64) == 0;
}

static bool is_swap(const Walk *walk, const GuessState *state, const Inst *inst) {
  return (inst->op == OP_ATOM || inst->op == OP_ATOMS) && inst->mode == ATOM_CAS && inst->cmp == MERGE_NONE &&
         !(inst->flags & INST_LOCK) && !state->moved && is_same_word(&walk->kernel->insts[walk->load], inst);
}

/* The first register that it writes; of a move of 64 bits also the second. */
static GuessHeld result_of(const Walk *walk, const GuessState *state, const Inst *inst, unsigned part) {
  const uint32_t changes = INST_NEG_A | INST_ABS_A | INST_INV_A;
  const GuessHeld *half =
      inst->op == OP_MOV64 && inst->a >= 0 ? guess_state_reg(state, (int16_t)(inst->a + (int16_t)part)) : NULL;
  if (inst->op == OP_MOV64 && !(inst->flags & changes))
    return half ? *half : (GuessHeld){.kind = FRESH, .by = WHOLE};
  const GuessHeld *from = inst->a >= 0 ? guess_state_reg(state, inst->a) : NULL;
  if (inst->op == OP_MOV && from && !(inst->flags & changes))
    return *from;
  if (inst->op == OP_MOV && inst->a < 0 && !(inst->flags & changes) && value_is_immediate(walk->kernel, inst->a))
    return (GuessHeld){.kind = FIXED, .by = inst->a};
  if (inst->op == OP_PRMT && inst->mode == PRMT_INDEX && from &&
      !guess_kind_is_old(guess_state_kind(state, inst->b)) && guess_state_kind(state, inst->c) == FRESH &&
      merges_keeps_places(walk->kernel, walk->cfg, state->pc, inst->c)) {
    bool same = from->kind == VALUE || from->kind == RESULT || from->by == inst->c;
    if (same && (from->kind == VALUE || from->kind == PART))
      return (GuessHeld){.kind = PART, .by = inst->c};
    if (same && (from->kind == RESULT || from->kind == RESULT_PART))
      return (GuessHeld){.kind = RESULT_PART, .by = inst->c};
  }
  return (GuessHeld){.kind = (uint16_t)guess_state_result(state, inst), .by = WHOLE};
}

/* For equality alone, and nothing else. */
static bool asks_equality(const Inst *inst) {
  const uint32_t changes =
      INST_NEG_A | INST_NEG_B | INST_ABS_A | INST_ABS_B | INST_INV_A | INST_INV_B | INST_CARRY_IN;
  return (inst->cmp == CMP_EQ || inst->cmp == CMP_NE) && inst->lop == LOP_AND && inst->psrc[0] == PRED_TRUE &&
         !(inst->psrc_not & 3) && inst->pdst2 == PRED_SINK && !(inst->flags & changes);
}

static bool are_both(const GuessState *state, const Inst *inst, GuessKind one, GuessKind other) {
  GuessKind a = guess_state_kind(state, inst->a), b = guess_state_kind(state, inst->b);
  return (a == one && b == other) || (a == other && b == one);
}

/* Of 64 bits, which machine code compares by halves: the low ones, and then the high ones with what these gave. */
static GuessPred compares_wide(const Walk *walk, const GuessState *state, const Inst *inst) {
  bool equal = inst->cmp == CMP_EQ;
  GuessPred low = equal ? PRED_SAME_LOW : PRED_DIFFERENT_LOW, whole = equal ? PRED_SAME : PRED_DIFFERENT;
  GuessKind a = operand_kind(walk, state, inst->a), b = operand_kind(walk, state, inst->b);
  const GuessHeld *below = inst->op == OP_ISETPX ? guess_state_pred(state, inst->psrc[1]) : NULL;
  if (inst->op == OP_ISETP64 && ((a == VALUE && b == RESULT) || (a == RESULT && b == VALUE)))
    return whole;
  if (inst->op == OP_ISETP && are_both(state, inst, VALUE, RESULT))
    return low;
  return below && below->kind == (uint16_t)low && are_both(state, inst, HIGH, RESULT_HIGH) ? whole : PRED_FRESH;
}

/* `by`: of the bytes that are compared. */
static GuessPred compares_word(const GuessState *state, const Inst *inst, int16_t *by) {
  const GuessHeld *a = inst->a >= 0 ? guess_state_reg(state, inst->a) : NULL,
                  *b = inst->b >= 0 ? guess_state_reg(state, inst->b) : NULL;
  bool parts = a && b && a->by == b->by && are_both(state, inst, PART, RESULT_PART);
  if (inst->op != OP_ISETP || !(parts || are_both(state, inst, VALUE, RESULT)))
    return PRED_FRESH;
  *by = parts ? a->by : WHOLE;
  return inst->cmp == CMP_EQ ? PRED_SAME : PRED_DIFFERENT;
}

/* A constant that came by a register is compared with one: `value = 0; ...; if (value == 0)`. */
static GuessPred compares_fixed(const Walk *walk, const GuessState *state, const Inst *inst) {
  const GuessHeld *a = inst->a >= 0 ? guess_state_reg(state, inst->a) : NULL;
  if (inst->op != OP_ISETP || !a || a->kind != FIXED || !value_is_immediate(walk->kernel, inst->b))
    return PRED_FRESH;
  bool equal = walk->kernel->consts[~a->by].value == walk->kernel->consts[~inst->b].value;
  return equal == (inst->cmp == CMP_EQ) ? PRED_HOLDS : PRED_HOLDS_NOT;
}

/* `by`: of the comparison. */
static GuessPred compared(const Walk *walk, const GuessState *state, const Inst *inst, int16_t *by) {
  GuessPred kind = PRED_FRESH;
  *by = WHOLE;
  if (asks_equality(inst))
    kind = is_wide(walk) ? compares_wide(walk, state, inst) : compares_word(state, inst, by);
  if (kind == PRED_FRESH && asks_equality(inst))
    kind = compares_fixed(walk, state, inst);
  if (kind != PRED_FRESH)
    return kind;
  switch (guess_state_result(state, inst)) {
  case EARLIER: return PRED_EARLIER;
  case DERIVED: return PRED_DERIVED;
  case LOOKED: return PRED_LOOKED;
  default: return PRED_FRESH;
  }
}

/* The register of the address gets the same constant again that it had at the load. */
static bool is_same_address(const Walk *walk, const Inst *inst) {
  const Inst *load = &walk->kernel->insts[walk->load];
  const CfgBlock *block = g_ptr_array_index(walk->cfg->blocks, walk->cfg->block_of[walk->load]);
  bool moves = inst->op == OP_MOV64 || inst->op == OP_MOV || inst->op == OP_LDC64 || inst->op == OP_LDC;
  if (!moves || inst->dst != load->a || inst->a >= 0 || inst_is_guarded(inst))
    return false;
  for (uint32_t pc = walk->load; pc-- > block->first;) {
    const Inst *before = &walk->kernel->insts[pc];
    RegList writes = inst_writes(before, walk->kernel->nregs);
    for (unsigned i = 0; i < writes.count; i++)
      if (writes.reg[i] == load->a || writes.reg[i] == load->a + 1)
        return before->op == inst->op && before->dst == inst->dst && before->a == inst->a && !inst_is_guarded(before);
  }
  return false;
}

static bool is_address_of(const Inst *inst, int16_t reg) {
  return reg == inst->a || (inst->flags & INST_ADDR64 && reg == inst->a + 1);
}

/* An instruction that stored what depends on the value, and has to come again, stores to the same place then. */
static bool is_stored_to(const Walk *walk, const GuessState *state, int16_t reg) {
  uint32_t stored = state->stored ? state->stored : state->overdue;
  return stored && is_address_of(&walk->kernel->insts[stored - 1], reg);
}

/* Where the guard leaves lanes out, they keep what they had. */
static void write_regs(Walk *walk, GuessState *state, const Inst *inst) {
  RegList writes = inst_writes(inst, walk->kernel->nregs);
  int16_t address = walk->kernel->insts[walk->load].a;
  GuessHeld results[] = {result_of(walk, state, inst, 0), result_of(walk, state, inst, 1)};
  GuessHeld derived = {.kind = (uint16_t)guess_state_reads(state, inst), .by = WHOLE};
  for (unsigned i = 0; i < writes.count; i++) {
    GuessHeld result = writes.count == 1 || (inst->op == OP_MOV64 && i < 2) ? results[i] : derived, now = result;
    if (inst_is_guarded(inst))
      now = (GuessHeld){.kind =
                            (uint16_t)guess_kind_mix((GuessKind)result.kind, guess_state_kind(state, writes.reg[i])),
                        .by = WHOLE};
    set_reg(walk, state, writes.reg[i], now);
    walk->refused |= is_stored_to(walk, state, writes.reg[i]);
    state->moved |= (writes.reg[i] == address || writes.reg[i] == address + 1) && !is_same_address(walk, inst);
  }
}

static void compute(Walk *walk, GuessState *state, const Inst *inst) {
  int16_t by;
  GuessPred kind = compared(walk, state, inst, &by);
  uint32_t preds = inst_pred_writes(inst);
  write_regs(walk, state, inst);
  for (uint32_t rest = preds; rest; rest &= rest - 1) {
    unsigned number = (unsigned)__builtin_ctz(rest);
    const GuessHeld *before = inst_is_guarded(inst) ? guess_state_pred(state, number) : NULL;
    if (before && (before->kind == PRED_EARLIER || kind == PRED_EARLIER))
      set_pred(walk, state, number, PRED_EARLIER, WHOLE);
    else if (before || (inst_is_guarded(inst) && kind != PRED_FRESH && kind != PRED_EARLIER))
      set_pred(walk, state, number, PRED_DERIVED, WHOLE);
    else
      set_pred(walk, state, number, kind, by);
  }
}

/* The load, or the compare-and-swap, writes what it has found. */
static void set_found(Walk *walk, GuessState *state, const Inst *inst, GuessKind low, GuessKind high) {
  int16_t last = (int16_t)(inst->dst + (is_wide(walk) ? 1 : 0));
  int16_t address = inst->a, address_last = (int16_t)(inst->a + (inst->flags & INST_ADDR64 ? 1 : 0));
  set_reg(walk, state, inst->dst, (GuessHeld){.kind = (uint16_t)low, .by = WHOLE});
  if (last != inst->dst)
    set_reg(walk, state, last, (GuessHeld){.kind = (uint16_t)high, .by = WHOLE});
  state->moved = inst->dst <= address_last && last >= address;
}

/* The load again: what the rounds before left is no guess any more. */
static void look(Walk *walk, GuessState *state, const Inst *inst) {
  walk->refused |= inst_is_guarded(inst) || (state->pending && state->moved) || reads_old(state, inst);
  for (unsigned i = 0; i < state->count; i++)
    if (guess_kind_is_old((GuessKind)state->held[i].kind))
      state->held[i] = (GuessHeld){.what = state->held[i].what, .kind = EARLIER, .by = WHOLE};
  for (unsigned i = 0; i < state->preds; i++)
    state->pred[i] = (GuessHeld){.what = state->pred[i].what, .kind = PRED_EARLIER, .by = WHOLE};
  set_found(walk, state, inst, VALUE, HIGH);
  end_round(state, false);
  state->pending = state->overdue != 0;
}

static bool may_swap(const Walk *walk, const GuessState *state, const Inst *inst) {
  const GuessHeld *compared = inst->b >= 0 ? guess_state_reg(state, inst->b) : NULL,
                  *stored = inst->c >= 0 ? guess_state_reg(state, inst->c) : NULL;
  GuessKind kind = operand_kind(walk, state, inst->b), other = operand_kind(walk, state, inst->c);
  if (!guess_kind_is_old(kind))
    return !guess_kind_is_old(other);
  if (other == EARLIER)
    return false;
  return kind == VALUE ||
         (kind == PART && (!guess_kind_is_old(other) || (other == PART && stored->by == compared->by)));
}

static void swap(Walk *walk, GuessState *state, const Inst *inst) {
  GuessKind compared = operand_kind(walk, state, inst->b);
  bool compares_old = guess_kind_is_old(compared), goes_on = compared == RESULT || compared == RESULT_PART;
  if ((state->pending || compares_old) && !goes_on) {
    walk->refused |= walk->swap != NO_TARGET && walk->swap != (int32_t)state->pc;
    walk->swap = (int32_t)state->pc;
  }
  walk->refused |= inst_is_guarded(inst) || !may_swap(walk, state, inst) || state->overdue;
  for (unsigned i = state->count; i-- > 0;)
    if (!guess_kind_is_old((GuessKind)state->held[i].kind) && state->held[i].kind != FIXED)
      guess_state_take_out(state->held, &state->count, i);
  for (unsigned i = 0; i < state->preds; i++)
    if (state->pred[i].kind != PRED_EARLIER)
      state->pred[i] = (GuessHeld){.what = state->pred[i].what, .kind = PRED_DERIVED, .by = WHOLE};
  set_found(walk, state, inst, RESULT, RESULT_HIGH);
  state->pending = compares_old;
}

/* Leads on as the guard says; false: it doesn't depend on anything that is known. */
static bool decide(Walk *walk, const GuessState *state, const Inst *inst) {
  const GuessHeld *guard = inst->guard < PRED_ROWS ? guess_state_pred(state, inst->guard) : NULL;
  bool plain = ((inst->op == OP_BRA && inst->target != NO_TARGET) || inst->op == OP_EXIT) &&
               !(inst->flags & INST_POP) && inst->psrc[0] == PRED_TRUE;
  if (guard && guess_pred_is_old(guard))
    choose(walk, state, inst, guard);
  else if (guard && plain && guard->kind != PRED_LOOKED)
    follow(walk, state, inst, (guard->kind == PRED_HOLDS) != !!(inst->flags & INST_GUARD_NOT));
  else if (guard && plain && state->pending)
    leave(walk, state, inst);
  else
    return false;
  return true;
}

/* Another word is looked at behind the value. */
static void look_behind(Walk *walk, GuessState *state, const Inst *inst) {
  RegList writes = inst_writes(inst, walk->kernel->nregs);
  write_regs(walk, state, inst);
  for (unsigned i = 0; i < writes.count; i++)
    set_reg(walk, state, writes.reg[i], (GuessHeld){.kind = LOOKED, .by = WHOLE});
}

/* What a store leaves in another word. */
static GuessKind stored_kind(const GuessState *state, const Inst *inst) {
  RegList reads = inst_reads(inst);
  GuessKind kind = FRESH;
  for (unsigned i = 0; i < reads.count; i++)
    if (!is_address_of(inst, reads.reg[i]))
      kind = guess_kind_mix(kind, guess_state_kind(state, reads.reg[i]));
  return kind;
}

/* A store of what depends on the value, or that one again. */
static bool is_own_store(const GuessState *state, const Inst *inst) {
  bool again = state->stored == state->pc + 1 || state->overdue == state->pc + 1;
  bool stores = (inst->op == OP_ST || inst->op == OP_STS) && !inst_is_guarded(inst) && inst->a >= 0;
  bool old_place = guess_kind_is_old(guess_state_kind(state, inst->a)) ||
                   (inst->flags & INST_ADDR64 && guess_kind_is_old(guess_state_kind(state, (int16_t)(inst->a + 1))));
  return stores && !old_place && (again || stored_kind(state, inst) == DERIVED);
}

static void store(Walk *walk, GuessState *state, const Inst *inst) {
  GuessKind kind = stored_kind(state, inst);
  uint32_t before = state->stored ? state->stored : state->overdue;
  walk->refused |= kind == EARLIER || (before && before != state->pc + 1);
  state->overdue = 0;
  state->stored = kind == DERIVED ? state->pc + 1 : 0;
  state->pending |= state->stored != 0;
}

static void step(Walk *walk, GuessState state) {
  const Inst *inst = &walk->kernel->insts[state.pc];
  if (state.pc == walk->load)
    look(walk, &state, inst);
  else if (decide(walk, &state, inst))
    return;
  else if (is_swap(walk, &state, inst))
    swap(walk, &state, inst);
  else if (is_pure(inst))
    compute(walk, &state, inst);
  else if (state.pending && is_look(walk->kernel, inst) && !reads_old(&state, inst))
    look_behind(walk, &state, inst);
  else if (is_own_store(&state, inst))
    store(walk, &state, inst);
  else {
    walk->refused |= reads_old(&state, inst) || (state.pending && !is_quiet(inst)) || inst->op == OP_CAL ||
                     inst->op == OP_RET || inst->op == OP_BRX;
    compute(walk, &state, inst);
  }
  if (!walk->refused)
    go_on(walk, &state);
}

static bool may_be_guess(const Inst *inst) {
  return (inst->op == OP_LD || inst->op == OP_LDS) && (inst->width == WIDTH_32 || inst->width == WIDTH_64) &&
         inst->a >= 0 &&
         (inst->space == MEM_GLOBAL || inst->space == MEM_GENERIC || op_info[inst->op].unit == UNIT_SHARED) &&
         !inst_is_guarded(inst);
}

static bool is_guess(Walk *walk, uint32_t pc) {
  walk->load = pc;
  walk->swap = NO_TARGET;
  walk->refused = false;
  g_array_set_size(walk->states, 0);
  step(walk, (GuessState){.pc = pc});
  for (guint i = 0; i < walk->states->len && !walk->refused; i++)
    step(walk, g_array_index(walk->states, GuessState, i));
  return !walk->refused && walk->swap != NO_TARGET;
}

static bool has_swap(const Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if ((inst->op == OP_ATOM || inst->op == OP_ATOMS) && inst->mode == ATOM_CAS)
      return true;
  }
  return false;
}

bool *guesses_find(const Kernel *kernel) {
  if (!has_swap(kernel))
    return NULL;
  g_autoptr(Cfg) cfg = cfg_new(kernel);
  Liveness liveness = cfg_liveness(kernel);
  Walk walk = {
      .kernel = kernel, .cfg = cfg, .liveness = &liveness, .states = g_array_new(FALSE, FALSE, sizeof(GuessState))};
  bool *guesses = g_new0(bool, kernel->ninsts), any = false;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    any |= guesses[pc] =
        (may_be_guess(&kernel->insts[pc]) && is_guess(&walk, pc)) || narrow_guesses_has(kernel, cfg, pc);
  g_array_free(walk.states, TRUE);
  liveness_clear(&liveness);
  if (!any)
    g_clear_pointer(&guesses, g_free);
  return guesses;
}
