#include "sim/core/sync_records.h"

/* Bit of the record that the lane is in, or -1. */
static int record_of(const SyncRecords *records, unsigned barrier, unsigned lane) {
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1)
    if (records->record[barrier][__builtin_ctz(rest)] >> lane & 1)
      return __builtin_ctz(rest);
  return -1;
}

uint32_t sync_records_of(const SyncRecords *records, unsigned barrier, uint32_t lanes) {
  uint32_t all = 0;
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    unsigned at = (unsigned)__builtin_ctz(rest);
    all |= records->record[barrier][at] & lanes ? records->record[barrier][at] | records->away[barrier][at] : 0;
  }
  return all;
}

uint32_t sync_records_present(const SyncRecords *records, unsigned barrier, unsigned lane) {
  int record = record_of(records, barrier, lane);
  if (record < 0 || records->away[barrier][record])
    return record < 0 ? 0 : records->record[barrier][record];
  uint32_t lanes = 0;
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    unsigned at = (unsigned)__builtin_ctz(rest);
    lanes |= records->away[barrier][at] ? 0 : records->record[barrier][at];
  }
  return lanes;
}

uint32_t sync_records_members(const SyncRecords *records, unsigned barrier, unsigned lane) {
  int record = record_of(records, barrier, lane);
  return record < 0 ? 0 : sync_records_present(records, barrier, lane) | records->away[barrier][record];
}

uint32_t sync_records_all(const SyncRecords *records, unsigned barrier) {
  return sync_records_of(records, barrier, UINT32_MAX);
}

static void put_record(SyncRecords *records, unsigned barrier, uint32_t lanes, uint32_t away) {
  unsigned at = (unsigned)__builtin_ctz(lanes);
  records->record[barrier][at] = lanes;
  records->away[barrier][at] = away;
  records->used[barrier] |= 1u << at;
}

/* `lanes` are in no record any more; those of `away` are still waited for. A record without lanes goes: its lanes
 * have it in registers, or nobody has it. */
static void leave(SyncRecords *records, unsigned barrier, uint32_t lanes, uint32_t away) {
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    unsigned at = (unsigned)__builtin_ctz(rest);
    uint32_t record = records->record[barrier][at], others = records->away[barrier][at] | (record & away);
    if (!(record & lanes))
      continue;
    records->used[barrier] &= ~(1u << at);
    if (record & ~lanes)
      put_record(records, barrier, record & ~lanes, others);
  }
  records->saved[barrier] &= ~lanes;
}

void sync_records_withdraw(SyncRecords *records, unsigned barrier, uint32_t lanes) {
  leave(records, barrier, lanes, 0);
}

void sync_records_begin(SyncRecords *records, unsigned barrier, uint32_t lanes) {
  leave(records, barrier, lanes, records->saved[barrier]);
  put_record(records, barrier, lanes, 0);
}

void sync_records_join(SyncRecords *records, unsigned barrier, uint32_t lanes) {
  uint32_t out = lanes, members = 0;
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    unsigned at = (unsigned)__builtin_ctz(rest);
    out &= ~records->record[barrier][at];
    members |= records->away[barrier][at] ? 0 : records->record[barrier][at];
  }
  if (out && members & lanes)
    put_record(records, barrier, out, 0);
}

/* The record of `members` that `lanes` have saved, whether they have begun another one since or not; -1: there is
 * none. */
static int saved_record(const SyncRecords *records, unsigned barrier, uint32_t members, uint32_t lanes,
                        uint32_t alive) {
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    int at = __builtin_ctz(rest);
    uint32_t all = records->record[barrier][at] | records->away[barrier][at];
    if (all & lanes && (all & alive) == (members & alive))
      return at;
  }
  return -1;
}

void sync_records_restore(SyncRecords *records, unsigned barrier, uint32_t members, uint32_t lanes, uint32_t alive) {
  int at = saved_record(records, barrier, members, lanes, alive);
  uint32_t present = lanes, away = members & ~lanes;
  if (at >= 0) {
    present |= records->record[barrier][at];
    away = records->away[barrier][at] & ~lanes;
    records->used[barrier] &= ~(1u << at);
  }
  sync_records_withdraw(records, barrier, lanes);
  put_record(records, barrier, present, away);
}
