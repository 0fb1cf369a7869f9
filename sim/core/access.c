#include "sim/core/access.h"

#include "sim/core/due.h"
#include "sim/core/mbarrier.h"
#include "sim/core/scheduler.h"
#include "sim/core/soft_float.h"
#include "sim/core/tell.h"
#include "sim/core/undefined.h"

#include <string.h>

const uint8_t width_bytes[] = {[WIDTH_32] = 4,  [WIDTH_U8] = 1, [WIDTH_S8] = 1,  [WIDTH_U16] = 2,
                               [WIDTH_S16] = 2, [WIDTH_64] = 8, [WIDTH_128] = 16};

uint32_t narrow_load(uint32_t word, uint32_t offset, MemWidth width) {
  uint32_t shifted = word >> (8 * offset);
  switch (width) {
  case WIDTH_U8: return shifted & 0xff;
  case WIDTH_S8: return (uint32_t)(int32_t)(int8_t)shifted;
  case WIDTH_U16: return shifted & 0xffff;
  case WIDTH_S16: return (uint32_t)(int32_t)(int16_t)shifted;
  default: return shifted;
  }
}

uint32_t narrow_store(uint32_t word, uint32_t offset, uint32_t bytes, uint32_t value) {
  uint32_t mask = (bytes == 1 ? 0xffu : bytes == 2 ? 0xffffu : UINT32_MAX) << (8 * offset);
  return (word & ~mask) | ((value << (8 * offset)) & mask);
}

/* ---- atomic operations ---- */

/* A subnormal number is a zero of its sign under .FTZ. */
static uint32_t flush(const Inst *inst, uint32_t word) {
  return inst->flags & INST_FTZ && !(word & 0x7f800000) ? word & 0x80000000 : word;
}

