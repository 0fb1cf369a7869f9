#include "sim/report/draw_svg.h"

#include <inttypes.h>
#include <string.h>

#include "sim/report/draw_text.h"
#include "sim/report/text.h"

/* All in pixels. */
enum {
  WIDTH = 1600,
  HEIGHT = 900,
  MARGIN = 30,
  TITLE_SIZE = 30,
  SUBTITLE_SIZE = 18,
  CAPTION_SIZE = 17,
  CAPTION_LINES = 3,
  LEGEND_SIZE = 16,
  NAME_SIZE = 15,
  AXIS_SIZE = 15,
  AXIS_HIGH = 58,
  LIST_SIZE = 15,
  LIST_STEP = 22,
  LIST_COLUMNS = 2,
  LIST_MAX = 6,
  ROW_HIGH_MAX = 84,
  CODE_SIZE_MAX = 15,
  CODE_SIZE_MIN = 10,
  TICKS = 10,
  TALL = 24,    /* rows that high stand apart, and each says what it does */
  TRY_ROOM = 8, /* from one try to the next, on average */
};

typedef struct Look {
  const char *class, *fill, *ink, *legend;
} Look;

static const Look looks[DRAW_STATES] = {
    [DRAW_ABSENT] = {"absent", "#ffffff", "#666666", NULL},
    [DRAW_ACTIVE] = {"active", "#009e73", "#000000", "active"},
    [DRAW_SPIN] = {"spin", "#e69f00", "#000000", "spinning"},
    [DRAW_MEMORY] = {"memory", "#56b4e9", "#000000", "waiting for memory"},
    [DRAW_QUEUE] = {"queue", "#0072b2", "#ffffff", "in an atomic unit's queue"},
    [DRAW_BARRIER] = {"barrier", "#cc79a7", "#000000", "at a block barrier"},
    [DRAW_RECONV] = {"reconv", "#f0e442", "#000000", "waiting at reconvergence"},
    [DRAW_TURN] = {"turn", "#bfbfbf", "#000000", "other lanes' turn"},
    [DRAW_EXITED] = {"exited", "#f2f2f2", "#666666", "exited"},
};
static const char try_legend[] = "tries again";
static const char hold_legend[] = "holds a lock";

typedef struct Picture {
  GString *out;
  const Drawing *drawing;
  int left, right, top; /* of the rows */
  double row_high;
  GArray *listed; /* uint32_t: places that the list names */
} Picture;

/* Tenths of a pixel, whatever the locale says. */
static void append_px(GString *out, const char *name, double value) {
  gint64 tenths = (gint64)(value * 10 + 0.5);
  g_string_append_printf(out, " %s=\"%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT "\"", name, tenths / 10, tenths % 10);
}

static double x_of(const Picture *picture, uint64_t cycle) {
  const Drawing *drawing = picture->drawing;
  return picture->left +
         (double)(cycle - drawing->from) * (picture->right - picture->left) / (double)(drawing->to - drawing->from);
}

static double y_of(const Picture *picture, guint row) { return picture->top + row * picture->row_high; }

/* Text at (x, y), which is its baseline. `style`: more attributes. */
static void add_text(Picture *picture, double x, double y, int size, const char *style, const char *text) {
  g_autofree char *escaped = draw_text_escape(text);
  g_string_append(picture->out, "<text");
  append_px(picture->out, "x", x);
  append_px(picture->out, "y", y);
  g_string_append_printf(picture->out, " font-size=\"%d\"%s%s>%s</text>\n", size, *style ? " " : "", style, escaped);
}

static void add_rect(Picture *picture, double x, double y, double wide, double high, const char *class) {
  g_string_append_printf(picture->out, "<rect class=\"%s\"", class);
  append_px(picture->out, "x", x);
  append_px(picture->out, "y", y);
  append_px(picture->out, "width", wide);
  append_px(picture->out, "height", high);
}

/* ---- head ---- */

