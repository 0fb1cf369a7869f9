// What a real GPU does with the locks of the slides "Synchronization": hand-offs by a flag, mutual exclusion of two
// threads (v1, v2, Peterson), the bakery, locks with atomicCAS.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o slides_locks slides_locks.cu
// Run:   ./slides_locks > slides_locks.csv
//
// Left out: a lock with `__syncwarp` or `__syncthreads` that not all lanes can reach, other than after a bounded
// loop.
#include "hardware.cuh"

// ---- Hand-offs by one flag. Thread 0 does S1, thread 1 does S2; each S takes a ticket, which tells the order. ----

// Classwork: thread 0 raises the flag and waits until it falls, thread 1 waits until it is up and lowers it after S2.
extern "C" __global__ void flag_order(volatile int *flag, int *ticket, int *order, int apart, int *gave_up,
                                      int limit) {
  int me = participant(apart);
  Patience patience(limit);
  if (me == 0) {
    *flag = 1;
    while (*flag & patience.lasts()) {
    }
    if (patience.over()) {
      give_up(gave_up);
      return;
    }
    order[0] = 1 + atomicAdd(ticket, 1);
  } else if (me == 1) {
    while (!*flag & patience.lasts()) {
    }
    if (patience.over()) {
      give_up(gave_up);
      return;
    }
    order[1] = 1 + atomicAdd(ticket, 1);
    *flag = 0;
  }
}

// S2 before S1: thread 0 waits for the flag that thread 1 raises after S2. S2 writes `data`, which S1 reads.
template <typename Flag, typename Data, bool FENCE>
__device__ __forceinline__ void signal(Flag *flag, Data *data, int *order, int apart, int *gave_up, int limit) {
  int me = participant(apart);
  if (me == 0) {
    Patience patience(limit);
    while (!*flag & patience.lasts()) {
    }
    if (patience.over()) {
      give_up(gave_up);
      return;
    }
    if (FENCE)
      __threadfence();
    order[0] = *data;
  } else if (me == 1) {
    *data = 42;
    if (FENCE)
      __threadfence();
    *flag = 1;
  }
}
extern "C" __global__ void flag_signal(volatile int *flag, volatile int *data, int *order, int apart, int *gave_up,
                                       int limit) {
  signal<volatile int, volatile int, false>(flag, data, order, apart, gave_up, limit);
}
extern "C" __global__ void flag_signal_fence(volatile int *flag, int *data, int *order, int apart, int *gave_up,
                                             int limit) {
  signal<volatile int, int, true>(flag, data, order, apart, gave_up, limit);
}
extern "C" __global__ void flag_signal_plain(int *flag, int *data, int *order, int apart, int *gave_up, int limit) {
  signal<int, int, false>(flag, data, order, apart, gave_up, limit);
}

// The two threads take turns: thread 0 enters while the flag is up, thread 1 while it is down. The flag's first value
// says who begins.
template <bool FENCE>
__device__ __forceinline__ void turns(volatile int *flag, volatile int *counter, int rounds, int apart, int *gave_up,
                                      int limit) {
  int me = participant(apart);
  for (int round = 0; round < rounds; round++) {
    Patience patience(limit);
    if (me == 0) {
      while (!*flag & patience.lasts()) {
      }
      if (patience.over()) {
        give_up(gave_up);
        return;
      }
      if (FENCE)
        __threadfence();
      *counter = *counter + 1;
      if (FENCE)
        __threadfence();
      *flag = 0;
    } else if (me == 1) {
      while (*flag & patience.lasts()) {
      }
      if (patience.over()) {
        give_up(gave_up);
        return;
      }
      if (FENCE)
        __threadfence();
      *counter = *counter + 1;
      if (FENCE)
        __threadfence();
      *flag = 1;
    }
  }
}
extern "C" __global__ void flag_turns(volatile int *flag, volatile int *counter, int rounds, int apart, int *gave_up,
                                      int limit) {
  turns<false>(flag, counter, rounds, apart, gave_up, limit);
}
extern "C" __global__ void flag_turns_fence(volatile int *flag, volatile int *counter, int rounds, int apart,
                                            int *gave_up, int limit) {
  turns<true>(flag, counter, rounds, apart, gave_up, limit);
}

// ---- Mutual exclusion of two threads ----

