/* Whole kernels that nvcc compiled (tests/kernels/) against a CPU reference, on a machine with SIMT stacks and on one
 * with convergence barriers, there as PTX and as machine code. The bodies of most are the same text for both
 * compilers. */
#include <math.h>
#include <string.h>

#include "sim/core/gpu.h"
#include "sim/core/symbols.h"
#include "tests/kernels/bodies.h"
#include "tests/unit/mc_lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

enum { BLOCKS = 3, THREADS = 96, N = BLOCKS * THREADS };

/* ---- a bench for one kernel ---- */

typedef struct Bench {
  const Machine *machine;
  const Program *program;
  Backing *backing;
  uint64_t *symbols;
  GByteArray *args;
  uint32_t grid[3], block[3], shared;
} Bench;

/* SIMT stacks, convergence barriers, the latter in machine code; and the kernels that need the latter. */
enum { STACK, BARRIER, CODE, VOTES, VOTES_CODE, BENCHES };
static Machine *machines[BENCHES];
static Program *programs[BENCHES];

static Program *lower_file(const char *path, const Machine *machine) {
  g_autofree char *text = NULL;
  gsize length;
  ck_assert_msg(g_file_get_contents(path, &text, &length, NULL), "%s can't be read", path);
  g_autoptr(Diag) diag = diag_new();
  PtxTarget target = {.capability = machine->gpu.compute_capability,
                      .convergence_barriers = machine->sm.convergence == CONVERGENCE_BARRIER,
                      .max_registers = machine->sm.max_thread_registers};
  Program *program = ptx_lab_lower(path, text, &target, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program != NULL, "%s", messages);
  return program;
}

static void load(void) {
  static const char *const names[] = {"gtx1080ti", "h200", "h200", "h200", "h200"};
  static const char *const files[] = {"kernels_75.ptx", "kernels_90.ptx", "kernels_90.sm_90.cubin", "votes_90.ptx",
                                      "votes_90.sm_90.cubin"};
  for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autoptr(Diag) diag = diag_new();
    machines[i] = machine_load(names[i], NULL, diag);
    g_autofree char *messages = diag_render(diag);
    ck_assert_msg(machines[i] != NULL, "%s", messages);
    g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), "tests", "kernels", files[i], NULL);
    bool is_code = g_str_has_suffix(files[i], ".cubin");
    programs[i] = is_code ? mc_lab_cubin("tests/kernels", files[i], programs[i - 1]) : lower_file(path, machines[i]);
  }
}

static void unload(void) {
  for (unsigned i = 0; i < G_N_ELEMENTS(machines); i++) {
    machine_free(machines[i]);
    program_free(programs[i]);
  }
}

static void bench_init(Bench *bench, unsigned which) {
  *bench = (Bench){.machine = machines[which],
                   .program = programs[which],
                   .backing = backing_new(),
                   .args = g_byte_array_new(),
                   .grid = {BLOCKS, 1, 1},
                   .block = {THREADS, 1, 1}};
  bench->symbols = symbols_place(bench->program, bench->backing);
}

static void bench_clear(Bench *bench) {
  backing_free(bench->backing);
  g_byte_array_free(bench->args, TRUE);
  g_free(bench->symbols);
}

static void push(Bench *bench, const void *value, guint bytes, guint align) {
  while (bench->args->len % align)
    g_byte_array_append(bench->args, (const guint8 *)"", 1);
  g_byte_array_append(bench->args, value, bytes);
}

/* A buffer as the next argument; its index. */
static guint buffer(Bench *bench, const void *data, gsize bytes) {
  uint32_t words = (uint32_t)((bytes + 3) / 4);
  g_autofree uint32_t *copy = g_new0(uint32_t, words);
  if (data)
    memcpy(copy, data, bytes);
  guint index = backing_add(bench->backing, "buffer", words, copy);
  push(bench, &backing_buffer(bench->backing, index)->base, 8, 8);
  return index;
}

static const void *contents(const Bench *bench, guint index) { return backing_buffer(bench->backing, index)->data; }

