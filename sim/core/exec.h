/* exec.h - execution of one instruction: one executor for each row of opcodes.def.
 *
 * An executor changes the rows of the active lanes and says when its results can be used. It is called if some lane
 * executes: nothing happens at an instruction whose guard holds in no lane, beyond its issue slot. Executors of
 * UNIT_ALU touch only the rows (regs, consts, pred) and may be called without an SM: sim/detect does so to explore
 * what a lane can do.
 * The caller has set `mask` (active lanes whose guard holds), `pc`, `next_pc` (the next instruction), `ready` and
 * `next` from the unit's latency; executors change these where they know better. */
#ifndef LOCKSTEP_CORE_EXEC_H
#define LOCKSTEP_CORE_EXEC_H

#include <string.h>

#include "sim/core/warp.h"

struct Gpu;
struct Sm;
struct Block;

typedef struct Issue {
  const Inst *inst;
  uint32_t *regs;
  const uint32_t *consts;
  uint32_t *pred;
  uint32_t mask;
  uint32_t pc;
  uint32_t next_pc;
  uint64_t now;
  uint64_t ready;        /* when a dependent instruction can issue */
  uint64_t next;         /* when the warp's next instruction can issue */
  struct Flight *flight; /* the access that goes to global memory, whose reply the results wait for; NULL: none */
  bool encoded;          /* machine code with encodings */
  uint32_t turns;        /* machine code: how many turns of its pipe it takes */
  uint64_t sources;      /* machine code: when its sources have been read */
  bool drains;           /* a fence: the next instruction waits for all global accesses that the SM has under way */
  bool drains_system;    /* of the system */
  bool drains_reads;     /* only for those that read */
  bool empties_l1;       /* and then empties the L1 */
  struct Gpu *gpu;       /* NULL when exploring, like the next three */
  struct Sm *sm;
  struct Block *block;
  Warp *warp;
} Issue;

typedef void (*Executor)(Issue *issue);
extern const Executor executors[OP_COUNT];

#define OP(id, sass, unit, form, flags, doc) void exec_##id(Issue *issue);
#include "isa/opcodes.def"

static inline const uint32_t *issue_operand(const Issue *issue, int16_t slot) {
  return warp_operand(issue->regs, issue->consts, slot);
}

/* The value of source predicate `index` as a mask of lanes, negation applied. */
static inline uint32_t issue_pred(const Issue *issue, unsigned index) {
  uint32_t value = issue->pred[issue->inst->psrc[index]];
  return (issue->inst->psrc_not >> index) & 1 ? ~value : value;
}

/* Two masks of lanes under a logic operation. */
static inline uint32_t combine_masks(LogicOp lop, uint32_t a, uint32_t b) {
  switch (lop) {
  case LOP_AND: return a & b;
  case LOP_OR: return a | b;
  case LOP_XOR: return a ^ b;
  case LOP_PASS_B: return b;
  }
  return 0;
}

/* Its lanes bring memory one atomic operation, if they are on one word. */
static inline bool issue_merges(const Issue *issue) {
  return issue->inst->cmp == MERGE_WARP ? issue->mask == UINT32_MAX : issue->inst->cmp != MERGE_NONE;
}

static inline void issue_set_pred(Issue *issue, unsigned predicate, uint32_t value) {
  issue->pred[predicate] = (issue->pred[predicate] & ~issue->mask) | (value & issue->mask);
}

/* Lane masks as rows: row element l is all ones if bit l is set. The compare vectorises; a shift by lane doesn't. */
extern const uint32_t lane_bit[WARP_LANES];

static inline void issue_write(Issue *issue, int16_t slot, const uint32_t row[WARP_LANES]) {
  uint32_t *restrict to = issue->regs + WARP_LANES * slot;
  uint32_t mask = issue->mask;
  if (mask == ALL_LANES) {
    memcpy(to, row, WARP_LANES * sizeof *to);
    return;
  }
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    to[lane] = (mask & lane_bit[lane]) ? row[lane] : to[lane];
}

/* What executors and exploration both need of memory: bytes of a MemWidth; the part of `word` that a narrow load at
 * byte `offset` gives, and the word after a narrow store; the value after an atomic operation, of as many bits as the
 * instruction's width. Those of 128 bits, EXCH and CAS, don't compute: whether part of what is there lets `b` in. */
extern const uint8_t width_bytes[];
uint32_t narrow_load(uint32_t word, uint32_t offset, MemWidth width);
uint32_t narrow_store(uint32_t word, uint32_t offset, uint32_t bytes, uint32_t value);
uint64_t atomic_apply(const Inst *inst, uint64_t old, uint64_t b, uint64_t c);
static inline bool atomic_agrees(const Inst *inst, uint32_t old, uint32_t b) {
  return inst->mode != ATOM_CAS || old == b;
}

/* Lanes of the shuffle that is issued that take the value of one of `lanes`. */
uint32_t shuffle_takers(const Issue *issue, uint32_t lanes);

#endif
