// What the tests of messages.cuh and batches.cuh send, and what has to arrive; messages.cu says what it means.
#ifndef LOAD_CUH
#define LOAD_CUH

#include "messages.cuh"

using namespace messages;

struct Load {
  Word *owed, *wrong, *finished;
  int receivers, each, uneven, pause;
  unsigned seed;

  __device__ __forceinline__ Word target(Word number) const { return hash32(seed, number) % receivers; }
  __device__ __forceinline__ Word word(Word number, int w) const { return w ? hash32(seed + w, number) : number; }
  __device__ __forceinline__ int count(Word thread) const {
    return uneven ? hash32(~seed, thread) % (each + 1) : each;
  }
  template <int WORDS> __device__ __forceinline__ void make(Word number, Message<WORDS> &message) const {
#pragma unroll
    for (int w = 0; w < WORDS; w++)
      message.word[w] = word(number, w);
    atomicAdd(owed + number, 1);
    if (pause)
#pragma unroll 1
      for (int left = hash32(seed ^ 77, number) % (pause + 1); left; left--)
        look(finished);
  }
  template <int WORDS> __device__ __forceinline__ void check(const Message<WORDS> &message, Word most) const {
    Word number = message.word[0];
    bool right = number < most && target(number) == blockIdx.x && atomicSub(owed + number, 1) == 1;
#pragma unroll
    for (int w = 1; w < WORDS; w++)
      right = right && message.word[w] == word(number, w);
    if (!right)
      atomicAdd(wrong, 1);
  }
};

template <int WORDS>
static __device__ __forceinline__ Channel<WORDS> channel(Word *channels, Word entries, Word receiver) {
  return Channel<WORDS>(channels + receiver * channel_words(entries, WORDS), entries);
}

#endif
