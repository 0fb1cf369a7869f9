#include "isa/flow/apart.h"

#include "isa/flow/divergence.h"

enum { ROUNDS_MAX = 4 };

static unsigned count_latches(const Flow *flow, const Loops *loops, uint32_t header) {
  unsigned count = 0;
  for (uint32_t e = flow->in.start[header]; e < flow->in.start[header + 1]; e++)
    count += loops_dominates(loops, header, flow->in.to[e]);
  return count;
}

static bool leaves(const Flow *flow, const Loops *loops, uint32_t header) {
  bool found = flow->exits[header];
  for (uint32_t e = flow->out.start[header]; e < flow->out.start[header + 1]; e++)
    found |= !loops_contains(loops, header, flow->out.to[e]);
  return found;
}

static bool meets_in_next_round(const Divergence *divergence, const Loops *loops, uint32_t header) {
  for (uint32_t b = 0; b < loops->nblocks; b++)
    if (loops->loop_of[b] == (int32_t)header && divergence->branches[b] && divergence_forks(divergence, b) &&
        divergence->ipdom[b] == (int32_t)header)
      return true;
  return false;
}

/* Returns true if there is one that wasn't marked. */
static bool mark(VKernel *vkernel, const Flow *flow, const Loops *loops) {
  Divergence divergence;
  bool changed = false;
  divergence_init(&divergence, vkernel, flow, loops);
  for (guint h = 0; h < loops->headers->len; h++) {
    uint32_t header = g_array_index(loops->headers, uint32_t, h);
    if (vkernel_is_apart(vkernel, flow, header) || count_latches(flow, loops, header) < 2 ||
        leaves(flow, loops, header) || !meets_in_next_round(&divergence, loops, header))
      continue;
    for (uint32_t i = flow->first[header]; i < flow->first[header + 1]; i++)
      g_array_index(vkernel->insts, VInst, i).apart = true;
    changed = true;
  }
  divergence_clear(&divergence);
  return changed;
}

void apart_mark(VKernel *vkernel) {
  Flow flow;
  Loops loops;
  bool any = false;
  vkernel_flow(vkernel, &flow);
  loops_init(&loops, &flow);
  for (guint h = 0; h < loops.headers->len; h++)
    any |= count_latches(&flow, &loops, g_array_index(loops.headers, uint32_t, h)) > 1;
  for (unsigned round = 0; any && round < ROUNDS_MAX && mark(vkernel, &flow, &loops); round++)
    ; /* what one makes different from lane to lane may make more branches part */
  loops_clear(&loops);
  flow_clear(&flow);
}
