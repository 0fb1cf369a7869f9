#include "isa/flow/color.h"

#include "isa/flow/predicates.h"
#include "isa/flow/prefer.h"
#include "isa/flow/scratch.h"
#include "isa/flow/uniform.h"

enum { STACK_POINTER = 1 };

/* A constant that goes to memory, in its registers for a while. */
typedef struct Kept {
  int32_t constant; /* of VInst.b */
  uint32_t row, rows, until;
} Kept;

typedef struct Placing {
  Colors *colors;
  Classes *classes;
  const VKernel *vkernel;
  Prefer *prefer; /* NULL: there is no room for what ptxas prefers */
  Place *places;
  Turn *turns;
  Kept kept;
  bool fours; /* some classes have four rows */
} Placing;

static uint32_t find_rows(const Place *places, uint32_t count, const Member *member, int parity) {
  uint32_t base = parity > 0, rows = member->rows;
  for (; base + rows <= count; base += rows == 1 && parity >= 0 ? 2 : rows) {
    unsigned row = 0;
    while (row < rows && place_is_free(&places[base + row], &member->list[row]))
      row++;
    if (row == rows)
      return base;
  }
  return count;
}

/* The first of the rows that are free for the class, which are taken; `count`: there are none. `parity`: 1: odd, 0:
 * even, while there is room; -1: any. */
static uint32_t place_class(Place *places, uint32_t count, const Member *member, int parity) {
  uint32_t rows = member->rows, base = parity < 0 ? COLOR_ROOM : find_rows(places, COLOR_ROOM, member, parity);
  if (base == COLOR_ROOM)
    base = find_rows(places, count, member, -1);
  if (base == count)
    return count;
  for (unsigned row = 0; row < rows; row++)
    place_take(&places[base + row], &member->list[row]);
  return base;
}

/* ptxas keeps R1 for the stack pointer in every kernel, used or not. */
static void reserve_stack_pointer(Placing *placing) {
  Span always = {0, UINT32_MAX};
  place_take(&placing->places[STACK_POINTER], &(SpanList){.spans = &always, .count = 1});
  placing->colors->nrows = STACK_POINTER + 1;
}

static void count_rows(Placing *placing, uint32_t row, uint32_t rows) {
  placing->colors->nrows = MAX(placing->colors->nrows, MIN(row + rows, COLOR_ROWS_MAX));
}

/* -- registers beside the operands -- */

static uint32_t place_rows(Placing *placing, unsigned count, uint8_t rows, bool odd, Span span) {
  SpanList lists[] = {{.spans = &span, .count = 1}, {.spans = &span, .count = 1}};
  uint32_t row = 0;
  for (; count && placing->colors->nrows < COLOR_ROWS_MAX; count -= rows) {
    row = place_class(placing->places, COLOR_ROWS_MAX, &(Member){.rows = rows, .list = lists}, odd ? 1 : -1);
    count_rows(placing, row, rows);
  }
  return row;
}

/* An instruction just before had the constant as well: its registers keep it. False if they didn't, or can't. */
static bool keep_constant(Placing *placing, const VInst *vinst, Span span) {
  Kept *kept = &placing->kept;
  if (kept->until <= span.from || kept->constant != vinst->b)
    return false;
  span.from = kept->until;
  SpanList list = {.spans = &span, .count = span.from < span.to};
  for (uint32_t row = kept->row; row < kept->row + kept->rows; row++)
    if (!place_is_free(&placing->places[row], &list))
      return false;
  for (uint32_t row = kept->row; row < kept->row + kept->rows; row++)
    place_take(&placing->places[row], &list);
  kept->until = MAX(kept->until, span.to);
  return true;
}

static void place_constants(Placing *placing, const VInst *vinst, uint32_t i, unsigned count) {
  Span span = placing->prefer ? prefer_constant_span(placing->prefer, i) : (Span){2 * i, 2 * i + 1};
  bool alone = !vinst_operands(vinst).c && count <= 2;
  if (alone && keep_constant(placing, vinst, span))
    return;
  uint8_t rows = count % 2 ? 1 : 2;
  uint32_t row = place_rows(placing, count, rows, placing->prefer && scratch_wants_odd(vinst), span);
  if (alone && row + rows <= COLOR_ROWS_MAX)
    placing->kept = (Kept){vinst->b, row, rows, span.to};
}

/* Places for the registers that an instruction needs beside its operands. */
static void place_scratch(Placing *placing, uint32_t i) {
  const VInst *vinst = &g_array_index(placing->vkernel->insts, VInst, i);
  unsigned constants = scratch_constants(placing->vkernel, vinst);
  place_rows(placing, scratch_registers(vinst), 1, false, (Span){2 * i, 2 * i + 1});
  if (placing->prefer && prefer_copies_address(placing->prefer, i))
    place_rows(placing, 2, 2, false, prefer_access_span(placing->prefer, i));
  if (constants)
    place_constants(placing, vinst, i, constants);
}

/* -- classes -- */

static uint32_t take_turns(Placing *placing, bool uniform) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < placing->classes->count; r++) {
    const Member *member = &placing->classes->members[r];
    if (member->parent == r && member->uniform == uniform)
      placing->turns[count++] = (Turn){span_lists_start(member->list, member->rows), r};
  }
  turns_sort(placing->turns, count);
  return count;
}

