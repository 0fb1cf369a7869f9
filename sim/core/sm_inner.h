/* sm_inner.h - what the files of an SM share: sm.c (schedulers, and the short way of arithmetic), sm_issue.c (how a
 * warp issues), sm_blocks.c (blocks and warps come and go), sm_replies.c (who waits, and replies of global
 * memory). */
#ifndef LOCKSTEP_CORE_SM_INNER_H
#define LOCKSTEP_CORE_SM_INNER_H

#include "base/bits.h"
#include "sim/core/access.h"
#include "sim/core/scheduler.h"

/* Its first block comes: all but its place is as it begins. Those that stay empty take no memory. */
void sm_begin(Sm *sm);
/* The warp issues the instruction at its pc: any; one of WAY_STEERS. */
void sm_issue(Sm *sm, Warp *warp, uint64_t now);
void sm_steer(Sm *sm, Warp *warp, uint64_t now);
/* The way in which the warp issues its next instruction. */
static inline IssueWay sm_issue_way(const Sm *sm, const Warp *warp, const Decoded *decoded) {
  bool whole = !sm->unwatched || warp->shadow | (uintptr_t)warp->written | warp->undefined_rows | warp->invited;
  return G_UNLIKELY(whole) ? WAY_WHOLE : (IssueWay)decoded->way;
}

/* The lanes that execute it. */
static inline uint32_t sm_executing(const Warp *warp, const Inst *inst) {
  uint32_t guard = warp->pred[inst->guard];
  return warp->active & (inst->flags & INST_GUARD_NOT ? ~guard : guard);
}

/* How many lanes `mask` has, which executes an instruction of the warp: mostly the same one again. */
static inline uint32_t sm_count_lanes(Warp *warp, uint32_t mask) {
  if (G_UNLIKELY(mask != warp->counted)) {
    warp->counted = mask;
    warp->count = (uint8_t)bits_count(mask);
  }
  return warp->count;
}

/* Fills in what all executors of short ways need of Sm.brief; for those of WAY_PLAIN that is all. */
static inline void sm_begin_briefly(Sm *sm, Warp *warp, const Inst *inst, uint32_t mask) {
  Issue *issue = &sm->brief;
  issue->inst = inst;
  issue->regs = warp->regs;
  issue->consts = warp->consts;
  issue->pred = warp->pred;
  issue->mask = mask;
}

/* The warp can issue from cycle `time` on. */
void sm_wake(Sm *sm, Warp *warp, uint64_t time);
/* All lanes of the warp have exited. */
void sm_finish_warp(Sm *sm, Warp *warp, uint64_t now);
/* The destinations of the instruction can be used from cycle `ready` on. */
static inline void sm_set_ready(Warp *warp, const Decoded *decoded, uint64_t ready) {
  for (unsigned i = 0; i < decoded->writes; i++)
    warp->reg_ready[decoded->write[i]] = ready;
  for (uint32_t rest = decoded->pred_write; rest; rest &= rest - 1) {
    warp->pred_ready[__builtin_ctz(rest)] = ready;
    warp->guard_ready[__builtin_ctz(rest)] = ready + decoded->guard_lag;
  }
  if ((decoded->writes | decoded->pred_write) && ready + decoded->guard_lag > warp->latest_ready)
    warp->latest_ready = ready + decoded->guard_lag;
}
/* Machine code: its scoreboards are up until the result is there, at `ready`, and its sources are read. */
void sm_raise(Warp *warp, const Kernel *kernel, const Decoded *decoded, uint64_t ready, uint64_t sources);
/* That of the result is, until the reply of the access that was issued comes. */
void sm_raise_until_reply(Warp *warp, const Kernel *kernel, const Decoded *decoded);
/* True if what `decoded` waits for is there. */
bool sm_has_operands(Sm *sm, Warp *warp, const Decoded *decoded, uint64_t now);
/* The warp that issued goes on with `decoded`, once its operands are there, not before `from`; `delay` comes on
 * top. */
void sm_wait_for_operands(Sm *sm, Warp *warp, const Decoded *decoded, uint64_t from, uint64_t delay);

/* `mask` lanes issued an instruction of a short way at `now`. */
static inline void sm_count_briefly(Sm *sm, Warp *warp, const Decoded *decoded, uint32_t mask, uint64_t now) {
  sm->counters.warp_instructions++;
  sm->counters.lane_instructions += sm_count_lanes(warp, mask);
  if (mask && (decoded->occupies | decoded->holds | decoded->reads))
    scheduler_take(sm_scheduler(sm, warp), decoded, sm->gpu->machine->sm.encoded.register_lag, now);
}

/* Behind it the warp goes on with `decoded`, at `next` if its operands are there. */
static inline void sm_go_on_briefly(Sm *sm, Warp *warp, const Decoded *decoded, uint64_t next) {
  bool awaits = warp->awaits | (uintptr_t)warp->copies | (uintptr_t)sm->bulk | warp->pending | warp->awaits_loads;
  if (G_UNLIKELY(awaits || warp->latest_ready > next)) {
    sm_wait_for_operands(sm, warp, decoded, next, 0);
    return;
  }
  scheduler_come_to(sm, warp, decoded);
  wheel_insert(&sm->wheel, warp->slot, next);
}

/* A fence. */
typedef struct SmDrain {
  uint64_t from;   /* it could be over then, but for memory.fence_latency */
  uint64_t delay;  /* that comes on top */
  bool system;     /* of the system, not the chip */
  bool reads;      /* of loads and atomic operations only: stores may come later */
  bool empties_l1; /* when it is over */
} SmDrain;
/* The same behind a fence: it waits until all accesses that the SM has under way are performed. */
void sm_wait_for_drain(Sm *sm, Warp *warp, const Decoded *decoded, const SmDrain *drain);

/* One more access may be sent: by the warp that has waited longest for that. There is one. */
void sm_end_crowd(Sm *sm, uint64_t now);
/* True if it finds room in the queue of the port. There is one. */
bool sm_crowd_has_room(Sm *sm, uint64_t now);
/* True if an access that the warp issues now finds room in the queue of the port. */
static inline bool sm_port_has_room(Sm *sm, const Warp *warp, uint64_t now) {
  const Machine *machine = sm->gpu->machine;
  PortTaken credits = {machine->memory.port.credits, machine->memory.port.merged_credits, machine->memory.port.turns};
  return flights_have_room(&sm->flights, warp->scheduler, now, &credits);
}
/* Of an SM with copies in bulk: when its unit has something to do, and to do it (bulk.h). */
uint64_t sm_next_piece(const Sm *sm);
void sm_send_pieces(Sm *sm, uint64_t now);
/* What the warp may have waited for has come: it goes on if there is nothing else. */
void sm_go_on(Sm *sm, Warp *warp, uint64_t now);
/* Takes the replies that have come by `now`. */
void sm_take_replies(Sm *sm, uint64_t now);

#endif
