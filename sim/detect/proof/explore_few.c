/* Results that aren't known but can be few numbers, such as a random number modulo 8: a state for each, so that a
 * lane which looks at one of eight words by chance is followed to all of them. */
#include "sim/core/unknown_bits.h"
#include "sim/detect/proof/explore_step.h"

/* With a bit more the loops of a server's clients (tests/batches/clients_first.yaml) fill their states with numbers,
 * and their wait gets the name of a smaller circle. */
enum { FEW_BITS = 4, FEW_VALUES = 1 << FEW_BITS, FEW_STATES = 128 };

/* There is room for so many more states behind the instruction, and what it gives isn't made unknown there. */
static bool has_room(const LaneWalk *walk, const LaneState *state, const Inst *inst, uint64_t count) {
  const StateSet *set = &walk->view->facts->states;
  uint32_t next = state->pc + 1;
  if (walk->vague || count > FEW_VALUES || inst->flags & INST_POP || next >= set->ninsts || inst_pred_writes(inst))
    return false;
  bool widened = false;
  RegList writes = inst_writes(inst, walk_nregs(walk));
  for (unsigned i = 0; i < writes.count; i++)
    widened |= (uint32_t)writes.reg[i] < set->nregs && regset_has(&set->widened[next], (unsigned)writes.reg[i]);
  return !widened && set->count_at_pc[next] + count <= FEW_STATES;
}

/* The lane goes on with that result, of one register or of two. */
static void go_on_with(LaneWalk *walk, const LaneState *state, const Inst *inst, uint64_t value) {
  LaneSpace after;
  walk->splits = true;
  lane_state_copy(&after.state, state, walk_nregs(walk));
  RegList writes = inst_writes(inst, walk_nregs(walk));
  for (unsigned i = 0; i < writes.count; i++)
    explore_set_register(walk, &after.state, writes.reg[i], false, (uint32_t)(value >> 32 * i));
  explore_go_on(walk, &after.state, inst, state->pc + 1);
}

/* The operand can't be negative. */
static bool is_positive(const LaneState *state, int16_t slot) {
  return slot >= 0 && state->ranged == (uint32_t)slot + 1 && state->low <= state->high && state->high >> 31 == 0;
}

/* A remainder by a small number. */
static bool give_remainders(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  if (inst->op != OP_IREM || slot_unknown(state, inst->b))
    return false;
  bool is_signed = inst->type == TYPE_S32;
  uint32_t number = slot_value(walk, state, inst->b);
  uint64_t size = is_signed && number >> 31 ? -number : number;
  uint64_t least = is_signed && size && !is_positive(state, inst->a) ? size - 1 : 0;
  if (size == 0 || !has_room(walk, state, inst, size + least))
    return false;
  for (uint64_t value = 0; value < size + least; value++)
    go_on_with(walk, state, inst, (uint32_t)(value - least));
  return true;
}

/* Which bits of word `part` of the result aren't known. */
static uint32_t bits_of(const LaneWalk *walk, const LaneState *state, const Inst *inst, uint32_t part) {
  Inst word = *inst;
  word.op = inst->op == OP_LOP64 ? OP_LOP : inst->op;
  int16_t slots[3] = {inst->a, inst->b, inst->c};
  unsigned count = op_info[inst->op].form == FORM_D_A_B_C ? 3 : 2;
  UnknownOperands operands = {{0}, {0}, false};
  for (unsigned i = 0; i < count; i++) {
    int16_t slot = slot_part(slots[i], part, inst->op == OP_LOP64);
    operands.value[i] = slot_unknown(state, slot) ? 0 : slot_value(walk, state, slot);
    operands.unknown[i] = slot_unknown(state, slot) ? UINT32_MAX : 0;
  }
  return unknown_bits(&word, &operands);
}

/* Of the result, of one register or of two: bits that aren't known. */
static uint64_t open_bits(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  RegList writes = inst_writes(inst, walk_nregs(walk));
  uint64_t bits = 0;
  for (unsigned i = 0; i < writes.count; i++)
    if ((uint32_t)writes.reg[i] < walk_nregs(walk))
      bits |= (uint64_t)bits_of(walk, state, inst, i) << 32 * i;
  return bits;
}

bool explore_give_few(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  if (give_remainders(walk, state, inst))
    return true;
  if ((!unknown_bits_has(inst) && inst->op != OP_LOP64) || !has_room(walk, state, inst, 1))
    return false;
  uint64_t open = open_bits(walk, state, inst), known = explore_with_zeros(walk, state, inst) & ~open, chosen = 0;
  unsigned count = (unsigned)__builtin_popcountll(open);
  if (count > FEW_BITS || !has_room(walk, state, inst, UINT64_C(1) << count))
    return false;
  do {
    go_on_with(walk, state, inst, known | chosen);
    chosen = (chosen - open) & open;
  } while (chosen);
  return true;
}

bool explore_give_range(const LaneWalk *walk, LaneState *state, const Inst *inst) {
  RegList writes = inst_writes(inst, walk_nregs(walk));
  bool whole = !state->ranged || state->ranged == (uint32_t)inst->dst + 1; /* of one register a range is known */
  if (!unknown_bits_has(inst) || inst_pred_writes(inst) || writes.count != 1 ||
      (uint32_t)inst->dst >= walk_nregs(walk) || !whole)
    return false;
  uint64_t open = open_bits(walk, state, inst), known = explore_with_zeros(walk, state, inst) & ~open;
  if ((known | open) >> 31)
    return false;
  explore_set_range(walk, state, inst->dst, (uint32_t)known, (uint32_t)(known | open));
  return true;
}
