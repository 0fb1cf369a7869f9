#include "sim/core/locks.h"

#include "sim/memory/lock_queue.h"

static bool is_try(const Flight *flight) { return flight->inst->mode == ATOM_CAS; }

static const BackingBuffer *buffer_of(const Gpu *gpu, const Flight *flight, unsigned lane) {
  return flight->buffer ? flight->buffer : backing_find(gpu->backing, flight->request.address[lane], 4);
}

static uint32_t word_at(const Gpu *gpu, const Flight *flight, unsigned lane) {
  const BackingBuffer *buffer = buffer_of(gpu, flight, lane);
  return buffer->data[(flight->request.address[lane] - buffer->base) / 4];
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

/* Tells of a lane that frees what it hasn't got. */
static void watch_release(Issue *issue, const Flight *flight, unsigned lane) {
  if (!PROBE_WANTED(issue->gpu, stray_release))
    return;
  uint64_t address = flight->request.address[lane];
  ThreadId self = thread_plus(flight->thread, lane);
  const BackingBuffer *buffer = buffer_of(issue->gpu, flight, lane);
  WordChange was = change_log_get(&buffer->changes, (uint32_t)((address - buffer->base) / 4));
  bool free = finds_free(issue->gpu, flight, lane), stranger = !free && !thread_same_warp(was.thread, self);
  ProbePoint point = issue_point(issue, 1u << lane);
  if (free || stranger)
    PROBE_FIRE(issue->gpu, stray_release, &point, address, free ? NULL : &was);
}

/* True if the L1 sees to the lane. */
static bool is_done_here(Issue *issue, Flight *flight, unsigned lane) {
  LockQueues *queues = issue->gpu->locks;
  uint64_t address = flight->request.address[lane];
  uint32_t sm = issue->sm->index;
  if (!is_try(flight)) {
    watch_release(issue, flight, lane);
    return lock_queues_release(queues, sm, address, issue->now);
  }
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
