/* What instructions do with values that nobody has written. */
#include <glib.h>

#include "sim/core/undefined_rows.h"
#include "sim/core/unknown_bits.h"

static uint32_t pred_lanes(const Issue *issue, unsigned predicate) {
  return lanes_of(&issue->warp->undefined[pred_row(issue, predicate)]);
}

void undefined_reset(Warp *warp) {
  if (warp->undefined_rows)
    memset(warp->undefined, 0, warp->undefined_room * sizeof *warp->undefined);
  warp->undefined_rows = 0;
}

/* `slot` matters to the executing lanes. */
static void use(const Issue *issue, int16_t slot) {
  const UndefinedRow *row = row_of(issue, slot);
  uint32_t lanes = row ? lanes_of(row) & issue->mask : 0;
  if (lanes)
    tell(issue, lanes, &row->from);
}

static void use_pred(const Issue *issue, unsigned predicate, uint32_t lanes) {
  if (pred_lanes(issue, predicate) & lanes)
    tell(issue, pred_lanes(issue, predicate) & lanes, &issue->warp->undefined[pred_row(issue, predicate)].from);
}

static void use_all(const Issue *issue) {
  RegList reads = inst_reads(issue->inst);
  for (unsigned i = 0; i < reads.count; i++)
    use(issue, reads.reg[i]);
  for (unsigned i = 0; i < G_N_ELEMENTS(issue->inst->psrc); i++)
    use_pred(issue, issue->inst->psrc[i], issue->mask);
}

/* ---- instructions that compute ---- */

static void merge(UndefinedRow *into, const UndefinedRow *from, uint32_t lanes) {
  if (!from || !(lanes_of(from) & lanes))
    return;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    into->bits[lane] |= lanes & lane_bit[lane] ? from->bits[lane] : 0;
  into->from = from->from;
}

/* `bits` in the lanes in which a predicate is undefined. */
static void merge_pred(const Issue *issue, UndefinedRow *into, unsigned predicate, uint32_t lanes) {
  const UndefinedRow *row = &issue->warp->undefined[pred_row(issue, predicate)];
  uint32_t marked = lanes_of(row) & lanes;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    into->bits[lane] |= marked & lane_bit[lane] ? UINT32_MAX : 0;
  if (marked)
    into->from = row->from;
}

static UndefinedRow pass_row(const Issue *issue, unsigned i, uint32_t from_a, uint32_t from_b) {
  const Inst *inst = issue->inst;
  UndefinedRow value = {{0}, {0}};
  merge(&value, value_row(issue, inst->a, i, inst->wide & WIDE_A), from_a);
  merge(&value, value_row(issue, inst->b, i, inst->wide & WIDE_B), from_b);
  return value;
}

/* Moves, row by row. */
static void pass_on(const Issue *issue) {
  RegList writes = inst_writes(issue->inst, rows_of(issue));
  UndefinedRow value[8];
  for (unsigned i = 0; i < writes.count; i++)
    value[i] = pass_row(issue, i, issue->mask, 0);
  for (unsigned i = 0; i < writes.count; i++)
    set_row(issue->warp, (uint32_t)writes.reg[i], issue->mask, &value[i]);
}

/* Where the choice has no value, what both words have alike has one. */
static void merge_choice(const Issue *issue, UndefinedRow *into, unsigned i) {
  const Inst *inst = issue->inst;
  uint32_t lanes = pred_lanes(issue, inst->psrc[0]) & issue->mask;
  if (!lanes)
    return;
  int16_t next = (int16_t)i;
  const uint32_t *a = issue_operand(issue, (int16_t)(inst->a < 0 ? inst->a - next : inst->a + next)),
                 *b = issue_operand(issue, (int16_t)(inst->b < 0 ? inst->b - next : inst->b + next));
  merge(into, value_row(issue, inst->a, i, inst->wide & WIDE_A), lanes);
  merge(into, value_row(issue, inst->b, i, inst->wide & WIDE_B), lanes);
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    into->bits[lane] |= lanes & lane_bit[lane] ? a[lane] ^ b[lane] : 0;
  into->from = issue->warp->undefined[pred_row(issue, inst->psrc[0])].from;
}

