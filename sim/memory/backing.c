#include "sim/memory/backing.h"

#include <string.h>

#include "base/pages.h"
#include "isa/program.h"

static void buffer_clear(gpointer data) {
  BackingBuffer *buffer = data;
  change_log_clear(&buffer->changes);
  g_free(buffer->ready_milli);
  g_free(buffer->defined);
  pages_free(buffer->data);
  g_free(buffer->name);
}

Backing *backing_new(void) {
  Backing *backing = g_new0(Backing, 1);
  backing->buffers = g_array_new(FALSE, TRUE, sizeof(BackingBuffer));
  g_array_set_clear_func(backing->buffers, buffer_clear);
  backing->next_address = BACKING_FIRST_ADDRESS;
  backing->alignment = BACKING_GAP;
  return backing;
}

void backing_free(Backing *backing) {
  if (!backing)
    return;
  g_array_free(backing->buffers, TRUE);
  g_free(backing);
}

static uint64_t aligned(uint64_t address, uint32_t alignment) {
  return (address + alignment - 1) / alignment * alignment;
}

guint backing_add(Backing *backing, const char *name, uint32_t words, const uint32_t *init) {
  bool large = backing->page && (uint64_t)words * 4 >= backing->page / 2;
  BackingBuffer buffer = {
      .name = g_strdup(name),
      .base = large ? aligned(backing->next_address, backing->page) : backing->next_address,
      .words = words,
      .copied = init != NULL,
      .data = PAGES_NEW(uint32_t, words + 1u),
  };
  change_log_init(&buffer.changes, words);
  if (init)
    memcpy(buffer.data, init, (size_t)words * 4);
  backing->next_address = aligned(buffer.base + (uint64_t)words * 4 + BACKING_GAP, backing->alignment);
  g_array_append_val(backing->buffers, buffer);
  return backing->buffers->len - 1;
}

void backing_undefine(Backing *backing, guint index) {
  BackingBuffer *buffer = backing_buffer(backing, index);
  buffer->defined = g_new0(uint8_t, buffer->words + 1u);
  backing->undefined = true;
}

bool backing_fits(const Backing *backing) { return backing->next_address <= SHARED_WINDOW; }

BackingBuffer *backing_buffer(const Backing *backing, guint index) {
  return &g_array_index(backing->buffers, BackingBuffer, index);
}

static bool holds(const BackingBuffer *buffer, uint64_t address, uint32_t bytes) {
  uint64_t offset = address - buffer->base, size = (uint64_t)buffer->words * 4;
  return address >= buffer->base && offset <= size && size - offset >= bytes;
}

BackingBuffer *backing_find(Backing *backing, uint64_t address, uint32_t bytes) {
  if (backing->buffers->len == 0)
    return NULL;
  BackingBuffer *last = backing_buffer(backing, __atomic_load_n(&backing->last, __ATOMIC_RELAXED));
  if (holds(last, address, bytes))
    return last;
  guint low = 0, high = backing->buffers->len;
  while (high - low > 1) {
    guint middle = (low + high) / 2;
    if (backing_buffer(backing, middle)->base <= address)
      low = middle;
    else
      high = middle;
  }
  BackingBuffer *found = backing_buffer(backing, low);
  if (!holds(found, address, bytes))
    return NULL;
  __atomic_store_n(&backing->last, low, __ATOMIC_RELAXED);
  return found;
}

void backing_enlarge(Backing *backing) {
  for (guint i = 0; i < backing->buffers->len; i++) {
    pages_enlarge(backing_buffer(backing, i)->data);
    pages_enlarge(backing_buffer(backing, i)->changes.lines);
  }
}

const BackingBuffer *backing_nearest(const Backing *backing, uint64_t address) {
  const BackingBuffer *nearest = NULL;
  for (guint i = 0; i < backing->buffers->len; i++) {
    const BackingBuffer *buffer = backing_buffer(backing, i);
    if (!nearest || buffer->base <= address)
      nearest = buffer;
  }
  return nearest;
}

#define HASH_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
  for (const unsigned char *byte = data; bytes; byte++, bytes--)
    hash = (hash ^ *byte) * HASH_PRIME;
  return hash;
}

/* Most words of large buffers are 0. */
static uint64_t hash_word(uint64_t hash, uint32_t word) {
  if (word == 0)
    return hash * (HASH_PRIME * HASH_PRIME * HASH_PRIME * HASH_PRIME);
  unsigned char bytes[4] = {(unsigned char)word, (unsigned char)(word >> 8), (unsigned char)(word >> 16),
                            (unsigned char)(word >> 24)};
  return hash_bytes(hash, bytes, sizeof bytes);
}

uint64_t backing_digest(const Backing *backing) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (guint i = 0; i < backing->buffers->len; i++) {
    const BackingBuffer *buffer = backing_buffer(backing, i);
    if (buffer->heap)
      continue;
    hash = hash_bytes(hash, buffer->name, strlen(buffer->name) + 1);
    for (uint32_t word = 0; word < buffer->words; word++)
      hash = hash_word(hash, buffer->data[word]);
  }
  return hash;
}
