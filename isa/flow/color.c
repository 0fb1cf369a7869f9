#include "isa/flow/color.h"

#include <stdlib.h>
#include <string.h>

#include "isa/flow/scratch.h"

enum {
  JOINED_SPANS_MAX = 4096, /* a class with more isn't joined any further: joining stays linear */
  STACK_POINTER = 1,
  READS_FOR = 6,  /* an access to global memory reads its registers for 18 cycles (H200), issue takes 3 on average */
  LOOK_BACK = 64, /* so many predicates of a place are looked at for one that could give way */
};

/* A list of spans, ascending. */
typedef struct SpanList {
  Span *spans;
  uint32_t count;
  bool owned;
} SpanList;

/* Registers that share their rows. A register's class is at the end of its `parent` chain; `offset` counts from the
 * parent's row 0. */
typedef struct Member {
  uint32_t parent;
  uint8_t offset;
  uint8_t rows;   /* of the class, if this is its root */
  bool odd;       /* of a class of one row, if this is its root: its row is to be odd */
  SpanList *list; /* of each row of the class, if this is its root */
} Member;

typedef struct Classes {
  Member *members;
  uint32_t count;
  SpanList *lists; /* of each unit */
} Classes;

/* Halves the way as it goes, so that long chains of moves stay cheap. */
static uint32_t find_root(Classes *classes, uint32_t reg, uint32_t *offset) {
  *offset = 0;
  for (;;) {
    Member *member = &classes->members[reg];
    Member *above = &classes->members[member->parent];
    if (member->parent == reg)
      return reg;
    if (above->parent != member->parent) {
      member->offset = (uint8_t)(member->offset + above->offset);
      member->parent = above->parent;
    }
    *offset += member->offset;
    reg = member->parent;
  }
}

static SpanList unit_list(const LiveRanges *ranges, uint32_t unit) {
  uint32_t start = ranges->start[unit];
  return (SpanList){.spans = &g_array_index(ranges->spans, Span, start), .count = ranges->start[unit + 1] - start};
}

static void init_classes(Classes *classes, const VKernel *vkernel, const LiveRanges *ranges) {
  classes->count = vkernel->rows->len;
  classes->members = g_new(Member, classes->count + 1);
  uint32_t units = ranges->unit_of_reg[classes->count];
  classes->lists = g_new(SpanList, units + 1);
  for (uint32_t u = 0; u < units; u++)
    classes->lists[u] = unit_list(ranges, u);
  for (uint32_t r = 0; r < classes->count; r++)
    classes->members[r] = (Member){.parent = r,
                                   .rows = g_array_index(vkernel->rows, uint8_t, r),
                                   .list = &classes->lists[ranges->unit_of_reg[r]]};
}

static void clear_classes(Classes *classes, const LiveRanges *ranges) {
  for (uint32_t u = 0; u < ranges->unit_of_reg[classes->count]; u++)
    if (classes->lists[u].owned)
      g_free(classes->lists[u].spans);
  g_free(classes->lists);
  g_free(classes->members);
}

/* -- joining -- */

/* The first span that ends behind `position`. */
static uint32_t first_behind(const Span *spans, uint32_t count, uint32_t position) {
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
    at += first_behind(longer + at, long_count - at, shorter[i].from);
    if (at == long_count)
      return false;
    if (longer[at].from < shorter[i].to)
      return true;
  }
  return false;
}

