// Copies into shared memory without registers (cp.async): by the lines that a warp reads, by size, by banks that it writes, one after the other and
// in groups; and what closing a group and waiting for one cost alone.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_copies mc_copies.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

// A warp reads `lines` lines of its own, a word a lane, or 16 bytes a lane that follow each other; `to` has a place for each thread.
#define COPIES(name, lines, apart, ...)                                                                               \
  BENCH(name, WARPS_ALL, {16, 64}) {                                                                                  \
    __shared__ alignas(16) unsigned tile[8 * 1024];                                                                   \
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;                                                        \
    unsigned to = (unsigned)__cvta_generic_to_shared(tile) + apart * threadIdx.x % sizeof tile;                       \
    const unsigned *from = words + (apart == 16 ? 4 * threadIdx.x : (warp * lines + lane * lines / 32) * 32 + lane) % 4096;    \
    __syncthreads();                                                                                                  \
    unsigned start = clock_now();                                                                                     \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) { __VA_ARGS__ }                                              \
    end_row(took, start, tile[threadIdx.x] + (unsigned)(from - words) + to);                                          \
  }
#define COPY(bytes, how, to, from) asm volatile("cp.async." #how ".shared.global [%0], [%1], " #bytes ";" ::"r"(to), "l"(from) : "memory");
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory");
#define WAIT(left) asm volatile("cp.async.wait_group " #left ";" ::: "memory");

COPIES(group, 1, 4, COMMIT)
COPIES(group_wait, 1, 4, COMMIT WAIT(0))
COPIES(group_wait_all, 1, 4, asm volatile("cp.async.wait_all;" ::: "memory");)
#define BY_LINES(lines)                                                                                               \
  COPIES(bare_##lines, lines, 4, COPY(4, ca, to, from))                                                               \
  COPIES(one_##lines, lines, 4, COPY(4, ca, to, from) COMMIT WAIT(0))                                                 \
  COPIES(two_##lines, lines, 4, COPY(4, ca, to, from) COPY(4, ca, to + 4096, from) COMMIT WAIT(0))                     \
  COPIES(two_groups_##lines, lines, 4, COPY(4, ca, to, from) COMMIT COPY(4, ca, to + 4096, from) COMMIT WAIT(0))       \
  COPIES(four_##lines, lines, 4, COPY(4, ca, to, from) COPY(4, ca, to + 4096, from) COPY(4, ca, to + 8192, from) COPY(4, ca, to + 12288, from) COMMIT WAIT(0))
BY_LINES(1)
BY_LINES(2)
BY_LINES(4)
BY_LINES(8)
BY_LINES(16)
BY_LINES(32)
// 16 bytes each, through the L1 and around it.
COPIES(wide_4, 4, 16, COPY(16, ca, to, from) COMMIT WAIT(0))
COPIES(wide_around_4, 4, 16, COPY(16, cg, to, from) COMMIT WAIT(0))
COPIES(wide_bare_4, 4, 16, COPY(16, ca, to, from))
// To one bank.
COPIES(bank_1, 1, 128, COPY(4, ca, to, from) COMMIT WAIT(0))
COPIES(bank_bare_1, 1, 128, COPY(4, ca, to, from))
// A load and a store in a copy's place.
COPIES(load_1, 1, 4, tile[threadIdx.x] = *(const volatile unsigned *)from;)
COPIES(load_4, 4, 4, tile[threadIdx.x] = *(const volatile unsigned *)from;)
