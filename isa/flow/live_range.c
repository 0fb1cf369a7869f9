#include "isa/flow/live_range.h"

#include <stdlib.h>

/* Steps of the block walks: so many for each block on average mean that thousands of rows are live at once. */
enum { STEPS_PER_BLOCK = 4096, STEPS_SPARE = 10000000 };

enum { READ, READ_LATE, WRITE, WRITE_SOME };

/* A place that reads or writes a unit. */
typedef struct Touch {
  uint32_t inst;
  uint8_t kind;
} Touch;

typedef struct Walk {
  const Flow *flow;
  Touch *touches;
  uint32_t *start; /* nunits + 1: the touches of each unit, in program order, an instruction's reads first */
  /* Of the unit at hand: stamps of blocks, and its first and last touch in each block. */
  uint32_t stamp, *seen, *live_in, *live_out, *reached, *first, *last;
  uint32_t *block, blocks; /* those that it touches or lives through */
  uint32_t *queue, queued; /* each block comes there twice at most */
  uint64_t steps;
  LiveRanges *ranges;
} Walk;

/* -- touches -- */

typedef void (*TouchFunction)(gpointer data, uint32_t unit, uint32_t inst, uint8_t kind);

/* The executors may write the first row of a pair before they read an operand of another size, so these stay apart. A
 * load has its addresses before it writes anything. */
static bool reads_late(const VInst *vinst, uint8_t written, uint8_t read) {
  bool load = op_info[vinst->inst.op].flags & OPF_LOAD;
  return written && written != read && (written > 1 || read > 1) && !(load && written < read);
}

