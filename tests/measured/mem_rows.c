/* mem_rows - the rows of validation/hardware/mem_latency.cu, mem_mixed.cu, mem_holder.cu, mem_random.cu and
 * mem_turns.cu on a simulated machine: what their main() does, with the same kernels (their PTX), and the same CSV.
 * mem_rows latency|mixed|holder|random|turns quick|all MACHINE SEED [PATH=VALUE...] quick: rows that take a few
 * seconds. Rows are
 * those of the GPU program; where it repeats a measurement, one is made. A mistake in what it is given ends it with
 * exit status 2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/lower/ptx_lower.h"
#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_lower.h"
#include "isa/ptx/ptx_parse.h"
#include "sim/core/gpu.h"
#include "sim/engine/rng.h"

enum { LINE = 32, PAGE = 1024, LINES_SHARED = 200 * 1024, MIXED_CYCLES = 300000, LIMIT = 1000000000 };

typedef struct Bench {
  const Machine *machine;
  Program *program;
  uint64_t seed;
  bool all;
} Bench;

/* Machine code. */
static Program *read_cubin(const char *file, const Machine *machine) {
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "validation", "hardware", file, NULL), *bytes = NULL;
  gsize length;
  if (!g_file_get_contents(path, &bytes, &length, NULL))
    g_error("%s can't be read", path);
  g_autoptr(Diag) diag = diag_new();
  McModule *module = mc_cubin_read(file, (const uint8_t *)bytes, length, diag);
  Program *program = module ? mc_lower(module, machine->gpu.compute_capability, NULL, NULL, false, diag) : NULL;
  if (!program) {
    g_autofree char *messages = diag_render(diag);
    g_error("%s", messages);
  }
  mc_module_free(module);
  return program;
}

static Program *read_program(const char *file, const Machine *machine) {
  if (g_str_has_suffix(file, ".cubin"))
    return read_cubin(file, machine);
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "validation", "hardware", file, NULL), *text = NULL;
  gsize bytes;
  if (!g_file_get_contents(path, &text, &bytes, NULL))
    g_error("%s can't be read", path);
  PtxTarget target = {.capability = machine->gpu.compute_capability,
                      .convergence_barriers = machine->sm.convergence == CONVERGENCE_BARRIER,
                      .max_registers = machine->sm.max_thread_registers};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(PtxModule) module = ptx_parse(file, text, bytes, diag);
  Program *program = module ? ptx_lower(module, &target, diag) : NULL;
  if (!program) {
    g_autofree char *messages = diag_render(diag);
    g_error("%s", messages);
  }
  return program;
}

/* ---- a launch ---- */

typedef struct Shape {
  uint32_t grid, block, shared;
} Shape;

static const Kernel *find_kernel(const Program *program, const char *name) {
  for (guint i = 0; i < program->kernels->len; i++)
    if (strcmp(program_kernel(program, i)->name, name) == 0)
      return program_kernel(program, i);
  g_error("no kernel %s", name);
}

static void add_launch(const Bench *bench, Gpu *gpu, const char *kernel, Shape shape, const void *args,
                       uint32_t bytes) {
  LaunchConfig config = {.program = bench->program,
                         .kernel = find_kernel(bench->program, kernel),
                         .grid = {shape.grid, 1, 1},
                         .block = {shape.block, 1, 1},
                         .shared_bytes = shape.shared,
                         .args = args,
                         .args_bytes = bytes};
  g_autofree char *why = NULL;
  if (!gpu_add_launch(gpu, &config, &why))
    g_error("%s: %s", kernel, why);
}

static void run(Gpu *gpu, const char *kernel) {
  if (gpu_run(gpu, LIMIT, LIMIT) != GPU_FINISHED)
    g_error("%s: no end", kernel);
  gpu_free(gpu);
}

static void launch(const Bench *bench, Backing *backing, const char *kernel, Shape shape, const void *args,
                   uint32_t bytes) {
  Gpu *gpu = gpu_new(bench->machine, backing, bench->seed);
  add_launch(bench, gpu, kernel, shape, args, bytes);
  run(gpu, kernel);
}

