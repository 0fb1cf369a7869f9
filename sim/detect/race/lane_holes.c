#include "sim/detect/race/lane_holes.h"

/* What `lanes` did behind time `from`, up to `to`, isn't known to who knows `to`, but to who knows `until`. */
typedef struct Hole {
  uint32_t from, to, until;
  uint32_t lanes;
  bool fenced; /* by themselves, but they hadn't met who handed on; it is dropped when they have */
} Hole;

typedef struct ActorHoles {
  GArray *holes;                /* by rising `to` */
  uint32_t covered[WARP_LANES]; /* up to when a fence or release of some lanes has had what the lane did */
} ActorHoles;

static void free_holes(gpointer data) {
  ActorHoles *of = data;
  if (of)
    g_array_free(of->holes, TRUE);
  g_free(of);
}

void lane_holes_init(LaneHoles *holes) {
  *holes = (LaneHoles){.of_actor = g_ptr_array_new_with_free_func(free_holes)};
}

void lane_holes_clear(LaneHoles *holes) { g_ptr_array_unref(holes->of_actor); }

static ActorHoles *holes_of(const LaneHoles *holes, uint32_t actor) {
  return actor < holes->of_actor->len ? g_ptr_array_index(holes->of_actor, actor) : NULL;
}

static ActorHoles *make_holes(LaneHoles *holes, uint32_t actor) {
  ActorHoles *of = g_new0(ActorHoles, 1);
  of->holes = g_array_new(FALSE, FALSE, sizeof(Hole));
  if (holes->of_actor->len <= actor)
    g_ptr_array_set_size(holes->of_actor, (gint)actor + 1);
  g_ptr_array_index(holes->of_actor, actor) = of;
  holes->any = true;
  return of;
}

/* ---- releases ---- */

/* All that the warp did up to `time` is known to each of its lanes, or handed on. */
static void forget_touched(WarpOrder *warp, uint32_t time) {
  if (warp->touched_since >= time)
    return;
  warp->touched = 0;
  warp->touched_since = time;
}

void lane_holes_note(WarpOrder *warp, uint32_t lanes) {
  if (!warp->lanes[1])
    return;
  forget_touched(warp, warp->lanes[1]->floor);
  warp->touched |= lanes;
}

/* The lanes, and those that one of them has met. */
static uint32_t with_met(const LaneOrder *order, uint32_t lanes) {
  uint32_t met = lanes;
  for (uint32_t rest = order->by_lanes ? lanes : 0; rest; rest &= rest - 1)
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      met |= order->known[__builtin_ctz(rest)][lane] > order->floor ? 1u << lane : 0;
  return met;
}

/* `lanes` release what they did up to `time`, and all lanes what they did up to `floor`. */
static void close_holes(GArray *list, uint32_t lanes, uint32_t floor, uint32_t time) {
  for (guint i = list->len; i-- > 0;) {
    Hole *hole = &g_array_index(list, Hole, i);
    if (hole->until != UINT32_MAX || hole->fenced)
      continue;
    uint32_t left = hole->to <= floor ? 0 : hole->lanes & ~lanes;
    Hole closed = {hole->from, hole->to, time, hole->lanes & ~left, false};
    if (left == 0) {
      hole->until = time;
    } else if (closed.lanes) {
      hole->lanes = left;
      g_array_insert_val(list, i, closed);
    }
  }
}

static void forget_oldest(ActorHoles *of) {
  if (of->holes->len > LANE_HOLES_MAX)
    g_array_remove_range(of->holes, 0, of->holes->len - LANE_HOLES_MAX);
}

static void open_holes(ActorHoles *of, const WarpOrder *warp, uint32_t lanes) {
  guint first = of->holes->len;
  for (; lanes; lanes &= lanes - 1) {
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    Hole hole = {MAX(warp->touched_since, of->covered[lane]), warp->time, UINT32_MAX, 1u << lane, false};
    guint at = first;
    while (at < of->holes->len && g_array_index(of->holes, Hole, at).from != hole.from)
      at++;
    if (at < of->holes->len)
      g_array_index(of->holes, Hole, at).lanes |= hole.lanes;
    else
      g_array_append_val(of->holes, hole);
  }
  forget_oldest(of);
}

