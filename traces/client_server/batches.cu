// The load of messages.cu by the optimised form of messages, batches.cuh. `local`: entries of a sender's local buffers.
// PTX: make_ptx.sh batches.cu
#include "batches.cuh"
#include "load.cuh"

// --- broken rules ---

struct NoFence : Sound {
  static constexpr bool fence_before_mask = false;
};
struct ResetFirst : Sound {
  static constexpr bool reset_behind_read = false;
};
enum Fault { NONE, NO_FENCE, RESET_FIRST };

extern __shared__ Word local_buffers[];

template <class Rules, int WORDS>
static __device__ __forceinline__ void send_batches(Word *channels, Word entries, Word local, const Load &load) {
  Word thread = blockIdx.x * blockDim.x + threadIdx.x;
  int count = load.count(thread);
  Sender<WORDS, Rules> sender(local_buffers, channels, load.receivers, entries, local);
  sender.begin();
#pragma unroll 1
  for (int i = 0; i < load.each; i++) {
    Word number = thread * load.each + i;
    Message<WORDS> message;
    bool has = i < count;
    if (has)
      load.make(number, message);
    sender.send(has, load.target(number), message);
  }
  sender.flush();
  finish_sending(load.finished);
}

struct Checker {
  const Load *load;
  Word most;
  template <int WORDS> __device__ __forceinline__ void operator()(bool has, const Message<WORDS> &message) {
    if (has)
      load->check(message, most);
  }
};

template <class Rules, int WORDS>
static __device__ __forceinline__ void receive_batches(Word *channels, Word entries, int senders, Word most,
                                                       int period, const Load &load) {
  __shared__ ReceiverSpace space;
  Checker checker = {&load, most};
  receive_all<WORDS, Rules>(channel<WORDS>(channels, entries, blockIdx.x), &space, load.finished, senders, period,
                            checker);
}

extern "C" __global__ void __launch_bounds__(1024, 2)
    batch_senders(Word *channels, int entries, int local, int receivers, Word *owed, Word *finished, int words,
                  int each, int uneven, int pause, unsigned seed, int fault) {
  Load load = {owed, nullptr, finished, receivers, each, uneven, pause, seed};
  if (fault == NO_FENCE)
    send_batches<NoFence, 2>(channels, entries, local, load);
  else if (words == 1)
    send_batches<Sound, 1>(channels, entries, local, load);
  else if (words == 2)
    send_batches<Sound, 2>(channels, entries, local, load);
  else if (words == 3)
    send_batches<Sound, 3>(channels, entries, local, load);
  else
    send_batches<Sound, 4>(channels, entries, local, load);
}

extern "C" __global__ void __launch_bounds__(1024, 2)
    batch_receivers(Word *channels, int entries, int senders, Word *owed, Word *wrong, Word *finished, int words,
                    int most, int period, unsigned seed, int fault) {
  Load load = {owed, wrong, finished, (int)gridDim.x, 0, 0, 0, seed};
  if (fault == RESET_FIRST)
    receive_batches<ResetFirst, 2>(channels, entries, senders, most, period, load);
  else if (words == 1)
    receive_batches<Sound, 1>(channels, entries, senders, most, period, load);
  else if (words == 2)
    receive_batches<Sound, 2>(channels, entries, senders, most, period, load);
  else if (words == 3)
    receive_batches<Sound, 3>(channels, entries, senders, most, period, load);
  else
    receive_batches<Sound, 4>(channels, entries, senders, most, period, load);
}
