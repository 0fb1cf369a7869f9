#include "sim/detect/proof/circle.h"

#include "base/bits.h"
#include "sim/core/bulk.h"
#include "sim/core/look.h"

void circle_words_init(CircleWords *words) {
  words->words = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free);
  words->lanes = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL);
}

void circle_words_clear(CircleWords *words) {
  g_hash_table_unref(words->words);
  g_hash_table_unref(words->lanes);
}

static CircleWord *word_at(CircleWords *words, uint64_t key) {
  CircleWord *word = g_hash_table_lookup(words->words, &key);
  if (!word) {
    word = g_new0(CircleWord, 1);
    g_hash_table_insert(words->words, g_memdup2(&key, sizeof key), word);
  }
  return word;
}

/* True if the lane of the warp is there for the first time. */
static bool is_new(CircleWords *words, uint64_t word, const ProbePoint *point, unsigned lane) {
  uint64_t key = bits_mix(word, (uint64_t)point->sm->index << 32 | point->warp->slot);
  uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(words->lanes, &key));
  if (known >> lane & 1)
    return false;
  g_hash_table_insert(words->lanes, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(known | 1u << lane));
  return true;
}

void circle_words_note(CircleWords *words, const ProbePoint *point, AccessSpace space, bool atomic,
                       const uint64_t address[32]) {
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t key = circle_place(point->sm, space, address[lane]);
    CircleWord *word = word_at(words, key);
    if (!word->launch || (atomic && !word->atomic))
      *word = (CircleWord){.sm = space == SPACE_SHARED ? &point->gpu->sms[remote_sm(address[lane], point->sm->index)]
                                                       : NULL,
                           .address = (uint32_t)address[lane] / 4 * 4,
                           .block = point->block,
                           .launch = point->block->launch,
                           .pc = point->pc,
                           .threads = word->threads,
                           .atomic = atomic};
    word->threads += is_new(words, key, point, lane);
  }
}

static gint compare_words(gconstpointer a, gconstpointer b) {
  const CircleWord *one = a, *other = b;
  if (one->atomic != other->atomic)
    return one->atomic ? -1 : 1;
  if (one->threads != other->threads)
    return one->threads > other->threads ? -1 : 1;
  if (!one->sm != !other->sm)
    return one->sm ? 1 : -1;
  if (one->sm && one->sm != other->sm)
    return one->sm->index < other->sm->index ? -1 : 1;
  return one->address < other->address ? -1 : one->address > other->address;
}

static GArray *sort_words(GHashTable *words) {
  GArray *sorted = g_array_new(FALSE, FALSE, sizeof(CircleWord));
  GHashTableIter all;
  gpointer word;
  g_hash_table_iter_init(&all, words);
  while (g_hash_table_iter_next(&all, NULL, &word))
    g_array_append_vals(sorted, word, 1);
  g_array_sort(sorted, compare_words);
  return sorted;
}

uint64_t *circle_issued(const Gpu *gpu) {
  uint64_t *issued = g_new0(uint64_t, gpu->machine->gpu.sms);
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    issued[i] = gpu->sms[i].ready ? gpu->sms[i].flights.made : 0;
  return issued;
}

bool circle_is_performed(const Gpu *gpu, const uint64_t *issued) {
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    if (gpu->sms[i].ready && (flights_oldest(&gpu->sms[i].flights) <= issued[i] || bulk_is_busy(&gpu->sms[i])))
      return false;
  return !look_launch_ends(gpu);
}

Circle *circle_new(SeenLoads *seen, const CircleWords *words) {
  Circle *circle = g_new0(Circle, 1);
  *circle = (Circle){.seen = seen, .words = sort_words(words->words)};
  return circle;
}

void circle_free(Circle *circle) {
  if (!circle)
    return;
  seen_free(circle->seen);
  g_array_unref(circle->words);
  g_free(circle);
}
