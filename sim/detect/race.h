/* race.h - data races in shared and global memory by happens-before (SEMANTICS, "Verdicts", "Races").
 * A race is two accesses to one word, one of them a write, that nothing orders and that aren't both strong.
 *
 * Strong are atomics, volatile accesses to global memory (loads with .CV, stores with .WT), and LDSLK and STSUL to each
 * other. Fermi code doesn't show which shared accesses were volatile in its source, so LDS and STS are plain.
 * Order comes from
 * - the order in which a warp issues: its lanes execute in lock-step, so one warp races with itself only where lanes of one
 *   store write different values to one word (with the same value it doesn't matter which one stays);
 * - block barriers: those that arrived, BAR.ARV too, before those that waited; a barrier without a count also waits for
 *   warps to exit;
 * - hand-offs: LDSLK that takes a bit comes after every STSUL that freed it (the bit, not the word, so aliases order
 *   too), and an atomic or volatile access after the atomic or volatile one that it reads from (a CAS that fails
 *   doesn't write, and hands nothing on);
 * - launches of one stream.
 * A lane whose LDSLK didn't get the bit has read nothing that it may use, so that isn't an access. STSUL that stores what the
 * word already holds, the release of a bit for its own sake (Listings 9 and 13), counts as a read.
 *
 * Does not model: fences that are missing between accesses of one thread (needs the full memory system).
 * Bounded memory (vclock.h, shadow.h): a very large run can miss a race, but doesn't report one that isn't there. */
#ifndef LOCKSTEP_DETECT_RACE_H
#define LOCKSTEP_DETECT_RACE_H

#include "sim/core/gpu.h"
#include "sim/detect/finding.h"

typedef struct RaceDetector RaceDetector;

/* Subscribes to the Gpu, which it must outlive. Findings, one for each pair of source lines, are appended to `findings`,
 * which is borrowed. */
RaceDetector *race_detector_new(Gpu *gpu, GPtrArray *findings);
void race_detector_free(RaceDetector *detector);

#endif
