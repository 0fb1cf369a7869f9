#include "sim/memory/memsys.h"

#include <glib.h>

#include "sim/engine/event.h"
#include "sim/engine/wheel.h"
#include "sim/memory/hierarchy.h"

struct MemSys {
  Hierarchy *units; /* of a machine with slices; NULL: the plain server serves */
  MemClient client;
  EventQueue queue;    /* requests that are to be performed; the source is an index into `requests` */
  GPtrArray *requests; /* MemRequest * */
  GArray *free;        /* uint32_t: indices that aren't in use */
  uint64_t request_latency;
  Backing *backing;
  uint64_t latency, host_latency;
  Milli atomic_interval, queue_interval;
  uint32_t segment, segment_shift, bytes_per_cycle;
  MemStats stats;
  uint64_t free_at; /* in 1/bytes_per_cycle of a cycle: when the server has moved all bytes so far */
};

MemSys *memsys_new(const Machine *machine, uint64_t seed, Backing *backing, const MemClient *client,
                   Counters *counters) {
  MemSys *memsys = g_new0(MemSys, 1);
  if (machine->memory.slices) {
    memsys->units = hierarchy_new(machine, seed, backing, client, counters);
    return memsys;
  }
  mem_stats_init(&memsys->stats, machine);
  memsys->client = *client;
  event_queue_init(&memsys->queue, 64);
  memsys->requests = g_ptr_array_new();
  memsys->free = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  memsys->request_latency = machine->memory.request_latency;
  memsys->backing = backing;
  memsys->latency = machine->memory.latency;
  memsys->host_latency = machine->host.latency;
  memsys->atomic_interval = machine->memory.atomic_interval;
  memsys->queue_interval = machine->memory.atomic_interval + machine->memory.queue.slot_interval;
  memsys->segment = machine->memory.segment;
  memsys->segment_shift = (uint32_t)__builtin_ctz(machine->memory.segment);
  memsys->bytes_per_cycle = machine->memory.bytes_per_cycle;
  return memsys;
}

void memsys_free(MemSys *memsys) {
  if (!memsys)
    return;
  if (memsys->units) {
    hierarchy_free(memsys->units);
    g_free(memsys);
    return;
  }
  mem_stats_clear(&memsys->stats);
  event_queue_clear(&memsys->queue);
  g_ptr_array_free(memsys->requests, TRUE);
  g_array_free(memsys->free, TRUE);
  g_free(memsys);
}

/* Distinct aligned segments that the lanes touch. An access is aligned, and no larger than a segment. */
static uint32_t count_segments(const MemSys *memsys, const MemRequest *request) {
  uint64_t seen[32];
  uint32_t count = 0;
  for (uint32_t rest = request->mask; rest; rest &= rest - 1) {
    uint64_t segment = request->address[__builtin_ctz(rest)] >> memsys->segment_shift;
    uint32_t i = count;
    while (i > 0 && seen[i - 1] != segment)
      i--;
    if (i == 0)
      seen[count++] = segment;
  }
  return count;
}

/* Atomics of the lanes on one word follow each other, and those of earlier requests. Returns when the last is done. */
static uint64_t serve_atomics(MemSys *memsys, const MemRequest *request, uint64_t arrival, Counters *counters) {
  uint64_t last = milli_of(arrival);
  for (uint32_t rest = request->mask; rest; rest &= rest - 1) {
    uint64_t address = request->address[__builtin_ctz(rest)];
    BackingBuffer *buffer = backing_find(memsys->backing, address, 4);
    if (!buffer)
      continue;
    if (!buffer->ready_milli)
      buffer->ready_milli = g_new0(uint64_t, buffer->words);
    uint64_t *ready = &buffer->ready_milli[(address - buffer->base) / 4];
    uint64_t start = milli_serve(ready, arrival, request->queue ? memsys->queue_interval : memsys->atomic_interval);
    last = MAX(last, start);
    counters->global_atomics++;
  }
  return milli_cycle(last);
}