/* What uniform registers have no room for is in others. */
static void limit_uniform(Placing *placing) {
  uint32_t count = take_turns(placing, true);
  Place *places = places_new(UNIFORM_ROWS);
  for (uint32_t t = 0; t < count; t++) {
    Member *member = &placing->classes->members[placing->turns[t].index];
    member->uniform = place_class(places, UNIFORM_ROWS, member, -1) < UNIFORM_ROWS;
  }
  places_free(places, UNIFORM_ROWS);
}

/* A row for a class of one, of those in use so far, whose group of four has the fewest others free: groups of four
 * stay whole for those that need them. `count`: there is none. */
static uint32_t find_corner(const Placing *placing, const Member *member, int parity) {
  enum { FOUR = 4 };
  uint32_t count = placing->colors->nrows, best = count, most = 0;
  for (uint32_t row = 0; row < count; row++) {
    if (!place_is_free(&placing->places[row], member->list))
      continue;
    uint32_t group = row / FOUR * FOUR, score = parity >= 0 && row % 2 == (uint32_t)parity ? 2 : 1;
    for (uint32_t other = group; other < group + FOUR; other++)
      score += other >= count || place_is_free(&placing->places[other], member->list) ? 0 : 2;
    if (score > most) {
      most = score;
      best = row;
    }
  }
  return best;
}

static uint32_t place_member(Placing *placing, const Member *member, int parity) {
  if (placing->fours && member->rows == 1) {
    uint32_t row = find_corner(placing, member, parity);
    if (row < placing->colors->nrows) {
      place_take(&placing->places[row], member->list);
      return row;
    }
  }
  return place_class(placing->places, COLOR_ROWS_MAX, member, parity);
}

static void place_counted(Placing *placing, Turn turn) {
  Colors *colors = placing->colors;
  const Member *member = &placing->classes->members[turn.index];
  bool chooses = placing->prefer && turn.start != UINT32_MAX;
  int parity = chooses ? prefer_parity(placing->prefer, turn.index, colors->row) : -1;
  uint32_t row = colors->row[turn.index] = place_member(placing, member, parity);
  if (placing->prefer)
    placing->prefer->placed[turn.index] = 1;
  if (turn.start != UINT32_MAX)
    count_rows(placing, row, member->rows);
}

/* Uniform registers have rows as well, since all lanes of the model compute: those that are free, and more. */
static void place_uniform(Placing *placing) {
  Colors *colors = placing->colors;
  uint32_t count = take_turns(placing, true);
  for (uint32_t t = 0; t < count; t++) {
    Turn turn = placing->turns[t];
    const Member *member = &placing->classes->members[turn.index];
    uint32_t row = colors->row[turn.index] = place_class(placing->places, COLOR_ROWS_MAX, member, -1);
    uint32_t end = MIN(row + member->rows, COLOR_ROWS_MAX);
    if (turn.start != UINT32_MAX && end > colors->nrows)
      colors->uniform_rows = MAX(colors->uniform_rows, end - colors->nrows);
  }
}

static void place_all(Placing *placing) {
  limit_uniform(placing);
  uint32_t count = take_turns(placing, false), t = 0, n = placing->vkernel->insts->len;
  reserve_stack_pointer(placing);
  for (uint32_t i = 0; i <= n; i++) {
    for (; t < count && (placing->turns[t].start < 2 * i || i == n) && placing->colors->nrows < COLOR_ROWS_MAX; t++)
      place_counted(placing, placing->turns[t]);
    if (i < n)
      place_scratch(placing, i);
  }
  place_uniform(placing);
}

static void color_registers(Colors *colors, const VKernel *vkernel, const LiveRanges *ranges, const Flow *flow,
                            const uint8_t *uniform) {
  Classes classes;
  Prefer prefer;
  classes_init(&classes, vkernel, ranges, uniform);
  classes_join_moves(&classes, vkernel);
  if (flow)
    prefer_init(&prefer, vkernel, flow, &classes);
  g_autofree Turn *turns = g_new(Turn, classes.count + 1);
  Placing placing = {.colors = colors,
                     .classes = &classes,
                     .vkernel = vkernel,
                     .prefer = flow ? &prefer : NULL,
                     .places = places_new(COLOR_ROWS_MAX),
                     .turns = turns};
  colors->row = g_new0(uint32_t, classes.count + 1);
  for (uint32_t r = 0; r < classes.count; r++)
    placing.fours |= classes.members[r].parent == r && classes.members[r].rows == 4;
  place_all(&placing);
  for (uint32_t r = 0; r < classes.count; r++) {
    uint32_t offset, root = classes_root(&classes, r, &offset);
    if (root != r)
      colors->row[r] = colors->row[root] + offset;
  }
  places_free(placing.places, COLOR_ROWS_MAX);
  if (flow)
    prefer_clear(&prefer);
  classes_clear(&classes, ranges);
}

void colors_init(Colors *colors, const VKernel *vkernel, const LiveRanges *ranges, const Flow *prefer,
                 const uint8_t *keep, const uint8_t *uniform) {
  *colors = (Colors){0};
  color_registers(colors, vkernel, ranges, prefer, uniform);
  colors->predicate = predicates_place(vkernel, ranges, keep);
}

void colors_clear(Colors *colors) {
  g_free(colors->row);
  g_free(colors->predicate);
  *colors = (Colors){0};
}
