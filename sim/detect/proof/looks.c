#include "sim/detect/proof/looks.h"

#include "sim/core/access.h"
#include "sim/core/look.h"

enum { FOUND_MOST = 64 }; /* by a look */

/* A look that was kept. */
typedef struct Kept {
  uint64_t places;
  GPtrArray *words; /* LookWord *, each once */
  bool crowded;     /* an atomic operation of several lanes on one word */
  uint32_t values;  /* how many different things it found that its words were seen to hold */
  GArray *found;    /* Found, each once */
} Kept;

/* What it found, and what decides about the look that came behind it. That may be told in several ways: whether
 * the warp waited for nothing in between is a matter of time. */
typedef struct Found {
  uint64_t value, next;
  bool odd; /* see Look */
} Found;

/* ---- words ---- */

uint32_t look_word_value(const Gpu *gpu, const LookWord *word) {
  return word->sm ? look_shared(word->sm, (uint32_t)(word->address / 4)) : look_global(gpu, word->address);
}

/* What a lane's access that isn't performed yet leaves in row `row` of its words. False: it isn't known. */
static bool leaves(const Flight *flight, unsigned lane, uint32_t row, uint32_t *value) {
  *value = flight->data[row][lane];
  return flight->request.kind == MEM_STORE || flight->inst->mode == ATOM_EXCH;
}

/* The access changes the word, perhaps, which has this value before. False: to what isn't known. */
static bool passes(const Flight *flight, const LookWord *word, uint32_t *value) {
  bool found = false, known = true;
  for (uint32_t rest = flight->lanes & ~flight->request.performed; rest; rest &= rest - 1)
    for (uint32_t row = 0; row < access_words(flight->request.bytes); row++) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      if (flight->request.address[lane] / 4 + row != word->address / 4)
        continue;
      known = known && !found && leaves(flight, lane, row, value);
      found = true;
    }
  return known;
}

bool look_word_ahead(const Gpu *gpu, const LookWord *word, const Sm *sm, const Warp *warp, uint32_t *value) {
  *value = look_word_value(gpu, word);
  for (uint32_t at = word->sm ? NO_FLIGHT : sm->flights.oldest; at != NO_FLIGHT;) {
    const Flight *flight = flights_at(&sm->flights, at);
    if (flight_is_of(flight, warp) && flight->request.kind != MEM_LOAD && !passes(flight, word, value))
      return false;
    at = flight->next;
  }
  return true;
}

/* ---- looks ---- */

static void kept_free(gpointer data) {
  Kept *kept = data;
  g_ptr_array_unref(kept->words);
  g_array_unref(kept->found);
  g_free(kept);
}

static uint64_t places_of(const Look *look) {
  uint64_t sum = look->rows;
  for (uint32_t rest = look->lanes; rest; rest &= rest - 1)
    sum = bits_mix(sum, look->key[__builtin_ctz(rest)]);
  return sum;
}

void looks_init(Looks *looks) {
  *looks = (Looks){.kept = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, kept_free)};
}

void looks_clear(Looks *looks) { g_hash_table_unref(looks->kept); }

void looks_forget(Looks *looks) {
  g_hash_table_remove_all(looks->kept);
  looks->grown++;
}

/* ---- to keep them ---- */

static Kept *kept_new(const Look *look, GHashTable *words) {
  Kept *kept = g_new0(Kept, 1);
  *kept = (Kept){
      .places = places_of(look), .words = g_ptr_array_new(), .found = g_array_new(FALSE, FALSE, sizeof(Found))};
  for (uint32_t rest = look->lanes; rest; rest &= rest - 1)
    for (uint32_t row = 0; row < look->rows; row++) {
      uint64_t key = look->key[__builtin_ctz(rest)] + 4 * (uint64_t)row;
      LookWord *word = g_hash_table_lookup(words, &key);
      if (!g_ptr_array_find(kept->words, word, NULL))
        g_ptr_array_add(kept->words, word);
      else
        kept->crowded |= look->atomic;
    }
  return kept;
}

static Kept *kept_at(Looks *looks, uint64_t key, const Look *look, GHashTable *words) {
  Kept *kept = g_hash_table_lookup(looks->kept, &key);
  if (!kept) {
    kept = kept_new(look, words);
    g_hash_table_insert(looks->kept, g_memdup2(&key, sizeof key), kept);
  }
  looks->broken |= kept->places != places_of(look);
  return kept;
}

static void add_found(Looks *looks, Kept *kept, const Look *look, uint64_t next) {
  bool counted = false;
  Found *same = NULL;
  for (guint i = 0; i < kept->found->len; i++) {
    Found *found = &g_array_index(kept->found, Found, i);
    if (found->value != look->found)
      continue;
    counted |= !found->odd;
    same = found->next == next ? found : same;
  }
  if (same && (look->odd || !same->odd))
    return;
  Found found = {look->found, next, look->odd};
  if (same)
    *same = found;
  else
    g_array_append_val(kept->found, found);
  kept->values += !look->odd && !counted;
  looks->grown++;
}

void looks_keep(Looks *looks, const GArray *of_warp, uint64_t start, uint64_t next, GHashTable *words) {
  const Look *look = (const Look *)(const void *)of_warp->data;
  uint64_t key = of_warp->len ? look_key(start, look) : 0;
  for (guint i = 0; i < of_warp->len; i++, look++) {
    bool last = i + 1 == of_warp->len;
    uint64_t behind = last ? next : look_key(bits_mix(key, look->found), look + 1);
    add_found(looks, kept_at(looks, key, look, words), look, behind);
    key = behind;
  }
}

/* ---- have they found all? ---- */

/* How many different things a look may find; 0: too many, or it isn't known. Only its owner looks at a word that has
 * one. */
static uint32_t may_find(const Kept *kept) {
  uint32_t ways = 1;
  for (guint i = 0; i < kept->words->len; i++) {
    const LookWord *word = g_ptr_array_index(kept->words, i);
    if (word->count == 1)
      continue;
    if (kept->crowded)
      return 0;
    if (!word->owner)
      ways *= word->count;
    if (ways > FOUND_MOST)
      return 0;
  }
  return ways;
}

static void come(GArray *keys, GHashTable *met, uint64_t key) {
  if (g_hash_table_add(met, g_memdup2(&key, sizeof key)))
    g_array_append_val(keys, key);
}

bool looks_have_all(const Looks *looks, GArray *keys) {
  GHashTable *met = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL);
  bool all = true;
  for (guint at = 0; at < keys->len; at++)
    g_hash_table_add(met, g_memdup2(&g_array_index(keys, uint64_t, at), sizeof(uint64_t)));
  for (guint at = 0; at < keys->len && all; at++) {
    const Kept *kept = g_hash_table_lookup(looks->kept, &g_array_index(keys, uint64_t, at));
    all = kept && kept->values == may_find(kept);
    for (guint i = 0; all && i < kept->found->len; i++)
      come(keys, met, g_array_index(kept->found, Found, i).next);
  }
  g_hash_table_unref(met);
  return all;
}
