#include "sim/detect/race/lane_order.h"

#include <glib.h>
#include <string.h>

#include "base/wide.h"

void lane_order_reset(LaneOrder *order) {
  order->floor = 0;
  order->by_lanes = false;
}

void lane_order_free(LaneOrder *order) {
  if (order)
    g_free(order->known);
  g_free(order);
}

static void use_table(LaneOrder *order) {
  gsize bytes = WARP_LANES * sizeof *order->known;
  if (!order->known)
    order->known = g_malloc(bytes);
  if (!order->by_lanes)
    memset(order->known, 0, bytes);
  order->by_lanes = true;
}

void lane_order_sync(LaneOrder *order, uint32_t lanes, uint32_t alive, uint32_t time) {
  if ((alive & ~lanes) == 0) {
    order->floor = time;
    order->by_lanes = false;
    return;
  }
  uint32_t all[WARP_LANES] = {0};
  use_table(order);
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      all[lane] = MAX(all[lane], order->known[__builtin_ctz(rest)][lane]);
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    all[__builtin_ctz(rest)] = time;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    memcpy(order->known[__builtin_ctz(rest)], all, sizeof all);
}

WIDE_CLONES static void raise_row(uint32_t known[WARP_LANES], uint32_t time) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    known[lane] = MAX(known[lane], time);
}

void lane_order_learn(LaneOrder *order, uint32_t lanes, uint32_t time) {
  if (time <= order->floor)
    return;
  if (lanes == ALL_LANES) {
    order->floor = time;
    return;
  }
  use_table(order);
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    raise_row(order->known[__builtin_ctz(rest)], time);
}

WIDE_CLONES static void join_rows(uint32_t known[WARP_LANES], const uint32_t other[WARP_LANES]) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    known[lane] = MAX(known[lane], other[lane]);
}

void lane_order_take_turns(LaneOrder *order, const LaneOrder *known, uint32_t lanes, uint32_t giving, uint32_t time) {
  uint32_t given[WARP_LANES] = {0};
  if (time <= known->floor)
    return;
  use_table(order);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    join_rows(order->known[lane], given);
    if (!(giving >> lane & 1))
      continue;
    if (known->by_lanes)
      join_rows(given, known->known[lane]);
    given[lane] = MAX(given[lane], time);
  }
}

void lane_order_join(LaneOrder *order, const LaneOrder *other, uint32_t lanes) {
  if (!other->by_lanes)
    return;
  use_table(order);
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    join_rows(order->known[__builtin_ctz(rest)], other->known[__builtin_ctz(rest)]);
}

bool lane_order_knows(const LaneOrder *order, uint32_t lanes, uint32_t earlier, uint32_t time) {
  if (time <= order->floor)
    return true;
  for (uint32_t who = lanes; who; who &= who - 1)
    for (uint32_t whom = earlier & ~(who & -who); whom; whom &= whom - 1)
      if (!order->by_lanes || order->known[__builtin_ctz(who)][__builtin_ctz(whom)] < time)
        return false;
  return true;
}
