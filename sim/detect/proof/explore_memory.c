/* Loads, stores and lock bits of one lane, on the sets of values that words may hold. */
#include "sim/core/cached.h"
#include "sim/core/look.h"
#include "sim/core/place.h"
#include "sim/core/queue_unit.h"
#include "sim/core/remote.h"
#include "sim/detect/proof/explore_step.h"

/* ---- addresses ---- */

/* The slot of the address's high word; that of the low one if it has no other. */
static int16_t high_slot(const Inst *inst) { return slot_part(inst->a, place_is_wide(inst), true); }

static bool address_unknown(const LaneState *state, const Inst *inst) {
  return slot_unknown(state, inst->a) || slot_unknown(state, high_slot(inst));
}

static uint64_t address_of(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  return place_address(inst, slot_value(walk, state, inst->a), slot_value(walk, state, high_slot(inst)));
}

/* In the block's own shared memory; `address` is one of its cluster's. */
static PlaceFault locate_shared(const LaneWalk *walk, uint32_t address, Place *place) {
  const Block *block = walk->view->block;
  uint32_t relative = address - block->rank_bits;
  place->space = MEM_SHARED;
  place->physical = block->shared_base + relative;
  place->key = word_key_shared(walk->view->sm->index, place->physical / 4);
  return place_in(relative, place->bytes, block->shared_bytes);
}

/* In another block's of the cluster; `offset` in the window of shared memory. */
static bool is_remote(const LaneWalk *walk, uint32_t offset) {
  const WarpView *view = walk->view;
  return view->launch->cluster_blocks > 1 && view->launch->kernel->ranked &&
         offset >> CLUSTER_RANK_SHIFT != view->block->rank;
}

static PlaceFault locate_remote(const LaneWalk *walk, uint32_t offset, Place *place) {
  RemotePlace found;
  RemoteFault fault = remote_find(walk->view->block->cluster, offset, place->bytes, &found);
  place->space = MEM_SHARED;
  if (fault)
    return fault == REMOTE_MISALIGNED ? PLACE_MISALIGNED : PLACE_BEYOND;
  place->physical = found.physical;
  place->key = word_key_shared(found.sm->index, found.physical / 4);
  return PLACE_FINE;
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
  bool generic = space == MEM_GENERIC && !queue_unit_has(inst);
  if (generic)
    space = place_window(address);
  if (generic && space == MEM_SHARED && is_remote(walk, (uint32_t)address - SHARED_WINDOW))
    return locate_remote(walk, (uint32_t)address - SHARED_WINDOW, place);
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
  if (queue_unit_has(inst))
    return place_of_queue(walk->explorer->gpu->backing, address, walk->explorer->gpu->machine->memory.queue.bytes,
                          &buffer);
  return place_in_buffer(walk->explorer->gpu->backing, kind, space == MEM_CONST, address, place->bytes, &buffer);
}

static uint32_t words_of(const Place *place) { return place->bytes > 4 ? place->bytes / 4 : 1; }

/* ---- words ---- */

/* For lanes alike of other warps. */
static void note_word(WalkEffects *effects, ValueSet *set) {
  for (guint i = 0; i < effects->words->len; i++)
    if (g_array_index(effects->words, WordSeen, i).set == set)
      return;
  WordSeen seen = {set, set->changes};
  g_array_append_val(effects->words, seen);
  effects->of_warp |= effects->words->len > EFFECT_WORDS_MAX;
}

const ValueSet *explore_depend(LaneWalk *walk, WordKey key) {
  ValueSet *set = abstract_word(&walk->explorer->memory, walk->view->sm, key);
  walk->effects.of_lane |= word_key_is_local(key);
  walk->effects.of_warp |= word_key_is_shared(key);
  explore_note_reader(walk, &set->readers);
  if (!read_only(walk) && !walk->effects.of_warp)
    note_word(&walk->effects, set);
  return set;
}

const ValueSet *explore_read(LaneWalk *walk, WordKey key, uint32_t pc) {
  if (walk->footprint && !word_key_is_local(key))
    footprint_note(walk->footprint->reads, key, pc, 0);
  return explore_depend(walk, key);
}

