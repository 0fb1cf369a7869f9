#include "sim/study/sweep/axis.h"

#include <math.h>
#include <string.h>

#include "base/quote.h"

/* So much beyond its end, in steps, a range may go: steps of 0.1 don't add up. */
static const double slack = 1e-9;

bool axis_error(const AxisPlace *place, Diag *diag, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  if (place->file)
    return diag_error(diag, place->file, place->line, place->column, "%s", message);
  return diag_usage(diag, "%s: %s", place->option, message);
}

/* A range as it was read: from `first` to `last` by adding `by`, or by multiplying with it. */
typedef struct Range {
  double first, last, by;
  bool multiplies;
} Range;

/* Reads a number that ends at `end` (one of its characters), or at the end of the text. */
static bool take_number(const char **at, const char *end, double *value) {
  char *stop;
  *value = g_ascii_strtod(*at, &stop);
  if (stop == *at || !isfinite(*value) || !(*stop == '\0' || strchr(end, *stop)))
    return false;
  *at = stop;
  return true;
}

/* The first number of a range, which a dot may follow: g_ascii_strtod() would take one of the two for a decimal
 * point. */
static bool take_first(const char *item, const char *dots, double *value) {
  g_autofree char *first = g_strstrip(g_strndup(item, (gsize)(dots - item)));
  const char *at = first;
  return *first && take_number(&at, "", value);
}

static bool read_range(const char *item, const char *dots, Range *range, const AxisPlace *place, Diag *diag) {
  const char *at = dots + strlen("..");
  g_autofree char *quoted = quote_text(item);
  range->by = 1;
  if (!take_first(item, dots, &range->first) || !take_number(&at, ":*", &range->last))
    return axis_error(place, diag, "%s isn't a range; expected FIRST..LAST, FIRST..LAST:STEP or FIRST..LAST*FACTOR",
                      quoted);
  range->multiplies = *at == '*';
  if (*at && (at++, !take_number(&at, "", &range->by)))
    return axis_error(place, diag, "%s: expected a number as the %s", quoted, range->multiplies ? "factor" : "step");
  if (range->last < range->first)
    return axis_error(place, diag, "%s: a range goes upwards, and %g is below %g", quoted, range->last, range->first);
  if (range->multiplies && !(range->by > 1 && range->first > 0))
    return axis_error(place, diag, "%s: a range with a factor needs a first value above 0 and a factor above 1",
                      quoted);
  if (!range->multiplies && !(range->by > 0))
    return axis_error(place, diag, "%s: the step must be above 0", quoted);
  return true;
}

static bool add_range(const Range *range, const char *item, const AxisPlace *place, GPtrArray *values, Diag *diag) {
  double room = range->by * slack, value = range->first;
  for (guint i = 1; value <= range->last + (range->multiplies ? value * slack : room); i++) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (values->len == AXIS_VALUES_MAX) {
      g_autofree char *quoted = quote_text(item);
      return axis_error(place, diag, "%s: more than %d values", quoted, AXIS_VALUES_MAX);
    }
    g_ptr_array_add(values, g_strdup(g_ascii_formatd(text, sizeof text, "%.12g", value)));
    value = range->multiplies ? value * range->by : range->first + i * range->by;
  }
  return true;
}

static bool add_item(const char *item, const AxisPlace *place, GPtrArray *values, Diag *diag) {
  const char *dots = strstr(item, "..");
  Range range = {0};
  if (!*item)
    return axis_error(place, diag, "a value is missing");
  if (!dots) {
    g_ptr_array_add(values, g_strdup(item));
    return true;
  }
  return read_range(item, dots, &range, place, diag) && add_range(&range, item, place, values, diag);
}

/* The items of a list: a comma in parentheses belongs to an expression. */
static GPtrArray *split(const char *text) {
  GPtrArray *items = g_ptr_array_new_with_free_func(g_free);
  const char *start = text;
  int depth = 0;
  for (const char *at = text;; at++) {
    depth += (*at == '(') - (*at == ')');
    if (*at && !(*at == ',' && depth <= 0))
      continue;
    g_ptr_array_add(items, g_strstrip(g_strndup(start, (gsize)(at - start))));
    if (!*at)
      return items;
    start = at + 1;
  }
}

bool axis_parse(const char *text, const AxisPlace *place, GPtrArray *values, Diag *diag) {
  g_autoptr(GPtrArray) items = split(text);
  for (guint i = 0; i < items->len; i++)
    if (!add_item(g_ptr_array_index(items, i), place, values, diag))
      return false;
  return true;
}
