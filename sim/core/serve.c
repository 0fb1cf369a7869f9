#include "sim/core/serve.h"

#include <string.h>

#include "base/bits.h"
#include "base/wide.h"
#include "sim/core/host.h"
#include "sim/core/locks.h"
#include "sim/core/queue_unit.h"
#include "sim/core/undefined.h"

void serve_tell_all(const Sm *sm, const Flight *flight, uint32_t lanes, uint64_t now) {
  static const AccessKind kinds[] = {
      [MEM_LOAD] = ACCESS_READ, [MEM_STORE] = ACCESS_WRITE, [MEM_ATOMIC] = ACCESS_ATOMIC};
  if (flight->bulk)
    return; /* of a copy in bulk it is told when that is over (bulk.h) */
  ProbePoint point = {.gpu = sm->gpu, .sm = sm, .inst = flight->inst, .pc = flight->pc, .lanes = lanes, .cycle = now};
  AccessPart part = {.number = serve_number(sm, flight),
                     .shared = flight->remote,
                     .kind = kinds[flight->request.kind],
                     .address = flight->request.address,
                     .bytes = serve_span(sm->gpu, flight),
                     .data = (const uint32_t(*)[WARP_LANES])flight->data,
                     .last = (flight->request.performed | lanes) == flight->lanes};
  PROBE_FIRE(sm->gpu, performed, &point, &part);
}

G_STATIC_ASSERT((int)ACCESS_PART_SWAPS == (int)FLIGHT_OPERAND_C);

static void read_words(Gpu *gpu, Flight *flight, uint32_t mask) {
  uint32_t bytes = flight->request.bytes, words = access_words(bytes);
  const uint32_t *run = serve_run(flight, mask);
  if (run) {
    memcpy(&flight->data[0][__builtin_ctz(mask)], run, 4 * (size_t)bits_count(mask));
    return;
  }
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t address = flight->request.address[lane];
    const BackingBuffer *buffer = serve_buffer(gpu, flight, lane);
    uint64_t offset = address - buffer->base;
    for (uint32_t part = 0; part < words; part++) {
      uint32_t word = buffer->data[offset / 4 + part];
      flight->data[part][lane] = bytes < 4 ? narrow_load(word, offset % 4, flight->inst->width) : word;
    }
  }
}

static guint buffer_index(const Gpu *gpu, const BackingBuffer *buffer) {
  return (guint)(buffer - backing_buffer(gpu->backing, 0));
}

static void change_word(Gpu *gpu, BackingBuffer *buffer, uint32_t word, uint32_t value, const WordChange *change,
                        unsigned lane) {
  if (buffer->data[word] == value)
    return;
  gpu_hash_change(gpu, HASH_GLOBAL, buffer->base / 4 + word, buffer->data[word], value);
  buffer->data[word] = value;
  change_log_note(&buffer->changes, word, change, lane);
}

static void store_word(Gpu *gpu, BackingBuffer *buffer, uint32_t word, uint32_t value, const WordChange *change,
                       unsigned lane) {
  if (G_UNLIKELY(gpu->host && buffer->host) && buffer->data[word] != value)
    host_note_store(gpu->host, buffer_index(gpu, buffer), word, value, change->cycle);
  change_word(gpu, buffer, word, value, change, lane);
}

/* How many of them differ. */
WIDE_CLONES static uint32_t count_changed(const uint32_t *words, const uint32_t *others, uint32_t count) {
  uint32_t changed = 0;
  for (uint32_t i = 0; i < count; i++)
    changed += words[i] != others[i];
  return changed;
}

