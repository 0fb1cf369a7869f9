#include "sim/memory/l1.h"

#include <glib.h>
#include <string.h>

#include "base/four.h"
#include "base/pages.h"
#include "sim/engine/milli.h"
#include "sim/engine/rng.h"
#include "sim/memory/l1_sets.h"
#include "sim/memory/port_queue.h"

typedef struct Sector {
  uint64_t since;   /* read from memory */
  uint32_t fetcher; /* of a pending one: who brings it */
} Sector;

/* Of a group of sets, see group_of(). */
typedef struct GroupDigest {
  uint64_t value; /* when the hash had it last */
  uint32_t watch; /* of which watch that is */
  bool changed;   /* since then */
} GroupDigest;

/* What the hash has of each group. */
typedef struct Digests {
  uint32_t watch;  /* of `changed` */
  GArray *changed; /* uint32_t: groups */
  GroupDigest group[];
} Digests;

/* What a way has beside its line's number. */
typedef struct Line {
  uint32_t valid;   /* its sectors */
  uint32_t pending; /* those on their way */
} Line;

/* A way's place in the order of use: the cache's clock at its last use, 0 if it holds nothing. With this bit it was
 * used since it came, and others of its set go first. */
#define KEPT (UINT64_C(1) << 63)

enum { NO_LINE = UINT32_MAX, GROUP_SETS = 8 };

struct L1 {
  uint32_t line_bytes, sector_bytes, sectors, sets, ways;
  uint32_t most_kept;   /* lines of a set */
  uint32_t room, taken; /* lines that there is memory for; that hold something */
  L1Shape shape;
  uint64_t reciprocal; /* of sets: 2^64 / sets, rounded up; 0: they are hashed */
  bool comes_as_one;   /* l1_comes_as_one() */
  bool updates;        /* a store updates the own copy; else it evicts it */
  uint32_t absent;     /* tag of a line that was looked up last and isn't there; 0: none, or it may be there now */
  uint32_t newest;     /* the line found last; NO_LINE: none yet. Lanes of a warp come to the same one in a row */
  uint64_t clock;      /* counts uses */
  uint64_t emptied;    /* what was used last by then isn't held any longer */
  uint32_t *tag;       /* of each way, by set: byte address / line size + 1; 0: it never held anything */
  uint64_t *used;      /* in the same order: when, see KEPT */
  Line *lines;
  Sector *sector; /* `sectors` for each line */
  uint32_t *data;
  uint64_t salt; /* of the hash: the SM */
  L1Hash *hash;
  Digests *digests;    /* NULL: none yet */
  uint64_t free_milli; /* after the turns so far */
  bool one_array;      /* with shared memory */
  PortQueues queues;   /* when turns are over; empty: any number of accesses may wait */
};

/* Where its arrays lie in its memory, each from the start of a line of the host's cache. */
typedef struct Places {
  size_t used, lines, sector, data, end;
} Places;

static size_t behind(size_t at, size_t bytes) { return (at + bytes + HOST_LINE - 1) / HOST_LINE * HOST_LINE; }

/* As many as hold the lines of so many bytes: what a carveout leaves needn't fill the last way of each. */
static uint32_t sets_of(const Machine *machine, uint32_t bytes) {
  uint32_t lines = bytes / machine->sm.l1.line, ways = machine->sm.l1.ways;
  return machine->sm.l1.sets ? machine->sm.l1.sets : MAX((lines + ways - 1) / ways, 1u);
}

static Places places_of(const Machine *machine, uint32_t bytes) {
  size_t lines = (size_t)sets_of(machine, bytes) * machine->sm.l1.ways;
  Places places = {.used = behind(0, lines * sizeof(uint32_t))};
  places.lines = behind(places.used, lines * sizeof(uint64_t));
  places.sector = behind(places.lines, lines * sizeof(Line));
  places.data = behind(places.sector, lines * (machine->sm.l1.line / machine->sm.l1.sector) * sizeof(Sector));
  places.end = behind(places.data, lines * machine->sm.l1.line);
  return places;
}

