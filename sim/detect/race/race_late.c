#include "sim/detect/race/race_late.h"

#include "base/bits.h"
#include "sim/detect/naming/locate.h"

enum { PENDING_MAX = 8, PAIRS_MAX = 16, LOOKS_MAX = 65536 };

typedef struct LatePair {
  LateAccess store, by; /* what overtook it */
} LatePair;

/* A warp's stores under way, and those that were overtaken, the oldest first. */
typedef struct LateWarp {
  LateAccess pending[PENDING_MAX];
  LatePair pair[PAIRS_MAX];
  unsigned pendings, pairs;
} LateWarp;

struct RaceLate {
  const Gpu *gpu;
  GHashTable *warps; /* key of a warp -> LateWarp */
  GHashTable *looks; /* keys of a warp and a word at which it has looked */
};

RaceLate *race_late_new(const Gpu *gpu) {
  if (!gpu->machine->memory.late_stores)
    return NULL;
  RaceLate *late = g_new0(RaceLate, 1);
  late->gpu = gpu;
  late->warps = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free);
  late->looks = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL);
  return late;
}

void race_late_free(RaceLate *late) {
  if (!late)
    return;
  g_hash_table_destroy(late->warps);
  g_hash_table_destroy(late->looks);
  g_free(late);
}

static uint64_t warp_key(ThreadId base) {
  return rng_mix(rng_mix(base.block) ^ ((uint64_t)base.launch << 32 | thread_warp(base)));
}

static uint64_t look_key(ThreadId base, uint64_t word) { return rng_mix(warp_key(base) ^ rng_mix(word)); }

static LateWarp *warp_of(const RaceLate *late, ThreadId base) {
  uint64_t key = warp_key(base);
  return g_hash_table_lookup(late->warps, &key);
}

void race_late_issued(RaceLate *late, const LateAccess *store) {
  LateWarp *warp = warp_of(late, store->base);
  if (!warp) {
    uint64_t key = warp_key(store->base);
    warp = g_new0(LateWarp, 1);
    g_hash_table_insert(late->warps, g_memdup2(&key, sizeof key), warp);
  }
  if (warp->pendings < PENDING_MAX)
    warp->pending[warp->pendings++] = *store;
}

/* A loop that looks again and again overtakes a store once. */
static void add_pair(LateWarp *warp, const LateAccess *store, const LateAccess *by) {
  for (unsigned i = 0; i < warp->pairs; i++)
    if (warp->pair[i].store.pc == store->pc && warp->pair[i].store.issued == store->issued &&
        warp->pair[i].by.pc == by->pc)
      return;
  if (warp->pairs == PAIRS_MAX) {
    memmove(warp->pair, warp->pair + 1, (PAIRS_MAX - 1) * sizeof *warp->pair);
    warp->pairs--;
  }
  warp->pair[warp->pairs++] = (LatePair){*store, *by};
}

void race_late_performed(RaceLate *late, const LateAccess *access) {
  LateWarp *warp = warp_of(late, access->base);
  if (!access->write && g_hash_table_size(late->looks) < LOOKS_MAX) {
    uint64_t key = look_key(access->base, access->word);
    if (!g_hash_table_contains(late->looks, &key))
      g_hash_table_add(late->looks, g_memdup2(&key, sizeof key));
  }
  for (unsigned i = 0; warp && i < warp->pendings;) {
    LateAccess *store = &warp->pending[i];
    if (store->word == access->word && access->write && store->issued <= access->issued) {
      *store = warp->pending[--warp->pendings];
      continue;
    }
    if (store->word != access->word && store->issued < access->issued)
      add_pair(warp, store, access);
    i++;
  }
}

/* ---- what is said ---- */

static bool looks(const RaceLate *late, ThreadId base, uint64_t word) {
  uint64_t key = look_key(base, word);
  return g_hash_table_contains(late->looks, &key);
}

static bool is_deed(const LateAccess *access, const LateDeed *deed) {
  return access->pc == deed->pc && access->issued == deed->cycle;
}

/* Of two pairs before the deed: the one that it is part of, else the newer one, else that of a load. */
static bool is_better(const LatePair *pair, const LatePair *than, const LateDeed *deed) {
  bool is_it = is_deed(&pair->by, deed) || is_deed(&pair->store, deed),
       was_it = is_deed(&than->by, deed) || is_deed(&than->store, deed);
  if (is_it != was_it)
    return is_it;
  if (pair->store.issued != than->store.issued)
    return pair->store.issued > than->store.issued;
  return !pair->by.write && than->by.write;
}

/* Of the pairs of the one, whose stores the other looks for. NULL: there is none. */
static const LatePair *find_pair(const RaceLate *late, const LateDeed *one, const LateDeed *other) {
  const LateWarp *warp = warp_of(late, one->base);
  const LatePair *found = NULL;
  for (unsigned i = 0; warp && i < warp->pairs; i++) {
    const LatePair *pair = &warp->pair[i];
    if (pair->store.issued <= one->cycle && looks(late, other->base, pair->store.word) &&
        (!found || is_better(pair, found, one)))
      found = pair;
  }
  return found;
}

static char *code_text(const Launch *launch, uint32_t pc) {
  g_autofree char *source = locate_source(launch, pc), *line = locate_line_text(launch, pc);
  return g_strdup_printf("`%s` in %s", source, line);
}

void race_late_explain(const RaceLate *late, Finding *finding, const LateDeed *one, const LateDeed *other) {
  const LatePair *pair = find_pair(late, one, other);
  if (!pair)
    pair = find_pair(late, other, one);
  if (!pair)
    return;
  const Launch *launch = gpu_launch(late->gpu, pair->store.base.launch);
  g_autofree char *store = code_text(launch, pair->store.pc), *by = code_text(launch, pair->by.pc),
                  *who = locate_lanes_text(late->gpu, launch, pair->store.base.block, thread_warp(pair->store.base),
                                           pair->store.lanes);
  const char *kind = pair->by.write ? "store" : "load";
  locate_evidence(finding, launch, pair->store.pc,
                  g_strdup_printf("%s stored here in cycle %" G_GUINT64_FORMAT
                                  "; its %s of %s, which comes later, was performed "
                                  "in cycle %" G_GUINT64_FORMAT ", while the store was still under way",
                                  who, pair->store.issued, kind, by, pair->by.performed));
  finding_add_evidence(finding, 0,
                       g_strdup_printf("no GPU's stores are as late as those of this run: the memory model allows "
                                       "it, since only %s between the two keeps their order",
                                       pair->by.write ? "a fence" : "fence.sc (__threadfence())"));
  g_clear_pointer(&finding->repairs, g_ptr_array_unref);
  g_free(finding->repair);
  finding->repair = g_strdup_printf("put __threadfence() (fence.sc) behind the store of %s and before the %s of %s",
                                    store, kind, by);
}
