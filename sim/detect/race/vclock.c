#include "sim/detect/race/vclock.h"

#include <glib.h>
#include <string.h>

#include "base/wide.h"

/* What stands before the parts. */
typedef struct Header {
  uint64_t users; /* clocks that have them */
} Header;

/* Clocks of fewer parts are copied; arrays grow by so many. */
enum { SHARED_MIN = 3, GRAIN = 4 };

static Header *header_of(VClockPart *part) { return (Header *)(void *)part - 1; }

static VClockPart *resize(VClockPart *part, uint32_t space) {
  Header *header = g_realloc(part ? header_of(part) : NULL, sizeof(Header) + space * sizeof(VClockPart));
  header->users = 1;
  return (VClockPart *)(void *)(header + 1);
}

static bool is_shared(const VClock *clock) { return clock->part && header_of(clock->part)->users > 1; }

/* ---- runs ---- */

static void run_drop(VClockRun *run) {
  if (--run->users == 0)
    g_free(run);
}

static VClockRun *run_copy(const VClockRun *run) {
  VClockRun *copy = g_memdup2(run, sizeof *run);
  copy->users = 1;
  return copy;
}

/* Whether some time of one run is newer than the other's, and the other way round. */
typedef struct Compared {
  bool newer, older;
} Compared;

/* Without a branch in the loop, so that the compiler can vectorise it. */
WIDE_CLONES static Compared run_compare(const VClockRun *run, const VClockRun *other) {
  uint32_t newer = 0, older = 0;
  for (uint32_t i = 0; i < VCLOCK_RUN; i++) {
    newer |= run->time[i] > other->time[i];
    older |= run->time[i] < other->time[i];
  }
  return (Compared){newer, older};
}

/* The newer times of both. Returns how many aren't 0. */
WIDE_CLONES static uint32_t run_join(VClockRun *run, const VClockRun *other) {
  uint32_t known = 0;
  for (uint32_t i = 0; i < VCLOCK_RUN; i++) {
    run->time[i] = MAX(run->time[i], other->time[i]);
    known += run->time[i] != 0;
  }
  return known;
}

/* ---- parts ---- */

/* The clock has none any longer. */
static void drop(VClock *clock) {
  if (clock->part && --header_of(clock->part)->users == 0) {
    for (uint32_t i = 0; i < clock->count; i++)
      run_drop(clock->part[i].run);
    g_free(header_of(clock->part));
  }
  clock->part = NULL;
  clock->count = clock->space = 0;
}

/* The clock is about to change: nobody else has its parts then. */
static void own(VClock *clock) {
  if (!is_shared(clock))
    return;
  VClockPart *part = resize(NULL, clock->count + GRAIN);
  memcpy(part, clock->part, clock->count * sizeof *part);
  for (uint32_t i = 0; i < clock->count; i++)
    part[i].run->users++;
  header_of(clock->part)->users--;
  clock->part = part;
  clock->space = clock->count + GRAIN;
}

/* Times of the part are about to change. */
static VClockPart *own_part(VClock *clock, uint32_t at) {
  own(clock);
  VClockPart *part = &clock->part[at];
  if (part->run->users > 1) {
    part->run->users--;
    part->run = run_copy(part->run);
  }
  return part;
}

static void reserve(VClock *clock, uint32_t count) {
  own(clock);
  if (count <= clock->space)
    return;
  clock->space = count == 1 ? 1 : (count + GRAIN) / GRAIN * GRAIN;
  clock->part = resize(clock->part, clock->space);
}

void vclock_clear(VClock *clock) {
  drop(clock);
  clock->floor = 0;
}

