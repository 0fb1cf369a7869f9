/* race_repair.h - which fences and barriers may end a race. They are tried in the model (race_trial.h) before one
 * is proposed. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_REPAIR_H
#define LOCKSTEP_DETECT_RACE_RACE_REPAIR_H

#include "sim/detect/naming/finding.h"
#include "sim/detect/race/race_ends.h"

/* Of a strong access and a plain one, both stores or not: what may help without a barrier, and can't be tried. */
extern const char race_both_stores_repair[], race_plain_access_repair[];
/* The end that initialises a barrier in shared memory (mbarrier), if the other one uses it, or does the same;
 * NULL. */
const RaceEnd *race_initialises(const ProbePoint *point, const Race *race, const RaceEnd *second);

/* What helps then. */
const char *race_initialise_repair(const ProbePoint *point, const Race *race, const RaceEnd *second);

/* Both write, and the plain store gives the word its first value, as far as the kernel tells: a thread that comes to
 * it has made no strong access. */
bool race_sets_first(const ProbePoint *point, const Race *race, const RaceEnd *second);
/* What helps then: no store that is atomic. */
const char *race_first_value_repair(const ProbePoint *point, const Race *race, const RaceEnd *second);

/* x++ on one word by several threads: a load and a store of one line with one address, and what is stored is a sum
 * of what was loaded. */
bool race_is_update(const ProbePoint *point, const Race *race, const RaceEnd *second);
/* The load's value, and something added, is stored where it was: x++ on a volatile. */
bool race_loads_for_update(const Kernel *kernel, uint32_t load);
/* A lock is tried for before the access at `pc`, and nothing looks at whether it was taken (unheeded.h): adds that,
 * and what mends it. False: nothing is known of any. */
bool race_add_unheeded(Finding *finding, const Launch *launch, uint32_t pc);
/* The same of one of the two, if a lock would order them: no barrier needs to be tried then. */
bool race_is_unheeded(Finding *finding, const ProbePoint *point, const Race *race, const RaceEnd *second);
/* The second may not depend on what was handed to it: adds that doubt. */
void race_add_doubt(Finding *finding, const ProbePoint *point, const RaceEnd *second);
/* Adds the repairs to be tried to the finding. */
void race_add_repairs(Finding *finding, const ProbePoint *point, const Race *race, const RaceEnd *second);

#endif
