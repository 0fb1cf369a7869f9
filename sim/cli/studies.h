/* studies.h - what the commands that measure many points share: how they run, and their tables. */
#ifndef LOCKSTEP_CLI_STUDIES_H
#define LOCKSTEP_CLI_STUDIES_H

#include "sim/cli/options.h"
#include "sim/study/sweep/sweep.h"

/* How a study's points run, with a progress line in `progress`, which is begun. */
SweepOptions studies_begin(const Options *options, Progress *progress);
/* A plan of the one scenario that is named, on the one machine (the scenario's first if none is named), with what -s,
 * -p, --seed and limits say; `seeds` if the user gives none. NULL after errors. */
Plan *studies_plan(const Options *options, unsigned seeds, Diag *diag);
/* Says that a study which was stopped has no report, and what is kept of it. The exit status. */
int studies_cut_short(const Options *options, Diag *diag);
/* ", -s gpu.sms=4 -p blocks=8": what -s and -p changed, for the first line of a report; nothing without them. */
void studies_changes(GString *out, const Options *options);
/* A number as people read it: "1.23e+06" as 1.23 M. Free with g_free. */
char *studies_rate(double value);

#endif
