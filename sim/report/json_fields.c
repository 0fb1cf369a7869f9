#include "sim/report/json_fields.h"

#include <math.h>
#include <string.h>

#include "base/quote.h"

/* JSON is UTF-8, file names needn't be. */
void json_add_text(JsonBuilder *builder, const char *text) {
  g_autofree char *readable = g_utf8_validate(text, -1, NULL) ? NULL : quote_lines(text, strlen(text));
  json_builder_add_string_value(builder, readable ? readable : text);
}

void json_add_string(JsonBuilder *builder, const char *name, const char *value) {
  json_builder_set_member_name(builder, name);
  if (value)
    json_add_text(builder, value);
  else
    json_builder_add_null_value(builder);
}

void json_add_int(JsonBuilder *builder, const char *name, int64_t value) {
  json_builder_set_member_name(builder, name);
  json_builder_add_int_value(builder, value);
}

void json_add_int_or_null(JsonBuilder *builder, const char *name, int64_t value, bool present) {
  json_builder_set_member_name(builder, name);
  if (present)
    json_builder_add_int_value(builder, value);
  else
    json_builder_add_null_value(builder);
}

void json_add_double(JsonBuilder *builder, const char *name, double value) {
  json_builder_set_member_name(builder, name);
  if (isnan(value))
    json_builder_add_null_value(builder);
  else
    json_builder_add_double_value(builder, value);
}

void json_add_bool(JsonBuilder *builder, const char *name, bool value) {
  json_builder_set_member_name(builder, name);
  json_builder_add_boolean_value(builder, value);
}

void json_begin_array(JsonBuilder *builder, const char *name) {
  json_builder_set_member_name(builder, name);
  json_builder_begin_array(builder);
}

void json_add_texts(JsonBuilder *builder, const char *name, const char *const *texts) {
  json_begin_array(builder, name);
  for (; texts && *texts; texts++)
    json_add_text(builder, *texts);
  json_builder_end_array(builder);
}

void json_add_changes(JsonBuilder *builder, const Changes *changes) {
  json_add_texts(builder, "settings", changes->settings);
  json_add_texts(builder, "params", changes->params);
}

/* Ends the outermost object and gives its text. Takes the builder. */
char *json_finish(JsonBuilder *builder) {
  json_builder_end_object(builder);
  JsonNode *root = json_builder_get_root(builder);
  char *text = json_to_string(root, TRUE);
  json_node_unref(root);
  g_object_unref(builder);
  return text;
}

JsonBuilder *json_start(void) {
  JsonBuilder *builder = json_builder_new();
  json_builder_begin_object(builder);
  json_add_int(builder, "schema", JSON_SCHEMA);
  return builder;
}
