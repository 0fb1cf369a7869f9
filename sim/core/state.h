/* state.h - the state of the machine: what a Gpu, its SMs, their blocks and the launches hold. Nothing here does
 * anything; the modules that do are above it: sm (an SM's cycle), dispatch (blocks and launches), host, windows, gpu
 * (the loop).
 * Ownership: the Gpu owns its Sms and launches; an Sm makes its arrays when its first block comes. */
#ifndef LOCKSTEP_CORE_STATE_H
#define LOCKSTEP_CORE_STATE_H

#include <glib.h>

#include "sim/core/exec.h"
#include "sim/core/flight.h"
#include "sim/core/hold_place.h"
#include "sim/core/older_load.h"
#include "sim/core/pipes.h"
#include "sim/core/probe.h"
#include "sim/core/warp.h"
#include "sim/engine/counter.h"
#include "sim/engine/event.h"
#include "sim/engine/pace.h"
#include "sim/engine/rng.h"
#include "sim/engine/stop.h"
#include "sim/engine/wheel.h"
#include "sim/machine/machine.h"
#include "sim/memory/l1.h"
#include "sim/memory/lock_unit.h"
#include "sim/memory/memsys.h"
#include "sim/memory/shared.h"

enum {
  SM_WARPS_MAX = WARP_SET_MAX,
  SM_BLOCKS_MAX = 64,
  SM_SCHEDULERS_MAX = 8,
  BLOCK_WARPS_MAX = 32,
  L1_NEIGHBOURS = 16,   /* SMs whose L1s lie together: in large pages of the host, perhaps */
  GRID_BARRIER = 16,    /* behind those that BAR can name: of all blocks (SYNCBLOCKS), as far as it is this block's */
  CLUSTER_BARRIER = 17, /* the same of the blocks of its cluster (CLUSTERBAR) */
  BLOCK_BARRIERS = 18
};

/* A named barrier of a block. Mask bits are warps in the block. */
typedef struct Barrier {
  uint32_t arrived;    /* warps that arrived since it last completed */
  uint32_t waiting;    /* those that wait for it */
  uint32_t threads;    /* arrivals so far, 32 for each warp */
  uint32_t expected;   /* thread count of the arrivals, 0 for the whole block */
  uint32_t population; /* BAR.RED: lanes whose predicate was true */
  bool all, any;
  bool open;       /* somebody has come since it last completed */
  bool whole;      /* GRID_BARRIER: the block has come to that of all blocks, and waits there */
  uint64_t latest; /* when the last arrival takes effect */
} Barrier;

/* What there is to do about an instruction besides its executor. */
typedef enum IssueWay {
  WAY_WHOLE,  /* anything */
  WAY_PLAIN,  /* nothing: it changes rows of registers and predicates */
  WAY_STEERS, /* it chooses which lanes of its warp go on, where, and when; others don't hear of it */
} IssueWay;

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
  uint8_t wait[16];      /* registers that must be ready before it can issue: read or written */
  uint8_t write[4];
  uint32_t pred_wait, pred_write;
  uint32_t guard_wait; /* the predicates that decide who executes it, or whom a VOTE counts */
  uint8_t guard_lag;   /* so much later than others such an instruction can read what it writes */
  uint8_t apart;       /* cycles until the warp's next instruction, at least (stall_counts.c) */
  /* Of machine code with encodings (then `wait` names rows of scoreboards): */
  uint8_t stall; /* cycles until the warp's next instruction, at least; 0: this is none */
  uint8_t raises,
      sources;  /* scoreboard + 1 that falls when the result is there, when the sources are read; 0: none (`raises`:
                 * also of other code, of atomic operations whose result nobody reads) */
  bool hazards; /* it may issue too early (hazards.h) */
  uint16_t sources_cycles; /* until the sources are read */
  uint8_t unit, occupies;  /* IssueUnit, and for how many cycles it takes it */
  uint8_t reads;           /* cycles that it takes to read its registers; 0: nobody waits for that */
  uint8_t holds;           /* cycles more than others in which its scheduler issues nothing else */
  bool passes_by;          /* it takes a turn of the pipe of shared memory even if its guard holds in no lane */
  uint8_t constant;        /* line of constant memory that an operand is in, + 1; 0: none */
  uint8_t way;             /* IssueWay */
} Decoded;

