#include "sim/core/cached.h"

#include <string.h>

#include "base/bits.h"
#include "base/pages.h"
#include "sim/core/serve.h"
#include "sim/core/tell.h"
#include "sim/memory/l1_banks.h"

/* The memory of an SM's L1, zeros. SMs that run side by side may ask for it: who is first makes it for all
 * neighbours. */
static char *memory_of(const Sm *sm) {
  Gpu *gpu = sm->gpu;
  size_t bytes = l1_memory_bytes(gpu->machine, gpu->l1_bytes);
  char **place = &gpu->l1_memory[sm->index / L1_NEIGHBOURS], *memory = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (!memory) {
    char *made = pages_new(L1_NEIGHBOURS, bytes);
    if (__atomic_compare_exchange_n(place, &memory, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      memory = made;
    else
      pages_free(made);
  }
  return memory + sm->index % L1_NEIGHBOURS * bytes;
}

void cached_free_memory(Gpu *gpu) {
  for (uint32_t i = 0; i <= gpu->machine->gpu.sms / L1_NEIGHBOURS; i++)
    g_clear_pointer(&gpu->l1_memory[i], pages_free);
}

void cached_enlarge(const Gpu *gpu) {
  for (uint32_t i = 0; i <= gpu->machine->gpu.sms / L1_NEIGHBOURS; i++)
    pages_enlarge(gpu->l1_memory[i]);
}

static L1 *cache_of(Sm *sm) {
  Gpu *gpu = sm->gpu;
  if (!sm->l1)
    sm->l1 = l1_new(gpu->machine, gpu->l1_bytes, memory_of(sm), sm->index, &gpu->l1_hash);
  return sm->l1;
}

void cached_settle_hash(Gpu *gpu) {
  for (uint32_t i = 0; gpu->l1_hash.changed && i < gpu->used_sms; i++)
    if (gpu->sms[i].l1)
      l1_settle_hash(gpu->sms[i].l1);
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
    for (uint32_t rest = flight->lanes & ~flight->request.performed; rest; rest &= rest - 1)
      if (word - (flight->request.address[__builtin_ctz(rest)] & ~UINT64_C(3)) < MAX(flight->request.bytes, 4u))
        return true;
  }
  return false;
}

static void report_stale(Issue *issue, const L1 *l1, unsigned lane, uint64_t address, uint32_t copy) {
  uint64_t word = address & ~UINT64_C(3);
  uint32_t now = loaded(issue->inst, memory_word(issue->gpu, word), address);
  if (now == copy || store_is_under_way(&issue->sm->flights, word))
    return;
  const BackingBuffer *buffer = backing_find(issue->gpu->backing, word, 4);
  StaleRead stale = {.lane = lane,
                     .address = address,
                     .copy = copy,
                     .now = now,
                     .newest = change_log_get(&buffer->changes, (uint32_t)((word - buffer->base) / 4)),
                     .since = l1_since(l1, word)};
  ProbePoint point = issue_point(issue, 1u << lane);
  tell_stale_read(&point, &stale);
}

/* Copies that aren't what memory holds. */
static void watch_copies(Issue *issue, const L1 *l1, const Flight *flight, uint32_t lanes) {
  const BackingBuffer *buffer = flight->buffer;
  uint32_t bytes = flight->request.bytes;
  const uint32_t *run = serve_run(flight, lanes);
  if (run && memcmp(run, &flight->data[0][__builtin_ctz(lanes)], 4 * (size_t)bits_count(lanes)) == 0)
    return;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    for (uint32_t part = 0; part < access_words(bytes); part++) {
      uint64_t at = flight->request.address[lane] + 4 * part;
      uint32_t copy = flight->data[part][lane];
      if (!buffer || bytes < 4 || buffer->data[(at - buffer->base) / 4] != copy)
        report_stale(issue, l1, lane, at, copy);
    }
  }
}

/* The lanes' words lie in the L1, in the line that starts with `words`: they get the copies. */
static void read_copies(const Issue *issue, const L1Shape *shape, const uint32_t *words, Flight *flight,
                        uint32_t lanes) {
  uint64_t in_line = (UINT64_C(1) << shape->line_shift) - 1;
  uint32_t bytes = flight->request.bytes, parts = access_words(bytes);
  const uint64_t *address = flight->request.address;
  unsigned first = (unsigned)__builtin_ctz(lanes);
  if (flight->request.run && bytes == 4 && bits_in_a_row(lanes)) {
    memcpy(&flight->data[0][first], &words[(address[first] & in_line) / 4], 4 * (size_t)bits_count(lanes));
    return;
  }
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    const uint32_t *own = &words[(address[lane] & in_line) / 4];
    if (bytes < 4)
      flight->data[0][lane] = narrow_load(*own, address[lane] % 4, issue->inst->width);
    else
      for (uint32_t part = 0; part < parts; part++)
        flight->data[part][lane] = own[part];
  }
}