static int add_title(Picture *picture, const RunResult *result) {
  const Drawing *drawing = picture->drawing;
  g_autofree char *title =
      g_strdup_printf("%s on %s: %s", result->scenario, result->machine, verdict_name(result->verdict));
  g_autoptr(GString) subtitle = g_string_new(NULL);
  g_string_append_printf(subtitle, "one row for each %s%s%s; cycles %" PRIu64 " to %" PRIu64,
                         drawing->lanes ? "lane" : "warp", drawing->what ? " of " : "",
                         drawing->what ? drawing->what : "", drawing->from, drawing->to);
  if (drawing->from || drawing->to < drawing->cycles)
    g_string_append_printf(subtitle, " of %" PRIu64, drawing->cycles);
  if (drawing->cut)
    g_string_append(subtitle, ", since what follows only repeats itself");
  Canvas canvas = {subtitle, false};
  text_changes(&result->changes, &canvas);
  add_text(picture, MARGIN, MARGIN + TITLE_SIZE - 6, TITLE_SIZE, "font-weight=\"bold\"", title);
  add_text(picture, MARGIN, MARGIN + TITLE_SIZE + 22, SUBTITLE_SIZE, "fill=\"#444444\"", subtitle->str);
  return MARGIN + TITLE_SIZE + 22;
}

/* What is wrong, if something is. Returns where it ends. */
static int add_caption(Picture *picture, const RunResult *result, int y) {
  const Finding *first = NULL;
  for (guint i = 0; i < result->findings->len; i++) {
    const Finding *finding = g_ptr_array_index(result->findings, i);
    if (!first || finding_severity(finding->id) > finding_severity(first->id))
      first = finding;
  }
  if (!first)
    return y;
  g_autofree char *text = g_strdup_printf("%s: %s", finding_name(first->id), first->message);
  guint room = draw_text_room(WIDTH - 2 * MARGIN, CAPTION_SIZE, false);
  g_auto(GStrv) lines = draw_text_wrap(text, room, CAPTION_LINES);
  for (guint i = 0; lines[i]; i++)
    add_text(picture, MARGIN, y += CAPTION_SIZE + 8, CAPTION_SIZE, "fill=\"#222222\"", lines[i]);
  return y;
}

static bool has_state(const Drawing *drawing, DrawState state) {
  for (guint i = 0; i < drawing->rows->len; i++) {
    const DrawRow *row = g_ptr_array_index(drawing->rows, i);
    for (guint k = 0; k < row->spans->len; k++)
      if (g_array_index(row->spans, DrawPiece, k).state == state)
        return true;
  }
  return false;
}

static bool has_holds(const Drawing *drawing) {
  for (guint i = 0; i < drawing->rows->len; i++)
    if (((const DrawRow *)g_ptr_array_index(drawing->rows, i))->holds->len)
      return true;
  return false;
}

/* Lines for polls that come again don't run together. */
static bool shows_tries(const DrawRow *row, int wide) {
  return row->tries->len && wide >= (int)row->tries->len * TRY_ROOM;
}

/* True if some row has lines for them. */
static bool has_tries(const Drawing *drawing, int wide) {
  for (guint i = 0; i < drawing->rows->len; i++)
    if (shows_tries(g_ptr_array_index(drawing->rows, i), wide))
      return true;
  return false;
}

/* Only what the picture has. Returns where it ends. */
static int add_legend(Picture *picture, int y) {
  double x = MARGIN;
  y += 32;
  for (DrawState state = DRAW_ACTIVE; state < DRAW_STATES; state++) {
    if (!has_state(picture->drawing, state))
      continue;
    g_string_append_printf(picture->out, "<rect fill=\"%s\" stroke=\"#888888\"", looks[state].fill);
    append_px(picture->out, "x", x);
    g_string_append_printf(picture->out, " y=\"%d\" width=\"22\" height=\"14\"/>\n", y - 13);
    add_text(picture, x + 28, y, LEGEND_SIZE, "", looks[state].legend);
    x += 52 + draw_text_width(looks[state].legend, LEGEND_SIZE, false);
  }
  if (has_tries(picture->drawing, picture->right - picture->left)) {
    g_string_append_printf(picture->out, "<path class=\"try\" d=\"M%d %dv14\"/>\n", (int)x + 11, y - 13);
    add_text(picture, x + 22, y, LEGEND_SIZE, "", try_legend);
    x += 46 + draw_text_width(try_legend, LEGEND_SIZE, false);
  }
  if (!has_holds(picture->drawing))
    return y;
  g_string_append(picture->out, "<rect fill=\"#000000\"");
  append_px(picture->out, "x", x);
  g_string_append_printf(picture->out, " y=\"%d\" width=\"22\" height=\"4\"/>\n", y - 6);
  add_text(picture, x + 28, y, LEGEND_SIZE, "", hold_legend);
  return y;
}

