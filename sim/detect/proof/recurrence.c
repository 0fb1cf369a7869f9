#include "sim/detect/proof/recurrence.h"

#include "base/bits.h"
#include "sim/core/bulk.h"
#include "sim/core/host.h"
#include "sim/detect/proof/warp_digest.h"
#include "sim/memory/lock_queue.h"

/* What a warp sleeps for. */
typedef struct Waking {
  const Sm *sm;
  SmSleep at_start;
} Waking;

typedef struct Watched {
  GPtrArray *warps;    /* Warp * */
  GArray *launches;    /* guint: of each warp */
  GArray *wakings;     /* Waking: of each warp */
  uint64_t *issued;    /* of each SM: accesses to global memory, before the watch began */
  KernelState *states; /* of each launch's kernel */
  bool clocked;        /* a clock value can matter to one of them */
} Watched;

/* True if a warp has slept since the watch began, until its memory accesses are performed, say: then the machine
 * hasn't come back to where it was, since that time goes by. */
static bool somebody_sleeps(const Gpu *gpu, const Watched *watched) {
  for (guint i = 0; i < watched->warps->len; i++) {
    const Warp *warp = g_ptr_array_index(watched->warps, i);
    const Waking *waking = &g_array_index(watched->wakings, Waking, i);
    SmSleep now = sm_sleep(waking->sm, warp);
    if (warp->state == WARP_RUNNING && (now.blocked || now.until > gpu->cycle) &&
        now.blocked == waking->at_start.blocked && now.until == waking->at_start.until)
      return true;
  }
  return false;
}

/* True if something is under way that was so when the watch began: it may still change what somebody waits for. */
static bool something_is_under_way(const Gpu *gpu, const Watched *watched) {
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    if (gpu->sms[i].ready &&
        (flights_oldest(&gpu->sms[i].flights) <= watched->issued[i] || bulk_is_busy(&gpu->sms[i])))
      return true;
  return false;
}

/* Who has come to the barriers of the warp's block, and what they have brought. */
static uint64_t digest_barriers(uint64_t hash, const Sm *sm, const Warp *warp) {
  const Block *block = &sm->blocks[warp->block_slot];
  for (unsigned id = 0; id < BLOCK_BARRIERS; id++) {
    const Barrier *barrier = &block->barrier[id];
    if (!barrier->open)
      continue;
    hash = bits_mix(bits_mix(hash, id), (uint64_t)barrier->threads << 32 | barrier->expected);
    hash = bits_mix(bits_mix(hash, (uint64_t)barrier->arrived << 32 | barrier->waiting),
                    (uint64_t)barrier->population << 2 | (uint64_t)barrier->all << 1 | barrier->any);
  }
  return hash;
}

static uint64_t digest(Gpu *gpu, const Watched *watched) {
  uint64_t hash = gpu_memory_hash(gpu) ^ lock_queues_digest(gpu->locks);
  for (guint i = 0; i < watched->warps->len; i++) {
    guint launch = g_array_index(watched->launches, guint, i);
    const Sm *sm = g_array_index(watched->wakings, Waking, i).sm;
    const Warp *warp = g_ptr_array_index(watched->warps, i);
    hash = warp_digest(hash, sm, warp, &watched->states[launch]);
    hash = digest_barriers(hash, sm, warp);
  }
  return hash;
}

/* Where the warps are, and nothing else: cheap, and enough to tell most states apart. */
static uint64_t digest_places(const Watched *watched) {
  uint64_t hash = 0;
  for (guint i = 0; i < watched->warps->len; i++) {
    const Warp *warp = g_ptr_array_index(watched->warps, i);
    hash = hash * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)warp->active << 32 | warp->pc);
  }
  return hash;
}

static void watch_init(Watched *watched, Gpu *gpu) {
  *watched = (Watched){0};
  watched->warps = g_ptr_array_new();
  watched->launches = g_array_new(FALSE, FALSE, sizeof(guint));
  watched->wakings = g_array_new(FALSE, FALSE, sizeof(Waking));
  watched->states = g_new0(KernelState, gpu->launches->len);
  watched->issued = g_new0(uint64_t, gpu->machine->gpu.sms);
  for (uint32_t i = 0; i < gpu->used_sms; i++) {
    watched->issued[i] = gpu->sms[i].ready ? gpu->sms[i].flights.made : 0;
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING && warp->state != WARP_AT_BARRIER)
        continue;
      g_ptr_array_add(watched->warps, warp);
      guint launch = warp_block(&gpu->sms[i], warp)->launch->index;
      g_array_append_val(watched->launches, launch);
      Waking waking = {&gpu->sms[i], sm_sleep(&gpu->sms[i], warp)};
      g_array_append_val(watched->wakings, waking);
      kernel_state_init(&watched->states[launch], gpu_launch(gpu, launch)->kernel);
      watched->clocked |= watched->states[launch].clocked;
    }
  }
}

static void watch_clear(Watched *watched, const Gpu *gpu) {
  for (guint i = 0; i < gpu->launches->len; i++)
    kernel_state_clear(&watched->states[i]);
  g_free(watched->states);
  g_ptr_array_free(watched->warps, TRUE);
  g_array_free(watched->launches, TRUE);
  g_array_free(watched->wakings, TRUE);
  g_free(watched->issued);
}

bool recurrence_watch(Gpu *gpu, uint64_t limit_cycles, GpuStop *stop) {
  Watched watched;
  watch_init(&watched, gpu);
  uint64_t moved = gpu_moves(gpu);
  unsigned returns = 0;
  *stop = GPU_BUDGET;
  if (watched.warps->len <= RECURRENCE_WARPS_MAX && !watched.clocked && host_is_still(gpu->host)) {
    gpu_watch_memory(gpu, true);
    gpu->memory_hash = 0; /* changes from here on: it is 0 again when memory is as it was */
    uint64_t places = digest_places(&watched), start = digest(gpu, &watched);
    unsigned window = MIN((unsigned)RECURRENCE_WINDOW, RECURRENCE_DIGESTS / MAX(watched.warps->len, 1u));
    for (unsigned i = 0; i < window && returns < RECURRENCES_NEEDED; i++) {
      *stop = gpu_run(gpu, 1, limit_cycles);
      if (*stop != GPU_BUDGET || gpu_moves(gpu) != moved)
        break;
      returns += digest_places(&watched) == places && gpu_memory_hash(gpu) == 0 && !somebody_sleeps(gpu, &watched) &&
                 !something_is_under_way(gpu, &watched) && lock_queues_are_still(gpu->locks, gpu->cycle) &&
                 digest(gpu, &watched) == start;
    }
    gpu_watch_memory(gpu, false);
  }
  watch_clear(&watched, gpu);
  return returns >= RECURRENCES_NEEDED;
}
