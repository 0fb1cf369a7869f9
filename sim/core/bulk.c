#include "sim/core/bulk.h"

#include <string.h>

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/async_copy.h"
#include "sim/core/bulk_unit.h"
#include "sim/core/cluster.h"
#include "sim/core/due.h"
#include "sim/core/mbarrier.h"
#include "sim/core/record.h"
#include "sim/core/remote.h"
#include "sim/core/sm_inner.h"
#include "sim/core/tell.h"

enum { CHUNK_BYTES = WARP_LANES * BULK_ALIGNMENT, LINE_BYTES = 128, THOUSAND = 1000 };

static struct BulkUnit *unit_of(Sm *sm) {
  if (!sm->bulk) {
    sm->bulk = g_new0(struct BulkUnit, 1);
    sm->bulk->copies = g_ptr_array_new_with_free_func(g_free);
    sm->bulk->untold = g_ptr_array_new_with_free_func(g_free);
    sm->bulk->groups = g_new0(BulkGroups, sm->gpu->machine->sm.max_warps);
  }
  return sm->bulk;
}

void bulk_clear(Sm *sm) {
  if (!sm->bulk)
    return;
  g_ptr_array_free(sm->bulk->copies, TRUE);
  g_ptr_array_free(sm->bulk->untold, TRUE);
  g_free(sm->bulk->groups);
  g_clear_pointer(&sm->bulk, g_free);
}

void bulk_reset(Sm *sm, const Warp *warp) {
  if (sm->bulk)
    sm->bulk->groups[warp->slot] = (BulkGroups){0};
}

const GPtrArray *bulk_under_way(const Sm *sm) { return sm->bulk ? sm->bulk->copies : NULL; }

/* ---- accesses ---- */

static Flight *new_flight(Sm *sm, BulkCopy *copy, MemKind kind, uint32_t bytes, uint32_t lanes) {
  Flight *flight = flights_new(&sm->flights, kind, bytes);
  MemRequest *request = &flight->request;
  request->kind = kind;
  request->sm = sm->index;
  request->mask = lanes;
  request->bytes = bytes;
  request->run = lanes == ALL_LANES;
  request->together = request->host = request->keeps = request->exchange = request->cas = request->merged = false;
  request->rides = false;
  request->queue = MEM_NO_QUEUE;
  request->unused = kind == MEM_ATOMIC;
  request->floats = kind == MEM_ATOMIC && copy->inst->mode == ATOM_ADD && type_is_float(copy->inst->type);
  request->performed = 0;
  for (uint32_t lane = 0; lane < WARP_LANES; lane++)
    request->address[lane] = copy->address + copy->sent + (uint64_t)bytes * lane;
  flight->lanes = lanes;
  flight->buffer = copy->buffer;
  request->host = copy->buffer && copy->buffer->host;
  flight->inst = copy->inst;
  flight->launch = copy->launch;
  flight->thread = copy->thread;
  flight->pc = copy->pc;
  flight->slot = copy->slot;
  flight->age = copy->age;
  flight->number = ++sm->flights.made;
  flight->parts = flight->merged = flight->refused = 0;
  flight->waits = 1;
  flight->earliest = 0;
  flight->bulk = copy;
  return flight;
}

/* What its lanes store, or add: the bytes of shared memory. */
static void read_source(const Sm *sm, const BulkCopy *copy, Flight *flight) {
  uint32_t words = flight->request.bytes / 4, first = (copy->physical + copy->sent) / 4;
  for (uint32_t rest = flight->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    for (uint32_t part = 0; part < words; part++)
      flight->data[part][lane] = sm->shared.words[first + lane * words + part];
  }
}

