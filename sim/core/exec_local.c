/* Local memory: the words of a warp's lanes lie side by side, as on the hardware, and only their lane sees them. */
#include <glib.h>

#include "sim/core/access.h"

void local_start(Warp *warp, const Kernel *kernel) {
  uint32_t words = (kernel->local_bytes + 3) / 4 * WARP_LANES;
  if (words > warp->local_words) {
    g_free(warp->local);
    warp->local = g_new0(uint32_t, words);
    warp->local_words = words;
  } else if (words) {
    memset(warp->local, 0, words * sizeof *warp->local);
  }
}

/* Each active lane's byte; false after a fault. */
static bool addresses(Issue *issue, const uint32_t base[32], uint32_t offset, uint32_t bytes, uint32_t address[32]) {
  uint32_t limit = warp_block(issue->sm, issue->warp)->launch->kernel->local_bytes;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t at = address[lane] = base[lane] + offset;
    if (at % bytes) {
      gpu_raise_fault(issue, 1u << lane, "local", at,
                      g_strdup_printf("misaligned %u-byte access to local address 0x%x", bytes, at),
                      g_strdup_printf("make the address a multiple of %u", bytes));
      return false;
    }
    if ((uint64_t)at + bytes > limit) {
      gpu_raise_fault(issue, 1u << lane, "local", at,
                      g_strdup_printf("access to local address 0x%x beyond the thread's %u bytes", at, limit),
                      g_strdup("keep the index within the array"));
      return false;
    }
  }
  return true;
}

bool local_load(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset) {
  uint32_t address[32], bytes = width_bytes[issue->inst->width];
  if (!addresses(issue, base, offset, bytes, address))
    return false;
  issue->ready = issue->now + issue->gpu->machine->sm.latency.local;
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    uint32_t row[32] = {0};
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint32_t word = issue->warp->local[(address[lane] / 4 + part) * WARP_LANES + lane];
      row[lane] = bytes < 4 ? narrow_load(word, address[lane] % 4, issue->inst->width) : word;
    }
    access_write(issue, part, row);
  }
  return true;
}

/* A place for the memory hash, of the 36 bits that it takes. */
static uint64_t hash_place(const Issue *issue, uint32_t index) {
  return rng_mix(((uint64_t)issue->sm->index << 8 | issue->warp->slot) << 32 | index) >> 28;
}

bool local_store(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset) {
  uint32_t address[32], bytes = width_bytes[issue->inst->width];
  if (!addresses(issue, base, offset, bytes, address))
    return false;
  for (uint32_t part = 0; part < access_words(bytes); part++) {
    const uint32_t *data = access_data(issue, part);
    for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
      unsigned lane = (unsigned)__builtin_ctz(rest);
      uint32_t index = (address[lane] / 4 + part) * WARP_LANES + lane;
      uint32_t *word = &issue->warp->local[index];
      uint32_t value = bytes < 4 ? narrow_store(*word, address[lane] % 4, bytes, data[lane]) : data[lane];
      gpu_hash_change(issue->gpu, HASH_LOCAL, hash_place(issue, index), *word, value);
      *word = value;
    }
  }
  return true;
}

void exec_LDL(Issue *issue) { local_load(issue, issue_operand(issue, issue->inst->a), (uint32_t)issue->inst->imm); }

void exec_STL(Issue *issue) { local_store(issue, issue_operand(issue, issue->inst->a), (uint32_t)issue->inst->imm); }
