#include "isa/flow/counted.h"

static const VInst *inst_at(const Counting *counting, uint32_t i) {
  return &g_array_index(counting->vkernel->insts, VInst, i);
}

/* -- who writes what -- */

static unsigned units_written(const VKernel *vkernel, const VInst *vinst, uint32_t units[10]) {
  VRegUse uses[8];
  int32_t preds[2];
  unsigned regs = vinst_writes(vinst, uses), count = vinst_pred_writes(vinst, preds);
  for (unsigned u = 0; u < regs; u++)
    units[u] = (uint32_t)uses[u].reg;
  for (unsigned p = 0; p < count; p++)
    units[regs + p] = vkernel->rows->len + (uint32_t)preds[p];
  return regs + count;
}

void counting_init(Counting *counting, VKernel *vkernel, const Flow *flow, const Loops *loops,
                   const LiveRanges *ranges) {
  *counting = (Counting){.vkernel = vkernel, .flow = flow, .loops = loops, .ranges = ranges};
  uint32_t units[10], n = vkernel->rows->len + vkernel->npreds;
  uint32_t *start = counting->written.start = g_new0(uint32_t, (gsize)n + 2);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    unsigned count = units_written(vkernel, inst_at(counting, i), units);
    for (unsigned u = 0; u < count; u++)
      start[units[u] + 2]++;
  }
  for (uint32_t u = 0; u < n; u++)
    start[u + 2] += start[u + 1];
  counting->written.by = g_new(uint32_t, start[n + 1] + 1);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    unsigned count = units_written(vkernel, inst_at(counting, i), units);
    for (unsigned u = 0; u < count; u++)
      counting->written.by[start[units[u] + 1]++] = i;
  }
}

void counting_clear(Counting *counting) {
  g_free(counting->written.start);
  g_free(counting->written.by);
}

static bool contains(const CountedLoop *loop, uint32_t i) { return i >= loop->first && i < loop->end; }

/* The only instruction of the loop that writes it; NO_TARGET: none, or several do. */
static int32_t writer_within(const Counting *counting, const CountedLoop *loop, uint32_t unit) {
  int32_t found = NO_TARGET;
  for (uint32_t w = counting->written.start[unit]; w < counting->written.start[unit + 1]; w++) {
    uint32_t i = counting->written.by[w];
    if (!contains(loop, i))
      continue;
    if (found != NO_TARGET)
      return NO_TARGET;
    found = (int32_t)i;
  }
  return found;
}

static bool is_written_within(const Counting *counting, const CountedLoop *loop, uint32_t unit) {
  for (uint32_t w = counting->written.start[unit]; w < counting->written.start[unit + 1]; w++)
    if (contains(loop, counting->written.by[w]))
      return true;
  return false;
}

static bool lives_at(const Counting *counting, uint32_t unit, uint32_t block) {
  const LiveRanges *ranges = counting->ranges;
  uint32_t at = 2 * counting->flow->first[block];
  for (uint32_t s = ranges->start[unit]; s < ranges->start[unit + 1]; s++) {
    Span span = g_array_index(ranges->spans, Span, s);
    if (span.from <= at && at < span.to)
      return true;
  }
  return false;
}

bool counting_survives(const Counting *counting, const CountedLoop *loop, uint32_t unit, bool at_end, bool before) {
  const FlowEdges *out = &counting->flow->out;
  for (uint32_t b = loop->header; b <= loop->latch; b++)
    for (uint32_t e = out->start[b]; e < out->start[b + 1]; e++) {
      bool leaves = out->to[e] == loop->header || !loops_contains(counting->loops, loop->header, out->to[e]);
      if (leaves && (b == loop->latch ? at_end : before) && lives_at(counting, unit, out->to[e]))
        return true;
    }
  return false;
}

/* -- its blocks -- */

/* The blocks from the header to the one that goes back are the loop's, and no others; only that one goes back. */
static bool find_blocks(const Counting *counting, uint32_t header, CountedLoop *loop) {
  const Flow *flow = counting->flow;
  uint32_t latches = 0, inside = 0;
  for (uint32_t e = flow->in.start[header]; e < flow->in.start[header + 1]; e++)
    if (loops_dominates(counting->loops, header, flow->in.to[e])) {
      loop->latch = flow->in.to[e];
      latches++;
    }
  if (latches != 1 || loop->latch < header || loop->latch + 1 >= flow->nblocks)
    return false;
  for (uint32_t b = header; b <= loop->latch; b++)
    if (counting->loops->loop_of[b] != (int32_t)header)
      return false;
  for (uint32_t b = 0; b < flow->nblocks; b++)
    inside += counting->loops->loop_of[b] == (int32_t)header;
  loop->header = header;
  loop->first = flow->first[header];
  loop->end = flow->first[loop->latch + 1];
  return inside == loop->latch - header + 1;
}

