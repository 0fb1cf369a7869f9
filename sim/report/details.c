#include "sim/report/details.h"

#include "sim/study/csv_field.h"

/* ---- JSON ---- */

static void add_value(JsonBuilder *builder, const DetailValue *value) {
  switch (value->kind) {
  case DETAIL_NONE: json_builder_add_null_value(builder); break;
  case DETAIL_INTEGER: json_builder_add_int_value(builder, (gint64)value->integer); break;
  case DETAIL_REAL: json_builder_add_double_value(builder, value->real); break;
  case DETAIL_TEXT: {
    g_autofree char *valid = value->text ? g_utf8_make_valid(value->text, -1) : NULL;
    if (valid)
      json_builder_add_string_value(builder, valid);
    else
      json_builder_add_null_value(builder);
    break;
  }
  }
}

static void add_table(JsonBuilder *builder, const RunDetails *details, DetailsTable table) {
  json_builder_begin_array(json_builder_set_member_name(builder, details_table_info[table].name));
  for (guint i = 0; i < details->table[table]->len; i++) {
    const DetailRow *row = g_ptr_array_index(details->table[table], i);
    json_builder_begin_object(builder);
    json_builder_add_string_value(json_builder_set_member_name(builder, details_table_info[table].key), row->key);
    for (DetailsColumn column = details_first(table); column < details_end(table); column++)
      add_value(json_builder_set_member_name(builder, details_column_info[column].name), details_value(row, column));
    json_builder_end_object(builder);
  }
  json_builder_end_array(builder);
}

void details_json(const RunDetails *details, JsonBuilder *builder) {
  json_builder_begin_object(json_builder_set_member_name(builder, "details"));
  json_builder_add_int_value(json_builder_set_member_name(builder, "cycles"), (gint64)details->cycles);
  json_builder_add_int_value(json_builder_set_member_name(builder, "schedulers"), details->schedulers);
  json_builder_begin_array(json_builder_set_member_name(builder, "warnings"));
  for (guint i = 0; i < details->warnings->len; i++)
    json_builder_add_string_value(builder, g_ptr_array_index(details->warnings, i));
  json_builder_end_array(builder);
  for (DetailsTable table = 0; table < DETAILS_TABLES; table++)
    add_table(builder, details, table);
  json_builder_end_object(builder);
}

/* ---- CSV ---- */

void details_csv_header(GString *out) {
  static const char *const names[] = {"scenario", "machine", "seed",     "table",  "row", "quantity",
                                      "value",    "unit",    "settings", "params", NULL};
  csv_field_header(out, names);
  g_string_append_c(out, '\n');
}

static void append_value(const RunResult *result, const DetailRow *row, DetailsColumn column, GString *out) {
  const DetailsColumnInfo *info = &details_column_info[column];
  const DetailValue *value = details_value(row, column);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  csv_field(out, result->scenario);
  csv_field(out, result->machine);
  csv_field_format(out, "%" G_GUINT64_FORMAT, result->seed);
  csv_field(out, details_table_info[info->table].name);
  csv_field(out, row->key);
  csv_field(out, info->name);
  if (value->kind == DETAIL_INTEGER)
    csv_field_format(out, "%" G_GUINT64_FORMAT, value->integer);
  else if (value->kind == DETAIL_REAL)
    csv_field(out, g_ascii_formatd(number, sizeof number, "%.6g", value->real));
  else
    csv_field(out, value->text);
  csv_field(out, info->unit);
  csv_field_changes(out, &result->changes);
  g_string_append_c(out, '\n');
}

void details_csv(const RunResult *result, GString *out) {
  for (DetailsTable table = 0; table < DETAILS_TABLES; table++)
    for (guint i = 0; i < result->details->table[table]->len; i++)
      for (DetailsColumn column = details_first(table); column < details_end(table); column++)
        append_value(result, g_ptr_array_index(result->details->table[table], i), column, out);
}
