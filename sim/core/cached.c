#include "sim/core/cached.h"

#include "base/bits.h"
#include "sim/core/serve.h"
#include "sim/core/tell.h"

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

/* A store of the SM itself is on its way there: the copy, which has it already, is newer than memory. */
static bool store_is_under_way(const Flights *flights, uint64_t word) {
  for (uint32_t index = flights->oldest; index != NO_FLIGHT;) {
    const Flight *flight = flights_at(flights, index);
    index = flight->next;
    if (flight->request.kind != MEM_STORE)
      continue;
    for (uint32_t rest = flight->lanes & ~flight->performed; rest; rest &= rest - 1)
      if (word - (flight->request.address[__builtin_ctz(rest)] & ~UINT64_C(3)) < MAX(flight->request.bytes, 4u))
        return true;
  }
  return false;
}

static void report_stale(Issue *issue, unsigned lane, uint64_t address, uint32_t copy, uint64_t since) {
  uint64_t word = address & ~UINT64_C(3);
  uint32_t now = loaded(issue->inst, memory_word(issue->gpu, word), address);
  if (now == copy || store_is_under_way(&issue->sm->flights, word))
    return;
  BackingBuffer *buffer = backing_find(issue->gpu->backing, word, 4);
  WordChange newest = change_log_get(&buffer->changes, (uint32_t)((word - buffer->base) / 4));
  ProbePoint point = issue_point(issue, 1u << lane);
  PROBE_FIRE(issue->gpu, stale_read, &point, lane, address, copy, now, &newest, since);
}

/* The lane's words lie in the L1: it gets the copies. */
static void read_copy(Issue *issue, L1 *l1, Flight *flight, unsigned lane) {
  bool watched = PROBE_WANTED(issue->gpu, stale_read);
  for (uint32_t part = 0; part < access_words(flight->request.bytes); part++) {
    uint64_t since, at = flight->request.address[lane] + 4 * part;
    flight->data[part][lane] = loaded(issue->inst, l1_word(l1, at & ~UINT64_C(3), &since), at);
    if (watched)
      report_stale(issue, lane, at, flight->data[part][lane], since);
  }
  flight->performed |= 1u << lane;
}

/* The lane waits for the access that fetches its sector. */
static void wait_for(Flight *fetcher, Flight *flight, unsigned lane) {
  if (!fetcher->waiters)
    fetcher->waiters = g_array_new(FALSE, FALSE, sizeof(Waiter));
  GArray *waiters = fetcher->waiters;
  Waiter *newest = waiters->len ? &g_array_index(waiters, Waiter, waiters->len - 1) : NULL;
  if (newest && newest->flight == flight->index) {
    newest->lanes |= 1u << lane;
    return;
  }
  Waiter waiter = {flight->index, 1u << lane};
  g_array_append_val(waiters, waiter);
  flight->waits++;
}

static void fetch(L1 *l1, Flight *flight, unsigned lane) {
  if (!flight->fills)
    flight->fills = g_array_new(FALSE, FALSE, sizeof(Fill));
  Fill fill = {.address = l1_expect(l1, flight->request.address[lane], flight->index), .lane = lane};
  g_array_append_val(flight->fills, fill);
}

/* Returns the lanes that have to go to memory. */
static uint32_t look_up(Issue *issue, L1 *l1, Flight *flight) {
  uint32_t missing = 0, fetcher;
  for (uint32_t rest = flight->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t address = flight->request.address[lane];
    if (l1_hit(l1, address, flight->request.bytes)) {
      read_copy(issue, l1, flight, lane);
      continue;
    }
    bool pending = l1_pending(l1, address, &fetcher);
    if (pending && fetcher != flight->index) {
      wait_for(flights_at(&issue->sm->flights, fetcher), flight, lane);
      continue;
    }
    missing |= 1u << lane;
    if (!pending)
      fetch(l1, flight, lane);
  }
  return missing;
}