size_t l1_memory_bytes(const Machine *machine, uint32_t bytes) { return places_of(machine, bytes).end; }

L1 *l1_new(const Machine *machine, uint32_t bytes, void *memory, uint32_t sm, L1Hash *hash) {
  L1 *l1 = g_new0(L1, 1);
  l1->line_bytes = machine->sm.l1.line;
  l1->sector_bytes = machine->sm.l1.sector;
  l1->sectors = l1->line_bytes / l1->sector_bytes;
  l1->shape = (L1Shape){(uint32_t)__builtin_ctz(l1->line_bytes), (uint32_t)__builtin_ctz(l1->sector_bytes)};
  l1->ways = machine->sm.l1.ways;
  l1->one_array = machine->sm.l1.carveout != CARVEOUT_NONE;
  l1->sets = sets_of(machine, bytes);
  l1->room = MAX(MIN(bytes / l1->line_bytes, l1->sets * l1->ways), 1u);
  l1->most_kept = machine->sm.l1.kept_ways;
  l1->reciprocal = machine->sm.l1.set_hash == L1_SETS_IN_TURN ? UINT64_MAX / l1->sets + 1 : 0;
  l1->comes_as_one = !machine->memory.slices || l1->line_bytes <= machine->memory.l2.line;
  l1->updates = machine->sm.l1.global_stores == L1_UPDATE;
  l1->newest = NO_LINE;
  Places places = places_of(machine, bytes);
  char *start = memory;
  l1->tag = memory;
  l1->used = (uint64_t *)(void *)(start + places.used);
  l1->lines = (Line *)(void *)(start + places.lines);
  l1->sector = (Sector *)(void *)(start + places.sector);
  l1->data = (uint32_t *)(void *)(start + places.data);
  l1->salt = rng_mix(sm + 1);
  l1->hash = hash;
  if (machine->memory.port.queue)
    port_queues_make(&l1->queues, machine->sm.schedulers, machine->memory.port.queue);
  return l1;
}

static Digests *new_digests(uint32_t groups) {
  Digests *digests = g_malloc0(sizeof(Digests) + groups * sizeof(GroupDigest));
  digests->changed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  return digests;
}

static void free_digests(Digests *digests) {
  g_array_unref(digests->changed);
  g_free(digests);
}

void l1_free(L1 *l1) {
  if (!l1)
    return;
  if (l1->digests)
    free_digests(l1->digests);
  port_queues_clear(&l1->queues);
  g_free(l1);
}

L1Turn l1_take(L1 *l1, uint32_t scheduler, uint64_t now, uint64_t takes_milli, uint64_t array_takes,
               uint64_t *array_milli) {
  if (l1->one_array)
    l1->free_milli = MAX(l1->free_milli, *array_milli);
  L1Turn turn = {milli_serve(&l1->free_milli, now, takes_milli), 0};
  if (l1->one_array)
    *array_milli = turn.start_milli + array_takes;
  if (l1->queues.leaves)
    turn.room = milli_cycle(port_queues_take(&l1->queues, scheduler, l1->free_milli));
  return turn;
}

bool l1_comes_as_one(const L1 *l1) { return l1->comes_as_one; }

/* ---- places ---- */

const L1Shape *l1_shape(const L1 *l1) { return &l1->shape; }

/* number % sets without a division, for numbers of 32 bits: addresses have 39 at most. */
static uint32_t set_number(const L1 *l1, uint64_t number) {
  if (!l1->reciprocal)
    return l1_sets_hashed(number) & (l1->sets - 1);
  uint64_t fraction = l1->reciprocal * (uint32_t)number;
  return (uint32_t)(((unsigned __int128)fraction * l1->sets) >> 64);
}

/* The first way of the set that the line belongs to. */
static uint32_t set_of(const L1 *l1, uint64_t number) { return set_number(l1, number) * l1->ways; }

static uint64_t time_of_use(const L1 *l1, uint32_t at) { return l1->used[at] & ~KEPT; }

static bool is_taken(const L1 *l1, uint32_t at) { return time_of_use(l1, at) > l1->emptied; }

