#include "isa/sass/sass.h"

#include <stdarg.h>
#include <string.h>

#include "isa/flow/cfg.h"
#include "isa/sass/sass_parser.h"
#include "isa/sass_names.h"

enum { ERRORS_MAX = 1000, HINTS_MAX = 32, CANDIDATES_MAX = 1000, BYTES_PER_INST = 8, SHARED_MAX = 1 << 30 };

/* -- tokens and messages -- */

static const TokenRules token_rules = {.lines = true,
                                       .comments = true,
                                       .addresses = true,
                                       .marked_words = true,
                                       .dotted_words = true,
                                       .word_max = SASS_WORD_MAX,
                                       .no_word = "this name is longer than 255 bytes",
                                       .no_number = "this isn't a number"};

void sass_parser_advance(SassParser *parser) { parser->token = scanner_next(&parser->scanner); }

bool sass_parser_error(SassParser *parser, const Token *at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  unsigned line, column;
  scanner_place(parser->line_starts, at->at, &line, &column);
  return diag_error(parser->diag, parser->file, line, column, "%s", message);
}

static unsigned line_of(const SassParser *parser, const Token *token) {
  unsigned line, column;
  scanner_place(parser->line_starts, token->at, &line, &column);
  return line;
}

bool sass_parser_unexpected(SassParser *parser, const Token *at, const char *expected) {
  g_autofree char *found = token_show(at);
  if (at->kind == TOK_ERROR)
    return sass_parser_error(parser, at, "%s: %s", at->problem, found);
  if (at->kind == TOK_ELLIPSIS || token_is(at, '('))
    return sass_parser_error(parser, at, "%s is a placeholder of the listing; spell it out",
                             at->kind == TOK_ELLIPSIS ? found : "`(...)`");
  return sass_parser_error(parser, at, "expected %s, found %s", expected, found);
}

/* True at `;`, the end of the line or of the file. */
static bool at_end(const SassParser *parser) {
  const Token *token = &parser->token;
  return token->kind == TOK_END || token->kind == TOK_NEWLINE || token_is(token, ';');
}

/* After an error: to the end of the statement; of the line if the text itself is broken. */
static void recover(SassParser *parser) {
  while (!at_end(parser)) {
    if (parser->token.kind == TOK_ERROR)
      scanner_skip_line(&parser->scanner);
    sass_parser_advance(parser);
  }
}

static bool expect_end(SassParser *parser, const char *expected) {
  return at_end(parser) || sass_parser_unexpected(parser, &parser->token, expected);
}

/* -- kernels -- */

/* The kernel's name if nothing gives one: the file's, without folder and extension. */
static char *stem_of(const char *file) {
  char *stem = g_path_get_basename(file);
  char *dot = strrchr(stem, '.');
  if (dot && dot != stem)
    *dot = '\0';
  for (char *p = stem; *p; p++)
    if (!g_ascii_isalnum(*p) && !strchr("_.$-", *p))
      *p = '_';
  if (strlen(stem) > SASS_WORD_MAX)
    stem[SASS_WORD_MAX] = '\0';
  return stem;
}

static bool begin_kernel(SassParser *parser, char *name, const Token *at, bool named) {
  Kernel *kernel = g_new0(Kernel, 1);
  kernel->name = name;
  kernel->line = line_of(parser, at);
  bool fresh = !g_hash_table_contains(parser->kernel_names, name);
  g_ptr_array_add(parser->program->kernels, kernel);
  g_hash_table_add(parser->kernel_names, name);
  parser->kernel = kernel;
  parser->named = named;
  parser->start = *at;
  parser->insts = g_array_new(FALSE, FALSE, sizeof(Inst));
  parser->consts = g_array_new(FALSE, FALSE, sizeof(ConstRef));
  parser->marks = g_array_new(FALSE, FALSE, sizeof(Mark));
  parser->labels = g_array_new(FALSE, FALSE, sizeof(Label));
  parser->fixups = g_array_new(FALSE, FALSE, sizeof(Fixup));
  parser->immediates = g_hash_table_new(NULL, NULL);
  parser->bank_words = g_hash_table_new(NULL, NULL);
  parser->label_index = g_hash_table_new(g_str_hash, g_str_equal);
  parser->top_register = -1;
  parser->has_last = false;
  parser->pending_marks = 0;
  return fresh || sass_parser_error(parser, at, "there is already a kernel `%s`", name);
}

