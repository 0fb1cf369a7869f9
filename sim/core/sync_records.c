#include "sim/core/sync_records.h"

/* Bit of the record that the lane is in, or -1. */
static int record_of(const LaneGroups *groups, unsigned barrier, unsigned lane) {
  for (uint32_t rest = groups->used[barrier]; rest; rest &= rest - 1)
    if (groups->record[barrier][__builtin_ctz(rest)] >> lane & 1)
      return __builtin_ctz(rest);
  return -1;
}

uint32_t sync_records_own(const LaneGroups *groups, unsigned barrier, unsigned lane) {
  int record = record_of(groups, barrier, lane);
  return record < 0 ? 0 : groups->record[barrier][record] | groups->away[barrier][record];
}

uint32_t sync_records_of(const LaneGroups *groups, unsigned barrier, uint32_t lanes) {
  uint32_t own = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1)
    own |= sync_records_own(groups, barrier, (unsigned)__builtin_ctz(rest));
  return own;
}

uint32_t sync_records_present(const LaneGroups *groups, unsigned barrier, unsigned lane) {
  int record = record_of(groups, barrier, lane);
  if (record < 0 || groups->away[barrier][record])
    return record < 0 ? 0 : groups->record[barrier][record];
  uint32_t lanes = 0;
  for (uint32_t rest = groups->used[barrier]; rest; rest &= rest - 1) {
    unsigned at = (unsigned)__builtin_ctz(rest);
    lanes |= groups->away[barrier][at] ? 0 : groups->record[barrier][at];
  }
  return lanes;
}

uint32_t sync_records_members(const LaneGroups *groups, unsigned barrier, unsigned lane) {
  int record = record_of(groups, barrier, lane);
  return record < 0 ? 0 : sync_records_present(groups, barrier, lane) | groups->away[barrier][record];
}

uint32_t sync_records_all(const LaneGroups *groups, unsigned barrier) {
  uint32_t lanes = 0;
  for (uint32_t rest = groups->used[barrier]; rest; rest &= rest - 1)
    lanes |= groups->record[barrier][__builtin_ctz(rest)] | groups->away[barrier][__builtin_ctz(rest)];
  return lanes;
}

static void put_record(LaneGroups *groups, unsigned barrier, uint32_t lanes, uint32_t away) {
  unsigned at = (unsigned)__builtin_ctz(lanes);
  groups->record[barrier][at] = lanes;
  groups->away[barrier][at] = away;
  groups->used[barrier] |= 1u << at;
}

/* `lanes` are in no record any more; those of `away` are still waited for. A record without lanes goes: its lanes
 * have it in registers, or nobody has it. */
static void leave(LaneGroups *groups, unsigned barrier, uint32_t lanes, uint32_t away) {
  for (uint32_t rest = groups->used[barrier]; rest; rest &= rest - 1) {
    unsigned at = (unsigned)__builtin_ctz(rest);
    uint32_t record = groups->record[barrier][at], others = groups->away[barrier][at] | (record & away);
    if (!(record & lanes))
      continue;
    groups->used[barrier] &= ~(1u << at);
    if (record & ~lanes)
      put_record(groups, barrier, record & ~lanes, others);
  }
  groups->saved[barrier] &= ~lanes;
}

void sync_records_withdraw(LaneGroups *groups, unsigned barrier, uint32_t lanes) { leave(groups, barrier, lanes, 0); }

void sync_records_begin(LaneGroups *groups, unsigned barrier, uint32_t lanes) {
  leave(groups, barrier, lanes, groups->saved[barrier]);
  put_record(groups, barrier, lanes, 0);
}

void sync_records_join(LaneGroups *groups, unsigned barrier, uint32_t lanes) {
  uint32_t out = lanes, members = 0;
  for (uint32_t rest = groups->used[barrier]; rest; rest &= rest - 1) {
    unsigned at = (unsigned)__builtin_ctz(rest);
    out &= ~groups->record[barrier][at];
    members |= groups->away[barrier][at] ? 0 : groups->record[barrier][at];
  }
  if (out && members & lanes)
    put_record(groups, barrier, out, 0);
}

/* The record of `members` that `lanes` have saved, whether they have begun another one since or not; -1: there is
 * none. */
static int saved_record(const LaneGroups *groups, unsigned barrier, uint32_t members, uint32_t lanes,
                        uint32_t alive) {
  for (uint32_t rest = groups->used[barrier]; rest; rest &= rest - 1) {
    int at = __builtin_ctz(rest);
    uint32_t all = groups->record[barrier][at] | groups->away[barrier][at];
    if (all & lanes && (all & alive) == (members & alive))
      return at;
  }
  return -1;
}

void sync_records_restore(LaneGroups *groups, unsigned barrier, uint32_t members, uint32_t lanes, uint32_t alive) {
  int at = saved_record(groups, barrier, members, lanes, alive);
  uint32_t present = lanes, away = members & ~lanes;
  if (at >= 0) {
    present |= groups->record[barrier][at];
    away = groups->away[barrier][at] & ~lanes;
    groups->used[barrier] &= ~(1u << at);
  }
  sync_records_withdraw(groups, barrier, lanes);
  put_record(groups, barrier, present, away);
}