/* Where the line of an address lies; NO_LINE: it isn't there. */
static uint32_t find_line(const L1 *l1, uint64_t address) {
  uint64_t number = l1_line(&l1->shape, address);
  uint32_t tag = (uint32_t)number + 1, newest = l1->newest;
  if (newest != NO_LINE && l1->tag[newest] == tag && is_taken(l1, newest))
    return newest;
  if (l1->absent == tag)
    return NO_LINE;
  uint32_t at = set_of(l1, number), end = at + l1->ways;
  if (l1->ways == 4) {
    for (uint32_t same = four_equal(&l1->tag[at], tag); same; same &= same - 1)
      if (is_taken(l1, at + (uint32_t)__builtin_ctz(same)))
        return at + (uint32_t)__builtin_ctz(same);
    return NO_LINE;
  }
  for (; at < end; at++)
    if (l1->tag[at] == tag && is_taken(l1, at))
      return at;
  return NO_LINE;
}

static Sector *sector_at(const L1 *l1, uint32_t line, uint64_t address) {
  return &l1->sector[(size_t)line * l1->sectors + ((address & (l1->line_bytes - 1)) >> l1->shape.sector_shift)];
}

static uint32_t *word_at(const L1 *l1, uint32_t line, uint64_t address) {
  return &l1->data[(((size_t)line << l1->shape.line_shift) + (address & (l1->line_bytes - 1))) / 4];
}

static uint32_t sector_mask(const L1 *l1, uint64_t address, uint32_t bytes) {
  return l1_sectors(&l1->shape, address, bytes);
}

/* The one sector of an address. */
static uint32_t sector_bit(const L1 *l1, uint64_t address) {
  return 1u << ((address & (l1->line_bytes - 1)) >> l1->shape.sector_shift);
}

/* ---- the hash: contents of the sets, and within a group of them the order of use, which says who goes next ---- */

static uint64_t digest_line(const L1 *l1, uint32_t at, uint32_t younger) {
  const Line *line = &l1->lines[at];
  uint64_t order = rng_mix(2 * younger + (l1->used[at] & KEPT ? 2 : 1));
  uint64_t hash = rng_mix(l1->salt ^ (l1->tag[at] - 1u) ^ order ^ (uint64_t)line->pending << 32);
  for (uint32_t rest = line->valid; rest; rest &= rest - 1) {
    uint32_t offset = (uint32_t)__builtin_ctz(rest) * l1->sector_bytes;
    for (uint32_t end = offset + l1->sector_bytes; offset < end; offset += 4)
      hash = rng_mix(hash ^ ((uint64_t)offset << 32 | *word_at(l1, at, offset)));
  }
  return hash;
}

/* Sets beside each other: a line that finds no memory takes that of one of them, see make_room(). */
typedef struct Group {
  uint32_t first, end; /* ways */
} Group;

static Group group_of(const L1 *l1, uint32_t set) {
  uint32_t first = set / GROUP_SETS * GROUP_SETS;
  return (Group){first * l1->ways, MIN(first + GROUP_SETS, l1->sets) * l1->ways};
}

static G_GNUC_NO_INLINE uint64_t digest_group(const L1 *l1, Group group) {
  uint64_t hash = 0;
  for (uint32_t at = group.first; at < group.end; at++) {
    if (!is_taken(l1, at))
      continue;
    uint32_t younger = 0;
    for (uint32_t other = group.first; other < group.end; other++)
      younger += is_taken(l1, other) && time_of_use(l1, other) > time_of_use(l1, at);
    hash ^= digest_line(l1, at, younger);
  }
  return hash;
}

/* A group changes, of which the hash has its state before. */
static G_GNUC_NO_INLINE void note_group(L1 *l1, uint32_t index) {
  if (!l1->digests)
    l1->digests = new_digests((l1->sets + GROUP_SETS - 1) / GROUP_SETS);
  Digests *digests = l1->digests;
  if (digests->watch != l1->hash->watch) {
    digests->watch = l1->hash->watch;
    g_array_set_size(digests->changed, 0);
  }
  GroupDigest *digest = &digests->group[index];
  if (digest->watch != digests->watch)
    *digest = (GroupDigest){.value = digest_group(l1, group_of(l1, index * GROUP_SETS)), .watch = digests->watch};
  if (digest->changed)
    return;
  digest->changed = true;
  g_array_append_val(digests->changed, index);
  l1->hash->changed++;
}

