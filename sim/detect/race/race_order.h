/* race_order.h - what each warp knows of what the others did: vector clocks, and how they pass on.
 *
 * Two orders are kept. In the plain one every hand-off orders what stands before it in the writer and behind it in
 * the reader; it is all that Fermi programs have (its code doesn't show what the source ordered, and its loads
 * bypass nothing). In that of the PTX memory model a hand-off needs a release on one side and an acquire on the
 * other: a fence before a strong write, or a write with .release; a fence behind a strong read, or a read with
 * .acquire. On both sides the scope of the fence and that of the access have to include the other thread: .cta its
 * own block, .gpu all but the host, .sys all; volatile accesses are of .sys. What the plain order has and the
 * model's hasn't is a missing fence, or one of too small a scope. What comes behind a strong read also comes after
 * the strong writes that it observed themselves (shadow.h).
 *
 * Generous where the model is finer than a warp: a store of one lane hands on what another lane's fence covered,
 * and what one lane takes its warp knows (but a fence doesn't cover what other lanes did, lane_holes.h); what a
 * fence covered before a block barrier counts for all warps behind it; of a chain of atomics of more than
 * GIFTS_MAX blocks every fence counts for the whole GPU. So races can be missed, none is invented.
 *
 * Lanes: in PTX, on whatever machine, and with convergence barriers they are ordered only by WARPSYNC (which each
 * `.sync` operation begins with), block barriers, and hand-offs (lane_order.h), those between lanes of one atomic
 * operation, too. In Fermi code the order in which a
 * warp issues counts. The host's accesses are volatile, with a release before and an acquire behind each; it knows
 * what a launch did that it has waited for, and a launch that it starts knows what it knows. Bounded: words beyond
 * RELEASED_MAX share what they hand on. */
#ifndef LOCKSTEP_DETECT_RACE_RACE_ORDER_H
#define LOCKSTEP_DETECT_RACE_RACE_ORDER_H

#include "sim/core/gpu.h"
#include "sim/detect/race/handoff.h"
#include "sim/detect/race/lane_holes.h"
#include "sim/detect/race/warp_order.h"

/* Words that have a clock of their own for what their strong writes hand on; further words share these clocks. */
enum { RELEASED_MAX = 4096 };

enum { GIFTS_MAX = 4 };

typedef struct BarrierOrder {
  VClock arrived;
  VClock relied; /* of it, for a doubt (WarpOrder.relied), with what may have been left in memory */
  FenceOrder fences;
  GArray *handed; /* HandOver: what warps were handed before they came; NULL: nothing so far */
  bool counted;
} BarrierOrder;

/* What the strong writes of one block hand on to its own threads. */
typedef struct Gift {
  ThreadId block; /* one of its threads */
  VClock clock;
} Gift;

/* What the strong writes of a word, or of bytes that are written apart from the rest of one, hand on. */
typedef struct Released {
  VClock clock;
  VClock given[SCOPES]; /* ON_ONE_GPU: from one thread of the GPU to others; IN_ONE_SYSTEM: from and to the host */
  Gift gift[GIFTS_MAX];
  unsigned gifts;
  bool crowded;         /* there were more blocks */
  ThreadId writer;      /* the newest */
  bool alone;           /* nobody else has added to it */
  uint32_t from;        /* the instruction of the newest */
  uint32_t actor, time; /* of the newest */
  uint64_t change;      /* number of its newest change; no two changes of any words have the same */
} Released;

/* Whether what a load takes decides the access of a doubt: not at all; by way of registers; by stores whose values
 * the same warp, or another one, loads again. */
typedef enum { DECIDES_NOTHING, DECIDES_AT_ONCE, DECIDES_BY_STORES } Decides;

/* A doubt about a finding: hand-offs that don't decide its access don't count for it. */
typedef struct OrderDoubt {
  Decides (*counts)(void *user, const Launch *launch, uint32_t pc); /* of the load at `pc`; NULL: no doubt */
  void *user;
} OrderDoubt;

/* A value that a read takes for an older one: as if it had done so in the first round of its loop. */
typedef struct OlderValue {
  const VClock *given;           /* what the older value's write handed on */
  const VClock *known, *pending; /* what the warp knew before the loop; `pending`: SCOPES of them */
  uint32_t time;                 /* of the warp, since then */
  bool together; /* other lanes of the warp looked at other words by the same load: what these told stays */
} OlderValue;

/* A strong read of some bytes of a word, or a read of a flag, ... */
typedef struct WordRead {
  Cell *cell;
  uint32_t bytes;
  const Inst *inst;
  uint32_t pc, lanes;
  bool in_vain; /* an attempt that leaves the word as it is (attempts.h) */
} WordRead;

/* ... and a strong write. */
typedef struct WordWrite {
  Cell *cell;
  uint32_t bytes;
  uint64_t word; /* its number */
  const Inst *inst;
  uint32_t pc;
} WordWrite;

