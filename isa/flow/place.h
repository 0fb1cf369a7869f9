/* place.h - lists of spans (live_range.h), and places (rows of the register file, predicates) that they take. Private
 * to isa/. */
#ifndef LOCKSTEP_ISA_FLOW_PLACE_H
#define LOCKSTEP_ISA_FLOW_PLACE_H

#include "isa/flow/live_range.h"

/* A list of spans, ascending. */
typedef struct SpanList {
  Span *spans;
  uint32_t count;
  bool owned; /* the list frees them */
} SpanList;

/* The spans of a unit, owned by the ranges. */
SpanList unit_list(const LiveRanges *ranges, uint32_t unit);
/* The first span that ends behind `position`. */
uint32_t span_behind(const Span *spans, uint32_t count, uint32_t position);
bool span_lists_overlap(const SpanList *x, const SpanList *y);
/* `from` is empty then. The two don't overlap. */
void span_list_merge(SpanList *into, SpanList *from);

/* When a place is taken. */
typedef struct Place {
  Span *spans;
  uint32_t count, room;
} Place;

Place *places_new(uint32_t count);
void places_free(Place *places, uint32_t count);
bool place_is_free(const Place *place, const SpanList *list);
void place_take(Place *place, const SpanList *list);
void place_give_back(Place *place, const SpanList *list);

/* What is placed in the order of its first span. */
typedef struct Turn {
  uint32_t start, index; /* start UINT32_MAX: it has no span */
} Turn;

uint32_t span_lists_start(const SpanList *lists, unsigned rows);
void turns_sort(Turn *turns, uint32_t count);

#endif
