#include "sim/study/csv_table.h"

#include <string.h>

#include "base/datadir.h"

/* What a spreadsheet may begin a file with. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

typedef struct Reader {
  const char *file, *at;
  unsigned line;
  Diag *diag;
} Reader;

static void free_row(gpointer data) {
  CsvRow *row = data;
  g_strfreev(row->fields);
  g_free(row);
}

/* Reads a field that starts with a quote; NULL if it never ends. */
static char *read_quoted(Reader *reader) {
  GString *field = g_string_new(NULL);
  unsigned opened = reader->line;
  for (reader->at++; *reader->at; reader->at++) {
    if (*reader->at == '"' && reader->at[1] != '"') {
      reader->at++;
      return g_string_free(field, FALSE);
    }
    reader->at += *reader->at == '"';
    reader->line += *reader->at == '\n';
    g_string_append_c(field, *reader->at);
  }
  diag_error(reader->diag, reader->file, opened, 0, "a quoted field that doesn't end");
  g_string_free(field, TRUE);
  return NULL;
}

/* Reads one record, the line end included; NULL after an error. */
static char **read_record(Reader *reader) {
  g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
  for (;;) {
    char *field;
    if (*reader->at == '"') {
      field = read_quoted(reader);
    } else {
      size_t length = strcspn(reader->at, ",\r\n");
      field = g_strstrip(g_strndup(reader->at, length));
      reader->at += length;
    }
    if (!field)
      return NULL;
    g_ptr_array_add(fields, field);
    if (*reader->at != ',')
      break;
    reader->at++;
  }
  if (*reader->at == '\r')
    reader->at++;
  if (*reader->at && *reader->at != '\n') {
    diag_error(reader->diag, reader->file, reader->line, 0, "text after a quoted field");
    return NULL;
  }
  if (*reader->at) {
    reader->at++;
    reader->line++;
  }
  g_ptr_array_add(fields, NULL);
  g_ptr_array_set_free_func(fields, NULL);
  return (char **)g_ptr_array_free(g_steal_pointer(&fields), FALSE);
}

static void skip_comments(Reader *reader) {
  while (*reader->at == '#' || *reader->at == '\n' || *reader->at == '\r') {
    reader->at += strcspn(reader->at, "\n");
    if (*reader->at) {
      reader->at++;
      reader->line++;
    }
  }
}

static bool check_columns(const CsvTable *table, unsigned line, const char *const *known, guint required,
                          Diag *diag) {
  bool right = true;
  for (char **column = table->columns; *column; column++) {
    if (g_strv_contains(known, *column))
      continue;
    right = diag_error(diag, table->file, line, 0, "unknown column `%s`", *column);
    diag_hint_nearest(diag, *column, known);
  }
  for (guint i = 0; i < required; i++)
    if (!g_strv_contains((const char *const *)table->columns, known[i]))
      right = diag_error(diag, table->file, line, 0, "column `%s` is missing", known[i]);
  return right;
}

static bool check_once(const CsvTable *table, unsigned line, Diag *diag) {
  bool right = true;
  for (guint i = 0; table->columns[i]; i++)
    for (guint j = 0; j < i; j++)
      if (strcmp(table->columns[i], table->columns[j]) == 0)
        right = diag_error(diag, table->file, line, 0, "column `%s` stands twice, as number %u and %u",
                           table->columns[i], j + 1, i + 1);
  return right;
}

/* Names and values go into pictures and JSON, which are UTF-8. */
static bool check_text(const char *file, const char *text, Diag *diag) {
  const char *end;
  if (g_utf8_validate(text, -1, &end))
    return true;
  unsigned line = 1;
  for (const char *at = text; at < end; at++)
    line += *at == '\n';
  return diag_error(diag, file, line, 0, "the byte 0x%02x isn't UTF-8 text", (unsigned char)*end);
}

static bool read_rows(CsvTable *table, Reader *reader) {
  guint columns = g_strv_length(table->columns);
  for (skip_comments(reader); *reader->at; skip_comments(reader)) {
    unsigned line = reader->line;
    char **fields = read_record(reader);
    if (!fields)
      return false;
    CsvRow *row = g_new(CsvRow, 1);
    *row = (CsvRow){fields, line};
    g_ptr_array_add(table->rows, row);
    if (g_strv_length(fields) != columns)
      return diag_error(reader->diag, table->file, line, 0, "%u fields where there are %u columns",
                        g_strv_length(fields), columns);
  }
  return true;
}

CsvTable *csv_table_parse(const char *file, const char *text, const char *const *known, guint required, Diag *diag) {
  if (!check_text(file, text, diag))
    return NULL;
  g_autoptr(CsvTable) table = g_new0(CsvTable, 1);
  Reader reader = {file, text, 1, diag};
  if (g_str_has_prefix(text, byte_order_mark))
    reader.at += strlen(byte_order_mark);
  table->file = g_strdup(file);
  table->rows = g_ptr_array_new_with_free_func(free_row);
  skip_comments(&reader);
  unsigned line = reader.line;
  table->columns = read_record(&reader);
  if (!table->columns || (known && !check_columns(table, line, known, required, diag)) ||
      !check_once(table, line, diag) || !read_rows(table, &reader))
    return NULL;
  return g_steal_pointer(&table);
}

CsvTable *csv_table_read(const char *path, gsize max_bytes, const char *const *known, guint required, Diag *diag) {
  gsize length;
  g_autofree char *text = datadir_read_file(path, max_bytes, &length, NULL, 0, 0, diag);
  if (text && strlen(text) != length) {
    diag_error(diag, path, 0, 0, "isn't text: it has a byte 0");
    return NULL;
  }
  return text ? csv_table_parse(path, text, known, required, diag) : NULL;
}

void csv_table_free(CsvTable *table) {
  if (!table)
    return;
  g_free(table->file);
  g_strfreev(table->columns);
  g_ptr_array_free(table->rows, TRUE);
  g_free(table);
}

const char *csv_table_field(const CsvTable *table, const CsvRow *row, const char *column) {
  for (guint i = 0; table->columns[i]; i++)
    if (strcmp(table->columns[i], column) == 0)
      return row->fields[i];
  return "";
}
