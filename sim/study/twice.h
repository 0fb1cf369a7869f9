/* twice.h - changes as the command line and suites have them, "blocks=8", and whether two of them are of one name. */
#ifndef LOCKSTEP_STUDY_TWICE_H
#define LOCKSTEP_STUDY_TWICE_H

#include <glib.h>
#include <stdbool.h>

/* True if both change the same: what stands before their `=` is the same but for blanks around it. */
bool twice_same(const char *change, const char *other);
/* The first change of a list (NULL-terminated, or NULL) whose name another before it has, which `first` gets; NULL if
 * there is none. What has no `=` is no change. Both are borrowed. */
const char *twice_find(const char *const *changes, const char **first);

#endif
