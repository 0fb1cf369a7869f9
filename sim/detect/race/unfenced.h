/* unfenced.h - code that a late store could tell apart: a strong store to global memory, behind which a strong
 * access to another word comes without a fence of the GPU between; or a strong load with none that is fence.sc, since
 * loads may pass stores at all others. Such pairs are all that Shasha and Snir's
 * delays are about; whether other threads can see the order isn't asked. */
#ifndef LOCKSTEP_DETECT_RACE_UNFENCED_H
#define LOCKSTEP_DETECT_RACE_UNFENCED_H

#include "isa/program.h"

/* Of a kernel of PTX. */
bool unfenced_has_pair(const Kernel *kernel);

#endif
