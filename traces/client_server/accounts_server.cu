// The bank of traces/irregular/accounts.cu with servers for two nested locks (Wang, Fussell and Lin 2019, 3.3). Accounts, transfers and
// check are those of the other form. PTX: make_ptx.sh accounts_server.cu
#include "../irregular/accounts.cu"
#include "nested.cuh"

enum { LOCKS = 4096 };

extern __shared__ messages::Word local_buffers[];

// `ordered`: 1: the order goes to the server of the lower lock; 0 (broken): to that of the giver.
extern "C" __global__ void __launch_bounds__(1024, 2)
    transfer_clients(Bank bank, int each, Word *channels, int servers, int entries, int local, int lock_count,
                     int ordered, Word *finished) {
  messages::Sender<3> sender(local_buffers, channels, servers, entries, local);
  messages::LocalLocks locks(nullptr, lock_count, servers);
  __prof_trigger(0);
  sender.begin();
#pragma unroll 1
  for (int i = 0; i < each; i++) {
    Transfer t = transfer_of(bank.seed, thread_number() * each + i, bank.pool);
    Word from = bank.place(t.from), to = bank.place(t.to);
    bool up = !ordered || locks.rank_of(from) <= locks.rank_of(to);
    // Bit 31: the first account is the taker's.
    messages::Message<3> message = {{up ? from : to, up ? to : from, up ? t.amount : t.amount | 1u << 31}};
    sender.send(true, locks.server_of(message.word[0]), message);
  }
  sender.flush();
  messages::finish_sending(finished);
}

struct Mover {
  Bank bank;
  int touch, rounds;
  __device__ __forceinline__ void operator()(Word first, Word second, Word amount) {
    if (touch && first != second) {
      Word gives = amount >> 31 ? second : first, takes = amount >> 31 ? first : second;
      Word *source = &bank.accounts[gives].balance, *target = &bank.accounts[takes].balance;
      locks::put(source, locks::look(source) - (amount & 0x7fffffff));
      locks::put(target, locks::look(target) + (amount & 0x7fffffff));
    }
    locks::work(rounds);
  }
};

// See NestedServer.
struct NestedTimed : ::locks::Timed {
  static constexpr bool MEASURES = true;
  Word *waited;
  bool every;
};

template <class Clock>
static __device__ __forceinline__ void serve(const messages::NestedShape &shape, messages::NestedSpace *space,
                                             const messages::LocalLocks &locks, const Mover &mover, Clock clock) {
  messages::NestedServer<Mover, Clock> server(shape, space, local_buffers, locks, mover, clock);
  server.run();
  clock.finish();
  __prof_trigger(1);
}
extern "C" __global__ void __launch_bounds__(1024, 2)
    transfer_servers(Bank bank, messages::NestedShape shape, int lock_count, int touch, int rounds) {
  __shared__ Word words[LOCKS];
  __shared__ messages::NestedSpace space;
  messages::LocalLocks locks(words, lock_count, gridDim.x);
  serve(shape, &space, locks, {bank, touch, rounds}, ::locks::Untimed::of(0, 0));
}
// `stamps`: one for each lock of all servers, in the order of the hierarchy. `every`: 1: all transfers count; 0: those that somebody
// waited for.
extern "C" __global__ void __launch_bounds__(1024, 2)
    transfer_servers_timed(Bank bank, messages::NestedShape shape, int lock_count, int touch, int rounds,
                           locks::Time *stamps, locks::Time *sums, int every) {
  __shared__ Word words[LOCKS];
  __shared__ messages::NestedSpace space;
  __shared__ Word waited[messages::LANES]; // NestedServer has a barrier before its first reply
  messages::LocalLocks locks(words, lock_count, gridDim.x);
  if (threadIdx.x < messages::LANES)
    waited[threadIdx.x] = 0;
  serve(shape, &space, locks, {bank, touch, rounds}, NestedTimed{::locks::Timed::of(stamps, sums), waited, every != 0});
}
