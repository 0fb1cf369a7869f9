#include "sim/detect/race/warp_order.h"

#include <string.h>

/* ---- the order of the memory model ---- */

void fence_order_clear(FenceOrder *fences) {
  vclock_clear(&fences->known);
  for (unsigned i = 0; i < G_N_ELEMENTS(fences->strict); i++)
    vclock_clear(&fences->strict[i]);
  vclock_clear(&fences->omitted);
  for (unsigned i = 0; i < SCOPES; i++) {
    vclock_clear(&fences->fenced[i]);
    vclock_clear(&fences->pending[i]);
  }
}

void fence_order_reset(FenceOrder *fences) {
  vclock_clear(&fences->known);
  for (unsigned i = 0; i < G_N_ELEMENTS(fences->strict); i++)
    vclock_clear(&fences->strict[i]);
  vclock_clear(&fences->omitted);
  for (unsigned i = 0; i < SCOPES; i++) {
    vclock_clear(&fences->fenced[i]);
    vclock_clear(&fences->pending[i]);
  }
}

void fence_order_join(FenceOrder *to, const FenceOrder *from) {
  vclock_join(&to->known, &from->known);
  for (unsigned i = 0; i < G_N_ELEMENTS(to->strict); i++)
    vclock_join(&to->strict[i], &from->strict[i]);
  vclock_join(&to->omitted, &from->omitted);
  for (unsigned i = 0; i < SCOPES; i++) {
    vclock_join(&to->fenced[i], &from->fenced[i]);
    vclock_join(&to->pending[i], &from->pending[i]);
  }
}

static void assign_fences(FenceOrder *to, const FenceOrder *from) {
  vclock_assign(&to->known, &from->known);
  for (unsigned i = 0; i < G_N_ELEMENTS(to->strict); i++)
    vclock_assign(&to->strict[i], &from->strict[i]);
  vclock_assign(&to->omitted, &from->omitted);
  for (unsigned i = 0; i < SCOPES; i++) {
    vclock_assign(&to->fenced[i], &from->fenced[i]);
    vclock_assign(&to->pending[i], &from->pending[i]);
  }
}

/* ---- warps ---- */

static void forget_fences(WarpOrder *warp) {
  if (warp->fences)
    fence_order_clear(warp->fences);
  g_clear_pointer(&warp->fences, g_free);
}

/* What only some dialects and machines have. */
static void forget_order(WarpOrder *warp) {
  forget_fences(warp);
  g_clear_pointer(&warp->lanes[0], lane_order_free);
  g_clear_pointer(&warp->lanes[1], lane_order_free);
  g_clear_pointer(&warp->turns, lane_order_free);
}

/* What only a doubt has. */
static void clear_relied(WarpOrder *warp) {
  vclock_clear(&warp->relied);
  vclock_clear(&warp->stored);
  for (unsigned i = 0; i < ATTEMPTS_MAX; i++)
    vclock_clear(&warp->attempt[i].clock);
}

static void reset_relied(WarpOrder *warp) {
  vclock_clear(&warp->relied);
  vclock_clear(&warp->stored);
  warp->attempts = 0;
}

static void assign_relied(WarpOrder *to, const WarpOrder *from) {
  vclock_assign(&to->relied, &from->relied);
  vclock_assign(&to->stored, &from->stored);
  for (unsigned i = 0; i < from->attempts; i++) {
    VClock clock = to->attempt[i].clock;
    vclock_assign(&clock, &from->attempt[i].clock);
    to->attempt[i] = from->attempt[i];
    to->attempt[i].clock = clock;
  }
}

/* Another warp takes the slot. */
static void leave_views(WarpOrder *warp) {
  warp_views_keep(warp, NULL);
  for (guint i = 0; warp->views && i < warp->views->len; i++) {
    WarpView *view = g_ptr_array_index(warp->views, i);
    view->warp = NULL;
    view->kept.lanes[0] = view->kept.lanes[1] = view->kept.turns = NULL;
  }
  if (warp->views)
    g_ptr_array_set_size(warp->views, 0);
}

void warp_order_clear(WarpOrder *warp) {
  leave_views(warp);
  if (warp->views)
    g_ptr_array_unref(warp->views);
  warp->views = NULL;
  g_clear_pointer(&warp->handed, g_free);
  warp->handed_space = 0;
  vclock_clear(&warp->clock);
  clear_relied(warp);
  forget_order(warp);
}

void warp_order_reset(WarpOrder *warp, bool ptx, bool lanes) {
  leave_views(warp);
  vclock_clear(&warp->clock);
  reset_relied(warp);
  if (ptx != (warp->fences != NULL) || lanes != (warp->lanes[0] != NULL))
    forget_order(warp);
  if (ptx && !warp->fences)
    warp->fences = g_new0(FenceOrder, 1);
  if (warp->fences)
    fence_order_reset(warp->fences);
  for (unsigned i = 0; i < G_N_ELEMENTS(warp->lanes) && lanes; i++) {
    if (!warp->lanes[i])
      warp->lanes[i] = g_new0(LaneOrder, 1);
    lane_order_reset(warp->lanes[i]);
  }
  if (warp->turns)
    lane_order_reset(warp->turns);
  warp->time = 0;
  warp->was_handed = false;
  warp->handed_count = warp->handed_newest = 0;
  warp->handed_lanes = 0;
  warp->taken_change = 0;
  warp->touched = warp->touched_since = 0;
  warp->held = 0;
  warp->undecided = false;
  warp->strict = 0;
}

/* ---- views ---- */