/* ---- rows ---- */

static double bar_high(const Picture *picture) {
  double gap = picture->row_high >= TALL ? 6 : picture->row_high >= 8 ? 1 : 0.3;
  return picture->row_high - gap;
}

static double stripe_high(const Picture *picture) { return CLAMP(picture->row_high * 0.2, 2.5, 8); }

static void add_span(Picture *picture, const DrawRow *row, const DrawPiece *piece, double y, double high) {
  const DrawPlace *place = draw_record_place(picture->drawing->record, piece->place);
  double x = x_of(picture, piece->from);
  g_autofree char *name = draw_text_escape(row->name);
  add_rect(picture, x, y, x_of(picture, piece->to) - x, high, looks[piece->state].class);
  g_string_append_printf(picture->out, "><title>%s: %s, cycles %" PRIu64 " to %" PRIu64, name,
                         looks[piece->state].class, piece->from, piece->to);
  if (piece->state != DRAW_ABSENT && piece->state != DRAW_EXITED && place->line)
    g_string_append_printf(picture->out, ", line %u", place->line);
  g_string_append(picture->out, "</title></rect>\n");
}

/* A line for each time that a lane polls again, if they don't run together. */
static void add_tries(Picture *picture, const DrawRow *row, double y, double high) {
  if (!shows_tries(row, picture->right - picture->left))
    return;
  g_string_append(picture->out, "<path class=\"try\" d=\"");
  for (guint i = 0; i < row->tries->len; i++)
    g_string_append_printf(picture->out, "M%d %dv%d", (int)x_of(picture, g_array_index(row->tries, uint64_t, i)),
                           (int)(y + 1), (int)(high - 1));
  g_string_append(picture->out, "\"/>\n");
}

static void add_row(Picture *picture, guint number) {
  const DrawRow *row = g_ptr_array_index(picture->drawing->rows, number);
  double y = y_of(picture, number), high = bar_high(picture);
  for (guint i = 0; i < row->spans->len; i++)
    add_span(picture, row, &g_array_index(row->spans, DrawPiece, i), y, high);
  for (guint i = 0; i < row->holds->len; i++) {
    const DrawSpan *hold = &g_array_index(row->holds, DrawSpan, i);
    double x = x_of(picture, hold->from), stripe = stripe_high(picture);
    g_autofree char *name = draw_text_escape(row->name);
    g_autofree char *lock = draw_text_escape(draw_record_lock(picture->drawing->record, hold->place));
    add_rect(picture, x, y + high - stripe, x_of(picture, hold->to) - x, stripe, "hold");
    g_string_append_printf(picture->out, "><title>%s: holds %s, cycles %" PRIu64 " to %" PRIu64 "</title></rect>\n",
                           name, lock, hold->from, hold->to);
  }
  add_tries(picture, row, y, high);
  int size = (int)CLAMP(picture->row_high - 2, 7, NAME_SIZE);
  add_text(picture, picture->left - 8, y + picture->row_high / 2 + size * 0.36, size, "text-anchor=\"end\"",
           row->name);
}

/* ---- what it does, where there is room ---- */

static const DrawPiece *same_piece(const Drawing *drawing, guint row, const DrawPiece *piece) {
  if (row >= drawing->rows->len)
    return NULL;
  const GArray *texts = ((const DrawRow *)g_ptr_array_index(drawing->rows, row))->texts;
  for (guint i = 0; i < texts->len; i++) {
    const DrawPiece *other = &g_array_index(texts, DrawPiece, i);
    if (other->from == piece->from && other->to == piece->to && other->state == piece->state &&
        other->place == piece->place)
      return other;
  }
  return NULL;
}

