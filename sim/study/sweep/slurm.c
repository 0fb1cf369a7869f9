#include "sim/study/sweep/slurm.h"

#include <stdlib.h>
#include <string.h>

bool slurm_has(const char *program) {
  g_autofree char *found = g_find_program_in_path(program);
  return found != NULL;
}

/* --- calling --- */

/* What a program said. */
typedef struct Answer {
  char *out, *err;
  bool good; /* it ran, and its exit status was 0 */
} Answer;

static void answer_clear(Answer *answer) {
  g_free(answer->out);
  g_free(answer->err);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Answer, answer_clear)

/* Options of a script whose variable of the environment would win over the script. */
static const struct {
  const char *line, *variable;
} overridden[] = {
    {"\n#SBATCH --array=", "SBATCH_ARRAY_INX"}, {"\n#SBATCH --job-name=", "SBATCH_JOB_NAME"},
    {"\n#SBATCH --output=", "SBATCH_OUTPUT"},   {"\n#SBATCH --partition=", "SBATCH_PARTITION"},
    {"\n#SBATCH --time=", "SBATCH_TIMELIMIT"},  {"\n#SBATCH --account=", "SBATCH_ACCOUNT"},
};

/* Without the variables that would change what squeue and sacct print, or what the script (or NULL) says. */
static char **environment(const char *script) {
  char **list = g_get_environ();
  g_auto(GStrv) all = g_listenv();
  for (char **name = all; *name; name++)
    if (g_str_has_prefix(*name, "SQUEUE_") || g_str_has_prefix(*name, "SACCT_"))
      list = g_environ_unsetenv(list, *name);
  for (guint i = 0; script && i < G_N_ELEMENTS(overridden); i++)
    if (strstr(script, overridden[i].line))
      list = g_environ_unsetenv(list, overridden[i].variable);
  return list;
}

static void call(const char *const *argv, const char *script, Answer *answer) {
  g_auto(GStrv) list = environment(script);
  g_autoptr(GError) error = NULL;
  int status = 0;
  *answer = (Answer){NULL, NULL, false};
  answer->good = g_spawn_sync(NULL, (char **)argv, list, G_SPAWN_SEARCH_PATH, NULL, NULL, &answer->out, &answer->err,
                              &status, &error) &&
                 g_spawn_check_wait_status(status, NULL);
  if (error) {
    g_free(answer->err);
    answer->err = g_strdup(error->message);
  }
}

/* The lines of what `program` complained of, "sbatch: error: " taken off, as one line. */
static char *one_line(const char *program, const char *text) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autofree char *prefix = g_strconcat(program, ": ", NULL);
  GString *line = g_string_new(NULL);
  for (char **next = lines; *next; next++) {
    const char *words = g_strstrip(*next);
    words += g_str_has_prefix(words, prefix) ? strlen(prefix) : 0;
    words += g_str_has_prefix(words, "error: ") ? strlen("error: ") : 0;
    if (*words)
      g_string_append_printf(line, "%s%s", line->len ? "; " : "", words);
  }
  return g_string_free(line, FALSE);
}

static bool refuse(const char *program, const char *what, const Answer *answer, Diag *diag) {
  g_autofree char *words = one_line(program, answer->err && *answer->err ? answer->err : "it doesn't say why");
  return diag_error(diag, NULL, 0, 0, "%s %s: %s", program, what, words);
}

/* --- submitting --- */

char *slurm_submit(const char *path, const char *script, Diag *diag) {
  const char *argv[] = {"sbatch", "--parsable", path, NULL};
  g_auto(Answer) answer;
  call(argv, script, &answer);
  if (!answer.good) {
    refuse("sbatch", "refuses the job", &answer, diag);
    return NULL;
  }
  /* "123" or "123;cluster" */
  gsize digits = strspn(answer.out, "0123456789");
  if (!digits) {
    g_autofree char *words = one_line("sbatch", answer.out);
    diag_error(diag, NULL, 0, 0, "sbatch: expected the number of a job, found `%s`", words);
    return NULL;
  }
  g_autofree char *words = one_line("sbatch", answer.err);
  if (*words)
    diag_note(diag, NULL, 0, 0, "sbatch: %s", words);
  return g_strndup(answer.out, digits);
}

