#include "sim/study/lock_times.h"

#include "sim/detect/race/polling.h"
#include "sim/engine/milli.h"
#include "sim/engine/rng.h"

/* Fences that are kept of each lane: the next one may begin before the unlock behind the last is performed. */
enum { FENCES = 2 };

typedef struct Lock {
  LockTime time; /* first: LockTime * of the header */
  bool held, awaited, was_freed;
  uint64_t taken;            /* when the owner's try was performed; thousandths, as all */
  uint64_t freed[TRANSFERS]; /* by the last owner, if `was_freed` */
  bool counts;               /* somebody waited then */
} Lock;

typedef struct WarpFences {
  ThreadId thread;
  uint64_t begun[FENCES][32]; /* the newest first */
} WarpFences;

/* Locks that an access under way has taken: they are its owner's when its reply is back. */
typedef struct Taking {
  const MemRequest *request;
  GArray *locks; /* Arrival */
} Taking;
typedef struct Arrival {
  uint64_t freed[TRANSFER_AT_L2];
  Lock *lock;
} Arrival;

struct LockTimes {
  Probe probe;
  GHashTable *locks;  /* Lock * by its address */
  GHashTable *fences; /* WarpFences * by its thread */
  GHashTable *taking; /* Taking * by its request */
  GPtrArray *polls;   /* bool *, of each launch by its index; NULL: not known yet */
};

/* ---- fences ---- */

static guint hash_thread(gconstpointer data) {
  const ThreadId *id = data;
  return (guint)rng_mix(id->block << 16 ^ id->thread << 8 ^ id->launch);
}

static gboolean same_thread(gconstpointer a, gconstpointer b) {
  return thread_equal(*(const ThreadId *)a, *(const ThreadId *)b);
}

static void fence(void *user, const ProbePoint *point) {
  LockTimes *times = user;
  ThreadId thread = warp_thread_base(point->block, point->warp);
  WarpFences *fences = g_hash_table_lookup(times->fences, &thread);
  if (!fences) {
    fences = g_new0(WarpFences, 1);
    fences->thread = thread;
    g_hash_table_insert(times->fences, &fences->thread, fences);
  }
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    fences->begun[1][lane] = fences->begun[0][lane];
    fences->begun[0][lane] = milli_of(point->cycle);
  }
}

/* When the lane's last fence before `sent` began, if that was since `since`; else `sent`. */
static uint64_t fence_before(const LockTimes *times, ThreadId thread, unsigned lane, uint64_t since, uint64_t sent) {
  const WarpFences *fences = g_hash_table_lookup(times->fences, &thread);
  for (unsigned i = 0; fences && i < FENCES; i++)
    if (fences->begun[i][lane] <= sent)
      return fences->begun[i][lane] >= since ? fences->begun[i][lane] : sent;
  return sent;
}

/* ---- locks ---- */

static bool takes_locks(LockTimes *times, const ProbePart *part) {
  if (part->inst->mode != ATOM_CAS && part->inst->mode != ATOM_EXCH)
    return false;
  if (times->polls->len <= part->launch->index)
    g_ptr_array_set_size(times->polls, (gint)part->launch->index + 1);
  bool **polls = (bool **)&times->polls->pdata[part->launch->index];
  if (!*polls) {
    *polls = polling_tries(part->launch->kernel);
    if (!*polls)
      *polls = g_new0(bool, part->launch->kernel->ninsts);
  }
  return (*polls)[part->pc];
}

static Lock *lock_at(LockTimes *times, uint64_t word) {
  Lock *lock = g_hash_table_lookup(times->locks, &word);
  if (!lock) {
    lock = g_new0(Lock, 1);
    lock->time.address = word;
    g_hash_table_insert(times->locks, &lock->time.address, lock);
  }
  return lock;
}

static void arrives(LockTimes *times, const MemRequest *request, Lock *lock) {
  Taking *taking = g_hash_table_lookup(times->taking, request);
  if (!taking) {
    taking = g_new(Taking, 1);
    *taking = (Taking){request, g_array_new(FALSE, FALSE, sizeof(Arrival))};
    g_hash_table_insert(times->taking, (gpointer)request, taking);
  }
  Arrival arrival = {.lock = lock};
  for (unsigned i = 0; i < TRANSFER_AT_L2; i++)
    arrival.freed[i] = lock->freed[i];
  g_array_append_val(taking->locks, arrival);
}

static void take(LockTimes *times, const MemTrace *trace, Lock *lock) {
  uint64_t now = trace->step[TRACE_PERFORMED];
  LockSums *sums = &lock->time.sums;
  sums->taken++;
  if (lock->was_freed && lock->counts) {
    sums->handovers++;
    sums->transfer[TRANSFER_AT_L2] += now - lock->freed[TRANSFER_AT_L2];
    arrives(times, trace->request, lock);
  }
  lock->held = true;
  lock->awaited = lock->was_freed = false;
  lock->taken = now;
}

