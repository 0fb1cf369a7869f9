/* Loads, stores and atomics of global memory and of generic addresses, constant variables, parameters; fences. */
#include <glib.h>

#include "base/bits.h"
#include "base/wide.h"
#include "sim/core/cached.h"
#include "sim/core/constants.h"
#include "sim/core/locks.h"
#include "sim/core/queue_unit.h"
#include "sim/core/record.h"
#include "sim/core/remote.h"
#include "sim/core/scheduler.h"
#include "sim/core/serve.h"
#include "sim/core/tell.h"
#include "sim/core/undefined.h"

#define HEX64 "0x%" G_GINT64_MODIFIER "x"

/* ---- addresses ---- */

/* The addresses of pairs of words and an offset. False: none is of shared memory (place_canonical()). */
WIDE_CLONES static bool add_offset(const uint32_t low[WARP_LANES], const uint32_t high[WARP_LANES], uint64_t offset,
                                   uint64_t address[WARP_LANES]) {
  uint64_t shared = 0;
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    uint64_t sum = (low[lane] | (uint64_t)high[lane] << 32) + offset;
    address[lane] = sum;
    shared |= sum >> 32 == SHARED_HIGH ? UINT64_MAX : 0;
  }
  return shared;
}

static void lane_addresses(const Issue *issue, uint64_t address[32]) {
  const Inst *inst = issue->inst;
  const uint32_t *low = issue_operand(issue, inst->a);
  if (!place_is_wide(inst)) {
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
      address[lane] = place_address(inst, low[lane], 0);
    return;
  }
  if (!add_offset(low, access_part(issue, inst->a, 1, true), (uint64_t)(int64_t)inst->imm, address))
    return;
  for (uint32_t lane = 0; lane < WARP_LANES; lane++)
    address[lane] = place_canonical(address[lane]);
}

/* Below it no pointer to a buffer points: it is null, or null with an index. */
enum { NULL_PAGE = 4096 };

static void raise_fault(Issue *issue, PlaceFault fault, uint64_t address, uint32_t bytes, unsigned lane) {
  Backing *backing = issue->gpu->backing;
  if (fault == PLACE_NOT_TAKEN) {
    access_raise_heap(issue, lane, address, bytes);
    return;
  }
  const BackingBuffer *nearest = backing_nearest(backing, address), *inside = backing_find(backing, address, 1);
  const char *space = issue->inst->space == MEM_CONST ? "constant" : "global";
  const char *repair = "enlarge the buffer, or correct the index";
  GString *text = g_string_new(NULL);
  if (fault == PLACE_MISALIGNED) {
    g_string_printf(text, "misaligned %u-byte access to %s address " HEX64, bytes, space, address);
    repair = "align the address";
  } else if (fault == PLACE_BEYOND && queue_unit_has(issue->inst) && backing_find(backing, address, 1)) {
    g_string_printf(text, "queue of %u bytes at global address " HEX64 ", which ends beyond `%s`", bytes, address,
                    backing_find(backing, address, 1)->name);
    repair = "give the buffer room for the whole queue: a machine's queues have memory.queue.bytes";
  } else if (fault == PLACE_NO_QUEUES) {
    g_string_printf(text, "queue at global address " HEX64 " in host-mapped memory, where there is no queue unit",
                    address);
    repair = "put the queue into memory of the GPU";
  } else if (fault == PLACE_READ_ONLY) {
    g_string_printf(text, "write to constant memory, `%s`", inside->name);
    repair = "a kernel can't change constant memory: let the host set it, or declare the variable without const";
  } else if (fault == PLACE_NOT_CONSTANT) {
    g_string_printf(text, "access to constant memory at " HEX64 ", which is in `%s`, not a constant", address,
                    inside->name);
  } else if (place_window(address) != MEM_GLOBAL) {
    g_string_printf(text, "access to %s address " HEX64 ", which is in %s memory", space, address,
                    place_window(address) == MEM_SHARED ? "shared" : "local");
    repair = "pass the address of a buffer in global memory";
  } else if (inside) {
    g_string_printf(text, "access of %u bytes to %s address " HEX64 ", which ends beyond `%s` (%u words)", bytes,
                    space, address, inside->name, inside->words);
  } else {
    g_string_printf(text, "access to %s address " HEX64 ", which is in no buffer", space, address);
    if (address < NULL_PAGE) {
      g_string_append(text, ": a null pointer, or an index from one");
      repair = "pass the address of a buffer";
    }
    if (nearest && address >= nearest->base)
      g_string_append_printf(text, "; it lies %" G_GUINT64_FORMAT " bytes after the start of `%s` (%u words)",
                             address - nearest->base, nearest->name, nearest->words);
  }
  record_fault(issue, 1u << lane, space, address, g_string_free(text, FALSE), g_strdup(repair));
}

