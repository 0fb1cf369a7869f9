/* Locks, registers, and loads from the L1: what single accesses do wrong. */
#include "sim/detect/misuse/misuse.h"

#include <string.h>

#include "sim/detect/misuse/report.h"
#include "sim/detect/race/guesses.h"

static void set_lock(Finding *finding, const ProbePoint *point, uint32_t physical, uint32_t bit) {
  finding->space = g_strdup("shared");
  finding->address = physical - point->block->shared_base;
  finding->lock_bit = bit;
}

static void unlock_not_owned(void *user, const ProbePoint *point, unsigned lane, uint32_t address, uint32_t bit,
                             const LockBit *was) {
  ThreadId self = thread_plus(warp_thread_base(point->block, point->warp), lane);
  bool of_warp = was && thread_same_warp(was->owner, self);
  if (report_is_known(user, report_key(of_warp ? FINDING_UNLOCK_OTHER_LANE : FINDING_UNLOCK_NOT_HELD, point)))
    return;
  g_autofree char *who = report_who(point), *where = locate_shared_text(point->block, address);
  Finding *finding;
  if (!was) {
    finding = report_add(
        user, FINDING_UNLOCK_NOT_HELD, point,
        g_strdup_printf("%s free%s lock bit %u of %s, which nobody holds", who, report_ending(point), bit, where),
        "release each lock once, on the path of the lane that took it");
  } else if (of_warp) {
    g_autofree char *owner = locate_thread_text(point->gpu, was->owner);
    finding = report_add(
        user, FINDING_UNLOCK_OTHER_LANE, point,
        g_strdup_printf("%s free%s lock bit %u of %s, which %s holds", who, report_ending(point), bit, where, owner),
        NULL);
  } else {
    g_autofree char *owner = locate_thread_text(point->gpu, was->owner);
    finding = report_add(user, FINDING_UNLOCK_NOT_HELD, point,
                         g_strdup_printf("%s free%s lock bit %u of %s, which %s holds since cycle %" G_GUINT64_FORMAT,
                                         who, report_ending(point), bit, where, owner, was->since),
                         "let only the holder release a lock; check the address");
    g_autofree char *line = locate_line_text(gpu_launch(point->gpu, was->owner.launch), was->pc);
    if (finding)
      finding->holder = g_strdup_printf("%s, since cycle %" G_GUINT64_FORMAT " (%s)", owner, was->since, line);
  }
  if (finding)
    set_lock(finding, point, address, bit);
}

static void stray_release(void *user, const ProbePoint *point, uint64_t address, const WordChange *was) {
  uint64_t key = report_key(FINDING_UNLOCK_NOT_HELD, point);
  if (report_is_known(user, key))
    return;
  g_autofree char *who = report_who(point), *where = locate_global_text(point->gpu, address);
  g_autofree char *owner = was && !thread_is_none(was->thread) ? locate_thread_text(point->gpu, was->thread) : NULL;
  Finding *finding = report_add_new(
      user, FINDING_UNLOCK_NOT_HELD, key, point,
      owner ? g_strdup_printf("%s free%s the lock %s, which %s took in cycle %" G_GUINT64_FORMAT, who,
                              report_ending(point), where, owner, was->cycle)
            : g_strdup_printf("%s free%s the lock %s, which nobody holds", who, report_ending(point), where),
      owner ? "let only the holder release a lock; check the address"
            : "release each lock once, on the path of the lane that took it");
  finding->space = g_strdup("global");
  finding->address = address;
  if (owner)
    finding->holder = g_strdup_printf("%s, since cycle %" G_GUINT64_FORMAT, owner, was->cycle);
}