static void try(LockTimes *times, const ProbePart *part) {
  for (uint32_t rest = part->trace->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t word = part->trace->request->address[lane] & ~UINT64_C(3);
    Lock *lock = part->changed[lane] ? lock_at(times, word) : g_hash_table_lookup(times->locks, &word);
    if (part->changed[lane]) {
      take(times, part->trace, lock);
    } else if (lock) {
      lock->time.sums.failed++;
      lock->awaited = true;
    }
  }
}

/* Whatever else is written to a lock that is held frees it. */
static void give_back(LockTimes *times, const ProbePart *part) {
  const MemTrace *trace = part->trace;
  if (!g_hash_table_size(times->locks))
    return;
  for (uint32_t rest = trace->lanes; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint64_t word = trace->request->address[lane] & ~UINT64_C(3);
    Lock *lock = g_hash_table_lookup(times->locks, &word);
    if (!lock || !lock->held)
      continue;
    lock->freed[TRANSFER_AT_L2] = trace->step[TRACE_PERFORMED];
    lock->freed[TRANSFER_FROM_PORT] = trace->step[TRACE_LEFT];
    lock->freed[TRANSFER_FROM_UNLOCK] = trace->step[TRACE_SENT];
    lock->freed[TRANSFER_FROM_FENCE] = fence_before(times, part->thread, lane, lock->taken, trace->step[TRACE_SENT]);
    lock->time.sums.freed++;
    lock->time.sums.held += trace->step[TRACE_PERFORMED] - lock->taken;
    lock->counts = lock->awaited;
    lock->held = false;
    lock->was_freed = true;
  }
}

/* The access's last part is performed, so it is known when its reply is back. */
static void finish(LockTimes *times, const MemTrace *trace) {
  const Taking *taking = g_hash_table_lookup(times->taking, trace->request);
  if (!taking)
    return;
  uint64_t back = MAX(trace->request->answered, trace->step[TRACE_REPLIED]);
  for (guint i = 0; i < taking->locks->len; i++) {
    const Arrival *arrival = &g_array_index(taking->locks, Arrival, i);
    for (unsigned from = 0; from < TRANSFER_AT_L2; from++)
      arrival->lock->time.sums.transfer[from] += back - arrival->freed[from];
  }
  g_hash_table_remove(times->taking, trace->request);
}

static void part(void *user, const ProbePart *part) {
  LockTimes *times = user;
  MemKind kind = part->trace->request->kind;
  if (kind == MEM_ATOMIC && takes_locks(times, part)) {
    try(times, part);
    if (part->trace->last)
      finish(times, part->trace);
  } else if (kind != MEM_LOAD) {
    give_back(times, part);
  }
}

/* ---- life ---- */

static void free_taking(gpointer data) {
  Taking *taking = data;
  g_array_free(taking->locks, TRUE);
  g_free(taking);
}

LockTimes *lock_times_new(void) {
  LockTimes *times = g_new0(LockTimes, 1);
  times->locks = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
  times->fences = g_hash_table_new_full(hash_thread, same_thread, NULL, g_free);
  times->taking = g_hash_table_new_full(NULL, NULL, NULL, free_taking);
  times->polls = g_ptr_array_new_with_free_func(g_free);
  times->probe = (Probe){.user = times, .part = part, .fence = fence};
  return times;
}

void lock_times_free(LockTimes *times) {
  if (!times)
    return;
  g_hash_table_destroy(times->locks);
  g_hash_table_destroy(times->fences);
  g_hash_table_destroy(times->taking);
  g_ptr_array_unref(times->polls);
  g_free(times);
}

Probe *lock_times_probe(LockTimes *times) { return &times->probe; }

/* ---- what came out ---- */

LockSums lock_times_all(const LockTimes *times) {
  LockSums all = {0};
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, times->locks);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const LockSums *sums = &((const LockTime *)value)->sums;
    all.taken += sums->taken;
    all.failed += sums->failed;
    all.freed += sums->freed;
    all.held += sums->held;
    all.handovers += sums->handovers;
    for (unsigned i = 0; i < TRANSFERS; i++)
      all.transfer[i] += sums->transfer[i];
  }
  return all;
}

static gint by_tries(gconstpointer a, gconstpointer b) {
  const LockTime *first = *(LockTime *const *)a, *second = *(LockTime *const *)b;
  uint64_t left = first->sums.taken + first->sums.failed, right = second->sums.taken + second->sums.failed;
  if (left != right)
    return left > right ? -1 : 1;
  return first->address < second->address ? -1 : 1;
}

GPtrArray *lock_times_top(const LockTimes *times, guint count) {
  GPtrArray *all = g_ptr_array_new();
  GHashTableIter iter;
  gpointer lock;
  g_hash_table_iter_init(&iter, times->locks);
  while (g_hash_table_iter_next(&iter, NULL, &lock))
    g_ptr_array_add(all, lock);
  g_ptr_array_sort(all, by_tries);
  if (all->len > count)
    g_ptr_array_set_size(all, (gint)count);
  return all;
}
