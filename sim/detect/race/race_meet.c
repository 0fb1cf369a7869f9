/* Where warps, or lanes of one, meet: barriers. */
#include "sim/detect/race/race_order.h"

/* So many of a warp's hand-offs come to a barrier: the newest. */
enum { BROUGHT_MAX = 8 };

void barrier_order_reset(BarrierOrder *barrier) {
  vclock_clear(&barrier->arrived);
  vclock_clear(&barrier->relied);
  if (barrier->handed)
    g_array_set_size(barrier->handed, 0);
  fence_order_reset(&barrier->fences);
}

void barrier_order_clear(BarrierOrder *barrier) {
  vclock_clear(&barrier->arrived);
  vclock_clear(&barrier->relied);
  g_clear_pointer(&barrier->handed, g_array_unref);
  fence_order_clear(&barrier->fences);
}

void order_warp_sync(WarpOrder *warp, uint32_t lanes, uint32_t alive) {
  for (unsigned i = 0; i < G_N_ELEMENTS(warp->lanes); i++)
    if (warp->lanes[i])
      lane_order_sync(warp->lanes[i], lanes, alive, warp->time);
  if (warp->turns && (alive & ~lanes) == 0)
    lane_order_reset(warp->turns); /* they know all of it now */
  if (warp->handed_lanes & lanes && lanes & ~warp->handed_lanes) {
    warp_views_keep(warp, NULL);
    warp->handed_lanes |= lanes;
  }
  warp->syncs++;
  order_move_on(warp);
}

static void join_clocks(BarrierOrder *barrier, const WarpOrder *warp) {
  vclock_join(&barrier->arrived, &warp->clock);
  vclock_join(&barrier->relied, &warp->relied);
  vclock_join(&barrier->relied, &warp->stored);
  vclock_advance(&barrier->relied, warp->actor, warp->time);
}

void order_join_barrier(BarrierOrder *barrier, const WarpOrder *warp) {
  join_clocks(barrier, warp);
  if (warp->fences)
    fence_order_join(&barrier->fences, warp->fences);
}

void order_join_barriers(BarrierOrder *barrier, const BarrierOrder *other) {
  vclock_join(&barrier->arrived, &other->arrived);
  vclock_join(&barrier->relied, &other->relied);
  fence_order_join(&barrier->fences, &other->fences);
}

void order_arrive(BarrierOrder *barrier, WarpOrder *warp) {
  order_join_barrier(barrier, warp);
  order_move_on(warp);
}

void order_arrive_fenced(BarrierOrder *barrier, WarpOrder *warp) {
  join_clocks(barrier, warp);
  if (warp->fences)
    vclock_join(&barrier->fences.known, &warp->fences->fenced[ON_ONE_GPU]);
  order_move_on(warp);
}

void order_leave_barrier(RaceOrder *order, const BarrierOrder *barrier, WarpOrder *warp) {
  order_learn(order, warp, &barrier->arrived, &barrier->relied);
  if (warp->fences)
    fence_order_join(warp->fences, &barrier->fences);
  if (warp->lanes[0])
    order_warp_sync(warp, ALL_LANES, ALL_LANES);
}

/* ---- hand-offs ---- */

static bool has_handing(const HandOver *all, unsigned count, const HandOver *wanted) {
  for (unsigned i = 0; i < count; i++)
    if (hand_over_is_same(&all[i], wanted))
      return true;
  return false;
}

void order_bring_handed(BarrierOrder *barrier, const WarpOrder *warp) {
  if (!warp->was_handed)
    return;
  if (!barrier->handed)
    barrier->handed = g_array_new(FALSE, FALSE, sizeof(HandOver));
  for (unsigned i = 0; i < MIN(warp->handed_count, BROUGHT_MAX) && barrier->handed->len < HANDED_MAX; i++)
    if (!has_handing(&g_array_index(barrier->handed, HandOver, 0), barrier->handed->len, &warp->handed[i]))
      g_array_append_val(barrier->handed, warp->handed[i]);
}

void order_take_handed(const BarrierOrder *barrier, WarpOrder *warp) {
  if (!barrier->handed || !barrier->handed->len)
    return;
  warp_views_keep(warp, NULL);
  warp->was_handed = true;
  warp->handed_lanes = ALL_LANES;
  for (guint i = 0; i < barrier->handed->len && warp->handed_count < HANDED_MAX; i++) {
    const HandOver *brought = &g_array_index(barrier->handed, HandOver, i);
    if (has_handing(warp->handed, warp->handed_count, brought))
      continue;
    warp_order_make_room(warp, ++warp->handed_count);
    warp->handed[warp->handed_count - 1] = *brought;
    warp->handed[warp->handed_count - 1].lanes = ALL_LANES;
  }
}
