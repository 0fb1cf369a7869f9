/* warp.h - one warp: registers lane-innermost, predicates as masks, the running path and the SIMT stack.
 * Ownership: an Sm owns its warps and their arrays, which are reused from block to block. */
#ifndef LOCKSTEP_CORE_WARP_H
#define LOCKSTEP_CORE_WARP_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/program.h"
#include "sim/machine/machine.h"
#include "sim/memory/local_defined.h"

enum { WARP_LANES = 32 };
#define ALL_LANES UINT32_MAX
/* Of a row: it can be read when a reply of global memory has come. */
#define REG_PENDING UINT64_MAX

/* AT_BARRIER: it can't issue until a block barrier completes. With lane groups that is so while none of them can run;
 * what they wait for, which may never come, is in LaneGroups. */
typedef enum { WARP_FREE, WARP_RUNNING, WARP_AT_BARRIER, WARP_DONE } WarpState;

/* What a warp waited for that didn't issue: what its scheduler's slots until then went to (slots.h). */
typedef enum {
  STALL_LATENCY, /* its pipe, an operand of one, a branch, or its turn to issue again */
  STALL_MEMORY,  /* a reply of global memory */
  STALL_BARRIER, /* other warps at a barrier, or lanes of its own */
  STALL_FENCE,   /* what a fence or release waits for, and the fence itself */
  STALL_PORT,    /* room at the SM's port to memory */
  STALL_EMPTY,   /* there was no warp */
  STALL_COUNT
} Stall;

/* What an entry of the SIMT stack is for. */
typedef enum {
  STACK_SSY,      /* lanes of mask resume at pc when all of them have joined */
  STACK_IMPLICIT, /* the same, for a branch without an enclosing SSY: pc is its immediate post-dominator */
  STACK_PATH,     /* the other side of a divergent branch: lanes of mask run from pc when this path has joined */
  STACK_BREAK,    /* PBK */
  STACK_CONTINUE, /* PCNT */
  STACK_CALL,     /* CAL: pc is where to return to */
} StackKind;

typedef struct StackEntry {
  uint32_t pc, mask;
  uint16_t kind;
  uint16_t ssy_below; /* STACK_CALL: the warp's SSY count when it was pushed */
} StackEntry;

struct LaneGroups;
struct UndefinedRow;
struct AsyncCopies;