unsigned slurm_tasks_max(void) {
  const char *argv[] = {"scontrol", "show", "config", NULL};
  g_auto(Answer) answer = {NULL, NULL, false};
  if (slurm_has(argv[0]))
    call(argv, NULL, &answer);
  const char *found = answer.good ? strstr(answer.out, "MaxArraySize") : NULL;
  const char *equals = found ? strchr(found, '=') : NULL;
  guint64 size = equals ? g_ascii_strtoull(equals + 1, NULL, 10) : 0;
  return size > 1 ? (unsigned)MIN(size - 1, (guint64)G_MAXUINT) : 0; /* tasks are numbered up to MaxArraySize - 1 */
}

/* --- what became of tasks --- */

static void free_task(gpointer data) {
  SlurmTask *task = data;
  g_free(task->state);
  g_free(task->reason);
  g_free(task);
}

static SlurmPhase phase_of(const char *state) {
  static const char *const waiting[] = {"PENDING",       "REQUEUED",     "REQUEUE_FED", "REQUEUE_HOLD",
                                        "RESV_DEL_HOLD", "SPECIAL_EXIT", NULL};
  static const char *const running[] = {"RUNNING",   "CONFIGURING", "COMPLETING", "RESIZING", "SIGNALING",
                                        "STAGE_OUT", "STOPPED",     "SUSPENDED",  NULL};
  return g_strv_contains(waiting, state)   ? SLURM_WAITING
         : g_strv_contains(running, state) ? SLURM_RUNNING
                                           : SLURM_ENDED;
}

/* A task that is there already keeps its state: the queue knows better than the accounts. */
static void keep_task(GHashTable *tasks, const char *name, const char *state, const char *reason) {
  if (g_hash_table_contains(tasks, name))
    return;
  SlurmTask *task = g_new(SlurmTask, 1);
  *task =
      (SlurmTask){phase_of(state), g_strdup(state), g_strdup(reason && strcmp(reason, "None") != 0 ? reason : "")};
  g_hash_table_insert(tasks, g_strdup(name), task);
}

/* Lines "JOB_TASK|STATE|REASON", the reason being there or not. sacct's state may have words behind it: "CANCELLED by
 * 1000". */
static void keep_lines(GHashTable *tasks, const char *text) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line; line++) {
    g_auto(GStrv) fields = g_strsplit(g_strstrip(*line), "|", 3);
    if (g_strv_length(fields) < 2)
      continue;
    fields[1][strcspn(fields[1], " ")] = '\0';
    keep_task(tasks, fields[0], fields[1], fields[2]);
  }
}

static char *join_jobs(const char *option, const GPtrArray *jobs) {
  GString *text = g_string_new(option);
  for (guint i = 0; i < jobs->len; i++)
    g_string_append_printf(text, "%s%s", i ? "," : "", (const char *)g_ptr_array_index(jobs, i));
  return g_string_free(text, FALSE);
}

/* Slurm forgets a job some minutes after its end; of one alone that it has forgotten squeue says that its number is
 * invalid. */
static bool ask_queue(GHashTable *tasks, const GPtrArray *jobs, Diag *diag) {
  g_autofree char *list = join_jobs("--jobs=", jobs);
  const char *argv[] = {"squeue",       "--noheader",           "--array", "--all",
                        "--states=all", "--format=%F_%K|%T|%r", list,      NULL};
  g_auto(Answer) answer;
  call(argv, NULL, &answer);
  if (answer.good)
    keep_lines(tasks, answer.out);
  return answer.good || (answer.err && strstr(answer.err, "Invalid job id")) ||
         refuse("squeue", "doesn't say which tasks there are", &answer, diag);
}

GHashTable *slurm_tasks(const GPtrArray *jobs, Diag *diag) {
  g_autoptr(GHashTable) tasks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_task);
  return !jobs->len || ask_queue(tasks, jobs, diag) ? g_steal_pointer(&tasks) : NULL;
}

void slurm_add_old_tasks(GHashTable *tasks, const GPtrArray *jobs) {
  g_autofree char *list = join_jobs("--jobs=", jobs);
  const char *argv[] = {"sacct", "--noheader", "--parsable2", "--allocations", "--format=JobID,State", list, NULL};
  g_auto(Answer) answer = {NULL, NULL, false};
  if (jobs->len && slurm_has(argv[0]))
    call(argv, NULL, &answer);
  if (answer.good)
    keep_lines(tasks, answer.out);
}
