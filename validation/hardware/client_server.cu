// The hash table of traces/: under global locks, and by servers. Each form is run 21 times with seeds of its own, and checked each
// time; the first time isn't counted. Waits have no limit here, since servers that find no clients are what may go wrong: run it under
// `timeout 60`. PTX and SASS are those of the scenarios, the GPU's own sizes.
//
//   nvcc -O3 -std=c++17 -arch=native -o client_server client_server.cu && timeout 60 ./client_server 132 132 2 > client_server_mine.csv
//
// Arguments: client blocks, server blocks, operations a client thread (even); with a fourth one both kernels leave the carve-out of shared
// memory to the driver. Two blocks of 1024 threads fit on an SM; the form with locks has as many threads as clients and servers together.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../traces/client_server/hash_server.cu"

#define CHECK(call)                                                  \
  do {                                                               \
    cudaError_t error = (call);                                      \
    if (error != cudaSuccess) {                                      \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      exit(2);                                                       \
    }                                                                \
  } while (0)

enum { RUNS = 20, PLACES = 4194304, ENTRIES = 4096, LOCAL = 64, THREADS = 1024 };

static Word *words(size_t count) {
  Word *memory;
  CHECK(cudaMalloc(&memory, count * sizeof(Word)));
  return memory;
}
static void clear(Word *memory, size_t count) { CHECK(cudaMemset(memory, 0, count * sizeof(Word))); }

int main(int argc, char **argv) {
  int clients = argc > 1 ? atoi(argv[1]) : 132, servers = argc > 2 ? atoi(argv[2]) : 132,
      each = argc > 3 ? atoi(argv[3]) : 2;
  int operations = clients * THREADS * each, shared = 4 * messages::sender_words(servers, LOCAL, 2);
  size_t size = (size_t)servers * messages::channel_words(ENTRIES, 2);
  Word *table = words(2 * PLACES), *next = words(operations), *channels = words(size), *finished = words(1),
       *result = words(4);
  CHECK(cudaFuncSetAttribute(insert_clients, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  for (const void *kernel : {(const void *)insert_clients, (const void *)insert_servers})
    if (argc <= 4)
      CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  cudaStream_t first, second;
  cudaEvent_t begin, end;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  printf("# %s, %d client and %d server blocks, %d operations\nform,pool,us_median,us_least,us_most,wrong\n",
         device.name, clients, servers, operations);
  for (int pool : {256, 1024, 32768, 131072})
    for (int by_servers = 0; by_servers < 2; by_servers++) {
      std::vector<float> times;
      int wrong = 0;
      for (int run = 0; run <= RUNS; run++) {
        clear(table, 2 * PLACES);
        clear(next, operations);
        clear(channels, size);
        clear(finished, 1);
        clear(result, 4);
        CHECK(cudaDeviceSynchronize());
        Table shape = {(Bucket *)table, next, PLACES, pool, 1, (Word)run + 1};
        CHECK(cudaEventRecord(begin, first));
        if (by_servers) {
          CHECK(cudaStreamWaitEvent(second, begin, 0));
          insert_servers<<<servers, THREADS, 0, first>>>(shape, channels, ENTRIES, clients, finished, 8, LOCKS, 1, 0);
          insert_clients<<<clients, THREADS, shared, second>>>(shape, each, channels, servers, ENTRIES, LOCAL,
                                                               finished);
        } else {
          insert<<<2 * clients, THREADS, 0, first>>>(shape, each / 2, 1, 1, 0);
        }
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(end, first));
        CHECK(cudaDeviceSynchronize());
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        if (run)
          times.push_back(1000 * milliseconds);
        check<<<clients, THREADS>>>(shape, each, operations, result);
        Word found[4];
        CHECK(cudaMemcpy(found, result, sizeof found, cudaMemcpyDeviceToHost));
        wrong += found[0] != (Word)operations || found[1] || found[2] || found[3];
      }
      std::sort(times.begin(), times.end());
      printf("%s,%d,%.1f,%.1f,%.1f,%d\n", by_servers ? "servers" : "locks", pool, times[RUNS / 2], times[0],
             times[RUNS - 1], wrong);
      fflush(stdout);
    }
}
