// convergence.cu - small kernels with loops and branches of all kinds: where ptxas puts BSSY, BSYNC, BREAK, YIELD and WARPSYNC.
#define K extern "C" __global__ void
#define TID (threadIdx.x)
#define VOL(p) (*(volatile int *)(p))

__device__ __forceinline__ int ld_acquire(int *p) { int v; asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ __forceinline__ int ld_relaxed(int *p) { int v; asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }

// spins
K spin_cas(int *l, int *c) { while (atomicCAS(l, 0, 1) != 0); VOL(c) = VOL(c) + 1; __threadfence(); atomicExch(l, 0); }
K spin_cas_own(int *l, int *c) { while (atomicCAS(l + TID, 0, 1) != 0); c[TID]++; }
K spin_exch(int *l, int *c) { while (atomicExch(l, 1) != 0); VOL(c) = VOL(c) + 1; __threadfence(); atomicExch(l, 0); }
K spin_volatile_one(int *f, int *c) { while (VOL(f) == 0); c[TID] = 1; }
K spin_volatile_own(int *f, int *c) { while (VOL(f + TID) == 0); c[TID] = 1; }
K spin_volatile_shared(int *c) { __shared__ int f; if (TID == 0) f = 0; __syncthreads(); if (TID == 64) VOL(&f) = 1; while (VOL(&f) == 0); c[TID] = 1; }
K spin_acquire_one(int *f, int *c) { while (ld_acquire(f) == 0); c[TID] = 1; }
K spin_acquire_own(int *f, int *c) { while (ld_acquire(f + TID) == 0); c[TID] = 1; }
K spin_relaxed_own(int *f, int *c) { while (ld_relaxed(f + TID) == 0); c[TID] = 1; }
K spin_plain_own(int *f, int *c) { while (f[TID] == 0) c[TID]++; c[TID] = 1; }
K spin_two_flags(int *f, int *v, int *c) { int me = TID & 1, o = 1 - me; VOL(f + me) = 1; VOL(v) = me; __threadfence(); while (VOL(f + o) && VOL(v) == me); c[TID] = 1; VOL(f + me) = 0; }
K spin_v1(int *f, int *c) { int me = TID & 1; VOL(f + me) = 1; while (VOL(f + 1 - me)); c[TID]++; VOL(f + me) = 0; }
K spin_for_me(int *v, int *c) { int me = TID; while (VOL(v) != me); c[0]++; VOL(v) = me + 1; }
K spin_ticket(int *n, int *s, int *c) { int t = atomicAdd(n, 1); while (VOL(s) != t); c[0]++; __threadfence(); VOL(s) = t + 1; }
K spin_ticket_atomic(int *n, int *s, int *c) { int t = atomicAdd(n, 1); while (atomicAdd(s, 0) != t); c[0]++; __threadfence(); atomicAdd(s, 1); }
K try_lock(int *l, int *c) { bool done = false; while (!done) { if (atomicCAS(l, 0, 1) == 0) { VOL(c) = VOL(c) + 1; __threadfence(); done = true; atomicExch(l, 0); } } }
K try_lock_break(int *l, int *c) { for (;;) if (atomicCAS(l, 0, 1) == 0) { VOL(c) = VOL(c) + 1; __threadfence(); atomicExch(l, 0); break; } }
K cas_count(int *l, int *c) { int n = 0; while (atomicCAS(l, 0, 1) != 0) n++; c[TID] = n; atomicExch(l, 0); }
K cas_bounded(int *l, int *c, int limit) { int n = 0; while (atomicCAS(l, 0, 1) != 0 & n < limit) n++; c[TID] = n; atomicExch(l, 0); }
K cas_bounded_and(int *l, int *c, int limit) { int n = 0; while (n < limit && atomicCAS(l, 0, 1) != 0) n++; c[TID] = n; atomicExch(l, 0); }
K cas_nanosleep(int *l, int *c) { while (atomicCAS(l, 0, 1) != 0) __nanosleep(100); c[0]++; atomicExch(l, 0); }
K cas_backoff(int *l, int *c) { int ns = 8; while (atomicCAS(l, 0, 1) != 0) { __nanosleep(ns); if (ns < 256) ns *= 2; } c[0]++; atomicExch(l, 0); }
K cas_syncwarp(int *l, int *c) { while (atomicCAS(l, 0, 1) != 0); __syncwarp(); c[0]++; atomicExch(l, 0); }
K cas_one_lane(int *l, int *c) { if (TID == 0) { while (atomicCAS(l, 0, 1) != 0); c[0]++; __threadfence(); atomicExch(l, 0); } __syncthreads(); c[TID + 1] = 1; }
K cas_shared(int *c) { __shared__ int l; if (TID == 0) l = 0; __syncthreads(); while (atomicCAS(&l, 0, 1) != 0); c[0]++; atomicExch(&l, 0); }
K ttas(int *l, int *c) { for (;;) { while (VOL(l) != 0); if (atomicCAS(l, 0, 1) == 0) break; } c[0]++; __threadfence(); atomicExch(l, 0); }
K cas_update(float *x, float v) { int *p = (int *)x, old = *p, seen; do { seen = old; old = atomicCAS(p, seen, __float_as_int(v * TID + __int_as_float(seen))); } while (old != seen); }
K list_push(int *head, int *next) { int h; do { h = VOL(head); next[TID] = h; } while (atomicCAS(head, h, TID) != h); }
K lanes_in_turn(int *l, int *c) { for (int i = 0; i < 32; i++) if ((TID & 31) == i) { while (atomicCAS(l, 0, 1) != 0); c[0]++; __threadfence(); atomicExch(l, 0); } }
K spin_vote(int *f, int *c) { while (!__all_sync(~0u, VOL(f + TID))); c[TID] = 1; }
K spin_barrier_or(int *f, int *c) { while (!__syncthreads_or(VOL(f + TID))); c[TID] = 1; }
K flat_barrier(int *n, int *c) { __syncthreads(); if (TID == 0) { __threadfence(); atomicAdd(n, 1); while (VOL(n) < (int)gridDim.x); } __syncthreads(); c[blockIdx.x * blockDim.x + TID] = 1; }
K clock_wait(int *c) { long long s = clock64(); while (clock64() - s < 1000); c[TID] = 1; }
K worklist(int *n, int *c) { int i; while ((i = atomicAdd(n, 1)) < 1000) c[i] = i; }
// counted loops
K count_tid_store(int *c) { for (int i = 0; i < TID; i++) c[i * 7] = i; }
K count_tid_sum(int *c, int *a) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < TID; i++) s += a[i * 5]; c[TID] = s; }
K count_tid_alu(unsigned *c) { unsigned s = TID; 
#pragma unroll 1
  for (unsigned i = 0; i < TID; i++) s = s * 1664525 + 1013904223; c[TID] = s; }
