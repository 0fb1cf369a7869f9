/* Declarations of variables, parameters and registers, and their initialisers. */
#include <string.h>

#include "isa/ptx/ptx_parser.h"

enum { DIMENSIONS_MAX = 4, ALIGN_MAX = 1 << 16, ELEMENTS_MAX = 1 << 30, SHOWN_MAX = 60 };
static const uint64_t bytes_max = (uint64_t)1 << 32;

/* What stands in front of the name. */
typedef struct Head {
  PtxVar var;
  uint32_t dimensions[DIMENSIONS_MAX];
  unsigned ndimensions;
} Head;

PtxWord ptx_var_space(const Token *token) {
  static const PtxWord spaces[] = {PTX_REG, PTX_PARAM, PTX_LOCAL, PTX_SHARED, PTX_GLOBAL, PTX_CONST};
  if (token->kind != TOK_DIRECTIVE || token->length < 2)
    return PTX_NONE;
  PtxWord word = ptx_word_find(token->text + 1, token->length - 1);
  for (unsigned i = 0; i < G_N_ELEMENTS(spaces); i++)
    if (spaces[i] == word)
      return word;
  return word == PTX_SHARED_CTA ? PTX_SHARED : PTX_NONE;
}

static bool read_align(PtxParser *parser, uint32_t *align) {
  uint32_t at = parser->token.at;
  if (!ptx_parser_number(parser, ALIGN_MAX, "an alignment in bytes", align))
    return false;
  return (*align && !(*align & (*align - 1))) || ptx_parser_error_at(parser, at, "an alignment is a power of two");
}

static bool read_attribute(PtxParser *parser, PtxVar *var) {
  if (!ptx_parser_expect(parser, '('))
    return false;
  if (!token_equals(&parser->token, ".managed"))
    return ptx_parser_unexpected(parser, "`.managed`: no other attribute is supported");
  var->managed = true;
  ptx_parser_advance(parser);
  return ptx_parser_expect(parser, ')');
}

/* `.ptr .global .align 4`, behind a parameter's type. */
static bool read_ptr(PtxParser *parser, PtxVar *var) {
  var->ptr = true;
  var->ptr_space = (uint8_t)ptx_var_space(&parser->token);
  if (var->ptr_space)
    ptx_parser_advance(parser);
  if (!token_equals(&parser->token, ".align"))
    return true;
  ptx_parser_advance(parser);
  return read_align(parser, &var->ptr_align);
}

static bool read_type(PtxParser *parser, PtxVar *var) {
  const Token *token = &parser->token;
  PtxWord word = ptx_word_find(token->text + 1, token->length - 1);
  int shown = (int)MIN(token->length, (uint32_t)SHOWN_MAX);
  if (word == PTX_V2 || word == PTX_V4) {
    var->vec = (uint8_t)word;
  } else if (ptx_type_bytes(word) && !var->type && word < PTX_U16X2) {
    var->type = (uint8_t)word;
  } else {
    if (parser->function == PTX_NO_INDEX)
      parser->diag = parser->outer;
    return ptx_parser_error_at(parser, token->at, "`%.*s` isn't supported in a declaration", shown, token->text);
  }
  ptx_parser_advance(parser);
  return true;
}

/* From the space up to the name. */
static bool read_head(PtxParser *parser, PtxVar *var) {
  var->space = (uint8_t)ptx_var_space(&parser->token);
  if (!var->space)
    return ptx_parser_unexpected(parser, "`.param` or `.reg`");
  ptx_parser_advance(parser);
  while (parser->token.kind == TOK_DIRECTIVE) {
    bool align = token_equals(&parser->token, ".align"), ptr = token_equals(&parser->token, ".ptr");
    bool attribute = token_equals(&parser->token, ".attribute");
    if (align || ptr || attribute)
      ptx_parser_advance(parser);
    if (align       ? !read_align(parser, &var->align)
        : ptr       ? !read_ptr(parser, var)
        : attribute ? !read_attribute(parser, var)
                    : !read_type(parser, var))
      return false;
  }
  if (!var->type)
    return ptx_parser_unexpected(parser, "a type such as `.b32`");
  if (var->type == PTX_PRED && var->space != PTX_REG)
    return ptx_parser_error_at(parser, parser->token.at, "only a register can be a predicate");
  return true;
}