static uint64_t add(Backing *backing, const char *name, gsize words, guint *index) {
  *index = backing_add(backing, name, (uint32_t)words, NULL);
  return backing_buffer(backing, *index)->base;
}

/* ---- rows ---- */

static int by_value(const void *a, const void *b) {
  double first = *(const double *)a, second = *(const double *)b;
  return (first > second) - (first < second);
}

static void print_row(const char *program, const char *variant, uint32_t blocks, unsigned long n,
                      unsigned long accesses, GArray *each) {
  if (each->len) {
    g_array_sort(each, by_value);
    const double *value = &g_array_index(each, double, 0);
    printf("%s,%s,%u,1,%lu,%lu,%.2f,%.2f,%.2f\n", program, variant, blocks, n, accesses,
           value[each->len / 2] / accesses, value[0] / accesses, value[each->len - 1] / accesses);
  }
  g_array_free(each, TRUE);
}

static GArray *doubles(void) { return g_array_new(FALSE, FALSE, sizeof(double)); }
static void push(GArray *each, double value) { g_array_append_val(each, value); }

/* ---- latency ---- */

static void chase(const Bench *bench, const char *access, unsigned kind, unsigned long kilobytes) {
  struct {
    uint64_t words;
    uint32_t steps, ignored;
    uint64_t took;
  } args = {.steps = 2000};
  g_autofree char *kernel = g_strdup_printf("_Z5chaseILi%uEEvPjiPx", kind);
  g_autofree char *variant = g_strdup_printf("%s by footprint", access);
  Backing *backing = backing_new();
  guint words, took;
  args.words = add(backing, "words", kilobytes * 256, &words);
  args.took = add(backing, "took", 2, &took);
  uint32_t lines = (uint32_t)(kilobytes * 256 / LINE), *data = backing_buffer(backing, words)->data;
  g_autofree uint32_t *order = g_new(uint32_t, lines);
  Rng rng;
  rng_seed(&rng, 1, 1);
  for (uint32_t i = 0; i < lines; i++) { /* a random circle that begins with line 0 */
    uint32_t other = i < 2 ? i : 1 + rng_below(&rng, i);
    order[i] = order[other];
    order[other] = i;
  }
  for (uint32_t i = 0; i < lines; i++)
    data[(gsize)order[i] * LINE] = order[(i + 1) % lines] * LINE;
  Gpu *gpu = gpu_new(bench->machine, backing, bench->seed);
  for (unsigned i = 0; i < 2;
       i++) /* the second is the median of the GPU's three, which find the lines in the L2 from the second on */
    add_launch(bench, gpu, kernel, (Shape){1, 1, 0}, &args, sizeof args);
  run(gpu, kernel);
  GArray *each = doubles();
  push(each, backing_buffer(backing, took)->data[0]);
  print_row("latency", variant, 1, kilobytes * 1024, args.steps, each);
  backing_free(backing);
}

/* What `count` lines take from an SM. */
static GArray *lines_from(const Bench *bench, unsigned kind, uint32_t sm, uint32_t first_word, uint32_t count) {
  struct {
    uint32_t target, ignored;
    uint64_t words;
    uint32_t count, stride;
    uint64_t took;
  } args = {.target = sm, .count = count, .stride = LINE};
  g_autofree char *kernel = g_strdup_printf("_Z10lines_fromILi%uEEvjPjiiPt", kind);
  Backing *backing = backing_new();
  guint words, took;
  args.words = add(backing, "words", 1 << 20, &words) + 4ull * first_word;
  args.took = add(backing, "took", count / 2, &took);
  launch(bench, backing, kernel, (Shape){bench->machine->gpu.sms, 32, LINES_SHARED}, &args, sizeof args);
  GArray *each = doubles();
  const uint16_t *data = (const uint16_t *)backing_buffer(backing, took)->data;
  for (uint32_t i = 0; i < count; i++)
    push(each, data[i]);
  backing_free(backing);
  return each;
}

