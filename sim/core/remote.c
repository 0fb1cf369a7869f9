#include "sim/core/remote.h"

#include <string.h>

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/cluster.h"
#include "sim/core/due.h"
#include "sim/core/record.h"
#include "sim/core/serve.h"
#include "sim/core/sm.h"
#include "sim/core/tell.h"
#include "sim/core/try_wait.h"

enum { LINE_BYTES = 128, ALL_BYTES = 15 };

/* Lanes of an access on their way to an SM. */
typedef struct Arrival {
  uint64_t time;
  Flight *flight;
  Sm *from;
  uint32_t lanes;
  RemoteWords *words; /* of a copy in bulk, which has no flight any more; owned */
} Arrival;

struct RemoteUnit {
  GArray *arrivals;   /* Arrival, by time, and as they were sent */
  uint64_t out_milli; /* when the way out is free */
};

void remote_prepare(Sm *sm) {
  if (sm->remote)
    return;
  sm->remote = g_new0(struct RemoteUnit, 1);
  sm->remote->arrivals = g_array_new(FALSE, FALSE, sizeof(Arrival));
}

void remote_clear(Sm *sm) {
  if (!sm->remote)
    return;
  for (guint i = 0; i < sm->remote->arrivals->len; i++)
    g_free(g_array_index(sm->remote->arrivals, Arrival, i).words);
  g_array_free(sm->remote->arrivals, TRUE);
  g_clear_pointer(&sm->remote, g_free);
}

/* ---- places ---- */

RemoteFault remote_find(const Cluster *cluster, uint32_t offset, uint32_t bytes, RemotePlace *place) {
  uint32_t rank = offset >> CLUSTER_RANK_SHIFT, at = offset & ((1u << CLUSTER_RANK_SHIFT) - 1);
  if (rank >= cluster->blocks)
    return REMOTE_NO_BLOCK;
  const ClusterMember *member = &cluster->member[rank];
  *place = (RemotePlace){member->sm, member->block, member->block->shared_base + at};
  PlaceFault fault = place_in(at, bytes, member->block->shared_bytes);
  return fault == PLACE_MISALIGNED ? REMOTE_MISALIGNED : fault ? REMOTE_BEYOND : REMOTE_FINE;
}

static void raise_fault(Issue *issue, RemoteFault fault, uint32_t offset, unsigned lane) {
  const Cluster *cluster = issue->block->cluster;
  uint32_t bytes = width_bytes[issue->inst->width], rank = offset >> CLUSTER_RANK_SHIFT,
           at = offset & ((1u << CLUSTER_RANK_SHIFT) - 1);
  char *text, *repair;
  if (fault == REMOTE_NO_BLOCK) {
    text =
        g_strdup_printf("access to shared memory of block rank %u of a cluster of %u blocks", rank, cluster->blocks);
    repair = g_strdup("take ranks below the number of blocks of the cluster (%cluster_nctarank)");
  } else if (fault == REMOTE_MISALIGNED) {
    text = g_strdup_printf("misaligned %u-byte access to shared address 0x%x of block rank %u", bytes, at, rank);
    repair = g_strdup_printf("make the address a multiple of %u", bytes);
  } else {
    text = g_strdup_printf("access to shared address 0x%x of block rank %u, beyond its %u bytes", at, rank,
                           cluster->member[rank].block->shared_bytes);
    repair = g_strdup("keep the index within the array, or enlarge it");
  }
  record_fault(issue, 1u << lane, "shared", at, text, repair);
}

/* ---- sending ---- */