/* The words of a run. False: they have to be looked at one by one. */
static bool store_run(Gpu *gpu, const Flight *flight, uint32_t mask, const WordChange *change) {
  BackingBuffer *buffer = flight->buffer;
  uint32_t *run = serve_run(flight, mask);
  if (!run || buffer->defined || gpu->hashes_memory || (gpu->host && buffer->host))
    return false;
  unsigned first = (unsigned)__builtin_ctz(mask);
  const uint32_t *data = &flight->data[0][first];
  uint32_t word = (uint32_t)(run - buffer->data), count = bits_count(mask);
  uint32_t changed = count_changed(run, data, count);
  if (changed == count)
    change_log_note_words(&buffer->changes, word, count, change, first);
  for (uint32_t i = 0; changed < count && i < count; i++)
    if (run[i] != data[i])
      change_log_note(&buffer->changes, word + i, change, first + i);
  memcpy(run, data, 4 * (size_t)count);
  return true;
}

/* As the machine has it where several lanes store to one word. `change`: who changes words, and when. */
static void store(Gpu *gpu, const Flight *flight, uint32_t mask, const WordChange *change) {
  const MemRequest *request = &flight->request;
  uint32_t bytes = request->bytes;
  bool lowest = gpu->machine->sm.store_winner == STORE_LOWEST_LANE;
  if (store_run(gpu, flight, mask, change))
    return;
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    const uint32_t *data = flight->data[part];
    for (uint32_t rest = mask; rest;) {
      unsigned lane = access_next_store(rest, bytes, lowest);
      rest &= ~(1u << lane);
      BackingBuffer *buffer = serve_buffer(gpu, flight, lane);
      uint64_t offset = request->address[lane] - buffer->base;
      uint32_t word = (uint32_t)(offset / 4) + part;
      backing_define(buffer, word, serve_bytes(bytes, offset), 15);
      store_word(gpu, buffer, word,
                 bytes < 4 ? narrow_store(buffer->data[word], offset % 4, bytes, data[lane]) : data[lane], change,
                 lane);
    }
  }
}

/* Around an atomic operation on `words` words of host-mapped memory. */
static void meet_host(Gpu *gpu, const BackingBuffer *buffer, uint32_t word, uint32_t words, uint64_t now,
                      bool after) {
  guint index = buffer_index(gpu, buffer);
  for (uint32_t i = word; i < word + words; i++) {
    if (after)
      host_after_atomic(gpu->host, index, i, buffer->data[i], now);
    else
      host_before_atomic(gpu->host, index, i, now);
  }
}

static uint64_t operand(const Flight *flight, uint32_t row, unsigned lane) {
  return flight->data[row][lane] | (flight->request.bytes == 8 ? (uint64_t)flight->data[row + 1][lane] << 32 : 0);
}

/* 128 bits: an exchange, or a compare and swap, of all four words at once. */
static void operate_on_four(Gpu *gpu, Flight *flight, BackingBuffer *buffer, uint32_t word, unsigned lane,
                            const WordChange *change) {
  const Inst *inst = flight->inst;
  uint32_t from = inst->mode == ATOM_CAS ? FLIGHT_OPERAND_C : 0, new[ACCESS_PARTS_MAX];
  bool stores = true;
  for (uint32_t part = 0; part < ACCESS_PARTS_MAX; part++) {
    new[part] = flight->data[from + part][lane];
    stores &= atomic_agrees(inst, buffer->data[word + part], flight->data[part][lane]);
  }
  flight->changed[lane] = false;
  for (uint32_t part = 0; part < ACCESS_PARTS_MAX; part++) {
    flight->data[part][lane] = buffer->data[word + part];
    flight->changed[lane] |= stores && new[part] != buffer->data[word + part];
    if (stores)
      change_word(gpu, buffer, word + part, new[part], change, lane);
  }
}