static void choose(const Issue *issue) {
  RegList writes = inst_writes(issue->inst, rows_of(issue));
  UndefinedRow value[8];
  uint32_t first = issue_pred(issue, 0);
  for (unsigned i = 0; i < writes.count; i++) {
    value[i] = pass_row(issue, i, issue->mask & first, issue->mask & ~first);
    merge_choice(issue, &value[i], i);
  }
  for (unsigned i = 0; i < writes.count; i++)
    set_row(issue->warp, (uint32_t)writes.reg[i], issue->mask, &value[i]);
}

/* A shuffle: lanes get the marks of the lanes that they read from. */
static void exchange(const Issue *issue) {
  const Inst *inst = issue->inst;
  const UndefinedRow *row = row_of(issue, inst->a);
  UndefinedRow value = {{0}, {0}};
  uint32_t rest = row ? lanes_of(row) : 0;
  while (rest) { /* the lanes with the marks of the lowest one */
    uint32_t bits = row->bits[__builtin_ctz(rest)], alike = 0;
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      alike |= row->bits[lane] == bits ? lane_bit[lane] : 0;
    uint32_t takers = shuffle_takers(issue, alike);
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      value.bits[lane] |= takers & lane_bit[lane] ? bits : 0;
    rest &= ~alike;
  }
  if (row)
    value.from = row->from;
  if ((uint32_t)inst->dst < rows_of(issue))
    set_row(issue->warp, (uint32_t)inst->dst, issue->mask, &value);
  for (uint32_t preds = inst_pred_writes(inst); preds; preds &= preds - 1) /* lanes in range */
    set_row(issue->warp, pred_row(issue, (unsigned)__builtin_ctz(preds)), issue->mask, NULL);
}

/* ---- predicates ---- */

/* A predicate in all lanes, and the lanes in which it is undefined. */
typedef struct Truth {
  uint32_t value, undefined;
} Truth;

static Truth truth_of(const Issue *issue, unsigned source) {
  return (Truth){issue_pred(issue, source), pred_lanes(issue, issue->inst->psrc[source])};
}

/* A defined false decides an AND, a defined true an OR. */
static Truth truth_combine(LogicOp lop, Truth a, Truth b) {
  uint32_t decided = 0;
  if (lop == LOP_AND)
    decided = ~(a.undefined | a.value) | ~(b.undefined | b.value);
  else if (lop == LOP_OR)
    decided = (~a.undefined & a.value) | (~b.undefined & b.value);
  return (Truth){combine_masks(lop, a.value, b.value), (a.undefined | b.undefined) & ~decided};
}

static void set_pred(const Issue *issue, unsigned predicate, uint32_t undefined, const UndefinedFrom *from) {
  UndefinedRow value = {.from = *from};
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    value.bits[lane] = undefined & lane_bit[lane] ? UINT32_MAX : 0;
  if (predicate != PRED_SINK)
    set_row(issue->warp, pred_row(issue, predicate), issue->mask, &value);
}

/* Where the undefined operand comes from; of several, any. */
static UndefinedFrom some_from(const Issue *issue) {
  UndefinedFrom from = {0};
  RegList reads = inst_reads(issue->inst);
  for (unsigned i = 0; i < G_N_ELEMENTS(issue->inst->psrc); i++)
    if (pred_lanes(issue, issue->inst->psrc[i]))
      from = issue->warp->undefined[pred_row(issue, issue->inst->psrc[i])].from;
  for (unsigned i = 0; i < reads.count; i++)
    if (row_of(issue, reads.reg[i]))
      from = row_of(issue, reads.reg[i])->from;
  return from;
}

