/* Operands of a listing. What is no register, number, constant, address or symbol, but one piece nevertheless, is a
 * name: a listing may have instructions that nobody executes. */
#include <math.h>
#include <string.h>

#include "base/quote.h"
#include "isa/mc/mc_listing_reader.h"

typedef struct Word {
  const char *text;
  McPart part;
} Word;

static const Word parts[] = {{"H0_H0", MC_H0_H0}, {"H1_H1", MC_H1_H1}, {"H0_NH1", MC_H0_NH1}, {"H0", MC_H0},
                             {"H1", MC_H1},       {"B0", MC_B0},       {"B1", MC_B1},         {"B2", MC_B2},
                             {"B3", MC_B3},       {"64", MC_PAIR64},   {"U32", MC_U32},       {"SIGN", MC_SIGN}};

typedef struct Bank {
  const char *letters;
  uint8_t kind;
  int16_t zero, count; /* number of RZ and its like, or MC_NO_REGISTER; 0 to count - 1 are the others */
  const char *name, *expected;
} Bank;

static const Bank banks[] = {
    {"UR", MC_UNIFORM, MC_URZ, MC_URZ, "URZ", "UR0 to UR62, or URZ"},
    {"UP", MC_UNIFORM_PREDICATE, MC_PT, MC_PT, "UPT", "UP0 to UP6, or UPT"},
    {"SB", MC_SCOREBOARD, MC_NO_REGISTER, MC_SCOREBOARDS_MAX, NULL, "SB0 to SB5"},
    {"R", MC_REGISTER, MC_RZ, MC_RZ, "RZ", "R0 to R254, or RZ"},
    {"P", MC_PREDICATE, MC_PT, MC_PT, "PT", "P0 to P6, or PT"},
    {"B", MC_BARRIER, MC_NO_REGISTER, 16, NULL, "B0 to B15"},
};

static bool is_word(char c) { return g_ascii_isalnum(c) || c == '_' || c == '$'; }

static char here(const McReader *reader) { return reader->p < reader->stop ? *reader->p : '\0'; }

/* Letters, digits and underscores at p. */
static gsize plain_word(const McReader *reader) {
  const char *p = reader->p;
  while (p < reader->stop && is_word(*p))
    p++;
  return p - reader->p;
}

/* The register of that name: 1, or 0 if it is no register's name, or -1 after an error. */
static int find_register(McReader *reader, gsize length, McOperand *operand) {
  for (guint i = 0; i < G_N_ELEMENTS(banks); i++) {
    const Bank *bank = &banks[i];
    gsize letters = strlen(bank->letters);
    if (length < letters + (bank->zero == MC_NO_REGISTER) || strncmp(reader->p, bank->letters, letters) != 0)
      continue;
    if (bank->name && length == strlen(bank->name) && strncmp(reader->p, bank->name, length) == 0) {
      operand->kind = bank->kind;
      operand->number = bank->zero;
      return 1;
    }
    int number = 0;
    gsize digits = letters;
    while (digits < length && g_ascii_isdigit(reader->p[digits]) && number < 1000)
      number = number * 10 + reader->p[digits++] - '0';
    if (digits != length || length == letters)
      continue;
    if (number >= bank->count) {
      mc_reader_unexpected(reader, reader->p, bank->expected);
      return -1;
    }
    operand->kind = bank->kind;
    operand->number = (int16_t)number;
    return 1;
  }
  return 0;
}

static bool find_part(const char *text, gsize length, McPart *part) {
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
    if (strlen(parts[i].text) == length && strncmp(parts[i].text, text, length) == 0) {
      *part = parts[i].part;
      return true;
    }
  return false;
}

/* `.reuse`, `.H1` and the like behind a register. False if there is another word. */
static bool read_suffixes(McReader *reader, McOperand *operand) {
  while (here(reader) == '.') {
    reader->p++;
    gsize length = plain_word(reader);
    McPart part;
    if (length == 5 && strncmp(reader->p, "reuse", 5) == 0)
      operand->reuse = true;
    else if (operand->part == MC_ALL && find_part(reader->p, length, &part))
      operand->part = part;
    else
      return false;
    reader->p += length;
  }
  return true;
}

/* ---- numbers ---- */

