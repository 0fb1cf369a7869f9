// arch: sm_90
// A mutex class with lock_guard, whose lock() waits by atomic::wait, in the manner of the C++ standard's examples; philosophers that take two of them in order.
#include "../wild/util.cuh"
class device_mutex {
  cuda::atomic<int, cuda::thread_scope_device> state;
public:
  __device__ void lock() {
    while (state.exchange(1, memory_order_acquire)) state.wait(1, memory_order_relaxed);
  }
  __device__ bool try_lock() { return !state.exchange(1, memory_order_acquire); }
  __device__ void unlock() { state.store(0, memory_order_release); state.notify_one(); }
};
template <class M> struct lock_guard {
  M &m;
  __device__ lock_guard(M &m) : m(m) { m.lock(); }
  __device__ ~lock_guard() { m.unlock(); }
};
struct Account { device_mutex m; int balance, uses; };
__global__ void account(Account *a, int each) {
  if (threadIdx.x) return;
  for (int i = 0; i < each; i++) {
    lock_guard<device_mutex> hold(a->m);
    a->balance += blockIdx.x + i;
    a->uses++;
  }
}
// Philosopher p eats with forks p and p + 1: the lower number first.
struct Fork { device_mutex m; int eaten, pad[6]; };
__global__ void philosophers(Fork *forks, int seats, int meals) {
  if (threadIdx.x % 32) return;
  int p = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = p, r = (p + 1) % seats;
  if (p >= seats) return;
  device_mutex &first = forks[min(l, r)].m, &second = forks[max(l, r)].m;
  for (int i = 0; i < meals; i++) {
    first.lock();
    second.lock();
    forks[l].eaten++;
    forks[r].eaten++;
    second.unlock();
    first.unlock();
  }
}
