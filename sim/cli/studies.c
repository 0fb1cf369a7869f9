#include "sim/cli/studies.h"

#include <math.h>

#include "sim/cli/session.h"
#include "sim/cli/sweep_plan.h"
#include "sim/report/text.h"

static void show_step(guint done, guint total, const char *row, gpointer progress) {
  ((Progress *)progress)->total = total;
  progress_ended(progress, done, "points");
}

SweepOptions studies_begin(const Options *options, Progress *progress) {
  progress_init(progress, 1);
  return (SweepOptions){.threads = options->jobs ? (unsigned)options->jobs : g_get_num_processors(),
                        .stop = &options->stop,
                        .step = show_step,
                        .user = progress};
}

Plan *studies_plan(const Options *options, unsigned seeds, Diag *diag) {
  if (!options->rest[0] || options->rest[1])
    return diag_usage(diag, "expected one scenario"), NULL;
  if (options->machines && options->machines[1])
    return diag_usage(diag, "one machine at a time"), NULL;
  g_autoptr(Plan) plan = sweep_plan(options, diag);
  if (!plan)
    return NULL;
  if (options->seeds <= 0)
    plan->seeds = seeds;
  if (plan->parts->len == 1 && plan_points(plan) == plan->seeds)
    return g_steal_pointer(&plan);
  diag_usage(diag, "expected one scenario on one machine, and one value of each -s and -p");
  return NULL;
}

int studies_cut_short(const Options *options, Diag *diag) {
  int status = session_cut_short(options, diag);
  diag_warning(diag, NULL, 0, 0, "no report, which needs all points");
  if (options->output)
    diag_hint(diag, "what was measured is kept in %s.journal: the same command goes on from there", options->output);
  return status;
}

void studies_changes(GString *out, const Options *options) {
  Changes changes = options_changes(options);
  Canvas canvas = {out, session_colour()};
  text_changes(&changes, &canvas);
}

char *studies_rate(double value) {
  static const char *const prefixes[] = {"", " k", " M", " G"};
  guint prefix = 0;
  for (; value >= 1000 && prefix + 1 < G_N_ELEMENTS(prefixes); prefix++)
    value /= 1000;
  return g_strdup_printf("%.3g%s", value, prefixes[prefix]);
}