static const Kernel *find_kernel(const Program *program, const char *name) {
  guint i = 0;
  while (strcmp(program_kernel(program, i)->name, name) != 0)
    i++;
  return program_kernel(program, i);
}

static void run(Bench *bench, const char *name) {
  Gpu *gpu = gpu_new(bench->machine, bench->backing, 1);
  LaunchConfig config = {.program = bench->program,
                         .kernel = find_kernel(bench->program, name),
                         .shared_bytes = bench->shared,
                         .args = bench->args->data,
                         .args_bytes = bench->args->len,
                         .symbols = bench->symbols};
  ck_assert_msg(config.kernel != NULL, "no kernel %s", name);
  memcpy(config.grid, bench->grid, sizeof config.grid);
  memcpy(config.block, bench->block, sizeof config.block);
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s: %s", name, why);
  GpuStop stop = gpu_run(gpu, 50000000, UINT64_MAX);
  ck_assert_msg(stop == GPU_FINISHED, "%s on %s: stopped by %d: %s", name, bench->machine->name, (int)stop,
                gpu->fault.happened ? gpu->fault.message : "");
  gpu_free(gpu);
}

static void fill(uint32_t *words, unsigned count, uint32_t seed) {
  for (unsigned i = 0; i < count; i++)
    words[i] = mix(seed + i);
}

static bool same_f32(f32 a, f32 b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }
static bool same_f64(f64 a, f64 b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }

/* ---- random expressions ---- */

/* Operands: edge cases, small and large numbers. */
static void operands(uint64_t in[4 * N]) {
  static const uint64_t edges[] = {0,
                                   1,
                                   2,
                                   127,
                                   128,
                                   255,
                                   32767,
                                   32768,
                                   65535,
                                   INT32_MAX,
                                   UINT32_C(1) << 31,
                                   UINT32_MAX,
                                   INT64_MAX,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX,
                                   0x123456789abcdef};
  for (unsigned i = 0; i < 4 * N; i++) {
    uint64_t random = (uint64_t)mix(2 * i) << 32 | mix(2 * i + 1);
    in[i] = i % 3 == 0 ? edges[mix(i) % G_N_ELEMENTS(edges)] : i % 3 == 1 ? random >> (mix(i) % 60) : random;
  }
}

#define EQUAL_u8(a, b) ((a) == (b))
#define EQUAL_s8 EQUAL_u8
#define EQUAL_u16 EQUAL_u8
#define EQUAL_s16 EQUAL_u8
#define EQUAL_u32 EQUAL_u8
#define EQUAL_s32 EQUAL_u8
#define EQUAL_u64 EQUAL_u8
#define EQUAL_s64 EQUAL_u8
#define EQUAL_f32 same_f32
#define EQUAL_f64 same_f64

#define X(i, T)                                                                                                   \
  static void check_expression_##i(const void *result, const uint64_t *in) {                                      \
    for (uint32_t t = 0; t < N; t++) {                                                                            \
      T got, want = expression_##i(in[4 * t], in[4 * t + 1], in[4 * t + 2], in[4 * t + 3], t);                    \
      memcpy(&got, (const char *)result + t * sizeof got, sizeof got);                                            \
      UNIT_ASSERT(EQUAL_##T(got, want), "expression %d, thread %u: got %.17g, expected %.17g", i, t, (double)got, \
                  (double)want);                                                                                  \
    }                                                                                                             \
  }
EXPRESSIONS(X)
#undef X

#define X(i, T) check_expression_##i,
static void (*const checks[])(const void *, const uint64_t *) = {EXPRESSIONS(X)};
#undef X

START_TEST(random_expressions) {
  uint64_t in[4 * N];
  operands(in);
  for (unsigned i = 0; i < G_N_ELEMENTS(checks); i++) {
    Bench bench;
    bench_init(&bench, (unsigned)_i);
    guint out = buffer(&bench, NULL, N * 8);
    buffer(&bench, in, sizeof in);
    g_autofree char *name = g_strdup_printf("expression_kernel_%u", i);
    run(&bench, name);
    checks[i](contents(&bench, out), in);
    bench_clear(&bench);
  }
}
END_TEST

