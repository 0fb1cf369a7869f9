/* Where an instruction comes from: `.loc`, `.file`, and the source text. */
#include <glib/gstdio.h>
#include <sys/stat.h>

#include "isa/lower/ptx_lower_state.h"

enum { SOURCE_BYTES_MAX = 16 << 20, SOURCES_MAX = 65535 };

/* The text of a source file as its path says, or beside the .ptx. */
static char *read_source(const Lower *lower, const char *path, gsize *length) {
  g_autofree char *base = g_path_get_basename(path), *folder = g_path_get_dirname(lower->module->file);
  g_autofree char *beside = g_build_filename(folder, base, NULL);
  const char *const paths[] = {path, beside};
  char *text = NULL;
  for (unsigned i = 0; i < G_N_ELEMENTS(paths); i++) {
    GStatBuf info;
    if (g_stat(paths[i], &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= SOURCE_BYTES_MAX &&
        g_file_get_contents(paths[i], &text, length, NULL))
      return text;
  }
  return NULL;
}

/* The source of a `.file` number; 0, the .ptx, if there is no such line. */
static uint16_t source_of(Lower *lower, GHashTable *known, uint32_t number) {
  gpointer key = GSIZE_TO_POINTER((gsize)number + 1), value;
  if (g_hash_table_lookup_extended(known, key, NULL, &value))
    return (uint16_t)GPOINTER_TO_UINT(value);
  const char *path = ptx_module_file(lower->module, number);
  uint16_t source = 0;
  if (path && lower->program->sources->len <= SOURCES_MAX) {
    gsize length = 0;
    g_autofree char *text = read_source(lower, path, &length);
    source = program_add_source(lower->program, path, text, length);
  }
  g_hash_table_insert(known, key, GUINT_TO_POINTER(source));
  return source;
}

static uint32_t add_frame(Lower *lower, SourceFrame frame) {
  g_array_append_val(lower->program->frames, frame);
  return lower->program->frames->len;
}

/* A place that isn't inlined has a frame only if another is inlined at it. */
static uint32_t frame_of(Lower *lower, LowerPlace *place) {
  if (!place->frame)
    place->frame = add_frame(lower, (SourceFrame){.line = place->line, .column = place->column, .file = place->file});
  return place->frame;
}

static void add_place(Lower *lower, GHashTable *known, uint32_t index) {
  const PtxLoc *loc = ptx_loc(lower->module, index);
  LowerPlace *place = &lower->places[index];
  *place = (LowerPlace){.line = loc->line, .column = loc->column, .file = source_of(lower, known, loc->file)};
  if (!loc->function_name)
    return;
  SourceFrame own = {.line = loc->line, .column = loc->column, .file = place->file};
  if (loc->parent != PTX_NO_INDEX) {
    LowerPlace *parent = &lower->places[loc->parent]; /* it stands before this one */
    own.parent = frame_of(lower, parent);
    *place = (LowerPlace){.line = parent->line, .column = parent->column, .file = parent->file};
  } else {
    *place = (LowerPlace){
        .line = loc->inlined_line, .column = loc->inlined_column, .file = source_of(lower, known, loc->inlined_file)};
    own.parent = add_frame(lower, (SourceFrame){.line = place->line, .column = place->column, .file = place->file});
  }
  place->frame = place->inlined = add_frame(lower, own);
}

void lower_lines(Lower *lower) {
  g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
  lower->places = g_new0(LowerPlace, lower->module->locs->len + 1);
  for (guint i = 0; i < lower->module->locs->len; i++)
    add_place(lower, known, i);
}

void lower_set_place(Lower *lower) {
  const PtxInst *inst = lower->inst;
  unsigned line, column;
  ptx_module_place(lower->module, inst->at, &line, &column);
  lower->place.address = line;
  const LowerPlace *place = inst->loc == PTX_NO_INDEX ? NULL : &lower->places[inst->loc];
  bool known = place && place->file && place->line;
  lower->place.line = known ? place->line : line;
  lower->place.column = known ? place->column : column;
  lower->place.file = known ? place->file : 0;
  lower->place.inlined = known ? place->inlined : 0;
}
