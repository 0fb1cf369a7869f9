/* machine.h - a GPU described in YAML: the struct that the parameter table declares, and how it is loaded.
 *
 * A file has the keys `name`, `about`, `base` (a machine it inherits from: a name, or a path relative to the file)
 * and the sections of params.def. A value is a bare scalar, or `{value: 18 cycles, source: "..."}`.
 * Ownership: a Machine owns its strings; it is immutable once loaded, and may be shared between threads. */
#ifndef LOCKSTEP_MACHINE_MACHINE_H
#define LOCKSTEP_MACHINE_MACHINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "sim/engine/milli.h"

#define SCHEDULER_POLICIES(X)         \
  X(POLICY_LRR, "loose-round-robin")  \
  X(POLICY_GTO, "greedy-then-oldest") \
  X(POLICY_YOUNGEST, "youngest")      \
  X(POLICY_RANDOM, "random")          \
  X(POLICY_GREEDY, "greedy-then-waiting")
/* smaller-first: the way with fewer lanes; of two with as many, the fallthrough. */
#define WARP_SLOT_ORDERS(X)      \
  X(WARP_SLOTS_LOWEST, "lowest") \
  X(WARP_SLOTS_TURNS, "turns")
#define BRANCH_ORDERS(X)                          \
  X(ORDER_TAKEN_FIRST, "taken-first")             \
  X(ORDER_FALLTHROUGH_FIRST, "fallthrough-first") \
  X(ORDER_SMALLER_FIRST, "smaller-first")
#define LAUNCH_ORDERS(X)         \
  X(LAUNCHES_IN_TURN, "in-turn") \
  X(LAUNCHES_AS_ROOM, "as-room")
#define DISPATCH_ORDERS(X)       \
  X(DISPATCH_FORWARD, "forward") \
  X(DISPATCH_REVERSE, "reverse") \
  X(DISPATCH_RANDOM, "random")
#define CONVERGENCES(X)              \
  X(CONVERGENCE_STACK, "simt-stack") \
  X(CONVERGENCE_BARRIER, "barrier")
#define STORE_WINNERS(X)                \
  X(STORE_HIGHEST_LANE, "highest-lane") \
  X(STORE_LOWEST_LANE, "lowest-lane")
#define ATOMIC_TURNS(X)    \
  X(TURNS_BY_WORD, "word") \
  X(TURNS_BY_BANK, "bank")
#define WIDE_ACCESSES(X)    \
  X(WIDE_BY_WORDS, "words") \
  X(WIDE_BY_PARTS, "parts")
/* The sizes that CUDA lets shared memory have of an array that it shares with the L1. */
#define CARVEOUTS(X)         \
  X(CARVEOUT_NONE, "none")   \
  X(CARVEOUT_SM_86, "sm_86") \
  X(CARVEOUT_SM_90, "sm_90")
#define L1_SET_HASHES(X)        \
  X(L1_SETS_IN_TURN, "in-turn") \
  X(L1_SETS_SM_90, "sm_90")
#define L1_LOADS(X)      \
  X(L1_CACHED, "cached") \
  X(L1_UNCACHED, "uncached")
#define L1_STORES(X)   \
  X(L1_EVICT, "evict") \
  X(L1_UPDATE, "update")
#define FENCE_ORDERS(X)         \
  X(FENCES_APART, "each-apart") \
  X(FENCES_BY_BATCH, "by-batch")
#define BLOCK_ORDERINGS(X)           \
  X(BLOCK_ORDERS_NOTHING, "nothing") \
  X(BLOCK_ORDERS_LOADS, "loads")
#define L2_STARTS(X)       \
  X(L2_START_WARM, "warm") \
  X(L2_START_COLD, "cold")
#define SLICE_HASHES(X)      \
  X(HASH_MODULO, "modulo")   \
  X(HASH_ROTATED, "rotated") \
  X(HASH_SPREAD, "spread")   \
  X(HASH_PAIRS, "pairs")
#define CONDITIONAL_UNLOCKS(X)       \
  X(CONDITIONAL_UNLOCK_NONE, "none") \
  X(CONDITIONAL_UNLOCK_HELD, "held") \
  X(CONDITIONAL_UNLOCK_OWN, "own")
#define ATOMIC_OCCUPANCIES(X)     \
  X(ATOMIC_OCCUPIES_UNIT, "unit") \
  X(ATOMIC_OCCUPIES_LINE, "line")
#define PORT_REPLIES(X)               \
  X(REPLIES_BY_SERVICE, "by-service") \
  X(REPLIES_BY_ARRIVAL, "by-arrival")
#define ATOMIC_HOLDS(X)        \
  X(ATOMIC_HOLDS_LINE, "line") \
  X(ATOMIC_HOLDS_SLICE, "slice")
#define HOLD_RELEASES(X)  \
  X(RELEASE_LINE, "line") \
  X(RELEASE_UNIT, "unit")
#define REGISTER_OWNERS(X)     \
  X(REGISTERS_OF_WARP, "warp") \
  X(REGISTERS_OF_BLOCK, "block")
#define IMPLICIT_RECONVERGENCES(X) \
  X(IMPLICIT_IPDOM, "ipdom")       \
  X(IMPLICIT_NONE, "none")

