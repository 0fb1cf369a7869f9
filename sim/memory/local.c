#include "sim/memory/local.h"

#include <glib.h>
#include <string.h>

void local_memory_start(LocalMemory *local, uint32_t words) {
  uint32_t count = (words + LOCAL_PAGE_WORDS - 1) / LOCAL_PAGE_WORDS;
  for (uint32_t i = 0; i < local->count; i++)
    if (local->pages[i]) {
      memset(local->pages[i]->common, 0, sizeof local->pages[i]->common);
      local->pages[i]->differs = 0;
    }
  if (count <= local->count)
    return;
  local->pages = g_renew(LocalPage *, local->pages, count);
  memset(local->pages + local->count, 0, (count - local->count) * sizeof *local->pages);
  local->count = count;
}

void local_memory_clear(LocalMemory *local) {
  for (uint32_t i = 0; i < local->count; i++)
    if (local->pages[i]) {
      g_free(local->pages[i]->each);
      g_free(local->pages[i]);
    }
  g_free(local->pages);
  *local = (LocalMemory){0};
}

/* From now on each lane has words of its own. */
static void spread(LocalPage *page) {
  if (!page->each)
    page->each = g_new(uint32_t, LOCAL_PAGE_WORDS * LOCAL_LANES);
  for (uint32_t at = 0; at < LOCAL_PAGE_WORDS; at++)
    for (uint32_t lane = 0; lane < LOCAL_LANES; lane++)
      page->each[at * LOCAL_LANES + lane] = page->common[at];
  page->differs = 1;
}

/* True if the lanes of `mask` store one value. */
static bool is_common(uint32_t mask, const uint32_t values[LOCAL_LANES], uint32_t *value) {
  uint32_t apart = 0;
  *value = mask ? values[__builtin_ctz(mask)] : 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    apart |= values[__builtin_ctz(rest)] ^ *value;
  return apart == 0;
}

void local_memory_store(LocalMemory *local, uint32_t word, uint32_t mask, uint32_t alive,
                        const uint32_t values[LOCAL_LANES]) {
  LocalPage **place = &local->pages[word / LOCAL_PAGE_WORDS];
  uint32_t at = word % LOCAL_PAGE_WORDS, value;
  if (!*place || !(*place)->differs) {
    bool common = is_common(mask, values, &value);
    if (common && value == (*place ? (*place)->common[at] : 0))
      return;
    if (!*place)
      *place = g_new0(LocalPage, 1);
    if (common && (alive & ~mask) == 0) {
      (*place)->common[at] = value;
      return;
    }
    spread(*place);
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    (*place)->each[at * LOCAL_LANES + (unsigned)__builtin_ctz(rest)] = values[__builtin_ctz(rest)];
}