/* What each instruction and each reply come to stands in the first lines of the host's cache. */
typedef struct Warp {
  uint32_t pc;     /* next instruction */
  uint32_t active; /* lanes of the running path or lane group */
  uint32_t alive;  /* lanes that haven't exited */
  uint32_t state;  /* WarpState */
  uint32_t slot;   /* in the SM */
  uint8_t unit, sends;      /* of its next instruction: IssueUnit; it may send an access to global memory */
  uint16_t scheduler;       /* number in the SM of the one that it belongs to */
  uint32_t block_slot;     /* in the SM */
  uint32_t pending;        /* rows that are REG_PENDING */
  uint32_t undefined_rows; /* how many registers have a mark in `undefined` */
  uint32_t counted;        /* `count` is how many lanes of this mask there are */
  uint32_t *regs;          /* nregs + SINK_ROWS rows of 32 */
  const uint32_t *consts;  /* rows of the launch's constant table */
  uint64_t *reg_ready;     /* cycle in which each register row can be read, or REG_PENDING; nregs + SINK_ROWS */
  uint64_t latest_ready;   /* the largest of all ready cycles but REG_PENDING */
  uint64_t issued;         /* when it issued last, plus 1; 0: never */
  uint64_t line_comes;     /* when the line of constant memory comes that its next instruction waits for; 0: none */
  uint64_t shadow;         /* behind a block barrier: when it would have gone on without one; 0: nowhere */
  uint32_t *written;       /* lanes in which each register was written; nregs + SINK_ROWS; NULL unless needed */
  /* While `blocked` it can issue only after a reply of global memory, not before `blocked_from` and the operands of
   * its next instruction; `blocked_delay` comes on top. */
  bool blocked;
  bool released;         /* it has waited as the release at its pc does before it */
  bool drain_empties_l1; /* when the fence is over */
  bool drain_reads;      /* SmDrain.reads */
  uint8_t owes;          /* FenceScope, plus 1, of a fence that stores before it haven't been waited for; 0: none */
  bool awaits_loads;     /* as long as registers are pending: behind fence.acq_rel.cta */
  bool invited;          /* it may send an access before those who wait in Sm.crowded */
  uint8_t count;         /* of `counted` */
  uint64_t awaits;       /* number of the acquire whose reply it waits for; 0: none */
  uint64_t drains;       /* in a fence: it waits for the SM's accesses up to that number; 0: in none */
  uint64_t drain_begins; /* under FENCES_BY_BATCH, until the fence begins: from when on it can; 0: it has begun */
  struct AsyncCopies *copies; /* of async_copy.h; kept from block to block, NULL: none yet */
  uint32_t pred[PRED_ROWS];
  uint64_t blocked_from, blocked_delay;
  uint64_t age;               /* order of dispatch */
  uint64_t newest_access;     /* number of its newest access of global memory (flight.h) */
  uint64_t read_until;        /* PTX: the sources of its accesses are read; it takes no branch back before */
  uint64_t sent_milli;        /* when the parts of its stores so far have come to the port (MemNext) */
  uint32_t tried_word, tried; /* high word of the mbarrier that it tried last (try_wait.h): which, and what it held */
  uint64_t tried_at;          /* `issued` when it fell asleep there: it sleeps as long as that is the same */
  uint64_t tries_until;       /* it sleeps, or looks again, before it gives the try up in that cycle; 0: it doesn't */
  uint64_t crowded_since;     /* in Sm.crowded: when it came there */
  uint64_t pred_ready[PRED_ROWS];
  uint64_t guard_ready[PRED_ROWS]; /* the same for guards */
  uint64_t last_store; /* service of its newest store to shared memory */
  uint32_t lanes;      /* those that it began with */
  uint32_t depth;      /* of `stack` */
  StackEntry *stack;
  struct LaneGroups *groups; /* the lane groups that don't run; NULL on a machine with SIMT stacks */
  uint32_t ssys;             /* explicit SSY entries above the innermost call */
  uint32_t holding;          /* lanes that took a lock bit since the block came */
  uint32_t warp_in_block;
  uint32_t barrier;      /* the barrier it waits at, if WARP_AT_BARRIER; this and the next two: without lane groups */
  uint32_t barrier_mask; /* lanes that wait there */
  uint32_t barrier_pc;   /* the BAR it waits at */
  LocalMemory local;     /* the slot keeps it from block to block, and the next */
  LocalDefined local_defined;
  uint32_t pred_written[PRED_ROWS];
  struct UndefinedRow
      *undefined; /* of each register; undefined_room of them; kept from block to block, NULL: none yet */
  uint32_t undefined_room;
  uint64_t falls[CONTROL_SCOREBOARDS];     /* of each scoreboard: when what isn't under way to memory is there */
  uint16_t under_way[CONTROL_SCOREBOARDS]; /* accesses that it waits for */
  uint32_t left_from[WARP_LANES];          /* of each lane: the newest INST_LEAVES that it issued, or PAST_NOWHERE */
} Warp;

static inline const uint32_t *warp_operand(const uint32_t *regs, const uint32_t *consts, int16_t slot) {
  /* Not as a branch, which the host guesses wrong where both come by turns. */
  uint32_t row = (uint32_t)(slot < 0 ? ~slot : slot);
  return (slot < 0 ? consts : regs) + WARP_LANES * row;
}

/* True if, of the two ways of a divergent branch, the lanes that take it run first; `rest` go on behind it. */
static inline bool branch_takes_first(BranchOrder order, uint32_t taken, uint32_t rest) {
  if (order == ORDER_SMALLER_FIRST)
    return __builtin_popcount(taken) < __builtin_popcount(rest);
  return order == ORDER_TAKEN_FIRST;
}

#endif
