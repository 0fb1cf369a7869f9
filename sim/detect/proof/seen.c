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
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING)
        continue;
      if (only || !runs_one_group(warp))
        return NULL;
      only = warp;
    }
  return host_is_still(gpu->host) ? only : NULL;
}

static uint64_t place_key(const Sm *sm, const Warp *warp, unsigned lane, uint32_t pc, uint32_t part) {
  enum { SM_SHIFT = 48, SLOT_SHIFT = 40, PC_SHIFT = 12, PART_SHIFT = 6 };
  return (uint64_t)sm->index << SM_SHIFT | (uint64_t)warp->slot << SLOT_SHIFT | (uint64_t)pc << PC_SHIFT |
         (uint64_t)part << PART_SHIFT | lane;
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

/* Notes what the instruction, whose destination is written, gave the lanes of the point. */
static void note_values(SeenLoads *seen, const ProbePoint *point, uint32_t parts) {
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1)
    for (uint32_t part = 0; part < parts; part++) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint32_t row = (uint32_t)(point->inst->dst + (int)part);
      add_value(seen, place_key(point->sm, point->warp, lane, point->pc, part),
                point->warp->regs[row * WARP_LANES + lane]);
    }
}

/* A load or a shuffle has written its destination. */
static void note_loaded(SeenLoads *seen, const ProbePoint *point) {
  const Inst *inst = point->inst;
  bool is_shuffle = op_info[inst->op].unit == UNIT_SHUFFLE;
  if (point->warp != seen->warp || !(is_shuffle || op_info[inst->op].flags & OPF_LOAD) || inst->dst < 0)
    return;
  note_values(seen, point, is_shuffle ? 1 : access_words(width_bytes[inst->width]));
}

/* One of global memory will, when its reply comes. */
static void note_issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  int dst = point->inst->dst;
  if (dst < 0 || point->warp->reg_ready[dst] != REG_PENDING)
    note_loaded(user, point);
}

static void note_replied(void *user, const ProbePoint *point) { note_loaded(user, point); }

static SeenLoads *seen_new(const Warp *warp) {
  SeenLoads *seen = g_new0(SeenLoads, 1);
  seen->warp = warp;
  seen->values = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free);
  seen->issued = g_hash_table_new(g_direct_hash, g_direct_equal);
  return seen;
}

SeenLoads *seen_record(Gpu *gpu, const Warp *warp, uint64_t instructions, uint64_t limit_cycles, GpuStop *stop) {
  SeenLoads *seen = seen_new(warp);
  Probe probe = {.user = seen, .issued = note_issued, .replied = note_replied};
  gpu_subscribe(gpu, &probe);
  *stop = gpu_run(gpu, instructions, limit_cycles);
  gpu_unsubscribe(gpu, &probe);
  if (*stop == GPU_BUDGET)
    return seen;
  seen_free(seen);
  return NULL;
}

/* ---- of all warps ---- */

/* BRA.DIV: 1 if the lanes went its way. Where the guard parts them too, that can't be seen here. */
static void note_way(SeenLoads *seen, const ProbePoint *point) {
  seen->moved |= point->warp->active != point->lanes;
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1)
    add_value(seen, place_key(point->sm, point->warp, (unsigned)__builtin_ctz(rest), point->pc, 0),
              point->warp->pc == (uint32_t)point->inst->target);
}

static void note_exchanged(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  SeenLoads *seen = user;
  const Inst *inst = point->inst;
  Unit unit = op_info[inst->op].unit;
  g_hash_table_add(seen->issued, (gpointer)point->warp);
  /* Lanes that give way, or sleep, while others could go on: whose turn comes next is a matter of time. */
  seen->moved |= (inst->op == OP_YIELD || inst->op == OP_NANOSLEEP) && !runs_one_group(point->warp);
  if (inst->op == OP_BRADIV)
    note_way(seen, point);
  else if ((unit == UNIT_SHUFFLE || unit == UNIT_VOTE) && inst->dst >= 0 &&
           (uint32_t)inst->dst < point->block->launch->kernel->nregs)
    note_values(seen, point, 1);
}

static void note_stale(void *user, const ProbePoint *point, const StaleRead *stale) {
  (void)point, (void)stale;
  ((SeenLoads *)user)->moved = true;
}

/* A warp that could issue didn't: what it would do isn't known. */
static bool somebody_starves(const Gpu *gpu, const SeenLoads *seen) {
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      const Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state == WARP_RUNNING && !g_hash_table_contains(seen->issued, warp))
        return true;
    }
  return false;
}

/* True if something has changed since the watch began, or depends on the time. */
static bool has_moved(const Gpu *gpu, const SeenLoads *seen, uint64_t progress) {
  return seen->moved || gpu->memory_changed || gpu->progress != progress || gpu->locks;
}

enum { PIECE_INSTRUCTIONS = 1000 };

/* So many instructions, in pieces if somebody has to be asked. True: it is enough. */
static bool run_still(Gpu *gpu, const SeenLoads *seen, uint64_t instructions, uint64_t limit_cycles,
                      SeenEnough enough, void *user, GpuStop *stop) {
  uint64_t progress = gpu->progress, piece = enough ? PIECE_INSTRUCTIONS : instructions;
  for (uint64_t done = 0; done < instructions; done += piece) {
    *stop = gpu_run(gpu, piece, limit_cycles);
    if (*stop != GPU_BUDGET || has_moved(gpu, seen, progress))
      return false;
    if (enough && enough(user))
      return true;
  }
  return !enough;
}

SeenLoads *seen_record_still(Gpu *gpu, uint64_t instructions, uint64_t limit_cycles, SeenEnough enough, void *user,
                             GpuStop *stop) {
  SeenLoads *seen = seen_new(NULL);
  Probe probe = {.user = seen, .issued = note_exchanged, .stale_read = note_stale};
  gpu_subscribe(gpu, &probe);
  gpu->hashes_memory = true;
  gpu->memory_changed = false;
  bool still = run_still(gpu, seen, instructions, limit_cycles, enough, user, stop);
  gpu->hashes_memory = false;
  gpu_unsubscribe(gpu, &probe);
  if (still && !somebody_starves(gpu, seen))
    return seen;
  seen_free(seen);
  return NULL;
}

void seen_free(SeenLoads *seen) {
  if (!seen)
    return;
  g_hash_table_destroy(seen->values);
  g_hash_table_destroy(seen->issued);
  g_free(seen);
}

const SeenValues *seen_values(const SeenLoads *seen, const Sm *sm, const Warp *warp, unsigned lane, uint32_t pc,
                              uint32_t part) {
  if (seen->warp && seen->warp != warp)
    return NULL;
  uint64_t key = place_key(sm, warp, lane, pc, part);
  const SeenValues *values = g_hash_table_lookup(seen->values, &key);
  return values && values->count <= SEEN_VALUES_MAX ? values : NULL;
}
