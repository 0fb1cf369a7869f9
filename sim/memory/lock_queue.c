#include "sim/memory/lock_queue.h"

#include <glib.h>
#include <string.h>

#include "sim/engine/rng.h"

enum { NO_SM = UINT32_MAX };

/* What an L1 knows of a lock. */
typedef enum { ENTRY_NONE, ENTRY_ASKED, ENTRY_QUEUED, ENTRY_OWNER } EntryState;
typedef struct Entry {
  uint8_t state; /* EntryState */
  bool waiting;  /* some lane was told to wait since a lane took it last */
} Entry;

typedef struct Lock {
  uint64_t address;
  uint64_t since, until; /* with an owner: when its L1 has it; until when it is kept while nobody holds it */
  uint64_t free_at;      /* without: the L2 has it from then on */
  uint32_t owner;        /* SM; NO_SM: the L2 has it */
  uint32_t handovers;    /* in a row, from lane to lane of the owner */
  uint32_t entries;      /* L1s that know it */
  uint32_t queued;       /* SMs in `queue`, the next one first */
  bool entered;          /* the owner's L1 knows it; else the lane that holds it has only the word */
  bool held;             /* by a lane */
  bool tagged;           /* it has a way in the L2 */
  Entry *entry;          /* of each SM */
  uint32_t *queue;
} Lock;

/* Ways that locks may take, set by set; NULL: free. */
typedef struct LockTags {
  Lock **way;
  uint32_t sets, ways, line;
} LockTags;

struct LockQueues {
  uint32_t sms, interval, keep, handovers, grant_latency;
  GHashTable *locks; /* address -> Lock */
  GPtrArray *spare;  /* Lock *, for the next ones */
  LockTags *l1;      /* of each SM */
  LockTags l2;
  uint64_t *free_at; /* of each SM: when its tags can be looked up again */
  Counters *counters;
};

/* ---- making ---- */

static void tags_make(LockTags *tags, uint32_t bytes, uint32_t line, uint32_t all_ways, uint32_t ways) {
  *tags = (LockTags){.sets = bytes / line / all_ways, .ways = ways, .line = line};
  tags->way = g_new0(Lock *, (gsize)tags->sets * ways);
}

LockQueues *lock_queues_new(const Machine *machine, Counters *counters) {
  uint32_t sms = machine->gpu.sms;
  if (!machine->sm.lock_queue.l1_ways)
    return NULL;
  LockQueues *queues = g_new0(LockQueues, 1);
  *queues = (LockQueues){.sms = sms,
                         .interval = machine->sm.lock_queue.interval,
                         .keep = machine->sm.lock_queue.keep,
                         .handovers = machine->sm.lock_queue.handovers,
                         .grant_latency = machine->sm.lock_queue.grant_latency,
                         .locks = g_hash_table_new(g_int64_hash, g_int64_equal),
                         .spare = g_ptr_array_new(),
                         .l1 = g_new0(LockTags, sms),
                         .free_at = g_new0(uint64_t, sms),
                         .counters = counters};
  for (uint32_t i = 0; i < sms; i++)
    tags_make(&queues->l1[i], machine->sm.l1.bytes, machine->sm.l1.line, machine->sm.l1.ways,
              machine->sm.lock_queue.l1_ways);
  tags_make(&queues->l2, machine->memory.l2.bytes, machine->memory.l2.line, machine->memory.l2.ways,
            machine->sm.lock_queue.l2_ways);
  return queues;
}

static void lock_free(Lock *lock) {
  g_free(lock->entry);
  g_free(lock->queue);
  g_free(lock);
}

void lock_queues_free(LockQueues *queues) {
  if (!queues)
    return;
  GHashTableIter at;
  gpointer lock;
  for (g_hash_table_iter_init(&at, queues->locks); g_hash_table_iter_next(&at, NULL, &lock);)
    lock_free(lock);
  g_hash_table_destroy(queues->locks);
  for (guint i = 0; i < queues->spare->len; i++)
    lock_free(g_ptr_array_index(queues->spare, i));
  g_ptr_array_free(queues->spare, TRUE);
  for (uint32_t i = 0; i < queues->sms; i++)
    g_free(queues->l1[i].way);
  g_free(queues->l1);
  g_free(queues->l2.way);
  g_free(queues->free_at);
  g_free(queues);
}

/* ---- locks and their tags ---- */

static Lock *find(const LockQueues *queues, uint64_t address) { return g_hash_table_lookup(queues->locks, &address); }

