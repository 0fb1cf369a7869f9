#include "sim/detect/proof/seen.h"

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/host.h"
#include "sim/core/lane_groups.h"

/* True if no lanes of the warp but the running ones can go on by themselves. */
static bool runs_one_group(const Warp *warp) {
  for (uint32_t i = 0; warp->groups && i < warp->groups->count; i++)
    if (lane_group_can_run(&warp->groups->group[i]))
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

enum { SM_SHIFT = 48, SLOT_SHIFT = 40, PC_SHIFT = 12, PART_SHIFT = 6 };

static uint64_t key_of(uint64_t who, unsigned lane, uint32_t pc, uint32_t part) {
  return who | (uint64_t)pc << PC_SHIFT | (uint64_t)part << PART_SHIFT | lane;
}

/* The bits of a key that say whose value it is. */
static uint64_t who_of(SeenBy by, const Sm *sm, const Warp *warp) {
  switch (by) {
  case SEEN_BY_BLOCK: return (uint64_t)sm->index << SM_SHIFT | (uint64_t)warp->block_slot << SLOT_SHIFT;
  case SEEN_BY_LAUNCH: return (uint64_t)sm->blocks[warp->block_slot].launch->index << SM_SHIFT;
  default: return (uint64_t)sm->index << SM_SHIFT | (uint64_t)warp->slot << SLOT_SHIFT;
  }
}

static uint64_t place_key(const Sm *sm, const Warp *warp, unsigned lane, uint32_t pc, uint32_t part) {
  return key_of(who_of(SEEN_BY_WARP, sm, warp), lane, pc, part);
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

/* Adds all of them. The order of those that are kept is that of their values. */
static void join_values(SeenLoads *seen, uint64_t key, const SeenValues *more) {
  for (uint32_t i = 0; i < MIN(more->count, SEEN_VALUES_MAX); i++)
    add_value(seen, key, more->value[i]);
  SeenValues *values = g_hash_table_lookup(seen->values, &key);
  if (more->count > SEEN_VALUES_MAX)
    values->count = SEEN_VALUES_MAX + 1;
  for (uint32_t i = 1; i < MIN(values->count, SEEN_VALUES_MAX); i++)
    for (uint32_t j = i; j > 0 && values->value[j - 1] > values->value[j]; j--) {
      uint32_t larger = values->value[j - 1];
      values->value[j - 1] = values->value[j];
      values->value[j] = larger;
    }
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

/* A shuffle or a ballot, whose result is wanted. */
static bool is_exchange(const ProbePoint *point) {
  const Inst *inst = point->inst;
  Unit unit = op_info[inst->op].unit;
  return (unit == UNIT_SHUFFLE || unit == UNIT_VOTE) && inst->dst >= 0 &&
         (uint32_t)inst->dst < point->block->launch->kernel->nregs;
}

/* A load or an exchange has written its destination. */
static void note_loaded(SeenLoads *seen, const ProbePoint *point) {
  const Inst *inst = point->inst;
  if (point->warp != seen->warp)
    return;
  if (is_exchange(point))
    note_values(seen, point, 1);
  else if (op_info[inst->op].flags & OPF_LOAD && inst->dst >= 0)
    note_values(seen, point, access_words(width_bytes[inst->width]));
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

/* Lanes of a warp that have given way, and wait for their turn. */
typedef struct Yielded {
  uint32_t groups, pc; /* how many; where the newest goes on */
  bool apart;          /* they go on at different places */
} Yielded;

static Yielded yielded_of(const Warp *warp) {
  Yielded yielded = {0};
  for (uint32_t i = 0; warp->groups && i < warp->groups->count; i++) {
    const LaneGroup *group = &warp->groups->group[i];
    if (group->state != GROUP_YIELDED)
      continue;
    yielded.apart |= yielded.groups && group->pc != yielded.pc;
    yielded.pc = group->pc;
    yielded.groups++;
  }
  return yielded;
}

static SeenWarp *seen_warp(const SeenLoads *seen, const Sm *sm, const Warp *warp) {
  return &seen->warps[sm->index * SM_WARPS_MAX + warp->slot];
}

/* Lanes give way, or sleep: whose turn comes next is a matter of time if several others have done so, unless all
 * go on at one place, and together. A group that hasn't given way comes first in any case. */
static void note_turns(SeenLoads *seen, const ProbePoint *point, SeenWarp *noted) {
  const Warp *warp = point->warp;
  if (!warp->groups)
    return;
  Yielded now = yielded_of(warp);
  bool sleeps = point->inst->op == OP_NANOSLEEP, yields = point->inst->op == OP_YIELD;
  bool chosen = yields && noted->yielded && now.groups && (now.groups == 1 || now.pc != point->pc + 1);
  seen->moved |= now.apart || chosen || (sleeps && !runs_one_group(warp));
  noted->yielded = now.groups;
}

static void note_exchanged(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  SeenLoads *seen = user;
  SeenWarp *noted = seen_warp(seen, point->sm, point->warp);
  noted->issued = true;
  note_turns(seen, point, noted);
  if (point->inst->op == OP_BRADIV)
    note_way(seen, point);
  else if (is_exchange(point))
    note_values(seen, point, 1);
}

static void note_stale(void *user, const ProbePoint *point, const StaleRead *stale) {
  (void)point, (void)stale;
  ((SeenLoads *)user)->moved = true;
}

/* Nobody has issued anything; who has given way. */
static void begin_window(SeenLoads *seen, const Gpu *gpu) {
  g_free(seen->warps);
  seen->warps = g_new0(SeenWarp, (gsize)gpu->machine->gpu.sms * SM_WARPS_MAX);
  seen->moved = false;
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      const Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING)
        continue;
      Yielded yielded = yielded_of(warp);
      seen->moved |= yielded.apart;
      seen_warp(seen, &gpu->sms[i], warp)->yielded = yielded.groups;
    }
}

/* A warp that could issue didn't: what it would do isn't known. */
static bool somebody_starves(const Gpu *gpu, const SeenLoads *seen) {
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      const Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state == WARP_RUNNING && !seen_warp(seen, &gpu->sms[i], warp)->issued)
        return true;
    }
  return false;
}

