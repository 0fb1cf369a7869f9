/* Rows of the table: conditions, words, numbers. */
#include "isa/mc/mc_cubin_decode.h"

#include <stdlib.h>
#include <string.h>

#include "isa/mc/mc_cubin_fields.h"
#include "isa/mc/mc_print.h"
#include "isa/mc/mc_tree.h"

typedef struct Form {
  uint16_t opcode;
  uint8_t operands; /* bit n: bits 9 to 11 of the encoding may be n */
  uint8_t sm_min, sm_max;
  uint64_t rest_low, rest_high;
  const char *text;
} Form;

#define OF(n) +(1 << (n))
#define FORM(opcode, operands, sm_min, sm_max, rest_low, rest_high, text) \
  {opcode, (uint8_t)(0 operands), sm_min, sm_max, rest_low, rest_high, text},
static const Form forms[] = {
#include "isa/mc/mc_cubin_forms.def"
};
#undef FORM
#undef OF

enum { OPCODE_BITS = 9, INST_BYTES = MC_INST_BYTES };
/* Bits that every instruction has: opcode and guard; control bits. */
static const uint64_t common_low = 0xffff, common_high = (uint64_t)0x7fffff << 41;

/* ---- bits ---- */

static uint64_t mask_of(unsigned width) { return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1; }

uint64_t mc_field(McDecoder *decoder, unsigned at, unsigned width) {
  const McEncoding *code = &decoder->code;
  if (at >= 64) {
    decoder->read_high |= mask_of(width) << (at - 64);
    return code->high >> (at - 64) & mask_of(width);
  }
  uint64_t value = code->low >> at;
  decoder->read_low |= mask_of(width) << at;
  if (at > 0 && at + width > 64) {
    value |= code->high << (64 - at);
    decoder->read_high |= mask_of(at + width - 64);
  }
  return value & mask_of(width);
}

int64_t mc_signed_field(McDecoder *decoder, unsigned at, unsigned width) {
  uint64_t value = mc_field(decoder, at, width), sign = (uint64_t)1 << (width - 1);
  return (int64_t)((value ^ sign) - sign);
}

unsigned mc_form_number(McDecoder *decoder) {
  unsigned number = 0;
  while (g_ascii_isdigit(*decoder->p))
    number = number * 10 + (unsigned)(*decoder->p++ - '0');
  return number;
}

/* P.W, and its field. */
static uint64_t read_field(McDecoder *decoder, unsigned *width) {
  unsigned at = mc_form_number(decoder);
  decoder->p++; /* the dot */
  *width = mc_form_number(decoder);
  return mc_field(decoder, at, *width);
}

/* ---- names ---- */

void mc_print_register_field(McDecoder *decoder, unsigned at) {
  unsigned number = (unsigned)mc_field(decoder, at, 8);
  if (number == MC_RZ)
    g_string_append(decoder->out, "RZ");
  else
    g_string_append_printf(decoder->out, "R%u", number);
}

void mc_print_uniform_field(McDecoder *decoder, unsigned at) {
  unsigned number = (unsigned)mc_field(decoder, at, 6);
  if (number == MC_URZ)
    g_string_append(decoder->out, "URZ");
  else
    g_string_append_printf(decoder->out, "UR%u", number);
}

static void print_predicate(McDecoder *decoder, unsigned at, const char *letter) {
  unsigned number = (unsigned)mc_field(decoder, at, 3);
  if (number == MC_PT)
    g_string_append_printf(decoder->out, "%sPT", letter);
  else
    g_string_append_printf(decoder->out, "%sP%u", letter, number);
}

static void print_barrier(McDecoder *decoder, unsigned at) {
  unsigned number = (unsigned)mc_field(decoder, at, 8);
  if (number > 15)
    decoder->failed = true;
  g_string_append_printf(decoder->out, "B%u", number);
}