// Words of `section`: threads inside, entries that found the other inside, the counter.
__device__ __forceinline__ void critical_section(int *section) {
  if (atomicAdd(&section[0], 1) != 0)
    atomicAdd(&section[1], 1);
  volatile int *counter = section + 2;
  *counter = *counter + 1;
  atomicSub(&section[0], 1);
}

template <bool FENCE> __device__ __forceinline__ void fence() {
  if (FENCE)
    __threadfence();
}

// v1: a flag for each thread. Both may raise it before either looks.
template <typename Word, bool FENCE> struct LockV1 {
  Word *flag;
  __device__ bool lock(int me, int limit) {
    int other = 1 - me;
    Patience patience(limit);
    flag[me] = 1;
    fence<FENCE>();
    while (flag[other] & patience.lasts()) {
    }
    fence<FENCE>();
    return !patience.over();
  }
  __device__ void unlock(int me) {
    fence<FENCE>();
    flag[me] = 0;
  }
};

// v2: the last one to come waits for another to come (or to leave).
template <typename Word, bool FENCE> struct LockV2 {
  Word *victim;
  __device__ bool lock(int me, int limit) {
    Patience patience(limit);
    *victim = me;
    fence<FENCE>();
    while ((*victim == me) & patience.lasts()) {
    }
    fence<FENCE>();
    return !patience.over();
  }
  __device__ void unlock(int me) {
    fence<FENCE>();
    *victim = me;
  }
};

// v3, Peterson's lock, in the forms that the slides compare and in two more for the same condition: one whose loop
// has a single exit, and one with three exits, for which ptxas 13.0 places no YIELD (its bound is the third exit, so
// that with -DUNBOUNDED it has a YIELD like the others).
enum Form { FLAG_FIRST, VICTIM_FIRST, VICTIM_READ_FIRST, ONE_EXIT, THREE_EXITS };
template <typename Word, bool FENCE, Form FORM> struct Peterson {
  Word *flag, *victim;
  __device__ bool lock(int me, int limit) {
    int other = 1 - me;
    Patience patience(limit);
    if (FORM == VICTIM_FIRST) {
      *victim = me;
      flag[me] = 1;
    } else {
      flag[me] = 1;
      *victim = me;
    }
    fence<FENCE>();
    if (FORM == VICTIM_READ_FIRST) {
      while (*victim == me && (flag[other] & patience.lasts())) {
      }
    } else if (FORM == ONE_EXIT) {
      while (flag[other] & (*victim == me) & patience.lasts()) {
      }
    } else if (FORM == THREE_EXITS) {
      for (;;) {
        if (!flag[other])
          break;
        if (*victim != me)
          break;
        if (!patience.lasts())
          break;
      }
    } else {
      while (flag[other] && ((*victim == me) & patience.lasts())) {
      }
    }
    fence<FENCE>();
    return !patience.over();
  }
  __device__ void unlock(int me) {
    fence<FENCE>();
    flag[me] = 0;
  }
};

// Both threads (`only` < 0) or one of them enter `rounds` times. With `ready` they meet before each entry, so that
// they try at the same time.
template <typename Lock>
__device__ __forceinline__ void two_threads(Lock mutex, int *section, int *ready, int rounds, int apart, int only,
                                            int *gave_up, int limit) {
  int me = participant(apart);
  if (me < 0 || me > 1 || (only >= 0 && me != only))
    return;
  for (int round = 1; round <= rounds; round++) {
    if (ready) {
      Patience patience(limit);
      atomicAdd(ready, 1);
      while ((*(volatile int *)ready < 2 * round) & patience.lasts()) {
      }
      if (patience.over()) {
        give_up(gave_up);
        return;
      }
    }
    if (!mutex.lock(me, limit)) {
      give_up(gave_up);
      return;
    }
    critical_section(section);
    mutex.unlock(me);
  }
}

// `flag` has two words. The qualifier of `flag` and `victim` is what the name says (volatile if it doesn't).
#define TWO(name, word, ...)                                                                                 \
  extern "C" __global__ void name(word *flag, word *victim, int *section, int *ready, int rounds, int apart, \
                                  int only, int *gave_up, int limit) {                                       \
    two_threads(__VA_ARGS__, section, ready, rounds, apart, only, gave_up, limit);                           \
  }
