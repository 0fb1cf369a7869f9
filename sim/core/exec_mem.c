/* Loads, stores, lock bits, atomics and fences.
 * Effects happen at issue: the shared pipe and the plain global memory serve in order of issue (shared.h, memsys.h). */
#include <glib.h>

#include "sim/base/bits.h"
#include "sim/core/gpu.h"

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

static uint32_t words_of(uint32_t bytes) { return bytes > 4 ? bytes / 4 : 1; }

static uint32_t byte_mask(uint32_t bytes, uint32_t offset) {
  return (bytes >= 4 ? 15u : (1u << bytes) - 1) << offset;
}

/* ---- shared memory ---- */

static void shared_fault(Issue *issue, const uint32_t relative[32], uint32_t bad, uint32_t bytes, uint32_t limit) {
  uint32_t address = relative[__builtin_ctz(bad)];
  if (address % bytes)
    gpu_raise_fault(issue, bad, "shared", address,
                    g_strdup_printf("misaligned %u-byte access to shared address 0x%x", bytes, address),
                    g_strdup_printf("make the address a multiple of %u", bytes));
  else
    gpu_raise_fault(issue, bad, "shared", address,
                    g_strdup_printf("access to shared address 0x%x beyond the block's %u bytes", address, limit),
                    g_strdup("raise .shared, or keep the lanes that have no element from the access"));
}

/* Physical addresses of all lanes; false after a fault of an active one. */
static bool shared_addresses(Issue *issue, uint32_t bytes, uint32_t physical[32]) {
  const Block *block = warp_block(issue->sm, issue->warp);
  const uint32_t *base = issue_operand(issue, issue->inst->a);
  uint32_t offset = (uint32_t)issue->inst->imm, limit = block->shared_bytes, start = block->shared_base;
  uint32_t relative[32], bad = 0, last = limit >= bytes ? limit - bytes : 0;
  for (unsigned lane = 0; lane < 32; lane++) {
    relative[lane] = base[lane] + offset;
    physical[lane] = start + relative[lane];
    bad |= (relative[lane] > last || (relative[lane] & (bytes - 1))) ? lane_bit[lane] : 0;
  }
  if (limit < bytes)
    bad = ALL_LANES;
  if (G_UNLIKELY(bad & issue->mask)) {
    shared_fault(issue, relative, bad & issue->mask, bytes, limit);
    return false;
  }
  return true;
}

/* Takes the pipe and sets when the result is ready. Returns when the service starts. */
static uint64_t serve(Issue *issue, const uint32_t physical[32], uint32_t bytes, bool locks) {
  Sm *sm = issue->sm;
  uint32_t passes = shared_passes(&sm->shared, locks ? &sm->lock_unit : NULL, physical, issue->mask, words_of(bytes));
  SharedService service = shared_serve(&sm->shared, issue->now, passes, &sm->jitter);
  issue->ready = service.ready;
  issue->gpu->counters.shared_accesses++;
  issue->gpu->counters.shared_passes += passes;
  return service.start;
}

static void report_shared(Issue *issue, AccessKind kind, const uint32_t physical[32], uint32_t bytes, uint32_t taken,
                          bool unlock) {
  if (!PROBE_WANTED(issue->gpu, access))
    return;
  uint64_t address[32];
  for (unsigned lane = 0; lane < 32; lane++)
    address[lane] = physical[lane];
  ProbePoint point = issue_point(issue, issue->mask);
  PROBE_FIRE(issue->gpu, access, &point, SPACE_SHARED, kind, address, bytes, taken, unlock);
}

static void load_shared(Issue *issue, const uint32_t physical[32], uint32_t bytes) {
  SharedMemory *shared = &issue->sm->shared;
  const Inst *inst = issue->inst;
  uint32_t words = words_of(bytes);
  for (uint32_t part = 0; part < words; part++) {
    uint32_t row[32] = {0};
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint32_t word = physical[lane] / 4 + part, offset = physical[lane] % 4;
      row[lane] = bytes < 4 ? narrow_load(shared->words[word], offset, inst->width) : shared->words[word];
      shared->touched[word] |= (uint8_t)byte_mask(bytes, offset);
    }
    issue_write(issue, inst->dst + (int16_t)(words > 1 ? part : 0), row);
  }
}