void l1_settle_hash(L1 *l1) {
  Digests *digests = l1->digests;
  if (!digests || digests->watch != l1->hash->watch)
    return;
  for (guint i = 0; i < digests->changed->len; i++) {
    uint32_t index = g_array_index(digests->changed, uint32_t, i);
    GroupDigest *digest = &digests->group[index];
    uint64_t now = digest_group(l1, group_of(l1, index * GROUP_SETS));
    *l1->hash->value ^= digest->value ^ now;
    digest->value = now;
    digest->changed = false;
  }
  l1->hash->changed -= digests->changed->len;
  g_array_set_size(digests->changed, 0);
}

/* Before each change of the set of that address. */
static inline void will_change(L1 *l1, uint64_t address) {
  if (G_UNLIKELY(l1->hash->watch))
    note_group(l1, set_number(l1, l1_line(&l1->shape, address)) / GROUP_SETS);
}

/* ---- use ---- */

/* The line of [first, end) that goes next, and holds something: used longest ago, and none that is kept if there are
 * others. NO_LINE: none holds anything. */
static uint32_t next_to_go(const L1 *l1, uint32_t first, uint32_t end) {
  uint32_t found = NO_LINE;
  uint64_t least = UINT64_MAX;
  for (uint32_t at = first; at < end; at++)
    if (l1->used[at] < least && is_taken(l1, at)) {
      least = l1->used[at];
      found = at;
    }
  return found;
}

/* A line of the set is used again. It is kept; if that is one too many, the one of them that was used longest ago
 * isn't, and counts as used just now among the others. */
static void keep(L1 *l1, uint32_t line) {
  uint32_t first = line / l1->ways * l1->ways, kept = 0, oldest = line;
  l1->used[line] |= KEPT;
  for (uint32_t at = first; at < first + l1->ways; at++)
    if (is_taken(l1, at) && l1->used[at] & KEPT) {
      kept++;
      oldest = l1->used[at] < l1->used[oldest] ? at : oldest;
    }
  if (kept > l1->most_kept)
    l1->used[oldest] = ++l1->clock;
}

static void use_again(L1 *l1, uint32_t line) {
  uint64_t kept = l1->used[line] & KEPT;
  l1->used[line] = ++l1->clock | kept;
  l1->newest = line;
  if (l1->most_kept && !kept)
    keep(l1, line);
}

void l1_prefetch(const L1 *l1, uint64_t address) {
  uint64_t number = l1_line(&l1->shape, address);
  uint32_t first = set_of(l1, number), tag = (uint32_t)number + 1;
  for (uint32_t at = first; at < first + l1->ways; at++)
    if (l1->tag[at] == tag) {
      __builtin_prefetch(&l1->used[at], 1);
      __builtin_prefetch(&l1->lines[at], 1);
      __builtin_prefetch(&l1->sector[(size_t)at * l1->sectors], 1);
      __builtin_prefetch(word_at(l1, at, 0), 1);
      __builtin_prefetch(word_at(l1, at, l1->line_bytes / 2), 1);
    }
}

L1Look l1_look(L1 *l1, uint64_t address) {
  uint32_t line = find_line(l1, address);
  if (line == NO_LINE) {
    l1->absent = (uint32_t)l1_line(&l1->shape, address) + 1;
    return (L1Look){0};
  }
  l1->newest = line;
  return (L1Look){.words = word_at(l1, line, 0), .valid = l1->lines[line].valid, .pending = l1->lines[line].pending};
}

void l1_use(L1 *l1, uint64_t address) {
  will_change(l1, address);
  use_again(l1, find_line(l1, address));
}

uint64_t l1_since(const L1 *l1, uint64_t address) { return sector_at(l1, find_line(l1, address), address)->since; }

