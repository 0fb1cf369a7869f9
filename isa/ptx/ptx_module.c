/* The outer level of a PTX text: directives, variables, functions and their heads. */
#include <string.h>

#include "isa/ptx/ptx_calls.h"
#include "isa/ptx/ptx_parser.h"

enum { SHOWN_MAX = 60, VERSION_MAX = 999, SM_MAX = 999, THREADS_MAX = 1 << 20 };

/* -- .version, .target, .address_size -- */

static bool read_version(PtxParser *parser) {
  Token token = parser->token;
  g_autofree char *text = g_strndup(token.text, MIN(token.length, (uint32_t)SHOWN_MAX));
  char *dot = strchr(text, '.');
  if (token.kind != TOK_REAL || !dot || strspn(text, G_CSET_DIGITS ".") != strlen(text))
    return ptx_parser_unexpected(parser, "a version such as 9.0");
  uint64_t major = g_ascii_strtoull(text, NULL, 10), minor = g_ascii_strtoull(dot + 1, NULL, 10);
  if (major > VERSION_MAX || minor > VERSION_MAX)
    return ptx_parser_unexpected(parser, "a version such as 9.0");
  parser->module->version_major = (uint32_t)major;
  parser->module->version_minor = (uint32_t)minor;
  parser->has_version = true;
  ptx_parser_advance(parser);
  return true;
}

static bool read_target_name(PtxParser *parser) {
  const Token *token = &parser->token;
  g_autofree char *name = g_strndup(token->text, MIN(token->length, (uint32_t)SHOWN_MAX));
  if (!g_str_has_prefix(name, "sm_")) {
    static const char *const options[] = {"debug", "texmode_unified", "texmode_independent", "map_f64_to_f32", NULL};
    return g_strv_contains(options, name) || ptx_parser_error_at(parser, token->at, "unknown target `%s`", name);
  }
  char *end;
  uint64_t number = g_ascii_strtoull(name + 3, &end, 10);
  if (!g_ascii_isdigit(name[3]) || number > SM_MAX ||
      !(*end == '\0' || strcmp(end, "a") == 0 || strcmp(end, "f") == 0))
    return ptx_parser_error_at(parser, token->at, "unknown target `%s`: expected one such as sm_75 or sm_90a", name);
  parser->module->target_sm = (uint32_t)number;
  return true;
}

static bool read_target(PtxParser *parser) {
  GString *all = g_string_new(NULL);
  bool good;
  do {
    good = parser->token.kind == TOK_WORD ? read_target_name(parser)
                                          : ptx_parser_unexpected(parser, "a target such as sm_75");
    if (good) {
      g_string_append_printf(all, "%s%.*s", all->len ? ", " : "", (int)parser->token.length, parser->token.text);
      ptx_parser_advance(parser);
    }
  } while (good && ptx_parser_accept(parser, ','));
  g_free(parser->module->target);
  parser->module->target = g_string_free(all, FALSE);
  parser->has_target = true;
  return good;
}

static bool read_address_size(PtxParser *parser) {
  uint32_t at = parser->token.at;
  if (!ptx_parser_number(parser, UINT32_MAX, "32 or 64", &parser->module->address_size))
    return false;
  uint32_t size = parser->module->address_size;
  return size == 32 || size == 64 || ptx_parser_error_at(parser, at, "an address has 32 or 64 bits");
}

/* -- functions -- */

bool ptx_module_read_params(PtxParser *parser, uint32_t *count) {
  *count = 0;
  if (!ptx_parser_expect(parser, '('))
    return false;
  if (ptx_parser_accept(parser, ')'))
    return true;
  do {
    if (!ptx_parser_limit(parser, (*count)++, PTX_LIST_MAX, "parameters") || !ptx_var_read_param(parser))
      return false;
  } while (ptx_parser_accept(parser, ','));
  return ptx_parser_expect(parser, ')');
}

