#include "sim/core/tell.h"

#include "sim/core/record.h"
#include "sim/core/retire.h"

typedef enum {
  NOTE_UNLOCK_NOT_OWNED,
  NOTE_EXIT_HOLDING,
  NOTE_PARTIAL_BARRIER,
  NOTE_UNSET_READ,
  NOTE_HAZARD,
  NOTE_UNDEFINED_USE,
  NOTE_ODD_MASK,
  NOTE_STALE_READ,
  NOTE_FENCE,
  NOTE_BLOCK_ENDED,
  NOTE_MARK,
} NoteKind;

typedef struct SmNote {
  NoteKind kind;
  uint64_t cycle;
  ProbePoint point; /* its block and warp are copies: they go on */
  uint32_t number[3];
  bool has_bit;
  LockBit bit;
  UndefinedFrom from;
  StaleRead stale;
} SmNote;

static bool runs_window(const Gpu *gpu) { return G_UNLIKELY(gpu->in_window); }

static void add_note(Sm *sm, const SmNote *note) {
  if (!sm->notes)
    sm->notes = g_array_new(FALSE, FALSE, sizeof(SmNote));
  g_array_append_vals(sm->notes, note, 1);
}

static SmNote note_of(NoteKind kind, const ProbePoint *point) {
  SmNote note = {.kind = kind, .cycle = point->cycle, .point = *point};
  note.point.block = g_memdup2(point->block, sizeof *point->block);
  note.point.warp = g_memdup2(point->warp, sizeof *point->warp);
  return note;
}

static void note_clear(SmNote *note) {
  g_free((gpointer)note->point.block);
  g_free((gpointer)note->point.warp);
}

void tell_unlock_not_owned(const ProbePoint *point, unsigned lane, uint32_t address, uint32_t bit,
                           const LockBit *was) {
  if (!runs_window(point->gpu)) {
    PROBE_FIRE(point->gpu, unlock_not_owned, point, lane, address, bit, was);
    return;
  }
  SmNote note = note_of(NOTE_UNLOCK_NOT_OWNED, point);
  note.number[0] = lane;
  note.number[1] = address;
  note.number[2] = bit;
  note.has_bit = was;
  if (was)
    note.bit = *was;
  add_note((Sm *)point->sm, &note);
}

void tell_exit_holding(const ProbePoint *point, uint32_t bit, const LockBit *held) {
  if (!runs_window(point->gpu)) {
    PROBE_FIRE(point->gpu, exit_holding, point, bit, held);
    return;
  }
  SmNote note = note_of(NOTE_EXIT_HOLDING, point);
  note.number[0] = bit;
  note.bit = *held;
  add_note((Sm *)point->sm, &note);
}

/* With two numbers. */
static void note_numbers(NoteKind kind, const ProbePoint *point, uint32_t first, uint32_t second) {
  SmNote note = note_of(kind, point);
  note.number[0] = first;
  note.number[1] = second;
  add_note((Sm *)point->sm, &note);
}

void tell_partial_barrier(const ProbePoint *point, uint32_t absent, uint32_t exited) {
  if (runs_window(point->gpu))
    note_numbers(NOTE_PARTIAL_BARRIER, point, absent, exited);
  else
    PROBE_FIRE(point->gpu, partial_barrier, point, absent, exited);
}

void tell_unset_read(const ProbePoint *point, unsigned reg, bool is_predicate) {
  if (runs_window(point->gpu))
    note_numbers(NOTE_UNSET_READ, point, reg, is_predicate);
  else
    PROBE_FIRE(point->gpu, unset_read, point, reg, is_predicate);
}

void tell_hazard(const ProbePoint *point, unsigned what, uint32_t producer) {
  if (runs_window(point->gpu))
    note_numbers(NOTE_HAZARD, point, what, producer);
  else
    PROBE_FIRE(point->gpu, hazard, point, what, producer);
}

