#include "sim/detect/proof/abstract_memory.h"

#include <string.h>

#include "base/bits.h"

static GHashTable *new_table(GDestroyNotify destroy) {
  return g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, destroy);
}

static void value_set_free(gpointer data) {
  ValueSet *set = data;
  g_free(set->adds);
  g_free(set);
}

void abstract_memory_init(AbstractMemory *memory, Gpu *gpu) {
  *memory = (AbstractMemory){.gpu = gpu,
                             .words = new_table(value_set_free),
                             .bits = new_table(g_free),
                             .votes = new_table(g_free),
                             .copies = new_table(value_set_free)};
}

void abstract_memory_layer(AbstractMemory *layer, AbstractMemory *base) {
  abstract_memory_init(layer, base->gpu);
  layer->base = base;
}

void abstract_memory_clear(AbstractMemory *memory) {
  g_hash_table_destroy(memory->words);
  g_hash_table_destroy(memory->bits);
  g_hash_table_destroy(memory->votes);
  g_hash_table_destroy(memory->copies);
}

static gpointer insert(GHashTable *table, uint64_t key, gpointer value) {
  uint64_t *copy = g_new(uint64_t, 1);
  *copy = key;
  g_hash_table_insert(table, copy, value);
  return value;
}

static uint32_t current_word(AbstractMemory *memory, const Sm *sm, WordKey key) {
  if (word_key_is_local(key))
    return local_memory_word(&sm->warps[word_key_slot(key)].local, word_key_local_word(key), word_key_lane(key));
  if (word_key_is_shared(key))
    return sm->shared.words[(uint32_t)key];
  const BackingBuffer *buffer = backing_find(memory->gpu->backing, key * 4, 4);
  return buffer ? buffer->data[(key * 4 - buffer->base) / 4] : 0;
}

static ValueSet *copy_set(const ValueSet *set) {
  ValueSet *copy = g_memdup2(set, sizeof *set);
  copy->adds = set->adds ? g_memdup2(set->adds, sizeof *set->adds) : NULL;
  return copy;
}

ValueSet *abstract_word(AbstractMemory *memory, const Sm *sm, WordKey key) {
  ValueSet *set = g_hash_table_lookup(memory->words, &key);
  if (set)
    return set;
  if (memory->base)
    return insert(memory->words, key, copy_set(abstract_word(memory->base, sm, key)));
  set = insert(memory->words, key, g_new0(ValueSet, 1));
  set->value[0] = current_word(memory, sm, key);
  set->count = 1;
  return set;
}

ValueSet *abstract_copy(AbstractMemory *memory, const Sm *sm, WordKey key, uint32_t copy) {
  uint64_t place = (uint64_t)sm->index << 46 | key; /* addresses have 48 bits */
  ValueSet *set = g_hash_table_lookup(memory->copies, &place);
  if (set)
    return set;
  if (memory->base)
    return insert(memory->copies, place, copy_set(abstract_copy(memory->base, sm, key, copy)));
  set = insert(memory->copies, place, g_new0(ValueSet, 1));
  set->value[0] = copy;
  set->count = 1;
  return set;
}

BitSet *abstract_bit(AbstractMemory *memory, const Sm *sm, uint32_t bit) {
  BitKey key = bit_key(sm->index, bit);
  BitSet *set = g_hash_table_lookup(memory->bits, &key);
  if (set)
    return set;
  if (memory->base)
    return insert(memory->bits, key, g_memdup2(abstract_bit(memory->base, sm, bit), sizeof(BitSet)));
  set = insert(memory->bits, key, g_new0(BitSet, 1));
  set->may_be_held = sm->lock_unit.bit[bit].held;
  set->may_be_free = !set->may_be_held;
  return set;
}

VoteSet *abstract_vote(AbstractMemory *memory, const Warp *warp, const Sm *sm, uint32_t pc) {
  uint64_t key = ((uint64_t)sm->index * SM_WARPS_MAX + warp->slot) << 32 | pc;
  VoteSet *set = g_hash_table_lookup(memory->votes, &key);
  if (!set && memory->base)
    return insert(memory->votes, key, g_memdup2(abstract_vote(memory->base, warp, sm, pc), sizeof(VoteSet)));
  return set ? set : insert(memory->votes, key, g_new0(VoteSet, 1));
}

static bool is_among(const uint32_t *values, uint32_t count, uint32_t value) {
  for (uint32_t i = 0; i < count; i++)
    if (values[i] == value)
      return true;
  return false;
}

bool abstract_has(const ValueSet *set, uint32_t value) {
  if (set->anything)
    return !set->ranged || (set->low <= value && value <= set->high);
  return is_among(set->value, set->count, value);
}

/* From the lowest to the highest sum, if that range doesn't wrap. */
static void make_range(ValueSet *set) {
  const AddsLeft *adds = set->adds;
  uint32_t low = UINT32_MAX, high = 0;
  for (uint32_t i = 0; i < adds->count; i++) {
    low = MIN(low, adds->base[i]);
    high = MAX(high, adds->base[i]);
  }
  set->anything = true;
  set->ranged = adds->down <= low && adds->up <= UINT32_MAX - high;
  set->low = set->ranged ? low - (uint32_t)adds->down : 0;
  set->high = set->ranged ? high + (uint32_t)adds->up : 0;
  set->count = 0;
}

static void list_sums(ValueSet *set) {
  const AddsLeft *adds = set->adds;
  set->count = 0;
  for (uint32_t i = 0; i < adds->count; i++)
    for (uint64_t sum = 0; sum <= adds->up + adds->down; sum += adds->step) {
      uint32_t value = adds->base[i] + (uint32_t)(sum - adds->down);
      if (is_among(set->value, set->count, value))
        continue;
      if (set->count == VALUES_MAX) {
        make_range(set);
        return;
      }
      set->value[set->count++] = value;
    }
}

static bool is_top(const ValueSet *set) { return set->anything && !set->ranged; }

void abstract_add(AbstractMemory *memory, ValueSet *set, uint32_t value) {
  uint32_t *values = set->adds ? set->adds->base : set->value;
  uint32_t *count = set->adds ? &set->adds->count : &set->count;
  if (is_top(set) || is_among(values, *count, value))
    return;
  if (*count == VALUES_MAX) {
    abstract_add_anything(memory, set, true);
    return;
  }
  values[(*count)++] = value;
  if (set->adds)
    list_sums(set);
  memory->version++;
}

/* The greatest common divisor; that of 0 and a number is the number. */
uint32_t abstract_common_step(uint32_t a, uint32_t b) {
  while (b) {
    uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void abstract_add_sums(AbstractMemory *memory, ValueSet *set, uint64_t up, uint64_t down, uint32_t step) {
  if (is_top(set))
    return;
  if (!set->adds) {
    set->adds = g_new0(AddsLeft, 1);
    set->adds->count = set->count;
    memcpy(set->adds->base, set->value, set->count * sizeof *set->value);
  }
  set->adds->up += up;
  set->adds->down += down;
  set->adds->step = abstract_common_step(step, set->adds->step);
  list_sums(set);
  memory->version++;
}

void abstract_add_anything(AbstractMemory *memory, ValueSet *set, bool unbounded) {
  memory->unbounded |= unbounded;
  if (is_top(set))
    return;
  set->anything = true;
  set->ranged = false;
  memory->version++;
}

void abstract_free_bit(AbstractMemory *memory, BitSet *bit) {
  memory->version += !bit->may_be_free;
  bit->may_be_free = true;
}

void abstract_hold_bit(AbstractMemory *memory, BitSet *bit) {
  memory->version += !bit->may_be_held;
  bit->may_be_held = true;
}