/* `256, 1, 1`: threads of a block, or blocks of a cluster. */
static bool read_sizes(PtxParser *parser, const char *least, uint32_t threads[3]) {
  unsigned count = 0;
  threads[0] = threads[1] = threads[2] = 1;
  do {
    if (count == 3)
      return ptx_parser_unexpected(parser, "at most three numbers");
    if (!ptx_parser_number(parser, THREADS_MAX, "a number of threads", &threads[count]))
      return false;
    if (threads[count++] == 0)
      return ptx_parser_error_at(parser, parser->token.at, "%s in each direction", least);
  } while (ptx_parser_accept(parser, ','));
  return true;
}

static bool read_threads(PtxParser *parser, uint32_t threads[3]) {
  return read_sizes(parser, "a block has at least one thread", threads);
}

/* One directive between the parameters and the body. */
static bool read_tuning(PtxParser *parser, PtxFunction *function) {
  Token token = parser->token;
  uint32_t ignored;
  ptx_parser_advance(parser);
  if (token_equals(&token, ".maxntid"))
    return read_threads(parser, function->maxntid);
  if (token_equals(&token, ".reqntid"))
    return read_threads(parser, function->reqntid);
  if (token_equals(&token, ".reqnctapercluster"))
    return read_sizes(parser, "a cluster has at least one block", function->cluster);
  if (token_equals(&token, ".explicitcluster")) {
    function->explicit_cluster = true;
    return true;
  }
  if (token_equals(&token, ".maxclusterrank"))
    return ptx_parser_number(parser, THREADS_MAX, "a number of blocks", &ignored);
  if (token_equals(&token, ".minnctapersm"))
    return ptx_parser_number(parser, THREADS_MAX, "a number of blocks", &function->minnctapersm);
  if (token_equals(&token, ".maxnctapersm"))
    return ptx_parser_number(parser, THREADS_MAX, "a number of blocks", &ignored);
  if (token_equals(&token, ".maxnreg"))
    return ptx_parser_number(parser, THREADS_MAX, "a number of registers", &function->maxnreg);
  if (token_equals(&token, ".pragma"))
    return ptx_body_read_pragma(parser, &function->rolled);
  if (token_equals(&token, ".noreturn")) {
    function->noreturn = true;
    return true;
  }
  return ptx_parser_error_at(parser, token.at, "`%.*s` isn't supported here",
                             (int)MIN(token.length, (uint32_t)SHOWN_MAX), token.text);
}

/* From the results, if there are some, to behind the parameters. */
static bool read_signature(PtxParser *parser, PtxFunction *function) {
  if (!function->entry && token_is(&parser->token, '(') && !ptx_module_read_params(parser, &function->nrets))
    return false;
  function->at = parser->token.at;
  if (!(function->name = ptx_parser_name(parser, "the name of a function")))
    return false;
  ptx_parser_advance(parser);
  return !token_is(&parser->token, '(') || ptx_module_read_params(parser, &function->nparams);
}

/* To before the body or `;`. */
static bool read_head(PtxParser *parser, PtxFunction *function) {
  function->params_lost = !read_signature(parser, function);
  if (function->params_lost) {
    function->nrets = function->nparams = 0;
    return false;
  }
  while (parser->token.kind == TOK_DIRECTIVE)
    if (!read_tuning(parser, function))
      return false;
  return token_is(&parser->token, '{') || token_is(&parser->token, ';') ||
         ptx_parser_unexpected(parser, "`{` or `;`");
}

/* True at what clearly starts something new on the outer level. */
static bool starts_item(const Token *token) {
  static const char *const words[] = {".visible", ".extern",  ".weak", ".common", ".entry",
                                      ".func",    ".section", ".file", NULL};
  for (unsigned i = 0; words[i]; i++)
    if (token_equals(token, words[i]))
      return true;
  return false;
}

