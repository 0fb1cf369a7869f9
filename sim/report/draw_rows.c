#include "sim/report/draw_rows.h"

#include <inttypes.h>

/* How much a picture shows of what only repeats: so many cycles at least, and so many times what came before. */
enum { CUT_LEAST = 400, CUT_TIMES = 2 };

/* A row that is being made: pieces come by rising time. */
typedef struct Builder {
  DrawRow *row;
  uint64_t from, to; /* of the picture */
} Builder;

static void add_piece(GArray *list, const DrawPiece *piece, bool by_place) {
  DrawPiece *last = list->len ? &g_array_index(list, DrawPiece, list->len - 1) : NULL;
  if (last && last->state == piece->state && last->to == piece->from && (!by_place || last->place == piece->place))
    last->to = piece->to;
  else
    g_array_append_vals(list, piece, 1);
}

static void add(const Builder *builder, uint64_t from, uint64_t to, DrawState state, uint32_t place) {
  DrawPiece piece = {MAX(from, builder->from), MIN(to, builder->to), state, state == DRAW_EXITED ? 0 : place};
  if (piece.from >= piece.to)
    return;
  add_piece(builder->row->spans, &piece, false);
  add_piece(builder->row->texts, &piece, true);
}

/* ---- a lane that runs ---- */

/* The span of the list that is in cycle `time`, or begins next; NULL: there is none. Rising times ask; `next` keeps
 * the place. */
static const DrawSpan *span_at(const GArray *spans, guint *next, uint64_t time) {
  while (spans && *next < spans->len && g_array_index(spans, DrawSpan, *next).to <= time)
    (*next)++;
  return spans && *next < spans->len ? &g_array_index(spans, DrawSpan, *next) : NULL;
}

/* The end of the part of [from, to) in which lane `lane` waits in the queue of an atomic unit, or doesn't
 * (*queued). */
static uint64_t queue_part(const DrawWarp *warp, unsigned lane, uint64_t from, uint64_t to, bool *queued) {
  uint64_t end = to;
  *queued = false;
  for (guint i = 0; i < warp->queued->len; i++) {
    const DrawQueued *item = &g_array_index(warp->queued, DrawQueued, i);
    if (!(item->lanes >> lane & 1) || item->to <= from || item->from >= to)
      continue;
    if (item->from <= from) {
      *queued = true;
      return MIN(to, item->to);
    }
    end = MIN(end, item->from);
  }
  return end;
}

static void add_wait(const Builder *builder, const DrawWarp *warp, unsigned lane, const DrawStep *step, uint64_t from,
                     uint64_t to) {
  while (from < to) {
    bool queued;
    uint64_t end = queue_part(warp, lane, from, to, &queued);
    add(builder, from, end, queued ? DRAW_QUEUE : DRAW_MEMORY, step->awaited);
    from = end;
  }
}

/* From a step until the next, in which its warp issues nothing else. */
static void add_running(const Builder *builder, const DrawWarp *warp, unsigned lane, const DrawStep *step,
                        uint64_t to, guint *next_spin) {
  uint64_t from = step->cycle;
  while (from < to) {
    const DrawSpan *spin = span_at(warp->lane[lane].spins, next_spin, from);
    bool spins = spin && spin->from <= from;
    uint64_t end = !spin ? to : MIN(to, spins ? spin->to : spin->from);
    if (spins)
      add(builder, from, end, DRAW_SPIN, spin->place);
    else if (step->waits)
      add_wait(builder, warp, lane, step, from, end);
    else
      add(builder, from, end, DRAW_ACTIVE, step->place);
    from = end;
  }
}

/* ---- a row ---- */

static const DrawSet *set_of(const DrawWarp *warp, const DrawStep *step, unsigned lane) {
  for (uint32_t i = 0; i < step->sets; i++) {
    const DrawSet *set = &g_array_index(warp->sets, DrawSet, step->first_set + i);
    if (set->lanes >> lane & 1)
      return set;
  }
  return NULL;
}