/* The lanes wait for the access that fetches their sector. */
static void wait_for(Flight *fetcher, Flight *flight, uint32_t lanes) {
  if (!fetcher->waiters)
    fetcher->waiters = g_array_new(FALSE, FALSE, sizeof(Waiter));
  GArray *waiters = fetcher->waiters;
  Waiter *newest = waiters->len ? &g_array_index(waiters, Waiter, waiters->len - 1) : NULL;
  if (newest && newest->flight == flight->index) {
    newest->lanes |= lanes;
    return;
  }
  Waiter waiter = {flight->index, lanes};
  g_array_append_val(waiters, waiter);
  flight->waits++;
}

/* The lowest lane that wants a sector fetches it. */
static void fetch(const L1Shape *shape, Flight *flight, unsigned lane) {
  uint64_t address = flight->request.address[lane] >> shape->sector_shift << shape->sector_shift;
  flight_add_fill(flight, lane, address, 1u << shape->sector_shift);
}

/* The lanes of `rest`, in a row from the lowest, that come to the same sectors. */
static uint32_t lanes_together(const L1Shape *shape, const Flight *flight, uint32_t rest) {
  const uint64_t *address = flight->request.address;
  uint32_t bytes = flight->request.bytes, sector = 1u << shape->sector_shift, lane = (uint32_t)__builtin_ctz(rest);
  uint64_t first = address[lane] >> shape->sector_shift;
  if (flight->request.run && bytes <= sector) {
    uint32_t end = lane + ((sector - (uint32_t)(address[lane] & (sector - 1))) >> __builtin_ctz(bytes));
    return rest & (end < WARP_LANES ? (1u << end) - 1 : ALL_LANES);
  }
  uint32_t others = rest & (rest - 1);
  while (others && address[__builtin_ctz(others)] >> shape->sector_shift == first)
    others &= others - 1;
  return rest & ~others;
}

/* Lanes in a row that come to one line have their words here. */
static void hit(Issue *issue, L1 *l1, const L1Look *look, Flight *flight, uint32_t lanes) {
  l1_use(l1, flight->request.address[__builtin_ctz(lanes)]);
  read_copies(issue, l1_shape(l1), look->words, flight, lanes);
  if (PROBE_WANTED(issue->gpu, stale_read))
    watch_copies(issue, l1, flight, lanes);
  flight->request.performed |= lanes;
}

/* The same as look_up_line() where the lanes of a run hit all sectors that they want, or miss all. 0: they don't. */
static uint32_t look_up_run(Issue *issue, L1 *l1, Flight *flight, uint32_t lanes, uint32_t *missing) {
  const L1Shape *shape = l1_shape(l1);
  uint32_t lane = (uint32_t)__builtin_ctz(lanes), shift = (uint32_t)__builtin_ctz(flight->request.bytes);
  uint64_t first = flight->request.address[lane], end = (l1_line(shape, first) + 1) << shape->line_shift;
  uint32_t count = (uint32_t)MIN((end - first) >> shift, WARP_LANES - lane);
  uint32_t found = (ALL_LANES >> (WARP_LANES - count)) << lane, wanted = l1_sectors(shape, first, count << shift);
  L1Look look = l1_look(l1, first);
  if ((look.valid & wanted) == wanted) {
    hit(issue, l1, &look, flight, found);
    return found;
  }
  if ((look.valid | look.pending) & wanted)
    return 0;
  uint64_t start = first >> shape->sector_shift << shape->sector_shift;
  flight_add_fill(flight, lane, start, bits_count(wanted) << shape->sector_shift);
  l1_expect(l1, first, wanted, flight->index);
  *missing |= found;
  return found;
}

/* Lanes in a row that come to one line, from the lowest of `lanes` on, are looked up: *missing have to go to memory.
 * Returns all. */
static uint32_t look_up_line(Issue *issue, L1 *l1, Flight *flight, uint32_t lanes, uint32_t *missing) {
  const L1Shape *shape = l1_shape(l1);
  const uint64_t *address = flight->request.address;
  uint64_t first = address[__builtin_ctz(lanes)], line = l1_line(shape, first);
  uint32_t hits = 0, own = 0, fetched = 0, rest = lanes, bytes = flight->request.bytes, fetcher;
  L1Look look = l1_look(l1, first);
  for (uint32_t group; rest && l1_line(shape, address[__builtin_ctz(rest)]) == line; rest &= ~group) {
    uint64_t at = address[__builtin_ctz(rest)];
    uint32_t wanted = l1_sectors(shape, at, bytes);
    group = lanes_together(shape, flight, rest);
    if ((look.valid & wanted) == wanted) {
      hits |= group;
      continue;
    }
    uint32_t sector = l1_sectors(shape, at, 1);
    bool pending = !(own & sector) && look.pending & sector && l1_pending(l1, at, &fetcher);
    if (pending && fetcher != flight->index) {
      wait_for(flights_at(&issue->sm->flights, fetcher), flight, group);
      continue;
    }
    *missing |= group;
    if (!pending && !(own & sector)) {
      fetch(shape, flight, (unsigned)__builtin_ctz(rest));
      fetched |= sector;
    }
    own |= sector;
  }
  if (fetched)
    l1_expect(l1, first, fetched, flight->index);
  if (hits)
    hit(issue, l1, &look, flight, hits);
  return lanes & ~rest;
}

