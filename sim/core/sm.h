/* sm.h - one streaming multiprocessor: resident blocks and warps, schedulers, shared memory and lock unit.
 * Time: an SM is one source of events for the machine. In a cycle it first takes replies of global memory; then each of its
 * schedulers, by number, may issue one warp instruction, each issue_interval cycles.
 * Ownership: the Gpu owns its Sms; an Sm makes its arrays when its first block comes. */
#ifndef LOCKSTEP_CORE_SM_H
#define LOCKSTEP_CORE_SM_H

#include "sim/core/exec.h"
#include "sim/core/flight.h"
#include "sim/core/pipes.h"
#include "sim/core/warp.h"
#include "sim/engine/counter.h"
#include "sim/engine/rng.h"
#include "sim/engine/wheel.h"
#include "sim/machine/machine.h"
#include "sim/memory/l1.h"
#include "sim/memory/lock_unit.h"
#include "sim/memory/shared.h"

enum { SM_WARPS_MAX = 64, SM_BLOCKS_MAX = 64, SM_SCHEDULERS_MAX = 8, BLOCK_WARPS_MAX = 32, BLOCK_BARRIERS = 16 };

/* A named barrier of a block. Mask bits are warps in the block. */
typedef struct Barrier {
  uint32_t arrived;    /* warps that arrived since it last completed */
  uint32_t waiting;    /* those that wait for it */
  uint32_t threads;    /* arrivals so far, 32 for each warp */
  uint32_t expected;   /* thread count of the arrivals, 0 for the whole block */
  bool open;           /* somebody has come since it last completed */
  uint64_t latest;     /* when the last arrival takes effect */
  uint32_t population; /* BAR.RED: lanes whose predicate was true */
  bool all, any;
} Barrier;

/* What issue and scoreboard need of an instruction, worked out once for each launch. */
typedef struct Decoded {
  Executor executor;
  uint32_t latency;      /* of its unit */
  uint32_t skip;         /* if the guard holds in no lane: cycles until the warp's next instruction */
  uint32_t skip_latency; /* and until its destinations can be used */
  Milli interval;        /* of its pipe; 0: it waits for none */
  bool releases;         /* a fence comes before it */
  bool sends;            /* it may send an access to global memory */
  uint8_t pipe;          /* PipeKind */
  uint8_t waits, writes; /* how many entries of the lists below */
  uint8_t wait[12];      /* registers that must be ready before it can issue: read or written */
  uint8_t write[4];
  uint32_t pred_wait, pred_write;
} Decoded;

/* A launch while it runs. */
typedef struct Launch {
  const Program *program;
  const Kernel *kernel;
  uint32_t index;
  uint32_t grid[3], block[3];
  uint64_t blocks; /* in the grid */
  uint32_t block_threads, block_warps, shared_bytes;
  int stream;
  const struct Launch *previous; /* of its stream; NULL: the first */
  uint8_t *params;               /* of the kernel, for MEM_PARAM: as given, zeros up to what the kernel declares */
  uint32_t param_bytes;
  uint64_t envreg;      /* SR_ENVREG1 and 2: high and low word; cooperative launches have an address there */
  uint32_t *const_rows; /* kernel->nconsts rows of 32 */
  Decoded *decoded;     /* one for each instruction */
  bool tracks_unset;    /* some instruction may read a register that wasn't written */
  bool held;            /* the host hasn't started it */
  bool started;         /* all that it follows has ended; its blocks may wait for room all the same */
  uint64_t free_at;     /* before, none of its blocks leaves the dispatcher */
  uint64_t next_block;  /* how many were dispatched: the turn of the next, by grid.dispatch_order */
  uint64_t finished_blocks;
  uint64_t under_way; /* accesses of global memory */
  uint64_t last_end;  /* when a block exited last, or the reply to an access came */
  bool orderly;       /* some instruction acts on what all SMs share, beside memory */
  bool uses_l1;       /* some load does */
  bool finished;      /* all its blocks have, and their accesses are performed */
} Launch;

/* A resident block. */
typedef struct Block {
  Launch *launch; /* NULL: the slot is free */
  uint64_t index; /* linear in its grid */
  uint32_t ctaid[3];
  uint32_t slot;
  uint32_t shared_base, shared_bytes;
  uint32_t warps, warps_left;
  uint8_t warp_slot[BLOCK_WARPS_MAX];
  uint32_t finished; /* mask of warps in the block that are done */
  Barrier barrier[BLOCK_BARRIERS];
} Block;

