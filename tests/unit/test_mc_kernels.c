/* Kernels of machine code (tests/machine_code/NAME.cu and the cubins that nvcc made of them) against a CPU
 * reference; copies and barriers as PTX, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "isa/mc/mc_listing.h"
#include "isa/mc/mc_lower.h"
#include "sim/core/gpu.h"
#include "sim/core/symbols.h"
#include "tests/unit/mc_lab.h"
#include "tests/unit/mc_vectors.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

enum { BLOCKS = 2, N = BLOCKS * THREADS, CYCLES_MAX = 5000000, DYNAMIC_BYTES = 96 };

typedef struct KernelCase {
  const char *file, *kernel;
  Reference *reference;
} KernelCase;

/* ---- pointers.cu ---- */

static uint32_t called(uint32_t function, uint32_t a, uint32_t b) {
  return function == 0 ? a + b : function == 1 ? a * b + 1 : a - b;
}

static uint32_t by_table(uint32_t t, const uint32_t *in) {
  uint32_t which = low_byte(in, t) % 3;
  return 3 * called(which, t, 7) + called(2 - which, t, 3);
}

static uint32_t virtuals(uint32_t t, const uint32_t *in) {
  uint32_t value = low_byte(in, t);
  return value & 1 ? t * t * value + 4000 : t * 5 + value;
}

static uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static uint32_t recursion(uint32_t t, const uint32_t *in) { return fibonacci(low_byte(in, t) % 9); }

static uint32_t ackermann(uint32_t m, uint32_t n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static uint32_t nested(uint32_t t, const uint32_t *in) { return ackermann(low_byte(in, t) % 3, t % 5); }

static uint32_t frames(uint32_t t, const uint32_t *in) {
  enum { VALUES = 24 };
  uint32_t value = low_byte(in, t), values[VALUES], sum = 0;
  for (uint32_t i = 0; i < VALUES; i++)
    values[i] = value * (i + 3);
  values[value % VALUES] += t;
  for (uint32_t i = 0; i < VALUES; i++)
    sum += values[i * (value % 7) % VALUES] * (i + 1);
  return sum;
}

static uint32_t switches(uint32_t t, const uint32_t *in) {
  uint32_t value = low_byte(in, t), r = t;
  for (uint32_t i = 0; i < 3; i++)
    switch ((value + i) % 12) {
    case 0: r += t * 3; break;
    case 1: r ^= 55; break;
    case 2: r = r * 7 + 1; break;
    case 3: r -= value; break;
    case 4: r += value * value; break;
    case 5: r = ~r; break;
    case 6: r *= 4; break;
    case 7: r ^= t; break;
    case 8: r += 17; break;
    case 9: r = (uint32_t)((int32_t)r / 3); break;
    case 10: r = -r; break;
    default: r++;
    }
  return r;
}

/* ---- debug.cu ---- */

static uint32_t turns(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < N; i++)
    sum += (uint32_t)((int32_t)in[i] % 100);
  return t < N ? sum : 0;
}

static uint32_t pointed(uint32_t t, const uint32_t *in) {
  static const uint32_t first[] = {5, 7, 11}, second[] = {2, 3, 13};
  uint32_t value = low_byte(in, t), constant = (value & 1 ? first : second)[value % 3];
  return BLOCKS + (value % 2 ? value / constant : value + constant);
}

/* ---- sorted.cu ---- */

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint32_t sorted(uint32_t t, const uint32_t *in) {
  enum { VALUES = 10 };
  uint32_t values[VALUES];
  for (uint32_t i = 0; i < VALUES; i++)
    values[i] = in[(t + i) % N] & 1023;
  qsort(values, VALUES, sizeof *values, by_number);
  return values[3] + 1000 * values[8];
}

/* ---- mbarrier.cu ---- */

static uint32_t rounds(uint32_t t, const uint32_t *in) {
  uint32_t other = t / THREADS * THREADS + (t % THREADS + 1) % THREADS, sum = 0;
  for (uint32_t i = 0; i < 4; i++)
    sum = sum * 3 + in[other] + i;
  return sum;
}

static uint32_t drops(uint32_t t, const uint32_t *in) {
  uint32_t warp = t % THREADS / 32, producer = t / THREADS * THREADS + (t % 32 ^ 1), sum = 0;
  for (uint32_t i = 0; i < (warp == 2 ? 3u : 5u); i++)
    sum = sum * 7 + in[producer] * (i + 1);
  return warp ? sum : in[t];
}