static void store_shared(Issue *issue, const uint32_t physical[32], uint32_t bytes, uint64_t when) {
  SharedMemory *shared = &issue->sm->shared;
  const Inst *inst = issue->inst;
  const Block *block = warp_block(issue->sm, issue->warp);
  ThreadId threads = warp_thread_base(block, issue->warp);
  uint32_t pc = issue->warp->pc;
  for (uint32_t part = 0; part < words_of(bytes); part++) {
    const uint32_t *data = issue_operand(issue, inst->b >= 0 ? (int16_t)(inst->b + (int16_t)part) : inst->b);
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint32_t word = physical[lane] / 4 + part, offset = physical[lane] % 4;
      uint32_t old = shared->words[word];
      uint32_t value = bytes < 4 ? narrow_store(old, offset, bytes, data[lane]) : data[lane];
      shared->touched[word] |= (uint8_t)byte_mask(bytes, offset);
      if (value != old) {
        gpu_hash_change(issue->gpu, HASH_SHARED, (uint64_t)issue->sm->index << 24 | word, old, value);
        shared->words[word] = value;
        shared->change[word] = (WordChange){.cycle = when, .thread = threads + lane, .pc = pc};
      }
    }
  }
  issue->warp->last_store = when;
}

void exec_LDS(Issue *issue) {
  uint32_t physical[32], bytes = width_bytes[issue->inst->width];
  if (issue->mask == 0 || !shared_addresses(issue, bytes, physical))
    return;
  serve(issue, physical, bytes, false);
  report_shared(issue, ACCESS_READ, physical, bytes, 0, false);
  load_shared(issue, physical, bytes);
}

void exec_STS(Issue *issue) {
  uint32_t physical[32], bytes = width_bytes[issue->inst->width];
  if (issue->mask == 0 || !shared_addresses(issue, bytes, physical))
    return;
  uint64_t when = serve(issue, physical, bytes, false);
  report_shared(issue, ACCESS_WRITE, physical, bytes, 0, false);
  store_shared(issue, physical, bytes, when);
}

static void hash_bit(Issue *issue, uint32_t index) {
  gpu_hash_change(issue->gpu, HASH_LOCK, (uint64_t)issue->sm->index << 24 | index, 0, 1);
}

/* Lanes in order: of those on one word, or on words with one lock bit, the lowest takes the bit if it was free. */
void exec_LDSLK(Issue *issue) {
  uint32_t physical[32], taken = 0;
  if (issue->mask == 0 || !shared_addresses(issue, 4, physical))
    return;
  uint64_t when = serve(issue, physical, 4, true);
  ThreadId threads = warp_thread_base(warp_block(issue->sm, issue->warp), issue->warp);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    if (lock_unit_try(&issue->sm->lock_unit, physical[lane], threads + lane, issue->warp->pc, when))
      taken |= 1u << lane;
  }
  for (uint32_t rest = taken; issue->gpu->hashes_memory && rest; rest &= rest - 1)
    hash_bit(issue, lock_unit_index(&issue->sm->lock_unit, physical[__builtin_ctz(rest)]));
  issue->warp->holding |= taken;
  issue->gpu->counters.lock_attempts += bits_count(issue->mask);
  issue->gpu->counters.lock_failures += bits_count(issue->mask & ~taken);
  report_shared(issue, ACCESS_READ, physical, 4, taken, false);
  load_shared(issue, physical, 4);
  issue_set_pred(issue, issue->inst->pdst, taken);
}

