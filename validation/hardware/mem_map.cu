// Where the lines of 64 KB lie: which pair of slices of the L2 each KB has, and which half is its home. Loads of a line wait long while all other blocks add to a
// word of its slice; of the two slices of a pair the first two granules of a KB show one each. A pair has the number of the first KB that was found there.
// Across halves a line may be taken for one of another pair, so pairs are compared within a half.
// Build: nvcc -O2 -std=c++17 -arch=sm_90 -o mem_map mem_map.cu
// Run:   ./mem_map > mem_map.csv
// A row: the KB, its first line, the pair, 1 if its granules lie in the pair's slices the other way round, 1 if its home is the other half.
#include "mem_beside.cuh"

enum { KB = 8 /* lines */ };

int main() {
  beside_begin();
  int near = 0;
  while (near < BLOCKS - 1 && is_far(0, near))
    near++;
  std::vector<int> first;
  printf("kb,line,pair,swapped,far\n");
  for (int region : {0, 1, 2, 3, 16, 17, 300})
    for (int kb = 0; kb < REGION / KB; kb++) {
      int line = region * REGION + kb * KB, pair = -1, swapped = 0;
      for (size_t i = 0; i < first.size() && pair < 0; i++)
        for (swapped = 0; swapped < 2 && pair < 0; swapped++)
          pair = beside(first[i], line + 2 * swapped, true) > WAITS_IN_SLICE ? (int)i : -1;
      if (pair < 0) {
        pair = (int)first.size();
        swapped = 1;
        first.push_back(line);
      }
      printf("%d,%d,%d,%d,%d\n", line / KB, line, pair, swapped - 1, is_far(line, near));
    }
  return 0;
}