typedef volatile int vint;
TWO(lock_v1, vint, LockV1<vint, false>{flag})
TWO(lock_v1_fence, vint, LockV1<vint, true>{flag})
TWO(lock_v1_plain, int, LockV1<int, false>{flag})
TWO(lock_v2, vint, LockV2<vint, false>{victim})
TWO(lock_v2_fence, vint, LockV2<vint, true>{victim})
TWO(lock_v2_plain, int, LockV2<int, false>{victim})
TWO(peterson, vint, Peterson<vint, false, FLAG_FIRST>{flag, victim})
TWO(peterson_fence, vint, Peterson<vint, true, FLAG_FIRST>{flag, victim})
TWO(peterson_plain, int, Peterson<int, false, FLAG_FIRST>{flag, victim})
TWO(peterson_victim_first, vint, Peterson<vint, false, VICTIM_FIRST>{flag, victim})
TWO(peterson_victim_first_fence, vint, Peterson<vint, true, VICTIM_FIRST>{flag, victim})
TWO(peterson_victim_read_first, vint, Peterson<vint, false, VICTIM_READ_FIRST>{flag, victim})
TWO(peterson_victim_read_first_fence, vint, Peterson<vint, true, VICTIM_READ_FIRST>{flag, victim})
TWO(peterson_one_exit, vint, Peterson<vint, false, ONE_EXIT>{flag, victim})
TWO(peterson_one_exit_fence, vint, Peterson<vint, true, ONE_EXIT>{flag, victim})
TWO(peterson_three_exits, vint, Peterson<vint, false, THREE_EXITS>{flag, victim})
TWO(peterson_three_exits_fence, vint, Peterson<vint, true, THREE_EXITS>{flag, victim})

// ---- The bakery: n threads, served by (label, thread) ----

// Does (label, k) come before (mine, me)?
__device__ __forceinline__ bool before(int label, int k, int mine, int me) {
  return (label < mine) | ((label == mine) & (k < me));
}

// EXISTS: one loop that asks whether there is any such k. Otherwise a loop for each k.
template <typename Word, bool FENCE, bool EXISTS>
__device__ __forceinline__ bool bakery_lock(Word *flag, Word *label, int n, int me, int limit) {
  Patience patience(limit);
  flag[me] = 1;
  fence<FENCE>();
  int largest = 0;
  for (int k = 0; k < n; k++)
    largest = max(largest, (int)label[k]);
  int mine = largest + 1;
  label[me] = mine;
  fence<FENCE>();
  if (EXISTS) {
    bool wait;
    do {
      wait = false;
      for (int k = 0; k < n; k++)
        wait |= (k != me) & (flag[k] != 0) & before(label[k], k, mine, me);
    } while (wait & patience.lasts());
  } else {
    for (int k = 0; k < n; k++) {
      if (k == me)
        continue;
      while (flag[k] && (before(label[k], k, mine, me) & patience.lasts())) {
      }
    }
  }
  fence<FENCE>();
  return !patience.over();
}

template <typename Word, bool FENCE, bool EXISTS>
__device__ __forceinline__ void bakery_threads(Word *flag, Word *label, int *section, int n, int rounds, int apart,
                                               int *gave_up, int limit) {
  int me = participant(apart);
  if (me < 0 || me >= n)
    return;
  for (int round = 0; round < rounds; round++) {
    if (!bakery_lock<Word, FENCE, EXISTS>(flag, label, n, me, limit)) {
      give_up(gave_up);
      return;
    }
    critical_section(section);
    fence<FENCE>();
    flag[me] = 0;
  }
}
#define BAKERY(name, word, fences, exists)                                                                           \
  extern "C" __global__ void name(word *flag, word *label, int *section, int n, int rounds, int apart, int *gave_up, \
                                  int limit) {                                                                       \
    bakery_threads<word, fences, exists>(flag, label, section, n, rounds, apart, gave_up, limit);                    \
  }
BAKERY(bakery, vint, false, false)
BAKERY(bakery_fence, vint, true, false)
BAKERY(bakery_plain, int, false, false)
BAKERY(bakery_exists, vint, false, true)
BAKERY(bakery_exists_fence, vint, true, true)