void lane_holes_release(LaneHoles *holes, WarpOrder *warp, uint32_t lanes) {
  const LaneOrder *order = warp->lanes[1];
  if (!order)
    return;
  forget_touched(warp, order->floor);
  lanes = with_met(order, lanes);
  uint32_t others = warp->touched & ~lanes;
  ActorHoles *of = holes_of(holes, warp->actor);
  if (of)
    close_holes(of->holes, lanes, order->floor, warp->time);
  if (!others) {
    forget_touched(warp, warp->time);
    return;
  }
  if (!of)
    of = make_holes(holes, warp->actor);
  open_holes(of, warp, others);
  warp->touched &= ~lanes;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    of->covered[__builtin_ctz(rest)] = warp->time;
}

/* ---- what lanes have fenced themselves ---- */

/* These lanes have handed on what they did, or have met who does so; or all of them had met at time `floor`. */
static void drop_fenced(ActorHoles *of, uint32_t lanes, uint32_t floor) {
  for (guint i = of->holes->len; i-- > 0;) {
    Hole *hole = &g_array_index(of->holes, Hole, i);
    if (!hole->fenced)
      continue;
    hole->lanes &= hole->to <= floor ? 0 : ~lanes;
    if (!hole->lanes)
      g_array_remove_index(of->holes, i);
  }
}

void lane_holes_fence(WarpOrder *warp, uint32_t lanes) {
  const LaneOrder *order = warp->lanes[1];
  if (!order)
    return;
  forget_touched(warp, order->floor);
  if (warp->held_to <= order->floor)
    warp->held = 0;
  if (!(warp->touched & lanes))
    return;
  if (!warp->held)
    warp->held_from = warp->touched_since;
  warp->held |= warp->touched & lanes;
  warp->held_to = warp->time;
}

void lane_holes_hand_on(LaneHoles *holes, WarpOrder *warp, uint32_t lanes) {
  const LaneOrder *order = warp->lanes[1];
  if (!order || (!warp->held && !holes->any))
    return;
  uint32_t met = with_met(order, lanes);
  ActorHoles *of = holes_of(holes, warp->actor);
  if (of)
    drop_fenced(of, met, order->floor);
  warp->held &= warp->held_to <= order->floor ? 0 : ~met;
  if (!warp->held)
    return;
  if (!of)
    of = make_holes(holes, warp->actor);
  Hole hole = {warp->held_from, warp->held_to, UINT32_MAX, warp->held, true};
  g_array_append_val(of->holes, hole);
  forget_oldest(of);
  warp->held = 0;
}

void lane_holes_end(LaneHoles *holes, WarpOrder *warp) {
  ActorHoles *of = holes_of(holes, warp->actor);
  if (of) {
    close_holes(of->holes, ALL_LANES, warp->time, warp->time);
    drop_fenced(of, ALL_LANES, warp->time);
  }
  warp->held = 0;
  forget_touched(warp, warp->time);
}

/* ---- questions ---- */

bool lane_holes_hide(const LaneHoles *holes, const Access *earlier, uint32_t known) {
  const ActorHoles *of = holes->any && !earlier->strong ? holes_of(holes, earlier->actor) : NULL;
  const GArray *list = of ? of->holes : NULL;
  unsigned shift = earlier->shift;
  uint32_t lanes = shift ? earlier->lanes >> shift | earlier->lanes << (32 - shift) : earlier->lanes;
  for (guint i = list ? list->len : 0; i-- > 0;) {
    const Hole *hole = &g_array_index(list, Hole, i);
    if (earlier->time > hole->from && earlier->time <= hole->to && known >= hole->to && known < hole->until &&
        hole->lanes & lanes)
      return true;
  }
  return false;
}