static void free_view(gpointer data) {
  WarpView *view = data;
  g_free(view->kept.handed);
  vclock_clear(&view->kept.clock);
  clear_relied(&view->kept);
  forget_fences(&view->kept);
  g_free(view);
}

void view_pool_init(ViewPool *pool) { pool->free = g_ptr_array_new_with_free_func(free_view); }
void view_pool_clear(ViewPool *pool) { g_ptr_array_unref(pool->free); }

static WarpView *newest_view(const WarpOrder *warp) {
  return warp->views->len ? g_ptr_array_index(warp->views, warp->views->len - 1) : NULL;
}

static WarpView *take_view(ViewPool *pool, WarpOrder *warp, bool reads) {
  if (!warp->views)
    warp->views = g_ptr_array_new();
  WarpView *view = newest_view(warp);
  if (!view || view->is_kept || view->reads || reads) {
    view = pool->free->len ? g_ptr_array_steal_index(pool->free, pool->free->len - 1) : g_new0(WarpView, 1);
    view->warp = warp;
    view->is_kept = false;
    view->reads = view->waits = reads;
    view->users = 0;
    g_ptr_array_add(warp->views, view);
  }
  view->users++;
  return view;
}

WarpMoment warp_moment_take(ViewPool *pool, WarpOrder *warp, bool reads) {
  return (WarpMoment){.view = take_view(pool, warp, reads),
                      .time = warp->time,
                      .syncs = warp->syncs,
                      .by_lanes = warp->lanes[0] != NULL};
}

WarpMoment warp_moment_share(const WarpMoment *moment) {
  moment->view->users++;
  return *moment;
}

void warp_moment_drop(ViewPool *pool, WarpMoment *moment) {
  WarpView *view = moment->view;
  moment->view = NULL;
  if (--view->users)
    return;
  if (view->warp)
    g_ptr_array_remove(view->warp->views, view);
  g_ptr_array_add(pool->free, view);
}

void warp_moment_has_read(WarpMoment *moment) { moment->view->waits = false; }

WarpOrder warp_moment_order(const WarpMoment *moment) {
  static const LaneOrder no_order; /* each lane comes after itself alone */
  WarpOrder then = *warp_view_order(moment->view);
  then.time = moment->time;
  bool met = !moment->view->warp || moment->view->warp->syncs != moment->syncs;
  if (moment->by_lanes && met)
    then.lanes[0] = then.lanes[1] = (LaneOrder *)&no_order; /* nobody writes there */
  return then;
}

static bool any_waits(const WarpOrder *warp, const WarpView *before) {
  for (guint i = 0; warp->views && i < warp->views->len; i++) {
    const WarpView *view = g_ptr_array_index(warp->views, i);
    if (view == before)
      return false;
    if (view->waits)
      return true;
  }
  return false;
}

bool warp_order_waits(const WarpOrder *warp) { return any_waits(warp, NULL); }

bool warp_moment_waits(const WarpMoment *moment) {
  return moment->view->warp && any_waits(moment->view->warp, moment->view);
}

void warp_order_make_room(WarpOrder *warp, uint8_t count) {
  if (count <= warp->handed_space)
    return;
  warp->handed_space = (uint8_t)MAX(count, 2 * warp->handed_space);
  warp->handed = g_renew(HandOver, warp->handed, warp->handed_space);
}

static void keep_handed(WarpOrder *kept, const WarpOrder *warp) {
  if (!warp->handed_count)
    return;
  warp_order_make_room(kept, warp->handed_count);
  memcpy(kept->handed, warp->handed, warp->handed_count * sizeof *warp->handed);
}

/* Its clocks keep their memory from use to use, and so do its hand-offs. */
static void keep(WarpView *view) {
  VClock clock = view->kept.clock, relied = view->kept.relied, stored = view->kept.stored;
  Attempt attempt[ATTEMPTS_MAX];
  FenceOrder *fences = view->kept.fences;
  HandOver *handed = view->kept.handed;
  uint8_t handed_space = view->kept.handed_space;
  memcpy(attempt, view->kept.attempt, sizeof attempt);
  view->kept = *view->warp;
  view->kept.clock = clock;
  view->kept.relied = relied;
  view->kept.stored = stored;
  memcpy(view->kept.attempt, attempt, sizeof attempt);
  view->kept.fences = fences;
  view->kept.handed = handed;
  view->kept.handed_space = handed_space;
  keep_handed(&view->kept, view->warp);
  view->kept.handoff = view->kept.promise = 0;
  view->kept.views = NULL;
  vclock_assign(&view->kept.clock, &view->warp->clock);
  assign_relied(&view->kept, view->warp);
  if (!view->warp->fences) {
    forget_fences(&view->kept);
  } else {
    if (!fences)
      view->kept.fences = g_new0(FenceOrder, 1);
    assign_fences(view->kept.fences, view->warp->fences);
  }
  view->is_kept = true;
}

void warp_views_keep(WarpOrder *warp, const WarpView *first) {
  for (guint i = 0; warp->views && i < warp->views->len; i++) {
    WarpView *view = g_ptr_array_index(warp->views, i);
    if (view == first)
      break;
    if (!view->is_kept)
      keep(view);
  }
}

void warp_view_teach(WarpView *view, WarpLearns learn, void *user) {
  WarpOrder *warp = view->warp;
  if (view->is_kept)
    learn(&view->kept, user);
  if (!warp)
    return;
  guint at = 0;
  while (g_ptr_array_index(warp->views, at) != view)
    at++;
  while (++at < warp->views->len) {
    WarpView *later = g_ptr_array_index(warp->views, at);
    if (later->is_kept)
      learn(&later->kept, user);
  }
  warp_views_keep(warp, view);
  learn(warp, user);
}