/* True if something has changed since the watch began, or depends on the time. */
static bool has_moved(const Gpu *gpu, const SeenLoads *seen, const SeenWindow *window, uint64_t progress) {
  return seen->moved || (gpu->memory_changed && !window->words_change) || gpu->progress != progress || gpu->locks;
}

enum { PIECE_INSTRUCTIONS = 1000 };

/* Runs the window, in pieces if somebody has to be asked. True: it is enough. */
static bool run_window(Gpu *gpu, const SeenLoads *seen, const SeenWindow *window, uint64_t limit_cycles,
                       GpuStop *stop) {
  uint64_t progress = gpu->progress, piece = window->enough ? PIECE_INSTRUCTIONS : window->instructions;
  for (uint64_t done = 0; done < window->instructions; done += piece) {
    *stop = gpu_run(gpu, piece, limit_cycles);
    if (*stop != GPU_BUDGET || has_moved(gpu, seen, window, progress))
      return false;
    if (window->enough && window->enough(window->user))
      return true;
  }
  return !window->enough;
}

void seen_join(SeenLoads *seen, const Gpu *gpu, SeenBy by) {
  GHashTable *apart = seen->values;
  GHashTableIter all;
  gpointer key, value;
  seen->values = g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, g_free);
  seen->by = by;
  g_hash_table_iter_init(&all, apart);
  while (g_hash_table_iter_next(&all, &key, &value)) {
    uint64_t place = *(const uint64_t *)key, slot = place >> SLOT_SHIFT & 0xff;
    const Sm *sm = &gpu->sms[place >> SM_SHIFT];
    uint64_t joined = who_of(by, sm, &sm->warps[slot]) | (place & ((UINT64_C(1) << SLOT_SHIFT) - 1));
    join_values(seen, joined, value);
  }
  g_hash_table_destroy(apart);
}

SeenLoads *seen_new_exchanges(void) { return seen_new(NULL); }

bool seen_record_exchanges(SeenLoads *seen, Gpu *gpu, const SeenWindow *window, uint64_t limit_cycles,
                           GpuStop *stop) {
  Probe probe = {.user = seen, .issued = note_exchanged, .stale_read = note_stale};
  begin_window(seen, gpu);
  gpu_subscribe(gpu, &probe);
  gpu_watch_memory(gpu, true);
  gpu->memory_changed = false;
  bool enough = run_window(gpu, seen, window, limit_cycles, stop);
  gpu_watch_memory(gpu, false);
  gpu_unsubscribe(gpu, &probe);
  return enough && !somebody_starves(gpu, seen);
}

void seen_free(SeenLoads *seen) {
  if (!seen)
    return;
  g_hash_table_destroy(seen->values);
  g_free(seen->warps);
  g_free(seen);
}

const SeenValues *seen_values(const SeenLoads *seen, const Sm *sm, const Warp *warp, unsigned lane, uint32_t pc,
                              uint32_t part) {
  if (seen->warp && seen->warp != warp)
    return NULL;
  uint64_t key = key_of(who_of(seen->by, sm, warp), lane, pc, part);
  const SeenValues *values = g_hash_table_lookup(seen->values, &key);
  return values && values->count <= SEEN_VALUES_MAX ? values : NULL;
}