void tell_odd_mask(const ProbePoint *point, uint32_t absent, uint32_t strangers) {
  if (runs_window(point->gpu))
    note_numbers(NOTE_ODD_MASK, point, absent, strangers);
  else
    PROBE_FIRE(point->gpu, odd_mask, point, absent, strangers);
}

void tell_undefined_use(const ProbePoint *point, const UndefinedFrom *from) {
  if (!runs_window(point->gpu)) {
    PROBE_FIRE(point->gpu, undefined_use, point, from);
    return;
  }
  SmNote note = note_of(NOTE_UNDEFINED_USE, point);
  note.from = *from;
  add_note((Sm *)point->sm, &note);
}

void tell_stale_read(const ProbePoint *point, const StaleRead *stale) {
  if (!runs_window(point->gpu)) {
    PROBE_FIRE(point->gpu, stale_read, point, stale);
    return;
  }
  SmNote note = note_of(NOTE_STALE_READ, point);
  note.stale = *stale;
  add_note((Sm *)point->sm, &note);
}

void tell_fence(const ProbePoint *point) {
  if (!PROBE_WANTED(point->gpu, fence))
    return;
  if (!runs_window(point->gpu)) {
    PROBE_FIRE(point->gpu, fence, point);
    return;
  }
  SmNote note = note_of(NOTE_FENCE, point);
  add_note((Sm *)point->sm, &note);
}

void tell_mark(Sm *sm, uint32_t number, uint64_t now) {
  if (!runs_window(sm->gpu)) {
    record_mark(sm->gpu, number, now);
    return;
  }
  SmNote note = {.kind = NOTE_MARK, .cycle = now, .number = {number}};
  add_note(sm, &note);
}

/* ---- ends of blocks, and accesses, of which there are many: sums ---- */

static LaunchTally *tally_of(Sm *sm, const Launch *launch) {
  if (!sm->launch_tally)
    sm->launch_tally = g_new0(LaunchTally, sm->gpu->launches->len);
  return &sm->launch_tally[launch->index];
}

static void add_tally(Gpu *gpu, Launch *launch, const LaunchTally *tally) {
  launch->under_way += (uint64_t)tally->under_way;
  launch->finished_blocks += tally->finished_blocks;
  gpu->unfinished_blocks -= tally->finished_blocks;
  launch->last_end = MAX(launch->last_end, tally->last_end);
}

/* Something has ended, and perhaps all that the launch waits for. */
static void tell_end(Sm *sm, Launch *launch, const LaunchTally *more) {
  if (!runs_window(sm->gpu)) {
    add_tally(sm->gpu, launch, more);
    if (more->finished_blocks || (!launch->under_way && launch->finished_blocks == launch->blocks))
      sm->ended = more->last_end;
    return;
  }
  LaunchTally *tally = tally_of(sm, launch);
  tally->under_way += more->under_way;
  tally->finished_blocks += more->finished_blocks;
  tally->last_end = MAX(tally->last_end, more->last_end);
}

void tell_block_finished(Sm *sm, Launch *launch, const Block *block, uint64_t now) {
  retire_note(sm, launch, now);
  tell_end(sm, launch, &(LaunchTally){.finished_blocks = 1, .last_end = now});
  if (!runs_window(sm->gpu) || !sm->gpu->undispatched)
    return;
  SmNote note = {.kind = NOTE_BLOCK_ENDED, .cycle = now, .number = {block->slot}};
  add_note(sm, &note);
}

void tell_access_began(Sm *sm, Launch *launch) {
  if (runs_window(sm->gpu))
    tally_of(sm, launch)->under_way++;
  else
    launch->under_way++;
}

void tell_access_ended(Sm *sm, Launch *launch, uint64_t now) {
  tell_end(sm, launch, &(LaunchTally){.under_way = -1, .last_end = now});
}

/* ---- at the window's end ---- */

