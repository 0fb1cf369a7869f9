/* `.loc`: where instructions stand in the source, and where what they are part of was inlined. */
#include "isa/ptx/ptx_parser.h"

enum { LINE_MAX_VALUE = (1 << 24) - 1, COLUMN_MAX_VALUE = (1 << 20) - 1 };

static bool read_place(PtxParser *parser, uint32_t *file, uint32_t *line, uint32_t *column) {
  return ptx_parser_number(parser, UINT16_MAX, "the number of a file", file) &&
         ptx_parser_number(parser, LINE_MAX_VALUE, "a line", line) &&
         ptx_parser_number(parser, COLUMN_MAX_VALUE, "a column", column);
}

/* `, function_name $L__info_string0+8, inlined_at 1 13 3`. */
static bool read_inlined(PtxParser *parser, PtxLoc *loc) {
  while (ptx_parser_accept(parser, ',')) {
    bool place = token_equals(&parser->token, "inlined_at");
    if (!place && !token_equals(&parser->token, "function_name"))
      return ptx_parser_unexpected(parser, "`function_name` or `inlined_at`");
    ptx_parser_advance(parser);
    if (place && !read_place(parser, &loc->inlined_file, &loc->inlined_line, &loc->inlined_column))
      return false;
    if (place)
      continue;
    if (!(loc->function_name = ptx_parser_name(parser, "a label of .debug_str")))
      return false;
    ptx_parser_advance(parser);
    if (ptx_parser_accept(parser, '+') && !ptx_parser_number(parser, INT32_MAX, "an offset", &loc->function_offset))
      return false;
  }
  return true;
}

/* -- which call it belongs to -- */

/* A `.loc` names where its function was inlined by a place alone, and that is one of the lines before. nvcc writes
 * those of a call once. In copies that it makes of a loop's body the innermost line stands by itself, and which call
 * it belongs to has to be told by what came before: lines of a copy stand in the order of those that it is a copy
 * of. */

enum { ORIGINALS_MAX = 256 }; /* of one place: how many are looked at */

static gpointer place_key(uint32_t file, uint32_t line, uint32_t column) {
  return (gpointer)((uintptr_t)file << 44 | (uintptr_t)line << 20 | column);
}

/* The newest loc of a place, or PTX_NO_INDEX. */
static uint32_t newest_at(GHashTable *places, uint32_t file, uint32_t line, uint32_t column) {
  guint index = GPOINTER_TO_UINT(g_hash_table_lookup(places, place_key(file, line, column)));
  return index ? index - 1 : PTX_NO_INDEX;
}

static bool is_inlined(const PtxLoc *loc) { return loc->inlined_line != 0; }

static bool read_alike(const PtxLoc *loc, const PtxLoc *other) {
  return loc->file == other->file && loc->line == other->line && loc->column == other->column &&
         loc->function_name == other->function_name && loc->function_offset == other->function_offset &&
         loc->inlined_file == other->inlined_file && loc->inlined_line == other->inlined_line &&
         loc->inlined_column == other->inlined_column;
}

/* True if the outermost call that `loc` belongs to stands at `place`. */
static bool is_called_at(const PtxModule *module, const PtxLoc *loc, const PtxLoc *place) {
  while (loc->parent != PTX_NO_INDEX)
    loc = ptx_loc(module, loc->parent);
  if (is_inlined(loc))
    return loc->inlined_file == place->file && loc->inlined_line == place->line &&
           loc->inlined_column == place->column;
  return loc->file == place->file && loc->line == place->line && loc->column == place->column;
}

/* What a line may be a copy of, by how well it fits; PTX_NO_INDEX: nothing does. */
typedef struct Copied {
  uint32_t called;   /* the newest whose call stands where the line before is, which isn't inlined */
  uint32_t together; /* the newest inlined along with what the line before is a copy of */
  uint32_t behind;   /* the first that came behind that */
  uint32_t again;    /* the first of the block that that is in: the loop's body begins anew */
} Copied;

