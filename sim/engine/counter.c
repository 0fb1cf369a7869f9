#include "sim/engine/counter.h"

#include <glib.h>
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

void counters_add(Counters *sum, Counters *counted) {
  const Counters largest = {.shared_bytes = MAX(sum->shared_bytes, counted->shared_bytes),
                            .shared_bytes_beyond_data =
                                MAX(sum->shared_bytes_beyond_data, counted->shared_bytes_beyond_data),
                            .lock_bits = MAX(sum->lock_bits, counted->lock_bits)};
#define COUNTER(name, unit, doc) sum->name += counted->name;
#include "sim/engine/counters.def"
  sum->shared_bytes = largest.shared_bytes;
  sum->shared_bytes_beyond_data = largest.shared_bytes_beyond_data;
  sum->lock_bits = largest.lock_bits;
  memset(counted, 0, sizeof *counted);
}
