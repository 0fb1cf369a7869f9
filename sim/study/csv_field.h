/* csv_field.h - fields of CSV (RFC 4180). */
#ifndef LOCKSTEP_STUDY_CSV_FIELD_H
#define LOCKSTEP_STUDY_CSV_FIELD_H

#include <glib.h>

#include "sim/study/run.h"

/* Appends a field, quoted if it must be, after a comma unless it is the first of its row. NULL: an empty one. */
void csv_field(GString *out, const char *text);
void csv_field_format(GString *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A row of names, up to NULL, without the newline. */
void csv_field_header(GString *out, const char *const *names);
/* Several values in one field, separated by blanks, as a shell would read them. */
void csv_field_values(GString *out, const char *const *values);
/* Two fields: settings, params. */
void csv_field_changes(GString *out, const Changes *changes);
/* The ids of all findings, each once, separated by blanks. Free with g_free. */
char *csv_field_finding_ids(const GPtrArray *findings);

#endif
