#include "sim/cli/sweep_cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/cli/session.h"
#include "sim/cli/sweep_plan.h"
#include "sim/study/sweep/cluster.h"

/* Lines of a table of shards, at most. */
enum { LINES_MAX = 20 };

bool sweep_cluster_wanted(const Options *options) {
  return options->slurm || options->status || options->resume || options->dry_run || options->shards ||
         options->partition || options->time || options->account;
}

static bool check_options(const Options *options, Diag *diag) {
  const char *verb = options->status ? "--status" : options->resume ? "--resume" : "--slurm";
  if (!options->slurm && !options->status && !options->resume)
    return diag_usage(diag, "--shards, --partition, --time, --account and --dry-run are for --slurm");
  if (!options->output)
    return diag_usage(diag, "%s needs -o FILE", verb);
  if (options->status && options->resume)
    return diag_usage(diag, "--status or --resume: one at a time");
  if (options->shard || options->merge || options->count)
    return diag_usage(diag, "%s can't go with --%s", verb,
                      options->shard   ? "shard"
                      : options->merge ? "merge"
                                       : "count");
  if (options->fresh && (options->status || options->resume))
    return diag_usage(diag, "--fresh is for a new submission, and %s for one that is there", verb);
  if (options->fresh && options->dry_run)
    return diag_usage(diag, "--dry-run removes nothing: it can't go with --fresh");
  if (options->shards && options->resume)
    return diag_usage(diag, "--resume keeps the shards as they are: --shards is for a new submission");
  if (options->status && (options->shards || options->partition || options->time || options->account ||
                          options->jobs || options->dry_run))
    return diag_usage(diag, "--status submits nothing: it goes with -o FILE alone");
  if (!isnan(options->limit_seconds))
    return diag_usage(diag, "--limit-seconds is for a sweep here; --time says how long a task may take");
  return true;
}

static Request request_of(const Options *options) {
  return (Request){.shards = (unsigned)options->shards,
                   .cpus = (unsigned)options->jobs,
                   .partition = options->partition,
                   .time = options->time,
                   .account = options->account};
}

/* --- submitting --- */

static guint count_missing(const ClusterStatus *status, const GArray *shards) {
  guint missing = 0;
  for (guint i = 0; i < shards->len; i++) {
    const ClusterShard *shard = g_ptr_array_index(status->shards, g_array_index(shards, guint, i) - 1);
    missing += shard->points - shard->done;
  }
  return missing;
}

static const char *plural(guint number) { return number == 1 ? "" : "s"; }

static int say_submitted(const Submission *submission, guint points, guint shards) {
  const char *job = g_ptr_array_index(submission->jobs, submission->jobs->len - 1);
  g_autofree char *text = g_strdup_printf("submitted job %s: %u point%s in %u shard%s\n", job, points, plural(points),
                                          shards, plural(shards));
  return session_write(text);
}

static int show_script(const Submission *submission, const Options *options, const GArray *shards, guint points) {
  g_autofree char *script = submission_script(submission, shards);
  fprintf(stderr,
          "lockstep: would submit %u point%s in %u shard%s with this script, and write %s%s, %s, %s and %s/\n",
          points, plural(points), shards->len, plural(shards->len), options->output, SUBMISSION_PLAN, SUBMISSION_KEYS,
          SUBMISSION_SCRIPT, SUBMISSION_LOGS);
  return session_write(script);
}

static int submit(const SweepPoints *points, const Options *options, Diag *diag) {
  Request request = request_of(options);
  Purpose purpose = options->dry_run ? PURPOSE_SHOW : options->fresh ? PURPOSE_SUBMIT_FRESH : PURPOSE_SUBMIT;
  g_autoptr(Submission) submission = cluster_prepare(options->output, points, &request, purpose, diag);
  g_autoptr(ClusterStatus) status = submission ? cluster_status(submission, points, diag) : NULL;
  if (!status)
    return STATUS_OK;
  g_autoptr(GArray) shards = cluster_missing(status);
  guint missing = count_missing(status, shards);
  if (!missing) {
    fprintf(stderr, "lockstep: %s: all %u points are done; nothing was submitted\n", options->output, status->points);
    return STATUS_OK;
  }
  if (options->dry_run)
    return show_script(submission, options, shards, missing);
  return cluster_submit(submission, points, shards, diag) ? say_submitted(submission, missing, shards->len)
                                                          : STATUS_OK;
}

/* --- what is there --- */