/* What stands before any `.kernel` belongs to a kernel named after the file. */
static void need_kernel(SassParser *parser) {
  if (!parser->kernel)
    begin_kernel(parser, stem_of(parser->file), &parser->token, false);
}

static void hint_label(SassParser *parser, const char *name) {
  if (diag_error_count(parser->diag) > HINTS_MAX)
    return;
  guint count = MIN(parser->labels->len, (guint)CANDIDATES_MAX);
  g_autofree const char **names = g_new0(const char *, count + 1);
  for (guint i = 0; i < count; i++)
    names[i] = g_array_index(parser->labels, Label, i).name;
  diag_hint_nearest(parser->diag, name, names);
}

static bool resolve_label(SassParser *parser, const Token *token, int32_t *target) {
  g_autofree char *name = g_strndup(token->text, token->length);
  guint found = GPOINTER_TO_UINT(g_hash_table_lookup(parser->label_index, name));
  if (!found) {
    sass_parser_error(parser, token, "there is no label `%s` in kernel `%s`", name, parser->kernel->name);
    hint_label(parser, name);
    return false;
  }
  uint32_t pc = g_array_index(parser->labels, Label, found - 1).pc;
  if (pc >= parser->insts->len)
    return sass_parser_error(parser, token, "no instruction follows the label `%s`", name);
  *target = (int32_t)pc;
  return true;
}

static void hint_address(SassParser *parser, uint32_t address) {
  if (diag_error_count(parser->diag) > HINTS_MAX)
    return;
  uint32_t nearest = 0, best = UINT32_MAX;
  for (guint i = 0; i < parser->insts->len; i++) {
    uint32_t other = g_array_index(parser->insts, Inst, i).address;
    uint32_t distance = other > address ? other - address : address - other;
    if (distance < best) {
      best = distance;
      nearest = other;
    }
  }
  diag_hint(parser->diag, "the nearest instruction is at 0x%x", nearest);
}

/* `index` maps an address to 1 + the first instruction there; `twice` holds the addresses given more than once. */
static bool resolve_address(SassParser *parser, const Token *token, GHashTable *index, GHashTable *twice,
                            int32_t *target) {
  uint32_t address = (uint32_t)token->value;
  guint found = GPOINTER_TO_UINT(g_hash_table_lookup(index, GUINT_TO_POINTER(address)));
  if (!found) {
    sass_parser_error(parser, token, "no instruction of kernel `%s` has the address 0x%x", parser->kernel->name,
                      address);
    hint_address(parser, address);
    return false;
  }
  guint second = GPOINTER_TO_UINT(g_hash_table_lookup(twice, GUINT_TO_POINTER(address)));
  if (second) {
    sass_parser_error(parser, token, "the address 0x%x is ambiguous: the instructions in line %u and line %u have it",
                      address, g_array_index(parser->insts, Inst, found - 1).line,
                      g_array_index(parser->insts, Inst, second - 1).line);
    diag_hint(parser->diag, "branch to a label instead");
    return false;
  }
  *target = (int32_t)(found - 1);
  return true;
}

static void resolve_targets(SassParser *parser) {
  g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL), twice = g_hash_table_new(NULL, NULL);
  if (parser->fixups->len == 0)
    return;
  for (guint i = 0; i < parser->insts->len; i++) {
    gpointer address = GUINT_TO_POINTER(g_array_index(parser->insts, Inst, i).address);
    if (!g_hash_table_contains(index, address))
      g_hash_table_insert(index, address, GUINT_TO_POINTER(i + 1));
    else if (!g_hash_table_contains(twice, address))
      g_hash_table_insert(twice, address, GUINT_TO_POINTER(i + 1));
  }
  for (guint i = 0; i < parser->fixups->len; i++) {
    Fixup *fixup = &g_array_index(parser->fixups, Fixup, i);
    int32_t *target = &g_array_index(parser->insts, Inst, fixup->pc).target;
    if (fixup->token.kind == TOK_WORD)
      resolve_label(parser, &fixup->token, target);
    else
      resolve_address(parser, &fixup->token, index, twice, target);
  }
}

#define STEAL(array, pointer, count)                    \
  do {                                                  \
    (count) = (array)->len;                             \
    (pointer) = (gpointer)g_array_free((array), FALSE); \
  } while (0)

