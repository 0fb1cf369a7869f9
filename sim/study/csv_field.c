#include "sim/study/csv_field.h"

#include <string.h>

#include "base/quote.h"

void csv_field(GString *out, const char *raw) {
  g_autofree char *readable = raw ? quote_lines(raw, strlen(raw)) : NULL;
  const char *text = readable;
  if (out->len && out->str[out->len - 1] != '\n')
    g_string_append_c(out, ',');
  if (!text)
    return;
  if (!strpbrk(text, ",\"\r\n")) {
    g_string_append(out, text);
    return;
  }
  g_string_append_c(out, '"');
  for (; *text; text++) {
    if (*text == '"')
      g_string_append_c(out, '"');
    g_string_append_c(out, *text);
  }
  g_string_append_c(out, '"');
}

void csv_field_format(GString *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  csv_field(out, text);
}

void csv_field_header(GString *out, const char *const *names) {
  for (; *names; names++)
    csv_field(out, *names);
}

void csv_field_values(GString *out, const char *const *values) {
  g_autoptr(GString) all = g_string_new(NULL);
  for (; values && *values; values++) {
    g_autofree char *word = quote_word(*values);
    g_string_append_printf(all, "%s%s", all->len ? " " : "", word);
  }
  csv_field(out, all->str);
}

void csv_field_changes(GString *out, const Changes *changes) {
  csv_field_values(out, changes->settings);
  csv_field_values(out, changes->params);
}

char *csv_field_finding_ids(const GPtrArray *findings) {
  GString *ids = g_string_new(NULL);
  bool seen[FINDING_COUNT] = {false};
  for (guint i = 0; i < findings->len; i++) {
    const Finding *finding = g_ptr_array_index(findings, i);
    if (!seen[finding->id])
      g_string_append_printf(ids, "%s%s", ids->len ? " " : "", finding_name(finding->id));
    seen[finding->id] = true;
  }
  return g_string_free(ids, FALSE);
}