static void print_special(McDecoder *decoder, unsigned at) {
  static const struct {
    uint8_t number;
    const char *name;
  } specials[] = {{0x00, "SR_LANEID"},
                  {0x02, "SR_VIRTCFG"},
                  {0x03, "SR_VIRTID"},
                  {0x21, "SR_TID.X"},
                  {0x22, "SR_TID.Y"},
                  {0x23, "SR_TID.Z"},
                  {0x25, "SR_CTAID.X"},
                  {0x26, "SR_CTAID.Y"},
                  {0x27, "SR_CTAID.Z"},
                  {0x2f, "SR_SWINHI"},
                  {0x32, "SR_SMEMSZ"},
                  {0x37, "SR_LMEMHIOFF"},
                  {0x38, "SR_EQMASK"},
                  {0x39, "SR_LTMASK"},
                  {0x3a, "SR_LEMASK"},
                  {0x3b, "SR_GTMASK"},
                  {0x3c, "SR_GEMASK"},
                  {0x43, "SR_VIRTUALSMID"},
                  {0x50, "SR_CLOCKLO"},
                  {0x51, "SR_CLOCKHI"},
                  {0x52, "SR_GLOBALTIMERLO"},
                  {0x53, "SR_GLOBALTIMERHI"},
                  {0x64, "SR_PM0"},
                  {0x88, "SR_CgaCtaId"},
                  {0xff, "SRZ"}};
  unsigned number = (unsigned)mc_field(decoder, at, 8);
  for (guint i = 0; i < G_N_ELEMENTS(specials); i++)
    if (specials[i].number == number) {
      g_string_append(decoder->out, specials[i].name);
      return;
    }
  decoder->failed = true;
}

/* .U8 to .S64, and nothing for .S32. */
static void print_integer_type(McDecoder *decoder) {
  static const char *const names[] = {".U8", ".U16", ".U32", ".U64", ".S8", ".S16", "", ".S64"};
  decoder->p++;
  unsigned sign = mc_form_number(decoder);
  decoder->p++;
  unsigned size = mc_form_number(decoder);
  g_string_append(decoder->out, names[mc_field(decoder, sign, 1) << 2 | mc_field(decoder, size, 2)]);
}

/* Which part of its register a conversion takes: bits 60 and 61. */
static void print_selection(McDecoder *decoder) {
  unsigned size = (unsigned)mc_field(decoder, 84, 2), form = (unsigned)(decoder->code.low >> 9 & 7);
  if (form != 1)
    return;
  unsigned part = (unsigned)mc_field(decoder, 60, 2);
  if (size == 0 && part > 0)
    g_string_append_printf(decoder->out, ".B%u", part);
  else if (size == 1 && part == 1)
    g_string_append(decoder->out, ".H1");
  else if (part > 0)
    decoder->failed = true;
}

/* Which half of its register an instruction of one half takes. */
static void print_one_half(McDecoder *decoder) {
  if (mc_field(decoder, 60, 1))
    g_string_append(decoder->out, ".H1");
}

/* The scoreboards of DEPBAR, as {2,1}. */
static void print_scoreboards(McDecoder *decoder) {
  unsigned set = (unsigned)mc_field(decoder, 32, 6);
  const char *join = ", {";
  for (int i = 5; i >= 0; i--)
    if (set >> i & 1) {
      g_string_append_printf(decoder->out, "%s%d", join, i);
      join = ",";
    }
  if (set)
    g_string_append_c(decoder->out, '}');
}

/* ---- targets ---- */

/* In words of four bytes: 48 bits from bit 34 on, and for branches of sm_90 eight more below them. */
static int64_t branch_offset(McDecoder *decoder) {
  decoder->p++;
  if (*decoder->p == 'L')
    return mc_signed_field(decoder, 24, 8); /* LEPC, whose offset was never longer */
  if (*decoder->p == 'B') {
    decoder->p++;
    return (int64_t)((uint64_t)mc_signed_field(decoder, 34, 30) << 2);
  }
  int64_t words = mc_signed_field(decoder, 34, 48);
  if (*decoder->p == '9') {
    decoder->p++;
    words = (int64_t)((uint64_t)words << 8 | mc_field(decoder, 16, 8));
  }
  return (int64_t)((uint64_t)words << 2);
}

