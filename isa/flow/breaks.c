#include "isa/flow/breaks.h"

#include <string.h>

/* Loops that lie deeper have no rounds: their branches are behind those that have taken all barriers. Each level
 * costs as much as the kernel is long. */
enum { LEVELS_MAX = 32, NO_PLACE = UINT32_MAX };

static uint32_t number_of(const Rounds *rounds, uint32_t loop, uint32_t block) {
  return block == loop ? 0 : rounds->enter[block] - rounds->enter[rounds->flow->nblocks + loop];
}

/* A header is in a round where it begins, too: there it has a number of its own. */
static uint32_t number_of_start(const Rounds *rounds, uint32_t loop, uint32_t block) {
  return rounds->enter[block] - rounds->enter[rounds->flow->nblocks + loop];
}

static uint32_t block_of_number(const Rounds *rounds, uint32_t loop, uint32_t number) {
  return number ? rounds->node_at[rounds->enter[rounds->flow->nblocks + loop] + number] : loop;
}

/* -- the graph of a round -- */

/* Loops within it are nodes without edges. */
static void add_edges(const Rounds *rounds, uint32_t loop, Flow *round) {
  const Flow *flow = rounds->flow;
  uint32_t count = 0;
  for (uint32_t number = 0; number < round->nblocks; number++) {
    uint32_t block = number ? block_of_number(rounds, loop, number) : flow->nblocks;
    round->out.start[number] = count;
    for (uint32_t e = block < flow->nblocks ? flow->out.start[block] : 0;
         block < flow->nblocks && e < flow->out.start[block + 1]; e++) {
      if (!loops_contains(rounds->loops, loop, flow->out.to[e]))
        continue;
      round->out.to[count] = number_of(rounds, loop, flow->out.to[e]);
      round->in.start[round->out.to[count++] + 1]++;
    }
  }
  round->out.start[round->nblocks] = count;
}

static void turn_edges(Flow *round) {
  for (uint32_t b = 0; b < round->nblocks; b++)
    round->in.start[b + 1] += round->in.start[b];
  g_autofree uint32_t *next = g_memdup2(round->in.start, (round->nblocks + 1) * sizeof *next);
  for (uint32_t b = 0; b < round->nblocks; b++)
    for (uint32_t e = round->out.start[b]; e < round->out.start[b + 1]; e++)
      round->in.to[next[round->out.to[e]]++] = b;
}

static uint32_t count_edges(const Rounds *rounds, uint32_t loop, uint32_t nodes) {
  const Flow *flow = rounds->flow;
  uint32_t count = 0;
  for (uint32_t number = 1; number < nodes; number++) {
    uint32_t block = block_of_number(rounds, loop, number);
    count += block < flow->nblocks ? flow->out.start[block + 1] - flow->out.start[block] : 0;
  }
  return count;
}

static int32_t *round_postdominators(const Rounds *rounds, uint32_t loop, uint32_t nodes) {
  uint32_t edges = count_edges(rounds, loop, nodes);
  Flow round = {.nblocks = nodes,
                .out = {g_new0(uint32_t, nodes + 1), g_new(uint32_t, edges + 1)},
                .in = {g_new0(uint32_t, nodes + 1), g_new(uint32_t, edges + 1)},
                .exits = g_new0(uint8_t, nodes + 1)};
  round.exits[0] = 1;
  add_edges(rounds, loop, &round);
  turn_edges(&round);
  int32_t *ipdom = flow_postdominators(&round);
  flow_clear(&round);
  return ipdom;
}

static void add_loop(Rounds *rounds, uint32_t loop) {
  uint32_t node = rounds->flow->nblocks + loop, nodes = rounds->leave[node] - rounds->enter[node];
  g_autofree int32_t *ipdom = round_postdominators(rounds, loop, nodes);
  g_autofree uint32_t *above = g_new0(uint32_t, nodes + 1), *below = g_new0(uint32_t, nodes + 1);
  loops_number_tree(ipdom, nodes, above, below);
  rounds->place[loop] = rounds->ipdom->len;
  g_array_append_vals(rounds->ipdom, ipdom, nodes);
  g_array_append_vals(rounds->above, above, nodes);
  g_array_append_vals(rounds->below, below, nodes);
}

/* Outer loops first. */
static void add_loops(Rounds *rounds) {
  const Loops *loops = rounds->loops;
  g_autofree uint32_t *level = g_new0(uint32_t, loops->nblocks + 1);
  for (guint i = loops->headers->len; i-- > 0;) {
    uint32_t header = g_array_index(loops->headers, uint32_t, i);
    int32_t parent = loops->parent[header];
    level[header] = parent == NO_TARGET ? 0 : level[parent] + 1;
    rounds->innermost[header] = level[header] < LEVELS_MAX ? (int32_t)header : rounds->innermost[parent];
    if (level[header] < LEVELS_MAX)
      add_loop(rounds, header);
  }
}