static Lock *find_or_make(LockQueues *queues, uint64_t address) {
  Lock *lock = find(queues, address);
  if (lock)
    return lock;
  if (queues->spare->len) {
    lock = g_ptr_array_steal_index_fast(queues->spare, queues->spare->len - 1);
  } else {
    lock = g_new0(Lock, 1);
    lock->entry = g_new0(Entry, queues->sms);
    lock->queue = g_new0(uint32_t, queues->sms);
  }
  *lock = (Lock){.address = address, .owner = NO_SM, .entry = lock->entry, .queue = lock->queue};
  g_hash_table_insert(queues->locks, &lock->address, lock);
  return lock;
}

/* Nobody knows it any longer: the word is all there is. */
static void forget(LockQueues *queues, Lock *lock, uint64_t now) {
  if (lock->owner != NO_SM || lock->entries || lock->free_at > now)
    return;
  g_hash_table_remove(queues->locks, &lock->address);
  g_ptr_array_add(queues->spare, lock);
}

static Lock **set_of(const LockTags *tags, uint64_t address) {
  return tags->sets ? &tags->way[address / tags->line % tags->sets * tags->ways] : NULL;
}

static Lock **way_of(const LockTags *tags, uint64_t address, const Lock *lock) {
  Lock **set = set_of(tags, address);
  for (uint32_t way = 0; set && way < tags->ways; way++)
    if (set[way] == lock)
      return &set[way];
  return NULL;
}

static void settle(LockQueues *queues, Lock *lock, uint64_t now);

/* A way of the set for the lock. False: others have all of them. */
static bool claim(LockQueues *queues, const LockTags *tags, Lock *lock, uint64_t now) {
  Lock **way = way_of(tags, lock->address, NULL), **set = set_of(tags, lock->address);
  for (uint32_t i = 0; !way && set && i < tags->ways; i++) {
    settle(queues, set[i], now);
    way = set[i] ? NULL : &set[i];
  }
  if (way)
    *way = lock;
  return way != NULL;
}

static void drop_entry(LockQueues *queues, Lock *lock, uint32_t sm) {
  Entry *entry = &lock->entry[sm];
  if (entry->state == ENTRY_NONE)
    return;
  *entry = (Entry){0};
  lock->entries--;
  *way_of(&queues->l1[sm], lock->address, lock) = NULL;
}

/* ---- who has it ---- */

/* The L2 has the lock, in cycle `at`: the next SM gets it. */
static void hand_on(LockQueues *queues, Lock *lock, uint64_t at) {
  lock->held = lock->entered = false;
  lock->owner = NO_SM;
  lock->handovers = 0;
  lock->free_at = at;
  if (!lock->queued) {
    if (lock->tagged)
      *way_of(&queues->l2, lock->address, lock) = NULL;
    lock->tagged = false;
    return;
  }
  lock->owner = lock->queue[0];
  lock->queued--;
  memmove(lock->queue, lock->queue + 1, lock->queued * sizeof *lock->queue);
  lock->entered = true;
  lock->entry[lock->owner].state = ENTRY_OWNER;
  lock->since = at + queues->grant_latency;
  lock->until = lock->since + queues->keep;
  queues->counters->tags_grants++;
}

/* What has happened by itself: SMs whose lanes didn't come for the lock have given it back. */
static void settle(LockQueues *queues, Lock *lock, uint64_t now) {
  while (lock->entered && !lock->held && lock->until <= now) {
    queues->counters->tags_lapses++;
    drop_entry(queues, lock, lock->owner);
    hand_on(queues, lock, lock->until + queues->grant_latency);
  }
  forget(queues, lock, now);
}

/* ---- L1 ---- */

uint64_t lock_queues_look_up(LockQueues *queues, uint32_t sm, uint32_t locks, uint64_t now) {
  uint64_t *free_at = &queues->free_at[sm];
  *free_at = MAX(*free_at, now) + (uint64_t)locks * queues->interval;
  return *free_at;
}

/* The SM's first lane: asks, with an entry if there is room. */
static LockAnswer ask_first(LockQueues *queues, uint32_t sm, uint64_t address, uint64_t now) {
  Lock *lock = find_or_make(queues, address);
  if (claim(queues, &queues->l1[sm], lock, now)) {
    lock->entry[sm] = (Entry){.state = ENTRY_ASKED};
    lock->entries++;
  } else {
    queues->counters->tags_untagged++;
    forget(queues, lock, now);
  }
  return LOCK_ASK;
}

/* As of now: settling it may end its record. NULL: there is none. */
static Lock *find_settled(LockQueues *queues, uint64_t address, uint64_t now) {
  Lock *lock = find(queues, address);
  if (lock)
    settle(queues, lock, now);
  return find(queues, address);
}

