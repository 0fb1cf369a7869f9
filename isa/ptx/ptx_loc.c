/* `.loc`: where instructions stand in the source, and where what they are part of was inlined, as it is written. */
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

bool ptx_loc_read(PtxParser *parser) {
  PtxModule *module = parser->module;
  PtxLoc loc = {
      .at = parser->token.at, .inst = module->insts->len, .parent = PTX_NO_INDEX, .block = module->labels->len};
  if (!read_place(parser, &loc.file, &loc.line, &loc.column) || !read_inlined(parser, &loc) ||
      !ptx_parser_limit(parser, module->locs->len, PTX_RECORDS_MAX, "`.loc` lines"))
    return false;
  g_array_append_val(module->locs, loc);
  parser->loc = module->locs->len - 1;
  return true;
}