K count_tid_red(int *c) { 
#pragma unroll 1
  for (int i = 0; i < TID; i++) atomicAdd(c + i, 3); }
K count_tid_volatile(int *c, int *a) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < TID; i++) s += VOL(a + i); c[TID] = s; }
K count_tid_atomic(int *c, int *a) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < TID; i++) s += atomicExch(a + i, i); c[TID] = s; }
K count_param(int *c, int *a, int n) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < n; i++) s += a[i * 64 + TID]; c[TID] = s; }
K count_param_atomic(int *c, int *a, int n) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < n; i++) s += atomicExch(a + i, i); c[TID] = s; }
K count_loaded(int *c, int *a, int *n) { int s = 0, k = *n; 
#pragma unroll 1
  for (int i = 0; i < k; i++) s += a[i * 64 + TID]; c[TID] = s; }
K count_stride(int *c, int *a, int n) { int s = 0; 
#pragma unroll 1
  for (int i = TID; i < n; i += blockDim.x) s += a[i]; c[TID] = s; }
K count_break(int *c, int *a, int n) { int i; 
#pragma unroll 1
  for (i = 0; i < n; i++) if (a[i * 32 + TID] == 0) break; c[TID] = i; }
K nested_loops(int *c, int *a) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < TID; i++) {
#pragma unroll 1
    for (int j = 0; j < a[i]; j++) s = s * 3 + a[i + j + TID]; } c[TID] = s; }
