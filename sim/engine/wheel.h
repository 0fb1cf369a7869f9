/* wheel.h - a timing wheel for up to WARP_SET_MAX sleepers, numbered from 0: who wakes in which cycle.
 * Insert, and the step to the next waking cycle, cost a few instructions. Who sleeps beyond the wheel's span stays
 * outside until it comes within it, so that a long wait (a contended memory) costs nothing in between. Exact: nobody
 * wakes early or late. */
#ifndef LOCKSTEP_ENGINE_WHEEL_H
#define LOCKSTEP_ENGINE_WHEEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sim/engine/warp_set.h"

enum { WHEEL_SPAN = 64 };
#define WHEEL_NEVER UINT64_MAX

typedef struct Wheel {
  WarpSet slot[WHEEL_SPAN];    /* sleepers to look at in that cycle modulo the span */
  uint64_t occupied;           /* bit i: slot i isn't empty */
  uint64_t wake[WARP_SET_MAX]; /* the cycle each sleeper really wakes */
  uint64_t now;                /* all slots before this cycle were drained */
  WarpSet far;                 /* sleepers that aren't in a slot: they wake at now + WHEEL_SPAN or later */
  uint64_t far_next;           /* the first of their wakings, WHEEL_NEVER if there are none */
} Wheel;

static inline void wheel_init(Wheel *wheel) {
  memset(wheel, 0, sizeof *wheel);
  wheel->far_next = WHEEL_NEVER;
}

static inline void wheel_put(Wheel *wheel, unsigned sleeper, uint64_t at) {
  uint32_t index = (uint32_t)(at % WHEEL_SPAN);
  warp_set_add(&wheel->slot[index], sleeper);
  wheel->occupied |= UINT64_C(1) << index;
}

/* Sleeper wakes in cycle `time`, at once if that has passed. It must not be asleep already. */
static inline void wheel_insert(Wheel *wheel, unsigned sleeper, uint64_t time) {
  if (time < wheel->now)
    time = wheel->now;
  wheel->wake[sleeper] = time;
  if (time - wheel->now < WHEEL_SPAN) {
    wheel_put(wheel, sleeper, time);
    return;
  }
  warp_set_add(&wheel->far, sleeper);
  if (time < wheel->far_next)
    wheel->far_next = time;
}

/* Sleeper, which must be asleep, won't wake. */
static inline void wheel_remove(Wheel *wheel, unsigned sleeper) {
  if (warp_set_has(wheel->far, sleeper)) {
    warp_set_remove(&wheel->far, sleeper);
    wheel->far_next = WHEEL_NEVER;
    for (WarpSet rest = wheel->far; rest; rest = warp_set_rest(rest)) {
      uint64_t wake = wheel->wake[warp_set_first(rest)];
      wheel->far_next = wake < wheel->far_next ? wake : wheel->far_next;
    }
    return;
  }
  uint32_t index = (uint32_t)(wheel->wake[sleeper] % WHEEL_SPAN);
  warp_set_remove(&wheel->slot[index], sleeper);
  if (!wheel->slot[index])
    wheel->occupied &= ~(UINT64_C(1) << index);
}

/* Takes into the wheel who has come within its span. */
static inline void wheel_fetch(Wheel *wheel) {
  WarpSet far = wheel->far;
  wheel->far = 0;
  wheel->far_next = WHEEL_NEVER;
  for (; far; far = warp_set_rest(far)) {
    unsigned sleeper = warp_set_first(far);
    wheel_insert(wheel, sleeper, wheel->wake[sleeper]);
  }
}

/* The first cycle >= now whose slot isn't empty, or WHEEL_NEVER. */
static inline uint64_t wheel_near(const Wheel *wheel) {
  uint32_t start = (uint32_t)(wheel->now % WHEEL_SPAN);
  uint64_t ahead = wheel->occupied >> start | wheel->occupied << (-start % WHEEL_SPAN);
  return ahead ? wheel->now + (uint32_t)__builtin_ctzll(ahead) : WHEEL_NEVER;
}

/* The first cycle in which somebody wakes, or WHEEL_NEVER. */
static inline uint64_t wheel_next(const Wheel *wheel) {
  uint64_t near = wheel_near(wheel);
  return near < wheel->far_next ? near : wheel->far_next;
}

/* Empties the slots up to cycle `time` and moves there. */
static inline WarpSet wheel_drain(Wheel *wheel, uint64_t time) {
  WarpSet woken = 0;
  for (uint64_t next = wheel_near(wheel); next <= time; next = wheel_near(wheel)) {
    uint32_t index = (uint32_t)(next % WHEEL_SPAN);
    woken |= wheel->slot[index];
    wheel->slot[index] = 0;
    wheel->occupied &= ~(UINT64_C(1) << index);
    wheel->now = next;
    if (next == time)
      break;
  }
  wheel->now = time;
  return woken;
}

/* Moves to cycle `time` (>= now) and returns the set of sleepers that wake in a cycle <= time. */
static inline WarpSet wheel_advance(Wheel *wheel, uint64_t time) {
  WarpSet woken = wheel_drain(wheel, time);
  if (wheel->far_next < time + WHEEL_SPAN) {
    wheel_fetch(wheel);
    woken |= wheel_drain(wheel, time); /* who should have woken by now was put into this cycle */
  }
  return woken;
}

#endif
