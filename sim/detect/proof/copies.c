#include "sim/detect/proof/copies.h"

#include "base/bits.h"

/* What lanes of one SM may do to its L1. */
typedef struct SmCopies {
  bool all_go;
  GHashTable *sectors; /* uint64_t: numbers of those that are evicted */
  GHashTable *lines;   /* uint64_t: numbers of those that are fetched, and that the L1 doesn't hold now */
  GHashTable *sets;    /* uint64_t: a set -> GUINT_TO_POINTER(how many of these lines) */
} SmCopies;

struct Copies {
  const Gpu *gpu;
  SmCopies **sm; /* NULL: nothing is known to go */
};

Copies *copies_new(const Gpu *gpu) {
  Copies *copies = g_new0(Copies, 1);
  copies->gpu = gpu;
  copies->sm = g_new0(SmCopies *, gpu->machine->gpu.sms);
  return copies;
}

void copies_free(Copies *copies) {
  if (!copies)
    return;
  for (uint32_t i = 0; i < copies->gpu->machine->gpu.sms; i++) {
    if (!copies->sm[i])
      continue;
    g_hash_table_destroy(copies->sm[i]->sectors);
    g_hash_table_destroy(copies->sm[i]->lines);
    g_hash_table_destroy(copies->sm[i]->sets);
    g_free(copies->sm[i]);
  }
  g_free(copies->sm);
  g_free(copies);
}

static GHashTable *number_table(void) { return g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL); }

/* NULL for an SM without an L1 so far, and for one that isn't of the machine (a block that isn't resident is tried there). */
static SmCopies *copies_of(Copies *copies, const Sm *sm) {
  if (!sm->l1 || sm->index >= copies->gpu->machine->gpu.sms)
    return NULL;
  SmCopies **of = &copies->sm[sm->index];
  if (!*of) {
    *of = g_new0(SmCopies, 1);
    (*of)->sectors = number_table();
    (*of)->lines = number_table();
    (*of)->sets = number_table();
  }
  return *of;
}

static uint64_t sector_of(const Copies *copies, uint64_t address) {
  return address / copies->gpu->machine->sm.l1.sector;
}

static uint64_t line_of(const Copies *copies, uint64_t address) { return address / copies->gpu->machine->sm.l1.line; }

/* True if the lines that are fetched into that set fit beside those that it holds. */
static bool has_room(const SmCopies *of, const Sm *sm, uint64_t address) {
  uint64_t set = l1_set(sm->l1, address);
  return GPOINTER_TO_UINT(g_hash_table_lookup(of->sets, &set)) <= l1_room(sm->l1, address);
}

bool copies_keep(const Copies *copies, const Sm *sm, uint64_t address, uint32_t *word) {
  if (!sm->l1 || sm->index >= copies->gpu->machine->gpu.sms || !l1_peek(sm->l1, address, word))
    return false;
  const SmCopies *of = copies->sm[sm->index];
  uint64_t sector = sector_of(copies, address);
  return !of || (!of->all_go && !g_hash_table_contains(of->sectors, &sector) && has_room(of, sm, address));
}

bool copies_load(Copies *copies, const Sm *sm, uint64_t address) {
  SmCopies *of = copies_of(copies, sm);
  if (!of || of->all_go || l1_has_line(sm->l1, address))
    return false;
  uint64_t line = line_of(copies, address), set = l1_set(sm->l1, address);
  if (!g_hash_table_add(of->lines, g_memdup2(&line, sizeof line)))
    return false;
  if (g_hash_table_size(of->lines) > l1_spare(sm->l1))
    return of->all_go = true;
  bool had_room = has_room(of, sm, address);
  guint count = GPOINTER_TO_UINT(g_hash_table_lookup(of->sets, &set));
  g_hash_table_insert(of->sets, g_memdup2(&set, sizeof set), GUINT_TO_POINTER(count + 1));
  return had_room && !has_room(of, sm, address);
}

bool copies_evict(Copies *copies, const Sm *sm, uint64_t address) {
  SmCopies *of = copies_of(copies, sm);
  uint64_t sector = sector_of(copies, address);
  uint32_t word;
  return of && !of->all_go && l1_peek(sm->l1, address, &word) &&
         g_hash_table_add(of->sectors, g_memdup2(&sector, sizeof sector));
}

bool copies_evict_all(Copies *copies, const Sm *sm) {
  SmCopies *of = copies_of(copies, sm);
  if (!of || of->all_go)
    return false;
  of->all_go = true;
  return true;
}
