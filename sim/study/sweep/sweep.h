/* sweep.h - runs the points of a plan on several threads, and keeps a row of each. Rows are the same for any number
 * of threads and shards: each is a run of its own with its own seed. */
#ifndef LOCKSTEP_STUDY_SWEEP_SWEEP_H
#define LOCKSTEP_STUDY_SWEEP_SWEEP_H

#include "sim/engine/stop.h"
#include "sim/study/sweep/plan.h"
#include "sim/study/sweep/store.h"

/* What there is to do: the points of a plan, each once, with the keys by which rows are found again. A key is made of
 * all that a row depends on: the files of the scenario, the program as the machine runs it, all parameters of the
 * machine, the point's values and seed, limits, and the version of lockstep. */
typedef struct SweepPoints {
  const Plan *plan;     /* borrowed */
  GArray *indices;      /* guint64: for each point its index in the plan */
  GPtrArray *keys;      /* char *, in the same order */
  GHashTable *subjects; /* private: each scenario on each machine */
} SweepPoints;

/* Loads each scenario and machine of the plan once, which shows what is wrong with them. NULL after errors: a
 * scenario or machine that can't be loaded, a param that a scenario hasn't, a parameter that a machine hasn't or a
 * value that it can't take. What goes wrong at single points only is in their rows. */
SweepPoints *sweep_points_new(const Plan *plan, Diag *diag);
void sweep_points_free(SweepPoints *points);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SweepPoints, sweep_points_free)
/* The key of the plan's point with an index. Free with g_free. */
char *sweep_key(const SweepPoints *points, guint64 index);
/* The keys (borrowed) of shard `shard` of `shards`, from 1: each `shards`-th point. */
GPtrArray *sweep_shard_keys(const SweepPoints *points, unsigned shard, unsigned shards);

/* How far a sweep is: `done` of `total` points, `row` having come last (NULL: at the start). */
typedef void (*SweepStep)(guint done, guint total, const char *row, gpointer user);

typedef struct SweepOptions {
  unsigned threads; /* at least 1 */
  const Stop *stop; /* ends the sweep early; borrowed */
  SweepStep step;   /* or NULL */
  gpointer user;
} SweepOptions;

typedef struct SweepSummary {
  guint points, before, now; /* of the shard; rows that were there; rows made now */
  guint failed;              /* rows of the shard that have an error */
  bool cut_short;            /* options->stop asked for it */
} SweepSummary;

/* Runs the points of a shard that `store` lacks and adds their rows to it. False after errors: rows can't be
 * written. */
bool sweep_run(const SweepPoints *points, unsigned shard, unsigned shards, Store *store, const SweepOptions *options,
               SweepSummary *summary, Diag *diag);

#endif
