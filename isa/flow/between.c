#include "isa/flow/between.h"

#include <string.h>

enum { NONE = UINT32_MAX };

/* Tarjan's strongly connected components, which come from the last one backwards. Nothing recurses. */
typedef struct Search {
  const Flow *flow;
  uint32_t *number, *low, *next, *path, *open; /* path: of the search; open: blocks without a component yet */
  uint32_t count, depth, nopen, components;
  uint32_t *component;
} Search;

static void visit(Search *search, uint32_t block) {
  search->number[block] = search->low[block] = search->count++;
  search->next[block] = search->flow->out.start[block];
  search->path[search->depth++] = block;
  search->open[search->nopen++] = block;
}

static void close_component(Search *search, uint32_t root) {
  uint32_t block;
  do {
    block = search->open[--search->nopen];
    search->component[block] = search->components;
  } while (block != root);
  search->components++;
}

static void leave(Search *search) {
  uint32_t block = search->path[--search->depth];
  if (search->low[block] == search->number[block])
    close_component(search, block);
  if (search->depth) {
    uint32_t *low = &search->low[search->path[search->depth - 1]];
    *low = MIN(*low, search->low[block]);
  }
}

static void search_from(Search *search, uint32_t root) {
  const Flow *flow = search->flow;
  visit(search, root);
  while (search->depth) {
    uint32_t block = search->path[search->depth - 1];
    if (search->next[block] == flow->out.start[block + 1]) {
      leave(search);
      continue;
    }
    uint32_t to = flow->out.to[search->next[block]++];
    if (search->number[to] == NONE)
      visit(search, to);
    else if (search->component[to] == NONE)
      search->low[block] = MIN(search->low[block], search->number[to]);
  }
}

void between_init(Between *between, const Flow *flow) {
  gsize n = (gsize)flow->nblocks + 1;
  g_autofree uint32_t *memory = g_new(uint32_t, 5 * n);
  Search search = {.flow = flow,
                   .number = memory,
                   .low = memory + n,
                   .next = memory + 2 * n,
                   .path = memory + 3 * n,
                   .open = memory + 4 * n,
                   .component = g_new(uint32_t, n)};
  memset(search.number, 0xff, n * sizeof *search.number);
  memset(search.component, 0xff, n * sizeof *search.component);
  for (uint32_t b = 0; b < flow->nblocks; b++)
    if (search.number[b] == NONE)
      search_from(&search, b);
  for (uint32_t b = 0; b < flow->nblocks; b++)
    search.component[b] = search.components - 1 - search.component[b];
  *between = (Between){.order = search.component,
                       .numbers = search.components,
                       .count = g_new0(uint32_t, (gsize)search.components + 1),
                       .next = g_new(uint32_t, (gsize)search.components + 1)};
}

void between_clear(Between *between) {
  g_free(between->order);
  g_free(between->count);
  g_free(between->next);
  *between = (Between){0};
}

void between_add(Between *between, uint32_t block) { between->count[between->order[block]]++; }

static void link_all(Between *between) {
  between->linked = true;
  for (uint32_t i = 0; i <= between->numbers; i++)
    between->next[i] = i == between->numbers || between->count[i] ? i : i + 1;
}

void between_remove(Between *between, uint32_t block) {
  uint32_t number = between->order[block];
  if (--between->count[number] == 0 && between->linked)
    between->next[number] = number + 1;
}

bool between_any(Between *between, uint32_t from, int32_t to) {
  if (!between->linked)
    link_all(between);
  uint32_t at = between->order[from];
  while (between->next[at] != at) {
    between->next[at] = between->next[between->next[at]];
    at = between->next[at];
  }
  return at < between->numbers && (to == NO_TARGET || at <= between->order[to]);
}