/* The next piece leaves; the unit takes the one behind it when this one has passed. */
static void send_piece(Sm *sm, BulkCopy *copy, uint64_t now) {
  const Machine *machine = sm->gpu->machine;
  bool in = way_of(copy) == WAY_IN, reduces = copy->inst->op == OP_BULKRED;
  uint32_t of_lane = reduces ? width_bytes[copy->inst->width] : BULK_ALIGNMENT;
  uint32_t lanes = MIN((copy->bytes - copy->sent) / of_lane, WARP_LANES), bytes = of_lane * lanes;
  Milli interval = in        ? machine->sm.bulk.load_interval
                   : reduces ? machine->sm.bulk.reduce_interval
                             : machine->sm.bulk.store_interval;
  Flight *flight = new_flight(sm, copy,
                              in        ? MEM_LOAD
                              : reduces ? MEM_ATOMIC
                                        : MEM_STORE,
                              of_lane, lanes == WARP_LANES ? ALL_LANES : (1u << lanes) - 1);
  if (!in)
    read_source(sm, copy, flight);
  copy->sent += bytes;
  uint64_t next = access_send_apart(sm, flight, now, !in);
  uint64_t *free = &sm->bulk->free[way_of(copy)], least = MAX(copy->begins, now * THOUSAND - (THOUSAND - 1));
  *free = MAX(*free, least) + interval * bytes / LINE_BYTES;
  *free = MAX(*free, next * THOUSAND);
}

/* ---- the unit ---- */

/* The first that hasn't been read, of those that go that way; NULL: there is none. */
static BulkCopy *current(const Sm *sm, Way way) {
  for (guint i = 0; i < sm->bulk->copies->len; i++) {
    BulkCopy *copy = copy_at(sm, i);
    if (!copy->read && way_of(copy) == way)
      return copy;
  }
  return NULL;
}

static uint64_t due(const Sm *sm, Way way) {
  const BulkCopy *copy = current(sm, way);
  if (!copy)
    return WHEEL_NEVER;
  return (MAX(sm->bulk->free[way], copy->sent ? 0 : copy->begins) + THOUSAND - 1) / THOUSAND;
}

uint64_t bulk_next(const Sm *sm) {
  uint64_t in = due(sm, WAY_IN), out = due(sm, WAY_OUT);
  return MIN(in, out);
}

/* `told`: what it did is known to the detectors. */
static void end_copy(Sm *sm, BulkCopy *copy, bool told, uint64_t now) {
  Warp *warp = warp_of(sm, copy);
  if (warp && !is_end(copy))
    warp_block(sm, warp)->copying--;
  tell_access_ended(copy->to, copy->launch, now); /* whose SM runs now */
  guint at;
  if (warp && !told && g_ptr_array_find(sm->bulk->copies, copy, &at))
    g_ptr_array_add(sm->bulk->untold, g_ptr_array_steal_index(sm->bulk->copies, at));
  else
    g_ptr_array_remove(sm->bulk->copies, copy);
}

bool bulk_awaited(const Sm *sm, const Warp *warp) {
  const BulkGroups *groups = sm->bulk ? &sm->bulk->groups[warp->slot] : NULL;
  for (guint i = 0; groups && i < sm->bulk->copies->len; i++) {
    const BulkCopy *copy = copy_at(sm, i);
    if (!copy->read && way_of(copy) == WAY_OUT && copy->slot == warp->slot && copy->age == warp->age &&
        copy->group < groups->awaited[copy->lane])
      return true;
  }
  return false;
}

/* All bytes have been read. */
static void end_reading(Sm *sm, BulkCopy *copy, uint64_t now) {
  Warp *warp = &sm->warps[copy->slot];
  bool waits = way_of(copy) == WAY_OUT && warp->age == copy->age && bulk_awaited(sm, warp);
  copy->read = true;
  if (is_end(copy))
    end_copy(sm, copy, true, now);
  if (waits)
    sm_go_on(sm, warp, now);
}

static void run_way(Sm *sm, Way way, uint64_t now) {
  while (due(sm, way) <= now) {
    BulkCopy *copy = current(sm, way);
    if (copy->sent < copy->bytes)
      send_piece(sm, copy, now);
    else
      end_reading(sm, copy, now);
  }
}