/* Frees each distinct bit once; tells the detectors who freed what it didn't hold. */
static void unlock(Issue *issue, const uint32_t physical[32]) {
  LockUnit *unit = &issue->sm->lock_unit;
  ThreadId threads = warp_thread_base(warp_block(issue->sm, issue->warp), issue->warp);
  uint32_t seen[32], count = 0; /* bits that an earlier lane freed, or found free */
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t index = lock_unit_index(unit, physical[lane]);
    LockBit *bit = &unit->bit[index];
    if (bit->held) {
      if (bit->owner != threads + lane) {
        ProbePoint point = issue_point(issue, 1u << lane);
        PROBE_FIRE(issue->gpu, unlock_not_owned, &point, lane, physical[lane], index, bit);
      }
      bit->held = false;
      hash_bit(issue, index);
      seen[count++] = index;
      issue->gpu->counters.lock_releases++;
      continue;
    }
    uint32_t i = 0;
    while (i < count && seen[i] != index)
      i++;
    if (i == count) {
      seen[count++] = index;
      ProbePoint point = issue_point(issue, 1u << lane);
      PROBE_FIRE(issue->gpu, unlock_not_owned, &point, lane, physical[lane], index, NULL);
    }
  }
}

void exec_STSUL(Issue *issue) {
  uint32_t physical[32];
  if (issue->mask == 0 || !shared_addresses(issue, 4, physical))
    return;
  uint64_t when = serve(issue, physical, 4, true);
  report_shared(issue, ACCESS_WRITE, physical, 4, 0, true);
  store_shared(issue, physical, 4, when);
  unlock(issue, physical);
}

/* ---- global memory ---- */

static void global_fault(Issue *issue, uint64_t address, uint32_t bytes, uint32_t lane) {
  const BackingBuffer *nearest = backing_nearest(issue->gpu->backing, address);
  GString *text = g_string_new(NULL);
  if (address % bytes) {
    g_string_printf(text, "misaligned %u-byte access to global address 0x%" G_GINT64_MODIFIER "x", bytes, address);
  } else {
    g_string_printf(text, "access to global address 0x%" G_GINT64_MODIFIER "x, which is in no buffer", address);
    if (nearest && address >= nearest->base)
      g_string_append_printf(text, "; it lies %" G_GUINT64_FORMAT " bytes after the start of `%s` (%u words)",
                             address - nearest->base, nearest->name, nearest->words);
  }
  gpu_raise_fault(issue, 1u << lane, "global", address, g_string_free(text, FALSE),
                  g_strdup(address % bytes ? "align the address" : "enlarge the buffer, or correct the index"));
}

/* Fills the request; false after a fault. */
static bool global_request(Issue *issue, MemKind kind, uint32_t bytes, MemRequest *request) {
  const Inst *inst = issue->inst;
  const uint32_t *low = issue_operand(issue, inst->a);
  const uint32_t *high =
      inst->flags & INST_ADDR64 && inst->a >= 0 ? issue_operand(issue, (int16_t)(inst->a + 1)) : NULL;
  *request = (MemRequest){.kind = kind, .sm = issue->sm->index, .mask = issue->mask, .bytes = bytes};
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t base = low[lane] | (high ? (uint64_t)high[lane] << 32 : 0);
    uint64_t address = base + (uint64_t)(int64_t)inst->imm;
    if (!high)
      address &= UINT32_MAX;
    request->address[lane] = address;
    if (address % bytes || !backing_find(issue->gpu->backing, address, bytes)) {
      global_fault(issue, address, bytes, lane);
      return false;
    }
  }
  return true;
}

static void report_global(Issue *issue, AccessKind kind, const MemRequest *request) {
  if (!PROBE_WANTED(issue->gpu, access))
    return;
  ProbePoint point = issue_point(issue, issue->mask);
  PROBE_FIRE(issue->gpu, access, &point, SPACE_GLOBAL, kind, request->address, request->bytes, 0, false);
}

static void submit(Issue *issue, const MemRequest *request) {
  issue->ready = memsys_submit(issue->gpu->memsys, request, issue->now);
  if (issue->ready > issue->warp->last_global)
    issue->warp->last_global = issue->ready;
}