static float as_f32(uint64_t bits) {
  uint32_t word = (uint32_t)bits;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

static double as_f64(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t from_f32(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return value != value ? 0x7fffffff : word; /* the NaN that the hardware makes */
}

static uint64_t from_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Both halves of a word. */
static uint64_t add_halves(SoftFormat format, uint64_t a, uint64_t b) {
  return soft_add(format, a & 0xffff, b & 0xffff, FROUND_NEAREST) |
         soft_add(format, a >> 16 & 0xffff, b >> 16 & 0xffff, FROUND_NEAREST) << 16;
}

static uint64_t add(const Inst *inst, uint64_t a, uint64_t b) {
  switch ((DataType)inst->type) {
  case TYPE_F16: return add_halves(SOFT_F16, a, b);
  case TYPE_BF16: return add_halves(SOFT_BF16, a, b);
  case TYPE_F32:
    return flush(inst, (uint32_t)from_f32(as_f32(flush(inst, (uint32_t)a)) + as_f32(flush(inst, (uint32_t)b))));
  case TYPE_F64: return from_f64(as_f64(a) + as_f64(b));
  default: return a + b;
  }
}

static bool is_less(DataType type, uint64_t a, uint64_t b) {
  switch (type) {
  case TYPE_S32: return (int32_t)a < (int32_t)b;
  case TYPE_S64: return (int64_t)a < (int64_t)b;
  case TYPE_F32: return as_f32(a) < as_f32(b);
  case TYPE_F64: return as_f64(a) < as_f64(b);
  default: return a < b;
  }
}

uint64_t atomic_apply(const Inst *inst, uint64_t old, uint64_t b, uint64_t c) {
  uint32_t bytes = width_bytes[inst->width];
  uint64_t all = bytes == 8 ? UINT64_MAX : bytes == 2 ? 0xffff : UINT32_MAX, result = old;
  DataType type = (DataType)inst->type;
  old &= all;
  b &= all;
  switch ((AtomOp)inst->mode) {
  case ATOM_ADD: result = add(inst, old, b); break;
  case ATOM_MIN: result = is_less(type, b, old) ? b : old; break;
  case ATOM_MAX: result = is_less(type, old, b) ? b : old; break;
  case ATOM_INC: result = old >= b ? 0 : old + 1; break;
  case ATOM_DEC: result = old == 0 || old > b ? b : old - 1; break;
  case ATOM_AND: result = old & b; break;
  case ATOM_OR: result = old | b; break;
  case ATOM_XOR: result = old ^ b; break;
  case ATOM_EXCH: result = b; break;
  case ATOM_CAS: result = old == b ? c : old; break;
  case ATOM_ARRIVE: result = mbarrier_arrive(inst, old, (uint32_t)b); break;
  }
  return result & all;
}

AtomicOperands access_atomic_operands(const Issue *issue) {
  const Inst *inst = issue->inst;
  int16_t c = inst->mode == ATOM_CAS ? inst->c : inst->b;
  AtomicOperands operands = {{NULL}, {NULL}};
  for (uint32_t part = 0; part < access_words(width_bytes[inst->width]); part++) {
    operands.b[part] = access_part(issue, inst->b, part, inst->wide & WIDE_B);
    operands.c[part] = access_part(issue, c, part, inst->wide & WIDE_C);
  }
  return operands;
}

bool access_is_used(const Issue *issue) { return issue->block->launch->decoded[issue->pc].writes > 0; }

uint32_t access_merge_before(const Machine *machine, const Inst *inst, bool used) {
  enum { SHUFFLES = 5 };
  uint32_t alu = machine->sm.latency.alu, guard = MAX(machine->sm.latency.guard, alu);
  switch ((MergeMode)inst->cmp) {
  case MERGE_COUNT: return machine->sm.latency.ballot + (used ? machine->sm.encoded.slow : alu) + guard;
  case MERGE_REDUX: return machine->sm.latency.redux + guard;
  default: return SHUFFLES * (machine->sm.latency.shuffle + alu);
  }
}

uint32_t access_merge_delay(const Machine *machine, const Inst *inst) {
  return access_merge_before(machine, inst, true) + machine->sm.latency.shuffle + machine->sm.latency.alu;
}

/* For the end of the window. */
static void keep(Sm *sm, MemRequest *request, uint64_t time) {
  if (sm->out_count == sm->out_space) {
    sm->out_space = MAX(64, 2 * sm->out_space);
    sm->out = g_renew(SmSend, sm->out, sm->out_space);
  }
  sm->out[sm->out_count++] = (SmSend){request, time};
}

static void send(Sm *sm, MemRequest *request, uint64_t now) {
  Gpu *gpu = sm->gpu;
  if (gpu->in_window && !gpu->goes_apart) {
    keep(sm, request, now);
    return;
  }
  memsys_send(gpu->memsys, request, now, &sm->counters);
  if (!gpu->in_window)
    due_memory(gpu);
}

void access_hold_sends(const Issue *issue, uint64_t until) {
  Scheduler *scheduler = sm_scheduler(issue->sm, issue->warp);
  scheduler->send_at = MAX(scheduler->send_at, until);
}

/* A store takes the array that the L1 has in common with shared memory by its data: on lines of their own 32 words
 * are no more than on one. It takes the L1 as long as the port, as far as that has copies to update. */
static void take_l1(Issue *issue, const Flight *flight, uint64_t takes_milli) {
  const MemRequest *request = &flight->request;
  const Machine *machine = issue->gpu->machine;
  uint32_t line = machine->sm.l1.line, lanes = bits_count(request->mask), bytes = lanes * request->bytes;
  uint64_t array = MIN(takes_milli, (uint64_t)machine->sm.l1.store_interval * ((bytes + line - 1) / line)),
           *array_milli = &issue->sm->shared.free_milli;
  L1 *l1 = issue->sm->l1;
  if (l1 && machine->sm.l1.bank_interval)
    access_hold_sends(issue, l1_take(l1, issue->warp->scheduler, issue->now,
                                     MAX(takes_milli * flight->updates / MAX(lanes, 1u), array), array, array_milli)
                                 .room);
  else if (machine->sm.l1.carveout != CARVEOUT_NONE)
    milli_serve(array_milli, issue->now, array);
}

void access_send(Issue *issue, Flight *flight) {
  issue->flight = flight;
  flight->request.scheduler = issue->warp->scheduler;
  flights_send(&issue->sm->flights, flight, issue->warp);
  tell_access_began(issue->sm, flight->launch);
  MemNext next = memsys_goes_on(issue->gpu->memsys, &flight->request, issue->now, issue->warp->sent_milli);
  access_hold_sends(issue, next.cycle);
  issue->warp->sent_milli = next.sent_milli;
  issue->sources = MAX(issue->sources, next.read);
  issue->warp->read_until = MAX(issue->warp->read_until, next.read);
  if (mem_request_is_posted(&flight->request))
    sm_scheduler(issue->sm, issue->warp)->queued_until = next.leaves;
  if (flight->request.kind == MEM_STORE)
    take_l1(issue, flight, next.takes_milli);
  const Machine *machine = issue->gpu->machine;
  FlightQueues queues = {machine->memory.port.queue, machine->sm.schedulers};
  flights_count_parts(&issue->sm->flights, flight, &next, &queues);
  send(issue->sm, &flight->request, issue->now);
}

uint64_t access_send_apart(Sm *sm, Flight *flight, uint64_t now, bool fenced) {
  Gpu *gpu = sm->gpu;
  flight->apart = !fenced;
  flight->request.scheduler = 0;
  flights_enter(&sm->flights, flight);
  MemNext next = memsys_goes_on(gpu->memsys, &flight->request, now, 0);
  sm->flights.taken.turns += next.turns;
  send(sm, &flight->request, now);
  return next.cycle;
}

void access_use_loaded(Issue *issue, Flight *flight) {
  for (uint32_t part = 0; part < access_words(flight->request.bytes); part++)
    access_write(issue, part, flight->data[part]);
  if (G_UNLIKELY(flight->undefined != NULL))
    for (uint32_t part = 0; part < access_words(flight->request.bytes); part++)
      undefined_loaded(issue, part, flight->undefined[part], MEM_GLOBAL, flight->request.address);
  flights_release(&issue->sm->flights, flight);
}

/* ---- looking at memory without an access ---- */

bool access_peek(const Issue *issue, unsigned lane, uint64_t address, uint8_t *byte) {
  const Block *block = warp_block(issue->sm, issue->warp);
  uint32_t word;
  address = place_canonical(address);
  MemSpace space = place_window(address);
  if (space == MEM_SHARED) {
    uint64_t offset = address - SHARED_WINDOW - block->rank_bits;
    if (offset >= block->shared_bytes)
      return false;
    word = issue->sm->shared.words[(block->shared_base + offset) / 4];
  } else if (space == MEM_LOCAL) {
    uint64_t offset = address - LOCAL_WINDOW;
    if (offset >= block->launch->kernel->local_bytes)
      return false;
    word = local_memory_word(&issue->warp->local, (uint32_t)(offset / 4), lane);
  } else {
    const BackingBuffer *buffer = backing_find(issue->gpu->backing, address, 1);
    if (!buffer)
      return false;
    word = buffer->data[(address - buffer->base) / 4];
  }
  *byte = (uint8_t)(word >> 8 * (address % 4));
  return true;
}

uint64_t access_pointer(const Issue *issue, int16_t slot, bool wide, unsigned lane) {
  uint64_t low = issue_operand(issue, slot)[lane];
  return wide ? low | (uint64_t)access_part(issue, slot, 1, true)[lane] << 32 : low;
}
