#include "sim/report/dump_text.h"

#include <math.h>
#include <string.h>

#include "sim/report/json_fields.h"

enum { VALUES_A_ROW = 8 };

static double as_double(DumpFormat format, uint64_t bits) {
  float narrow;
  double wide;
  uint32_t low = (uint32_t)bits;
  memcpy(&narrow, &low, sizeof narrow);
  memcpy(&wide, &bits, sizeof wide);
  return format == DUMP_F32 ? (double)narrow : wide;
}

/* Free with g_free(). */
static char *value_text(DumpFormat format, uint64_t bits) {
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  switch (format) {
  case DUMP_S32: return g_strdup_printf("%d", (int32_t)(uint32_t)bits);
  case DUMP_X32: return g_strdup_printf("0x%08x", (uint32_t)bits);
  case DUMP_S64: return g_strdup_printf("%" G_GINT64_FORMAT, (int64_t)bits);
  case DUMP_X64: return g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", bits);
  case DUMP_F32:
  case DUMP_F64:
    return g_strdup(
        g_ascii_formatd(digits, sizeof digits, format == DUMP_F32 ? "%.9g" : "%.17g", as_double(format, bits)));
  default: return g_strdup_printf("%" G_GUINT64_FORMAT, bits);
  }
}

static GPtrArray *all_texts(const BufferDump *dump, int *width) {
  GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
  for (uint32_t i = 0; i < dump_count(dump); i++) {
    g_ptr_array_add(texts, value_text(dump->format, dump_value(dump, i)));
    *width = MAX(*width, (int)strlen(g_ptr_array_index(texts, i)));
  }
  return texts;
}

static bool is_like_before(const BufferDump *dump, uint32_t row, uint32_t count) {
  if (row < VALUES_A_ROW || row + VALUES_A_ROW > count)
    return false;
  for (uint32_t i = row; i < row + VALUES_A_ROW; i++)
    if (dump_value(dump, i) != dump_value(dump, i - VALUES_A_ROW))
      return false;
  return true;
}

static void append_buffer(const BufferDump *dump, Canvas *canvas) {
  int width = 0;
  g_autoptr(GPtrArray) texts = all_texts(dump, &width);
  bool starred = false;
  paint_plain(canvas, "  %s, %u words as %s\n", dump->buffer->name, dump->buffer->words,
              dump_format_names[dump->format]);
  for (guint row = 0; row < texts->len; row += VALUES_A_ROW) {
    bool like = is_like_before(dump, row, texts->len);
    if (like && !starred)
      paint_plain(canvas, "%11s\n", "*");
    starred = like;
    if (like)
      continue;
    paint_plain(canvas, "%10u:", row);
    for (guint i = row; i < MIN(row + VALUES_A_ROW, texts->len); i++)
      paint_plain(canvas, " %*s", width, (char *)g_ptr_array_index(texts, i));
    paint_plain(canvas, "\n");
  }
}

void dump_text(const GArray *dumps, Canvas *canvas) {
  for (guint i = 0; i < dumps->len; i++)
    append_buffer(&g_array_index(dumps, BufferDump, i), canvas);
}

static bool has_number(DumpFormat format, uint64_t bits) {
  switch (format) {
  case DUMP_X32:
  case DUMP_X64: return false;
  case DUMP_U64: return bits <= G_MAXINT64;
  case DUMP_F32:
  case DUMP_F64: return isfinite(as_double(format, bits));
  default: return true;
  }
}

static void add_value(JsonBuilder *builder, DumpFormat format, uint64_t bits) {
  if (!has_number(format, bits)) {
    g_autofree char *text = value_text(format, bits);
    json_add_text(builder, text);
  } else if (format == DUMP_F32 || format == DUMP_F64) {
    json_builder_add_double_value(builder, as_double(format, bits));
  } else {
    json_builder_add_int_value(builder, format == DUMP_S32 ? (int32_t)(uint32_t)bits : (int64_t)bits);
  }
}

void dump_json(const GArray *dumps, JsonBuilder *builder) {
  json_builder_set_member_name(builder, "buffers");
  json_builder_begin_object(builder);
  for (guint i = 0; i < dumps->len; i++) {
    const BufferDump *dump = &g_array_index(dumps, BufferDump, i);
    json_begin_array(builder, dump->buffer->name);
    for (uint32_t number = 0; number < dump_count(dump); number++)
      add_value(builder, dump->format, dump_value(dump, number));
    json_builder_end_array(builder);
  }
  json_builder_end_object(builder);
}