static void operate_on_value(Gpu *gpu, Flight *flight, BackingBuffer *buffer, uint32_t word, unsigned lane,
                             const WordChange *change) {
  const Inst *inst = flight->inst;
  uint32_t bytes = flight->request.bytes, byte = flight->request.address[lane] % 4, before = buffer->data[word];
  uint64_t b = operand(flight, 0, lane), c = operand(flight, FLIGHT_OPERAND_C, lane);
  flight->data[0][lane] = bytes < 4 ? narrow_load(before, byte, inst->width) : before;
  flight->data[1][lane] = bytes == 8 ? buffer->data[word + 1] : 0;
  uint64_t found = flight->data[0][lane] | (uint64_t)flight->data[1][lane] << 32;
  uint64_t value = atomic_apply(inst, found, b, c);
  uint32_t low = (uint32_t)value;
  flight->changed[lane] = value != found;
  change_word(gpu, buffer, word, bytes < 4 ? narrow_store(before, byte, bytes, low) : low, change, lane);
  if (bytes == 8)
    change_word(gpu, buffer, word + 1, (uint32_t)(value >> 32), change, lane);
}

/* One lane's atomic operation: the words change, and its data are what they held. `word` is the first of them in
 * `buffer`. */
static void operate(Gpu *gpu, Flight *flight, BackingBuffer *buffer, uint32_t word, unsigned lane,
                    const WordChange *change) {
  uint32_t bytes = flight->request.bytes;
  bool host = buffer->host && gpu->host;
  if (G_UNLIKELY(flight->refused >> lane & 1)) {
    flight->data[0][lane] = flight->data[FLIGHT_OPERAND_C][lane];
    flight->changed[lane] = false;
    return;
  }
  if (G_UNLIKELY(host))
    meet_host(gpu, buffer, word, access_words(bytes), change->cycle, false);
  if (G_UNLIKELY(bytes == 16))
    operate_on_four(gpu, flight, buffer, word, lane, change);
  else
    operate_on_value(gpu, flight, buffer, word, lane, change);
  if (G_UNLIKELY(host))
    meet_host(gpu, buffer, word, access_words(bytes), change->cycle, true);
}

/* ---- bytes without a value ---- */

/* Bytes without a value of row `part` of what a lane accesses. */
static uint8_t undefined_at(const Gpu *gpu, const Flight *flight, unsigned lane, uint32_t part) {
  const BackingBuffer *buffer = serve_buffer(gpu, flight, lane);
  uint64_t address = flight->request.address[lane];
  if (!buffer->defined)
    return 0;
  return (uint8_t)(serve_bytes(flight->request.bytes, address) &
                   ~(uint32_t)buffer->defined[(address - buffer->base) / 4 + part]);
}

void serve_note_undefined(const Gpu *gpu, Flight *flight, uint32_t mask) {
  uint32_t bytes = flight->request.bytes;
  for (uint32_t part = 0; part < access_words(bytes); part++)
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint8_t undefined = undefined_at(gpu, flight, lane, part);
      if (undefined && bytes < 4)
        undefined = undefined_narrowed(undefined, bytes, flight->request.address[lane] % 4);
      if (undefined && !flight->undefined)
        flight->undefined = g_malloc0_n(FLIGHT_ROWS, sizeof *flight->undefined);
      if (undefined)
        flight->undefined[part][lane] = undefined;
    }
}

/* What a lane finds without a value before its atomic operation, and what has one afterwards. */
static void define_atomic(const Gpu *gpu, Flight *flight, BackingBuffer *buffer, uint32_t word, unsigned lane) {
  uint64_t address = flight->request.address[lane];
  for (uint32_t part = 0; part < access_words(flight->request.bytes); part++) {
    uint8_t left = undefined_at(gpu, flight, lane, part);
    if (left && !flight->met)
      flight->met = g_new0(UndefinedMet, 1);
    if (left)
      left = undefined_meet(flight->met, flight->inst, part, lane, left, address, operand(flight, 0, lane));
    backing_define(buffer, word + part, serve_bytes(flight->request.bytes, address) & ~(uint32_t)left, 15);
  }
}

/* ---- the memory system performs ---- */

void serve_load(Gpu *gpu, Flight *flight, uint32_t mask) {
  read_words(gpu, flight, mask);
  if (G_UNLIKELY(gpu->backing->undefined))
    serve_note_undefined(gpu, flight, mask);
}