/* Rows of Warp.reg_ready behind those of registers and the sink: scoreboards. */
static inline uint32_t scoreboard_row(const Kernel *kernel, unsigned scoreboard) {
  return kernel->nregs + SINK_ROWS + scoreboard;
}

/* A launch while it runs. */
typedef struct Launch {
  const Program *program;
  const Kernel *kernel;
  char *name; /* of the kernel in messages */
  uint32_t index;
  uint32_t grid[3], block[3];
  uint64_t blocks; /* in the grid */
  uint32_t cluster[3], cluster_blocks; /* of each cluster; of one block, unless the launch or its kernel says more */
  bool explicit_cluster;               /* ... and one of them says how many */
  uint32_t block_threads, block_warps, shared_bytes;
  uint32_t carveout; /* as LaunchConfig */
  int stream;
  const struct Launch *previous; /* of its stream; NULL: the first */
  uint8_t *params; /* of the kernel, for MEM_PARAM: as given, zeros up to what it declares; of machine code, c[0x0] */
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
  uint64_t blocks_met;     /* blocks that wait at SYNCBLOCKS */
  uint64_t met_milli, met; /* when the arrivals there have been counted; that of the last */
  uint64_t under_way;      /* accesses of global memory */
  uint64_t first;    /* when its first block may be dispatched: all that it follows has ended, the overhead is over */
  /* When a block exited last, or the reply to an access came; of one that is finished, when the dispatcher knew. */
  uint64_t last_end;
  bool orderly;      /* some instruction acts on what all SMs share, beside memory */
  bool uses_l1;      /* some load does */
  uint64_t hold_places; /* hold_once_places() */
  bool finished;     /* all its blocks have, and their accesses are performed */
} Launch;

struct Cluster;

/* A resident block. In a cluster it stays until all blocks of that have exited. */
typedef struct Block {
  Launch *launch; /* NULL: the slot is free */
  uint64_t index; /* linear in its grid */
  uint32_t ctaid[3];
  struct Cluster *cluster; /* cluster.h; NULL: it has one block */
  uint32_t rank;           /* in it */
  uint32_t rank_bits;      /* what addresses of its own shared memory have above CLUSTER_RANK_SHIFT, in place */
  uint32_t slot;
  uint32_t shared_base, shared_bytes;
  uint32_t warps, warps_left;
  uint8_t warp_slot[BLOCK_WARPS_MAX];
  uint32_t finished; /* mask of warps in the block that are done */
  uint32_t copying;  /* how many of its warps have asynchronous copies that aren't done, and copies in bulk */
  uint32_t cluster_phase; /* how often the barrier of its cluster has completed */
  uint64_t cluster_over;  /* when those go on who waited for it the last time */
  Barrier barrier[BLOCK_BARRIERS];
} Block;

/* Fences of an SM that began together (FENCES_BY_BATCH). */
typedef struct FenceBatch {
  uint64_t began, up_to; /* in that cycle; they wait for accesses up to that number, */
  uint64_t least;        /* and others don't begin before that cycle */
  bool waits;            /* it isn't over */
  bool joined;           /* some came while the probes of the first were being sent, which were sent again */
} FenceBatch;

typedef struct Scheduler {
  uint64_t free_at;                  /* it can issue again in this cycle */
  uint64_t held_until, held;         /* the last free_at that came so many cycles later than usual */
  uint64_t send_at;                  /* none of its warps sends an access to global memory before */
  uint64_t queued_until;             /* its stores and reductions have left the port */
  uint64_t unit_free[ISSUE_UNITS];   /* machine code: when each unit takes another instruction */
  uint64_t units_free;               /* when all of them do */
  uint64_t fence_over, fence_free;   /* the fences of the block so far are over; another warp's can begin */
  uint32_t fence_slot;               /* the warp of the newest, and 1 */
  uint64_t last_store;               /* service of its warps' newest store to shared memory */
  uint64_t read_until;               /* the registers of all that has issued have been read */
  uint64_t shadow_free[ISSUE_UNITS]; /* the same of what warps did behind a block barrier */
  uint64_t converge_free;            /* when it can choose the next lanes behind a YIELD */
  uint64_t choice_free;              /* machine code: when it can part the lanes of a warp, or choose others */
  WarpSet of_unit[ISSUE_UNITS];      /* warps whose next instruction is for it, by slot */
  uint32_t last;                     /* slot it issued last */
  uint32_t older_sent;               /* accesses of the oldest block's warps in a row, while those of others waited */
  bool chose;                        /* sm.policy has chosen between warps */
  Rng rng;                           /* POLICY_RANDOM */
} Scheduler;

