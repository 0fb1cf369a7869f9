/* print.h - what a kernel's printf prints: C formats with arguments packed as CUDA packs them for vprintf.
 * Arguments lie one after another, each aligned to its size: 4 bytes for int and smaller types (promoted), 8 bytes
 * for long, long long, pointers and double (float is promoted).
 * Conversions are those of CUDA: flags, width and precision (numbers or *), sizes h hh l ll, types d i o u x X p e E
 * f g G a A c s and %%. Any other one is printed as it stands, and takes no argument. */
#ifndef LOCKSTEP_CORE_PRINT_H
#define LOCKSTEP_CORE_PRINT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Reads a byte of the thread's generic address space; false if there is nothing. */
typedef bool (*PrintPeek)(void *user, uint64_t address, uint8_t *byte);

/* Widths and precisions above this are taken as this; so are lengths of strings. */
enum { PRINT_WIDTH_MAX = 1024, PRINT_STRING_MAX = 64 * 1024 };

/* Appends to `out` the format at `format` with the arguments at `args`. Returns how many arguments it took, or -1 if
 * the format, an argument or a string of it can't be read; *bad is then that address. A NULL string prints
 * "(null)". */
int print_format(GString *out, PrintPeek peek, void *user, uint64_t format, uint64_t args, uint64_t *bad);

/* The string at `address`, at most PRINT_STRING_MAX bytes of it. False if its end can't be reached. */
bool print_string(GString *out, PrintPeek peek, void *user, uint64_t address, uint64_t *bad);

#endif
