// The programs of traces/irregular/ on a GPU, as they are: time of the kernel, lock transfers as the program measures them, and the
// program's own check. Also the steps of %globaltimer. Prints CSV (irregular_GPU.csv). Loops end, since each program ends.
//
//   nvcc -O3 -arch=sm_90 -o hash_table irregular.cu && nvcc -O3 -arch=sm_90 -DACCOUNTS -o accounts irregular.cu
//   (./hash_table; ./accounts) >irregular_h200.csv
#include <stdlib.h>
#ifdef ACCOUNTS
#include "../../traces/irregular/accounts.cu"
#else
#include "../../traces/irregular/hash_table.cu"
#endif

enum { RUNS = 7 };

struct Case {
  int blocks, threads, each, pool, places, scattered, fence, retry;
};

static void need(cudaError_t error) {
  if (error != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
  }
}

template <class T> static T *device(size_t count) {
  T *pointer;
  need(cudaMalloc(&pointer, count * sizeof(T)));
  need(cudaMemset(pointer, 0, count * sizeof(T)));
  return pointer;
}

static int by_value(const void *a, const void *b) {
  float left = *(const float *)a, right = *(const float *)b;
  return left < right ? -1 : left > right;
}

#ifdef ACCOUNTS
#define PROGRAM "accounts"
static const Case cases[] = {
    {4, 64, 2, 16, 64, 0, 1, 0},         {4, 64, 2, 16, 64, 0, 1, 1},         {16, 128, 1, 1024, 1024, 0, 0, 0},
    {16, 128, 1, 1024, 1024, 0, 0, 1},   {64, 128, 1, 32768, 32768, 0, 0, 0}, {64, 128, 1, 32768, 32768, 0, 0, 1},
    {264, 1024, 1, 131072, 131072, 0, 0, 0}, {264, 1024, 1, 131072, 131072, 0, 0, 1},
};
struct Memory {
  Account *accounts;
  Word *sums, *result;
  locks::Time *stamps, *total;
};
static Memory memory_of(const Case &c) {
  return {device<Account>(c.places), device<Word>(c.places), device<Word>(4), device<locks::Time>(c.places),
          device<locks::Time>(2)};
}
static void launch(const Case &c, const Memory &m, bool timed) {
  Bank bank = {m.accounts, c.places, c.pool, c.scattered, 1};
  if (timed)
    transfer_timed<<<c.blocks, c.threads>>>(bank, c.each, c.retry, 1, c.fence, 1, 0, m.stamps, m.total);
  else
    transfer<<<c.blocks, c.threads>>>(bank, c.each, c.retry, 1, c.fence, 1, 0);
}
static bool right(const Case &c, const Memory &m) {
  Bank bank = {m.accounts, c.places, c.pool, c.scattered, 1};
  Word result[2];
  add_up<<<c.blocks, c.threads>>>(bank, c.each, m.sums);
  check<<<c.blocks, c.threads>>>(bank, m.sums, m.result);
  need(cudaMemcpy(result, m.result, sizeof result, cudaMemcpyDeviceToHost));
  return !result[0] && !result[1];
}
static void release(const Memory &m) {
  cudaFree(m.accounts), cudaFree(m.sums), cudaFree(m.result), cudaFree(m.stamps), cudaFree(m.total);
}
#else
#define PROGRAM "hash_table"
static const Case cases[] = {
    {4, 64, 2, 16, 4096, 1, 1, 0},           {56, 1024, 1, 256, 4194304, 1, 0, 0},
    {56, 1024, 1, 1024, 4194304, 1, 0, 0},   {56, 1024, 4, 1024, 4194304, 1, 0, 0},
    {56, 1024, 1, 32768, 4194304, 1, 0, 0},  {264, 1024, 1, 256, 4194304, 1, 0, 0},
    {264, 1024, 1, 1024, 4194304, 1, 0, 0},  {264, 1024, 4, 1024, 4194304, 1, 0, 0},
    {264, 1024, 1, 32768, 4194304, 1, 0, 0}, {264, 1024, 1, 131072, 4194304, 1, 0, 0},
};
struct Memory {
  Bucket *buckets;
  Word *next, *result;
  locks::Time *stamps, *total;
};
static Memory memory_of(const Case &c) {
  return {device<Bucket>(c.places), device<Word>((size_t)c.blocks * c.threads * c.each), device<Word>(4),
          device<locks::Time>(c.places), device<locks::Time>(2)};
}
static void launch(const Case &c, const Memory &m, bool timed) {
  Table table = {m.buckets, m.next, c.places, c.pool, c.scattered, 1};
  if (timed)
    insert_timed<<<c.blocks, c.threads>>>(table, c.each, c.fence, 1, 0, m.stamps, m.total);
  else
    insert<<<c.blocks, c.threads>>>(table, c.each, c.fence, 1, 0);
}
static bool right(const Case &c, const Memory &m) {
  Table table = {m.buckets, m.next, c.places, c.pool, c.scattered, 1};
  Word result[4], operations = c.blocks * c.threads * c.each;
  check<<<c.blocks, c.threads>>>(table, c.each, operations, m.result);
  need(cudaMemcpy(result, m.result, sizeof result, cudaMemcpyDeviceToHost));
  return result[0] == operations && !result[1] && !result[2] && !result[3];
}
static void release(const Memory &m) {
  cudaFree(m.buckets), cudaFree(m.next), cudaFree(m.result), cudaFree(m.stamps), cudaFree(m.total);
}
#endif

