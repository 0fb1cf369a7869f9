#include "sim/detect/race_report.h"

#include "sim/base/bits.h"
#include "sim/detect/locate.h"

void race_report_init(RaceReport *report, GPtrArray *findings) {
  *report = (RaceReport){findings, g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL)};
}

void race_report_clear(RaceReport *report) { g_hash_table_destroy(report->known); }

static const Launch *launch_of(const ProbePoint *point, const RaceEnd *end) {
  return gpu_launch(point->gpu, thread_launch(end->base));
}

static char *end_text(const ProbePoint *point, const RaceEnd *end) {
  return locate_lanes_text(point->gpu, launch_of(point, end), thread_block(end->base), thread_warp(end->base), end->lanes);
}

static char *where_text(const ProbePoint *point, const Race *race) {
  return race->space == SPACE_SHARED ? locate_shared_text(point->block, (uint32_t)race->address)
                                     : locate_global_text(point->gpu, race->address);
}

static void add_end(Finding *finding, const ProbePoint *point, const RaceEnd *end, const char *when) {
  g_autofree char *who = end_text(point, end);
  unsigned line = locate_line(launch_of(point, end), end->pc);
  g_autofree char *source = locate_source(launch_of(point, end), end->pc);
  finding_add_evidence(finding, line,
                       g_strdup_printf("%s: %s %s in cycle %" G_GUINT64_FORMAT " (`%s`)", when, who,
                                       end->write ? "wrote" : "read", end->cycle, source));
}

/* Why nothing orders the two, and what would. */
static void explain(Finding *finding, const Race *race, const RaceEnd *second) {
  const char *why, *repair;
  bool same_launch = thread_launch(race->first.base) == thread_launch(second->base);
  if (race->first.strong || second->strong) {
    why = "one of the two is strong (atomic, volatile, or LDSLK and STSUL), the other isn't";
    repair = race->space == SPACE_SHARED ? "access the word with LDSLK and STSUL only, or put a barrier between the two"
                                         : "make both accesses atomic or volatile (.CV, .WT)";
  } else if (!same_launch) {
    why = "the launches are of different streams, which run concurrently";
    repair = "put both launches in one stream, or hand over with an atomic flag and MEMBAR";
  } else if (thread_block(race->first.base) == thread_block(second->base)) {
    why = "both warps pass no barrier between the two, and no lock bit or atomic is handed from the first to the second";
    repair = "put a barrier (BAR) between the two, or hold one lock around each";
  } else {
    why = "blocks have no barrier in common, and no atomic is handed from the first to the second";
    repair = "hand over with an atomic flag and MEMBAR, or split the kernel into two launches";
  }
  finding_add_evidence(finding, 0, g_strdup(why));
  finding->repair = g_strdup(repair);
}

static Finding *between_warps(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  g_autofree char *first_who = end_text(point, &race->first), *who = end_text(point, second);
  g_autofree char *where = where_text(point, race);
  Finding *finding = locate_finding(
      FINDING_DATA_RACE,
      g_strdup_printf("%s: %s %s, which %s %s, and nothing orders the two", who, second->write ? "writes" : "reads", where,
                      first_who, race->first.write ? "wrote" : "read"),
      point->block->launch, point->pc);
  add_end(finding, point, &race->first, "first");
  add_end(finding, point, second, "then");
  explain(finding, race, second);
  return finding;
}

static Finding *within_instruction(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  g_autofree char *who = end_text(point, second), *where = where_text(point, race);
  Finding *finding =
      locate_finding(FINDING_DATA_RACE, g_strdup_printf("%s: stores different values to %s in one instruction", who, where),
                     point->block->launch, point->pc);
  add_end(finding, point, second, "together");
  finding_add_evidence(finding, 0, g_strdup("which of the values stays isn't defined"));
  finding->repair = g_strdup("let one lane store, or give each lane its own word");
  return finding;
}

void race_report_add(RaceReport *report, const ProbePoint *point, const Race *race) {
  const Launch *launch = point->block->launch;
  RaceEnd second = {.base = warp_thread_base(point->block, point->warp), .lanes = race->lanes, .pc = point->pc,
                    .cycle = point->cycle, .write = race->write, .strong = race->strong};
  bool within = race->first.base == second.base;
  uint64_t first = locate_line(launch_of(point, &race->first), race->first.pc), then = locate_line(launch, point->pc);
  /* Which of two racing accesses comes first is chance, and lanes against each other are a case of their own. */
  gint64 pair = (gint64)(MIN(first, then) << 32 | MAX(first, then) | (uint64_t)within << 63);
  Finding *known = g_hash_table_lookup(report->known, &pair);
  if (known) {
    known->count++;
    return;
  }
  Finding *finding = within ? within_instruction(point, race, &second) : between_warps(point, race, &second);
  finding->cycle = point->cycle;
  finding->block = (int64_t)point->block->index;
  finding->warp = point->warp->warp_in_block;
  finding->lanes = race->lanes;
  finding->space = g_strdup(race->space == SPACE_SHARED ? "shared" : "global");
  finding->address = race->space == SPACE_SHARED ? race->address - point->block->shared_base : race->address;
  g_ptr_array_add(report->findings, finding);
  g_hash_table_insert(report->known, g_memdup2(&pair, sizeof pair), finding);
}
