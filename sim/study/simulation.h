/* simulation.h - a scenario on a machine, made ready to run: buffers, launches and their arguments, host, detectors.
 * Here memory is made and filled; what it holds afterwards is read through sim/core/look.h.
 * Ownership: a Simulation is the caller's; it owns its Gpu, memory, detectors and findings, and borrows scenario,
 * machine and options. */
#ifndef LOCKSTEP_STUDY_SIMULATION_H
#define LOCKSTEP_STUDY_SIMULATION_H

#include "sim/core/gpu.h"
#include "sim/detect/detectors.h"
#include "sim/scenario/scenario.h"
#include "sim/study/details.h"

typedef struct RunOptions {
  uint64_t seed;            /* default 1 */
  uint64_t limit_cycles;    /* default LIMIT_CYCLES_DEFAULT */
  uint64_t patience_cycles; /* left at that after so many, unless nobody can finish any more; 0: never */
  const Stop *stop;         /* ends runs early; NULL: nothing does. Borrowed; outside determinism */
  bool as_source;           /* PTX in place of the machine code that was made of it (scenario_source()) */
  bool races;               /* attach the detectors of check, too: data races */
  const RepairTrial *trial; /* of a repair, put in for the search for races; NULL: none. Borrowed */
  OlderRun *older;          /* loads that give an older value; NULL: none. Borrowed, changed by the run */
  const AtomicUpdates *atomics; /* PTX with these put in; NULL: as it is. Borrowed */
  const GPtrArray *fences;  /* LateFence *: PTX with these put in; NULL: as it is. Borrowed */
  uint32_t
      threads; /* that run the machine (windows.h); 0: one a processor if many SMs are busy, else one. Changes nothing else */
  bool keep_buffers; /* RunResult.buffers */
  bool details;      /* RunResult.details */
  bool locks;        /* RunResult.locks */
  bool graph;        /* RunResult.wait_graph_dot and wait_graph_json */
  bool digest;       /* RunResult.memory_digest: all buffers are read */
  Probe *observer;   /* listens to the run, and to it only; NULL: nobody. Borrowed */
  void (*heartbeat)(gpointer user, uint64_t cycle, uint64_t instructions); /* told now and then, or NULL */
  gpointer heartbeat_user;
} RunOptions;

#define LIMIT_CYCLES_DEFAULT UINT64_C(1000000000)

typedef struct Simulation {
  const Scenario *scenario;
  const RunOptions *options;
  const Program *program;
  Program *fenced; /* with RunOptions.fences or .atomics; NULL: none */
  Backing *backing;
  guint *buffers;    /* for each buffer of the scenario the one in `backing` */
  uint64_t *symbols; /* addresses of the program's variables */
  Gpu *gpu;
  Detectors *detectors;
  HotLines *lines;  /* NULL: nobody wants details */
  LockTimes *locks; /* NULL: nobody wants details or locks */
  GPtrArray *findings;
} Simulation;

/* False with messages in `diag` if the scenario can't run on the machine. It is to be cleared in either case. */
bool simulation_init(Simulation *simulation, const Scenario *scenario, const Machine *machine,
                     const RunOptions *options, uint64_t seed, Diag *diag);
void simulation_clear(Simulation *simulation);

#endif
