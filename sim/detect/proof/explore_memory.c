/* Loads, stores, lock bits and atomics of one lane, on the sets of values that words may hold. */
#include "base/bits.h"
#include "sim/core/cached.h"
#include "sim/core/place.h"
#include "sim/detect/proof/explore_step.h"

/* Of a load of several words, each with more values than this, the value isn't known. */
enum { WIDE_VALUES_MAX = 4 };

/* Where a lane's access goes. */
typedef struct Place {
  MemSpace space;
  WordKey key;       /* its first word; MEM_PARAM: its first byte */
  uint32_t offset;   /* byte in it */
  uint32_t physical; /* shared memory: the address in the SM */
  uint32_t bytes;
} Place;

/* Keeps the first touch of a key. */
static void note(GHashTable *touches, uint64_t key, uint32_t pc, uint32_t physical) {
  if (!touches || g_hash_table_contains(touches, &key))
    return;
  Touch *touch = g_new0(Touch, 1);
  *touch = (Touch){.key = key, .pc = pc, .physical = physical};
  g_hash_table_insert(touches, &touch->key, touch);
}

void footprint_init(Footprint *footprint) {
  GHashTable **table[] = {&footprint->reads,  &footprint->lock_reads, &footprint->stores,
                          &footprint->writes, &footprint->frees,      &footprint->wild};
  for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
    *table[i] = g_hash_table_new_full(bits_hash_key, g_int64_equal, NULL, g_free);
}

void footprint_clear(Footprint *footprint) {
  GHashTable *table[] = {footprint->reads,  footprint->lock_reads, footprint->stores,
                         footprint->writes, footprint->frees,      footprint->wild};
  for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
    g_hash_table_destroy(table[i]);
}

/* ---- addresses ---- */

/* The slot of the address's high word; that of the low one if it has no other. */
static int16_t high_slot(const Inst *inst) { return slot_part(inst->a, place_is_wide(inst), true); }

static bool address_unknown(const LaneState *state, const Inst *inst) {
  return slot_unknown(state, inst->a) || slot_unknown(state, high_slot(inst));
}

static uint64_t address_of(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  return place_address(inst, slot_value(walk, state, inst->a), slot_value(walk, state, high_slot(inst)));
}

static PlaceFault locate_shared(const LaneWalk *walk, uint32_t relative, Place *place) {
  const Block *block = walk->view->block;
  place->space = MEM_SHARED;
  place->physical = block->shared_base + relative;
  place->key = word_key_shared(walk->view->sm->index, place->physical / 4);
  return place_in(relative, place->bytes, block->shared_bytes);
}

static PlaceFault locate_local(const LaneWalk *walk, MemKind kind, uint32_t relative, Place *place) {
  const WarpView *view = walk->view;
  place->space = MEM_LOCAL;
  place->key = word_key_local(view->sm->index, view->warp->slot, walk->lane, relative / 4);
  return place_in_local(kind, relative, place->bytes, view->launch->kernel->local_bytes);
}

static PlaceFault locate(const LaneWalk *walk, const LaneState *state, const Inst *inst, Place *place) {
  uint64_t address = address_of(walk, state, inst);
  MemKind kind = place_kind(inst);
  MemSpace space = place_space(inst);
  *place = (Place){.space = space, .offset = (uint32_t)(address % 4), .bytes = width_bytes[inst->width]};
  bool generic = space == MEM_GENERIC;
  if (generic)
    space = place_window(address);
  if (space == MEM_SHARED)
    return locate_shared(walk, (uint32_t)address - (generic ? SHARED_WINDOW : 0), place);
  if (space == MEM_LOCAL)
    return locate_local(walk, kind, (uint32_t)address - (generic ? LOCAL_WINDOW : 0), place);
  if (space == MEM_PARAM) {
    place->key = address;
    return place_in(address, place->bytes, walk->view->launch->param_bytes);
  }
  BackingBuffer *buffer;
  place->key = word_key_global(address);
  return place_in_buffer(walk->explorer->gpu->backing, kind, space == MEM_CONST, address, place->bytes, &buffer);
}

static uint32_t words_of(const Place *place) { return place->bytes > 4 ? place->bytes / 4 : 1; }

/* ---- words ---- */

static ValueSet *word_set(LaneWalk *walk, WordKey key, uint32_t pc) {
  if (walk->footprint && !word_key_is_local(key))
    note(walk->footprint->reads, key, pc, 0);
  return abstract_word(&walk->explorer->memory, walk->view->sm, key);
}

