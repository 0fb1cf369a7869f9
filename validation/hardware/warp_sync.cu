// Shows, on a real GPU, where lanes of one warp meet that wait at different places: at bar.warp.sync (WARPSYNC), at a
// block barrier in a divergent branch (ptxas puts a WARPSYNC.ALL before it, or predicates a short branch), at the end of a
// branch (BSYNC). lockstep's WARPSYNC, WARPSYNC.ALL and isa/flow/short_branch.c are made after it (doc/warps.md, "Lane groups").
// One warp of 32 lanes; each kernel runs in a process of its own, since some hang: after 2 s it counts as hung.
// Build and run: nvcc -O2 -std=c++17 -arch=native -o warp_sync warp_sync.cu && ./warp_sync
// Output: CSV on stdout: the kernel, whether it completed or hung, and what it does. It takes half a minute.
#include "hardware.cuh"

#include <cstring>
#include <sys/wait.h>

// asm, so that the compiler neither moves nor merges it.
#define SYNC(mask) asm volatile("bar.warp.sync " #mask ";" ::: "memory")
// Enough work that ptxas leaves a branch around it; volatile, so that it stays where it is.
#define WORK(step) \
  cell[lane] = cell[lane ^ 2] + step; \
  cell[lane + 32] = cell[lane ^ 4] * 3; \
  cell[lane + 64] = cell[lane ^ 8] - step;

// `out` gets what some lane saw of another, where a row needs it.
#define KERNEL(name) extern "C" __global__ void name(volatile int *cell, volatile int *out)
#define LANE int lane = threadIdx.x

KERNEL(two_syncs) {
  LANE;
  if (lane & 1) {
    WORK(1) SYNC(0xffffffff);
    WORK(2)
  } else {
    WORK(3) SYNC(0xffffffff);
    WORK(4)
  }
  cell[lane] = 1;
}
KERNEL(sync_then_sync) {
  LANE;
  if (lane & 1) {
    WORK(1) SYNC(0xffffffff);
    WORK(2)
  }
  SYNC(0xffffffff);
  cell[lane] = 1;
}
KERNEL(one_sync) {
  LANE;
  if (lane & 1) {
    WORK(1) SYNC(0xffffffff);
    WORK(2)
  }
  cell[lane] = 1;
}
KERNEL(sync_of_the_odd) {
  LANE;
  cell[lane] = 0;
  if (lane & 1) {
    WORK(1) SYNC(0xaaaaaaaa);
    WORK(2)
    if (lane == 1)
      out[0] = cell[128]; // 5 if lane 0 went on while the odd ones synchronized
  }
  cell[128 + lane] = 5;
}
KERNEL(exited) {
  LANE;
  if (lane & 1)
    return;
  WORK(1) SYNC(0xffffffff);
  cell[lane] = 1;
}
KERNEL(two_shuffles) {
  LANE;
  int x = lane;
  if (lane & 1) {
    WORK(1) x = __shfl_sync(0xffffffff, x, lane ^ 2);
    WORK(2)
  } else {
    WORK(3) x += __shfl_sync(0xffffffff, x, lane ^ 4);
    WORK(4)
  }
  cell[lane] = x;
}
KERNEL(two_short_bars) {
  LANE;
  if (lane & 1)
    __syncthreads();
  else
    __syncthreads();
  cell[lane] = 1;
}
KERNEL(two_bars) {
  LANE;
  if (lane & 1) {
    WORK(1) __syncthreads();
    WORK(2)
  } else {
    WORK(3) __syncthreads();
    WORK(4)
  }
  cell[lane] = 1;
}
KERNEL(one_bar) {
  LANE;
  if (lane & 1) {
    WORK(1) __syncthreads();
    WORK(2)
  }
  cell[lane] = 1;
}
KERNEL(short_bar_then_bar) {
  LANE;
  if (lane & 1) {
    cell[lane] = 1;
    __syncthreads();
    cell[lane] = 2;
  }
  __syncthreads();
  cell[lane] = 1;
}
KERNEL(bar_then_bar) {
  LANE;
  if (lane & 1) {
    WORK(1) __syncthreads();
    WORK(2)
  }
  __syncthreads();
  cell[lane] = 1;
}
KERNEL(sync_then_bar) {
  LANE;
  if (lane & 1) {
    WORK(1) SYNC(0xffffffff);
    WORK(2)
  } else {
    WORK(3) __syncthreads();
    WORK(4)
  }
  cell[lane] = 1;
}
KERNEL(shuffle_then_bar) {
  LANE;
  int x = lane;
  if (lane & 1) {
    WORK(1) x = __shfl_sync(0xffffffff, x, lane ^ 2);
    WORK(2)
  }
  __syncthreads();
  cell[lane] = x;
}

static const struct {
  const char *name;
  void (*kernel)(volatile int *cell, volatile int *out);
  const char *what;
} cases[] = {
    {"two_syncs", two_syncs, "bar.warp.sync on both sides of a branch"},
    {"sync_then_sync", sync_then_sync, "odd lanes: bar.warp.sync; then all"},
    {"one_sync", one_sync, "only the odd lanes come to a bar.warp.sync of all"},
    {"sync_of_the_odd", sync_of_the_odd, "odd lanes: bar.warp.sync of the odd ones; out: 5 if lane 0 went on meanwhile"},
    {"exited", exited, "bar.warp.sync of all after the odd lanes have exited"},
    {"two_shuffles", two_shuffles, "shfl.sync of all on both sides of a branch"},
    {"two_short_bars", two_short_bars, "nothing but __syncthreads on both sides of a branch"},
    {"two_bars", two_bars, "__syncthreads among work on both sides of a branch"},
    {"one_bar", one_bar, "only the odd lanes come to a __syncthreads"},
    {"short_bar_then_bar", short_bar_then_bar, "odd lanes: __syncthreads between two stores; then all"},
    {"bar_then_bar", bar_then_bar, "odd lanes: __syncthreads among work; then all"},
    {"sync_then_bar", sync_then_bar, "odd lanes: bar.warp.sync of all; even ones: __syncthreads"},
    {"shuffle_then_bar", shuffle_then_bar, "odd lanes: shfl.sync of all; then all: __syncthreads"},
};

// Runs one kernel and prints its row. The process ends with it: a hung kernel can't be ended otherwise.
static int run(const char *name) {
  Words cell(256), out(1);
  cell.fill(0);
  out.fill(0);
  for (const auto &one : cases) {
    if (strcmp(one.name, name) != 0)
      continue;
    one.kernel<<<1, 32>>>(cell, out);
    check_cuda(cudaGetLastError(), name);
    double deadline = seconds() + 2;
    cudaError_t error;
    while ((error = cudaStreamQuery(0)) == cudaErrorNotReady && seconds() < deadline) {
    }
    bool hung = error == cudaErrorNotReady;
    if (!hung)
      check_cuda(error, name);
    printf("%s,%s,%d,%s\n", one.name, hung ? "hung" : "completed", hung ? 0 : out.get(0), one.what);
    fflush(stdout);
    _exit(0);
  }
  return 1;
}

int main(int argc, char **argv) {
  if (argc > 1)
    return run(argv[1]);
  puts("kernel,outcome,out,what");
  fflush(stdout);
  int failed = 0;
  for (const auto &one : cases) {
    pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", argv[0], one.name, (char *)nullptr);
      _exit(1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    failed |= status != 0;
  }
  return failed;
}
