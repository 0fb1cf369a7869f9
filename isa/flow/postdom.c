/* Post-dominators: dominators of the reversed graph, whose root is the virtual exit (Lengauer and Tarjan 1979, the
 * simple variant). Nothing recurses: a chain of blocks may be as long as the program. */
#include "isa/flow/flow.h"

#include <string.h>

enum { NONE = UINT32_MAX };

typedef struct Tree {
  const Flow *flow;
  uint32_t root, count; /* root: the virtual exit, number nblocks; count: nodes numbered by the search */
  uint8_t *exits;       /* flow->exits, and where a round of a loop without exit ends */
  uint32_t *vertex;     /* by search number */
  uint32_t *number;     /* of each node; semidominator numbers after the first pass */
  uint32_t *parent, *ancestor, *label, *bucket, *next, *dom, *path;
} Tree;

/* Marks what reaches `block`. */
static void flood_back(const Flow *flow, uint32_t block, uint8_t *marked, uint32_t *stack) {
  uint32_t depth = 0;
  marked[block] = 1;
  stack[depth++] = block;
  while (depth) {
    uint32_t b = stack[--depth];
    for (uint32_t i = flow->in.start[b]; i < flow->in.start[b + 1]; i++) {
      uint32_t before = flow->in.to[i];
      if (!marked[before]) {
        marked[before] = 1;
        stack[depth++] = before;
      }
    }
  }
}

/* The blocks that aren't marked, each behind those that it is reached from over reversed edges. Returns how many. */
static uint32_t order_backwards(const Flow *flow, const uint8_t *marked, uint32_t *stack, uint32_t *order) {
  g_autofree uint32_t *next = g_memdup2(flow->in.start, flow->nblocks * sizeof *next); /* edge to follow */
  g_autofree uint8_t *seen = g_memdup2(marked, flow->nblocks);
  uint32_t count = 0;
  for (uint32_t b = 0; b < flow->nblocks; b++) {
    uint32_t depth = 0;
    if (!seen[b])
      stack[depth++] = b;
    seen[b] = 1;
    while (depth) {
      uint32_t at = stack[depth - 1];
      if (next[at] == flow->in.start[at + 1]) {
        order[count++] = at;
        depth--;
        continue;
      }
      uint32_t before = flow->in.to[next[at]++];
      if (!seen[before])
        stack[depth++] = before;
      seen[before] = 1;
    }
  }
  return count;
}

/* Collects the loop around `block`, from which nothing leads away: block numbers in `loop`; `inside` is set for
 * them. */
static uint32_t collect_loop(const Flow *flow, uint32_t block, uint8_t *inside, uint32_t *loop) {
  uint32_t count = 0;
  inside[block] = 1;
  loop[count++] = block;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t e = flow->out.start[loop[i]]; e < flow->out.start[loop[i] + 1]; e++) {
      uint32_t to = flow->out.to[e];
      if (!inside[to])
        loop[count++] = to;
      inside[to] = 1;
    }
  return count;
}

static bool is_entered(const Flow *flow, uint32_t block, const uint8_t *inside) {
  bool entered = block == 0;
  for (uint32_t e = flow->in.start[block]; e < flow->in.start[block + 1]; e++)
    entered |= !inside[flow->in.to[e]];
  return entered;
}

/* A loop without exit ends where a round of it does: in the blocks from which it goes back to where it is entered. So
 * what parts in a round meets in that round. */
static void end_rounds(Tree *tree, const uint32_t *loop, uint32_t count, const uint8_t *inside) {
  const Flow *flow = tree->flow;
  uint32_t head = NONE;
  for (uint32_t i = 0; i < count; i++)
    if (is_entered(flow, loop[i], inside))
      head = MIN(head, loop[i]);
  head = head == NONE ? loop[0] : head;
  bool found = false;
  for (uint32_t e = flow->in.start[head]; e < flow->in.start[head + 1]; e++) {
    uint32_t back = flow->in.to[e];
    if (inside[back])
      tree->exits[back] = found = true;
  }
  if (!found)
    tree->exits[head] = 1; /* no loop: a block that leads nowhere */
}

static void close_loops(Tree *tree) {
  const Flow *flow = tree->flow;
  uint32_t n = flow->nblocks;
  g_autofree uint8_t *marked = g_new0(uint8_t, n + 1), *inside = g_new0(uint8_t, n + 1);
  g_autofree uint32_t *order = g_new(uint32_t, n + 1), *loop = g_new(uint32_t, n + 1);
  for (uint32_t b = 0; b < n; b++)
    if (flow->exits[b] && !marked[b])
      flood_back(flow, b, marked, tree->path);
  /* The last of them lies in a loop that nothing leads out of; so does the last that doesn't lead into that one;
   * ... */
  for (uint32_t i = order_backwards(flow, marked, tree->path, order); i-- > 0;) {
    if (marked[order[i]])
      continue;
    end_rounds(tree, loop, collect_loop(flow, order[i], inside, loop), inside);
    flood_back(flow, order[i], marked, tree->path);
  }
}