typedef struct RaceOrder {
  const Gpu *gpu;
  OrderDoubt doubt;
  GArray *actors;   /* ThreadId of lane 0 of each warp that was started */
  GPtrArray *warps; /* WarpOrder * of each, borrowed: its slot's, which may be another warp's by now */
  GArray *released; /* Released */
  uint64_t changes; /* so far, of what words hand on */
  HandOffs handoffs;
  LaneHoles holes;
  VClock strict[2]; /* what stands before the fences that are fence.sc: of the GPU or wider, of any scope */
  ViewPool views;
  uint32_t launches;
  GArray *streams;             /* uint32_t, of each launch: the first launch of its stream */
  GHashTable *first_of_stream; /* stream -> that launch */
  BarrierOrder *started;       /* of each launch: what the host knew when it started it; NULL: it did nothing yet */
  GHashTable *ended;           /* launch -> BarrierOrder *: what its blocks knew at their end; if there are streams */
  WarpOrder host;              /* the host: one more thread, in no launch */
} RaceOrder;

void race_order_init(RaceOrder *order, const Gpu *gpu);
void race_order_clear(RaceOrder *order);
void barrier_order_reset(BarrierOrder *barrier);
void barrier_order_clear(BarrierOrder *barrier);

/* The warp begins; it knows what the launches before it in its stream did. */
void order_start_warp(RaceOrder *order, WarpOrder *warp, const Block *block, uint32_t warp_in_block, bool ptx);
/* The block's warps have ended: what they know of other streams, the next launch of their own will know. */
void order_end_block(RaceOrder *order, const Block *block, WarpOrder *warps);
/* The host: it acts for the first time (`ptx`: in a run of PTX); starts a launch; knows that one has finished. */
void order_start_host(RaceOrder *order, bool ptx);
void order_host_starts(RaceOrder *order, uint32_t launch);
void order_host_awaited(RaceOrder *order, uint32_t launch);
/* After a release: what the warp does from now on wasn't handed on. */
void order_move_on(WarpOrder *warp);

/* What the warp knows of others, in the model's order or the plain one ... */
static inline const VClock *order_clock(const RaceOrder *order, const WarpOrder *warp, bool plain) {
  const VClock *by_handoffs = order->doubt.counts ? &warp->relied : &warp->clock;
  return plain || !warp->fences ? by_handoffs : &warp->fences->known;
}
/* ... and whether that is all: there is no launch or host whose end orders what they did. */
static inline bool order_clock_has_all(const RaceOrder *order) {
  return order->gpu->launches->len == 1 && !order->gpu->host;
}

/* What an actor knows now; NULL: another warp has its slot. */
const WarpOrder *order_of_actor(const RaceOrder *order, uint32_t actor);
/* True if `earlier` comes before what `lanes` of the warp do now; in the model's order, or the plain one. */
bool order_is_before(const RaceOrder *order, const WarpOrder *warp, uint32_t lanes, const Access *earlier,
                     bool plain);
/* True if the clock has `earlier`, or a launch that is over. */
bool order_clock_knows(const RaceOrder *order, const VClock *clock, const Access *earlier);
/* True if the warp would have been handed `earlier`, had it not been taken for an older value's. */
bool order_is_omitted(const WarpOrder *warp, const Access *earlier);
/* Adds all that the newest writes of these bytes hand on to `clock`. */
void order_given(const RaceOrder *order, Cell *cell, uint32_t bytes, VClock *clock);
/* True if what the warp knows has `earlier`, but the lane that handed it on hadn't met those that made it. */
bool order_is_hidden(const RaceOrder *order, const WarpOrder *warp, const Access *earlier);
/* True if the warp was handed `earlier`, and only its own fence is missing, or of too small a scope. */
bool order_is_pending(const WarpOrder *warp, const Access *earlier);
/* What the warp was handed last; zeros: nothing. */
const HandOver *order_newest_handed(const WarpOrder *warp);
/* By which hand-off the warp learned of `earlier`, if it was handed any: the first by its own thread behind it, of
 * those to `lanes` if there are such; else the newest. */
const HandOver *order_handed_by(const WarpOrder *warp, const Access *earlier, uint32_t lanes);
/* True if the warp was handed it by a release that is only for its writer's block. */
bool order_is_too_narrow(const RaceOrder *order, const WarpOrder *warp, const Access *earlier);
/* True if its writer released it for the whole GPU, and the warp took that by an access that is only for its own
 * block. */
bool order_is_taken_narrowly(const RaceOrder *order, const WarpOrder *warp, const Access *earlier);
Nearness order_nearness(const RaceOrder *order, const WarpOrder *warp, const Access *earlier);
/* Who a strong access or a fence of this scope is strong for. A wait for an mbarrier, whose scope is that of the
 * block unless it says otherwise, takes what its cluster arrived with all the same: hardware has no way to miss
 * it, and what waits for copies into other blocks' memory (CUTLASS) relies on it. */
Nearness order_scope(const Inst *inst);
/* A reduction changes the word without a result: nothing that its lanes do can depend on what it found there. */
bool order_tells_nothing(const RaceOrder *order, const WarpOrder *warp, const Inst *inst);
/* True if the access itself is a release; an acquire. */
bool order_releases(const Inst *inst);
bool order_acquires(const Inst *inst);