/* The lanes of a load that are to give an older value. */
static void give_older(const Sm *sm, Flight *flight, uint32_t mask) {
  const OlderLoad *older = &sm->gpu->older->load;
  for (uint32_t rest = mask; rest && flight->request.bytes == older->bytes; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    if (!older_run_has(sm->gpu->older, serve_number(sm, flight), flight->request.address[lane]))
      continue;
    for (uint32_t part = 0; part < older->bytes / 4; part++)
      flight->data[part][lane] = older->value[part];
  }
}

/* Sectors may reach beyond their buffer: no access comes to what lies there. `likely`: they may lie in that one. */
static void read_sectors(const Gpu *gpu, Fill *fill, uint32_t *words, const BackingBuffer *likely, uint64_t time) {
  uint32_t bytes = fill->bytes;
  bool all =
      likely && fill->address >= likely->base && fill->address + bytes <= likely->base + 4 * (uint64_t)likely->words;
  const BackingBuffer *whole = all ? likely : backing_find(gpu->backing, fill->address, bytes);
  fill->since = time;
  if (G_LIKELY(whole != NULL)) {
    memcpy(words, &whole->data[(fill->address - whole->base) / 4], bytes);
    return;
  }
  for (uint32_t i = 0; i < bytes / 4; i++) {
    const BackingBuffer *buffer = backing_find(gpu->backing, fill->address + 4 * i, 4);
    words[i] = buffer ? buffer->data[(fill->address + 4 * i - buffer->base) / 4] : 0;
  }
}

static void fetch(const Gpu *gpu, const Flight *flight, uint32_t mask, uint64_t time) {
  for (uint32_t rest = mask & flight->fetchers; rest; rest &= rest - 1) {
    Fill *fill = flight_fill(flight, (unsigned)__builtin_ctz(rest));
    read_sectors(gpu, fill, flight_fill_words(flight, fill), flight->buffer, time);
  }
}

/* All lanes operate on one word, as most often: it changes for others once. False: they have to be looked at one by
 * one. */
static bool operate_together(const Gpu *gpu, Flight *flight, uint32_t mask, const WordChange *change) {
  BackingBuffer *buffer = flight->buffer;
  const Inst *inst = flight->inst;
  if (!flight->request.together || locks_are_meant(gpu, inst) || flight->request.bytes != 4 || !buffer ||
      buffer->defined || gpu->hashes_memory || (gpu->host && buffer->host))
    return false;
  uint32_t word = (uint32_t)(flight->request.address[__builtin_ctz(mask)] - buffer->base) / 4;
  uint32_t value = buffer->data[word], changer = WARP_LANES;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t before = value;
    value = (uint32_t)atomic_apply(inst, before, flight->data[0][lane], flight->data[FLIGHT_OPERAND_C][lane]);
    flight->data[0][lane] = before;
    flight->changed[lane] = value != before;
    changer = value != before ? lane : changer;
  }
  buffer->data[word] = value;
  if (changer < WARP_LANES)
    change_log_note(&buffer->changes, word, change, changer);
  return true;
}

/* What a lane's result of a queue, row `part`, depends on has no value. */
static void note_unset(Flight *flight, uint32_t part, unsigned lane, uint8_t undefined) {
  if (undefined && !flight->undefined)
    flight->undefined = g_malloc0_n(FLIGHT_ROWS, sizeof *flight->undefined);
  if (undefined)
    flight->undefined[part][lane] = undefined;
}

