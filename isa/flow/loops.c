#include "isa/flow/loops.h"

#include <string.h>

/* The edges that some lane can take. */
static FlowEdges live_edges(const Flow *flow, const FlowEdges *edges) {
  FlowEdges live = {g_new(uint32_t, flow->nblocks + 1), g_new(uint32_t, edges->start[flow->nblocks] + 1)};
  uint32_t count = 0;
  for (uint32_t b = 0; b < flow->nblocks; b++) {
    live.start[b] = count;
    for (uint32_t e = edges->start[b]; e < edges->start[b + 1]; e++)
      if (flow->reachable[b] && flow->reachable[edges->to[e]])
        live.to[count++] = edges->to[e];
  }
  live.start[flow->nblocks] = count;
  return live;
}

/* Dominators are post-dominators of the reversed graph, whose only exit is the first block. A block that can't be
 * reached dominates nothing, and what it runs into is still dominated by what every lane passes. */
static int32_t *find_dominators(const Flow *flow) {
  Flow reversed = *flow;
  reversed.out = live_edges(flow, &flow->in);
  reversed.in = live_edges(flow, &flow->out);
  reversed.exits = g_new0(uint8_t, flow->nblocks + 1);
  reversed.exits[0] = 1;
  int32_t *idom = flow_postdominators(&reversed);
  FlowEdges *const made[] = {&reversed.out, &reversed.in};
  for (unsigned i = 0; i < G_N_ELEMENTS(made); i++) {
    g_free(made[i]->start);
    g_free(made[i]->to);
  }
  g_free(reversed.exits);
  return idom;
}

/* Children are found through lists of siblings. */
void loops_number_tree(const int32_t *parent, uint32_t nodes, uint32_t *enter, uint32_t *leave) {
  g_autofree int32_t *child = g_new(int32_t, nodes + 1), *sibling = g_new(int32_t, nodes + 1);
  memset(child, 0xff, (nodes + 1) * sizeof *child);
  memset(sibling, 0xff, (nodes + 1) * sizeof *sibling);
  for (uint32_t b = nodes; b-- > 0;)
    if (parent[b] != NO_TARGET) {
      sibling[b] = child[parent[b]];
      child[parent[b]] = (int32_t)b;
    }
  uint32_t count = 0;
  for (uint32_t root = 0; root < nodes; root++) {
    if (parent[root] != NO_TARGET)
      continue;
    for (int32_t b = (int32_t)root;;) {
      enter[b] = count++;
      if (child[b] != NO_TARGET) {
        b = child[b];
        continue;
      }
      while (b != (int32_t)root && sibling[b] == NO_TARGET) {
        leave[b] = count;
        b = parent[b];
      }
      leave[b] = count;
      if (b == (int32_t)root)
        break;
      b = sibling[b];
    }
  }
}

bool loops_dominates(const Loops *loops, uint32_t above, uint32_t below) {
  return loops->enter[above] <= loops->enter[below] && loops->enter[below] < loops->leave[above];
}

static int32_t outermost(const Loops *loops, uint32_t block) {
  int32_t loop = loops->loop_of[block];
  while (loop != NO_TARGET && loops->parent[loop] != NO_TARGET)
    loop = loops->parent[loop];
  return loop;
}

/* What reaches `header` without leaving its dominance belongs to the loop; loops found before are taken in whole. */
static void fill_loop(Loops *loops, const Flow *flow, uint32_t header, GArray *queue) {
  bool found = false;
  for (uint32_t e = flow->in.start[header]; e < flow->in.start[header + 1]; e++) {
    uint32_t latch = flow->in.to[e];
    if (!loops_dominates(loops, header, latch))
      continue;
    found = true;
    g_array_append_val(queue, latch);
  }
  if (!found)
    return;
  loops->loop_of[header] = (int32_t)header;
  g_array_append_val(loops->headers, header);
  while (queue->len) {
    uint32_t block = g_array_index(queue, uint32_t, queue->len - 1);
    g_array_set_size(queue, queue->len - 1);
    int32_t loop = outermost(loops, block);
    if (loop == (int32_t)header || !loops_dominates(loops, header, block))
      continue;
    if (loop == NO_TARGET)
      loops->loop_of[block] = (int32_t)header;
    else
      loops->parent[loop] = (int32_t)header;
    uint32_t entry = loop == NO_TARGET ? block : (uint32_t)loop;
    g_array_append_vals(queue, flow->in.to + flow->in.start[entry],
                        flow->in.start[entry + 1] - flow->in.start[entry]);
  }
}

void loops_init(Loops *loops, const Flow *flow) {
  uint32_t n = flow->nblocks;
  *loops = (Loops){.nblocks = n,
                   .idom = find_dominators(flow),
                   .enter = g_new0(uint32_t, n + 1),
                   .leave = g_new0(uint32_t, n + 1),
                   .loop_of = g_new(int32_t, n + 1),
                   .parent = g_new(int32_t, n + 1),
                   .outer_enter = g_new0(uint32_t, n + 1),
                   .outer_leave = g_new0(uint32_t, n + 1),
                   .headers = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
  memset(loops->loop_of, 0xff, (n + 1) * sizeof *loops->loop_of);
  memset(loops->parent, 0xff, (n + 1) * sizeof *loops->parent);
  loops_number_tree(loops->idom, n, loops->enter, loops->leave);
  g_autofree uint32_t *by_number = g_new(uint32_t, n + 1);
  for (uint32_t b = 0; b < n; b++)
    by_number[loops->enter[b]] = b;
  g_autoptr(GArray) queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t i = n; i-- > 0;)
    fill_loop(loops, flow, by_number[i], queue);
  loops_number_tree(loops->parent, n, loops->outer_enter, loops->outer_leave);
}

void loops_clear(Loops *loops) {
  g_free(loops->idom);
  g_free(loops->enter);
  g_free(loops->leave);
  g_free(loops->loop_of);
  g_free(loops->parent);
  g_free(loops->outer_enter);
  g_free(loops->outer_leave);
  if (loops->headers)
    g_array_unref(loops->headers);
  *loops = (Loops){0};
}

bool loops_contains(const Loops *loops, uint32_t header, uint32_t block) {
  int32_t loop = loops->loop_of[block];
  return loop != NO_TARGET && loops->outer_enter[header] <= loops->outer_enter[loop] &&
         loops->outer_enter[loop] < loops->outer_leave[header];
}
