/* copies.h - which copies of global words an SM's L1 keeps for ever, in the proof.
 *
 * A plain load that hits reads the copy, whatever memory holds by now. A copy stays unless some access of its SM's lanes can
 * make it go, in whatever order they run: an atomic operation or a strong store to its sector (or a plain one, on machines
 * whose stores evict), a fence or an acquire beyond the block, or loads of more lines than its set,
 * or the L1, has room for beside those that it holds. The exploration tells of each such access that a lane may come
 * to; what may go never comes back. Kernels that start would empty the L1s, but none can while nobody finishes. */
#ifndef LOCKSTEP_DETECT_PROOF_COPIES_H
#define LOCKSTEP_DETECT_PROOF_COPIES_H

#include "sim/core/gpu.h"

typedef struct Copies Copies;

Copies *copies_new(const Gpu *gpu);
void copies_free(Copies *copies);

/* True if the SM's L1 holds that word and keeps it, as far as is known; *word is the copy. */
bool copies_keep(const Copies *copies, const Sm *sm, uint64_t address, uint32_t *word);

/* A lane of the SM may do that. True if it is news that makes some copy go. */
bool copies_load(Copies *copies, const Sm *sm, uint64_t address);
bool copies_evict(Copies *copies, const Sm *sm, uint64_t address);
bool copies_evict_all(Copies *copies, const Sm *sm);

#endif