static bool spins_at(const DrawWarp *warp, unsigned lane, uint64_t time) {
  const GArray *spins = warp->lane[lane].spins;
  for (guint i = spins ? spins->len : 0; i-- > 0;) {
    const DrawSpan *span = &g_array_index(spins, DrawSpan, i);
    if (span->from <= time)
      return time < span->to;
  }
  return false;
}

/* The lane that stands for its warp behind a step: one that runs, and doesn't spin if there is one; else one that
 * waits. */
static unsigned speaker(const DrawWarp *warp, const DrawStep *step) {
  static const uint8_t rank[DRAW_STATES] = {
      [DRAW_ACTIVE] = 0, [DRAW_BARRIER] = 1, [DRAW_RECONV] = 2, [DRAW_TURN] = 3, [DRAW_EXITED] = 4};
  const DrawSet *best = NULL;
  for (uint32_t i = 0; i < step->sets; i++) {
    const DrawSet *set = &g_array_index(warp->sets, DrawSet, step->first_set + i);
    if (!best || rank[set->state] < rank[best->state])
      best = set;
  }
  for (uint32_t rest = best->lanes; best->state == DRAW_ACTIVE && rest; rest &= rest - 1)
    if (!spins_at(warp, (unsigned)__builtin_ctz(rest), step->cycle))
      return (unsigned)__builtin_ctz(rest);
  return (unsigned)__builtin_ctz(best->lanes);
}

static void fill_row(const Builder *builder, const DrawWarp *warp, int only, uint64_t cycles) {
  guint next_spin[32] = {0};
  uint64_t from = warp->steps->len ? g_array_index(warp->steps, DrawStep, 0).cycle : cycles;
  add(builder, 0, MIN(from, cycles), DRAW_ABSENT, 0);
  for (guint i = 0; i < warp->steps->len; i++) {
    DrawStep step = g_array_index(warp->steps, DrawStep, i);
    bool last = i + 1 == warp->steps->len;
    uint64_t to = last ? cycles : g_array_index(warp->steps, DrawStep, i + 1).cycle;
    step.waits |= last && warp->under_way;
    unsigned lane = only >= 0 ? (unsigned)only : speaker(warp, &step);
    const DrawSet *set = set_of(warp, &step, lane);
    if (set && set->state != DRAW_ACTIVE)
      add(builder, step.cycle, to, set->state, set->place);
    else
      add_running(builder, warp, lane, &step, to, &next_spin[lane]);
  }
}

static void add_holds(const Builder *builder, const GArray *holds) {
  for (guint i = 0; holds && i < holds->len; i++) {
    DrawSpan span = g_array_index(holds, DrawSpan, i);
    span.from = MAX(span.from, builder->from);
    span.to = MIN(span.to, builder->to);
    if (span.from < span.to)
      g_array_append_val(builder->row->holds, span);
  }
}

static void add_tries(const Builder *builder, const GArray *tries) {
  for (guint i = 0; tries && i < tries->len; i++) {
    uint64_t cycle = g_array_index(tries, uint64_t, i);
    if (cycle >= builder->from && cycle < builder->to)
      g_array_append_val(builder->row->tries, cycle);
  }
}

/* Lane `only` of the warp, or (-1) the warp. */
static DrawRow *make_row(const DrawWarp *warp, int only, const Drawing *drawing) {
  DrawRow *row = g_new0(DrawRow, 1);
  row->spans = g_array_new(FALSE, FALSE, sizeof(DrawPiece));
  row->texts = g_array_new(FALSE, FALSE, sizeof(DrawPiece));
  row->holds = g_array_new(FALSE, FALSE, sizeof(DrawSpan));
  row->tries = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  Builder builder = {row, drawing->from, drawing->to};
  fill_row(&builder, warp, only, drawing->cycles);
  for (unsigned lane = 0; lane < 32; lane++)
    if (only < 0 || lane == (unsigned)only)
      add_holds(&builder, warp->lane[lane].holds);
  for (int lane = MAX(only, 0); lane < 32 && !row->tries->len && (only < 0 || lane == only); lane++)
    add_tries(&builder, warp->lane[lane].tries); /* of a warp: of its first lane that has some */
  return row;
}

