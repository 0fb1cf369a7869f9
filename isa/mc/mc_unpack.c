#include "isa/mc/mc_unpack.h"

#include <limits.h>

#include "config.h"
#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

enum { UNPACKED_MAX = 64 << 20 };

/* True if `into` is full. */
static gboolean with_lz4(const uint8_t *bytes, gsize length, uint8_t *into, gsize unpacked) {
#ifdef HAVE_LZ4
  return length <= INT_MAX &&
         LZ4_decompress_safe((const char *)bytes, (char *)into, (int)length, (int)unpacked) == (int)unpacked;
#else
  return FALSE;
#endif
}

static gboolean with_zstandard(const uint8_t *bytes, gsize length, uint8_t *into, gsize unpacked) {
#ifdef HAVE_ZSTD
  return ZSTD_decompress(into, unpacked, bytes, length) == unpacked;
#else
  return FALSE;
#endif
}

/* The library that is missing, or NULL. */
static const char *missing(McPacking packing) {
#ifndef HAVE_LZ4
  if (packing == MC_LZ4)
    return "is compressed with LZ4, and lockstep was built without liblz4";
#endif
#ifndef HAVE_ZSTD
  if (packing == MC_ZSTANDARD)
    return "is compressed with Zstandard, and lockstep was built without libzstd";
#endif
  return NULL;
}

uint8_t *mc_unpack(McPacking packing, const uint8_t *bytes, gsize length, uint64_t unpacked, const char **problem) {
  *problem = missing(packing);
  if (*problem)
    return NULL;
  *problem = "is compressed, and its bytes aren't what they should be";
  if (unpacked > UNPACKED_MAX)
    return NULL;
  uint8_t *into = g_malloc(unpacked + 1);
  into[unpacked] = 0;
  if (packing == MC_LZ4 ? with_lz4(bytes, length, into, unpacked) : with_zstandard(bytes, length, into, unpacked))
    return into;
  g_free(into);
  return NULL;
}