/* A lane's operation on the queue whose word is number `word` of `buffer`. */
static void operate_queue(Gpu *gpu, Flight *flight, BackingBuffer *buffer, uint32_t word, unsigned lane,
                          const WordChange *change) {
  bool puts = flight->request.queue == MEM_ENQUEUE;
  QueueStep step = queue_unit_step(flight->inst, buffer->data[word], gpu->machine->memory.queue.bytes);
  uint32_t slot = word + step.slot, value = puts || !step.done ? step.done : buffer->data[slot];
  if (G_UNLIKELY(buffer->defined)) {
    uint8_t unset = 0xf & ~buffer->defined[word];
    flight->data[FLIGHT_OPERAND_C][lane] = puts || unset ? 0 : step.slot; /* the word that has no value */
    note_unset(flight, 0, lane, puts || unset ? unset : 0xf & ~buffer->defined[slot]);
    note_unset(flight, 1, lane, puts ? 0 : unset);
    if (step.done && puts)
      backing_define(buffer, slot, 15, 15);
  }
  if (step.done && puts)
    change_word(gpu, buffer, slot, flight->data[0][lane], change, lane);
  change_word(gpu, buffer, word, step.word, change, lane);
  flight->data[0][lane] = value;
  flight->data[1][lane] = step.done;
  flight->changed[lane] = step.done;
}

/* Lanes in order. */
static void operate_all(Gpu *gpu, Flight *flight, uint32_t mask, const WordChange *change) {
  if (!flight->request.queue && operate_together(gpu, flight, mask, change))
    return;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    BackingBuffer *buffer = serve_buffer(gpu, flight, lane);
    uint32_t word = (uint32_t)(flight->request.address[lane] - buffer->base) / 4;
    if (flight->request.queue) {
      operate_queue(gpu, flight, buffer, word, lane, change);
      continue;
    }
    if (G_UNLIKELY(buffer->defined))
      define_atomic(gpu, flight, buffer, word, lane);
    operate(gpu, flight, buffer, word, lane, change);
  }
}

void serve_at_once(Gpu *gpu, Flight *flight, uint32_t lanes, uint64_t now) {
  serve_tell(&gpu->sms[flight->request.sm], flight, lanes, now);
  WordChange change = {.cycle = now, .thread = flight->thread, .pc = flight->pc};
  operate_all(gpu, flight, lanes, &change);
}

void serve_perform(void *user, MemRequest *request, uint32_t lanes, uint64_t time) {
  Gpu *gpu = user;
  Flight *flight = (Flight *)request;
  if (G_UNLIKELY(locks_are_meant(gpu, flight->inst)))
    locks_arrive(gpu, flight, lanes, time);
  serve_tell(&gpu->sms[request->sm], flight, lanes, time);
  if (request->kind == MEM_LOAD) {
    serve_load(gpu, flight, lanes);
    if (G_UNLIKELY(gpu->older != NULL))
      give_older(&gpu->sms[request->sm], flight, lanes);
    if (flight->fetchers & lanes)
      fetch(gpu, flight, lanes, time);
    return;
  }
  WordChange change = {.cycle = time, .thread = flight->thread, .pc = flight->pc};
  if (request->kind == MEM_STORE)
    store(gpu, flight, lanes, &change);
  else
    operate_all(gpu, flight, lanes, &change);
}

void serve_soon(void *user, const MemRequest *request, uint32_t lanes) {
  (void)user;
  const Flight *flight = (const Flight *)request;
  BackingBuffer *buffer = flight->buffer;
  if (!buffer)
    return;
  uint32_t word = (uint32_t)((request->address[__builtin_ctz(lanes)] - buffer->base) / 4);
  __builtin_prefetch(&buffer->data[word], 1);
  __builtin_prefetch(&flight->data[0][__builtin_ctz(lanes)], 1);
  if (request->kind != MEM_LOAD)
    change_log_prefetch(&buffer->changes, word);
}

void serve_part(void *user, const MemTrace *trace) {
  Gpu *gpu = user;
  const Flight *flight = (const Flight *)trace->request;
  const Sm *sm = &gpu->sms[flight->request.sm];
  ProbePart part = {.gpu = gpu,
                    .sm = sm,
                    .launch = flight->launch,
                    .inst = flight->inst,
                    .pc = flight->pc,
                    .thread = flight->thread,
                    .number = serve_number(sm, flight),
                    .changed = flight->changed,
                    .trace = trace};
  PROBE_FIRE(gpu, part, &part);
}