void rounds_init(Rounds *rounds, const Flow *flow, const Loops *loops) {
  uint32_t n = flow->nblocks;
  g_autofree int32_t *parent = g_new(int32_t, 2 * (gsize)n + 1);
  for (uint32_t b = 0; b < n; b++) {
    bool heads = loops->loop_of[b] == (int32_t)b;
    parent[b] = loops->loop_of[b] == NO_TARGET ? NO_TARGET : (int32_t)n + loops->loop_of[b];
    parent[n + b] = heads && loops->parent[b] != NO_TARGET ? (int32_t)n + loops->parent[b] : NO_TARGET;
  }
  *rounds = (Rounds){.flow = flow,
                     .loops = loops,
                     .enter = g_new0(uint32_t, 2 * (gsize)n + 1),
                     .leave = g_new0(uint32_t, 2 * (gsize)n + 1),
                     .node_at = g_new(uint32_t, 2 * (gsize)n + 1),
                     .place = g_new(uint32_t, (gsize)n + 1),
                     .innermost = g_new0(int32_t, (gsize)n + 1),
                     .ipdom = g_array_new(FALSE, FALSE, sizeof(int32_t)),
                     .above = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                     .below = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
  memset(rounds->place, 0xff, ((gsize)n + 1) * sizeof *rounds->place);
  loops_number_tree(parent, 2 * n, rounds->enter, rounds->leave);
  for (uint32_t node = 0; node < 2 * n; node++)
    rounds->node_at[rounds->enter[node]] = node;
  add_loops(rounds);
}

void rounds_clear(Rounds *rounds) {
  g_free(rounds->enter);
  g_free(rounds->leave);
  g_free(rounds->node_at);
  g_free(rounds->place);
  g_free(rounds->innermost);
  g_array_unref(rounds->ipdom);
  g_array_unref(rounds->above);
  g_array_unref(rounds->below);
  *rounds = (Rounds){0};
}

/* -- questions -- */

int32_t rounds_innermost(const Rounds *rounds, uint32_t block) {
  int32_t loop = rounds->loops->loop_of[block];
  return loop == NO_TARGET ? NO_TARGET : rounds->innermost[loop];
}

int32_t rounds_meeting(const Rounds *rounds, uint32_t loop, uint32_t block) {
  const Flow *flow = rounds->flow;
  int32_t first = NO_TARGET;
  bool forks = false;
  if (rounds->place[loop] == NO_PLACE)
    return NO_TARGET;
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++) {
    int32_t to = (int32_t)flow->out.to[e];
    if (!loops_contains(rounds->loops, loop, (uint32_t)to))
      continue;
    forks |= first != NO_TARGET && first != to;
    first = to;
  }
  int32_t number = g_array_index(rounds->ipdom, int32_t, rounds->place[loop] + number_of_start(rounds, loop, block));
  return forks && number != NO_TARGET ? (int32_t)block_of_number(rounds, loop, (uint32_t)number) : NO_TARGET;
}

bool rounds_postdominates(const Rounds *rounds, uint32_t loop, uint32_t above, uint32_t below) {
  uint32_t place = rounds->place[loop];
  if (place == NO_PLACE)
    return false;
  uint32_t over = place + number_of(rounds, loop, above), under = place + number_of_start(rounds, loop, below);
  uint32_t at = g_array_index(rounds->above, uint32_t, under);
  return g_array_index(rounds->above, uint32_t, over) <= at && at < g_array_index(rounds->below, uint32_t, over);
}

uint32_t rounds_order(const Rounds *rounds, uint32_t loop, uint32_t block) {
  uint32_t place = rounds->place[loop];
  return place == NO_PLACE ? 0 : g_array_index(rounds->above, uint32_t, place + number_of(rounds, loop, block));
}

static void reach(const Rounds *rounds, uint32_t loop, uint32_t block, uint32_t end, uint32_t *seen, uint32_t stamp,
                  GArray *region) {
  const Flow *flow = rounds->flow;
  for (uint32_t e = flow->out.start[block]; e < flow->out.start[block + 1]; e++) {
    uint32_t to = flow->out.to[e];
    if (to == end || to == loop || seen[to] == stamp || !loops_contains(rounds->loops, loop, to))
      continue;
    seen[to] = stamp;
    g_array_append_val(region, to);
  }
}

void rounds_region(const Rounds *rounds, uint32_t loop, uint32_t begin, uint32_t end, uint32_t *seen, uint32_t stamp,
                   GArray *region) {
  guint next = region->len;
  reach(rounds, loop, begin, end, seen, stamp, region);
  for (; next < region->len; next++)
    reach(rounds, loop, g_array_index(region, uint32_t, next), end, seen, stamp, region);
}