static void merge_lists(SpanList *into, SpanList *from) {
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

/* Makes row `y_row` of register y the same as row `x_row` of register x, if they and the rows beside them allow it. */
static void join(Classes *classes, uint32_t x, uint32_t x_row, uint32_t y, uint32_t y_row) {
  uint32_t x_offset, y_offset, large = find_root(classes, x, &x_offset), small = find_root(classes, y, &y_offset);
  int32_t shift = (int32_t)(x_offset + x_row) - (int32_t)(y_offset + y_row);
  if (classes->members[large].rows < classes->members[small].rows) {
    uint32_t swap = large;
    large = small;
    small = swap;
    shift = -shift;
  }
  Member *into = &classes->members[large], *from = &classes->members[small];
  if (large == small || shift < 0 || shift + from->rows > into->rows || shift % from->rows != 0)
    return;
  for (unsigned row = 0; row < from->rows; row++) {
    const SpanList *a = &into->list[(unsigned)shift + row], *b = &from->list[row];
    if (a->count + b->count > JOINED_SPANS_MAX || overlap(a->spans, a->count, b->spans, b->count))
      return;
  }
  for (unsigned row = 0; row < from->rows; row++)
    merge_lists(&into->list[(unsigned)shift + row], &from->list[row]);
  into->odd |= from->odd;
  from->parent = large;
  from->offset = (uint8_t)shift;
}

/* Moves first come first: nvcc writes the copies of a loop's variables and the parts of vectors as moves. */
static void join_moves(Classes *classes, const VKernel *vkernel) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    bool move = vinst->inst.op == OP_MOV || vinst->inst.op == OP_MOV64;
    if (move && vinst->dst != VREG_SINK && vinst->a >= 0 && vinst->a != VREG_SINK)
      join(classes, (uint32_t)vinst->dst, vinst->dst_row, (uint32_t)vinst->a, vinst->a_row);
  }
}

/* -- what ptxas prefers -- */

static void want_odd_rows(Classes *classes, const VKernel *vkernel) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    if (scratch_wants_odd(vinst) && vinst->b >= 0 && vinst->b != VREG_SINK && classes->members[vinst->b].rows == 1)
      classes->members[vinst->b].odd = true;
  }
}

static uint32_t late_end(const Flow *flow, uint32_t i) {
  return 2 * MIN(i + 1 + READS_FOR, flow->first[flow->block_of[i] + 1]);
}

/* The span that ends where instruction `i` reads lasts some instructions longer, to the end of the block at most. */
static void read_late(SpanList *list, uint32_t i, uint32_t end) {
  uint32_t at = first_behind(list->spans, list->count, 2 * i);
  if (at == list->count || list->spans[at].from > 2 * i || list->spans[at].to > 2 * i + 2)
    return;
  if (at + 1 < list->count)
    end = MIN(end, list->spans[at + 1].from);
  if (!list->owned)
    *list = (SpanList){g_memdup2(list->spans, list->count * sizeof(Span)), list->count, true};
  list->spans[at].to = MAX(list->spans[at].to, end);
}

static void read_all_late(Classes *classes, const VKernel *vkernel, const Flow *flow) {
  for (guint i = 0; i < vkernel->insts->len; i++) {
    const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
    VRegUse uses[8];
    unsigned count = scratch_reads_late(vinst) ? vinst_reads(vinst, uses) : 0;
    for (unsigned u = 0; u < count; u++) {
      uint32_t offset, root = find_root(classes, (uint32_t)uses[u].reg, &offset);
      for (unsigned row = 0; row < uses[u].rows; row++)
        read_late(&classes->members[root].list[offset + uses[u].row + row], i, late_end(flow, i));
    }
  }
}

/* -- places -- */

/* A place (a row of the register file, a predicate) and when it is taken; `names` (predicates) says by whom. */
typedef struct Place {
  GArray *spans;
} Place;

static bool is_free(const Place *place, const SpanList *list) {
  const Span *taken = (const Span *)(const void *)place->spans->data;
  uint32_t count = place->spans->len;
  if (count == 0 || list->count == 0 || taken[count - 1].to <= list->spans[0].from)
    return true;
  return !overlap(taken, count, list->spans, list->count);
}

/* From the back, so that each span moves once; few do when lists come in the order of their start. */
static void take_place(Place *place, const SpanList *list) {
  guint old = place->spans->len, at = old + list->count;
  g_array_set_size(place->spans, at);
  Span *taken = (Span *)(void *)place->spans->data;
  uint32_t left = list->count;
  while (left) {
    bool mine = old == 0 || taken[old - 1].from < list->spans[left - 1].from;
    taken[--at] = mine ? list->spans[--left] : taken[--old];
  }
}