// ---- Locks with atomicCAS. Each participant enters once and adds 1 to the counter. ----

// The three unsynchronized or non-blocking attempts and the two blocking forms of the slides. Counter is what the
// critical section updates: plain or volatile. FENCE: __threadfence after the lock and before the unlock.
template <typename Counter, bool FENCE> __device__ __forceinline__ void add_one(Counter *counter, int *lockvar) {
  fence<FENCE>();
  *counter = *counter + 1;
  fence<FENCE>();
  *lockvar = 0;
}

// Not a lock: the result of atomicCAS isn't looked at.
extern "C" __global__ void lock_unchecked(int *lockvar, volatile int *counter, int apart, int *gave_up, int limit) {
  if (participant(apart) < 0)
    return;
  atomicCAS(lockvar, 0, 1);
  add_one<volatile int, true>(counter, lockvar);
}

// Excludes, but doesn't block: who doesn't get the lock goes away.
extern "C" __global__ void lock_if(int *lockvar, volatile int *counter, int apart, int *gave_up, int limit) {
  if (participant(apart) < 0)
    return;
  if (atomicCAS(lockvar, 0, 1) == 0)
    add_one<volatile int, true>(counter, lockvar);
}

// The CPU form: the critical section after the loop.
template <typename Counter, bool FENCE>
__device__ __forceinline__ void cpu_form(int *lockvar, Counter *counter, int apart, int *gave_up, int limit) {
  if (participant(apart) < 0)
    return;
  Patience patience(limit);
  int old;
  do {
    old = atomicCAS(lockvar, 0, 1);
  } while ((old != 0) & patience.lasts());
  if (patience.over()) {
    give_up(gave_up);
    return;
  }
  add_one<Counter, FENCE>(counter, lockvar);
}

// The GPU form: the critical section and the unlock inside the loop. (Without the bound nvcc 13 moves them behind the
// loop, since the loop is left exactly when the lock was got: the GPU form becomes the CPU form.)
template <typename Counter, bool FENCE>
__device__ __forceinline__ void gpu_form(int *lockvar, Counter *counter, int apart, int *gave_up, int limit) {
  if (participant(apart) < 0)
    return;
  Patience patience(limit);
  int old;
  do {
    old = atomicCAS(lockvar, 0, 1);
    if (old == 0)
      add_one<Counter, FENCE>(counter, lockvar);
  } while ((old != 0) & patience.lasts());
  if (patience.over())
    give_up(gave_up);
}
#define CAS_LOCK(name, form, word, fences)                                                           \
  extern "C" __global__ void name(int *lockvar, word *counter, int apart, int *gave_up, int limit) { \
    form<word, fences>(lockvar, counter, apart, gave_up, limit);                                     \
  }
CAS_LOCK(lock_cpu, cpu_form, int, false)
CAS_LOCK(lock_cpu_volatile, cpu_form, vint, false)
CAS_LOCK(lock_cpu_fence, cpu_form, int, true)
CAS_LOCK(lock_gpu, gpu_form, int, false)
CAS_LOCK(lock_gpu_volatile, gpu_form, vint, false)
CAS_LOCK(lock_gpu_fence, gpu_form, int, true)

// The CPU form with all lanes asked to meet before the critical section: the holder waits for lanes that wait for it.
// (Lanes whose patience is over come to the meeting as well, so that nothing hangs.) For whole warps.
extern "C" __global__ void lock_cpu_syncwarp(int *lockvar, volatile int *counter, int apart, int *gave_up,
                                             int limit) {
  Patience patience(limit);
  int old;
  do {
    old = atomicCAS(lockvar, 0, 1);
  } while ((old != 0) & patience.lasts());
  __syncwarp();
  if (patience.over()) {
    give_up(gave_up);
    return;
  }
  add_one<volatile int, true>(counter, lockvar);
}

// ---- host ----

struct Shape {
  const char *name;
  int blocks, threads, apart;
};

static std::vector<Shape> pairs() {
  int half = sm_count() / 2;
  return {{"lanes", 1, 2, 1}, {"warps", 1, 64, 32}, {"blocks", 2, 1, 1}, {"far-blocks", 2 * half, 1, half}};
}

static std::string words(const char *first, const char *second, const char *third = "") {
  return std::string(first) + " " + second + (*third ? " " : "") + third;
}

