#include "sim/detect/proof/seen.h"

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/host.h"
#include "sim/core/lane_groups.h"

/* True if no lanes of the warp but the running ones can go on by themselves. */
static bool runs_one_group(const Warp *warp) {
  for (uint32_t i = 0; warp->groups && i < warp->groups->count; i++)
    if (warp->groups->group[i].state == GROUP_READY || warp->groups->group[i].state == GROUP_YIELDED)
      return false;
  return true;
}

Warp *seen_only_warp(const Gpu *gpu) {
  Warp *only = NULL;
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].ready && slot < gpu->machine->sm.max_warps; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING)
        continue;
      if (only || !runs_one_group(warp))
        return NULL;
      only = warp;
    }
  return host_is_still(gpu->host) ? only : NULL;
}

static uint64_t place_key(unsigned lane, uint32_t pc, uint32_t part) {
  return (uint64_t)pc << 16 | (uint64_t)part << 8 | lane;
}

static void add_value(SeenLoads *seen, uint64_t key, uint32_t value) {
  SeenValues *values = g_hash_table_lookup(seen->values, &key);
  if (!values) {
    values = g_new0(SeenValues, 1);
    g_hash_table_insert(seen->values, g_memdup2(&key, sizeof key), values);
  }
  for (uint32_t i = 0; i < MIN(values->count, SEEN_VALUES_MAX); i++)
    if (values->value[i] == value)
      return;
  if (values->count < SEEN_VALUES_MAX)
    values->value[values->count] = value;
  values->count = MIN(values->count + 1, SEEN_VALUES_MAX + 1);
}

/* A load or a shuffle has written its destination. */
static void note_loaded(SeenLoads *seen, const ProbePoint *point) {
  const Inst *inst = point->inst;
  bool is_shuffle = op_info[inst->op].unit == UNIT_SHUFFLE;
  if (point->warp != seen->warp || !(is_shuffle || op_info[inst->op].flags & OPF_LOAD) || inst->dst < 0)
    return;
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1)
    for (uint32_t part = 0; part < (is_shuffle ? 1 : access_words(width_bytes[inst->width])); part++) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      add_value(seen, place_key(lane, point->pc, part),
                point->warp->regs[(uint32_t)(inst->dst + (int)part) * WARP_LANES + lane]);
    }
}

/* One of global memory will, when its reply comes. */
static void note_issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  int dst = point->inst->dst;
  if (dst < 0 || point->warp->reg_ready[dst] != REG_PENDING)
    note_loaded(user, point);
}

static void note_replied(void *user, const ProbePoint *point) { note_loaded(user, point); }

SeenLoads *seen_record(Gpu *gpu, const Warp *warp, uint64_t instructions, uint64_t limit_cycles, GpuStop *stop) {
  SeenLoads *seen = g_new0(SeenLoads, 1);
  seen->warp = warp;
  seen->values = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free);
  Probe probe = {.user = seen, .issued = note_issued, .replied = note_replied};
  gpu_subscribe(gpu, &probe);
  *stop = gpu_run(gpu, instructions, limit_cycles);
  gpu_unsubscribe(gpu, &probe);
  if (*stop == GPU_BUDGET)
    return seen;
  seen_free(seen);
  return NULL;
}

void seen_free(SeenLoads *seen) {
  if (!seen)
    return;
  g_hash_table_destroy(seen->values);
  g_free(seen);
}

const SeenValues *seen_values(const SeenLoads *seen, unsigned lane, uint32_t pc, uint32_t part) {
  uint64_t key = place_key(lane, pc, part);
  const SeenValues *values = g_hash_table_lookup(seen->values, &key);
  return values && values->count <= SEEN_VALUES_MAX ? values : NULL;
}