static bool has_lone_exit(const Counting *counting, const CountedLoop *loop) {
  const Flow *flow = counting->flow;
  for (uint32_t b = loop->header; b <= loop->latch; b++) {
    if (flow->exits[b])
      return false;
    for (uint32_t e = flow->out.start[b]; e < flow->out.start[b + 1] && b != loop->latch; e++)
      if (!loops_contains(counting->loops, loop->header, flow->out.to[e]))
        return false;
  }
  return true;
}

/* Each round comes to it once. */
static bool is_on_the_way(const Counting *counting, const CountedLoop *loop, uint32_t i) {
  return !vinst_is_guarded(inst_at(counting, i)) &&
         loops_dominates(counting->loops, counting->flow->block_of[i], loop->latch);
}

/* -- its counter -- */

bool vkernel_constant(const VKernel *vkernel, int32_t operand, bool wide, uint64_t *value) {
  if (operand >= 0)
    return false;
  const ConstRef *low = &vkernel->kernel->consts[~operand];
  if (low->kind != CONST_IMMEDIATE || (wide && low[1].kind != CONST_IMMEDIATE))
    return false;
  *value = wide ? low->value | (uint64_t)low[1].value << 32 : low->value;
  return true;
}

static bool is_plain(const VInst *vinst) { return !(vinst->inst.flags & ~(uint32_t)INST_SYNCED); }

static bool is_move(const VInst *vinst, bool wide) {
  return vinst->inst.op == (wide ? OP_MOV64 : OP_MOV) && is_plain(vinst) && !vinst_is_guarded(vinst) &&
         vinst->a_row == 0 && vinst->dst_row == 0;
}

/* `*from` plus a constant. */
static bool is_step(const Counting *counting, const VInst *vinst, bool wide, int32_t *from, int64_t *step) {
  bool adds = vinst->inst.op == (wide ? OP_IADD64 : OP_IADD);
  uint64_t value;
  if ((!adds && vinst->inst.op != (wide ? OP_ISUB64 : OP_ISUB)) || !is_plain(vinst) || vinst->dst_row ||
      vinst->a_row || vinst->a < 0 || vinst->a == VREG_SINK ||
      !vkernel_constant(counting->vkernel, vinst->b, wide, &value))
    return false;
  *from = vinst->a;
  *step = wide ? (int64_t)value : (int32_t)value;
  *step = adds ? *step : -*step;
  return *step != 0 && *step > INT32_MIN / 4 && *step < INT32_MAX / 4;
}

/* The register that the comparison asks for is a counter, or what the counter becomes. */
static bool find_counter(const Counting *counting, CountedLoop *loop, int32_t asked) {
  int32_t w = writer_within(counting, loop, (uint32_t)asked), from;
  if (w == NO_TARGET || !is_on_the_way(counting, loop, (uint32_t)w))
    return false;
  const VInst *writer = inst_at(counting, (uint32_t)w);
  loop->counter = asked;
  loop->steps = (uint32_t)w;
  if (is_move(writer, loop->wide) && writer->a >= 0) { /* t = c + 1 ... c = t */
    int32_t t = writer_within(counting, loop, (uint32_t)writer->a);
    loop->old = (uint32_t)w > loop->compare;
    loop->steps = (uint32_t)t;
    return t != NO_TARGET && t < w && is_on_the_way(counting, loop, (uint32_t)t) &&
           is_step(counting, inst_at(counting, (uint32_t)t), loop->wide, &from, &loop->step) && from == asked;
  }
  if (!is_step(counting, writer, loop->wide, &from, &loop->step))
    return false;
  loop->old = (uint32_t)w > loop->compare;
  if (from == asked)
    return true;
  int32_t copied = writer_within(counting, loop, (uint32_t)from); /* the same, and t is asked for */
  loop->counter = from;
  return !loop->old && copied > w && is_on_the_way(counting, loop, (uint32_t)copied) &&
         is_move(inst_at(counting, (uint32_t)copied), loop->wide) && inst_at(counting, (uint32_t)copied)->a == asked;
}