/* ---- one thread at a time ---- */

/* Words from a kernel of (out, in), against `want`. */
static void expect_words(unsigned which, const char *name, unsigned each, const uint32_t *in, const uint32_t *want) {
  Bench bench;
  bench_init(&bench, which);
  guint out = buffer(&bench, NULL, N * each * 4);
  if (in)
    buffer(&bench, in, N * 4);
  run(&bench, name);
  const uint32_t *got = contents(&bench, out);
  for (uint32_t i = 0; i < N * each; i++)
    UNIT_ASSERT(got[i] == want[i], "%s: word %u is %u, expected %u", name, i, got[i], want[i]);
  bench_clear(&bench);
}

START_TEST(loops_calls_and_tables) {
  uint32_t in[N], want[N];
  fill(in, N, 7);
  for (uint32_t t = 0; t < N; t++)
    want[t] = collatz(t + 1);
  expect_words((unsigned)_i, "collatz_kernel", 1, NULL, want);
  for (uint32_t t = 0; t < N; t++)
    want[t] = dispatch(in[t] % 12, in[t], mix(in[t]));
  expect_words((unsigned)_i, "dispatch_kernel", 1, in, want);
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  for (uint32_t t = 0; t < N; t++)
    want[t] = crc(table, in[t]);
  expect_words((unsigned)_i, "crc_kernel", 1, in, want);
}
END_TEST

START_TEST(two_dimensions) {
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  memcpy(bench.grid, (const uint32_t[]){4, 2, 1}, sizeof bench.grid);
  memcpy(bench.block, (const uint32_t[]){16, 16, 1}, sizeof bench.block);
  guint out = buffer(&bench, NULL, 64 * 32 * 4);
  run(&bench, "mandelbrot_kernel");
  const uint32_t *got = contents(&bench, out);
  for (uint32_t i = 0; i < 64 * 32; i++)
    UNIT_ASSERT(got[i] == mandelbrot(i % 64, i / 64), "pixel %u is %u, expected %u", i, got[i],
                mandelbrot(i % 64, i / 64));
  bench_clear(&bench);
}
END_TEST

START_TEST(parameters_of_all_types) {
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  guint out = buffer(&bench, NULL, N * 4);
  uint32_t seed = 99;
  push(&bench, &seed, 4, 4);
  run(&bench, "sort_local_kernel");
  const uint32_t *words = contents(&bench, out);
  for (uint32_t t = 0; t < N; t++)
    UNIT_ASSERT(words[t] == sort_local(seed + t), "sort: word %u", t);
  bench_clear(&bench);

  bench_init(&bench, (unsigned)_i);
  out = buffer(&bench, NULL, N * 8);
  double x = 0.0078125;
  int8_t degree = 9;
  push(&bench, &x, 8, 8);
  push(&bench, &degree, 1, 1);
  run(&bench, "horner_kernel");
  const double *reals = contents(&bench, out);
  for (uint32_t t = 0; t < N; t++)
    UNIT_ASSERT(same_f64(reals[t], horner(x * t, degree)), "horner: thread %u: %.17g", t, reals[t]);
  bench_clear(&bench);

  bench_init(&bench, (unsigned)_i);
  out = buffer(&bench, NULL, N * 8);
  Mixed mixed;
  memset(&mixed, 0, sizeof mixed);
  mixed = (Mixed){200, -300, 4000000000u, UINT64_C(1) << 40, 2.5f, -0.125, {1, -2, 3, -4, 5}};
  uint16_t add = 40000;
  push(&bench, &mixed, sizeof mixed, 8);
  push(&bench, &add, 2, 2);
  run(&bench, "struct_kernel");
  reals = contents(&bench, out);
  for (uint32_t t = 0; t < N; t++)
    UNIT_ASSERT(same_f64(reals[t], fold_struct(&mixed, t + add)), "struct: thread %u: %.17g", t, reals[t]);
  bench_clear(&bench);
}
END_TEST

