#include "sim/core/locks.h"

#include "sim/memory/lock_queue.h"

static bool is_try(const Flight *flight) { return flight->inst->mode == ATOM_CAS; }

static uint32_t word_at(const Gpu *gpu, const Flight *flight, unsigned lane) {
  uint64_t address = flight->request.address[lane];
  const BackingBuffer *buffer = flight->buffer ? flight->buffer : backing_find(gpu->backing, address, 4);
  return buffer->data[(address - buffer->base) / 4];
}

static bool finds_free(const Gpu *gpu, const Flight *flight, unsigned lane) {
  return word_at(gpu, flight, lane) == flight->data[0][lane];
}

/* The lane isn't let in. Who follows accesses sees a comparison that fails. */
static void refuse(const Gpu *gpu, Flight *flight, unsigned lane) {
  uint32_t word = word_at(gpu, flight, lane), other = word + 1;
  flight->refused |= 1u << lane;
  flight->data[0][lane] = other == flight->data[FLIGHT_OPERAND_C][lane] ? word + 2 : other;
}

/* How many different locks. */
static uint32_t count_locks(const Flight *flight) {
  uint32_t count = 0;
  for (uint32_t rest = flight->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    bool first = true;
    for (uint32_t before = flight->lanes & ((1u << lane) - 1); before && first; before &= before - 1)
      first = flight->request.address[__builtin_ctz(before)] != flight->request.address[lane];
    count += first;
  }
  return count;
}

/* True if the L1 sees to the lane. */
static bool is_done_here(Issue *issue, Flight *flight, unsigned lane) {
  LockQueues *queues = issue->gpu->locks;
  uint64_t address = flight->request.address[lane];
  uint32_t sm = issue->sm->index;
  if (!is_try(flight))
    return lock_queues_release(queues, sm, address, issue->now);
  LockAnswer answer = lock_queues_try(queues, sm, address, finds_free(issue->gpu, flight, lane), issue->now);
  if (answer == LOCK_WAIT)
    refuse(issue->gpu, flight, lane);
  return answer != LOCK_ASK;
}

uint32_t locks_answer(Issue *issue, Flight *flight) {
  uint32_t here = 0;
  flight->earliest = lock_queues_look_up(issue->gpu->locks, issue->sm->index, count_locks(flight), issue->now) +
                     issue->gpu->machine->sm.lock_queue.latency;
  for (uint32_t rest = flight->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    here |= is_done_here(issue, flight, lane) ? 1u << lane : 0;
  }
  if (flight->refused == flight->lanes)
    flight->earliest += issue->gpu->machine->sm.lock_queue.hold;
  return here;
}

void locks_arrive(Gpu *gpu, Flight *flight, uint32_t lanes, uint64_t time) {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t address = flight->request.address[lane];
    if (!is_try(flight))
      lock_queues_give_back(gpu->locks, flight->request.sm, address, time);
    else if (!lock_queues_ask(gpu->locks, flight->request.sm, address, finds_free(gpu, flight, lane), time))
      refuse(gpu, flight, lane);
  }
}