void exec_LD(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t bytes = width_bytes[inst->width], words = words_of(bytes);
  MemRequest request;
  if (issue->mask == 0 || !global_request(issue, MEM_LOAD, bytes, &request))
    return;
  submit(issue, &request);
  report_global(issue, ACCESS_READ, &request);
  uint32_t rows[4][32] = {{0}};
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    const BackingBuffer *buffer = backing_find(issue->gpu->backing, request.address[lane], bytes);
    uint64_t offset = request.address[lane] - buffer->base;
    for (uint32_t part = 0; part < words; part++) {
      uint32_t word = buffer->data[offset / 4 + part];
      rows[part][lane] = bytes < 4 ? narrow_load(word, offset % 4, inst->width) : word;
    }
  }
  for (uint32_t part = 0; part < words; part++)
    issue_write(issue, inst->dst + (int16_t)(words > 1 ? part : 0), rows[part]);
}

static void write_global(Issue *issue, BackingBuffer *buffer, uint32_t word, uint32_t value, unsigned lane) {
  if (buffer->data[word] == value)
    return;
  gpu_hash_change(issue->gpu, HASH_GLOBAL, buffer->base / 4 + word, buffer->data[word], value);
  buffer->data[word] = value;
  ThreadId thread = warp_thread_base(warp_block(issue->sm, issue->warp), issue->warp) + lane;
  backing_note_change(buffer, word, (WordChange){.cycle = issue->now, .thread = thread, .pc = issue->warp->pc});
}

void exec_ST(Issue *issue) {
  const Inst *inst = issue->inst;
  uint32_t bytes = width_bytes[inst->width];
  MemRequest request;
  if (issue->mask == 0 || !global_request(issue, MEM_STORE, bytes, &request))
    return;
  submit(issue, &request);
  report_global(issue, ACCESS_WRITE, &request);
  for (uint32_t part = 0; part < words_of(bytes); part++) {
    const uint32_t *data = issue_operand(issue, inst->b >= 0 ? (int16_t)(inst->b + (int16_t)part) : inst->b);
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      BackingBuffer *buffer = backing_find(issue->gpu->backing, request.address[lane], bytes);
      uint64_t offset = request.address[lane] - buffer->base;
      uint32_t word = (uint32_t)(offset / 4) + part;
      write_global(issue, buffer, word,
                   bytes < 4 ? narrow_store(buffer->data[word], offset % 4, bytes, data[lane]) : data[lane], lane);
    }
  }
}

/* Lanes in order; `row` receives the old values. */
static bool apply_atomics(Issue *issue, int16_t b_slot, int16_t c_slot, uint32_t row[32]) {
  MemRequest request;
  if (!global_request(issue, MEM_ATOMIC, 4, &request))
    return false;
  submit(issue, &request);
  report_global(issue, ACCESS_ATOMIC, &request);
  const uint32_t *b = issue_operand(issue, b_slot), *c = issue_operand(issue, c_slot);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    BackingBuffer *buffer = backing_find(issue->gpu->backing, request.address[lane], 4);
    uint32_t word = (uint32_t)((request.address[lane] - buffer->base) / 4);
    row[lane] = buffer->data[word];
    write_global(issue, buffer, word, atomic_apply(issue->inst, row[lane], b[lane], c[lane]), lane);
  }
  return true;
}

void exec_ATOM(Issue *issue) {
  uint32_t row[32] = {0};
  const Inst *inst = issue->inst;
  if (issue->mask && apply_atomics(issue, inst->b, inst->mode == ATOM_CAS ? inst->c : inst->b, row))
    issue_write(issue, inst->dst, row);
}

void exec_RED(Issue *issue) {
  uint32_t row[32] = {0};
  if (issue->mask)
    apply_atomics(issue, issue->inst->b, issue->inst->b, row);
}

/* Within an SM accesses are performed in order, so .CTA waits for nothing; wider scopes wait until the warp's global
 * accesses are performed. */
void exec_MEMBAR(Issue *issue) {
  if (issue->inst->mode != FENCE_CTA)
    issue->next = MAX(issue->next, issue->warp->last_global);
  if (issue->mask) {
    ProbePoint point = issue_point(issue, issue->mask);
    PROBE_FIRE(issue->gpu, fence, &point);
  }
}
