#include "sim/engine/team.h"

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/pages.h"

/* So often a thread looks for work, or for the others' end, before it sleeps. */
enum { LOOKS = 4000, LOOKS_AT_END = 200 };

/* The pieces of a thread that nobody has begun with: from the lower half of `left` up to the upper half. */
typedef struct Own {
  _Alignas(HOST_LINE) _Atomic uint64_t left;
} Own;

struct Team {
  uint32_t wanted, threads; /* as many as asked for; and as there are */
  GThread **thread;         /* threads - 1 of them */
  Own own[TEAM_THREADS_MAX];
  TeamWork work;
  void *user;
  atomic_uint round; /* rises with each call of team_run(): there is work */
  atomic_uint busy;  /* threads that haven't finished the round, but for the caller's */
  atomic_bool ends;
  atomic_uint asleep; /* threads in `wake` */
  GMutex mutex;
  GCond wake;
};

static uint64_t range(uint32_t first, uint32_t end) { return (uint64_t)end << 32 | first; }

/* Takes the first piece of those left there, or the last one. False: there is none. */
static bool take(Own *own, bool last, uint32_t *piece) {
  uint64_t left = atomic_load_explicit(&own->left, memory_order_relaxed);
  for (;;) {
    uint32_t first = (uint32_t)left, end = (uint32_t)(left >> 32);
    if (first >= end)
      return false;
    *piece = last ? end - 1 : first;
    if (atomic_compare_exchange_weak_explicit(&own->left, &left, last ? range(first, end - 1) : range(first + 1, end),
                                              memory_order_relaxed, memory_order_relaxed))
      return true;
  }
}

/* Its own, then others'. */
static void do_pieces(Team *team, uint32_t thread) {
  uint32_t piece;
  for (uint32_t i = 0; i < team->wanted; i++)
    while (take(&team->own[(thread + i) % team->wanted], i > 0, &piece))
      team->work(team->user, piece, thread);
}

static void pause_a_moment(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/* Until there is a round after `seen`. */
static void await_round(Team *team, uint32_t seen) {
  for (unsigned look = 0; look < LOOKS; look++) {
    if (atomic_load_explicit(&team->round, memory_order_acquire) != seen)
      return;
    pause_a_moment();
  }
  g_mutex_lock(&team->mutex);
  atomic_fetch_add(&team->asleep, 1);
  while (atomic_load(&team->round) == seen)
    g_cond_wait(&team->wake, &team->mutex);
  atomic_fetch_sub(&team->asleep, 1);
  g_mutex_unlock(&team->mutex);
}

/* A thread that helps, and its number. */
typedef struct Helper {
  Team *team;
  uint32_t thread;
} Helper;

static gpointer help(gpointer data) {
  g_autofree Helper *helper = data;
  Team *team = helper->team;
  for (uint32_t seen = 0;;) {
    await_round(team, seen);
    seen = atomic_load_explicit(&team->round, memory_order_acquire);
    if (atomic_load(&team->ends))
      return NULL;
    do_pieces(team, helper->thread);
    atomic_fetch_sub_explicit(&team->busy, 1, memory_order_release);
  }
}

static void begin_round(Team *team) {
  atomic_store(&team->busy, team->threads - 1);
  atomic_fetch_add(&team->round, 1);
  if (!atomic_load(&team->asleep))
    return;
  g_mutex_lock(&team->mutex);
  g_cond_broadcast(&team->wake);
  g_mutex_unlock(&team->mutex);
}

Team *team_new(uint32_t threads) {
  LS_REQUIRE("team-threads", threads >= 1 && threads <= TEAM_THREADS_MAX);
  Team *team = aligned_alloc(HOST_LINE, sizeof(Team));
  if (!team)
    g_error("no memory for a team");
  memset(team, 0, sizeof *team);
  team->wanted = threads;
  team->thread = g_new0(GThread *, threads);
  g_mutex_init(&team->mutex);
  g_cond_init(&team->wake);
  for (team->threads = 1; team->threads < threads; team->threads++) {
    Helper *helper = g_new(Helper, 1);
    *helper = (Helper){team, team->threads};
    GThread *thread = g_thread_try_new("team", help, helper, NULL);
    if (!thread) { /* the system has no room for more */
      g_free(helper);
      break;
    }
    team->thread[team->threads - 1] = thread;
  }
  return team;
}

void team_free(Team *team) {
  if (!team)
    return;
  atomic_store(&team->ends, true);
  begin_round(team);
  for (uint32_t i = 0; i + 1 < team->threads; i++)
    g_thread_join(team->thread[i]);
  g_mutex_clear(&team->mutex);
  g_cond_clear(&team->wake);
  g_free(team->thread);
  free(team);
}

void team_run(Team *team, const uint32_t *ends, TeamWork work, void *user) {
  team->work = work;
  team->user = user;
  for (uint32_t thread = 0; thread < team->wanted; thread++)
    atomic_store_explicit(&team->own[thread].left, range(thread ? ends[thread - 1] : 0, ends[thread]),
                          memory_order_relaxed);
  if (team->threads > 1)
    begin_round(team);
  do_pieces(team, 0);
  for (unsigned look = 0; team->threads > 1 && atomic_load_explicit(&team->busy, memory_order_acquire); look++) {
    if (look < LOOKS_AT_END)
      pause_a_moment();
    else
      g_thread_yield();
  }
}
