#include "sim/study/again.h"

#include <string.h>

#include "base/quote.h"
#include "sim/study/schedule.h"
#include "sim/study/twice.h"

/* The settings that the user gave, but for those in whose place the schedule has its own. */
static void append_settings(GString *text, const char *const *settings, const char *schedule) {
  g_auto(GStrv) words = g_strsplit(schedule, " ", -1);
  for (; settings && *settings; settings++) {
    bool replaced = false;
    for (char **word = words; *word; word++)
      replaced |= strchr(*word, '=') && twice_same(*settings, *word);
    g_autofree char *quoted = quote_word(*settings);
    if (!replaced)
      g_string_append_printf(text, " -s %s", quoted);
  }
}

static char *run_command(const RunResult *result, const ScheduleResult *schedule, const Given *given) {
  g_autofree char *arguments = schedule_arguments(schedule);
  g_autofree char *file = quote_word(result->file);
  g_autofree char *machine = quote_word(given->machine ? given->machine : result->machine);
  GString *text = g_string_new(NULL);
  g_string_printf(text, "lockstep run %s -m %s", file, machine);
  append_settings(text, given->settings, arguments);
  g_string_append_printf(text, "%s %s%s", given->options ? given->options : "", arguments,
                         given->flags ? given->flags : "");
  return g_string_free(text, FALSE);
}

char *again_worst(const RunResult *worst, const GArray *schedules, const Given *given) {
  if (worst->verdict == VERDICT_COMPLETED || (worst->verdict == VERDICT_UNDECIDED && stop_is_final(worst->stop)))
    return NULL;
  for (guint i = 0; i < schedules->len; i++) {
    const ScheduleResult *schedule = &g_array_index(schedules, ScheduleResult, i);
    if (schedule->starved || schedule->verdict != worst->verdict)
      continue;
    return run_command(worst, schedule, given);
  }
  return NULL;
}

Unfinished again_unfinished(const GArray *schedules, const RunResult *result, const Given *given) {
  Unfinished all = {0};
  for (guint i = 0; i < schedules->len; i++) {
    const ScheduleResult *schedule = &g_array_index(schedules, ScheduleResult, i);
    all.tried += schedule->held_up != 0;
    if (!schedule->held_up || !schedule->starved)
      continue;
    if (all.left++ == 0)
      all.again = run_command(result, schedule, given);
    all.cycles = MAX(all.cycles, schedule->cycles);
  }
  return all;
}