static void print_target(McDecoder *decoder) {
  int64_t target = branch_offset(decoder) + decoder->code.address + INST_BYTES;
  if (target < 0 || target > UINT32_MAX)
    decoder->failed = true;
  mc_print_integer(decoder->out, target);
}

/* ---- fields of a row ---- */

static const char *field_end(const char *p) {
  const char *end = strchr(p, '}');
  return end ? end : p + strlen(p);
}

/* P.W:a|b|c */
static void print_choice(McDecoder *decoder) {
  unsigned width;
  uint64_t value = read_field(decoder, &width);
  const char *word = decoder->p + 1, *end = field_end(word);
  for (; value > 0 && word < end; value--) {
    const char *bar = memchr(word, '|', end - word);
    word = bar ? bar + 1 : end + 1;
  }
  const char *bar = word <= end ? memchr(word, '|', end - word) : NULL;
  if (word > end || *word == '*')
    decoder->failed = true;
  else
    g_string_append_len(decoder->out, word, (bar ? bar : end) - word);
  decoder->p = end;
}

static void print_if(McDecoder *decoder, bool set) {
  decoder->p++;
  unsigned at = mc_form_number(decoder);
  const char *word = decoder->p + 1, *end = field_end(word);
  if ((mc_field(decoder, at, 1) != 0) == set)
    g_string_append_len(decoder->out, word, end - word);
  decoder->p = end;
}

static bool is_power(uint64_t value) { return value && !(value & (value - 1)); }

/* @P.W=N, @power32. */
static void check_condition(McDecoder *decoder) {
  unsigned width;
  decoder->p++;
  if (g_str_has_prefix(decoder->p, "power32")) {
    if (!is_power(mc_field(decoder, 32, 32)))
      decoder->failed = true;
    decoder->p = field_end(decoder->p);
    return;
  }
  uint64_t value = read_field(decoder, &width);
  decoder->p++;
  if (value != mc_form_number(decoder))
    decoder->failed = true;
}

/* A predicate that is left out if it is true, else with a comma behind it. */
static void print_optional(McDecoder *decoder) {
  char kind = *decoder->p++;
  unsigned at = mc_form_number(decoder);
  bool negated = kind == 'q' && mc_field(decoder, at + 3, 1);
  if (mc_field(decoder, at, 3) == MC_PT && !negated)
    return;
  if (negated)
    g_string_append_c(decoder->out, '!');
  print_predicate(decoder, at, kind == 'v' ? "U" : "");
  g_string_append(decoder->out, ", ");
}

static void print_negatable(McDecoder *decoder) {
  decoder->p++;
  char kind = *decoder->p++;
  unsigned at = mc_form_number(decoder);
  if (mc_field(decoder, at + 3, 1))
    g_string_append_c(decoder->out, '!');
  print_predicate(decoder, at, kind == 'V' ? "U" : "");
}

static void print_simple(McDecoder *decoder) {
  char kind = *decoder->p++;
  unsigned at = mc_form_number(decoder);
  switch (kind) {
  case 'R': mc_print_register_field(decoder, at); break;
  case 'U': mc_print_uniform_field(decoder, at); break;
  case 'P': print_predicate(decoder, at, ""); break;
  case 'V': print_predicate(decoder, at, "U"); break;
  case 'B': print_barrier(decoder, at); break;
  case 'r': print_special(decoder, at); break;
  case 'S': g_string_append_printf(decoder->out, "SB%u", (unsigned)mc_field(decoder, at, 3)); break;
  }
}

static void print_unsigned(McDecoder *decoder) {
  unsigned width;
  decoder->p++;
  mc_print_integer(decoder->out, (int64_t)read_field(decoder, &width));
}

