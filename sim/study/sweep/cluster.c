#include "sim/study/sweep/cluster.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "sim/study/sweep/row.h"
#include "sim/study/sweep/shards.h"
#include "sim/study/sweep/slurm.h"

/* --- submitting --- */

static bool write_text(const char *path, const char *ending, const char *text, Diag *diag) {
  g_autofree char *file = submission_beside(path, ending);
  g_autoptr(GError) error = NULL;
  if (g_file_set_contents(file, text, -1, &error))
    return true;
  return diag_error(diag, file, 0, 0, "can't be written: %s", error->message);
}

static bool make_logs(const char *path, Diag *diag) {
  g_autofree char *folder = submission_beside(path, SUBMISSION_LOGS);
  return g_mkdir_with_parents(folder, 0777) == 0 ||
         diag_error(diag, folder, 0, 0, "can't be made: %s", g_strerror(errno));
}

static bool need_sbatch(const Submission *submission, Diag *diag) {
  if (slurm_has("sbatch"))
    return true;
  diag_error(diag, NULL, 0, 0,
             "there is no `sbatch` in PATH: no Slurm, or no machine of the cluster from which jobs are submitted");
  diag_hint(
      diag,
      "GNU parallel runs the same shards: `parallel lockstep sweep PLAN -j 1 --shard {}/%u -o FILE ::: $(seq %u)`"
      ", then `lockstep sweep PLAN -o FILE --merge`",
      submission->request.shards, submission->request.shards);
  return false;
}

bool cluster_resume(Submission *submission, const GArray *shards, Diag *diag) {
  g_autofree char *script = submission_script(submission, shards);
  g_autofree char *file = submission_beside(submission->path, SUBMISSION_SCRIPT);
  /* Whether FILE.slurm can be written is better known before there is a job to be lost. */
  if (!need_sbatch(submission, diag) || !make_logs(submission->path, diag) ||
      !write_text(submission->path, SUBMISSION_SCRIPT, script, diag) || !submission_save(submission, diag))
    return false;
  char *job = slurm_submit(file, script, diag);
  if (!job)
    return false;
  g_ptr_array_add(submission->jobs, job);
  return submission_save(submission, diag);
}

static void remove_beside(const char *path, const char *ending) {
  g_autofree char *file = submission_beside(path, ending);
  g_remove(file);
}

/* A submission that came to nothing leaves nothing behind; logs of others stay. */
static void remove_all(const char *path) {
  remove_beside(path, SUBMISSION_PLAN);
  remove_beside(path, SUBMISSION_SCRIPT);
  remove_beside(path, SUBMISSION_KEYS);
  remove_beside(path, SUBMISSION_LOGS);
}

bool cluster_submit(Submission *submission, const SweepPoints *points, const GArray *shards, Diag *diag) {
  g_autofree char *plan = plan_text(points->plan);
  if (write_text(submission->path, SUBMISSION_PLAN, plan, diag) && cluster_resume(submission, shards, diag))
    return true;
  if (!submission->jobs->len)
    remove_all(submission->path);
  return false;
}

/* --- before it --- */

static bool limit_shards(Submission *submission, const Request *request, Diag *diag) {
  unsigned most = slurm_tasks_max();
  if (!most || submission->request.shards <= most)
    return true;
  if (request->shards) {
    diag_usage(diag, "--shards %u: a job array has at most %u tasks on this site (MaxArraySize)", request->shards,
               most);
    diag_hint(diag, "--shards %u", most);
    return false;
  }
  submission->request.shards = most;
  return true;
}

static bool refuse_again(const char *path, const Plan *plan, Diag *diag) {
  g_autoptr(Submission) earlier = submission_load(path, diag);
  if (!earlier || !submission_check_plan(earlier, plan, diag))
    return false;
  diag_error(diag, path, 0, 0, "this sweep was submitted already, as job %s",
             earlier->jobs->len ? (const char *)g_ptr_array_index(earlier->jobs, earlier->jobs->len - 1) : "?");
  diag_hint(diag, "--status says how far it is, --resume submits what is missing");
  return false;
}

static bool check_idle(const Submission *submission, Diag *diag) {
  g_autoptr(GHashTable) tasks = slurm_tasks(submission->jobs, diag);
  GHashTableIter iter;
  gpointer name, task;
  if (!tasks)
    return false;
  g_hash_table_iter_init(&iter, tasks);
  while (g_hash_table_iter_next(&iter, &name, &task)) {
    if (((SlurmTask *)task)->phase == SLURM_ENDED)
      continue;
    diag_error(diag, submission->path, 0, 0, "task %s of it is still in Slurm's queue", (const char *)name);
    diag_hint(diag, "`scancel` ends a job");
    return false;
  }
  return true;
}

/* Removes the file, its shards, and the submission. False after errors: tasks of it still run or wait. */
static bool forget(const char *path, Diag *diag) {
  g_autoptr(Submission) earlier = submission_exists(path) ? submission_load(path, diag) : NULL;
  if (submission_exists(path) && (!earlier || !check_idle(earlier, diag)))
    return false;
  if (!shards_remove(path, diag))
    return false;
  remove_beside(path, "");
  remove_beside(path, ".journal");
  remove_all(path);
  return true;
}

