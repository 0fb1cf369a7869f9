/* slurm.h - Slurm's own programs: sbatch, squeue, sacct, scontrol, as they are found in PATH. */
#ifndef LOCKSTEP_STUDY_SWEEP_SLURM_H
#define LOCKSTEP_STUDY_SWEEP_SLURM_H

#include <glib.h>
#include <stdbool.h>

#include "base/diag.h"

typedef enum { SLURM_WAITING, SLURM_RUNNING, SLURM_ENDED } SlurmPhase;

/* What Slurm says of a task of an array job. */
typedef struct SlurmTask {
  SlurmPhase phase;
  char *state, *reason; /* in Slurm's words: "TIMEOUT"; "" if there is none */
} SlurmTask;

/* True if there is a program of that name, such as sbatch. */
bool slurm_has(const char *program);
/* Submits the script in the file at `path`, whose text is `script`: its options win over variables of the
 * environment. The job's number, or NULL after errors, sbatch's own words among them. Free with g_free. */
char *slurm_submit(const char *path, const char *script, Diag *diag);
/* The most tasks that an array whose first one is 1 may have on this site, or 0 where Slurm doesn't say. */
unsigned slurm_tasks_max(void);
/* The tasks of the jobs (char *) that are in the queue or ended not long ago: "JOB_TASK" -> SlurmTask *. NULL after
 * errors. */
GHashTable *slurm_tasks(const GPtrArray *jobs, Diag *diag);
/* Adds those that ended before, where the site keeps accounts of jobs. */
void slurm_add_old_tasks(GHashTable *tasks, const GPtrArray *jobs);

#endif
