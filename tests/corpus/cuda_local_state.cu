// Each lane's state lies in its own local memory, and helpers get it by a pointer that may also be to global memory:
// the address is the same in all lanes, what is found there isn't.
struct State {
  volatile int *flag;
  int first, left;
};
__device__ State shared_state = {0, 1, 0};

__device__ __noinline__ void await(const State *state) {
  if (!state->first)
    while (!*state->flag)
      ;
}
__device__ __noinline__ int take(State *state) { return state->left ? state->left-- : 0; }

// Each lane waits for its neighbour's flag: the odd ones for the even ones; the other kernel: all for one another.
template <int FIRST> __device__ __forceinline__ void wait_for(volatile int *flags, int *seen) {
  int lane = threadIdx.x;
  State state = {flags + (lane ^ 1), FIRST && lane % 2 == 0, 0};
  await(&shared_state);
  await(&state);
  flags[lane] = 1;
  seen[lane] = 1;
}
extern "C" __global__ void pairs(volatile int *flags, int *seen) { wait_for<1>(flags, seen); }
extern "C" __global__ void circles(volatile int *flags, int *seen) { wait_for<0>(flags, seen); }

// The lanes' loops end in different rounds; then all of them vote.
extern "C" __global__ void rounds(int *sums, unsigned *votes) {
  int lane = threadIdx.x;
  State state = {nullptr, 0, lane % 4};
  int sum = take(&shared_state);
  for (int got; (got = take(&state)) > 0;)
    sum += got;
  votes[lane] = __ballot_sync(~0u, sum > 1);
  sums[lane] = sum;
}
