#include "isa/ptx/ptx_parse.h"

#include <stdarg.h>
#include <string.h>

#include "isa/ptx/ptx_parser.h"

enum { SHOWN_MAX = 60 };

/* -- tokens and messages -- */

static const TokenRules token_rules = {.comments = true,
                                       .marked_words = true,
                                       .dotted_words = true,
                                       .directives = true,
                                       .scoped_words = true,
                                       .strings = true,
                                       .coded_numbers = true,
                                       .word_max = PTX_WORD_MAX,
                                       .no_word = "this name is longer than 1023 bytes",
                                       .no_number = "this isn't a number of at most 64 bits"};

void ptx_parser_advance(PtxParser *parser) {
  if (parser->stopped || parser->errors >= PTX_ERRORS_MAX) {
    scanner_stop(&parser->scanner);
    parser->stopped = true;
  }
  parser->token = scanner_next(&parser->scanner);
}

bool ptx_parser_error_at(PtxParser *parser, uint32_t at, const char *format, ...) {
  unsigned line, column;
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  ptx_module_place(parser->module, at, &line, &column);
  parser->errors++;
  return diag_error(parser->diag, parser->module->file, line, column, "%s", message);
}

bool ptx_parser_unexpected(PtxParser *parser, const char *expected) {
  const Token *token = &parser->token;
  if (parser->stopped)
    return false;
  g_autofree char *found = token_show(token);
  if (token->kind == TOK_ERROR)
    return ptx_parser_error_at(parser, token->at, "%s: %s", token->problem, found);
  return ptx_parser_error_at(parser, token->at, "expected %s, found %s", expected, found);
}

bool ptx_parser_accept(PtxParser *parser, char punct) {
  if (!token_is(&parser->token, punct))
    return false;
  ptx_parser_advance(parser);
  return true;
}

bool ptx_parser_expect(PtxParser *parser, char punct) {
  char expected[] = {'`', punct, '`', '\0'};
  return ptx_parser_accept(parser, punct) || ptx_parser_unexpected(parser, expected);
}

bool ptx_parser_limit(PtxParser *parser, guint count, guint limit, const char *what) {
  if (parser->stopped)
    return false;
  if (count < limit)
    return true;
  ptx_parser_error_at(parser, parser->token.at, "more than %u %s", limit, what);
  parser->stopped = true;
  return false;
}

bool ptx_parser_number(PtxParser *parser, uint64_t limit, const char *what, uint32_t *value) {
  Token token = parser->token;
  if (token.kind != TOK_INTEGER)
    return ptx_parser_unexpected(parser, what);
  if (token.value > limit)
    return ptx_parser_error_at(parser, token.at, "%.*s is too large: at most %" G_GUINT64_FORMAT,
                               (int)MIN(token.length, (uint32_t)SHOWN_MAX), token.text, limit);
  *value = (uint32_t)token.value;
  ptx_parser_advance(parser);
  return true;
}

PtxNameInfo *ptx_parser_info(PtxParser *parser, uint32_t name) {
  if (name >= parser->infos->len)
    g_array_set_size(parser->infos, name + 1);
  return &g_array_index(parser->infos, PtxNameInfo, name);
}

uint32_t ptx_parser_name(PtxParser *parser, const char *what) {
  const Token *token = &parser->token;
  if (token->kind != TOK_WORD || memchr(token->text, '.', token->length)) {
    ptx_parser_unexpected(parser, what);
    return 0;
  }
  uint32_t name = ptx_names_add(parser->module->names, token->text, token->length);
  if (!name)
    ptx_parser_limit(parser, PTX_NAMES_MAX, PTX_NAMES_MAX, "different names");
  return name;
}

