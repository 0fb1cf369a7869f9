/* consequences.h - findings that only show what another one leads to. */
#ifndef LOCKSTEP_STUDY_CONSEQUENCES_H
#define LOCKSTEP_STUDY_CONSEQUENCES_H

#include "sim/detect/naming/finding.h"

/* An unexpected-result beside anything else that may be why. And an update that is lost though its line is one of
 * those that another finding says lack an order: a lock without its fences lets two threads in. `all`: Finding *. */
bool consequences_has(const GPtrArray *all, const Finding *finding);
/* The finding before number `index` that the same fences end, which says so then; NULL: there is none. */
Finding *consequences_same_fences(const GPtrArray *all, guint index);

#endif
