/* replay.c - main() of a fuzz target where there is no libFuzzer: one TAP point for each file named, a file that
 * makes the target crash kills it. */
#include "tests/fuzz/fuzz.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

int main(int argc, char **argv) {
  int failed = 0;
  printf("1..%d\n", argc - 1);
  for (int i = 1; i < argc; i++) {
    g_autofree char *data = NULL;
    g_autofree char *name = g_path_get_basename(argv[i]);
    gsize size = 0;
    bool readable = g_file_get_contents(argv[i], &data, &size, NULL);
    if (readable)
      LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    else
      failed = 1;
    printf("%sok %d - %s\n", readable ? "" : "not ", i, name);
    fflush(stdout);
  }
  return failed;
}