static void do_note(Gpu *gpu, Sm *sm, const SmNote *note, TellBlockEnded block_ended) {
  const ProbePoint *point = &note->point;
  switch (note->kind) {
  case NOTE_UNLOCK_NOT_OWNED:
    PROBE_FIRE(gpu, unlock_not_owned, point, note->number[0], note->number[1], note->number[2],
               note->has_bit ? &note->bit : NULL);
    break;
  case NOTE_EXIT_HOLDING: PROBE_FIRE(gpu, exit_holding, point, note->number[0], &note->bit); break;
  case NOTE_PARTIAL_BARRIER: PROBE_FIRE(gpu, partial_barrier, point, note->number[0], note->number[1]); break;
  case NOTE_UNSET_READ: PROBE_FIRE(gpu, unset_read, point, note->number[0], note->number[1]); break;
  case NOTE_HAZARD: PROBE_FIRE(gpu, hazard, point, note->number[0], note->number[1]); break;
  case NOTE_UNDEFINED_USE: PROBE_FIRE(gpu, undefined_use, point, &note->from); break;
  case NOTE_ODD_MASK: PROBE_FIRE(gpu, odd_mask, point, note->number[0], note->number[1]); break;
  case NOTE_STALE_READ: PROBE_FIRE(gpu, stale_read, point, &note->stale); break;
  case NOTE_FENCE: PROBE_FIRE(gpu, fence, point); break;
  case NOTE_BLOCK_ENDED: block_ended(gpu, sm, note->number[0], note->cycle); break;
  case NOTE_MARK: record_mark(gpu, note->number[0], note->cycle); break;
  }
}

/* The SM whose first note left is the earliest; NULL: there is none. `at`: of each SM, how many are done. */
static Sm *earliest(Gpu *gpu, const uint32_t *sms, uint32_t count, const guint *at) {
  Sm *first = NULL;
  uint64_t cycle = UINT64_MAX;
  for (uint32_t i = 0; i < count; i++) {
    Sm *sm = &gpu->sms[sms[i]];
    if (!sm->notes || at[sms[i]] == sm->notes->len)
      continue;
    const SmNote *note = &g_array_index(sm->notes, SmNote, at[sms[i]]);
    if (!first || note->cycle < cycle) {
      first = sm;
      cycle = note->cycle;
    }
  }
  return first;
}

static void add_tallies(Gpu *gpu, const Sm *sm) {
  LaunchTally *tally = sm->launch_tally;
  for (guint launch = 0; tally && launch < gpu->launches->len; launch++) {
    add_tally(gpu, gpu_launch(gpu, launch), &tally[launch]);
    tally[launch] = (LaunchTally){0};
  }
}

void tell_all(Gpu *gpu, const uint32_t *sms, uint32_t count, TellBlockEnded block_ended) {
  bool any = false;
  for (uint32_t i = 0; i < count; i++) {
    const Sm *sm = &gpu->sms[sms[i]];
    add_tallies(gpu, sm);
    any |= sm->notes && sm->notes->len;
  }
  if (G_LIKELY(!any))
    return;
  g_autofree guint *at = g_new0(guint, gpu->machine->gpu.sms);
  for (Sm *sm; (sm = earliest(gpu, sms, count, at));) {
    SmNote *note = &g_array_index(sm->notes, SmNote, at[sm->index]++);
    do_note(gpu, sm, note, block_ended);
    note_clear(note);
  }
  for (uint32_t i = 0; i < count; i++)
    if (gpu->sms[sms[i]].notes)
      g_array_set_size(gpu->sms[sms[i]].notes, 0);
}

void sm_notes_clear(Sm *sm) {
  for (guint i = 0; sm->notes && i < sm->notes->len; i++)
    note_clear(&g_array_index(sm->notes, SmNote, i));
  if (sm->notes)
    g_array_free(sm->notes, TRUE);
  if (sm->exits)
    g_array_free(sm->exits, TRUE);
  g_free(sm->launch_tally);
}
