/* For a doubt: which hand-offs count. */
#include "sim/detect/race/attempts.h"
#include "sim/detect/race/race_order.h"

void order_rely_on(const RaceOrder *order, WarpOrder *warp, const VClock *clock) {
  if (order->doubt.counts)
    vclock_join(&warp->relied, clock);
}

static Decides decides(const RaceOrder *order, const WarpOrder *warp, uint32_t pc) {
  if (!order->doubt.counts || thread_is_host(warp->base))
    return DECIDES_NOTHING;
  return order->doubt.counts(order->doubt.user, gpu_launch(order->gpu, warp->base.launch), pc);
}

static void forget_promise(RaceOrder *order, WarpOrder *warp) {
  handoff_drop(&order->handoffs, warp->promise);
  warp->promise = 0;
}

void order_rely_by(RaceOrder *order, WarpOrder *warp, uint32_t pc, const VClock *clock) {
  Decides how = decides(order, warp, pc);
  if (how == DECIDES_AT_ONCE)
    order_rely_on(order, warp, clock);
  if (how != DECIDES_BY_STORES)
    return;
  vclock_join(&warp->stored, clock);
  forget_promise(order, warp);
}

uint32_t order_promise(RaceOrder *order, WarpOrder *warp) {
  if (!warp->promise && (warp->stored.count || warp->stored.floor))
    warp->promise = handoff_new(&order->handoffs, warp->actor, &warp->stored);
  return warp->promise;
}

void order_rely(RaceOrder *order, WarpOrder *warp, uint32_t promise) {
  warp_views_keep(warp, NULL);
  handoff_join(&order->handoffs, promise, &warp->relied);
}

void order_attempt(RaceOrder *order, WarpOrder *warp, const WordRead *read, const VClock *clock) {
  Attempt attempt = {.pc = read->pc,
                     .decides = decides(order, warp, read->pc) == DECIDES_AT_ONCE,
                     .in_vain = read->in_vain,
                     .clock = *clock};
  attempts_take(warp, &attempt);
}

void order_end_attempts(RaceOrder *order, WarpOrder *warp) {
  if (!warp->attempts)
    return;
  warp_views_keep(warp, NULL);
  attempts_settle(warp);
  order_forget_handoff(order, warp);
}
