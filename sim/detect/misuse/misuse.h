/* misuse.h - findings of every run: locks freed by who doesn't hold them, exits while holding, barriers that part of a warp
 * reaches, registers read before they are written, loads of stale copies in an L1 (SEMANTICS, "Lock unit", "Misuse"). One
 * finding for each place; of stale loads, for each pair of a load and a store. */
#ifndef LOCKSTEP_DETECT_MISUSE_MISUSE_H
#define LOCKSTEP_DETECT_MISUSE_MISUSE_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"

typedef struct Misuse {
  Probe probe;
  GPtrArray *findings; /* Finding *; borrowed */
  GHashTable *places;  /* kind and place -> Finding *: a program may misuse at very many places */
  GHashTable *skipped; /* launch, instruction and INST_LEAVES -> what past_skipped() says */
} Misuse;

/* Subscribes; `misuse` must outlive the run and is then cleared. */
void misuse_attach(Misuse *misuse, Gpu *gpu, GPtrArray *findings);
/* When the run has ended: barriers that part of a warp with lane groups has come to, and that never completed. */
void misuse_conclude(Misuse *misuse, const Gpu *gpu);
void misuse_clear(Misuse *misuse);

#endif