static uint32_t neighbour(uint32_t t, const uint32_t *in) { return in[t ^ 1]; }

static uint32_t hopper(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 3; i++)
    sum = sum * 3 + in[t ^ 1] + i;
  return sum;
}

static uint32_t counted(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < THREADS; i++)
    sum += in[t / THREADS * THREADS + i];
  return sum;
}

/* ---- copies.cu ---- */

static uint32_t sizes(uint32_t t, const uint32_t *in) { return (in[t ^ 1] * 5 + in[t ^ 3]) * 3 + in[t ^ 5]; }

/* Of the four words of lane 4 * i, i modulo 4 have come. */
static uint32_t filled(uint32_t t, const uint32_t *in) {
  uint32_t other = (t % THREADS) ^ 1;
  return other % 4 < other / 4 % 4 ? in[t ^ 1] : 0;
}

static uint32_t stages(uint32_t t, const uint32_t *in) {
  uint32_t other = t / THREADS * THREADS + (t % THREADS + 1) % THREADS, sum = 0;
  for (uint32_t i = 0; i < 6; i++)
    sum = sum * 5 + in[(other + i * 7) % N];
  return sum;
}

/* ---- arrivals.cu ---- */

static uint32_t added(uint32_t t, const uint32_t *in) {
  uint32_t other = t / THREADS * THREADS + (t % THREADS + 1) % THREADS, sum = 0;
  for (uint32_t i = 0; i < 3; i++)
    sum = sum * 5 + in[(other + i * 7) % N];
  return sum;
}

static uint32_t ignored(uint32_t t, const uint32_t *in) { return in[t ^ 1] & 1 ? 0 : in[t ^ 1]; }

/* ---- rest.cu ---- */

/* A thread and those of its tile of `size` threads. */
static uint32_t ballot_of_tile(uint32_t t, uint32_t size, const uint32_t *in, uint32_t bit) {
  uint32_t votes = 0;
  for (uint32_t i = 0; i < size; i++)
    votes |= (low_byte(in, t / size * size + i) & bit ? 1u : 0) << i;
  return votes;
}

static uint32_t tile_votes(uint32_t t, const uint32_t *in) {
  enum { PAIR = 16, FOUR = 4 };
  bool all = true;
  for (uint32_t i = 0; i < FOUR; i++)
    all = all && low_byte(in, t / FOUR * FOUR + i) > 3;
  uint32_t r = low_byte(in, t ^ 1) * 3 + ballot_of_tile(t, PAIR, in, 1);
  return (r * 5 + all) * 7 + (ballot_of_tile(t, FOUR, in, 64) != 0);
}

static uint32_t double_extremes(uint32_t t, const uint32_t *in) {
  double a = in[t] & 1 ? NAN : (in[t] & 255) * 0.5 - 20, b = in[t] & 2 ? NAN : (in[t] >> 8 & 63) - 7.0;
  double low = fmin(a, b), high = fmax(a, b);
  return (uint32_t)((isnan(low) ? 1000 : (int)(low * 4)) * 3 + (isnan(high) ? 2000 : (int)(high * 4)));
}

static double as_half(double value) {
  enum { PRECISION = 11 };
  int exponent;
  double part = frexp(value, &exponent);
  return ldexp(rint(ldexp(part, PRECISION)), exponent - PRECISION);
}

static uint32_t bare(uint32_t t, const uint32_t *in) {
  uint32_t bits = (in[t] & 0x7f) << 8 | 1, exponent = bits >> 10;
  double part = exponent ? 1024 + (bits & 1023) : bits & 1023, half = ldexp(part, (int)MAX(exponent, 1) - 25);
  double d = (in[t] & 255) - 100.0;
  int root = exponent == 31 ? -1 : (int)(as_half(sqrt(half)) * 16);
  return (uint32_t)(root * 5 + (int)(fabs(d * 3 - 50) - d * d));
}

static int32_t clamped(int64_t value, int64_t low, int64_t high) { return (int32_t)CLAMP(value, low, high); }

