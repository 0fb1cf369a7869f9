// Vyukov's queue of four cells, for several who put and several who take: the number in a cell says for which of them it is next.
// Numbers are kept less the cell's own, so that all begin with 0. PTX: traces/make_ptx.sh cuda_bounded_queue.cu
#include <cuda/atomic>

using cuda::memory_order;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
enum { CELLS = 4 };
struct Cell {
  int number, data;
};

// The next place, once its cell is ready for it: `ahead` of the place's number.
static __device__ int claim(Cell *cell, int *next, int ahead) {
  Word places(*next);
  int place = places.load(memory_order_relaxed);
  while (true) {
    int number = Word(cell[place % CELLS].number).load(memory_order_acquire) + place % CELLS;
    if (number != place + ahead)
      place = places.load(memory_order_relaxed);
    else if (places.compare_exchange_weak(place, place + 1, memory_order_relaxed, memory_order_relaxed))
      return place;
  }
}
static __device__ void release(Cell *cell, int place, int number, memory_order order) {
  Word(cell[place % CELLS].number).store(number - place % CELLS, order);
}

template <int AGAIN> static __device__ void pass(Cell *cell, int *put, int *taken, int *sum, int count, memory_order filled) {
  for (int i = 1; i <= count; i++)
    if (blockIdx.x % 2) {
      int place = claim(cell, taken, 1);
      atomicAdd(sum, cell[place % CELLS].data);
      release(cell, place, place + AGAIN, cuda::memory_order_release);
    } else {
      int place = claim(cell, put, 0);
      cell[place % CELLS].data = i;
      release(cell, place, place + 1, filled);
    }
}
extern "C" __global__ void bounded_queue(Cell *cell, int *put, int *taken, int *sum, int count) {
  pass<CELLS>(cell, put, taken, sum, count, cuda::memory_order_release);
}
extern "C" __global__ void bounded_queue_relaxed(Cell *cell, int *put, int *taken, int *sum, int count) {
  pass<CELLS>(cell, put, taken, sum, count, memory_order_relaxed);
}
// Who takes doesn't leave the cell to who comes a round later.
extern "C" __global__ void bounded_queue_once(Cell *cell, int *put, int *taken, int *sum, int count) {
  pass<1>(cell, put, taken, sum, count, cuda::memory_order_release);
}