static void check_end(SassParser *parser) {
  const Kernel *kernel = parser->kernel;
  int32_t last = cfg_past_end(kernel);
  if (last == NO_TARGET)
    return;
  const Inst *inst = &kernel->insts[last];
  diag_error(parser->diag, parser->file, inst->line, inst->column,
             "control can run past the last instruction of kernel `%s`", kernel->name);
  diag_hint(parser->diag, "end it with EXIT");
}

static void end_kernel(SassParser *parser, unsigned errors_before) {
  Kernel *kernel = parser->kernel;
  if (!kernel)
    return;
  if (parser->insts->len == 0)
    sass_parser_error(parser, &parser->start, "kernel `%s` has no instructions", kernel->name);
  if (parser->pending_marks)
    sass_parser_error(parser, &parser->token, "no instruction follows the last `.mark` of kernel `%s`", kernel->name);
  resolve_targets(parser);
  kernel->nregs = MAX(kernel->nregs, (uint32_t)(parser->top_register + 1));
  for (guint i = 0; i < parser->insts->len; i++) {
    Inst *inst = &g_array_index(parser->insts, Inst, i);
    if (inst->dst == SASS_SINK)
      inst->dst = (int16_t)kernel->nregs;
  }
  STEAL(parser->insts, kernel->insts, kernel->ninsts);
  STEAL(parser->consts, kernel->consts, kernel->nconsts);
  STEAL(parser->marks, kernel->marks, kernel->nmarks);
  STEAL(parser->labels, kernel->labels, kernel->nlabels);
  g_array_unref(parser->fixups);
  g_hash_table_unref(parser->immediates);
  g_hash_table_unref(parser->bank_words);
  g_hash_table_unref(parser->label_index);
  if (diag_error_count(parser->diag) == errors_before)
    check_end(parser);
  parser->kernel = NULL;
}

/* -- directives -- */

static bool parse_count(SassParser *parser, const char *what, uint64_t limit, uint32_t *value) {
  sass_parser_advance(parser);
  Token at = parser->token;
  if (at.kind != TOK_INTEGER)
    return sass_parser_unexpected(parser, &at, what);
  if (at.value > limit)
    return sass_parser_error(parser, &at, "%.*s is too large: at most %" G_GUINT64_FORMAT, (int)MIN(at.length, 40u),
                             at.text, limit);
  *value = (uint32_t)at.value;
  sass_parser_advance(parser);
  return expect_end(parser, "the end of the line");
}

static bool parse_target(SassParser *parser) {
  sass_parser_advance(parser);
  Token at = parser->token;
  if (at.kind != TOK_WORD)
    return sass_parser_unexpected(parser, &at, "a target: sm_20 or sm_21");
  bool is_20 = at.length == 5 && g_ascii_strncasecmp(at.text, "sm_20", 5) == 0;
  bool is_21 = at.length == 5 && g_ascii_strncasecmp(at.text, "sm_21", 5) == 0;
  if (!is_20 && !is_21)
    return sass_parser_error(parser, &at, "this front end reads Fermi SASS: the target is sm_20 or sm_21, not `%.*s`",
                             (int)MIN(at.length, 40u), at.text);
  parser->program->target_sm = is_20 ? 20 : 21;
  sass_parser_advance(parser);
  return expect_end(parser, "the end of the line");
}

static bool parse_kernel(SassParser *parser, unsigned *errors_before) {
  Token at = parser->token;
  char *name = scanner_rest_of_line(&parser->scanner, &at.at);
  sass_parser_advance(parser);
  gsize valid = strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.$-");
  if (valid == 0 || name[valid] || valid > SASS_WORD_MAX) {
    sass_parser_error(parser, &at, "`.kernel` expects a name of at most 255 letters, digits and _ . $ -");
    g_free(name);
    return false;
  }
  bool renames = parser->kernel && !parser->named;
  if (renames && (parser->insts->len || parser->labels->len || parser->pending_marks)) {
    g_free(name);
    return sass_parser_error(parser, &at, "instructions stand before the first `.kernel`");
  }
  if (!renames) {
    end_kernel(parser, *errors_before);
    *errors_before = diag_error_count(parser->diag);
    return begin_kernel(parser, name, &at, true);
  }
  /* `.shared` or `.reg` came first. */
  g_hash_table_remove(parser->kernel_names, parser->kernel->name);
  g_free(parser->kernel->name);
  parser->kernel->name = name;
  parser->kernel->line = line_of(parser, &at);
  parser->named = true;
  parser->start = at;
  g_hash_table_add(parser->kernel_names, name);
  return true;
}

