/* reference.c - the sequential Needleman-Wunsch of Li et al., equation 1, on one 32x32 block (31x31 interior).
 * Writes, as little-endian words: reference.bin, the field p(i,j) with pseudo-random scores from -4 to 11;
 * initial.bin, S with its first row and column (multiples of the penalty) and zeros; expected.bin, S after the
 * computation. Run it in this folder. */
#include <stdint.h>
#include <stdio.h>

enum { SIZE = 32, PENALTY = 10 };

static int write_words(const char *name, int32_t words[SIZE][SIZE]) {
  FILE *file = fopen(name, "wb");
  if (!file)
    return 1;
  for (int i = 0; i < SIZE * SIZE; i++)
    for (int byte = 0; byte < 4; byte++)
      putc((int)((uint32_t)words[i / SIZE][i % SIZE] >> (8 * byte) & 0xff), file);
  return fclose(file) != 0;
}

static int32_t largest(int32_t a, int32_t b) { return a > b ? a : b; }

int main(void) {
  static int32_t p[SIZE][SIZE], s[SIZE][SIZE];
  uint32_t state = 1;
  for (int i = 0; i < SIZE * SIZE; i++) {
    state = state * 1664525u + 1013904223u;
    p[i / SIZE][i % SIZE] = (int32_t)(state >> 28) - 4;
  }
  for (int i = 0; i < SIZE; i++)
    s[0][i] = s[i][0] = -PENALTY * i;
  if (write_words("reference.bin", p) || write_words("initial.bin", s))
    return 1;
  for (int i = 1; i < SIZE; i++)
    for (int j = 1; j < SIZE; j++)
      s[i][j] = largest(s[i - 1][j - 1] + p[i][j], largest(s[i][j - 1], s[i - 1][j]) - PENALTY);
  return write_words("expected.bin", s);
}