static void free_row(gpointer data) {
  DrawRow *row = data;
  g_free(row->name);
  g_array_free(row->spans, TRUE);
  g_array_free(row->texts, TRUE);
  g_array_free(row->holds, TRUE);
  g_array_free(row->tries, TRUE);
  g_free(row);
}

/* ---- names ---- */

/* Which numbers differ from warp to warp. */
typedef struct Differ {
  bool launch, block, warp;
} Differ;

static Differ differ_of(const GPtrArray *warps) {
  const DrawWarp *first = g_ptr_array_index(warps, 0);
  Differ differ = {0};
  for (guint i = 1; i < warps->len; i++) {
    const DrawWarp *warp = g_ptr_array_index(warps, i);
    differ.launch |= warp->launch != first->launch;
    differ.block |= warp->block != first->block;
    differ.warp |= warp->warp != first->warp;
  }
  return differ;
}

static void add_part(GString *text, const char *name, uint64_t number, bool wanted) {
  if (wanted)
    g_string_append_printf(text, "%s%s %" PRIu64, text->len ? ", " : "", name, number);
}

static char *warp_name(const DrawWarp *warp, Differ parts) {
  GString *text = g_string_new(NULL);
  add_part(text, "launch", warp->launch, parts.launch);
  add_part(text, "block", warp->block, parts.block);
  add_part(text, "warp", warp->warp, parts.warp);
  return g_string_free(text, FALSE);
}

static char *row_name(const DrawWarp *warp, int lane, Differ differ) {
  if (lane < 0 && !differ.launch && !differ.block && !differ.warp)
    return g_strdup_printf("warp %u", warp->warp);
  g_autofree char *of = warp_name(warp, differ);
  if (lane < 0)
    return g_steal_pointer(&of);
  return g_strdup_printf("%s%slane %d", of, *of ? ", " : "", lane);
}

/* ---- the whole ---- */

static guint count_lanes(const GPtrArray *warps) {
  guint lanes = 0;
  for (guint i = 0; i < warps->len; i++)
    lanes += (guint)__builtin_popcount(((const DrawWarp *)g_ptr_array_index(warps, i))->lanes);
  return lanes;
}

/* A lane whose last round of polling never ended spins to the end. */
static void end_spins(const GPtrArray *warps) {
  for (guint i = 0; i < warps->len; i++) {
    DrawWarp *warp = g_ptr_array_index(warps, i);
    for (unsigned number = 0; number < 32; number++) {
      DrawLane *lane = &warp->lane[number];
      DrawSpan *last = lane->spins ? &g_array_index(lane->spins, DrawSpan, lane->spins->len - 1) : NULL;
      if (last && last->to == lane->polled && !lane->worked)
        last->to = UINT64_MAX;
    }
  }
}

static void make_rows(Drawing *drawing, const GPtrArray *warps) {
  Differ differ = differ_of(warps);
  g_ptr_array_set_size(drawing->rows, 0);
  for (guint i = 0; i < warps->len; i++) {
    const DrawWarp *warp = g_ptr_array_index(warps, i);
    uint32_t lanes = drawing->lanes ? warp->lanes : 1;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      int lane = drawing->lanes ? __builtin_ctz(rest) : -1;
      DrawRow *row = make_row(warp, lane, drawing);
      row->name = row_name(warp, lane, differ);
      g_ptr_array_add(drawing->rows, row);
    }
  }
  Differ same = {false, !differ.block, !differ.warp && drawing->lanes};
  g_free(drawing->what);
  drawing->what = same.block || same.warp ? warp_name(g_ptr_array_index(warps, 0), same) : NULL;
}