K nested_param(int *c, int *a, int n) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < n; i++) {
#pragma unroll 1
    for (int j = 0; j < TID; j++) s = s * 3 + a[i + j]; } c[TID] = s; }
K loop_return(int *c, int *a) { 
#pragma unroll 1
  for (int i = 0; i < 100; i++) { if (a[i + TID] == 0) return; c[TID + i * 64] = i; } }
// branches
K if_else(int *c, int *a) { if (a[TID] > 3) { c[TID] = atomicExch(a, 3); } else { c[TID * 2] = atomicCAS(a + 1, 7, 8); a[TID + 99] = clock(); } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K if_only(int *c, int *a) { if (TID > 3) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K if_short(int *c, int *a) { int x = a[TID]; if (x > 3) x = a[x]; __syncthreads(); c[TID] = x; }
K if_uniform(int *c, int *a, int n) { if (n > 3) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } else { c[TID] = clock(); } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K if_block(int *c, int *a) { if (blockIdx.x > 3) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K if_loaded(int *c, int *a, int *n) { if (*n > 3) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K if_volatile(int *c, int *a, int *n) { if (VOL(n) > 3) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K if_nested(int *c, int *a) { if (TID > 3) { c[TID] = atomicExch(a, 3); if (a[TID] > 7) { c[TID + 3] = atomicExch(a + 2, 9); a[3] = clock(); } } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K if_warp(int *c, int *a) { if (TID / 32 == 1) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K if_end(int *c, int *a) { if (TID > 3) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } }
K if_tail(int *c, int *a) { if (TID > 3) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } c[TID + 1024] = a[TID ^ 1]; }
K early_return(int *c, int *a, int n) { if (TID >= n) return; int x = atomicExch(a + TID, 5); __syncthreads(); c[TID] = x; }
K shuffle_divergent(int *c, int *a) { int x = a[TID]; if (TID & 1) { x = __shfl_xor_sync(0xaaaaaaaa, x, 2); c[TID + 64] = atomicExch(a, x); } c[TID] = __shfl_down_sync(~0u, x, 1); }
K shuffle_loop(int *c) { int x = c[TID]; for (int d = 16; d; d /= 2) x += __shfl_down_sync(~0u, x, d); if (TID % 32 == 0) c[TID] = x; }
K ballot_branch(int *c, int *a) { if (__any_sync(~0u, a[TID] > 4)) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } c[TID + 1024] = a[TID ^ 1]; }
K ballot_loop(int *c, int *a) { int x = a[TID]; while (__any_sync(~0u, x < 100)) { x += a[x & 31]; } c[TID] = x; }
K syncwarp_plain(int *c) { c[TID] = 1; __syncwarp(); c[TID ^ 1] += 1; __syncwarp(); }
K syncwarp_after_if(int *c, int *a) { if (TID & 1) { c[TID] = atomicExch(a, 2); a[TID + 9] = clock(); } __syncwarp(); c[TID ^ 1] += 1; }
K syncwarp_in_if(int *c, int *a) { if (TID < 16) { c[TID] = atomicExch(a, 2); __syncwarp(0xffff); c[TID ^ 1] += 1; } c[TID + 99] = a[TID]; }
K syncwarp_loop(int *c, int *a) { 
#pragma unroll 1
  for (int i = 0; i < TID; i++) { c[i] = a[i]; __syncwarp(__activemask()); } c[TID] = 7; }
K switch_cases(int *c, int *a) { switch (a[TID]) { case 0: c[TID] = atomicExch(a, 2); break; case 1: c[TID] = clock(); break; case 2: a[TID] = atomicAdd(c, 3); break; case 5: c[3] = atomicMin(a, 3); break; default: c[TID + 3] = 1; } __syncthreads(); c[TID + 64] = 3; }
K short_circuit(int *c, int *a) { if (a[TID] > 3 && c[a[TID]] < 7) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } __syncthreads(); c[TID + 1024] = a[TID ^ 1]; }
K spin_three(int *f, int *g, int *c, int limit) { int n = 0; while (VOL(f + TID) == 0 && VOL(g + TID) == 0 && n < limit) n++; c[TID] = n; }
K spin_breaks(int *f, int *g, int *c, int limit) { int n = 0; for (;;) { if (VOL(f) == TID) break; c[TID]++; if (VOL(g) == TID) break; c[TID + 64]++; if (n++ > limit) break; } c[TID + 99] = n; }
K spin_return(int *f, int *g, int *c) { for (;;) { if (VOL(f + TID)) return; if (VOL(g + TID)) break; } c[TID] = 1; }
K peterson(int *f, int *v, int *c) { int me = TID & 1; VOL(f + me) = 1; VOL(v) = me; while (VOL(v) == me && VOL(f + 1 - me) == 1); c[TID]++; VOL(f + me) = 0; }
K peterson_if(int *f, int *v, int *c) { int me = TID; VOL(f + me) = 1; VOL(v) = me; while (VOL(f + (me == 0 ? 1 : 0)) == 1 && VOL(v) == me) { } c[0]++; VOL(f + me) = 0; }
K peterson_loop(int *f, int *v, int *c, int n) { int me = TID; 
#pragma unroll 1
  for (int i = 0; i < n; i++) { VOL(f + me) = 1; VOL(v) = me; while (VOL(f + 1 - me) == 1 && VOL(v) == me) { } c[0]++; VOL(f + me) = 0; } }
K peterson_bounded(int *f, int *v, int *c, int limit) { int me = TID, n = 0; VOL(f + me) = 1; VOL(v) = me; while (VOL(f + 1 - me) == 1 && VOL(v) == me) { if (++n > limit) return; } c[0]++; VOL(f + me) = 0; }
K lock_uniform_loop(int *l, int *c, int n) { 
#pragma unroll 1
  for (int i = 0; i < n; i++) { while (atomicCAS(l, 0, 1) != 0); VOL(c) = VOL(c) + 1; __threadfence(); atomicExch(l, 0); } }
K lock_divergent_loop(int *l, int *c) { 
#pragma unroll 1
  for (int i = 0; i < TID; i++) { while (atomicCAS(l, 0, 1) != 0); VOL(c) = VOL(c) + 1; __threadfence(); atomicExch(l, 0); } c[TID + 8] = 1; }
K try_lock_loop(int *l, int *c, int n) { int i = 0; while (i < n) { if (atomicCAS(l, 0, 1) == 0) { VOL(c) = VOL(c) + 1; __threadfence(); atomicExch(l, 0); i++; } } c[TID + 64] = i; }
K divergent_uniform_spin(int *f, int *c) { if (TID < 5) { while (VOL(f) == 0); c[TID] = 1; } c[TID + 99] = f[TID]; }
K divergent_acquire(int *f, int *c) { if (TID == 0) { while (ld_acquire(f) == 0); } __syncthreads(); c[TID + 99] = f[TID]; }
K divergent_clock(int *c) { if (TID < 5) { long long s = clock64(); while (clock64() - s < 1000); c[TID] = 1; } c[TID + 99] = 4; }
K divergent_count(int *c, int n) { if (TID < 5) { 
#pragma unroll 1
  for (int i = 0; i < n; i++) atomicExch(c + i, i); } c[TID + 99] = 4; }
K divergent_vote(int *f, int *c) { if (TID < 5) { while (!__any_sync(31, VOL(f + TID))); c[TID] = 1; } c[TID + 99] = 4; }
K spin_then_barrier(int *l, int *c) { while (atomicCAS(l, 0, 1) != 0); c[0]++; atomicExch(l, 0); __syncthreads(); c[TID + 1] = c[TID + 33]; }
K spin_then_shuffle(int *l, int *c) { while (atomicCAS(l, 0, 1) != 0); c[0]++; atomicExch(l, 0); c[TID + 1] = __shfl_xor_sync(~0u, c[TID + 33], 1); }
K spin_then_vote(int *l, int *c) { while (atomicCAS(l, 0, 1) != 0); c[0]++; atomicExch(l, 0); c[TID + 1] = __ballot_sync(~0u, c[TID + 33] > 1); }
K spin_bar_spin(int *l, int *c) { while (atomicCAS(l, 0, 1) != 0); c[0]++; atomicExch(l, 0); __syncthreads(); __syncwarp(); while (atomicCAS(l, 0, 1) != 0); c[0]++; atomicExch(l, 0); __syncwarp(); c[TID] = 8; }
K count_then_barrier(int *c, int *a) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < TID; i++) s = s * 3 + a[i]; __syncthreads(); c[TID] = s; }
K count_then_syncwarp(int *c, int *a) { int s = 0; 
#pragma unroll 1
  for (int i = 0; i < TID; i++) s = s * 3 + a[i]; c[TID] = s; __syncwarp(); c[TID + 64] = c[TID ^ 1]; }
K barrier_in_uniform_loop(int *c, int n) { 
#pragma unroll 1
  for (int i = 0; i < n; i++) { if (TID < 1u << i) c[TID] += atomicExch(c + TID + 3, 4); __syncthreads(); } }
K early_return_barrier(int *c, int *a) { if (a[TID] == 0) return; c[TID] = atomicExch(a, 3); __syncthreads(); c[TID] = a[TID + 1]; __syncwarp(); c[TID + 7] = 1; }
K return_then_if(int *c, int *a) { if (a[TID] == 0) return; if (TID > 3) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); } c[TID + 1024] = a[TID ^ 1]; }
K reduce_shared(int *c) { __shared__ int s[256]; s[TID] = c[TID]; __syncthreads(); for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) { if (TID < d) s[TID] += s[TID + d]; __syncthreads(); } if (TID == 0) c[0] = s[0]; }
K scan_own(int *c, int n) { __shared__ volatile int s[256]; s[TID] = c[TID]; for (int d = 1; d < n; d *= 2) { if (TID >= d) s[TID] = s[TID] + s[TID - d]; } c[TID] = s[TID]; }
K wait_neighbour(int *f, int *c) { if (TID > 0) while (VOL(f + TID - 1) == 0); VOL(f + TID) = 1; }
K wait_neighbour_more(int *f, int *c) { if (TID > 0) { while (VOL(f + TID - 1) == 0); c[TID] = 3; } VOL(f + TID) = 1; c[TID + 64] = 1; }
K pingpong(int *f, int *c, int n) { for (int i = 0; i < n; i++) { if (TID == 0) { VOL(f) = i; while (VOL(f + 1) != i); } else { while (VOL(f) != i); VOL(f + 1) = i; } } c[TID] = 1; }
K sleep_tid(int *f, int *c) { while (VOL(f + TID) == 0) __nanosleep(20); c[TID] = 1; }
K sleep_uniform(int *f, int *c) { while (VOL(f) == 0) __nanosleep(20); c[TID] = 1; }
K sleep_try(int *l, int *c) { bool done = false; while (!done) { if (atomicCAS(l, 0, 1) == 0) { c[0]++; __threadfence(); done = true; atomicExch(l, 0); } else __nanosleep(30); } c[TID] = 1; }
K load_plain_atomic_loop(int *a, int *c) { int i = 0; while (a[i + TID] != 0) { atomicAdd(c + i, 1); i++; } c[TID] = i; }
K store_volatile_loop(int *a, int *c) { 
#pragma unroll 1
  for (int i = 0; i < TID; i++) VOL(c + i) = i; c[TID] = 1; }
