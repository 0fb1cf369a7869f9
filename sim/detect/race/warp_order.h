/* warp_order.h - what one warp knows of what the others did: vector clocks, now and as of accesses that are under
 * way.
 *
 * An access of global memory is issued, and performed later. What it hands on is what its warp knew at its issue,
 * however much the warp has learned or done since; what it is handed counts for all that its warp issues behind
 * it, the accesses that are under way too. So each access under way has a view of its warp: that is the warp as it
 * is, until it learns something that the access must not know; then the view keeps a copy of what was. Accesses
 * between which the warp can't learn share a view. The warp's own time isn't part of a view: a moment of the warp
 * is a view and a time. Ownership: a ViewPool owns all views; a WarpOrder lists those of its accesses under way,
 * until another warp takes its slot. */
#ifndef LOCKSTEP_DETECT_RACE_WARP_ORDER_H
#define LOCKSTEP_DETECT_RACE_WARP_ORDER_H

#include <glib.h>

#include "sim/detect/race/lane_order.h"
#include "sim/detect/race/shadow.h"
#include "sim/detect/race/vclock.h"
#include "sim/memory/thread_id.h"

enum { SCOPES = IN_ONE_SYSTEM + 1 };

/* The order of the memory model. */
typedef struct FenceOrder {
  VClock known;
  VClock fenced[SCOPES];  /* `known` at the newest fence of that scope or a wider one */
  VClock pending[SCOPES]; /* what strong reads were handed by threads so near, until a fence */
  VClock strict[2];       /* what stands before fence.sc of others that come before: of the GPU, of any scope */
  VClock omitted;         /* what hand-offs would have told that a trial takes for an older value's (race_older.h) */
} FenceOrder;

void fence_order_reset(FenceOrder *fences);
void fence_order_clear(FenceOrder *fences);
void fence_order_join(FenceOrder *to, const FenceOrder *from);

/* A strong write and the strong read that took it. */
typedef struct HandOver {
  uint32_t writer;      /* launch, THREAD_LAUNCH_HOST for the host */
  uint32_t released;    /* number of what the word hands on */
  uint32_t from, to;    /* instructions */
  uint32_t actor, time; /* the writer's, of its clock then */
  uint32_t given[2];    /* up to which of its times it handed on to its block, to the GPU */
  uint32_t lanes;       /* that took it */
} HandOver;

/* Of the same word, by the same instructions. */
static inline bool hand_over_is_same(const HandOver *one, const HandOver *other) {
  return one->released == other->released && one->from == other->from && one->to == other->to;
}

enum {
  HANDED_MAX = 32, /* each lane may have a word of its own */
  ATTEMPTS_MAX = 2
};

/* What the newest round of an attempt was handed (attempts.h). */
typedef struct Attempt {
  uint32_t pc;
  bool decides; /* the access of the doubt */
  bool in_vain;
  VClock clock;
} Attempt;

