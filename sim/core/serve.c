#include "sim/core/serve.h"

#include "sim/core/host.h"

void serve_tell(const Sm *sm, const Flight *flight, uint32_t lanes, bool last, uint64_t now) {
  static const AccessKind kinds[] = {
      [MEM_LOAD] = ACCESS_READ, [MEM_STORE] = ACCESS_WRITE, [MEM_ATOMIC] = ACCESS_ATOMIC};
  if (!PROBE_WANTED(sm->gpu, performed))
    return;
  ProbePoint point = {.gpu = sm->gpu, .sm = sm, .inst = flight->inst, .pc = flight->pc, .lanes = lanes, .cycle = now};
  AccessPart part = {.number = flight->number,
                     .kind = kinds[flight->request.kind],
                     .address = flight->request.address,
                     .bytes = flight->request.bytes,
                     .data = (const uint32_t(*)[WARP_LANES])flight->data,
                     .last = last};
  PROBE_FIRE(sm->gpu, performed, &point, &part);
}

void serve_load(Gpu *gpu, Flight *flight, uint32_t mask) {
  uint32_t bytes = flight->request.bytes, words = access_words(bytes);
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

static void change_word(Gpu *gpu, BackingBuffer *buffer, uint32_t word, uint32_t value, ChangeNote *note,
                        unsigned lane) {
  if (buffer->data[word] == value)
    return;
  gpu_hash_change(gpu, HASH_GLOBAL, buffer->base / 4 + word, buffer->data[word], value);
  buffer->data[word] = value;
  change_log_note(&buffer->changes, word, note, lane);
}

static void store_word(Gpu *gpu, BackingBuffer *buffer, uint32_t word, uint32_t value, ChangeNote *note,
                       unsigned lane) {
  if (G_UNLIKELY(gpu->host && buffer->host) && buffer->data[word] != value)
    host_note_store(gpu->host, buffer_index(gpu, buffer), word, value, note->first.cycle);
  change_word(gpu, buffer, word, value, note, lane);
}

void serve_store(Gpu *gpu, const Flight *flight, ChangeNote *note) {
  const MemRequest *request = &flight->request;
  uint32_t bytes = request->bytes;
  bool lowest = gpu->machine->sm.store_winner == STORE_LOWEST_LANE;
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    const uint32_t *data = flight->data[part];
    for (uint32_t rest = request->mask; rest;) {
      unsigned lane = access_next_store(rest, bytes, lowest);
      rest &= ~(1u << lane);
      BackingBuffer *buffer = serve_buffer(gpu, flight, lane);
      uint64_t offset = request->address[lane] - buffer->base;
      uint32_t word = (uint32_t)(offset / 4) + part;
      backing_define(buffer, word, serve_bytes(bytes, offset), 15);
      store_word(gpu, buffer, word,
                 bytes < 4 ? narrow_store(buffer->data[word], offset % 4, bytes, data[lane]) : data[lane], note,
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

void serve_atomic(Gpu *gpu, Flight *flight, BackingBuffer *buffer, uint32_t word, unsigned lane, ChangeNote *note) {
  const Inst *inst = flight->inst;
  uint32_t bytes = flight->request.bytes, byte = flight->request.address[lane] % 4;
  bool host = buffer->host && gpu->host;
  if (G_UNLIKELY(host))
    meet_host(gpu, buffer, word, access_words(bytes), note->first.cycle, false);
  uint32_t before = buffer->data[word];
  uint64_t b = operand(flight, 0, lane), c = operand(flight, FLIGHT_OPERAND_C, lane);
  flight->data[0][lane] = bytes < 4 ? narrow_load(before, byte, inst->width) : before;
  flight->data[1][lane] = bytes == 8 ? buffer->data[word + 1] : 0;
  uint64_t value = atomic_apply(inst, flight->data[0][lane] | (uint64_t)flight->data[1][lane] << 32, b, c);
  uint32_t low = (uint32_t)value;
  change_word(gpu, buffer, word, bytes < 4 ? narrow_store(before, byte, bytes, low) : low, note, lane);
  if (bytes == 8)
    change_word(gpu, buffer, word + 1, (uint32_t)(value >> 32), note, lane);
  if (G_UNLIKELY(host))
    meet_host(gpu, buffer, word, access_words(bytes), note->first.cycle, true);
}
