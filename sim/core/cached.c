#include "sim/core/cached.h"

#include "base/bits.h"
#include "sim/core/serve.h"

static L1 *cache_of(Sm *sm) {
  Gpu *gpu = sm->gpu;
  if (!sm->l1)
    sm->l1 = l1_new(gpu->machine, gpu->l1_bytes, sm->index, &gpu->hashes_memory, &gpu->memory_hash);
  return sm->l1;
}

static uint32_t memory_word(const Gpu *gpu, uint64_t address) {
  const BackingBuffer *buffer = backing_find(gpu->backing, address, 4);
  return buffer->data[(address - buffer->base) / 4];
}

/* The part of a word that the access reads. */
static uint32_t loaded(const Inst *inst, uint32_t word, uint64_t address) {
  return width_bytes[inst->width] < 4 ? narrow_load(word, address % 4, inst->width) : word;
}

static void report_stale(Issue *issue, unsigned lane, uint64_t address, uint32_t copy, uint64_t since) {
  uint64_t word = address & ~UINT64_C(3);
  uint32_t now = loaded(issue->inst, memory_word(issue->gpu, word), address);
  if (now == copy)
    return;
  BackingBuffer *buffer = backing_find(issue->gpu->backing, word, 4);
  WordChange newest = change_log_get(&buffer->changes, (uint32_t)((word - buffer->base) / 4));
  ProbePoint point = issue_point(issue, 1u << lane);
  PROBE_FIRE(issue->gpu, stale_read, &point, lane, address, copy, now, &newest, since);
}

/* Copies of the lanes that hit; returns those that miss. */
static uint32_t read_copies(Issue *issue, L1 *l1, Flight *flight) {
  const MemRequest *request = &flight->request;
  bool watched = PROBE_WANTED(issue->gpu, stale_read);
  uint32_t missing = 0;
  issue->ready = issue->now + issue->gpu->machine->sm.l1.latency;
  for (uint32_t rest = request->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t address = request->address[lane];
    if (!l1_hit(l1, address, request->bytes)) {
      missing |= 1u << lane;
      continue;
    }
    for (uint32_t part = 0; part < access_words(request->bytes); part++) {
      uint64_t since, ready, at = address + 4 * part;
      flight->data[part][lane] = loaded(issue->inst, l1_word(l1, at & ~UINT64_C(3), &since, &ready), at);
      issue->ready = MAX(issue->ready, ready);
      if (watched)
        report_stale(issue, lane, at, flight->data[part][lane], since);
    }
  }
  return missing;
}

/* Lanes that miss fetch their sectors. */
static void fetch(Issue *issue, L1 *l1, Flight *flight, uint32_t missing) {
  MemRequest rest_of_it = flight->request;
  rest_of_it.mask = missing;
  uint64_t hits = issue->ready;
  access_submit(issue, &rest_of_it);
  serve_tell(issue->sm, flight, missing, true, issue->now);
  serve_load(issue->gpu, flight, missing);
  for (uint32_t rest = missing; rest; rest &= rest - 1)
    l1_fill(l1, issue->gpu->backing, flight->request.address[__builtin_ctz(rest)], flight->request.bytes, issue->now,
            issue->ready);
  issue->ready = MAX(issue->ready, hits);
}

void cached_load(Issue *issue, Flight *flight) {
  L1 *l1 = cache_of(issue->sm);
  uint32_t missing = read_copies(issue, l1, flight), lanes = flight->request.mask;
  if (lanes & ~missing)
    serve_tell(issue->sm, flight, lanes & ~missing, !missing, issue->now);
  issue->gpu->counters.l1_hits += bits_count(lanes & ~missing);
  issue->gpu->counters.l1_misses += bits_count(missing);
  if (missing) {
    fetch(issue, l1, flight, missing);
    return;
  }
  for (uint32_t part = 0; part < access_words(flight->request.bytes); part++)
    access_write(issue, part, flight->data[part]);
  flights_release(&issue->sm->flights, flight);
  issue->flight = NULL; /* nothing leaves the SM */
}

void cached_written(Issue *issue, const uint64_t address[WARP_LANES]) {
  const Inst *inst = issue->inst;
  L1 *l1 = issue->sm->l1;
  uint32_t bytes = width_bytes[inst->width];
  bool evicts = cached_evicts(inst);
  for (uint32_t rest = l1 ? issue->mask : 0; rest; rest &= rest - 1) {
    uint64_t at = address[__builtin_ctz(rest)], word = at & ~UINT64_C(3);
    if (evicts) {
      l1_evict(l1, word, MAX(bytes, 4u));
      continue;
    }
    uint32_t mask = bytes >= 4 ? 15 : ((1u << bytes) - 1) << at % 4;
    for (uint32_t part = 0; part < access_words(bytes); part++)
      l1_update(l1, word + 4 * part, memory_word(issue->gpu, word + 4 * part), mask);
  }
}
