#include "sim/study/sweep/submission.h"

#include <string.h>

#include "base/quote.h"

#define GROUP "sweep"

static const char comment[] = " A sweep that was submitted to Slurm: `lockstep sweep -o FILE --status`";

char *submission_beside(const char *path, const char *ending) { return g_strconcat(path, ending, NULL); }

bool submission_exists(const char *path) {
  g_autofree char *file = submission_beside(path, SUBMISSION_KEYS);
  return g_file_test(file, G_FILE_TEST_EXISTS);
}

/* --- making --- */

static char *digest_of(const SweepPoints *points) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  for (guint i = 0; i < points->keys->len; i++)
    g_checksum_update(sum, g_ptr_array_index(points->keys, i), -1);
  return g_strdup(g_checksum_get_string(sum));
}

/* A line `#SBATCH` holds no line end, and to Slurm a backslash in a path means that `%` stands for itself all over
 * it. */
static bool check_text(const char *what, const char *text, const char *forbidden, Diag *diag) {
  for (const char *c = text; c && *c; c++) {
    if (!g_ascii_iscntrl(*c) && !strchr(forbidden, *c))
      continue;
    g_autofree char *quoted = quote_text(text);
    return diag_usage(diag, "%s %s: Slurm takes no %s in it", what, quoted,
                      *c == '\\' ? "backslash" : "control character");
  }
  return text && !*text ? diag_usage(diag, "%s is empty", what) : true;
}

bool submission_ask(Submission *submission, const Request *request, Diag *diag) {
  const struct {
    const char *option, *text;
    char **target;
  } texts[] = {
      {"--partition", request->partition, &submission->request.partition},
      {"--time", request->time, &submission->request.time},
      {"--account", request->account, &submission->request.account},
  };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    if (!check_text(texts[i].option, texts[i].text, "", diag))
      return false;
    if (!texts[i].text)
      continue;
    g_free(*texts[i].target);
    *texts[i].target = g_strdup(texts[i].text);
  }
  if (request->cpus)
    submission->request.cpus = request->cpus;
  return true;
}

static Submission *empty(const char *path) {
  Submission *submission = g_new0(Submission, 1);
  submission->path = g_canonicalize_filename(path, NULL);
  submission->jobs = g_ptr_array_new_with_free_func(g_free);
  return submission;
}

static unsigned worth(guint points) {
  guint shards = (points + SUBMISSION_SHARD_POINTS - 1) / SUBMISSION_SHARD_POINTS;
  return CLAMP(shards, 1u, SUBMISSION_SHARDS_DEFAULT_MAX);
}

Submission *submission_new(const char *path, const SweepPoints *points, const Request *request, Diag *diag) {
  g_autoptr(Submission) submission = empty(path);
  submission->digest = digest_of(points);
  submission->request.shards = request->shards ? MIN(request->shards, points->keys->len) : worth(points->keys->len);
  return check_text("the path of", submission->path, "\\", diag) && submission_ask(submission, request, diag)
             ? g_steal_pointer(&submission)
             : NULL;
}

void submission_free(Submission *submission) {
  if (!submission)
    return;
  g_free(submission->path);
  g_free(submission->digest);
  g_free(submission->request.partition);
  g_free(submission->request.time);
  g_free(submission->request.account);
  g_ptr_array_unref(submission->jobs);
  g_free(submission);
}

bool submission_check_plan(const Submission *submission, const Plan *plan, Diag *diag) {
  g_autofree char *text = plan_text(plan);
  g_autofree char *file = submission_beside(submission->path, SUBMISSION_PLAN);
  g_autofree char *frozen = NULL;
  if (g_file_get_contents(file, &frozen, NULL, NULL) && strcmp(frozen, text) == 0)
    return true;
  diag_error(diag, submission->path, 0, 0, "another plan was submitted with this file: `%s`", file);
  diag_hint(diag, "name that plan or none, choose another file with -o, or --fresh to lose what it holds");
  return false;
}

bool submission_check_points(const Submission *submission, const SweepPoints *points, Diag *diag) {
  g_autofree char *digest = digest_of(points);
  if (strcmp(digest, submission->digest) == 0)
    return true;
  diag_error(diag, submission->path, 0, 0,
             "scenarios, programs or machines of its plan have changed since it was submitted, or this is another "
             "version of lockstep: rows of the jobs wouldn't count");
  diag_hint(diag, "bring them back as they were, or submit anew with --slurm --fresh, which loses what is there");
  return false;
}

/* --- the file --- */

static unsigned read_number(GKeyFile *keys, const char *name, unsigned least, unsigned most, GError **error) {
  GError *found = NULL;
  guint64 number = g_key_file_get_uint64(keys, GROUP, name, &found);
  if (!found && (number < least || number > most))
    g_set_error(&found, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, "%s must be between %u and %u", name, least,
                most);
  if (found && *error)
    g_error_free(found);
  else if (found)
    *error = found;
  return (unsigned)number;
}

static void read_jobs(Submission *submission, GKeyFile *keys, GError **error) {
  g_auto(GStrv) jobs = *error ? NULL : g_key_file_get_string_list(keys, GROUP, "jobs", NULL, error);
  for (char **job = jobs; job && *job; job++) {
    if (!**job || strspn(*job, "0123456789") != strlen(*job))
      return g_set_error(error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, "`%s` isn't the number of a job",
                         *job);
    g_ptr_array_add(submission->jobs, g_strdup(*job));
  }
}

