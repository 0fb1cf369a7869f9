/* host_proof.h - the host in the proof of a deadlock (explore.h): one more thread, whose program is a list of steps. */
#ifndef LOCKSTEP_DETECT_PROOF_HOST_PROOF_H
#define LOCKSTEP_DETECT_PROOF_HOST_PROOF_H

#include "sim/detect/proof/view.h"

/* Steps that change a word (uint32_t) and that the host would come to if what it waits for came. */
GArray *host_would_change(Explorer *explorer);
/* Adds to the abstract memory what the host may still write, from where it stands and past each poll whose word may come to
 * hold what it polls for. A repetition may go on for ever; an atomic add outside of one adds once. True if the host may come to start a launch: then nothing is
 * proved. To be called in each pass of the fixpoint. */
bool host_may_write(Explorer *explorer);

#endif