/* ---- copies in the L1 ---- */

static bool is_global(const Place *place) { return place->space == MEM_GLOBAL || place->space == MEM_GENERIC; }

static bool is_cached(const LaneWalk *walk, const Inst *inst, const Place *place) {
  return is_global(place) && cached_is_load(walk->explorer->gpu->machine, inst);
}

/* What a load of that word may find. One that uses the L1 reads the copy there; if that may go, either. */
static const ValueSet *loaded_set(LaneWalk *walk, const Inst *inst, const Place *place, WordKey key, uint32_t pc) {
  Explorer *explorer = walk->explorer;
  const Sm *sm = walk->view->sm;
  const ValueSet *set = explore_read(walk, key, pc);
  uint32_t copy;
  if (walk->flight || !sm->l1 || !is_cached(walk, inst, place) || (walk->assumption && walk->assumption->fresh))
    return set;
  walk->effects.of_warp = true; /* its SM's L1 */
  if (!read_only(walk) && copies_load(explorer->copies, sm, key * 4))
    view_wake_sm(explorer, sm);
  if (copies_keep(explorer->copies, sm, key * 4, &copy)) {
    ValueSet *kept = abstract_copy(&explorer->memory, sm, key, copy);
    explore_note_reader(walk, &kept->readers);
    return kept;
  }
  if (!read_only(walk) && l1_peek(sm->l1, key * 4, &copy))
    abstract_add(&explorer->memory, abstract_word(&explorer->memory, sm, key), copy);
  return set;
}

void explore_update_copy(LaneWalk *walk, const Inst *inst, const Place *place, WordKey key, bool unknown,
                         uint32_t value) {
  Explorer *explorer = walk->explorer;
  const Sm *sm = walk->view->sm;
  uint32_t copy;
  if (walk->flight || read_only(walk) || !sm->l1 || !is_global(place))
    return; /* an access under way did so when it was issued */
  walk->effects.of_warp = true;
  if (!l1_peek(sm->l1, key * 4, &copy))
    return;
  ValueSet *set = abstract_copy(&explorer->memory, sm, key, copy);
  bool updates = !cached_evicts(inst) && !unknown && explorer->gpu->machine->sm.l1.global_stores == L1_UPDATE;
  uint32_t count = updates ? set->count : 0, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++)
    abstract_add(&explorer->memory, set, narrow_store(values[i], place->offset, MIN(place->bytes, 4), value));
  abstract_note_reader(&set->readers, walk->view->index); /* a narrow store leaves the other bytes */
  if ((!updates || set->anything) && copies_evict(explorer->copies, sm, key * 4))
    view_wake_sm(explorer, sm);
}

/* A fence or an acquire empties the L1. */
static void empty_l1(LaneWalk *walk) {
  walk->effects.of_warp |= walk->view->sm->l1 != NULL;
  if (!read_only(walk) && copies_evict_all(walk->explorer->copies, walk->view->sm))
    view_wake_sm(walk->explorer, walk->view->sm);
}

/* True if somebody else is assumed to have changed the word to whatever the lane likes. */
static bool is_free(const LaneWalk *walk, WordKey key) {
  const Assumption *assumption = walk->assumption;
  if (!assumption || word_key_is_local(key))
    return false;
  return (assumption->free_words && g_hash_table_contains(assumption->free_words, &key)) ||
         (assumption->fixed_words && !g_hash_table_contains(assumption->fixed_words, &key));
}

/* True if the bit is assumed to be free or, with BIT_TAKEN, to be held, whatever it may be. */
static bool bit_is_free(const LaneWalk *walk, BitKey key) {
  const Assumption *assumption = walk->assumption;
  return assumption && ((assumption->free_bits && g_hash_table_contains(assumption->free_bits, &key)) ||
                        (assumption->fixed_bits && !g_hash_table_contains(assumption->fixed_bits, &key)));
}