/* Lanes in which a register that the instruction reads has one of those bits undefined. */
static uint32_t read_lanes(const Issue *issue, uint32_t bits) {
  RegList reads = inst_reads(issue->inst);
  uint32_t lanes = 0;
  for (unsigned i = 0; i < reads.count; i++)
    lanes |= row_of(issue, reads.reg[i]) ? lanes_with(row_of(issue, reads.reg[i]), bits) : 0;
  return lanes;
}

/* ISETP.EX: the low words' relation decides where the high ones are equal. */
static uint32_t low_lanes(const Issue *issue) {
  const uint32_t *a = issue_operand(issue, issue->inst->a), *b = issue_operand(issue, issue->inst->b);
  uint32_t lanes = pred_lanes(issue, issue->inst->psrc[1]);
  for (unsigned lane = 0; lane < WARP_LANES && lanes; lane++)
    lanes &= a[lane] == b[lane] ? UINT32_MAX : ~lane_bit[lane];
  return lanes;
}

/* The comparison alone, without what it is combined with: of HSETP2 of the low halves, and of the high ones. */
static void compare(const Issue *issue, uint32_t results[2]) {
  uint32_t preds[PRED_ROWS];
  Inst inst = *issue->inst;
  Issue alone = *issue;
  memcpy(preds, issue->pred, sizeof preds);
  inst.lop = LOP_AND;
  inst.psrc[0] = PRED_TRUE;
  inst.psrc_not &= (uint8_t)~1u;
  inst.pdst = 0;
  inst.pdst2 = 1;
  alone.inst = &inst;
  alone.pred = preds;
  executors[inst.op](&alone);
  results[0] = preds[0];
  results[1] = inst.op == OP_HSETP2 ? preds[1] : preds[0];
}

/* (a cmp b) lop q. HSETP2 has one for each half; of the others the second is the complement. */
static void relate(const Issue *issue) {
  const Inst *inst = issue->inst;
  bool halves = inst->op == OP_HSETP2;
  uint32_t unknown[2] = {read_lanes(issue, halves ? 0xffff : UINT32_MAX), 0}, holds[2];
  if (inst->op == OP_ISETPX)
    unknown[0] |= low_lanes(issue);
  unknown[1] = halves ? read_lanes(issue, 0xffff0000u) : unknown[0];
  compare(issue, holds);
  holds[1] = halves ? holds[1] : ~holds[0];
  UndefinedFrom from = some_from(issue);
  Truth other = truth_of(issue, 0);
  uint32_t first = truth_combine(inst->lop, (Truth){holds[0], unknown[0]}, other).undefined,
           last = truth_combine(inst->lop, (Truth){holds[1], unknown[1]}, other).undefined;
  set_pred(issue, inst->pdst, first, &from);
  set_pred(issue, inst->pdst2, last, &from);
}

/* PLOP3: functions of three predicates, by tables. */
static void tabulate(const Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t value[3], unknown[3];
  for (unsigned i = 0; i < 3; i++) {
    Truth truth = truth_of(issue, i);
    value[i] = truth.value;
    unknown[i] = truth.undefined;
  }
  UndefinedFrom from = some_from(issue);
  set_pred(issue, inst->pdst, unknown_truths(inst->mode, value, unknown), &from);
  set_pred(issue, inst->pdst2, unknown_truths((uint32_t)inst->imm, value, unknown), &from);
}

static void combine_preds(const Issue *issue) {
  const Inst *inst = issue->inst;
  Truth first = truth_combine(inst->lop, truth_of(issue, 0), truth_of(issue, 1));
  Truth complement = {~first.value, first.undefined}, last = truth_of(issue, 2);
  UndefinedFrom from = some_from(issue);
  set_pred(issue, inst->pdst, truth_combine(inst->lop2, first, last).undefined, &from);
  set_pred(issue, inst->pdst2, truth_combine(inst->lop2, complement, last).undefined, &from);
}

/* ---- words ---- */

