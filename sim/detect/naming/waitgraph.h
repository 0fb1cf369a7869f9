/* waitgraph.h - who waits for whom, once explorer_prove() has said that nobody can finish.
 *
 * Nodes: lanes, the words and lock bits they wait for, entries at which lanes wait for lanes of their own warp,
 * block barriers, launches with blocks that aren't resident, and the host if it waits. An edge points to what must
 * act first. A lane waits for a word or bit if some other content of it alone would let the lane go on (found by
 * exploring it under that assumption); the word points to those who would change it so that it helps, if only
 * their own wait were over (waitgraph_actors.c, waitgraph_pending.c). A lane that waits for a word which nobody
 * else would change, but it would itself once another word were different, waits for that one: for the lock behind
 * its own `done`. A held bit points to its holder. A lane that would go on if it read what memory holds waits for
 * a copy of the word in its SM's L1 to go, and nobody makes it. */
#ifndef LOCKSTEP_DETECT_NAMING_WAITGRAPH_H
#define LOCKSTEP_DETECT_NAMING_WAITGRAPH_H

#include "base/bits.h"
#include "sim/detect/naming/finding.h"
#include "sim/detect/proof/explore.h"

typedef enum {
  NODE_LANE,
  NODE_WORD,
  NODE_BIT,
  NODE_ENTRY,
  NODE_BARRIER,
  NODE_PENDING,
  NODE_HOST,
  NODE_COPY, /* of a word, in an L1 that keeps it */
  NODE_KINDS
} NodeKind;

typedef struct Node {
  NodeKind kind;
  guint view;          /* LANE, ENTRY: index into explorer->views; BARRIER: one of the block's warps */
  uint32_t index;      /* LANE: lane; ENTRY: see below; BARRIER: id; PENDING: launch; COPY: SM */
  uint64_t key;        /* WORD, COPY: WordKey; BIT: BitKey, with BIT_TAKEN if it is to be taken */
  uint32_t first_edge; /* index + 1 of its newest edge, 0 if none */
  uint32_t component;  /* strongly connected component, from 1 */
  bool in_cycle;
  bool sought;     /* WORD: blocks that aren't resident have been asked whether they would change it */
  bool reads_old;  /* LANE: it reads copies in its L1 that are old, and would wait all the same */
  bool in_round;   /* WORD: those who wait for such words would change it (wait_graph_drop_rounds()) */
  bool reads;      /* LANE: it waits for what it reads itself, not for a reduction of its block */
  uint32_t waiter; /* WORD, BIT: the number + 1 of a lane that waits for it, and would change it if let go; 0: none */
  uint32_t waiter_pc; /* where it would */
  GHashTable *words;  /* LANE that spins: the words and bits that it reads where it is; else NULL */
  GHashTable *bits;
} Node;

typedef enum {
  EDGE_WORD,
  EDGE_BIT,
  EDGE_ALIAS,
  EDGE_JOIN,
  EDGE_BARRIER,
  EDGE_RESIDENCY,
  EDGE_COPY,
  EDGE_KINDS
} EdgeKind;

typedef struct Edge {
  guint from, to;
  EdgeKind kind;
  uint32_t pc; /* lane -> thing: the instruction that waits; thing -> lane: the one that would act; host: its step */
  uint32_t physical; /* lane -> bit: the address it was wanted for */
  uint32_t next;     /* index + 1 of the next edge of `from` */
  uint64_t block;    /* word -> pending blocks: one that would act */
  bool behind;       /* wait_reconnect() has made it */
} Edge;

typedef struct WaitGraph {
  Explorer *explorer;
  GArray *nodes;     /* Node */
  GArray *edges;     /* Edge */
  GHashTable *index; /* node identity -> node number; of all but lanes */
  guint *lanes;      /* 1 + node number, by 32 * view + lane; 0: none yet */
  GHashTable *pairs; /* from << 32 | to of each edge */
  Footprint touched; /* by the lane that is asked; empty between two */
  bool of_each;      /* no lane is left out (wait_graph_new_of_each()) */
  uint32_t components;
} WaitGraph;