static Copied look_back(const PtxParser *parser, const PtxLoc *loc, const PtxLoc *before) {
  const PtxModule *module = parser->module;
  Copied copied = {PTX_NO_INDEX, PTX_NO_INDEX, PTX_NO_INDEX, PTX_NO_INDEX};
  uint32_t index = newest_at(parser->loc_originals, loc->file, loc->line, loc->column);
  const PtxLoc *came = ptx_loc(module, before->original);
  for (unsigned i = 0; i < ORIGINALS_MAX && index != PTX_NO_INDEX; i++) {
    const PtxLoc *original = ptx_loc(module, index);
    if (read_alike(original, loc)) {
      if (copied.called == PTX_NO_INDEX && is_called_at(module, original, before))
        copied.called = index;
      if (copied.together == PTX_NO_INDEX && original->parent != PTX_NO_INDEX && original->parent == came->parent)
        copied.together = index;
      copied.behind = index > before->original ? index : copied.behind;
      copied.again = original->block == came->block ? index : copied.again;
    }
    index = original->older;
  }
  return copied;
}

/* The newest loc of the place where `loc` was inlined, or PTX_NO_INDEX. *last: the newest of the place of `loc`
 * itself, or PTX_NO_INDEX. *other: that was inlined in another function, and so is `loc`. */
static uint32_t nearest_call(const PtxParser *parser, const PtxLoc *loc, uint32_t *last, bool *other) {
  const PtxModule *module = parser->module;
  uint32_t nearest = newest_at(parser->loc_places, loc->inlined_file, loc->inlined_line, loc->inlined_column);
  *last = newest_at(parser->loc_places, loc->file, loc->line, loc->column);
  const PtxLoc *same = *last == PTX_NO_INDEX ? NULL : ptx_loc(module, *last);
  *other = nearest != PTX_NO_INDEX && nearest != parser->loc && same && same->parent != PTX_NO_INDEX &&
           read_alike(same, loc) &&
           ptx_loc(module, same->parent)->function_name != ptx_loc(module, nearest)->function_name;
  return nearest;
}

/* True if the call at `nearest` was written behind `last`, the newest of the place of `loc`: it is another one,
 * unless that is the statement that `last` was inlined at, once more. */
static bool is_newer_call(const PtxModule *module, const PtxLoc *loc, uint32_t nearest, uint32_t last) {
  const PtxLoc *call = ptx_loc(module, nearest), *same = ptx_loc(module, last),
               *old = same->parent == PTX_NO_INDEX ? NULL : ptx_loc(module, same->parent);
  return nearest > last && !(old && read_alike(same, loc) && read_alike(call, old) && call->parent == old->parent);
}

/* The line that `loc` is a copy of, or PTX_NO_INDEX: it is the first one of its call. */
static uint32_t find_original(const PtxParser *parser, const PtxLoc *loc) {
  uint32_t last;
  bool other;
  uint32_t nearest = nearest_call(parser, loc, &last, &other);
  if (parser->loc == PTX_NO_INDEX || last == PTX_NO_INDEX || nearest == PTX_NO_INDEX ||
      (!other && is_newer_call(parser->module, loc, nearest, last)))
    return PTX_NO_INDEX;
  const PtxLoc *before = ptx_loc(parser->module, parser->loc);
  bool repeated = read_alike(loc, before); /* else it would still hold */
  Copied copied = look_back(parser, loc, before);
  if (!is_inlined(before))
    return copied.called;
  if (!repeated && copied.together != PTX_NO_INDEX)
    return copied.together;
  if (!repeated && before->original == parser->loc)
    return PTX_NO_INDEX;
  return copied.behind != PTX_NO_INDEX ? copied.behind : copied.again;
}

/* The loc of the place where this one was inlined. */
static uint32_t find_parent(const PtxParser *parser, const PtxLoc *loc) {
  uint32_t last;
  bool other;
  uint32_t nearest = nearest_call(parser, loc, &last, &other);
  return other ? ptx_loc(parser->module, last)->parent : nearest;
}