static bool parse_mark(SassParser *parser) {
  need_kernel(parser);
  Mark mark = {.pc = parser->insts->len};
  if (!parse_count(parser, "the number of the mark", UINT32_MAX, &mark.number))
    return false;
  g_array_append_val(parser->marks, mark);
  parser->pending_marks++;
  return true;
}

static bool parse_launch(SassParser *parser, const char *name) {
  LaunchDirective *launch = g_new0(LaunchDirective, 1);
  launch->name = g_strdup(name + 1);
  uint32_t at;
  launch->text = scanner_rest_of_line(&parser->scanner, &at);
  scanner_place(parser->line_starts, at, &launch->line, &launch->column);
  launch->kernel = parser->kernel ? parser->program->kernels->len - 1 : 0;
  g_ptr_array_add(parser->program->launch, launch);
  sass_parser_advance(parser);
  return true;
}

static const char *const directives[] = {".target", ".kernel", ".shared", ".reg",      ".mark", ".grid", ".block",
                                         ".buffer", ".arg",    ".expect", ".findings", ".name", NULL};
enum { FIRST_LAUNCH_DIRECTIVE = 5 };

static bool parse_directive(SassParser *parser, unsigned *errors_before) {
  g_autofree char *name = g_ascii_strdown(parser->token.text, (gssize)parser->token.length);
  uint32_t value = 0;
  for (guint i = FIRST_LAUNCH_DIRECTIVE; directives[i]; i++)
    if (strcmp(name, directives[i]) == 0)
      return parse_launch(parser, name);
  if (strcmp(name, ".target") == 0)
    return parse_target(parser);
  if (strcmp(name, ".kernel") == 0)
    return parse_kernel(parser, errors_before);
  if (strcmp(name, ".mark") == 0)
    return parse_mark(parser);
  if (strcmp(name, ".shared") == 0) {
    need_kernel(parser);
    return parse_count(parser, "a number of bytes", SHARED_MAX, &parser->kernel->shared_bytes);
  }
  if (strcmp(name, ".reg") == 0) {
    need_kernel(parser);
    bool good = parse_count(parser, "a number of registers", SASS_REGISTERS_MAX, &value);
    parser->kernel->nregs = MAX(parser->kernel->nregs, value);
    return good;
  }
  sass_parser_error(parser, &parser->token, "unknown directive `%s`", name);
  diag_hint_nearest(parser->diag, name, directives);
  return false;
}

/* -- instructions -- */

/* @P0, @!P0 and !@P0. */
static bool parse_guard(SassParser *parser, Inst *inst) {
  if (token_is(&parser->token, '!')) {
    inst->flags |= INST_GUARD_NOT;
    sass_parser_advance(parser);
    if (!token_is(&parser->token, '@'))
      return sass_parser_unexpected(parser, &parser->token, "`@` and a predicate");
  }
  if (!token_is(&parser->token, '@'))
    return true;
  sass_parser_advance(parser);
  if (token_is(&parser->token, '!')) {
    inst->flags ^= INST_GUARD_NOT;
    sass_parser_advance(parser);
  }
  if (!sass_operand_predicate(parser, &parser->token, &inst->guard))
    return false;
  sass_parser_advance(parser);
  return true;
}

/* cuobjdump's names for forms with a long immediate (IADD32I) are those of the plain instruction here. */
static Opcode find_opcode(const char *name) {
  Opcode op = opcode_from_sass(name);
  gsize n = strlen(name);
  if (op != OP_COUNT || n < 4 || g_ascii_strcasecmp(name + n - 3, "32I") != 0)
    return op;
  g_autofree char *base = g_strndup(name, n - 3);
  op = opcode_from_sass(base);
  return op == OP_IADD || op == OP_IMUL || op == OP_IMAD || op == OP_ISCADD || op == OP_LOP || op == OP_FADD ||
                 op == OP_FMUL || op == OP_FFMA
             ? op
             : OP_COUNT;
}

