#include "sim/detect/race/race_own.h"

#include "base/bits.h"
#include "sim/detect/race/attempts.h"

static gint64 key_of(const ProbePoint *point, const WarpOrder *warp, AccessSpace space, uint64_t word) {
  enum { WORD_BITS = 34 };
  if (space == SPACE_SHARED)
    word = race_words_shared(point->sm, word) | UINT64_C(1) << (WORD_BITS - 1);
  return (gint64)((uint64_t)warp->actor << WORD_BITS | (word & ((UINT64_C(1) << WORD_BITS) - 1)));
}

static void note_store(RaceWatch *watch, gint64 key, uint32_t promise) {
  gpointer number = GUINT_TO_POINTER(promise), before = g_hash_table_lookup(watch->own, &key);
  if (before == number)
    return;
  handoff_use(&watch->order.handoffs, promise);
  handoff_drop(&watch->order.handoffs, GPOINTER_TO_UINT(before));
  if (promise)
    g_hash_table_insert(watch->own, g_memdup2(&key, sizeof key), number);
  else
    g_hash_table_remove(watch->own, &key);
}

/* A strong load of global memory is handed what its own warp stored, as what others did. */
static bool takes_by_memory(const RaceWatch *watch, const ProbePoint *point, const RaceAccess *access) {
  bool strong = access->kind == ACCESS_ATOMIC || point->inst->sem != SEM_WEAK || point->inst->cache == CACHE_CV;
  const OrderDoubt *doubt = &watch->order.doubt;
  return access->kind != ACCESS_WRITE && (access->space == SPACE_SHARED || !strong) &&
         doubt->counts(doubt->user, point->block->launch, point->pc) != DECIDES_NOTHING;
}

void race_own_access(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access) {
  if (!watch->order.doubt.counts || !warp->fences)
    return;
  if (access->kind != ACCESS_READ && !attempts_has(point->inst))
    order_end_attempts(&watch->order, warp);
  if (!watch->own)
    watch->own = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL);
  uint32_t promise = order_promise(&watch->order, warp);
  bool takes = takes_by_memory(watch, point, access);
  for (uint32_t rest = access->lanes; rest; rest &= rest - 1)
    for (uint32_t part = 0; part < MAX(access->bytes / 4, 1); part++) {
      uint64_t word = access->address[__builtin_ctz(rest)] / 4 + part;
      gint64 key = key_of(point, warp, access->space, word);
      uint32_t rested = takes ? GPOINTER_TO_UINT(g_hash_table_lookup(watch->own, &key)) : 0;
      if (rested)
        order_rely(&watch->order, warp, rested);
      if (access->kind != ACCESS_READ)
        note_store(watch, key, promise);
    }
}
