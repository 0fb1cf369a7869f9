#include "sim/engine/counter.h"

#include <stddef.h>

#include "base/assert.h"

const CounterInfo counter_info[COUNTER_COUNT] = {
#define COUNTER(name, unit, doc) {#name, unit, doc},
#include "sim/engine/counters.def"
};

static const size_t offsets[COUNTER_COUNT] = {
#define COUNTER(name, unit, doc) offsetof(Counters, name),
#include "sim/engine/counters.def"
};

uint64_t counter_value(const Counters *counters, unsigned index) {
  LS_REQUIRE("counter-index", index < COUNTER_COUNT);
  return *(const uint64_t *)((const char *)counters + offsets[index]);
}
