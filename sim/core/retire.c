#include "sim/core/retire.h"

#include "sim/engine/milli.h"

typedef struct Exit {
  uint64_t cycle;
  guint launch;
} Exit;

void retire_note(Sm *sm, const Launch *launch, uint64_t now) {
  if (!sm->gpu->machine->grid.retire_interval)
    return;
  if (!sm->exits)
    sm->exits = g_array_new(FALSE, FALSE, sizeof(Exit));
  Exit exit = {now, launch->index};
  g_array_append_val(sm->exits, exit);
}

static int by_cycle(gconstpointer a, gconstpointer b) {
  uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
  return (one > other) - (one < other);
}

/* Moves the exits of the launch's blocks from an SM to `cycles`. */
static void take_exits(Sm *sm, const Launch *launch, GArray *cycles) {
  guint kept = 0;
  for (guint i = 0; i < sm->exits->len; i++) {
    Exit *exit = &g_array_index(sm->exits, Exit, i);
    if (exit->launch == launch->index)
      g_array_append_val(cycles, exit->cycle);
    else
      g_array_index(sm->exits, Exit, kept++) = *exit;
  }
  g_array_set_size(sm->exits, kept);
}

uint64_t retire_end(Gpu *gpu, const Launch *launch) {
  Milli interval = gpu->machine->grid.retire_interval;
  if (!interval)
    return 0;
  g_autoptr(GArray) cycles = g_array_new(FALSE, FALSE, sizeof(uint64_t));
  for (uint32_t i = 0; i < gpu->used_sms; i++)
    if (gpu->sms[i].exits)
      take_exits(&gpu->sms[i], launch, cycles);
  g_array_sort(cycles, by_cycle);
  uint64_t heard = 0, free_at = 0;
  for (guint i = 0; i < cycles->len; i++) {
    heard = MAX(free_at, milli_of(g_array_index(cycles, uint64_t, i)));
    free_at = heard + interval;
  }
  return milli_cycle(heard);
}