/* Where the lanes of an access go. */
typedef struct Span {
  uint64_t low, high, bits; /* the first and last address, and all of them or-ed */
  bool run;                 /* see MemRequest */
} Span;

/* True if each lane's address is so many bytes behind that of the lane before. */
WIDE_CLONES static bool goes_by(uint64_t step, const uint64_t address[32]) {
  uint64_t differ = 0;
  for (uint32_t lane = 1; lane < WARP_LANES; lane++)
    differ |= (address[lane] - address[lane - 1]) ^ step;
  return differ == 0;
}

static Span span_of(uint32_t mask, uint32_t bytes, const uint64_t address[32]) {
  if (mask == ALL_LANES && goes_by(bytes, address))
    return (Span){address[0], address[WARP_LANES - 1], address[0], true};
  if (mask == ALL_LANES && goes_by(0, address))
    return (Span){address[0], address[0], address[0], false};
  Span span = {.low = UINT64_MAX};
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    uint64_t at = address[__builtin_ctz(rest)];
    span.low = MIN(span.low, at);
    span.high = MAX(span.high, at);
    span.bits |= at;
  }
  return span;
}

/* What the address of an access is a multiple of: the first word of a vector of atomics stands for all of it. */
static uint32_t alignment_of(const Inst *inst, MemKind kind) {
  uint32_t bytes = width_bytes[inst->width];
  if (kind != MEM_ATOMIC)
    return bytes;
  return inst->flags & INST_OF_FOUR ? 4 * bytes : inst->flags & INST_OF_TWO ? 2 * bytes : bytes;
}

/* The buffer that holds what all lanes access, if they may; NULL: they have to be looked at one by one. */
static BackingBuffer *one_buffer(const Issue *issue, MemKind kind, uint32_t bytes, const Span *span) {
  BackingBuffer *buffer;
  bool constant = issue->inst->space == MEM_CONST;
  if (span->bits & (alignment_of(issue->inst, kind) - 1) ||
      place_in_buffer(issue->gpu->backing, kind, constant, span->low, bytes, &buffer) || buffer->heap ||
      span->high - buffer->base > 4 * (uint64_t)buffer->words - bytes)
    return NULL;
  return buffer;
}

/* True if all lanes of issue->mask may access their addresses; otherwise a fault. *host: some are the host's. */
static bool check_addresses(Issue *issue, MemKind kind, uint32_t bytes, const uint64_t address[32], bool *host) {
  *host = false;
  bool constant = issue->inst->space == MEM_CONST;
  uint32_t whole = alignment_of(issue->inst, kind);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    BackingBuffer *buffer;
    PlaceFault fault = place_in_buffer(issue->gpu->backing, kind, constant, address[lane], bytes, &buffer);
    if (!fault && address[lane] % whole)
      fault = PLACE_MISALIGNED;
    if (fault) {
      raise_fault(issue, fault, address[lane], fault == PLACE_MISALIGNED ? whole : bytes, lane);
      return false;
    }
    *host |= buffer->host;
  }
  return true;
}

/* ---- global memory ---- */

