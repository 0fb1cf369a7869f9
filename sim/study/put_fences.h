/* put_fences.h - puts the fences of findings (LateFence) into a program. */
#ifndef LOCKSTEP_STUDY_PUT_FENCES_H
#define LOCKSTEP_STUDY_PUT_FENCES_H

#include "isa/flow/fenced.h"
#include "sim/detect/naming/finding.h"

/* The program with the fences, LateFence *, or, without any, as it is; free with fenced_free(). */
Program *put_fences(const Program *program, const GPtrArray *fences);
/* True if the two are at one place. `found` comes from a run of the program with `fences`. */
bool put_fences_has(const GPtrArray *fences, const LateFence *found);
/* The same fence as of the program without the others. The caller owns it. */
LateFence *put_fences_before(const GPtrArray *fences, const LateFence *found);

#endif
