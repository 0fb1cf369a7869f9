/* Instructions and modifiers that Fermi SASS can't write, against row_cases.def: edge values, random values, all
 * kinds of masks, operands in registers and constants, destinations on operands. And the special registers of newer
 * machines. */
#include <glib.h>
#include <stdlib.h>

#include "tests/unit/lab.h"
#include "tests/unit/oracle.h"
#include "tests/unit/unit.h"

#define SIGN64 (UINT64_C(1) << 63)
#define DST WIDE_DST
#define A WIDE_A
#define B WIDE_B
#define C WIDE_C
#define WIDE_IF(type, bits) \
  (TYPE_##type == TYPE_S64 || TYPE_##type == TYPE_U64 || TYPE_##type == TYPE_F64 ? (bits) : 0)

/* ---- the words of row_cases.def ---- */

static uint64_t unsigned_high(uint64_t a, uint64_t b) {
  uint64_t middle = u(high(a)) * low(b) + high(u(low(a)) * low(b));
  return u(high(a)) * high(b) + high(middle) + high(u(low(a)) * high(b) + low(middle));
}

static uint64_t signed_high(uint64_t a, uint64_t b) {
  return unsigned_high(a, b) - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
}

static uint32_t dot(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 4; i++) {
    uint8_t x = (uint8_t)(a >> (8 * i)), y = (uint8_t)(b >> (8 * i));
    sum += (a_signed ? (int8_t)x : x) * (b_signed ? (int8_t)y : y);
  }
  return low(u(c) + (uint64_t)sum);
}

#define ordered(bits, x, y) (((bits) & ((x) < (y) ? 1 : (x) == (y) ? 2 : 4)) != 0)

static int64_t rank64(uint64_t bits) { return bits & SIGN64 ? -(int64_t)(bits & ~SIGN64) - 1 : (int64_t)bits; }

static uint64_t choose64(uint64_t x, uint64_t y, bool take_x) {
  return two_words(is_nan64(x) ? d(y) : is_nan64(y) ? d(x) : d(take_x ? x : y));
}

static uint64_t lesser64(uint64_t x, uint64_t y) { return choose64(x, y, rank64(x) < rank64(y)); }
static uint64_t greater64(uint64_t x, uint64_t y) { return choose64(x, y, rank64(x) > rank64(y)); }

/* Generic addresses of shared memory: PTX's window, and machine code's, which has a high word of its own. */
#define IN_SHARED(a) (((a) >= 0xe0000000 && (a) < 0xe8000000) || ((a) >> 32 == SHARED_HIGH && low(a) < 0x08000000))

/* The lanes of `lanes` that have the same value as `lane`. */
static uint32_t alike(const uint64_t values[WARP_LANES], unsigned lane, uint32_t lanes) {
  uint32_t same = 0;
  for (unsigned i = 0; i < WARP_LANES; i++)
    same |= (uint32_t)(values[i] == values[lane]) << i;
  return same & lanes;
}

static uint32_t lowest(uint32_t lanes) {
  for (unsigned i = 0; i < WARP_LANES; i++)
    if (bit(lanes, i))
      return i;
  return 0;
}

static uint32_t reduced(AtomOp op, DataType type, const uint64_t values[WARP_LANES], uint32_t lanes) {
  int64_t result = 0;
  bool begun = false;
  for (unsigned i = 0; i < WARP_LANES; i++) {
    if (!bit(lanes, i))
      continue;
    int64_t next = type == TYPE_S32 ? s(low(values[i])) : (int64_t)low(values[i]);
    switch (begun ? (int)op : -1) {
    case -1: result = next; break;
    case ATOM_ADD: result += next; break;
    case ATOM_MIN: result = MIN(result, next); break;
    case ATOM_MAX: result = MAX(result, next); break;
    case ATOM_AND: result &= next; break;
    case ATOM_OR: result |= next; break;
    case ATOM_XOR: result ^= next; break;
    }
    begun = true;
  }
  return low((uint64_t)result);
}

/* `value` shifted by `by` bits, one at a time. */
static uint64_t moved(uint64_t value, uint64_t by, bool right, bool keeps_sign) {
  for (uint64_t i = 0; i < by; i++)
    value = right ? value / 2 | (keeps_sign ? value & SIGN64 : 0) : value * 2;
  return value;
}

