// Which lines share a slice of the L2, over 64 MB, and what two words cost each other by where they lie. A line whose loads wait long while all other blocks add to
// a word has the word's slice (or its neighbour in the other half, which is reached through it); one where additions in a row wait has its plane (mem_crowded.cu).
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_thirds mem_thirds.cu
// Run:   ./mem_thirds > mem_thirds.csv
// Rows `granules,WORD,LINE,-,COUNT`: of the 128 granules of 256 bytes from a line on so many have the slice of the word in line WORD.
// Rows `SET,LINES,LANES,WHO,RATE`: compare-and-swaps that fail a cycle, of all SMs, of the half that the first word is at home in (near), or of the other half
// (far); each warp tries the words by turns, so many lanes the same one.
#include "mem_beside.cuh"

enum { ROUNDS = 64, MOST = 4 };
enum { WAITS_AT_GATE = 3500 };
struct Set {
  int count, line[MOST];
};
struct Who {
  unsigned char on[BLOCKS];
};

__global__ void tries(Word *words, Set set, Who who, int lanes) {
  if (!who.on[blockIdx.x] || threadIdx.x % 32 >= lanes)
    return;
  Word got = 0;
  for (int i = 0; i < ROUNDS; i++) {
    Word seen;
    asm volatile("atom.global.cas.b32 %0, [%1], 5, 6;" : "=r"(seen) : "l"(words + set.line[i % set.count] * LINE) : "memory");
    got |= seen & 0x80000000;
  }
  if (got)
    words[5] = got;
}

static void rate(const char *name, Set set, const Who *who) {
  const char *const names[] = {"all", "near", "far"};
  for (int lanes = 32; lanes; lanes = lanes == 32 ? 8 : lanes == 8 ? 1 : 0)
    for (int of = 0; of < 3; of++) {
      float best = 1e9f, ms = 0;
      int blocks = 0;
      for (int i = 0; i < BLOCKS; i++)
        blocks += who[of].on[i];
      for (int run = 0; run < 5; run++) {
        cudaEvent_t begin, end;
        cudaEventCreate(&begin);
        cudaEventCreate(&end);
        cudaEventRecord(begin);
        tries<<<BLOCKS, 1024>>>(words, set, who[of], lanes);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, begin, end);
        best = ms < best ? ms : best;
      }
      printf("%s", name);
      for (int i = 0; i < set.count; i++)
        printf("%c%d", i ? ' ' : ',', set.line[i]);
      printf(",%d,%s,%.3f\n", lanes, names[of], blocks * 32. * ROUNDS * lanes / (best * 1e-3 * 1.98e9));
    }
}

int main() {
  beside_begin();
  printf("what,lines,lanes,who,value\n");
  for (int word = 0; word <= 8; word += 8)
    for (int region = 0; region < 38; region++) {
      int first = REGION * (region < 16 ? region : region < 24 ? 16 * (region - 15) : 64 * (region - 22)), count = 0;
      for (int line = first; line < first + REGION; line += line % 8 ? 6 : 2)
        count += beside(word, line, true) > WAITS_IN_SLICE;
      printf("granules,%d %d,-,-,%d\n", word, first, count);
    }
  Who who[3];
  int near = 0;
  for (int block = BLOCKS; block--;) {
    who[0].on[block] = 1;
    who[2].on[block] = is_far(0, block);
    who[1].on[block] = !who[2].on[block];
    near = who[1].on[block] ? block : near;
  }
  std::vector<int> slice[2], plane[2], other[2]; // by home: as line 0, or not
  for (int line = 2; line < 2 * REGION; line += line % 8 ? 6 : 2) {
    int far = is_far(line, near);
    (beside(0, line, true) > WAITS_IN_SLICE ? slice : beside(0, line, false) > WAITS_AT_GATE ? plane : other)[far].push_back(line);
  }
  rate("one word", {1, {0}}, who);
  rate("two lines of a slice", {2, {0, slice[0][0]}}, who);
  rate("a line reached through the slice", {2, {0, slice[1][0]}}, who);
  for (int i = 0; i < 6; i++)
    rate("two lines of a plane", {2, {0, plane[0][i]}}, who);
  rate("two lines of a plane, two homes", {2, {0, plane[1][0]}}, who);
  rate("two planes", {2, {0, other[0][0]}}, who);
  rate("two planes, two homes", {2, {0, other[1][0]}}, who);
  return cudaDeviceSynchronize() != cudaSuccess;
}