/* The lines that the lanes of an access come to, in rising order, mostly, and which lanes come to each. */
typedef struct Lines {
  uint64_t line[WARP_LANES], highest;
  uint32_t lanes[WARP_LANES], count;
} Lines;

static void add_line(Lines *lines, uint64_t line, uint32_t lanes) {
  bool rises = lines->count == 0 || line > lines->highest;
  for (uint32_t i = 0; !rises && i < lines->count; i++)
    if (lines->line[i] == line) {
      lines->lanes[i] |= lanes;
      return;
    }
  lines->highest = MAX(lines->highest, line);
  lines->line[lines->count] = line;
  lines->lanes[lines->count++] = lanes;
}

/* Returns the lanes that have to go to memory. */
static uint32_t look_up(Issue *issue, L1 *l1, Flight *flight, Lines *lines) {
  uint32_t missing = 0;
  bool run = flight->request.run && l1_comes_as_one(l1);
  lines->highest = lines->count = 0;
  for (uint32_t rest = flight->lanes, found; rest; rest &= ~found) {
    uint64_t line = l1_line(l1_shape(l1), flight->request.address[__builtin_ctz(rest)]);
    found = run ? look_up_run(issue, l1, flight, rest, &missing) : 0;
    if (!found)
      found = look_up_line(issue, l1, flight, rest, &missing);
    add_line(lines, line, found);
  }
  return missing;
}

/* The L1 has looked up the lines, and a load of theirs that hits has its data. */
static uint64_t hit_time(const Issue *issue, L1 *l1, const Flight *flight, const Lines *lines) {
  const Machine *machine = issue->gpu->machine;
  bool copies = issue->inst->op == OP_LDGSTS;
  uint64_t tags = 1, words = 1, start = milli_of(issue->now);
  if (lines->count > 1) {
    tags = l1_banks_tags(lines->line, lines->count, machine->sm.l1.tag_banks);
    words = l1_banks_words(flight->request.address, lines->lanes, lines->count, flight->request.bytes);
  }
  uint64_t takes = MAX(tags * machine->sm.l1.tag_interval, words * machine->sm.l1.bank_interval);
  if (copies) { /* one after the other, with accesses to shared memory in between */
    SharedMemory *shared = &issue->sm->shared;
    shared_hold(shared, takes);
    start = MAX(shared->start_milli, issue->warp->sent_milli);
  } else if (takes) {
    L1Turn turn = l1_take(l1, issue->warp->scheduler, issue->now, takes, takes, &issue->sm->shared.free_milli);
    start = MAX(turn.start_milli, issue->warp->sent_milli);
    access_hold_sends(issue, turn.room);
  }
  start += machine->sm.l1.tag_latency * (tags - 1) + machine->sm.l1.bank_latency * (words - 1);
  return milli_cycle(start) + machine->sm.l1.latency;
}

void cached_load(Issue *issue, Flight *flight) {
  L1 *l1 = cache_of(issue->sm);
  Lines lines;
  flight->waits = 0;
  uint32_t missing = look_up(issue, l1, flight, &lines), hits = flight->request.performed;
  flight->earliest = hit_time(issue, l1, flight, &lines);
  flight->request.performed = 0;
  if (hits)
    serve_tell(issue->sm, flight, hits, issue->now);
  flight->request.performed = hits;
  issue->sm->counters.l1_hits += bits_count(flight->lanes & ~missing);
  issue->sm->counters.l1_misses += bits_count(missing);
  if (G_UNLIKELY(issue->gpu->backing->undefined))
    serve_note_undefined(issue->gpu, flight, flight->lanes & ~missing);
  bool copies = issue->inst->op == OP_LDGSTS; /* what it stores is there when a reply would have come */
  if (hits == flight->lanes && !copies) {
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
    if (!flight->waits)
      flights_answer(&issue->sm->flights, flight, flight->earliest);
  }
}

/* ---- replies ---- */

/* The sectors with that address, which are among them. `*place`: where the one before was: lanes mostly come to
 * sectors in the same order. */