static void touch_inst(const VInst *vinst, uint32_t i, const LiveRanges *ranges, uint32_t preds, TouchFunction touch,
                       gpointer data) {
  VRegUse uses[8];
  int32_t names[4];
  uint8_t written = vinst_operands(vinst).dst;
  unsigned count = vinst_reads(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++)
      touch(data, ranges->unit_of_reg[uses[u].reg] + uses[u].row + row, i,
            reads_late(vinst, written, uses[u].rows) ? READ_LATE : READ);
  count = vinst_pred_reads(vinst, names);
  for (unsigned p = 0; p < count; p++)
    touch(data, preds + (uint32_t)names[p], i, READ);
  uint8_t kind = vinst_is_guarded(vinst) && !vinst->own ? WRITE_SOME : WRITE;
  count = vinst_writes(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    for (unsigned row = 0; row < uses[u].rows; row++)
      touch(data, ranges->unit_of_reg[uses[u].reg] + uses[u].row + row, i, kind);
  count = vinst_pred_writes(vinst, names);
  for (unsigned p = 0; p < count; p++)
    touch(data, preds + (uint32_t)names[p], i, kind);
}

static void count_touch(gpointer data, uint32_t unit, uint32_t inst, uint8_t kind) {
  ((Walk *)data)->start[unit + 1]++;
}

static void put_touch(gpointer data, uint32_t unit, uint32_t inst, uint8_t kind) {
  Walk *walk = data;
  walk->touches[walk->start[unit]++] = (Touch){inst, kind};
}

static void collect_touches(Walk *walk, const VKernel *vkernel) {
  const LiveRanges *ranges = walk->ranges;
  uint32_t n = ranges->nunits, preds = ranges->unit_of_reg[vkernel->rows->len];
  walk->start = g_new0(uint32_t, n + 2);
  for (guint i = 0; i < vkernel->insts->len; i++)
    touch_inst(&g_array_index(vkernel->insts, VInst, i), i, ranges, preds, count_touch, walk);
  for (uint32_t u = 0; u < n; u++)
    walk->start[u + 1] += walk->start[u];
  walk->touches = g_new(Touch, walk->start[n] + 1);
  for (guint i = 0; i < vkernel->insts->len; i++)
    touch_inst(&g_array_index(vkernel->insts, VInst, i), i, ranges, preds, put_touch, walk);
  for (uint32_t u = n; u > 0; u--)
    walk->start[u] = walk->start[u - 1];
  walk->start[0] = 0;
}

/* -- the blocks a unit lives through -- */

static bool writes(const Touch *touch) { return touch->kind == WRITE || touch->kind == WRITE_SOME; }

static bool touched(const Walk *walk, uint32_t block) {
  return walk->seen[block] == walk->stamp && walk->first[block] != UINT32_MAX;
}

static void see(Walk *walk, uint32_t block) {
  if (walk->seen[block] == walk->stamp)
    return;
  walk->seen[block] = walk->stamp;
  walk->first[block] = UINT32_MAX;
  walk->block[walk->blocks++] = block;
}

/* Whether the block's touches read before they write for good (`reads`), write for good (`kills`), or write at
 * all. */
typedef struct Summary {
  bool reads, kills, writes;
} Summary;

static Summary summarize(const Walk *walk, uint32_t block) {
  Summary summary = {0};
  if (!touched(walk, block))
    return summary;
  for (uint32_t t = walk->first[block]; t <= walk->last[block]; t++) {
    const Touch *touch = &walk->touches[t];
    summary.reads |= !writes(touch) && !summary.kills;
    summary.kills |= touch->kind == WRITE;
    summary.writes |= writes(touch);
  }
  return summary;
}

static void enter(Walk *walk, uint32_t block) {
  if (walk->live_in[block] == walk->stamp)
    return;
  see(walk, block);
  walk->live_in[block] = walk->stamp;
  walk->queue[walk->queued++] = block;
}

/* Backwards from each block that reads what it didn't write. */
static void find_live_blocks(Walk *walk) {
  const Flow *flow = walk->flow;
  uint32_t touched_blocks = walk->blocks;
  walk->queued = 0;
  for (uint32_t i = 0; i < touched_blocks; i++)
    if (summarize(walk, walk->block[i]).reads)
      enter(walk, walk->block[i]);
  while (walk->queued) {
    uint32_t block = walk->queue[--walk->queued];
    for (uint32_t e = flow->in.start[block]; e < flow->in.start[block + 1]; e++) {
      uint32_t before = flow->in.to[e];
      walk->steps++;
      see(walk, before);
      walk->live_out[before] = walk->stamp;
      if (!summarize(walk, before).kills)
        enter(walk, before);
    }
  }
}

/* Forwards from each write, within the live blocks: on any path from a write to a place where the unit is live it is
 * live all the way. */
static void find_reached_blocks(Walk *walk) {
  const Flow *flow = walk->flow;
  for (uint32_t i = 0; i < walk->blocks; i++) {
    uint32_t block = walk->block[i];
    if (walk->live_out[block] == walk->stamp && summarize(walk, block).writes)
      walk->queue[walk->queued++] = block;
  }
  while (walk->queued) {
    uint32_t block = walk->queue[--walk->queued];
    for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++) {
      uint32_t next = flow->out.to[e];
      walk->steps++;
      if (walk->live_in[next] != walk->stamp || walk->reached[next] == walk->stamp)
        continue;
      walk->reached[next] = walk->stamp;
      if (walk->live_out[next] == walk->stamp && !summarize(walk, next).writes)
        walk->queue[walk->queued++] = next;
    }
  }
}

/* -- spans -- */

/* The spans of one block, found from its end to its start, so that the array holds them backwards at first. */
static void add_backwards(GArray *spans, guint base, uint32_t from, uint32_t to) {
  if (from >= to)
    return;
  Span *next = spans->len > base ? &g_array_index(spans, Span, spans->len - 1) : NULL;
  if (next && to >= next->from) {
    next->from = MIN(from, next->from);
    return;
  }
  Span span = {from, to};
  g_array_append_val(spans, span);
}

static void add_block_spans(Walk *walk, uint32_t block) {
  GArray *spans = walk->ranges->spans;
  guint base = spans->len;
  uint32_t first = 2 * walk->flow->first[block], to = 2 * walk->flow->first[block + 1], first_write = UINT32_MAX;
  bool live = walk->live_out[block] == walk->stamp;
  uint32_t count = touched(walk, block) ? walk->last[block] - walk->first[block] + 1 : 0;
  for (uint32_t k = count; k-- > 0;) {
    const Touch *touch = &walk->touches[walk->first[block] + k];
    uint32_t at = 2 * touch->inst;
    if (!writes(touch)) {
      uint32_t end = touch->kind == READ_LATE ? at + 2 : at + 1;
      to = live ? MAX(to, end) : end;
      live = true;
      continue;
    }
    first_write = at + 1;
    if (live && touch->kind == WRITE_SOME)
      continue;
    add_backwards(spans, base, at + 1, live ? to : at + 2);
    live = false;
  }
  if (live)
    add_backwards(spans, base, walk->reached[block] == walk->stamp ? first : first_write, to);
  for (guint i = base, k = spans->len; i + 1 < k; i++) {
    Span *low = &g_array_index(spans, Span, i), *high = &g_array_index(spans, Span, --k), swap = *low;
    *low = *high;
    *high = swap;
  }
}

