#include <stdio.h>
#include <string.h>

#include "sim/cli/command.h"
#include "sim/cli/progress.h"
#include "sim/cli/session.h"
#include "sim/cli/sweep_cluster.h"
#include "sim/cli/sweep_plan.h"
#include "sim/study/sweep/row.h"
#include "sim/study/sweep/shards.h"
#include "sim/study/sweep/sweep.h"

static const CommandHelp help = {
    .name = "sweep",
    .synopsis = "PLAN | SCENARIO...",
    .about = "Runs scenarios on machines with every combination of the values that -s and -p give: a list\n"
             "(1,2,4), a range (1..240:8 in steps of 8, 1..1024*2 by doubling), or several of these. A plan is\n"
             "the same in YAML. Each point and seed is a row of CSV. With -o FILE rows are kept as they come: the\n"
             "same command goes on where an earlier one was stopped, and runs what is missing.\n"
             "--shard 2/8 makes FILE.shard-2-of-8; --merge makes FILE of all shards. --slurm submits the shards to\n"
             "a cluster as a job array; then --status, --resume and --merge need -o FILE alone.",
    .groups = OPTIONS_MACHINE | OPTIONS_SCENARIO | OPTIONS_RUN | OPTIONS_SWEEP | OPTIONS_CLUSTER | OPTIONS_OUTPUT,
    .example =
        "  lockstep sweep traces/accesses/accesses.yaml -m gtx580 -p blocks=1..128:8 -p atomic=0,1 -o out.csv\n"
        "  lockstep sweep plan.yaml --shard 2/8 -o out.csv\n"
        "  lockstep sweep plan.yaml -o out.csv --slurm --shards 20 --time 1:00:00\n",
};

/* Which part of the points a command is about. */
typedef struct Share {
  unsigned shard, shards; /* from 1; 1 of 1: all of them */
} Share;

static bool read_share(const Options *options, Share *share, Diag *diag) {
  char end;
  *share = (Share){1, 1};
  if (!options->shard)
    return true;
  if (sscanf(options->shard, "%u/%u%c", &share->shard, &share->shards, &end) == 2 && share->shard >= 1 &&
      share->shard <= share->shards && share->shards <= PLAN_POINTS_MAX && !strpbrk(options->shard, "+- "))
    return true;
  return diag_usage(diag, "--shard %s: expected I/N with I from 1 to N", options->shard);
}

/* --- what was done --- */

static void say(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
}

static void show_step(guint done, guint total, const char *row, gpointer progress) {
  g_autofree char *what = g_strdup_printf("%.40s", row ? row : "points");
  ((Progress *)progress)->total = total;
  progress_ended(progress, done, what);
}

static int say_summary(const SweepSummary *summary, const Options *options, const char *path, Diag *diag) {
  if (summary->failed)
    say("lockstep: %u of %u points have an error, in the column `error`\n", summary->failed, summary->points);
  if (summary->cut_short) {
    say("lockstep: %u of %u points are done%s\n", summary->before + summary->now, summary->points,
        path ? "; the same command goes on from there" : "");
    return exit_status_worst(summary->failed ? STATUS_FINDING : STATUS_OK, session_cut_short(options, diag));
  }
  if (path)
    say("lockstep: %s: %u point%s (%u %s there)\n", path, summary->points, summary->points == 1 ? "" : "s",
        summary->before, summary->before == 1 ? "was" : "were");
  return summary->failed ? STATUS_FINDING : STATUS_OK;
}

/* --- running --- */