/* A strong read, or a read of a flag, of `lanes`: at once; by an access that was under way; its clocks for what
 * comes behind the fences that its warp has issued since (they wait for it, but the access itself doesn't come
 * behind them). */
void order_acquire(RaceOrder *order, WarpOrder *warp, const WordRead *read);
/* The same where the read takes the word's value for an older one. */
void order_acquire_older(RaceOrder *order, WarpView *view, const WordRead *read, const OlderValue *older);
void order_acquire_late(RaceOrder *order, WarpView *view, const WordRead *read);
void order_pass_fences(RaceOrder *order, WarpView *view, const WordRead *read);
/* For findings: the warp takes at `pc` what number `number` hands on. What is taken again tells nothing new; the same
 * word's next write by the same instruction takes the place of the one before: a lane's release stays beside what the
 * other lanes of its warp hand on by their next attempts. */
void order_note_handed(WarpOrder *warp, const Released *released, uint32_t number, uint32_t pc, uint32_t lanes);
/* Lanes of one atomic operation on a word, whose write has been told, take turns, the lowest first: each takes what
 * those before it hand on that are among `giving`. `then`: their warp as of the operation. `view`: of its access, if
 * that was under way; else NULL. */
void order_take_turns(RaceOrder *order, WarpOrder *warp, WarpView *view, const WarpOrder *then, const WordRead *read,
                      uint32_t giving);
/* A strong write of a warp, at its time `warp->time`. A store ends what was handed on before, an atomic adds to
 * it. */
void order_release(RaceOrder *order, const WarpOrder *warp, const WordWrite *write);
/* What a plain store that the warp issues now hands on (handoff.h); the caller uses it in order_hand_on(). Whether
 * the word is a flag may turn out only when somebody polls it. */
uint32_t order_handoff(RaceOrder *order, WarpOrder *warp);
void order_hand_on(RaceOrder *order, Cell *cell, uint32_t bytes, uint32_t handoff, uint32_t time);
/* Before these bytes are written apart from the rest of the word: what they hand on is their own from now on. */
void order_part(RaceOrder *order, Cell *cell, uint32_t bytes, uint64_t word);
/* The word is forgotten. */
void order_forget(RaceOrder *order, Cell *cell);
/* What the warp's plain stores hand on is something else from now on. */
static inline void order_forget_handoff(RaceOrder *order, WarpOrder *warp) {
  handoff_drop(&order->handoffs, warp->handoff);
  warp->handoff = 0;
}
/* For a doubt: what is learned counts; what the instruction takes by a hand-off, if that decides; what an attempt
 * takes (attempts.h). */
void order_rely_on(const RaceOrder *order, WarpOrder *warp, const VClock *clock);
void order_rely_by(RaceOrder *order, WarpOrder *warp, uint32_t pc, const VClock *clock);
void order_attempt(RaceOrder *order, WarpOrder *warp, const WordRead *read, const VClock *clock);
/* For a doubt: what the stores of the warp rest on now (handoff.h; the caller uses it), and that it relies on what
 * one of them rested on. */
uint32_t order_promise(RaceOrder *order, WarpOrder *warp);
void order_rely(RaceOrder *order, WarpOrder *warp, uint32_t promise);
/* For a doubt: the warp goes on behind its newest attempts. */
void order_end_attempts(RaceOrder *order, WarpOrder *warp);
/* The warp learns all that `clock` knows, of lock bits or at a barrier; for a doubt, what `relied` does. */
void order_learn(RaceOrder *order, WarpOrder *warp, const VClock *clock, const VClock *relied);

void order_fence(WarpOrder *warp, Nearness scope, uint32_t pc, uint32_t lanes);
/* The fence is sequentially consistent, and is told before order_fence(). Its place among those of others is where it
 * ends: what others stored before a fence that ends earlier is performed by then. */
void order_fence_strictly(WarpOrder *warp, Nearness scope);
/* Before the warp does something that may come behind such a fence: it is over. */
void order_end_fence(RaceOrder *order, WarpOrder *warp);
void order_warp_sync(WarpOrder *warp, uint32_t lanes, uint32_t alive);
void order_arrive(BarrierOrder *barrier, WarpOrder *warp);
/* The same at the barrier of a cluster, which hands on in the model's order what the warp's fences covered. */
void order_arrive_fenced(BarrierOrder *barrier, WarpOrder *warp);
/* What the warps were handed that have come to a barrier of their block, all of them were: nobody goes on before. */
void order_bring_handed(BarrierOrder *barrier, const WarpOrder *warp);
void order_take_handed(const BarrierOrder *barrier, WarpOrder *warp);
/* A warp that has exited counts as arrived. */
void order_join_barrier(BarrierOrder *barrier, const WarpOrder *warp);
void order_join_barriers(BarrierOrder *barrier, const BarrierOrder *other);
void order_leave_barrier(RaceOrder *order, const BarrierOrder *barrier, WarpOrder *warp);

#endif