/* Joins the spans of the unit that touch. */
static void join_spans(GArray *spans, guint base) {
  guint kept = base;
  for (guint i = base; i < spans->len; i++) {
    Span span = g_array_index(spans, Span, i);
    Span *before = kept > base ? &g_array_index(spans, Span, kept - 1) : NULL;
    if (before && before->to >= span.from)
      before->to = MAX(before->to, span.to);
    else
      g_array_index(spans, Span, kept++) = span;
  }
  g_array_set_size(spans, kept);
}

static int compare_blocks(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  return a < b ? -1 : a > b;
}

/* Most units have few blocks. */
static void sort_blocks(uint32_t *block, uint32_t count) {
  enum { FEW = 16 };
  if (count > FEW) {
    qsort(block, count, sizeof *block, compare_blocks);
    return;
  }
  for (uint32_t i = 1; i < count; i++) {
    uint32_t one = block[i], at = i;
    for (; at > 0 && block[at - 1] > one; at--)
      block[at] = block[at - 1];
    block[at] = one;
  }
}

static void walk_unit(Walk *walk, uint32_t unit) {
  guint base = walk->ranges->spans->len;
  walk->stamp = unit + 1;
  walk->blocks = 0;
  for (uint32_t t = walk->start[unit]; t < walk->start[unit + 1]; t++) {
    uint32_t block = walk->flow->block_of[walk->touches[t].inst];
    see(walk, block);
    if (walk->first[block] == UINT32_MAX)
      walk->first[block] = t;
    walk->last[block] = t;
  }
  find_live_blocks(walk);
  find_reached_blocks(walk);
  sort_blocks(walk->block, walk->blocks);
  for (uint32_t i = 0; i < walk->blocks; i++)
    add_block_spans(walk, walk->block[i]);
  join_spans(walk->ranges->spans, base);
}

void live_ranges_number(LiveRanges *ranges, const VKernel *vkernel) {
  *ranges = (LiveRanges){0};
  guint registers = vkernel->rows->len;
  ranges->unit_of_reg = g_new(uint32_t, registers + 1);
  for (guint r = 0; r < registers; r++) {
    ranges->unit_of_reg[r] = ranges->nunits;
    ranges->nunits += g_array_index(vkernel->rows, uint8_t, r);
  }
  ranges->unit_of_reg[registers] = ranges->nunits;
  ranges->nunits += vkernel->npreds;
}

bool live_ranges_init(LiveRanges *ranges, const VKernel *vkernel, const Flow *flow) {
  live_ranges_number(ranges, vkernel);
  ranges->spans = g_array_new(FALSE, FALSE, sizeof(Span));
  ranges->start = g_new0(uint32_t, ranges->nunits + 1);
  gsize blocks = (gsize)flow->nblocks + 1;
  g_autofree uint32_t *memory = g_new0(uint32_t, 9 * blocks);
  Walk walk = {.flow = flow,
               .ranges = ranges,
               .seen = memory,
               .live_in = memory + blocks,
               .live_out = memory + 2 * blocks,
               .reached = memory + 3 * blocks,
               .first = memory + 4 * blocks,
               .last = memory + 5 * blocks,
               .block = memory + 6 * blocks,
               .queue = memory + 7 * blocks};
  collect_touches(&walk, vkernel);
  uint64_t limit = (uint64_t)flow->nblocks * STEPS_PER_BLOCK + STEPS_SPARE;
  for (uint32_t unit = 0; unit < ranges->nunits && walk.steps < limit; unit++) {
    walk_unit(&walk, unit);
    ranges->start[unit + 1] = ranges->spans->len;
  }
  g_free(walk.touches);
  g_free(walk.start);
  return walk.steps < limit;
}

void live_ranges_clear(LiveRanges *ranges) {
  g_free(ranges->unit_of_reg);
  g_free(ranges->start);
  if (ranges->spans)
    g_array_unref(ranges->spans);
  *ranges = (LiveRanges){0};
}