/* The access, without its data; NULL after a fault. `sms`: number of the SM of each lane. */
static Flight *make_flight(Issue *issue, MemKind kind, const uint32_t offset[WARP_LANES], uint32_t sms[WARP_LANES]) {
  const Inst *inst = issue->inst;
  uint64_t address[WARP_LANES] = {0};
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    RemotePlace place;
    RemoteFault fault = remote_find(issue->block->cluster, offset[lane], width_bytes[inst->width], &place);
    if (fault) {
      raise_fault(issue, fault, offset[lane], lane);
      return NULL;
    }
    sms[lane] = place.sm->index;
    address[lane] = remote_address(place.sm->index, place.physical);
  }
  uint32_t bytes = width_bytes[inst->width];
  Flight *flight = flights_new(&issue->sm->flights, kind, bytes);
  flight->request = (MemRequest){.kind = kind,
                                 .sm = issue->sm->index,
                                 .mask = issue->mask,
                                 .bytes = bytes,
                                 .queue = MEM_NO_QUEUE,
                                 .unused = inst->op == OP_RED};
  memcpy(flight->request.address, address, sizeof address);
  flight->lanes = issue->mask;
  flight->buffer = NULL;
  flight->inst = inst;
  flight->launch = issue->block->launch;
  flight->thread = warp_thread_base(issue->block, issue->warp);
  flight->pc = issue->pc;
  flight->number = ++issue->sm->flights.made;
  flight->parts = flight->merged = flight->refused = 0;
  flight->waits = 1;
  flight->earliest = 0;
  flight->apart = false;
  flight->bulk = NULL;
  flight->remote = true;
  return flight;
}

static void keep_data(const Issue *issue, MemKind kind, Flight *flight) {
  uint32_t words = access_words(flight->request.bytes);
  if (kind == MEM_STORE)
    for (uint32_t part = 0; part < words; part++)
      memcpy(flight->data[part], access_data(issue, part), sizeof flight->data[part]);
  if (kind != MEM_ATOMIC)
    return;
  AtomicOperands operands = access_atomic_operands(issue);
  for (uint32_t part = 0; part < words; part++) {
    memcpy(flight->data[part], operands.b[part], sizeof flight->data[part]);
    memcpy(flight->data[FLIGHT_OPERAND_C + part], operands.c[part], sizeof flight->data[part]);
  }
}

/* Beyond what the other block's shared memory takes: there and back. */
static uint32_t both_ways(const Machine *machine) {
  uint32_t all = machine->sm.cluster.latency, there = machine->sm.shared.latency;
  return all > there ? all - there : 0;
}

static void send_to(Sm *to, const Arrival *arrival) {
  GArray *arrivals = to->remote->arrivals;
  guint at = arrivals->len;
  while (at && g_array_index(arrivals, Arrival, at - 1).time > arrival->time)
    at--;
  g_array_insert_val(arrivals, at, *arrival);
  due_sm(to, arrival->time);
}

/* When so many bytes that leave now are at the other SM. */
static uint64_t time_there(Sm *sm, uint32_t bytes, uint64_t now) {
  const Machine *machine = sm->gpu->machine;
  uint64_t lines = (bytes + LINE_BYTES - 1) / LINE_BYTES;
  uint64_t leaves = milli_cycle(milli_serve(&sm->remote->out_milli, now, lines * machine->sm.cluster.line_interval));
  return leaves + both_ways(machine) / 2;
}

/* Each SM gets its lanes together. */
static void send(Issue *issue, Flight *flight, const uint32_t sms[WARP_LANES]) {
  for (uint32_t rest = flight->lanes; rest;) {
    uint32_t to = sms[__builtin_ctz(rest)], lanes = 0;
    for (uint32_t others = rest; others; others &= others - 1)
      lanes |= sms[__builtin_ctz(others)] == to ? others & -others : 0;
    rest &= ~lanes;
    uint64_t time = time_there(issue->sm, bits_count(lanes) * flight->request.bytes, issue->now);
    Arrival arrival = {.time = time, .flight = flight, .from = issue->sm, .lanes = lanes};
    send_to(&issue->gpu->sms[to], &arrival);
  }
}

