/* probe.h - what the core tells whoever listens. Detectors and the timeline subscribe, each with a Probe in the Gpu's
 * list; an event that nobody listens to costs one branch. A subscriber must not change the machine. Any callback may
 * be NULL. */
#ifndef LOCKSTEP_CORE_PROBE_H
#define LOCKSTEP_CORE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/memory/lock_unit.h"
#include "sim/memory/memsys.h"

struct Gpu;
struct Sm;
struct Warp;
struct Block;
struct Inst;
struct Launch;
struct Cluster;
struct UndefinedFrom;

/* One thing that happened: who, where, when. */
typedef struct ProbePoint {
  const struct Gpu *gpu;
  const struct Sm *sm;
  const struct Block *block;
  const struct Warp *warp;
  const struct Inst *inst;
  uint32_t pc;
  uint32_t lanes;
  uint64_t cycle;
} ProbePoint;

typedef enum { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC } AccessKind;
typedef enum { SPACE_SHARED, SPACE_GLOBAL } AccessSpace;

enum { ACCESS_PART_SWAPS = 4 };

/* Lanes of an access that was told with a number are performed. Its warp may have exited, and its block be gone. */
typedef struct AccessPart {
  uint64_t number; /* of the access, as it was told when it was issued */
  bool shared;     /* of other blocks' shared memory, not global */
  AccessKind kind;
  const uint64_t *address; /* of each lane */
  uint32_t bytes;
  const uint32_t (*data)[32]; /* rows: the words that a store stores; operand b of an atomic operation, and from row
                                 ACCESS_PART_SWAPS on what a compare-and-swap stores */
  bool last;                  /* all lanes are performed then */
} AccessPart;

/* A part of an access, one line's, has come through the memory system: its way, and whose it is. */
typedef struct ProbePart {
  const struct Gpu *gpu;
  const struct Sm *sm;
  const struct Launch *launch;
  const struct Inst *inst;
  uint32_t pc;
  ThreadId thread;     /* of the warp's lane 0 */
  uint64_t number;     /* of the access, as AccessPart has it */
  const bool *changed; /* of an atomic operation, by lane: it changed its word; meaningless for others */
  const MemTrace *trace;
} ProbePart;

/* What the host does: accesses one word (always volatile), starts a launch, or knows that one has finished. */
typedef enum { HOST_READS, HOST_WRITES, HOST_ADDS, HOST_STARTS, HOST_AWAITED } HostDeed;
typedef struct HostPoint {
  const struct Gpu *gpu;
  uint32_t step;    /* its index */
  uint64_t address; /* of the word */
  uint32_t launch;  /* HOST_STARTS, HOST_AWAITED */
  uint64_t cycle;
} HostPoint;

/* A lane's load hits its SM's L1 although memory holds something else. While windows run (windows.h) that is what
 * memory held when the window began. */
typedef struct StaleRead {
  unsigned lane;
  uint64_t address;   /* of the word, or of the narrow value in it */
  uint32_t copy, now; /* what the L1 gives; what memory holds */
  WordChange newest;  /* since which it does */
  uint64_t since;     /* when the copy was fetched */
} StaleRead;

