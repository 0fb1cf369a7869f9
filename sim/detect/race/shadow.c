#include "sim/detect/race/shadow.h"

#include <string.h>

static void free_page(gpointer data) {
  Cell *page = data;
  for (unsigned i = 0; i < SHADOW_PAGE_WORDS; i++)
    g_free(page[i].access);
  g_free(page);
}

void shadow_init(Shadow *shadow) {
  *shadow = (Shadow){.pages = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_page)};
}

void shadow_clear(Shadow *shadow) { g_hash_table_destroy(shadow->pages); }

Cell *shadow_cell(Shadow *shadow, uint64_t word) {
  uint64_t number = word / SHADOW_PAGE_WORDS;
  if (!shadow->last || shadow->last_page != number) {
    Cell *page = g_hash_table_lookup(shadow->pages, (gpointer)(uintptr_t)number);
    if (!page && g_hash_table_size(shadow->pages) >= SHADOW_PAGES_MAX)
      return NULL;
    if (!page) {
      page = g_new0(Cell, SHADOW_PAGE_WORDS);
      g_hash_table_insert(shadow->pages, (gpointer)(uintptr_t)number, page);
    }
    shadow->last = page;
    shadow->last_page = number;
  }
  return &shadow->last[word % SHADOW_PAGE_WORDS];
}

void shadow_forget(Shadow *shadow, Cell *cell) {
  shadow->accesses -= cell->space;
  g_free(cell->access);
  *cell = (Cell){0};
}

/* Whoever conflicts with `old` conflicts with `new` too, if `new` is ordered after `old`. */
static bool covers(const Access *new, const Access *old) {
  return new->write >= old->write &&new->strong <= old->strong && (old->bytes & ~new->bytes) == 0;
}

static bool both_strong(const Access *new, const Access *old, const AccessOrder *order) {
  if (new->strong == ACCESS_STRONG && old->strong == ACCESS_STRONG)
    return true;
  return new->strong && old->strong && order->same_block(order->user, old);
}

static bool conflicts(const Access *new, const Access *old, const AccessOrder *order) {
  return (new->write || old->write) && (new->bytes & old->bytes) && !both_strong(new, old, order);
}

/* The warp did the same, and released nothing since: who it races with was told then. */
static bool repeats(const Cell *cell, const Access *access, bool by_lanes) {
  for (unsigned i = 0; i < cell->count; i++) {
    const Access *old = &cell->access[i];
    bool lanes = !by_lanes || !(access->lanes & ~old->lanes);
    if (old->actor == access->actor && old->time == access->time && lanes && covers(old, access))
      return true;
  }
  return false;
}

static void append(Shadow *shadow, Cell *cell, const Access *access) {
  if (cell->count == cell->space) {
    unsigned space = cell->space ? MIN(2u * cell->space, (unsigned)CELL_ACCESSES_MAX) : 1;
    if (space == cell->space || shadow->accesses + (space - cell->space) > SHADOW_ACCESSES_MAX) {
      if (cell->count == 0)
        return;
      memmove(cell->access, cell->access + 1, --cell->count * sizeof *cell->access);
    } else {
      shadow->accesses += space - cell->space;
      cell->access = g_renew(Access, cell->access, space);
      cell->space = (uint16_t)space;
    }
  }
  cell->access[cell->count++] = *access;
}

unsigned shadow_add(Shadow *shadow, Cell *cell, const Access *access, const AccessOrder *order, Access *race,
                    unsigned max) {
  if (repeats(cell, access, order->by_lanes))
    return 0;
  unsigned races = 0, kept = 0;
  for (unsigned i = 0; i < cell->count; i++) {
    const Access *old = &cell->access[i];
    bool conflicting = conflicts(access, old, order), covered = covers(access, old);
    bool ordered = (conflicting || covered) && order->before(order->user, old);
    if (conflicting && !ordered && races < max)
      race[races++] = *old;
    if (!(covered && ordered))
      cell->access[kept++] = *old;
  }
  cell->count = (uint16_t)kept;
  append(shadow, cell, access);
  return races;
}