bool l1_peek(const L1 *l1, uint64_t address, uint32_t *word) {
  uint32_t line = find_line(l1, address);
  if (line == NO_LINE || !(l1->lines[line].valid & sector_mask(l1, address, 4)))
    return false;
  *word = *word_at(l1, line, address);
  return true;
}

bool l1_has_line(const L1 *l1, uint64_t address) { return find_line(l1, address) != NO_LINE; }

uint64_t l1_set(const L1 *l1, uint64_t address) { return set_number(l1, l1_line(&l1->shape, address)); }

uint32_t l1_room(const L1 *l1, uint64_t address) {
  uint32_t first = set_of(l1, l1_line(&l1->shape, address)), room = 0;
  for (uint32_t at = first; at < first + l1->ways; at++)
    room += !is_taken(l1, at);
  return room;
}

uint32_t l1_spare(const L1 *l1) { return l1->room < l1->sets * l1->ways ? l1->room - l1->taken : UINT32_MAX; }

/* All memory is taken: some line goes, of sets that the number of the new one says. Theirs are as good as any: an
 * H200 drives out lines of any set (validation/hardware/mem_sets.cu), and with groups of 8 sets circles that are too
 * large miss as there, within 7 of 100 loads. */
static void make_room(L1 *l1, uint64_t number) {
  uint32_t groups = (l1->sets + GROUP_SETS - 1) / GROUP_SETS, chosen = (uint32_t)(rng_mix(number) % groups), goes;
  Group group;
  do {
    group = group_of(l1, chosen * GROUP_SETS);
    goes = next_to_go(l1, group.first, group.end);
    chosen = chosen + 1 < groups ? chosen + 1 : 0;
  } while (goes == NO_LINE);
  if (G_UNLIKELY(l1->hash->watch))
    note_group(l1, group.first / l1->ways / GROUP_SETS);
  l1->used[goes] = 0;
  l1->taken--;
}

/* The first of [first, end) that holds nothing; `end` if there is none. */
static uint32_t find_empty(const L1 *l1, uint32_t first, uint32_t end) {
  while (first < end && is_taken(l1, first))
    first++;
  return first;
}

/* A line for an address that has none: one that holds nothing, else the next of its set to go. It is used now. */
static uint32_t claim_line(L1 *l1, uint64_t address) {
  uint64_t number = l1_line(&l1->shape, address);
  uint32_t first = set_of(l1, number), end = first + l1->ways, at = find_empty(l1, first, end);
  if (at < end && l1->taken == l1->room) {
    make_room(l1, number);
    at = find_empty(l1, first, end);
  }
  if (at < end)
    l1->taken++;
  else
    at = next_to_go(l1, first, end);
  l1->tag[at] = (uint32_t)number + 1;
  l1->absent = 0;
  l1->lines[at] = (Line){0};
  l1->used[at] = ++l1->clock;
  l1->newest = at;
  return at;
}

bool l1_pending(const L1 *l1, uint64_t address, uint32_t *fetcher) {
  uint32_t line = find_line(l1, address);
  if (line == NO_LINE || !(l1->lines[line].pending & sector_bit(l1, address)))
    return false;
  *fetcher = sector_at(l1, line, address)->fetcher;
  return true;
}

void l1_expect(L1 *l1, uint64_t address, uint32_t sectors, uint32_t fetcher) {
  will_change(l1, address);
  uint32_t line = find_line(l1, address);
  if (line == NO_LINE)
    line = claim_line(l1, address);
  else
    use_again(l1, line);
  Sector *sector = &l1->sector[(size_t)line * l1->sectors];
  l1->lines[line].pending |= sectors;
  for (uint32_t rest = sectors; rest; rest &= rest - 1)
    sector[__builtin_ctz(rest)].fetcher = fetcher;
}

/* Of pending sectors: those that `fetcher` brings. They were read then. */
static uint32_t take_sectors(Sector *sector, uint32_t pending, uint32_t fetcher, uint64_t since) {
  uint32_t come = 0;
  for (uint32_t rest = pending; rest; rest &= rest - 1) {
    Sector *own = &sector[__builtin_ctz(rest)];
    if (own->fetcher == fetcher) {
      own->since = since;
      come |= rest & -rest;
    }
  }
  return come;
}