Submission *submission_load(const char *path, Diag *diag) {
  g_autofree char *file = submission_beside(path, SUBMISSION_KEYS);
  g_autoptr(GKeyFile) keys = g_key_file_new();
  g_autoptr(GError) error = NULL;
  if (!submission_exists(path)) {
    diag_error(diag, path, 0, 0, "hasn't been submitted: there is no `%s`", file);
    diag_hint(diag, "`lockstep sweep PLAN -o FILE --slurm` submits a sweep");
    return NULL;
  }
  g_autoptr(Submission) submission = empty(path);
  Request *request = &submission->request;
  if (g_key_file_load_from_file(keys, file, G_KEY_FILE_NONE, &error)) {
    request->shards = read_number(keys, "shards", 1, PLAN_POINTS_MAX, &error);
    request->cpus = read_number(keys, "cpus", 0, SUBMISSION_CPUS_MAX, &error);
    submission->digest = error ? NULL : g_key_file_get_string(keys, GROUP, "digest", &error);
    read_jobs(submission, keys, &error);
  }
  if (error) {
    diag_error(diag, file, 0, 0, "can't be read: %s", error->message);
    return NULL;
  }
  request->partition = g_key_file_get_string(keys, GROUP, "partition", NULL);
  request->time = g_key_file_get_string(keys, GROUP, "time", NULL);
  request->account = g_key_file_get_string(keys, GROUP, "account", NULL);
  return g_steal_pointer(&submission);
}

static void keep_text(GKeyFile *keys, const char *name, const char *text) {
  if (text)
    g_key_file_set_string(keys, GROUP, name, text);
}

bool submission_save(const Submission *submission, Diag *diag) {
  const Request *request = &submission->request;
  g_autofree char *file = submission_beside(submission->path, SUBMISSION_KEYS);
  g_autoptr(GKeyFile) keys = g_key_file_new();
  g_autoptr(GError) error = NULL;
  g_key_file_set_uint64(keys, GROUP, "shards", request->shards);
  g_key_file_set_uint64(keys, GROUP, "cpus", request->cpus);
  keep_text(keys, "partition", request->partition);
  keep_text(keys, "time", request->time);
  keep_text(keys, "account", request->account);
  g_key_file_set_string(keys, GROUP, "digest", submission->digest);
  g_key_file_set_string_list(keys, GROUP, "jobs", (const char *const *)submission->jobs->pdata,
                             submission->jobs->len);
  g_key_file_set_comment(keys, NULL, NULL, comment, NULL);
  if (g_key_file_save_to_file(keys, file, &error))
    return true;
  return diag_error(diag, file, 0, 0, "can't be written: %s", error->message);
}

/* --- the script --- */

/* "1-3,7" */
static char *tasks_text(const GArray *tasks) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < tasks->len;) {
    guint first = g_array_index(tasks, guint, i), last = first;
    while (++i < tasks->len && g_array_index(tasks, guint, i) == last + 1)
      last++;
    g_string_append_printf(text, "%s%u", text->len ? "," : "", first);
    if (last > first)
      g_string_append_printf(text, "-%u", last);
  }
  return g_string_free(text, FALSE);
}

/* Double quotes and backslashes mean in such a line what they mean in a shell; nothing else does. */
static void append_option(GString *script, const char *name, const char *value) {
  if (!value)
    return;
  g_string_append_printf(script, "#SBATCH --%s=\"", name);
  for (; *value; value++) {
    if (*value == '"' || *value == '\\')
      g_string_append_c(script, '\\');
    g_string_append_c(script, *value);
  }
  g_string_append(script, "\"\n");
}

/* In the name of a log `%` begins what Slurm fills in. */
static char *log_pattern(const char *path) {
  g_autofree char *folder = submission_beside(path, SUBMISSION_LOGS);
  GString *pattern = g_string_new(folder);
  g_string_replace(pattern, "%", "%%", 0);
  g_string_append(pattern, "/%A_%a.log");
  return g_string_free(pattern, FALSE);
}

static void append_options(GString *script, const Submission *submission, const GArray *tasks) {
  const Request *request = &submission->request;
  g_autofree char *base = g_path_get_basename(submission->path);
  g_autofree char *name = g_strconcat("lockstep ", base, NULL);
  g_autofree char *array = tasks_text(tasks);
  g_autofree char *logs = log_pattern(submission->path);
  append_option(script, "job-name", name);
  append_option(script, "array", array);
  append_option(script, "output", logs);
  append_option(script, "partition", request->partition);
  append_option(script, "time", request->time);
  append_option(script, "account", request->account);
  if (request->cpus)
    g_string_append_printf(script, "#SBATCH --cpus-per-task=%u\n", request->cpus);
}

char *submission_script(const Submission *submission, const GArray *tasks) {
  g_autofree char *current = g_canonicalize_filename(".", NULL);
  g_autofree char *found = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *plan_path = submission_beside(submission->path, SUBMISSION_PLAN);
  g_autofree char *folder = quote_word(current), *executable = quote_word(found ? found : "lockstep");
  g_autofree char *plan = quote_word(plan_path), *path = quote_word(submission->path);
  g_autofree char *cpus = submission->request.cpus ? g_strdup_printf("%u", submission->request.cpus)
                                                   : g_strdup("\"${SLURM_CPUS_ON_NODE:-1}\"");
  GString *script = g_string_new("#!/bin/sh\n");
  append_options(script, submission, tasks);
  g_string_append_printf(script,
                         "# Each task runs a shard of the sweep. One that was ended goes on from its journal when it "
                         "runs again.\n"
                         "cd %s || exit\n"
                         "exec %s sweep %s -o %s \\\n"
                         "  --shard \"$SLURM_ARRAY_TASK_ID/%u\" -j %s\n",
                         folder, executable, plan, path, submission->request.shards, cpus);
  return g_string_free(script, FALSE);
}
