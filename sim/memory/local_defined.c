#include "sim/memory/local_defined.h"

#include <glib.h>
#include <string.h>

void local_defined_start(LocalDefined *defined, uint32_t words) {
  uint32_t count = (words + LOCAL_PAGE_WORDS - 1) / LOCAL_PAGE_WORDS;
  for (uint32_t i = 0; i < defined->count; i++)
    if (defined->pages[i]) {
      memset(defined->pages[i]->common, 0, sizeof defined->pages[i]->common);
      defined->pages[i]->differs = false;
    }
  if (count <= defined->count)
    return;
  defined->pages = g_renew(DefinedPage *, defined->pages, count);
  memset(defined->pages + defined->count, 0, (count - defined->count) * sizeof *defined->pages);
  defined->count = count;
}

void local_defined_clear(LocalDefined *defined) {
  for (uint32_t i = 0; i < defined->count; i++)
    if (defined->pages[i]) {
      g_free(defined->pages[i]->each);
      g_free(defined->pages[i]);
    }
  g_free(defined->pages);
  *defined = (LocalDefined){0};
}

static void spread(DefinedPage *page) {
  if (!page->each)
    page->each = g_new(uint8_t, LOCAL_PAGE_WORDS * LOCAL_LANES);
  for (uint32_t at = 0; at < LOCAL_PAGE_WORDS; at++)
    memset(page->each + at * LOCAL_LANES, page->common[at], LOCAL_LANES);
  page->differs = true;
}

/* True if after the store all lanes that matter have the same bytes of the word, *after. */
static bool stays_common(const DefinedPage *page, uint32_t at, uint32_t mask, uint32_t alive,
                         const uint8_t bytes[LOCAL_LANES], const uint8_t values[LOCAL_LANES], uint8_t *after) {
  uint8_t before = page->common[at];
  bool first = true;
  *after = before;
  for (uint32_t rest = mask; rest; rest &= rest - 1, first = false) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint8_t own = (uint8_t)((before & ~bytes[lane]) | values[lane]);
    if (!first && own != *after)
      return false;
    *after = own;
  }
  return *after == before || (alive & ~mask) == 0;
}

void local_defined_store(LocalDefined *defined, uint32_t word, uint32_t mask, uint32_t alive,
                         const uint8_t bytes[LOCAL_LANES], const uint8_t values[LOCAL_LANES]) {
  DefinedPage **place = &defined->pages[word / LOCAL_PAGE_WORDS];
  uint32_t at = word % LOCAL_PAGE_WORDS;
  uint8_t after;
  if (!*place)
    *place = g_new0(DefinedPage, 1);
  if (!(*place)->differs && stays_common(*place, at, mask, alive, bytes, values, &after)) {
    (*place)->common[at] = after;
    return;
  }
  if (!(*place)->differs)
    spread(*place);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint8_t *own = &(*place)->each[at * LOCAL_LANES + lane];
    *own = (uint8_t)((*own & ~bytes[lane]) | values[lane]);
  }
}
