/* race.h - data races in shared and global memory by happens-before (SEMANTICS, "Verdicts", "Races").
 * A race is two accesses to one word, one of them a write, that nothing orders and that aren't both strong (atomic;
 * volatile counts as strong). Order comes from program order within a thread, lock-step order of lanes that execute one
 * instruction before another together, block barriers, and hand-offs: LDSLK that takes a bit after the STSUL that freed
 * it, and an atomic or volatile access that reads what another thread's atomic or volatile access wrote.
 * Does not model: fences that are missing between accesses of one thread (needs the full memory system). */
#ifndef LOCKSTEP_DETECT_RACE_H
#define LOCKSTEP_DETECT_RACE_H

#include "sim/core/gpu.h"
#include "sim/detect/finding.h"

typedef struct RaceDetector RaceDetector;

/* Subscribes to the Gpu, which it must outlive. Findings are appended to `findings`, which is borrowed. */
RaceDetector *race_detector_new(Gpu *gpu, GPtrArray *findings);
void race_detector_free(RaceDetector *detector);

#endif