static bool parse_suffixes(SassParser *parser, const Token *token, gsize from, Inst *inst) {
  uint32_t seen = 0;
  const char *name = op_info[inst->op].sass;
  while (from < token->length) {
    Token part = token_tail(token, from + 1);
    const Suffix *suffix = sass_names_suffix(inst->op, part.text, part.length);
    if (!suffix) {
      const char *dot = inst->op == OP_BAR ? NULL : memchr(part.text, '.', part.length); /* BAR has `.RED.AND` */
      g_autofree char *word = g_strndup(part.text, dot ? (gsize)(dot - part.text) : part.length);
      g_autofree const char **candidates = sass_names_candidates(inst->op);
      sass_parser_error(parser, &part, "%s has no modifier `.%s`", name, word);
      const char *nearest = diag_nearest(word, candidates);
      if (nearest)
        diag_hint(parser->diag, "did you mean `.%s`?", nearest);
      return false;
    }
    if (!sass_names_apply(suffix, inst, &seen))
      return sass_parser_error(parser, &part, "`.%s` contradicts an earlier modifier of %s", suffix->name, name);
    from += 1 + strlen(suffix->name);
  }
  const char *missing = sass_names_missing(inst->op, seen);
  if (missing)
    return sass_parser_error(parser, token, "%s lacks %s", name, missing);
  bool locks = inst->op == OP_ATOM ? inst->mode == ATOM_CAS : inst->op == OP_RED && inst->mode == ATOM_EXCH;
  if (inst->flags & INST_LOCK && !locks)
    return sass_parser_error(parser, token, "%s has .LOCK for %s only", name, inst->op == OP_ATOM ? ".CAS" : ".EXCH");
  if (inst->type == TYPE_F32 && inst->mode != ATOM_ADD)
    return sass_parser_error(parser, token, "%s has .F32 for .ADD only", name);
  return true;
}

static bool parse_mnemonic(SassParser *parser, Inst *inst) {
  Token token = parser->token;
  if (token.kind != TOK_WORD)
    return sass_parser_unexpected(parser, &token, "an instruction");
  const char *dot = memchr(token.text, '.', token.length);
  gsize length = dot ? (gsize)(dot - token.text) : token.length;
  g_autofree char *name = g_strndup(token.text, length);
  Opcode op = find_opcode(name);
  if (op == OP_COUNT) {
    sass_parser_error(parser, &token, "unknown instruction `%s`", name);
    diag_hint_nearest(parser->diag, name, opcode_sass_names());
    return false;
  }
  Inst blank = sass_names_blank(op);
  blank.guard = inst->guard;
  blank.flags = inst->flags;
  blank.line = inst->line;
  blank.column = inst->column;
  blank.address = inst->address;
  *inst = blank;
  sass_parser_advance(parser);
  return parse_suffixes(parser, &token, length, inst);
}

static bool parse_operands(SassParser *parser, Inst *inst) {
  Operand operands[SASS_OPERANDS_MAX];
  unsigned count = 0;
  while (count > 0 || !at_end(parser)) {
    if (count == SASS_OPERANDS_MAX)
      return sass_parser_error(parser, &parser->token, "too many operands");
    if (!sass_operand_parse(parser, &operands[count++]))
      return false;
    if (at_end(parser))
      break;
    if (!token_is(&parser->token, ','))
      return sass_parser_unexpected(parser, &parser->token, "`,` or the end of the instruction");
    sass_parser_advance(parser);
  }
  return sass_form_fill(parser, inst, operands, count, &parser->token);
}

static bool parse_instruction(SassParser *parser) {
  need_kernel(parser);
  if (parser->total_insts == SASS_INSTS_MAX) {
    parser->stopped = true;
    return sass_parser_error(parser, &parser->token, "more than %d instructions", SASS_INSTS_MAX);
  }
  Inst inst = sass_names_blank(OP_NOP);
  inst.address = parser->has_address ? parser->address : parser->has_last ? parser->last_address + BYTES_PER_INST : 0;
  scanner_place(parser->line_starts, parser->token.at, &inst.line, &inst.column);
  bool good = parse_guard(parser, &inst) && parse_mnemonic(parser, &inst) && parse_operands(parser, &inst);
  if (!good) {
    /* A wrong instruction keeps its place, so that addresses and branches don't fail because of it. */
    Inst place = sass_names_blank(OP_NOP);
    place.address = inst.address;
    place.line = inst.line;
    inst = place;
  }
  if (parser->pending_marks)
    inst.flags |= INST_MARKS;
  g_array_append_val(parser->insts, inst);
  parser->total_insts++;
  parser->pending_marks = 0;
  parser->has_address = false;
  parser->has_last = true;
  parser->last_address = inst.address;
  return good;
}

