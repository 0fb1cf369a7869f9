#include "sim/detect/race/race_observer.h"

bool race_observer_waits(const Step *step, const WarpMoment *moment, const Access *write, const Access *first) {
  RaceWatch *watch = step->watch;
  const RaceFlight *newest =
      write->write && step->hands_over
          ? race_flight_newest(&watch->flights, &watch->order, first->actor, first->lanes, first->cycle)
          : NULL;
  if (!newest)
    return false;
  if (watch->observable->len >= HELD_MAX)
    return true;
  ObservableRace held = {.race = step->race[0], .write = *write, .point = *step->point};
  held.point.block = NULL;
  held.point.warp = NULL;
  held.moment = warp_moment_share(moment);
  held.behind = warp_moment_share(&newest->moment);
  g_array_append_val(watch->observable, held);
  return true;
}

void race_observer_performed(RaceWatch *watch, uint32_t number, uint32_t chain) {
  for (guint i = 0; i < watch->observable->len; i++) {
    Access *write = &g_array_index(watch->observable, ObservableRace, i).write;
    if (!write->flying || write->chain != number)
      continue;
    write->flying = write->open = false;
    write->chain = chain;
  }
}

/* Who reads a word, and what it has observed. */
typedef struct Reading {
  const Step *step;
  const WarpOrder *now;
  const AccessOrder *order;
  Access reader;
  uint64_t word;
} Reading;

/* What lanes of the warp `actor` issued in a cycle comes behind the reading, which has observed `write`. */
static bool is_between(const Reading *reading, const Race *race, const Access *write, uint32_t actor, uint32_t lanes,
                       uint64_t cycle) {
  const Access *reader = &reading->reader;
  const WarpOrder *now = reading->now;
  const RaceOrder *order = &reading->step->watch->order;
  if (race->space != SPACE_GLOBAL || race->word != reading->word ||
      !race_flight_is_before(order, reader, actor, lanes, cycle) || !shadow_observes(reader, write, reading->order))
    return false;
  return actor != reader->actor || !now || !now->lanes[0] || !(lanes & ~reader->lanes) ||
         order_is_before(order, now, lanes, reader, false);
}

void race_observer_reads(const Step *step, const WarpOrder *now, const Group *group, const Access *access,
                         const AccessOrder *order) {
  Reading reading = {step, now, order, *access, race_words_number(step, group->word)};
  RaceWatch *watch = step->watch;
  for (guint i = 0; i < watch->observable->len; i++) {
    ObservableRace *race = &g_array_index(watch->observable, ObservableRace, i);
    const Access *first = &race->race.with;
    race->observed |= is_between(&reading, &race->race, &race->write, first->actor, first->lanes, first->cycle);
  }
  for (guint i = 0; i < watch->held->len; i++) {
    HeldRace *held = &g_array_index(watch->held, HeldRace, i);
    held->observed |=
        is_between(&reading, &held->race, &held->race.with, held->actor, held->race.lanes, held->point.cycle);
  }
}

static void tell(RaceWatch *watch, ObservableRace *held) {
  WarpOrder then = warp_moment_order(&held->moment);
  RaceAccess access = {.space = SPACE_GLOBAL, .kind = held->race.write ? ACCESS_WRITE : ACCESS_READ};
  Step step;
  race_words_begin(&step, watch, &held->point, &then, &access);
  step.race[step.races++] = held->race;
  race_words_tell(&step, &held->moment);
}

static bool is_flag(const RaceWatch *watch, uint64_t word) {
  const Cell *cell = shadow_cell((Shadow *)&watch->shadow[SPACE_GLOBAL], word);
  return cell && cell->whole.flag;
}

static void drop(RaceWatch *watch, ObservableRace *held) {
  warp_moment_drop(&watch->order.views, &held->moment);
  if (held->behind.view)
    warp_moment_drop(&watch->order.views, &held->behind);
}

void race_observer_settle(RaceWatch *watch, bool all) {
  guint kept = 0;
  for (guint i = 0; i < watch->observable->len; i++) {
    ObservableRace *held = &g_array_index(watch->observable, ObservableRace, i);
    const Access *first = &held->race.with;
    if (!all && !held->observed &&
        race_flight_still_reads(&watch->flights, &watch->order, &held->behind, first->actor, first->lanes,
                                first->cycle)) {
      g_array_index(watch->observable, ObservableRace, kept++) = *held;
      continue;
    }
    if (!held->observed && !is_flag(watch, held->race.word))
      tell(watch, held);
    drop(watch, held);
  }
  g_array_set_size(watch->observable, kept);
}

void race_observer_forget(RaceWatch *watch) {
  for (guint i = 0; i < watch->observable->len; i++)
    drop(watch, &g_array_index(watch->observable, ObservableRace, i));
  g_array_free(watch->observable, TRUE);
}
