#include "isa/flow/preheader.h"

#include "isa/flow/live_range.h"
#include "isa/flow/loops.h"

enum { BODY_STEPS_MAX = 20000000 };

typedef struct Preheaders {
  VKernel *vkernel;
  Flow flow;
  Loops loops;
  LiveRanges ranges;
  bool has_ranges;
  uint32_t *seen, stamp;
  uint64_t steps;
  uint8_t *inner;  /* of each block: it goes round the inner of two loops with one header */
  uint8_t *splits; /* of each block: it is such a header */
} Preheaders;

static bool is_latch(const Preheaders *pre, uint32_t block, uint32_t header) {
  return pre->loops.loop_of[header] == (int32_t)header && loops_dominates(&pre->loops, header, block);
}

/* The blocks of the rounds that end in `latch`. */
static GArray *body_of(Preheaders *pre, uint32_t header, uint32_t latch) {
  const Flow *flow = &pre->flow;
  GArray *body = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  pre->stamp++;
  pre->seen[header] = pre->stamp;
  g_array_append_val(body, header);
  if (latch != header) {
    pre->seen[latch] = pre->stamp;
    g_array_append_val(body, latch);
  }
  for (guint next = 1; next < body->len; next++) {
    uint32_t block = g_array_index(body, uint32_t, next);
    for (uint32_t e = flow->in.start[block]; e < flow->in.start[block + 1]; e++) {
      uint32_t before = flow->in.to[e];
      if (pre->seen[before] == pre->stamp)
        continue;
      pre->seen[before] = pre->stamp;
      g_array_append_val(body, before);
    }
  }
  pre->steps += body->len;
  return body;
}

static bool is_live_in(const Preheaders *pre, uint32_t unit, uint32_t block) {
  uint32_t at = 2 * pre->flow.first[block];
  for (uint32_t s = pre->ranges.start[unit]; s < pre->ranges.start[unit + 1]; s++) {
    Span span = g_array_index(pre->ranges.spans, Span, s);
    if (span.from <= at && at < span.to)
      return true;
  }
  return false;
}

/* Whether block `block` writes a register that lives around the loop, and that `body` leaves alone. */
static bool writes_loop_variable(const Preheaders *pre, uint32_t header, uint32_t block, GHashTable *left_alone) {
  for (uint32_t i = pre->flow.first[block]; i < pre->flow.first[block + 1]; i++) {
    VRegUse uses[8];
    unsigned count = vinst_writes(&g_array_index(pre->vkernel->insts, VInst, i), uses);
    for (unsigned u = 0; u < count; u++)
      if (!g_hash_table_contains(left_alone, GINT_TO_POINTER(uses[u].reg)) &&
          is_live_in(pre, pre->ranges.unit_of_reg[uses[u].reg] + uses[u].row, header))
        return true;
  }
  return false;
}

/* A latch goes round an inner loop if a variable of the loop changes in other rounds but not in its own: the variable
 * is the outer loop's. */
static bool goes_round_inner(Preheaders *pre, uint32_t header, uint32_t latch) {
  g_autoptr(GArray) body = body_of(pre, header, latch);
  g_autoptr(GHashTable) written = g_hash_table_new(NULL, NULL);
  for (guint b = 0; b < body->len; b++) {
    uint32_t block = g_array_index(body, uint32_t, b);
    for (uint32_t i = pre->flow.first[block]; i < pre->flow.first[block + 1]; i++) {
      VRegUse uses[8];
      unsigned count = vinst_writes(&g_array_index(pre->vkernel->insts, VInst, i), uses);
      for (unsigned u = 0; u < count; u++)
        g_hash_table_add(written, GINT_TO_POINTER(uses[u].reg));
    }
  }
  uint32_t inner = pre->stamp;
  for (uint32_t e = pre->flow.in.start[header]; e < pre->flow.in.start[header + 1]; e++) {
    uint32_t other = pre->flow.in.to[e];
    if (!is_latch(pre, other, header) || pre->seen[other] == inner)
      continue;
    g_autoptr(GArray) rounds = body_of(pre, header, other);
    bool changes = false, around = pre->seen[latch] == pre->stamp;
    for (guint b = 0; b < rounds->len && !changes; b++)
      changes = writes_loop_variable(pre, header, g_array_index(rounds, uint32_t, b), written);
    return around && changes;
  }
  return false;
}

static unsigned count_latches(const Preheaders *pre, uint32_t header) {
  unsigned count = 0;
  for (uint32_t e = pre->flow.in.start[header]; e < pre->flow.in.start[header + 1]; e++)
    count += is_latch(pre, pre->flow.in.to[e], header);
  return count;
}

