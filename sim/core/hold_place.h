/* hold_place.h - where one warp is to be held up, once (hold_once.h). */
#ifndef LOCKSTEP_CORE_HOLD_PLACE_H
#define LOCKSTEP_CORE_HOLD_PLACE_H

#include <stdint.h>

struct Launch;

typedef struct HoldOnce {
  const struct Launch *launch; /* whose warp is held up; NULL: nobody is */
  uint64_t warp;               /* of the launch: block by block */
  uint32_t pc;                 /* behind this instruction; HOLD_START */
  uint32_t passes;             /* so many times it passes before that */
} HoldOnce;

enum { HOLD_START = UINT32_MAX, HOLD_NUMBER_MAX = 1000000000 /* of sm.held_once */ };

#endif