void ptx_parser_hint_symbol(PtxParser *parser, const char *name) {
  if (parser->errors > PTX_HINTS_MAX)
    return;
  gsize base = strlen(name);
  while (base > 1 && g_ascii_isdigit(name[base - 1]))
    base--;
  guint count = MIN(parser->symbols->len, (guint)PTX_CANDIDATES_MAX);
  g_auto(GStrv) names = g_new0(char *, count + 1);
  for (guint i = 0; i < count; i++) { /* the innermost come first */
    const PtxSymbol *symbol = &g_array_index(parser->symbols, PtxSymbol, parser->symbols->len - 1 - i);
    const char *text = ptx_module_name(parser->module, symbol->name);
    uint32_t last = symbol->range ? ptx_var(parser->module, symbol->index)->count - 1 : 0;
    if (symbol->range && strlen(text) == base && memcmp(text, name, base) == 0) {
      diag_hint(parser->diag, "the registers are `%s0` to `%s%u`", text, text, last);
      return;
    }
    uint64_t number = g_ascii_strtoull(name + base, NULL, 10);
    names[i] = symbol->range ? g_strdup_printf("%s%u", text, (unsigned)MIN(number, last)) : g_strdup(text);
  }
  diag_hint_nearest(parser->diag, name, (const char *const *)names);
}

/* -- names in scope -- */

static uint32_t *slot_of(PtxParser *parser, uint32_t name, bool range) {
  PtxNameInfo *info = ptx_parser_info(parser, name);
  return range ? &info->range : &info->plain;
}

bool ptx_parser_declare(PtxParser *parser, uint32_t name, uint32_t at, PtxSymbolKind kind, uint32_t index,
                        bool range) {
  uint32_t *slot = slot_of(parser, name, range);
  PtxSymbol symbol = {name, index, parser->depth, *slot, (uint8_t)kind, range};
  if (*slot && g_array_index(parser->symbols, PtxSymbol, *slot - 1).depth == parser->depth)
    return ptx_parser_error_at(parser, at, "there is already a `%.*s` in this block", SHOWN_MAX,
                               ptx_module_name(parser->module, name));
  g_array_append_val(parser->symbols, symbol);
  *slot = parser->symbols->len;
  return true;
}

static const PtxSymbol *symbol_in(PtxParser *parser, uint32_t slot) {
  return slot ? &g_array_index(parser->symbols, PtxSymbol, slot - 1) : NULL;
}

static const PtxSymbol *lookup_range(PtxParser *parser, const char *text, gsize base, gsize length,
                                     uint32_t *element) {
  uint32_t name = ptx_names_find(parser->module->names, text, base);
  const PtxSymbol *symbol = name ? symbol_in(parser, ptx_parser_info(parser, name)->range) : NULL;
  uint64_t number = 0;
  for (gsize i = base; symbol && i < length; i++)
    number = number * 10 + (uint64_t)(text[i] - '0');
  while (symbol && number >= ptx_var(parser->module, symbol->index)->count)
    symbol = symbol_in(parser, symbol->hidden); /* a longer range outside */
  *element = (uint32_t)number;
  return symbol;
}

const PtxSymbol *ptx_parser_lookup(PtxParser *parser, const char *text, gsize length, uint32_t *element) {
  enum { DIGITS_MAX = 8 };
  uint32_t name = ptx_names_find(parser->module->names, text, length);
  const PtxSymbol *best = name ? symbol_in(parser, ptx_parser_info(parser, name)->plain) : NULL;
  *element = 0;
  for (gsize base = length; base > 1 && length - base < DIGITS_MAX && g_ascii_isdigit(text[base - 1]); base--) {
    uint32_t number;
    if (text[base - 1] == '0' && base != length)
      continue; /* %r07 isn't %r7 */
    const PtxSymbol *symbol = lookup_range(parser, text, base - 1, length, &number);
    if (symbol && (!best || symbol->depth > best->depth)) {
      best = symbol;
      *element = number;
    }
  }
  return best;
}

void ptx_parser_open_block(PtxParser *parser, uint32_t scope) {
  parser->blocks[++parser->depth] =
      (PtxBlock){scope, parser->symbols->len, parser->fixups->len, parser->block_labels->len};
}

