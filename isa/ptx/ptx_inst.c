/* Instructions: guard, mnemonic, operands. */
#include <string.h>

#include "isa/ptx/ptx_parser.h"

enum { MNEMONIC_MAX = 255, GIVEN_MAX = 8, SKIPPED_TOKENS_MAX = 4096 };

/* `@%p1`, `@!%p1` */
static bool read_guard(PtxParser *parser, PtxInst *inst) {
  inst->guard = PTX_NO_INDEX;
  if (!ptx_parser_accept(parser, '@'))
    return true;
  static const PtxShape shape = {.kind = 'q', .word = PTX_PRED};
  PtxMnemonic guard = {.op = PTX_OP_BRA};
  PtxOperand operand;
  if (!ptx_operand_read(parser, &operand))
    return false;
  if (operand.kind != PTX_OPERAND_REG)
    return ptx_parser_error_at(parser, operand.at, "a guard is a predicate register");
  if (!ptx_check_operand(parser, &operand, &shape, &guard))
    return false;
  inst->guard = operand.index;
  inst->guard_not = operand.negated;
  return true;
}

/* A mnemonic that was seen before is looked up by the number of its text. False after an error, which is in *error if
 * it is of the mnemonic. */
static bool decode(PtxParser *parser, const char *text, uint32_t length, PtxMnemonic *mnemonic,
                   PtxMnemonicError *error) {
  uint32_t name = ptx_names_add(parser->module->names, text, length);
  uint32_t known = name ? ptx_parser_info(parser, name)->mnemonic : 0;
  if (known) {
    *mnemonic = g_array_index(parser->mnemonics, PtxMnemonic, known - 1);
    return true;
  }
  if (!name)
    return ptx_parser_limit(parser, PTX_NAMES_MAX, PTX_NAMES_MAX, "different names");
  if (!ptx_ops_read(parser->module->ops, text, length, mnemonic, error))
    return false;
  g_array_append_val(parser->mnemonics, *mnemonic);
  ptx_parser_info(parser, name)->mnemonic = parser->mnemonics->len;
  return true;
}

/* The mnemonic; its parts may stand apart, as `ld .global .u32`. */
static bool read_mnemonic(PtxParser *parser, PtxInst *inst, PtxMnemonic *mnemonic, PtxMnemonicError *error) {
  Token token = parser->token;
  char joined[MNEMONIC_MAX];
  uint32_t length = token.length;
  if (token.kind != TOK_WORD)
    return ptx_parser_unexpected(parser, "an instruction");
  if (length > MNEMONIC_MAX)
    return ptx_parser_error_at(parser, token.at, "this isn't an instruction");
  memcpy(joined, token.text, length);
  ptx_parser_advance(parser);
  while (parser->token.kind == TOK_DIRECTIVE) {
    if (parser->token.length > MNEMONIC_MAX - length)
      return ptx_parser_error_at(parser, token.at, "this isn't an instruction");
    memcpy(joined + length, parser->token.text, parser->token.length);
    length += parser->token.length;
    ptx_parser_advance(parser);
  }
  inst->at = token.at;
  if (!decode(parser, joined, length, mnemonic, error))
    return false;
  inst->op = (uint16_t)mnemonic->op;
  inst->form = mnemonic->form;
  inst->mods = mnemonic->mods;
  return true;
}

static bool fail_count(PtxParser *parser, const PtxInst *inst, unsigned count, unsigned least, unsigned most) {
  const char *name = ptx_op_mnemonic((PtxOp)inst->op);
  if (least == most)
    return ptx_parser_error_at(parser, inst->at, "%s takes %u operand%s here, found %u", name, most,
                               most == 1 ? "" : "s", count);
  return ptx_parser_error_at(parser, inst->at, "%s takes %u or %u operands here, found %u", name, least, most, count);
}

