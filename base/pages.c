#include "base/pages.h"

#include <glib.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* What stands before an array: of how many bytes it was mapped, 0: it is the heap's. */
typedef struct Header {
  size_t mapped;
} Header;

enum { HEADER_BYTES = 64, MAPPED_MIN = 64 << 10, LARGE_PAGE = 2 << 20, SMALL_PAGE = 4 << 10, LIMITED_SHARE = 16 };

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* of Linux 6.1: hosts that are older refuse it */
#endif

/* AddressSanitizer looks after the ends of what is the heap's. */
static gboolean is_of_heap(size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  (void)bytes;
  return TRUE;
#else
  return bytes < MAPPED_MIN;
#endif
}

/* As g_malloc() does, and in GLib's name, for who handles that. */
static void give_up(size_t count, size_t size) {
  g_log("GLib", G_LOG_LEVEL_ERROR, "%s: failed to allocate %.0f bytes", G_STRLOC, (double)count * (double)size);
  abort(); /* not reached: such a message ends the program */
}

/* So many bytes; those of a large page or more begin with one. */
static void *map(size_t bytes) {
  size_t beside = bytes >= LARGE_PAGE ? LARGE_PAGE : 0;
  char *mapped = mmap(NULL, bytes + beside, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    give_up(1, bytes);
  if (!beside)
    return mapped;
  size_t before = -(size_t)mapped % LARGE_PAGE, end = (before + bytes + SMALL_PAGE - 1) / SMALL_PAGE * SMALL_PAGE;
  if (before)
    munmap(mapped, before);
  if (end < bytes + beside)
    munmap(mapped + end, bytes + beside - end);
  return mapped + before;
}

void *pages_new(size_t count, size_t size) {
  if (size && count > (G_MAXSIZE - HEADER_BYTES) / size)
    give_up(count, size);
  size_t bytes = HEADER_BYTES + count * size;
  if (is_of_heap(bytes))
    return (char *)g_malloc0(bytes) + HEADER_BYTES;
  char *mapped = map(bytes);
  ((Header *)(void *)mapped)->mapped = bytes;
  return mapped + HEADER_BYTES;
}

void pages_free(void *pages) {
  if (!pages)
    return;
  Header *header = (Header *)(void *)((char *)pages - HEADER_BYTES);
  if (header->mapped)
    munmap(header, header->mapped);
  else
    g_free(header);
}

void *pages_reserve(size_t most, size_t size, size_t *count) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    most = MIN(most, limit.rlim_cur / LIMITED_SHARE / size);
  for (*count = most; *count; *count /= 2) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *mapped = mmap(NULL, *count * size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapped != MAP_FAILED)
      return mapped;
  }
  give_up(1, size);
  return NULL;
}

void pages_give_back(void *pages, size_t count, size_t size) { munmap(pages, count * size); }

/* True if a quarter of a large page is in use, or more. */
static gboolean is_used(char *large) {
  unsigned char there[LARGE_PAGE / SMALL_PAGE] = {0};
  unsigned used = 0;
  if (mincore(large, LARGE_PAGE, there) != 0)
    return FALSE;
  for (unsigned i = 0; i < G_N_ELEMENTS(there); i++)
    used += there[i] & 1;
  return used >= G_N_ELEMENTS(there) / 4;
}

void pages_enlarge(void *pages) {
  char *mapped = pages ? (char *)pages - HEADER_BYTES : NULL;
  size_t bytes = pages ? ((const Header *)(const void *)mapped)->mapped : 0;
  if (bytes < LARGE_PAGE)
    return;
  /* A host that refuses has small pages. */
  (void)madvise(mapped, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
  for (size_t at = 0; at + LARGE_PAGE <= bytes; at += LARGE_PAGE)
    if (is_used(mapped + at))
      (void)madvise(mapped + at, LARGE_PAGE, MADV_COLLAPSE);
}
