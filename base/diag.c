#include "base/diag.h"

#include <string.h>

#include "base/quote.h"

enum { KEPT_MAX = 1000, WORD_MAX = 64 };

struct Diag {
  GPtrArray *items;
  unsigned errors;
};

static void item_free(gpointer data) {
  DiagItem *item = data;
  g_free(item->file);
  g_free(item->message);
  g_free(item->hint);
  g_free(item);
}

Diag *diag_new(void) {
  Diag *diag = g_new0(Diag, 1);
  diag->items = g_ptr_array_new_with_free_func(item_free);
  return diag;
}

void diag_free(Diag *diag) {
  if (!diag)
    return;
  g_ptr_array_free(diag->items, TRUE);
  g_free(diag);
}

/* A note says once what it says, however many runs it is about. */
static bool is_said(const Diag *diag, const DiagItem *note) {
  for (guint i = 0; i < diag->items->len; i++) {
    const DiagItem *item = g_ptr_array_index(diag->items, i);
    if (item->severity == note->severity && item->line == note->line && item->column == note->column &&
        g_strcmp0(item->file, note->file) == 0 && strcmp(item->message, note->message) == 0)
      return true;
  }
  return false;
}

static void copy_item(gpointer data, gpointer user) {
  const DiagItem *item = data;
  Diag *diag = user;
  if (diag->items->len >= KEPT_MAX || (item->severity == DIAG_NOTE && is_said(diag, item)))
    return;
  DiagItem *copy = g_memdup2(item, sizeof *item);
  copy->file = g_strdup(item->file);
  copy->message = g_strdup(item->message);
  copy->hint = g_strdup(item->hint);
  g_ptr_array_add(diag->items, copy);
}

void diag_add_all(Diag *diag, const Diag *from) {
  diag->errors += from->errors;
  g_ptr_array_foreach(from->items, copy_item, diag);
}

void diag_add_serious(Diag *diag, const Diag *from) {
  diag->errors += from->errors;
  for (guint i = 0; i < from->items->len; i++) {
    gpointer item = g_ptr_array_index(from->items, i);
    if (((const DiagItem *)item)->severity != DIAG_NOTE)
      copy_item(item, diag);
  }
}

static void append(Diag *diag, DiagSeverity severity, DiagClass klass, const char *file, unsigned line,
                   unsigned column, const char *format, va_list args) {
  if (severity == DIAG_ERROR)
    diag->errors++;
  if (diag->items->len >= KEPT_MAX)
    return;
  DiagItem *item = g_new0(DiagItem, 1);
  item->file = g_strdup(file);
  item->line = line;
  item->column = column;
  item->severity = severity;
  item->klass = klass;
  item->message = g_strdup_vprintf(format, args);
  if (severity == DIAG_NOTE && is_said(diag, item))
    item_free(item);
  else
    g_ptr_array_add(diag->items, item);
}

bool diag_error(Diag *diag, const char *file, unsigned line, unsigned column, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(diag, DIAG_ERROR, DIAG_INPUT, file, line, column, format, args);
  va_end(args);
  return false;
}

bool diag_warning(Diag *diag, const char *file, unsigned line, unsigned column, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(diag, DIAG_WARNING, DIAG_INPUT, file, line, column, format, args);
  va_end(args);
  return false;
}

void diag_note(Diag *diag, const char *file, unsigned line, unsigned column, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(diag, DIAG_NOTE, DIAG_INPUT, file, line, column, format, args);
  va_end(args);
}

bool diag_usage(Diag *diag, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(diag, DIAG_ERROR, DIAG_USAGE, NULL, 0, 0, format, args);
  va_end(args);
  return false;
}

void diag_hint(Diag *diag, const char *format, ...) {
  if (diag->items->len == 0)
    return;
  DiagItem *item = g_ptr_array_index(diag->items, diag->items->len - 1);
  if (item->hint)
    return;
  va_list args;
  va_start(args, format);
  item->hint = g_strdup_vprintf(format, args);
  va_end(args);
}

void diag_hint_nearest(Diag *diag, const char *found, const char *const *candidates) {
  const char *nearest = diag_nearest(found, candidates);
  if (nearest)
    diag_hint(diag, "did you mean `%s`?", nearest);
}

