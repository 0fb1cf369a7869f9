/* explain.h - a finding as a good compiler would print it: place, what, the source line, evidence, holder, repair. */
#ifndef LOCKSTEP_REPORT_EXPLAIN_H
#define LOCKSTEP_REPORT_EXPLAIN_H

#include "sim/detect/naming/finding.h"
#include "sim/report/paint.h"

void explain_finding(const Finding *finding, Canvas *canvas);

#endif