/* The name of the function that starts here, behind its results; 0 if there is none, which read_head() reports. */
static uint32_t peek_name(PtxParser *parser) {
  Scanner ahead = parser->scanner;
  Token token = parser->token;
  if (token_is(&token, '(')) {
    while (token.kind != TOK_END && !token_is(&token, ')') && !starts_item(&token))
      token = scanner_next(&ahead);
    token = scanner_next(&ahead);
  }
  return token.kind == TOK_WORD ? ptx_names_add(parser->module->names, token.text, token.length) : 0;
}

/* Makes the name mean this function, unless it is taken; returns the index of what has it. */
static uint32_t claim_name(PtxParser *parser, uint32_t name, uint32_t index) {
  uint32_t slot = name ? ptx_parser_info(parser, name)->plain : 0;
  if (name && !slot)
    ptx_parser_declare(parser, name, 0, SYMBOL_FUNCTION, index, false);
  return slot ? slot - 1 : PTX_NO_INDEX;
}

/* Whether this function goes with what had its name before, `taken`. From here on the name means the one with a
 * body. */
static bool check_earlier(PtxParser *parser, uint32_t taken, uint32_t index) {
  PtxModule *module = parser->module;
  const PtxFunction *function = ptx_function(module, index);
  const char *text = ptx_module_name(module, function->name);
  if (taken == PTX_NO_INDEX)
    return true;
  PtxSymbol *symbol = &g_array_index(parser->symbols, PtxSymbol, taken);
  const PtxFunction *earlier = symbol->kind == SYMBOL_FUNCTION ? ptx_function(module, symbol->index) : NULL;
  if (!earlier || (earlier->has_body && function->has_body))
    return ptx_parser_error_at(parser, function->at, "there is already a `%.*s`", SHOWN_MAX, text);
  if (function->broken || earlier->broken)
    return true;
  if (earlier->nparams != function->nparams || earlier->nrets != function->nrets || earlier->entry != function->entry)
    return ptx_parser_error_at(parser, function->at, "`%.*s` was declared with other parameters", SHOWN_MAX, text);
  if (function->has_body)
    symbol->index = index;
  return true;
}

static void start_function(PtxParser *parser, PtxFunction *function) {
  const PtxModule *module = parser->module;
  function->at = parser->token.at;
  function->definition = PTX_NO_INDEX;
  function->first_var = module->vars->len;
  function->first_inst = module->insts->len;
  function->first_label = module->labels->len;
  function->first_scope = module->scopes->len;
  function->first_loc = module->locs->len;
  function->first_skipped = module->skipped->len;
  function->first_table = module->tables->len;
  parser->function = module->functions->len;
  parser->next_register = 0;
  parser->loc = PTX_NO_INDEX;
  parser->rolled = false;
}

static void end_function(PtxParser *parser, PtxFunction *function) {
  PtxModule *module = parser->module;
  ptx_calls_find(module, function->first_loc);
  function->nvars = module->vars->len - function->first_var;
  function->ninsts = module->insts->len - function->first_inst;
  function->nlabels = module->labels->len - function->first_label;
  function->nscopes = module->scopes->len - function->first_scope;
  function->nlocs = module->locs->len - function->first_loc;
  function->nskipped = module->skipped->len - function->first_skipped;
  function->ntables = module->tables->len - function->first_table;
  function->nregs = parser->next_register;
}

/* -- what is wrong with one function only -- */

/* What stands in the module before a function. */
typedef struct Before {
  guint operands, inits, files;
} Before;

/* Leaves of a function what its head has. */
static void drop_body(PtxModule *module, const PtxFunction *function, uint32_t index, const Before *before) {
  g_array_set_size(module->vars, function->first_var + function->nrets + function->nparams);
  g_array_set_size(module->functions, index + 1); /* prototypes */
  g_array_set_size(module->insts, function->first_inst);
  g_array_set_size(module->labels, function->first_label);
  g_array_set_size(module->scopes, function->first_scope);
  g_array_set_size(module->locs, function->first_loc);
  g_array_set_size(module->tables, function->first_table);
  g_array_set_size(module->skipped, function->first_skipped);
  g_array_set_size(module->operands, before->operands);
  g_array_set_size(module->inits, before->inits);
  g_array_set_size(module->files, before->files);
}

