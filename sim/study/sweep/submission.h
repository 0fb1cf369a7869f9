/* submission.h - a sweep that was given to Slurm as a job array whose tasks are its shards: what is kept of it beside
 * its file FILE, and the script of a task.
 *
 * FILE.plan.yaml is the plan, frozen: files by absolute paths, options of the command line merged in. FILE.slurm
 * (GKeyFile) holds what a Submission holds, FILE.slurm.sh the script as it was submitted last, FILE.slurm-logs what
 * each task printed.
 * Ownership: a Submission owns all that it holds. */
#ifndef LOCKSTEP_STUDY_SWEEP_SUBMISSION_H
#define LOCKSTEP_STUDY_SWEEP_SUBMISSION_H

#include "sim/study/sweep/sweep.h"

#define SUBMISSION_PLAN ".plan.yaml"
#define SUBMISSION_KEYS ".slurm"
#define SUBMISSION_SCRIPT ".slurm.sh"
#define SUBMISSION_LOGS ".slurm-logs"

/* Without --shards a shard has at least so many points, and there are at most so many shards. */
enum { SUBMISSION_SHARD_POINTS = 8, SUBMISSION_SHARDS_DEFAULT_MAX = 100, SUBMISSION_CPUS_MAX = 1024 };

/* What Slurm is asked for. */
typedef struct Request {
  unsigned shards;                  /* 0: as many as the points are worth */
  unsigned cpus;                    /* of a task; 0: what the site gives one */
  char *partition, *time, *account; /* NULL: the site's default */
} Request;

typedef struct Submission {
  char *path;      /* FILE, absolute */
  Request request; /* its strings are the Submission's own */
  char *digest;    /* of the keys of all points */
  GPtrArray *jobs; /* char *: the array jobs' ids, the newest last */
} Submission;

/* FILE's name with one of the SUBMISSION_ endings. Newly allocated. */
char *submission_beside(const char *path, const char *ending);
/* True if FILE has been submitted. */
bool submission_exists(const char *path);

/* A submission of all points, with no job yet: the request with its number of shards decided, at most one a point.
 * NULL after errors: a path or a text that a script for Slurm can't hold. */
Submission *submission_new(const char *path, const SweepPoints *points, const Request *request, Diag *diag);
/* Reads FILE.slurm. NULL after errors: there is none, or it isn't one. */
Submission *submission_load(const char *path, Diag *diag);
void submission_free(Submission *submission);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Submission, submission_free)
/* Takes what a request names besides shards, for the jobs to come. False after errors. */
bool submission_ask(Submission *submission, const Request *request, Diag *diag);
/* Writes FILE.slurm. False after errors. */
bool submission_save(const Submission *submission, Diag *diag);
/* False, with an error, if the plan isn't the one that was submitted. */
bool submission_check_plan(const Submission *submission, const Plan *plan, Diag *diag);
/* False, with an error, if the points are other ones than those submitted. */
bool submission_check_points(const Submission *submission, const SweepPoints *points, Diag *diag);

/* The script whose array tasks are the shards named in `tasks` (guint, ascending). They run this executable, from the
 * current folder.
 * Free with g_free. */
char *submission_script(const Submission *submission, const GArray *tasks);

#endif