static void find_shared_headers(Preheaders *pre) {
  for (guint i = 0; i < pre->loops.headers->len; i++) {
    uint32_t header = g_array_index(pre->loops.headers, uint32_t, i);
    if (count_latches(pre, header) != 2 || pre->steps > BODY_STEPS_MAX)
      continue;
    if (!pre->has_ranges && !(pre->has_ranges = live_ranges_init(&pre->ranges, pre->vkernel, &pre->flow)))
      return;
    for (uint32_t e = pre->flow.in.start[header]; e < pre->flow.in.start[header + 1]; e++) {
      uint32_t latch = pre->flow.in.to[e];
      if (!is_latch(pre, latch, header) || !goes_round_inner(pre, header, latch))
        continue;
      pre->inner[latch] = 1;
      pre->splits[header] = 1;
    }
  }
}

static bool runs_into(const Preheaders *pre, uint32_t block) {
  const VInst *last = &g_array_index(pre->vkernel->insts, VInst, pre->flow.first[block + 1] - 1);
  return !(op_info[last->inst.op].flags & OPF_BRANCH) || vinst_is_guarded(last);
}

/* A header that a latch runs into has no room before it. */
static bool gets_preheader(const Preheaders *pre, uint32_t block) {
  return pre->loops.loop_of[block] == (int32_t)block &&
         !(block > 0 && is_latch(pre, block - 1, block) && runs_into(pre, block - 1));
}

static void add_nop(const Preheaders *pre, VEdit *edit, uint32_t header) {
  VInst nop = vinst_beside(OP_NOP, &g_array_index(pre->vkernel->insts, VInst, pre->flow.first[header]));
  g_array_append_val(edit->insts, nop);
}

/* A branch back to a header, and how many NOPs it passes over. */
typedef struct Round {
  uint32_t inst, header, over;
} Round;

static void note_round(const Preheaders *pre, GArray *rounds, const VEdit *edit, uint32_t block, const VInst *vinst) {
  if (vinst->inst.op != OP_BRA || vinst->inst.target == NO_TARGET)
    return;
  uint32_t to = pre->flow.block_of[vinst->inst.target];
  if (!gets_preheader(pre, to) || !is_latch(pre, block, to))
    return;
  Round round = {edit->insts->len, pre->flow.first[to], pre->splits[to] && pre->inner[block] ? 2 : 1};
  g_array_append_val(rounds, round);
}

static void insert_all(Preheaders *pre) {
  VEdit edit;
  g_autoptr(GArray) rounds = g_array_new(FALSE, FALSE, sizeof(Round));
  vedit_init(&edit, pre->vkernel);
  for (uint32_t b = 0; b < pre->flow.nblocks; b++)
    for (uint32_t i = pre->flow.first[b]; i < pre->flow.first[b + 1]; i++) {
      const VInst *vinst = &g_array_index(pre->vkernel->insts, VInst, i);
      edit.moved[i] = edit.insts->len;
      if (i == pre->flow.first[b] && gets_preheader(pre, b)) {
        add_nop(pre, &edit, b);
        if (pre->splits[b])
          add_nop(pre, &edit, b);
      }
      note_round(pre, rounds, &edit, b, vinst);
      g_array_append_val(edit.insts, *vinst);
    }
  g_autofree uint32_t *moved = g_memdup2(edit.moved, pre->vkernel->insts->len * sizeof *moved);
  vedit_finish(&edit, pre->vkernel);
  for (guint r = 0; r < rounds->len; r++) {
    Round round = g_array_index(rounds, Round, r);
    g_array_index(pre->vkernel->insts, VInst, round.inst).inst.target = (int32_t)(moved[round.header] + round.over);
  }
}

void preheaders_insert(VKernel *vkernel) {
  Preheaders pre = {.vkernel = vkernel};
  vkernel_flow(vkernel, &pre.flow);
  loops_init(&pre.loops, &pre.flow);
  pre.seen = g_new0(uint32_t, pre.flow.nblocks + 1);
  pre.inner = g_new0(uint8_t, pre.flow.nblocks + 1);
  pre.splits = g_new0(uint8_t, pre.flow.nblocks + 1);
  find_shared_headers(&pre);
  insert_all(&pre);
  live_ranges_clear(&pre.ranges);
  loops_clear(&pre.loops);
  flow_clear(&pre.flow);
  g_free(pre.seen);
  g_free(pre.inner);
  g_free(pre.splits);
}
