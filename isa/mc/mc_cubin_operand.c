/* Operands of encodings. Of arithmetic there are three places: a register at bit 24 (A); 32 bits from bit 32 on for a
 * register, an immediate, a word of a constant bank or a uniform register; and a register at bit 64. Bits 9 to 11 say
 * what the second is, and whether it is the second operand (B) or the third (C). Signs belong to places. */
#include <math.h>
#include <string.h>

#include "isa/mc/mc_cubin_fields.h"
#include "isa/mc/mc_print.h"
#include "isa/mc/mc_tree.h"

enum {
  FORM_REGISTERS = 1,
  FORM_LAST_IMMEDIATE = 2,
  FORM_LAST_CONSTANT = 3,
  FORM_IMMEDIATE = 4,
  FORM_CONSTANT = 5,
  FORM_UNIFORM = 6,
  FORM_LAST_UNIFORM = 7,
  CONSTANT_BASE = 38, /* bits of a word in a constant bank: offset, bank */
  CONSTANT_BANK = 54,
  TURNED = 86,
  UNIFORM_BIT = 91,
  POLICY_BIT = 101, /* of sm_80 to sm_89: the descriptor isn't the usual one */
};

typedef struct Place {
  unsigned at, minus, absolute, half; /* bits */
} Place;

static const Place first = {24, 72, 73, 74}, middle = {32, 63, 62, 60}, last = {64, 75, 74, 0},
                   last_fused = {64, 84, 83, 81};

typedef struct Flags {
  unsigned reuse; /* bit */
  bool minus, absolute, inverted;
  bool halves; /* it may take one half of its register twice */
  bool turns;  /* it may take H0_NH1 */
  bool fused;  /* HFMA2 has the signs and the half of the last place elsewhere */
  char immediate;
} Flags;

static Flags read_flags(McDecoder *decoder, char letter) {
  Flags flags = {.immediate = 'u', .reuse = letter == 'A' ? 122 : letter == 'C' ? 124 : 123};
  if (*decoder->p != ':')
    return flags;
  for (decoder->p++; *decoder->p && *decoder->p != '}'; decoder->p++)
    switch (*decoder->p) {
    case '-': flags.minus = true; break;
    case '|': flags.absolute = true; break;
    case 'w': flags.halves = true; break;
    case 'n': flags.turns = true; break;
    case 'H': flags.fused = true; break;
    case '3': flags.reuse = 124; break;
    case '~': flags.inverted = true; break;
    default: flags.immediate = *decoder->p; break;
    }
  return flags;
}

static double half_value(uint32_t bits) {
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                 : exponent == 0 ? ldexp(fraction, -24)
                                 : ldexp(1024 + fraction, (int)exponent - 25);
  return bits >> 15 ? -value : value;
}