static uint32_t ones_from(uint64_t first, uint64_t count) {
  uint32_t word = 0;
  for (unsigned i = 0; i < 32; i++)
    word |= (uint32_t)(i >= first && i - first < count) << i;
  return word;
}

static uint32_t extended(uint64_t word, uint64_t bits, bool is_signed) {
  uint32_t kept = low(word) & ones_from(0, bits);
  return is_signed && bits && bits < 32 && bit(kept, (unsigned)bits - 1) ? kept | ones_from(bits, 32) : kept;
}

static bool joined(LogicOp lop, bool x, bool y) { return lop == LOP_AND ? x && y : lop == LOP_OR ? x || y : x != y; }

/* Two 64-bit values by their high words, and by what is known of the low ones. */
static bool related_high(CmpOp cmp, int64_t x, int64_t y, bool of_low) {
  if (x == y)
    return of_low;
  return cmp == CMP_NE || ((cmp == CMP_LT || cmp == CMP_LE) && x < y) || ((cmp == CMP_GT || cmp == CMP_GE) && x > y);
}

static uint32_t halves(uint32_t low_half, uint32_t high_half) { return (low_half & 0xffff) | high_half << 16; }
static int32_t signed_half(uint64_t word, bool is_high) { return (int16_t)(is_high ? word >> 16 : word); }

/* ---- f16 ---- */

static double h(uint64_t half) {
  unsigned exponent = half >> 10 & 31, part = half & 1023;
  double value = exponent == 31 ? (part ? NAN : INFINITY)
                                : ldexp(exponent ? 1024 + part : part, (exponent ? (int)exponent : 1) - 25);
  return half & 0x8000 ? -value : value;
}

/* To the nearest, ties to even. */
static uint32_t half_of(double value) {
  uint32_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (isnan(value))
    return 0x7fff;
  if (size >= 65520)
    return sign | 0x7c00;
  int exponent = size < ldexp(1, -14) ? -14 : ilogb(size);
  double units = nearbyint(ldexp(size, 10 - exponent)); /* at least 1024 of a normal value */
  return sign | (uint32_t)((exponent + 14) * 1024 + (int)units);
}

static uint32_t half_unit(double value) { return half_of(value >= 1 ? 1 : value > 0 ? value : 0); }

#define BOTH(of, x, y, z) halves(of((x), (y), (z)), of((x) >> 16, (y) >> 16, (z) >> 16))
static uint32_t half_sum(uint64_t x, uint64_t y, uint64_t z) { return (void)z, half_of(h(x) + h(y)); }
static uint32_t half_unit_sum(uint64_t x, uint64_t y, uint64_t z) { return (void)z, half_unit(h(x) + h(y)); }
static uint32_t half_product(uint64_t x, uint64_t y, uint64_t z) { return (void)z, half_of(h(x) * h(y)); }
static uint32_t half_fused(uint64_t x, uint64_t y, uint64_t z) { return half_of(fused(h(x), h(y), h(z))); }

static uint32_t half_positive(uint64_t x, uint64_t y, uint64_t z) {
  double value = fused(h(x), h(y), h(z));
  return signbit(value) && !isnan(value) ? 0 : half_of(value);
}

static uint64_t half_flush(uint64_t half) { return half & 0x7c00 ? half : half & 0x8000; }
static double hz(uint64_t half) { return h(half_flush(half)); }
static uint32_t half_flushed_sum(uint64_t x, uint64_t y, uint64_t z) {
  return (void)z, (uint32_t)half_flush(half_of(hz(x) + hz(y)));
}

/* ---- bf16 ---- */

static double bf(uint64_t brain) { return f((uint32_t)(brain & 0xffff) << 16); }

static uint32_t brain_of(double value) {
  uint32_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (isnan(value))
    return 0x7fff;
  if (size >= ldexp(511, 119)) /* half a unit above the largest */
    return sign | 0x7f80;
  int exponent = size < ldexp(1, -126) ? -126 : ilogb(size);
  return sign | (uint32_t)((exponent + 126) * 128 + (int)nearbyint(ldexp(size, 7 - exponent)));
}

