#include "isa/flow/copies.h"

#include <string.h>

#include "isa/flow/live_range.h"

enum { CELLS_MAX = 1 << 22 }; /* copied rows times blocks */

/* What a row holds: a row of the kernel's constants, or one of these. */
enum { UNKNOWN = -1, /* nothing has come there yet */ VARIES = -2 };

typedef struct Copies {
  VKernel *vkernel;
  Flow flow;
  LiveRanges units;
  int32_t *place; /* of each unit: its number among the copied ones, or NO_TARGET */
  uint32_t count; /* of these */
  int32_t *in;    /* what they hold where each block begins, `count` of each */
  int32_t *now;   /* what they hold at an instruction */
} Copies;

static VInst *inst_at(const Copies *copies, uint32_t i) { return &g_array_index(copies->vkernel->insts, VInst, i); }

/* A MOV, and how many rows it moves; 0: it is none. */
static uint8_t moved_rows(const VInst *vinst) {
  bool plain = vinst->pdst == VPRED_SINK && vinst->dst >= 0 && vinst->dst != VREG_SINK &&
               !(vinst->inst.flags & ~(uint32_t)(INST_SYNCED | INST_GUARD_NOT));
  return !plain ? 0 : vinst->inst.op == OP_MOV ? 1 : vinst->inst.op == OP_MOV64 ? 2 : 0;
}

static int32_t *place_of(const Copies *copies, int32_t reg, unsigned row) {
  return &copies->place[copies->units.unit_of_reg[reg] + row];
}

/* Numbers the rows that are copied. */
static void find_copied(Copies *copies) {
  copies->place = g_new(int32_t, copies->units.nunits + 1);
  memset(copies->place, 0xff, (copies->units.nunits + 1) * sizeof *copies->place);
  for (uint32_t i = 0; i < copies->vkernel->insts->len; i++) {
    const VInst *vinst = inst_at(copies, i);
    uint8_t rows = moved_rows(vinst);
    for (unsigned row = 0; row < rows && vinst->a >= 0; row++) {
      int32_t *place = place_of(copies, vinst->a, vinst->a_row + row);
      if (*place == NO_TARGET)
        *place = (int32_t)copies->count++;
    }
  }
}

/* What row `row` of a MOV's operand holds now. */
static int32_t value_of(const Copies *copies, const VInst *move, unsigned row) {
  if (move->a < 0)
    return ~move->a + (int32_t)row;
  int32_t place = *place_of(copies, move->a, move->a_row + row);
  return place == NO_TARGET ? VARIES : copies->now[place];
}

static int32_t meet(int32_t a, int32_t b) { return a == UNKNOWN ? b : b == UNKNOWN || a == b ? a : VARIES; }

/* What the instruction writes. */
static void write_rows(Copies *copies, const VInst *vinst) {
  VRegUse uses[8];
  int32_t values[2] = {VARIES, VARIES};
  unsigned count = vinst_writes(vinst, uses), rows = moved_rows(vinst);
  for (unsigned row = 0; row < rows; row++)
    values[row] = value_of(copies, vinst, row);
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++) {
      int32_t place = *place_of(copies, uses[u].reg, uses[u].row + row);
      if (place == NO_TARGET)
        continue;
      int32_t value = rows ? values[row] : VARIES;
      copies->now[place] = vinst_is_guarded(vinst) ? meet(copies->now[place], value) : value;
    }
}

/* Hands on what holds where the block ends. Returns true if something changed where block `to` begins. */
static bool hand_on(Copies *copies, uint32_t to) {
  int32_t *in = &copies->in[(size_t)to * copies->count];
  bool changed = false;
  for (uint32_t place = 0; place < copies->count; place++) {
    int32_t value = meet(in[place], copies->now[place]);
    changed |= value != in[place];
    in[place] = value;
  }
  return changed;
}

static void begin_block(Copies *copies, uint32_t block) {
  memcpy(copies->now, &copies->in[(size_t)block * copies->count], copies->count * sizeof *copies->now);
}

/* What each block begins with: a row that nobody wrote holds nothing that is known. */
static void find_values(Copies *copies) {
  const Flow *flow = &copies->flow;
  size_t cells = (size_t)flow->nblocks * copies->count;
  copies->in = g_new(int32_t, cells);
  copies->now = g_new(int32_t, copies->count);
  memset(copies->in, 0xff, cells * sizeof *copies->in);
  for (uint32_t place = 0; place < copies->count; place++)
    copies->in[place] = VARIES;
  g_autofree uint8_t *waits = g_new0(uint8_t, flow->nblocks);
  waits[0] = 1;
  for (bool again = true; again;) {
    again = false;
    for (uint32_t block = 0; block < flow->nblocks; block++) {
      if (!waits[block])
        continue;
      waits[block] = 0;
      begin_block(copies, block);
      for (uint32_t i = flow->first[block]; i < flow->first[block + 1]; i++)
        write_rows(copies, inst_at(copies, i));
      for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++)
        if (hand_on(copies, flow->out.to[e])) {
          waits[flow->out.to[e]] = 1;
          again |= flow->out.to[e] <= block;
        }
    }
  }
}

/* A MOV's operand becomes the constant that it holds. */
static void fold(const Copies *copies, VInst *vinst) {
  uint8_t rows = moved_rows(vinst);
  if (!rows || vinst->a < 0)
    return;
  int32_t first = value_of(copies, vinst, 0);
  if (first < 0 || (rows == 2 && value_of(copies, vinst, 1) != first + 1))
    return;
  vinst->a = ~first;
  vinst->a_row = 0;
}

static void fold_all(Copies *copies) {
  const Flow *flow = &copies->flow;
  for (uint32_t block = 0; block < flow->nblocks; block++) {
    if (!flow->reachable[block])
      continue;
    begin_block(copies, block);
    for (uint32_t i = flow->first[block]; i < flow->first[block + 1]; i++) {
      fold(copies, inst_at(copies, i));
      write_rows(copies, inst_at(copies, i));
    }
  }
}

void vkernel_fold_copies(VKernel *vkernel) {
  Copies copies = {.vkernel = vkernel};
  vkernel_flow(vkernel, &copies.flow);
  live_ranges_number(&copies.units, vkernel);
  find_copied(&copies);
  if (copies.count && (size_t)copies.count * copies.flow.nblocks <= CELLS_MAX) {
    find_values(&copies);
    fold_all(&copies);
  }
  g_free(copies.in);
  g_free(copies.now);
  g_free(copies.place);
  live_ranges_clear(&copies.units);
  flow_clear(&copies.flow);
}