static const Fill *fill_with(const Flight *fetcher, uint64_t address, uint32_t *place) {
  for (uint32_t i = 0; i < fetcher->fill_count; i++) {
    const Fill *fill = &fetcher->fills[*place];
    if (address - fill->address < fill->bytes)
      return fill;
    *place = *place + 1 < fetcher->fill_count ? *place + 1 : 0;
  }
  return NULL;
}

/* Lanes of another access get what was fetched. */
static void give(Sm *sm, const Flight *fetcher, const Waiter *waiter, uint64_t now) {
  Flight *flight = flights_at(&sm->flights, waiter->flight);
  uint32_t place = 0;
  for (uint32_t rest = waiter->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t address = flight->request.address[lane];
    const Fill *fill = fill_with(fetcher, address, &place);
    const uint32_t *words = flight_fill_words(fetcher, fill);
    for (uint32_t part = 0; part < access_words(flight->request.bytes); part++)
      flight->data[part][lane] =
          loaded(flight->inst, words[(address - fill->address) / 4 + part], address + 4 * part);
  }
  serve_tell(sm, flight, waiter->lanes, now);
  flight->request.performed |= waiter->lanes;
  if (--flight->waits == 0)
    flights_answer(&sm->flights, flight, MAX(now, flight->earliest));
}

void cached_arrive(Sm *sm, Flight *flight, uint64_t now) {
  for (uint32_t i = 0; sm->l1 && i < flight->fill_count; i++) {
    const Fill *fill = &flight->fills[i];
    l1_fill(sm->l1, fill->address, fill->bytes, flight->index, flight_fill_words(flight, fill), fill->since);
  }
  for (guint i = 0; flight->waiters && i < flight->waiters->len; i++)
    give(sm, flight, &g_array_index(flight->waiters, Waiter, i), now);
  flight_end_fills(flight);
  if (flight->waiters)
    g_array_set_size(flight->waiters, 0);
}

/* ---- stores ---- */

/* One lane's word of row `part`: the bytes that it stores, by `mask`. */
static bool update_copy(L1 *l1, const Flight *flight, uint32_t part, unsigned lane) {
  uint64_t address = flight->request.address[lane], word = address & ~UINT64_C(3);
  uint32_t bytes = flight->request.bytes, data = flight->data[part][lane];
  return l1_update(l1, word + 4 * part, bytes < 4 ? narrow_store(0, address % 4, bytes, data) : data,
                   serve_bytes(bytes, address));
}

/* Lanes evict the sectors that they store to, those of one line together. */
static void evict_copies(const Gpu *gpu, L1 *l1, const Flight *flight) {
  const L1Shape *shape = l1_shape(l1);
  uint32_t bytes = MIN(MAX(serve_span(gpu, flight), 4u), 1u << shape->line_shift);
  for (uint32_t rest = flight->lanes; rest;) {
    uint64_t first = flight->request.address[__builtin_ctz(rest)], line = l1_line(shape, first), at = first;
    uint32_t sectors = 0;
    do {
      sectors |= l1_sectors(shape, at & ~UINT64_C(3), bytes);
      rest &= rest - 1;
      at = rest ? flight->request.address[__builtin_ctz(rest)] : 0;
    } while (rest && l1_line(shape, at) == line);
    l1_evict(l1, first, sectors);
  }
}

/* Returns of how many lanes there were copies. */
static uint32_t update_copies(const Machine *machine, L1 *l1, const Flight *flight) {
  const MemRequest *request = &flight->request;
  bool lowest = machine->sm.store_winner == STORE_LOWEST_LANE;
  const L1Shape *shape = l1_shape(l1);
  uint32_t updated = 0;
  if (request->run && request->bytes == 4) {
    uint32_t words = 1u << shape->line_shift >> 2;
    for (uint32_t lane = 0, count; lane < WARP_LANES; lane += count) {
      count = MIN(words - (uint32_t)(request->address[lane] / 4 & (words - 1)), WARP_LANES - lane);
      updated += l1_update_words(l1, request->address[lane], &flight->data[0][lane], count) ? count : 0;
    }
    return updated;
  }
  for (uint32_t part = 0; part < access_words(request->bytes); part++)
    for (uint32_t rest = flight->lanes; rest;) {
      unsigned lane = access_next_store(rest, request->bytes, lowest);
      rest &= ~(1u << lane);
      updated += update_copy(l1, flight, part, lane) && part == 0;
    }
  return updated;
}

void cached_store(Issue *issue, Flight *flight) {
  L1 *l1 = issue->sm->l1;
  if (l1 && cached_evicts(issue->inst))
    evict_copies(issue->gpu, l1, flight);
  else if (l1)
    flight->updates = (uint8_t)update_copies(issue->gpu->machine, l1, flight);
}

void cached_forget(Sm *sm) {
  if (sm->l1)
    l1_invalidate(sm->l1);
}
