/* reference.c - writes reduction.bin, the array A of Li et al., Listing 10, after the loop, as little-endian words:
 * A[lane] = lane + 1 at first, then A[i + 32] = A[i] + i. Run it in this folder. */
#include <stdint.h>
#include <stdio.h>

enum { WARPS = 16, WORDS = 32 * (WARPS + 1) };

int main(void) {
  uint32_t a[WORDS];
  for (uint32_t lane = 0; lane < 32; lane++)
    a[lane] = lane + 1;
  for (uint32_t i = 0; i < 32 * WARPS; i++)
    a[i + 32] = a[i] + i;
  FILE *file = fopen("reduction.bin", "wb");
  if (!file)
    return 1;
  for (int i = 0; i < WORDS; i++)
    for (int byte = 0; byte < 4; byte++)
      putc((int)(a[i] >> (8 * byte) & 0xff), file);
  return fclose(file) != 0;
}
