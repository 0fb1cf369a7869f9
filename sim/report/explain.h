/* explain.h - a finding as a good compiler would print it: place, what, the source line, evidence, holder, repair. */
#ifndef LOCKSTEP_REPORT_EXPLAIN_H
#define LOCKSTEP_REPORT_EXPLAIN_H

#include "isa/program.h"
#include "sim/report/paint.h"

/* Appends the explanation. `program` gives the source lines of the evidence; it may be NULL. */
void explain_finding(const Finding *finding, const Program *program, Canvas *canvas);

#endif
