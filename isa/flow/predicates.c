#include "isa/flow/predicates.h"

#include "isa/flow/place.h"

enum { LOOK_BACK = 64 }; /* so many predicates of a place are looked at for one that could give way */

static uint32_t end_of(const SpanList *list) { return list->spans[list->count - 1].to; }

typedef struct Predicates {
  const LiveRanges *ranges;
  uint32_t first; /* the unit of virtual predicate 0 */
  const uint8_t *keep;
  Place *places;
  GArray *placed[PREDICATE_PLACES]; /* uint32_t: the virtual predicates in each place */
  uint32_t *place_of;
} Predicates;

static SpanList predicate_list(const Predicates *predicates, uint32_t p) {
  return unit_list(predicates->ranges, predicates->first + p);
}

static void place_predicate(Predicates *predicates, uint32_t place, uint32_t p) {
  SpanList list = predicate_list(predicates, p);
  place_take(&predicates->places[place], &list);
  g_array_append_val(predicates->placed[place], p);
  predicates->place_of[p] = place;
}

/* The predicate that gives way to `p`: of those alone in p's way at some place, the one that is wanted longest; p
 * itself if none is wanted longer. */
static uint32_t choose_victim(const Predicates *predicates, uint32_t p) {
  SpanList list = predicate_list(predicates, p);
  bool must = predicates->keep && predicates->keep[p];
  uint32_t victim = p, latest = must ? 0 : end_of(&list);
  for (unsigned place = 0; place < PREDICATE_PLACES; place++) {
    uint32_t in_way = 0, last = 0;
    guint placed = predicates->placed[place]->len, oldest = placed > LOOK_BACK ? placed - LOOK_BACK : 0;
    for (guint i = placed; i-- > oldest && in_way < 2;) {
      uint32_t other = g_array_index(predicates->placed[place], uint32_t, i);
      SpanList theirs = predicate_list(predicates, other);
      if (!span_lists_overlap(&list, &theirs))
        continue;
      in_way++;
      last = other;
    }
    SpanList theirs = predicate_list(predicates, last);
    if (in_way == 1 && !(predicates->keep && predicates->keep[last]) && end_of(&theirs) > latest) {
      victim = last;
      latest = end_of(&theirs);
    }
  }
  return victim;
}

static void evict(Predicates *predicates, uint32_t victim) {
  uint32_t place = predicates->place_of[victim];
  SpanList list = predicate_list(predicates, victim);
  place_give_back(&predicates->places[place], &list);
  GArray *placed = predicates->placed[place];
  for (guint i = placed->len; i-- > 0;)
    if (g_array_index(placed, uint32_t, i) == victim)
      g_array_remove_index(placed, i);
  predicates->place_of[victim] = PREDICATE_PLACES;
}

static void find_place(Predicates *predicates, uint32_t p) {
  SpanList list = predicate_list(predicates, p);
  for (uint32_t place = 0; place < PREDICATE_PLACES; place++)
    if (place_is_free(&predicates->places[place], &list)) {
      place_predicate(predicates, place, p);
      return;
    }
  uint32_t victim = choose_victim(predicates, p);
  if (victim == p)
    return;
  uint32_t place = predicates->place_of[victim];
  evict(predicates, victim);
  place_predicate(predicates, place, p);
}

uint32_t *predicates_place(const VKernel *vkernel, const LiveRanges *ranges, const uint8_t *keep) {
  uint32_t n = vkernel->npreds;
  Predicates predicates = {.ranges = ranges,
                           .first = ranges->unit_of_reg[vkernel->rows->len],
                           .keep = keep,
                           .places = places_new(PREDICATE_PLACES),
                           .place_of = g_new(uint32_t, n + 1)};
  for (unsigned place = 0; place < PREDICATE_PLACES; place++)
    predicates.placed[place] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  g_autofree Turn *turns = g_new(Turn, n + 1);
  for (uint32_t p = 0; p < n; p++) {
    SpanList list = predicate_list(&predicates, p);
    turns[p] = (Turn){span_lists_start(&list, 1), p};
    predicates.place_of[p] = PREDICATE_PLACES;
  }
  turns_sort(turns, n);
  for (uint32_t t = 0; t < n; t++) {
    if (turns[t].start == UINT32_MAX)
      predicates.place_of[turns[t].index] = 0; /* never holds a value */
    else
      find_place(&predicates, turns[t].index);
  }
  uint32_t *numbers = g_new(uint32_t, n + 1);
  for (uint32_t p = 0; p < n; p++) {
    uint32_t place = predicates.place_of[p];
    numbers[p] = place == PREDICATE_PLACES ? PRED_SINK
                 : place < PRED_TRUE       ? place
                                           : place - PRED_TRUE + PRED_CARRY + 1;
  }
  for (unsigned place = 0; place < PREDICATE_PLACES; place++)
    g_array_unref(predicates.placed[place]);
  places_free(predicates.places, PREDICATE_PLACES);
  g_free(predicates.place_of);
  return numbers;
}