static void by_page(const Bench *bench, const char *access, unsigned kind, uint32_t sm) {
  enum { PAGES = 512, LINES = PAGE / LINE };
  g_autofree char *variant = g_strdup_printf("%s by page from SM %u", access, sm);
  g_autofree char *total = g_strdup_printf("%s of all lines from SM %u", access, sm);
  GArray *all = lines_from(bench, kind, sm, 0, PAGES * LINES);
  for (unsigned page = 0; page < PAGES; page += 4) {
    GArray *each = doubles();
    g_array_append_vals(each, &g_array_index(all, double, page *LINES), LINES);
    print_row("latency", variant, 1, page, 1, each);
  }
  print_row("latency", total, 1, PAGES * LINES, 1, all);
}

static void by_sm(const Bench *bench, const char *access, unsigned kind, uint32_t first_word) {
  g_autofree char *variant = g_strdup_printf("%s by SM", access);
  for (uint32_t sm = 0; sm < bench->machine->gpu.sms; sm += bench->all ? 1 : 6)
    print_row("latency", variant, 1, sm, 1, lines_from(bench, kind, sm, first_word, 32));
}

static void latency(const Bench *bench) {
  static const unsigned long sizes[] = {4,    16,   32,   64,    96,    128,   160,   192,   224,   256,  512,
                                        1024, 4096, 8192, 16384, 20480, 24576, 28672, 32768, 40960, 49152};
  static const unsigned from[] = {0, 1, 2, 66};
  for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i += bench->all ? 1 : 5) {
    chase(bench, "load", 0, sizes[i]);
    chase(bench, "load.cg", 1, sizes[i]);
    chase(bench, "atom.add", 4, sizes[i]);
  }
  for (unsigned i = 0; i < G_N_ELEMENTS(from); i += bench->all ? 1 : 4) {
    by_page(bench, "load.cg", 1, from[i]);
    by_page(bench, "atom.add", 4, from[i]);
  }
  by_sm(bench, "load.cg", 1, 0);
  by_sm(bench, "atom.add", 4, 0);
  by_sm(bench, "atom.cas", 7, 4 * PAGE);
}

/* ---- readers beside others ---- */

typedef struct Count {
  uint32_t done, ignored;
  uint64_t took;
} Count;

static void print_counts(const char *variant, const Count *counts, uint32_t from, uint32_t to, uint32_t blocks) {
  GArray *each = doubles();
  for (uint32_t i = from; i < to; i++)
    if (counts[i].done)
      push(each, (double)counts[i].took / counts[i].done);
  print_row("mixed", variant, blocks, to - from, 1, each);
}

static void mixed(const Bench *bench, bool atomics, uint32_t grid, uint32_t readers, uint32_t pause,
                  const char *place, uint32_t other) {
  struct {
    uint64_t words;
    uint32_t readers, read, other, pause;
    uint64_t count;
  } args = {.readers = readers, .read = 0, .other = other, .pause = pause};
  g_autofree char *kernel = g_strdup_printf("_Z5mixedILb%dEEvPjiiiiP5Count", atomics);
  g_autofree char *what =
      g_strdup_printf(" %s%s %s", atomics ? "atom.add" : "store", pause ? " now and then;" : ";", place);
  g_autofree char *read = g_strdup_printf("volatile beside%s", what), *others = g_strdup_printf("others:%s", what);
  Backing *backing = backing_new();
  guint words, count;
  args.words = add(backing, "words", 1 << 17, &words);
  args.count = add(backing, "count", grid * sizeof(Count) / 4, &count);
  launch(bench, backing, kernel, (Shape){grid, 32, 0}, &args, sizeof args);
  const Count *counts = (const Count *)backing_buffer(backing, count)->data;
  print_counts(read, counts, 0, readers, grid);
  print_counts(others, counts, readers, grid, grid);
  fflush(stdout);
  backing_free(backing);
}

