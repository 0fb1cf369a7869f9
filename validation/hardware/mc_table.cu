// A table in constant memory that lanes read at different places: loads that find nothing, and loads that find all.
//
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mc_table mc_table.cu; -cubin, -ptx for the files beside it
#include "mc.cuh"

__constant__ unsigned table[16 * 1024];

// n loads behind each other, each of places that nobody has read in this launch: 2048 words apart.
#define FIRST(name, place)                                                                                           \
  BENCH(first_##name, {1}, {1, 2, 4, 8}) {                                                                           \
    unsigned lane = threadIdx.x % 32, x = lane & zero, at = place;                                                   \
    unsigned start = clock_now();                                                                                    \
    _Pragma("unroll 1") for (unsigned i = 0; i < n; i++) x = table[x + at + i * 2048];                               \
    end_row(took, start, x);                                                                                         \
  }
// The same places again and again.
#define AGAIN(name, place) ROUNDS(again_##name, WARPS_ALL, {64}, unsigned at = place, REP4(x = table[x + at];))
#define BOTH(name, place) FIRST(name, place) AGAIN(name, place)

// So many words of a line, of 64 bytes; so many lines, side by side or 256 bytes apart; a word a lane, so many apart.
BOTH(words_1, 0)
BOTH(words_2, lane % 2)
BOTH(words_4, lane % 4)
BOTH(words_8, lane % 8)
BOTH(words_16, lane % 16)
BOTH(lines_2, lane % 2 * 16)
BOTH(lines_4, lane % 4 * 16)
BOTH(lines_8, lane % 8 * 16)
BOTH(lines_16, lane % 16 * 16)
BOTH(blocks_2, lane % 2 * 64)
BOTH(blocks_4, lane % 4 * 64)
BOTH(blocks_8, lane % 8 * 64)
BOTH(blocks_16, lane % 16 * 64)
BOTH(lanes_1, lane)
BOTH(lanes_2, lane * 2)
BOTH(lanes_8, lane * 8)
BOTH(lanes_16, lane * 16)
BOTH(mixed, lane * 7 % 32 * 3)

// All warps come to a table of 16 words at once.
ROUNDS(together, WARPS_ALL, {1}, , x = table[x + lane % 16];)
ROUNDS(together_lanes, WARPS_ALL, {1}, , x = table[x + lane];)
