#include "isa/flow/place.h"

#include <stdlib.h>

SpanList unit_list(const LiveRanges *ranges, uint32_t unit) {
  uint32_t start = ranges->start[unit];
  return (SpanList){.spans = &g_array_index(ranges->spans, Span, start), .count = ranges->start[unit + 1] - start};
}

uint32_t span_behind(const Span *spans, uint32_t count, uint32_t position) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (spans[middle].to <= position)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Looks up the spans of the shorter list in the longer one. */
static bool overlap(const Span *longer, uint32_t long_count, const Span *shorter, uint32_t short_count) {
  if (long_count < short_count)
    return overlap(shorter, short_count, longer, long_count);
  for (uint32_t i = 0, at = 0; i < short_count; i++) {
    at += span_behind(longer + at, long_count - at, shorter[i].from);
    if (at == long_count)
      return false;
    if (longer[at].from < shorter[i].to)
      return true;
  }
  return false;
}

bool span_lists_overlap(const SpanList *x, const SpanList *y) {
  return overlap(x->spans, x->count, y->spans, y->count);
}

void span_list_merge(SpanList *into, SpanList *from) {
  Span *merged = g_new(Span, into->count + from->count + 1);
  uint32_t count = 0;
  for (uint32_t i = 0, k = 0; i < into->count || k < from->count;) {
    bool mine = k == from->count || (i < into->count && into->spans[i].from < from->spans[k].from);
    Span next = mine ? into->spans[i++] : from->spans[k++];
    if (count && merged[count - 1].to == next.from)
      merged[count - 1].to = next.to;
    else
      merged[count++] = next;
  }
  if (into->owned)
    g_free(into->spans);
  if (from->owned)
    g_free(from->spans);
  *from = (SpanList){0};
  *into = (SpanList){merged, count, true};
}

/* -- places -- */

bool place_is_free(const Place *place, const SpanList *list) {
  if (place->count == 0 || list->count == 0 || place->spans[place->count - 1].to <= list->spans[0].from)
    return true;
  return !overlap(place->spans, place->count, list->spans, list->count);
}

/* From the back, so that each span moves once; few do when lists come in the order of their start. */
void place_take(Place *place, const SpanList *list) {
  uint32_t old = place->count, at = old + list->count, left = list->count;
  if (at > place->room) {
    place->room = MAX(2 * place->room, at);
    place->spans = g_renew(Span, place->spans, place->room);
  }
  place->count = at;
  while (left) {
    bool mine = old == 0 || place->spans[old - 1].from < list->spans[left - 1].from;
    place->spans[--at] = mine ? list->spans[--left] : place->spans[--old];
  }
}

void place_give_back(Place *place, const SpanList *list) {
  uint32_t kept = 0, next = 0;
  for (uint32_t i = 0; i < place->count; i++) {
    if (next < list->count && list->spans[next].from == place->spans[i].from)
      next++;
    else
      place->spans[kept++] = place->spans[i];
  }
  place->count = kept;
}

Place *places_new(uint32_t count) { return g_new0(Place, count); }

void places_free(Place *places, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    g_free(places[i].spans);
  g_free(places);
}

/* -- order -- */

static int compare_turns(const void *x, const void *y) {
  const Turn *a = x, *b = y;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

uint32_t span_lists_start(const SpanList *lists, unsigned rows) {
  uint32_t start = UINT32_MAX;
  for (unsigned row = 0; row < rows; row++)
    if (lists[row].count)
      start = MIN(start, lists[row].spans[0].from);
  return start;
}

void turns_sort(Turn *turns, uint32_t count) {
  if (count > 1)
    qsort(turns, count, sizeof *turns, compare_turns);
}