static uint32_t added_pred_lanes(const Issue *issue) {
  uint32_t lanes = 0;
  for (unsigned i = 0; i < G_N_ELEMENTS(issue->inst->psrc); i++)
    lanes |= pred_lanes(issue, issue->inst->psrc[i]);
  return lanes;
}

/* The bits of the words that it reads which matter: a conversion takes the low ones of a narrow value. */
static uint32_t bits_read(const Inst *inst) {
  unsigned bits = inst->op == OP_CVT ? type_bits(inst->type2) : 32;
  return bits < 32 ? (1u << bits) - 1 : UINT32_MAX;
}

/* What whatever it reads spoils: all that it writes. */
static void spoil(const Issue *issue) {
  RegList writes = inst_writes(issue->inst, rows_of(issue));
  uint32_t lanes = (read_lanes(issue, bits_read(issue->inst)) | added_pred_lanes(issue)) & issue->mask;
  UndefinedRow value = {{0}, some_from(issue)};
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    value.bits[lane] = lanes & lane_bit[lane] ? UINT32_MAX : 0;
  for (unsigned i = 0; i < writes.count; i++)
    set_row(issue->warp, (uint32_t)writes.reg[i], issue->mask, &value);
  for (uint32_t rest = inst_pred_writes(issue->inst); rest; rest &= rest - 1)
    set_pred(issue, (unsigned)__builtin_ctz(rest), lanes, &value.from);
}

/* LOP3's predicate: whether the result isn't 0, lop q. A bit that is known and set decides. */
static uint32_t nonzero_lanes(const Issue *issue, const UndefinedRow *result, const UnknownOperands operands[]) {
  Truth nonzero = {0, lanes_of(result)};
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    const uint32_t *value = operands[lane].value;
    uint32_t word = 0;
    for (unsigned i = 0; i < 8; i++)
      if (issue->inst->mode >> i & 1)
        word |= (i & 4 ? value[0] : ~value[0]) & (i & 2 ? value[1] : ~value[1]) & (i & 1 ? value[2] : ~value[2]);
    nonzero.value |= word ? lane_bit[lane] : 0;
    nonzero.undefined &= word & ~result->bits[lane] ? ~lane_bit[lane] : UINT32_MAX;
  }
  return truth_combine(issue->inst->lop, nonzero, truth_of(issue, 0)).undefined;
}

static uint32_t marks_of(const Issue *issue, int16_t slot, unsigned lane) {
  const UndefinedRow *row = row_of(issue, slot);
  return row ? row->bits[lane] : 0;
}

/* Words whose bits are told apart. */
static void compute(const Issue *issue) {
  const Inst *inst = issue->inst;
  int16_t slots[3] = {inst->a, inst->b, inst->c};
  unsigned count = op_info[inst->op].form == FORM_D_A_B_C ? 3 : 2;
  UnknownOperands operands[WARP_LANES] = {{{0}, {0}, false}};
  UndefinedRow value = {{0}, some_from(issue)};
  bool logic = inst->op == OP_LOP3;
  uint32_t carries = logic ? 0 : added_pred_lanes(issue);
  for (unsigned i = 0; i < count; i++) {
    const uint32_t *word = issue_operand(issue, slots[i]);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
      operands[lane].value[i] = word[lane];
      operands[lane].unknown[i] = marks_of(issue, slots[i], lane);
    }
  }
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    operands[lane].carry = carries & lane_bit[lane];
    value.bits[lane] = issue->mask & lane_bit[lane] ? unknown_bits(inst, &operands[lane]) : 0;
  }
  uint32_t told = logic ? nonzero_lanes(issue, &value, operands) : read_lanes(issue, UINT32_MAX) | carries;
  if ((uint32_t)inst->dst < rows_of(issue))
    set_row(issue->warp, (uint32_t)inst->dst, issue->mask, &value);
  for (uint32_t rest = inst_pred_writes(inst); rest; rest &= rest - 1)
    set_pred(issue, (unsigned)__builtin_ctz(rest), told & issue->mask, &value.from);
}