static bool parse_label(SassParser *parser) {
  need_kernel(parser);
  Token at = parser->token;
  sass_parser_advance(parser);
  sass_parser_advance(parser);
  Label label = {.name = g_strndup(at.text, at.length), .pc = parser->insts->len};
  if (g_hash_table_contains(parser->label_index, label.name)) {
    sass_parser_error(parser, &at, "there is already a label `%s` in kernel `%s`", label.name, parser->kernel->name);
    g_free(label.name);
    return true;
  }
  g_array_append_val(parser->labels, label);
  g_hash_table_insert(parser->label_index, label.name, GUINT_TO_POINTER(parser->labels->len));
  return true;
}

/* -- the file -- */

static bool parse_statement(SassParser *parser, unsigned *errors_before) {
  const Token *token = &parser->token;
  if (token->kind != TOK_WORD) {
    if (token_is(token, '@') || token_is(token, '!'))
      return parse_instruction(parser);
    return sass_parser_unexpected(parser, token, "an instruction, a label or a directive");
  }
  Scanner ahead = parser->scanner;
  Token next = scanner_next(&ahead);
  if (token_is(&next, ':'))
    return parse_label(parser);
  return token->text[0] == '.' ? parse_directive(parser, errors_before) : parse_instruction(parser);
}

static void parse_file(SassParser *parser, unsigned errors_at_start) {
  unsigned errors_before = errors_at_start;
  sass_parser_advance(parser);
  while (parser->token.kind != TOK_END && !parser->stopped) {
    if (parser->token.kind == TOK_NEWLINE || token_is(&parser->token, ';')) {
      /* An address belongs to the instruction in its line. */
      parser->has_address = parser->has_address && parser->token.kind != TOK_NEWLINE;
      sass_parser_advance(parser);
    } else if (parser->token.kind == TOK_ADDRESS) {
      parser->has_address = true;
      parser->address = (uint32_t)parser->token.value;
      sass_parser_advance(parser);
    } else if (!parse_statement(parser, &errors_before)) {
      recover(parser);
      parser->stopped |= diag_error_count(parser->diag) - errors_at_start >= ERRORS_MAX;
    }
  }
  end_kernel(parser, errors_before);
  if (parser->program->kernels->len == 0 && diag_error_count(parser->diag) == errors_at_start)
    sass_parser_error(parser, &(Token){.at = 0}, "this file has no instructions");
}

/* Limits on the text as a whole: everything behind them may then be linear in its size. */
static bool check_text(const char *file, const char *text, gsize length, Diag *diag) {
  if (length > SASS_BYTES_MAX)
    return diag_error(diag, file, 0, 0, "the file has %" G_GSIZE_FORMAT " bytes; a program may have 16 MiB", length);
  if (length >= 4 && memcmp(text, "\177ELF", 4) == 0) {
    diag_error(diag, file, 1, 1, "this is a binary (ELF), not the text of a program");
    diag_hint(diag, "cuobjdump -sass FILE prints its text");
    return false;
  }
  return true;
}

static bool check_lines(SassParser *parser, const char *text, gsize length) {
  GArray *starts = parser->line_starts;
  if (!scanner_find_lines(starts, text, length))
    return diag_error(parser->diag, parser->file, SCANNER_LINES_MAX, 1, "the file has more than %d lines",
                      SCANNER_LINES_MAX);
  for (guint i = 0; i < starts->len; i++) {
    gsize next = i + 1 < starts->len ? g_array_index(starts, uint32_t, i + 1) - 1 : length;
    if (next - g_array_index(starts, uint32_t, i) > SASS_LINE_MAX)
      return diag_error(parser->diag, parser->file, i + 1, 1, "this line is longer than %d bytes", SASS_LINE_MAX);
  }
  return true;
}

Program *sass_parse(const char *file, const char *text, gsize length, Diag *diag) {
  unsigned errors = diag_error_count(diag);
  if (!check_text(file, text, length, diag))
    return NULL;
  SassParser parser = {.file = file, .diag = diag, .program = program_new(file, DIALECT_FERMI_SASS)};
  parser.program->target_sm = 20;
  parser.kernel_names = g_hash_table_new(g_str_hash, g_str_equal);
  parser.line_starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  scanner_init(&parser.scanner, &token_rules, text, length);
  if (check_lines(&parser, text, length))
    parse_file(&parser, errors);
  g_array_unref(parser.line_starts);
  g_hash_table_unref(parser.kernel_names);
  if (diag_error_count(diag) > errors) {
    program_free(parser.program);
    return NULL;
  }
  program_set_source(parser.program, text, length);
  for (guint i = 0; i < parser.program->kernels->len; i++)
    cfg_annotate(program_kernel(parser.program, i));
  return parser.program;
}