/* ---- copies in the L1 ---- */

static bool is_global(const Place *place) { return place->space == MEM_GLOBAL || place->space == MEM_GENERIC; }

static bool is_cached(const LaneWalk *walk, const Inst *inst, const Place *place) {
  return is_global(place) && cached_is_load(walk->explorer->gpu->machine, inst);
}

/* What a load of that word may find. One that uses the L1 reads the copy there; if that may go, either. */
static ValueSet *loaded_set(LaneWalk *walk, const Inst *inst, const Place *place, WordKey key, uint32_t pc) {
  Explorer *explorer = walk->explorer;
  const Sm *sm = walk->view->sm;
  ValueSet *set = word_set(walk, key, pc);
  uint32_t copy;
  if (!sm->l1 || !is_cached(walk, inst, place) || (walk->assumption && walk->assumption->fresh))
    return set;
  if (!read_only(walk))
    explorer->memory.version += copies_load(explorer->copies, sm, key * 4);
  if (copies_keep(explorer->copies, sm, key * 4, &copy))
    return abstract_copy(&explorer->memory, sm, key, copy);
  if (!read_only(walk) && l1_peek(sm->l1, key * 4, &copy))
    abstract_add(&explorer->memory, set, copy);
  return set;
}

/* A store writes through, and updates or evicts the copy in its own SM's L1. */
static void update_copy(LaneWalk *walk, const Inst *inst, const Place *place, WordKey key, bool unknown,
                        uint32_t value) {
  Explorer *explorer = walk->explorer;
  const Sm *sm = walk->view->sm;
  uint32_t copy;
  if (read_only(walk) || !sm->l1 || !is_global(place) || !l1_peek(sm->l1, key * 4, &copy))
    return;
  if (cached_evicts(inst) || unknown || explorer->gpu->machine->sm.l1.global_stores != L1_UPDATE) {
    explorer->memory.version += copies_evict(explorer->copies, sm, key * 4);
    return;
  }
  ValueSet *set = abstract_copy(&explorer->memory, sm, key, copy);
  uint32_t count = set->count, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++)
    abstract_add(&explorer->memory, set, narrow_store(values[i], place->offset, MIN(place->bytes, 4), value));
  if (set->anything)
    explorer->memory.version += copies_evict(explorer->copies, sm, key * 4);
}

/* A fence or an acquire empties the L1. */
static void empty_l1(LaneWalk *walk) {
  if (!read_only(walk))
    walk->explorer->memory.version += copies_evict_all(walk->explorer->copies, walk->view->sm);
}

/* True if somebody else is assumed to have changed the word to whatever the lane likes. */
static bool is_free(const LaneWalk *walk, WordKey key) {
  const Assumption *assumption = walk->assumption;
  if (!assumption || word_key_is_local(key))
    return false;
  return (assumption->free_words && g_hash_table_contains(assumption->free_words, &key)) ||
         (assumption->fixed_words && !g_hash_table_contains(assumption->fixed_words, &key));
}

static bool bit_is_free(const LaneWalk *walk, BitKey key) {
  const Assumption *assumption = walk->assumption;
  return assumption && ((assumption->free_bits && g_hash_table_contains(assumption->free_bits, &key)) ||
                        (assumption->fixed_bits && !g_hash_table_contains(assumption->fixed_bits, &key)));
}

static bool word_is_anything(const LaneWalk *walk, const ValueSet *set, WordKey key) {
  return set->anything || is_free(walk, key) ||
         (word_key_is_local(key) && walk->view->local_unknown >> walk->lane & 1);
}

/* Keeps a change in mind until it is known whether the lane can come back to it. */
static void note_change(LaneWalk *walk, WordKey key, bool unknown, uint32_t number) {
  LaneChange change = {.key = key, .unknown = unknown, .number = number, .state = walk->view->states->from};
  if (keeps_stores(walk) && (unknown || number))
    g_array_append_val(walk->changes, change);
}

/* `value`: NULL for one that isn't known. */
static void note_store(const LaneWalk *walk, WordKey key, uint32_t pc, bool news, const uint32_t *value) {
  if (!walk->footprint)
    return;
  Touch *touch = g_hash_table_lookup(walk->footprint->stores, &key);
  if (!touch) {
    note(walk->footprint->stores, key, pc, 0);
    touch = g_hash_table_lookup(walk->footprint->stores, &key);
    touch->one_value = value != NULL;
    touch->value = value ? *value : 0;
  }
  touch->one_value = touch->one_value && value && touch->value == *value;
  if (news)
    note(walk->footprint->writes, key, pc, 0);
}