/* Accesses to a word don't overtake atomic operations on it. */
static uint64_t behind_atomics(MemSys *memsys, const MemRequest *request, uint64_t arrival) {
  uint64_t last = milli_of(arrival);
  for (uint32_t rest = request->mask; rest; rest &= rest - 1) {
    uint64_t address = request->address[__builtin_ctz(rest)];
    const BackingBuffer *buffer = backing_find(memsys->backing, address, 1);
    if (buffer && buffer->ready_milli)
      last = MAX(last, buffer->ready_milli[(address - buffer->base) / 4]);
  }
  return milli_cycle(last);
}

/* Served in cycle `served`, with so many segments. */
static void count(MemSys *memsys, const MemRequest *request, uint32_t segments, uint64_t now, uint64_t served) {
  SliceStats *stats = &memsys->stats.slice[0];
  PortStats *port = &memsys->stats.port[request->sm];
  uint64_t bytes = (uint64_t)segments * memsys->segment, lanes = (uint64_t)__builtin_popcount(request->mask);
  bool brings = request->kind != MEM_LOAD && request->queue != MEM_DEQUEUE;
  uint64_t out = !brings ? 0 : request->kind == MEM_STORE ? bytes : lanes * request->bytes;
  uint64_t in = request->kind == MEM_LOAD                       ? bytes
                : request->kind == MEM_STORE || request->unused ? 0
                                                                : lanes * request->bytes;
  stats->arrived++;
  *(request->kind == MEM_LOAD ? &stats->loads : request->kind == MEM_STORE ? &stats->stores : &stats->atomics) += 1;
  stats->operations += request->kind == MEM_ATOMIC ? lanes : 0;
  stats->waited += milli_of(served - now);
  stats->busy += milli_of(bytes) / memsys->bytes_per_cycle;
  link_stats_add(&stats->in, out);
  link_stats_add(&stats->out, in);
  link_stats_add(&port->out, out);
  link_stats_add(&port->in, in);
}

/* The server takes the request. Returns when. */
static uint64_t serve(MemSys *memsys, const MemRequest *request, uint64_t now, Counters *counters) {
  uint32_t segments = count_segments(memsys, request);
  counters->global_accesses++;
  counters->global_segments += segments;
  uint64_t start = MAX(memsys->free_at, now * memsys->bytes_per_cycle);
  memsys->free_at = start + (uint64_t)segments * memsys->segment;
  uint64_t served = MAX(now, (memsys->free_at - memsys->segment) / memsys->bytes_per_cycle);
  served = request->kind == MEM_ATOMIC ? serve_atomics(memsys, request, served, counters)
                                       : behind_atomics(memsys, request, served);
  count(memsys, request, segments, now, served);
  return served;
}

static uint32_t enter(MemSys *memsys, MemRequest *request) {
  if (memsys->free->len == 0) {
    g_ptr_array_add(memsys->requests, request);
    return memsys->requests->len - 1;
  }
  uint32_t index = g_array_index(memsys->free, uint32_t, memsys->free->len - 1);
  g_array_set_size(memsys->free, memsys->free->len - 1);
  memsys->requests->pdata[index] = request;
  return index;
}

MemNext memsys_goes_on(MemSys *memsys, MemRequest *request, uint64_t time, uint64_t sent_milli) {
  if (memsys->units)
    return hierarchy_goes_on(memsys->units, request, time, sent_milli);
  request->parts = 1;
  return (MemNext){.cycle = time, .sent_milli = sent_milli, .credits = 1};
}

void memsys_replied(MemSys *memsys, const MemRequest *request) {
  if (memsys->units)
    hierarchy_replied(memsys->units, request);
}

uint64_t memsys_fence(MemSys *memsys, uint32_t sm, uint64_t time, bool system) {
  return memsys->units ? hierarchy_fence(memsys->units, sm, time, system) : time;
}

