#include "sim/detect/abstract_memory.h"
#include "sim/base/bits.h"

static GHashTable *new_table(void) { return g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free); }

void abstract_memory_init(AbstractMemory *memory, Gpu *gpu) {
  *memory = (AbstractMemory){.gpu = gpu, .words = new_table(), .bits = new_table(), .votes = new_table()};
}

void abstract_memory_clear(AbstractMemory *memory) {
  g_hash_table_destroy(memory->words);
  g_hash_table_destroy(memory->bits);
  g_hash_table_destroy(memory->votes);
}

static gpointer insert(GHashTable *table, uint64_t key, gpointer value) {
  uint64_t *copy = g_new(uint64_t, 1);
  *copy = key;
  g_hash_table_insert(table, copy, value);
  return value;
}

static uint32_t current_word(AbstractMemory *memory, const Sm *sm, WordKey key) {
  if (word_key_is_shared(key))
    return sm->shared.words[(uint32_t)key];
  const BackingBuffer *buffer = backing_find(memory->gpu->backing, key * 4, 4);
  return buffer ? buffer->data[(key * 4 - buffer->base) / 4] : 0;
}

/* A lane may still read what an L1 holds, though memory holds something else. */
static void add_copies(AbstractMemory *memory, ValueSet *set, WordKey key) {
  uint32_t sms = word_key_is_shared(key) ? 0 : memory->gpu->machine->gpu.sms, copy;
  for (uint32_t i = 0; i < sms; i++)
    if (memory->gpu->sms[i].l1 && l1_peek(memory->gpu->sms[i].l1, key * 4, &copy))
      abstract_add(memory, set, copy);
}

ValueSet *abstract_word(AbstractMemory *memory, const Sm *sm, WordKey key) {
  ValueSet *set = g_hash_table_lookup(memory->words, &key);
  if (set)
    return set;
  set = insert(memory->words, key, g_new0(ValueSet, 1));
  set->count = 1;
  set->value[0] = current_word(memory, sm, key);
  add_copies(memory, set, key);
  return set;
}

BitSet *abstract_bit(AbstractMemory *memory, const Sm *sm, uint32_t bit) {
  BitKey key = bit_key(sm->index, bit);
  BitSet *set = g_hash_table_lookup(memory->bits, &key);
  if (set)
    return set;
  set = insert(memory->bits, key, g_new0(BitSet, 1));
  set->may_be_held = sm->lock_unit.bit[bit].held;
  set->may_be_free = !set->may_be_held;
  return set;
}

VoteSet *abstract_vote(AbstractMemory *memory, const Warp *warp, const Sm *sm, uint32_t pc) {
  uint64_t key = ((uint64_t)sm->index * SM_WARPS_MAX + warp->slot) << 32 | pc;
  VoteSet *set = g_hash_table_lookup(memory->votes, &key);
  return set ? set : insert(memory->votes, key, g_new0(VoteSet, 1));
}

bool abstract_has(const ValueSet *set, uint32_t value) {
  if (set->anything)
    return true;
  for (uint32_t i = 0; i < set->count; i++)
    if (set->value[i] == value)
      return true;
  return false;
}

void abstract_add(AbstractMemory *memory, ValueSet *set, uint32_t value) {
  if (abstract_has(set, value))
    return;
  if (set->count == VALUES_MAX) {
    abstract_add_anything(memory, set);
    return;
  }
  set->value[set->count++] = value;
  memory->version++;
}

void abstract_add_anything(AbstractMemory *memory, ValueSet *set) {
  memory->unbounded = true;
  if (set->anything)
    return;
  set->anything = true;
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
