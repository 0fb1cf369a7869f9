#include "sim/detect/race/race_text.h"

#include "sim/core/host.h"
#include "sim/detect/naming/locate.h"

char *race_end_text(const ProbePoint *point, const RaceEnd *end) {
  if (race_is_host(end))
    return g_strdup("the host");
  return locate_lanes_text(point->gpu, race_launch_of(point, end), end->base.block, thread_warp(end->base),
                           end->lanes);
}

/* In a cluster of several blocks shared memory may be another block's. */
static char *place_text(const ProbePoint *point, const Race *race, uint64_t address) {
  if (race->space == SPACE_GLOBAL)
    return locate_global_text(point->gpu, address);
  if (point->block && point->block->launch->cluster_blocks == 1)
    return locate_shared_text(point->block, (uint32_t)address);
  return locate_cluster_text(point->gpu, point->sm, address);
}

char *race_where_text(const ProbePoint *point, const Race *race) {
  uint64_t last = race->address + 4 * (uint64_t)(race->words - 1);
  g_autofree char *from = place_text(point, race, race->address);
  g_autofree char *to = place_text(point, race, last);
  return race->words > 1 ? g_strdup_printf("the %u words from %s to %s", race->words, from, to)
                         : g_steal_pointer(&from);
}

bool race_frees(const ProbePoint *point, const RaceEnd *end) {
  return !race_is_host(end) && race_launch_of(point, end)->kernel->insts[end->pc].op == OP_FREE;
}

const char *race_deed(const ProbePoint *point, const RaceEnd *end) {
  return race_frees(point, end) ? "freed" : end->write ? "wrote" : "read";
}

void race_add_end(Finding *finding, const ProbePoint *point, const RaceEnd *end, const char *when) {
  g_autofree char *who = race_end_text(point, end);
  if (race_is_host(end)) {
    g_autofree char *step = host_step_text(point->gpu->host, end->pc);
    finding_add_evidence(finding, 0,
                         g_strdup_printf("%s: %s %s in cycle %" G_GUINT64_FORMAT ", %s", when, who,
                                         race_deed(point, end), end->cycle, step));
    return;
  }
  g_autofree char *source = locate_source(race_launch_of(point, end), end->pc);
  locate_evidence(finding, race_launch_of(point, end), end->pc,
                  g_strdup_printf("%s: %s %s in cycle %" G_GUINT64_FORMAT " (`%s`)", when, who, race_deed(point, end),
                                  end->cycle, source));
}

/* "byte 1", "bytes 0 to 3"; free with g_free. */
static char *bytes_text(uint32_t bytes) {
  unsigned first = (unsigned)__builtin_ctz(bytes), last = 31 - (unsigned)__builtin_clz(bytes);
  return first == last ? g_strdup_printf("byte %u", first) : g_strdup_printf("bytes %u to %u", first, last);
}

void race_add_bytes(Finding *finding, const Race *race) {
  uint32_t first = race->with.bytes, second = race->bytes;
  if (race->words != 1 || !first || !second || first == second)
    return;
  g_autofree char *one = bytes_text(first), *other = bytes_text(second);
  bool strong = race->with.strong; /* the first */
  bool wider = strong != race->strong && (strong ? first : second) == CELL_BYTES;
  finding_add_evidence(finding, 0,
                       g_strdup_printf("the first touches %s of the word, the other one %s%s", one, other,
                                       wider ? "; where CUDA makes an atomic operation on a byte, or on 16 bits, of "
                                               "one on the whole word, that touches the neighbours, too"
                                             : ""));
}
