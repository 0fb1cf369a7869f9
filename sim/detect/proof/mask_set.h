/* mask_set.h - the masks of the WARPSYNCs that a lane may come to: a few, or any. */
#ifndef LOCKSTEP_DETECT_PROOF_MASK_SET_H
#define LOCKSTEP_DETECT_PROOF_MASK_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { MASKS_KEPT = 3 };

/* All zeros: none. */
typedef struct MaskSet {
  uint32_t mask[MASKS_KEPT], count;
  bool any; /* more than are kept, or one that isn't known */
} MaskSet;

static inline bool mask_set_has(const MaskSet *set, uint32_t mask) {
  bool has = set->any;
  for (uint32_t i = 0; i < set->count; i++)
    has |= set->mask[i] == mask;
  return has;
}

/* True if it is new. */
static inline bool mask_set_add(MaskSet *set, uint32_t mask) {
  if (mask_set_has(set, mask))
    return false;
  if (set->count < MASKS_KEPT)
    set->mask[set->count++] = mask;
  else
    set->any = true;
  return true;
}

/* True if `more` has one that `set` hasn't. */
static inline bool mask_set_lacks(const MaskSet *set, const MaskSet *more) {
  bool lacks = more->any && !set->any;
  for (uint32_t i = 0; i < more->count; i++)
    lacks |= !mask_set_has(set, more->mask[i]);
  return lacks;
}

/* Those of both. True if that is news to `set`. */
static inline bool mask_set_join(MaskSet *set, const MaskSet *more) {
  bool news = mask_set_lacks(set, more);
  set->any |= more->any;
  for (uint32_t i = 0; i < more->count; i++)
    mask_set_add(set, more->mask[i]);
  return news;
}

#endif
