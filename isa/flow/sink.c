#include "isa/flow/sink.h"

#include <string.h>

#include "isa/flow/writers.h"

enum { ROUNDS = 4, NOWHERE = -1 };

/* -- sinking -- */

typedef struct Sink {
  Writers writers;
  uint32_t *start, *users; /* of each unit: the instructions that read it, one entry for each read */
  int32_t *anchor;         /* of each instruction: the one that it now stands before, or NOWHERE: where it was */
  uint32_t *write; /* of each unit: the nearest instruction behind (sinking) or before (rising) that writes it ... */
  uint32_t *write_block;       /* ... if that is in this block */
  uint32_t *read, *read_block; /* the same of reads (rising) */
  bool moved;
} Sink;

static void note_user(Sink *sink, uint32_t unit, uint32_t i, bool count) {
  if (count)
    sink->start[unit + 1]++;
  else
    sink->users[sink->start[unit]++] = i;
}

static void each_read(Sink *sink, bool count) {
  for (uint32_t i = 0; i < sink->writers.vkernel->insts->len; i++) {
    VRegUse uses[8];
    unsigned n = vinst_reads(writers_inst(&sink->writers, i), uses);
    for (unsigned u = 0; u < n; u++)
      for (unsigned row = 0; row < uses[u].rows; row++)
        note_user(sink, writers_unit(&sink->writers, uses[u].reg, uses[u].row + row), i, count);
  }
}

static void collect_users(Sink *sink) {
  uint32_t units = sink->writers.ranges.nunits;
  sink->start = g_new0(uint32_t, units + 2);
  each_read(sink, true);
  for (uint32_t u = 0; u < units; u++)
    sink->start[u + 1] += sink->start[u];
  sink->users = g_new(uint32_t, sink->start[units] + 1);
  each_read(sink, false);
  for (uint32_t u = units; u > 0; u--)
    sink->start[u] = sink->start[u - 1];
  sink->start[0] = 0;
}

static bool is_constant_special(const Inst *inst) {
  return !special_is_clock(inst->mode) && inst->mode != SR_SMID;
}

/* Arithmetic whose result depends on its operands alone, and which writes nothing but a register. */
static bool may_move(const VInst *vinst) {
  const uint32_t fixed = INST_MARKS | INST_SYNCED | INST_CARRY_IN | INST_CARRY_OUT;
  bool pure = unit_is_arithmetic(op_info[vinst->inst.op].unit) ||
              (vinst->inst.op == OP_S2R && is_constant_special(&vinst->inst));
  return pure && !vinst_is_guarded(vinst) && !(vinst->inst.flags & fixed) && vinst->dst != VREG_SINK &&
         vinst->pdst == VPRED_SINK && vinst->pdst2 == VPRED_SINK && vinst->psrc[0] == VPRED_TRUE &&
         vinst->psrc[1] == VPRED_TRUE && vinst->psrc[2] == VPRED_TRUE && vinst_operands(vinst).dst > 0;
}

static uint32_t place_of(const Sink *sink, uint32_t i) {
  return sink->anchor[i] == NOWHERE ? i : (uint32_t)sink->anchor[i];
}

static uint32_t last_of(const Sink *sink, uint32_t block) { return sink->writers.flow.first[block + 1] - 1; }

/* The place that comes before both, as late as possible. */
static uint32_t meet(const Sink *sink, uint32_t x, uint32_t y) {
  const Flow *flow = &sink->writers.flow;
  uint32_t a = flow->block_of[x], b = flow->block_of[y];
  if (a == b)
    return MIN(x, y);
  if (loops_dominates(&sink->writers.loops, a, b))
    return x;
  if (loops_dominates(&sink->writers.loops, b, a))
    return y;
  while (!loops_dominates(&sink->writers.loops, a, b))
    a = (uint32_t)sink->writers.loops.idom[a];
  return last_of(sink, a);
}

/* True if the instruction alone writes what it writes, and all who read that come behind it. */
static bool alone_makes(const Sink *sink, uint32_t i) {
  const VInst *vinst = writers_inst(&sink->writers, i);
  uint32_t unit = writers_unit(&sink->writers, vinst->dst, vinst->dst_row);
  for (uint32_t end = unit + vinst_operands(vinst).dst; unit < end; unit++) {
    if (sink->writers.writer[unit] != (int32_t)i)
      return false;
    for (uint32_t u = sink->start[unit]; u < sink->start[unit + 1]; u++)
      if (!writers_before(&sink->writers, i, sink->users[u]))
        return false;
  }
  return true;
}

