#include "sim/detect/naming/standing.h"

#include "base/bits.h"
#include "sim/core/host.h"
#include "sim/core/lane_groups.h"
#include "sim/detect/naming/locate.h"

enum { GROUPS_SHOWN_MAX = 12 };

typedef enum { STANDING_RUNS, STANDING_TURN, STANDING_WARP, STANDING_BARRIER, STANDING_KINDS } StandingKind;

/* Threads that stand at one line and do the same. */
typedef struct Standing {
  const Launch *launch;
  uint64_t place; /* locate_key() */
  StandingKind kind;
  uint32_t pc;
  uint64_t threads, warps;
  const Warp *newest;
} Standing;

static void add_lanes(GArray *all, const Launch *launch, uint32_t pc, StandingKind kind, const Warp *warp,
                      uint32_t lanes) {
  uint64_t place = locate_key(launch, pc);
  for (guint i = 0; lanes && i < all->len; i++) {
    Standing *standing = &g_array_index(all, Standing, i);
    if (standing->launch == launch && standing->place == place && standing->kind == kind) {
      standing->threads += bits_count(lanes);
      standing->warps += standing->newest != warp;
      standing->newest = warp;
      return;
    }
  }
  Standing standing = {launch, place, kind, pc, bits_count(lanes), 1, warp};
  if (lanes)
    g_array_append_val(all, standing);
}

static void add_groups(GArray *all, const Launch *launch, const Warp *warp) {
  static const StandingKind kinds[] = {[GROUP_READY] = STANDING_TURN,
                                       [GROUP_AT_SYNC] = STANDING_WARP,
                                       [GROUP_AT_WARPSYNC] = STANDING_WARP,
                                       [GROUP_AT_MEETING] = STANDING_WARP,
                                       [GROUP_AT_BARRIER] = STANDING_BARRIER};
  for (uint32_t i = 0; i < warp->groups->count; i++) {
    const LaneGroup *group = &warp->groups->group[i];
    add_lanes(all, launch, group->pc, kinds[group->state], warp, group->mask & warp->alive);
  }
}

/* Lanes below the running path: the topmost entry that has them. */
static void add_stack(GArray *all, const Launch *launch, const Warp *warp) {
  uint32_t rest = warp->alive & ~warp->active;
  for (uint32_t i = warp->depth; i-- > 0;) {
    add_lanes(all, launch, warp->stack[i].pc, STANDING_WARP, warp, warp->stack[i].mask & rest);
    rest &= ~warp->stack[i].mask;
  }
}

static void add_warp(GArray *all, const Launch *launch, const Warp *warp) {
  bool waits = warp->state == WARP_AT_BARRIER && !warp->groups;
  if (waits)
    add_lanes(all, launch, warp->barrier_pc, STANDING_BARRIER, warp, warp->active & warp->alive);
  else if (warp->state == WARP_RUNNING)
    add_lanes(all, launch, warp->pc, STANDING_RUNS, warp, warp->active & warp->alive);
  if (warp->groups)
    add_groups(all, launch, warp);
  else
    add_stack(all, launch, warp);
}

static gint compare(gconstpointer a, gconstpointer b) {
  const Standing *x = a, *y = b;
  if (x->threads != y->threads)
    return x->threads > y->threads ? -1 : 1;
  if (x->launch->index != y->launch->index)
    return x->launch->index < y->launch->index ? -1 : 1;
  return x->place != y->place ? (x->place < y->place ? -1 : 1) : (gint)x->kind - (gint)y->kind;
}

static GArray *list_standings(const Gpu *gpu) {
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Standing));
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state == WARP_RUNNING || warp->state == WARP_AT_BARRIER)
        add_warp(all, warp_block(&gpu->sms[i], warp)->launch, warp);
    }
  g_array_sort(all, compare);
  return all;
}