static void pairs(const Bench *bench, bool atomics, uint32_t grid, uint32_t readers, uint32_t pause) {
  mixed(bench, atomics, grid, readers, pause, "same word", 0);
  mixed(bench, atomics, grid, readers, pause, "same line", 4);
  if (!bench->all)
    return;
  mixed(bench, atomics, grid, readers, pause, "same sector", 1);
  mixed(bench, atomics, grid, readers, pause, "next line", LINE);
  mixed(bench, atomics, grid, readers, pause, "another page", PAGE * 64);
}

static void contest(const Bench *bench, uint32_t grid, uint32_t hold) {
  struct {
    uint64_t word;
    uint32_t hold, ignored;
    uint64_t count, sm;
  } args = {.hold = hold};
  g_autofree char *wins = g_strdup_printf("atom.cas won; held for %u cycles: wins of a block", hold);
  g_autofree char *tries = g_strdup_printf("atom.cas won; held for %u cycles: tries of a block", hold);
  Backing *backing = backing_new();
  guint word, count, sm;
  args.word = add(backing, "word", LINE, &word);
  args.count = add(backing, "count", grid * sizeof(Count) / 4, &count);
  args.sm = add(backing, "sm", grid, &sm);
  launch(bench, backing, "_Z7contestPjiP5CountS_", (Shape){grid, 32, 0}, &args, sizeof args);
  const Count *counts = (const Count *)backing_buffer(backing, count)->data;
  GArray *won = doubles(), *tried = doubles();
  for (uint32_t i = 0; i < grid; i++) {
    push(won, counts[i].done);
    push(tried, (double)counts[i].took);
  }
  print_row("mixed", wins, grid, grid, 1, won);
  print_row("mixed", tries, grid, grid, 1, tried);
  backing_free(backing);
}

static void mixtures(const Bench *bench) {
  static const uint32_t atomics[] = {2, 4, 16, 132, 528, 1056}, others[] = {2, 16, 132, 1056},
                        contested[] = {2, 8, 32, 132, 264};
  uint32_t most = bench->all ? UINT32_MAX : 16;
  for (unsigned i = 0; i < G_N_ELEMENTS(atomics) && atomics[i] <= most; i++)
    pairs(bench, true, atomics[i], atomics[i] / 2, 0);
  for (unsigned i = 0; i < G_N_ELEMENTS(others) && others[i] <= most; i++)
    pairs(bench, false, others[i], others[i] / 2, 0);
  for (unsigned i = 0; i < G_N_ELEMENTS(others) && others[i] <= most; i++) {
    pairs(bench, true, others[i], others[i] - 1, 3000);
    pairs(bench, true, others[i], 1, 0);
  }
  for (unsigned i = 0; bench->all && i < G_N_ELEMENTS(contested); i++) {
    contest(bench, contested[i], 0);
    contest(bench, contested[i], 500);
  }
}

/* ---- who holds a crowded lock ---- */

enum { HOLDER_ROUNDS = 64, HOLDER_STEPS = 6 };

static void holder(const Bench *bench, uint32_t blocks, uint32_t threads, int32_t lanes) {
  static const char *const steps[HOLDER_STEPS] = {"its own try",     "fence",       "load",
                                                  "store and fence", "fence again", "exchange"};
  Backing *backing = backing_new();
  guint word, total, spent;
  struct {
    uint64_t word, total;
    int32_t lanes, ignored;
    uint64_t spent;
  } args = {.word = add(backing, "word", PAGE, &word), .total = add(backing, "total", PAGE, &total), .lanes = lanes};
  args.spent = add(backing, "spent", 2 * HOLDER_STEPS, &spent);
  launch(bench, backing, "_Z6holderPjS_iPx", (Shape){blocks, threads, 0}, &args, sizeof args);
  for (unsigned i = 0; i < HOLDER_STEPS; i++) {
    GArray *each = doubles();
    g_autofree char *variant = g_strdup_printf("holder: %s", steps[i]);
    push(each, (double)((const int64_t *)backing_buffer(backing, spent)->data)[i]);
    print_row("holder", variant, blocks, (unsigned long)lanes * threads / 32, HOLDER_ROUNDS, each);
  }
  backing_free(backing);
}