static void give_back(Place *place, const SpanList *list) {
  guint kept = 0, next = 0;
  for (guint i = 0; i < place->spans->len; i++) {
    Span span = g_array_index(place->spans, Span, i);
    if (next < list->count && list->spans[next].from == span.from)
      next++;
    else
      g_array_index(place->spans, Span, kept++) = span;
  }
  g_array_set_size(place->spans, kept);
}

static Place *places_new(uint32_t count) {
  Place *places = g_new(Place, count);
  for (uint32_t i = 0; i < count; i++)
    places[i].spans = g_array_new(FALSE, FALSE, sizeof(Span));
  return places;
}

static void places_free(Place *places, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    g_array_unref(places[i].spans);
  g_free(places);
}

/* -- order -- */

typedef struct Turn {
  uint32_t start, index;
} Turn;

static int compare_turns(const void *x, const void *y) {
  const Turn *a = x, *b = y;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

static uint32_t start_of(const SpanList *lists, unsigned rows) {
  uint32_t start = UINT32_MAX;
  for (unsigned row = 0; row < rows; row++)
    if (lists[row].count)
      start = MIN(start, lists[row].spans[0].from);
  return start;
}

/* -- registers -- */

static uint32_t place_class(Place *places, const Member *member) {
  bool odd = member->odd && member->rows == 1;
  uint32_t base = odd, rows = member->rows;
  for (; base + rows <= COLOR_ROWS_MAX; base += odd ? 2 : rows) {
    unsigned row = 0;
    while (row < rows && is_free(&places[base + row], &member->list[row]))
      row++;
    if (row == rows)
      break;
  }
  if (base + rows <= COLOR_ROWS_MAX)
    for (unsigned row = 0; row < rows; row++)
      take_place(&places[base + row], &member->list[row]);
  return base;
}

/* ptxas keeps R1 for the stack pointer in every kernel, used or not. */
static void reserve_stack_pointer(Colors *colors, Place *places) {
  Span always = {0, UINT32_MAX};
  take_place(&places[STACK_POINTER], &(SpanList){.spans = &always, .count = 1});
  colors->nrows = STACK_POINTER + 1;
}

static void place_rows(Colors *colors, Place *places, unsigned count, uint8_t rows, bool odd, Span span) {
  SpanList lists[] = {{.spans = &span, .count = 1}, {.spans = &span, .count = 1}};
  for (; count && colors->nrows < COLOR_ROWS_MAX; count -= rows) {
    uint32_t row = place_class(places, &(Member){.rows = rows, .odd = odd, .list = lists});
    colors->nrows = MAX(colors->nrows, MIN(row + rows, COLOR_ROWS_MAX));
  }
}

/* Places for the registers that an instruction needs beside its operands. */
static void place_scratch(Colors *colors, Place *places, const VKernel *vkernel, uint32_t i, const Flow *prefer) {
  const VInst *vinst = &g_array_index(vkernel->insts, VInst, i);
  unsigned scratch = scratch_registers(vinst), constants = scratch_constants(vkernel, vinst);
  Span span = {2 * i, 2 * i + 1};
  place_rows(colors, places, scratch, 1, false, span);
  if (prefer)
    span.to = late_end(prefer, i);
  place_rows(colors, places, constants, constants % 2 ? 1 : 2, prefer && scratch_wants_odd(vinst), span);
}

static uint32_t take_turns(const Classes *classes, Turn *turns) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < classes->count; r++) {
    const Member *member = &classes->members[r];
    if (member->parent == r)
      turns[count++] = (Turn){start_of(member->list, member->rows), r};
  }
  qsort(turns, count, sizeof *turns, compare_turns);
  return count;
}

