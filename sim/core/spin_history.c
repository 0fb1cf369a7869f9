#include "sim/core/spin_history.h"

#include <string.h>

#include "sim/core/state.h"

bool spin_history_notes(Opcode op) {
  return op == OP_ISETP || op == OP_ISETP64 || op == OP_ISETPX || op == OP_FSETP || op == OP_DSETP || op == OP_HSETP2;
}

static uint32_t hashed(uint64_t value, uint32_t bits) {
  uint64_t hash = 0;
  for (; value; value >>= bits)
    hash ^= value & ((UINT64_C(1) << bits) - 1);
  return (uint32_t)hash;
}

/* What the operand holds in the lane. */
static uint64_t value_of(const Issue *issue, int16_t slot, uint32_t lane) {
  bool wide = issue->inst->op == OP_ISETP64 || issue->inst->op == OP_DSETP;
  const uint32_t *row = issue_operand(issue, slot);
  uint64_t high = wide && slot >= 0 ? row[WARP_LANES + lane] : 0;
  return high << 32 | row[lane];
}

static bool same_values(const uint32_t a[2], const uint32_t b[2]) { return a[0] == b[0] && a[1] == b[1]; }

/* How far back the nearest entry of that place is. */
static uint32_t nearest(const SpinHistory *history, uint32_t path) {
  for (uint32_t i = 0; i < history->count; i++)
    if (history->path[i] == path)
      return i + 1;
  return 0;
}

void spin_history_add(SpinHistory *history, const Issue *issue) {
  uint32_t bits = issue->gpu->machine->sm.spin_backoff.hash_bits, room = issue->gpu->machine->sm.spin_backoff.history;
  uint32_t lane = (uint32_t)__builtin_ctz(issue->mask), path = hashed(issue->pc, bits);
  uint32_t values[2] = {hashed(value_of(issue, issue->inst->a, lane), bits),
                        hashed(value_of(issue, issue->inst->b, lane), bits)};
  if (history->lane != lane)
    *history = (SpinHistory){.lane = lane};
  uint32_t period = history->period;
  if (!period || history->path[period - 1] != path) {
    history->period = period = nearest(history, path);
    history->matched = 0;
  }
  if (period)
    history->matched = same_values(history->values[period - 1], values) ? history->matched + 1 : 0;
  history->count = MIN(history->count + 1, room);
  memmove(&history->path[1], &history->path[0], (history->count - 1) * sizeof history->path[0]);
  memmove(&history->values[1], &history->values[0], (history->count - 1) * sizeof history->values[0]);
  history->path[0] = path;
  history->values[0][0] = values[0];
  history->values[0][1] = values[1];
}
