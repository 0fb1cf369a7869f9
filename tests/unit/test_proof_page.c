/* The worked example of doc/proof.md is what the proof does with tests/corpus/proof_page.sass and its live twin: the
 * values of each word, and the states of each lane, round by round. */
#include <string.h>

#include "isa/disasm.h"
#include "sim/detect/proof/explore.h"
#include "sim/detect/proof/opens.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* An access is performed 1000 cycles behind its issue, and answered 1000 later. In cycle 500 the early store and lane
 * 0's first load are under way. */
#define SLOW \
  "gpu.sms=1 memory.latency=2000 memory.request_latency=1000 memory.bytes_per_cycle=100000 sm.jitter_cycles=0 "
enum { LOOK = 500, COLUMN = 42 };

static void print_words(GString *text, Explorer *explorer) {
  static const char *const names[] = {"flag", "the word behind it"};
  for (unsigned word = 0; word < 2; word++) {
    WordKey key = word_key_global(BACKING_FIRST_ADDRESS) + word;
    const ValueSet *set = abstract_word(&explorer->memory, &explorer->gpu->sms[0], key);
    g_string_append_printf(text, "%s: {", names[word]);
    for (unsigned i = 0; i < set->count; i++)
      g_string_append_printf(text, "%s%u", i ? ", " : "", set->value[i]);
    g_string_append(text, word ? "}\n" : "}; ");
  }
}

/* What isn't the same in all states of the lane: R3, and P1. */
static void print_state(GString *text, const WarpView *view, const LaneState *state) {
  const Kernel *kernel = view->launch->kernel;
  const Liveness *liveness = &view->facts->liveness;
  g_autofree char *inst = disasm_inst(kernel, &kernel->insts[state->pc]);
  g_string_append_printf(text, "  %2u  %-*s", state->pc, COLUMN, inst);
  if (regset_has(&liveness->live_regs[state->pc], 3))
    g_string_append_printf(text, "R3 = %u", state->regs[3]);
  if (liveness->live_preds[state->pc] >> 1 & 1)
    g_string_append_printf(text, "P1 = %u", state->preds >> 1 & 1);
  g_strchomp(text->str);
  text->len = strlen(text->str);
  g_string_append_c(text, '\n');
}

static void print_lane(GString *text, Explorer *explorer, WarpView *view, unsigned lane) {
  if (!explorer_lane_runs(view, lane)) {
    g_string_append_printf(text, "lane %u waits at %u\n", lane, view->warp->stack[0].pc);
    return;
  }
  LaneSpace start;
  explorer_start(view, lane, &start.state);
  g_string_append_printf(text, "lane %u, from %u\n", lane, start.state.pc);
  LaneReach reach = explorer_lane(explorer, view, lane, &start.state, NULL, NULL);
  const StateSet *states = &view->facts->states;
  for (uint32_t i = 0; i < states->count; i++)
    print_state(text, view, state_set_at(states, i));
  view->reach[lane].may_exit |= reach.may_exit;
  view->reach[lane].lowest_entry = MIN(view->reach[lane].lowest_entry, reach.lowest_entry);
  g_string_append_printf(text, "  %s\n",
                         reach.may_exit                           ? "may exit"
                         : reach.lowest_entry < view->warp->depth ? "may arrive at the convergence point"
                                                                  : "stays in its loop");
}

static char *print_proof(const char *name, ExploreResult result) {
  g_autofree char *path = g_strdup_printf("%s/tests/corpus/%s.sass", g_getenv("SRCDIR"), name), *program = NULL;
  ck_assert(g_file_get_contents(path, &program, NULL, NULL));
  g_autoptr(Lab) lab = lab_new(SLOW, program);
  lab_buffer(lab, 2);
  lab_launch(lab, 1, 2);
  ck_assert_int_eq(gpu_run(lab->gpu, 1000000, LOOK), GPU_LIMIT);
  GString *text = g_string_new(NULL);
  Explorer *explorer = explorer_new(lab->gpu);
  WarpView *view = g_ptr_array_index(explorer->views, 0);
  print_words(text, explorer);
  do {
    for (unsigned lane = 0; lane < 2; lane++)
      print_lane(text, explorer, view, lane);
  } while (view_update_open(view));
  g_string_append_printf(text, "%s\n",
                         view_may_finish(view) ? "the warp may finish: LIVE" : "nobody can finish: STUCK");
  explorer_restart(explorer);
  ck_assert_int_eq(explorer_prove(explorer), result);
  explorer_free(explorer);
  return g_string_free(text, FALSE);
}

START_TEST(the_page_has_the_states_of_the_proof) {
  static const struct {
    const char *name;
    ExploreResult result;
  } examples[] = {{"proof_page", EXPLORE_STUCK}, {"proof_page_live", EXPLORE_LIVE}};
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "doc", "proof.md", NULL), *page = NULL;
  ck_assert(g_file_get_contents(path, &page, NULL, NULL));
  g_autofree char *proof = print_proof(examples[_i].name, examples[_i].result);
  ck_assert_msg(strstr(page, proof), "doc/proof.md hasn't this:\n%s", proof);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("proof_page");
  TCase *tcase = tcase_create("proof_page");
  tcase_add_loop_test(tcase, the_page_has_the_states_of_the_proof, 0, 2);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