/* What can be said of a piece, the longest first; NULL-terminated. */
static char **sayings(const Picture *picture, const DrawPiece *piece) {
  const DrawPlace *place = draw_record_place(picture->drawing->record, piece->place);
  const char *before = piece->state == DRAW_RECONV ? "waits, goes on at " : piece->state == DRAW_TURN ? "next: " : "";
  GPtrArray *all = g_ptr_array_new();
  if (piece->state == DRAW_EXITED)
    g_ptr_array_add(all, g_strdup("exited"));
  else if (place->line) {
    g_ptr_array_add(all, g_strdup_printf("%s%u: %s", before, place->line, place->text));
    g_ptr_array_add(all, g_strdup_printf("%s%u", before, place->line));
    g_ptr_array_add(all, g_strdup_printf("%u", place->line));
  } else {
    g_ptr_array_add(all, g_strdup_printf("%s%s", before, place->text));
  }
  g_ptr_array_add(all, NULL);
  return (char **)g_ptr_array_free(all, FALSE);
}

static void note_listed(Picture *picture, const DrawPiece *piece) {
  for (guint i = 0; i < picture->listed->len; i++)
    if (g_array_index(picture->listed, uint32_t, i) == piece->place)
      return;
  g_array_append_val(picture->listed, piece->place);
}

/* Says what `count` rows do from `row` on, if there is room. */
static void say(Picture *picture, guint row, guint count, const DrawPiece *piece) {
  double x = x_of(picture, piece->from), wide = x_of(picture, piece->to) - x, high = count * picture->row_high;
  double free_high = high - (count > 1 ? 0 : stripe_high(picture) + picture->row_high - bar_high(picture));
  int size = (int)MIN(free_high - 2, CODE_SIZE_MAX);
  if (size < CODE_SIZE_MIN || piece->state == DRAW_ABSENT)
    return;
  bool apart = count > 1 || picture->row_high >= TALL; /* from the lines that it crosses */
  g_auto(GStrv) texts = sayings(picture, piece);
  for (guint i = 0; texts[i]; i++) {
    if (draw_text_width(texts[i], size, true) + 6 > wide)
      continue;
    g_autofree char *style =
        g_strdup_printf("class=\"code%s\" fill=\"%s\" stroke=\"%s\" text-anchor=\"middle\"", apart ? " in" : "",
                        looks[piece->state].ink, apart ? looks[piece->state].fill : "none");
    add_text(picture, x + wide / 2, y_of(picture, row) + free_high / 2 + size * 0.34, size, style, texts[i]);
    if (piece->state != DRAW_EXITED)
      note_listed(picture, piece);
    return;
  }
}

static void say_all(Picture *picture) {
  const Drawing *drawing = picture->drawing;
  for (guint row = 0; row < drawing->rows->len; row++) {
    const GArray *texts = ((const DrawRow *)g_ptr_array_index(drawing->rows, row))->texts;
    for (guint i = 0; i < texts->len; i++) {
      const DrawPiece *piece = &g_array_index(texts, DrawPiece, i);
      guint count = 1;
      bool together = picture->row_high < TALL;
      if (together && row && same_piece(drawing, row - 1, piece))
        continue;
      while (together && same_piece(drawing, row + count, piece))
        count++;
      say(picture, row, count, piece);
    }
  }
}

/* ---- axis and list ---- */

/* 1, 2 or 5 times a power of ten. */
static uint64_t tick_step(uint64_t cycles) {
  uint64_t power = 1;
  while (cycles / power > 10 * TICKS)
    power *= 10;
  for (uint64_t factor = 1; factor < 10; factor = factor == 2 ? 5 : 2 * factor)
    if (cycles / (power * factor) <= TICKS)
      return power * factor;
  return power * 10;
}

static double add_axis(Picture *picture) {
  const Drawing *drawing = picture->drawing;
  uint64_t step = tick_step(drawing->to - drawing->from);
  double y = y_of(picture, drawing->rows->len) + 4;
  for (uint64_t cycle = (drawing->from + step - 1) / step * step; cycle <= drawing->to; cycle += step) {
    g_autofree char *text = g_strdup_printf("%" PRIu64, cycle);
    g_string_append(picture->out, "<line stroke=\"#444444\"");
    append_px(picture->out, "x1", x_of(picture, cycle));
    append_px(picture->out, "x2", x_of(picture, cycle));
    append_px(picture->out, "y1", y);
    append_px(picture->out, "y2", y + 6);
    g_string_append(picture->out, "/>\n");
    add_text(picture, x_of(picture, cycle), y + 23, AXIS_SIZE, "text-anchor=\"middle\"", text);
  }
  g_string_append(picture->out, "<line stroke=\"#444444\"");
  append_px(picture->out, "x1", picture->left);
  append_px(picture->out, "x2", picture->right);
  append_px(picture->out, "y1", y);
  append_px(picture->out, "y2", y);
  g_string_append(picture->out, "/>\n");
  add_text(picture, (picture->left + picture->right) / 2.0, y + 44, AXIS_SIZE, "text-anchor=\"middle\"",
           "cycles of the SMs");
  return y + 44;
}

