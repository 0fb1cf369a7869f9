#include <malloc.h>
#include <string.h>

#include "isa/lower/ptx_lower.h"
#include "isa/ptx/ptx_parse.h"
#include "sim/core/gpu.h"
#include "tests/property/litmus.h"

/* STRIDE: from one word to the next, in another page and another line of it, as on the GPU (litmus.cu). */
enum { STRIDE = 4096 + 128, SLOTS = 8, NOBODY = -1, LANES = 32, CYCLES_MAX = 100000000 };

/* As the kernels take them. */
typedef struct Arguments {
  uint64_t table, claims, meet, words, results;
  uint32_t rounds, stride, apart, spread, warm, seed;
} Arguments;

void litmus_many_runs(void) {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
}

Program *litmus_lower(const LitmusCase *one, const Machine *machine) {
  g_autoptr(GString) text = g_string_new(LITMUS_HEAD);
  litmus_ptx(one, text);
  PtxTarget target = {.capability = machine->gpu.compute_capability,
                      .convergence_barriers = machine->sm.convergence == CONVERGENCE_BARRIER,
                      .max_registers = machine->sm.max_thread_registers};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = ptx_parse("litmus.ptx", text->str, text->len, diag);
  Program *program = module ? ptx_lower(module, &target, diag) : NULL;
  if (!program || program_kernel(program, 0)->refusal) {
    g_autofree char *messages = diag_render(diag);
    g_error("%s: %s", one->test->name, messages);
  }
  return program;
}

/* The SM of a role of a group, or as many as there are if the group doesn't exist. */
static unsigned sm_of(LitmusPlace place, unsigned threads, unsigned group, unsigned role, unsigned sms) {
  unsigned size = threads > 2 ? 4 : 2, apart = sms / threads;
  switch (place) {
  case PLACE_TPC: return group * size + role < sms ? group * size + role : sms;
  case PLACE_DISTANT: return group < apart ? group + role * apart : sms;
  default: return group;
  }
}

/* Who stands where: for each SM the group and role of each block that comes to it. Returns the groups. */
static unsigned fill_table(const LitmusRun *run, unsigned threads, unsigned sms, uint32_t *table) {
  unsigned groups = 0;
  bool together = run->place == PLACE_WARP || run->place == PLACE_BLOCK;
  memset(table, 0xff, sms * SLOTS * sizeof *table);
  while (groups < LITMUS_INSTANCES && sm_of(run->place, threads, groups, threads - 1, sms) < sms) {
    for (unsigned role = 0; role < (together ? 1 : threads); role++)
      table[sm_of(run->place, threads, groups, role, sms) * SLOTS + (run->place == PLACE_SM ? role : 0)] =
          groups * SLOTS + role;
    groups++;
  }
  return groups;
}

static uint64_t add_buffer(Backing *backing, const char *name, uint32_t words, const uint32_t *init, guint *index) {
  *index = backing_add(backing, name, words, init);
  return backing_buffer(backing, *index)->base;
}

/* The outcomes of all tries. */
static void count(const LitmusTest *test, unsigned tries, const uint32_t *results, const uint32_t *words,
                  unsigned counts[LITMUS_OUTCOMES]) {
  for (unsigned i = 0; i < tries; i++) {
    unsigned outcome = 0, reads = 0;
    for (unsigned thread = 0; thread < test->threads; thread++)
      for (unsigned k = 0; k < LITMUS_ACCESSES; k++)
        if (test->accesses[thread][k].kind == LITMUS_READ)
          outcome |= (results[(i * LITMUS_THREADS + thread) * 2 + k] & 3) << 2 * reads++;
    for (unsigned word = 0; word < LITMUS_WORDS; word++)
      outcome |= (words[(i * LITMUS_WORDS + word) * STRIDE / 4] & 3) << (2 * LITMUS_THREADS + 2 * word);
    counts[outcome]++;
  }
}

/* What a launch works on. */
typedef struct Words {
  guint results, words;
} Words;

static Words add_words(Backing *backing, unsigned sms, unsigned tries, Arguments *arguments) {
  Words of;
  guint ignored;
  arguments->claims = add_buffer(backing, "claims", sms, NULL, &ignored);
  arguments->meet = add_buffer(backing, "meet", LITMUS_INSTANCES * LANES, NULL, &ignored);
  arguments->words = add_buffer(backing, "words", tries * LITMUS_WORDS * STRIDE / 4, NULL, &of.words);
  arguments->results = add_buffer(backing, "results", tries * LITMUS_THREADS * 2 + 2, NULL, &of.results);
  memset(backing_buffer(backing, of.results)->data, 0xff,
         tries * LITMUS_THREADS * 2 * sizeof(uint32_t)); /* no value */
  return of;
}

static void add_launch(Gpu *gpu, const Program *program, const LitmusRun *run, unsigned threads,
                       const Arguments *arguments) {
  unsigned sms = gpu->machine->gpu.sms;
  LaunchConfig config = {.program = program,
                         .kernel = program_kernel(program, 0),
                         .grid = {run->place == PLACE_SM ? sms * threads : sms, 1, 1},
                         .block = {run->place == PLACE_BLOCK ? LANES * threads : LANES, 1, 1},
                         .args = (const uint8_t *)arguments,
                         .args_bytes = sizeof *arguments};
  g_autofree char *why = NULL;
  if (!gpu_add_launch(gpu, &config, &why))
    g_error("%s", why);
}

void litmus_run(const LitmusTest *test, Program *const *programs, unsigned number, const Machine *machine,
                const LitmusRun *run, unsigned (*counts)[LITMUS_OUTCOMES]) {
  unsigned sms = machine->gpu.sms, threads = test->threads;
  g_autofree uint32_t *table = g_new(uint32_t, sms * SLOTS);
  g_autofree Words *words = g_new(Words, number);
  unsigned tries = fill_table(run, threads, sms, table) * run->rounds;
  Backing *backing = backing_new();
  Gpu *gpu = gpu_new(machine, backing, run->seed);
  Arguments arguments = {.rounds = run->rounds, .stride = STRIDE, .spread = run->spread, .warm = run->warm};
  guint ignored;
  arguments.apart = run->place == PLACE_WARP ? 1 : LANES;
  arguments.seed = (uint32_t)run->seed;
  arguments.table = add_buffer(backing, "table", sms * SLOTS, table, &ignored);
  for (unsigned i = 0; i < number; i++) {
    words[i] = add_words(backing, sms, tries, &arguments);
    add_launch(gpu, programs[i], run, threads, &arguments);
  }
  if (gpu_run(gpu, CYCLES_MAX, CYCLES_MAX) != GPU_FINISHED)
    g_error("%s, %s: no end", test->name, litmus_places[run->place]);
  for (unsigned i = 0; i < number; i++)
    count(test, tries, backing_buffer(backing, words[i].results)->data, backing_buffer(backing, words[i].words)->data,
          counts[i]);
  gpu_free(gpu);
  backing_free(backing);
}