static int run_points(const SweepPoints *points, const Share *share, Store *store, const char *path,
                      const Options *options, Diag *diag) {
  g_autofree char *header = row_header(points->plan);
  g_autoptr(GPtrArray) keys = sweep_shard_keys(points, share->shard, share->shards);
  if (!shards_check_own(store, keys, path, diag) ||
      (share->shards > 1 && !options->fresh && !shards_take_file(store, keys, options->output, header, diag)))
    return STATUS_OK;
  Progress progress;
  SweepSummary summary;
  progress_init(&progress, keys->len);
  SweepOptions sweep = {.threads = options->jobs ? (unsigned)options->jobs : g_get_num_processors(),
                        .stop = &options->stop,
                        .step = show_step,
                        .user = &progress};
  bool good = sweep_run(points, share->shard, share->shards, store, &sweep, &summary, diag);
  progress_end(&progress);
  if (!good || (path && !summary.cut_short && (summary.now || !g_file_test(path, G_FILE_TEST_EXISTS)) &&
                !store_finish(store, keys, diag)))
    return STATUS_OK;
  int status = say_summary(&summary, options, path, diag);
  if (path)
    return status;
  g_autofree char *text = store_text(store, keys);
  return exit_status_worst(status, session_write(text));
}

static int run_share(const SweepPoints *points, const Share *share, const Options *options, Diag *diag) {
  g_autofree char *header = row_header(points->plan);
  g_autofree char *path = options->output ? shards_file(options->output, share->shard, share->shards) : NULL;
  g_autoptr(Store) store = path ? store_open(path, header, options->fresh, diag) : store_new(header);
  return store ? run_points(points, share, store, path, options, diag) : STATUS_OK;
}

/* --- counting and merging --- */

static int count(const SweepPoints *points, const Share *share, const Options *options, Diag *diag) {
  g_autofree char *header = row_header(points->plan);
  g_autoptr(GPtrArray) keys = sweep_shard_keys(points, share->shard, share->shards);
  g_autoptr(Store) store = options->output ? shards_read(options->output, header, diag) : store_new(header);
  if (!store)
    return STATUS_OK;
  g_autofree char *done =
      options->output ? g_strdup_printf(", %u done", shards_count_done(store, keys)) : g_strdup("");
  g_autofree char *text = g_strdup_printf("%u point%s%s\n", keys->len, keys->len == 1 ? "" : "s", done);
  return session_write(text);
}

static int merge(const SweepPoints *points, const Options *options, Diag *diag) {
  g_autofree char *header = row_header(points->plan);
  g_autoptr(Store) all = shards_read(options->output, header, diag);
  if (!all)
    return STATUS_OK;
  guint done = shards_count_done(all, points->keys);
  if (done < points->keys->len) {
    g_autofree char *missing = shards_missing(options->output);
    diag_error(diag, options->output, 0, 0, "%u of %u points are missing in the shards' files%s%s",
               points->keys->len - done, points->keys->len, missing ? "; there is none of shard " : "",
               missing ? missing : "");
    diag_hint(diag, "run the shards that are missing, or the sweep without --shard");
    return STATUS_OK;
  }
  g_autoptr(Store) store = store_open(options->output, header, false, diag);
  if (!store || !store_take(store, all, diag) || !store_finish(store, points->keys, diag))
    return STATUS_OK;
  SweepSummary summary = {.points = done, .before = done};
  for (guint i = 0; i < points->keys->len; i++)
    summary.failed += row_is_error(store_row(store, g_ptr_array_index(points->keys, i)));
  return say_summary(&summary, options, options->output, diag);
}

static int sweep(const Options *options, Diag *diag) {
  Share share;
  if (!read_share(options, &share, diag))
    return STATUS_OK;
  if ((options->shard || options->merge) && !options->output)
    return diag_usage(diag, "--%s needs -o FILE", options->merge ? "merge" : "shard"), STATUS_OK;
  if (options->shard && options->merge)
    return diag_usage(diag, "--merge is for all shards together"), STATUS_OK;
  if (options->count && options->merge)
    return diag_usage(diag, "--count or --merge: one at a time"), STATUS_OK;
  if (sweep_cluster_wanted(options))
    return sweep_cluster(options, diag);
  g_autoptr(Plan) plan = sweep_plan(options, diag);
  g_autoptr(SweepPoints) points = plan ? sweep_points_new(plan, diag) : NULL;
  if (!points)
    return STATUS_OK;
  return options->count   ? count(points, &share, options, diag)
         : options->merge ? merge(points, options, diag)
                          : run_share(points, &share, options, diag);
}

int cmd_sweep(int argc, char **argv) { return session_command(&help, argc, argv, sweep); }