static gint by_line(gconstpointer a, gconstpointer b, gpointer record) {
  const DrawPlace *first = draw_record_place(record, *(const uint32_t *)a);
  const DrawPlace *second = draw_record_place(record, *(const uint32_t *)b);
  if (first->line != second->line)
    return first->line < second->line ? -1 : 1;
  return strcmp(first->text, second->text);
}

/* The lines that are named, two columns. Returns where they end. */
static double add_list(Picture *picture, double y) {
  guint count = MIN(picture->listed->len, LIST_MAX), high = (count + LIST_COLUMNS - 1) / LIST_COLUMNS;
  int wide = (WIDTH - 2 * MARGIN) / LIST_COLUMNS;
  g_array_sort_with_data(picture->listed, by_line, (gpointer)picture->drawing->record);
  for (guint i = 0; i < count; i++) {
    const DrawPlace *place = draw_record_place(picture->drawing->record, g_array_index(picture->listed, uint32_t, i));
    g_autofree char *text = g_strdup_printf("%4u  %s", place->line, place->text);
    g_autofree char *cut = draw_text_cut(text, draw_text_room(wide - 20, LIST_SIZE, true));
    add_text(picture, MARGIN + (int)(i / high) * wide, y + 14 + (int)(i % high + 1) * LIST_STEP, LIST_SIZE,
             "class=\"code\" xml:space=\"preserve\"", cut);
  }
  return y + (count ? 14 + high * LIST_STEP : 0);
}

/* ---- the whole ---- */

static void add_style(GString *out) {
  g_string_append(out, "<style>text{font-family:\"DejaVu Sans\",Verdana,sans-serif}"
                       ".code{font-family:\"DejaVu Sans "
                       "Mono\",Menlo,Consolas,monospace}.in{paint-order:stroke;stroke-width:5;stroke-linejoin:round}."
                       "hold{fill:#000000}.try{stroke:#7a4b00;stroke-width:1.5;fill:none}");
  for (DrawState state = DRAW_ABSENT; state < DRAW_STATES; state++)
    g_string_append_printf(out, ".%s{fill:%s}", looks[state].class, looks[state].fill);
  g_string_append(out, "</style>\n");
}

static int widest_name(const Drawing *drawing) {
  double widest = 0;
  for (guint i = 0; i < drawing->rows->len; i++)
    widest =
        MAX(widest, draw_text_width(((const DrawRow *)g_ptr_array_index(drawing->rows, i))->name, NAME_SIZE, false));
  return (int)widest;
}

char *draw_svg(const Drawing *drawing, const RunResult *result) {
  g_autoptr(GString) body = g_string_new(NULL);
  g_autoptr(GArray) listed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  Picture picture = {.out = body,
                     .drawing = drawing,
                     .left = MARGIN + 12 + widest_name(drawing),
                     .right = WIDTH - MARGIN,
                     .listed = listed};
  int y = add_legend(&picture, add_caption(&picture, result, add_title(&picture, result)));
  picture.top = y + 16;
  double room = HEIGHT - picture.top - AXIS_HIGH - 14 - LIST_MAX / LIST_COLUMNS * LIST_STEP - 16;
  picture.row_high = MIN(ROW_HIGH_MAX, room / drawing->rows->len);
  for (guint i = 0; i < drawing->rows->len; i++)
    add_row(&picture, i);
  say_all(&picture);
  int end = (int)add_list(&picture, add_axis(&picture)) + 20;
  GString *svg = g_string_new(NULL);
  g_string_append_printf(svg,
                         "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                         "height=\"%d\">\n",
                         WIDTH, end, WIDTH, end);
  add_style(svg);
  g_string_append(svg, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  g_string_append_len(svg, body->str, (gssize)body->len);
  g_string_append(svg, "</svg>\n");
  return g_string_free(svg, FALSE);
}
