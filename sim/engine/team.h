/* team.h - threads that share out numbered pieces of work, again and again, and all wait for the last: GLib's threads
 * with a meeting point that costs less than a condition variable where pieces are short.
 * Determinism: who does which piece isn't defined, so pieces must not depend on each other.
 * Ownership: a Team owns its threads. */
#ifndef LOCKSTEP_ENGINE_TEAM_H
#define LOCKSTEP_ENGINE_TEAM_H

#include <stdint.h>

typedef struct Team Team;
/* `thread`: who does it; 0 is the caller of team_run(). */
typedef void (*TeamWork)(void *user, uint32_t piece, uint32_t thread);

enum { TEAM_THREADS_MAX = 256 };

/* So many threads, the caller's one of them, or as many as the system lets it have; 1 to TEAM_THREADS_MAX. */
Team *team_new(uint32_t threads);
void team_free(Team *team);
/* Does all pieces, and returns when they are done. Those of thread n are the ones from ends[n - 1] (0 for the first
 * thread) up to ends[n], for each thread that team_new() was asked for. A thread does its own first, so that what
 * belongs to a piece stays in one processor's cache, and helps the others then, with their last ones first. */
void team_run(Team *team, const uint32_t *ends, TeamWork work, void *user);

#endif
