#include "sim/study/mends.h"

#include "sim/study/repairs.h"

RunOptions mends_options(const RunOptions *options, const Schedule *schedule) {
  RunOptions run = *options;
  run.seed = schedule->seed;
  run.races = run.keep_buffers = true;
  return run;
}

static bool is_wait(FindingId id) {
  return id == FINDING_ORPHAN_WAIT || id == FINDING_LIVELOCK || id == FINDING_LOCK_ORDER_DEADLOCK ||
         id == FINDING_SIMD_DEADLOCK;
}

bool mends_may(const Finding *known, const Finding *finding) {
  return finding->fences && !finding->repairs_first && !known->fences_tried && known->repair &&
         (g_str_has_prefix(known->repair, "hint") || (known != finding && known->without_fences));
}

static void mend_known(const Mends *mends, guint index, const RunResult *run, Finding *known, Finding *finding,
                       Diag *diag) {
  bool held_up = g_array_index(mends->schedules, Schedule, index).held_up;
  if (finding->id == FINDING_UNEXPECTED_RESULT && !known->repair && held_up)
    finding_tell_as(known, finding); /* no fence helped, and being slow is all that it takes */
  if (!mends_may(known, finding))
    return;
  known->fences_tried = true;
  guint before = finding->evidence->len;
  if (!fence_search_try(mends->fences, finding, index, run, diag))
    return;
  g_free(known->repair);
  g_free(known->mended_by);
  known->repair = g_strdup(finding->repair);
  known->mended_by = g_strdup(finding->mended_by);
  while (finding->evidence->len > before)
    g_ptr_array_add(known->evidence, g_ptr_array_steal_index(finding->evidence, before));
}

/* Where warps are held up, orders come up that only wait or repeat something: what relies on one of them is judged by
 * the other schedules, but for loads of older values, of which a run shows what races then. And that threads are kept
 * from going on is meant. */
static bool leaves_out(const Schedule *schedule, const Finding *finding) {
  bool is_shown = finding->doubt && finding->doubt->edit[0].kind == EDIT_OLDER;
  return schedule->held_up &&
         ((finding->id == FINDING_UNORDERED_ACCESS && !is_shown) || finding->id == FINDING_TIMING_STARVATION);
}

/* True if some repair helps. */
static bool find_repair(const Mends *mends, guint index, RunResult *run, Finding *finding, const Machine *variant,
                        const RunOptions *options, Diag *diag) {
  uint64_t cycles = run->source_cycles ? run->source_cycles : run->cycles;
  if (repairs_try_atomics(finding, mends->scenario, variant, options, cycles, diag))
    return true;
  if (!finding->repairs_first && fence_search_try(mends->fences, finding, index, run, diag))
    return true;
  return repairs_try(finding, mends->scenario, variant, options, cycles, diag) ||
         (finding->repairs_first && fence_search_try(mends->fences, finding, index, run, diag));
}

void mends_try(const Mends *mends, guint index, RunResult *run, GPtrArray *known, Diag *diag) {
  const Schedule *schedule = &g_array_index(mends->schedules, Schedule, index);
  Machine *variant = schedule_machine(schedule, mends->machine);
  RunOptions options = mends_options(mends->options, schedule);
  options.as_source = run->source_cycles > 0;
  uint64_t cycles = run->source_cycles ? run->source_cycles : run->cycles;
  g_autoptr(GPtrArray) before = g_ptr_array_copy(run->findings, NULL, NULL);
  g_autoptr(GPtrArray) dropped = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  g_ptr_array_set_free_func(before, NULL);
  for (guint i = 0; i < run->findings->len;) {
    Finding *finding = g_ptr_array_index(run->findings, i++);
    Finding *before_it = finding_find(known, finding);
    finding->run = (FindingRun){.schedule = index, .as_source = options.as_source, .cycles = cycles};
    if (leaves_out(schedule, finding)) {
      g_ptr_array_add(dropped, g_ptr_array_steal_index(run->findings, --i));
      continue;
    }
    /* Under this schedule its PTX, in which fences are tried, doesn't hang. */
    finding->without_fences = schedule->late_stores && is_wait(finding->id) && !finding->fences;
    if (before_it) {
      mend_known(mends, index, run, before_it, finding, diag);
      continue;
    }
    if (finding->repairs || finding->doubt || finding->fences || finding->atomics)
      mends->step(mends->user, index);
    /* Where warps are held up, or by one more seed of late stores, and no fence helps, something else than a fence is
     * missing, or another one, which what races then is said of. */
    if (repairs_doubt(finding, mends->scenario, variant, &options, cycles, diag) ||
        (!find_repair(mends, index, run, finding, variant, &options, diag) && (schedule->held_up || schedule->more) &&
         finding->id == FINDING_UNORDERED_ACCESS))
      g_ptr_array_add(dropped, g_ptr_array_steal_index(run->findings, --i));
  }
  const Expectation *expect = scenario_expectation(mends->scenario, mends->machine->name);
  if (expect && dropped->len)
    run_result_expect_findings(run, expect, before);
  machine_free(variant);
}