static void flags() {
  const int limit = 4000;
  Words flag(1), data(1), order(2), gave_up(1);
  for (const Shape &shape : pairs()) {
    for (int first = 0; first < 2; first++) {
      measure("flag_order", words("volatile", shape.name, first ? "up" : "down"), shape.blocks, shape.threads, 200,
              [&] {
                flag.fill(first), data.fill(0), order.fill(0), gave_up.fill(0);
                flag_order<<<shape.blocks, shape.threads>>>(flag, data, order, shape.apart, gave_up, limit);
                finish("flag_order");
                std::vector<int> done = order.get();
                int waiting = gave_up.get(0);
                if (waiting)
                  return Result{TIMED_OUT,
                                std::string("S1 ") + (done[0] ? "done" : "not done") + " S2 " +
                                    (done[1] ? "done" : "not done"),
                                ""};
                return Result{done[1] < done[0] ? RIGHT : WRONG, done[1] < done[0] ? "S2 S1" : "S1 S2", ""};
              });
    }
    auto signals = [&](const char *variant, auto kernel) {
      measure("flag_signal", words(variant, shape.name), shape.blocks, shape.threads, 500, [&] {
        flag.fill(0), data.fill(0), order.fill(0), gave_up.fill(0);
        kernel<<<shape.blocks, shape.threads>>>(flag, data, order, shape.apart, gave_up, limit);
        finish("flag_signal");
        return judge(gave_up.get(0), order.get(0), 42);
      });
    };
    signals("volatile", flag_signal);
    signals("fence", flag_signal_fence);
    signals("plain", flag_signal_plain);
    auto take_turns = [&](const char *variant, auto kernel, int first) {
      measure("flag_turns", words(variant, shape.name, first ? "up" : "down"), shape.blocks, shape.threads, 50, [&] {
        flag.fill(first), data.fill(0), gave_up.fill(0);
        kernel<<<shape.blocks, shape.threads>>>(flag, data, 100, shape.apart, gave_up, limit);
        finish("flag_turns");
        return judge(gave_up.get(0), data.get(0), 200);
      });
    };
    for (int first = 0; first < 2; first++) {
      take_turns("volatile", flag_turns, first);
      take_turns("fence", flag_turns_fence, first);
    }
  }
}

// One lock of two threads, in every shape: both enter once; both enter 100 times; both meet before each of 100
// entries; one after the other; one alone.
template <typename Kernel> static void two(const char *program, const char *variant, Kernel kernel) {
  const int limit = 4000, many = 100;
  Words flag(2), victim(1), section(3), ready(1), gave_up(1);
  for (const Shape &shape : pairs()) {
    auto enter = [&](const char *how, int runs, int rounds, bool meet, int from, int to) {
      measure(program, words(variant, shape.name, how), shape.blocks, shape.threads, runs, [&] {
        flag.fill(0), victim.fill(-1), section.fill(0), ready.fill(0), gave_up.fill(0);
        for (int only = from; only <= to; only++) {
          kernel<<<shape.blocks, shape.threads>>>(flag, victim, section, meet ? (int *)ready : nullptr, rounds,
                                                  shape.apart, only, gave_up, limit);
          finish(program);
        }
        std::vector<int> seen = section.get();
        bool alone = from == to && from >= 0;
        return judge(gave_up.get(0), seen[2], rounds * (alone ? 1 : 2), seen[1] ? "both inside" : "");
      });
    };
    enter("once", 100, 1, false, -1, -1);
    enter("repeated", 30, many, false, -1, -1);
    if (shape.threads != 2)
      enter("meeting", 60, many, true, -1, -1);
    if (shape.blocks == 1) {
      enter("one-after-other", 20, 1, false, 0, 1);
      enter("alone", 20, 1, false, 0, 0);
    }
  }
}