static void holders(const Bench *bench) {
  static const struct {
    uint32_t blocks, threads;
    int32_t lanes;
  } shapes[] = {{1, 32, 32},  {4, 32, 32},   {32, 32, 1},   {32, 32, 32}, {32, 64, 32},
                {132, 32, 1}, {132, 32, 32}, {132, 128, 1}, {66, 32, 32}};
  for (unsigned i = 0; i < G_N_ELEMENTS(shapes); i++)
    if (bench->all || shapes[i].blocks <= 32)
      holder(bench, shapes[i].blocks, shapes[i].threads, shapes[i].lanes);
}

/* ---- a crowd on random words ---- */

static void random_row(const char *variant, uint32_t blocks, uint32_t warps, uint32_t pairs, uint64_t cycles,
                       uint64_t count) {
  double mean = (double)cycles / (double)count;
  printf("random,%s,%u,%u,%u,1,%.2f,%.2f,%.2f\n", variant, blocks, 32 * warps, pairs, mean, mean, mean);
  fflush(stdout);
}

static void random_crowd(const Bench *bench, uint32_t pairs, uint32_t warps, uint32_t blocks, bool adds, bool apart) {
  static const char *const ops[] = {"atom.cas that fails", "atom.add"}, *const lines[] = {"their", "other"};
  struct {
    uint64_t pairs;
    uint32_t count, loads_at, adds, ignored;
    uint64_t sums;
  } args = {.count = pairs, .loads_at = apart ? 2 * pairs : 0, .adds = adds};
  Backing *backing = backing_new();
  guint words, sums;
  args.pairs = add(backing, "words", 4 * (gsize)pairs, &words);
  args.sums = add(backing, "sums", 8, &sums);
  launch(bench, backing, "_Z5crowdPjjjiPy", (Shape){blocks, 32 * warps, 0}, &args, sizeof args);
  const uint64_t *sum = (const uint64_t *)backing_buffer(backing, sums)->data;
  g_autofree char *tries = g_strdup_printf("%s; loads of %s lines", ops[adds], lines[apart]);
  g_autofree char *loads = g_strdup_printf("load of %s lines beside %s", lines[apart], ops[adds]);
  random_row(tries, blocks, warps, pairs, sum[2], sum[3]);
  random_row(loads, blocks, warps, pairs, sum[0], sum[1]);
  backing_free(backing);
}

static void random_crowds(const Bench *bench) {
  static const uint32_t pairs[] = {1 << 10, 1 << 15, 1 << 20}, warps[] = {2, 9, 32},
                        blocks[] = {1, 8, 28, 56, 112, 132};
  for (unsigned i = 0; i < G_N_ELEMENTS(pairs); i++)
    for (unsigned j = 0; j < G_N_ELEMENTS(warps); j++)
      for (unsigned k = 0; k < G_N_ELEMENTS(blocks); k++)
        if (bench->all || (blocks[k] * warps[j] <= 300 && blocks[k] == 28 && pairs[i] != 1 << 15))
          for (unsigned what = 0; what < 4; what++)
            random_crowd(bench, pairs[i], warps[j], blocks[k], what & 2, what & 1);
}

/* ---- accesses of different kinds by turns ---- */

enum { LOADS = 1, STORES, REDUCES, ADDS, KINDS };

typedef struct Turns {
  uint32_t words, blocks, warps;
  unsigned first, second; /* kinds; second: 0, none */
  bool same, apart;       /* of the same word; warps of the second kind are others */
} Turns;

static void turns_row(const Turns *turns, const char *variant, const uint64_t *sum) {
  double mean = (double)sum[0] / (double)sum[1];
  printf("turns,%s,%u,%u,%u,1,%.2f,%.2f,%.2f\n", variant, turns->blocks, 32 * turns->warps, turns->words / LINE, mean,
         mean, mean);
}