/* Where a run that never ends has nothing new any longer, and some more. */
static uint64_t end_of_news(const Drawing *drawing) {
  uint64_t news = drawing->from;
  for (guint i = 0; i < drawing->rows->len; i++) {
    const DrawRow *row = g_ptr_array_index(drawing->rows, i);
    if (row->spans->len)
      news = MAX(news, g_array_index(row->spans, DrawPiece, row->spans->len - 1).from);
  }
  return MIN(drawing->to, news + MAX(CUT_TIMES * (news - drawing->from), CUT_LEAST));
}

static guint most_spans(const Drawing *drawing) {
  guint most = 0;
  for (guint i = 0; i < drawing->rows->len; i++)
    most = MAX(most, ((const DrawRow *)g_ptr_array_index(drawing->rows, i))->spans->len);
  return most;
}

static bool check_window(const DrawOptions *options, Diag *diag) {
  if (options->has_from && options->from >= options->cycles)
    return diag_usage(diag, "--from %" PRIu64 ": the run has %" PRIu64 " cycles", options->from, options->cycles);
  if (options->has_to && options->to <= options->from)
    return diag_usage(diag, "--to %" PRIu64 ": expected a cycle behind %" PRIu64, options->to, options->from);
  return true;
}

static bool check_rows(const GPtrArray *warps, bool lanes, Diag *diag) {
  guint count = lanes ? count_lanes(warps) : warps->len;
  if (warps->len == 0)
    return diag_usage(diag, "nothing to draw: no block came to an SM");
  if (count <= DRAW_ROWS_MAX)
    return true;
  diag_usage(diag, "%u %s: a picture has room for %u", count, lanes ? "lanes" : "warps", DRAW_ROWS_MAX);
  diag_hint(diag, lanes && warps->len <= DRAW_ROWS_MAX ? "--warps draws a row for each warp"
                                                       : "let fewer blocks or threads run (-p, --grid, --block)");
  return false;
}

static bool check_spans(const Drawing *drawing, Diag *diag) {
  guint most = most_spans(drawing);
  if (draw_record_end(drawing->record) < drawing->to) {
    diag_usage(diag, "the first %u instructions are kept, up to cycle %" PRIu64, DRAW_STEPS_MAX,
               draw_record_end(drawing->record));
    diag_hint(diag, "choose cycles before that with --to");
    return false;
  }
  if (most <= DRAW_ROW_SPANS_MAX)
    return true;
  diag_usage(diag, "cycles %" PRIu64 " to %" PRIu64 " change %u times in one row: a picture has room for %u",
             drawing->from, drawing->to, most, DRAW_ROW_SPANS_MAX);
  diag_hint(diag, "choose fewer cycles with --from and --to, as --to %" PRIu64,
            drawing->from + (drawing->to - drawing->from) / (most / DRAW_ROW_SPANS_MAX + 1));
  return false;
}

Drawing *drawing_new(DrawRecord *record, const DrawOptions *options, Diag *diag) {
  const GPtrArray *warps = draw_record_warps(record);
  bool lanes =
      options->rows == DRAW_ROWS_LANES || (options->rows == DRAW_ROWS_AUTO && count_lanes(warps) <= DRAW_ROWS_MAX);
  if (!check_window(options, diag) || !check_rows(warps, lanes, diag))
    return NULL;
  g_autoptr(Drawing) drawing = g_new0(Drawing, 1);
  drawing->record = record;
  drawing->rows = g_ptr_array_new_with_free_func(free_row);
  drawing->cycles = options->cycles;
  drawing->from = options->from;
  drawing->to = options->has_to ? MIN(options->to, options->cycles) : options->cycles;
  drawing->lanes = lanes;
  if (!options->ended)
    end_spins(warps);
  make_rows(drawing, warps);
  uint64_t end = options->ended || options->has_to ? drawing->to : end_of_news(drawing);
  if (end < drawing->to) {
    drawing->to = end;
    drawing->cut = true;
    make_rows(drawing, warps);
  }
  return check_spans(drawing, diag) ? g_steal_pointer(&drawing) : NULL;
}

void drawing_free(Drawing *drawing) {
  if (!drawing)
    return;
  g_ptr_array_free(drawing->rows, TRUE);
  g_free(drawing->what);
  g_free(drawing);
}
