/* polling_loop.h - a loop of a kernel, the blocks that it passes, and what in it depends on the value of one load:
 * what polling.h judges by. */
#ifndef LOCKSTEP_DETECT_RACE_POLLING_LOOP_H
#define LOCKSTEP_DETECT_RACE_POLLING_LOOP_H

#include <glib.h>

#include "isa/flow/cfg.h"
#include "isa/program.h"

enum { POLLING_LOOP_BLOCKS_MAX = 1000, POLLING_STEPS_MAX = 20000000 };

/* Where an instruction or block stands towards a choice by the loaded value. */
enum { POLL_ALWAYS = 1, POLL_IF_TRUE = 2, POLL_IF_FALSE = 4 };
enum { POLL_NOBODY = UINT32_MAX };

/* What holds at one place of a loop. */
typedef struct PollFacts {
  uint64_t carried; /* registers that depend on what an earlier round left */
  uint64_t told;    /* registers that depend on the load, over data or choices */
  uint64_t copied;  /* ... over data alone */
  uint32_t told_preds;
} PollFacts;

/* What an instruction reads and writes, since each is followed many times. */
typedef struct PollInst {
  uint64_t reads, writes; /* registers below R64 */
  uint32_t pred_reads, pred_writes;
  bool never_runs, guarded, loads;
} PollInst;

typedef struct PollLoop {
  const Kernel *kernel;
  const Cfg *cfg;
  const PollInst *insts;
  GArray *blocks;   /* uint32_t, rising */
  uint8_t *inside;  /* of each block of the kernel */
  uint8_t *chosen;  /* POLL_IF_TRUE, POLL_IF_FALSE: the block runs if the load says so; 0: always */
  PollFacts *entry; /* of each block */
  uint32_t head;
  uint32_t load;    /* whose value is followed, or POLL_NOBODY */
  uint64_t stands;  /* registers that are taken to be written under one choice of the load only */
  bool tries;       /* atomic operations and LDSLK are looked at, too */
  bool quiet;       /* it passes nothing that changes memory */
  GPtrArray *ended; /* of each polling load: bool *, the blocks of the loops that it ends; NULL: not wanted */
  int64_t steps;    /* that may still be taken */
} PollLoop;

/* The registers of the list below R64, as bits. */
uint64_t poll_bits(RegList list);
static inline const CfgBlock *poll_block(const PollLoop *loop, uint32_t block) {
  return g_ptr_array_index(loop->cfg->blocks, block);
}

/* The number of the `index`th block of the loop. */
static inline uint32_t poll_block_number(const PollLoop *loop, guint index) {
  return g_array_index(loop->blocks, uint32_t, index);
}

static inline bool poll_never_runs(const Inst *inst) {
  return inst->guard == PRED_TRUE && (inst->flags & INST_GUARD_NOT);
}

/* Of each instruction of the kernel. Free with g_free. */
PollInst *poll_read_kernel(const Kernel *kernel);

/* Finds the blocks from which `latch` is reached without passing `head`, and that `head` reaches. False if that is no
 * loop, or too large a one. */
bool poll_find_blocks(PollLoop *loop, uint32_t head, uint32_t latch);
void poll_leave_blocks(PollLoop *loop);

/* Finds what depends on earlier rounds, for no load yet. */
void poll_start(PollLoop *loop);
/* Back to that, for another load or other registers that stand. */
void poll_forget_load(PollLoop *loop);
/* Spreads what holds at the blocks' entries through the loop, until nothing is added. */
void poll_spread(PollLoop *loop);
/* Under which choice by the load the instruction runs, if `facts` hold before it. */
uint8_t poll_choice(const PollLoop *loop, uint32_t block, const Inst *inst, const PollFacts *facts);
/* What holds behind the instruction at `pc`. */
void poll_follow(const PollLoop *loop, uint32_t block, uint32_t pc, PollFacts *facts);
/* What holds at the end of the block. */
PollFacts poll_at_end(PollLoop *loop, uint32_t block);

/* True if the block ends, or may go on outside the loop. */
bool poll_leads_out(const PollLoop *loop, uint32_t block);
/* True if some path of the kernel leads from block `from` to block `to`. */
bool poll_comes_to(const PollLoop *loop, uint32_t from, uint32_t to);

#endif
