/* explore_flight.h - accesses under way (sim/core/flight.h) in the proof: a look sees a cut of the machine.
 *
 * Words that haven't been performed yet may be at any time. So an access whose result its lane waits for, or will read, is a step
 * of that lane before all others: a load may find any value of its word's set, an atomic operation has its effect once more. The values
 * of stores, and of atomic operations that nobody reads, join their words' sets at the start, an add once. Steps of one lane under
 * way are taken in order of issue: their words' sets have all values anyway, whatever the order was.
 * An acquire or a fence that isn't over will empty its SM's L1. Sectors on their way to an L1 bring the values that they were read
 * with. */
#ifndef LOCKSTEP_DETECT_PROOF_EXPLORE_FLIGHT_H
#define LOCKSTEP_DETECT_PROOF_EXPLORE_FLIGHT_H

#include "sim/detect/proof/explore_step.h"

/* What is under way on an SM: its stores join the words, its other accesses the views of their warps, which are those of the SM from
 * number `first` on. */
void explore_flights_add(Explorer *explorer, const Sm *sm, guint first);

/* True if the lane has accesses under way that are steps. */
bool explore_has_flights(const WarpView *view, unsigned lane);
/* The lane takes the steps that are under way, and comes to `state`; unless `only_these`, it goes on from there. */
void explore_take_flights(LaneWalk *walk, LaneState *state, bool only_these);
/* Behind one of them: takes the next. */
void explore_next_flight(LaneWalk *walk, LaneState *state);

/* True if both lanes have the same under way, as far as it matters to who reads these registers. */
bool explore_same_flights(const WarpView *a, unsigned lane_a, const WarpView *b, unsigned lane_b,
                          const RegSet *reads);

#endif
