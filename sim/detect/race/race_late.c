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

/* The best pairs first, one of each store, `found` of them. */
typedef struct LatePairs {
  const LatePair *pair[PAIRS_MAX];
  unsigned found;
} LatePairs;

static void put_in(LatePairs *pairs, const LatePair *pair, const LateDeed *deed) {
  unsigned at = 0;
  while (at < pairs->found && !is_better(pair, pairs->pair[at], deed))
    if (pairs->pair[at++]->store.pc == pair->store.pc)
      return;
  unsigned end = at;
  while (end < pairs->found && pairs->pair[end]->store.pc != pair->store.pc)
    end++;
  pairs->found += end == pairs->found;
  memmove(&pairs->pair[at + 1], &pairs->pair[at], (end - at) * sizeof *pairs->pair);
  pairs->pair[at] = pair;
}

/* Of the pairs of the one before its deed, those whose stores the other looks for. */
static LatePairs find_pairs(const RaceLate *late, const LateDeed *one, const LateDeed *other) {
  const LateWarp *warp = warp_of(late, one->base);
  LatePairs pairs = {.found = 0};
  for (unsigned i = 0; warp && i < warp->pairs; i++) {
    const LatePair *pair = &warp->pair[i];
    if (pair->store.issued <= one->cycle && looks(late, other->base, pair->store.word))
      put_in(&pairs, pair, one);
  }
  return pairs;
}

static char *code_text(const Launch *launch, uint32_t pc) {
  g_autofree char *source = locate_source(launch, pc), *line = locate_line_text(launch, pc);
  return g_strdup_printf("`%s` in %s", source, line);
}

static const char *kind_of(const LateAccess *access) {
  return access->write ? "store" : access->atomic ? "atomic operation" : "load";
}

static Evidence *evidence_of(const RaceLate *late, Finding *finding, const LatePair *pair) {
  const Launch *launch = gpu_launch(late->gpu, pair->store.base.launch);
  g_autofree char *by = code_text(launch, pair->by.pc),
                  *who = locate_lanes_text(late->gpu, launch, pair->store.base.block, thread_warp(pair->store.base),
                                           pair->store.lanes);
  locate_evidence(finding, launch, pair->store.pc,
                  g_strdup_printf("%s stored here in cycle %" G_GUINT64_FORMAT
                                  "; its %s of %s, which comes later, was performed "
                                  "in cycle %" G_GUINT64_FORMAT ", while the store was still under way",
                                  who, pair->store.issued, kind_of(&pair->by), by, pair->by.performed));
  return g_ptr_array_steal_index(finding->evidence, finding->evidence->len - 1);
}

static bool has_fence(const Finding *finding, const char *kernel, uint32_t store) {
  for (guint i = 0; finding->fences && i < finding->fences->len; i++) {
    const LateFence *fence = g_ptr_array_index(finding->fences, i);
    for (guint k = 0; fence->kernel == kernel && k < fence->insts->len; k++)
      if (g_array_index(fence->insts, uint32_t, k) == store)
        return true;
  }
  return false;
}

static void add_fence(const RaceLate *late, Finding *finding, const LatePair *pair) {
  const Launch *launch = gpu_launch(late->gpu, pair->store.base.launch);
  const char *kernel = g_intern_string(launch->kernel->name);
  if (has_fence(finding, kernel, pair->store.pc))
    return;
  g_autofree char *store = code_text(launch, pair->store.pc), *by = code_text(launch, pair->by.pc);
  LateFence fence = {
      .kernel = kernel,
      .insts = locate_alike(launch, pair->store.pc),
      .where = g_strdup_printf("behind the store of %s and before the %s of %s", store, kind_of(&pair->by), by),
      .evidence = evidence_of(late, finding, pair),
      .load = !pair->by.write,
      .overtaken = true};
  finding_add_fence(finding, &fence);
}

void race_late_explain(const RaceLate *late, Finding *finding, const LateDeed *one, const LateDeed *other) {
  LatePairs pairs[] = {find_pairs(late, one, other), find_pairs(late, other, one)};
  for (unsigned side = 0; side < G_N_ELEMENTS(pairs); side++)
    for (unsigned i = 0; i < pairs[side].found; i++)
      add_fence(late, finding, pairs[side].pair[i]);
}

/* ---- waits ---- */

/* A pair, and why it may be the cause. */
typedef struct LateSuspect {
  const LatePair *pair;
  bool awaited, waits;
} LateSuspect;

static gint compare_suspects(gconstpointer a, gconstpointer b) {
  const LateSuspect *one = a, *other = b;
  const LateAccess *store = &one->pair->store, *than = &other->pair->store;
  if (one->awaited != other->awaited)
    return one->awaited ? -1 : 1;
  if (one->waits != other->waits)
    return one->waits ? -1 : 1;
  if (store->issued != than->issued)
    return store->issued > than->issued ? -1 : 1;
  if (store->base.block != than->base.block)
    return store->base.block < than->base.block ? -1 : 1;
  return store->word < than->word ? -1 : store->word > than->word;
}

void race_late_explain_wait(const RaceLate *late, Finding *finding) {
  g_autoptr(GArray) suspects = g_array_new(FALSE, FALSE, sizeof(LateSuspect));
  GHashTableIter all;
  gpointer value;
  g_hash_table_iter_init(&all, late->warps);
  while (g_hash_table_iter_next(&all, NULL, &value)) {
    const LateWarp *warp = value;
    for (unsigned i = 0; i < warp->pairs; i++) {
      const ThreadId *base = &warp->pair[i].store.base;
      LateSuspect suspect = {.pair = &warp->pair[i],
                             .awaited = warp->pair[i].store.word == finding->address / 4,
                             .waits = (int64_t)base->block == finding->block && thread_warp(*base) == finding->warp};
      g_array_append_val(suspects, suspect);
    }
  }
  g_array_sort(suspects, compare_suspects);
  for (guint i = 0; i < suspects->len; i++)
    add_fence(late, finding, g_array_index(suspects, LateSuspect, i).pair);
}