template <typename Kernel> static void bakery_in(const char *program, const char *variant, Kernel kernel, int limit) {
  const Shape shapes[] = {{"lanes", 1, 2, 1},   {"lanes", 1, 8, 1},    {"lanes", 1, 32, 1},
                          {"warps", 1, 64, 32}, {"warps", 1, 256, 32}, {"warps", 1, 1024, 32},
                          {"blocks", 8, 1, 1},  {"blocks", 32, 1, 1},  {"blocks of lanes", 4, 8, 1}};
  for (const Shape &shape : shapes) {
    int n = shape.blocks * shape.threads / shape.apart;
    Words flag(n), label(n), section(3), gave_up(1);
    for (int rounds = 1; rounds <= 8; rounds += 7) {
      measure(program, words(variant, shape.name, rounds == 1 ? "once" : "repeated"), shape.blocks, shape.threads, 50,
              [&] {
                flag.fill(0), label.fill(0), section.fill(0), gave_up.fill(0);
                kernel<<<shape.blocks, shape.threads>>>(flag, label, section, n, rounds, shape.apart, gave_up, limit);
                finish(program);
                std::vector<int> seen = section.get();
                return judge(gave_up.get(0), seen[2], n * rounds, seen[1] ? "several inside" : "");
              });
    }
  }
}

template <typename Kernel>
static void cas_lock(const char *program, const char *variant, Kernel kernel, bool all_lanes = false) {
  const Shape shapes[] = {{"lanes", 1, 2, 1},     {"lanes", 1, 32, 1},  {"warps", 1, 64, 32},
                          {"warps", 1, 1024, 32}, {"blocks", 2, 1, 1},  {"blocks", 128, 1, 1},
                          {"block", 1, 64, 1},    {"block", 1, 256, 1}, {"grid", 32, 64, 1}};
  Words lockvar(1), counter(1), gave_up(1);
  for (const Shape &shape : shapes) {
    if (all_lanes && (shape.apart != 1 || shape.threads % 32))
      continue;
    int n = shape.blocks * shape.threads / shape.apart, limit = all_lanes ? 2000 : n <= 64 ? 4000 : 20000;
    measure(program, words(variant, shape.name), shape.blocks, shape.threads, 100, [&] {
      lockvar.fill(0), counter.fill(0), gave_up.fill(0);
      kernel<<<shape.blocks, shape.threads>>>(lockvar, counter, shape.apart, gave_up, limit);
      finish(program);
      return judge(gave_up.get(0), counter.get(0), n);
    });
  }
}

int main() {
  begin();
  case_seconds = 0.05;
  flags();
  two("lock_v1", "volatile", lock_v1);
  two("lock_v1", "fence", lock_v1_fence);
  two("lock_v1", "plain", lock_v1_plain);
  two("lock_v2", "volatile", lock_v2);
  two("lock_v2", "fence", lock_v2_fence);
  two("lock_v2", "plain", lock_v2_plain);
  two("peterson", "volatile", peterson);
  two("peterson", "fence", peterson_fence);
  two("peterson", "plain", peterson_plain);
  two("peterson_victim_first", "volatile", peterson_victim_first);
  two("peterson_victim_first", "fence", peterson_victim_first_fence);
  two("peterson_victim_read_first", "volatile", peterson_victim_read_first);
  two("peterson_victim_read_first", "fence", peterson_victim_read_first_fence);
  two("peterson_one_exit", "volatile", peterson_one_exit);
  two("peterson_one_exit", "fence", peterson_one_exit_fence);
  two("peterson_three_exits", "volatile", peterson_three_exits);
  two("peterson_three_exits", "fence", peterson_three_exits_fence);
  bakery_in("bakery", "volatile", bakery, 2000);
  bakery_in("bakery", "fence", bakery_fence, 2000);
  bakery_in("bakery", "plain", bakery_plain, 2000);
  bakery_in("bakery_exists", "volatile", bakery_exists, 500);
  bakery_in("bakery_exists", "fence", bakery_exists_fence, 500);
  cas_lock("lock_unchecked", "volatile fence", lock_unchecked);
  cas_lock("lock_if", "volatile fence", lock_if);
  cas_lock("lock_cpu", "plain", lock_cpu);
  cas_lock("lock_cpu", "volatile", lock_cpu_volatile);
  cas_lock("lock_cpu", "fence", lock_cpu_fence);
  cas_lock("lock_gpu", "plain", lock_gpu);
  cas_lock("lock_gpu", "volatile", lock_gpu_volatile);
  cas_lock("lock_gpu", "fence", lock_gpu_fence);
  cas_lock("lock_cpu_syncwarp", "volatile fence", lock_cpu_syncwarp, true);
  return 0;
}
