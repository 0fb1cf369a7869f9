#include "sim/detect/proof/settle.h"

enum { WINDOW_INSTRUCTIONS = 1000, WINDOW_PER_WARP = 64 };

void settle_clear(Settle *settle) {
  if (settle->issued)
    g_hash_table_destroy(settle->issued);
  settle->issued = NULL;
}

/* For each warp slot of the machine: where its warp stood, or NULL. */
static uint8_t **list_warps(Settle *settle, const Gpu *gpu, unsigned *count) {
  uint8_t **places = g_new0(uint8_t *, (gsize)gpu->machine->gpu.sms * SM_WARPS_MAX);
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].ready && slot < gpu->machine->sm.max_warps; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING && warp->state != WARP_AT_BARRIER)
        continue;
      const Launch *launch = warp_block(&gpu->sms[i], warp)->launch;
      uint8_t *issued = g_new0(uint8_t, launch->kernel->ninsts);
      issued[warp->pc] = 1;
      g_hash_table_insert(settle->issued, warp, issued);
      places[i * SM_WARPS_MAX + slot] = issued;
      ++*count;
    }
  return places;
}

static void note_issued(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  uint8_t **places = user, *issued = places[point->sm->index * SM_WARPS_MAX + point->warp->slot];
  if (issued)
    issued[point->pc] = 1;
}

GpuStop settle_watch(Settle *settle, Gpu *gpu, uint64_t limit_cycles) {
  settle_clear(settle);
  *settle = (Settle){.issued = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
  unsigned count = 0;
  uint8_t **places = list_warps(settle, gpu, &count);
  Probe probe = {.user = places, .issued = note_issued};
  gpu_subscribe(gpu, &probe);
  GpuStop stop = gpu_run(gpu, WINDOW_INSTRUCTIONS + (uint64_t)WINDOW_PER_WARP * count, limit_cycles);
  gpu_unsubscribe(gpu, &probe);
  g_free(places);
  return stop;
}

bool settle_done(const Settle *settle, const Explorer *explorer) {
  for (guint i = 0; i < explorer->views->len; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    const uint8_t *issued = settle->issued ? g_hash_table_lookup(settle->issued, view->warp) : NULL;
    for (uint32_t pc = 0; pc < view->launch->kernel->ninsts; pc++)
      if (view->explored[pc] && !(issued && issued[pc]))
        return false;
  }
  return true;
}
