/* lost_extremes.h - maxima and minima that were lost: whether they stay so.
 * A thread has raised (or lowered) a word to less than what another one had stored there meanwhile. If the word gets
 * that value or more later on, as in a fixpoint whose threads look again, nothing is lost; if something else is
 * stored there, a new use begins, and nothing is said. What is lost to the end, of the run or of the block whose
 * shared memory it is, is told: of each line once.
 * Bounded: beyond LOSSES_MAX losses at a time others are missed.
 * Ownership: LostUpdates owns it; it owns the findings until they are told. */
#ifndef LOCKSTEP_DETECT_RACE_LOST_EXTREMES_H
#define LOCKSTEP_DETECT_RACE_LOST_EXTREMES_H

#include "sim/detect/naming/finding.h"
#include "sim/detect/race/race_order.h"
#include "sim/detect/race/updates.h"

typedef struct LostExtremes LostExtremes;

/* Some lanes of an access, just before it has its effect. */
typedef struct UpdateAccess {
  const ProbePoint *point;
  AccessSpace space;
  AccessKind kind;
  const uint64_t *address; /* physical, if shared */
  uint32_t bytes;
  const uint32_t *data[2]; /* rows of what a store stores */
  const WarpOrder *warp;   /* as of its issue; NULL: it isn't known whose it is */
} UpdateAccess;

typedef struct LostExtreme {
  Update update;
  AccessSpace space;
  uint64_t address;
  const Sm *sm;            /* whose shared memory it is */
  uint32_t block_slot;     /* the block there */
  uint32_t rows, value[2]; /* what was lost */
  uint64_t key;            /* file and line of the store */
  Finding *finding;        /* taken */
} LostExtreme;

LostExtremes *lost_extremes_new(const Gpu *gpu, GPtrArray *findings);
void lost_extremes_free(LostExtremes *extremes);
void lost_extremes_add(LostExtremes *extremes, const LostExtreme *lost);
/* Just before an access that writes. `raises`: by a store of such an update. */
void lost_extremes_access(LostExtremes *extremes, const UpdateAccess *access, bool raises);
/* The shared memory of a block goes. */
void lost_extremes_end(LostExtremes *extremes, const ProbePoint *point);
void lost_extremes_finish(LostExtremes *extremes);
/* A value of one or two words as text. */
char *lost_extremes_text(const uint32_t *words, uint32_t rows, const Update *update);

#endif