static void visit(Tree *tree, uint32_t node, uint32_t parent) {
  tree->number[node] = tree->count;
  tree->vertex[tree->count++] = node;
  tree->parent[node] = parent;
}

/* Depth first over the reversed edges; `path` is the stack and `next` the edge to follow from each node. */
static void search(Tree *tree) {
  const Flow *flow = tree->flow;
  visit(tree, tree->root, NONE);
  for (uint32_t exit = 0; exit < flow->nblocks; exit++) {
    if (!tree->exits[exit] || tree->number[exit] != NONE)
      continue;
    uint32_t depth = 0;
    visit(tree, exit, tree->root);
    tree->path[depth++] = exit;
    while (depth) {
      uint32_t b = tree->path[depth - 1];
      if (tree->next[b] == NONE)
        tree->next[b] = flow->in.start[b];
      if (tree->next[b] == flow->in.start[b + 1]) {
        depth--;
        continue;
      }
      uint32_t before = flow->in.to[tree->next[b]++];
      if (tree->number[before] == NONE) {
        visit(tree, before, b);
        tree->path[depth++] = before;
      }
    }
  }
}

/* The node of least semidominator on the way from v to its tree's root, compressing that way. */
static uint32_t evaluate(Tree *tree, uint32_t v) {
  if (tree->ancestor[v] == NONE)
    return v;
  uint32_t depth = 0;
  for (uint32_t u = v; tree->ancestor[tree->ancestor[u]] != NONE; u = tree->ancestor[u])
    tree->path[depth++] = u;
  while (depth) {
    uint32_t u = tree->path[--depth], above = tree->ancestor[u];
    if (tree->number[tree->label[above]] < tree->number[tree->label[u]])
      tree->label[u] = tree->label[above];
    tree->ancestor[u] = tree->ancestor[above];
  }
  return tree->label[v];
}

static void relax(Tree *tree, uint32_t w, uint32_t v) {
  uint32_t u = evaluate(tree, v);
  tree->number[w] = MIN(tree->number[w], tree->number[u]);
}

static void link_all(Tree *tree) {
  const Flow *flow = tree->flow;
  for (uint32_t i = tree->count; i-- > 1;) {
    uint32_t w = tree->vertex[i], parent = tree->parent[w];
    for (uint32_t e = flow->out.start[w]; e < flow->out.start[w + 1]; e++)
      relax(tree, w, flow->out.to[e]);
    if (tree->exits[w])
      relax(tree, w, tree->root);
    uint32_t semi = tree->vertex[tree->number[w]];
    tree->next[w] = tree->bucket[semi];
    tree->bucket[semi] = w;
    tree->ancestor[w] = parent;
    for (uint32_t v = tree->bucket[parent]; v != NONE; v = tree->next[v]) {
      uint32_t u = evaluate(tree, v);
      tree->dom[v] = tree->number[u] < tree->number[v] ? u : parent;
    }
    tree->bucket[parent] = NONE;
  }
  for (uint32_t i = 1; i < tree->count; i++) {
    uint32_t w = tree->vertex[i];
    if (tree->dom[w] != tree->vertex[tree->number[w]])
      tree->dom[w] = tree->dom[tree->dom[w]];
  }
}

int32_t *flow_postdominators(const Flow *flow) {
  enum { ROWS = 9 };
  gsize nodes = (gsize)flow->nblocks + 1;
  g_autofree uint32_t *memory = g_new(uint32_t, nodes * ROWS);
  memset(memory, 0xff, nodes * ROWS * sizeof *memory);
  uint32_t *row[ROWS];
  for (unsigned i = 0; i < ROWS; i++)
    row[i] = memory + nodes * i;
  g_autofree uint8_t *exits = g_memdup2(flow->exits, nodes);
  Tree tree = {.flow = flow,
               .root = flow->nblocks,
               .exits = exits,
               .vertex = row[0],
               .number = row[1],
               .parent = row[2],
               .ancestor = row[3],
               .label = row[4],
               .bucket = row[5],
               .next = row[6],
               .dom = row[7],
               .path = row[8]};
  close_loops(&tree);
  search(&tree);
  for (uint32_t i = 0; i < nodes; i++) {
    tree.label[i] = i;
    tree.next[i] = NONE;
  }
  link_all(&tree);
  int32_t *ipdom = g_new(int32_t, nodes);
  for (uint32_t b = 0; b < flow->nblocks; b++)
    ipdom[b] = tree.dom[b] == tree.root || tree.dom[b] == NONE ? NO_TARGET : (int32_t)tree.dom[b];
  return ipdom;
}
