#include "sim/detect/settle.h"

enum { WINDOW_INSTRUCTIONS = 1000, WINDOW_PER_WARP = 64 };

typedef struct Place {
  const Warp *warp;
  uint8_t *issued;
} Place;

void settle_clear(Settle *settle) {
  if (settle->issued)
    g_hash_table_destroy(settle->issued);
  settle->issued = NULL;
}

static GArray *list_warps(Settle *settle, const Gpu *gpu) {
  GArray *places = g_array_new(FALSE, FALSE, sizeof(Place));
  for (uint32_t i = 0; i < gpu->machine->gpu.sms; i++)
    for (uint32_t slot = 0; gpu->sms[i].ready && slot < gpu->machine->sm.max_warps; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING && warp->state != WARP_AT_BARRIER)
        continue;
      const Launch *launch = warp_block(&gpu->sms[i], warp)->launch;
      Place place = {warp, g_new0(uint8_t, launch->kernel->ninsts)};
      g_hash_table_insert(settle->issued, warp, place.issued);
      g_array_append_val(places, place);
    }
  return places;
}

GpuStop settle_watch(Settle *settle, Gpu *gpu, uint64_t limit_cycles) {
  settle_clear(settle);
  *settle = (Settle){.issued = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
  GArray *places = list_warps(settle, gpu);
  uint64_t window = WINDOW_INSTRUCTIONS + (uint64_t)WINDOW_PER_WARP * places->len;
  GpuStop stop = GPU_BUDGET;
  for (uint64_t i = 0; i < window && stop == GPU_BUDGET; i++) {
    for (guint k = 0; k < places->len; k++) {
      const Place *place = &g_array_index(places, Place, k);
      place->issued[place->warp->pc] = 1;
    }
    stop = gpu_run(gpu, 1, limit_cycles);
  }
  g_array_free(places, TRUE);
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