static uint32_t brain_sum(uint64_t x, uint64_t y, uint64_t z) { return (void)z, brain_of(fused(bf(x), 1, bf(y))); }
static uint32_t brain_unit_sum(uint64_t x, uint64_t y, uint64_t z) {
  double value = fused(bf(x), 1, bf(y));
  return (void)z, brain_of(value >= 1 ? 1 : value > 0 ? value : 0);
}
static uint32_t brain_product(uint64_t x, uint64_t y, uint64_t z) { return (void)z, brain_of(bf(x) * bf(y)); }
static uint32_t brain_fused(uint64_t x, uint64_t y, uint64_t z) { return brain_of(fused(bf(x), bf(y), bf(z))); }
static uint32_t brain_positive(uint64_t x, uint64_t y, uint64_t z) {
  double value = fused(bf(x), bf(y), bf(z));
  return signbit(value) && !isnan(value) ? 0 : brain_of(value);
}

/* ---- the lesser and the greater of two halves ---- */

/* The first is less, -0 less than +0; `none`: a NaN wins. */
static double extreme(double x, double y, bool least, bool none) {
  if (isnan(x) || isnan(y))
    return none || (isnan(x) && isnan(y)) ? NAN : isnan(x) ? y : x;
  bool less = x == y ? signbit(x) && !signbit(y) : x < y;
  return less == least ? x : y;
}

#define EXTREME(name, of, from, least, none)                    \
  static uint32_t name(uint64_t x, uint64_t y, uint64_t z) {    \
    return (void)z, of(extreme(from(x), from(y), least, none)); \
  }
EXTREME(half_least, half_of, h, true, false)
EXTREME(half_most, half_of, h, false, false)
EXTREME(half_least_or_nan, half_of, h, true, true)
EXTREME(half_most_or_nan, half_of, h, false, true)
EXTREME(brain_least, brain_of, bf, true, false)
EXTREME(brain_most, brain_of, bf, false, false)
EXTREME(brain_least_or_nan, brain_of, bf, true, true)
EXTREME(brain_most_or_nan, brain_of, bf, false, true)
#undef EXTREME

/* The exponent of a float as it is encoded. */
static int exponent_of(double value) { return fabs(value) < 0x1p-126 ? -127 : ilogb(value); }

static bool needs_care(double x, double y) {
  if (!isfinite(x) || !isfinite(y) || fabs(y) < 0x1p-125 || fabs(y) >= 0x1p126 || (x != 0 && fabs(x) < 0x1p-103))
    return true;
  return abs(exponent_of(x) - exponent_of(y)) > 126;
}

/* The high word of a result, from a double with this high word; a NaN stays, and is quiet. */
static uint32_t high_part(double value, uint64_t from) {
  return is_nan64(from << 32) ? low(from) | 0x80000 : high(two_words(value));
}

/* ---- the list of cases ---- */

typedef struct Case {
  const char *text; /* as in row_cases.def */
  Inst inst;
} Case;

#define FIELDS(...) __VA_ARGS__
static const Case cases[] = {
#define ROWS(op_, wide_, fields_, ...) {#op_ " " #fields_, {.op = OP_##op_, .wide = (wide_), FIELDS fields_}},
#include "tests/unit/row_cases.def"
};

typedef struct Result {
  uint64_t d;
  bool p, p2, cc;
  uint64_t ulps;
} Result;

/* What lane `lane` sees, and the operands and votes of all. */
typedef struct In {
  uint64_t a[WARP_LANES], b[WARP_LANES], c[WARP_LANES];
  uint32_t q, q2, q3, carry, votes, mask;
} In;

static Result expected(unsigned which, const Inst *inst, const In *in, unsigned lane) {
  const uint64_t *va = in->a, a = in->a[lane], b = in->b[lane], c = in->c[lane];
  const uint32_t votes = in->votes, mask = in->mask;
  const bool q = bit(in->q, lane), q2 = bit(in->q2, lane), q3 = bit(in->q3, lane), cc = bit(in->carry, lane);
  (void)q2, (void)q3, (void)va, (void)b, (void)c, (void)votes, (void)mask, (void)q, (void)cc, (void)inst;
  enum { FIRST = __COUNTER__ + 1 };
  switch (which) {
/* clang-format off */
#define ROWS(op_, wide_, fields_, ...) case __COUNTER__ - FIRST: return (Result){__VA_ARGS__};
/* clang-format on */
#include "tests/unit/row_cases.def"
  }
  ck_abort_msg("no case %u", which);
}