static void append_shard(GString *text, const ClusterShard *shard, const char *output) {
  static const char *const names[] = {"done", "running", "waiting", "failed"};
  g_string_append_printf(text, "%7u %7u %7u  %-7s", shard->shard, shard->points, shard->done, names[shard->state]);
  if (*shard->words || shard->log)
    g_string_append_printf(text, "  %s", shard->words);
  if (shard->log)
    g_string_append_printf(text, "%s%s%s/%s", *shard->words ? "; " : "", output, SUBMISSION_LOGS, shard->log);
  g_string_append_c(text, '\n');
}

/* Shards that aren't done: those that need somebody first. */
static void append_shards(GString *text, const ClusterStatus *status, const char *output) {
  static const ShardState order[] = {SHARD_FAILED, SHARD_RUNNING, SHARD_WAITING};
  guint lines = 0, left = status->shards->len - status->count[SHARD_DONE];
  if (left)
    g_string_append(text, "  shard  points    done  state\n");
  for (guint i = 0; i < G_N_ELEMENTS(order); i++) {
    for (guint j = 0; j < status->shards->len && lines < LINES_MAX; j++) {
      const ClusterShard *shard = g_ptr_array_index(status->shards, j);
      if (shard->state != order[i])
        continue;
      append_shard(text, shard, output);
      lines++;
    }
  }
  if (left > lines)
    g_string_append_printf(text, "  ... and %u more\n", left - lines);
}

static int show_status(const ClusterStatus *status, const Options *options) {
  g_autoptr(GString) text = g_string_new(options->output);
  const guint *count = status->count;
  g_string_append_printf(text, ": %u of %u points done", status->done, status->points);
  if (status->errors)
    g_string_append_printf(text, ", %u with an error", status->errors);
  g_string_append_printf(text, "\n%u shards: %u done, %u running, %u waiting, %u failed\n", status->shards->len,
                         count[SHARD_DONE], count[SHARD_RUNNING], count[SHARD_WAITING], count[SHARD_FAILED]);
  append_shards(text, status, options->output);
  if (status->done == status->points)
    g_string_append(text, "--merge puts them together\n");
  else if (count[SHARD_FAILED])
    g_string_append(text, "--resume submits what is missing\n");
  int written = session_write(text->str);
  return exit_status_worst(written, status->done == status->points ? STATUS_OK
                                    : count[SHARD_FAILED]          ? STATUS_FINDING
                                                                   : STATUS_UNDECIDED);
}

static int resume(Submission *submission, const ClusterStatus *status, const Options *options, Diag *diag) {
  Request request = request_of(options);
  g_autoptr(GArray) shards = cluster_missing(status);
  guint missing = count_missing(status, shards);
  if (!submission_ask(submission, &request, diag))
    return STATUS_OK;
  if (!missing) {
    fprintf(stderr, "lockstep: %s: nothing to submit: %u shards are done, %u running, %u waiting\n", options->output,
            status->count[SHARD_DONE], status->count[SHARD_RUNNING], status->count[SHARD_WAITING]);
    return STATUS_OK;
  }
  if (options->dry_run)
    return show_script(submission, options, shards, missing);
  return cluster_resume(submission, shards, diag) ? say_submitted(submission, missing, shards->len) : STATUS_OK;
}

static int go_on(const SweepPoints *points, Submission *submission, const Options *options, Diag *diag) {
  g_autoptr(ClusterStatus) status =
      submission_check_points(submission, points, diag) ? cluster_status(submission, points, diag) : NULL;
  if (!status)
    return STATUS_OK;
  return options->resume ? resume(submission, status, options, diag) : show_status(status, options);
}

/* What is noteworthy about scenarios was said when they were submitted. */
static SweepPoints *list_points(const Plan *plan, bool is_new, Diag *diag) {
  g_autoptr(Diag) found = diag_new();
  SweepPoints *points = sweep_points_new(plan, found);
  if (is_new || !points)
    diag_add_all(diag, found);
  return points;
}

int sweep_cluster(const Options *options, Diag *diag) {
  bool is_new = !options->status && !options->resume;
  if (!check_options(options, diag))
    return STATUS_OK;
  g_autoptr(Submission) submission = is_new ? NULL : submission_load(options->output, diag);
  g_autoptr(Plan) plan = is_new || submission ? sweep_plan(options, diag) : NULL;
  g_autoptr(SweepPoints) points =
      plan && (is_new || submission_check_plan(submission, plan, diag)) ? list_points(plan, is_new, diag) : NULL;
  if (!points)
    return STATUS_OK;
  return is_new ? submit(points, options, diag) : go_on(points, submission, options, diag);
}
