#include "sim/study/reliance.h"

#include "sim/study/schedule.h"

typedef struct Odd {
  guint schedule;
  RunResult *run;
} Odd;

struct Reliance {
  GArray *runs; /* Odd */
};

static Odd *odd_at(const Reliance *reliance, guint i) { return &g_array_index(reliance->runs, Odd, i); }

Reliance *reliance_new(void) {
  Reliance *reliance = g_new(Reliance, 1);
  reliance->runs = g_array_new(FALSE, FALSE, sizeof(Odd));
  return reliance;
}

void reliance_free(Reliance *reliance) {
  for (guint i = 0; i < reliance->runs->len; i++)
    run_result_free(odd_at(reliance, i)->run);
  g_array_free(reliance->runs, TRUE);
  g_free(reliance);
}

void reliance_add(Reliance *reliance, guint schedule, RunResult *run) {
  Odd odd = {schedule, run};
  g_array_append_val(reliance->runs, odd);
}

/* What went wrong: "the run ends as residency-deadlock", "x[0] is 1, expected 4". Newly allocated. */
static char *wrong_text(const RunResult *run) {
  if (run->verdict != VERDICT_COMPLETED)
    return g_strdup_printf("the run ends as %s", verdict_name(run->verdict));
  return g_strdup(g_ptr_array_index(run->failures, run->failures->len - run->wrong_buffers));
}

/* What the run says of its verdict; NULL if it completed. */
static const Finding *explanation(const RunResult *run) {
  for (guint i = 0; i < run->findings->len; i++) {
    const Finding *finding = g_ptr_array_index(run->findings, i);
    if (run->verdict != VERDICT_COMPLETED && g_str_equal(finding_name(finding->id), verdict_name(run->verdict)))
      return finding;
  }
  return NULL;
}

Finding *reliance_finding(const Reliance *reliance, RunResult *check) {
  if (reliance->runs->len == 0)
    return NULL;
  const Odd *first = odd_at(reliance, 0);
  g_autofree char *wrong = wrong_text(first->run);
  const ScheduleResult *order = &g_array_index(check->schedules, ScheduleResult, first->schedule);
  Finding *finding = finding_new(
      FINDING_DISPATCH_ORDER,
      g_strdup_printf(
          "blocks rely on the order in which they are dispatched, which CUDA doesn't guarantee: in %s order "
          "%s",
          order->dispatch_order, wrong));
  const Finding *cause = explanation(first->run);
  finding->file = g_strdup(cause && cause->file ? cause->file : check->file);
  finding->line = cause ? cause->line : 0;
  finding->source = cause ? g_strdup(cause->source) : NULL;
  finding->inlined = cause ? g_strdup(cause->inlined) : NULL;
  if (cause)
    finding_add_evidence(finding, cause->line, g_strdup(cause->message));
  for (guint i = 0; i < reliance->runs->len; i++) {
    const Odd *odd = odd_at(reliance, i);
    ScheduleResult *schedule = &g_array_index(check->schedules, ScheduleResult, odd->schedule);
    g_autofree char *arguments = schedule_arguments(schedule), *what = wrong_text(odd->run);
    schedule->relies = true;
    finding_add_evidence(finding, 0, g_strdup_printf("%s: %s", what, arguments));
  }
  finding->repair =
      g_strdup("let each block take its number from a counter by atomicAdd() when it starts, instead of "
               "blockIdx: then it waits only for blocks that have started");
  return finding;
}
