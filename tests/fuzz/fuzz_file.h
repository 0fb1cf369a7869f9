/* fuzz_file.h - for targets whose parser reads a file: a private folder that holds the input and a small program. */
#ifndef LOCKSTEP_TESTS_FUZZ_FILE_H
#define LOCKSTEP_TESTS_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the input as `name` into the process's private folder, beside `p.sass`, which inputs can refer to. The path
 * belongs to this module, and is valid until the next call. */
const char *fuzz_file_write(const char *name, const uint8_t *data, size_t size);

#endif
