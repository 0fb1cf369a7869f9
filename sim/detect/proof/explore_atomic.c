/* Atomics of one lane. */
#include "sim/core/exec.h"
#include "sim/core/queue_unit.h"
#include "sim/detect/proof/explore_step.h"

static bool is_float(const Inst *inst) { return type_is_float(inst->type); }

/* True if adding the number to what the word may hold may give what it couldn't hold before. A range has more values
 * than a list. */
static bool gives_news(const ValueSet *set, const ValueSet *before, uint32_t number) {
  if (number == 0 || (before->anything && !before->ranged))
    return false;
  if (set->anything)
    return !set->ranged || !before->anything || !abstract_has(before, set->low + number) ||
           !abstract_has(before, set->high + number);
  for (uint32_t i = 0; i < set->count; i++)
    if (!abstract_has(before, set->value[i] + number))
      return true;
  return false;
}

/* The lane adds a number to the word. */
static void add_number(LaneWalk *walk, uint32_t pc, WordKey key, uint32_t number) {
  bool news = walk->footprint && gives_news(abstract_word(&walk->explorer->memory, walk->view->sm, key),
                                            explore_set_before(walk, key), number);
  explore_note_store(walk, key, pc, news, NULL);
  explore_note_change(walk, key, false, number);
}

/* What the word becomes although nothing is known of its old value or of what is done to it. */
static void change_to_unknown(LaneWalk *walk, uint32_t pc, const Inst *inst, WordKey key, bool operands_known,
                              uint32_t b, uint32_t c) {
  if (operands_known && (inst->mode == ATOM_EXCH || inst->mode == ATOM_CAS))
    explore_store_value(walk, pc, key, inst->mode == ATOM_EXCH ? b : c);
  else
    explore_store_unknown(walk, pc, key);
}

static void change_word(LaneWalk *walk, const LaneState *state, const Inst *inst, WordKey key) {
  uint32_t b, c, pc = state->pc;
  bool known = explore_operand(walk, state, inst, false, 0, &b);
  known &= explore_operand(walk, state, inst, inst->mode == ATOM_CAS, 0, &c);
  const ValueSet *set = explore_read(walk, key, pc);
  bool follows = known && !(inst->mode == ATOM_ADD && is_float(inst));
  if (follows && inst->mode == ATOM_ADD) {
    add_number(walk, pc, key, b);
    return;
  }
  if (!follows || explore_may_be_anything(walk, set, key)) {
    change_to_unknown(walk, pc, inst, key, known, b, c);
    return;
  }
  uint32_t count = set->count, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t new = (uint32_t)atomic_apply(inst, values[i], b, c);
    if (new != values[i])
      explore_store_value(walk, pc, key, new);
  }
}

/* A part of a word: its other bytes stay. */
static void change_bytes(LaneWalk *walk, const LaneState *state, const Inst *inst, const Place *place) {
  uint32_t b, c, pc = state->pc;
  bool known = explore_operand(walk, state, inst, false, 0, &b);
  known &= explore_operand(walk, state, inst, inst->mode == ATOM_CAS, 0, &c);
  const ValueSet *set = explore_read(walk, place->key, pc);
  if (!known || is_float(inst) || explore_may_be_anything(walk, set, place->key)) {
    explore_store_unknown(walk, pc, place->key);
    return;
  }
  uint32_t count = set->count, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t old = narrow_load(values[i], place->offset, inst->width);
    uint32_t new = (uint32_t)atomic_apply(inst, old, b, c);
    if (new != old)
      explore_store_value(walk, pc, place->key, narrow_store(values[i], place->offset, place->bytes, new));
  }
}

/* True if the low word of a 64-bit counter can't carry into the high one by what is added to it. */
static bool stays_low(LaneWalk *walk, WordKey key, uint32_t pc) {
  const ValueSet *set = explore_read(walk, key, pc);
  if (set->anything)
    return set->ranged && set->low <= set->high && set->high <= INT32_MAX;
  for (uint32_t i = 0; i < set->count; i++)
    if (set->value[i] > INT32_MAX)
      return false;
  return true;
}

/* The operation on each pair of values that the words may hold. False if these are too many. */
static bool change_pairs(LaneWalk *walk, uint32_t pc, const Inst *inst, WordKey key, uint64_t b, uint64_t c) {
  const ValueSet *low = explore_read(walk, key, pc), *high = explore_read(walk, key + 1, pc);
  if (explore_may_be_anything(walk, low, key) || explore_may_be_anything(walk, high, key + 1) ||
      low->count > WIDE_VALUES_MAX || high->count > WIDE_VALUES_MAX)
    return false;
  uint32_t lows = low->count, highs = high->count, low_value[WIDE_VALUES_MAX], high_value[WIDE_VALUES_MAX];
  memcpy(low_value, low->value, sizeof low_value);
  memcpy(high_value, high->value, sizeof high_value);
  for (uint32_t i = 0; i < lows * highs; i++) {
    uint64_t old = low_value[i % lows] | (uint64_t)high_value[i / lows] << 32, new = atomic_apply(inst, old, b, c);
    if (new == old)
      continue;
    explore_store_value(walk, pc, key, (uint32_t) new);
    explore_store_value(walk, pc, key + 1, (uint32_t)(new >> 32));
  }
  return true;
}

/* A number is added to 64 bits, and nothing is carried from the low word, a small counter, into the high one. False:
 * something may be. */
