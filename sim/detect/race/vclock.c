#include "sim/detect/race/vclock.h"

#include <glib.h>
#include <string.h>

#include "base/wide.h"

/* What stands before the entries. */
typedef struct Header {
  uint64_t users; /* clocks that have them */
} Header;

/* Smaller clocks are copied. */
enum { SHARED_MIN = 64, GRAIN = 64 };

static Header *header_of(VClockEntry *entry) { return (Header *)(void *)entry - 1; }

static VClockEntry *resize(VClockEntry *entry, uint32_t space) {
  Header *header = g_realloc(entry ? header_of(entry) : NULL, sizeof(Header) + space * sizeof(VClockEntry));
  header->users = 1;
  return (VClockEntry *)(void *)(header + 1);
}

static bool is_shared(const VClock *clock) { return clock->entry && header_of(clock->entry)->users > 1; }

/* The clock has no entries any longer. */
static void drop(VClock *clock) {
  if (clock->entry && --header_of(clock->entry)->users == 0)
    g_free(header_of(clock->entry));
  clock->entry = NULL;
  clock->count = clock->space = 0;
}

/* The clock is about to change: nobody else has its entries then. */
static void own(VClock *clock) {
  if (!is_shared(clock))
    return;
  VClockEntry *entry = resize(NULL, clock->count + GRAIN);
  memcpy(entry, clock->entry, clock->count * sizeof *entry);
  header_of(clock->entry)->users--;
  clock->entry = entry;
  clock->space = clock->count + GRAIN;
}

void vclock_clear(VClock *clock) {
  drop(clock);
  clock->floor = 0;
}

void vclock_reset(VClock *clock) {
  if (is_shared(clock))
    drop(clock);
  clock->count = clock->floor = 0;
}