Submission *cluster_prepare(const char *path, const SweepPoints *points, const Request *request, Purpose purpose,
                            Diag *diag) {
  g_autofree char *header = row_header(points->plan);
  g_autoptr(Submission) submission = submission_new(path, points, request, diag);
  if (!submission ||
      (purpose != PURPOSE_SHOW && !(need_sbatch(submission, diag) && limit_shards(submission, request, diag))) ||
      (purpose == PURPOSE_SUBMIT_FRESH && !forget(path, diag)) ||
      (submission_exists(path) && !refuse_again(path, points->plan, diag)))
    return NULL;
  g_autoptr(Store) there = shards_read(path, header, diag);
  return there && shards_check_own(there, points->keys, path, diag) ? g_steal_pointer(&submission) : NULL;
}

/* --- what has become of it --- */

GArray *cluster_missing(const ClusterStatus *status) {
  GArray *shards = g_array_new(FALSE, FALSE, sizeof(guint));
  for (guint i = 0; i < status->shards->len; i++) {
    const ClusterShard *shard = g_ptr_array_index(status->shards, i);
    if (shard->state == SHARD_FAILED)
      g_array_append_val(shards, shard->shard);
  }
  return shards;
}

static void free_shard(gpointer data) {
  ClusterShard *shard = data;
  g_free(shard->words);
  g_free(shard->log);
  g_free(shard);
}

void cluster_status_free(ClusterStatus *status) {
  if (!status)
    return;
  g_ptr_array_unref(status->shards);
  g_free(status);
}

/* What Slurm says of the shard's newest task of which it says anything, or NULL. */
static const SlurmTask *find_task(const Submission *submission, GHashTable *tasks, unsigned shard) {
  const SlurmTask *task = NULL;
  for (guint i = submission->jobs->len; i > 0 && !task; i--) {
    g_autofree char *name = g_strdup_printf("%s_%u", (const char *)g_ptr_array_index(submission->jobs, i - 1), shard);
    task = g_hash_table_lookup(tasks, name);
  }
  return task;
}

static char *find_log(const Submission *submission, unsigned shard) {
  g_autofree char *folder = submission_beside(submission->path, SUBMISSION_LOGS);
  for (guint i = submission->jobs->len; i > 0; i--) {
    g_autofree char *name =
        g_strdup_printf("%s_%u.log", (const char *)g_ptr_array_index(submission->jobs, i - 1), shard);
    g_autofree char *file = g_build_filename(folder, name, NULL);
    if (g_file_test(file, G_FILE_TEST_EXISTS))
      return g_steal_pointer(&name);
  }
  return NULL;
}

/* PENDING and RUNNING say no more than the shard's own state. */
static char *words_of(const SlurmTask *task) {
  bool plain = task && (strcmp(task->state, "PENDING") == 0 || strcmp(task->state, "RUNNING") == 0);
  if (!task || plain)
    return g_strdup(task ? task->reason : "");
  return g_strdup_printf("%s%s%s", task->state, *task->reason ? ", " : "", task->reason);
}

static void judge(ClusterShard *shard, const SlurmTask *task) {
  static const ShardState states[] = {
      [SLURM_WAITING] = SHARD_WAITING, [SLURM_RUNNING] = SHARD_RUNNING, [SLURM_ENDED] = SHARD_FAILED};
  shard->state = shard->done == shard->points ? SHARD_DONE : task ? states[task->phase] : SHARD_FAILED;
  shard->words = words_of(task);
}

static ClusterStatus *count_points(const Submission *submission, const SweepPoints *points, const Store *store) {
  ClusterStatus *status = g_new0(ClusterStatus, 1);
  status->shards = g_ptr_array_new_with_free_func(free_shard);
  for (unsigned i = 1; i <= submission->request.shards; i++) {
    g_autoptr(GPtrArray) keys = sweep_shard_keys(points, i, submission->request.shards);
    ClusterShard *shard = g_new0(ClusterShard, 1);
    *shard = (ClusterShard){.shard = i, .points = keys->len, .done = shards_count_done(store, keys)};
    g_ptr_array_add(status->shards, shard);
  }
  status->points = points->keys->len;
  status->done = shards_count_done(store, points->keys);
  for (guint i = 0; i < points->keys->len; i++) {
    const char *row = store_row(store, g_ptr_array_index(points->keys, i));
    status->errors += row && row_is_error(row);
  }
  return status;
}

/* The queue is asked before rows are read: of a task that had left it by then, all rows are there. */
ClusterStatus *cluster_status(const Submission *submission, const SweepPoints *points, Diag *diag) {
  g_autofree char *header = row_header(points->plan);
  g_autoptr(GHashTable) tasks = slurm_tasks(submission->jobs, diag);
  g_autoptr(Store) store = tasks ? shards_read(submission->path, header, diag) : NULL;
  if (!store)
    return NULL;
  ClusterStatus *status = count_points(submission, points, store);
  bool unknown = false;
  for (guint i = 0; i < status->shards->len; i++) {
    const ClusterShard *shard = g_ptr_array_index(status->shards, i);
    unknown |= shard->done < shard->points && !find_task(submission, tasks, shard->shard);
  }
  if (unknown)
    slurm_add_old_tasks(tasks, submission->jobs);
  for (guint i = 0; i < status->shards->len; i++) {
    ClusterShard *shard = g_ptr_array_index(status->shards, i);
    judge(shard, find_task(submission, tasks, shard->shard));
    shard->log = find_log(submission, shard->shard);
    status->count[shard->state]++;
  }
  return status;
}
