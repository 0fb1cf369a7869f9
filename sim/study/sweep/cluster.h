/* cluster.h - a sweep on a cluster: submits its shards to Slurm as tasks of a job array, says what has become of
 * them, and submits again what is missing. How far a shard is its rows say; Slurm only says whether somebody still
 * works on them. */
#ifndef LOCKSTEP_STUDY_SWEEP_CLUSTER_H
#define LOCKSTEP_STUDY_SWEEP_CLUSTER_H

#include "sim/study/sweep/submission.h"

/* Of a shard: all its rows are there; a task runs, or waits in the queue; or rows are missing, and no task is left to
 * make them. */
typedef enum { SHARD_DONE, SHARD_RUNNING, SHARD_WAITING, SHARD_FAILED, SHARD_STATES } ShardState;

typedef struct ClusterShard {
  unsigned shard; /* from 1 */
  guint points, done;
  ShardState state;
  char *words; /* Slurm's own of its newest task: "TIMEOUT", "Priority"; "" if it has none */
  char *log;   /* what its newest task printed: a name in FILE.slurm-logs; NULL: nothing */
} ClusterShard;

typedef struct ClusterStatus {
  GPtrArray *shards; /* ClusterShard *, all of them */
  guint count[SHARD_STATES];
  guint points, done, errors; /* `errors` of `done` have no result */
} ClusterStatus;

/* What a submission is prepared for: to be shown only, which asks nothing of Slurm; to be submitted; to be submitted
 * after what there is of the file, its shards and an earlier submission has been removed. */
typedef enum { PURPOSE_SHOW, PURPOSE_SUBMIT, PURPOSE_SUBMIT_FRESH } Purpose;

/* The submission of all points for the file at `path`: submission_new(), checked against what the site takes and what
 * is there. NULL after errors: no sbatch, more shards than the site takes; the file has been submitted, has tasks in
 * the queue, or holds rows of another sweep. */
Submission *cluster_prepare(const char *path, const SweepPoints *points, const Request *request, Purpose purpose,
                            Diag *diag);

/* How far the points of a submission are. NULL after errors. */
ClusterStatus *cluster_status(const Submission *submission, const SweepPoints *points, Diag *diag);
void cluster_status_free(ClusterStatus *status);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ClusterStatus, cluster_status_free)

/* The shards (guint) whose rows nobody makes: all those that lack some, as long as there is no job. */
GArray *cluster_missing(const ClusterStatus *status);
/* Freezes the plan, and submits these shards as the first job. False after errors. */
bool cluster_submit(Submission *submission, const SweepPoints *points, const GArray *shards, Diag *diag);
/* Submits these shards as another job. False after errors. */
bool cluster_resume(Submission *submission, const GArray *shards, Diag *diag);

#endif