typedef struct Probe {
  struct Probe *next;
  void *user;
  /* STSUL by `lane` of a bit that is free (`was` NULL) or that another thread holds. */
  void (*unlock_not_owned)(void *user, const ProbePoint *point, unsigned lane, uint32_t address, uint32_t bit,
                           const LockBit *was);
  /* A lane frees a lock in tags (locks.h) that is free (`was` NULL), or that a thread of another warp took. */
  void (*stray_release)(void *user, const ProbePoint *point, uint64_t address, const WordChange *was);
  /* Lanes exit although they hold this bit. */
  void (*exit_holding)(void *user, const ProbePoint *point, uint32_t bit, const LockBit *held);
  /* Lanes arrive at a barrier, and other lanes of the warp don't: those of `absent` haven't exited, those of `exited`
   * have; with lane groups, when all lanes that haven't exited have come to it, those of `absent` only with their
   * group. */
  void (*partial_barrier)(void *user, const ProbePoint *point, uint32_t absent, uint32_t exited);
  /* `reg` (or, if is_predicate, a predicate) is read by lanes that never wrote it. */
  void (*unset_read)(void *user, const ProbePoint *point, unsigned reg, bool is_predicate);
  /* Lanes execute an instruction that may issue too early after `producer` (HAZARD_CODE: an index into
   * Kernel.hazards); or they touch (HAZARD_SHARED) that byte of shared memory, which the copy `producer` writes, and
   * nobody has waited for (async_copy.h). */
  void (*hazard)(void *user, const ProbePoint *point, unsigned what, uint32_t producer);
  /* A value that lanes of the point use was loaded, at `from`, from memory that nobody had written. */
  void (*undefined_use)(void *user, const ProbePoint *point, const struct UndefinedFrom *from);
  /* Lanes issue an access to memory; address[lane] is the byte address (global), or the physical one (shared; of
   * other blocks of a cluster remote_address()).
   * `taken` and `unlock` say that it takes (lanes in `taken`) or frees lock bits. It is told before the access has
   * its effect: in the block's own shared memory that follows at once, in global memory and in other blocks' shared
   * memory each lane's follows `performed`. `number`: of such an access, no two have the same; else 0. */
  void (*access)(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind, const uint64_t address[32],
                 uint32_t bytes, uint32_t taken, bool unlock, uint64_t number);
  /* Lanes of an access with a number (those of the point, which has neither block nor warp) have their effect now:
   * told before it, once for each lane of the access, and after the access was told. */
  void (*performed)(void *user, const ProbePoint *point, const AccessPart *part);
  /* Told behind the part's effect, in simulated order; also while SMs run windows. Who wants it subscribes before the
   * run begins. */
  void (*part)(void *user, const ProbePart *part);
  /* A lane gets so many bytes of the device heap from malloc(), or (`gives`) is about to give them back. */
  void (*heap)(void *user, const ProbePoint *point, uint64_t address, uint64_t bytes, bool gives);
  void (*host)(void *user, const HostPoint *point, HostDeed deed);
  /* Lanes begin a fence. While SMs run windows this is told when the window ends: no access behind the fence is
   * performed before. */
  void (*fence)(void *user, const ProbePoint *point);
  /* A load hits its SM's L1, whose copy isn't what memory holds. */
  void (*stale_read)(void *user, const ProbePoint *point, const StaleRead *stale);
  /* Lanes with one mask that are together at a WARPSYNC go on, or all at the place of one that was left out
   * (INST_SYNCED: told before the instruction has its effect). */
  void (*warp_sync)(void *user, const ProbePoint *point);
  /* Lanes begin a copy to shared memory that goes on by itself (async_copy.h), each to so many bytes from there on.
   * It is told as an access once it has been waited for. */
  void (*copy)(void *user, const ProbePoint *point, const uint32_t physical[32], uint32_t bytes);
  /* A lane hands a copy in bulk to its unit: of bytes of shared memory, which it is about to write or read; at
   * `address`, or (another block's, which are written) remote_address(). */
  void (*bulk)(void *user, const ProbePoint *point, uint64_t address, uint32_t bytes, bool writes);
  /* From here on such copies see what the lanes have stored to shared memory. */
  void (*proxy_fence)(void *user, const ProbePoint *point);
  /* Lanes go on behind a WARPSYNC, or come to an INST_SYNCED, although masks of theirs name lanes that aren't there
   * (`absent`: elsewhere, or exited), or some aren't in their own (`strangers`). */
  void (*odd_mask)(void *user, const ProbePoint *point, uint32_t absent, uint32_t strangers);
  /* Warp arrives at barrier `id`; `waits` is false for an arrive. */
  void (*barrier_arrive)(void *user, const ProbePoint *point, uint32_t id, bool waits);
  /* Barrier `id` completes: arrived warps (mask by warp in block) are ordered before the waiting ones. */
  void (*barrier_complete)(void *user, const ProbePoint *point, uint32_t id, uint32_t arrived, uint32_t waiting);
  /* All blocks of the launch have come to SYNCBLOCKS; barrier_complete, of GRID_BARRIER, follows for each. */
  void (*blocks_meet)(void *user, const struct Gpu *gpu, const struct Launch *launch);
  /* All warps of the cluster's blocks have come to its barrier; barrier_complete, of CLUSTER_BARRIER, follows for
   * each block. */
  void (*cluster_meets)(void *user, const struct Gpu *gpu, const struct Cluster *cluster);
  /* Lanes go on at once at a CLUSTERBAR.WAIT, since the barrier was complete before. */
  void (*cluster_pass)(void *user, const ProbePoint *point);
  void (*block_start)(void *user, const ProbePoint *point);
  void (*block_end)(void *user, const ProbePoint *point);
  void (*issued)(void *user, const ProbePoint *point, uint64_t until);
  /* Behind the instruction that was told as issued the running path has joined others on the SIMT stack: another path
   * runs now, or all that waited there. */
  void (*joined)(void *user, const ProbePoint *point);
  /* The reply to an access of global memory by these lanes has come, and their registers have what they loaded. */
  void (*replied)(void *user, const ProbePoint *point);
} Probe;

/* All callbacks. */
#define PROBE_EACH(X)                                                                                           \
  X(unlock_not_owned)                                                                                           \
  X(stray_release)                                                                                              \
  X(exit_holding)                                                                                               \
  X(partial_barrier)                                                                                            \
  X(unset_read)                                                                                                 \
  X(hazard)                                                                                                     \
  X(undefined_use)                                                                                              \
  X(access)                                                                                                     \
  X(performed)                                                                                                  \
  X(copy)                                                                                                       \
  X(part)                                                                                                       \
  X(heap) X(host) X(fence) X(stale_read) X(bulk) X(proxy_fence) X(warp_sync) X(odd_mask) X(barrier_arrive)      \
      X(barrier_complete) X(blocks_meet) X(cluster_meets) X(cluster_pass) X(block_start) X(block_end) X(issued) \
          X(joined) X(replied)
#define PROBE_ONE(callback) +1
_Static_assert(sizeof(Probe) == (2 PROBE_EACH(PROBE_ONE)) * sizeof(void *), "PROBE_EACH() names all callbacks");

/* Calls `callback` of every subscriber that has one. */
#define PROBE_FIRE(gpu, callback, ...)                                      \
  do {                                                                      \
    for (const Probe *probe_ = (gpu)->probe; probe_; probe_ = probe_->next) \
      if (probe_->callback)                                                 \
        probe_->callback(probe_->user, __VA_ARGS__);                        \
  } while (0)

/* True if somebody listens to `callback`. */
#define PROBE_WANTED(gpu, callback) ((gpu)->heard.callback != NULL)

#endif
