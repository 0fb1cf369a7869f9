/* Whatever the executors do is among what the proof's exploration allows: random programs of PTX (faults, constant
 * memory, atomics on local memory, barriers, locks, queues, several kernels, streams, a host, hundreds of launches)
 * run under random schedules; at some moments all that can happen is explored, and each instruction, stored value,
 * exit and fault until a block or a kernel comes must be in it. And no run that ends was called a deadlock before. */
#include <glib.h>
#include <string.h>

#include "sim/core/host.h"
#include "sim/core/symbols.h"
#include "sim/detect/proof/explore.h"
#include "tests/property/random_ptx.h"
#include "tests/unit/lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

enum { LAUNCHES_MAX = 300 };

/* ---- runs ---- */

typedef struct Trial {
  Machine *machine;
  Program *program;
  Backing *backing;
  Gpu *gpu;
  char *text;
  Explorer *explorer; /* NULL while nothing is checked */
  GHashTable *views;  /* Warp * -> WarpView * */
  bool stuck;         /* a proof said that nobody can finish */
  uint64_t queues;    /* address of the queues, and what they held when the exploration began; 0: there are none */
  uint32_t held[2 * RANDOM_QUEUE_BYTES / 4];
  unsigned checked; /* instructions */
} Trial;

static const WarpView *view_of(const Trial *trial, const Warp *warp) {
  return g_hash_table_lookup(trial->views, warp);
}

/* Nothing else may be concluded from the exploration: somebody came whom it didn't know. */
static void forget(Trial *trial) {
  if (!trial->explorer)
    return;
  g_hash_table_destroy(trial->views);
  explorer_free(trial->explorer);
  trial->explorer = NULL;
}

static void block_starts(void *user, const ProbePoint *point) {
  (void)point;
  forget(user);
}

/* The words that the lanes have just stored to hold values that the exploration knows. */
static void check_word(const Trial *trial, WordKey key, uint32_t value, const ProbePoint *point) {
  const ValueSet *set = g_hash_table_lookup(trial->explorer->memory.words, &key);
  UNIT_ASSERT(set && abstract_has(set, value), "instruction %u gives word %" G_GINT64_MODIFIER "x the value %u:\n%s",
              point->pc, key, value, trial->text);
}

/* An operation on a queue is an access to all of it. What the exploration hasn't come to stays as it was. */
static bool is_untouched(const Trial *trial, uint64_t address, uint32_t value) {
  WordKey key = word_key_global(address);
  return trial->queues && address - trial->queues < sizeof trial->held &&
         !g_hash_table_contains(trial->explorer->memory.words, &key) &&
         value == trial->held[(address - trial->queues) / 4];
}

static void check_global(const Trial *trial, const ProbePoint *point, const uint64_t address[32], uint32_t bytes) {
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    uint64_t first = address[__builtin_ctz(rest)];
    BackingBuffer *buffer = backing_find(trial->backing, first, bytes);
    for (uint64_t at = first; at < first + bytes; at += 4) {
      uint32_t value = buffer->data[(at - buffer->base) / 4];
      if (!is_untouched(trial, at, value))
        check_word(trial, word_key_global(at), value, point);
    }
  }
}

static void check_shared(const Trial *trial, const ProbePoint *point, const uint64_t address[32]) {
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    uint32_t word = (uint32_t)address[__builtin_ctz(rest)] / 4;
    check_word(trial, word_key_shared(point->sm->index, word), point->sm->shared.words[word], point);
  }
}

/* The newest store, to be checked once it has had its effect. */
typedef struct Stored {
  ProbePoint point;
  AccessSpace space;
  uint64_t address[32];
  uint32_t bytes;
  bool waits;
} Stored;

typedef struct Listener {
  Trial *trial;
  Stored stored[2]; /* a generic access has a part in global memory and one in shared memory */
} Listener;

static void note_access(void *user, const ProbePoint *point, AccessSpace space, AccessKind kind,
                        const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock, uint64_t number) {
  (void)number;
  (void)taken;
  (void)unlock;
  Listener *listener = user;
  if (kind == ACCESS_READ)
    return;
  Stored *stored = &listener->stored[space];
  *stored = (Stored){.point = *point, .space = space, .bytes = bytes, .waits = true};
  memcpy(stored->address, address, sizeof stored->address);
}