/* Errors of a function are its own if the text behind it can be read all the same; otherwise they are the file's. */
static void settle_errors(PtxParser *parser, uint32_t index, Diag *errors, bool whole, const Before *before) {
  PtxModule *module = parser->module;
  PtxFunction *function = ptx_function(module, index);
  if (!whole || parser->stopped || !function->name) {
    diag_add_all(parser->diag, errors);
    diag_free(errors);
    return;
  }
  const char *text = parser->scanner.text + parser->item_at;
  PtxBroken broken = {.text = g_strchomp(g_strndup(text, parser->token.at - parser->item_at)), .errors = errors};
  drop_body(module, function, index, before);
  g_array_append_val(module->broken, broken);
  function = ptx_function(module, index);
  function->broken = module->broken->len;
  function->has_body = true;
}

/* After an error: to behind a `;` or a whole `{ ... }`, or to before what clearly starts something new, which gives
 * false. */
static bool recover(PtxParser *parser) {
  unsigned braces = 0;
  while (parser->token.kind != TOK_END) {
    Token token = parser->token;
    if (braces == 0 && starts_item(&token))
      return false;
    braces += token_is(&token, '{');
    bool closes = token_is(&token, '}') && braces > 0;
    braces -= closes;
    ptx_parser_advance(parser);
    if (braces == 0 && (closes || token_is(&token, ';')))
      return true;
  }
  return false;
}

/* The head and the body; true if both have an end. */
static bool read_parts(PtxParser *parser, PtxFunction *function, uint32_t index) {
  PtxModule *module = parser->module;
  bool good = read_head(parser, function);
  function->has_body = good && token_is(&parser->token, '{');
  *ptx_function(module, index) = *function;
  if (!good) {
    while (parser->depth > 0)
      ptx_parser_close_block(parser);
    return recover(parser);
  }
  if (!function->has_body)
    return ptx_parser_expect(parser, ';');
  ptx_parser_advance(parser);
  ptx_body_read(parser);
  return parser->depth == 0;
}

static bool read_function(PtxParser *parser, PtxLinkage linkage, bool entry) {
  PtxModule *module = parser->module;
  PtxFunction function = {.linkage = (uint8_t)linkage, .entry = entry};
  Before before = {module->operands->len, module->inits->len, module->files->len};
  uint32_t index = module->functions->len;
  Diag *outside = parser->diag;
  if (!ptx_parser_limit(parser, index, PTX_FUNCTIONS_MAX, "functions"))
    return false;
  start_function(parser, &function);
  g_array_append_val(module->functions, function);
  uint32_t taken = claim_name(parser, peek_name(parser), index);
  ptx_parser_open_block(parser, PTX_NO_INDEX);
  parser->diag = diag_new();
  bool whole = read_parts(parser, &function, index);
  while (parser->depth > 0)
    ptx_parser_close_block(parser);
  ptx_parser_report_labels(parser);
  Diag *errors = parser->diag;
  parser->diag = outside;
  if (diag_has_errors(errors))
    settle_errors(parser, index, errors, whole, &before);
  else
    diag_free(errors);
  end_function(parser, ptx_function(module, index));
  check_earlier(parser, taken, index);
  parser->function = PTX_NO_INDEX;
  return true;
}