K shared_atomic_loop(int *a) { __shared__ int s[64]; 
#pragma unroll 1
  for (int i = 0; i < TID; i++) atomicExch(s + i, a[i]); __syncthreads(); a[TID] = s[TID]; }
K fence_loop(int *c) { 
#pragma unroll 1
  for (int i = 0; i < TID; i++) { c[i] = i; __threadfence(); } c[TID] = 1; }
K bfs_like(int *d, int *row, int *col, int *changed) { int v = d[TID]; 
#pragma unroll 1
  for (int e = row[TID]; e < row[TID + 1]; e++) if (atomicMin(d + col[e], v + 1) > v + 1) *changed = 1; }
K three_volatile(int *f, int *g, int *c) { for (;;) { if (VOL(f) == TID) break; c[TID]++; if (VOL(g) == TID) break; c[TID + 64]++; if (VOL(g + 1) == TID) break; } c[TID + 99] = 1; }
K two_with_counter(int *f, int *c, int limit) { int n = 0; for (;;) { if (VOL(f) == TID) break; c[TID]++; if (n++ > limit) break; } c[TID + 99] = n; }
K two_counter_first(int *f, int *c, int limit) { int n = 0; for (;;) { if (n++ > limit) break; c[TID]++; if (VOL(f) == TID) break; c[TID + 64]++; } c[TID + 99] = n; }
K sum_until(int *f, int *c) { int s = 0; do { s += VOL(f + TID); } while (s < 100); c[TID] = s; }
K counted_by_atomic(int *a, int *c) { int n = 0; while (n < 10) { if (atomicExch(a, 1) == 0) { c[n * 32 + TID] = clock(); n++; c[TID + 3] = 4; } } c[TID] = n; }
K plain_spin_volatile_inside(int *a, int *c) { int s = 0, i = 0; while (a[i * 32 + TID] != 0) { s += VOL(c + TID); i++; } c[TID] = s; }
K barrier_in_if(int *c, int *a) { if (TID < 16) { c[TID] = atomicExch(a, 3); a[TID + 9] = atomicExch(a + 1, 4); __syncthreads(); c[TID + 7] = clock(); } c[TID + 1024] = a[TID ^ 1]; }
K scan_v6(int *c, int *s) { for (int d = 1; d < blockDim.x; d *= 2) { if (TID >= d) { int t = VOL(s + TID - d); __syncthreads(); VOL(s + TID) += t; } __syncthreads(); } }
K scan_v6_shared(int *c) { __shared__ volatile int s[1024]; s[TID] = c[TID]; __syncthreads(); for (int d = 1; d < blockDim.x; d *= 2) { if (TID >= d) { int t = s[TID - d]; __syncthreads(); s[TID] += t; } __syncthreads(); } c[TID] = s[TID]; }