/* Where the value has to be at last; `i` itself if it can't move. */
static uint32_t find_place(const Sink *sink, uint32_t i) {
  const VInst *vinst = writers_inst(&sink->writers, i);
  uint32_t unit = writers_unit(&sink->writers, vinst->dst, vinst->dst_row), place = UINT32_MAX;
  for (uint32_t u = sink->start[unit]; u < sink->start[unit + vinst_operands(vinst).dst]; u++) {
    uint32_t user = place_of(sink, sink->users[u]);
    place = place == UINT32_MAX ? user : meet(sink, place, user);
  }
  place = place == UINT32_MAX ? i : writers_leave_loops(&sink->writers, i, place);
  return writers_before(&sink->writers, i, place) ? place : i;
}

static bool is_live(const Sink *sink, uint32_t unit, uint32_t i) {
  const LiveRanges *ranges = &sink->writers.ranges;
  uint32_t low = ranges->start[unit], high = ranges->start[unit + 1], at = 2 * i;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    Span span = g_array_index(ranges->spans, Span, middle);
    if (span.to <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low < ranges->start[unit + 1] && g_array_index(ranges->spans, Span, low).from <= at;
}

/* Whether the row has the same value at `place`: written once, before `i`, or not between the two, in one block. */
static bool stays(const Sink *sink, uint32_t unit, uint32_t i, uint32_t place) {
  const uint32_t *block_of = sink->writers.flow.block_of;
  int32_t writer = sink->writers.writer[unit];
  if (writer >= 0)
    return writers_before(&sink->writers, (uint32_t)writer, i);
  return writer == WRITER_MANY && block_of[i] == block_of[place] &&
         (sink->write_block[unit] != block_of[i] || sink->write[unit] >= place);
}

/* Rows of operands that would be in use longer; -1 if an operand changes on the way. */
static int longer_rows(const Sink *sink, uint32_t i, uint32_t place) {
  VRegUse uses[8];
  unsigned count = vinst_reads(writers_inst(&sink->writers, i), uses);
  int longer = 0;
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++) {
      uint32_t unit = writers_unit(&sink->writers, uses[u].reg, uses[u].row + row);
      if (!stays(sink, unit, i, place))
        return -1;
      longer += !is_live(sink, unit, place);
    }
  return longer;
}

static void note_writes(Sink *sink, uint32_t i, uint32_t place) {
  VRegUse uses[8];
  unsigned count = vinst_writes(writers_inst(&sink->writers, i), uses);
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++) {
      uint32_t unit = writers_unit(&sink->writers, uses[u].reg, uses[u].row + row);
      sink->write[unit] = place;
      sink->write_block[unit] = sink->writers.flow.block_of[i];
    }
}

/* ptxas loads what depends on nothing long before it is wanted: a way of a branch isn't made longer by it. */
static bool waits_for_nothing(const VInst *vinst) {
  return vinst->inst.op == OP_S2R || (vinst->inst.op == OP_MOV && vinst->a < 0 && vinst_operands(vinst).dst == 1);
}

static void sink_inst(Sink *sink, uint32_t i) {
  const VInst *vinst = writers_inst(&sink->writers, i);
  if (!may_move(vinst) || !sink->writers.flow.reachable[sink->writers.flow.block_of[i]] || !alone_makes(sink, i))
    return;
  uint32_t place = find_place(sink, i);
  if (place <= i + 1 ||
      (waits_for_nothing(vinst) && sink->writers.flow.block_of[place] != sink->writers.flow.block_of[i]))
    return;
  int longer = longer_rows(sink, i, place);
  if (longer < 0 || longer >= vinst_operands(vinst).dst)
    return;
  sink->anchor[i] = (int32_t)place;
  sink->moved = true;
}

/* The instructions that move before each, in their order. */
static void put_insts(Sink *sink) {
  VKernel *vkernel = sink->writers.vkernel;
  guint n = vkernel->insts->len;
  g_autofree int32_t *first = g_new(int32_t, n + 1), *next = g_new(int32_t, n + 1);
  memset(first, 0xff, (n + 1) * sizeof *first);
  for (guint i = n; i-- > 0;)
    if (sink->anchor[i] != NOWHERE) {
      next[i] = first[sink->anchor[i]];
      first[sink->anchor[i]] = (int32_t)i;
    }
  VEdit edit;
  vedit_init(&edit, vkernel);
  for (guint i = 0; i < n; i++) {
    edit.moved[i] = edit.insts->len;
    for (int32_t k = first[i]; k != NOWHERE; k = next[k])
      vedit_append(&edit, writers_inst(&sink->writers, (uint32_t)k));
    if (sink->anchor[i] == NOWHERE)
      vedit_append(&edit, writers_inst(&sink->writers, i));
  }
  vedit_finish(&edit, vkernel);
}

/* -- rising -- */

