#include "sim/engine/counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

static bool is_largest(unsigned index) {
  return index == COUNTER_shared_bytes || index == COUNTER_shared_bytes_beyond_data || index == COUNTER_lock_bits;
}

void counters_add(Counters *sum, Counters *counted) {
  for (unsigned i = 0; i < COUNTER_COUNT; i++) {
    uint64_t *to = (uint64_t *)(void *)((char *)sum + offsets[i]), value = counter_value(counted, i);
    if (is_largest(i))
      *to = *to > value ? *to : value;
    else
      *to += value;
  }
  memset(counted, 0, sizeof *counted);
}