bool counting_find_induction(const Counting *counting, const CountedLoop *loop, int32_t reg, Induction *induction) {
  int32_t w = writer_within(counting, loop, (uint32_t)reg), from;
  uint8_t rows = g_array_index(counting->vkernel->rows, uint8_t, reg);
  if (w == NO_TARGET || rows > 2 || !is_on_the_way(counting, loop, (uint32_t)w))
    return false;
  *induction = (Induction){.reg = reg, .steps = (uint32_t)w, .written = (uint32_t)w, .wide = rows == 2};
  const VInst *writer = inst_at(counting, (uint32_t)w);
  if (is_move(writer, induction->wide) && writer->a >= 0 && writer->a != VREG_SINK) {
    int32_t t = writer_within(counting, loop, (uint32_t)writer->a);
    if (t == NO_TARGET || t > w || !is_on_the_way(counting, loop, (uint32_t)t))
      return false;
    induction->steps = (uint32_t)t;
    writer = inst_at(counting, (uint32_t)t);
  }
  uint32_t unit = counting->ranges->unit_of_reg[reg];
  if (!is_step(counting, writer, induction->wide, &from, &induction->step) || from != reg)
    return false;
  for (unsigned row = 0; row < rows; row++)
    if (counting_survives(counting, loop, unit + row, false, true))
      return false;
  return true;
}

static CmpOp swapped(CmpOp cmp) {
  switch (cmp) {
  case CMP_LT: return CMP_GT;
  case CMP_LE: return CMP_GE;
  case CMP_GT: return CMP_LT;
  case CMP_GE: return CMP_LE;
  default: return cmp;
  }
}

/* The branch back goes by a comparison that is made for it in the last block. */
static bool find_compare(const Counting *counting, CountedLoop *loop) {
  const VInst *branch = inst_at(counting, loop->end - 1);
  if (branch->inst.op != OP_BRA || branch->inst.target != (int32_t)loop->first || branch->guard < 0 ||
      branch->inst.flags & INST_GUARD_NOT)
    return false;
  uint32_t pred = counting->vkernel->rows->len + (uint32_t)branch->guard;
  int32_t w = writer_within(counting, loop, pred);
  if (w == NO_TARGET || counting->flow->block_of[w] != loop->latch)
    return false;
  const VInst *compare = inst_at(counting, (uint32_t)w);
  loop->compare = (uint32_t)w;
  loop->wide = compare->inst.op == OP_ISETP64;
  return (loop->wide || compare->inst.op == OP_ISETP) && is_plain(compare) && !vinst_is_guarded(compare) &&
         compare->psrc[0] == VPRED_TRUE && !compare->inst.psrc_not && compare->pdst2 == VPRED_SINK &&
         compare->inst.lop == LOP_AND && compare->inst.mode == 0 && compare->pdst == branch->guard;
}

static bool find_sides(const Counting *counting, CountedLoop *loop) {
  const VInst *compare = inst_at(counting, loop->compare);
  for (unsigned side = 0; side < 2; side++) {
    int32_t asked = side ? compare->b : compare->a, bound = side ? compare->a : compare->b;
    uint8_t row = side ? compare->b_row : compare->a_row;
    if (asked < 0 || row || bound == VREG_SINK || (bound >= 0 && is_written_within(counting, loop, (uint32_t)bound)))
      continue;
    loop->bound = bound;
    loop->bound_row = side ? compare->a_row : compare->b_row;
    loop->cmp = side ? swapped((CmpOp)compare->inst.cmp) : (CmpOp)compare->inst.cmp;
    if (find_counter(counting, loop, asked))
      return true;
  }
  return false;
}

/* -- how often -- */

/* The instruction whose value a register has where the loop begins, as far as one can see; NO_TARGET. */
static int32_t value_before(const Counting *counting, const CountedLoop *loop, int32_t reg) {
  const Flow *flow = counting->flow;
  int32_t only = NO_TARGET;
  unsigned outside = 0;
  for (uint32_t w = counting->written.start[reg]; w < counting->written.start[reg + 1]; w++)
    if (!contains(loop, counting->written.by[w])) {
      only = (int32_t)counting->written.by[w];
      outside++;
    }
  int32_t around = counting->loops->parent[loop->header];
  if (outside == 1 && loops_dominates(counting->loops, flow->block_of[only], loop->header) &&
      (around == NO_TARGET || loops_contains(counting->loops, (uint32_t)around, flow->block_of[only])))
    return only;
  uint32_t block = loop->header;
  for (unsigned steps = 0; steps < 16; steps++) { /* up the straight way */
    int32_t before = NO_TARGET;
    for (uint32_t e = flow->in.start[block]; e < flow->in.start[block + 1]; e++)
      if (block != loop->header || flow->in.to[e] != loop->latch) {
        if (before != NO_TARGET)
          return NO_TARGET;
        before = (int32_t)flow->in.to[e];
      }
    if (before == NO_TARGET)
      return NO_TARGET;
    block = (uint32_t)before;
    for (uint32_t w = counting->written.start[reg + 1]; w-- > counting->written.start[reg];)
      if (flow->block_of[counting->written.by[w]] == block)
        return (int32_t)counting->written.by[w];
  }
  return NO_TARGET;
}

