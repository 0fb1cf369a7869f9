/* The body of a function: blocks, labels, tables, .loc; and the debug information around functions. */
#include <string.h>

#include "isa/ptx/ptx_parser.h"

enum { SHOWN_MAX = 60, PATH_MAX_BYTES = 4096 };

/* -- recovery -- */

/* True if nothing stands in front of the current token on its line. */
static bool starts_line(const PtxParser *parser) {
  const char *p = parser->token.text;
  while (p > parser->scanner.text && (p[-1] == ' ' || p[-1] == '\t'))
    p--;
  return p == parser->scanner.text || p[-1] == '\n';
}

/* From the statement's beginning to behind its `;`, to before the next block, or to before the end of its own. */
static void recover(PtxParser *parser, const Scanner *before, const Token *token) {
  unsigned vectors = 0;
  if (!parser->stopped) {
    parser->scanner = *before;
    parser->token = *token;
  }
  while (parser->token.kind != TOK_END && !ptx_parser_accept(parser, ';')) {
    bool opens = token_is(&parser->token, '{'), closes = token_is(&parser->token, '}');
    if ((opens || closes) && ((closes && vectors == 0) || starts_line(parser)))
      return;
    vectors += opens;
    vectors -= closes;
    ptx_parser_advance(parser);
  }
}

/* -- debug information -- */

static bool is_nounroll(const Token *token) {
  static const char text[] = "\"nounroll\"";
  return token->length == sizeof text - 1 && memcmp(token->text, text, token->length) == 0;
}

bool ptx_body_read_pragma(PtxParser *parser, bool *rolled) {
  do {
    if (parser->token.kind != TOK_STRING)
      return ptx_parser_unexpected(parser, "a string");
    *rolled |= is_nounroll(&parser->token);
    ptx_parser_advance(parser);
  } while (ptx_parser_accept(parser, ','));
  return ptx_parser_expect(parser, ';');
}

bool ptx_body_read_file(PtxParser *parser) {
  PtxFile file = {.at = parser->token.at};
  uint32_t ignored;
  if (!ptx_parser_number(parser, UINT32_MAX, "the number of the file", &file.number))
    return false;
  Token path = parser->token;
  if (path.kind != TOK_STRING)
    return ptx_parser_unexpected(parser, "the path of the file in quotes");
  if (path.length > PATH_MAX_BYTES)
    return ptx_parser_error_at(parser, path.at, "this path is longer than %d bytes", PATH_MAX_BYTES);
  ptx_parser_advance(parser);
  while (ptx_parser_accept(parser, ',')) /* time and size */
    if (!ptx_parser_number(parser, UINT64_MAX, "a number", &ignored))
      return false;
  if (!ptx_parser_limit(parser, parser->module->files->len, PTX_FUNCTIONS_MAX, "files"))
    return false;
  file.path = g_strndup(path.text + 1, path.length - 2);
  g_array_append_val(parser->module->files, file);
  return true;
}

bool ptx_body_skip_section(PtxParser *parser) {
  if (parser->token.kind != TOK_DIRECTIVE && parser->token.kind != TOK_WORD)
    return ptx_parser_unexpected(parser, "the name of a section");
  while (parser->token.kind == TOK_DIRECTIVE || parser->token.kind == TOK_WORD)
    ptx_parser_advance(parser);
  uint32_t at = parser->token.at;
  if (!ptx_parser_expect(parser, '{'))
    return false;
  while (parser->token.kind != TOK_END && !token_is(&parser->token, '}'))
    ptx_parser_advance(parser);
  if (parser->token.kind == TOK_END && !parser->stopped)
    return ptx_parser_error_at(parser, at, "this section has no end");
  ptx_parser_advance(parser);
  return true;
}

/* -- labels and tables -- */

/* `.branchtargets A, B;`, `.calltargets f, g;` */
static bool read_targets(PtxParser *parser, PtxTable *table) {
  PtxModule *module = parser->module;
  table->operands = module->operands->len;
  do {
    if (!ptx_parser_limit(parser, table->noperands++, PTX_LIST_MAX, "targets"))
      return false;
    if (table->kind == PTX_TABLE_BRANCH) {
      if (!ptx_operand_push_label(parser))
        return false;
      continue;
    }
    PtxOperand operand;
    if (!ptx_operand_read(parser, &operand))
      return false;
    if (operand.kind != PTX_OPERAND_FUNCTION)
      return ptx_parser_error_at(parser, operand.at, "this isn't a function");
    if (!ptx_operand_push(parser, &operand))
      return false;
  } while (ptx_parser_accept(parser, ','));
  return true;
}

/* `.callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;`: a function without name and body. */
static bool read_prototype(PtxParser *parser, PtxTable *table) {
  PtxModule *module = parser->module;
  PtxFunction function = {.at = parser->token.at, .prototype = true, .definition = PTX_NO_INDEX};
  uint32_t registers = parser->next_register;
  bool good = true;
  function.first_var = module->vars->len;
  ptx_parser_open_block(parser, ptx_parser_scope(parser));
  if (token_is(&parser->token, '('))
    good = ptx_module_read_params(parser, &function.nrets);
  if (good && !token_equals(&parser->token, "_"))
    good = ptx_parser_unexpected(parser, "`_`");
  ptx_parser_advance(parser);
  if (good && token_is(&parser->token, '('))
    good = ptx_module_read_params(parser, &function.nparams);
  ptx_parser_close_block(parser);
  if (good && token_equals(&parser->token, ".noreturn")) {
    function.noreturn = true;
    ptx_parser_advance(parser);
  }
  function.nvars = module->vars->len - function.first_var;
  parser->next_register = registers;
  if (!good || !ptx_parser_limit(parser, module->functions->len, PTX_FUNCTIONS_MAX, "functions"))
    return false;
  table->prototype = module->functions->len;
  g_array_append_val(module->functions, function);
  return true;
}