/* Whose shared or local memory the word is of isn't known. */
static bool is_of_any_lane(const LaneWalk *walk, WordKey key) {
  return is_any_lane(walk) && (word_key_is_shared(key) || word_key_is_local(key));
}

bool explore_may_be_anything(const LaneWalk *walk, const ValueSet *set, WordKey key) {
  return set->anything || is_free(walk, key) || is_of_any_lane(walk, key) ||
         (word_key_is_local(key) && walk->view->local_unknown >> walk->lane & 1);
}

/* The set of a word that is changed. Whose shared or local memory that is depends on the warp. */
static ValueSet *changed_word(LaneWalk *walk, WordKey key) {
  walk->effects.of_lane |= word_key_is_local(key);
  walk->effects.of_warp |= word_key_is_shared(key);
  explore_may_change(walk, &key);
  return abstract_word(&walk->explorer->memory, walk->view->sm, key);
}

void explore_note_change(LaneWalk *walk, WordKey key, bool unknown, uint32_t number) {
  unknown = unknown || is_any_lane(walk); /* as many times as there are such lanes */
  LaneChange change = {.key = key, .unknown = unknown, .number = number, .state = walk->view->facts->states.from};
  changed_word(walk, key);
  if (!keeps_store(walk, key) || (!unknown && !number))
    return;
  g_array_append_val(walk->changes, change);
  uint32_t *on_way = &walk->view->facts->states.change;
  *on_way = *on_way ? SEVERAL_CHANGES : walk->changes->len;
}

static void add_touch_value(Touch *touch, uint32_t value) {
  for (uint32_t i = 0; i < touch->values; i++)
    if (touch->value[i] == value)
      return;
  if (touch->values == TOUCH_VALUES_MAX)
    touch->values = 0;
  else
    touch->value[touch->values++] = value;
}

void explore_note_store(const LaneWalk *walk, WordKey key, uint32_t pc, bool news, const uint32_t *value) {
  if (!walk->footprint)
    return;
  Touch *touch = g_hash_table_lookup(walk->footprint->stores, &key);
  bool first = !touch;
  if (first) {
    footprint_note(walk->footprint->stores, key, pc, 0);
    touch = g_hash_table_lookup(walk->footprint->stores, &key);
  }
  if (!value)
    touch->values = 0;
  else if (first || touch->values)
    add_touch_value(touch, *value);
  if (news)
    footprint_note(walk->footprint->writes, key, pc, 0);
}

const ValueSet *explore_set_before(const LaneWalk *walk, WordKey key) {
  AbstractMemory *memory = &walk->explorer->memory;
  return abstract_word(memory->base ? memory->base : memory, walk->view->sm, key);
}

void explore_store_unknown(LaneWalk *walk, uint32_t pc, WordKey key) {
  changed_word(walk, key);
  explore_note_store(walk, key, pc, !explore_set_before(walk, key)->anything, NULL);
  explore_note_change(walk, key, true, 0);
}

