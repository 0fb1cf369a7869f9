/* launch.h - launches, made: a kernel, its grid and its arguments become a Launch (state.h), with each instruction
 * decoded once. */
#ifndef LOCKSTEP_CORE_LAUNCH_H
#define LOCKSTEP_CORE_LAUNCH_H

#include "sim/core/state.h"

/* What a launch needs. */
typedef struct LaunchConfig {
  const Program *program;
  const Kernel *kernel;
  const char *name; /* of the kernel in messages; NULL: its own, which may be mangled */
  uint32_t grid[3], block[3];
  uint32_t cluster[3];   /* blocks of each cluster; 0: as the kernel has it, else one */
  uint32_t shared_bytes; /* dynamic, added to the kernel's static share */
  uint32_t carveout;     /* what it asks for, as CarveoutWish has it (carveout.h) */
  int stream;            /* launches of one stream follow each other, different streams run concurrently */
  const uint8_t *args;   /* the parameters, from c[0x0][PARAM_BANK_OFFSET] on */
  uint32_t args_bytes;
  uint64_t envreg;         /* %envreg1 and %envreg2: address of a cooperative launch's workspace, else 0 */
  const uint64_t *symbols; /* address of each of program->variables (symbols_place()); NULL if it has none */
} LaunchConfig;

/* Checks the launch against the machine's limits; returns NULL with a sentence in *why (newly allocated) if it can
 * never run: grid or block too large, no threads, too much shared memory or too many registers. The Gpu doesn't know
 * of it yet. */
Launch *launch_new(const Gpu *gpu, const LaunchConfig *config, char **why);
void launch_free(Launch *launch);
/* True of machine code that loads the address of a cooperative launch's workspace. */
bool launch_reads_workspace(const Kernel *kernel);

#endif