/* ---- trying a case ---- */

/* Pairs for a, b and c, one for a destination of its own, the sink; then the same operands as constants. */
enum { REG_A = 0, REG_B = 2, REG_C = 4, REG_FREE = 6, REGISTERS = 8, ROWS_OF_REGISTERS = REGISTERS + SINK_ROWS };
enum { CONST_ROWS = 6, EDGE_ROUNDS = 96, ROUNDS = 180 };

typedef struct Bench {
  uint32_t regs[ROWS_OF_REGISTERS][WARP_LANES], before[ROWS_OF_REGISTERS][WARP_LANES];
  uint32_t consts[CONST_ROWS][WARP_LANES];
  uint32_t pred[PRED_ROWS], pred_before[PRED_ROWS];
} Bench;

static bool has_predicate_source(const Inst *inst) {
  Form form = op_info[inst->op].form;
  return inst->psrc[1] || form == FORM_D_A_B_Q || form == FORM_P_A_B_CMP || form == FORM_D_P_Q || inst->pdst == 3;
}

/* The case's instruction with its predicates: P0 into P3 and P4, where it has them. */
static Inst instruction(const Case *what) {
  Inst inst = what->inst;
  Form form = op_info[inst.op].form;
  bool sets = form == FORM_P_A_B_CMP || form == FORM_P_A;
  inst.guard = PRED_TRUE;
  inst.psrc[0] = inst.psrc[0] ? inst.psrc[0] : has_predicate_source(&inst) ? 0 : PRED_TRUE;
  inst.psrc[1] = inst.psrc[1] ? inst.psrc[1] : PRED_TRUE;
  inst.psrc[2] = inst.psrc[2] ? inst.psrc[2] : PRED_TRUE;
  inst.pdst2 = inst.pdst2 ? inst.pdst2 : form == FORM_P_A_B_CMP ? 4 : PRED_SINK;
  inst.pdst = sets || inst.pdst ? 3 : PRED_SINK;
  inst.target = inst.reconv = NO_TARGET;
  return inst;
}

/* Operands of the round: pairs of edges meet in the first ones; few different values where lanes compare each
 * other. */
static void fill(Bench *bench, const Inst *inst, unsigned round, Rng *rng) {
  bool few = op_info[inst->op].unit == UNIT_SHUFFLE && round % 2;
  for (unsigned pair = 0; pair < REGISTERS; pair += 2)
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      bool is_wide = pair == REG_A ? inst->wide & A : pair == REG_B ? inst->wide & B : inst->wide & C;
      unsigned edge = (round * WARP_LANES + lane) * (pair == REG_A ? 1 : pair == REG_B ? 7 : 11) + round * pair;
      uint64_t wide = round < EDGE_ROUNDS ? operand_wide_edges[edge % OPERAND_WIDE_EDGES] : operand_wide(rng);
      uint32_t word = round < EDGE_ROUNDS ? operand_edges[edge % OPERAND_EDGES] : operand_word(rng);
      if (few && pair == REG_A)
        wide = rng_below(rng, 8) ? 5 : SIGN64, word = rng_below(rng, 8) ? 5 : 6;
      if (few && pair == REG_B && round % 4 == 1)
        word = round % 8 == 1 ? UINT32_MAX : 0xffffu << round % 17;
      bench->regs[pair][lane] = is_wide ? low(wide) : word;
      bench->regs[pair + 1][lane] = is_wide ? high(wide) : (uint32_t)rng_next(rng);
    }
  /* Row ~i of constants is the register i's twin. */
  memcpy(bench->consts, bench->regs, sizeof bench->consts);
  for (unsigned i = 0; i < PRED_ROWS; i++)
    bench->pred[i] = (uint32_t)rng_next(rng);
  if (round % 4 == 1)
    bench->pred[0] = round % 8 == 1 ? 0 : ALL_LANES; /* unanimous votes */
  bench->pred[PRED_TRUE] = ALL_LANES;
  memset(bench->regs[REGISTERS], 0x5a, SINK_ROWS * sizeof bench->regs[0]);
  memcpy(bench->before, bench->regs, sizeof bench->regs);
  memcpy(bench->pred_before, bench->pred, sizeof bench->pred);
}