typedef struct Scheduler {
  uint64_t ready;   /* warps that could issue, by slot */
  uint64_t mine;    /* slots that belong to it */
  uint64_t free_at; /* it can issue again in this cycle */
  uint32_t last;    /* slot it issued last */
  Rng rng;          /* POLICY_RANDOM */
} Scheduler;

/* Accesses of a launch in a window (tell.h). */
typedef struct LaunchTally {
  int64_t under_way; /* more than before */
  uint64_t last_end;
} LaunchTally;

/* A request that leaves in a window. */
typedef struct SmSend {
  MemRequest *request;
  uint64_t time;
} SmSend;

typedef struct Sm {
  struct Gpu *gpu;
  uint32_t index;
  bool ready; /* arrays exist */
  Warp warps[SM_WARPS_MAX];
  Block blocks[SM_BLOCKS_MAX];
  uint32_t resident_blocks, resident_warps, resident_threads, registers_used;
  SharedMemory shared;
  LockUnit lock_unit;
  Pipes pipes;
  uint64_t barrier_free_milli; /* when arrivals at barriers so far have been counted */
  L1 *l1;                      /* NULL until a load may use it */
  Flights flights;
  uint64_t draining; /* warps in a fence, by slot */
  uint64_t crowded;  /* warps that wait until they may send an access, by slot */
  Wheel wheel;       /* when each warp that sleeps wakes, by slot */
  Rng jitter;
  Scheduler scheduler[SM_SCHEDULERS_MAX];
  uint32_t *register_rows; /* backing of Warp.regs, ... */
  uint64_t *ready_rows;
  StackEntry *stack_rows;         /* NULL with lane groups */
  struct LaneGroups *lane_groups; /* NULL without */
  uint32_t *written_rows;
  GHashTable *undefined_kept; /* of undefined.h; NULL: nothing */
  /* What it has to tell the machine: added to the Gpu's by gpu_run(). */
  Counters counters;
  uint64_t progress, cycle;
  int64_t budget;      /* instructions that it may still issue */
  bool faulted;        /* it doesn't go on */
  struct Fault *fault; /* in a window; else NULL */
  GArray *notes;       /* of tell.h; NULL: none so far */
  LaunchTally *launch_tally;
  SmSend *out; /* requests of a window */
  uint32_t out_count, out_sent, out_space;
} Sm;

/* An SM of the Gpu; or, with a number beyond its SMs, one to try things on, which gpu_run() doesn't run. */
void sm_init(Sm *sm, struct Gpu *gpu, uint32_t index);
void sm_clear(Sm *sm);
/* Puts block `index` of `launch` on the SM if all limits allow it; its warps start at `now` (plus jitter). */
bool sm_try_place(Sm *sm, Launch *launch, uint64_t index, uint64_t now);
/* Runs the SM, whose event is due at `now`, for as long as no other source comes first. Returns when its next event is due, which
 * the caller puts into the queue; WHEEL_NEVER if it sleeps. */
uint64_t sm_run(Sm *sm, uint64_t now);
/* Runs it from `now`, when its event is due, up to cycle `end`, whatever the others do. Gpu.due says when its next is due. */
void sm_run_until(Sm *sm, uint64_t now, uint64_t end);
static inline uint32_t sm_source(const Sm *sm) { return 1 + sm->index; }
/* A warp that has waited can issue from cycle `time` on, not before the operands of its next instruction are ready. */
void sm_resume(Sm *sm, Warp *warp, uint64_t time);
/* The warp, which may have been held up (Gpu.noisy), can go on now. */
void sm_release(Sm *sm, Warp *warp, uint64_t now);
/* The warp, which could go on by itself some time, won't. */
void sm_suspend(Sm *sm, Warp *warp);
/* What a warp that runs sleeps for: a cycle; or replies of global memory, to its accesses up to that number. */
typedef struct SmSleep {
  bool blocked;
  uint64_t until;
} SmSleep;
SmSleep sm_sleep(const Sm *sm, const Warp *warp);
/* The reply to an access of this SM comes in cycle `time`. */
void sm_answer(Sm *sm, Flight *flight, uint64_t time);
/* The SM has something to do in cycle `time`. */
void sm_is_due(Sm *sm, uint64_t time);
/* Registers a block of this launch takes on an SM. */
uint32_t sm_block_registers(const Machine *machine, const Launch *launch);

static inline Block *warp_block(Sm *sm, const Warp *warp) { return &sm->blocks[warp->block_slot]; }
/* Thread of a warp's lane 0; that of lane n is thread_plus(base, n). */
static inline ThreadId warp_thread_base(const Block *block, const Warp *warp) {
  return thread_id(block->launch->index, block->index, warp->warp_in_block * WARP_LANES);
}

#endif