uint32_t ptx_parser_scope(const PtxParser *parser) {
  return parser->depth ? parser->blocks[parser->depth].scope : PTX_NO_INDEX;
}

static gpointer label_key(uint32_t name, uint32_t scope) {
  return (gpointer)((uintptr_t)name << 32 | (uint32_t)(scope + 1)); /* both below 2^20 */
}

bool ptx_parser_add_label(PtxParser *parser, uint32_t name, uint32_t at) {
  PtxModule *module = parser->module;
  PtxLabel label = {at, name, ptx_parser_scope(parser), module->insts->len};
  uint32_t index = module->labels->len;
  if (!g_hash_table_add(parser->label_places, label_key(name, label.scope)))
    return ptx_parser_error_at(parser, at, "there is already a label `%.*s` in this block", SHOWN_MAX,
                               ptx_module_name(module, name));
  if (!ptx_parser_limit(parser, index, PTX_RECORDS_MAX, "labels"))
    return false;
  g_array_append_val(module->labels, label);
  g_array_append_val(parser->block_labels, index);
  return true;
}

bool ptx_parser_use_label(PtxParser *parser, uint32_t name, uint32_t operand) {
  PtxNameInfo *info = ptx_parser_info(parser, name);
  PtxFixup fixup = {operand, name, info->pending};
  g_array_append_val(parser->fixups, fixup);
  info->pending = parser->fixups->len;
  return true;
}

/* A use belongs to the innermost block around it that has the label: when a block ends, each of its labels takes the
 * uses since the block began that no inner block took. Every use is looked at once. */
static void resolve_block(PtxParser *parser, const PtxBlock *block) {
  for (guint i = block->first_label_symbol; i < parser->block_labels->len; i++) {
    uint32_t index = g_array_index(parser->block_labels, uint32_t, i);
    PtxNameInfo *info = ptx_parser_info(parser, ptx_label(parser->module, index)->name);
    while (info->pending > block->first_fixup) {
      PtxFixup *fixup = &g_array_index(parser->fixups, PtxFixup, info->pending - 1);
      ptx_operand(parser->module, fixup->operand)->index = index;
      info->pending = fixup->next;
      fixup->name = 0;
    }
  }
  g_array_set_size(parser->block_labels, block->first_label_symbol);
}

void ptx_parser_close_block(PtxParser *parser) {
  const PtxBlock *block = &parser->blocks[parser->depth--];
  resolve_block(parser, block);
  while (parser->symbols->len > block->first_symbol) {
    const PtxSymbol *symbol = &g_array_index(parser->symbols, PtxSymbol, parser->symbols->len - 1);
    *slot_of(parser, symbol->name, symbol->range) = symbol->hidden;
    g_array_set_size(parser->symbols, parser->symbols->len - 1);
  }
}

static void hint_label(PtxParser *parser, const char *name) {
  const PtxFunction *function = ptx_function(parser->module, parser->function);
  if (parser->errors > PTX_HINTS_MAX)
    return;
  guint count = MIN(parser->module->labels->len - function->first_label, (guint)PTX_CANDIDATES_MAX);
  g_autofree const char **names = g_new0(const char *, count + 1);
  for (guint i = 0; i < count; i++)
    names[i] = ptx_module_name(parser->module, ptx_label(parser->module, function->first_label + i)->name);
  diag_hint_nearest(parser->diag, name, names);
}

void ptx_parser_report_labels(PtxParser *parser) {
  for (guint i = 0; i < parser->fixups->len && !parser->stopped; i++) {
    const PtxFixup *fixup = &g_array_index(parser->fixups, PtxFixup, i);
    if (!fixup->name)
      continue;
    const char *name = ptx_module_name(parser->module, fixup->name);
    ptx_parser_info(parser, fixup->name)->pending = 0;
    ptx_parser_error_at(parser, ptx_operand(parser->module, fixup->operand)->at, "there is no label `%.*s` here",
                        SHOWN_MAX, name);
    hint_label(parser, name);
  }
  g_array_set_size(parser->fixups, 0);
  g_hash_table_remove_all(parser->label_places);
}

