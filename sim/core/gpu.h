/* gpu.h - the whole machine: SMs, dispatcher, memory, simulated time.
 *
 * Life: gpu_new -> gpu_add_launch ... -> gpu_run until it says that it ended. State hangs from the Gpu alone, so several
 * can run in one process. After a stop its state can be read (sim/detect does) and the run continued.
 * Time: cycles of the SM clock. Deterministic: same machine, launches and seed give the same run. */
#ifndef LOCKSTEP_CORE_GPU_H
#define LOCKSTEP_CORE_GPU_H

#include <glib.h>

#include "sim/core/probe.h"
#include "sim/core/sm.h"
#include "sim/engine/counter.h"
#include "sim/engine/event.h"
#include "sim/engine/stop.h"
#include "sim/memory/memsys.h"

/* What a launch needs. */
typedef struct LaunchConfig {
  const Program *program;
  const Kernel *kernel;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes; /* dynamic, added to the kernel's static share */
  int stream;            /* launches of one stream follow each other, different streams run concurrently */
  const uint8_t *args;   /* the parameters, from c[0x0][PARAM_BANK_OFFSET] on */
  uint32_t args_bytes;
  uint64_t envreg;         /* %envreg1 and %envreg2: address of a cooperative launch's workspace, else 0 */
  const uint64_t *symbols; /* address of each of program->variables (symbols_place()); NULL if it has none */
} LaunchConfig;

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

typedef enum {
  GPU_FINISHED, /* all blocks of all launches exited, and the host has done its steps */
  GPU_FAULT,
  GPU_BLOCKED, /* nothing is scheduled, but there are unfinished warps, or a host that waits */
  GPU_BUDGET,  /* `instructions` were issued */
  GPU_LIMIT,   /* the next event lies beyond `limit_cycles` */
} GpuStop;

/* Threads aren't worth it in windows of fewer instructions. */
enum { TEAM_WORK_MIN = 800 };

typedef struct Gpu {
  const Machine *machine;
  uint64_t seed;
  Sm *sms;
  EventQueue queue;
  Backing *backing;
  MemSys *memsys;
  uint64_t memory_event; /* of its event in the queue; WHEEL_NEVER: none */
  uint64_t *due;         /* of each SM: when its next event is due, WHEEL_NEVER: none; 0 while it runs */
  struct Team *team;     /* threads of windows (windows.h); NULL: one */
  int64_t team_work;     /* they share windows behind one of so many instructions */
  EventQueue sends;      /* of a window */
  bool runs_windows;     /* nobody looks at `queue` */
  bool in_window;        /* SMs run, each on its own */
  struct Heap *heap;     /* NULL: no kernel asks for memory */
  Counters counters;
  GPtrArray *launches;        /* Launch * */
  uint32_t next_sm;           /* where the dispatcher looks first */
  uint32_t l1_bytes;          /* of each SM, while the launches run that do */
  uint64_t dispatch_free_at;  /* the next block of a launch whose overhead is over can leave the dispatcher */
  uint64_t starts_free_at;    /* the same for blocks that wait for the end of their launch's overhead */
  uint64_t unfinished_blocks; /* of all launches */
  uint32_t unfinished_launches;
  uint32_t undispatched;  /* launches some of whose blocks aren't placed yet */
  uint32_t register_rows; /* of a warp slot: what the kernels of the launches need, and the sink */
  uint64_t cycle;         /* of the newest event */
  uint64_t end_cycle;     /* when the last launch ended */
  uint64_t ages;          /* warps dispatched so far */
  uint64_t progress;      /* counts what cannot be undone: warps exited, blocks placed, barriers completed */
  int64_t budget;         /* instructions until the next stop */
  uint64_t limit_cycles;
  const Stop *stop; /* what the run listens to (gpu_run() doesn't); NULL: nothing. Borrowed */
  uint32_t unit_latency[UNIT_COUNT];
  bool noisy;           /* warps are held up at random, now and then: breaks resonance (detect/progress.h) */
  const Warp *alone;    /* while `noisy`: all others are held for good, until sm_release(); NULL: nobody */
  bool hashes_memory;   /* keep memory_hash up to date */
  uint64_t memory_hash; /* exclusive or over all words and lock bits that differ from when hashing began */
  GArray *marks;        /* MarkTime */
  struct Host *host;    /* sim/core/host.h; NULL: the launches are all there is */
  Fault fault;
  GString *printed;                 /* what kernels printed so far, in simulated order; the caller shows it */
  uint64_t printed_lost;            /* calls of printf whose output had no room */
  uint32_t data_offset, data_bytes; /* gpu_set_shared_data */
  Probe *probe;                     /* list of subscribers, borrowed; NULL: nobody listens */
} Gpu;

