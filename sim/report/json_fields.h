/* json_fields.h - members of the objects of json.h. A text that isn't UTF-8, as names of files may be, is escaped; a
 * number that is NaN is null. */
#ifndef LOCKSTEP_REPORT_JSON_FIELDS_H
#define LOCKSTEP_REPORT_JSON_FIELDS_H

#include <json-glib/json-glib.h>
#include <stdbool.h>

#include "sim/study/run.h"

/* The number of the form; it changes when a field's meaning does, not when one is added. */
enum { JSON_SCHEMA = 1 };

/* An object with its `schema`. */
JsonBuilder *json_start(void);
/* Ends the outermost object and gives its text. Takes the builder. Free with g_free. */
char *json_finish(JsonBuilder *builder);

/* An element of an array. */
void json_add_text(JsonBuilder *builder, const char *text);
/* Members; NULL is null. */
void json_add_string(JsonBuilder *builder, const char *name, const char *value);
void json_add_int(JsonBuilder *builder, const char *name, int64_t value);
void json_add_int_or_null(JsonBuilder *builder, const char *name, int64_t value, bool present);
void json_add_double(JsonBuilder *builder, const char *name, double value);
void json_add_bool(JsonBuilder *builder, const char *name, bool value);
/* A member that is an array of texts; NULL-terminated, or NULL. */
void json_add_texts(JsonBuilder *builder, const char *name, const char *const *texts);
void json_begin_array(JsonBuilder *builder, const char *name);
/* `settings` and `params`. */
void json_add_changes(JsonBuilder *builder, const Changes *changes);

#endif
