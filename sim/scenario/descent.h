/* descent.h - stochastic gradient descent on the ratings of a bipartite graph, one edge after the other: the sequential
 * reference of traces/irregular/gradient.cu and traces/client_server/gradient_server.cu. */
#ifndef LOCKSTEP_SCENARIO_DESCENT_H
#define LOCKSTEP_SCENARIO_DESCENT_H

#include "sim/scenario/graph.h"

/* What one pass over the edges, in their order, leaves of the sum of their squared errors, in 256ths, each edge's rounded
 * down. Four features of each vertex, 0.5 to 1 at first (drawn by a hash), a rate of 0.05; an edge's value is its
 * rating, which the product of its vertices' features predicts. */
uint32_t descent_error(const Graph *graph);

#endif
