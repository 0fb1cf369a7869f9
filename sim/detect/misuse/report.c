#include "sim/detect/misuse/report.h"

#include "base/bits.h"

uint64_t report_key(FindingId id, const ProbePoint *point) {
  return (uint64_t)id << 48 | locate_key(point->block->launch, point->pc);
}

const char *report_ending(const ProbePoint *point) { return point->lanes & (point->lanes - 1) ? "" : "s"; }

char *report_who(const ProbePoint *point) {
  return locate_lanes_text(point->gpu, point->block->launch, point->block->index, point->warp->warp_in_block,
                           point->lanes);
}

bool report_is_known(const Misuse *report, uint64_t key) {
  Finding *known = g_hash_table_lookup(report->places, &key);
  if (known)
    known->count++;
  return known != NULL;
}

Finding *report_add_new(Misuse *report, FindingId id, uint64_t key, const ProbePoint *point, char *message,
                        const char *repair) {
  Finding *finding = locate_finding(id, message, point->block->launch, point->pc);
  finding->cycle = point->cycle;
  finding->block = (int64_t)point->block->index;
  finding->warp = point->warp->warp_in_block;
  finding->lanes = point->lanes;
  finding->repair = g_strdup(repair);
  uint64_t *copy = g_new(uint64_t, 1);
  *copy = key;
  g_hash_table_insert(report->places, copy, finding);
  g_ptr_array_add(report->findings, finding);
  return finding;
}

Finding *report_add(Misuse *report, FindingId id, const ProbePoint *point, char *message, const char *repair) {
  uint64_t key = report_key(id, point);
  if (!report_is_known(report, key))
    return report_add_new(report, id, key, point, message, repair);
  g_free(message);
  return NULL;
}

Misuse *report_new(Gpu *gpu, GPtrArray *findings, Probe probe) {
  Misuse *report = g_new0(Misuse, 1);
  *report = (Misuse){.gpu = gpu,
                     .findings = findings,
                     .places = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL),
                     .probe = probe};
  report->probe.user = report;
  gpu_subscribe(gpu, &report->probe);
  return report;
}

void misuse_free(Misuse *report) {
  if (!report)
    return;
  g_hash_table_destroy(report->places);
  if (report->guesses)
    g_hash_table_destroy(report->guesses);
  g_clear_pointer(&report->skipped, g_hash_table_destroy);
  g_free(report);
}