uint32_t vclock_find(const VClock *clock, uint32_t first) {
  uint32_t low = 0, high = clock->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (clock->part[middle].first < first)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Times of actors below the floor aren't kept. */
static void trim(VClock *clock) {
  uint32_t first = clock->floor - clock->floor % VCLOCK_RUN, dropped = vclock_find(clock, first);
  if (dropped) {
    own(clock);
    for (uint32_t i = 0; i < dropped; i++)
      run_drop(clock->part[i].run);
    clock->count -= dropped;
    memmove(clock->part, clock->part + dropped, clock->count * sizeof *clock->part);
  }
  if (clock->count == 0 || clock->part[0].first >= clock->floor)
    return;
  VClockPart *part = own_part(clock, 0);
  for (uint32_t i = 0; i < clock->floor % VCLOCK_RUN; i++) {
    part->known -= part->run->time[i] != 0;
    part->run->time[i] = 0;
  }
}

static void raise_floor(VClock *clock, uint32_t floor) {
  if (floor <= clock->floor)
    return;
  clock->floor = floor;
  trim(clock);
}

static void bound(VClock *clock) {
  if (clock->count <= VCLOCK_MAX / VCLOCK_RUN)
    return;
  uint32_t known = 0, newest = 0, at = clock->count;
  for (uint32_t i = 0; i < clock->count; i++)
    known += clock->part[i].known;
  if (known <= VCLOCK_MAX && clock->count <= VCLOCK_PARTS_MAX)
    return;
  while (at > 0 && newest + clock->part[at - 1].known <= VCLOCK_MAX / 2 && clock->count - at < VCLOCK_PARTS_MAX / 2)
    newest += clock->part[--at].known;
  raise_floor(clock, MIN(at < clock->count ? clock->part[at].first : VCLOCK_PINNED, VCLOCK_PINNED));
  clock->space = clock->count + GRAIN;
  clock->part = resize(clock->part, clock->space);
}

/* ---- what is known ---- */

/* Makes room for the part that begins with `first`, of which nothing is known. */
static void insert(VClock *clock, uint32_t at, uint32_t first) {
  reserve(clock, clock->count + 1);
  memmove(clock->part + at + 1, clock->part + at, (clock->count - at) * sizeof *clock->part);
  VClockRun *run = g_new0(VClockRun, 1);
  run->users = 1;
  clock->part[at] = (VClockPart){.first = first, .run = run};
  clock->count++;
}

void vclock_advance(VClock *clock, uint32_t actor, uint32_t time) {
  if (actor < clock->floor)
    return;
  uint32_t first = actor - actor % VCLOCK_RUN;
  const VClockPart *found = vclock_part(clock, actor);
  uint32_t at = found ? (uint32_t)(found - clock->part) : vclock_find(clock, first);
  if (found && found->run->time[actor % VCLOCK_RUN] >= time)
    return;
  if (!found)
    insert(clock, at, first);
  VClockPart *part = own_part(clock, at);
  uint32_t *known = &part->run->time[actor % VCLOCK_RUN];
  part->known += *known == 0 && time;
  *known = time;
  bound(clock);
}

/* True if the clock knows nothing that `other` doesn't, with the same floor: joined they are the same. */
static bool is_within(const VClock *clock, const VClock *other) {
  if (clock->floor != other->floor || clock->count > other->count)
    return false;
  for (uint32_t i = 0, j = 0; i < clock->count; i++, j++) {
    const VClockPart *part = &clock->part[i];
    while (j < other->count && other->part[j].first < part->first)
      j++;
    if (j == other->count || other->part[j].first != part->first)
      return false;
    if (part->run != other->part[j].run && run_compare(part->run, other->part[j].run).newer)
      return false;
  }
  return true;
}

/* The part learns what that of another clock, of the same actors, knows. */
static void join_part(VClock *clock, uint32_t at, const VClockPart *other) {
  const VClockPart *part = &clock->part[at];
  if (part->run == other->run)
    return;
  Compared compared = run_compare(part->run, other->run);
  if (compared.newer && compared.older) {
    VClockPart *own = own_part(clock, at);
    own->known = run_join(own->run, other->run);
  } else if (!compared.newer) {
    own(clock);
    other->run->users++;
    run_drop(clock->part[at].run);
    clock->part[at] = *other;
  }
}

/* The parts that both have; returns how many of `other`, from `first` on, are missing. */
static uint32_t join_common(VClock *clock, const VClock *other, uint32_t first) {
  uint32_t missing = 0;
  for (uint32_t i = 0, j = first; j < other->count; j++) {
    while (i < clock->count && clock->part[i].first < other->part[j].first)
      i++;
    if (i == clock->count || clock->part[i].first != other->part[j].first)
      missing++;
    else
      join_part(clock, i, &other->part[j]);
  }
  return missing;
}

/* The parts of `other`, from `first` on, that the clock doesn't have. From the end, so that nothing is overwritten
 * before it has moved. */
static void join_missing(VClock *clock, const VClock *other, uint32_t first, uint32_t missing) {
  reserve(clock, clock->count + missing);
  uint32_t i = clock->count, j = other->count, to = clock->count + missing;
  clock->count = to;
  while (j > first) {
    if (i > 0 && clock->part[i - 1].first >= other->part[j - 1].first) {
      j -= clock->part[i - 1].first == other->part[j - 1].first;
      clock->part[--to] = clock->part[--i];
    } else {
      clock->part[--to] = other->part[--j];
      clock->part[to].run->users++;
    }
  }
}

void vclock_join(VClock *clock, const VClock *other) {
  if (clock == other || (other->count == 0 && other->floor <= clock->floor))
    return;
  if (clock->count == 0 && clock->floor <= other->floor) {
    vclock_assign(clock, other);
    return;
  }
  raise_floor(clock, other->floor);
  if (clock->part == other->part)
    return; /* they share them */
  if (other->count >= SHARED_MIN && is_within(clock, other)) {
    vclock_assign(clock, other);
    return;
  }
  uint32_t first = clock->floor > other->floor ? vclock_find(other, clock->floor - clock->floor % VCLOCK_RUN) : 0;
  uint32_t missing = join_common(clock, other, first);
  if (missing)
    join_missing(clock, other, first, missing);
  if (clock->floor > other->floor)
    trim(clock);
  bound(clock);
}

/* Small clocks are copied to what the clock has. */
static void copy_parts(VClock *clock, const VClock *other) {
  if (is_shared(clock) || clock->count > other->count)
    drop(clock);
  uint32_t had = clock->count;
  reserve(clock, other->count);
  clock->count = other->count;
  for (uint32_t i = 0; i < other->count; i++) {
    VClockRun *run = i < had ? clock->part[i].run : NULL;
    clock->part[i] = other->part[i];
    if (run && run->users == 1) {
      memcpy(run->time, other->part[i].run->time, sizeof run->time);
      clock->part[i].run = run;
    } else {
      clock->part[i].run = run_copy(other->part[i].run);
      if (run)
        run_drop(run);
    }
  }
}

void vclock_assign(VClock *clock, const VClock *other) {
  if (clock == other)
    return;
  clock->floor = other->floor;
  if (other->count < SHARED_MIN) {
    copy_parts(clock, other);
    return;
  }
  if (clock->part == other->part)
    return;
  drop(clock);
  header_of(other->part)->users++;
  clock->part = other->part;
  clock->count = other->count;
  clock->space = other->space;
}

static void lower(VClock *clock, uint32_t actor, uint32_t time) {
  const VClockPart *found = vclock_part(clock, actor);
  if (!found || found->run->time[actor % VCLOCK_RUN] <= time)
    return;
  VClockPart *part = own_part(clock, (uint32_t)(found - clock->part));
  part->run->time[actor % VCLOCK_RUN] = time;
  part->known -= time == 0;
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