/* Hands each operand to its shape; the optional one is left out if there is one operand less. */
static bool check_operands(PtxParser *parser, const PtxInst *inst, const PtxMnemonic *mnemonic,
                           const PtxOperand *given, unsigned count) {
  unsigned most, least;
  const PtxShape *shapes = ptx_ops_shapes(parser->module->ops, inst->form, &most);
  least = most;
  for (unsigned i = 0; i < most; i++)
    least -= shapes[i].optional;
  if (count < least || count > most)
    return fail_count(parser, inst, count, least, most);
  for (unsigned i = 0, k = 0; i < most; i++) {
    if (shapes[i].optional && count < most)
      continue;
    if (!ptx_check_operand(parser, &given[k++], &shapes[i], mnemonic))
      return false;
  }
  return true;
}

static bool read_operands(PtxParser *parser, const PtxMnemonic *mnemonic, PtxInst *inst) {
  PtxOperand given[GIVEN_MAX];
  unsigned count = 0;
  if (!token_is(&parser->token, ';')) {
    do {
      if (count == GIVEN_MAX)
        return ptx_parser_unexpected(parser, "`;`: these are too many operands");
      if (!ptx_operand_read(parser, &given[count++]))
        return false;
    } while (ptx_parser_accept(parser, ','));
    if (!token_is(&parser->token, ';'))
      return ptx_parser_unexpected(parser, "`,` or `;`");
  }
  if (!check_operands(parser, inst, mnemonic, given, count))
    return false;
  inst->operands = parser->module->operands->len;
  inst->noperands = (uint8_t)count;
  for (unsigned i = 0; i < count; i++)
    if (!ptx_operand_push(parser, &given[i]))
      return false;
  return true;
}

/* -- calls -- */

static bool read_callee(PtxParser *parser, PtxOperand *callee) {
  static const PtxShape address = {.kind = 'a', .word = PTX_B64}, short_address = {.kind = 'a', .word = PTX_B32};
  PtxMnemonic call = {.op = PTX_OP_CALL};
  if (parser->token.kind != TOK_WORD)
    return ptx_parser_unexpected(parser, "the name of a function");
  if (!ptx_operand_read(parser, callee))
    return false;
  if (callee->kind == PTX_OPERAND_FUNCTION)
    return true;
  if (callee->kind != PTX_OPERAND_REG)
    return ptx_parser_error_at(parser, callee->at, "this isn't a function");
  return ptx_check_operand(parser, callee, parser->module->address_size == 64 ? &address : &short_address, &call);
}

/* `, prototype` behind an indirect call. */
static bool read_call_table(PtxParser *parser, PtxOperand *table) {
  if (!ptx_operand_read(parser, table))
    return false;
  bool good = table->kind == PTX_OPERAND_TABLE && ptx_table(parser->module, table->index)->kind != PTX_TABLE_BRANCH;
  return good || ptx_parser_error_at(parser, table->at, "this isn't a `.callprototype` or `.calltargets`");
}

static bool check_call(PtxParser *parser, const PtxInst *inst, const PtxOperand *parts, unsigned count) {
  const PtxModule *module = parser->module;
  const PtxFunction *callee = parts[1].kind == PTX_OPERAND_FUNCTION ? ptx_function(module, parts[1].index) : NULL;
  if (count == 4 && ptx_table(module, parts[3].index)->kind == PTX_TABLE_PROTOTYPE)
    callee = ptx_function(module, ptx_table(module, parts[3].index)->prototype);
  if (parts[1].kind == PTX_OPERAND_REG && count < 4)
    return ptx_parser_error_at(parser, parts[1].at,
                               "a call through a register needs a `.callprototype` or `.calltargets`");
  if (!callee || callee->broken)
    return true;
  if (callee->entry)
    return ptx_parser_error_at(parser, parts[1].at, "a kernel can't be called");
  if (callee->nparams != parts[2].count || callee->nrets != parts[0].count)
    return ptx_parser_error_at(parser, inst->at, "the function has %u results and %u parameters, found %u and %u",
                               callee->nrets, callee->nparams, parts[0].count, parts[2].count);
  return true;
}

