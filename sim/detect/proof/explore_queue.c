/* ENQUEUE and DEQUEUE of one lane: whatever the queue's word may hold, and its slots. */
#include "sim/core/queue_unit.h"
#include "sim/detect/proof/explore_step.h"

/* Values that a lane may take are told apart up to so many. */
enum { TAKEN_TOLD_APART = 8 };

typedef struct Taken {
  uint32_t count, value[TAKEN_TOLD_APART];
} Taken;

typedef struct QueueWalk {
  LaneWalk *walk;
  const LaneState *state;
  const Inst *inst;
  const Place *place;
  bool brings, known; /* it puts a value, which is known */
  uint32_t value;
} QueueWalk;

/* The lane goes on with that result. */
static void go_on(const QueueWalk *queue, bool done, bool known, uint32_t value) {
  const Inst *inst = queue->inst;
  LaneSpace after;
  lane_state_copy(&after.state, queue->state, walk_nregs(queue->walk));
  explore_set_register(queue->walk, &after.state, inst->dst, !known, value);
  if (!queue->brings)
    explore_set_register(queue->walk, &after.state, inst->dst + 1, false, done);
  explore_go_on(queue->walk, &after.state, inst, after.state.pc + 1);
}

static void put_value(const QueueWalk *queue, uint32_t slot) {
  if (queue->known)
    explore_store_value(queue->walk, queue->state->pc, queue->place->key + slot, queue->value);
  else
    explore_store_unknown(queue->walk, queue->state->pc, queue->place->key + slot);
}

/* The values of that slot join `taken`. False if they aren't known, or too many. */
static bool take_values(const QueueWalk *queue, uint32_t slot, Taken *taken) {
  WordKey key = queue->place->key + slot;
  const ValueSet *set = explore_read(queue->walk, key, queue->state->pc);
  if (explore_may_be_anything(queue->walk, set, key))
    return false;
  for (uint32_t i = 0; i < set->count; i++) {
    uint32_t known = 0;
    while (known < taken->count && taken->value[known] != set->value[i])
      known++;
    if (known < taken->count)
      continue;
    if (taken->count == TAKEN_TOLD_APART)
      return false;
    taken->value[taken->count++] = set->value[i];
  }
  return true;
}

/* Nothing is known of the queue's word: any slot may be the next. */
static void change_any(const QueueWalk *queue, uint32_t slots) {
  explore_store_unknown(queue->walk, queue->state->pc, queue->place->key);
  for (uint32_t slot = 1; slot <= slots && queue->brings; slot++)
    put_value(queue, slot);
  for (uint32_t slot = 1; slot <= slots && !queue->brings; slot++)
    explore_read(queue->walk, queue->place->key + slot, queue->state->pc);
  go_on(queue, false, true, 0);
  go_on(queue, true, queue->brings, queue->brings);
}

/* The values that the queue's word may hold, one by one. */
static void change_each(const QueueWalk *queue, const uint32_t *words, uint32_t count, uint32_t bytes) {
  bool fails = false, done = false, all_known = true;
  Taken taken = {0};
  for (uint32_t i = 0; i < count; i++) {
    QueueStep step = queue_unit_step(queue->inst, words[i], bytes);
    fails |= !step.done;
    if (!step.done)
      continue;
    done = true;
    if (queue->brings)
      put_value(queue, step.slot);
    else
      all_known &= take_values(queue, step.slot, &taken);
    explore_store_value(queue->walk, queue->state->pc, queue->place->key, step.word);
  }
  if (fails)
    go_on(queue, false, true, 0);
  if (done && queue->brings)
    go_on(queue, true, true, 1);
  else if (done && !all_known)
    go_on(queue, true, false, 0);
  for (uint32_t i = 0; done && !queue->brings && all_known && i < taken.count; i++)
    go_on(queue, true, true, taken.value[i]);
}

void explore_queue(LaneWalk *walk, const LaneState *state, const Inst *inst, const Place *place) {
  uint32_t bytes = walk->explorer->gpu->machine->memory.queue.bytes, words[VALUES_MAX];
  QueueWalk queue = {walk, state, inst, place, .brings = inst->op == OP_ENQUEUE};
  queue.known = queue.brings && explore_operand(walk, state, inst, false, 0, &queue.value);
  for (uint32_t word = 0; word < bytes / 4; word++)
    explore_update_copy(walk, inst, place, place->key + word, true, 0);
  const ValueSet *set = explore_read(walk, place->key, state->pc);
  if (explore_may_be_anything(walk, set, place->key)) {
    change_any(&queue, bytes / 4 - 1);
    return;
  }
  uint32_t count = set->count; /* what the lane changes joins the set */
  memcpy(words, set->value, count * sizeof *words);
  change_each(&queue, words, count, bytes);
}
