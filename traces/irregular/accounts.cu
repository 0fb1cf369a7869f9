// Bank accounts with a lock each: a transfer needs the locks of two (Wang, Fussell and Lin, 2019, Listing 3). An account is
// {lock, balance}. PTX: make_ptx.sh accounts.cu
#include "inputs.cuh"
#include "locks.cuh"
using namespace inputs;

struct Account {
  Word lock, balance;
};

struct Bank {
  Account *accounts;
  int places, pool, scattered; // accounts; those that transfers are between; where they lie
  Word seed;
  __device__ __forceinline__ Word place(Word element) const { return place_of(element, places, scattered); }
};

// One thread's transfer, with what goes on while both locks are held.
template <class Clock> struct Move {
  Bank bank;
  Word first, second, from, to, amount; // the two in the order of their locks, and in that of the transfer
  int fence, touch, rounds;
  Clock &clock;

  __device__ __forceinline__ Move(Bank bank, Word op, int ordered, int fence, int touch, int rounds, Clock &clock)
      : bank(bank), fence(fence), touch(touch), rounds(rounds), clock(clock) {
    Transfer t = transfer_of(bank.seed, op, bank.pool);
    from = bank.place(t.from);
    to = bank.place(t.to);
    amount = t.amount;
    first = ordered ? min(from, to) : from;
    second = ordered ? max(from, to) : to;
  }
  __device__ __forceinline__ bool take(Word place) {
    if (!locks::try_lock(&bank.accounts[place].lock, fence, clock))
      return false;
    clock.taken(place);
    return true;
  }
  __device__ __forceinline__ void free(Word place) { locks::unlock(&bank.accounts[place].lock); }
  __device__ __forceinline__ void critical_section() {
    if (touch && from != to) { // two that hash to one place are one account
      Word *source = &bank.accounts[from].balance, *target = &bank.accounts[to].balance;
      locks::put(source, locks::look(source) - amount);
      locks::put(target, locks::look(target) + amount);
    }
    locks::work(rounds);
  }
  __device__ __forceinline__ void leave() {
    clock.frees(first);
    clock.frees(second);
    __threadfence();
    free(first);
    if (second != first)
      free(second);
  }
};

// Listing 3: a lane keeps the first lock while it tries the second. If `ordered`, everybody takes the lower one first.
template <class Clock> static __device__ __forceinline__ void hold_and_try(Move<Clock> move) {
  int has_first = 0, has_both = 0;
  do {
    if (!has_first) {
      if (move.take(move.first))
        has_first = 1;
    }
    locks::join(has_first);
    if (has_first) {
      if (move.second == move.first || move.take(move.second)) {
        move.critical_section();
        move.leave();
        has_both = 1;
      }
    }
    locks::join(has_both);
  } while (!has_both);
}

// As in the programs of transactional memories' authors (KILO): whoever fails at the second lock gives back the first.
template <class Clock> static __device__ __forceinline__ void release_and_retry(Move<Clock> move) {
  int done = 0;
  do {
    if (move.take(move.first)) {
      if (move.second == move.first || move.take(move.second)) {
        move.critical_section();
        move.leave();
        done = 1;
      } else {
        move.clock.given_back(move.first);
        move.free(move.first);
      }
    }
    locks::join(done);
  } while (!done);
}

template <class Clock>
static __device__ __forceinline__ void transfer_all(Bank bank, int each, int retry, int ordered, int fence, int touch, int rounds,
                                                    Clock clock) {
  __prof_trigger(0);
#pragma unroll 1
  for (int i = 0; i < each; i++) {
    Move<Clock> move(bank, thread_number() * each + i, ordered, fence, touch, rounds, clock);
    if (retry)
      release_and_retry(move);
    else
      hold_and_try(move);
  }
  clock.finish();
  __prof_trigger(1);
}

extern "C" __global__ void transfer(Bank bank, int each, int retry, int ordered, int fence, int touch, int rounds) {
  transfer_all(bank, each, retry, ordered, fence, touch, rounds, locks::Untimed::of(0, 0));
}
extern "C" __global__ void transfer_timed(Bank bank, int each, int retry, int ordered, int fence, int touch, int rounds,
                                          locks::Time *stamps, locks::Time *sums) {
  transfer_all(bank, each, retry, ordered, fence, touch, rounds, locks::Timed::of(stamps, sums));
}

// The check: what the transfers come to, added up by atomic operations in `sums` ...
extern "C" __global__ void add_up(Bank bank, int each, Word *sums) {
#pragma unroll 1
  for (int i = 0; i < each; i++) {
    Transfer t = transfer_of(bank.seed, thread_number() * each + i, bank.pool);
    Word from = bank.place(t.from), to = bank.place(t.to);
    if (from != to) {
      atomicSub(&sums[from], t.amount);
      atomicAdd(&sums[to], t.amount);
    }
  }
}
// ... is what the accounts hold. `result`: accounts with another balance; with a lock that is still held.
extern "C" __global__ void check(Bank bank, const Word *sums, Word *result) {
  for (Word i = thread_number(); i < (Word)bank.places; i += thread_count()) {
    Account account = bank.accounts[i];
    if (account.balance != sums[i])
      atomicAdd(&result[0], 1);
    if (account.lock)
      atomicAdd(&result[1], 1);
  }
}

extern "C" __global__ void say(const locks::Time *sums) { locks::say(sums); }
