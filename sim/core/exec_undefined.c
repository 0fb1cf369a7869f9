#include "sim/core/undefined.h"

#include <glib.h>

#include "sim/core/access.h"

enum { ALL_BYTES = 15 };

static uint32_t rows_of(const Issue *issue) { return warp_block(issue->sm, issue->warp)->launch->kernel->nregs; }

static bool is_marked(const UndefinedRow *row) { return row->byte[0] | row->byte[1] | row->byte[2] | row->byte[3]; }

static uint32_t any_byte(const UndefinedRow *row) {
  return row->byte[0] | row->byte[1] | row->byte[2] | row->byte[3];
}

void undefined_reset(Warp *warp) {
  if (warp->undefined_rows)
    memset(warp->undefined, 0, warp->undefined_room * sizeof *warp->undefined);
  warp->undefined_rows = 0;
}

/* `lanes` of a register get the marks of `value` (NULL: none). */
static void set_row(Warp *warp, uint32_t reg, uint32_t lanes, const UndefinedRow *value) {
  UndefinedRow *row = &warp->undefined[reg];
  bool before = is_marked(row), some = false;
  for (unsigned b = 0; b < 4; b++) {
    uint32_t marks = value ? value->byte[b] & lanes : 0;
    row->byte[b] = (row->byte[b] & ~lanes) | marks;
    some |= marks != 0;
  }
  if (some)
    row->from = value->from;
  bool after = is_marked(row);
  warp->undefined_rows += (uint32_t)after - (uint32_t)before;
}

static const UndefinedRow *row_of(const Issue *issue, int16_t slot) {
  return slot >= 0 && (uint32_t)slot < rows_of(issue) && is_marked(&issue->warp->undefined[slot])
             ? &issue->warp->undefined[slot]
             : NULL;
}

static void tell(const Issue *issue, uint32_t lanes, const UndefinedFrom *from) {
  ProbePoint point = issue_point(issue, lanes);
  PROBE_FIRE(issue->gpu, undefined_use, &point, from);
}

/* `slot` matters to the executing lanes. */
static void use(const Issue *issue, int16_t slot) {
  const UndefinedRow *row = row_of(issue, slot);
  if (row && any_byte(row) & issue->mask)
    tell(issue, any_byte(row) & issue->mask, &row->from);
}

static void use_all(const Issue *issue) {
  RegList reads = inst_reads(issue->inst);
  for (unsigned i = 0; i < reads.count; i++)
    use(issue, reads.reg[i]);
}

/* ---- instructions that compute ---- */

/* Row `i` of a value that begins at `slot`; NULL if it is defined. */
static const UndefinedRow *value_row(const Issue *issue, int16_t slot, unsigned i, bool wide) {
  return slot < 0 || (i && !wide) ? NULL : row_of(issue, (int16_t)(slot + (int16_t)i));
}

static void merge(UndefinedRow *into, const UndefinedRow *from, uint32_t lanes) {
  for (unsigned b = 0; from && b < 4; b++)
    into->byte[b] |= from->byte[b] & lanes;
  if (from && any_byte(from) & lanes)
    into->from = from->from;
}

/* Moves and selections, row by row. */
static void pass_on(const Issue *issue, uint32_t from_a, uint32_t from_b) {
  const Inst *inst = issue->inst;
  RegList writes = inst_writes(inst, rows_of(issue));
  UndefinedRow value[8] = {{{0}, {0}}};
  for (unsigned i = 0; i < writes.count; i++) {
    merge(&value[i], value_row(issue, inst->a, i, inst->wide & WIDE_A), from_a);
    merge(&value[i], value_row(issue, inst->b, i, inst->wide & WIDE_B), from_b);
  }
  for (unsigned i = 0; i < writes.count; i++)
    set_row(issue->warp, (uint32_t)writes.reg[i], issue->mask, &value[i]);
}

/* Bytes that LOP.AND with a constant clears in all lanes. */
static uint32_t cleared_bytes(const Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t cleared = 0;
  if (inst->op != OP_LOP || inst->lop != LOP_AND || inst->b >= 0 || inst->flags & (INST_INV_A | INST_INV_B))
    return 0;
  for (unsigned b = 0; b < 4; b++)
    cleared |= issue_operand(issue, inst->b)[0] >> (8 * b) & 0xff ? 0 : 1u << b;
  return cleared;
}

/* Arithmetic: whatever it reads spoils all that it writes. */
static void spoil(const Issue *issue) {
  RegList reads = inst_reads(issue->inst), writes = inst_writes(issue->inst, rows_of(issue));
  UndefinedRow value = {{0}, {0}};
  uint32_t cleared = cleared_bytes(issue), lanes = 0;
  for (unsigned i = 0; i < reads.count; i++) {
    const UndefinedRow *row = row_of(issue, reads.reg[i]);
    for (unsigned b = 0; row && b < 4; b++)
      lanes |= cleared >> b & 1 ? 0 : row->byte[b];
    if (row)
      value.from = row->from;
  }
  for (unsigned b = 0; b < 4; b++)
    value.byte[b] = cleared >> b & 1 ? 0 : lanes;
  for (unsigned i = 0; i < writes.count; i++)
    set_row(issue->warp, (uint32_t)writes.reg[i], issue->mask, &value);
}

