/* race_own.h - for a doubt: what a warp's loads of its own stores rest on. A hand-off that decides an access by
 * way of a store only (`place = atomicAdd(&count, 1); queue[place] = w;`) counts for a warp when it loads a word
 * that it stored to itself behind it; what others store it gets by other hand-offs, which count, if they do, with
 * all that the other warp knew. Generous: any store to the word behind the hand-off counts, whatever it stored. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_OWN_H
#define LOCKSTEP_DETECT_RACE_RACE_OWN_H

#include "sim/detect/race/race_words.h"

/* The warp issues an access. */
void race_own_access(RaceWatch *watch, const ProbePoint *point, WarpOrder *warp, const RaceAccess *access);

#endif