/* Where the slots of a scheduler went (slots.h). */
typedef struct SlotTally {
  uint64_t stalled
      [STALL_COUNT];   /* cycles up to Scheduler.free_at in which it didn't issue; those of latency aren't kept */
  uint32_t warps;      /* that haven't exited */
  uint64_t begins;     /* when the first of them began, if none has issued yet */
  uint64_t lost_until; /* the end of the newest slot in which a warp had to wait after all */
  Stall lost_for;      /* and for what */
} SlotTally;

enum { CONST_LINES = 32, CONST_BLOCKS = 256 };

/* Lines of constant memory: tags by the low bits of the line's number, 0: nothing; and when each line has come. */
typedef struct ConstLines {
  uint64_t tag[CONST_LINES], there[CONST_LINES];
} ConstLines;

/* What of constant memory is in an SM (constants.h). */
typedef struct ConstCache {
  ConstLines loads, operands;   /* for loads; for what instructions name */
  uint64_t block[CONST_BLOCKS]; /* tags as those of lines */
} ConstCache;

/* What a launch has more than before a window (tell.h). */
typedef struct LaunchTally {
  int64_t under_way; /* more than before */
  uint64_t finished_blocks;
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
  bool ready;  /* a block has come: arrays exist, and all but `gpu`, `index` and `blocks` isn't just zeros */
  Warp *warps; /* sm.max_warps of them, from the first block on; of the first `warp_slots` some are or were a warp */
  uint32_t warp_slots;
  uint32_t first_scheduler; /* that of the next block's first warp (sm.warp_slots) */
  Block blocks[SM_BLOCKS_MAX];
  uint32_t resident_blocks, resident_warps, resident_threads, registers_used;
  SharedMemory shared;
  uint64_t *swapped; /* of swap_loop.h, of each word of shared memory: the cycle; NULL: nothing so far */
  LockUnit lock_unit;
  struct SpinBackoff *spin_backoff; /* NULL: the machine has none */
  Pipes pipes;
  ConstCache constants;
  uint64_t barrier_free_milli; /* when arrivals at barriers so far have been counted */
  L1 *l1;                      /* NULL until a load may use it */
  struct BulkUnit *bulk;       /* of bulk.h; NULL until a copy comes */
  uint64_t copy_told;          /* 1 more than the cycle in which the LDGSTS was issued whose store is told; 0: none */
  struct RemoteUnit *remote;   /* of remote.h; NULL until a block of a cluster of several comes */
  Flights flights;
  WarpSet draining;                    /* warps in a fence, by slot */
  FenceBatch fences;                   /* those that began last */
  WarpSet crowded;                     /* warps that wait until they may send an access, by slot */
  WarpSet trying;                      /* warps that sleep, or slept, until an mbarrier is ready (try_wait.h) */
  WarpSet senders;                     /* warps whose next instruction may be one, by slot */
  WarpSet awake;                       /* warps that could issue, by slot */
  WarpSet running;                     /* warps that are WARP_RUNNING, by slot */
  WarpSet slots_of[SM_SCHEDULERS_MAX]; /* that belong to each scheduler */
  Wheel wheel;                         /* when each warp that sleeps wakes, by slot */
  Rng jitter;
  Rng held;   /* Sm.held_up of the machine */
  Rng starts; /* the same for starts of blocks that take the place of others: apart, since windows change the order of draws */
  bool refilled; /* some block has exited */
  bool ordered;  /* sm.simt_stack.branch_order has said which way goes first */
  Scheduler scheduler[SM_SCHEDULERS_MAX];
  uint32_t *register_rows; /* backing of Warp.regs, ... */
  uint64_t *ready_rows;
  StackEntry *stack_rows;         /* NULL with lane groups */
  struct LaneGroups *lane_groups;  /* NULL without */
  struct SyncRecord *sync_records; /* backing of LaneGroups.sync */
  uint32_t *written_rows;
  GHashTable *undefined_kept; /* of undefined.h; NULL: nothing */
  /* What it has to tell the machine: added to the Gpu's by gpu_run(). */
  Counters counters;
  uint64_t progress, cycle;
  int64_t budget; /* instructions that it may still issue */
  bool unwatched; /* while it runs: nothing listens to what warps issue, or holds them up */
  Issue brief;    /* of instructions of short ways, one after another */
  bool faulted;   /* it doesn't go on */
  uint64_t
      ended; /* outside windows: when a block ended, or the last access of a launch; WHEEL_NEVER: nothing to see to */
  struct Fault *fault; /* in a window; else NULL */
  GArray *notes;       /* of tell.h; NULL: none so far */
  GArray *exits; /* of blocks, for retire.h; NULL: none yet */
  LaunchTally *launch_tally;
  SmSend *out; /* requests of a window that are sent behind it */
  uint32_t out_count, out_space;
  uint8_t stall[SM_WARPS_MAX]; /* Stall: of what each warp waits for now, by slot */
  SlotTally slots[SM_SCHEDULERS_MAX];
  uint64_t issued; /* warp instructions in `counters` before gpu_run() added those up */
} Sm;