void cached_load(Issue *issue, Flight *flight) {
  L1 *l1 = cache_of(issue->sm);
  flight->waits = 0;
  flight->earliest = issue->now + issue->gpu->machine->sm.l1.latency;
  uint32_t missing = look_up(issue, l1, flight), hits = flight->performed;
  flight->performed = 0;
  if (hits)
    serve_tell(issue->sm, flight, hits, issue->now);
  flight->performed = hits;
  issue->sm->counters.l1_hits += bits_count(flight->lanes & ~missing);
  issue->sm->counters.l1_misses += bits_count(missing);
  if (G_UNLIKELY(issue->gpu->backing->undefined))
    serve_note_undefined(issue->gpu, flight, flight->lanes & ~missing);
  if (hits == flight->lanes) {
    issue->ready = flight->earliest;
    access_use_loaded(issue, flight);
    return;
  }
  flight->request.mask = missing;
  if (missing) {
    flight->waits++;
    access_send(issue, flight);
  } else {
    issue->flight = flight;
    flights_send(&issue->sm->flights, flight, issue->warp);
    tell_access_began(issue->sm, flight->launch);
  }
}

/* ---- replies ---- */

static const Fill *fill_with(const Gpu *gpu, const Flight *fetcher, uint64_t address) {
  for (guint i = 0; i < fetcher->fills->len; i++) {
    const Fill *fill = &g_array_index(fetcher->fills, Fill, i);
    if (address - fill->address < gpu->machine->sm.l1.sector)
      return fill;
  }
  return NULL;
}

/* Lanes of another access get what was fetched. */
static void give(Sm *sm, const Flight *fetcher, const Waiter *waiter, uint64_t now) {
  Flight *flight = flights_at(&sm->flights, waiter->flight);
  for (uint32_t rest = waiter->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t address = flight->request.address[lane];
    const Fill *fill = fill_with(sm->gpu, fetcher, address);
    for (uint32_t part = 0; part < access_words(flight->request.bytes); part++)
      flight->data[part][lane] =
          loaded(flight->inst, fill->words[(address - fill->address) / 4 + part], address + 4 * part);
  }
  serve_tell(sm, flight, waiter->lanes, now);
  flight->performed |= waiter->lanes;
  if (--flight->waits == 0)
    flights_answer(&sm->flights, flight, MAX(now, flight->earliest));
}

void cached_arrive(Sm *sm, Flight *flight, uint64_t now) {
  for (guint i = 0; sm->l1 && i < flight->fills->len; i++) {
    const Fill *fill = &g_array_index(flight->fills, Fill, i);
    l1_fill(sm->l1, fill->address, flight->index, fill->words, fill->since);
  }
  for (guint i = 0; flight->waiters && i < flight->waiters->len; i++)
    give(sm, flight, &g_array_index(flight->waiters, Waiter, i), now);
  g_array_set_size(flight->fills, 0);
  if (flight->waiters)
    g_array_set_size(flight->waiters, 0);
}

/* ---- stores ---- */

/* One lane's word of row `part`: the bytes that it stores, by `mask`. */
static void update_copy(L1 *l1, const Flight *flight, uint32_t part, unsigned lane) {
  uint64_t address = flight->request.address[lane], word = address & ~UINT64_C(3);
  uint32_t bytes = flight->request.bytes, data = flight->data[part][lane];
  l1_update(l1, word + 4 * part, bytes < 4 ? narrow_store(0, address % 4, bytes, data) : data,
            serve_bytes(bytes, address));
}

void cached_store(Issue *issue, const Flight *flight) {
  L1 *l1 = issue->sm->l1;
  uint32_t bytes = flight->request.bytes;
  bool evicts = cached_evicts(issue->inst), lowest = issue->gpu->machine->sm.store_winner == STORE_LOWEST_LANE;
  for (uint32_t rest = l1 && evicts ? flight->lanes : 0; rest; rest &= rest - 1)
    l1_evict(l1, flight->request.address[__builtin_ctz(rest)] & ~UINT64_C(3), MAX(bytes, 4u));
  for (uint32_t part = 0; l1 && !evicts && part < access_words(bytes); part++)
    for (uint32_t rest = flight->lanes; rest;) {
      unsigned lane = access_next_store(rest, bytes, lowest);
      rest &= ~(1u << lane);
      update_copy(l1, flight, part, lane);
    }
}

void cached_forget(Sm *sm) {
  if (sm->l1)
    l1_invalidate(sm->l1);
}
