#include "sim/detect/proof/stillness.h"

#include "base/bits.h"
#include "sim/core/host.h"
#include "sim/detect/proof/warp_digest.h"

enum {
  WINDOW_LEAST = 20000,   /* instructions watched at the most: so many, */
  WINDOW_PER_WARP = 4000, /* and so many for each warp that can issue */
  UNREAD_PART = 2         /* a warp that issues such a part of its share without reading anything, and doesn't come
                           * back, computes */
};

/* A warp's way. It is looked at where it waits for no reply. */
typedef struct Round {
  uint64_t age;    /* of the warp; 0: nobody is watched in this slot */
  uint64_t digest; /* of the state that it is to come back to; that is taken anew after 1, 2, 4, 7, 11 ...
                    * steps, so that it doesn't come to the same places of a loop again and again */
  uint32_t pc, active;
  uint32_t steps, renew_after;
  uint32_t unread; /* instructions since it last read memory */
  bool back;
} Round;

typedef struct Stillness {
  Gpu *gpu;
  Round *round;        /* of each warp slot of the machine */
  uint32_t left;       /* warps that haven't come back */
  uint64_t unread;     /* instructions that one of these issues, at the most, without reading anything */
  KernelState *states; /* of each launch's kernel */
  uint64_t *issued;    /* of each SM: its accesses so far, when the last warp came back; NULL: some haven't */
  CircleWords words;
  bool broken;         /* something happened that the watch doesn't see through */
} Stillness;

static Round *round_of(const Stillness *still, const Sm *sm, const Warp *warp) {
  return &still->round[sm->index * SM_WARPS_MAX + warp->slot];
}

static void come_back(Stillness *still, Round *round) {
  round->back = true;
  if (--still->left)
    return;
  still->issued = circle_issued(still->gpu);
}

static void note_issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  Stillness *still = user;
  const Warp *warp = point->warp;
  Round *round = round_of(still, point->sm, warp);
  still->broken |= round->age != warp->age + 1 || op_info[point->inst->op].unit == UNIT_BARRIER;
  if (round->back)
    return;
  still->broken |= ++round->unread > still->unread;
  if (warp->pending || still->broken)
    return;
  bool renews = round->steps == round->renew_after;
  if (!renews && (warp->pc != round->pc || warp->active != round->active)) {
    round->steps++;
    return;
  }
  uint64_t digest = warp_digest(0, point->sm, warp, &still->states[point->block->launch->index]);
  if (!renews && digest == round->digest) {
    come_back(still, round);
    return;
  }
  round->steps++;
  if (!renews)
    return;
  *round = (Round){.age = round->age,
                   .digest = digest,
                   .pc = warp->pc,
                   .active = warp->active,
                   .unread = round->unread,
                   .renew_after = round->renew_after + round->renew_after / 2 + 1};
}

/* ---- the watch ---- */

static void note_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                        const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  (void)bytes, (void)number;
  Stillness *still = user;
  bool atomic = kind == ACCESS_ATOMIC || taken || unlock;
  if (kind != ACCESS_WRITE || unlock)
    circle_words_note(&still->words, point, space, atomic, address);
  if (kind != ACCESS_WRITE)
    round_of(still, point->sm, point->warp)->unread = 0;
}

static void note_copy(void *user, const ProbePoint *point, const uint32_t physical[32], uint32_t bytes) {
  (void)point, (void)physical, (void)bytes;
  ((Stillness *)user)->broken = true;
}

static void note_bulk(void *user, const ProbePoint *point, uint64_t address, uint32_t bytes, bool writes) {
  (void)point, (void)address, (void)bytes, (void)writes;
  ((Stillness *)user)->broken = true;
}

/* True once it is known, as far as it can be, whether all goes round. */
static bool is_known(void *user) {
  const Stillness *still = user;
  return still->broken || (still->issued && circle_is_performed(still->gpu, still->issued));
}

static void watch_warp(Stillness *still, const Sm *sm, const Warp *warp) {
  const Launch *launch = sm->blocks[warp->block_slot].launch;
  KernelState *state = &still->states[launch->index];
  kernel_state_init(state, launch->kernel);
  still->broken |= state->clocked;
  still->left++;
  *round_of(still, sm, warp) = (Round){.age = warp->age + 1};
}

static void init(Stillness *still, Gpu *gpu) {
  *still = (Stillness){.gpu = gpu,
                       .round = g_new0(Round, (gsize)gpu->machine->gpu.sms * SM_WARPS_MAX),
                       .states = g_new0(KernelState, gpu->launches->len),
                       .broken = !host_is_still(gpu->host)};
  circle_words_init(&still->words);
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++)
      if (gpu->sms[i].warps[slot].state == WARP_RUNNING)
        watch_warp(still, &gpu->sms[i], &gpu->sms[i].warps[slot]);
}

static void clear(Stillness *still) {
  for (guint i = 0; i < still->gpu->launches->len; i++)
    kernel_state_clear(&still->states[i]);
  circle_words_clear(&still->words);
  g_free(still->states);
  g_free(still->round);
  g_free(still->issued);
}

/* True if they go round. */
static bool watch(Stillness *still, SeenLoads *seen, uint64_t share, uint64_t limit_cycles, GpuStop *stop) {
  Gpu *gpu = still->gpu;
  uint64_t whole = WINDOW_LEAST + (uint64_t)WINDOW_PER_WARP * still->left;
  SeenWindow window = {.instructions = MIN(whole, MAX((uint64_t)CIRCLE_SHARE_LEAST, share)),
                       .enough = is_known,
                       .user = still};
  still->unread = whole / (UNREAD_PART * (uint64_t)still->left);
  Probe probe = {.user = still, .issued = note_issued, .access = note_access, .copy = note_copy, .bulk = note_bulk};
  gpu_subscribe(gpu, &probe);
  gpu->local_changed = false;
  bool known = seen_record_exchanges(seen, gpu, &window, limit_cycles, stop);
  gpu_unsubscribe(gpu, &probe);
  return known && !still->broken && !gpu->local_changed && host_is_still(gpu->host);
}

Circle *stillness_watch(Gpu *gpu, uint64_t share, uint64_t limit_cycles, GpuStop *stop) {
  Stillness still;
  SeenLoads *seen = seen_new_exchanges();
  init(&still, gpu);
  *stop = GPU_BUDGET;
  bool known = !still.broken && still.left && watch(&still, seen, share, limit_cycles, stop);
  Circle *circle = known ? circle_new(g_steal_pointer(&seen), &still.words) : NULL;
  clear(&still);
  seen_free(seen);
  return circle;
}