/* Where operands and result are, a different way each round. */
static void place(Inst *inst, unsigned round, Rng *rng) {
  static const int16_t destinations[] = {REG_FREE, REG_A, REG_B, REG_C, REGISTERS};
  uint32_t constant = rng_below(rng, 2) ? 0 : (uint32_t)rng_next(rng);
  inst->dst = destinations[round % G_N_ELEMENTS(destinations)];
  inst->a = constant & 1 ? ~REG_A : REG_A;
  inst->b = constant & 2 ? ~REG_B : REG_B;
  inst->c = constant & 4 ? ~REG_C : REG_C;
}

static void read_inputs(In *in, const Bench *bench, const Inst *inst, uint32_t mask) {
  uint64_t *const to[] = {in->a, in->b, in->c};
  for (unsigned i = 0; i < 3; i++)
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      to[i][lane] = bench->before[2 * i][lane] | (inst->wide & A << i ? u(bench->before[2 * i + 1][lane]) << 32 : 0);
  in->votes = bench->pred_before[0];
  in->q = bench->pred_before[inst->psrc[0]];
  in->q2 = bench->pred_before[inst->psrc[1]];
  in->q3 = bench->pred_before[inst->psrc[2]];
  in->carry = bench->pred_before[PRED_CARRY];
  in->mask = mask;
}

static bool near(uint64_t got, uint64_t want, uint64_t ulps) { return got - want <= ulps || want - got <= ulps; }

static void check_registers(const Case *what, const Bench *bench, const Inst *inst, const In *in, unsigned lane,
                            const Result *want) {
  bool runs = bit(in->mask, lane), is_wide = inst->wide & DST;
  RegList writes = inst_writes(inst, REGISTERS);
  for (int reg = 0; reg < REGISTERS; reg++) {
    bool written = runs && writes.count && reg >= inst->dst && reg < inst->dst + writes.count;
    UNIT_ASSERT(written || bench->regs[reg][lane] == bench->before[reg][lane], "%s, lane %u of mask %x: R%d changes",
                what->text, lane, in->mask, reg);
  }
  if (!runs || !writes.count)
    return;
  uint64_t got = bench->regs[inst->dst][lane] | (is_wide ? u(bench->regs[inst->dst + 1][lane]) << 32 : 0);
  UNIT_ASSERT(near(got, want->d, want->ulps),
              "%s, lane %u of mask %x: gives %" G_GINT64_MODIFIER "x, not %" G_GINT64_MODIFIER
              "x (a %" G_GINT64_MODIFIER "x, b %" G_GINT64_MODIFIER "x, c %" G_GINT64_MODIFIER "x, q %u, CC %u)",
              what->text, lane, in->mask, got, want->d, in->a[lane], in->b[lane], in->c[lane], bit(in->q, lane),
              bit(in->carry, lane));
}

static void check_predicates(const Case *what, const Bench *bench, const Inst *inst, const In *in, unsigned lane,
                             const Result *want) {
  for (unsigned p = 0; p < PRED_ROWS; p++) {
    if (p == PRED_SINK)
      continue;
    bool right = bit(bench->pred_before[p], lane);
    if (bit(in->mask, lane))
      right = p == PRED_CARRY && inst->flags & INST_CARRY_OUT ? want->cc
              : p == inst->pdst                               ? want->p
              : p == inst->pdst2                              ? want->p2
                                                              : right;
    UNIT_ASSERT(bit(bench->pred[p], lane) == right,
                "%s, lane %u of mask %x: P%u must be %d (a %" G_GINT64_MODIFIER "x, b %" G_GINT64_MODIFIER
                "x, c %" G_GINT64_MODIFIER "x, q %u, CC %u)",
                what->text, lane, in->mask, p, right, in->a[lane], in->b[lane], in->c[lane], bit(in->q, lane),
                bit(in->carry, lane));
  }
}

static uint32_t some_mask(unsigned round, Rng *rng) {
  return round % 2 == 0 ? ALL_LANES : round % 11 == 1 ? 1u << round % 32 : (uint32_t)rng_next(rng);
}

