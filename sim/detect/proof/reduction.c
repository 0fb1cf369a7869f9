#include "sim/detect/proof/reduction.h"

#include "base/bits.h"
#include "sim/core/barrier.h"
#include "sim/core/lane_groups.h"

/* How many lanes bring false, and how many true: at least, and at most. */
typedef struct Brought {
  uint32_t least[2], most[2];
} Brought;

/* Once or round after round; a lane that comes itself is asked for apart. */
typedef struct Question {
  uint32_t id;
  bool now; /* of the barrier as it was found, where some have come already; otherwise from its beginning */
  const WarpView *view;
  uint32_t asker; /* the lane of `view` that comes itself, as a mask */
} Question;

/* Lanes of the warp that wait at the barrier as it was found: what they brought is in it. */
static uint32_t lanes_waiting(const WarpView *view, uint32_t id) {
  const Warp *warp = view->warp;
  uint32_t lanes = 0;
  if (!warp->groups)
    return warp->state == WARP_AT_BARRIER && warp->barrier == id ? warp->barrier_mask : 0;
  for (uint32_t i = 0; i < warp->groups->count; i++) {
    const LaneGroup *group = &warp->groups->group[i];
    lanes |= group->state == GROUP_AT_BARRIER && group->which == id ? group->mask : 0;
  }
  return lanes;
}

/* True if the barrier completes only once each warp of the block has come, or has exited. */
static bool wants_whole_block(const WarpView *view, const Question *question) {
  const Block *block = view->block;
  const Barrier *barrier = &block->barrier[question->id];
  uint32_t id = question->id, threads = block->warps * WARP_LANES;
  if (question->now && ((barrier->expected && barrier->expected != threads) ||
                        barrier->threads != WARP_LANES * bits_count(barrier->arrived)))
    return false;
  for (uint32_t rest = barrier_unfinished(block); rest; rest &= rest - 1) {
    const WarpView *other = view->of_block->warp[__builtin_ctz(rest)];
    if (!other || other->signals >> id & 1 || (other->fewest[id] && other->fewest[id] != threads) ||
        (other->most[id] && other->most[id] != threads))
      return false;
  }
  return true;
}

/* A warp with lane groups comes once all its lanes have, so each lane that always brings the same does so. */
static void count_sure_lanes(const WarpView *view, const Question *question, uint32_t waiting, Brought *brought) {
  uint32_t id = question->id, come = question->now ? view->warp->groups->come[id] : 0;
  if (come & view->warp->alive & ~waiting)
    return; /* by BAR.ARV */
  uint32_t lanes = view->warp->alive & ~come & ~view->says_nothing[id];
  lanes &= view == question->view ? ~question->asker : ALL_LANES;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    if (view->reach[__builtin_ctz(rest)].may_exit)
      lanes &= ~(rest & -rest);
  for (int value = 0; value < 2; value++)
    brought->least[value] += bits_count(lanes & view->says[value][id] & ~view->says[!value][id]);
}

/* One with a SIMT stack comes with any of its lanes. */
static void count_sure_warp(const WarpView *view, const Question *question, Brought *brought) {
  uint32_t id = question->id;
  if (view == question->view || view->says_nothing[id] || view_may_finish(view))
    return;
  for (int value = 0; value < 2; value++)
    brought->least[value] += view->says[value][id] && !view->says[!value][id];
}

static void count_warp(const WarpView *view, const Question *question, bool whole, Brought *brought) {
  uint32_t id = question->id, waiting = question->now ? lanes_waiting(view, id) : 0;
  uint32_t others = ~waiting & (view == question->view ? ~question->asker : ALL_LANES);
  for (int value = 0; value < 2; value++)
    brought->most[value] += bits_count(view->says[value][id] & others);
  bool has_come = question->now && view->block->barrier[id].arrived >> view->warp->warp_in_block & 1;
  if (!whole || has_come)
    return;
  if (view->warp->groups)
    count_sure_lanes(view, question, waiting, brought);
  else
    count_sure_warp(view, question, brought);
}

static Brought brought_to(const WarpView *view, const Question *question) {
  const Barrier *barrier = &view->block->barrier[question->id];
  Brought brought = {{0}, {0}};
  bool whole = wants_whole_block(view, question);
  view->of_block->asked |= 1u << view->warp->warp_in_block;
  if (question->now) /* how many brought false isn't counted there */
    brought = (Brought){{!barrier->all, barrier->population}, {!barrier->all, barrier->population}};
  for (uint32_t rest = barrier_unfinished(view->block); rest; rest &= rest - 1) {
    const WarpView *other = view->of_block->warp[__builtin_ctz(rest)];
    if (other)
      count_warp(other, question, whole, &brought);
    for (int value = 0; !other && value < 2; value++)
      brought.most[value] += WARP_LANES;
  }
  return brought;
}

static Reduced reduce(const Brought *brought, BarMode mode) {
  Reduced reduced = {.low = brought->least[1], .high = brought->most[1]};
  if (mode == BAR_RED_AND) {
    reduced.may[1] = !brought->least[0];
    reduced.may[0] = brought->most[0];
  } else {
    reduced.may[1] = brought->most[1];
    reduced.may[0] = !brought->least[1];
  }
  return reduced;
}

Reduced reduction_of_comer(const WarpView *view, uint32_t id, BarMode mode, unsigned lane, bool mine) {
  Reduced all = {.low = UINT32_MAX};
  for (int now = 0; now <= view->block->barrier[id].open; now++) {
    Question question = {.id = id, .now = now, .view = view, .asker = 1u << lane};
    Brought brought = brought_to(view, &question);
    brought.least[mine]++;
    brought.most[mine]++;
    Reduced reduced = reduce(&brought, mode);
    all = (Reduced){{all.may[0] || reduced.may[0], all.may[1] || reduced.may[1]},
                    MIN(all.low, reduced.low),
                    MAX(all.high, reduced.high)};
  }
  return all;
}

Reduced reduction_of_waiters(const WarpView *view, uint32_t id, BarMode mode) {
  Question question = {.id = id, .now = true};
  Brought brought = brought_to(view, &question);
  return reduce(&brought, mode);
}

Reduced reduction_with_anybody(BarMode mode, bool mine) {
  Brought brought = {{0}, {BLOCK_WARPS_MAX * WARP_LANES, BLOCK_WARPS_MAX * WARP_LANES}};
  brought.least[mine]++;
  return reduce(&brought, mode);
}