/* -- the whole text -- */

/* Of keys that use all 64 bits of a pointer: g_direct_hash takes the low 32 only. */
static guint hash_key(gconstpointer key) {
  uint64_t bits = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
  return (guint)(bits >> 32);
}

static void init(PtxParser *parser, PtxModule *module, Diag *diag) {
  *parser = (PtxParser){.module = module,
                        .file = diag,
                        .outer = diag_new(),
                        .diag = diag,
                        .function = PTX_NO_INDEX,
                        .loc = PTX_NO_INDEX};
  parser->infos = g_array_new(FALSE, TRUE, sizeof(PtxNameInfo));
  parser->mnemonics = g_array_new(FALSE, TRUE, sizeof(PtxMnemonic));
  parser->symbols = g_array_new(FALSE, TRUE, sizeof(PtxSymbol));
  parser->fixups = g_array_new(FALSE, TRUE, sizeof(PtxFixup));
  parser->block_labels = g_array_new(FALSE, TRUE, sizeof(uint32_t));
  parser->label_places = g_hash_table_new(hash_key, NULL);
}

static void clear(PtxParser *parser) {
  g_array_free(parser->infos, TRUE);
  g_array_free(parser->mnemonics, TRUE);
  g_array_free(parser->symbols, TRUE);
  g_array_free(parser->fixups, TRUE);
  g_array_free(parser->block_labels, TRUE);
  g_hash_table_destroy(parser->label_places);
  diag_free(parser->outer);
}

static bool has_kernel(const PtxModule *module) {
  for (guint i = 0; i < module->functions->len; i++) {
    const PtxFunction *function = ptx_function(module, i);
    if (function->entry && function->has_body && !function->broken)
      return true;
  }
  return false;
}

/* What is wrong with a function refuses the kernels that reach it. Where no kernel is left all of it is the
 * file's. */
static void settle_errors(const PtxParser *parser, const PtxModule *module, Diag *diag) {
  if (!diag_has_errors(diag) && has_kernel(module)) {
    for (unsigned i = 0; i < diag_count(parser->outer); i++) {
      const DiagItem *item = diag_item(parser->outer, i);
      diag_warning(diag, item->file, item->line, item->column, "%s", item->message);
    }
    return;
  }
  diag_add_all(diag, parser->outer);
  for (guint i = 0; i < module->broken->len; i++)
    diag_add_all(diag, ptx_broken(module, i)->errors);
}

PtxModule *ptx_parse(const char *file, const char *text, gsize length, Diag *diag) {
  unsigned errors_before = diag_error_count(diag);
  PtxParser parser;
  if (length > PTX_BYTES_MAX) {
    diag_error(diag, file, 0, 0, "the file is larger than 16 MiB");
    return NULL;
  }
  PtxModule *module = ptx_module_new(file);
  init(&parser, module, diag);
  scanner_init(&parser.scanner, &token_rules, text, length);
  if (scanner_find_lines(module->line_starts, text, length)) {
    ptx_parser_advance(&parser);
    ptx_module_read(&parser);
  } else {
    diag_error(diag, file, SCANNER_LINES_MAX, 0, "the file has more than %d lines", SCANNER_LINES_MAX);
  }
  settle_errors(&parser, module, diag);
  clear(&parser);
  if (diag_error_count(diag) == errors_before && memchr(text, 0, length)) /* in a kernel that isn't supported */
    diag_error(diag, file, 0, 0, "the file has a byte of value 0: it is no text");
  if (diag_error_count(diag) > errors_before)
    g_clear_pointer(&module, ptx_module_free);
  return module;
}