/* -- initialisers -- */

static uint64_t as_type(const PtxVar *var, const Token *token, bool negative) {
  uint64_t bits = token->value;
  double wide;
  float narrow;
  if (token->kind == TOK_REAL) {
    memcpy(&wide, &bits, sizeof wide);
  } else if (token->kind == TOK_F32) {
    memcpy(&narrow, &bits, sizeof narrow);
    wide = narrow;
  } else {
    wide = (double)bits;
  }
  if (var->type != PTX_F32 && var->type != PTX_F64) {
    unsigned bytes = ptx_type_bytes((PtxWord)var->type);
    bits = negative ? 0 - bits : bits;
    return bytes >= 8 ? bits : bits & (((uint64_t)1 << 8 * bytes) - 1);
  }
  bool same = (var->type == PTX_F32 && token->kind == TOK_F32) || (var->type == PTX_F64 && token->kind == TOK_REAL);
  if (!same && var->type == PTX_F32) {
    narrow = (float)wide;
    bits = 0;
    memcpy(&bits, &narrow, sizeof narrow);
  } else if (!same) {
    memcpy(&bits, &wide, sizeof wide);
  }
  return negative ? bits ^ (var->type == PTX_F32 ? (uint64_t)1 << 31 : (uint64_t)1 << 63) : bits;
}

static bool read_offset(PtxParser *parser, int32_t *offset) {
  bool plus = token_is(&parser->token, '+'), negative = token_is(&parser->token, '-');
  uint32_t value;
  if (!plus && !negative)
    return true;
  ptx_parser_advance(parser);
  if (!negative && token_is(&parser->token, '-')) {
    negative = true;
    ptx_parser_advance(parser);
  }
  if (!ptx_parser_number(parser, INT32_MAX, "an offset in bytes", &value))
    return false;
  *offset = negative ? -(int32_t)value : (int32_t)value;
  return true;
}

/* `name`, `name+4`, `generic(name)+4`. */
static bool read_address(PtxParser *parser, PtxInit *init) {
  uint32_t element;
  bool generic = token_equals(&parser->token, "generic");
  if (generic) {
    ptx_parser_advance(parser);
    if (!ptx_parser_expect(parser, '('))
      return false;
  }
  if (parser->token.kind != TOK_WORD)
    return ptx_parser_unexpected(parser, "a number or the name of a variable");
  const PtxSymbol *symbol = ptx_parser_lookup(parser, parser->token.text, parser->token.length, &element);
  bool is_var = symbol && symbol->kind == SYMBOL_VAR && ptx_var(parser->module, symbol->index)->space != PTX_REG;
  if (!is_var && !(symbol && symbol->kind == SYMBOL_FUNCTION)) {
    g_autofree char *name = g_strndup(parser->token.text, MIN(parser->token.length, (uint32_t)SHOWN_MAX));
    ptx_parser_error_at(parser, parser->token.at, "there is no variable or function `%s` here", name);
    ptx_parser_hint_symbol(parser, name);
    return false;
  }
  init->symbol = symbol->index;
  init->kind = (uint8_t)(!is_var ? PTX_INIT_FUNCTION : generic ? PTX_INIT_VAR_GENERIC : PTX_INIT_VAR);
  ptx_parser_advance(parser);
  return (!generic || ptx_parser_expect(parser, ')')) && read_offset(parser, &init->offset);
}

/* `0xFF00(address)`: one byte of it. */
static bool read_byte(PtxParser *parser, uint64_t mask, uint32_t at, PtxInit *init) {
  for (init->byte = 0; init->byte < 8 && mask != (uint64_t)0xff << 8 * init->byte; init->byte++)
    ;
  if (init->byte == 8)
    return ptx_parser_error_at(parser, at, "a mask in front of an address names one byte: 0xFF, 0xFF00 ...");
  ptx_parser_advance(parser);
  return read_address(parser, init) && ptx_parser_expect(parser, ')');
}