/* What a word may hold already; in a layer, below it. */
static const ValueSet *set_before(const LaneWalk *walk, WordKey key) {
  AbstractMemory *memory = &walk->explorer->memory;
  return abstract_word(memory->base ? memory->base : memory, walk->view->sm, key);
}

static void store_unknown(LaneWalk *walk, uint32_t pc, WordKey key) {
  note_store(walk, key, pc, !set_before(walk, key)->anything, NULL);
  note_change(walk, key, true, 0);
}

static void store_value(LaneWalk *walk, uint32_t pc, WordKey key, uint32_t value) {
  AbstractMemory *memory = &walk->explorer->memory;
  ValueSet *set = abstract_word(memory, walk->view->sm, key);
  note_store(walk, key, pc, walk->footprint && !abstract_has(set_before(walk, key), value), &value);
  if (keeps_stores(walk))
    abstract_add(memory, set, value);
}

static void add_number(LaneWalk *walk, uint32_t pc, WordKey key, uint32_t number) {
  const ValueSet *set = abstract_word(&walk->explorer->memory, walk->view->sm, key);
  bool news = false;
  for (uint32_t i = 0; walk->footprint && i < set->count; i++)
    news |= !abstract_has(set_before(walk, key), set->value[i] + number);
  note_store(walk, key, pc, news, NULL);
  note_change(walk, key, false, number);
}

/* ---- loads ---- */

static void load_parts(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place, uint32_t part);

static void load_value(LaneWalk *walk, const LaneState *state, const Inst *inst, const Place *place, uint32_t part,
                       uint32_t value) {
  LaneSpace after;
  lane_state_copy(&after.state, state, walk_nregs(walk));
  explore_set_register(walk, &after.state, inst->dst + (int)(words_of(place) > 1 ? part : 0), false, value);
  load_parts(walk, &after.state, inst, place, part + 1);
}

/* What the load was seen to give, or what is assumed to be stored there. False if it wasn't seen. */
static bool load_seen(LaneWalk *walk, const LaneState *state, const Inst *inst, const Place *place, uint32_t part) {
  const SeenLoads *seen = walk->explorer->seen;
  const Touch *stored = walk->assumption ? walk->assumption->stored : NULL;
  WordKey key = place->key + part;
  const SeenValues *values = seen && seen->warp == walk->view->warp && !is_free(walk, key)
                                 ? seen_values(seen, walk->lane, state->pc, part)
                                 : NULL;
  if (!values)
    return false;
  word_set(walk, key, state->pc);
  for (uint32_t i = 0; i < values->count; i++)
    load_value(walk, state, inst, place, part, values->value[i]);
  if (stored && stored->key == key)
    load_value(walk, state, inst, place, part, narrow_load(stored->value, place->offset, inst->width));
  return true;
}

/* Part `part` of a load: every value the word may hold, then the next part. */
static void load_parts(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place, uint32_t part) {
  uint32_t parts = words_of(place);
  if (part == parts) {
    explore_go_on(walk, state, inst, state->pc + 1);
    return;
  }
  if (load_seen(walk, state, inst, place, part))
    return;
  WordKey key = place->key + part;
  const ValueSet *set = loaded_set(walk, inst, place, key, state->pc);
  int reg = inst->dst + (int)(parts > 1 ? part : 0);
  if (word_is_anything(walk, set, key) || (parts > 1 && set->count > WIDE_VALUES_MAX)) {
    if (set->ranged && !is_free(walk, key) && place->bytes >= 4)
      explore_set_range(walk, state, reg, set->low, set->high);
    else
      explore_set_register(walk, state, reg, true, 0);
    load_parts(walk, state, inst, place, part + 1);
    return;
  }
  for (uint32_t i = 1; i < set->count; i++) {
    LaneSpace after;
    lane_state_copy(&after.state, state, walk_nregs(walk));
    explore_set_register(walk, &after.state, reg, false, narrow_load(set->value[i], place->offset, inst->width));
    load_parts(walk, &after.state, inst, place, part + 1);
  }
  explore_set_register(walk, state, reg, false, narrow_load(set->value[0], place->offset, inst->width));
  load_parts(walk, state, inst, place, part + 1);
}