/* `backing` is borrowed and may already hold buffers. */
Gpu *gpu_new(const Machine *machine, Backing *backing, uint64_t seed);
void gpu_free(Gpu *gpu);
/* Checks the launch against the machine's limits; returns false with a sentence in *why (newly allocated) if it can
 * never run: grid or block too large, no threads, too much shared memory or too many registers. Precondition
 * "gpu-launch-late": nothing has run yet. */
bool gpu_add_launch(Gpu *gpu, const LaunchConfig *config, char **why);
/* Gives the kernels a device heap of that many bytes (heap_new()). */
void gpu_add_heap(Gpu *gpu, uint32_t bytes);
/* Runs until something of GpuStop happens; `instructions` is the budget of warp instructions. */
GpuStop gpu_run(Gpu *gpu, uint64_t instructions, uint64_t limit_cycles);

/* Adds a subscriber; it must outlive the run, or be removed. */
void gpu_subscribe(Gpu *gpu, Probe *probe);
void gpu_unsubscribe(Gpu *gpu, Probe *probe);

Launch *gpu_launch(const Gpu *gpu, uint32_t index);
/* Raises a fault (the first one counts). Takes ownership of `message` and `repair`. */
void gpu_raise_fault(Issue *issue, uint32_t lanes, const char *space, uint64_t address, char *message, char *repair);
/* Mark `number` fires now. */
void gpu_mark(Gpu *gpu, uint32_t number, uint64_t now);
/* The marks' times, or NULL. */
const MarkTime *gpu_mark_time(const Gpu *gpu, uint32_t number);
/* True if the block waits for room. */
bool gpu_block_is_pending(const Gpu *gpu, const Launch *launch, uint64_t block);
/* The blocks of a launch that wait for room are among *first to *last; there are some. */
void gpu_pending_blocks(const Gpu *gpu, const Launch *launch, uint64_t *first, uint64_t *last);
/* From now on so many threads run the machine, where that is worth it (windows.h). The outcome is the same. */
void gpu_set_threads(Gpu *gpu, uint32_t threads);
/* More accesses of the launch are under way than before; the last of those that ended did so in cycle `last_end`. */
void gpu_add_accesses(Launch *launch, int64_t more, uint64_t last_end);
/* Launches end whose blocks and accesses have. */
void gpu_end_launches(Gpu *gpu);
/* The memory system has something to do: queues it. */
void gpu_memory_is_due(Gpu *gpu);
/* Places blocks of the launches that may run, as far as there is room. */
void gpu_dispatch(Gpu *gpu, uint64_t now);
/* A block has exited: frees nothing itself, but lets the dispatcher fill the SM. */
void gpu_block_finished(Gpu *gpu, Launch *launch, uint64_t now);
/* The reply to an access of the launch has come, though its block may have exited. */
void gpu_access_ended(Gpu *gpu, Launch *launch, uint64_t now);
/* Adds what the SMs have counted to the Gpu's counters; gpu_run() ends with that. */
void gpu_collect(Gpu *gpu);
/* Folds the touched bytes of a block's shared memory into the SM's counters. */
void gpu_count_shared_bytes(const Gpu *gpu, Sm *sm, const Block *block);
/* The range of each block's shared memory that is data (counters.shared_bytes_beyond_data). */
void gpu_set_shared_data(Gpu *gpu, uint32_t offset, uint32_t bytes);

/* A word or lock bit of `space` at `place` changes: moves its share of the memory hash. */
static inline void gpu_hash_change(Gpu *gpu, uint64_t space, uint64_t place, uint32_t before, uint32_t after) {
  if (G_UNLIKELY(gpu->hashes_memory))
    gpu->memory_hash ^=
        rng_mix(space << 56 ^ place << 20 ^ rng_mix(before)) ^ rng_mix(space << 56 ^ place << 20 ^ rng_mix(after));
}
enum { HASH_GLOBAL = 1, HASH_LOCK = 2, HASH_SHARED = 3, HASH_LOCAL = 4, HASH_HEAP = 5 };

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
