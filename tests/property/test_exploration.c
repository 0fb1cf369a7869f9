/* Whatever the executors do is among what the proof's exploration allows: random programs of PTX (faults, constant memory,
 * atomics on local memory, barriers, locks, several kernels, streams, a host, hundreds of launches) run under random schedules;
 * at some moments all that can happen is explored, and each instruction, stored value, exit and fault until a block or a kernel
 * comes must be in it. And no run that ends was called a deadlock before. */
#include <glib.h>
#include <string.h>

#include "sim/core/host.h"
#include "sim/core/symbols.h"
#include "sim/detect/proof/explore.h"
#include "sim/engine/rng.h"
#include "tests/unit/lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

enum { WORDS = 8, VALUES = 5, DEPTH_MAX = 3, LAUNCHES_MAX = 300 };

/* ---- programs ---- */

typedef struct Writer {
  Rng rng;
  GString *text;
  unsigned labels;
  bool groups; /* the machine has convergence barriers */
  bool gentle; /* no endless waits, so that many launches follow each other */
} Writer;

static unsigned pick(Writer *writer, unsigned n) { return rng_below(&writer->rng, n); }

G_GNUC_PRINTF(2, 3)
static void add(Writer *writer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_string_append_vprintf(writer->text, format, args);
  va_end(args);
}

/* %v0-%v4 are values; %rd5 becomes a generic address, of a word of global, shared or local memory, with `constants` also of
 * constant memory, and seldom of nothing or of half a word. */
static void write_address(Writer *writer, bool constants) {
  static const char *const bases[] = {"%rd1", "%rd1", "%rd1", "%rd2", "%rd2", "%rd3", "%rd4"};
  bool wild = !pick(writer, 80);
  const char *base = bases[pick(writer, constants ? 7 : 6)];
  if (pick(writer, 3))
    add(writer, "  add.u64 %%rd5, %s, %u;\n", base, wild ? pick(writer, 80) : 4 * pick(writer, 3));
  else
    add(writer, "  and.b32 %%r1, %%v%u, %u;\n  mad.wide.u32 %%rd5, %%r1, 4, %s;\n", pick(writer, VALUES),
        wild ? 31 : WORDS - 1, base);
}

/* Stores to constant memory and atomics on local memory are faults: they come seldom. */
static void write_access(Writer *writer) {
  static const char *const loads[] = {"ld.volatile.u32", "ld.u32", "ld.volatile.u16", "ld.u8"};
  static const char *const stores[] = {"st.volatile.u32", "st.u32", "st.u8", "st.volatile.u16"};
  static const char *const atomics[] = {"atom.add.u32", "atom.exch.b32", "atom.inc.u32",
                                        "atom.max.s32", "atom.or.b32",   "atom.min.u32"};
  unsigned a = pick(writer, VALUES), b = pick(writer, VALUES), c = pick(writer, VALUES), what = pick(writer, 6);
  write_address(writer, what < 2 || !pick(writer, 6));
  if (what >= 4 && strstr(writer->text->str + writer->text->len - 12, "%rd3") && pick(writer, 8))
    what = 2;
  switch (what) {
  case 0:
  case 1: add(writer, "  %s %%v%u, [%%rd5];\n", loads[pick(writer, 4)], a); break;
  case 2:
  case 3: add(writer, "  %s [%%rd5], %%v%u;\n", stores[pick(writer, 4)], a); break;
  case 4: add(writer, "  atom.cas.b32 %%v%u, [%%rd5], %%v%u, %%v%u;\n", a, b, c); break;
  default:
    if (pick(writer, 2))
      add(writer, "  %s %%v%u, [%%rd5], %%v%u;\n", atomics[pick(writer, 6)], a, b);
    else
      add(writer, "  red.add.u32 [%%rd5], %%v%u;\n", b);
    break;
  }
}

static void write_value(Writer *writer) {
  static const char *const ops[] = {"add.u32", "sub.u32", "xor.b32", "and.b32", "min.u32", "mul.lo.u32"};
  unsigned d = pick(writer, VALUES), a = pick(writer, VALUES), b = pick(writer, VALUES);
  switch (pick(writer, 6)) {
  case 0: add(writer, "  mov.u32 %%v%u, %u;\n", d, pick(writer, 4)); break;
  case 1:
    add(writer, "  mov.u32 %%v%u, %%%s;\n", d, pick(writer, 2) ? "laneid" : pick(writer, 2) ? "ctaid.x" : "tid.x");
    break;
  case 2:
    add(writer, "  setp.lt.u32 %%p1, %%v%u, %u;\n  vote.sync.ballot.b32 %%v%u, %%p1, -1;\n", a, pick(writer, 20), d);
    break;
  default: add(writer, "  %s %%v%u, %%v%u, %%v%u;\n", ops[pick(writer, 6)], d, a, b); break;
  }
}

