#include "sim/detect/proof/settle.h"

/* For each warp, those at a barrier included, but no more than so many for each that may issue. */
enum { WINDOW_INSTRUCTIONS = 1000, WINDOW_PER_WARP = 64, WINDOW_PER_RUNNING = 128 };

void settle_clear(Settle *settle) {
  if (settle->seen)
    g_hash_table_destroy(settle->seen);
  settle->seen = NULL;
}

/* Where one warp was seen. Its slot may pass to a warp of another kernel, which has another age. */
typedef struct Seen {
  uint64_t age;
  uint32_t issued[]; /* bit pc: it issued that instruction, or stood there at first */
} Seen;

static void note_place(Seen *seen, uint32_t pc) { seen->issued[pc / 32] |= 1u << pc % 32; }

/* For each warp slot of the machine: where its warp stood, or NULL. */
static Seen **list_warps(Settle *settle, const Gpu *gpu, unsigned *count, unsigned *running) {
  Seen **places = g_new0(Seen *, (gsize)gpu->machine->gpu.sms * SM_WARPS_MAX);
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    for (uint32_t slot = 0; slot < gpu->sms[i].warp_slots; slot++) {
      Warp *warp = &gpu->sms[i].warps[slot];
      if (warp->state != WARP_RUNNING && warp->state != WARP_AT_BARRIER)
        continue;
      const Launch *launch = warp_block(&gpu->sms[i], warp)->launch;
      Seen *seen = g_malloc0(sizeof *seen + (launch->kernel->ninsts / 32 + 1) * sizeof *seen->issued);
      seen->age = warp->age;
      note_place(seen, warp->pc);
      g_hash_table_insert(settle->seen, warp, seen);
      places[i * SM_WARPS_MAX + slot] = seen;
      ++*count;
      *running += warp->state == WARP_RUNNING;
    }
  return places;
}

static void note_issued(void *user, const ProbePoint *point, uint64_t until) {
  Seen **places = user, *seen = places[point->sm->index * SM_WARPS_MAX + point->warp->slot];
  if (seen && seen->age == point->warp->age)
    note_place(seen, point->pc);
}

GpuStop settle_watch(Settle *settle, Gpu *gpu, uint64_t limit_cycles) {
  settle_clear(settle);
  *settle = (Settle){.seen = g_hash_table_new_full(NULL, NULL, NULL, g_free)};
  unsigned count = 0, running = 0;
  Seen **places = list_warps(settle, gpu, &count, &running);
  uint64_t window = MIN((uint64_t)WINDOW_PER_WARP * count, (uint64_t)WINDOW_PER_RUNNING * running);
  Probe probe = {.user = places, .issued = note_issued};
  gpu_subscribe(gpu, &probe);
  GpuStop stop = gpu_run(gpu, WINDOW_INSTRUCTIONS + window, limit_cycles);
  gpu_unsubscribe(gpu, &probe);
  g_free(places);
  return stop;
}

bool settle_done(const Settle *settle, const Explorer *explorer) {
  for (guint i = 0; i < explorer->views->len; i++) {
    const WarpView *view = g_ptr_array_index(explorer->views, i);
    const Seen *seen = settle->seen ? g_hash_table_lookup(settle->seen, view->warp) : NULL;
    bool known = seen && seen->age == view->warp->age;
    for (uint32_t pc = 0; pc < view->launch->kernel->ninsts; pc++)
      if (view_explored(view, pc) && !(known && seen->issued[pc / 32] >> pc % 32 & 1))
        return false;
  }
  return true;
}