/* A bfloat16 is the high half of a float. */
static float brain_value(uint32_t bits) {
  float value;
  bits <<= 16;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void print_immediate(McDecoder *decoder, char kind) {
  uint32_t bits = (uint32_t)mc_field(decoder, 32, 32);
  uint64_t wide = (uint64_t)bits << 32;
  float single;
  double real;
  memcpy(&single, &bits, sizeof single);
  memcpy(&real, &wide, sizeof real);
  switch (kind) {
  case 'f': mc_print_real(decoder->out, single); break;
  case 'd': mc_print_real(decoder->out, real); break;
  case 'h':
    mc_print_real(decoder->out, half_value(bits >> 16));
    g_string_append(decoder->out, ", ");
    mc_print_real(decoder->out, half_value(bits & 0xffff));
    break;
  case 'b':
    mc_print_real(decoder->out, brain_value(bits >> 16));
    g_string_append(decoder->out, ", ");
    mc_print_real(decoder->out, brain_value(bits & 0xffff));
    break;
  case 's': mc_print_integer(decoder->out, (int32_t)bits); break;
  default: mc_print_integer(decoder->out, bits); break;
  }
}

static void print_bank_word(McDecoder *decoder) {
  unsigned offset = (unsigned)mc_field(decoder, CONSTANT_BASE, 16),
           bank = (unsigned)mc_field(decoder, CONSTANT_BANK, 5);
  g_string_append_printf(decoder->out, "c[0x%x][0x%x]", bank, offset);
}

static void print_half(McDecoder *decoder, const Place *place, bool turns) {
  static const char *const halves[] = {"", NULL, ".H0_H0", ".H1_H1"};
  unsigned which = (unsigned)mc_field(decoder, place->half, 2);
  const char *half = halves[which];
  if (turns && mc_field(decoder, TURNED, 1))
    half = which == 0 ? ".H0_NH1" : NULL;
  if (half)
    g_string_append(decoder->out, half);
  else
    decoder->failed = true;
}

/* A register of arithmetic with its signs, or what stands in its place. */
static void print_place(McDecoder *decoder, const Place *place, unsigned form, const Flags *flags, bool uniform) {
  bool minus = (flags->minus || flags->inverted) && mc_field(decoder, place->minus, 1);
  bool absolute = flags->absolute && mc_field(decoder, place->absolute, 1);
  if (minus)
    g_string_append_c(decoder->out, flags->inverted ? '~' : '-');
  if (absolute)
    g_string_append_c(decoder->out, '|');
  if (uniform || form == FORM_UNIFORM)
    mc_print_uniform_field(decoder, place->at);
  else if (form == FORM_CONSTANT)
    print_bank_word(decoder);
  else
    mc_print_register_field(decoder, place->at);
  if (absolute)
    g_string_append_c(decoder->out, '|');
  if (form == FORM_REGISTERS && !uniform && mc_field(decoder, flags->reuse, 1))
    g_string_append(decoder->out, ".reuse");
  if (flags->halves)
    print_half(decoder, place, flags->turns);
}

/* The place in the middle: its kind as if it were of the second operand. */
static void print_middle(McDecoder *decoder, unsigned kind, const Flags *flags, bool uniform) {
  if (kind == FORM_UNIFORM && !uniform && !mc_field(decoder, UNIFORM_BIT, 1))
    decoder->failed = true;
  if (kind == FORM_IMMEDIATE)
    print_immediate(decoder, flags->immediate);
  else
    print_place(decoder, &middle, kind, flags, uniform && kind != FORM_CONSTANT);
}

void mc_decode_operand(McDecoder *decoder, bool uniform) {
  static const uint8_t as_second[] = {[FORM_LAST_IMMEDIATE] = FORM_IMMEDIATE,
                                      [FORM_LAST_CONSTANT] = FORM_CONSTANT,
                                      [FORM_LAST_UNIFORM] = FORM_UNIFORM};
  char letter = *decoder->p++;
  Flags flags = read_flags(decoder, letter);
  unsigned form = (unsigned)(decoder->code.low >> 9 & 7);
  bool moved = form == FORM_LAST_IMMEDIATE || form == FORM_LAST_CONSTANT || form == FORM_LAST_UNIFORM;
  unsigned kind = moved ? as_second[form] : form;
  if (letter == 'A')
    print_place(decoder, &first, FORM_REGISTERS, &flags, uniform);
  else if (letter == 'Q' || (letter == 'B') != moved)
    print_middle(decoder, kind, &flags, uniform);
  else
    print_place(decoder, flags.fused ? &last_fused : &last, FORM_REGISTERS, &flags, uniform);
}

/* ---- addresses ---- */

static void print_offset(McDecoder *decoder, const char *plus, int64_t offset, bool always) {
  if (offset == 0 && !always)
    return;
  g_string_append(decoder->out, plus);
  mc_print_integer(decoder->out, offset);
}

/* Which bits an access to global memory has for its uniform register, for the base's 64 bits, and for whether the
 * uniform register is a descriptor, by the letter behind G. */
typedef struct GlobalPlace {
  char letter;
  unsigned uniform, wide, descriptor;
} GlobalPlace;

static const GlobalPlace globals[] = {{'L', 32, 90, 76}, {'S', 64, 90, 76}, {'R', 64, 90, 71}, {'A', 64, 70, 71}};

static void print_base(McDecoder *decoder, int64_t offset) {
  g_string_append_c(decoder->out, '[');
  bool absent = mc_field(decoder, 24, 8) == MC_RZ && offset != 0;
  if (!absent)
    mc_print_register_field(decoder, 24);
  print_offset(decoder, absent ? "" : "+", offset, false);
  g_string_append_c(decoder->out, ']');
}

static void print_descriptor(McDecoder *decoder, unsigned at) {
  bool policy = decoder->code.sm >= 80 && decoder->code.sm < 90 && mc_field(decoder, POLICY_BIT, 1);
  mc_field(decoder, at, 6);
  if (decoder->code.sm < 90 && !policy)
    return;
  g_string_append(decoder->out, "desc[");
  mc_print_uniform_field(decoder, at);
  g_string_append_c(decoder->out, ']');
}

/* Turing, and what is MMIO, adds a uniform register to the base; else it is a descriptor later, which sm_80 to sm_89
 * don't show. */
static void print_global(McDecoder *decoder, const GlobalPlace *place) {
  int64_t offset = mc_signed_field(decoder, 40, 24);
  bool wide = mc_field(decoder, place->wide, 1), descriptor = mc_field(decoder, place->descriptor, 1);
  if (descriptor)
    print_descriptor(decoder, place->uniform);
  if ((descriptor && decoder->code.sm < 80) || (descriptor && !wide))
    decoder->failed = true;
  mc_field(decoder, place->uniform, 6);
  g_string_append_c(decoder->out, '[');
  bool base = mc_field(decoder, 24, 8) != MC_RZ || decoder->code.sm >= 80;
  if (base) {
    mc_print_register_field(decoder, 24);
    g_string_append(decoder->out, wide ? ".64" : ".U32");
  }
  if (!descriptor) {
    g_string_append(decoder->out, base ? "+" : "");
    mc_print_uniform_field(decoder, place->uniform);
  }
  print_offset(decoder, "+", offset, false);
  g_string_append_c(decoder->out, ']');
}

/* LDGSTS has two addresses: shared memory at bit 44, with its register at bit 16, and global memory at bit 32. */
static void print_copy(McDecoder *decoder) {
  bool descriptor = mc_field(decoder, 76, 1), wide = mc_field(decoder, 70, 1);
  g_string_append_c(decoder->out, '[');
  mc_print_register_field(decoder, 16);
  print_offset(decoder, "+", mc_signed_field(decoder, 44, 20), false);
  g_string_append(decoder->out, "], ");
  if (!descriptor || !wide || !mc_field(decoder, UNIFORM_BIT, 1))
    decoder->failed = true;
  print_descriptor(decoder, 64);
  g_string_append_c(decoder->out, '[');
  mc_print_register_field(decoder, 24);
  g_string_append(decoder->out, ".64");
  print_offset(decoder, "+", mc_signed_field(decoder, 32, 12), false);
  g_string_append_c(decoder->out, ']');
}

void mc_decode_global(McDecoder *decoder) {
  decoder->p++;
  char letter = *decoder->p++;
  if (letter == 'D') {
    print_copy(decoder);
    return;
  }
  if (letter != 'C' && letter != 'T' && mc_field(decoder, UNIFORM_BIT, 1)) {
    for (guint i = 0; i < G_N_ELEMENTS(globals); i++)
      if (globals[i].letter == letter)
        print_global(decoder, &globals[i]);
    return;
  }
  print_base(decoder, letter == 'T' ? mc_signed_field(decoder, 32, 32) : mc_signed_field(decoder, 40, 24));
  if (letter == 'A')
    mc_field(decoder, 64, 8); /* unused, RZ or R0 */
}

/* SYNCS.EXCH has nothing but a uniform register. */
static void print_uniform_address(McDecoder *decoder, int64_t offset) {
  g_string_append_c(decoder->out, '[');
  mc_print_uniform_field(decoder, 24);
  print_offset(decoder, "+", offset, false);
  g_string_append_c(decoder->out, ']');
}

void mc_decode_shared(McDecoder *decoder) {
  static const char *const scales[] = {"", ".X4", ".X8", ".X16"};
  decoder->p++;
  char letter = *decoder->p++;
  int64_t offset = mc_signed_field(decoder, 40, 24);
  if (letter == 'U') {
    print_uniform_address(decoder, offset);
    return;
  }
  unsigned scale = letter == 'Y' ? 0 : (unsigned)mc_field(decoder, 78, 2);
  bool uniform = letter != 'C' && mc_field(decoder, UNIFORM_BIT, 1);
  unsigned at = letter == 'L' ? 32 : 64;
  bool base = mc_field(decoder, 24, 8) != MC_RZ || (!uniform && offset == 0);
  g_string_append_c(decoder->out, '[');
  if (base) {
    mc_print_register_field(decoder, 24);
    g_string_append(decoder->out, scales[scale]);
  }
  if (uniform) {
    g_string_append(decoder->out, base ? "+" : "");
    mc_print_uniform_field(decoder, at);
  }
  if (letter == 'A' && !uniform)
    mc_field(decoder, 64, 8); /* unused, RZ or R0 */
  print_offset(decoder, base || uniform ? "+" : "", offset, false);
  g_string_append_c(decoder->out, ']');
}

void mc_decode_local(McDecoder *decoder) {
  decoder->p++;
  print_base(decoder, mc_signed_field(decoder, 40, 24));
}

/* c[0x2][R0+0xc], c[0x2][UR4], c[0x0][0x28] */
void mc_decode_bank(McDecoder *decoder, bool base) {
  bool uniform = *++decoder->p == 'U';
  int64_t offset = mc_signed_field(decoder, CONSTANT_BASE, 16);
  unsigned bank = (unsigned)mc_field(decoder, CONSTANT_BANK, 5);
  bool register_base = uniform || (base && (mc_field(decoder, 24, 8) != MC_RZ || offset == 0));
  g_string_append_printf(decoder->out, "c[0x%x][", bank);
  if (uniform)
    mc_print_uniform_field(decoder, 24);
  else if (register_base)
    mc_print_register_field(decoder, 24);
  if (register_base)
    print_offset(decoder, "+", offset, false);
  else
    mc_print_integer(decoder->out, (int64_t)(uint64_t)offset & 0xffff);
  g_string_append_c(decoder->out, ']');
}