uint32_t vclock_find(const VClock *clock, uint32_t actor) {
  uint32_t low = 0, high = clock->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (clock->entry[middle].actor < actor)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Small clocks double; there are many large ones in a run of many warps, so those grow by little. */
static void reserve(VClock *clock, uint32_t count) {
  own(clock);
  if (count <= clock->space)
    return;
  clock->space = count < 2 * GRAIN ? MAX(4, MAX(count, 2 * clock->space)) : (count + GRAIN) / GRAIN * GRAIN;
  clock->entry = resize(clock->entry, clock->space);
}

static void raise_floor(VClock *clock, uint32_t floor) {
  if (floor <= clock->floor)
    return;
  uint32_t dropped = vclock_find(clock, floor);
  if (dropped)
    own(clock);
  clock->count -= dropped;
  if (dropped && clock->count)
    memmove(clock->entry, clock->entry + dropped, clock->count * sizeof *clock->entry);
  clock->floor = floor;
}

static void bound(VClock *clock) {
  if (clock->count <= VCLOCK_MAX)
    return;
  raise_floor(clock, MIN(clock->entry[clock->count - VCLOCK_MAX / 2].actor, VCLOCK_PINNED));
  clock->space = clock->count + GRAIN;
  clock->entry = resize(clock->entry, clock->space);
}

void vclock_advance(VClock *clock, uint32_t actor, uint32_t time) {
  if (actor < clock->floor)
    return;
  uint32_t at = clock->count ? actor - clock->entry[0].actor : 0;
  if (at >= clock->count || clock->entry[at].actor != actor)
    at = vclock_find(clock, actor);
  own(clock);
  if (at == clock->count || clock->entry[at].actor != actor) {
    reserve(clock, clock->count + 1);
    memmove(clock->entry + at + 1, clock->entry + at, (clock->count - at) * sizeof *clock->entry);
    clock->entry[at] = (VClockEntry){.actor = actor};
    clock->count++;
  }
  clock->entry[at].time = MAX(clock->entry[at].time, time);
  bound(clock);
}

/* How so many entries compare with others: whether the actors are the same, and whether some time is newer. */
typedef struct Compared {
  uint32_t differ, newer;
} Compared;

/* Without a branch in the loop, so that the compiler can vectorise it. */
WIDE_CLONES static Compared compare_entries(const VClockEntry *entry, const VClockEntry *other, uint32_t count) {
  Compared compared = {0, 0};
  for (uint32_t i = 0; i < count; i++) {
    compared.differ |= entry[i].actor ^ other[i].actor;
    compared.newer |= entry[i].time > other[i].time ? UINT32_MAX : 0;
  }
  return compared;
}

/* The entries of the clock's actors stand in `other` without others between: *within says whether they are as new. */
static bool is_run_within(const VClock *clock, const VClock *other, bool *within) {
  uint32_t at = clock->count ? clock->entry[0].actor - other->entry[0].actor : 0;
  if (at >= other->count || clock->count > other->count - at)
    return false;
  for (uint32_t done = 0; done < clock->count; done += GRAIN) {
    Compared compared =
        compare_entries(clock->entry + done, other->entry + at + done, MIN(clock->count - done, (uint32_t)GRAIN));
    if (compared.differ)
      return false;
    *within = !compared.newer;
    if (compared.newer)
      break;
  }
  return true;
}

/* True if the large clock `other` has all entries of the clock, none of them older: joined they are the same. */
static bool is_within(const VClock *clock, const VClock *other) {
  bool within = true;
  if (clock->floor != other->floor || other->count < SHARED_MIN || clock->count > other->count)
    return false;
  if (is_run_within(clock, other, &within))
    return within;
  uint32_t i = 0;
  for (uint32_t j = 0; i < clock->count && j < other->count; j++) {
    if (clock->entry[i].actor != other->entry[j].actor)
      continue;
    if (clock->entry[i].time > other->entry[j].time)
      return false;
    i++;
  }
  return i == clock->count;
}

/* Raises the entries that both have; returns how many of `other`, from `first` on, are missing. */
static uint32_t join_common(VClock *clock, const VClock *other, uint32_t first) {
  uint32_t missing = 0;
  for (uint32_t i = 0, j = first; j < other->count; j++) {
    while (i < clock->count && clock->entry[i].actor < other->entry[j].actor)
      i++;
    if (i == clock->count || clock->entry[i].actor != other->entry[j].actor)
      missing++;
    else
      clock->entry[i].time = MAX(clock->entry[i].time, other->entry[j].time);
  }
  return missing;
}

/* The same for clocks with the same actors. Without a branch in the loops, so that the compiler can vectorise them. */
WIDE_CLONES static bool join_alike(VClock *clock, const VClock *other, uint32_t first) {
  uint32_t count = clock->count, differ = 0;
  if (count == 0 || other->count - first != count)
    return false;
  VClockEntry *to = clock->entry;
  const VClockEntry *from = other->entry + first;
  for (uint32_t i = 0; i < count; i++)
    differ |= to[i].actor ^ from[i].actor;
  if (differ)
    return false;
  for (uint32_t i = 0; i < count; i++)
    to[i].time = MAX(to[i].time, from[i].time);
  return true;
}

void vclock_join(VClock *clock, const VClock *other) {
  if (clock == other || (other->count == 0 && other->floor <= clock->floor))
    return;
  if (clock->count == 0 && clock->floor <= other->floor) {
    vclock_assign(clock, other);
    return;
  }
  raise_floor(clock, other->floor);
  if (clock->entry == other->entry && clock->count == other->count)
    return; /* they share them */
  if (is_within(clock, other)) {
    vclock_assign(clock, other);
    return;
  }
  own(clock);
  uint32_t first = clock->floor > other->floor ? vclock_find(other, clock->floor) : 0;
  if (join_alike(clock, other, first))
    return;
  uint32_t missing = join_common(clock, other, first);
  if (missing == 0)
    return;
  reserve(clock, clock->count + missing);
  /* From the end, so that nothing is overwritten before it has moved. */
  uint32_t i = clock->count, j = other->count, to = clock->count + missing;
  clock->count = to;
  while (j > first) {
    if (i > 0 && clock->entry[i - 1].actor >= other->entry[j - 1].actor) {
      j -= clock->entry[i - 1].actor == other->entry[j - 1].actor;
      clock->entry[--to] = clock->entry[--i];
    } else {
      clock->entry[--to] = other->entry[--j];
    }
  }
  bound(clock);
}

void vclock_assign(VClock *clock, const VClock *other) {
  if (clock == other)
    return;
  clock->floor = other->floor;
  if (other->count >= SHARED_MIN) {
    if (clock->entry == other->entry) {
      clock->count = other->count;
      return;
    }
    drop(clock);
    header_of(other->entry)->users++;
    clock->entry = other->entry;
    clock->count = other->count;
    clock->space = other->space;
    return;
  }
  if (is_shared(clock))
    drop(clock);
  reserve(clock, other->count);
  clock->count = other->count;
  if (other->count)
    memcpy(clock->entry, other->entry, other->count * sizeof *clock->entry);
}

static void lower(VClock *clock, uint32_t actor, uint32_t time) {
  uint32_t at = vclock_find(clock, actor);
  if (at == clock->count || clock->entry[at].actor != actor || clock->entry[at].time <= time)
    return;
  own(clock);
  clock->entry[at].time = time;
}

void vclock_join_as_of(VClock *clock, const VClock *other, uint32_t actor, uint32_t time) {
  uint32_t known = vclock_time(clock, actor);
  vclock_join(clock, other);
  if (vclock_time(other, actor) > time)
    lower(clock, actor, MAX(known, time));
}

void vclock_assign_as_of(VClock *clock, const VClock *other, uint32_t actor, uint32_t time) {
  vclock_assign(clock, other);
  lower(clock, actor, time);
}