static uint32_t saturated(uint32_t t, const uint32_t *in) {
  int32_t a = (int32_t)(in[t] << (in[t] & 31)), b = (int32_t)(in[t] * 77777777u), s = (int32_t)(in[t] * 5);
  uint32_t r = (uint32_t)clamped((int64_t)a + b, INT32_MIN, INT32_MAX);
  r = r * 3 + (uint32_t)clamped((int64_t)a - b, INT32_MIN, INT32_MAX);
  r = r * 3 + (uint32_t)clamped(s - 300, 0, UINT8_MAX);
  r = r * 3 + (uint32_t)clamped((int32_t)((uint32_t)s << 8), INT16_MIN, INT16_MAX);
  return r * 3 + (b == -1 ? 32u : (uint32_t)__builtin_clz(~(uint32_t)b));
}

static uint32_t less(uint32_t t, const uint32_t *in) {
  int64_t x = (int64_t)(int32_t)in[t] * (int32_t)(in[t] * 99991u) - (int32_t)in[t ^ 1];
  return (uint32_t)(x >> 7) + 5 * (uint32_t)(x >> 32);
}

static uint32_t reduced(uint32_t t, const uint32_t *in) {
  enum { LANES = 32, SOME = 10 };
  uint32_t first = t / LANES * LANES, odd = 0, least = UINT32_MAX;
  for (uint32_t i = 0; i < LANES; i++) {
    odd += low_byte(in, first + i) & 1 ? low_byte(in, first + i) : 0;
    least = i < SOME ? MIN(least, low_byte(in, first + i)) : least;
  }
  return (low_byte(in, t) & 1 ? odd : 0) + (t % LANES < SOME ? 1000 * least : 0);
}

static uint32_t dynamic(uint32_t t, const uint32_t *in) { return in[t] + DYNAMIC_BYTES; }

/* ---- special.cu ---- */

static uint32_t sums_of_halves(uint32_t t, const uint32_t *in) { return 3 * low_byte(in, t) + 1; }

static uint32_t positive_halves(uint32_t t, const uint32_t *in) {
  double a = low_byte(in, t) - 100.0, b = 50.0 - (in[t] & 127);
  return joined(half_bits(MAX(b, 0)), half_bits(MAX(a, 0)));
}

static uint32_t with_policies(uint32_t t, const uint32_t *in) { return in[t] + 3; }

static uint32_t elected(uint32_t t, const uint32_t *in) {
  (void)in;
  return t % 32 == 5;
}

static uint32_t several_halves(uint32_t t, const uint32_t *in) {
  double low = in[t & ~1u] & 1 ? 4 : 2, high = in[t & ~1u] & 1 ? 2 : 4;
  return t % 2 ? joined(half_bits(2), half_bits(2)) : joined(half_bits(low), half_bits(high));
}

static uint32_t reductions(uint32_t t, const uint32_t *in) {
  uint32_t sum = 0, most = 0, all = UINT32_MAX, any = 0, odd = 0;
  for (uint32_t i = 0; i < THREADS; i++) {
    sum += i - 3 * 2;
    most = MAX(most, i * 3 % 50);
    all &= ~(i & 12);
    any |= 1u << (i & 15);
    odd ^= i;
  }
  return t < N && in ? sum + 5 * most - 7 * (THREADS - 1) + 11 * all + 13 * any + 17 * odd : 0;
}

static uint32_t system_shared(uint32_t t, const uint32_t *in) {
  return in[t ^ 1] + 3 * (in[t / THREADS * THREADS + t % 32] + 1);
}

static uint32_t machine_numbers(uint32_t t, const uint32_t *in) {
  (void)in;
  return t < N;
}

/* ---- all ---- */