/* An illegal access or instruction. */
typedef struct Fault {
  bool happened;
  char *message;
  uint32_t launch;
  uint64_t block;
  uint32_t warp, lanes, pc;
  uint64_t cycle;
  const char *space; /* "shared", "global" or NULL */
  uint64_t address;
  char *repair;
  WordChange taken, given; /* of a piece of the device heap, who called malloc() and free(); THREAD_NONE: nobody */
} Fault;

/* When a mark fired. */
typedef struct MarkTime {
  uint32_t number;
  uint64_t first, last;
} MarkTime;

typedef struct Gpu {
  const Machine *machine;
  uint64_t seed;
  Sm *sms;
  uint32_t used_sms; /* as many, the first ones, have been asked for room; the others are zeros, and take no memory */
  EventQueue queue;
  Backing *backing;
  MemSys *memsys;
  uint64_t memory_event; /* of its event in the queue; WHEEL_NEVER: none */
  uint64_t *due;         /* of each SM: when its next event is due, WHEEL_NEVER: none; 0 while it runs */
  struct Team *team;     /* threads of windows (windows.h); NULL: one */
  uint32_t threads;      /* in it, at most */
  int64_t team_work;     /* they share windows where so much work is usual */
  Pace pace;             /* whether it pays that threads share windows */
  int64_t usual_work;    /* of windows so far, the newest most: where warps meet at barriers they differ by much */
  uint8_t *home, *share; /* of each SM: the thread that ran it last; its share in windows (memsys_part()) */
  bool goes_apart;       /* in windows: requests needn't go in order (memsys_goes_apart()) */
  SmSend *sends;         /* requests of a window, in order; room for so many */
  uint32_t *send_places; /* to bring them in order: for each cycle of the window */
  uint32_t sends_space, send_cycles;
  int64_t window_work, enlarge_at; /* done in windows so far; from when on long runs get large pages of the host */
  bool runs_windows;        /* nobody looks at `queue` */
  bool in_window;           /* SMs run, each on its own */
  struct Heap *heap;        /* NULL: no kernel asks for memory */
  struct LockQueues *locks; /* locks in tags; NULL: the machine has none */
  Counters counters;
  GPtrArray *launches;        /* Launch * */
  GPtrArray *clusters;        /* struct Cluster *: those that have blocks; owned */
  uint32_t next_sm;           /* where the dispatcher looks first */
  uint32_t l1_bytes;          /* of each SM, while the launches run that do */
  char **l1_memory;           /* of each L1_NEIGHBOURS SMs, one behind the other, in pages.h; NULL: none has one */
  uint64_t dispatch_free_at;  /* the next block of a launch whose overhead is over can leave the dispatcher */
  uint64_t starts_free_at;    /* the same for blocks that wait for the end of their launch's overhead */
  uint64_t unfinished_blocks; /* of all launches */
  uint32_t unfinished_launches;
  uint32_t undispatched;    /* launches some of whose blocks aren't placed yet */
  uint32_t placed_launches; /* so many of the first ones have placed all their blocks, at least */
  uint32_t ended_launches;  /* so many of the first ones have ended, at least */
  uint32_t register_rows;   /* of a warp slot: what the kernels of the launches need, and the sink */
  uint32_t ready_rows;      /* the same of Warp.reg_ready, which has scoreboards, too */
  uint64_t cycle;           /* of the newest event */
  uint64_t end_cycle;       /* when the last launch ended */
  uint64_t ages;            /* warps dispatched so far */
  uint64_t progress;        /* counts what cannot be undone: warps exited, blocks placed, barriers completed */
  int64_t budget;           /* instructions until the next stop */
  uint64_t limit_cycles;
  const Stop *stop; /* what the run listens to (gpu_run() doesn't); NULL: nothing. Borrowed */
  uint32_t unit_latency[UNIT_COUNT];
  bool holds_up;        /* the machine has sm.held_up */
  HoldOnce hold;        /* where sm.held_once says */
  uint32_t timer_phase; /* of the timer that wakes sleepers: nanoseconds that it is ahead of cycle 0 */
  bool noisy;           /* warps are held up at random, now and then: breaks resonance (detect/progress.h) */
  const Warp *alone;    /* while `noisy`: all others are held for good, until sm_release(); NULL: nobody */
  bool hashes_memory;   /* keep memory_hash up to date */
  OlderRun *older;      /* loads that give an older value; NULL: none. Borrowed */
  GHashTable *memory_values; /* of words, as numbers: those stored while somebody wants to know; else NULL */
  uint64_t new_values;       /* how many came that hadn't been there */
  uint64_t memory_hash; /* exclusive or over all words and lock bits that differ from when hashing began; see
                           gpu_memory_hash() */
  L1Hash l1_hash;
  uint32_t watches; /* of memory, so far */
  bool memory_changed;  /* since last set to false, while hashing: a word that others can read, or a lock bit */
  bool local_changed;   /* the same of local memory */
  GArray *marks;        /* MarkTime */
  struct Host *host;    /* sim/core/host.h; NULL: the launches are all there is */
  Fault fault;
  GString *printed;                 /* what kernels printed so far, in simulated order; the caller shows it */
  uint64_t printed_lost;            /* calls of printf whose output had no room */
  uint32_t data_offset, data_bytes; /* gpu_set_shared_data */
  Probe *probe;                     /* list of subscribers, borrowed; NULL: nobody listens */
  Probe heard;                      /* has the callbacks that some subscriber has */
} Gpu;