static void exit_holding(void *user, const ProbePoint *point, uint32_t bit, const LockBit *held) {
  g_autofree char *who = report_who(point), *where = locate_shared_text(point->block, held->address);
  g_autofree char *line = locate_line_text(point->block->launch, held->pc);
  Finding *finding =
      report_add(user, FINDING_EXIT_HOLDING, point,
                 g_strdup_printf("%s exit%s holding lock bit %u of %s, taken in cycle %" G_GUINT64_FORMAT " (%s)",
                                 who, report_ending(point), bit, where, held->since, line),
                 "release the lock (STSUL) on every path to EXIT");
  if (!finding)
    return;
  set_lock(finding, point, held->address, bit);
  g_autofree char *source = locate_source(point->block->launch, held->pc);
  locate_evidence(finding, point->block->launch, held->pc, g_strdup_printf("taken here (`%s`)", source));
}

static void unset_read(void *user, const ProbePoint *point, unsigned reg, bool is_predicate) {
  uint64_t key = report_key(FINDING_UNSET_REGISTER, point);
  if (report_is_known(user, key)) /* as nearly always: a loop reads it again and again */
    return;
  g_autofree char *who = report_who(point);
  g_autofree char *name = !is_predicate       ? g_strdup_printf("R%u", reg)
                          : reg == PRED_CARRY ? g_strdup("the carry")
                                              : g_strdup_printf("P%u", reg);
  report_add_new(
      user, FINDING_UNSET_REGISTER, key, point,
      g_strdup_printf("%s read%s %s, which nothing has written there (it is 0)", who, report_ending(point), name),
      "give it a value on every path to here");
}

/* A compare-and-swap of the same word tells that the value was old, and that is all that it is for. */
static bool is_guess(Misuse *misuse, const ProbePoint *point) {
  const Kernel *kernel = point->block->launch->kernel;
  gpointer guesses;
  if (!misuse->guesses)
    misuse->guesses = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  if (!g_hash_table_lookup_extended(misuse->guesses, kernel, NULL, &guesses)) {
    guesses = guesses_find(kernel);
    g_hash_table_insert(misuse->guesses, (gpointer)kernel, guesses);
  }
  return guesses && ((const bool *)guesses)[point->pc];
}

/* One for each pair of a load and a store. */
static void stale_read(void *user, const ProbePoint *point, const StaleRead *stale) {
  const WordChange *newest = &stale->newest;
  const Launch *writer = thread_is_host(newest->thread) ? NULL : gpu_launch(point->gpu, newest->thread.launch);
  uint64_t key = rng_mix(report_key(FINDING_STALE_READ, point)) ^ (writer ? locate_key(writer, newest->pc) : 0);
  key |= UINT64_C(1) << 63; /* apart from the keys of places */
  if (is_guess(user, point) || report_is_known(user, key))
    return;
  g_autofree char *who = report_who(point), *where = locate_global_text(point->gpu, stale->address & ~UINT64_C(3));
  g_autofree char *by = locate_thread_text(point->gpu, newest->thread),
                  *when = locate_change_text(point->gpu, newest);
  char *message =
      g_strdup_printf("%s on SM %u reads %s as %u, a copy in the SM's L1 cache from cycle %" G_GUINT64_FORMAT
                      ", but it is %u: %s stored it in %s",
                      who, point->sm->index, where, stale->copy, stale->since, stale->now, by, when);
  Finding *finding =
      report_add_new(user, FINDING_STALE_READ, key, point, message,
                     "make the load volatile, or put a fence (__threadfence()) between learning that the value "
                     "is there and the load; a release and an acquire do it too");
  finding->lanes = 1u << stale->lane;
  finding->space = g_strdup("global");
  finding->address = stale->address;
  if (writer) {
    locate_evidence(finding, writer, newest->pc, g_strdup_printf("%s stores the newer value here", by));
  }
}

Misuse *misuse_new(Gpu *gpu, GPtrArray *findings) {
  return report_new(gpu, findings,
                    (Probe){.unlock_not_owned = unlock_not_owned,
                            .stray_release = stray_release,
                            .exit_holding = exit_holding,
                            .unset_read = unset_read,
                            .stale_read = stale_read});
}