/* A word that takes its values in turns, in a circle in which lanes exchange what they found (Explorer.exchanged):
 * a lane finds all of them as it is. What exchanges would give after another one isn't known, so it may seem to
 * lack it. */
bool wait_takes_turns(const WaitGraph *graph, const WarpView *view, WordKey word);
/* The instruction is a plain load of PTX: the program doesn't expect that others change what it reads. */
bool wait_reads_plainly(const WarpView *view, uint32_t pc);
/* The lane loads from shared memory what it has stored there itself, in machine code, which doesn't say whether a
 * load of shared memory is volatile: that is rather what it compares with than what it waits for. */
bool wait_reads_own(const WaitGraph *graph, const WarpView *view, unsigned lane, WordKey word, uint32_t pc);

/* An entry is one of the SIMT stack, or with lane groups: a group that waits at a BSYNC or WARPSYNC, by its index,
 * or ENTRY_OF_TURN: the running group, which doesn't come to a point where the warp may switch to those that could
 * run. */
enum { ENTRY_OF_TURN = WARP_LANES };
typedef enum { ENTRY_JOIN, ENTRY_PATH, ENTRY_WARPSYNC, ENTRY_MEETING, ENTRY_TURN } EntryKind;
EntryKind wait_entry_kind(const WarpView *view, uint32_t entry);
/* The program itself lets its lanes wait there for the others: at an operation of the warp, or one that comes
 * next. */
bool wait_entry_is_meant(const WarpView *view, uint32_t entry);
/* Where its lanes wait; for a turn, where the running lanes are. */
uint32_t wait_entry_pc(const WarpView *view, uint32_t entry);
/* The lanes that are waited for there and can't come. */
uint32_t wait_entry_missing(const WarpView *view, uint32_t entry);
/* The entry that a lane waits at whose group can't go on. */
uint32_t wait_entry_of_group(const WarpView *view, unsigned lane);
/* "at the reconvergence point in line 9", behind "waits"; "reconvergence of warp 0 of block 0 at line 9". Free
 * with g_free. */
char *wait_entry_text(const WarpView *view, uint32_t entry);
char *wait_entry_name(const WarpView *view, uint32_t entry);

/* Builds the graph from a proof that ended in EXPLORE_STUCK. */
WaitGraph *wait_graph_new(Explorer *explorer);
/* The same, but every lane is asked what it would change: lane_class.h leaves out those that would change nothing.
 * The edges are the same, which tests/property/test_naming.c sees to. */
WaitGraph *wait_graph_new_of_each(Explorer *explorer);
void wait_graph_free(WaitGraph *graph);

static inline Node *wait_node(const WaitGraph *graph, guint index) {
  return &g_array_index(graph->nodes, Node, index);
}
/* The key of an edge in `pairs`, which is no pointer. */
static inline gpointer wait_pair(guint from, guint to) { return (gpointer)((uintptr_t)from << 32 | to); }
static inline Edge *wait_edge(const WaitGraph *graph, guint index) {
  return &g_array_index(graph->edges, Edge, index);
}

/* Once components are known: drops the edges of words by which those who wait in a round, such as for entries of an
 * empty queue, seem to wait for each other. True if there were any: components have to be found again. */
bool wait_graph_drop_rounds(WaitGraph *graph);
/* Numbers the strongly connected components; the last step of wait_graph_new(). */
void wait_graph_find_components(WaitGraph *graph);
/* A short cycle through an edge of kind `kind` inside component `component`: edge numbers in order, or NULL. The
 * shortest one, unless looking for it takes too long. */
GArray *wait_graph_cycle(const WaitGraph *graph, uint32_t component, EdgeKind kind);
/* True if some edge inside the component has that kind. */
bool wait_graph_has_kind(const WaitGraph *graph, uint32_t component, EdgeKind kind);
/* True if from the component another component with a cycle can be reached. */
bool wait_graph_leads_on(const WaitGraph *graph, uint32_t component);

char *wait_graph_dot(const WaitGraph *graph);
/* {"nodes": [{"id", "kind", "in_cycle", "text"}], "edges": [{"from", "to", "kind"}]}. Free with g_free. In both,
 * lanes of a warp that wait for the same and are waited for by the same are one node. */