/* A warp that is resident, or was last in its slot. */
typedef struct WarpOrder {
  VClock clock;                /* the plain order */
  VClock relied;               /* of it, for a doubt: without hand-offs that don't count for it; otherwise empty */
  Attempt attempt[ATTEMPTS_MAX];
  unsigned attempts;
  VClock stored;               /* ... and what counts once the warp loads again what it stores from now on */
  uint32_t promise;            /* that, for stores (handoff.h); 0: there is none yet */
  uint32_t actor, time;        /* its own entry in the clocks */
  uint32_t handoff;            /* what its plain stores hand on (handoff.h); 0: nothing */
  ThreadId base;               /* its lane 0, or THREAD_HOST */
  FenceOrder *fences;          /* NULL for Fermi */
  LaneOrder *lanes[2];         /* in the plain order, in the model's; NULL where the order of issue counts */
  LaneOrder *turns;            /* what lanes know in the model's behind their next fence; NULL: not needed yet */
  HandOver *handed;            /* those that told it something in the plain order, the newest first; NULL: none yet */
  uint8_t handed_count, handed_space;
  uint8_t handed_newest; /* the one that was taken last, which may have told nothing new */
  bool was_handed;
  uint32_t handed_lanes;        /* which lanes took that, or have met one that did since */
  bool was_acquired;            /* the newest was taken with an acquire */
  Nearness taken_scope;         /* of the access that took it */
  bool was_fenced;              /* there was a fence since, which may be of too small a scope */
  uint32_t fence_pc;            /* the newest fence */
  uint32_t taken_lanes;         /* which lanes took it */
  uint64_t taken_change;        /* Released.change of the newest it took; 0: none */
  uint32_t fence_count[SCOPES]; /* fences so far of that scope or a wider one */
  unsigned strict;              /* a fence.sc isn't over: its scope (Nearness) and 1 more */
  uint32_t strict_time;         /* of the warp when it began */
  uint32_t syncs;               /* so far, of its lanes with each other */
  uint32_t touched,
      touched_since; /* lanes with accesses behind that time that no fence or release has had (lane_holes.h) */
  uint32_t held, held_from, held_to; /* lanes with accesses between these times that a fence of theirs has had */
  bool undecided;    /* an access of its present time is under way that may turn out to hand something on */
  GPtrArray *views;  /* WarpView *, oldest first; NULL: there were none yet */
} WarpOrder;

typedef struct WarpView {
  WarpOrder *warp; /* whose slot it is; NULL: another warp has it */
  WarpOrder kept;  /* if is_kept: what was */
  bool is_kept;
  bool reads; /* it is of one access, which reads, and ... */
  bool waits; /* ... is still under way */
  uint32_t users;
} WarpView;

/* When a warp issued something. */
typedef struct WarpMoment {
  WarpView *view;
  uint32_t time;
  uint32_t syncs; /* how often its lanes had met */
  bool by_lanes;  /* they may race with each other */
} WarpMoment;

typedef struct ViewPool {
  GPtrArray *free; /* WarpView *: those without users */
} ViewPool;

void view_pool_init(ViewPool *pool);
void view_pool_clear(ViewPool *pool);

void warp_order_clear(WarpOrder *warp);
/* Ready for another warp; views of the one before keep what was. `lanes`: they aren't ordered by issue. */
void warp_order_reset(WarpOrder *warp, bool ptx, bool lanes);
/* For so many hand-offs. */
void warp_order_make_room(WarpOrder *warp, uint8_t count);

/* The moment of what is issued now, until warp_moment_drop(); `reads`: an access that reads, until
 * warp_moment_has_read(). */
WarpMoment warp_moment_take(ViewPool *pool, WarpOrder *warp, bool reads);
void warp_moment_drop(ViewPool *pool, WarpMoment *moment);
void warp_moment_has_read(WarpMoment *moment);
/* The same moment for somebody else. */
WarpMoment warp_moment_share(const WarpMoment *moment);
/* What the warp knew then, with what it has been handed by what it issued before: to be read only, until the warp
 * learns again. */
WarpOrder warp_moment_order(const WarpMoment *moment);
/* Accesses that the warp issued before, and that read, are under way. */
bool warp_moment_waits(const WarpMoment *moment);
/* The same of what it issues now. */
bool warp_order_waits(const WarpOrder *warp);
/* What the view has, or will have. */
static inline WarpOrder *warp_view_order(WarpView *view) { return view->is_kept ? &view->kept : view->warp; }
/* The warp is about to learn something that the views before `first` (NULL: none of them) don't have. */
void warp_views_keep(WarpOrder *warp, const WarpView *first);
/* Calls `learn` for whatever comes behind the access of the view: itself, later views, the warp. */
typedef void (*WarpLearns)(WarpOrder *behind, void *user);
void warp_view_teach(WarpView *view, WarpLearns learn, void *user);

#endif
