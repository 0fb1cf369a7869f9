#include "sim/detect/race/guesses.h"

#include <string.h>

#include "isa/flow/cfg.h"
#include "sim/detect/race/merges.h"
#include "sim/detect/race/narrow_guesses.h"

enum { GUESS_STATES_MAX = 2000, HELD_MAX = 12, HELD_PREDS_MAX = 4, WHOLE = INT16_MAX };

/* What a register has: the loaded value; the bytes of it that PRMT leaves, others replaced; something else that
 * depends on it, or on what an earlier round loaded; the result of the newest compare-and-swap, and the same bytes of
 * it. */
typedef enum { FRESH, VALUE, PART, DERIVED, EARLIER, RESULT, RESULT_PART } Kind;
/* A predicate: depends on the value, or on an earlier one; says whether value and result are the same, or whether
 * they differ. */
typedef enum { PRED_FRESH, PRED_DERIVED, PRED_EARLIER, PRED_SAME, PRED_DIFFERENT } PredKind;

/* `by`: of PART and RESULT_PART, the operand that chooses the bytes; of a predicate, too, or WHOLE. */
typedef struct Held {
  int16_t what, by;
  uint16_t kind;
} Held;

/* What holds before an instruction. No padding, and what isn't in use is zero: states are compared as bytes. */
typedef struct State {
  uint32_t pc;
  uint8_t count, preds;
  bool moved;   /* the registers of the address have changed since the load */
  bool pending; /* the value has decided something, or was compared: the word has to be looked at again */
  Held held[HELD_MAX], pred[HELD_PREDS_MAX];
} State;

typedef struct Walk {
  const Kernel *kernel;
  const Cfg *cfg;
  const Liveness *liveness;
  uint32_t load;
  int32_t swap; /* the compare-and-swap that was pending, but for what goes on with its result; NO_TARGET: none yet */
  GArray *states;
  bool refused;
} Walk;

/* ---- what is held ---- */

static const Held *held_of(const State *state, int16_t reg) {
  for (unsigned i = 0; i < state->count; i++)
    if (state->held[i].what == reg)
      return &state->held[i];
  return NULL;
}

static Kind kind_of(const State *state, int16_t reg) {
  const Held *held = reg >= 0 ? held_of(state, reg) : NULL;
  return held ? (Kind)held->kind : FRESH;
}

static bool is_old(Kind kind) { return kind == VALUE || kind == PART || kind == DERIVED || kind == EARLIER; }

/* What depends on both. */
static Kind mix(Kind one, Kind other) {
  return one == EARLIER || other == EARLIER ? EARLIER : is_old(one) || is_old(other) ? DERIVED : FRESH;
}

static const Held *pred_of(const State *state, unsigned pred) {
  for (unsigned i = 0; i < state->preds; i++)
    if (state->pred[i].what == (int16_t)pred)
      return &state->pred[i];
  return NULL;
}

/* In the order of `what`, so that equal states are alike. False: there is no room. */
static bool put(Held *list, uint8_t *count, unsigned max, Held held) {
  unsigned at = 0;
  while (at < *count && list[at].what < held.what)
    at++;
  if (at < *count && list[at].what == held.what) {
    list[at] = held;
    return true;
  }
  if (*count == max)
    return false;
  memmove(list + at + 1, list + at, (*count - at) * sizeof *list);
  list[at] = held;
  ++*count;
  return true;
}

static void take_out(Held *list, uint8_t *count, unsigned at) {
  --*count;
  memmove(list + at, list + at + 1, (*count - at) * sizeof *list);
  memset(list + *count, 0, sizeof *list);
}

static void set_reg(Walk *walk, State *state, int16_t reg, Held held) {
  for (unsigned i = state->count; i-- > 0;) {
    Held *other = &state->held[i];
    if (other->what == reg)
      take_out(state->held, &state->count, i);
    else if (other->by == reg && (other->kind == PART || other->kind == RESULT_PART))
      *other = (Held){.what = other->what, .kind = other->kind == PART ? DERIVED : RESULT_PART, .by = WHOLE};
  }
  for (unsigned i = 0; i < state->preds; i++)
    if (state->pred[i].by == reg)
      state->pred[i] = (Held){.what = state->pred[i].what, .kind = PRED_DERIVED, .by = WHOLE};
  held.what = reg;
  if (held.kind != FRESH && (uint32_t)reg < walk->kernel->nregs)
    walk->refused |= !put(state->held, &state->count, HELD_MAX, held);
}

