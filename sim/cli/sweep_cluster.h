/* sweep_cluster.h - `lockstep sweep` on a cluster: --slurm, --status, --resume. */
#ifndef LOCKSTEP_CLI_SWEEP_CLUSTER_H
#define LOCKSTEP_CLI_SWEEP_CLUSTER_H

#include "sim/cli/options.h"

/* True if an option asks for it, or has no meaning without it. */
bool sweep_cluster_wanted(const Options *options);
/* Submits, says how far the sweep is, or submits again; checks first that the options go together. Returns the exit
 * status. */
int sweep_cluster(const Options *options, Diag *diag);

#endif