char *wait_graph_json(const WaitGraph *graph);

/* ---- shared by the files that build the graph: waitgraph.c, what each lane waits for; waitgraph_spin.c, the same
 * of one in a loop; waitgraph_actors.c, who would change it; waitgraph_pending.c, which blocks that aren't resident
 * would; waitgraph_chances.c, waitgraph_rounds.c, which of that leads nowhere ---- */
/* The node of that name, made if it is new: pointers to nodes are good until then. */
guint wait_node_of(WaitGraph *graph, NodeKind kind, guint view, uint32_t index, uint64_t key);
/* The node of that name, G_MAXUINT if there is none. */
guint wait_graph_find(const WaitGraph *graph, NodeKind kind, guint view, uint32_t index, uint64_t key);
guint wait_lane_node(WaitGraph *graph, guint view, unsigned lane);
bool wait_graph_has_edge(const WaitGraph *graph, guint from, guint to);
/* A word that nobody would change, as far as that is known yet. */
static inline bool wait_lacks_actor(const Node *node) { return node->kind == NODE_WORD && !node->first_edge; }
/* True if the lane, which waits for `thing`, would change it so that it helps if another word were different: *pc:
 * where it reads that. */
bool wait_would_change(WaitGraph *graph, const Node *lane, guint thing, uint64_t *other, uint32_t *pc);
/* True if the lane would change the thing once its wait were over, by other words than these. */
bool wait_changes_without(WaitGraph *graph, guint actor, guint thing, GHashTable *without);
/* Drops the edges of lanes that wait for several words, any of which would do, and that lead nowhere: what such a
 * lane would change only if one of these changed that nobody would (waitgraph_chances.c). */
void wait_graph_drop_chances(WaitGraph *graph);
/* A lane that spins. One that would go on only to wait for the next thing, such as for a lock that it holds now and
 * would free on the way, is let through there, too. */
void wait_connect_spinner(WaitGraph *graph, guint index, unsigned lane);
/* Lanes that read old copies and would stay in their loop with what memory holds, too; once all have been looked
 * at. */
void wait_connect_writers(WaitGraph *graph);
/* An edge, unless these two have one. */
void wait_connect(WaitGraph *graph, guint from, guint to, EdgeKind kind, uint32_t pc, uint32_t physical);
/* The edge goes to another thing instead, for which its lane waits at `pc`. */
void wait_reconnect(WaitGraph *graph, guint edge, guint to, uint32_t pc);
/* Drops those edges; `drop` says which, by their numbers, and all get new ones. */
void wait_graph_drop_edges(WaitGraph *graph, const bool *drop);
/* True if the lane gets further than the proof found, by what the assumption adds. */
bool wait_frees(WaitGraph *graph, WarpView *view, unsigned lane, const Assumption *assumption);
/* The touches of a footprint's table, sorted: hash tables have no order, and everything that is shown needs one. */
GArray *wait_touches(GHashTable *table);

/* Edges from what is awaited to those who would change it; to be called when all that is awaited has its node. */
void wait_graph_add_actors(WaitGraph *graph);
void wait_graph_add_pending(WaitGraph *graph);
/* False if the store, of known values, is of no use to any of those who wait for the thing: they would go on
 * waiting. The memory's layer holds what is stored. */
bool wait_store_helps(WaitGraph *graph, guint thing, const Touch *stored);

static inline WarpView *wait_view(const WaitGraph *graph, guint index) {
  return g_ptr_array_index(graph->explorer->views, index);
}
/* A set of keys (uint64_t) that stay where they are. */
static inline GHashTable *wait_key_set(void) { return g_hash_table_new(bits_hash_key, g_int64_equal); }
/* The same of keys that it owns. */
static inline GHashTable *wait_owned_keys(void) {
  return g_hash_table_new_full(bits_hash_key, g_int64_equal, g_free, NULL);
}
static inline void wait_add_owned(GHashTable *keys, uint64_t key) {
  if (!g_hash_table_contains(keys, &key))
    g_hash_table_add(keys, g_memdup2(&key, sizeof key));
}

#endif
