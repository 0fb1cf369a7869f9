/* Where warps, or lanes of one, meet: barriers. */
#include "sim/detect/race/race_order.h"

void barrier_order_reset(BarrierOrder *barrier) {
  vclock_reset(&barrier->arrived);
  fence_order_reset(&barrier->fences);
}

void barrier_order_clear(BarrierOrder *barrier) {
  vclock_clear(&barrier->arrived);
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

void order_join_barrier(BarrierOrder *barrier, const WarpOrder *warp) {
  vclock_join(&barrier->arrived, &warp->clock);
  if (warp->fences)
    fence_order_join(&barrier->fences, warp->fences);
}

void order_join_barriers(BarrierOrder *barrier, const BarrierOrder *other) {
  vclock_join(&barrier->arrived, &other->arrived);
  fence_order_join(&barrier->fences, &other->fences);
}

void order_arrive(BarrierOrder *barrier, WarpOrder *warp) {
  order_join_barrier(barrier, warp);
  order_move_on(warp);
}

void order_arrive_fenced(BarrierOrder *barrier, WarpOrder *warp) {
  vclock_join(&barrier->arrived, &warp->clock);
  if (warp->fences)
    vclock_join(&barrier->fences.known, &warp->fences->fenced[ON_ONE_GPU]);
  order_move_on(warp);
}

void order_leave_barrier(RaceOrder *order, const BarrierOrder *barrier, WarpOrder *warp) {
  order_learn(order, warp, &barrier->arrived);
  if (warp->fences)
    fence_order_join(warp->fences, &barrier->fences);
  if (warp->lanes[0])
    order_warp_sync(warp, ALL_LANES, ALL_LANES);
}
