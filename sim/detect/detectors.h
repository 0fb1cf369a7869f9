/* detectors.h - the detectors of a run, from one table (detectors.def).
 * Ownership: Detectors owns what each of them keeps; it must outlive the Gpu's last step and is freed after the
 * Gpu. */
#ifndef LOCKSTEP_DETECT_DETECTORS_H
#define LOCKSTEP_DETECT_DETECTORS_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"

typedef struct Detectors Detectors;

/* Attaches the detectors of every run, with `check` also those of check alone. `findings` (Finding *) is borrowed, as
 * is `trial`, of a repair to be put in for the search for races (NULL: none): the run ends once its finding is
 * there. */
Detectors *detectors_attach(Gpu *gpu, GPtrArray *findings, bool check, const RepairTrial *trial);
/* The run has ended: each adds what it finds only then. False: the trial can't stand where it is. */
bool detectors_conclude(Detectors *detectors);
/* NULL is allowed. */
void detectors_free(Detectors *detectors);

#endif
