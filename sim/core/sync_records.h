/* sync_records.h - who takes part in a warp's convergence barriers (LaneGroups.sync).
 * Each BSSY makes a record of its lanes, BREAK takes lanes out of theirs. A lane is in one record of each barrier at
 * most, the newest. The records of one barrier together are its members: lanes that come to a BSYNC of it wait for
 * all of them, wherever these have begun, since the hardware has one register for each barrier of a warp. (An H200:
 * validation/hardware/orders.cu.)
 * Lanes whose BMOV has saved a record remain in it when they begin another (a call that uses the barrier, too): they
 * are away, and waited for until BMOV has restored it, also if a function that called this one has saved it before.
 * The lanes of such a record wait for each other only. */
#ifndef LOCKSTEP_CORE_SYNC_RECORDS_H
#define LOCKSTEP_CORE_SYNC_RECORDS_H

#include "isa/program.h"
#include "sim/core/warp.h"

typedef struct SyncRecord {
  uint32_t lanes; /* that are in it */
  uint32_t away;  /* those that have saved it and begun another */
} SyncRecord;

typedef struct SyncRecords {
  uint32_t used[CONVERGENCE_BARRIERS];  /* bit l: record l is one */
  uint32_t saved[CONVERGENCE_BARRIERS]; /* lanes that have their record in a register, or may have it */
  /* Lanes that were members when a barrier was cleared that they hadn't come to. Until they begin it again they don't
   * take part in it along with others. */
  uint32_t freed[CONVERGENCE_BARRIERS];
  /* Those of barrier b from record[b * stride] on, each at its lowest lane. Rows of a barrier that no warp of the SM
   * uses take no memory. */
  SyncRecord *record;
  uint32_t stride;
} SyncRecords;

/* The record at lane `at`, which has to be used. */
static inline SyncRecord *sync_record(const SyncRecords *records, unsigned barrier, unsigned at) {
  return &records->record[(size_t)barrier * records->stride + at];
}

/* The lanes of all records that lanes of `lanes` are in, with those that are away. */
uint32_t sync_records_of(const SyncRecords *records, unsigned barrier, uint32_t lanes);
/* The lanes that must come together with `lane`, with those that are away; 0 if it takes no part. */
uint32_t sync_records_members(const SyncRecords *records, unsigned barrier, unsigned lane);
/* Those of them that aren't away. */
uint32_t sync_records_present(const SyncRecords *records, unsigned barrier, unsigned lane);
/* All lanes that are in a record of the barrier, or away. */
uint32_t sync_records_all(const SyncRecords *records, unsigned barrier);
/* BSSY: `lanes` make a record; those that haven't saved the record that they are in leave it. */
void sync_records_begin(SyncRecords *records, unsigned barrier, uint32_t lanes);
/* `lanes` come to a BSYNC together: those that are in no record take part, too, if others of them do. */
void sync_records_join(SyncRecords *records, unsigned barrier, uint32_t lanes);
/* `lanes` take no part any more. */
void sync_records_withdraw(SyncRecords *records, unsigned barrier, uint32_t lanes);
/* BMOV: `lanes` take part with `members` again, in the record of these that they have saved, if there is one.
 * `alive`: lanes that haven't exited. */
void sync_records_restore(SyncRecords *records, unsigned barrier, uint32_t members, uint32_t lanes, uint32_t alive);

#endif