void bulk_run(Sm *sm, uint64_t now) {
  run_way(sm, WAY_IN, now);
  run_way(sm, WAY_OUT, now);
}

/* Where the words of a load belong in shared memory: the first of them. */
static uint32_t first_word(const BulkCopy *copy, const Flight *flight) {
  return (copy->physical + (uint32_t)(flight->request.address[0] - copy->address)) / 4;
}

/* They come there, if the block is there. */
static void put_words(const BulkCopy *copy, const Flight *flight, const WordChange *change) {
  uint32_t words = BULK_ALIGNMENT / 4, first = first_word(copy, flight);
  for (uint32_t rest = flight->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    for (uint32_t part = 0; part < words; part++)
      shared_put(copy->to, first + lane * words + part, flight->data[part][lane], change, copy->lane);
  }
}

/* So many bytes are where they belong: it may be over. */
static void end_bytes(Sm *sm, BulkCopy *copy, uint32_t bytes, uint64_t now) {
  Warp *warp = warp_of(sm, copy);
  WordChange change = {.cycle = now, .thread = copy->thread, .pc = copy->pc};
  copy->landed += bytes;
  if (copy->landed < copy->bytes)
    return;
  if (!copy->read)
    end_reading(sm, copy, now);
  bool told = bulk_tell_end(sm, copy, now);
  if (copy->barrier != NO_BARRIER && warp) {
    bulk_tell_count(sm, warp, copy, now);
    async_copies_arrive(copy->to, copy->inst, copy->barrier / 4, copy->bytes, &change, copy->lane);
  }
  end_copy(sm, copy, told, now);
}

/* Words have come to another SM. */
static void take_words(const RemoteWords *words, uint64_t now) {
  BulkCopy *copy = words->copy;
  WordChange change = {.cycle = now, .thread = copy->thread, .pc = copy->pc};
  for (uint32_t i = 0; i < words->count && warp_of(words->from, copy); i++)
    shared_put(words->to, words->first + i, words->value[i], &change, copy->lane);
  end_bytes(words->from, copy, 4 * words->count, now);
}

/* They go on to another SM. */
static void pass_words(Sm *sm, BulkCopy *copy, const Flight *flight, uint64_t now) {
  uint32_t words = BULK_ALIGNMENT / 4, count = words * bits_count(flight->lanes);
  RemoteWords *passed = g_malloc(sizeof *passed + 4 * (size_t)count);
  *passed = (RemoteWords){take_words, copy, sm, copy->to, first_word(copy, flight), count};
  for (uint32_t rest = flight->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    for (uint32_t part = 0; part < words; part++)
      passed->value[lane * words + part] = flight->data[part][lane];
  }
  remote_pass(passed, now);
}

void bulk_land(Sm *sm, Flight *flight, uint64_t now) {
  BulkCopy *copy = flight->bulk;
  WordChange change = {.cycle = now, .thread = copy->thread, .pc = copy->pc};
  flight->bulk = NULL;
  if (copy->to != sm) {
    pass_words(sm, copy, flight, now);
    return;
  }
  if (way_of(copy) == WAY_IN && warp_of(sm, copy))
    put_words(copy, flight, &change);
  end_bytes(sm, copy, flight->request.bytes * bits_count(flight->lanes), now);
}

/* ---- the instructions ---- */