static bool read_special_real(McReader *reader, McOperand *operand, bool minus) {
  static const char *const words[] = {"INF", "QNAN", "SNAN"};
  gsize length = plain_word(reader);
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (strlen(words[i]) == length && strncmp(reader->p, words[i], length) == 0) {
      double real = i == 0 ? INFINITY : NAN;
      operand->kind = MC_REAL;
      operand->real = copysign(real, minus ? -1.0 : 1.0);
      reader->p += length;
      return true;
    }
  return false;
}

/* 1, 0 if no number stands there (`2D` is a word), -1 after an error. */
static int read_number(McReader *reader, McOperand *operand, bool minus) {
  const char *start = reader->p;
  if (here(reader) == '0' && start + 1 < reader->stop && start[1] == 'x') {
    uint64_t value;
    if (!mc_reader_number(reader, &value))
      return -1;
    operand->kind = MC_INTEGER;
    operand->value = minus ? -value : value;
    return 1;
  }
  char digits[64];
  gsize length = 0;
  for (const char *p = start; p < reader->stop && length < sizeof digits - 1; p++) {
    bool sign = (*p == '-' || *p == '+') && p > start && (p[-1] == 'e' || p[-1] == 'E');
    if (!g_ascii_isdigit(*p) && *p != '.' && *p != 'e' && *p != 'E' && !sign)
      break;
    digits[length++] = *p;
  }
  digits[length] = '\0';
  char *end;
  double real = g_ascii_strtod(digits, &end);
  const char *after = start + (end - digits);
  if (end == digits || (after < reader->stop && (is_word(*after) || *after == '@')))
    return 0;
  operand->kind = MC_REAL;
  operand->real = minus ? -real : real;
  reader->p = after;
  return 1;
}

static bool read_offset(McReader *reader, bool minus, int32_t *offset) {
  const char *at = reader->p;
  uint64_t value;
  if (!mc_reader_number(reader, &value))
    return false;
  if (value > UINT32_MAX || (minus && value > 1u << 31))
    return mc_reader_error(reader, at, "an offset has 32 bits, found %#" G_GINT64_MODIFIER "x", value);
  *offset = minus ? (int32_t)-value : (int32_t)value;
  return true;
}

/* ---- constants and memory ---- */

/* What stands in brackets: a base, a uniform register, an offset. 1, 0 if it is something else, -1 after an error. */
static int read_terms(McReader *reader, McOperand *operand) {
  operand->base = operand->uniform = MC_NO_REGISTER;
  operand->scale = 1;
  bool offset = false;
  do {
    mc_reader_space(reader);
    bool minus = mc_reader_take(reader, "-");
    if (g_ascii_isdigit(here(reader)) && !offset) {
      if (!read_offset(reader, minus, &operand->offset))
        return -1;
      offset = true;
      continue;
    }
    McOperand term = {0};
    gsize length = plain_word(reader);
    int found = minus ? 0 : find_register(reader, length, &term);
    if (found < 1)
      return found;
    reader->p += length;
    if (term.kind == MC_REGISTER && operand->base == MC_NO_REGISTER && operand->uniform == MC_NO_REGISTER &&
        !offset) {
      operand->base = term.number;
      while (here(reader) == '.') {
        reader->p++;
        length = plain_word(reader);
        McPart part;
        if (length > 1 && length < 4 && *reader->p == 'X' && operand->scale == 1)
          operand->scale = (uint8_t)atoi(reader->p + 1);
        else if (operand->part == MC_ALL && find_part(reader->p, length, &part))
          operand->part = part;
        else
          return 0;
        reader->p += length;
      }
      if (operand->scale != 1 && operand->scale != 4 && operand->scale != 8 && operand->scale != 16)
        return 0;
    } else if (term.kind == MC_UNIFORM && operand->uniform == MC_NO_REGISTER && !offset) {
      operand->uniform = term.number;
      operand->uniform_pair = mc_reader_take(reader, ".64");
    } else {
      return 0;
    }
  } while (mc_reader_take(reader, "+"));
  mc_reader_space(reader);
  return mc_reader_take(reader, "]");
}