static void take_turns(const Bench *bench, const Turns *turns) {
  static const char *const kinds[] = {"nothing", "load", "store", "red.add", "atom.add"};
  struct {
    uint64_t words;
    uint32_t count, first, second, same, apart, ignored;
    uint64_t sums;
  } args = {.count = turns->words,
            .first = turns->first,
            .second = turns->second,
            .same = turns->same,
            .apart = turns->apart};
  Backing *backing = backing_new();
  guint words, sums;
  args.words = add(backing, "words", 4 << 20, &words);
  args.sums = add(backing, "sums", 8, &sums);
  launch(bench, backing, "turns", (Shape){turns->blocks, 32 * turns->warps, 0}, &args, sizeof args);
  const uint64_t *sum = (const uint64_t *)backing_buffer(backing, sums)->data;
  const char *a = kinds[turns->first], *b = kinds[turns->second];
  g_autofree char *behind = g_strdup_printf("%s then %s; %s word", a, b, turns->same ? "the same" : "another"),
                  *beside = g_strdup_printf("%s beside %s", a, b), *other = g_strdup_printf("%s beside %s", b, a);
  turns_row(turns, !turns->second ? a : turns->apart ? beside : behind, sum);
  if (turns->apart)
    turns_row(turns, other, sum + 2);
  fflush(stdout);
  backing_free(backing);
}

static void mix(const Bench *bench, uint32_t words, uint32_t blocks, uint32_t warps, unsigned first) {
  Turns turns = {words, blocks, warps, first, 0, false, false};
  take_turns(bench, &turns);
  for (turns.second = LOADS; turns.second < KINDS; turns.second++) {
    if (turns.second == first || (!bench->all && turns.first + turns.second > LOADS + STORES))
      continue;
    turns.apart = false;
    for (unsigned same = 0; same < 2; same++) {
      turns.same = same;
      take_turns(bench, &turns);
    }
    turns.same = false;
    turns.apart = true;
    if (first < turns.second)
      take_turns(bench, &turns);
  }
}

static void all_turns(const Bench *bench) {
  static const uint32_t words[] = {1 << 22, 1 << 19, 1 << 16, 1 << 14},
                        shapes[][2] = {{1, 32}, {56, 8}, {56, 32}, {132, 32}};
  for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
    for (unsigned k = 0; k < G_N_ELEMENTS(shapes); k++)
      for (unsigned first = LOADS; first < KINDS; first++)
        if (bench->all || (i == 2 && k == 0 && first <= STORES))
          mix(bench, words[i], shapes[k][0], shapes[k][1], first);
}

static const struct Table {
  const char *name, *program;
  void (*rows)(const Bench *bench);
} tables[] = {{"latency", "mem_latency.ptx", latency},
              {"mixed", "mem_mixed.ptx", mixtures},
              {"holder", "mem_holder.ptx", holders},
              {"random", "mem_random.sm_90.cubin", random_crowds},
              {"turns", "mem_turns.ptx", all_turns}};

int main(int argc, char **argv) {
  const struct Table *table = NULL;
  for (unsigned i = 0; argc > 1 && i < G_N_ELEMENTS(tables); i++)
    if (strcmp(argv[1], tables[i].name) == 0)
      table = &tables[i];
  if (argc < 5 || !table) {
    fputs("usage: mem_rows latency|mixed|holder|random|turns quick|all MACHINE SEED [PATH=VALUE...]\n", stderr);
    return 2;
  }
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_load(argv[3], (const char *const *)argv + 5, diag);
  if (!machine) {
    g_autofree char *messages = diag_render(diag);
    fputs(messages, stderr);
    return 2;
  }
  Bench bench = {.machine = machine, .seed = g_ascii_strtoull(argv[4], NULL, 10), .all = strcmp(argv[2], "all") == 0};
  bench.program = read_program(table->program, machine);
  printf("# lockstep, machine %s, seed %s\nprogram,variant,blocks,threads,n,accesses,cycles,low,high\n",
         machine->name, argv[4]);
  table->rows(&bench);
  program_free(bench.program);
  return 0;
}
