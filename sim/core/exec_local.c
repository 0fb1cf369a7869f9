/* Local memory: the words of a warp's lanes lie side by side, as on the hardware, and only their lane sees them. */
#include <glib.h>

#include "sim/core/access.h"
#include "sim/core/record.h"
#include "sim/core/undefined.h"

static void local_fault(Issue *issue, PlaceFault fault, uint32_t at, uint32_t bytes, uint32_t limit, unsigned lane) {
  if (fault == PLACE_NO_ATOMICS)
    record_fault(issue, issue->mask, "local", at, g_strdup_printf("atomic operation on local address 0x%x", at),
                 g_strdup("atomics work on global and shared memory; nobody else sees a thread's local memory"));
  else if (fault == PLACE_MISALIGNED)
    record_fault(issue, 1u << lane, "local", at,
                 g_strdup_printf("misaligned %u-byte access to local address 0x%x", bytes, at),
                 g_strdup_printf("make the address a multiple of %u", bytes));
  else
    record_fault(issue, 1u << lane, "local", at,
                 g_strdup_printf("access to local address 0x%x beyond the thread's %u bytes", at, limit),
                 g_strdup("keep the index within the array"));
}

/* Each active lane's byte; false after a fault. */
static bool addresses(Issue *issue, const uint32_t base[32], uint32_t offset, uint32_t bytes, uint32_t address[32]) {
  uint32_t limit = warp_block(issue->sm, issue->warp)->launch->kernel->local_bytes;
  MemKind kind = place_kind(issue->inst);
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t at = address[lane] = base[lane] + offset;
    PlaceFault fault = place_in_local(kind, at, bytes, limit);
    if (fault) {
      local_fault(issue, fault, at, bytes, limit, lane);
      return false;
    }
  }
  return true;
}

static uint8_t byte_mask(uint32_t bytes, uint32_t offset) {
  return (uint8_t)((bytes >= 4 ? 15u : (1u << bytes) - 1) << offset);
}

/* Marks of row `part` of a load that meets bytes which nobody has written. */
static void load_undefined(const Issue *issue, const uint32_t address[32], uint32_t bytes, uint32_t part) {
  uint8_t undefined[32] = {0};
  uint64_t wide[32] = {0};
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t offset = address[lane] % 4;
    wide[lane] = address[lane];
    undefined[lane] = byte_mask(bytes, offset) &
                      (uint8_t)~local_defined_bytes(&issue->warp->local_defined, address[lane] / 4 + part, lane);
    undefined[lane] = bytes < 4 ? undefined_narrowed(undefined[lane], bytes, offset) : undefined[lane];
  }
  undefined_loaded(issue, part, undefined, MEM_LOCAL, wide);
}

bool local_load(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset) {
  uint32_t address[32], bytes = width_bytes[issue->inst->width];
  if (!addresses(issue, base, offset, bytes, address))
    return false;
  issue->ready = issue->now + issue->gpu->machine->sm.latency.local;
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    uint32_t row[32] = {0}, undefined = 0;
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint32_t word = local_memory_word(&issue->warp->local, address[lane] / 4 + part, lane);
      undefined |= byte_mask(bytes, address[lane] % 4) &
                   ~(uint32_t)local_defined_bytes(&issue->warp->local_defined, address[lane] / 4 + part, lane);
      row[lane] = bytes < 4 ? narrow_load(word, address[lane] % 4, issue->inst->width) : word;
    }
    access_write(issue, part, row);
    if (G_UNLIKELY(undefined))
      load_undefined(issue, address, bytes, part);
  }
  return true;
}

/* A place for the memory hash, of the 36 bits that it takes. */
static uint64_t hash_place(const Issue *issue, uint32_t index) {
  return rng_mix(((uint64_t)issue->sm->index << 8 | issue->warp->slot) << 32 | index) >> 28;
}

/* Lanes that store to one word do it together. */
static void store_rows(Issue *issue, const uint32_t words[WARP_LANES], const uint32_t values[WARP_LANES],
                       const uint8_t written[WARP_LANES], const uint8_t defined[WARP_LANES]) {
  for (uint32_t rest = issue->mask; rest;) {
    uint32_t word = words[__builtin_ctz(rest)], same = 0;
    for (uint32_t others = rest; others; others &= others - 1)
      same |= words[__builtin_ctz(others)] == word ? others & -others : 0;
    local_memory_store(&issue->warp->local, word, same, issue->warp->alive, values);
    local_defined_store(&issue->warp->local_defined, word, same, issue->warp->alive, written, defined);
    rest &= ~same;
  }
}

bool local_store(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset) {
  uint32_t address[32], bytes = width_bytes[issue->inst->width];
  if (!addresses(issue, base, offset, bytes, address))
    return false;
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    const uint32_t *data = access_data(issue, part);
    uint32_t values[32], words[32];
    uint8_t written[32], defined[32];
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      words[lane] = address[lane] / 4 + part;
      uint32_t old = local_memory_word(&issue->warp->local, words[lane], lane);
      values[lane] = bytes < 4 ? narrow_store(old, address[lane] % 4, bytes, data[lane]) : data[lane];
      gpu_hash_change(issue->gpu, HASH_LOCAL, hash_place(issue, words[lane] * WARP_LANES + lane), old, values[lane]);
      written[lane] = byte_mask(bytes, address[lane] % 4);
      defined[lane] = written[lane] & (uint8_t) ~(undefined_stored(issue, part, lane) << address[lane] % 4);
      if (G_UNLIKELY(defined[lane] != written[lane]))
        undefined_keep(issue, part, lane, MEM_LOCAL, 4 * (uint64_t)words[lane] + address[lane] % 4);
    }
    store_rows(issue, words, values, written, defined);
  }
  return true;
}

void exec_LDL(Issue *issue) { local_load(issue, issue_operand(issue, issue->inst->a), (uint32_t)issue->inst->imm); }

void exec_STL(Issue *issue) { local_store(issue, issue_operand(issue, issue->inst->a), (uint32_t)issue->inst->imm); }
