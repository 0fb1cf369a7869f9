/* fuzz.h - what a fuzz target defines: libFuzzer calls it with inputs of its own, replay.c with the files of a
 * corpus.
 * A target must leave no memory behind and must end quickly whatever the input. */
#ifndef LOCKSTEP_TESTS_FUZZ_H
#define LOCKSTEP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