static char *standing_text(const Gpu *gpu, const Standing *standing) {
  static const char *const deeds[] = {[STANDING_RUNS] = "go on here",
                                      [STANDING_TURN] = "wait here for their turn in the warp",
                                      [STANDING_WARP] = "wait for other lanes of their warp, to go on here",
                                      [STANDING_BARRIER] = "wait at this barrier"};
  g_autofree char *kernel =
      gpu->launches->len > 1 ? g_strdup_printf(" of launch %u (%s)", standing->launch->index, standing->launch->name)
                             : g_strdup("");
  return g_strdup_printf("threads%s that %s: %" G_GUINT64_FORMAT ", in warps: %" G_GUINT64_FORMAT, kernel,
                         deeds[standing->kind], standing->threads, standing->warps);
}

static char *headline(const Gpu *gpu, StopReason reason, uint64_t threads) {
  static const char *const reasons[] = {[STOP_NONE] = "nothing runs, and nothing could be proved",
                                        [STOP_CYCLES] = "the limit of cycles came first",
                                        [STOP_WINDOW] = "the scenario's `window` of cycles is over",
                                        [STOP_SECONDS] = "the limit of seconds came first",
                                        [STOP_SIGNAL] = "a signal came first",
                                        [STOP_ROUND] = ("nobody can finish before a counter that only rises has come "
                                                        "round, through all 32 bits")};
  uint64_t blocks = 0;
  for (guint i = 0; i < gpu->launches->len; i++)
    blocks += gpu_launch(gpu, i)->blocks - gpu_launch(gpu, i)->next_block;
  GString *text = g_string_new(NULL);
  g_string_append_printf(
      text, "%s, in cycle %" G_GUINT64_FORMAT "; resident threads that haven't exited: %" G_GUINT64_FORMAT,
      reasons[reason], gpu->cycle, threads);
  if (blocks)
    g_string_append_printf(text, ", blocks that haven't started: %" G_GUINT64_FORMAT, blocks);
  return g_string_free(text, FALSE);
}

enum { LAUNCHES_SHOWN_MAX = 4 };

void standing_add_unstarted(const Gpu *gpu, Finding *finding) {
  guint shown = 0;
  for (guint i = 0; i < gpu->launches->len && shown < LAUNCHES_SHOWN_MAX; i++) {
    const Launch *launch = gpu_launch(gpu, i);
    bool may_run = !launch->held && (!launch->previous || launch->previous->finished);
    if (launch->next_block == launch->blocks || !may_run)
      continue;
    shown++;
    finding_add_evidence(finding, 0,
                         g_strdup_printf("blocks of launch %u (%s) that haven't started, and wait for room: "
                                         "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT,
                                         launch->index, launch->name, launch->blocks - launch->next_block,
                                         launch->blocks));
  }
}

Finding *standing_report(const Gpu *gpu, StopReason reason) {
  g_autoptr(GArray) all = list_standings(gpu);
  uint64_t threads = 0, shown = 0;
  for (guint i = 0; i < all->len; i++)
    threads += g_array_index(all, Standing, i).threads;
  char *message = headline(gpu, reason, threads);
  const Standing *first = all->len ? &g_array_index(all, Standing, 0) : NULL;
  Finding *finding = first ? locate_finding(FINDING_UNDECIDED, message, first->launch, first->pc)
                           : finding_new(FINDING_UNDECIDED, message);
  finding->cycle = gpu->cycle;
  for (guint i = 0; i < MIN(all->len, (guint)GROUPS_SHOWN_MAX); i++) {
    const Standing *standing = &g_array_index(all, Standing, i);
    locate_evidence(finding, standing->launch, standing->pc, standing_text(gpu, standing));
    shown += standing->threads;
  }
  if (shown < threads)
    finding_add_evidence(finding, 0, g_strdup_printf("threads elsewhere: %" G_GUINT64_FORMAT, threads - shown));
  standing_add_unstarted(gpu, finding);
  if (gpu->host && gpu->host->state != HOST_DONE) {
    g_autofree char *host = host_text(gpu->host);
    finding_add_evidence(finding, 0, g_strdup_printf("the host %s", host));
  }
  return finding;
}