bool diag_has_errors(const Diag *diag) { return diag->errors > 0; }
unsigned diag_error_count(const Diag *diag) { return diag->errors; }
unsigned diag_count(const Diag *diag) { return diag->items->len; }
const DiagItem *diag_item(const Diag *diag, unsigned index) { return g_ptr_array_index(diag->items, index); }

int diag_exit_status(const Diag *diag) {
  int status = 0;
  for (unsigned i = 0; i < diag->items->len; i++) {
    const DiagItem *item = diag_item(diag, i);
    if (item->severity == DIAG_ERROR)
      status = MAX(status, item->klass == DIAG_USAGE ? 2 : 3);
  }
  return status;
}

static void append_file(const char *file, GString *out) {
  g_autofree char *name = quote_name(file);
  g_string_append_printf(out, "%s:", name);
}

static void render_item(const DiagItem *item, GString *out) {
  static const char *const severities[] = {"note", "warning", "error"};
  if (item->klass == DIAG_USAGE)
    g_string_append(out, "lockstep: ");
  else if (item->file)
    append_file(item->file, out);
  if (item->file && item->line)
    g_string_append_printf(out, "%u:", item->line);
  if (item->file && item->line && item->column)
    g_string_append_printf(out, "%u:", item->column);
  g_autofree char *message = quote_lines(item->message, strlen(item->message));
  g_string_append_printf(out, "%s%s: %s\n", item->file ? " " : "", severities[item->severity], message);
  g_autofree char *hint = item->hint ? quote_lines(item->hint, strlen(item->hint)) : NULL;
  if (hint)
    g_string_append_printf(out, "  %s\n", hint);
}

/* What several kernels have of one place is said once. */
char *diag_render(const Diag *diag) {
  GString *out = g_string_new(NULL);
  g_autoptr(GHashTable) said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  unsigned shown = 0, repeated = 0;
  for (unsigned i = 0; i < diag->items->len; i++) {
    const DiagItem *item = diag_item(diag, i);
    GString *text = g_string_new(NULL);
    render_item(item, text);
    bool is_new = g_hash_table_add(said, g_strdup(text->str)), is_error = item->severity == DIAG_ERROR;
    repeated += is_error && !is_new;
    if (is_new && !(is_error && shown++ >= DIAG_SHOWN_MAX))
      g_string_append(out, text->str);
    g_string_free(text, TRUE);
  }
  if (diag->errors - repeated > DIAG_SHOWN_MAX)
    g_string_append_printf(out, "... and %u more errors\n", diag->errors - repeated - DIAG_SHOWN_MAX);
  return g_string_free(out, FALSE);
}

/* Damerau-Levenshtein distance (adjacent swaps count one), letters compared without case. */
static unsigned edit_distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b);
  unsigned row[3][WORD_MAX + 1];
  if (n > WORD_MAX || m > WORD_MAX)
    return G_MAXUINT;
  for (size_t j = 0; j <= m; j++)
    row[0][j] = (unsigned)j;
  for (size_t i = 1; i <= n; i++) {
    unsigned *now = row[i % 3], *before = row[(i - 1) % 3], *swap = row[(i + 1) % 3];
    now[0] = (unsigned)i;
    for (size_t j = 1; j <= m; j++) {
      char x = g_ascii_tolower(a[i - 1]), y = g_ascii_tolower(b[j - 1]);
      now[j] = MIN(MIN(before[j], now[j - 1]) + 1, before[j - 1] + (x != y));
      if (i > 1 && j > 1 && x == g_ascii_tolower(b[j - 2]) && g_ascii_tolower(a[i - 2]) == y)
        now[j] = MIN(now[j], swap[j - 2] + 1);
    }
  }
  return row[n % 3][m];
}

const char *diag_nearest(const char *found, const char *const *candidates) {
  unsigned best = (unsigned)(strlen(found) / 3 + 2);
  const char *nearest = NULL;
  for (; *candidates; candidates++) {
    unsigned distance = edit_distance(found, *candidates);
    if (distance < best) {
      best = distance;
      nearest = *candidates;
    }
  }
  return nearest;
}