static bool only_computes(const Inst *inst) {
  if (op_info[inst->op].unit == UNIT_CONTROL || inst->op == OP_MATCH || inst->op == OP_REDUX || inst->op == OP_ELECT)
    return false;
  switch ((Form)op_info[inst->op].form) {
  case FORM_D_A:
  case FORM_D_A_B:
  case FORM_D_A_B_C:
  case FORM_D_A_B_S:
  case FORM_D_A_B_Q:
  case FORM_D_A_B_CMP:
  case FORM_P_A_B_CMP:
  case FORM_P_Q_Q_Q: return true;
  default: return false;
  }
}

/* Lanes whose guard is undefined write what they compute, or don't. */
static void guard(const Issue *issue, uint32_t active) {
  const Inst *inst = issue->inst;
  uint32_t lanes = pred_lanes(issue, inst->guard) & active;
  if (!lanes)
    return;
  if (!only_computes(inst)) {
    use_pred(issue, inst->guard, lanes);
    return;
  }
  RegList writes = inst_writes(inst, rows_of(issue));
  UndefinedRow value = {{0}, {0}};
  merge_pred(issue, &value, inst->guard, lanes);
  for (unsigned i = 0; i < writes.count; i++)
    set_row(issue->warp, (uint32_t)writes.reg[i], lanes, &value);
  for (uint32_t rest = inst_pred_writes(inst); rest; rest &= rest - 1)
    set_row(issue->warp, pred_row(issue, (unsigned)__builtin_ctz(rest)), lanes, &value);
}

static void define_results(const Issue *issue) {
  RegList writes = inst_writes(issue->inst, rows_of(issue));
  for (unsigned i = 0; i < writes.count; i++)
    set_row(issue->warp, (uint32_t)writes.reg[i], issue->mask, NULL);
  for (uint32_t rest = inst_pred_writes(issue->inst); rest; rest &= rest - 1)
    set_row(issue->warp, pred_row(issue, (unsigned)__builtin_ctz(rest)), issue->mask, NULL);
}

/* ---- instructions on memory ---- */

static void use_address(const Issue *issue) {
  use(issue, issue->inst->a);
  if (issue->inst->flags & INST_ADDR64 && issue->inst->a >= 0)
    use(issue, (int16_t)(issue->inst->a + 1));
}

/* Something that it reads is undefined in some lane. */
static bool reads_undefined(const Issue *issue) {
  RegList reads = inst_reads(issue->inst);
  for (unsigned i = 0; i < reads.count; i++)
    if (row_of(issue, reads.reg[i]))
      return true;
  return added_pred_lanes(issue) != 0;
}

static void step(const Issue *issue) {
  const Inst *inst = issue->inst;
  if (only_computes(inst) && !reads_undefined(issue)) {
    define_results(issue);
    return;
  }
  switch ((Opcode)inst->op) {
  case OP_MOV:
  case OP_MOV64:
  case OP_MOV32I: pass_on(issue); return;
  case OP_SEL:
  case OP_SEL64: choose(issue); return;
  case OP_PSETP: combine_preds(issue); return;
  case OP_PLOP3: tabulate(issue); return;
  case OP_SHFL:
    use(issue, inst->b);
    use(issue, inst->c);
    exchange(issue);
    return;
  case OP_LD:
  case OP_LDS:
  case OP_LDL:
  case OP_LDSLK:
  case OP_STSCUL: use_address(issue); break;
  case OP_ST:
  case OP_STS:
  case OP_STL:
  case OP_STSUL: use_address(issue); return;
  default:
    if (!only_computes(inst)) {
      use_all(issue);
    } else if (op_info[inst->op].form == FORM_P_A_B_CMP) {
      relate(issue);
      return;
    } else if (unknown_bits_has(inst)) {
      compute(issue);
      return;
    } else {
      spoil(issue);
      return;
    }
  }
  define_results(issue);
}

void undefined_step(const Issue *issue, uint32_t active) {
  if (issue->mask)
    step(issue);
  guard(issue, active);
}
