// What the programs of this folder work on: keys and accounts, drawn by a hash, so that every form of a program has the same ones.
#ifndef INPUTS_CUH
#define INPUTS_CUH

namespace inputs {

using Word = unsigned;

// The finalizer of MurmurHash3.
static __device__ __forceinline__ Word mix(Word h) {
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}
// The value `index` in the row of `seed`.
static __device__ __forceinline__ Word draw(Word seed, Word index) { return mix(seed ^ index * 0x9E3779B9u); }

// The element that operation `index` inserts, of a pool.
static __device__ __forceinline__ Word key_of(Word seed, Word index, Word pool) { return draw(seed, index) % pool; }

// Where an element lies in a table: hashed (`scattered`), else elements of the pool lie side by side.
static __device__ __forceinline__ Word place_of(Word element, Word places, bool scattered) {
  return (scattered ? mix(element + 1) : element) % places;
}

// Two different accounts of a pool, and what goes from one to the other.
struct Transfer {
  Word from, to, amount;
};
static __device__ __forceinline__ Transfer transfer_of(Word seed, Word index, Word pool) {
  Transfer t;
  t.from = draw(seed, 2 * index) % pool;
  t.to = draw(seed, 2 * index + 1) % pool;
  if (t.to == t.from)
    t.to = (t.to + 1) % pool;
  t.amount = 1 + (mix(seed + index) & 7);
  return t;
}

static __device__ __forceinline__ Word thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ Word thread_count() { return gridDim.x * blockDim.x; }

} // namespace inputs

#endif
