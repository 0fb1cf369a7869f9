#include "base/pages.h"

#include <glib.h>
#include <stdlib.h>
#include <sys/mman.h>

/* What stands before an array: of how many bytes it was mapped, 0: it is the heap's. */
typedef struct Header {
  size_t mapped;
} Header;

enum { HEADER_BYTES = 64, MAPPED_MIN = 64 << 10 };

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

void *pages_new(size_t count, size_t size) {
  if (size && count > (G_MAXSIZE - HEADER_BYTES) / size)
    give_up(count, size);
  size_t bytes = HEADER_BYTES + count * size;
  if (is_of_heap(bytes))
    return (char *)g_malloc0(bytes) + HEADER_BYTES;
  void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    give_up(1, bytes);
  ((Header *)mapped)->mapped = bytes;
  return (char *)mapped + HEADER_BYTES;
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
