// The hash table of traces/irregular/hash_table.cu with servers: clients draw keys, servers insert (Listing 2 of
// Wang, Fussell and Lin, 2019). Table, inputs and check are those of the other form. PTX: make_ptx.sh hash_server.cu
#include "../irregular/hash_table.cu"
#include "servers.cuh"

enum { LOCKS = 4096 };

extern __shared__ messages::Word local_buffers[];

template <class Elements>
static __device__ __forceinline__ void send_all(Elements table, int each, Word *channels, int servers, int entries,
                                                int local, Word *finished) {
  messages::Sender<2> sender(local_buffers, channels, servers, entries, local);
  __prof_trigger(0);
  sender.begin();
#pragma unroll 1
  for (int i = 0; i < each; i++) {
    Word op = table.operation(i, each), place = table.place(op);
    messages::Message<2> message = {{place, op}};
    sender.send(true, place % servers, message);
  }
  sender.flush();
  messages::finish_sending(finished);
}
extern "C" __global__ void __launch_bounds__(1024, 2)
    insert_clients(Table table, int each, Word *channels, int servers, int entries, int local, Word *finished) {
  send_all(table, each, channels, servers, entries, local, finished);
}
extern "C" __global__ void __launch_bounds__(1024, 2)
    insert_clients_read(ReadTable table, int each, Word *channels, int servers, int entries, int local,
                        Word *finished) {
  send_all(table, each, channels, servers, entries, local, finished);
}

template <class Clock> struct Inserter {
  Table table;
  messages::LocalLocks locks;
  int touch, rounds;
  Clock clock;

  __device__ __forceinline__ void operator()(bool has, const messages::Message<2> &message) {
    Word place = message.word[0], op = message.word[1];
    auto insert = [&] {
      if (touch) {
        ::locks::put(&table.next[op], ::locks::look(&table.buckets[place].head));
        ::locks::put(&table.buckets[place].head, op + 1);
      }
      ::locks::work(rounds);
    };
    locks.lock_each(has, place, insert, clock);
  }
};

// `lock_count`: at most LOCKS.
extern "C" __global__ void __launch_bounds__(1024, 2)
    insert_servers(Table table, Word *channels, int entries, int clients, Word *finished, int period, int lock_count,
                   int touch, int rounds) {
  __shared__ Word words[LOCKS];
  __shared__ messages::ReceiverSpace space;
  messages::LocalLocks locks(words, lock_count, gridDim.x);
  locks.begin();
  Inserter<messages::Unmeasured> inserter = {table, locks, touch, rounds, {}};
  messages::Channel<2> from(channels + blockIdx.x * messages::channel_words(entries, 2), entries);
  messages::receive_all<2>(from, &space, finished, clients, period, inserter);
  __prof_trigger(1);
}
// `every`: 1: all transfers count; 0: those that somebody waited for.
extern "C" __global__ void __launch_bounds__(1024, 2)
    insert_servers_timed(Table table, Word *channels, int entries, int clients, Word *finished, int period,
                         int lock_count, int touch, int rounds, ::locks::Time *sums, int every) {
  __shared__ Word words[LOCKS], stamps[LOCKS];
  __shared__ messages::ReceiverSpace space;
  messages::LocalLocks locks(words, lock_count, gridDim.x), times(stamps, lock_count, gridDim.x);
  locks.begin();
  times.begin();
  Inserter<messages::Measured> inserter = {table, locks, touch, rounds, {stamps, LOCKS, 0, 0, every != 0, false}};
  messages::Channel<2> from(channels + blockIdx.x * messages::channel_words(entries, 2), entries);
  messages::receive_all<2>(from, &space, finished, clients, period, inserter);
  inserter.clock.finish(sums);
  __prof_trigger(1);
}