START_TEST(module_variables) {
  static const char *const texts[] = {"three", "one", "ree"};
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  guint out = buffer(&bench, NULL, N);
  run(&bench, "text_kernel");
  const uint8_t *got = contents(&bench, out);
  for (uint32_t t = 0; t < N; t++) {
    const char *text = texts[t % 3];
    uint32_t n = (uint32_t)strlen(text);
    UNIT_ASSERT(got[t] == (uint8_t)(text[t % n] + n), "byte %u is %u", t, got[t]);
  }
  bench_clear(&bench);
}
END_TEST

START_TEST(vectors) {
  uint32_t in[4 * N], bytes[N];
  float pairs[2 * N];
  fill(in, 4 * N, 11);
  fill(bytes, N, 12);
  for (unsigned i = 0; i < 2 * N; i++)
    pairs[i] = (float)(mix(i) % 5000);
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  guint out = buffer(&bench, NULL, sizeof in);
  buffer(&bench, in, sizeof in);
  buffer(&bench, pairs, sizeof pairs);
  buffer(&bench, bytes, sizeof bytes);
  guint halves = buffer(&bench, NULL, N * 4);
  run(&bench, "vector_kernel");
  const uint32_t *got = contents(&bench, out);
  const uint16_t *half = contents(&bench, halves);
  for (uint32_t t = 0; t < N; t++) {
    const uint32_t *v = in + 4 * t;
    uint32_t b = bytes[t], x = v[0] + (uint32_t)pairs[2 * t], w = v[3] ^ (uint32_t)pairs[2 * t + 1];
    uint32_t y = v[1] + (b & 255) * 256 + (b >> 24), z = v[2] - ((b >> 8 & 255) + (b >> 16 & 255));
    UNIT_ASSERT(got[4 * t] == w && got[4 * t + 1] == z && got[4 * t + 2] == y && got[4 * t + 3] == x, "thread %u", t);
    UNIT_ASSERT(half[2 * t] == (uint16_t)(x >> 3) && half[2 * t + 1] == (uint16_t)w, "halves of thread %u", t);
  }
  bench_clear(&bench);
}
END_TEST

static uint64_t reverse(uint64_t x, unsigned bits) {
  uint64_t y = 0;
  for (unsigned i = 0; i < bits; i++)
    y |= (x >> i & 1) << (bits - 1 - i);
  return y;
}

START_TEST(bit_instructions) {
  uint32_t in[N], want[12 * N];
  fill(in, N, 3);
  in[0] = 0, in[1] = UINT32_MAX, in[2] = 1;
  for (uint32_t t = 0; t < N; t++) {
    uint32_t x = in[t], y = mix(x), *o = want + 12 * t;
    uint64_t w = (uint64_t)y << 32 | x, eight = (uint64_t)y << 32 | x;
    o[0] = (uint32_t)__builtin_popcount(x);
    o[1] = x ? (uint32_t)__builtin_clz(x) : 32;
    o[2] = (uint32_t)reverse(x, 32);
    o[3] = x ? (uint32_t)__builtin_ctz(x) + 1 : 0;
    o[4] = 0;
    for (unsigned i = 0; i < 4; i++)
      o[4] |= (uint32_t)(eight >> 8 * (0x5273 >> 4 * i & 7) & 255) << 8 * i;
    o[5] = (uint32_t)((uint64_t)x * y >> 32);
    o[6] = (uint32_t)((int64_t)(int32_t)x * (int32_t)y >> 32);
    o[7] = (uint32_t)__builtin_popcountll(w) + 100 * (w ? (uint32_t)__builtin_clzll(w) : 64);
    o[8] = (uint32_t)((uint64_t)((unsigned __int128)w * w >> 64) >> 5);
    o[9] = x & 31 ? y << (x & 31) | x >> (32 - (x & 31)) : y;
    o[10] = y & 31 ? x >> (y & 31) | y << (32 - (y & 31)) : x;
    int64_t apart = (int64_t)(int32_t)x - (int32_t)y;
    int32_t x24 = (int32_t)(x << 8) >> 8, y24 = (int32_t)(y << 8) >> 8;
    o[11] = (uint32_t)(apart < 0 ? -apart : apart) + 7 + (uint32_t)((int64_t)x24 * y24) +
            (uint32_t)(reverse(w, 64) >> 17);
  }
  expect_words((unsigned)_i, "bits_kernel", 12, in, want);
}
END_TEST