/* The access that the instruction makes, to checked addresses, without its data. */
static Flight *new_flight(Issue *issue, MemKind kind, const uint64_t address[32], const Span *span,
                          BackingBuffer *buffer) {
  uint32_t bytes = width_bytes[issue->inst->width];
  Flight *flight = flights_new(&issue->sm->flights, kind, bytes);
  MemRequest *request = &flight->request;
  request->kind = kind;
  request->sm = issue->sm->index;
  request->mask = issue->mask;
  request->bytes = bytes;
  request->run = span->run;
  request->together = span->low == span->high;
  request->host = false;
  request->keeps = kind == MEM_LOAD && cached_is_load(issue->gpu->machine, issue->inst);
  request->queue = MEM_NO_QUEUE;
  request->unused = issue->inst->op == OP_RED;
  request->exchange = kind == MEM_ATOMIC && issue->inst->mode == ATOM_EXCH;
  request->cas = kind == MEM_ATOMIC && issue->inst->mode == ATOM_CAS;
  request->rides = kind == MEM_ATOMIC && issue->inst->flags & INST_OF_VECTOR;
  request->floats = kind == MEM_ATOMIC && issue->inst->mode == ATOM_ADD && type_is_float(issue->inst->type);
  request->merged = kind == MEM_ATOMIC && issue_merges(issue);
  memcpy(request->address, address, sizeof request->address);
  flight->lanes = issue->mask;
  flight->request.performed = 0;
  flight->updates = 0;
  flight->buffer = buffer;
  flight->inst = issue->inst;
  flight->launch = issue->block->launch;
  flight->thread = warp_thread_base(issue->block, issue->warp);
  flight->pc = issue->pc;
  flight->number = ++issue->sm->flights.made;
  flight->parts = flight->merged = 0;
  flight->refused = 0;
  flight->waits = 1;
  flight->earliest = 0;
  flight->apart = false;
  flight->bulk = NULL;
  return flight;
}

/* The same; NULL after a fault. */
static Flight *make_flight(Issue *issue, MemKind kind, const uint64_t address[32]) {
  uint32_t bytes = width_bytes[issue->inst->width];
  Span span = span_of(issue->mask, bytes, address);
  BackingBuffer *buffer = one_buffer(issue, kind, bytes, &span);
  bool host = buffer && buffer->host;
  if (!buffer && !check_addresses(issue, kind, bytes, address, &host))
    return NULL;
  Flight *flight = new_flight(issue, kind, address, &span, buffer);
  flight->request.host = host;
  return flight;
}

static void report_global(Issue *issue, AccessKind kind, const Flight *flight) {
  if (!PROBE_WANTED(issue->gpu, access))
    return;
  const MemRequest *request = &flight->request;
  ProbePoint point = issue_point(issue, issue->mask);
  PROBE_FIRE(issue->gpu, access, &point, SPACE_GLOBAL, kind, request->address, serve_span(issue->gpu, flight), 0,
             false, serve_number(issue->sm, flight));
}

static bool global_load(Issue *issue, const uint64_t address[32]) {
  Flight *flight = make_flight(issue, MEM_LOAD, address);
  if (!flight)
    return false;
  report_global(issue, ACCESS_READ, flight);
  if (cached_is_load(issue->gpu->machine, issue->inst))
    cached_load(issue, flight);
  else
    access_send(issue, flight);
  return true;
}

bool access_fetch(Issue *issue, bool aligns, uint8_t valid[WARP_LANES]) {
  uint32_t bytes = width_bytes[issue->inst->width];
  uint64_t address[WARP_LANES];
  lane_addresses(issue, address);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint32_t short_by = aligns ? address[lane] & (bytes - 1) : 0;
    valid[lane] = issue->mask >> lane & 1 ? (uint8_t)(bytes - short_by) : 0;
    address[lane] -= short_by;
  }
  Flight *flight = make_flight(issue, MEM_LOAD, address);
  if (!flight)
    return false;
  report_global(issue, ACCESS_READ, flight);
  if (cached_is_load(issue->gpu->machine, issue->inst))
    cached_load(issue, flight);
  else
    access_send(issue, flight);
  return true;
}

