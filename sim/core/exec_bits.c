/* Integer instructions that Fermi's instruction set hasn't, or has as several. */
#include "base/bits.h"
#include "sim/core/exec_rows.h"

void exec_IABS(Issue *issue) {
  const uint32_t *a = issue_operand(issue, issue->inst->a);
  uint32_t row[WARP_LANES];
  ROW row[l] = a[l] >> 31 ? 0u - a[l] : a[l];
  issue_write(issue, issue->inst->dst, row);
}

void exec_BREV(Issue *issue) {
  const uint32_t *a = issue_operand(issue, issue->inst->a);
  uint32_t row[WARP_LANES];
  ROW row[l] = bits_reverse(a[l]);
  issue_write(issue, issue->inst->dst, row);
}

/* The modes of PRMT are selectors, too: one for each value of the two lowest bits of c. */
static const uint16_t prmt_selectors[][4] = {
    [PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543}, [PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
    [PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333}, [PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
    [PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210}, [PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
};

/* Bit 3 of a nibble of the selector spreads the byte's sign. */
static uint32_t permute(uint64_t bytes, uint32_t selector) {
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; i++) {
    unsigned nibble = selector >> (4 * i) & 15;
    uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 0xff;
    result |= (nibble < 8 ? byte : byte & 0x80 ? 0xffu : 0) << (8 * i);
  }
  return result;
}

void exec_PRMT(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES];
  if (inst->mode == PRMT_INDEX)
    ROW row[l] = permute((uint64_t)b[l] << 32 | a[l], c[l]);
  else
    ROW row[l] = permute((uint64_t)b[l] << 32 | a[l], prmt_selectors[inst->mode][c[l] & 3]);
  issue_write(issue, inst->dst, row);
}

WIDE_CLONES void exec_LOP3(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES], term[8], nonzero = 0;
  for (unsigned i = 0; i < 8; i++)
    term[i] = inst->mode >> i & 1 ? UINT32_MAX : 0;
  ROW {
    uint32_t with_a =
        (~b[l] & ~c[l] & term[4]) | (~b[l] & c[l] & term[5]) | (b[l] & ~c[l] & term[6]) | (b[l] & c[l] & term[7]);
    uint32_t without =
        (~b[l] & ~c[l] & term[0]) | (~b[l] & c[l] & term[1]) | (b[l] & ~c[l] & term[2]) | (b[l] & c[l] & term[3]);
    row[l] = (a[l] & with_a) | (~a[l] & without);
    nonzero |= row[l] ? lane_bit[l] : 0;
  }
  issue_write(issue, inst->dst, row);
  issue_set_pred(issue, inst->pdst, combine_masks(inst->lop, nonzero, issue_pred(issue, 0)));
}

void exec_SHF(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES], keep = inst->flags & INST_WRAP ? 31u : UINT32_MAX;
  if (inst->mode == 0)
    ROW row[l] = (uint32_t)(((uint64_t)b[l] << 32 | a[l]) << MIN(c[l] & keep, 32u) >> 32);
  else
    ROW row[l] = (uint32_t)(((uint64_t)b[l] << 32 | a[l]) >> MIN(c[l] & keep, 32u));
  issue_write(issue, inst->dst, row);
}

void exec_SAD(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  uint32_t row[WARP_LANES], flip = inst->type == TYPE_U32 ? 0x80000000u : 0;
  ROW {
    bool less = (int32_t)(a[l] ^ flip) < (int32_t)(b[l] ^ flip);
    row[l] = (less ? b[l] - a[l] : a[l] - b[l]) + c[l];
  }
  issue_write(issue, inst->dst, row);
}

static bool is_signed(DataType type) { return type == TYPE_S32 || type == TYPE_S8; }

void exec_DP4A(Issue *issue) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b),
                 *c = issue_operand(issue, inst->c);
  /* (x ^ sign) - sign extends the sign of a byte. */
  uint32_t row[WARP_LANES], sign_a = is_signed(inst->type) ? 0x80 : 0, sign_b = is_signed(inst->type2) ? 0x80 : 0;
  ROW {
    row[l] = c[l];
    for (unsigned shift = 0; shift < 32; shift += 8)
      row[l] += (((a[l] >> shift & 0xff) ^ sign_a) - sign_a) * (((b[l] >> shift & 0xff) ^ sign_b) - sign_b);
  }
  issue_write(issue, inst->dst, row);
}

/* ---- division: never traps, in lanes that don't execute either ---- */

static uint32_t quotient(uint32_t a, uint32_t b, bool is_unsigned) {
  if (b == 0)
    return UINT32_MAX;
  return is_unsigned ? a / b : (uint32_t)((int64_t)(int32_t)a / (int32_t)b);
}

static uint64_t quotient64(uint64_t a, uint64_t b, bool is_unsigned) {
  if (b == 0)
    return UINT64_MAX;
  if (is_unsigned)
    return a / b;
  return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static void divide(Issue *issue, bool remainder) {
  const Inst *inst = issue->inst;
  const uint32_t *a = issue_operand(issue, inst->a), *b = issue_operand(issue, inst->b);
  uint32_t row[WARP_LANES];
  ROW {
    row[l] = quotient(a[l], b[l], inst->type == TYPE_U32);
    row[l] = remainder && b[l] ? a[l] - row[l] * b[l] : row[l];
  }
  issue_write(issue, inst->dst, row);
}

static void divide64(Issue *issue, bool remainder) {
  const Inst *inst = issue->inst;
  uint64_t row[WARP_LANES], a[WARP_LANES], b[WARP_LANES];
  read_wide(issue, inst->a, a);
  read_wide(issue, inst->b, b);
  ROW {
    row[l] = quotient64(a[l], b[l], inst->type == TYPE_U64);
    row[l] = remainder && b[l] ? a[l] - row[l] * b[l] : row[l];
  }
  write_wide(issue, inst->dst, row);
}

void exec_IDIV(Issue *issue) { divide(issue, false); }

void exec_IREM(Issue *issue) { divide(issue, true); }

void exec_IDIV64(Issue *issue) { divide64(issue, false); }

void exec_IREM64(Issue *issue) { divide64(issue, true); }

/* ---- addresses ---- */

/* The lanes whose address lies in the window that begins with high word `top` and low word `window`. */
static uint32_t in_window(const uint32_t *low, const uint32_t *high, uint32_t top, uint32_t window) {
  uint32_t lanes = 0;
  ROW lanes |= low[l] - window < WINDOW_BYTES && high[l] == top ? lane_bit[l] : 0;
  return lanes;
}

void exec_ISSPACEP(Issue *issue) {
  static const uint32_t zeros[WARP_LANES];
  const Inst *inst = issue->inst;
  const uint32_t *low = issue_operand(issue, inst->a),
                 *high = inst->wide & WIDE_A ? issue_operand(issue, high_row(inst->a)) : zeros;
  uint32_t shared = in_window(low, high, 0, SHARED_WINDOW) | in_window(low, high, SHARED_HIGH, 0),
           local = in_window(low, high, 0, LOCAL_WINDOW);
  issue_set_pred(issue, inst->pdst,
                 inst->space == MEM_SHARED   ? shared
                 : inst->space == MEM_LOCAL  ? local
                 : inst->space == MEM_GLOBAL ? ~(shared | local)
                                             : 0);
}