/* A parameter at an address that is computed. */
static void load_param(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place) {
  const uint8_t *params = walk->view->launch->params;
  for (uint32_t part = 0; part < words_of(place); part++) {
    uint32_t word = 0, bytes = MIN(place->bytes, 4);
    memcpy(&word, params + place->key + 4 * part, bytes);
    explore_set_register(walk, state, inst->dst + (int)part, false, narrow_load(word, 0, inst->width));
  }
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* LDSLK: the bit may be free, or held, or either. */
static void load_locked(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place) {
  AbstractMemory *memory = &walk->explorer->memory;
  const Sm *sm = walk->view->sm;
  uint32_t index = lock_unit_index(&sm->lock_unit, place->physical);
  BitSet *bit = abstract_bit(memory, sm, index);
  BitKey bkey = bit_key(sm->index, index);
  if (walk->footprint)
    note(walk->footprint->lock_reads, bkey, state->pc, place->physical);
  bool may_be_free = bit->may_be_free || bit_is_free(walk, bkey);
  if (bit->may_be_held) {
    LaneSpace refused;
    lane_state_copy(&refused.state, state, walk_nregs(walk));
    explore_set_predicate(&refused.state, inst->pdst, false);
    load_parts(walk, &refused.state, inst, place, 0);
  }
  if (may_be_free) {
    explore_set_predicate(state, inst->pdst, true);
    if (keeps_stores(walk))
      abstract_hold_bit(memory, bit);
    load_parts(walk, state, inst, place, 0);
  }
}

/* ---- stores ---- */

static void store_part(LaneWalk *walk, const LaneState *state, const Inst *inst, const Place *place, uint32_t part,
                       int16_t slot) {
  WordKey key = place->key + part;
  bool unknown = slot_unknown(state, slot);
  uint32_t value = slot_value(walk, state, slot);
  const ValueSet *set = abstract_word(&walk->explorer->memory, walk->view->sm, key);
  update_copy(walk, inst, place, key, unknown, value);
  if (unknown || (place->bytes < 4 && set->anything)) {
    store_unknown(walk, state->pc, key);
    return;
  }
  if (place->bytes >= 4) {
    store_value(walk, state->pc, key, value);
    return;
  }
  uint32_t count = set->count, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++)
    store_value(walk, state->pc, key, narrow_store(values[i], place->offset, place->bytes, value));
}

static void free_bit(LaneWalk *walk, uint32_t pc, uint32_t physical) {
  const Sm *sm = walk->view->sm;
  uint32_t index = lock_unit_index(&sm->lock_unit, physical);
  if (walk->footprint)
    note(walk->footprint->frees, bit_key(sm->index, index), pc, physical);
  if (keeps_stores(walk))
    abstract_free_bit(&walk->explorer->memory, abstract_bit(&walk->explorer->memory, sm, index));
}

static void store(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place) {
  for (uint32_t part = 0; part < words_of(place); part++)
    store_part(walk, state, inst, place, part, slot_part(inst->b, part, inst->wide & WIDE_B));
  if (op_info[inst->op].flags & OPF_UNLOCK)
    free_bit(walk, state->pc, place->physical);
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* ---- atomics ---- */

static bool is_float(const Inst *inst) {
  return inst->type == TYPE_F32 || inst->type == TYPE_F64 || inst->type == TYPE_F16;
}

/* What the word becomes although nothing is known of its old value or of what is done to it. */
static void change_to_unknown(LaneWalk *walk, uint32_t pc, const Inst *inst, WordKey key, bool operands_known,
                              uint32_t b, uint32_t c) {
  if (operands_known && (inst->mode == ATOM_EXCH || inst->mode == ATOM_CAS))
    store_value(walk, pc, key, inst->mode == ATOM_EXCH ? b : c);
  else
    store_unknown(walk, pc, key);
}

static void change_word(LaneWalk *walk, const LaneState *state, const Inst *inst, WordKey key) {
  int16_t c_slot = inst->mode == ATOM_CAS ? inst->c : inst->b;
  bool known = !slot_unknown(state, inst->b) && !slot_unknown(state, c_slot);
  uint32_t b = slot_value(walk, state, inst->b), c = slot_value(walk, state, c_slot), pc = state->pc;
  const ValueSet *set = word_set(walk, key, pc);
  bool follows = known && !(inst->mode == ATOM_ADD && is_float(inst));
  if (follows && inst->mode == ATOM_ADD) {
    add_number(walk, pc, key, b);
    return;
  }
  if (!follows || word_is_anything(walk, set, key)) {
    change_to_unknown(walk, pc, inst, key, known, b, c);
    return;
  }
  uint32_t count = set->count, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t new = (uint32_t)atomic_apply(inst, values[i], b, c);
    if (new != values[i])
      store_value(walk, pc, key, new);
  }
}

