#include "sim/detect/proof/abstract_memory.h"
#include "sim/core/look.h"

#include <string.h>

#include "base/bits.h"

static void value_set_free(gpointer data) {
  ValueSet *set = data;
  g_free(set->adds);
  g_free(set->readers.reader);
  if (set->value != set->few)
    g_free(set->value);
  g_free(set);
}

static void bit_set_free(gpointer data) {
  BitSet *set = data;
  g_free(set->readers.reader);
  g_free(set);
}

/* Keys lie in the values. */
static GHashTable *new_table(GDestroyNotify destroy) {
  return g_hash_table_new_full(bits_hash_key, g_int64_equal, NULL, destroy);
}

void abstract_memory_init(AbstractMemory *memory, Gpu *gpu) {
  *memory = (AbstractMemory){.gpu = gpu,
                             .words = new_table(value_set_free),
                             .bits = new_table(bit_set_free),
                             .votes = new_table(g_free),
                             .copies = new_table(value_set_free),
                             .woken = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
}

void abstract_memory_clear(AbstractMemory *memory) {
  g_hash_table_destroy(memory->words);
  g_hash_table_destroy(memory->bits);
  g_hash_table_destroy(memory->votes);
  g_hash_table_destroy(memory->copies);
  g_array_free(memory->woken, TRUE);
}

static void abstract_memory_empty(AbstractMemory *memory) {
  GHashTable *table[] = {memory->words, memory->bits, memory->votes, memory->copies};
  for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
    if (g_hash_table_size(table[i]))
      g_hash_table_remove_all(table[i]);
  g_array_set_size(memory->woken, 0);
}

void abstract_memory_layer(AbstractMemory *layer, AbstractMemory *base, AbstractMemory *spare) {
  if (spare->words) {
    *layer = *spare;
    spare->words = NULL;
  } else {
    abstract_memory_init(layer, base->gpu);
  }
  layer->base = base;
}

void abstract_memory_unlayer(AbstractMemory *layer, AbstractMemory *spare) {
  if (spare->words) {
    abstract_memory_clear(layer);
    return;
  }
  abstract_memory_empty(layer);
  *spare = *layer;
}

/* ---- who depends on what ---- */

void abstract_note_reader(Readers *readers, uint32_t reader) {
  if (readers->count && readers->reader[readers->count - 1] == reader)
    return;
  if (readers->count == readers->space) {
    readers->space = MAX(2, 2 * readers->space);
    readers->reader = g_renew(uint32_t, readers->reader, readers->space);
  }
  readers->reader[readers->count++] = reader;
}

static void wake(AbstractMemory *memory, Readers *readers) {
  g_array_append_vals(memory->woken, readers->reader, readers->count);
  readers->count = 0;
  memory->version++;
}

static void has_grown(AbstractMemory *memory, ValueSet *set) {
  set->changes++;
  wake(memory, &set->readers);
}

/* ---- words and bits ---- */

static uint32_t current_word(AbstractMemory *memory, const Sm *sm, WordKey key) {
  if (word_key_is_local(key))
    return look_local(sm, word_key_slot(key), word_key_local_word(key), word_key_lane(key));
  if (!word_key_is_shared(key))
    return look_global(memory->gpu, key * 4);
  uint32_t own = word_key_sm(key); /* in a cluster another block's */
  return look_shared(own == sm->index ? sm : &memory->gpu->sms[own], (uint32_t)key);
}

/* A set of one value, entered in the table. */
static ValueSet *new_set(GHashTable *table, uint64_t key, uint32_t value) {
  ValueSet *set = g_new0(ValueSet, 1);
  set->key = key;
  set->value = set->few;
  set->space = VALUES_INLINE;
  set->value[0] = value;
  set->count = 1;
  g_hash_table_insert(table, &set->key, set);
  return set;
}

/* The set of a layer, which starts like that below it. */
static ValueSet *copy_set(GHashTable *table, const ValueSet *below) {
  ValueSet *set = g_memdup2(below, sizeof *below);
  set->readers = (Readers){0};
  set->value = below->value == below->few ? set->few : g_memdup2(below->value, below->space * sizeof *below->value);
  set->adds = below->adds ? g_memdup2(below->adds, sizeof *below->adds) : NULL;
  g_hash_table_insert(table, &set->key, set);
  return set;
}

ValueSet *abstract_word(AbstractMemory *memory, const Sm *sm, WordKey key) {
  ValueSet *set = g_hash_table_lookup(memory->words, &key);
  if (set)
    return set;
  if (memory->base)
    return copy_set(memory->words, abstract_word(memory->base, sm, key));
  if (!word_key_is_given(key))
    return new_set(memory->words, key, current_word(memory, sm, key));
  set = new_set(memory->words, key, 0);
  set->count = 0; /* nobody has given anything yet */
  return set;
}

ValueSet *abstract_copy(AbstractMemory *memory, const Sm *sm, WordKey key, uint32_t copy) {
  uint64_t place = (uint64_t)sm->index << 46 | key; /* addresses have 48 bits */
  ValueSet *set = g_hash_table_lookup(memory->copies, &place);
  if (set)
    return set;
  if (memory->base)
    return copy_set(memory->copies, abstract_copy(memory->base, sm, key, copy));
  return new_set(memory->copies, place, copy);
}

BitSet *abstract_bit(AbstractMemory *memory, const Sm *sm, uint32_t bit) {
  BitKey key = bit_key(sm->index, bit);
  BitSet *set = g_hash_table_lookup(memory->bits, &key);
  if (set)
    return set;
  set = g_new0(BitSet, 1);
  set->key = key;
  g_hash_table_insert(memory->bits, &set->key, set);
  if (memory->base) {
    const BitSet *below = abstract_bit(memory->base, sm, bit);
    set->may_be_held = below->may_be_held;
    set->may_be_free = below->may_be_free;
    return set;
  }
  set->may_be_held = look_bit(sm, bit)->held;
  set->may_be_free = !set->may_be_held;
  return set;
}

VoteSet *abstract_vote(AbstractMemory *memory, const Warp *warp, const Sm *sm, uint32_t pc) {
  uint64_t key = ((uint64_t)sm->index * SM_WARPS_MAX + warp->slot) << 32 | pc;
  VoteSet *set = g_hash_table_lookup(memory->votes, &key);
  if (set)
    return set;
  set = memory->base ? g_memdup2(abstract_vote(memory->base, warp, sm, pc), sizeof *set) : g_new0(VoteSet, 1);
  set->key = key;
  g_hash_table_insert(memory->votes, &set->key, set);
  return set;
}

static bool is_among(const uint32_t *values, uint32_t count, uint32_t value) {
  for (uint32_t i = 0; i < count; i++)
    if (values[i] == value)
      return true;
  return false;
}

bool abstract_has(const ValueSet *set, uint32_t value) {
  if (set->anything)
    return !set->ranged || value - set->low <= set->high - set->low;
  return is_among(set->value, set->count, value);
}

enum { NEAR_ROUND = 1 << 28 };

/* Up to where a counter rises before it changes its sign, or comes round. */
static uint32_t highest(uint32_t now) { return now <= INT32_MAX ? INT32_MAX : UINT32_MAX; }

/* What adds may make of value `index` of the base. */
typedef struct Window {
  uint64_t up, down;
} Window;

static Window window_of(const ValueSet *set, uint32_t index) {
  const AddSums *sums = &set->adds->sums;
  return index || set->restored ? (Window){sums->later_up, sums->later_down} : (Window){sums->up, sums->down};
}

typedef struct Span {
  int64_t low, high;
} Span;

/* The lowest and the highest sum, where words are numbers with a sign, or without one. */
static Span span_of(const ValueSet *set, bool is_signed) {
  const AddsLeft *adds = set->adds;
  Span span = {INT64_MAX, INT64_MIN};
  for (uint32_t i = 0; i < adds->count; i++) {
    int64_t base = is_signed ? (int64_t)(int32_t)adds->base[i] : (int64_t)adds->base[i];
    Window window = window_of(set, i);
    span.low = MIN(span.low, base - (int64_t)window.down);
    span.high = MAX(span.high, base + (int64_t)window.up);
  }
  return span;
}

/* From the lowest to the highest sum, if these don't come round. */
static void make_range(ValueSet *set) {
  const AddsLeft *adds = set->adds;
  Span span = span_of(set, false), other = span_of(set, true);
  span = span.high - span.low <= other.high - other.low ? span : other;
  set->anything = true;
  set->ranged = span.high - span.low < UINT32_MAX;
  set->low = set->ranged ? (uint32_t)span.low : 0;
  set->high = !set->ranged ? 0 : adds->rises ? highest((uint32_t)span.high) : (uint32_t)span.high;
  set->count = 0;
}

static void append(ValueSet *set, uint32_t value) {
  if (set->count == set->space) {
    uint32_t *value = set->value == set->few ? NULL : set->value;
    set->space = MIN(4 * set->space, VALUES_MAX);
    set->value = g_renew(uint32_t, value, set->space);
    if (!value)
      memcpy(set->value, set->few, sizeof set->few);
  }
  set->value[set->count++] = value;
}

static void list_sums(ValueSet *set) {
  const AddsLeft *adds = set->adds;
  if (adds->rises) {
    make_range(set);
    return;
  }
  set->count = 0;
  for (uint32_t i = 0; i < adds->count; i++) {
    Window window = window_of(set, i);
    for (uint64_t sum = 0; sum <= window.up + window.down; sum += adds->sums.step) {
      uint32_t value = adds->base[i] + (uint32_t)(sum - window.down);
      if (is_among(set->value, set->count, value))
        continue;
      if (set->count == VALUES_MAX) {
        make_range(set);
        return;
      }
      append(set, value);
    }
  }
}

static bool is_top(const ValueSet *set) { return set->anything && !set->ranged; }

/* The word is stored to what it holds now: adds go on from there later, too. */
static void restore(AbstractMemory *memory, ValueSet *set) {
  if (set->restored)
    return;
  set->restored = true;
  if (!set->adds)
    return;
  list_sums(set);
  has_grown(memory, set);
}

void abstract_add(AbstractMemory *memory, ValueSet *set, uint32_t value) {
  const uint32_t *values = set->adds ? set->adds->base : set->value;
  uint32_t count = set->adds ? set->adds->count : set->count;
  if (!is_top(set) && count && values[0] == value)
    restore(memory, set);
  if (is_top(set) || is_among(values, count, value))
    return;
  if (count == VALUES_MAX) {
    abstract_add_anything(memory, set);
    return;
  }
  if (set->adds) {
    set->adds->base[set->adds->count++] = value;
    list_sums(set);
  } else {
    append(set, value);
  }
  has_grown(memory, set);
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

static void begin_adds(ValueSet *set) {
  if (set->adds)
    return;
  set->adds = g_new0(AddsLeft, 1);
  set->adds->count = set->count;
  memcpy(set->adds->base, set->value, set->count * sizeof *set->value);
}

void abstract_add_rising(AbstractMemory *memory, ValueSet *set) {
  if (is_top(set) || (set->adds && set->adds->rises))
    return;
  begin_adds(set);
  set->adds->rises = true;
  make_range(set);
  if (set->ranged && set->high - set->low < NEAR_ROUND) { /* it comes round soon */
    abstract_add_anything(memory, set);
    return;
  }
  has_grown(memory, set);
}

AddSums abstract_sums_of(uint32_t number) {
  bool down = number > INT32_MAX;
  uint32_t size = down ? -number : number;
  return (AddSums){.up = down ? 0 : size,
                   .down = down ? size : 0,
                   .later_up = down ? 0 : size,
                   .later_down = down ? size : 0,
                   .step = size};
}

void abstract_add_sums(AbstractMemory *memory, ValueSet *set, const AddSums *more) {
  if (is_top(set))
    return;
  begin_adds(set);
  AddSums *sums = &set->adds->sums;
  sums->up += more->up;
  sums->down += more->down;
  sums->later_up += more->later_up;
  sums->later_down += more->later_down;
  sums->step = abstract_common_step(more->step, sums->step);
  list_sums(set);
  has_grown(memory, set);
}

void abstract_add_anything(AbstractMemory *memory, ValueSet *set) {
  if (is_top(set))
    return;
  set->anything = true;
  set->ranged = false;
  has_grown(memory, set);
}

void abstract_free_bit(AbstractMemory *memory, BitSet *bit) {
  if (!bit->may_be_free)
    wake(memory, &bit->readers);
  bit->may_be_free = true;
}

void abstract_hold_bit(AbstractMemory *memory, BitSet *bit) {
  if (!bit->may_be_held)
    wake(memory, &bit->readers);
  bit->may_be_held = true;
}