static bool read_table(PtxParser *parser, uint32_t name, uint32_t at, PtxTableKind kind) {
  PtxModule *module = parser->module;
  PtxTable table = {.at = at,
                    .name = name,
                    .scope = ptx_parser_scope(parser),
                    .inst = module->insts->len,
                    .kind = (uint8_t)kind,
                    .prototype = PTX_NO_INDEX};
  ptx_parser_advance(parser);
  bool good = kind == PTX_TABLE_PROTOTYPE ? read_prototype(parser, &table) : read_targets(parser, &table);
  if (!good || !ptx_parser_limit(parser, module->tables->len, PTX_RECORDS_MAX, "tables"))
    return false;
  g_array_append_val(module->tables, table);
  return ptx_parser_declare(parser, name, at, SYMBOL_TABLE, module->tables->len - 1, false) &&
         ptx_parser_expect(parser, ';');
}

/* `name:`, and what may stand behind it. */
static bool read_label(PtxParser *parser) {
  static const char *const kinds[] = {".branchtargets", ".calltargets", ".callprototype"};
  uint32_t at = parser->token.at, name = ptx_parser_name(parser, "a label");
  ptx_parser_advance(parser);
  if (!name || !ptx_parser_expect(parser, ':'))
    return false;
  for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (token_equals(&parser->token, kinds[i]))
      return read_table(parser, name, at, (PtxTableKind)i);
  parser->rolled = false;
  return ptx_parser_add_label(parser, name, at);
}

static bool at_label(const PtxParser *parser) {
  Scanner ahead = parser->scanner;
  if (parser->token.kind != TOK_WORD || memchr(parser->token.text, '.', parser->token.length))
    return false;
  Token next = scanner_next(&ahead);
  return token_is(&next, ':');
}

/* -- statements -- */

static bool open_block(PtxParser *parser) {
  PtxModule *module = parser->module;
  PtxScope scope = {.at = parser->token.at, .parent = ptx_parser_scope(parser), .first_inst = module->insts->len};
  if (!ptx_parser_limit(parser, parser->depth, PTX_DEPTH_MAX, "blocks inside each other") ||
      !ptx_parser_limit(parser, module->scopes->len, PTX_RECORDS_MAX, "blocks"))
    return false;
  g_array_append_val(module->scopes, scope);
  ptx_parser_open_block(parser, module->scopes->len - 1);
  ptx_parser_advance(parser);
  return true;
}

static void close_block(PtxParser *parser) {
  uint32_t index = ptx_parser_scope(parser);
  if (index != PTX_NO_INDEX) {
    ptx_scope(parser->module, index)->end_at = parser->token.at;
    ptx_scope(parser->module, index)->end_inst = parser->module->insts->len;
  }
  ptx_parser_close_block(parser);
  ptx_parser_advance(parser);
}

static bool read_directive(PtxParser *parser) {
  static const char *const known[] = {".reg", ".param", ".local", ".shared", ".global", ".loc", ".pragma", NULL};
  Token token = parser->token;
  if (ptx_var_space(&token))
    return ptx_var_read(parser, PTX_LINK_NONE);
  ptx_parser_advance(parser);
  if (token_equals(&token, ".loc"))
    return ptx_loc_read(parser);
  if (token_equals(&token, ".file"))
    return ptx_body_read_file(parser);
  if (token_equals(&token, ".pragma"))
    return ptx_body_read_pragma(parser, &parser->rolled);
  g_autofree char *name = g_strndup(token.text, MIN(token.length, (uint32_t)SHOWN_MAX));
  ptx_parser_error_at(parser, token.at, "unknown directive `%s`", name);
  diag_hint_nearest(parser->diag, name, known);
  return false;
}

static bool read_statement(PtxParser *parser) {
  if (token_is(&parser->token, '{'))
    return open_block(parser);
  if (ptx_parser_accept(parser, ';'))
    return true;
  if (parser->token.kind == TOK_DIRECTIVE)
    return read_directive(parser);
  if (at_label(parser))
    return read_label(parser);
  return ptx_inst_read(parser) && ptx_parser_expect(parser, ';');
}

void ptx_body_read(PtxParser *parser) {
  while (parser->depth > 0) {
    const Token token = parser->token;
    const Scanner before = parser->scanner;
    if (token.kind == TOK_END) {
      const PtxFunction *function = ptx_function(parser->module, parser->function);
      if (!parser->stopped)
        ptx_parser_error_at(parser, function->at, "the body of `%.*s` has no end", SHOWN_MAX,
                            ptx_module_name(parser->module, function->name));
      return;
    }
    if (token_is(&parser->token, '}'))
      close_block(parser);
    else if (!read_statement(parser))
      recover(parser, &before, &token);
    if (parser->token.at == token.at && parser->token.kind != TOK_END)
      ptx_parser_advance(parser); /* never twice at one place */
  }
}