static void check_issue(void *user, const ProbePoint *point, uint64_t until) {
  (void)until;
  Listener *listener = user;
  Trial *trial = listener->trial;
  const WarpView *view = trial->explorer ? view_of(trial, point->warp) : NULL;
  for (unsigned space = 0; space < 2; space++) {
    Stored *stored = &listener->stored[space];
    if (stored->waits && trial->explorer && space == SPACE_GLOBAL)
      check_global(trial, &stored->point, stored->address, stored->bytes);
    else if (stored->waits && trial->explorer)
      check_shared(trial, &stored->point, stored->address);
    stored->waits = false;
  }
  if (!trial->explorer)
    return;
  trial->checked++;
  UNIT_ASSERT(view, "a warp that the exploration doesn't know:\n%s", trial->text);
  UNIT_ASSERT(!point->lanes || view_explored(view, point->pc),
              "warp %u issues instruction %u, which was not explored:\n%s", point->warp->warp_in_block, point->pc,
              trial->text);
  uint32_t exited = point->inst->op == OP_EXIT ? point->lanes : 0;
  for (uint32_t rest = exited; rest; rest &= rest - 1)
    UNIT_ASSERT(view->reach[__builtin_ctz(rest)].may_exit, "lane %d exits, which it can't:\n%s", __builtin_ctz(rest),
                trial->text);
  if (trial->gpu->fault.happened)
    UNIT_ASSERT(view_may_fault(view), "warp %u faults, which it can't (%s):\n%s", point->warp->warp_in_block,
                trial->gpu->fault.message, trial->text);
}

/* Explores all that can happen from here on. */
static void look(Trial *trial) {
  forget(trial);
  Explorer *explorer = explorer_new(trial->gpu);
  trial->stuck |= explorer_prove(explorer) == EXPLORE_STUCK && explorer->views->len; /* or the host is at work */
  explorer_restart(explorer);
  if (!explorer_explore_all(explorer)) {
    explorer_free(explorer);
    return;
  }
  trial->explorer = explorer;
  if (trial->queues) {
    const BackingBuffer *buffer = backing_find(trial->backing, trial->queues, sizeof trial->held);
    memcpy(trial->held, &buffer->data[(trial->queues - buffer->base) / 4], sizeof trial->held);
  }
  trial->views = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < explorer->views->len; i++) {
    WarpView *view = g_ptr_array_index(explorer->views, i);
    g_hash_table_insert(trial->views, view->warp, view);
  }
}

static void launch(Trial *trial, unsigned kernel, uint32_t blocks, uint32_t threads, int stream, uint64_t words,
                   const uint64_t *symbols) {
  g_autofree char *why = NULL;
  LaunchConfig config = {.program = trial->program,
                         .kernel = program_kernel(trial->program, kernel),
                         .grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .stream = stream,
                         .args = (const uint8_t *)&words,
                         .args_bytes = sizeof words,
                         .symbols = symbols};
  bool fine = gpu_add_launch(trial->gpu, &config, &why);
  ck_assert_msg(fine, "%s\n%s", why, trial->text);
}

/* A host that stores to some words, and waits for one now and then. */
static void add_host(Trial *trial, RandomPtx *writer, guint buffer) {
  HostStep steps[4];
  char *why;
  for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
    static const HostStepKind kinds[] = {HOST_DELAY, HOST_WRITE, HOST_ADD, HOST_POLL};
    steps[i] = (HostStep){.kind = kinds[random_ptx_pick(writer, 4)],
                          .compare = HOST_NE,
                          .buffer = buffer,
                          .index = random_ptx_pick(writer, RANDOM_WORDS),
                          .value = 1 + random_ptx_pick(writer, 3),
                          .cycles = 200 + random_ptx_pick(writer, 3000)};
  }
  ck_assert(gpu_set_host(trial->gpu, steps, G_N_ELEMENTS(steps), &why));
}

