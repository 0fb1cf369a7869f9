#include "sim/detect/proof/repetition.h"

#include <string.h>

#include "base/bits.h"
#include "sim/core/host.h"
#include "sim/detect/proof/circle.h"
#include "sim/detect/proof/warp_digest.h"

enum {
  WINDOW_LEAST = 40000,   /* instructions watched: so many, */
  WINDOW_PER_WARP = 4000, /* and so many for each warp that can issue */
  SEEN_LEAST = 64,        /* so often a warp goes on, waiting for nothing, in the second half */
  NEW_PART = 32,          /* one of so many states there may be new */
  NEW_MOST = 500          /* a warp that did so much in the first quarter, all of it new, isn't watched any further */
};

/* How often something was seen, and was new. */
typedef struct Tally {
  uint64_t seen, new;
} Tally;

typedef struct Repetition {
  Gpu *gpu;
  uint64_t *age;       /* of the warp, and 1, of each warp slot of the machine; 0: nobody is watched there */
  Tally *tally;        /* of each warp slot, in this part of the window: before the second half, or in it */
  Tally memory;        /* the same of what memory holds */
  uint64_t values;     /* new ones of registers in this part of the window, ... */
  GHashTable *held;    /* ... those that `RepetitionSeen` hasn't; borrowed */
  uint32_t of;         /* slot of the warp whose values are counted */
  GHashTable *states;  /* of all warps, and of memory: numbers without a pattern, in place of pointers */
  KernelState *kernel; /* of each launch */
  uint64_t newest;     /* hash of memory, when it was looked at last */
  uint32_t warps;
  bool broken; /* something happened that a state doesn't say */
} Repetition;

static uint32_t slot_of(const Sm *sm, const Warp *warp) { return sm->index * SM_WARPS_MAX + warp->slot; }

static void count(Repetition *repetition, Tally *tally, uint64_t state) {
  tally->seen++;
  tally->new += g_hash_table_add(repetition->states, GSIZE_TO_POINTER(state));
}

static void count_value(gpointer user, uint64_t value) {
  Repetition *repetition = user;
  uint64_t state = bits_mix(bits_mix(repetition->of, UINT64_MAX), value);
  repetition->values += g_hash_table_add(repetition->held, GSIZE_TO_POINTER(state));
}

static void note_issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  Repetition *repetition = user;
  const Warp *warp = point->warp;
  uint32_t slot = slot_of(point->sm, warp);
  uint64_t memory = gpu_memory_hash(repetition->gpu);
  repetition->broken |= repetition->age[slot] != warp->age + 1;
  if (memory != repetition->newest)
    count(repetition, &repetition->memory, bits_mix(UINT64_MAX, memory));
  repetition->newest = memory;
  if (warp->pending || repetition->broken)
    return;
  const KernelState *state = &repetition->kernel[point->block->launch->index];
  uint64_t before = repetition->tally[slot].new;
  count(repetition, &repetition->tally[slot], warp_digest(warp->age + 1, point->sm, warp, state));
  repetition->of = slot;
  if (repetition->tally[slot].new != before)
    warp_values(point->sm, warp, state, count_value, repetition);
}

static void watch_warp(Repetition *repetition, const Sm *sm, const Warp *warp) {
  const Launch *launch = sm->blocks[warp->block_slot].launch;
  kernel_state_init(&repetition->kernel[launch->index], launch->kernel);
  repetition->broken |= repetition->kernel[launch->index].clocked;
  repetition->age[slot_of(sm, warp)] = warp->age + 1;
  repetition->warps++;
}

static void init(Repetition *repetition, Gpu *gpu) {
  gsize slots = (gsize)gpu->machine->gpu.sms * SM_WARPS_MAX;
  *repetition = (Repetition){.gpu = gpu,
                             .age = g_new0(uint64_t, slots),
                             .tally = g_new0(Tally, slots),
                             .states = g_hash_table_new(NULL, NULL),
                             .kernel = g_new0(KernelState, gpu->launches->len),
                             .broken = !host_is_still(gpu->host) || gpu->locks};
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++)
      if (gpu->sms[i].warps[slot].state == WARP_RUNNING || gpu->sms[i].warps[slot].state == WARP_AT_BARRIER)
        watch_warp(repetition, &gpu->sms[i], &gpu->sms[i].warps[slot]);
}

static void clear(Repetition *repetition) {
  for (guint i = 0; i < repetition->gpu->launches->len; i++)
    kernel_state_clear(&repetition->kernel[i]);
  g_hash_table_destroy(repetition->states);
  g_free(repetition->kernel);
  g_free(repetition->tally);
  g_free(repetition->age);
}

static bool repeats(const Tally *tally) { return NEW_PART * tally->new <= tally->seen; }

