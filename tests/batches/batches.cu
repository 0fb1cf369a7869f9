// Messages in batches (traces/client_server/batches.cuh), and ways to use them wrongly that hang: leaders and followers poll by ballots and
// shuffles for what never comes. PTX: traces/make_ptx.sh batches.cu
#include "../../traces/client_server/batches.cuh"
using namespace messages;

enum Use { RIGHT, FORGETS, LEAVES_OUT };
enum { ENTRIES = 64, LOCAL = 32, EACH = 3, PERIOD = 8 };

extern __shared__ Word local_buffers[];

static __device__ __forceinline__ Channel<1> channel_to(Word *channels, Word receiver) {
  return Channel<1>(channels + receiver * channel_words(ENTRIES, 1), ENTRIES);
}

template <Use use> static __device__ __forceinline__ void send_all(Word *channels, Word receivers, Word *finished) {
  Sender<1> sender(local_buffers, channels, receivers, ENTRIES, LOCAL);
  sender.begin();
#pragma unroll 1
  for (Word i = 0; i < EACH; i++) {
    Message<1> message = {{i}};
    bool has = i < threadIdx.x % (EACH + 1);
    if (use != LEAVES_OUT || has)
      sender.send(has, threadIdx.x % receivers, message);
  }
  sender.flush();
  if (use != FORGETS || blockIdx.x)
    finish_sending(finished);
}

extern "C" __global__ void send_right(Word *channels, int receivers, Word *finished) { send_all<RIGHT>(channels, receivers, finished); }
extern "C" __global__ void send_forgets(Word *channels, int receivers, Word *finished) { send_all<FORGETS>(channels, receivers, finished); }
extern "C" __global__ void send_leaves_out(Word *channels, int receivers, Word *finished) { send_all<LEAVES_OUT>(channels, receivers, finished); }

struct Counter {
  Word *count;
  __device__ __forceinline__ void operator()(bool has, const Message<1> &message) {
    (void)message;
    if (has)
      atomicAdd(count, 1);
  }
};

extern "C" __global__ void receive(Word *channels, int senders, Word *finished, Word *count) {
  __shared__ ReceiverSpace space;
  Counter counter = {count};
  receive_all<1>(channel_to(channels, blockIdx.x), &space, finished, senders, PERIOD, counter);
}