// what a lock's loop asks for is set at the end of a section with a branch in it
K cas_long_section(int *l, int *c, int n) { int done = 0; do { if (atomicCAS(l + TID / 4, 0, 1) == 0) { if (n > 3) { c[TID] = clock(); c[TID + 7] = atomicExch(c + 9, 2); c[TID + 8] = clock(); } __threadfence(); VOL(l + TID / 4) = 0; done = 1; } asm volatile("" : "+r"(done)); } while (!done); c[TID + 99] = 1; }
// a strong load before the YIELD of the loop within
K listed_locks(int *l, int *c, int n) {
#pragma unroll 1
  for (int i = TID; i < n; i += 64) { int v = VOL(c + i); while (atomicCAS(l + v, 0, 1) != 0); VOL(c + v) = i; __threadfence(); VOL(l + v) = 0; } }

// loops that some lanes leave from within a branch
K break_cases(int *c, int *a) { int v = a[TID]; 
#pragma unroll 1
  for (int i = 0; i < 60; i++) { switch (v >> i & 7) { case 0: c[TID] = atomicExch(a, 2); break; case 1: c[TID] = clock(); break; case 2: a[TID] = atomicAdd(c, 3); break; case 5: c[3] = atomicMin(a, 3); break; default: goto out; } c[TID + i] = v; }
out: c[TID + 99] = 4; }
K break_two_loops(int *c, int *a) { int v = a[TID]; 
#pragma unroll 1
  for (int i = 0; i < 60; i++) { 
#pragma unroll 1
    for (int k = 0; k < TID; k++) { if (a[TID + k] == v) goto out; c[TID + k] = atomicExch(a + k, i); } a[i] = clock(); v = c[v]; }
out: c[TID + 99] = v; }
K break_in_one_way(int *c, int *a) { int v = a[TID]; 
#pragma unroll 1
  for (int i = 0; i < 60; i++) { if (c[TID + i] > v) { v = atomicExch(a + i, v); if (v == 7) break; c[TID] = clock(); } else { v += atomicAdd(c + i, v); a[v] = clock(); } c[TID + v] = atomicMin(a, v); }
  c[TID + 99] = v; }
K return_in_one_way(int *c, int *a) { int v = a[TID]; 
#pragma unroll 1
  for (int i = 0; i < 60; i++) { if (c[TID + i] > v) { v = atomicExch(a + i, v); if (v == 7) { c[TID + 77] = clock(); return; } c[TID] = clock(); } else { v += atomicAdd(c + i, v); a[v] = clock(); } c[TID + v] = atomicMin(a, v); }
  c[TID + 99] = v; }