static bool read_value(PtxParser *parser, const PtxVar *var, uint32_t element) {
  PtxModule *module = parser->module;
  PtxInit init = {.element = element, .byte = PTX_INIT_WHOLE};
  bool negative = ptx_parser_accept(parser, '-');
  Token token = parser->token;
  bool is_float = token.kind == TOK_F32 || token.kind == TOK_REAL;
  if (token.kind == TOK_INTEGER || is_float) {
    PtxTypeKind kind = ptx_type_kind((PtxWord)var->type);
    if (is_float && (kind == PTX_KIND_SIGNED || kind == PTX_KIND_UNSIGNED))
      return ptx_parser_error_at(parser, token.at, "a `.%s` can't be a float", ptx_word_text((PtxWord)var->type));
    ptx_parser_advance(parser);
    if (token_is(&parser->token, '(')) {
      if (!read_byte(parser, token.value, token.at, &init))
        return false;
    } else {
      init.bits = as_type(var, &token, negative);
    }
  } else if (negative) {
    return ptx_parser_unexpected(parser, "a number");
  } else if (!read_address(parser, &init)) {
    return false;
  }
  if (init.kind == PTX_INIT_BITS && init.bits == 0)
    return true;
  if (!ptx_parser_limit(parser, module->inits->len, PTX_INITS_MAX, "initial values"))
    return false;
  g_array_append_val(module->inits, init);
  return true;
}

/* Behind a `{`. Values stand one after the other; an inner brace starts at the next row of its dimension. */
static bool read_values(PtxParser *parser, const Head *head, unsigned level, uint32_t base, uint32_t *end) {
  uint64_t next = base, row = 1;
  uint64_t limit = head->dimensions[0] ? head->var.elements : ELEMENTS_MAX;
  for (unsigned i = level + 1; i < head->ndimensions; i++)
    row *= head->dimensions[i];
  while (!token_is(&parser->token, '}')) {
    uint32_t at = parser->token.at;
    if (token_is(&parser->token, '{')) {
      uint32_t inner;
      if (level + 1 >= head->ndimensions)
        return ptx_parser_error_at(parser, at, "more braces than dimensions");
      ptx_parser_advance(parser);
      next = base + (next - base + row - 1) / row * row;
      if (!read_values(parser, head, level + 1, (uint32_t)MIN(next, limit), &inner))
        return false;
      next += row;
    } else if (next >= limit) {
      return ptx_parser_error_at(parser, at, "more values than elements");
    } else if (!read_value(parser, &head->var, (uint32_t)next++)) {
      return false;
    }
    if (next > limit)
      return ptx_parser_error_at(parser, at, "more values than elements");
    if (!ptx_parser_accept(parser, ','))
      break;
  }
  *end = (uint32_t)next;
  return ptx_parser_expect(parser, '}');
}

static bool read_initialiser(PtxParser *parser, Head *head) {
  PtxVar *var = &head->var;
  var->first_init = parser->module->inits->len;
  if (!ptx_parser_accept(parser, '='))
    return true;
  if (var->space != PTX_GLOBAL && var->space != PTX_CONST)
    return ptx_parser_error_at(parser, parser->token.at,
                               "only `.global` and `.const` variables have an initial value");
  uint32_t end = 0;
  if (!var->array && !var->vec) {
    if (!read_value(parser, var, 0))
      return false;
  } else {
    if (!ptx_parser_expect(parser, '{') || !read_values(parser, head, 0, 0, &end))
      return false;
    if (var->elements == 0)
      var->elements = MAX(end, 1);
  }
  var->ninits = parser->module->inits->len - var->first_init;
  return true;
}

/* -- declarations -- */

/* `[4][3]`, `[]`. */
static bool read_dimensions(PtxParser *parser, Head *head) {
  PtxVar *var = &head->var;
  uint32_t at = parser->token.at;
  uint64_t elements = 1;
  while (ptx_parser_accept(parser, '[')) {
    uint32_t *size = &head->dimensions[head->ndimensions];
    if (head->ndimensions++ == DIMENSIONS_MAX - 1)
      return ptx_parser_error_at(parser, at, "more than %d dimensions", DIMENSIONS_MAX - 1);
    var->array = true;
    *size = 0;
    if (!token_is(&parser->token, ']') && !ptx_parser_number(parser, ELEMENTS_MAX, "a number of elements", size))
      return false;
    if (*size == 0 && head->ndimensions > 1)
      return ptx_parser_error_at(parser, at, "only the first dimension may be open");
    elements = elements * *size;
    if (elements > ELEMENTS_MAX)
      return ptx_parser_error_at(parser, at, "more than %d elements", ELEMENTS_MAX);
    if (!ptx_parser_expect(parser, ']'))
      return false;
  }
  var->elements = (uint32_t)elements;
  return ptx_var_bytes(var) < bytes_max || ptx_parser_error_at(parser, at, "this array has 4 GiB or more");
}