/* One field, at the character behind its brace. */
static void decode_field(McDecoder *decoder) {
  unsigned width;
  char second = decoder->p[1];
  switch (*decoder->p) {
  case '%': break;
  case '@': check_condition(decoder); break;
  case '?': print_if(decoder, true); break;
  case '~': print_if(decoder, false); break;
  case '.':
    decoder->p++;
    read_field(decoder, &width);
    break;
  case '!': print_negatable(decoder); break;
  case 'p':
  case 'v':
  case 'q': print_optional(decoder); break;
  case 'i': print_integer_type(decoder); break;
  case 'x': print_unsigned(decoder); break;
  case 'T': print_target(decoder); break;
  case 'Y': mc_print_integer(decoder->out, branch_offset(decoder)); break;
  case 'l': /* lut */
    mc_print_integer(decoder->out, (int64_t)(mc_field(decoder, 64, 3) | mc_field(decoder, 72, 5) << 3));
    break;
  case 's':
    if (second == 'i')
      print_selection(decoder);
    else
      print_scoreboards(decoder);
    break;
  case 'h': print_one_half(decoder); break;
  case 'G': mc_decode_global(decoder); break;
  case 'H': mc_decode_shared(decoder); break;
  case 'L': mc_decode_local(decoder); break;
  case 'K': mc_decode_bank(decoder, true); break;
  case 'k': mc_decode_bank(decoder, false); break;
  case 'u':
    decoder->p++;
    mc_decode_operand(decoder, true);
    break;
  case 'A':
  case 'C':
  case 'Q': mc_decode_operand(decoder, false); break;
  case 'B':
    if (g_ascii_isdigit(second))
      print_simple(decoder);
    else
      mc_decode_operand(decoder, false);
    break;
  default:
    if (g_ascii_isdigit(*decoder->p))
      print_choice(decoder);
    else
      print_simple(decoder);
  }
}

static void decode_text(McDecoder *decoder) {
  while (*decoder->p && !decoder->failed) {
    if (*decoder->p != '{') {
      g_string_append_c(decoder->out, *decoder->p++);
      continue;
    }
    decoder->p++;
    decode_field(decoder);
    decoder->p = field_end(decoder->p);
    if (*decoder->p)
      decoder->p++;
  }
}

/* ---- rows ---- */

static bool may_be(const Form *form, const McEncoding *encoding) {
  unsigned operands = (unsigned)(encoding->low >> OPCODE_BITS & 7);
  return form->opcode == (encoding->low & ((1 << OPCODE_BITS) - 1)) && form->operands >> operands & 1 &&
         encoding->sm >= form->sm_min && encoding->sm <= form->sm_max;
}

/* Instructions of the uniform datapath are guarded by a predicate of their own. */
static void print_guard(McDecoder *decoder) {
  bool uniform = g_str_has_prefix(decoder->p, "{%}");
  unsigned number = (unsigned)mc_field(decoder, 12, 3);
  bool negated = mc_field(decoder, 15, 1);
  if (number == MC_PT && !negated)
    return;
  g_string_append(decoder->out, negated ? "@!" : "@");
  print_predicate(decoder, 12, uniform ? "U" : "");
  g_string_append_c(decoder->out, ' ');
}

static bool try_form(const Form *form, const McEncoding *encoding, GString *text, McFormMatch *match) {
  gsize length = text->len;
  McDecoder decoder = {.code = *encoding, .p = form->text, .out = text};
  print_guard(&decoder);
  decode_text(&decoder);
  match->row = (unsigned)(form - forms);
  match->rest_low = encoding->low & ~decoder.read_low & ~common_low;
  match->rest_high = encoding->high & ~decoder.read_high & ~common_high;
  if (decoder.failed)
    g_string_truncate(text, length);
  return !decoder.failed;
}

bool mc_decode_match(const McEncoding *encoding, GString *text, McFormMatch *match) {
  for (guint i = 0; i < G_N_ELEMENTS(forms); i++)
    if (may_be(&forms[i], encoding) && try_form(&forms[i], encoding, text, match))
      return true;
  return false;
}

bool mc_decode(const McEncoding *encoding, GString *text) {
  McFormMatch match;
  gsize length = text->len;
  if (!mc_decode_match(encoding, text, &match))
    return false;
  const Form *form = &forms[match.row];
  if (match.rest_low == form->rest_low && match.rest_high == form->rest_high)
    return true;
  g_string_truncate(text, length);
  return false;
}