static const KernelCase cases[] = {
    {"pointers", "by_table", by_table},
    {"pointers", "virtuals", virtuals},
    {"pointers", "recursion", recursion},
    {"pointers", "nested", nested},
    {"pointers", "frames", frames},
    {"pointers", "switches", switches},
    {"pointers_linked", "by_table", by_table},
    {"pointers_linked", "virtuals", virtuals},
    {"pointers_linked", "recursion", recursion},
    {"pointers_linked", "nested", nested},
    {"pointers_linked", "frames", frames},
    {"pointers_linked", "switches", switches},
    {"debug", "turns", turns},
    {"debug", "pointed", pointed},
    {"sorted", "sorted", sorted},
    {"mbarrier", "rounds", rounds},
    {"mbarrier", "drops", drops},
    {"mbarrier", "raw", neighbour},
    {"mbarrier", "hopper", hopper},
    {"mbarrier", "counted", counted},
    {"arrivals", "added", added},
    {"arrivals", "counted", neighbour},
    {"arrivals", "library", neighbour},
    {"arrivals", "alone", neighbour},
    {"arrivals", "ignored", ignored},
    {"copies", "sizes", sizes},
    {"bits", "ones", bit_masks},
    {"pairs", "half_compared", half_compared},
    {"pairs", "half_extremes", half_extremes},
    {"pairs", "half_sums", half_sums},
    {"pairs", "brain_compared", brain_compared},
    {"pairs", "brain_sums", brain_sums},
    {"pairs", "brain_converted", brain_converted},
    {"pairs", "halves_added", halves_added},
    {"pairs", "brains_added", brains_added},
    {"vectors", "dots", dots},
    {"vectors", "differences", differences},
    {"vectors", "extremes", integer_extremes},
    {"vectors", "extremes_of_halves", three_halves},
    {"vectors", "rounded", rounded_halves},
    {"vectors", "tangents", tangents},
    {"vectors", "complex_numbers", complex_numbers},
    {"vectors", "quotients", quotients},
    {"vectors", "blocks_apart", blocks_apart},
    {"vectors", "floats_added", floats_added},
    {"vectors", "floats_fetched", floats_fetched},
    {"copies", "filled", filled},
    {"copies", "stages", stages},
    {"copies", "pipelined", stages},
    {"copies", "together", neighbour},
    {"copies", "waited", itself},
    {"special", "sums_of_halves", sums_of_halves},
    {"special", "positive_halves", positive_halves},
    {"special", "policies", with_policies},
    {"special", "elected", elected},
    {"special", "several_halves", several_halves},
    {"special", "reductions", reductions},
    {"special", "system_shared", system_shared},
    {"special", "machine_numbers", machine_numbers},
    {"rest", "tile_votes", tile_votes},
    {"rest", "double_extremes", double_extremes},
    {"rest", "bare", bare},
    {"rest", "saturated", saturated},
    {"rest", "less", less},
    {"rest", "dynamic", dynamic},
    {"rest", "reduced", reduced},
};

typedef struct Architecture {
  unsigned sm;
  const char *machine;
} Architecture;

/* sm_75 runs on the RTX 3070's machine here: no machine of that generation is described. */
static const Architecture architectures[] = {{75, "rtx3070"}, {80, "rtx3070"}, {86, "rtx3070"}, {90, "h200"}};

static const Kernel *find_kernel(const Program *program, const char *name) {
  for (guint i = 0; i < program->kernels->len; i++)
    if (strcmp(program_kernel(program, i)->name, name) == 0)
      return program_kernel(program, i);
  ck_abort_msg("no kernel %s", name);
}

/* The kernel's `out`. */
static void run(const Program *program, const Machine *machine, const char *name, const uint32_t *in, uint32_t *out) {
  g_autoptr(GByteArray) args = g_byte_array_new();
  Backing *backing = backing_new();
  uint64_t *symbols = symbols_place(program, backing);
  guint result = backing_add(backing, "out", N, out), input = backing_add(backing, "in", N, in);
  g_byte_array_append(args, (const guint8 *)&backing_buffer(backing, result)->base, 8);
  g_byte_array_append(args, (const guint8 *)&backing_buffer(backing, input)->base, 8);
  Gpu *gpu = gpu_new(machine, backing, 1);
  LaunchConfig config = {.program = program,
                         .kernel = find_kernel(program, name),
                         .grid = {BLOCKS, 1, 1},
                         .block = {THREADS, 1, 1},
                         .args = args->data,
                         .args_bytes = args->len,
                         .shared_bytes = DYNAMIC_BYTES,
                         .symbols = symbols};
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s: %s", name, why);
  GpuStop stop = gpu_run(gpu, CYCLES_MAX, UINT64_MAX);
  ck_assert_msg(stop == GPU_FINISHED, "%s on %s: stopped by %d: %s", name, machine->name, (int)stop,
                gpu->fault.happened ? gpu->fault.message : "");
  memcpy(out, backing_buffer(backing, result)->data, N * sizeof *out);
  gpu_free(gpu);
  g_free(symbols);
  backing_free(backing);
}