/* Made from one seed. */
static void make(Trial *trial, RandomPtx *writer, const char *settings, uint64_t seed) {
  g_autoptr(Diag) diag = diag_new();
  unsigned kernels = 1 + random_ptx_pick(writer, 3);
  bool many = writer->gentle = !random_ptx_pick(writer, 12), host = !random_ptx_pick(writer, 6);
  bool groups = strstr(settings, "barrier") != NULL;
  trial->text = random_ptx_module(writer, kernels);
  PtxTarget target = {.capability = 75, .convergence_barriers = groups, .max_registers = 255};
  trial->program = ptx_lab_lower("random.ptx", trial->text, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(trial->program != NULL, "%s\n%s", messages, trial->text);
  trial->machine = lab_machine(settings);
  trial->backing = backing_new();
  guint buffer = backing_add(trial->backing, "words", RANDOM_WORDS, NULL);
  backing_buffer(trial->backing, buffer)->host = host;
  g_autofree uint64_t *symbols = symbols_place(trial->program, trial->backing);
  uint64_t words = backing_buffer(trial->backing, buffer)->base;
  for (guint i = 0; i < trial->program->variables->len; i++)
    if (strcmp(((const ProgramVariable *)g_ptr_array_index(trial->program->variables, i))->name, "queues") == 0)
      trial->queues = symbols[i];
  trial->gpu = gpu_new(trial->machine, trial->backing, seed);
  if (writer->heap)
    gpu_add_heap(trial->gpu, RANDOM_HEAP_BYTES);
  for (unsigned i = 0, launches = many ? LAUNCHES_MAX : 1 + random_ptx_pick(writer, 3); i < launches; i++)
    launch(trial, random_ptx_pick(writer, kernels), 1 + random_ptx_pick(writer, 3),
           random_ptx_pick(writer, 2) ? 64 : 1 + random_ptx_pick(writer, 96), (int)random_ptx_pick(writer, 2), words,
           symbols);
  if (host)
    add_host(trial, writer, buffer);
}

static void trial_clear(Trial *trial) {
  forget(trial);
  gpu_free(trial->gpu);
  backing_free(trial->backing);
  program_free(trial->program);
  machine_free(trial->machine);
  g_free(trial->text);
}

typedef struct Tally {
  unsigned finished, faults, stuck, checked;
} Tally;

static void try(const char *settings, uint64_t seed, RandomHeap heap, bool queues, Tally *tally) {
  Trial trial = {0};
  RandomPtx writer = {.heap = heap, .queues = queues};
  rng_seed(&writer.rng, seed, 0);
  make(&trial, &writer, settings, seed);
  Listener listener = {.trial = &trial};
  Probe probe = {.user = &listener, .access = note_access, .issued = check_issue};
  Probe starts = {.user = &trial, .block_start = block_starts};
  gpu_subscribe(trial.gpu, &probe);
  gpu_subscribe(trial.gpu, &starts);
  GpuStop stop = GPU_BUDGET;
  for (unsigned slice = 0; slice < 12 && stop == GPU_BUDGET; slice++) {
    stop = gpu_run(trial.gpu, 1 + rng_below(&writer.rng, slice < 8 ? 60 : 1500), 50000000);
    if (stop == GPU_BUDGET)
      look(&trial);
  }
  for (unsigned slice = 0; slice < 20 && stop == GPU_BUDGET; slice++) /* has it an end, after all? */
    stop = gpu_run(trial.gpu, 1000, 50000000);
  bool ended = stop == GPU_FINISHED || stop == GPU_FAULT;
  ck_assert_msg(!ended || !trial.stuck, "%s: a run that ends (%d) was called a deadlock:\n%s", settings, stop,
                trial.text);
  tally->finished += stop == GPU_FINISHED;
  tally->faults += stop == GPU_FAULT;
  tally->stuck += trial.stuck;
  tally->checked += trial.checked;
  trial_clear(&trial);
}

static const char *const settings[] = {
    "sm.policy=random sm.jitter_cycles=9",
    "sm.policy=greedy-then-oldest sm.simt_stack.branch_order=fallthrough-first",
    "sm.policy=random sm.jitter_cycles=9 sm.convergence=barrier",
    "sm.policy=youngest sm.convergence=barrier sm.max_blocks=2",
};

START_TEST(runs_do_what_was_explored) {
  enum { PROGRAMS = 32 };
  Tally tally = {0};
  for (unsigned i = 0; i < PROGRAMS; i++)
    try(settings[_i], 1000 * (uint64_t)_i + i, RANDOM_NO_HEAP, false, &tally);
  const char *counts = "%u finished, %u faults, %u proved stuck, %u instructions checked";
  ck_assert_msg(tally.finished > 5 && tally.faults > 1 && tally.stuck > 3 && tally.checked > 5000, counts,
                tally.finished, tally.faults, tally.stuck, tally.checked);
}
END_TEST

/* The same with malloc() and free(): pointers that go from thread to thread, an exhausted heap, what was freed used
 * again. */
START_TEST(runs_with_a_heap_do_what_was_explored) {
  enum { PROGRAMS = 24 };
  Tally tally = {0};
  for (unsigned i = 0; i < PROGRAMS; i++)
    try(settings[_i], 100000 + 1000 * (uint64_t)_i + i, i % 4 ? RANDOM_HEAP_FIRST : RANDOM_HEAP_ANYWHERE, false,
        &tally);
  const char *counts = "%u finished, %u faults, %u proved stuck, %u instructions checked";
  ck_assert_msg(tally.finished > 5 && tally.faults > 1 && tally.stuck > 1 && tally.checked > 5000, counts,
                tally.finished, tally.faults, tally.stuck, tally.checked);
}
END_TEST

/* The same with ENQUEUE and DEQUEUE, once or until they succeed, of queues that other accesses come to as well. */
START_TEST(runs_with_queues_do_what_was_explored) {
  enum { PROGRAMS = 32 };
  Tally tally = {0};
  g_autofree char *with =
      g_strdup_printf("%s memory.queue.bytes=%d memory.queue.slot_interval=3", settings[_i], RANDOM_QUEUE_BYTES);
  for (unsigned i = 0; i < PROGRAMS; i++)
    try(with, 200000 + 1000 * (uint64_t)_i + i, RANDOM_NO_HEAP, true, &tally);
  const char *counts = "%u finished, %u faults, %u proved stuck, %u instructions checked";
  ck_assert_msg(tally.finished > 5 && tally.stuck > 3 && tally.checked > 5000, counts, tally.finished, tally.faults,
                tally.stuck, tally.checked);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("exploration");
  TCase *tcase = tcase_create("exploration");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, runs_do_what_was_explored, 0, G_N_ELEMENTS(settings));
  tcase_add_loop_test(tcase, runs_with_a_heap_do_what_was_explored, 0, G_N_ELEMENTS(settings));
  tcase_add_loop_test(tcase, runs_with_queues_do_what_was_explored, 0, G_N_ELEMENTS(settings));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
