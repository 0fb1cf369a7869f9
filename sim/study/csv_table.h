/* csv_table.h - a CSV file (RFC 4180; lines that start with # are comments) as rows of fields under named columns.
 * Ownership: a CsvTable owns its strings. */
#ifndef LOCKSTEP_STUDY_CSV_TABLE_H
#define LOCKSTEP_STUDY_CSV_TABLE_H

#include <glib.h>
#include <stdbool.h>

#include "base/diag.h"

typedef struct CsvRow {
  char **fields; /* as many as there are columns */
  unsigned line;
} CsvRow;

typedef struct CsvTable {
  char *file;
  char **columns;
  GPtrArray *rows; /* CsvRow * */
} CsvTable;

/* Parses `text`; `file` names it in messages. `known` are the columns that may occur (NULL-terminated; NULL: any), of
 * which the first `required` must; none may stand twice. NULL after errors. */
CsvTable *csv_table_parse(const char *file, const char *text, const char *const *known, guint required, Diag *diag);
/* The same of the file at `path`, which has at most `max_bytes`. */
CsvTable *csv_table_read(const char *path, gsize max_bytes, const char *const *known, guint required, Diag *diag);
void csv_table_free(CsvTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsvTable, csv_table_free)

/* The field of a row in a column, "" if the table lacks the column. */
const char *csv_table_field(const CsvTable *table, const CsvRow *row, const char *column);

#endif
