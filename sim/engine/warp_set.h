/* warp_set.h - a set of the warps of an SM, by slot; the operators of C work on it: & | ~ ==. 128 bits are enough for
 * 4096 threads, a lock bit for each of which is what Li et al. (section 6) would need most. */
#ifndef LOCKSTEP_ENGINE_WARP_SET_H
#define LOCKSTEP_ENGINE_WARP_SET_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 WarpSet;
enum { WARP_SET_MAX = 128 };

/* The 64 bits of a set that a slot is among: to change one bit in memory takes a third of the instructions that shifts
 * of the whole set take. */
typedef uint64_t __attribute__((may_alias)) WarpSetHalf;
static inline WarpSetHalf *warp_set_half(WarpSet *set, unsigned slot) {
  return (WarpSetHalf *)set + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 - slot / 64 : slot / 64);
}
static inline void warp_set_add(WarpSet *set, unsigned slot) {
  *warp_set_half(set, slot) |= UINT64_C(1) << (slot % 64);
}
static inline void warp_set_remove(WarpSet *set, unsigned slot) {
  *warp_set_half(set, slot) &= ~(UINT64_C(1) << (slot % 64));
}
static inline void warp_set_put(WarpSet *set, unsigned slot, bool in) {
  WarpSetHalf *half = warp_set_half(set, slot);
  *half = (*half & ~(UINT64_C(1) << (slot % 64))) | (uint64_t)in << (slot % 64);
}

static inline bool warp_set_has(WarpSet set, unsigned slot) { return set >> slot & 1; }
/* Without the lowest slot. */
static inline WarpSet warp_set_rest(WarpSet set) { return set & (set - 1); }
/* The lowest slot of a set that isn't empty. */
static inline unsigned warp_set_first(WarpSet set) {
  uint64_t low = (uint64_t)set;
  return low ? (unsigned)__builtin_ctzll(low) : 64 + (unsigned)__builtin_ctzll((uint64_t)(set >> 64));
}
static inline unsigned warp_set_count(WarpSet set) {
  return (unsigned)__builtin_popcountll((uint64_t)set) + (unsigned)__builtin_popcountll((uint64_t)(set >> 64));
}

#endif