/* `<12>` behind the first part of the names of registers. */
static bool read_range(PtxParser *parser, PtxVar *var) {
  if (!token_is(&parser->token, '<'))
    return true;
  if (var->space != PTX_REG)
    return ptx_parser_unexpected(parser, "`;`: only registers come in ranges");
  ptx_parser_advance(parser);
  uint32_t at = parser->token.at;
  if (!ptx_parser_number(parser, PTX_REGISTERS_MAX, "a number of registers", &var->count))
    return false;
  if (var->count == 0)
    return ptx_parser_error_at(parser, at, "a range has at least one register");
  return ptx_parser_expect(parser, '>');
}

static bool finish(PtxParser *parser, const PtxVar *var) {
  PtxModule *module = parser->module;
  uint32_t registers = var->space == PTX_REG ? MAX(var->count, 1) : 0;
  if (!ptx_parser_limit(parser, module->vars->len, PTX_VARS_MAX, "variables") ||
      !ptx_parser_limit(parser, parser->next_register + registers, PTX_REGISTERS_MAX + 1, "registers in a function"))
    return false;
  g_array_append_val(module->vars, *var);
  ptx_var(module, module->vars->len - 1)->base = parser->next_register;
  parser->next_register += registers;
  return !var->name ||
         ptx_parser_declare(parser, var->name, var->at, SYMBOL_VAR, module->vars->len - 1, var->count > 0);
}

static bool read_declarator(PtxParser *parser, Head *head) {
  PtxVar *var = &head->var;
  var->at = parser->token.at;
  var->scope = ptx_parser_scope(parser);
  var->inst = parser->module->insts->len;
  if (!(var->name = ptx_parser_name(parser, "a name")))
    return false;
  ptx_parser_advance(parser);
  if (!read_range(parser, var) || !read_dimensions(parser, head))
    return false;
  if (var->space == PTX_REG && var->array)
    return ptx_parser_error_at(parser, var->at, "registers can't be an array");
  return true;
}

static bool read_one(PtxParser *parser, Head head) {
  return read_declarator(parser, &head) && read_initialiser(parser, &head) && finish(parser, &head.var);
}

static bool check_space(PtxParser *parser, const PtxVar *var, uint32_t at) {
  const char *space = ptx_word_text((PtxWord)var->space);
  bool outside = parser->function == PTX_NO_INDEX;
  if (outside && (var->space == PTX_REG || var->space == PTX_LOCAL || var->space == PTX_PARAM))
    return ptx_parser_error_at(parser, at, "`.%s` stands in functions only", space);
  if (!outside && var->space == PTX_CONST)
    return ptx_parser_error_at(parser, at, "`.%s` stands outside of functions only", space);
  return true;
}

bool ptx_var_read(PtxParser *parser, PtxLinkage linkage) {
  Head head = {.var = {.linkage = (uint8_t)linkage}};
  uint32_t at = parser->token.at;
  if (!read_head(parser, &head.var) || !check_space(parser, &head.var, at))
    return false;
  do {
    if (!read_one(parser, head))
      return false;
  } while (ptx_parser_accept(parser, ','));
  return ptx_parser_expect(parser, ';');
}

bool ptx_var_read_param(PtxParser *parser) {
  Head head = {.ndimensions = 0};
  uint32_t at = parser->token.at;
  if (!read_head(parser, &head.var))
    return false;
  if (head.var.space != PTX_PARAM && head.var.space != PTX_REG)
    return ptx_parser_error_at(parser, at, "a parameter is `.param` or `.reg`");
  if (!token_equals(&parser->token, "_"))
    return read_declarator(parser, &head) && finish(parser, &head.var);
  head.var.at = parser->token.at;
  head.var.scope = ptx_parser_scope(parser);
  head.var.inst = parser->module->insts->len;
  ptx_parser_advance(parser);
  return read_dimensions(parser, &head) && finish(parser, &head.var);
}
