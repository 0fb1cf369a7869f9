/* What lanes of one atomic operation hand on to each other. */
#include "sim/detect/race/race_order.h"

typedef struct Turns {
  RaceOrder *order;
  const WordRead *read;
  bool fenced; /* a fence has been issued since */
} Turns;

static void note_turns(WarpOrder *warp, void *user) {
  const Turns *turns = user;
  const CellPart *part;
  for (unsigned at = 0; (part = cell_next_part(turns->read->cell, turns->read->bytes, &at));)
    if (part->released)
      order_note_handed(warp, &g_array_index(turns->order->released, Released, part->released - 1), part->released,
                        turns->read->pc, turns->read->lanes);
  warp->was_handed = true;
  warp->was_fenced &= turns->fenced;
  warp->handed_lanes |= turns->read->lanes;
}

/* In the model: behind an acquire, or a fence, of what comes before a release, or a fence. */
static void take_turns_fenced(WarpOrder *warp, const Turns *turns, const WarpOrder *then, uint32_t giving) {
  const WordRead *read = turns->read;
  uint32_t time =
      order_releases(read->inst) ? then->time : vclock_time(&then->fences->fenced[IN_ONE_BLOCK], warp->actor);
  if (order_acquires(read->inst) || turns->fenced) {
    lane_order_take_turns(warp->lanes[1], warp->lanes[1], read->lanes, giving, time);
    return;
  }
  if (!warp->turns)
    warp->turns = g_new0(LaneOrder, 1);
  lane_order_take_turns(warp->turns, warp->lanes[1], read->lanes, giving, time);
}

void order_take_turns(RaceOrder *order, WarpOrder *warp, WarpView *view, const WarpOrder *then, const WordRead *read,
                      uint32_t giving) {
  bool kept = view && view->is_kept; /* a fence would have made it keep what was */
  Turns turns = {order, read, kept && warp->fence_count[IN_ONE_BLOCK] != view->kept.fence_count[IN_ONE_BLOCK]};
  if (!warp->lanes[0])
    return;
  if (warp->fences)
    take_turns_fenced(warp, &turns, then, giving);
  if (order_tells_nothing(order, warp, read->inst))
    return;
  lane_order_take_turns(warp->lanes[0], warp->lanes[0], read->lanes, giving, then->time);
  if (!warp->fences)
    return;
  if (view)
    warp_view_teach(view, note_turns, &turns);
  else
    note_turns(warp, &turns);
}
