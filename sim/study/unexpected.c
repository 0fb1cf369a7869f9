#include "sim/study/unexpected.h"

#include <string.h>

#include "sim/core/look.h"

static const char late_repair[] =
    "hint: put __threadfence() between the store that came late and what its thread does behind it";
static const char held_repair[] = "hint: a thread that is slow there goes on with what isn't so any longer: look and "
                                  "change by one atomic operation, "
                                  "or do both under a lock";

/* Where the first buffer that isn't as expected is. */
static void put_address(Finding *finding, const Simulation *simulation, const char *failure) {
  const GPtrArray *buffers = simulation->scenario->buffers;
  const ScenarioBuffer *found = NULL;
  for (guint i = 0; i < buffers->len && !found; i++) {
    const ScenarioBuffer *buffer = g_ptr_array_index(buffers, i);
    gsize length = strlen(buffer->name);
    if (strncmp(failure, buffer->name, length) == 0 && failure[length] == '[') {
      uint64_t word = g_ascii_strtoull(failure + length + 1, NULL, 10);
      finding->space = g_strdup("global");
      finding->address = look_words(simulation->gpu, simulation->buffers[i]).base + 4 * word;
      found = buffer;
    }
  }
}

void unexpected_tell(Simulation *simulation, const Machine *machine, Verdict verdict) {
  const Scenario *scenario = simulation->scenario;
  const Expectation *expect = scenario_expectation(scenario, machine->name);
  if (!expect || !unexpected_may_be(machine) || verdict != VERDICT_COMPLETED)
    return;
  g_autofree const uint32_t **memory = g_new(const uint32_t *, scenario->buffers->len + 1);
  g_autoptr(GPtrArray) failures = g_ptr_array_new_with_free_func(g_free), none = g_ptr_array_new();
  for (guint i = 0; i < scenario->buffers->len; i++)
    memory[i] = look_words(simulation->gpu, simulation->buffers[i]).words;
  guint wrong = expectation_compare(scenario, expect, verdict, none, memory, failures);
  if (!wrong)
    return;
  const char *failure = g_ptr_array_index(failures, failures->len - wrong);
  bool late = machine->memory.late_stores;
  Finding *finding = finding_new(FINDING_UNEXPECTED_RESULT,
                                 g_strdup_printf("%s, in a run %s", failure,
                                                 late ? "whose stores come late, as the memory model allows"
                                                      : "in which a warp is slow, as nothing forbids"));
  finding->file = g_strdup(scenario->file);
  finding->repair = g_strdup(late ? late_repair : held_repair);
  put_address(finding, simulation, failure);
  g_ptr_array_add(simulation->findings, finding);
}