bool remote_access(Issue *issue, MemKind kind, const uint32_t offset[WARP_LANES]) {
  static const AccessKind kinds[] = {
      [MEM_LOAD] = ACCESS_READ, [MEM_STORE] = ACCESS_WRITE, [MEM_ATOMIC] = ACCESS_ATOMIC};
  uint32_t sms[WARP_LANES];
  Flight *flight = make_flight(issue, kind, offset, sms);
  if (!flight)
    return false;
  keep_data(issue, kind, flight);
  if (PROBE_WANTED(issue->gpu, access)) {
    ProbePoint point = issue_point(issue, issue->mask);
    PROBE_FIRE(issue->gpu, access, &point, SPACE_SHARED, kinds[kind], flight->request.address, flight->request.bytes,
               0, false, serve_number(issue->sm, flight));
  }
  issue->flight = flight;
  flights_send(&issue->sm->flights, flight, issue->warp);
  tell_access_began(issue->sm, flight->launch);
  send(issue, flight, sms);
  return true;
}

void remote_pass(RemoteWords *words, uint64_t now) {
  uint64_t time = MAX(time_there(words->from, 4 * words->count, now), now + 1);
  Arrival arrival = {.time = time, .from = words->from, .words = words};
  send_to(words->to, &arrival);
}

/* ---- there ---- */

static uint32_t byte_mask(uint32_t bytes, uint32_t offset) {
  return (bytes >= 4 ? ALL_BYTES : (1u << bytes) - 1) << offset;
}

static void change_word(Sm *sm, uint32_t word, uint32_t bytes, uint32_t value, const WordChange *change,
                        unsigned lane) {
  SharedMemory *shared = &sm->shared;
  shared->touched[word] |= (uint8_t)(bytes | bytes << SHARED_DEFINED);
  if (value == shared->words[word])
    return;
  gpu_hash_change(sm->gpu, HASH_SHARED, (uint64_t)sm->index << 24 | word, shared->words[word], value);
  shared->words[word] = value;
  change_log_note(&shared->changes, word, change, lane);
}

static void load(Sm *sm, Flight *flight, unsigned lane, uint32_t word, uint32_t byte) {
  uint32_t bytes = flight->request.bytes;
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    uint32_t value = sm->shared.words[word + part];
    sm->shared.touched[word + part] |= (uint8_t)byte_mask(bytes, byte);
    flight->data[part][lane] = bytes < 4 ? narrow_load(value, byte, flight->inst->width) : value;
  }
}

static void store(Sm *sm, const Flight *flight, unsigned lane, uint32_t word, uint32_t byte,
                  const WordChange *change) {
  uint32_t bytes = flight->request.bytes;
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    uint32_t data = flight->data[part][lane], before = sm->shared.words[word + part];
    change_word(sm, word + part, byte_mask(bytes, byte), bytes < 4 ? narrow_store(before, byte, bytes, data) : data,
                change, lane);
  }
}

/* 128 bits are exchanged, or compared and swapped, all four words at once. */
static void operate_on_four(Sm *sm, Flight *flight, unsigned lane, uint32_t word, const WordChange *change) {
  uint32_t from = flight->inst->mode == ATOM_CAS ? FLIGHT_OPERAND_C : 0, fresh[ACCESS_PARTS_MAX];
  bool stores = true;
  for (uint32_t part = 0; part < ACCESS_PARTS_MAX; part++) {
    fresh[part] = flight->data[from + part][lane];
    stores &= atomic_agrees(flight->inst, sm->shared.words[word + part], flight->data[part][lane]);
  }
  for (uint32_t part = 0; part < ACCESS_PARTS_MAX; part++) {
    flight->data[part][lane] = sm->shared.words[word + part];
    if (stores)
      change_word(sm, word + part, ALL_BYTES, fresh[part], change, lane);
  }
}

static uint64_t operand(const Flight *flight, uint32_t row, unsigned lane) {
  return flight->data[row][lane] | (flight->request.bytes == 8 ? (uint64_t)flight->data[row + 1][lane] << 32 : 0);
}

