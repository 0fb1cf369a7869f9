#include "sim/detect/race/race_reliance.h"

#include <string.h>

#include "sim/core/place.h"
#include "sim/detect/race/guesses.h"
#include "sim/detect/race/polling.h"
#include "sim/detect/race/race_older.h"

/* Its polling loads and guesses, together. */
static bool *find_waits(const Kernel *kernel) {
  bool *waits = polling_waits(kernel);
  g_autofree bool *guesses = guesses_find(kernel);
  if (!waits)
    return g_steal_pointer(&guesses);
  for (uint32_t pc = 0; guesses && pc < kernel->ninsts; pc++)
    waits[pc] |= guesses[pc];
  return waits;
}

/* A load that waits in a loop, or is tried again, sees the write sooner or later; what is only a guess needn't. */
bool race_reliance_waits(RaceWatch *watch, const Kernel *kernel, uint32_t pc) {
  gpointer polls;
  if (!g_hash_table_lookup_extended(watch->waits, kernel, NULL, &polls)) {
    polls = find_waits(kernel);
    g_hash_table_insert(watch->waits, (gpointer)kernel, polls);
  }
  return polls && ((const bool *)polls)[pc];
}

static bool waits(const Step *step) {
  const Kernel *kernel = gpu_launch(step->point->gpu, step->warp->base.launch)->kernel;
  return race_reliance_waits(step->watch, kernel, step->point->pc);
}

/* Hand-offs are kept by warps: what one lane hands on to another of its warp, or with the very store that it made,
 * isn't known to be what a third lane did. */
static bool may_be_of_another_lane(const Step *step, const Access *earlier) {
  return earlier->actor == step->warp->actor || earlier->pc == order_newest_handed(step->warp)->from;
}

/* Of shared memory, handed on by way of global memory: that takes many times as long as a store to shared memory,
 * which all of its block see in the order of its SM, and no machine is known where it wouldn't be there. */
static bool came_round(const Step *step, const Access *write, uint32_t lanes) {
  if (step->access->space != SPACE_SHARED)
    return false;
  const HandOver *handed = order_handed_by(step->warp, write, lanes);
  if (!handed || handed->writer == THREAD_LAUNCH_HOST)
    return handed != NULL;
  ThreadId by = g_array_index(step->watch->order.actors, ThreadId, handed->actor);
  const Kernel *kernel = gpu_launch(step->point->gpu, handed->writer)->kernel;
  return !thread_same_block(by, step->warp->base) || place_space(&kernel->insts[handed->from]) == MEM_GLOBAL;
}

/* What the load might have given instead of what `write` left; if it has missed that, the run shows it. */
static void add_older(Race *race, const OlderReading *older, const Access *write) {
  race->older_loads = race->missed;
  const OlderLoad *newest = older->load;
  if (race->missed || !older->loads || newest->writer != write->actor || newest->time != write->time ||
      newest->pc != write->pc)
    return;
  race->older_loads = older->loads;
  memcpy(race->older, older->load, sizeof race->older);
}

/* `access` has read its word in a cell. */
static void relies_on(Step *step, const Cell *cell, uint64_t word, const Access *access, const OlderReading *older) {
  Access reader = *access, found;
  reader.lanes &= step->warp->handed_lanes;
  Question question = {step, reader.lanes};
  AccessOrder order = race_words_order(step, &question);
  bool missed;
  if (!step->warp->was_handed || !reader.lanes || !shadow_relies(cell, &reader, &order, &found, &missed) ||
      (older->alike && !missed) || waits(step) || may_be_of_another_lane(step, &found) ||
      came_round(step, &found, reader.lanes))
    return;
  unsigned before = step->races;
  reader.write = false;
  race_words_add(step, word, 1, &reader, &found, race_words_missing_fence(&step->watch->order, step->warp, &found));
  if (step->races == before)
    return;
  step->race[before].missed = missed;
  add_older(&step->race[before], older, &found);
}

void race_reliance_check(Step *step, const RaceFlight *flight) {
  if (!step->warp->fences || step->access->kind != ACCESS_READ || thread_is_host(step->warp->base))
    return;
  bool held = flight && flight->before.view && warp_moment_waits(&flight->before) &&
              step->watch->readings->len + step->groups <= HELD_MAX;
  for (unsigned i = 0; i < step->groups; i++) {
    const Group *group = &step->group[i];
    Access access = race_words_access(step, group->lanes, group->bytes, false);
    access.chain = shadow_chain(group->cell, group->bytes);
    OlderReading older = race_older_before(step, group);
    if (!held) {
      relies_on(step, group->cell, group->word, &access, &older);
      continue;
    }
    HeldReading reading = {.word = group->word,
                           .access = access,
                           .older = older,
                           .point = *step->point,
                           .before = warp_moment_share(&flight->before)};
    g_array_append_val(step->watch->readings, reading);
  }
}

void race_reliance_settle(RaceWatch *watch, bool all) {
  guint kept = 0;
  for (guint i = 0; i < watch->readings->len; i++) {
    HeldReading *reading = &g_array_index(watch->readings, HeldReading, i);
    if (!all && warp_moment_waits(&reading->before)) {
      g_array_index(watch->readings, HeldReading, kept++) = *reading;
      continue;
    }
    WarpOrder then = warp_moment_order(&reading->before);
    RaceAccess access = {.space = SPACE_GLOBAL, .kind = ACCESS_READ};
    Step step;
    race_words_begin(&step, watch, &reading->point, &then, &access);
    const Cell *cell = shadow_cell(race_words_shadow(&step), reading->word);
    if (cell)
      relies_on(&step, cell, reading->word, &reading->access, &reading->older);
    race_words_tell(&step, &reading->before);
    warp_moment_drop(&watch->order.views, &reading->before);
  }
  g_array_set_size(watch->readings, kept);
}
