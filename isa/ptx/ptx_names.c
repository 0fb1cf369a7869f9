#include "isa/ptx/ptx_names.h"

#include <string.h>

enum { SLOTS_FIRST = 1024 };

typedef struct Name {
  const char *text;
  uint32_t length, hash;
} Name;

struct PtxNames {
  GStringChunk *chunk;
  GArray *names;   /* Name; [0] is none */
  uint32_t *slots; /* open addressing: 0 or a number */
  uint32_t nslots; /* a power of two, at least twice the names */
};

PtxNames *ptx_names_new(void) {
  PtxNames *names = g_new0(PtxNames, 1);
  Name none = {.text = ""};
  names->chunk = g_string_chunk_new(4096);
  names->names = g_array_new(FALSE, FALSE, sizeof(Name));
  g_array_append_val(names->names, none);
  names->nslots = SLOTS_FIRST;
  names->slots = g_new0(uint32_t, names->nslots);
  return names;
}

void ptx_names_free(PtxNames *names) {
  if (!names)
    return;
  g_string_chunk_free(names->chunk);
  g_array_free(names->names, TRUE);
  g_free(names->slots);
  g_free(names);
}

static uint32_t hash_of(const char *text, gsize length) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
  for (gsize i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t *slot_of(const PtxNames *names, const char *text, gsize length, uint32_t hash) {
  for (uint32_t i = hash;; i++) {
    uint32_t *slot = &names->slots[i & (names->nslots - 1)];
    const Name *name = &g_array_index(names->names, Name, *slot);
    if (*slot == 0 || (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0))
      return slot;
  }
}

static void grow(PtxNames *names) {
  g_free(names->slots);
  names->nslots *= 2;
  names->slots = g_new0(uint32_t, names->nslots);
  for (uint32_t id = 1; id < names->names->len; id++) {
    uint32_t i = g_array_index(names->names, Name, id).hash;
    while (names->slots[i & (names->nslots - 1)])
      i++;
    names->slots[i & (names->nslots - 1)] = id;
  }
}

uint32_t ptx_names_find(const PtxNames *names, const char *text, gsize length) {
  return *slot_of(names, text, length, hash_of(text, length));
}

uint32_t ptx_names_add(PtxNames *names, const char *text, gsize length) {
  uint32_t hash = hash_of(text, length), *slot = slot_of(names, text, length, hash);
  if (*slot || names->names->len > PTX_NAMES_MAX)
    return *slot;
  uint32_t id = names->names->len;
  Name name = {g_string_chunk_insert_len(names->chunk, text, (gssize)length), (uint32_t)length, hash};
  *slot = id;
  g_array_append_val(names->names, name);
  if (names->names->len * 2 > names->nslots)
    grow(names);
  return id;
}

const char *ptx_names_text(const PtxNames *names, uint32_t id) { return g_array_index(names->names, Name, id).text; }