/* `(results), function, (arguments), prototype`; what is missing becomes an empty list. */
static bool read_call(PtxParser *parser, PtxInst *inst) {
  PtxOperand parts[4] = {{.kind = PTX_OPERAND_LIST, .at = parser->token.at}, {0}, {.kind = PTX_OPERAND_LIST}, {0}};
  unsigned count = 3;
  if (token_is(&parser->token, '(') && (!ptx_operand_read_list(parser, &parts[0]) || !ptx_parser_expect(parser, ',')))
    return false;
  if (!read_callee(parser, &parts[1]))
    return false;
  parts[2].at = parser->token.at;
  bool more = ptx_parser_accept(parser, ',');
  if (more && token_is(&parser->token, '(')) {
    if (!ptx_operand_read_list(parser, &parts[2]))
      return false;
    more = ptx_parser_accept(parser, ',');
  }
  if (more && !read_call_table(parser, &parts[count++]))
    return false;
  if (!check_call(parser, inst, parts, count))
    return false;
  for (unsigned i = 0; i < 3; i += 2)
    if (parts[i].count == 0)
      parts[i].index = 0;
  inst->operands = parser->module->operands->len;
  inst->noperands = (uint8_t)count;
  for (unsigned i = 0; i < count; i++)
    if (!ptx_operand_push(parser, &parts[i]))
      return false;
  return true;
}

static bool read_branch(PtxParser *parser, PtxInst *inst) {
  inst->operands = parser->module->operands->len;
  inst->noperands = 1;
  return ptx_operand_push_label(parser);
}

/* -- what isn't supported -- */

/* The place of the `;` that ends the statement, or PTX_NO_INDEX if it isn't near or something else comes first. */
static uint32_t end_of_statement(const PtxParser *parser) {
  Scanner ahead = parser->scanner;
  Token token = parser->token;
  unsigned depth = 0;
  for (unsigned i = 0; i < SKIPPED_TOKENS_MAX; i++, token = scanner_next(&ahead)) {
    if (token_is(&token, ';'))
      return depth == 0 ? token.at : PTX_NO_INDEX;
    if (token.kind == TOK_END || token.kind == TOK_ERROR || (token_is(&token, '}') && depth == 0))
      return PTX_NO_INDEX;
    depth += token_is(&token, '{');
    depth -= token_is(&token, '}');
  }
  return PTX_NO_INDEX;
}

/* Passes a statement that isn't supported, up to its `;`. False if it has no end. */
static bool skip_statement(PtxParser *parser, uint32_t start, uint32_t why_at, const char *why) {
  PtxModule *module = parser->module;
  uint32_t end = end_of_statement(parser);
  if (end == PTX_NO_INDEX || module->skipped->len == PTX_RECORDS_MAX)
    return false;
  while (parser->token.at < end)
    ptx_parser_advance(parser);
  PtxSkipped skipped = {.at = start,
                        .inst = module->insts->len,
                        .why_at = why_at,
                        .text = g_strndup(parser->scanner.text + start, end - start),
                        .why = g_strdup(why)};
  g_array_append_val(module->skipped, skipped);
  return true;
}

static bool fail_mnemonic(PtxParser *parser, uint32_t start, uint32_t at, const PtxMnemonicError *error) {
  if (error->unsupported && skip_statement(parser, start, at + (uint32_t)error->start, error->message))
    return true;
  ptx_parser_error_at(parser, at + (uint32_t)error->start, "%s", error->message);
  if (error->hint)
    diag_hint(parser->diag, "%s", error->hint);
  return false;
}

bool ptx_inst_read(PtxParser *parser) {
  PtxModule *module = parser->module;
  PtxInst inst = {.loc = parser->loc, .scope = ptx_parser_scope(parser), .rolled = parser->rolled};
  PtxMnemonic mnemonic;
  PtxMnemonicError error = {0};
  uint32_t start = parser->token.at;
  if (!read_guard(parser, &inst))
    return false;
  if (!read_mnemonic(parser, &inst, &mnemonic, &error)) {
    bool passed = error.message && fail_mnemonic(parser, start, inst.at, &error);
    g_free(error.message);
    g_free(error.hint);
    return passed;
  }
  bool good = inst.op == PTX_OP_CALL  ? read_call(parser, &inst)
              : inst.op == PTX_OP_BRA ? read_branch(parser, &inst)
                                      : read_operands(parser, &mnemonic, &inst);
  if (!good || !ptx_parser_limit(parser, module->insts->len, PTX_INSTS_MAX, "instructions"))
    return false;
  g_array_append_val(module->insts, inst);
  parser->rolled = false;
  return true;
}