static void place(PtxParser *parser, PtxLoc *loc) {
  PtxModule *module = parser->module;
  loc->block = module->labels->len;
  loc->older = loc->parent = PTX_NO_INDEX;
  loc->original = is_inlined(loc) ? find_original(parser, loc) : PTX_NO_INDEX;
  if (loc->original != PTX_NO_INDEX) {
    loc->parent = ptx_loc(module, loc->original)->parent;
    return;
  }
  loc->original = module->locs->len;
  if (is_inlined(loc))
    loc->parent = find_parent(parser, loc);
  gpointer key = place_key(loc->file, loc->line, loc->column);
  loc->older = newest_at(parser->loc_originals, loc->file, loc->line, loc->column);
  g_hash_table_insert(parser->loc_originals, key, GUINT_TO_POINTER(loc->original + 1));
}

/* The original before that is of the line before, too, or PTX_NO_INDEX. */
static uint32_t older_alike(const PtxModule *module, const PtxLoc *last, uint32_t index) {
  for (unsigned i = 0; i < ORIGINALS_MAX && index != PTX_NO_INDEX; i++) {
    if (read_alike(ptx_loc(module, index), last))
      return index;
    index = ptx_loc(module, index)->older;
  }
  return PTX_NO_INDEX;
}

/* The newest original of the line before behind which one such as `next` comes first, or PTX_NO_INDEX. That it is the
 * line before itself, or that this has the calls that it names, ends the search: there is nothing to mend. */
static uint32_t find_followed(const PtxParser *parser, const PtxLoc *last, const PtxLoc *next) {
  const PtxModule *module = parser->module;
  bool first = last->original == parser->loc;
  uint32_t found = PTX_NO_INDEX,
           index = first ? last->older : newest_at(parser->loc_originals, last->file, last->line, last->column);
  index = older_alike(module, last, index);
  if (first && (index == PTX_NO_INDEX || last->parent == PTX_NO_INDEX || last->parent > index))
    return PTX_NO_INDEX;
  for (; index != PTX_NO_INDEX; index = older_alike(module, last, ptx_loc(module, index)->older)) {
    const PtxLoc *behind = index + 1 < module->locs->len ? ptx_loc(module, index + 1) : NULL;
    if (!behind || behind->original != index + 1 || !read_alike(behind, next))
      continue;
    if (first ? ptx_loc(module, index)->parent == last->parent : index == last->original)
      return PTX_NO_INDEX;
    found = found == PTX_NO_INDEX ? index : found;
  }
  return found;
}

/* The line before may be a copy that stands by itself: what comes behind it tells better than what came before which
 * call it belongs to. */
static void mend_last(PtxParser *parser, const PtxLoc *next) {
  PtxModule *module = parser->module;
  PtxLoc *last = parser->loc == PTX_NO_INDEX ? NULL : &g_array_index(module->locs, PtxLoc, parser->loc);
  if (!last || !is_inlined(last) || next->inlined_line == last->line)
    return;
  uint32_t followed = find_followed(parser, last, next);
  if (followed == PTX_NO_INDEX)
    return;
  if (last->original == parser->loc) /* it is none any more */
    g_hash_table_insert(parser->loc_originals, place_key(last->file, last->line, last->column),
                        GUINT_TO_POINTER(last->older + 1));
  last->original = followed;
  last->parent = ptx_loc(module, followed)->parent;
}

bool ptx_loc_read(PtxParser *parser) {
  PtxModule *module = parser->module;
  PtxLoc loc = {.at = parser->token.at, .inst = module->insts->len};
  if (!read_place(parser, &loc.file, &loc.line, &loc.column) || !read_inlined(parser, &loc) ||
      !ptx_parser_limit(parser, module->locs->len, PTX_RECORDS_MAX, "`.loc` lines"))
    return false;
  mend_last(parser, &loc);
  place(parser, &loc);
  g_array_append_val(module->locs, loc);
  parser->loc = module->locs->len - 1;
  g_hash_table_insert(parser->loc_places, place_key(loc.file, loc.line, loc.column),
                      GUINT_TO_POINTER(parser->loc + 1));
  return true;
}