LockAnswer lock_queues_try(LockQueues *queues, uint32_t sm, uint64_t address, bool free, uint64_t now) {
  Lock *lock = find_settled(queues, address, now);
  Entry *entry = lock ? &lock->entry[sm] : NULL;
  if (!entry || entry->state == ENTRY_NONE)
    return ask_first(queues, sm, address, now);
  if (entry->state != ENTRY_OWNER || lock->held || now < lock->since || !free) {
    entry->waiting = true;
    queues->counters->tags_waits++;
    return LOCK_WAIT;
  }
  lock->held = true;
  entry->waiting = false;
  queues->counters->tags_local++;
  return LOCK_TAKEN;
}

bool lock_queues_release(LockQueues *queues, uint32_t sm, uint64_t address, uint64_t now) {
  Lock *lock = find(queues, address);
  if (!lock || !lock->held || lock->owner != sm || !lock->entered)
    return false;
  Entry *entry = &lock->entry[sm];
  if (entry->waiting && (!lock->queued || lock->handovers < queues->handovers)) {
    lock->held = entry->waiting = false;
    lock->handovers++;
    lock->since = now;
    lock->until = now + queues->keep;
    queues->counters->tags_handovers++;
    return true;
  }
  drop_entry(queues, lock, sm);
  lock->entered = false;
  return false;
}

/* ---- L2 ---- */

/* The lock is free: the lane has it, and its L1, if that asked. Without a way in the L2, the lane alone. */
static bool grant(LockQueues *queues, Lock *lock, uint32_t sm, uint64_t now) {
  lock->tagged = lock->tagged || claim(queues, &queues->l2, lock, now);
  queues->counters->tags_asks++;
  if (!lock->tagged) {
    queues->counters->tags_untagged++;
    drop_entry(queues, lock, sm);
  }
  lock->owner = sm;
  lock->held = true;
  lock->entered = lock->entry[sm].state != ENTRY_NONE;
  if (lock->entered)
    lock->entry[sm].state = ENTRY_OWNER;
  return true;
}

bool lock_queues_ask(LockQueues *queues, uint32_t sm, uint64_t address, bool free, uint64_t now) {
  Lock *lock = find_settled(queues, address, now);
  lock = lock ? lock : find_or_make(queues, address);
  Entry *entry = &lock->entry[sm];
  if (lock->owner == NO_SM && free && lock->free_at <= now)
    return grant(queues, lock, sm, now);
  bool taken = lock->owner != NO_SM || lock->free_at > now;
  if (entry->state == ENTRY_ASKED && lock->tagged && taken) {
    entry->state = ENTRY_QUEUED;
    lock->queue[lock->queued++] = sm;
  } else if (entry->state == ENTRY_ASKED) {
    drop_entry(queues, lock, sm);
  }
  queues->counters->tags_refusals++;
  forget(queues, lock, now);
  return false;
}

void lock_queues_give_back(LockQueues *queues, uint32_t sm, uint64_t address, uint64_t now) {
  (void)sm;
  Lock *lock = find(queues, address);
  if (!lock || !lock->held)
    return;
  if (lock->entered)
    drop_entry(queues, lock, lock->owner);
  hand_on(queues, lock, now);
  forget(queues, lock, now);
}

/* ---- for who compares states ---- */

static uint64_t digest_lock(const LockQueues *queues, const Lock *lock) {
  uint64_t hash = rng_mix(lock->address ^ (uint64_t)lock->owner << 32);
  hash = rng_mix(hash ^ lock->handovers ^ (uint64_t)lock->entered << 32 ^ (uint64_t)lock->held << 33);
  for (uint32_t i = 0; i < lock->queued; i++)
    hash = rng_mix(hash ^ lock->queue[i]);
  for (uint32_t i = 0; i < queues->sms; i++)
    if (lock->entry[i].state != ENTRY_NONE)
      hash = rng_mix(hash ^ i ^ (uint64_t)lock->entry[i].state << 32 ^ (uint64_t)lock->entry[i].waiting << 40);
  return hash;
}

uint64_t lock_queues_digest(const LockQueues *queues) {
  uint64_t sum = 0;
  GHashTableIter at;
  gpointer lock;
  if (!queues)
    return 0;
  for (g_hash_table_iter_init(&at, queues->locks); g_hash_table_iter_next(&at, NULL, &lock);)
    sum += digest_lock(queues, lock);
  return sum;
}

bool lock_queues_are_still(const LockQueues *queues, uint64_t now) {
  GHashTableIter at;
  gpointer value;
  if (!queues)
    return true;
  for (g_hash_table_iter_init(&at, queues->locks); g_hash_table_iter_next(&at, NULL, &value);) {
    const Lock *lock = value;
    if (lock->owner == NO_SM ? lock->free_at > now : !lock->held)
      return false;
  }
  return true;
}