/* True if the low word of a 64-bit counter can't carry into the high one by what is added to it. */
static bool stays_low(LaneWalk *walk, WordKey key) {
  const ValueSet *set = abstract_word(&walk->explorer->memory, walk->view->sm, key);
  if (set->anything)
    return set->ranged && set->high <= INT32_MAX;
  for (uint32_t i = 0; i < set->count; i++)
    if (set->value[i] > INT32_MAX)
      return false;
  return true;
}

/* The operation on each pair of values that the words may hold. False if these are too many. */
static bool change_pairs(LaneWalk *walk, uint32_t pc, const Inst *inst, WordKey key, uint64_t b, uint64_t c) {
  const ValueSet *low = word_set(walk, key, pc), *high = word_set(walk, key + 1, pc);
  if (word_is_anything(walk, low, key) || word_is_anything(walk, high, key + 1) || low->count > WIDE_VALUES_MAX ||
      high->count > WIDE_VALUES_MAX)
    return false;
  uint32_t lows = low->count, highs = high->count, low_value[WIDE_VALUES_MAX], high_value[WIDE_VALUES_MAX];
  memcpy(low_value, low->value, sizeof low_value);
  memcpy(high_value, high->value, sizeof high_value);
  for (uint32_t i = 0; i < lows * highs; i++) {
    uint64_t old = low_value[i % lows] | (uint64_t)high_value[i / lows] << 32, new = atomic_apply(inst, old, b, c);
    if (new == old)
      continue;
    store_value(walk, pc, key, (uint32_t) new);
    store_value(walk, pc, key + 1, (uint32_t)(new >> 32));
  }
  return true;
}

/* 64 bits. Small counters stay in the low word. */
static void change_pair(LaneWalk *walk, const LaneState *state, const Inst *inst, WordKey key) {
  bool cas = inst->mode == ATOM_CAS, is_add = inst->mode == ATOM_ADD, known = true;
  int16_t last = cas ? inst->c : inst->b;
  int16_t slot[] = {inst->b, slot_part(inst->b, 1, inst->wide & WIDE_B), last,
                    slot_part(last, 1, inst->wide & (cas ? WIDE_C : WIDE_B))};
  uint64_t value[G_N_ELEMENTS(slot)];
  for (unsigned i = 0; i < G_N_ELEMENTS(slot); i++) {
    known = known && !slot_unknown(state, slot[i]);
    value[i] = slot_value(walk, state, slot[i]);
  }
  uint64_t b = value[0] | value[1] << 32, c = value[2] | value[3] << 32;
  uint32_t pc = state->pc;
  if (known && is_add && !is_float(inst) && b <= INT32_MAX && stays_low(walk, key)) {
    add_number(walk, pc, key, (uint32_t)b);
  } else if (known && !is_add && change_pairs(walk, pc, inst, key, b, c)) {
    return;
  } else if (known && (cas || inst->mode == ATOM_EXCH)) {
    store_value(walk, pc, key, (uint32_t)c);
    store_value(walk, pc, key + 1, (uint32_t)(c >> 32));
  } else {
    store_unknown(walk, pc, key);
    store_unknown(walk, pc, key + 1);
  }
}

/* What the word held before can be any of its values, those that the change adds too. */
static void change(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place) {
  update_copy(walk, inst, place, place->key, false, 0);
  if (place->bytes == 4)
    change_word(walk, state, inst, place->key);
  else if (place->bytes == 8)
    change_pair(walk, state, inst, place->key);
  else
    store_unknown(walk, state->pc, place->key);
  if (op_info[inst->op].flags & OPF_LOAD)
    load_parts(walk, state, inst, place, 0);
  else
    explore_go_on(walk, state, inst, state->pc + 1);
}