static void operate(Sm *sm, Flight *flight, unsigned lane, uint32_t word, uint32_t byte, const WordChange *change) {
  const Inst *inst = flight->inst;
  uint32_t bytes = flight->request.bytes, before = sm->shared.words[word];
  if (bytes == 16) {
    operate_on_four(sm, flight, lane, word, change);
    return;
  }
  uint64_t b = operand(flight, 0, lane), c = operand(flight, FLIGHT_OPERAND_C, lane);
  flight->data[0][lane] = bytes < 4 ? narrow_load(before, byte, inst->width) : before;
  flight->data[1][lane] = bytes == 8 ? sm->shared.words[word + 1] : 0;
  uint64_t found = flight->data[0][lane] | (uint64_t)flight->data[1][lane] << 32;
  uint64_t value = atomic_apply(inst, found, b, c);
  uint32_t low = (uint32_t)value;
  change_word(sm, word, byte_mask(bytes, byte), bytes < 4 ? narrow_store(before, byte, bytes, low) : low, change,
              lane);
  if (bytes == 8)
    change_word(sm, word + 1, ALL_BYTES, (uint32_t)(value >> 32), change, lane);
  if (inst->mode == ATOM_ARRIVE && sm->trying)
    try_wait_changed(sm, word + 1, (uint32_t)(found >> 32), (uint32_t)(value >> 32), change->cycle);
}

static SharedAtomic kind_of_atomic(const Inst *inst) {
  return inst->mode == ATOM_CAS      ? SHARED_CAS
         : inst->mode == ATOM_EXCH   ? SHARED_EXCHANGE
         : inst->mode == ATOM_ARRIVE ? SHARED_ARRIVAL
                                     : SHARED_ARITHMETIC;
}

/* What it takes of the pipe there. */
static SharedService serve(Sm *sm, const Flight *flight, uint32_t lanes, uint64_t now) {
  uint32_t physical[WARP_LANES] = {0}, words = access_words(flight->request.bytes);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    physical[lane] = (uint32_t)flight->request.address[lane];
  }
  SharedCost cost;
  if (flight->request.kind == MEM_ATOMIC)
    cost = shared_atomic_cost(&sm->shared, kind_of_atomic(flight->inst), physical, lanes, words);
  else
    cost = shared_cost(&sm->shared, shared_passes(&sm->shared, NULL, physical, lanes, words));
  sm->counters.shared_accesses++;
  sm->counters.shared_passes += cost.passes;
  return shared_serve(&sm->shared, 0, now, &cost, &sm->jitter);
}

static void arrive(Sm *sm, const Arrival *arrival) {
  Flight *flight = arrival->flight;
  serve_tell(arrival->from, flight, arrival->lanes, arrival->time);
  SharedService service = serve(sm, flight, arrival->lanes, arrival->time);
  WordChange change = {.cycle = service.start, .thread = flight->thread, .pc = flight->pc};
  for (uint32_t rest = arrival->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t physical = (uint32_t)flight->request.address[lane], word = physical / 4, byte = physical % 4;
    if (flight->request.kind == MEM_LOAD)
      load(sm, flight, lane, word, byte);
    else if (flight->request.kind == MEM_STORE)
      store(sm, flight, lane, word, byte, &change);
    else
      operate(sm, flight, lane, word, byte, &change);
  }
  uint32_t back = both_ways(sm->gpu->machine) - both_ways(sm->gpu->machine) / 2;
  flight->earliest = MAX(flight->earliest, service.ready + back);
  flight->request.performed |= arrival->lanes;
  if (flight->request.performed == flight->lanes)
    sm_answer(arrival->from, flight, flight->earliest);
}

uint64_t remote_next(const Sm *sm) {
  const GArray *arrivals = sm->remote->arrivals;
  return arrivals->len ? g_array_index(arrivals, Arrival, 0).time : WHEEL_NEVER;
}

void remote_run(Sm *sm, uint64_t now) {
  GArray *arrivals = sm->remote->arrivals;
  while (arrivals->len && g_array_index(arrivals, Arrival, 0).time <= now) {
    Arrival arrival = g_array_index(arrivals, Arrival, 0);
    g_array_remove_index(arrivals, 0);
    if (!arrival.words) {
      arrive(sm, &arrival);
      continue;
    }
    arrival.words->come(arrival.words, arrival.time);
    g_free(arrival.words);
  }
}