static bool global_store(Issue *issue, const uint64_t address[32]) {
  Flight *flight = make_flight(issue, MEM_STORE, address);
  if (!flight)
    return false;
  for (uint32_t part = 0; part < access_words(flight->request.bytes); part++)
    memcpy(flight->data[part], access_data(issue, part), sizeof flight->data[part]);
  report_global(issue, ACCESS_WRITE, flight);
  if (G_UNLIKELY(issue->warp->undefined_rows))
    undefined_leaves(issue);
  cached_store(issue, flight);
  access_send(issue, flight);
  return true;
}

static void keep_operands(const Issue *issue, Flight *flight) {
  AtomicOperands operands = access_atomic_operands(issue);
  for (uint32_t part = 0; part < access_words(flight->request.bytes); part++) {
    memcpy(flight->data[part], operands.b[part], sizeof flight->data[part]);
    memcpy(flight->data[FLIGHT_OPERAND_C + part], operands.c[part], sizeof flight->data[part]);
  }
}

/* A lock in tags: what the L1 has no answer for goes to memory. */
static void access_lock(Issue *issue, Flight *flight) {
  uint32_t here = locks_answer(issue, flight);
  if (here)
    serve_at_once(issue->gpu, flight, here, issue->now);
  flight->request.performed = here;
  flight->request.mask = flight->lanes & ~here;
  if (flight->request.mask) {
    access_send(issue, flight);
    return;
  }
  issue->ready = flight->earliest;
  if (issue->inst->op == OP_ATOM)
    access_use_loaded(issue, flight);
  else
    flights_release(&issue->sm->flights, flight);
}

/* Lanes in order; the destination receives the old values. */
static bool global_atomic(Issue *issue, const uint64_t address[32]) {
  Flight *flight = make_flight(issue, MEM_ATOMIC, address);
  if (!flight)
    return false;
  keep_operands(issue, flight);
  report_global(issue, ACCESS_ATOMIC, flight);
  cached_store(issue, flight);
  if (G_UNLIKELY(locks_are_meant(issue->gpu, issue->inst))) {
    access_lock(issue, flight);
    return true;
  }
  access_send(issue, flight);
  if (flight->request.merged)
    issue->next += access_merge_before(issue->gpu->machine, issue->inst, access_is_used(issue));
  return true;
}

/* ---- queues ---- */

/* The operation on the queues at the lanes' addresses; NULL after a fault. */
static Flight *make_queue_flight(Issue *issue, const uint64_t address[32]) {
  uint32_t bytes = issue->gpu->machine->memory.queue.bytes;
  BackingBuffer *buffer = NULL, *first = NULL;
  bool same = true;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    PlaceFault fault = place_of_queue(issue->gpu->backing, address[lane], bytes, &buffer);
    if (fault) {
      raise_fault(issue, fault, address[lane], bytes, lane);
      return NULL;
    }
    first = first ? first : buffer;
    same = same && buffer == first && !buffer->heap;
  }
  Span span = span_of(issue->mask, bytes, address);
  span.run = false; /* the bytes of its results aren't side by side in memory */
  Flight *flight = new_flight(issue, MEM_ATOMIC, address, &span, same ? first : NULL);
  flight->request.queue = issue->inst->op == OP_ENQUEUE ? MEM_ENQUEUE : MEM_DEQUEUE;
  memset(flight->data, 0, FLIGHT_ROWS * sizeof *flight->data);
  return flight;
}

static void access_queue(Issue *issue) {
  uint64_t address[32];
  lane_addresses(issue, address);
  Flight *flight = make_queue_flight(issue, address);
  if (!flight)
    return;
  if (issue->inst->op == OP_ENQUEUE)
    memcpy(flight->data[0], access_data(issue, 0), sizeof flight->data[0]);
  report_global(issue, ACCESS_ATOMIC, flight);
  if (G_UNLIKELY(issue->warp->undefined_rows) && issue->inst->op == OP_ENQUEUE)
    undefined_leaves(issue);
  cached_store(issue, flight);
  access_send(issue, flight);
}

/* ---- constants and parameters ---- */

/* Served by the constant cache, which always hits here. */
static void access_constant(Issue *issue, MemKind kind, const uint64_t address[32]) {
  Flight *flight = make_flight(issue, kind, address);
  if (!flight)
    return; /* like each store: nothing is a constant and can be written */
  serve_load(issue->gpu, flight, issue->mask);
  access_use_loaded(issue, flight);
}

