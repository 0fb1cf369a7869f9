/* What words hand on: that of their strong writes, and of plain stores that set a flag. */
#include <string.h>

#include "sim/detect/race/race_order.h"

/* Words that share a clock can't forget what one of them handed on. */
static bool has_own_clock(const RaceOrder *order) { return order->released->len < RELEASED_MAX; }

static Released *released_of(RaceOrder *order, CellPart *part, uint64_t word) {
  GArray *released = order->released;
  if (!part->released && released->len < RELEASED_MAX) {
    g_array_set_size(released, released->len + 1);
    part->released = released->len;
  } else if (!part->released) {
    part->released = 1 + (uint32_t)(word % RELEASED_MAX);
  }
  return &g_array_index(released, Released, part->released - 1);
}

/* What the part hands on, as other parts do, it hands on by itself from now on. */
static void own_released(RaceOrder *order, CellPart *part, uint64_t word) {
  uint32_t number = part->released;
  if (!number || !has_own_clock(order))
    return;
  part->released = 0;
  Released *to = released_of(order, part, word);
  const Released *from = &g_array_index(order->released, Released, number - 1);
  *to = *from;
  to->clock = (VClock){0};
  vclock_assign(&to->clock, &from->clock);
  for (unsigned i = 0; i < SCOPES; i++) {
    to->given[i] = (VClock){0};
    vclock_assign(&to->given[i], &from->given[i]);
  }
  for (unsigned i = 0; i < GIFTS_MAX; i++) {
    to->gift[i].clock = (VClock){0};
    vclock_assign(&to->gift[i].clock, &from->gift[i].clock);
  }
}

void order_part(RaceOrder *order, Cell *cell, uint32_t bytes, uint64_t word) {
  CellPart *added[CELL_PARTS_MAX];
  unsigned count = cell_part(cell, bytes, added);
  for (unsigned i = 0; i < count; i++) {
    own_released(order, added[i], word);
    handoff_use(&order->handoffs, added[i]->handed);
  }
}

void order_forget(RaceOrder *order, Cell *cell) {
  CellPart *part;
  for (unsigned at = 0; (part = cell_next_part(cell, CELL_BYTES, &at));)
    handoff_drop(&order->handoffs, part->handed);
}

void order_given(const RaceOrder *order, Cell *cell, uint32_t bytes, VClock *clock) {
  const CellPart *part;
  for (unsigned at = 0; (part = cell_next_part(cell, bytes, &at));) {
    if (!part->released)
      continue;
    const Released *released = &g_array_index(order->released, Released, part->released - 1);
    for (unsigned i = 0; i < SCOPES; i++)
      vclock_join(clock, &released->given[i]);
    for (unsigned i = 0; i < released->gifts; i++)
      vclock_join(clock, &released->gift[i].clock);
  }
}

/* Nothing was handed on. */
static void reset_given(Released *released) {
  for (unsigned i = 0; i < SCOPES; i++)
    vclock_clear(&released->given[i]);
  for (unsigned i = 0; i < released->gifts; i++)
    vclock_clear(&released->gift[i].clock);
  released->gifts = 0;
  released->crowded = false;
}

/* To the threads of the writer's block. */
static void give_block(Released *released, const WarpOrder *warp, const VClock *clock) {
  ThreadId block = warp->base;
  unsigned i = 0;
  while (i < released->gifts && !thread_same_block(released->gift[i].block, block))
    i++;
  if (i == GIFTS_MAX) { /* the oldest one's block is forgotten */
    VClock *oldest = &released->gift[0].clock, space;
    vclock_join(&released->given[ON_ONE_GPU], oldest);
    vclock_clear(oldest);
    space = *oldest;
    memmove(released->gift, released->gift + 1, (GIFTS_MAX - 1) * sizeof *released->gift);
    released->gift[--i].clock = space;
    released->gifts--;
    released->crowded = true;
  }
  if (i == released->gifts)
    released->gift[released->gifts++].block = block;
  vclock_join_as_of(&released->gift[i].clock, clock, warp->actor, warp->time);
}

/* A strong write behind a release of its own thread to that word hands on what the release did (PTX ISA, "Release and
 * Acquire Patterns", the second). */
static bool goes_on(const Released *released, const WarpOrder *warp) {
  return released->alone && thread_equal(released->writer, warp->base);
}

/* What the write hands on by the model: all that its warp knew at its issue, or at the newest fence before. */
static void give_by_scope(const RaceOrder *order, Released *released, const WarpOrder *warp, const Inst *inst,
                          bool adds) {
  const FenceOrder *fences = warp->fences;
  Nearness scope = order_scope(inst);
  const VClock *clock[SCOPES];
  for (unsigned i = 0; i < SCOPES; i++)
    clock[i] = order_releases(inst) ? &fences->known : &fences->fenced[i];
  if (!adds && !goes_on(released, warp))
    reset_given(released);
  if (!thread_is_host(warp->base)) {
    give_block(released, warp, clock[IN_ONE_BLOCK]);
    if (scope >= ON_ONE_GPU)
      vclock_join_as_of(&released->given[ON_ONE_GPU], clock[ON_ONE_GPU], warp->actor, warp->time);
  }
  if (scope >= IN_ONE_SYSTEM && order->gpu->host)
    vclock_join_as_of(&released->given[IN_ONE_SYSTEM], clock[IN_ONE_SYSTEM], warp->actor, warp->time);
}

static void release_part(RaceOrder *order, const WarpOrder *warp, CellPart *part, const WordWrite *write) {
  const Inst *inst = write->inst;
  Released *released = released_of(order, part, write->word);
  released->change = ++order->changes;
  bool adds = op_info[inst->op].flags & OPF_ATOMIC || !has_own_clock(order);
  bool alone = !adds || (released->alone && thread_equal(released->writer, warp->base));
  if (warp->fences)
    give_by_scope(order, released, warp, inst, adds);
  released->writer = warp->base;
  released->alone = alone;
  released->from = write->pc;
  released->actor = warp->actor;
  released->time = warp->time;
  if (adds) {
    vclock_join_as_of(&released->clock, &warp->clock, warp->actor, warp->time);
    return;
  }
  vclock_assign_as_of(&released->clock, &warp->clock, warp->actor, warp->time);
  handoff_drop(&order->handoffs, part->handed);
  part->handed = 0;
}

void order_release(RaceOrder *order, const WarpOrder *warp, const WordWrite *write) {
  CellPart *part;
  for (unsigned at = 0; (part = cell_next_part(write->cell, write->bytes, &at));)
    release_part(order, warp, part, write);
}

uint32_t order_handoff(RaceOrder *order, WarpOrder *warp) {
  if (!warp->handoff)
    warp->handoff = handoff_new(&order->handoffs, warp->actor, &warp->clock);
  return warp->handoff;
}

static void hand_on(RaceOrder *order, CellPart *part, uint32_t handoff, uint32_t time) {
  handoff_use(&order->handoffs, handoff);
  handoff_drop(&order->handoffs, part->handed);
  part->handed = handoff;
  part->handed_time = time;
  if (part->released && has_own_clock(order)) {
    Released *released = &g_array_index(order->released, Released, part->released - 1);
    vclock_clear(&released->clock);
    released->change = ++order->changes;
  }
}

void order_hand_on(RaceOrder *order, Cell *cell, uint32_t bytes, uint32_t handoff, uint32_t time) {
  CellPart *part;
  for (unsigned at = 0; (part = cell_next_part(cell, bytes, &at));)
    hand_on(order, part, handoff, time);
}