/* Some of the sectors that lie behind each other from `start` on. */
static void copy_sectors(const L1 *l1, uint32_t line, uint32_t sectors, uint64_t start, const uint32_t *words) {
  uint32_t first = (uint32_t)(start & (l1->line_bytes - 1));
  for (uint32_t rest = sectors; rest; rest &= rest - 1) {
    uint32_t offset = (uint32_t)__builtin_ctz(rest) * l1->sector_bytes;
    memcpy(word_at(l1, line, offset), &words[(offset - first) / 4], l1->sector_bytes);
  }
}

void l1_fill(L1 *l1, uint64_t start, uint32_t bytes, uint32_t fetcher, const uint32_t *words, uint64_t since) {
  uint32_t at = find_line(l1, start), mask = sector_mask(l1, start, bytes);
  if (at == NO_LINE)
    return;
  Line *line = &l1->lines[at];
  will_change(l1, start);
  uint32_t come = take_sectors(&l1->sector[(size_t)at * l1->sectors], line->pending & mask, fetcher, since);
  l1->newest = at; /* the next sector is often its, too */
  line->pending &= ~come;
  line->valid |= come;
  if (come == mask)
    memcpy(word_at(l1, at, start), words, bytes);
  else
    copy_sectors(l1, at, come, start, words);
}

/* The bytes of a word, by bit, as a mask of its bits. */
static uint32_t wide_mask(uint32_t bytes) {
  return (bytes & 1 ? 0xffu : 0) | (bytes & 2 ? 0xff00u : 0) | (bytes & 4 ? 0xff0000u : 0) |
         (bytes & 8 ? 0xff000000u : 0);
}

/* Sectors of a line are stored to: those that don't stay are given up. Returns the others. */
static uint32_t stay(L1 *l1, uint32_t at, uint64_t address, uint32_t sectors) {
  const Line *line = &l1->lines[at];
  uint32_t go = l1->updates ? line->pending & sectors : sectors;
  if (go & (line->valid | line->pending))
    l1_evict(l1, address, go);
  return line->valid & sectors;
}

bool l1_update(L1 *l1, uint64_t address, uint32_t word, uint32_t mask) {
  uint32_t line = find_line(l1, address);
  if (line == NO_LINE || !stay(l1, line, address, sector_bit(l1, address)))
    return false;
  will_change(l1, address);
  uint32_t *copy = word_at(l1, line, address), own = mask == 15 ? UINT32_MAX : wide_mask(mask);
  *copy = (*copy & ~own) | (word & own);
  return true;
}

bool l1_update_words(L1 *l1, uint64_t address, const uint32_t *words, uint32_t count) {
  uint32_t line = find_line(l1, address), sectors = sector_mask(l1, address, 4 * count);
  uint32_t there = line == NO_LINE ? 0 : stay(l1, line, address, sectors);
  if (!there)
    return false;
  will_change(l1, address);
  uint32_t *copy = word_at(l1, line, address);
  if (there == sectors)
    memcpy(copy, words, 4 * (size_t)count);
  for (uint32_t i = 0; i < count && there != sectors; i++)
    if (sector_bit(l1, address + 4 * i) & there)
      copy[i] = words[i];
  return true;
}

void l1_evict(L1 *l1, uint64_t address, uint32_t sectors) {
  uint32_t line = find_line(l1, address);
  if (line == NO_LINE)
    return;
  will_change(l1, address);
  Line *held = &l1->lines[line];
  held->valid &= ~sectors;
  held->pending &= ~sectors;
  if (held->valid | held->pending)
    return;
  l1->used[line] = 0;
  l1->taken--;
}

void l1_invalidate(L1 *l1) {
  for (uint32_t set = 0; l1->hash->watch && set < l1->sets; set += GROUP_SETS)
    note_group(l1, set / GROUP_SETS);
  l1->emptied = l1->clock;
  l1->taken = 0;
}