static bool add_to_pair(LaneWalk *walk, uint32_t pc, WordKey key, uint32_t low, uint32_t high) {
  if (low && (low > INT32_MAX || !stays_low(walk, key, pc)))
    return false;
  if (low || !high)
    add_number(walk, pc, key, low);
  if (high)
    add_number(walk, pc, key + 1, high);
  return true;
}

/* One of the two words can't hold what a compare-and-swap compares it with. */
static bool never_equal(LaneWalk *walk, const LaneState *state, const Inst *inst, WordKey key) {
  for (uint32_t part = 0; part < 2; part++) {
    uint32_t compared;
    const ValueSet *set = explore_read(walk, key + part, state->pc);
    if (explore_operand(walk, state, inst, false, part, &compared) &&
        !explore_may_be_anything(walk, set, key + part) && !abstract_has(set, compared))
      return true;
  }
  return false;
}

/* 64 bits. Small counters stay in the low word. */
static void change_pair(LaneWalk *walk, const LaneState *state, const Inst *inst, WordKey key) {
  bool cas = inst->mode == ATOM_CAS, is_add = inst->mode == ATOM_ADD, known = true;
  uint32_t value[4];
  for (unsigned i = 0; i < G_N_ELEMENTS(value); i++)
    known &= explore_operand(walk, state, inst, cas && i >= 2, i % 2, &value[i]);
  uint64_t b = value[0] | (uint64_t)value[1] << 32, c = value[2] | (uint64_t)value[3] << 32;
  uint32_t pc = state->pc;
  if (cas && never_equal(walk, state, inst, key))
    return;
  if (known && is_add && !is_float(inst) && add_to_pair(walk, pc, key, value[0], value[1])) {
    return;
  } else if (known && !is_add && change_pairs(walk, pc, inst, key, b, c)) {
    return;
  } else if (known && (cas || inst->mode == ATOM_EXCH)) {
    explore_store_value(walk, pc, key, (uint32_t)c);
    explore_store_value(walk, pc, key + 1, (uint32_t)(c >> 32));
  } else {
    explore_store_unknown(walk, pc, key);
    explore_store_unknown(walk, pc, key + 1);
  }
}

/* One of the words of an exchange, or of a compare and swap. */
typedef struct Swap {
  bool known, stays; /* the new value is known; it is the one that the word has, if anything is stored */
  uint32_t new;
} Swap;

/* Part `part`. False: the word can't hold what is compared. */
static bool look_at_part(LaneWalk *walk, const LaneState *state, const Inst *inst, WordKey key, uint32_t part,
                         Swap *swap) {
  bool cas = inst->mode == ATOM_CAS;
  uint32_t old;
  bool compares = explore_operand(walk, state, inst, false, part, &old) && cas;
  const ValueSet *set = explore_read(walk, key, state->pc);
  bool anything = explore_may_be_anything(walk, set, key), one = !anything && set->count == 1;
  swap->known = explore_operand(walk, state, inst, cas, part, &swap->new);
  swap->stays = swap->known && (compares ? old == swap->new : one && set->value[0] == swap->new);
  return !compares || anything || abstract_has(set, old);
}

/* 128 bits are exchanged, or compared and swapped. Each of the four words may hold any of its values, whatever the
 * others hold. A CAS stores only if each may hold what is compared. */
static void change_four(LaneWalk *walk, const LaneState *state, const Inst *inst, WordKey key) {
  enum { WORDS = 4 };
  Swap swap[WORDS];
  bool stores = true;
  for (uint32_t i = 0; i < WORDS; i++)
    stores &= look_at_part(walk, state, inst, key + i, i, &swap[i]);
  for (uint32_t i = 0; i < WORDS && stores; i++) {
    if (!swap[i].known)
      explore_store_unknown(walk, state->pc, key + i);
    else if (!swap[i].stays)
      explore_store_value(walk, state->pc, key + i, swap[i].new);
  }
}

/* A lock in tags (sim/core/locks.h) may let nobody in although its word says "free": another SM is next, or nothing
 * is known of the lock where the lane asks. */
static void refuse_lock(LaneWalk *walk, const LaneState *state, const Inst *inst) {
  LaneSpace refused;
  uint32_t taken;
  lane_state_copy(&refused.state, state, walk_nregs(walk));
  bool known = explore_operand(walk, state, inst, true, 0, &taken);
  explore_set_register(walk, &refused.state, inst->dst, !known, taken);
  explore_go_on(walk, &refused.state, inst, state->pc + 1);
}

/* What the word held before can be any of its values, those that the change adds too. */
void explore_atomic(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place) {
  if (queue_unit_has(inst)) {
    explore_queue(walk, state, inst, place);
    return;
  }
  for (uint32_t word = 0; word < place->bytes; word += 4)
    explore_update_copy(walk, inst, place, place->key + word / 4, false, 0);
  if (place->bytes == 4)
    change_word(walk, state, inst, place->key);
  else if (place->bytes == 8)
    change_pair(walk, state, inst, place->key);
  else if (place->bytes == 16)
    change_four(walk, state, inst, place->key);
  else
    change_bytes(walk, state, inst, place);
  if (inst->flags & INST_LOCK && inst->mode == ATOM_CAS)
    refuse_lock(walk, state, inst);
  if (op_info[inst->op].flags & OPF_LOAD)
    explore_load(walk, state, inst, place);
  else
    explore_go_on(walk, state, inst, state->pc + 1);
}
