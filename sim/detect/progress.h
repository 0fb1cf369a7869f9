/* progress.h - runs a Gpu to its verdict.
 *
 * Cheap while there is progress: the run goes in slices, and a slice in which a warp exited, a barrier completed or a
 * block came needs no look. Exact when there is doubt: explore.h proves or refutes the deadlock. A look may cost no
 * more than the run since the last one, and the time between two looks grows with what they cost and while they find
 * nothing: a live program that spins long loses little, however many blocks it has.
 * After a proof the run goes on until everybody has settled (settle.h), so that the waits have their names. Where
 * nothing can be proved and states recur, warps are held up at random from then on until there is progress, or to the
 * end if that happens again: the simulated timing can resonate, real warps can't. */
#ifndef LOCKSTEP_DETECT_PROGRESS_H
#define LOCKSTEP_DETECT_PROGRESS_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"
#include "sim/engine/stop.h"

enum {
  WATCH_INSTRUCTIONS = 5000, /* warp instructions without progress before the first look */
  WATCH_COST_FACTOR = 50,    /* instructions run for each one explored */
};

/* Told now and then how far a run is; for people who wait. */
typedef void (*Heartbeat)(gpointer user, uint64_t cycle, uint64_t instructions);

typedef struct ProgressOptions {
  uint64_t limit_cycles;
  uint64_t patience_cycles; /* a run that isn't over by then is left at that, unless nobody can finish; 0: never */
  bool windowed;       /* the limit is a scenario's window (STOP_WINDOW) */
  const Stop *stop;    /* ends the run early; may be NULL */
  Heartbeat heartbeat; /* may be NULL */
  gpointer heartbeat_user;
  bool livelocks; /* stop at a recurrence of states (candidate: the caller tries other seeds) */
  bool graph;     /* Outcome.wait_graph_dot and wait_graph_json */
} ProgressOptions;

typedef struct Outcome {
  Verdict verdict; /* LIVELOCK with `candidate`: seen under this seed only */
  bool candidate;  /* without a finding: outcome_explain() */
  const Warp *alone; /* LIVELOCK of the only warp that can issue, without a finding: outcome_explain(); or NULL */
  StopReason stop;                        /* why the verdict is UNDECIDED, if a limit or a signal is the reason */
  char *wait_graph_dot, *wait_graph_json; /* after a deadlock, if they are wanted */
  uint64_t explored; /* instructions that the proofs explored; what they cost beside the run's own */
} Outcome;

/* Runs until a verdict; appends what explains it to `findings`. */
Outcome progress_run(Gpu *gpu, const ProgressOptions *options, GPtrArray *findings);
/* Adds the finding of a livelock that has none yet. To see in which order of steps it ends, if in any, the machine is
 * driven on: what it counts and holds afterwards isn't the run's any more. True if there is one: then it is none. */
bool outcome_explain(const Outcome *outcome, Gpu *gpu, GPtrArray *findings);
void outcome_clear(Outcome *outcome);

#endif
