#include "sim/detect/proof/question.h"

#include "base/bits.h"

void footprint_init(Footprint *footprint) {
  GHashTable **table[] = {&footprint->reads,  &footprint->lock_reads, &footprint->stores,
                          &footprint->writes, &footprint->frees,      &footprint->wild};
  for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
    *table[i] = g_hash_table_new_full(bits_hash_key, g_int64_equal, NULL, g_free);
}

void footprint_clear(Footprint *footprint) {
  GHashTable *table[] = {footprint->reads,  footprint->lock_reads, footprint->stores,
                         footprint->writes, footprint->frees,      footprint->wild};
  for (unsigned i = 0; i < G_N_ELEMENTS(table); i++)
    g_hash_table_destroy(table[i]);
}

void footprint_note(GHashTable *touches, uint64_t key, uint32_t pc, uint32_t physical) {
  if (!touches || g_hash_table_contains(touches, &key))
    return;
  Touch *touch = g_new(Touch, 1);
  *touch = (Touch){.key = key, .pc = pc, .physical = physical};
  g_hash_table_insert(touches, &touch->key, touch);
}
