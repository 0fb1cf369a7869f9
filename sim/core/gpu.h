/* gpu.h - the whole machine: SMs, dispatcher, memory, simulated time.
 *
 * Life: gpu_new -> gpu_add_launch ... -> gpu_run until it says that it ended. State hangs from the Gpu alone, so
 * several can run in one process. After a stop its state can be read (sim/detect does) and the run continued.
 * Time: cycles of the SM clock. Deterministic: same machine, launches and seed give the same run. */
#ifndef LOCKSTEP_CORE_GPU_H
#define LOCKSTEP_CORE_GPU_H

#include "sim/core/launch.h"
#include "sim/core/sm.h"

typedef enum {
  GPU_FINISHED, /* all blocks of all launches exited, and the host has done its steps */
  GPU_FAULT,
  GPU_BLOCKED, /* nothing is scheduled, but there are unfinished warps, or a host that waits */
  GPU_BUDGET,  /* `instructions` were issued */
  GPU_LIMIT,   /* the next event lies beyond `limit_cycles` */
} GpuStop;

/* Threads aren't worth it in windows of fewer instructions. */
enum { TEAM_WORK_MIN = 800 };

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

/* For a subscriber that knows enough: gpu_run() ends, as at a limit of cycles. */
void gpu_end(Gpu *gpu);

/* Adds a subscriber; it must outlive the run, or be removed. Its callbacks stay as they are as long as it listens. */
void gpu_subscribe(Gpu *gpu, Probe *probe);
void gpu_unsubscribe(Gpu *gpu, Probe *probe);
/* These subscribers, linked by Probe.next, and nobody else listen from now on (NULL: nobody). Returns who did
 * before. */
Probe *gpu_set_probes(Gpu *gpu, Probe *probes);

/* From now on the machine's memory is hashed, or no more. The hash moves with each change of words, lock bits and
 * L1s, and comes back to its value when they do. */
void gpu_watch_memory(Gpu *gpu, bool on);
/* The hash by now. */
uint64_t gpu_memory_hash(Gpu *gpu);

/* From now on so many threads run the machine, where that is worth it (windows.h). The outcome is the same. */
void gpu_set_threads(Gpu *gpu, uint32_t threads);
/* Adds what the SMs have counted to the Gpu's counters; gpu_run() ends with that. */
void gpu_collect(Gpu *gpu);
/* The range of each block's shared memory that is data (counters.shared_bytes_beyond_data). */
/* Before the run: loads of it that give an older value. NULL: none. Borrowed, and changed as the run goes on. */
void gpu_set_older(Gpu *gpu, OlderRun *older);
void gpu_set_shared_data(Gpu *gpu, uint32_t offset, uint32_t bytes);

#endif