static void set_pred(Walk *walk, State *state, unsigned pred, PredKind kind, int16_t by) {
  for (unsigned i = state->preds; i-- > 0;)
    if (state->pred[i].what == (int16_t)pred)
      take_out(state->pred, &state->preds, i);
  Held held = {.what = (int16_t)pred, .by = by, .kind = (uint16_t)kind};
  if (kind != PRED_FRESH)
    walk->refused |= !put(state->pred, &state->preds, HELD_PREDS_MAX, held);
}

/* What nobody reads any more. */
static void drop_dead(const Walk *walk, State *state) {
  for (unsigned i = state->count; i-- > 0;)
    if (state->held[i].what < REGSET_MAX &&
        !regset_has(&walk->liveness->live_regs[state->pc], (unsigned)state->held[i].what))
      take_out(state->held, &state->count, i);
  for (unsigned i = state->preds; i-- > 0;)
    if (!(walk->liveness->live_preds[state->pc] >> state->pred[i].what & 1))
      take_out(state->pred, &state->preds, i);
}

static bool holds_old(const State *state) {
  bool old = state->preds > 0;
  for (unsigned i = 0; i < state->count; i++)
    old |= is_old((Kind)state->held[i].kind);
  return old;
}

/* What a result of the instruction depends on: FRESH, DERIVED or EARLIER. */
static Kind read_by(const State *state, const Inst *inst) {
  RegList reads = inst_reads(inst);
  Kind kind = FRESH;
  for (unsigned i = 0; i < reads.count; i++)
    kind = mix(kind, kind_of(state, reads.reg[i]));
  for (uint32_t rest = inst_pred_reads(inst); rest; rest &= rest - 1) {
    const Held *pred = pred_of(state, (unsigned)__builtin_ctz(rest));
    if (pred)
      kind = mix(kind, pred->kind == PRED_EARLIER ? EARLIER : DERIVED);
  }
  return kind;
}

static bool reads_old(const State *state, const Inst *inst) { return read_by(state, inst) != FRESH; }

/* ---- ways ---- */

static void go(Walk *walk, const State *from, uint32_t pc) {
  State state = *from;
  state.pc = pc;
  drop_dead(walk, &state);
  if (!state.pending && !holds_old(&state))
    return;
  for (guint i = 0; i < walk->states->len; i++)
    if (memcmp(&g_array_index(walk->states, State, i), &state, sizeof state) == 0)
      return;
  if (walk->states->len >= GUESS_STATES_MAX)
    walk->refused = true;
  else
    g_array_append_val(walk->states, state);
}