static char *path_of(const KernelCase *kernel, const Architecture *architecture, const char *ending) {
  return g_strdup_printf("%s/tests/machine_code/%s.sm_%u.%s", g_getenv("SRCDIR"), kernel->file, architecture->sm,
                         ending);
}

static bool is_recorded(const KernelCase *kernel, const Architecture *architecture, const char *ending) {
  g_autofree char *path = path_of(kernel, architecture, ending);
  return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* As machine code, or as PTX. */
static Program *load(const KernelCase *kernel, const Architecture *architecture, const char *ending) {
  if (strcmp(ending, "cubin") == 0) {
    g_autofree char *file = g_strdup_printf("%s.sm_%u.cubin", kernel->file, architecture->sm);
    return mc_lab_cubin_of("tests/machine_code", file, architecture->sm, NULL);
  }
  PtxTarget target = {.capability = architecture->sm,
                      .convergence_barriers = true,
                      .max_registers = 255,
                      .sm_registers = 65536,
                      .register_granule = 256};
  g_autofree char *path = path_of(kernel, architecture, ending), *text = NULL;
  ck_assert(g_file_get_contents(path, &text, NULL, NULL));
  return ptx_lab_lower_good(text, &target);
}

static void check(const KernelCase *kernel, const Architecture *architecture, const char *ending) {
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load(architecture->machine, NULL, diag);
  Program *program = load(kernel, architecture, ending);
  uint32_t in[N], out[N] = {0};
  for (uint32_t i = 0; i < N; i++)
    in[i] = (i + 11) * UINT32_C(2654435761) >> 7;
  run(program, machine, kernel->kernel, in, out);
  for (uint32_t t = 0; t < N; t++) {
    uint32_t want = kernel->reference(t, in);
    UNIT_ASSERT(out[t] == want, "%s of %s.sm_%u.%s: thread %u: %u, expected %u", kernel->kernel, kernel->file,
                architecture->sm, ending, t, out[t], want);
  }
  program_free(program);
  machine_free(machine);
}

START_TEST(kernels) {
  unsigned checked = 0;
  for (guint i = 0; i < G_N_ELEMENTS(architectures); i++)
    if (is_recorded(&cases[_i], &architectures[i], "cubin")) {
      check(&cases[_i], &architectures[i], "cubin");
      checked++;
    }
  ck_assert_uint_eq(checked, 3); /* of the four each file has three */
}
END_TEST

START_TEST(kernels_of_ptx) {
  unsigned checked = 0;
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++)
    for (guint i = 0; i < G_N_ELEMENTS(architectures); i++)
      if (is_recorded(&cases[c], &architectures[i], "ptx")) {
        check(&cases[c], &architectures[i], "ptx");
        checked++;
      }
  ck_assert_uint_eq(checked, 48);
}
END_TEST

/* By hand, without encodings: what ptxas makes of such code only where it runs out of uniform predicates. */
START_TEST(words_of_uniform_registers) {
  enum { LOW_BYTES = 0xabcdef, PREDICATES = 0x55, CHOSEN = 0x10 + 0x30, SUM = 2 * 3 + 5 };
  g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "tests", "machine_code", "uniform_words.txt", NULL),
                  *text = NULL;
  gsize length;
  g_autoptr(Diag) diag = diag_new();
  ck_assert(g_file_get_contents(path, &text, &length, NULL));
  g_autoptr(McModule) module = mc_listing_parse(path, text, length, diag);
  Machine *machine = machine_load("h200", NULL, diag);
  Program *program = module ? mc_lower(module, 90, NULL, NULL, false, diag) : NULL;
  uint32_t in[N] = {0}, out[N] = {0};
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program && !program_kernel(program, 0)->refusal, "%s", messages);
  run(program, machine, "uniform_words", in, out);
  for (uint32_t t = 0; t < N; t++)
    ck_assert_msg(out[t] == (PREDICATES << 24 | LOW_BYTES) + CHOSEN + SUM, "thread %u: %#x", t, out[t]);
  program_free(program);
  machine_free(machine);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("mc_kernels");
  TCase *tcase = tcase_create("mc_kernels");
  tcase_add_loop_test(tcase, kernels, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, kernels_of_ptx);
  tcase_add_test(tcase, words_of_uniform_registers);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