/* Warps that exited and blocks that came: what no loop can repeat for ever, unlike barriers. */
static inline uint64_t gpu_moves(const Gpu *gpu) { return gpu->progress - gpu->counters.barriers_completed; }
static inline Launch *gpu_launch(const Gpu *gpu, uint32_t index) { return g_ptr_array_index(gpu->launches, index); }
static inline uint32_t sm_source(const Sm *sm) { return 1 + sm->index; }
static inline Block *warp_block(Sm *sm, const Warp *warp) { return &sm->blocks[warp->block_slot]; }
static inline void sm_set_state(Sm *sm, Warp *warp, WarpState state) {
  warp->state = state;
  warp_set_put(&sm->running, warp->slot, state == WARP_RUNNING);
}
/* Thread of a warp's lane 0; that of lane n is thread_plus(base, n). */
static inline ThreadId warp_thread_base(const Block *block, const Warp *warp) {
  return thread_id(block->launch->index, block->index, warp->warp_in_block * WARP_LANES);
}

enum { HASH_GLOBAL = 1, HASH_LOCK = 2, HASH_SHARED = 3, HASH_LOCAL = 4, HASH_HEAP = 5 };
/* A word or lock bit of `space` at `place` changes: moves its share of the memory hash. */
/* The word changes to a value of that number. */
void gpu_note_value(Gpu *gpu, uint64_t number);

static inline void gpu_hash_change(Gpu *gpu, uint64_t space, uint64_t place, uint32_t before, uint32_t after) {
  if (G_LIKELY(!gpu->hashes_memory))
    return;
  uint64_t number = rng_mix(space << 56 ^ place << 20 ^ rng_mix(after));
  gpu->memory_hash ^= rng_mix(space << 56 ^ place << 20 ^ rng_mix(before)) ^ number;
  if (G_UNLIKELY(gpu->memory_values != NULL) && before != after)
    gpu_note_value(gpu, number);
  if (space == HASH_LOCAL)
    gpu->local_changed |= before != after;
  else
    gpu->memory_changed |= before != after;
}

static inline ProbePoint issue_point(const Issue *issue, uint32_t lanes) {
  return (ProbePoint){.gpu = issue->gpu,
                      .sm = issue->sm,
                      .block = warp_block(issue->sm, issue->warp),
                      .warp = issue->warp,
                      .inst = issue->inst,
                      .pc = issue->warp->pc,
                      .lanes = lanes,
                      .cycle = issue->now};
}

#endif
