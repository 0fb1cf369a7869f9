/* descent.h - stochastic gradient descent on the ratings of a bipartite graph, one edge after the other: the
 * sequential reference of traces/irregular/gradient.cu and traces/client_server/gradient_server.cu. */
#ifndef LOCKSTEP_SCENARIO_DESCENT_H
#define LOCKSTEP_SCENARIO_DESCENT_H

#include <stdint.h>

/* `from`, `to`, `rating`: of each edge. */
typedef struct Ratings {
  uint32_t vertices, edges;
  const uint32_t *from, *to, *rating;
} Ratings;

/* What one pass over the edges, in their order, leaves of the sum of their squared errors, in 256ths, each edge's
 * rounded down. Four features of each vertex, 0.5 to 1 at first (drawn by a hash), a rate of 0.05; the product of its
 * vertices' features predicts an edge's rating. */
uint32_t descent_error(const Ratings *ratings);

#endif
