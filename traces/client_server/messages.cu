// Random messages between blocks, which check themselves. Thread t of the senders sends message t * each + i for i in 0 ... each - 1
// (`uneven`: as many as a hash says, at most) to the receiver that a hash says; each word of a message is a hash of its number.
// `owed` has a word for each message: 1 while it is on its way. A receiver that finds another number there, a word that isn't the
// message's, or a message for somebody else counts it in `wrong`. In the end all of `owed` and `wrong` has to be 0.
// `words`: of a message, 1 to 4. `pause`: a sender looks at a word 0 to `pause` times before each message. `period`: a receiver looks
// for the end after so many attempts. `fault`: the rule that is broken, 0 for none (with another, `words` is 2).
// PTX: make_ptx.sh messages.cu
#include "load.cuh"

// --- broken rules ---

struct NoFence : Sound {
  static constexpr bool fence_before_mask = false;
};
struct ResetFirst : Sound {
  static constexpr bool reset_behind_read = false;
};
struct FreeAtOnce : Sound {
  static constexpr bool free_in_order = false;
};
struct WaitAlone : Sound {
  static constexpr bool wait_together = false;
};
struct LeaveEarly : Sound {
  static constexpr bool empty_at_end = false;
};
enum Fault { NONE, NO_FENCE, RESET_FIRST, FREE_AT_ONCE, WAIT_ALONE, LEAVE_EARLY };

// --- the basic algorithm ---

template <class Rules, int WORDS>
static __device__ __forceinline__ void send_basic(Word *channels, Word entries, const Load &load) {
  Word thread = blockIdx.x * blockDim.x + threadIdx.x;
  int count = load.count(thread);
#pragma unroll 1
  for (int i = 0; i < count; i++) {
    Word number = thread * load.each + i;
    Message<WORDS> message;
    load.make(number, message);
    basic_send<Rules>(channel<WORDS>(channels, entries, load.target(number)), message);
  }
  finish_sending(load.finished);
}

template <class Rules, int WORDS>
static __device__ __forceinline__ void receive_basic(Word *channels, Word entries, int senders, Word most, int period,
                                                     const Load &load) {
  __shared__ Word next, stop;
  if (threadIdx.x == 0)
    next = stop = 0;
  __syncthreads();
  Channel<WORDS> from = channel<WORDS>(channels, entries, blockIdx.x);
  BasicReceiver<WORDS, Rules> receiver(from, &next);
  int attempts = 0;
#pragma unroll 1
  while (!look(&stop)) {
    Message<WORDS> message;
    if (receiver.receive(message))
      load.check(message, most);
    if (threadIdx.x == 0 && ++attempts == period) {
      attempts = 0;
      if (is_over<Rules>(from, load.finished, senders))
        put(&stop, 1);
    }
  }
}

extern "C" __global__ void basic_senders(Word *channels, int entries, int receivers, Word *owed, Word *finished,
                                         int words, int each, int uneven, int pause, unsigned seed, int fault) {
  Load load = {owed, nullptr, finished, receivers, each, uneven, pause, seed};
  if (fault == NO_FENCE)
    send_basic<NoFence, 2>(channels, entries, load);
  else if (fault == WAIT_ALONE)
    send_basic<WaitAlone, 2>(channels, entries, load);
  else if (words == 1)
    send_basic<Sound, 1>(channels, entries, load);
  else if (words == 2)
    send_basic<Sound, 2>(channels, entries, load);
  else if (words == 3)
    send_basic<Sound, 3>(channels, entries, load);
  else
    send_basic<Sound, 4>(channels, entries, load);
}

extern "C" __global__ void basic_receivers(Word *channels, int entries, int senders, Word *owed, Word *wrong,
                                           Word *finished, int words, int most, int period, unsigned seed,
                                           int fault) {
  Load load = {owed, wrong, finished, (int)gridDim.x, 0, 0, 0, seed};
  if (fault == RESET_FIRST)
    receive_basic<ResetFirst, 2>(channels, entries, senders, most, period, load);
  else if (fault == FREE_AT_ONCE)
    receive_basic<FreeAtOnce, 2>(channels, entries, senders, most, period, load);
  else if (fault == LEAVE_EARLY)
    receive_basic<LeaveEarly, 2>(channels, entries, senders, most, period, load);
  else if (words == 1)
    receive_basic<Sound, 1>(channels, entries, senders, most, period, load);
  else if (words == 2)
    receive_basic<Sound, 2>(channels, entries, senders, most, period, load);
  else if (words == 3)
    receive_basic<Sound, 3>(channels, entries, senders, most, period, load);
  else
    receive_basic<Sound, 4>(channels, entries, senders, most, period, load);
}
