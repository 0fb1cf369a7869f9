/* Post-dominators: dominators of the reversed graph, whose root is the virtual exit (Lengauer and Tarjan 1979, the
 * simple variant). Nothing recurses: a chain of blocks may be as long as the program. */
#include "isa/flow.h"

#include <string.h>

enum { NONE = UINT32_MAX };

typedef struct Tree {
  const Flow *flow;
  uint32_t root, count; /* root: the virtual exit, number nblocks; count: nodes numbered by the search */
  uint8_t *exits;       /* flow->exits and one for each loop without exit */
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

static void close_loops(Tree *tree) {
  const Flow *flow = tree->flow;
  g_autofree uint8_t *marked = g_new0(uint8_t, flow->nblocks + 1);
  for (uint32_t b = 0; b < flow->nblocks; b++)
    if (flow->exits[b] && !marked[b])
      flood_back(flow, b, marked, tree->path);
  for (uint32_t b = flow->nblocks; b-- > 0;)
    if (!marked[b]) {
      tree->exits[b] = 1;
      flood_back(flow, b, marked, tree->path);
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