/* A register that nothing but a move of a constant writes. */
static int32_t lone_writer(const Counting *counting, int32_t reg) {
  uint32_t w = counting->written.start[reg];
  return counting->written.start[reg + 1] == w + 1 ? (int32_t)counting->written.by[w] : NO_TARGET;
}

/* An operand that is a constant, or a register that holds one where the loop begins. */
static bool constant_before(const Counting *counting, const CountedLoop *loop, int32_t operand, uint64_t *value) {
  if (operand >= 0 && lone_writer(counting, operand) != NO_TARGET &&
      loops_dominates(counting->loops, counting->flow->block_of[lone_writer(counting, operand)], loop->header)) {
    const VInst *writer = inst_at(counting, (uint32_t)lone_writer(counting, operand));
    if (!is_move(writer, loop->wide))
      return false;
    operand = writer->a;
  } else if (operand >= 0) {
    int32_t i = value_before(counting, loop, operand);
    if (i == NO_TARGET || !is_move(inst_at(counting, (uint32_t)i), loop->wide))
      return false;
    operand = inst_at(counting, (uint32_t)i)->a;
  }
  return vkernel_constant(counting->vkernel, operand, loop->wide, value);
}

static bool goes_on(const CountedLoop *loop, uint8_t type, uint64_t counter, uint64_t bound) {
  bool is_signed = type == TYPE_S32 || type == TYPE_S64;
  int order;
  if (loop->wide)
    order = is_signed ? ((int64_t)counter > (int64_t)bound) - ((int64_t)counter < (int64_t)bound)
                      : (counter > bound) - (counter < bound);
  else
    order = is_signed ? ((int32_t)counter > (int32_t)bound) - ((int32_t)counter < (int32_t)bound)
                      : ((uint32_t)counter > (uint32_t)bound) - ((uint32_t)counter < (uint32_t)bound);
  switch (loop->cmp) {
  case CMP_LT: return order < 0;
  case CMP_LE: return order <= 0;
  case CMP_GT: return order > 0;
  case CMP_GE: return order >= 0;
  case CMP_EQ: return order == 0;
  case CMP_NE: return order != 0;
  default: return true;
  }
}

static void count_trips(const Counting *counting, CountedLoop *loop) {
  uint64_t counter, bound;
  uint8_t type = inst_at(counting, loop->compare)->inst.type;
  loop->trips = 0;
  if (!constant_before(counting, loop, loop->counter, &counter) ||
      !constant_before(counting, loop, loop->bound, &bound))
    return;
  for (uint64_t trips = 1; trips <= TRIPS_MAX; trips++) {
    uint64_t next = counter + (uint64_t)loop->step;
    if (!goes_on(loop, type, loop->old ? counter : next, bound)) {
      loop->trips = trips;
      return;
    }
    counter = next;
  }
}

bool counting_find(const Counting *counting, uint32_t header, CountedLoop *loop) {
  *loop = (CountedLoop){.first = 0};
  if (!find_blocks(counting, header, loop) || !find_compare(counting, loop) || !find_sides(counting, loop))
    return false;
  loop->lone_exit = has_lone_exit(counting, loop);
  count_trips(counting, loop);
  return true;
}

/* -- what it depends on -- */

static void add_unit(GArray *units, uint32_t unit) {
  for (guint u = 0; u < units->len; u++)
    if (g_array_index(units, uint32_t, u) == unit)
      return;
  g_array_append_val(units, unit);
}

/* Adds what the instruction reads; false if it reads more than registers. */
static bool add_reads(const Counting *counting, const VInst *vinst, GArray *units) {
  VRegUse uses[8];
  int32_t preds[4];
  bool loads = vinst->inst.op == OP_LD && vinst->inst.space == MEM_PARAM;
  if (!loads && !unit_is_arithmetic(op_info[vinst->inst.op].unit))
    return false;
  unsigned count = vinst_reads(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    add_unit(units, (uint32_t)uses[u].reg);
  count = vinst_pred_reads(vinst, preds);
  for (unsigned p = 0; p < count; p++)
    add_unit(units, counting->vkernel->rows->len + (uint32_t)preds[p]);
  return true;
}

bool counting_is_known(const Counting *counting, const CountedLoop *loop) {
  enum { UNITS = 64 };
  g_autoptr(GArray) units = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  add_unit(units, (uint32_t)loop->counter);
  if (loop->bound >= 0)
    add_unit(units, (uint32_t)loop->bound);
  for (guint u = 0; u < units->len; u++) {
    uint32_t unit = g_array_index(units, uint32_t, u);
    for (uint32_t w = counting->written.start[unit]; w < counting->written.start[unit + 1]; w++)
      if (units->len > UNITS || !add_reads(counting, inst_at(counting, counting->written.by[w]), units))
        return false;
  }
  return true;
}
