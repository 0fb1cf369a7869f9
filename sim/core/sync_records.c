#include "sim/core/sync_records.h"

/* The record that the lane is in, or NULL. */
static const SyncRecord *record_of(const SyncRecords *records, unsigned barrier, unsigned lane) {
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    const SyncRecord *record = sync_record(records, barrier, (unsigned)__builtin_ctz(rest));
    if (record->lanes >> lane & 1)
      return record;
  }
  return NULL;
}

uint32_t sync_records_of(const SyncRecords *records, unsigned barrier, uint32_t lanes) {
  uint32_t all = 0;
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    const SyncRecord *record = sync_record(records, barrier, (unsigned)__builtin_ctz(rest));
    all |= record->lanes & lanes ? record->lanes | record->away : 0;
  }
  return all;
}

/* The lanes of all records that nobody has saved and left. */
static uint32_t lanes_of_whole(const SyncRecords *records, unsigned barrier) {
  uint32_t lanes = 0;
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    const SyncRecord *record = sync_record(records, barrier, (unsigned)__builtin_ctz(rest));
    lanes |= record->away ? 0 : record->lanes;
  }
  return lanes;
}

uint32_t sync_records_present(const SyncRecords *records, unsigned barrier, unsigned lane) {
  const SyncRecord *record = record_of(records, barrier, lane);
  if (!record)
    return 0;
  return record->away ? record->lanes : lanes_of_whole(records, barrier);
}

uint32_t sync_records_members(const SyncRecords *records, unsigned barrier, unsigned lane) {
  const SyncRecord *record = record_of(records, barrier, lane);
  return record ? sync_records_present(records, barrier, lane) | record->away : 0;
}

uint32_t sync_records_all(const SyncRecords *records, unsigned barrier) {
  return sync_records_of(records, barrier, UINT32_MAX);
}

static void put_record(SyncRecords *records, unsigned barrier, SyncRecord record) {
  unsigned at = (unsigned)__builtin_ctz(record.lanes);
  *sync_record(records, barrier, at) = record;
  records->used[barrier] |= 1u << at;
}

/* `lanes` are in no record any more; those of `away` are still waited for. A record without lanes goes: its lanes
 * have it in registers, or nobody has it. */
static void leave(SyncRecords *records, unsigned barrier, uint32_t lanes, uint32_t away) {
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    unsigned at = (unsigned)__builtin_ctz(rest);
    SyncRecord record = *sync_record(records, barrier, at);
    if (!(record.lanes & lanes))
      continue;
    records->used[barrier] &= ~(1u << at);
    if (record.lanes & ~lanes)
      put_record(records, barrier, (SyncRecord){record.lanes & ~lanes, record.away | (record.lanes & away)});
  }
  records->saved[barrier] &= ~lanes;
}

void sync_records_withdraw(SyncRecords *records, unsigned barrier, uint32_t lanes) {
  leave(records, barrier, lanes, 0);
}

void sync_records_begin(SyncRecords *records, unsigned barrier, uint32_t lanes) {
  leave(records, barrier, lanes, records->saved[barrier]);
  records->freed[barrier] &= ~lanes;
  put_record(records, barrier, (SyncRecord){.lanes = lanes});
}

void sync_records_join(SyncRecords *records, unsigned barrier, uint32_t lanes) {
  uint32_t out = lanes;
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1)
    out &= ~sync_record(records, barrier, (unsigned)__builtin_ctz(rest))->lanes;
  if (out && lanes_of_whole(records, barrier) & lanes)
    put_record(records, barrier, (SyncRecord){.lanes = out});
}

/* The record of `members` that `lanes` have saved, whether they have begun another one since or not; -1: there is
 * none. */
static int saved_record(const SyncRecords *records, unsigned barrier, uint32_t members, uint32_t lanes,
                        uint32_t alive) {
  for (uint32_t rest = records->used[barrier]; rest; rest &= rest - 1) {
    int at = __builtin_ctz(rest);
    const SyncRecord *record = sync_record(records, barrier, (unsigned)at);
    uint32_t all = record->lanes | record->away;
    if (all & lanes && (all & alive) == (members & alive))
      return at;
  }
  return -1;
}

void sync_records_restore(SyncRecords *records, unsigned barrier, uint32_t members, uint32_t lanes, uint32_t alive) {
  int at = saved_record(records, barrier, members, lanes, alive);
  SyncRecord record = {lanes, members & ~lanes};
  if (at >= 0) {
    record = *sync_record(records, barrier, (unsigned)at);
    record = (SyncRecord){record.lanes | lanes, record.away & ~lanes};
    records->used[barrier] &= ~(1u << at);
  }
  sync_records_withdraw(records, barrier, lanes);
  put_record(records, barrier, record);
  records->saved[barrier] |= lanes; /* a function that called this one may have it, too */
}
