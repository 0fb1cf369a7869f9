#include "sim/detect/proof/question.h"

#include <string.h>

#include "base/bits.h"

enum { FOOTPRINT_TABLES = 6 };

static void list_tables(Footprint *footprint, GHashTable **table[FOOTPRINT_TABLES]) {
  GHashTable **all[FOOTPRINT_TABLES] = {&footprint->reads,  &footprint->lock_reads, &footprint->stores,
                                        &footprint->writes, &footprint->frees,      &footprint->wild};
  memcpy(table, all, sizeof all);
}

void footprint_init(Footprint *footprint) {
  GHashTable **table[FOOTPRINT_TABLES];
  list_tables(footprint, table);
  for (unsigned i = 0; i < FOOTPRINT_TABLES; i++)
    *table[i] = g_hash_table_new_full(bits_hash_key, g_int64_equal, NULL, g_free);
}

void footprint_clear(Footprint *footprint) {
  GHashTable **table[FOOTPRINT_TABLES];
  list_tables(footprint, table);
  for (unsigned i = 0; i < FOOTPRINT_TABLES; i++)
    g_clear_pointer(table[i], g_hash_table_destroy);
}

void footprint_reset(Footprint *footprint) {
  GHashTable **table[FOOTPRINT_TABLES];
  list_tables(footprint, table);
  for (unsigned i = 0; i < FOOTPRINT_TABLES; i++)
    if (g_hash_table_size(*table[i]))
      g_hash_table_remove_all(*table[i]);
}

void footprint_note(GHashTable *touches, uint64_t key, uint32_t pc, uint32_t physical) {
  if (!touches || g_hash_table_contains(touches, &key))
    return;
  Touch *touch = g_new(Touch, 1);
  *touch = (Touch){.key = key, .pc = pc, .physical = physical};
  g_hash_table_insert(touches, &touch->key, touch);
}
