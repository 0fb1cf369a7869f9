/* lane_class.h - lanes that stand at one instruction of one launch, asked together whether any of them would change something that
 * is waited for.
 *
 * A class is explored once, as a lane of which only that is known in which all its members agree (Assumption.any_lane). What that
 * exploration doesn't touch, no member does; a class that would store to an address that isn't known says nothing, and
 * then classes of one block each are asked, whose index is known. So a grid of 270,000 threads at a barrier, of which
 * none has anything to give, costs one exploration, or one for each block. */
#ifndef LOCKSTEP_DETECT_NAMING_LANE_CLASS_H
#define LOCKSTEP_DETECT_NAMING_LANE_CLASS_H

#include "sim/detect/naming/waitgraph.h"

typedef struct LaneClasses LaneClasses;

/* The classes of all lanes that can't finish. The graph, which has what they wait for, is borrowed. */
LaneClasses *lane_classes_new(WaitGraph *graph);
void lane_classes_free(LaneClasses *classes);
/* True if the lane, if whatever it waits for came, would change nothing that is awaited, but what it waits for itself and of which
 * such a lane is known already (Node.waiter). */
bool lane_classes_changes_nothing(LaneClasses *classes, guint view, unsigned lane);
/* True if no lane would change one of these words (keys), all lanes' waits taken to be over at once, and what they store kept. */
bool lane_classes_never_change(LaneClasses *classes, GHashTable *words);

#endif