void explore_store_value(LaneWalk *walk, uint32_t pc, WordKey key, uint32_t value) {
  ValueSet *set = changed_word(walk, key);
  explore_note_store(walk, key, pc, walk->footprint && !abstract_has(explore_set_before(walk, key), value), &value);
  if (keeps_store(walk, key))
    abstract_add(&walk->explorer->memory, set, value);
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
  const WarpView *view = walk->view;
  const SeenValues *values =
      seen && !is_free(walk, key) ? seen_values(seen, view->sm, view->warp, walk->lane, state->pc, part) : NULL;
  if (!values)
    return false;
  explore_read(walk, key, state->pc);
  for (uint32_t i = 0; i < values->count; i++)
    load_value(walk, state, inst, place, part, values->value[i]);
  for (uint32_t i = 0; stored && stored->key == key && i < stored->values; i++)
    load_value(walk, state, inst, place, part, narrow_load(stored->value[i], place->offset, inst->width));
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
  if (explore_may_be_anything(walk, set, key) || (parts > 1 && set->count > WIDE_VALUES_MAX)) {
    if (set->ranged && !is_free(walk, key) && !is_of_any_lane(walk, key) && place->bytes >= 4)
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

void explore_load(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place) {
  load_parts(walk, state, inst, place, 0);
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
  walk->effects.of_warp = true;
  explore_note_reader(walk, &bit->readers);
  if (walk->footprint)
    footprint_note(walk->footprint->lock_reads, bkey, state->pc, place->physical);
  bool may_be_free = bit->may_be_free || bit_is_free(walk, bkey) || is_any_lane(walk);
  if (bit->may_be_held || is_any_lane(walk)) {
    LaneSpace refused;
    lane_state_copy(&refused.state, state, walk_nregs(walk));
    explore_set_predicate(&refused.state, inst->pdst, false);
    load_parts(walk, &refused.state, inst, place, 0);
  }
  if (may_be_free) {
    explore_set_predicate(state, inst->pdst, true);
    if (walk->footprint && lock_unit_is_conditional(walk->explorer->gpu->machine))
      footprint_note(walk->footprint->frees, bkey | BIT_TAKEN, state->pc, place->physical);
    if (keeps_stores(walk))
      abstract_hold_bit(memory, bit);
    load_parts(walk, state, inst, place, 0);
  }
}

/* ---- stores ---- */

bool explore_operand(const LaneWalk *walk, const LaneState *state, const Inst *inst, bool c, uint32_t part,
                     uint32_t *value) {
  if (walk->flight) {
    *value = walk->flight->data[part + (c ? FLIGHT_OPERAND_C : 0)][walk->lane];
    return true;
  }
  int16_t slot = slot_part(c ? inst->c : inst->b, part, inst->wide & (c ? WIDE_C : WIDE_B));
  *value = slot_value(walk, state, slot);
  return !slot_unknown(state, slot);
}

static void store_part(LaneWalk *walk, const LaneState *state, const Inst *inst, const Place *place, uint32_t part) {
  WordKey key = place->key + part;
  uint32_t value;
  bool unknown = !explore_operand(walk, state, inst, false, part, &value);
  explore_update_copy(walk, inst, place, key, unknown, value);
  const ValueSet *set = place->bytes < 4 ? explore_read(walk, key, state->pc) : NULL; /* its other bytes stay */
  if (unknown || (set && set->anything)) {
    explore_store_unknown(walk, state->pc, key);
    return;
  }
  if (place->bytes >= 4) {
    explore_store_value(walk, state->pc, key, value);
    return;
  }
  uint32_t count = set->count, values[VALUES_MAX];
  memcpy(values, set->value, count * sizeof *values);
  for (uint32_t i = 0; i < count; i++)
    explore_store_value(walk, state->pc, key, narrow_store(values[i], place->offset, place->bytes, value));
}

static void free_bit(LaneWalk *walk, uint32_t pc, uint32_t physical) {
  const Sm *sm = walk->view->sm;
  uint32_t index = lock_unit_index(&sm->lock_unit, physical);
  walk->effects.of_warp = true;
  if (walk->footprint)
    footprint_note(walk->footprint->frees, bit_key(sm->index, index), pc, physical);
  if (keeps_stores(walk))
    abstract_free_bit(&walk->explorer->memory, abstract_bit(&walk->explorer->memory, sm, index));
}

static void store(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place) {
  for (uint32_t part = 0; part < words_of(place); part++)
    store_part(walk, state, inst, place, part);
  if (op_info[inst->op].flags & OPF_UNLOCK)
    free_bit(walk, state->pc, place->physical);
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* True if the lane may hold the bit: it does so now, or may take it. */
static bool may_own(const LaneWalk *walk, const BitSet *bit, BitKey key) {
  const LockBit *now = look_bit(walk->view->sm, (uint32_t)key);
  ThreadId lane = thread_plus(warp_thread_base(walk->view->block, walk->view->warp), walk->lane);
  return bit->may_be_free || bit_is_free(walk, key) || (now->held && thread_equal(now->owner, lane));
}

/* STSCUL: the bit may be held, or free, or either. */
static void store_conditional(LaneWalk *walk, LaneState *state, const Inst *inst, const Place *place) {
  const Sm *sm = walk->view->sm;
  bool own = walk->explorer->gpu->machine->sm.lock_unit.conditional_unlock == CONDITIONAL_UNLOCK_OWN;
  uint32_t index = lock_unit_index(&sm->lock_unit, place->physical);
  BitSet *bit = abstract_bit(&walk->explorer->memory, sm, index);
  BitKey key = bit_key(sm->index, index);
  walk->effects.of_warp = true;
  walk->effects.of_lane |= own;
  explore_note_reader(walk, &bit->readers);
  if (walk->footprint)
    footprint_note(walk->footprint->lock_reads, key | BIT_TAKEN, state->pc, place->physical);
  bool stores = bit->may_be_held || bit_is_free(walk, key | BIT_TAKEN);
  stores = is_any_lane(walk) || (stores && (!own || may_own(walk, bit, key)));
  if (!stores || own || is_any_lane(walk) || bit->may_be_free || bit_is_free(walk, key)) {
    LaneSpace refused;
    lane_state_copy(&refused.state, state, walk_nregs(walk));
    explore_set_predicate(&refused.state, inst->pdst, false);
    explore_go_on(walk, &refused.state, inst, refused.state.pc + 1);
  }
  if (!stores)
    return;
  store_part(walk, state, inst, place, 0);
  free_bit(walk, state->pc, place->physical);
  explore_set_predicate(state, inst->pdst, true);
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* ---- all ---- */

static void unknown_address(LaneWalk *walk, LaneState *state, const Inst *inst) {
  bool changes = op_info[inst->op].flags & (OPF_STORE | OPF_LOCK), local = place_space(inst) == MEM_LOCAL;
  if (walk->footprint && changes && !local)
    footprint_note(walk->footprint->wild, state->pc, state->pc, 0);
  if (changes && !local)
    explore_may_change(walk, NULL);
  if (changes && local && !read_only(walk)) {
    view_add_lanes(walk->explorer, walk->view, &walk->view->local_unknown, 1u << walk->lane);
    walk->effects.of_lane = true;
  } else if (changes && !read_only(walk)) {
    walk->explorer->gave_up = true; /* it may change any word */
    return;
  }
  empty_l1(walk);
  explore_fault(walk); /* it may lie anywhere */
  explore_forget_writes(walk, state, inst);
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* An access to another block of a cluster that isn't placed yet: which block that will be isn't known. */
static bool is_of_pending(const LaneWalk *walk, const LaneState *state, const Inst *inst) {
  if (place_space(inst) != MEM_GENERIC || walk->view->launch->cluster_blocks == 1 || walk->view->block->cluster)
    return false;
  return place_window(address_of(walk, state, inst)) == MEM_SHARED;
}

/* True if the access can't but fault. One of the device heap depends on what others take from it and give back. */
static bool faults(LaneWalk *walk, const LaneState *state, const Inst *inst, Place *place) {
  PlaceFault fault = locate(walk, state, inst, place);
  bool heap = is_global(place) && explore_is_heap(walk, place->key);
  if (heap && fault == PLACE_NOT_TAKEN && explore_may_take(walk)) {
    explore_fault(walk);
    return false;
  }
  if (fault || (heap && explore_may_give(walk)))
    explore_fault(walk);
  return fault != PLACE_FINE;
}

/* An asynchronous copy: its words become anything, at some time. */
static void copy_words(LaneWalk *walk, LaneState *state, const Inst *inst) {
  Place from, to = {.bytes = width_bytes[inst->width]};
  if (slot_unknown(state, inst->b) && !read_only(walk)) {
    walk->explorer->gave_up = true; /* it may change any word */
    return;
  }
  if (slot_unknown(state, inst->b) || address_unknown(state, inst) || inst->lop)
    explore_fault(walk);
  else if (faults(walk, state, inst, &from))
    return;
  if (locate_shared(walk, slot_value(walk, state, inst->b), &to) != PLACE_FINE) {
    explore_fault(walk);
    return;
  }
  for (uint32_t part = 0; part < words_of(&to); part++)
    explore_store_unknown(walk, state->pc, to.key + part);
  explore_go_on(walk, state, inst, state->pc + 1);
}

/* The words of a copy in bulk, and those of its barrier, become anything, at some time. Where it isn't known which,
 * the proof gives up. */
static void change_in_bulk(LaneWalk *walk, const LaneState *state, const BulkPlace *bulk) {
  Place to = {.bytes = 4}, barrier = {.bytes = BULK_BARRIER_BYTES};
  for (uint32_t offset = 0; offset < bulk->bytes; offset += 4) {
    locate_shared(walk, bulk->shared + offset + walk->view->block->rank_bits, &to);
    explore_store_unknown(walk, state->pc, bulk->changes ? word_key_global(bulk->address + offset) : to.key);
  }
  locate_shared(walk, bulk->barrier + walk->view->block->rank_bits, &barrier);
  for (uint32_t part = 0; bulk->counts && part < words_of(&barrier); part++)
    explore_store_unknown(walk, state->pc, barrier.key + part);
}

/* It isn't known what a copy changes, or it is another block's. */
static void copy_somewhere(LaneWalk *walk, LaneState *state, const Inst *inst) {
  walk->explorer->gave_up |= !read_only(walk);
  explore_fault(walk);
  if (read_only(walk))
    explore_go_on(walk, state, inst, state->pc + 1);
}

static void copy_in_bulk(LaneWalk *walk, LaneState *state, const Inst *inst) {
  bool in = inst->op == OP_BULKLOAD;
  int16_t barrier = in ? slot_part(inst->b, 1, true) : inst->b;
  bool unknown = address_unknown(state, inst) || slot_unknown(state, inst->b) || slot_unknown(state, inst->c) ||
                 slot_unknown(state, barrier);
  if (unknown || is_remote(walk, slot_value(walk, state, inst->b))) {
    copy_somewhere(walk, state, inst);
    return;
  }
  BulkPlace bulk = {.address = address_of(walk, state, inst),
                    .shared = slot_value(walk, state, inst->b),
                    .barrier = slot_value(walk, state, barrier),
                    .bytes = slot_value(walk, state, inst->c),
                    .counts = in,
                    .changes = !in};
  BackingBuffer *buffer;
  if (walk->view->launch->cluster_blocks > 1 && walk->view->launch->kernel->ranked) {
    bulk.shared -= walk->view->block->rank_bits; /* another block's lies beyond */
    bulk.barrier -= in ? walk->view->block->rank_bits : 0;
  }
  BulkFault fault = place_of_bulk(walk->explorer->gpu->backing, &bulk, walk->view->block->shared_bytes, &buffer);
  if (fault || (buffer && buffer->heap))
    explore_fault(walk);
  if (fault)
    return;
  change_in_bulk(walk, state, &bulk);
  explore_go_on(walk, state, inst, state->pc + 1);
}

void explore_memory(LaneWalk *walk, LaneState *state, const Inst *inst) {
  uint32_t flags = op_info[inst->op].flags;
  Place place;
  if (flags & OPF_FENCE ? fence_drains(inst->mode) : cached_is_acquire(inst))
    empty_l1(walk);
  if (inst->op == OP_LDGSTS)
    copy_words(walk, state, inst);
  else if (inst_is_bulk(inst))
    copy_in_bulk(walk, state, inst);
  else if (flags & OPF_FENCE)
    explore_go_on(walk, state, inst, state->pc + 1);
  else if (address_unknown(state, inst) || is_of_pending(walk, state, inst))
    unknown_address(walk, state, inst);
  else if (faults(walk, state, inst, &place))
    return;
  else if (flags & OPF_LOCK)
    load_locked(walk, state, inst, &place);
  else if (flags & OPF_ATOMIC)
    explore_atomic(walk, state, inst, &place);
  else if (inst->op == OP_STSCUL)
    store_conditional(walk, state, inst, &place);
  else if (flags & OPF_STORE)
    store(walk, state, inst, &place);
  else if (place.space == MEM_PARAM)
    load_param(walk, state, inst, &place);
  else
    explore_load(walk, state, inst, &place);
}
