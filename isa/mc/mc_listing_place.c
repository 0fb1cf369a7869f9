/* Lines of the source in nvdisasm's listings. `nvdisasm -g` says of an instruction where it stands; `-gi` says where
 * that was inlined, too, on lines of their own: each further line is the place that the line before it named. */
#include <string.h>

#include "isa/mc/mc_listing_reader.h"

static uint32_t find_file(McReader *reader, const char *name, gsize length) {
  char *file = g_strndup(name, length);
  gpointer found = g_hash_table_lookup(reader->files, file);
  if (found) {
    g_free(file);
    return GPOINTER_TO_UINT(found);
  }
  g_ptr_array_add(reader->module->files, file);
  g_hash_table_insert(reader->files, file, GUINT_TO_POINTER(reader->module->files->len));
  return reader->module->files->len;
}

static uint32_t find_frame(McReader *reader, const McFrame *frame) {
  gpointer found = g_hash_table_lookup(reader->frames, frame);
  if (found)
    return GPOINTER_TO_UINT(found);
  g_array_append_val(reader->module->frames, *frame);
  uint32_t index = reader->module->frames->len;
  g_hash_table_insert(reader->frames, g_memdup2(frame, sizeof *frame), GUINT_TO_POINTER(index));
  return index;
}

/* "x.cu", line 3 */
static bool read_file_line(McReader *reader, McFrame *place) {
  if (!mc_reader_take(reader, "\""))
    return mc_reader_unexpected(reader, reader->p, "a file's name in quotes");
  const char *name = reader->p, *quote = memchr(name, '"', reader->stop - name);
  if (!quote)
    return mc_reader_unexpected(reader, reader->stop, "`\"`");
  reader->p = quote + 1;
  if (!mc_reader_take(reader, ", line "))
    return mc_reader_unexpected(reader, reader->p, "`, line`");
  const char *at = reader->p;
  uint64_t line;
  if (!mc_reader_number(reader, &line))
    return false;
  if (line > INT32_MAX)
    return mc_reader_unexpected(reader, at, "the number of a line");
  *place = (McFrame){.file = find_file(reader, name, quote - name), .line = (uint32_t)line};
  return true;
}

/* True if the line goes on with what the last one said: that `place` is where it was inlined. */
static bool goes_on(const McReader *reader, const McFrame *place) {
  if (!reader->places_open || reader->places->len == 0)
    return false;
  const McFrame *outer = &g_array_index(reader->places, McFrame, reader->places->len - 1);
  return outer->parent && outer->file == place->file && outer->line == place->line;
}

/* In `places`, an item's `parent` is 1 if it was said to be where the item before it was inlined. */
bool mc_read_place(McReader *reader) {
  McFrame place, outer;
  mc_reader_take(reader, "//##");
  mc_reader_space(reader);
  if (!mc_reader_take(reader, "File "))
    return true; /* another remark */
  if (!read_file_line(reader, &place))
    return false;
  mc_reader_space(reader);
  bool inlined = mc_reader_take(reader, "inlined at ");
  if (inlined && !read_file_line(reader, &outer))
    return false;
  if (reader->p < reader->stop)
    return mc_reader_unexpected(reader, reader->p, "`inlined at` or the end of the line");
  if (!goes_on(reader, &place)) {
    g_array_set_size(reader->places, 0);
    g_array_append_val(reader->places, place);
  }
  reader->places_open = inlined;
  if (inlined) {
    outer.parent = 1;
    g_array_append_val(reader->places, outer);
  }
  return true;
}

void mc_settle_place(McReader *reader) {
  reader->places_open = false;
  if (reader->places->len == 0)
    return;
  const McFrame *chain = (const McFrame *)reader->places->data;
  uint32_t parent = 0;
  for (guint i = reader->places->len - 1; i > 0; i--)
    parent = find_frame(reader, &(McFrame){.file = chain[i].file, .line = chain[i].line, .parent = parent});
  reader->place_file = chain[0].file;
  reader->place_line = chain[0].line;
  reader->place_inlined = parent;
  g_array_set_size(reader->places, 0);
}
