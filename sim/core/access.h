/* access.h - what the executors of memory instructions share: the lanes' values, and the accesses to each space,
 * which generic instructions use lane by lane (exec_global.c).
 * Shared and local memory: effects happen at issue, since the shared pipe serves in order (shared.h). Global memory:
 * when the memory system performs the access (serve.h). */
#ifndef LOCKSTEP_CORE_ACCESS_H
#define LOCKSTEP_CORE_ACCESS_H

#include "sim/core/place.h"
#include "sim/core/state.h"

enum { ACCESS_PARTS_MAX = 4 }; /* words of the widest access */

/* Words that a lane's access of so many bytes takes. */
static inline uint32_t access_words(uint32_t bytes) { return bytes > 4 ? bytes / 4 : 1; }

/* Row `part` of a value of several rows: registers rise, constants too (~i, ~(i + 1)) if the value is a wide one; RZ
 * is one row of zeros for all parts. */
static inline const uint32_t *access_part(const Issue *issue, int16_t slot, uint32_t part, bool wide) {
  if (part == 0 || (slot < 0 && !wide))
    return issue_operand(issue, slot);
  return issue_operand(issue, (int16_t)(slot >= 0 ? slot + (int16_t)part : slot - (int16_t)part));
}

/* Row `part` of what a store writes. */
static inline const uint32_t *access_data(const Issue *issue, uint32_t part) {
  return access_part(issue, issue->inst->b, part, issue->inst->wide & WIDE_B);
}

/* Writes row `part` of the destination; the sink is one row however wide the access. */
static inline void access_write(Issue *issue, uint32_t part, const uint32_t row[WARP_LANES]) {
  int16_t dst = issue->inst->dst;
  if (part && (uint32_t)dst < warp_block(issue->sm, issue->warp)->launch->kernel->nregs)
    dst = (int16_t)(dst + (int16_t)part);
  issue_write(issue, dst, row);
}

/* The lane of `rest` that stores next, if each stores so many bytes. Where several store to one word the last of them
 * wins.
 * With `lowest` the hardware takes 128 bytes at a time, and of the lanes of one such pass the lowest wins, as
 * measured on an H200 (validation/hardware/, same_word). */
static inline unsigned access_next_store(uint32_t rest, uint32_t bytes, bool lowest) {
  if (!lowest)
    return (unsigned)__builtin_ctz(rest);
  uint32_t lanes = bytes > 4 ? 128 / bytes : WARP_LANES, pass = (uint32_t)__builtin_ctz(rest) / lanes;
  uint32_t later = (pass + 1) * lanes < WARP_LANES ? ALL_LANES << ((pass + 1) * lanes) : 0;
  return 31 - (unsigned)__builtin_clz(rest & ~later);
}

/* An atomic instruction's operands b and c: their rows, the lowest first; the others are NULL unless it is of 64 or
 * 128 bits. */
typedef struct AtomicOperands {
  const uint32_t *b[ACCESS_PARTS_MAX], *c[ACCESS_PARTS_MAX];
} AtomicOperands;
AtomicOperands access_atomic_operands(const Issue *issue);
/* The low 64 bits. */
static inline uint64_t access_value(const uint32_t *const rows[ACCESS_PARTS_MAX], unsigned lane) {
  return rows[0][lane] | (rows[1] ? (uint64_t)rows[1][lane] << 32 : 0);
}

/* What lanes whose operations go to memory as one (MergeMode) take before it: VOTE, FLO, ISETP and a product, or
 * REDUX, ISETP and a move, or five times SHFL and the operation. `used`: the result is, so the FLO isn't uniform,
 * since a SHFL asks for its lane. */
uint32_t access_merge_before(const Machine *machine, const Inst *inst, bool used);
/* True if somebody reads what the instruction gives. */
bool access_is_used(const Issue *issue);
/* By how much later each has its result for that: with SHFL and an addition behind the reply. */
uint32_t access_merge_delay(const Machine *machine, const Inst *inst);

/* What a store or atomic operation says of the words that it changes at `when`. */
static inline WordChange access_change(const Issue *issue, uint64_t when) {
  return (WordChange){.cycle = when,
                      .thread = warp_thread_base(warp_block(issue->sm, issue->warp), issue->warp),
                      .pc = issue->warp->pc};
}

/* The lanes of issue->mask access bytes base[lane] + offset (mod 2^32) of their block's shared memory, or of their
 * own local memory, as issue->inst says. They set issue->ready. False after a fault. */
bool shared_load(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset);
bool shared_store(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset);
bool shared_atomic(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset);
bool local_load(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset);
bool local_store(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset);

/* Physical addresses of all lanes in shared memory; false after a fault of an active one. */
bool shared_addresses(Issue *issue, const uint32_t base[WARP_LANES], uint32_t offset, uint32_t bytes,
                      uint32_t physical[WARP_LANES]);
/* The warp that issues takes the pipe, and waits where that lets it not run ahead. */
SharedService shared_take(Issue *issue, const SharedCost *cost);
/* A word of shared memory gets a value that an asynchronous copy brings. */
void shared_put(Sm *sm, uint32_t word, uint32_t value, const WordChange *change, unsigned lane);
/* The lanes load from global memory as issue->inst says, past the L1: issue->flight. valid[lane]: how many bytes that
 * is; with `aligns` the low bits of an address say how many fewer than its width. False after a fault. */
bool access_fetch(Issue *issue, bool aligns, uint8_t valid[WARP_LANES]);

/* The scheduler of the warp that issues sends no further access to global memory before that cycle. */
void access_hold_sends(const Issue *issue, uint64_t until);
/* The access leaves the SM: issue->flight. */
struct Flight;
void access_send(Issue *issue, struct Flight *flight);
/* The same of an access that no warp makes itself, a piece of a copy in bulk; `fenced`: fences of the SM wait for it.
 * Returns when the next one can follow. */
uint64_t access_send_apart(Sm *sm, struct Flight *flight, uint64_t now, bool fenced);
/* The access had no need to leave it: its lanes have what they load. Releases it. */
void access_use_loaded(Issue *issue, struct Flight *flight);

/* The fault of an access to bytes of the device heap that nobody may access. */
void access_raise_heap(Issue *issue, unsigned lane, uint64_t address, uint32_t bytes);

/* The largest local memory of a lane (CUDA: 512 KiB). */
enum { LOCAL_BYTES_MAX = 512 * 1024 };

/* A byte of memory at a generic address as `lane` sees it; false if there is none. For formats and messages: it costs
 * no time and no detector hears of it. */
bool access_peek(const Issue *issue, unsigned lane, uint64_t address, uint8_t *byte);
/* The generic address in a register pair or constant: its low word alone unless `wide`. */
uint64_t access_pointer(const Issue *issue, int16_t slot, bool wide, unsigned lane);

#endif
