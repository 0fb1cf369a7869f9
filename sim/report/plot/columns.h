/* columns.h - the columns of a sweep's table: which are parameters, which vary, which are numbers. */
#ifndef LOCKSTEP_REPORT_PLOT_COLUMNS_H
#define LOCKSTEP_REPORT_PLOT_COLUMNS_H

#include "sim/study/csv_table.h"

/* True if the table has the column. */
bool columns_has(const CsvTable *table, const char *name);
/* An error if a name that the user gave (as `option`) is no column. */
bool columns_check(const CsvTable *table, const char *name, const char *option, Diag *diag);
/* Leaves the rows that have a value in a column, for each "COLUMN=VALUE" of `where` (NULL-terminated). False if there
 * is no such column, or no row is left. */
bool columns_keep(CsvTable *table, char **where, Diag *diag);
/* How many values a column has. */
guint columns_count(const CsvTable *table, const char *name);
/* True if some field of the column isn't empty. */
bool columns_is_filled(const CsvTable *table, const char *name);
/* An error, with the first row that has something else, unless every field of the column is a number or empty, and
 * one is a number. */
bool columns_check_numbers(const CsvTable *table, const char *name, Diag *diag);
/* A field as a number; false if it is none. */
bool columns_number(const CsvTable *table, const CsvRow *row, const char *name, double *value);
/* The columns that a sweep varied: scenario, machine, and those of parameters, as far as they have several values;
 * of a ranking of primitives: machine, kind, blocks, primitive. Strings are the table's; free with
 * g_ptr_array_unref. */
GPtrArray *columns_varying(const CsvTable *table);

#endif
