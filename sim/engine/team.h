/* team.h - threads that share out numbered pieces of work, again and again, and all wait for the last: GLib's threads
 * with a meeting point that costs less than a condition variable where pieces are short.
 * Determinism: who does which piece isn't defined, so pieces must not depend on each other.
 * Ownership: a Team owns its threads. */
#ifndef LOCKSTEP_ENGINE_TEAM_H
#define LOCKSTEP_ENGINE_TEAM_H

#include <stdint.h>

typedef struct Team Team;
typedef void (*TeamWork)(void *user, uint32_t piece);

enum { TEAM_THREADS_MAX = 256 };

/* So many threads, the caller's one of them, or as many as the system lets it have; 1 to TEAM_THREADS_MAX. */
Team *team_new(uint32_t threads);
void team_free(Team *team);
/* Does the pieces 0 to count - 1, and returns when all are done. */
void team_run(Team *team, uint32_t count, TeamWork work, void *user);

#endif
