/* counter.h - the statistics of a run, from counters.def. */
#ifndef LOCKSTEP_ENGINE_COUNTER_H
#define LOCKSTEP_ENGINE_COUNTER_H

#include <stdint.h>

typedef struct Counters {
#define COUNTER(name, unit, doc) uint64_t name;
#include "sim/engine/counters.def"
} Counters;

typedef struct CounterInfo {
  const char *name, *unit, *doc;
} CounterInfo;

enum {
#define COUNTER(name, unit, doc) COUNTER_##name,
#include "sim/engine/counters.def"
  COUNTER_COUNT
};

extern const CounterInfo counter_info[COUNTER_COUNT];

/* Adds what was counted to `sum`, and clears it. Of the largest of something the larger one stays. */
void counters_add(Counters *sum, Counters *counted);
/* The value of counter `index` (COUNTER_...). */
uint64_t counter_value(const Counters *counters, unsigned index);

#endif
