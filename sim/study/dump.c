#include "sim/study/dump.h"

#include <string.h>

const char *const dump_format_names[] = {"u32", "s32", "x32", "f32", "u64", "s64", "x64", "f64", NULL};

uint32_t dump_count(const BufferDump *dump) {
  uint32_t each = dump_words_each(dump->format);
  return dump->buffer->words / each + (dump->buffer->words % each != 0);
}

uint64_t dump_value(const BufferDump *dump, uint32_t number) {
  const ResultBuffer *result = dump->buffer;
  if (dump_words_each(dump->format) == 1)
    return result->data[number];
  uint32_t low = 2 * number, high = low + 1;
  return result->data[low] | (high < result->words ? (uint64_t)result->data[high] << 32 : 0);
}

/* The name, which is to be freed, of "NAME" or "NAME:FORMAT", and the format: DUMP_FORMATS if there is none of that
 * name. */
static char *take_apart(const char *wanted, DumpFormat *format) {
  const char *colon = strrchr(wanted, ':');
  *format = DUMP_U32;
  if (!colon)
    return g_strdup(wanted);
  for (unsigned i = 0; i <= DUMP_FORMATS; i++) {
    *format = (DumpFormat)i;
    if (i == DUMP_FORMATS || g_str_equal(dump_format_names[i], colon + 1))
      break;
  }
  return g_strndup(wanted, (gsize)(colon - wanted));
}

static bool check_name(const char *wanted, const char *name, const Scenario *scenario, Diag *diag) {
  g_autofree const char **names = g_new0(const char *, scenario->buffers->len + 1);
  guint count = 0;
  for (guint i = 0; i < scenario->buffers->len; i++) {
    const ScenarioBuffer *buffer = g_ptr_array_index(scenario->buffers, i);
    if (!run_keeps_buffer(scenario, i))
      continue;
    names[count++] = buffer->name;
    if (g_str_equal(buffer->name, name))
      return true;
  }
  const char *nearest = diag_nearest(name, names);
  return diag_usage(diag, "--dump %s: %s has no buffer `%s`%s%s%s", wanted, scenario->name, name,
                    nearest ? "; did you mean `" : "", nearest ? nearest : "", nearest ? "`?" : "");
}

bool dump_check(const char *const *wanted, const Scenario *scenario, Diag *diag) {
  for (; wanted && *wanted; wanted++) {
    DumpFormat format;
    g_autofree char *name = take_apart(*wanted, &format);
    if (!check_name(*wanted, name, scenario, diag))
      return false;
    if (format == DUMP_FORMATS) {
      g_autofree char *all = g_strjoinv(", ", (char **)dump_format_names);
      return diag_usage(diag, "--dump %s: expected one of %s behind the colon", *wanted, all);
    }
  }
  return true;
}

GArray *dump_choose(const char *const *wanted, const GPtrArray *buffers) {
  GArray *chosen = g_array_new(FALSE, FALSE, sizeof(BufferDump));
  for (; wanted && *wanted; wanted++) {
    BufferDump dump;
    g_autofree char *name = take_apart(*wanted, &dump.format);
    for (guint i = 0; i < buffers->len; i++) {
      dump.buffer = g_ptr_array_index(buffers, i);
      if (g_str_equal(dump.buffer->name, name))
        g_array_append_val(chosen, dump);
    }
  }
  return chosen;
}
