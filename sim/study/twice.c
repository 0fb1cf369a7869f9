#include "sim/study/twice.h"

#include <string.h>

/* The name without blanks around it; newly allocated. */
static char *name_of(const char *change) {
  const char *equals = strchr(change, '=');
  return g_strstrip(equals ? g_strndup(change, (gsize)(equals - change)) : g_strdup(change));
}

bool twice_same(const char *change, const char *other) {
  g_autofree char *name = name_of(change), *second = name_of(other);
  return strcmp(name, second) == 0;
}

const char *twice_find(const char *const *changes, const char **first) {
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (; changes && *changes; changes++) {
    if (!strchr(*changes, '='))
      continue;
    char *name = name_of(*changes);
    *first = g_hash_table_lookup(seen, name);
    if (*first)
      return g_free(name), *changes;
    g_hash_table_insert(seen, name, (gpointer)*changes);
  }
  return NULL;
}
