/* tell.h - what an SM tells while it runs a window on its own (windows.h), beside requests to memory: seldom things
 * that concern the whole machine. They are kept as notes of the SM and take effect at the window's end, by (cycle,
 * SM, order). Outside windows they take effect at once. */
#ifndef LOCKSTEP_CORE_TELL_H
#define LOCKSTEP_CORE_TELL_H

#include "sim/core/state.h"
#include "sim/core/undefined.h"

/* Callbacks of Probe: see there. */
void tell_unlock_not_owned(const ProbePoint *point, unsigned lane, uint32_t address, uint32_t bit,
                           const LockBit *was);
void tell_exit_holding(const ProbePoint *point, uint32_t bit, const LockBit *held);
void tell_partial_barrier(const ProbePoint *point, uint32_t absent, uint32_t exited);
void tell_unset_read(const ProbePoint *point, unsigned reg, bool is_predicate);
/* `what` with this bit is a byte of the block's shared memory, which an asynchronous copy writes. */
#define HAZARD_SHARED UINT32_C(0x80000000)
/* With this one it is an index into Kernel.hazards. */
#define HAZARD_CODE UINT32_C(0x40000000)
void tell_hazard(const ProbePoint *point, unsigned what, uint32_t producer);
void tell_undefined_use(const ProbePoint *point, const UndefinedFrom *from);
void tell_odd_mask(const ProbePoint *point, uint32_t absent, uint32_t strangers);
void tell_fence(const ProbePoint *point);
void tell_stale_read(const ProbePoint *point, const StaleRead *stale);
/* Mark `number` fires. */
void tell_mark(Sm *sm, uint32_t number, uint64_t now);
/* A block of the launch has exited. Outside windows the SM stops, since another block may follow (Sm.ended). */
void tell_block_finished(Sm *sm, Launch *launch, const Block *block, uint64_t now);
/* An access of the launch leaves; its reply has come: that may end the launch. */
void tell_access_began(Sm *sm, Launch *launch);
void tell_access_ended(Sm *sm, Launch *launch, uint64_t now);

/* A block, by its slot, has exited in a window, and others wait for its place. */
typedef void (*TellBlockEnded)(Gpu *gpu, Sm *sm, uint32_t slot, uint64_t now);
/* Does what these SMs, by rising number, have noted. */
void tell_all(Gpu *gpu, const uint32_t *sms, uint32_t count, TellBlockEnded block_ended);
void sm_notes_clear(Sm *sm);

#endif
