#include "sim/detect/race/race_observer.h"

/* The newest access under way that the warp of `first` issued before it, and that reads; NULL: there is none. */
static const RaceFlight *newest_before(const RaceFlights *flights, const Access *first) {
  const RaceFlight *newest = NULL;
  for (guint i = 0; i < flights->pool->len; i++) {
    const RaceFlight *flight = g_ptr_array_index(flights->pool, i);
    if (flight->number && flight->moment.view->waits && warp_view_order(flight->moment.view)->actor == first->actor &&
        flight->cycle < first->cycle && (!newest || flight->cycle > newest->cycle))
      newest = flight;
  }
  return newest;
}

bool race_observer_waits(const Step *step, const WarpMoment *moment, const Access *write, const Access *first) {
  const RaceFlight *newest = write->write && step->hands_over ? newest_before(&step->watch->flights, first) : NULL;
  if (!newest)
    return false;
  if (step->watch->observable->len >= HELD_MAX)
    return true;
  ObservableRace held = {.race = step->race[0], .write = *write, .point = *step->point};
  held.point.block = NULL;
  held.point.warp = NULL;
  held.moment = warp_moment_share(moment);
  held.behind = warp_moment_share(&newest->moment);
  g_array_append_val(step->watch->observable, held);
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
  if (race->space != SPACE_GLOBAL || race->word != reading->word || actor != reader->actor ||
      reader->cycle >= cycle || !shadow_observes(reader, write, reading->order))
    return false;
  return !now || !now->lanes[0] || !(lanes & ~reader->lanes) ||
         order_is_before(&reading->step->watch->order, now, lanes, reader, false);
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
  return cell && cell->flag;
}

void race_observer_settle(RaceWatch *watch, bool all) {
  guint kept = 0;
  for (guint i = 0; i < watch->observable->len; i++) {
    ObservableRace *held = &g_array_index(watch->observable, ObservableRace, i);
    bool waits = held->behind.view->waits || warp_moment_waits(&held->behind);
    if (!all && !held->observed && waits) {
      g_array_index(watch->observable, ObservableRace, kept++) = *held;
      continue;
    }
    if (!held->observed && !is_flag(watch, held->race.word))
      tell(watch, held);
    warp_moment_drop(&watch->order.views, &held->moment);
    warp_moment_drop(&watch->order.views, &held->behind);
  }
  g_array_set_size(watch->observable, kept);
}

void race_observer_forget(RaceWatch *watch) {
  for (guint i = 0; i < watch->observable->len; i++) {
    ObservableRace *held = &g_array_index(watch->observable, ObservableRace, i);
    warp_moment_drop(&watch->order.views, &held->moment);
    warp_moment_drop(&watch->order.views, &held->behind);
  }
  g_array_free(watch->observable, TRUE);
}