/* What is wrong with a copy, and how to repair it. */
static void raise_fault(Issue *issue, unsigned lane, const BulkPlace *place, BulkFault fault) {
  static const char *const what[] = {[BULK_ODD_SIZE] = "the size",
                                     [BULK_ODD_SHARED] = "shared address",
                                     [BULK_ODD_BARRIER] = "mbarrier at shared address",
                                     [BULK_ODD_GLOBAL] = "global address",
                                     [BULK_BEYOND_SHARED] = "bytes from shared address",
                                     [BULK_BEYOND_BARRIER] = "mbarrier at shared address",
                                     [BULK_BEYOND_GLOBAL] = "bytes from global address",
                                     [BULK_NOT_TAKEN] = "bytes from global address",
                                     [BULK_READ_ONLY] = "bytes from global address"};
  bool global = fault == BULK_ODD_GLOBAL || fault >= BULK_BEYOND_GLOBAL, odd = fault <= BULK_ODD_GLOBAL;
  bool barrier = fault == BULK_ODD_BARRIER || fault == BULK_BEYOND_BARRIER;
  uint64_t number = fault == BULK_ODD_SIZE ? place->bytes
                    : global               ? place->address
                    : barrier              ? place->barrier
                                           : place->shared;
  GString *text = g_string_new("copy in bulk: ");
  const BackingBuffer *inside = global ? backing_find(issue->gpu->backing, place->address, 1) : NULL;
  if (!odd && !barrier)
    g_string_append_printf(text, "%u ", place->bytes);
  g_string_append_printf(text, "%s 0x%" G_GINT64_MODIFIER "x", what[fault], number);
  if (odd)
    g_string_append_printf(text, " isn't a multiple of %d", barrier ? BULK_BARRIER_BYTES : BULK_ALIGNMENT);
  else if (!global)
    g_string_append_printf(text, " beyond the block's %u bytes", issue->block->shared_bytes);
  else if (fault == BULK_NOT_TAKEN)
    g_string_append(text, ", not all of which malloc() gave");
  else if (fault == BULK_READ_ONLY)
    g_string_append_printf(text, " are constant memory, `%s`", inside ? inside->name : "");
  else if (inside)
    g_string_append_printf(text, " end beyond `%s`", inside->name);
  else
    g_string_append(text, ", which is in no buffer");
  record_fault(issue, 1u << lane, global ? "global" : "shared", number, g_string_free(text, FALSE),
               g_strdup(odd && barrier ? "align the barrier to 8 bytes"
                        : odd          ? "make both addresses and the size multiples of 16 bytes"
                        : global       ? "enlarge the buffer, or correct the address or the size"
                                       : "enlarge the __shared__ array (or the launch's dynamic shared memory)"));
}

static void add(Issue *issue, const BulkCopy *copy) {
  struct BulkUnit *unit = unit_of(issue->sm);
  BulkCopy *kept = g_memdup2(copy, sizeof *copy);
  kept->group = unit->groups[copy->slot].ended[copy->lane];
  g_ptr_array_add(unit->copies, kept);
  tell_access_began(issue->sm, kept->launch);
  issue->block->copying += !is_end(kept);
}

static BulkCopy begin(const Issue *issue, unsigned lane, uint32_t latency) {
  return (BulkCopy){.inst = issue->inst,
                    .to = issue->sm,
                    .launch = issue->block->launch,
                    .thread = warp_thread_base(issue->block, issue->warp),
                    .age = issue->warp->age,
                    .slot = issue->warp->slot,
                    .lane = lane,
                    .pc = issue->pc,
                    .barrier = NO_BARRIER,
                    .issued = issue->now,
                    .begins = (issue->now + latency) * THOUSAND};
}

/* Lanes that the instruction is for: one of the uniform datapath is one of the warp, which we count as the lowest. */
static uint32_t lanes_of(const Issue *issue) {
  return issue->inst->flags & INST_UNIFORM ? issue->mask & -issue->mask : issue->mask;
}

/* The block whose shared memory an address of the cluster's is in; NULL: there is none. */
static const Block *block_at(const Block *own, uint32_t address) {
  const Cluster *cluster = own->cluster;
  uint32_t rank = address >> CLUSTER_RANK_SHIFT;
  if (!cluster || !own->launch->kernel->ranked || rank == own->rank)
    return own;
  return rank < cluster->blocks ? cluster->member[rank].block : NULL;
}