void memsys_send_probes(MemSys *memsys, uint32_t sm, uint64_t start, bool of_all) {
  if (memsys->units)
    hierarchy_send_probes(memsys->units, sm, start, of_all);
}

uint32_t memsys_gpc(const MemSys *memsys, uint32_t sm) {
  return memsys->units ? hierarchy_gpc(memsys->units, sm) : 0;
}

void memsys_send(MemSys *memsys, MemRequest *request, uint64_t time, Counters *counters) {
  if (memsys->units) {
    hierarchy_send(memsys->units, request, time, counters);
    return;
  }
  uint64_t served = serve(memsys, request, time, counters);
  request->sent = time;
  request->answered = served + (request->host ? memsys->host_latency : memsys->latency);
  event_queue_push(&memsys->queue, served + memsys->request_latency, enter(memsys, request));
}

uint64_t memsys_next(const MemSys *memsys) {
  if (memsys->units)
    return hierarchy_next(memsys->units);
  return memsys->queue.count ? memsys->queue.heap[0].time : WHEEL_NEVER;
}

static void tell_part(MemSys *memsys, const MemRequest *request, uint64_t now) {
  MemTrace trace = {.request = request,
                    .address = request->address[__builtin_ctz(request->mask)] & ~(uint64_t)(memsys->segment - 1),
                    .lanes = request->mask,
                    .last = true};
  trace.step[TRACE_SENT] = trace.step[TRACE_LEFT] = trace.step[TRACE_ARRIVED] = milli_of(request->sent);
  trace.step[TRACE_SERVED] = milli_of(now - memsys->request_latency);
  trace.step[TRACE_PERFORMED] = milli_of(now);
  trace.step[TRACE_REPLIED] = milli_of(request->answered);
  memsys->client.part(memsys->client.user, &trace);
}

void memsys_run(MemSys *memsys, uint64_t end) {
  if (memsys->units) {
    hierarchy_run(memsys->units, end);
    return;
  }
  while (memsys->queue.count && memsys->queue.heap[0].time < end) {
    Event event = event_queue_pop(&memsys->queue);
    MemRequest *request = g_ptr_array_index(memsys->requests, event.source);
    g_array_append_val(memsys->free, event.source);
    memsys->client.perform(memsys->client.user, request, request->mask, event.time);
    request->performed |= request->mask;
    if (memsys->client.part)
      tell_part(memsys, request, event.time);
    memsys->client.reply(memsys->client.user, request, request->answered);
  }
}

uint32_t memsys_serve(MemSys *memsys, uint64_t end) {
  return memsys->units ? hierarchy_serve(memsys->units, end) : 0;
}

void memsys_pass(MemSys *memsys, uint32_t share, uint32_t shares) {
  if (memsys->units)
    hierarchy_pass(memsys->units, share, shares);
}

void memsys_settle(MemSys *memsys, uint64_t end) {
  if (memsys->units)
    hierarchy_settle(memsys->units);
  else
    memsys_run(memsys, end);
}

void memsys_part(MemSys *memsys, const uint8_t *home, uint32_t shares) {
  hierarchy_part(memsys->units, home, shares);
}

bool memsys_goes_apart(const MemSys *memsys) { return memsys->units && hierarchy_goes_apart(memsys->units); }

void memsys_enlarge(MemSys *memsys) {
  if (memsys->units)
    hierarchy_enlarge(memsys->units);
}

uint32_t memsys_window(const MemSys *memsys) {
  if (memsys->units)
    return hierarchy_window(memsys->units);
  uint64_t back = MIN(memsys->latency, memsys->host_latency);
  return back < memsys->request_latency ? 0 : (uint32_t)MIN(memsys->request_latency, back - memsys->request_latency);
}

const MemStats *memsys_stats(MemSys *memsys) {
  return memsys->units ? hierarchy_stats(memsys->units) : &memsys->stats;
}

void memsys_follow(MemSys *memsys, MemFollower follower) {
  if (memsys->units)
    hierarchy_follow(memsys->units, follower);
  else
    memsys->client.part = follower;
}