/* c[0x0][0x160], c[0x2][R0+0xc], cx[UR4][0x8], behind the first bracket. */
static int read_constant(McReader *reader, McOperand *operand, bool extended) {
  int16_t descriptor = MC_NO_REGISTER;
  operand->kind = MC_CONSTANT;
  operand->bank = -1;
  if (extended) {
    McOperand term = {0};
    gsize length = plain_word(reader);
    int found = find_register(reader, length, &term);
    if (found < 1 || term.kind != MC_UNIFORM)
      return MIN(found, 0);
    reader->p += length;
    descriptor = term.number;
  } else {
    const char *at = reader->p;
    int32_t bank = 0;
    if (!g_ascii_isdigit(here(reader)))
      return 0;
    if (!read_offset(reader, false, &bank))
      return -1;
    if (bank < 0 || bank > 31) {
      mc_reader_error(reader, at, "expected a constant bank from 0x0 to 0x1f, found %#x", (unsigned)bank);
      return -1;
    }
    operand->bank = (int16_t)bank;
  }
  if (!mc_reader_take(reader, "]["))
    return 0;
  int found = read_terms(reader, operand);
  if (found < 1)
    return found;
  if (extended && operand->uniform != MC_NO_REGISTER)
    return 0;
  if (extended)
    operand->uniform = descriptor;
  return read_suffixes(reader, operand);
}

static int read_memory(McReader *reader, McOperand *operand) {
  operand->kind = MC_MEMORY;
  operand->descriptor = MC_NO_REGISTER;
  if (mc_reader_take(reader, "desc[")) {
    McOperand term = {0};
    gsize length = plain_word(reader);
    int found = find_register(reader, length, &term);
    if (found < 1 || term.kind != MC_UNIFORM)
      return MIN(found, 0);
    operand->descriptor = term.number;
    reader->p += length;
    if (!mc_reader_take(reader, "]["))
      return 0;
  } else {
    reader->p++;
  }
  return read_terms(reader, operand);
}

/* ---- symbols ---- */

static void add_pending(McReader *reader, const char *at, const char *name, const char *end, bool relative,
                        McSymbolPart part) {
  McPending pending = {.kind = MC_PENDING_OPERAND,
                       .index = reader->module->operands->len,
                       .part = part,
                       .section = reader->section,
                       .name = g_string_chunk_insert_len(reader->strings, name, end - name),
                       .relative = relative,
                       .line = reader->number,
                       .column = (uint32_t)(at - reader->line) + 1};
  g_array_append_val(reader->pending, pending);
}

/* `(name), 32@lo(name), 32@hi((function + .L_x_3@srel)). 1, 0 if it is none, -1 after an error. */
static int read_symbol(McReader *reader, McOperand *operand) {
  static const char srel[] = "@srel";
  const char *start = reader->p;
  McSymbolPart part = MC_SYMBOL_WHOLE;
  if (mc_reader_take(reader, "32@lo("))
    part = MC_SYMBOL_LOW32;
  else if (mc_reader_take(reader, "32@hi("))
    part = MC_SYMBOL_HIGH32;
  else if (!mc_reader_take(reader, "`("))
    return 0;
  guint open = mc_reader_take(reader, "(") ? 2 : 1;
  mc_reader_space(reader);
  const char *name = reader->p;
  gsize length = mc_reader_word(reader, name);
  reader->p += length;
  mc_reader_space(reader);
  bool relative = false;
  if (mc_reader_take(reader, "+")) {
    mc_reader_space(reader);
    name = reader->p;
    length = mc_reader_word(reader, name);
    reader->p += length;
  }
  const char *end = name + length;
  if (mc_reader_starts(reader, srel)) {
    reader->p += strlen(srel);
    relative = true;
  }
  if (length == 0 || length > MC_WORD_MAX) {
    mc_reader_unexpected(reader, name, "the name of a label or symbol");
    return -1;
  }
  for (; open > 0; open--)
    if (!mc_reader_take(reader, ")")) {
      mc_reader_unexpected(reader, reader->p, "`)`");
      return -1;
    }
  operand->kind = MC_SYMBOL;
  operand->part = part;
  add_pending(reader, start, name, end, relative, part);
  return 1;
}

/* {2,1}, the scoreboards of DEPBAR. */
static int read_scoreboards(McReader *reader, McOperand *operand) {
  operand->kind = MC_SCOREBOARDS;
  reader->p++;
  do {
    mc_reader_space(reader);
    if (here(reader) < '0' || here(reader) >= '0' + MC_SCOREBOARDS_MAX)
      return 0;
    operand->value |= 1u << (*reader->p++ - '0');
  } while (mc_reader_take(reader, ","));
  return mc_reader_take(reader, "}");
}

/* ---- one operand ---- */

