// A ticket lock that all lanes of a warp take. counter[0]: tickets given, counter[1]: ticket served.
extern "C" __global__ void tickets(int *counter, int skipped) {
  int mine = atomicAdd(&counter[0], 1) + skipped;
  while (atomicAdd(&counter[1], 0) != mine)
    ;
  __threadfence();
  counter[2]++;
  __threadfence();
  atomicAdd(&counter[1], 1);
}

// The same, given back in the loop.
extern "C" __global__ void tickets_in_loop(int *counter) {
  int mine = atomicAdd(&counter[0], 1);
  bool done = false;
  while (!done)
    if (atomicAdd(&counter[1], 0) == mine) {
      __threadfence();
      counter[2]++;
      __threadfence();
      atomicAdd(&counter[1], 1);
      done = true;
    }
}