/* A copy that no block `to` can have: a fault. */
static void raise_other(Issue *issue, unsigned lane, const BulkPlace *place, const Block *to) {
  const char *text = !place->counts ? "copy in bulk out of another block's shared memory"
                     : !to          ? "copy in bulk to shared memory of a block that the cluster doesn't have"
                                    : "copy in bulk to one block's shared memory, with an mbarrier in another one's";
  record_fault(issue, 1u << lane, "shared", place->shared, g_strdup(text),
               g_strdup(!place->counts ? "let each block copy out of its own shared memory"
                        : !to          ? "take ranks below the number of blocks of the cluster (%cluster_nctarank)"
                                       : "take the mbarrier of the block that gets the bytes"));
}

/* The block that has the copy's bytes of shared memory, whose rank it takes off the addresses; NULL after a fault. */
static const Block *find_block(Issue *issue, unsigned lane, BulkPlace *place) {
  const Block *to = block_at(issue->block, place->shared);
  bool fits = place->counts ? block_at(issue->block, place->barrier) == to : to == issue->block;
  if (!to || !fits) {
    raise_other(issue, lane, place, to);
    return NULL;
  }
  place->shared -= to->rank_bits;
  place->barrier -= place->counts ? to->rank_bits : 0;
  return to;
}

static void start(Issue *issue, uint32_t latency) {
  const Inst *inst = issue->inst;
  const uint32_t *low = issue_operand(issue, inst->a), *high = access_part(issue, inst->a, 1, true);
  const uint32_t *shared = issue_operand(issue, inst->b), *barrier = access_part(issue, inst->b, 1, true);
  const uint32_t *bytes = issue_operand(issue, inst->c);
  bool in = inst->op == OP_BULKLOAD;
  for (uint32_t rest = lanes_of(issue); rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    BulkCopy copy = begin(issue, lane, latency);
    BulkPlace place = {.address = place_address(inst, low[lane], place_is_wide(inst) ? high[lane] : 0),
                       .shared = shared[lane],
                       .barrier = in ? barrier[lane] : 0,
                       .bytes = bytes[lane],
                       .counts = in,
                       .changes = !in};
    const Block *to = find_block(issue, lane, &place);
    if (!to)
      return;
    BulkFault fault = place_of_bulk(issue->gpu->backing, &place, to->shared_bytes, &copy.buffer);
    if (fault) {
      raise_fault(issue, lane, &place, fault);
      return;
    }
    if (!place.bytes)
      continue;
    copy.to = to == issue->block ? issue->sm : issue->block->cluster->member[to->rank].sm;
    copy.buffer = copy.buffer->heap ? NULL : copy.buffer;
    copy.address = place.address;
    copy.bytes = place.bytes;
    copy.physical = to->shared_base + place.shared;
    copy.barrier = in ? to->shared_base + place.barrier : NO_BARRIER;
    bulk_tell_begin(issue, &copy);
    add(issue, &copy);
  }
}

void exec_BULKLOAD(Issue *issue) { start(issue, issue->gpu->machine->sm.bulk.load_latency); }
void exec_BULKSTORE(Issue *issue) { start(issue, issue->gpu->machine->sm.bulk.store_latency); }
void exec_BULKRED(Issue *issue) { start(issue, issue->gpu->machine->sm.bulk.reduce_latency); }

void exec_BULKEND(Issue *issue) {
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    if (lane == (unsigned)__builtin_ctz(issue->mask)) {
      BulkCopy end = begin(issue, lane, issue->gpu->machine->sm.bulk.group_latency);
      add(issue, &end);
    }
    unit_of(issue->sm)->groups[issue->warp->slot].ended[lane]++;
  }
}

void exec_FENCEVIEW(Issue *issue) {
  if (!PROBE_WANTED(issue->gpu, proxy_fence) || issue->inst->mode)
    return;
  ProbePoint point = issue_point(issue, issue->mask);
  PROBE_FIRE(issue->gpu, proxy_fence, &point);
}
