/* pending_search.h - a block that isn't resident, explored from its start: what it would change of the words that
 * are waited for. waitgraph_pending.c chooses the blocks. A block is placed on a scratch SM; words that its lanes
 * wait for themselves are taken to change, but none of those in question.
 * Ownership: a PendingSearch owns its tables and its SM. */
#ifndef LOCKSTEP_DETECT_PENDING_SEARCH_H
#define LOCKSTEP_DETECT_PENDING_SEARCH_H

#include "sim/detect/naming/waitgraph.h"

/* A global word that some lane of a block stores to. */
typedef struct PendingStore {
  uint32_t thread, pc; /* thread: of the block */
  WordKey key;
} PendingStore;

/* A thread of any block may store to an awaited word there. */
typedef struct PendingSuspect {
  uint32_t thread, pc;
} PendingSuspect;

/* A store that helps none of those who wait for the word, unless another pending block goes on with it. */
typedef struct PendingVain {
  Touch touch;
  uint64_t block;
} PendingVain;

typedef struct PendingSearch {
  WaitGraph *graph;
  Launch *launch;
  uint64_t first, last; /* its blocks that aren't resident are among these */
  guint node;           /* they */
  Sm *scratch;          /* where one of them is placed at a time */
  GHashTable *targets;  /* WordKey * -> GUINT_TO_POINTER(node + 1): awaited words, not found yet */
  GHashTable *fixed;    /* WordKey *: all awaited words */
  GHashTable *tried;    /* uint64_t: numbers of blocks */
  GHashTable *handed;   /* WordKey *: other global words that blocks change */
  bool hands_on;        /* a block finds there what others may have left */
  GArray *suspects;     /* PendingSuspect; without those that were seen to store */
  GArray *vain;         /* PendingVain, one for each word and value */
  uint64_t work, limit; /* states of lanes that were come to so far; with so many it takes too long */
  bool cut;             /* it took too long, and something may have been missed */
  GArray *may_store;    /* Touch: stores to awaited words by the block that stands for all */
  uint64_t block;       /* the one that is tried */
  bool any;             /* it stands for all */
} PendingSearch;

/* Of a launch's pending blocks; without a limit, and with nothing awaited yet. */
void pending_search_init(PendingSearch *search, WaitGraph *graph, Launch *launch, guint node);
void pending_search_clear(PendingSearch *search);
bool pending_is_too_long(const PendingSearch *search);
/* Or it takes too long. */
bool pending_all_found(const PendingSearch *search);
/* Explores a block, notes what it changes, and returns its stores: an array of PendingStore, which the caller frees.
 * `any`: it stands for every one. */
GArray *pending_try_block(PendingSearch *search, uint64_t block, bool any);
/* True if a suspect of some block from `from` to `to` may come to its store. */
bool pending_may_store(PendingSearch *search, uint64_t from, uint64_t to);
/* The thing that is waited for is changed by the touch, of that block. */
void pending_connect(PendingSearch *search, guint thing, const Touch *touch, uint64_t block);
/* A store that helps nobody yet counts if pending blocks hand the word on from one to the next. */
void pending_connect_chains(PendingSearch *search);

#endif
