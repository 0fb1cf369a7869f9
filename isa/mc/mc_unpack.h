/* mc_unpack.h - entries of fat binaries that nvcc compressed: with LZ4, or with Zstandard since CUDA 12.8.
 *
 * Both libraries are optional (configure looks for liblz4 and libzstd). */
#ifndef LOCKSTEP_ISA_MC_MC_UNPACK_H
#define LOCKSTEP_ISA_MC_MC_UNPACK_H

#include <glib.h>
#include <stdint.h>

typedef enum { MC_PLAIN, MC_LZ4, MC_ZSTANDARD } McPacking;

/* `unpacked` bytes from the `length` bytes of one entry, and a zero behind them; free with g_free. NULL: *problem
 * says why, as the rest of a sentence that begins with "it". Any bytes may come. */
uint8_t *mc_unpack(McPacking packing, const uint8_t *bytes, gsize length, uint64_t unpacked, const char **problem);

#endif