static void load_parameter(Issue *issue, const uint64_t address[32]) {
  const Launch *launch = warp_block(issue->sm, issue->warp)->launch;
  uint32_t bytes = width_bytes[issue->inst->width], rows[ACCESS_PARTS_MAX][32] = {{0}};
  uint32_t before = launch->kernel->bank == BANK_VOLTA ? launch->kernel->param_base : 0;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t at = address[lane];
    PlaceFault fault = place_in(at, bytes, launch->param_bytes);
    if (fault) {
      record_fault(issue, 1u << lane, "param", at,
                   fault == PLACE_MISALIGNED
                       ? g_strdup_printf("misaligned %u-byte access to parameter byte " HEX64, bytes, at - before)
                       : g_strdup_printf("access to parameter byte " HEX64 " beyond the kernel's %u", at - before,
                                         launch->param_bytes - before),
                   g_strdup("keep the index within the parameter"));
      return;
    }
    for (uint32_t part = 0; part < access_words(bytes); part++) {
      uint32_t word = 0;
      memcpy(&word, launch->params + at + 4 * part, MIN(bytes, 4u));
      rows[part][lane] = narrow_load(word, 0, issue->inst->width);
    }
  }
  for (uint32_t part = 0; part < access_words(bytes); part++)
    access_write(issue, part, rows[part]);
}

/* ---- the instructions ---- */

static bool access_global(Issue *issue, MemKind kind, const uint64_t address[32]) {
  return kind == MEM_LOAD    ? global_load(issue, address)
         : kind == MEM_STORE ? global_store(issue, address)
                             : global_atomic(issue, address);
}

static bool access_shared(Issue *issue, MemKind kind, const uint32_t base[32], uint32_t offset) {
  return kind == MEM_LOAD    ? shared_load(issue, base, offset)
         : kind == MEM_STORE ? shared_store(issue, base, offset)
                             : shared_atomic(issue, base, offset);
}

/* An atomic operation has its fault from local_store(). */
static bool access_local(Issue *issue, MemKind kind, const uint32_t base[32], uint32_t offset) {
  return kind == MEM_LOAD ? local_load(issue, base, offset) : local_store(issue, base, offset);
}

/* The lanes of `shared` whose address is another block's of the cluster access that, and leave `shared`. False after
 * a fault. */
static bool access_others(Issue *issue, MemKind kind, const uint64_t address[32], uint32_t *shared) {
  uint32_t offset[32] = {0}, others = 0, own = issue->block->rank;
  for (uint32_t rest = *shared; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    offset[lane] = (uint32_t)(address[lane] - SHARED_WINDOW);
    others |= offset[lane] >> CLUSTER_RANK_SHIFT != own ? 1u << lane : 0;
  }
  *shared &= ~others;
  issue->mask = others;
  return !others || remote_access(issue, kind, offset);
}

/* Lanes of two ways at once, of which both need replies: not as one access. */
static bool refuse_mixture(Issue *issue, uint32_t lanes) {
  record_fault(issue, lanes, NULL, 0,
               g_strdup("lanes of one instruction access global memory and other blocks' shared memory, which isn't "
                        "modelled"),
               g_strdup("branch by where the address lies (isspacep)"));
  return false;
}