/* To all that may follow the instruction. */
static void go_on(Walk *walk, const State *state) {
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

/* The value is the newest after all, if it is `valid`; else another round has to come. */
static State behind_choice(const State *state, int16_t by, bool valid) {
  State next = *state;
  next.pending = !valid;
  for (unsigned i = next.preds; i-- > 0 && valid;)
    if (next.pred[i].kind != PRED_EARLIER && (by == WHOLE || next.pred[i].by == by))
      take_out(next.pred, &next.preds, i);
  for (unsigned i = next.count; i-- > 0 && valid;) {
    Kind kind = (Kind)next.held[i].kind;
    if ((by == WHOLE && (kind == VALUE || kind == PART || kind == DERIVED)) ||
        (kind == PART && next.held[i].by == by))
      take_out(next.held, &next.count, i);
  }
  return next;
}

/* A branch or an exit that the value decides. */
static void choose(Walk *walk, const State *state, const Inst *inst, const Held *guard) {
  bool branches = inst->op == OP_BRA && inst->target != NO_TARGET, ends = inst->op == OP_EXIT;
  if (!(branches || ends) || (inst->flags & INST_POP) || inst->psrc[0] != PRED_TRUE) {
    walk->refused = true;
    return;
  }
  bool by_not = inst->flags & INST_GUARD_NOT;
  State taken = *state, past = *state;
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

static bool is_same_word(const Inst *load, const Inst *inst) {
  return op_info[inst->op].unit == op_info[load->op].unit && inst->a == load->a && inst->imm == load->imm &&
         inst->width == load->width && ((inst->flags ^ load->flags) & INST_ADDR64) == 0;
}

static bool is_swap(const Walk *walk, const State *state, const Inst *inst) {
  return (inst->op == OP_ATOM || inst->op == OP_ATOMS) && inst->mode == ATOM_CAS && inst->cmp == MERGE_NONE &&
         !(inst->flags & INST_LOCK) && !state->moved && is_same_word(&walk->kernel->insts[walk->load], inst);
}

static Held result_of(const Walk *walk, const State *state, const Inst *inst) {
  const uint32_t changes = INST_NEG_A | INST_ABS_A | INST_INV_A;
  const Held *from = inst->a >= 0 ? held_of(state, inst->a) : NULL;
  if (inst->op == OP_MOV && from && !(inst->flags & changes))
    return *from;
  if (inst->op == OP_PRMT && inst->mode == PRMT_INDEX && from && !is_old(kind_of(state, inst->b)) &&
      kind_of(state, inst->c) == FRESH && merges_keeps_places(walk->kernel, walk->cfg, state->pc, inst->c)) {
    bool same = from->kind == VALUE || from->kind == RESULT || from->by == inst->c;
    if (same && (from->kind == VALUE || from->kind == PART))
      return (Held){.kind = PART, .by = inst->c};
    if (same && (from->kind == RESULT || from->kind == RESULT_PART))
      return (Held){.kind = RESULT_PART, .by = inst->c};
  }
  return (Held){.kind = (uint16_t)read_by(state, inst), .by = WHOLE};
}

/* Whether value and result are the same: for equality alone, and nothing else. */
static bool compares(const State *state, const Inst *inst, int16_t *by) {
  const uint32_t changes =
      INST_NEG_A | INST_NEG_B | INST_ABS_A | INST_ABS_B | INST_INV_A | INST_INV_B | INST_CARRY_IN;
  const Held *a = inst->a >= 0 ? held_of(state, inst->a) : NULL, *b = inst->b >= 0 ? held_of(state, inst->b) : NULL;
  bool plain = inst->op == OP_ISETP && (inst->cmp == CMP_EQ || inst->cmp == CMP_NE) && inst->lop == LOP_AND &&
               inst->psrc[0] == PRED_TRUE && !(inst->psrc_not & 1) && inst->pdst2 == PRED_SINK &&
               !(inst->flags & changes) && (inst->type == TYPE_S32 || inst->type == TYPE_U32);
  if (!plain || !a || !b)
    return false;
  if (a->kind > b->kind) {
    const Held *other = a;
    a = b;
    b = other;
  }
  *by = a->kind == PART ? a->by : WHOLE;
  return (a->kind == VALUE && b->kind == RESULT) || (a->kind == PART && b->kind == RESULT_PART && a->by == b->by);
}

/* `by`: of the comparison. */
static PredKind compared(const State *state, const Inst *inst, int16_t *by) {
  int16_t bytes = WHOLE;
  if (compares(state, inst, &bytes)) {
    *by = bytes;
    return inst->cmp == CMP_EQ ? PRED_SAME : PRED_DIFFERENT;
  }
  *by = WHOLE;
  Kind old = read_by(state, inst);
  return old == EARLIER ? PRED_EARLIER : old == DERIVED ? PRED_DERIVED : PRED_FRESH;
}

/* The register of the address gets the same constant again that it had at the load. */
static bool is_same_address(const Walk *walk, const Inst *inst) {
  const Inst *load = &walk->kernel->insts[walk->load];
  const CfgBlock *block = g_ptr_array_index(walk->cfg->blocks, walk->cfg->block_of[walk->load]);
  if ((inst->op != OP_MOV64 && inst->op != OP_MOV) || inst->dst != load->a || inst->a >= 0 || inst_is_guarded(inst))
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

/* Where the guard leaves lanes out, they keep what they had. */
static void write_regs(Walk *walk, State *state, const Inst *inst) {
  RegList writes = inst_writes(inst, walk->kernel->nregs);
  int16_t address = walk->kernel->insts[walk->load].a;
  Held result = result_of(walk, state, inst);
  if (writes.count > 1)
    result = (Held){.kind = (uint16_t)read_by(state, inst), .by = WHOLE};
  for (unsigned i = 0; i < writes.count; i++) {
    Held now = result;
    if (inst_is_guarded(inst))
      now = (Held){.kind = (uint16_t)mix((Kind)result.kind, kind_of(state, writes.reg[i])), .by = WHOLE};
    set_reg(walk, state, writes.reg[i], now);
    state->moved |= (writes.reg[i] == address || writes.reg[i] == address + 1) && !is_same_address(walk, inst);
  }
}

static void compute(Walk *walk, State *state, const Inst *inst) {
  int16_t by;
  PredKind kind = compared(state, inst, &by);
  uint32_t preds = inst_pred_writes(inst);
  write_regs(walk, state, inst);
  for (uint32_t rest = preds; rest; rest &= rest - 1) {
    unsigned number = (unsigned)__builtin_ctz(rest);
    const Held *before = inst_is_guarded(inst) ? pred_of(state, number) : NULL;
    if (before && (before->kind == PRED_EARLIER || kind == PRED_EARLIER))
      set_pred(walk, state, number, PRED_EARLIER, WHOLE);
    else if (before || (inst_is_guarded(inst) && kind != PRED_FRESH && kind != PRED_EARLIER))
      set_pred(walk, state, number, PRED_DERIVED, WHOLE);
    else
      set_pred(walk, state, number, kind, by);
  }
}

/* The load again: what the rounds before left is no guess any more. */
static void look(Walk *walk, State *state, const Inst *inst) {
  walk->refused |= inst_is_guarded(inst) || (state->pending && state->moved) || reads_old(state, inst);
  for (unsigned i = 0; i < state->count; i++)
    if (is_old((Kind)state->held[i].kind))
      state->held[i] = (Held){.what = state->held[i].what, .kind = EARLIER, .by = WHOLE};
  for (unsigned i = 0; i < state->preds; i++)
    state->pred[i] = (Held){.what = state->pred[i].what, .kind = PRED_EARLIER, .by = WHOLE};
  set_reg(walk, state, inst->dst, (Held){.kind = VALUE, .by = WHOLE});
  state->moved = inst->dst == inst->a || ((inst->flags & INST_ADDR64) && inst->dst == inst->a + 1);
  state->pending = false;
}

static bool may_swap(const State *state, const Inst *inst) {
  const Held *compared = inst->b >= 0 ? held_of(state, inst->b) : NULL,
             *stored = inst->c >= 0 ? held_of(state, inst->c) : NULL;
  Kind kind = compared ? (Kind)compared->kind : FRESH, other = stored ? (Kind)stored->kind : FRESH;
  if (!is_old(kind))
    return !is_old(other);
  if (other == EARLIER)
    return false;
  return kind == VALUE || (kind == PART && (!is_old(other) || (other == PART && stored->by == compared->by)));
}

static void swap(Walk *walk, State *state, const Inst *inst) {
  Kind compared = kind_of(state, inst->b);
  bool compares_old = is_old(compared), goes_on = compared == RESULT || compared == RESULT_PART;
  if ((state->pending || compares_old) && !goes_on) {
    walk->refused |= walk->swap != NO_TARGET && walk->swap != (int32_t)state->pc;
    walk->swap = (int32_t)state->pc;
  }
  walk->refused |= inst_is_guarded(inst) || !may_swap(state, inst);
  for (unsigned i = state->count; i-- > 0;)
    if (!is_old((Kind)state->held[i].kind))
      take_out(state->held, &state->count, i);
  for (unsigned i = 0; i < state->preds; i++)
    if (state->pred[i].kind != PRED_EARLIER)
      state->pred[i] = (Held){.what = state->pred[i].what, .kind = PRED_DERIVED, .by = WHOLE};
  set_reg(walk, state, inst->dst, (Held){.kind = RESULT, .by = WHOLE});
  state->moved = inst->dst == inst->a || ((inst->flags & INST_ADDR64) && inst->dst == inst->a + 1);
  state->pending = compares_old;
}

static void step(Walk *walk, State state) {
  const Inst *inst = &walk->kernel->insts[state.pc];
  const Held *guard = inst->guard < PRED_ROWS ? pred_of(&state, inst->guard) : NULL;
  if (state.pc == walk->load)
    look(walk, &state, inst);
  else if (guard) {
    choose(walk, &state, inst, guard);
    return;
  } else if (is_swap(walk, &state, inst))
    swap(walk, &state, inst);
  else if (is_pure(inst))
    compute(walk, &state, inst);
  else {
    walk->refused |= reads_old(&state, inst) || (state.pending && !is_quiet(inst)) || inst->op == OP_CAL ||
                     inst->op == OP_RET || inst->op == OP_BRX;
    compute(walk, &state, inst);
  }
  if (!walk->refused)
    go_on(walk, &state);
}

static bool may_be_guess(const Inst *inst) {
  return (inst->op == OP_LD || inst->op == OP_LDS) && inst->width == WIDTH_32 && inst->a >= 0 &&
         (inst->space == MEM_GLOBAL || inst->space == MEM_GENERIC || op_info[inst->op].unit == UNIT_SHARED) &&
         !inst_is_guarded(inst);
}

static bool is_guess(Walk *walk, uint32_t pc) {
  walk->load = pc;
  walk->swap = NO_TARGET;
  walk->refused = false;
  g_array_set_size(walk->states, 0);
  step(walk, (State){.pc = pc});
  for (guint i = 0; i < walk->states->len && !walk->refused; i++)
    step(walk, g_array_index(walk->states, State, i));
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
      .kernel = kernel, .cfg = cfg, .liveness = &liveness, .states = g_array_new(FALSE, FALSE, sizeof(State))};
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