/* Rows of operands that nobody reads from `place` to instruction `i`, nor behind it. */
static unsigned freed_rows(const Sink *sink, uint32_t i, uint32_t place) {
  VRegUse uses[8];
  unsigned count = vinst_reads(writers_inst(&sink->writers, i), uses), freed = 0;
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++) {
      uint32_t unit = writers_unit(&sink->writers, uses[u].reg, uses[u].row + row);
      bool read = sink->read_block[unit] == sink->writers.flow.block_of[i] && sink->read[unit] >= place;
      freed += !read && !is_live(sink, unit, i + 1);
    }
  return freed;
}

static void note_reads(Sink *sink, uint32_t i, uint32_t place) {
  VRegUse uses[8];
  unsigned count = vinst_reads(writers_inst(&sink->writers, i), uses);
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++) {
      uint32_t unit = writers_unit(&sink->writers, uses[u].reg, uses[u].row + row);
      bool here = sink->read_block[unit] == sink->writers.flow.block_of[i];
      sink->read[unit] = here ? MAX(sink->read[unit], place) : place;
      sink->read_block[unit] = sink->writers.flow.block_of[i];
    }
}

/* The first place of the block where the operands have their values; `i` if that isn't known. */
static uint32_t find_rise(const Sink *sink, uint32_t i) {
  const Flow *flow = &sink->writers.flow;
  uint32_t block = flow->block_of[i], place = flow->first[block];
  VRegUse uses[8];
  unsigned count = vinst_reads(writers_inst(&sink->writers, i), uses);
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++) {
      uint32_t unit = writers_unit(&sink->writers, uses[u].reg, uses[u].row + row);
      if (sink->write_block[unit] == block)
        place = MAX(place, sink->write[unit]);
    }
  return place;
}

static void rise_inst(Sink *sink, uint32_t i) {
  const VInst *vinst = writers_inst(&sink->writers, i);
  unsigned rows = vinst_operands(vinst).dst;
  if (!may_move(vinst) || !alone_makes(sink, i))
    return;
  uint32_t place = find_rise(sink, i);
  bool copy = vinst->inst.op == OP_MOV || vinst->inst.op == OP_MOV64;
  if (place >= i || freed_rows(sink, i, place) < rows + !copy)
    return;
  sink->anchor[i] = (int32_t)place;
  sink->moved = true;
}

/* -- both -- */

static uint32_t *no_blocks(uint32_t units) {
  uint32_t *blocks = g_new(uint32_t, units);
  memset(blocks, 0xff, units * sizeof *blocks);
  return blocks;
}

static bool sink_init(Sink *sink, VKernel *vkernel) {
  *sink = (Sink){0};
  writers_init(&sink->writers, vkernel);
  live_ranges_clear(&sink->writers.ranges);
  if (!live_ranges_init(&sink->writers.ranges, vkernel, &sink->writers.flow))
    return false;
  uint32_t insts = vkernel->insts->len + 1, units = sink->writers.ranges.nunits + 1;
  collect_users(sink);
  sink->anchor = g_new(int32_t, insts);
  memset(sink->anchor, 0xff, insts * sizeof *sink->anchor);
  sink->write = g_new(uint32_t, units);
  sink->read = g_new(uint32_t, units);
  return true;
}

static void sink_clear(Sink *sink) {
  g_free(sink->start);
  g_free(sink->users);
  g_free(sink->anchor);
  g_free(sink->write);
  g_free(sink->read);
  writers_clear(&sink->writers);
}

static void sink_all(Sink *sink) {
  sink->write_block = no_blocks(sink->writers.ranges.nunits + 1);
  for (uint32_t i = sink->writers.vkernel->insts->len; i-- > 0;) {
    sink_inst(sink, i);
    note_writes(sink, i, i);
  }
  g_free(sink->write_block);
}

/* Operands first, so that a chain of them comes up at once. */
static void rise_all(Sink *sink) {
  sink->write_block = no_blocks(sink->writers.ranges.nunits + 1);
  sink->read_block = no_blocks(sink->writers.ranges.nunits + 1);
  for (uint32_t i = 0; i < sink->writers.vkernel->insts->len; i++) {
    rise_inst(sink, i);
    note_reads(sink, i, place_of(sink, i));
    note_writes(sink, i, sink->anchor[i] == NOWHERE ? i + 1 : (uint32_t)sink->anchor[i]);
  }
  g_free(sink->write_block);
  g_free(sink->read_block);
}

/* Down, then up once nothing goes down any more. True if another round may move more. */
static bool move_round(VKernel *vkernel, bool last) {
  Sink sink;
  bool sank = false;
  if (sink_init(&sink, vkernel)) {
    if (!last)
      sink_all(&sink);
    sank = sink.moved;
    if (!sank)
      rise_all(&sink);
    if (sink.moved)
      put_insts(&sink);
  }
  sink_clear(&sink);
  return sank;
}

void vkernel_place_values(VKernel *vkernel) {
  for (unsigned round = 0; move_round(vkernel, round == ROUNDS); round++)
    ;
}