/* The kernel's time in microseconds; a transfer's in nanoseconds, if timed. */
static float run(const Case &c, bool timed, double *transfer) {
  Memory m = memory_of(c);
  cudaEvent_t from, to;
  cudaEventCreate(&from), cudaEventCreate(&to);
  cudaEventRecord(from);
  launch(c, m, timed);
  cudaEventRecord(to);
  need(cudaDeviceSynchronize());
  float ms;
  cudaEventElapsedTime(&ms, from, to);
  if (timed) {
    locks::Time total[2];
    need(cudaMemcpy(total, m.total, sizeof total, cudaMemcpyDeviceToHost));
    *transfer = total[1] ? (double)total[0] / total[1] : 0;
  }
  if (!right(c, m)) {
    fprintf(stderr, "a wrong result\n");
    exit(1);
  }
  release(m);
  return ms * 1000;
}

/* The difference between two values of %globaltimer that follow each other. */
__global__ void steps(locks::Time *step) {
  locks::Time last = locks::now();
  for (int i = 0, k = 0; i < 10000000 && k < 9; i++) {
    locks::Time time = locks::now();
    if (time != last)
      step[k++] = time - last;
    last = time;
  }
}

int main() {
#ifndef ACCOUNTS
  locks::Time step[9], *steps_of = device<locks::Time>(9);
  steps<<<1, 1>>>(steps_of);
  need(cudaMemcpy(step, steps_of, sizeof step, cudaMemcpyDeviceToHost));
  printf("# steps of globaltimer, ns:");
  for (int i = 0; i < 9; i++)
    printf(" %llu", step[i]);
  printf("\nprogram,blocks,threads,each,pool,places,scattered,fence,retry,us_least,us_median,us_most,transfer_ns\n");
#endif
  for (const Case &c : cases) {
    float us[RUNS];
    double transfer = 0, none;
    run(c, false, &none);
    for (int i = 0; i < RUNS; i++)
      us[i] = run(c, false, &none);
    run(c, true, &transfer);
    qsort(us, RUNS, sizeof us[0], by_value);
    printf("%s,%d,%d,%d,%d,%d,%d,%d,%d,%.2f,%.2f,%.2f,%.1f\n", PROGRAM, c.blocks, c.threads, c.each, c.pool, c.places,
           c.scattered, c.fence, c.retry, us[0], us[RUNS / 2], us[RUNS - 1], transfer);
    fflush(stdout);
  }
  return 0;
}
