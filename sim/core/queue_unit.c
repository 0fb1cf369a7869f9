#include "sim/core/queue_unit.h"

bool queue_unit_is_queue(uint32_t word, uint32_t bytes) {
  uint32_t head = word & 0xff, count = word >> 8 & 0xff, capacity = word >> 16;
  return capacity <= bytes / 4 - 1 && capacity <= 0xff && head < capacity && count <= capacity;
}

QueueStep queue_unit_step(const Inst *inst, uint32_t word, uint32_t bytes) {
  uint32_t head = word & 0xff, count = word >> 8 & 0xff, capacity = word >> 16;
  QueueStep step = {.word = word};
  if (!queue_unit_is_queue(word, bytes))
    return step;
  bool puts = inst->op == OP_ENQUEUE;
  step.done = puts ? count < capacity : count > 0;
  if (!step.done)
    return step;
  step.slot = 1 + (puts ? (head + count) % capacity : head);
  head = puts ? head : (head + 1) % capacity;
  count = puts ? count + 1 : count - 1;
  step.word = head | count << 8 | capacity << 16;
  return step;
}