static AddShare *share_of(LaneWalk *walk, WordKey key) {
  GArray *shares = walk->view->shares;
  for (guint i = 0; i < shares->len; i++) {
    AddShare *share = &g_array_index(shares, AddShare, i);
    if (share->key == key && share->lane == walk->lane)
      return share;
  }
  AddShare new = {.key = key, .lane = walk->lane};
  g_array_append_val(shares, new);
  return &g_array_index(shares, AddShare, shares->len - 1);
}

/* All adds of the lane to that word; changes before `first` were to others. */
static void count_adds(LaneWalk *walk, guint first) {
  WordKey key = g_array_index(walk->changes, LaneChange, first).key;
  uint64_t up = 0, down = 0;
  uint32_t step = 0;
  for (guint i = first; i < walk->changes->len; i++) {
    const LaneChange *change = &g_array_index(walk->changes, LaneChange, i);
    if (change->key != key || change->unknown)
      continue;
    uint32_t size = change->number <= INT32_MAX ? change->number : -change->number;
    *(change->number <= INT32_MAX ? &up : &down) += size;
    step = abstract_common_step(step, size);
  }
  AddShare *share = share_of(walk, key);
  if (step == 0 || (up <= share->up && down <= share->down && share->step && step % share->step == 0))
    return;
  uint64_t more_up = up > share->up ? up - share->up : 0, more_down = down > share->down ? down - share->down : 0;
  share->up += more_up;
  share->down += more_down;
  share->step = abstract_common_step(step, share->step);
  AbstractMemory *memory = &walk->explorer->memory;
  abstract_add_sums(memory, abstract_word(memory, walk->view->sm, key), more_up, more_down, step);
}

static bool is_first_of_its_word(const LaneWalk *walk, guint index) {
  WordKey key = g_array_index(walk->changes, LaneChange, index).key;
  for (guint i = 0; i < index; i++)
    if (g_array_index(walk->changes, LaneChange, i).key == key)
      return false;
  return true;
}

void explore_apply_changes(LaneWalk *walk) {
  AbstractMemory *memory = &walk->explorer->memory;
  for (guint i = 0; i < walk->changes->len; i++) {
    const LaneChange *change = &g_array_index(walk->changes, LaneChange, i);
    ValueSet *set = abstract_word(memory, walk->view->sm, change->key);
    bool again = state_set_returns(walk->view->states, change->state);
    if (change->unknown || again)
      abstract_add_anything(memory, set, again && !word_key_is_local(change->key));
  }
  for (guint i = 0; i < walk->changes->len; i++)
    if (is_first_of_its_word(walk, i))
      count_adds(walk, i);
}

/* ---- all ---- */

static void unknown_address(LaneWalk *walk, LaneState *state, const Inst *inst) {
  bool changes = op_info[inst->op].flags & (OPF_STORE | OPF_LOCK), local = place_space(inst) == MEM_LOCAL;
  if (walk->footprint && changes && !local)
    note(walk->footprint->wild, state->pc, state->pc, 0);
  if (changes && local && !read_only(walk)) {
    uint32_t lane = 1u << walk->lane;
    walk->explorer->memory.version += !(walk->view->local_unknown & lane);
    walk->view->local_unknown |= lane;
  } else if (changes && !read_only(walk)) {
    walk->explorer->gave_up = true; /* it may change any word */
    return;
  }
  empty_l1(walk);
  explore_fault(walk); /* it may lie anywhere */
  explore_forget_writes(walk, state, inst);
  explore_go_on(walk, state, inst, state->pc + 1);
}

void explore_memory(LaneWalk *walk, LaneState *state, const Inst *inst) {
  uint32_t flags = op_info[inst->op].flags;
  Place place;
  if (flags & OPF_FENCE ? inst->mode != FENCE_CTA : cached_is_acquire(inst))
    empty_l1(walk);
  if (flags & OPF_FENCE)
    explore_go_on(walk, state, inst, state->pc + 1);
  else if (address_unknown(state, inst))
    unknown_address(walk, state, inst);
  else if (locate(walk, state, inst, &place))
    explore_fault(walk);
  else if (flags & OPF_LOCK)
    load_locked(walk, state, inst, &place);
  else if (flags & OPF_ATOMIC)
    change(walk, state, inst, &place);
  else if (flags & OPF_STORE)
    store(walk, state, inst, &place);
  else if (place.space == MEM_PARAM)
    load_param(walk, state, inst, &place);
  else
    load_parts(walk, state, inst, &place, 0);
}