START_TEST(carries) {
  uint64_t in[2 * N];
  for (unsigned i = 0; i < 2 * N; i++)
    in[i] = i % 5 == 0 ? UINT64_MAX : i % 7 == 0 ? 0 : (uint64_t)mix(i) << 32 | mix(~i);
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  guint out = buffer(&bench, NULL, N * 24);
  buffer(&bench, in, sizeof in);
  run(&bench, "carry_kernel");
  const uint64_t *got = contents(&bench, out);
  for (uint32_t t = 0; t < N; t++) {
    uint64_t a = in[2 * t], b = in[2 * t + 1], sum = a + b;
    UNIT_ASSERT(got[3 * t] == sum && got[3 * t + 1] == (sum < a) && got[3 * t + 2] == a - b, "thread %u", t);
  }
  bench_clear(&bench);
}
END_TEST

/* ---- threads together ---- */

START_TEST(shared_memory) {
  uint32_t in[4 * 256];
  fill(in, G_N_ELEMENTS(in), 5);
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  bench.grid[0] = 4;
  bench.block[0] = 256;
  bench.shared = 1024;
  guint out = buffer(&bench, NULL, 16);
  buffer(&bench, in, sizeof in);
  run(&bench, "reduce_kernel");
  for (uint32_t b = 0; b < 4; b++) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 256; i++)
      sum += in[256 * b + i];
    ck_assert_uint_eq(((const uint32_t *)contents(&bench, out))[b], sum);
  }
  bench_clear(&bench);

  bench_init(&bench, (unsigned)_i);
  bench.grid[0] = 4;
  bench.block[0] = 256;
  guint data = buffer(&bench, in, sizeof in);
  run(&bench, "bitonic_kernel");
  const int32_t *sorted = contents(&bench, data);
  for (uint32_t b = 0; b < 4; b++) {
    uint32_t before = 0, after = 0;
    for (uint32_t i = 0; i < 256; i++) {
      before += in[256 * b + i];
      after += (uint32_t)sorted[256 * b + i];
      UNIT_ASSERT(i == 0 || sorted[256 * b + i - 1] <= sorted[256 * b + i], "not sorted at %u of block %u", i, b);
    }
    ck_assert_uint_eq(before, after);
  }
  bench_clear(&bench);
}
END_TEST

START_TEST(shuffles) {
  uint32_t in[N];
  fill(in, N, 21);
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  guint data = buffer(&bench, in, sizeof in);
  run(&bench, "scan_kernel");
  const uint32_t *got = contents(&bench, data);
  uint32_t sum = 0;
  for (uint32_t t = 0; t < N; t++) {
    sum = t % THREADS ? sum + in[t] : in[t];
    UNIT_ASSERT(got[t] == sum, "prefix sum %u is %u, expected %u", t, got[t], sum);
  }
  bench_clear(&bench);
}
END_TEST

