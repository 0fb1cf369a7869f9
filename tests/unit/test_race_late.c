/* Stores that accesses of their own thread overtake, where stores may be late: what races is explained by the store
 * that the other thread looked for, and by no other. Scripts: race_memory.h. */
#include <glib.h>
#include <string.h>

#include "tests/unit/race_memory.h"
#include "tests/unit/unit.h"

/* Both put at the end, and nothing orders that. `store`, `by`: what the explanation names; NULL: there is none. */
typedef struct Case {
  const char *name, *script, *store, *by;
} Case;

/* Warp a, of one block, has word 1 for its entry, and warp c, of another, word 2; each looks at the other's. */
#define C_COMES " c.set2 c.see c.see! c.set2!"
#define C_COMES_IN_TIME " c.set2 c.set2! c.see c.see!"
#define BOTH " a.put c.put"

static const Case cases[] = {
    {"a load comes before the store", "a.set a.see2 a.see2!" C_COMES BOTH " a.set!", "set", "see2"},
    {"the same, and the store is performed before the race", "a.set a.see2 a.see2!" C_COMES " a.set!" BOTH, "set",
     "see2"},
    {"the store comes first", "a.set a.see2 a.set! a.see2!" C_COMES_IN_TIME BOTH, NULL, NULL},
    {"the load stands before the store", "a.see2 a.set a.see2! a.set!" C_COMES_IN_TIME BOTH, NULL, NULL},
    {"nobody looks at the store's word", "a.set a.see2 a.see2! c.set2 c.set2!" BOTH " a.set!", NULL, NULL},
    {"only its own warp looks there", "a.set a.see2 a.see2! a.set! a.see a.see! c.set2 c.set2!" BOTH, NULL, NULL},
    {"a warp beside it looks there", "a.set a.see2 a.see2! a.set! b.see b.see! c.set2 c.set2!" BOTH, NULL, NULL},
    {"the load is of the store's word", "a.set a.see a.see!" C_COMES_IN_TIME BOTH " a.set!", NULL, NULL},
    {"a store of another word comes before it", "a.set a.set2 a.set2! c.see c.see!" BOTH " a.set!", "set", "set2"},
    {"a load and a store come before it", "a.set a.set2 a.see2 a.see2! a.set2! c.see c.see!" BOTH " a.set!", "set",
     "see2"},
    {"the store comes behind the race", "a.put c.see c.see! c.put a.set a.see2 a.see2! a.set!", NULL, NULL},
    {"the store of the one that comes second", "c.put a.set a.see2 a.see2! c.see c.see! a.put a.set!", "set", "see2"},
    {"a newer store is more likely than an older one",
     "a.set a.see2 a.see2! a.set! a.set2 a.see a.see! a.set2! c.see c.see! c.see2 c.see2!" BOTH, "set2", "see"},
    {"but not one at which the other doesn't look",
     "a.set a.see2 a.see2! a.set! a.set2 a.see a.see! a.set2! c.see c.see!" BOTH, "set", "see2"},
    {"two stores of one word, the first of which is late", "a.set a.set a.set! a.see2 a.see2! a.set!" C_COMES BOTH,
     "set", "see2"},
    {"an atomic operation waits for nothing either", "a.set a.free a.free!" C_COMES_IN_TIME BOTH " a.set!", NULL,
     NULL},
};

static const Finding *put_race(const GPtrArray *findings) {
  for (guint i = 0; i < findings->len; i++)
    if (((const Finding *)g_ptr_array_index(findings, i))->id == FINDING_DATA_RACE)
      return g_ptr_array_index(findings, i);
  return NULL;
}

/* What the likeliest fence is about; NULL: there is none. */
static const Evidence *late_evidence(const Finding *finding) {
  return finding->fences ? ((const LateFence *)g_ptr_array_index(finding->fences, 0))->evidence : NULL;
}

static RaceMemory *run_script(const char *settings, const char *script) {
  RaceMemory *memory = race_memory_new(settings, false);
  g_auto(GStrv) steps = g_strsplit(script, " ", -1);
  for (char **step = steps; *step; step++)
    race_memory_step(memory, *step);
  race_memory_finish(memory);
  return memory;
}

START_TEST(names_the_store_that_was_overtaken) {
  const Case *test = &cases[_i];
  RaceMemory *memory = run_script("memory.late_stores=3000", test->script);
  const Finding *race = put_race(memory->findings);
  ck_assert_msg(race != NULL, "%s: no race", test->name);
  const Evidence *evidence = late_evidence(race);
  ck_assert_msg((evidence != NULL) == (test->store != NULL), "%s: %s", test->name,
                evidence ? evidence->text : "not explained");
  if (evidence) {
    g_autofree char *by = g_strdup_printf("in line %u", race_memory_inst(test->by) + 3);
    ck_assert_msg(strcmp(race_memory_name(evidence->line), test->store) == 0, "%s: %s", test->name,
                  race_memory_name(evidence->line));
    ck_assert_msg(strstr(evidence->text, by) != NULL, "%s: %s", test->name, evidence->text);
  }
  race_memory_free(memory);
}
END_TEST

/* Where no store is late the same order of events is explained by none. */
START_TEST(says_nothing_where_stores_are_in_time) {
  RaceMemory *memory = run_script("", cases[0].script);
  const Finding *race = put_race(memory->findings);
  ck_assert_ptr_nonnull(race);
  ck_assert_ptr_null(late_evidence(race));
  race_memory_free(memory);
}
END_TEST

/* A loop that looks again and again overtakes a store once, and doesn't push out what came before it. */
START_TEST(a_loop_is_one_pair) {
  enum { ROUNDS = 40 };
  g_autoptr(GString) script = g_string_new("a.set a.see2 a.see2! a.set! a.set");
  for (unsigned i = 0; i < ROUNDS; i++)
    g_string_append(script, " a.acq a.acq! a.see2 a.see2!");
  g_string_append(script, C_COMES BOTH " a.set!");
  RaceMemory *memory = run_script("memory.late_stores=3000", script->str);
  const Evidence *evidence = late_evidence(put_race(memory->findings));
  ck_assert_ptr_nonnull(evidence);
  ck_assert_str_eq(race_memory_name(evidence->line), "set");
  race_memory_free(memory);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("race_late");
  TCase *tcase = tcase_create("race_late");
  tcase_add_loop_test(tcase, names_the_store_that_was_overtaken, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, says_nothing_where_stores_are_in_time);
  tcase_add_test(tcase, a_loop_is_one_pair);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
