/* l1_sets.h - which of an L1's 512 sets of tags a line belongs to on Hopper: exclusive ors of the bits of its number.
 * Found on an H200 by lines that drive each other out (validation/hardware/mem_sets.cu, 85 lines of 64 GB): the hash
 * is of virtual addresses, and known up to bit 28 of a line's number. */
#ifndef LOCKSTEP_MEMORY_L1_SETS_H
#define LOCKSTEP_MEMORY_L1_SETS_H

#include <stdint.h>

enum { L1_HASHED_SETS = 512 };

/* The set of a line by its number, its address divided by the line's size. */
uint32_t l1_sets_hashed(uint64_t number);

#endif
