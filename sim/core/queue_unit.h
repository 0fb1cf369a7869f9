/* queue_unit.h - queues in global memory that a unit in hardware works on (memory.queue): ENQUEUE and DEQUEUE.
 * A queue takes memory.queue.bytes at a multiple of these, so that it lies in one line: its word, and slots of a word
 * each behind it. The word has, from its lowest bits on, 8 bits each: head (the slot of the oldest value), count (how
 * many values there are), capacity (how many slots are used, at least 1, at most those behind the word); the highest
 * 8 are 0. Another word, as that of memory full of zeros, is of a queue that is full and empty at once.
 * ENQUEUE: if count < capacity, the value goes to slot (head + count) % capacity, and count rises. DEQUEUE: if count
 * isn't 0, the value of slot `head` is taken, head goes on to the next one, and count falls. Both are one atomic
 * operation, relaxed and of the GPU's scope, which reads all words of the queue; one that fails changes none.
 * Source: Stuart and Owens, section 7, ask for enqueue() and dequeue(); all of the above is ours. */
#ifndef LOCKSTEP_CORE_QUEUE_UNIT_H
#define LOCKSTEP_CORE_QUEUE_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/program.h"

/* What an operation does. */
typedef struct QueueStep {
  bool done;     /* there was room, or a value */
  uint32_t word; /* of the queue, afterwards */
  uint32_t slot; /* that is written or read, in words behind the queue's; 0: none */
} QueueStep;

static inline bool queue_unit_has(const Inst *inst) { return inst->op == OP_ENQUEUE || inst->op == OP_DEQUEUE; }

/* True of the word of a queue that takes so many bytes. */
bool queue_unit_is_queue(uint32_t word, uint32_t bytes);
/* The operation on a queue of so many bytes whose word is `word`. */
QueueStep queue_unit_step(const Inst *inst, uint32_t word, uint32_t bytes);

#endif