/* It waits at a barrier all the while. */
static bool stands(const Repetition *repetition, uint32_t slot) {
  const Warp *warp = &repetition->gpu->sms[slot / SM_WARPS_MAX].warps[slot % SM_WARPS_MAX];
  return repetition->tally[slot].seen == 0 && warp->state == WARP_AT_BARRIER;
}

/* Each warp that can issue was seen, and did nothing new, or hardly anything; nor did memory: no word and no register
 * came to a value that it hadn't had in the first half, as a counter does, however seldom. */
static bool all_repeat(const Repetition *repetition) {
  uint32_t slots = repetition->gpu->used_sms * SM_WARPS_MAX;
  for (uint32_t slot = 0; slot < slots; slot++) {
    const Tally *tally = &repetition->tally[slot];
    if (repetition->age[slot] && !stands(repetition, slot) && (tally->seen < SEEN_LEAST || !repeats(tally)))
      return false;
  }
  return repeats(&repetition->memory) && repetition->gpu->new_values == 0 && repetition->values == 0;
}

/* Somebody does one new thing after the other. */
static bool goes_on(const Repetition *repetition) {
  uint32_t slots = repetition->gpu->used_sms * SM_WARPS_MAX;
  for (uint32_t slot = 0; slot < slots; slot++)
    if (repetition->tally[slot].seen >= NEW_MOST && repetition->tally[slot].new == repetition->tally[slot].seen)
      return true;
  return false;
}

static void begin_second_half(Repetition *repetition) {
  memset(repetition->tally, 0, (gsize)repetition->gpu->machine->gpu.sms * SM_WARPS_MAX * sizeof *repetition->tally);
  repetition->memory = (Tally){0};
  repetition->gpu->new_values = 0;
  repetition->values = 0;
}

/* Runs a part of the window. False if it isn't over, or something has come to an end. */
static bool run_part(Repetition *repetition, uint64_t instructions, uint64_t limit_cycles, GpuStop *stop) {
  Gpu *gpu = repetition->gpu;
  uint64_t moved = gpu_moves(gpu);
  *stop = gpu_run(gpu, instructions, limit_cycles);
  return *stop == GPU_BUDGET && gpu_moves(gpu) == moved && !repetition->broken;
}

/* True if the window came to its end. `known`: words and registers have been watched before, and have held nothing
 * else in the first half. */
static bool watch(Repetition *repetition, uint64_t instructions, uint64_t limit_cycles, bool *known, GpuStop *stop) {
  Gpu *gpu = repetition->gpu;
  Probe probe = {.user = repetition, .issued = note_issued};
  gpu_subscribe(gpu, &probe);
  gpu_watch_memory(gpu, true);
  gpu->new_values = 0;
  bool runs = run_part(repetition, instructions / 4, limit_cycles, stop) && !goes_on(repetition) &&
              run_part(repetition, instructions / 4, limit_cycles, stop);
  *known = *known && !repetition->values && !gpu->new_values;
  begin_second_half(repetition);
  runs = runs && run_part(repetition, instructions / 2, limit_cycles, stop);
  gpu_watch_memory(gpu, false);
  gpu_unsubscribe(gpu, &probe);
  return runs;
}

RepetitionSeen *repetition_seen_new(void) {
  RepetitionSeen *seen = g_new0(RepetitionSeen, 1);
  seen->registers = g_hash_table_new(NULL, NULL);
  seen->words = g_hash_table_new(NULL, NULL);
  return seen;
}

void repetition_seen_free(RepetitionSeen *seen) {
  if (!seen)
    return;
  g_hash_table_destroy(seen->registers);
  g_hash_table_destroy(seen->words);
  g_free(seen);
}

bool repetition_watch(Gpu *gpu, RepetitionSeen *seen, uint64_t share, uint64_t limit_cycles, GpuStop *stop) {
  Repetition repetition;
  init(&repetition, gpu);
  uint64_t instructions = WINDOW_LEAST + (uint64_t)WINDOW_PER_WARP * repetition.warps;
  *stop = GPU_BUDGET;
  bool repeats = false, known = seen->repeats > 0;
  if (!repetition.broken && repetition.warps && instructions <= MAX(share, (uint64_t)CIRCLE_SHARE_LEAST)) {
    g_autofree uint64_t *issued = circle_issued(gpu);
    repetition.held = seen->registers;
    gpu->memory_values = seen->words;
    repeats = watch(&repetition, instructions, limit_cycles, &known, stop) && circle_is_performed(gpu, issued) &&
              host_is_still(gpu->host) && all_repeat(&repetition);
    gpu->memory_values = NULL;
    seen->repeats = !repeats ? 0 : known ? seen->repeats + 1 : 1;
  }
  clear(&repetition);
  return repeats;
}