/* Anything up to the comma that ends the operand, as a name. */
static bool read_name(McReader *reader, const char *start, McOperand *operand) {
  guint open = 0;
  const char *p = start;
  for (; p < reader->stop && *p != ';' && (open > 0 || *p != ','); p++) {
    if (!g_ascii_isprint(*p))
      return mc_reader_unexpected(reader, p, "an operand");
    if (strchr("[({", *p))
      open++;
    else if (strchr("])}", *p) && open-- == 0)
      return mc_reader_unexpected(reader, p, "an operand");
  }
  reader->p = p;
  if (open > 0)
    return mc_reader_unexpected(reader, p, "a closing bracket");
  while (p > start && g_ascii_isspace(p[-1]))
    p--;
  if (p == start || p - start > MC_WORD_MAX || !(g_ascii_isalnum(*start) || strchr("_$[{-!~|", *start)))
    return mc_reader_unexpected(reader, start, "an operand");
  uint32_t column = operand->column;
  *operand = (McOperand){.kind = MC_NAME, .column = column, .text = mc_reader_intern(reader, start, p - start)};
  return true;
}

static int read_worded(McReader *reader, McOperand *operand) {
  gsize length = plain_word(reader);
  int found = find_register(reader, length, operand);
  if (found < 0)
    return -1;
  if (found) {
    reader->p += length;
    return 1;
  }
  bool uniform = length == 3 && strncmp(reader->p, "UPR", 3) == 0;
  if (uniform || (length == 2 && strncmp(reader->p, "PR", 2) == 0)) {
    operand->kind = uniform ? MC_PREDICATES_UNIFORM : MC_PREDICATES;
    reader->p += length;
    return 1;
  }
  if (mc_reader_starts(reader, "SR_") || (length == 3 && mc_reader_starts(reader, "SRZ"))) {
    length = mc_reader_word(reader, reader->p);
    operand->kind = MC_SPECIAL;
    operand->text = mc_reader_intern(reader, reader->p, length);
    reader->p += length;
    return 1;
  }
  return 0;
}

static int read_core(McReader *reader, McOperand *operand, bool sign) {
  char c = here(reader);
  if (g_ascii_isdigit(c)) {
    int found = read_number(reader, operand, operand->minus);
    if (found == 1)
      operand->minus = false;
    return found ? found : read_symbol(reader, operand);
  }
  if (sign && read_special_real(reader, operand, operand->minus)) {
    operand->minus = false;
    return 1;
  }
  if (mc_reader_take(reader, "c["))
    return read_constant(reader, operand, false);
  if (mc_reader_take(reader, "cx["))
    return read_constant(reader, operand, true);
  if (c == '[' || mc_reader_starts(reader, "desc["))
    return read_memory(reader, operand);
  if (c == '`')
    return read_symbol(reader, operand);
  if (c == '{')
    return read_scoreboards(reader, operand);
  return read_worded(reader, operand);
}

/* An operand ends before a comma, a semicolon, a space or a comment. */
static bool at_end(const McReader *reader) {
  char c = here(reader);
  return c == '\0' || c == ',' || c == ';' || c == ' ' || c == '\t';
}

bool mc_read_operand(McReader *reader, McOperand *operand) {
  const char *start = reader->p;
  *operand = (McOperand){.base = MC_NO_REGISTER,
                         .uniform = MC_NO_REGISTER,
                         .descriptor = MC_NO_REGISTER,
                         .scale = 1,
                         .column = (uint32_t)(start - reader->line) + 1};
  bool plus = mc_reader_take(reader, "+");
  operand->negated = !plus && mc_reader_take(reader, "!");
  operand->minus = !plus && !operand->negated && mc_reader_take(reader, "-");
  operand->inverted = !plus && !operand->negated && !operand->minus && mc_reader_take(reader, "~");
  operand->absolute = mc_reader_take(reader, "|");
  guint pending = reader->pending->len;
  int found = read_core(reader, operand, plus || operand->minus);
  if (found < 0)
    return false;
  bool whole = found && (operand->kind == MC_MEMORY || !operand->absolute || mc_reader_take(reader, "|"));
  if (whole && (operand->kind <= MC_UNIFORM || operand->kind == MC_CONSTANT))
    whole = read_suffixes(reader, operand);
  if (whole && at_end(reader) && !(plus && operand->kind != MC_REAL))
    return true;
  g_array_set_size(reader->pending, pending);
  return read_name(reader, start, operand);
}