#define X(enumerator, spelling) enumerator,
typedef enum { SCHEDULER_POLICIES(X) POLICY_COUNT } SchedulerPolicy;
typedef enum { BRANCH_ORDERS(X) ORDER_COUNT } BranchOrder;
typedef enum { DISPATCH_ORDERS(X) DISPATCH_COUNT } DispatchOrder;
typedef enum { LAUNCH_ORDERS(X) LAUNCHES_COUNT } LaunchOrder;
typedef enum { IMPLICIT_RECONVERGENCES(X) IMPLICIT_COUNT } ImplicitReconvergence;
typedef enum { REGISTER_OWNERS(X) REGISTER_OWNERS_COUNT } RegisterOwner;
typedef enum { CONVERGENCES(X) CONVERGENCE_COUNT } Convergence;
typedef enum { STORE_WINNERS(X) STORE_WINNER_COUNT } StoreWinner;
typedef enum { ATOMIC_TURNS(X) ATOMIC_TURNS_COUNT } AtomicTurns;
typedef enum { WIDE_ACCESSES(X) WIDE_ACCESSES_COUNT } WideAccess;
typedef enum { CARVEOUTS(X) CARVEOUT_COUNT } Carveout;
typedef enum { L1_SET_HASHES(X) L1_SET_HASHES_COUNT } L1SetHash;
typedef enum { L1_LOADS(X) L1_LOADS_COUNT } L1Loads;
typedef enum { L1_STORES(X) L1_STORES_COUNT } L1Stores;
typedef enum { L2_STARTS(X) L2_STARTS_COUNT } L2Start;
typedef enum { FENCE_ORDERS(X) FENCE_ORDERS_COUNT } FenceStarts;
typedef enum { BLOCK_ORDERINGS(X) BLOCK_ORDERINGS_COUNT } BlockOrders;
typedef enum { SLICE_HASHES(X) SLICE_HASHES_COUNT } SliceHash;
typedef enum { CONDITIONAL_UNLOCKS(X) CONDITIONAL_UNLOCKS_COUNT } ConditionalUnlock;
typedef enum { ATOMIC_OCCUPANCIES(X) ATOMIC_OCCUPANCIES_COUNT } AtomicOccupies;
typedef enum { WARP_SLOT_ORDERS(X) WARP_SLOT_ORDERS_COUNT } WarpSlotOrder;
typedef enum { PORT_REPLIES(X) PORT_REPLIES_COUNT } PortReplies;
typedef enum { ATOMIC_HOLDS(X) ATOMIC_HOLDS_COUNT } AtomicHolds;
typedef enum { HOLD_RELEASES(X) HOLD_RELEASES_COUNT } HoldRelease;
#undef X

typedef struct Machine {
  char *name;     /* gtx570 */
  char *about;    /* one line, "" if none was given */
  char *file;     /* where it was read from, "" for the defaults */
  char **sources; /* one for each parameter row, in table order; NULL where none was given */
#define BEGIN(base, name, doc) struct {
#define END(name) \
  }               \
  name;
#define U32(base, name, dflt, min, max, unit, doc) uint32_t name;
#define MILLI(base, name, dflt, min, max, unit, doc) Milli name;
#define FREQ(base, name, dflt, min, max, doc) double name;
#define ENUM(base, name, type, dflt, choices, doc) type name;
#include "sim/machine/params.def"
#undef BEGIN
#undef END
#undef U32
#undef MILLI
#undef FREQ
#undef ENUM
} Machine;

/* Loads a machine by name (searched as `NAME.yaml` in the configs folder, see base/datadir.h) or by path (if it
 * contains '/' or ends in .yaml or .yml), applies `overrides` ("sm.lock_unit.bits=2048", NULL-terminated, may be
 * NULL) and checks values against each other. NULL after errors (in `diag`; an unknown name and a bad override are of
 * class DIAG_USAGE, everything in a file is DIAG_INPUT). */
Machine *machine_load(const char *name, const char *const *overrides, Diag *diag);
/* The same from text; `file` is for messages and for finding `base`. */
Machine *machine_parse(const char *file, const char *text, gsize length, const char *const *overrides, Diag *diag);
/* What -m takes to have it again: its name, or the file if it isn't one of the configs folder. Newly allocated. */
char *machine_argument(const Machine *machine);
void machine_free(Machine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Machine, machine_free)

/* A machine with the table's default values, for unit tests. */
Machine *machine_new_default(void);
/* A copy with some parameters changed, by path, for `check` (policies, branch orders). False if `path` or `value` is
 * wrong. A value set so isn't checked against the other values. */
Machine *machine_copy(const Machine *machine);
bool machine_set(Machine *machine, const char *path, const char *value, Diag *diag);

/* The names of all machines in the configs folder, sorted, NULL-terminated; free with g_strfreev. */
char **machine_list(void);

/* The whole machine, `base` merged in, as YAML that machine_load() reads back to the same values, name, about and
 * sources. Free with g_free. */
char *machine_dump(const Machine *machine);
/* A table of the parameters that differ: path, value in a, value in b. Empty string if none. Free with g_free. */
char *machine_diff(const Machine *a, const Machine *b);
/* doc/machine.md. Free with g_free. */
char *machine_doc_markdown(void);

/* Reading the table of machine_param_count() parameters: path, value as text ("48 KiB", "18 cycles"), source (or
 * NULL) of one. */
unsigned machine_param_count(void);
const char *machine_param_path(unsigned index);
char *machine_param_text(const Machine *machine, unsigned index);
/* The value of a number among the parameters, in its own unit; false of a choice among names. */
bool machine_param_number(const Machine *machine, unsigned index, double *value);
/* The value of parameter `index` multiplied by `factor`, as text that machine_set() takes: rounded to what the
 * parameter can hold, but at least by one step away from the value, and kept in its range. NULL if it has no number,
 * is 0, or can't change. Free with g_free. */
char *machine_param_scaled(const Machine *machine, unsigned index, double factor);

/* PTX runs as what ptxas is known to make of it, on compute capability 75 and newer. */
static inline bool machine_knows_code(const Machine *machine) { return machine->gpu.compute_capability >= 75; }

#endif