static void write_test(Writer *writer) {
  static const char *const tests[] = {"eq", "ne", "lt", "ge"};
  add(writer, "  setp.%s.u32 %%p0, %%v%u, %u;\n", tests[pick(writer, 4)], pick(writer, VALUES), pick(writer, 6));
}

static void write_statements(Writer *writer, unsigned depth);

/* Spins on a word or a lock; one that may never come, unless the program is gentle. */
static void write_wait(Writer *writer) {
  unsigned label = writer->labels++, word = 4 * pick(writer, WORDS);
  const char *base = pick(writer, 3) ? "%rd1" : "%rd2";
  bool lock = pick(writer, 2);
  if (writer->gentle)
    return;
  add(writer, "W%u:\n", label);
  if (lock)
    add(writer, "  atom.cas.b32 %%r2, [%s+%u], 0, 1;\n", base, word);
  else
    add(writer, "  ld.volatile.u32 %%r2, [%s+%u];\n", base, word);
  if (pick(writer, 4) == 0)
    add(writer, "  red.add.u32 [%s+%u], 1;\n", base, 4 * pick(writer, WORDS));
  add(writer, "  setp.%s.u32 %%p2, %%r2, %u;\n  @%%p2 bra W%u;\n", lock || pick(writer, 2) ? "ne" : "eq",
      lock ? 0 : pick(writer, 2), label);
  if (!lock)
    return;
  write_statements(writer, DEPTH_MAX);
  if (pick(writer, 8))
    add(writer, "  atom.exch.b32 %%r2, [%s+%u], 0;\n", base, word);
}

static void write_branch(Writer *writer, unsigned depth) {
  unsigned label = writer->labels++;
  write_test(writer);
  add(writer, "  @%%p0 bra E%u;\n", label);
  write_statements(writer, depth + 1);
  if (pick(writer, 2)) {
    add(writer, "  bra.uni J%u;\nE%u:\n", label, label);
    write_statements(writer, depth + 1);
    add(writer, "J%u:\n", label);
  } else {
    add(writer, "E%u:\n", label);
  }
}

static void write_loop(Writer *writer, unsigned depth) {
  unsigned label = writer->labels++;
  add(writer, "  mov.u32 %%c%u, 0;\nL%u:\n", depth, label);
  write_statements(writer, depth + 1);
  add(writer, "  add.u32 %%c%u, %%c%u, 1;\n  setp.lt.u32 %%p1, %%c%u, %u;\n  @%%p1 bra L%u;\n", depth, depth, depth,
      1 + pick(writer, 5), label);
}

static void write_seldom(Writer *writer) {
  static const char *const texts[] = {"  bar.sync 0;\n",     "  bar.sync 0;\n",
                                      "  bar.sync 1, 64;\n", "  bar.arrive 1, 64;\n",
                                      "  @%p0 exit;\n",      "  @%p0 bar.sync 0;\n",
                                      "  membar.gl;\n",      "  @%p3 trap;\n",
                                      "  bar.sync 1, 96;\n", "  bar.red.popc.u32 %v1, 0, %p0;\n"};
  add(writer, "%s", texts[pick(writer, G_N_ELEMENTS(texts))]);
}

static void write_statements(Writer *writer, unsigned depth) {
  for (unsigned count = 1 + pick(writer, depth < DEPTH_MAX ? 4 : 2); count-- > 0;) {
    unsigned what = pick(writer, depth < DEPTH_MAX ? 14 : 9);
    if (what < 5)
      write_access(writer);
    else if (what < 8)
      write_value(writer);
    else if (what == 8)
      write_seldom(writer);
    else if (what < 11)
      write_branch(writer, depth);
    else if (what == 11)
      write_wait(writer);
    else
      write_loop(writer, depth);
  }
}