static void place_classes(Colors *colors, const Classes *classes, const VKernel *vkernel, const Flow *prefer) {
  g_autofree Turn *turns = g_new(Turn, classes->count + 1);
  uint32_t count = take_turns(classes, turns), t = 0;
  Place *places = places_new(COLOR_ROWS_MAX);
  reserve_stack_pointer(colors, places);
  for (uint32_t i = 0; i <= vkernel->insts->len; i++) {
    for (; t < count && (turns[t].start < 2 * i || i == vkernel->insts->len) && colors->nrows < COLOR_ROWS_MAX; t++) {
      const Member *member = &classes->members[turns[t].index];
      uint32_t row = colors->row[turns[t].index] = place_class(places, member);
      if (turns[t].start != UINT32_MAX)
        colors->nrows = MAX(colors->nrows, MIN(row + member->rows, COLOR_ROWS_MAX));
    }
    if (i < vkernel->insts->len)
      place_scratch(colors, places, vkernel, i, prefer);
  }
  places_free(places, COLOR_ROWS_MAX);
}

static void color_registers(Colors *colors, const VKernel *vkernel, const LiveRanges *ranges, const Flow *prefer) {
  Classes classes;
  init_classes(&classes, vkernel, ranges);
  if (prefer)
    want_odd_rows(&classes, vkernel);
  join_moves(&classes, vkernel);
  if (prefer)
    read_all_late(&classes, vkernel, prefer);
  colors->row = g_new0(uint32_t, classes.count + 1);
  place_classes(colors, &classes, vkernel, prefer);
  for (uint32_t r = 0; r < classes.count; r++) {
    uint32_t offset, root = find_root(&classes, r, &offset);
    if (root != r)
      colors->row[r] = colors->row[root] + offset;
  }
  clear_classes(&classes, ranges);
}

/* -- predicates -- */

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
  take_place(&predicates->places[place], &list);
  g_array_append_val(predicates->placed[place], p);
  predicates->place_of[p] = place;
}

/* The predicate that gives way to `p`: of those alone in p's way at some place, the one that is wanted longest; p itself if
 * none is wanted longer. */
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
      if (!overlap(list.spans, list.count, theirs.spans, theirs.count))
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
  give_back(&predicates->places[place], &list);
  GArray *placed = predicates->placed[place];
  for (guint i = placed->len; i-- > 0;)
    if (g_array_index(placed, uint32_t, i) == victim)
      g_array_remove_index(placed, i);
  predicates->place_of[victim] = PREDICATE_PLACES;
}

static void find_place(Predicates *predicates, uint32_t p) {
  SpanList list = predicate_list(predicates, p);
  for (uint32_t place = 0; place < PREDICATE_PLACES; place++)
    if (is_free(&predicates->places[place], &list)) {
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

static void color_predicates(Colors *colors, const VKernel *vkernel, const LiveRanges *ranges, const uint8_t *keep) {
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
    turns[p] = (Turn){start_of(&list, 1), p};
    predicates.place_of[p] = PREDICATE_PLACES;
  }
  qsort(turns, n, sizeof *turns, compare_turns);
  for (uint32_t t = 0; t < n; t++) {
    if (turns[t].start == UINT32_MAX)
      predicates.place_of[turns[t].index] = 0; /* never holds a value */
    else
      find_place(&predicates, turns[t].index);
  }
  colors->predicate = g_new(uint32_t, n + 1);
  for (uint32_t p = 0; p < n; p++) {
    uint32_t place = predicates.place_of[p];
    colors->predicate[p] = place == PREDICATE_PLACES ? PRED_SINK
                           : place < PRED_TRUE       ? place
                                                     : place - PRED_TRUE + PRED_CARRY + 1;
  }
  for (unsigned place = 0; place < PREDICATE_PLACES; place++)
    g_array_unref(predicates.placed[place]);
  places_free(predicates.places, PREDICATE_PLACES);
  g_free(predicates.place_of);
}

void colors_init(Colors *colors, const VKernel *vkernel, const LiveRanges *ranges, const Flow *prefer,
                 const uint8_t *keep) {
  *colors = (Colors){0};
  color_registers(colors, vkernel, ranges, prefer);
  color_predicates(colors, vkernel, ranges, keep);
}

void colors_clear(Colors *colors) {
  g_free(colors->row);
  g_free(colors->predicate);
  *colors = (Colors){0};
}