START_TEST(atomics) {
  uint32_t in[N], words[26] = {0}, want[26] = {0};
  uint64_t wides[5] = {0, 0, UINT64_MAX, 0, 1000}, want_wides[5] = {0, 0, UINT64_MAX, 0, 1000};
  float single = 0.5f, want_single = 0.5f;
  fill(in, N, 31);
  words[16] = want[16] = UINT32_MAX;
  words[20] = want[20] = UINT32_MAX;
  for (uint32_t t = 0; t < N; t++) {
    uint32_t x = in[t];
    want[x % 16]++;
    want[16] = MIN(want[16], x);
    want[17] = MAX(want[17], x);
    want[18] = (uint32_t)MIN((int32_t)want[18], (int32_t)x);
    want[19] = (uint32_t)MAX((int32_t)want[19], (int32_t)x);
    want[20] &= x | 0xff;
    want[21] |= x & 0xff0;
    want[22] ^= x;
    want[23] = want[23] >= 6 ? 0 : want[23] + 1;
    want[24] = want[24] == 0 || want[24] > 6 ? 6 : want[24] - 1;
    want[25] -= x;
    want_wides[0] += x;
    want_wides[1] = MAX(want_wides[1], (uint64_t)x * x);
    want_wides[2] = MIN(want_wides[2], (uint64_t)x << 9);
    want_wides[3] ^= (uint64_t)x << 21;
    want_wides[4] += x % 5;
    want_single += (float)(x % 8);
  }
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  guint word_buffer = buffer(&bench, words, sizeof words), wide_buffer = buffer(&bench, wides, sizeof wides);
  guint single_buffer = buffer(&bench, &single, sizeof single);
  buffer(&bench, in, sizeof in);
  run(&bench, "atomics_kernel");
  for (unsigned i = 0; i < 26; i++)
    UNIT_ASSERT(((const uint32_t *)contents(&bench, word_buffer))[i] == want[i], "word %u is %u, expected %u", i,
                ((const uint32_t *)contents(&bench, word_buffer))[i], want[i]);
  for (unsigned i = 0; i < 5; i++)
    UNIT_ASSERT(((const uint64_t *)contents(&bench, wide_buffer))[i] == want_wides[i], "64-bit word %u", i);
  ck_assert(memcmp(contents(&bench, single_buffer), &want_single, 4) == 0);
  bench_clear(&bench);
}
END_TEST

/* Only on the machine with convergence barriers: older ones have no match. */
START_TEST(votes_and_shuffles) {
  uint32_t in[N];
  fill(in, N, 41);
  Bench bench;
  bench_init(&bench, (unsigned)_i);
  guint out = buffer(&bench, NULL, 8 * sizeof in);
  buffer(&bench, in, sizeof in);
  run(&bench, "vote_kernel");
  const uint32_t *got = contents(&bench, out);
  for (uint32_t t = 0; t < N; t++) {
    const uint32_t *warp = in + t / 32 * 32, *block = in + t / THREADS * THREADS, lane = t % 32, x = in[t];
    uint32_t odd = 0, all = 1, any = 0, same = 0, half = 0, count = 0, conjunction = 1, disjunction = 0;
    for (uint32_t l = 0; l < 32; l++) {
      odd |= (warp[l] & 1) << l;
      all &= warp[l] < 0x80000000u;
      any |= warp[l] % 97 == 0;
      same |= (uint32_t)(warp[l] % 4 == x % 4) << l;
      if (l / 16 == lane / 16)
        half |= (uint32_t)((warp[l] & (lane < 16 ? 2 : 4)) != 0) << l;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
      count += (block[i] & 8) != 0;
      conjunction &= block[i] != 5;
      disjunction |= block[i] % 1021 == 3;
    }
    uint32_t want[8] = {odd + (uint32_t)__builtin_popcount(odd & ((1u << lane) - 1)),
                        all * 2 + any,
                        lane % 8 + 3 < 8 ? warp[lane + 3] : x,
                        warp[lane ^ 5],
                        warp[lane / 16 * 16 + lane * 7 % 16],
                        half,
                        same,
                        count * 4 + conjunction * 2 + disjunction};
    for (unsigned i = 0; i < 8; i++)
      UNIT_ASSERT(got[8 * t + i] == want[i], "thread %u: result %u is %u, expected %u", t, i, got[8 * t + i],
                  want[i]);
  }
  bench_clear(&bench);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("kernels");
  TCase *tcase = tcase_create("kernels");
  tcase_add_unchecked_fixture(tcase, load, unload);
  tcase_set_timeout(tcase, 60 * unit_patience());
  const TTest *tests[] = {random_expressions,
                          loops_calls_and_tables,
                          two_dimensions,
                          parameters_of_all_types,
                          module_variables,
                          vectors,
                          bit_instructions,
                          carries,
                          shared_memory,
                          shuffles,
                          atomics};
  for (unsigned i = 0; i < G_N_ELEMENTS(tests); i++)
    tcase_add_loop_test(tcase, tests[i], STACK, CODE + 1);
  tcase_add_loop_test(tcase, votes_and_shuffles, VOTES, VOTES_CODE + 1);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
