/* diagnose.h - names a proved deadlock by its wait cycle and explains it (SEMANTICS, "Verdicts", precedence). */
#ifndef LOCKSTEP_DETECT_NAMING_DIAGNOSE_H
#define LOCKSTEP_DETECT_NAMING_DIAGNOSE_H

#include "sim/detect/naming/waitgraph.h"

/* Appends a finding for each wait cycle (the verdict's own first), or for the waits that nobody can end. Returns the
 * verdict. */
Verdict diagnose(const WaitGraph *graph, GPtrArray *findings);

#endif