static void write_kernel(Writer *writer, unsigned number) {
  add(writer,
      ".visible .entry k%u(.param .u64 words)\n{\n  .reg .pred %%p<4>;\n  .reg .b32 %%r<4>;\n  .reg .b32 %%v<%d>;\n"
      "  .reg .b32 %%c<%d>;\n  .reg .b64 %%rd<8>;\n  .shared .align 4 .b8 both%u[%d];\n  .local .align 4 .b8 "
      "own%u[%d];\n"
      "  ld.param.u64 %%rd1, [words];\n  mov.u64 %%rd2, both%u;\n  cvta.shared.u64 %%rd2, %%rd2;\n"
      "  mov.u64 %%rd3, own%u;\n  cvta.local.u64 %%rd3, %%rd3;\n  mov.u64 %%rd4, table;\n  cvta.const.u64 %%rd4, "
      "%%rd4;\n"
      "  setp.eq.u32 %%p3, %%r0, 1;\n  setp.eq.u32 %%p0, %%r0, 1;\n",
      number, VALUES, DEPTH_MAX + 2, number, 4 * WORDS, number, 4 * WORDS, number, number);
  for (unsigned value = 0; value < VALUES; value++)
    add(writer, "  mov.u32 %%v%u, %s;\n", value,
        value == 0   ? "%tid.x"
        : value == 1 ? "%ctaid.x"
        : value == 2 ? "1"
                     : "0");
  write_statements(writer, 0);
  write_statements(writer, 0);
  add(writer, "  ret;\n}\n");
}

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
  unsigned checked;   /* instructions */
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

static void check_global(const Trial *trial, const ProbePoint *point, const uint64_t address[32], uint32_t bytes) {
  for (uint32_t rest = point->lanes; rest; rest &= rest - 1) {
    uint64_t at = address[__builtin_ctz(rest)];
    BackingBuffer *buffer = backing_find(trial->backing, at, bytes);
    check_word(trial, word_key_global(at), buffer->data[(at - buffer->base) / 4], point);
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
                        const uint64_t address[32], uint32_t bytes, uint32_t taken, bool unlock) {
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
static void add_host(Trial *trial, Writer *writer, guint buffer) {
  HostStep steps[4];
  char *why;
  for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
    static const HostStepKind kinds[] = {HOST_DELAY, HOST_WRITE, HOST_ADD, HOST_POLL};
    steps[i] = (HostStep){.kind = kinds[pick(writer, 4)],
                          .compare = HOST_NE,
                          .buffer = buffer,
                          .index = pick(writer, WORDS),
                          .value = 1 + pick(writer, 3),
                          .cycles = 200 + pick(writer, 3000)};
  }
  ck_assert(gpu_set_host(trial->gpu, steps, G_N_ELEMENTS(steps), &why));
}

/* Made from one seed. */
static void make(Trial *trial, Writer *writer, const char *settings, uint64_t seed) {
  g_autoptr(Diag) diag = diag_new();
  unsigned kernels = 1 + pick(writer, 3);
  bool many = writer->gentle = !pick(writer, 12), host = !pick(writer, 6);
  writer->text =
      g_string_new(".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .u32 table[8] = {1, 2, 3, 4};\n");
  for (unsigned kernel = 0; kernel < kernels; kernel++)
    write_kernel(writer, kernel);
  trial->text = g_string_free(writer->text, FALSE);
  PtxTarget target = {.capability = 75, .convergence_barriers = writer->groups, .max_registers = 255};
  trial->program = ptx_lab_lower("random.ptx", trial->text, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(trial->program != NULL, "%s\n%s", messages, trial->text);
  trial->machine = lab_machine(settings);
  trial->backing = backing_new();
  guint buffer = backing_add(trial->backing, "words", WORDS, NULL);
  backing_buffer(trial->backing, buffer)->host = host;
  g_autofree uint64_t *symbols = symbols_place(trial->program, trial->backing);
  uint64_t words = backing_buffer(trial->backing, buffer)->base;
  trial->gpu = gpu_new(trial->machine, trial->backing, seed);
  for (unsigned i = 0, launches = many ? LAUNCHES_MAX : 1 + pick(writer, 3); i < launches; i++)
    launch(trial, pick(writer, kernels), 1 + pick(writer, 3), pick(writer, 2) ? 64 : 1 + pick(writer, 96),
           (int)pick(writer, 2), words, symbols);
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

static void try(const char *settings, uint64_t seed, Tally *tally) {
  Trial trial = {0};
  Writer writer = {.groups = strstr(settings, "barrier") != NULL};
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
    try(settings[_i], 1000 * (uint64_t)_i + i, &tally);
  const char *counts = "%u finished, %u faults, %u proved stuck, %u instructions checked";
  ck_assert_msg(tally.finished > 5 && tally.faults > 1 && tally.stuck > 3 && tally.checked > 5000, counts,
                tally.finished, tally.faults, tally.stuck, tally.checked);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("exploration");
  TCase *tcase = tcase_create("exploration");
  tcase_set_timeout(tcase, 120);
  tcase_add_loop_test(tcase, runs_do_what_was_explored, 0, G_N_ELEMENTS(settings));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