/* Each lane by the window that its address lies in: lanes of global memory first, then shared, then local ones. */
static void access_generic(Issue *issue, MemKind kind, const uint64_t address[32]) {
  uint32_t low[32] = {0}, shared = 0, local = 0, all = issue->mask;
  for (uint32_t rest = all; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    low[lane] = (uint32_t)address[lane];
    MemSpace space = place_window(address[lane]);
    shared |= space == MEM_SHARED ? 1u << lane : 0;
    local |= space == MEM_LOCAL ? 1u << lane : 0;
  }
  uint64_t ready = issue->now;
  bool fine = true;
  if ((issue->mask = all & ~(shared | local))) {
    fine = access_global(issue, kind, address);
    ready = MAX(ready, issue->ready);
  }
  if (G_UNLIKELY(issue->block->cluster != NULL) && fine && shared && issue->block->launch->kernel->ranked) {
    uint32_t before = shared;
    bool sent = issue->flight != NULL;
    fine = access_others(issue, kind, address, &shared);
    if (fine && sent && shared != before)
      fine = refuse_mixture(issue, before & ~shared);
    ready = MAX(ready, issue->ready);
  }
  if (fine && (issue->mask = shared)) {
    fine = access_shared(issue, kind, low, -SHARED_WINDOW);
    ready = MAX(ready, issue->ready);
    if (kind == MEM_STORE || issue->inst->op == OP_RED)
      shared_hold(&issue->sm->shared, issue->sm->shared.generic_interval);
  }
  if (fine && (issue->mask = local)) {
    access_local(issue, kind, low, -LOCAL_WINDOW);
    ready = MAX(ready, issue->ready);
  }
  issue->mask = all;
  issue->ready = ready;
}

static void access_memory(Issue *issue, MemKind kind) {
  uint64_t address[32];
  lane_addresses(issue, address);
  switch ((MemSpace)issue->inst->space) {
  case MEM_GENERIC: access_generic(issue, kind, address); break;
  case MEM_CONST: access_constant(issue, kind, address); break;
  case MEM_PARAM: load_parameter(issue, address); break;
  default: access_global(issue, kind, address); break;
  }
  if (constants_are_looked_up(issue))
    constants_load(issue, address);
  if (cached_is_acquire(issue->inst) && !issue->flight)
    cached_forget(issue->sm); /* it came to shared memory; otherwise when the reply comes */
}

void exec_LD(Issue *issue) { access_memory(issue, MEM_LOAD); }
void exec_ST(Issue *issue) { access_memory(issue, MEM_STORE); }
void exec_ATOM(Issue *issue) { access_memory(issue, MEM_ATOMIC); }
void exec_RED(Issue *issue) { access_memory(issue, MEM_ATOMIC); }
void exec_ENQUEUE(Issue *issue) { access_queue(issue); }
void exec_DEQUEUE(Issue *issue) { access_queue(issue); }

/* PTX orders stores before such a fence before the stores behind it, and not before the loads: where stores may be
 * late, loads pass them. */
static bool lets_loads_pass(const Issue *issue) {
  return issue->gpu && issue->gpu->machine->memory.late_stores && issue->inst->sem == SEM_ACQ_REL &&
         issue->block->launch->program->dialect == DIALECT_PTX;
}

/* Within an SM accesses to a line are performed in order, so .CTA waits for loads of its warp at most; wider scopes
 * wait until the global accesses that the SM has under way are performed, and for the fence itself. */
void exec_MEMBAR(Issue *issue) {
  bool of_init = issue->inst->mode == FENCE_INIT;
  issue->drains = issue->empties_l1 = fence_drains(issue->inst->mode);
  issue->drains_system = issue->inst->mode == FENCE_SYS;
  if (issue->drains && lets_loads_pass(issue)) {
    issue->drains_reads = true;
    issue->warp->owes = MAX(issue->warp->owes, issue->inst->mode + 1);
  }
  if (!issue->drains && !of_init && issue->gpu) {
    const Machine *machine = issue->gpu->machine;
    uint32_t takes = issue->encoded ? machine->sm.encoded.fence : machine->memory.fence_block;
    uint64_t *until = issue->encoded ? &issue->sources : &issue->next;
    uint64_t over = takes ? scheduler_fence(issue, takes) : 0;
    *until = MAX(*until, over);
    issue->warp->awaits_loads = issue->inst->sem == SEM_ACQ_REL && machine->memory.block_orders == BLOCK_ORDERS_LOADS;
  }
  ProbePoint point = issue_point(issue, issue->mask);
  tell_fence(&point);
}

/* Fences of machine code leave the L1 to it. */
void exec_CCTL(Issue *issue) {
  if (issue->sm)
    cached_forget(issue->sm);
  ProbePoint point = issue_point(issue, issue->mask);
  tell_fence(&point);
}