/* Calls were resolved to a declaration: tell where its definition is. */
static void link_declarations(PtxModule *module) {
  g_autoptr(GHashTable) bodies = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < module->functions->len; i++)
    if (ptx_function(module, i)->has_body)
      g_hash_table_insert(bodies, GUINT_TO_POINTER(ptx_function(module, i)->name), GUINT_TO_POINTER(i + 1));
  for (guint i = 0; i < module->functions->len; i++) {
    PtxFunction *function = ptx_function(module, i);
    guint body = GPOINTER_TO_UINT(g_hash_table_lookup(bodies, GUINT_TO_POINTER(function->name)));
    function->definition = function->name && body ? body - 1 : PTX_NO_INDEX;
  }
}

/* -- the outer level -- */

static PtxLinkage read_linkage(PtxParser *parser) {
  static const char *const words[] = {".visible", ".extern", ".weak", ".common"};
  PtxLinkage linkage = PTX_LINK_NONE;
  for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
    if (token_equals(&parser->token, words[i])) {
      linkage = (PtxLinkage)(PTX_LINK_VISIBLE + i);
      ptx_parser_advance(parser);
      break;
    }
  return linkage;
}

static bool unknown_directive(PtxParser *parser) {
  static const char *const known[] = {".version", ".target",  ".address_size", ".visible", ".extern", ".weak",
                                      ".common",  ".entry",   ".func",         ".global",  ".const",  ".shared",
                                      ".file",    ".section", ".pragma",       NULL};
  if (parser->token.kind != TOK_DIRECTIVE)
    return ptx_parser_unexpected(parser, "a directive such as `.visible .entry`");
  g_autofree char *name = g_strndup(parser->token.text, MIN(parser->token.length, (uint32_t)SHOWN_MAX));
  bool unsupported = token_equals(&parser->token, ".alias") || token_equals(&parser->token, ".tex");
  if (unsupported || !diag_nearest(name, known))
    parser->diag = parser->outer;
  ptx_parser_error_at(parser, parser->token.at, unsupported ? "`%s` isn't supported" : "unknown directive `%s`",
                      name);
  diag_hint_nearest(parser->diag, name, unsupported ? (const char *const[]){NULL} : known);
  return false;
}

static bool need_target(PtxParser *parser) {
  if (parser->has_version && parser->has_target)
    return true;
  ptx_parser_unexpected(parser, parser->has_version ? "`.target`, which stands behind `.version`"
                                                    : "`.version`, with which a PTX program starts");
  parser->stopped = true;
  return false;
}

static bool read_pragma(PtxParser *parser) { return ptx_body_read_pragma(parser, &parser->module->rolled); }

static bool read_item(PtxParser *parser) {
  Token token = parser->token;
  static const struct {
    const char *word;
    bool (*read)(PtxParser *parser);
  } simple[] = {{".version", read_version},           {".target", read_target},
                {".address_size", read_address_size}, {".file", ptx_body_read_file},
                {".section", ptx_body_skip_section},  {".pragma", read_pragma}};
  for (unsigned i = 0; i < G_N_ELEMENTS(simple); i++)
    if (token_equals(&token, simple[i].word)) {
      ptx_parser_advance(parser);
      return simple[i].read(parser);
    }
  if (ptx_parser_accept(parser, ';'))
    return true;
  if (!need_target(parser))
    return false;
  PtxLinkage linkage = read_linkage(parser);
  bool entry = token_equals(&parser->token, ".entry");
  if (entry || token_equals(&parser->token, ".func")) {
    ptx_parser_advance(parser);
    return read_function(parser, linkage, entry);
  }
  if (ptx_var_space(&parser->token))
    return ptx_var_read(parser, linkage);
  return unknown_directive(parser);
}

void ptx_module_read(PtxParser *parser) {
  while (parser->token.kind != TOK_END) {
    uint32_t at = parser->item_at = parser->token.at;
    if (!read_item(parser))
      recover(parser);
    parser->diag = parser->file;
    if (parser->token.at == at && parser->token.kind != TOK_END)
      ptx_parser_advance(parser); /* never twice at one place */
  }
  if (!parser->stopped)
    need_target(parser);
  link_declarations(parser->module);
}