static void define_results(const Issue *issue) {
  RegList writes = inst_writes(issue->inst, rows_of(issue));
  for (unsigned i = 0; i < writes.count; i++)
    set_row(issue->warp, (uint32_t)writes.reg[i], issue->mask, NULL);
}

/* ---- instructions on memory ---- */

static void use_address(const Issue *issue) {
  use(issue, issue->inst->a);
  if (issue->inst->flags & INST_ADDR64 && issue->inst->a >= 0)
    use(issue, (int16_t)(issue->inst->a + 1));
}

void undefined_leaves(const Issue *issue) {
  uint32_t bytes = width_bytes[issue->inst->width];
  for (uint32_t part = 0; part < access_words(bytes) && issue->inst->b >= 0; part++) {
    const UndefinedRow *row = value_row(issue, issue->inst->b, part, true);
    uint32_t lanes = row ? row->byte[0] & issue->mask : 0;
    for (uint32_t b = 1; row && b < MIN(bytes, 4u); b++)
      lanes &= row->byte[b];
    if (lanes)
      tell(issue, lanes, &row->from);
  }
}

void undefined_step(const Issue *issue) {
  const Inst *inst = issue->inst;
  switch ((Opcode)inst->op) {
  case OP_MOV:
  case OP_MOV64:
  case OP_MOV32I: pass_on(issue, issue->mask, 0); return;
  case OP_SEL:
  case OP_SEL64: pass_on(issue, issue_pred(issue, 0) & issue->mask, ~issue_pred(issue, 0) & issue->mask); return;
  case OP_SHFL:
    use(issue, inst->b);
    use(issue, inst->c);
    break;
  case OP_LD:
  case OP_LDS:
  case OP_LDL:
  case OP_LDSLK: use_address(issue); break;
  case OP_ST:
  case OP_STS:
  case OP_STL:
  case OP_STSUL: use_address(issue); return;
  case OP_MATCH:
  case OP_REDUX:
  case OP_ELECT: use_all(issue); break;
  default:
    switch (op_info[inst->op].unit == UNIT_CONTROL ? FORM_NONE : (Form)op_info[inst->op].form) {
    case FORM_D_A:
    case FORM_D_A_B:
    case FORM_D_A_B_C:
    case FORM_D_A_B_S:
    case FORM_D_A_B_Q:
    case FORM_D_A_B_CMP: spoil(issue); return;
    default: use_all(issue); break;
    }
  }
  define_results(issue);
}

/* ---- loads and stores ---- */

static void make_room(Warp *warp, uint32_t rows) {
  if (warp->undefined_room >= rows)
    return;
  warp->undefined = g_renew(UndefinedRow, warp->undefined, rows);
  memset(warp->undefined + warp->undefined_room, 0, (rows - warp->undefined_room) * sizeof *warp->undefined);
  warp->undefined_room = rows;
}

void undefined_loaded(const Issue *issue, uint32_t part, const uint8_t undefined[WARP_LANES], MemSpace space,
                      const uint64_t address[WARP_LANES]) {
  uint32_t rows = rows_of(issue);
  UndefinedRow value = {{0}, {.pc = issue->warp->pc, .space = space}};
  if ((uint32_t)issue->inst->dst + part >= rows)
    return;
  for (unsigned lane = WARP_LANES; lane-- > 0;) {
    if (!(issue->mask >> lane & 1) || !undefined[lane])
      continue;
    value.from.lane = lane;
    value.from.address = address[lane] + 4 * part;
    for (unsigned b = 0; b < 4; b++)
      value.byte[b] |= undefined[lane] >> b & 1 ? lane_bit[lane] : 0;
  }
  make_room(issue->warp, rows);
  set_row(issue->warp, (uint32_t)issue->inst->dst + part, issue->mask, &value);
}

uint8_t undefined_stored(const Issue *issue, uint32_t part, unsigned lane) {
  const UndefinedRow *row = issue->warp->undefined_rows ? value_row(issue, issue->inst->b, part, true) : NULL;
  uint8_t undefined = 0;
  for (unsigned b = 0; row && b < 4; b++)
    undefined |= (uint8_t)((row->byte[b] >> lane & 1) << b);
  return undefined;
}

uint8_t undefined_narrowed(uint8_t undefined, uint32_t bytes, uint32_t offset) {
  uint8_t wanted = (uint8_t)((1u << bytes) - 1), narrow = undefined >> offset & wanted;
  return narrow == wanted ? ALL_BYTES : narrow;
}

void undefined_atomic(const Issue *issue, uint32_t lanes, MemSpace space, uint64_t address) {
  UndefinedFrom from = {
      .pc = issue->warp->pc, .space = space, .address = address, .lane = (uint32_t)__builtin_ctz(lanes)};
  tell(issue, lanes, &from);
}

bool undefined_atomic_reads(const Issue *issue) {
  const Inst *inst = issue->inst;
  return inst->mode != ATOM_EXCH || (op_info[inst->op].flags & OPF_LOAD && (uint32_t)inst->dst < rows_of(issue));
}
