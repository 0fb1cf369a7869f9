#include "sim/engine/team.h"

#include <glib.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/assert.h"

/* So often a thread looks for work, or for the others' end, before it sleeps. */
enum { LOOKS = 4000 };

struct Team {
  uint32_t threads;
  GThread **thread; /* threads - 1 of them */
  TeamWork work;
  void *user;
  uint32_t count;
  atomic_uint next;  /* piece to be done */
  atomic_uint round; /* rises with each call of team_run(): there is work */
  atomic_uint busy;  /* threads that haven't finished the round, but for the caller's */
  atomic_bool ends;
  atomic_uint asleep; /* threads in `wake` */
  GMutex mutex;
  GCond wake;
};

static void do_pieces(Team *team) {
  for (uint32_t piece; (piece = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed)) < team->count;)
    team->work(team->user, piece);
}

/* Until there is a round after `seen`. */
static void await_round(Team *team, uint32_t seen) {
  for (unsigned look = 0; look < LOOKS; look++) {
    if (atomic_load_explicit(&team->round, memory_order_acquire) != seen)
      return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  g_mutex_lock(&team->mutex);
  atomic_fetch_add(&team->asleep, 1);
  while (atomic_load(&team->round) == seen)
    g_cond_wait(&team->wake, &team->mutex);
  atomic_fetch_sub(&team->asleep, 1);
  g_mutex_unlock(&team->mutex);
}

static gpointer help(gpointer data) {
  Team *team = data;
  for (uint32_t seen = 0;;) {
    await_round(team, seen);
    seen = atomic_load_explicit(&team->round, memory_order_acquire);
    if (atomic_load(&team->ends))
      return NULL;
    do_pieces(team);
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
  Team *team = g_new0(Team, 1);
  team->thread = g_new0(GThread *, threads);
  g_mutex_init(&team->mutex);
  g_cond_init(&team->wake);
  for (team->threads = 1; team->threads < threads; team->threads++) {
    GThread *thread = g_thread_try_new("team", help, team, NULL);
    if (!thread)
      break; /* the system has no room for more */
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
  g_free(team);
}

void team_run(Team *team, uint32_t count, TeamWork work, void *user) {
  team->work = work;
  team->user = user;
  team->count = count;
  atomic_store_explicit(&team->next, 0, memory_order_relaxed);
  if (team->threads > 1)
    begin_round(team);
  do_pieces(team);
  while (team->threads > 1 && atomic_load_explicit(&team->busy, memory_order_acquire))
    g_thread_yield();
}