static void check_case(unsigned which) {
  const Case *what = &cases[which];
  g_autofree Bench *bench = g_new(Bench, 1);
  Inst inst = instruction(what);
  Rng rng;
  rng_seed(&rng, 9, which);
  if (inst.round != FROUND_NEAREST && !host_rounds()) {
    ck_assert_msg(unit_patience() > 1, "the host doesn't round as it is told");
    return;
  }
  for (unsigned round = 0; round < ROUNDS; round++) {
    In in;
    fill(bench, &inst, round, &rng);
    place(&inst, round, &rng);
    uint32_t mask = some_mask(round, &rng);
    read_inputs(&in, bench, &inst, mask);
    Issue issue = {
        .inst = &inst, .regs = bench->regs[0], .consts = bench->consts[0], .pred = bench->pred, .mask = mask};
    executors[inst.op](&issue);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      Result want = expected(which, &inst, &in, lane);
      check_registers(what, bench, &inst, &in, lane, &want);
      check_predicates(what, bench, &inst, &in, lane, &want);
    }
  }
}

/* ---- tests ---- */

START_TEST(does_what_the_manual_says) {
  const OpInfo *info = &op_info[_i];
  bool found = !(info->flags & OPF_NEW) || (!unit_is_arithmetic(info->unit) && info->unit != UNIT_SHUFFLE);
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    if (cases[i].inst.op != _i)
      continue;
    found = true;
    check_case(i);
  }
  ck_assert_msg(found, "%s has no case in row_cases.def", info->id);
}
END_TEST

typedef struct SpecialCase {
  SpecialReg which;
  uint64_t value;
} SpecialCase;

enum { LAUNCH = 1, STATIC_SHARED = 64, DYNAMIC_SHARED = 192 };

/* Of the second of two launches. Times follow from the cycle in which its warp issues. */
static const SpecialCase specials[] = {
    {SR_CLOCK64, 0},
    {SR_GLOBALTIMER, 0},
    {SR_GLOBALTIMERLO, 0},
    {SR_GLOBALTIMERHI, 0},
    {SR_GRIDID, LAUNCH},
    {SR_SHARED_BYTES, STATIC_SHARED + DYNAMIC_SHARED},
    {SR_DYNAMIC_SHARED_BYTES, DYNAMIC_SHARED},
    {SR_ENVREG1, 0x1234567}, /* the high word */
    {SR_ENVREG2, 0x89abcdef},
    {SR_LANEID, 31},
};

START_TEST(reads_special_registers) {
  const SpecialCase *what = &specials[_i];
  g_autoptr(Lab) lab = lab_new("clocks.sm=700MHz sm.clock.divisor=1 grid.launch_overhead=0",
                               ".reg 4\n.shared 64\nS2R R1, SR_LaneId; EXIT");
  Inst *inst = &program_kernel(lab->program, 0)->insts[0];
  inst->mode = (uint8_t)what->which;
  inst->wide = WIDE_DST;
  lab_launch_grid(lab, 0, 1, 32, 0, 0);
  lab_launch_grid(lab, 0, 1, 32, DYNAMIC_SHARED, 1);
  gpu_launch(lab->gpu, LAUNCH)->envreg = UINT64_C(0x123456789abcdef);
  lab_finish(lab);
  uint64_t cycle = lab_cycle(lab, 1, 0, 0), got = u(lab_row(lab, 1, 2)[31]) << 32 | lab_row(lab, 1, 1)[31];
  bool is_time = what->which == SR_GLOBALTIMER || what->which == SR_GLOBALTIMERLO;
  uint64_t value = what->which == SR_CLOCK64 ? cycle : is_time ? cycle * 10 / 7 /* 0.7 GHz */ : what->value;
  ck_assert_msg(got == value, "special register %d is %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, what->which,
                got, value);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("exec_rows");
  TCase *tcase = tcase_create("exec_rows");
  tcase_add_loop_test(tcase, does_what_the_manual_says, 0, OP_COUNT);
  tcase_add_loop_test(tcase, reads_special_registers, 0, G_N_ELEMENTS(specials));
  tcase_set_timeout(tcase, 60);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
