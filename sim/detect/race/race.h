/* race.h - data races in shared and global memory by happens-before (SEMANTICS, "Verdicts", "Races").
 * A race is two accesses to one word, one of them a write, that nothing orders and that aren't both strong. What
 * orders them is kept in race_order.h.
 *
 * Strong are atomics, volatile accesses (in Fermi code loads with .CV, stores with .WT), relaxed and stronger ones of
 * PTX, and LDSLK and STSUL to each other. An access of block scope (.cta) is strong for its own block only, one of
 * .gpu for all but the host. Lanes that touch different bytes of a word don't race.
 * What else was volatile in the source, Fermi code doesn't show. It is taken from the loops: a word that some polling
 * load (polling.h) reads in the run is a flag, for all of the run; a word of a block's shared memory, for as long as
 * the block stays. All accesses to a flag are strong, those before the first poll too: races on its word that were
 * seen by then are withdrawn, and what its newest store handed on is kept from the start for every word. PTX says
 * what is volatile: there a plain poll is a plain load.
 *
 * Order comes from
 * - in Fermi code the order in which a warp issues: one warp races with itself only where lanes of one store write
 *   different values to one word (with the same value it doesn't matter which one stays). PTX has no such order,
 *   whatever the machine does: there lanes are ordered by bar.warp.sync and `.sync` operations, where they are left
 *   out, too (INST_SYNCED). Lanes of one store with the same value are no race there either, but those of x++ are:
 *   one loads what another stores;
 * - block barriers: those that arrived, BAR.ARV too, before those that waited; a barrier without a count also waits
 *   for warps to exit;
 * - hand-offs: LDSLK that takes a bit comes after every STSUL that freed it (the bit, not the word, so aliases order
 *   too), a strong access after the strong write that it reads from (a CAS that fails doesn't write, and hands
 *   nothing on), and a load of a flag after the store that it reads from; in PTX with a release before and an acquire
 *   behind, both of a scope that includes the other thread (race_order.h), or without for the observed writes
 *   themselves (shadow.h);
 * - launches of one stream.
 * A lane whose LDSLK didn't get the bit has read nothing that it may use, so that isn't an access. STSUL that stores
 * what the word already holds, the release of a bit for its own sake (Listings 9 and 13), counts as a read.
 *
 * The host is one more thread. Its accesses are strong, and keep their order; in Fermi code the words that it touches
 * are flags. It comes before the launches that it starts, and after those that it has waited for. Its reads are where
 * they are done, not where what they see was stored.
 * Accesses of global memory are issued, and performed later: race_step.h.
 * Does not model: fences in Fermi code.
 * Misses: two threads that see a flag down and both pass, unless they race on what it guards.
 * Bounded memory (vclock.h, shadow.h, handoff.h, race_report.h): a very large run can miss a race, but doesn't report
 * one that isn't there. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_H
#define LOCKSTEP_DETECT_RACE_RACE_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"

typedef struct RaceDetector RaceDetector;

/* Subscribes to the Gpu, which it must outlive. `findings` is borrowed, as is `trial`, of a repair to be put in
 * (NULL: none): it ends the Gpu's run once its finding is there for good. */
RaceDetector *race_detector_new(Gpu *gpu, GPtrArray *findings, const RepairTrial *trial);
/* At the end of the run: appends the findings, one for each pair of source lines. False: the trial can't stand where
 * it is. */
bool race_detector_finish(RaceDetector *detector);
void race_detector_free(RaceDetector *detector);

#endif
