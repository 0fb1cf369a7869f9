#include "base/pages.h"

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

/* What stands before an array. */
typedef struct Header {
  size_t mapped;       /* bytes, 0: it is the heap's */
  size_t used;         /* of a mapping that is kept: bytes in memory */
  struct Header *next; /* the one of its size kept after it */
  gboolean enlarged;
} Header;

enum {
  HEADER_BYTES = 64,
  MAPPED_MIN = 32 << 10,
  LARGE_PAGE = 2 << 20,
  SMALL_PAGE = 4 << 10,
  LIMITED_SHARE = 16,
  SIZES = 8 * 64,         /* of mappings: eight for each power of two */
  KEPT_ANYWAY = 64 << 20, /* bytes in memory of mappings that are kept: */
  KEPT_MOST = 256 << 20,  /* more only as long as they fit what is asked for */
  LOOKED_AT = 1024,       /* pages, at once, whether they are in memory */
  RESERVES_KEPT = 4,
  RESERVE_KEPT_MOST = 4 << 20 /* bytes in memory of a reserve that is kept */
};

/* Mappings that were freed, zeros again, by size, for who asks for as many bytes next: `check` makes the same arrays
 * for each schedule. Zeros are written faster than a page is got from the host for its first use, by 80 times on a
 * virtual machine that looks after its page tables itself. */
static GMutex kept_mutex;
static struct {
  Header *first, *last; /* whoever asks has the one that was freed first: simulations make and free in one order */
} kept[SIZES];
static size_t kept_used;
static unsigned next_given_back; /* where what makes room is looked for first */

/* Reserves that were given back, zeros again: to unmap one interrupts all processors that run a thread of this
 * process. */
static struct {
  void *pages;
  size_t bytes;
} reserves[RESERVES_KEPT];
static unsigned reserves_kept;

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

static size_t pages_of(size_t bytes) { return (bytes + SMALL_PAGE - 1) / SMALL_PAGE; }

/* The number of a size of mappings, and in *bytes the size: what arrays of about as many bytes have in common. */
static unsigned size_of(size_t *bytes) {
  unsigned shift = (unsigned)(63 - __builtin_clzll(*bytes)) - 3;
  size_t eighths = *bytes >> shift;
  if (*bytes & (((size_t)1 << shift) - 1) && *bytes < G_MAXSSIZE)
    eighths++;
  *bytes = MAX(*bytes, eighths << shift);
  return (shift * 8 + (unsigned)eighths) % SIZES;
}

/* So many bytes; those of a large page or more begin with one. */
static void *map(size_t bytes) {
  size_t beside = bytes >= LARGE_PAGE ? LARGE_PAGE : 0;
  char *mapped = mmap(NULL, bytes + beside, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    give_up(1, bytes);
  if (!beside)
    return mapped;
  size_t before = -(size_t)mapped % LARGE_PAGE, end = pages_of(before + bytes) * SMALL_PAGE;
  if (before)
    munmap(mapped, before);
  if (end < bytes + beside)
    munmap(mapped + end, bytes + beside - end);
  return mapped + before;
}

static gboolean may_swap(void) {
  struct sysinfo info;
  return sysinfo(&info) != 0 || info.totalswap;
}

/* So many pages from `from` on: where they are in memory zeros are written, and what isn't is given back if what was
 * written there may have been moved out. False if the host doesn't. */
static gboolean wipe_pages(char *from, size_t pages, const unsigned char *there, gboolean swaps) {
  static const char zeros[SMALL_PAGE]; /* as in a page that was only read: writing to it would be its first use */
  for (size_t begin = 0, end; begin < pages; begin = end) {
    for (end = begin + 1; end < pages && !((there[end] ^ there[begin]) & 1); end++)
      ;
    char *first = from + begin * SMALL_PAGE, *behind = from + end * SMALL_PAGE;
    gboolean in_memory = there[begin] & 1;
    if (swaps && !in_memory && madvise(first, (size_t)(behind - first), MADV_DONTNEED) != 0)
      return FALSE;
    for (char *page = first; in_memory && page < behind; page += SMALL_PAGE)
      if (memcmp(page, zeros, SMALL_PAGE) != 0)
        memset(page, 0, SMALL_PAGE);
  }
  return TRUE;
}

/* How many bytes of a mapping are in memory; more than KEPT_MOST if it is more or the host can't say it. With
 * `wiped`, all of it is zeros then. */
static size_t bytes_used(char *mapped, size_t bytes, gboolean wiped) {
  unsigned char there[LOOKED_AT];
  size_t used = 0, pages = pages_of(bytes);
  gboolean swaps = wiped && may_swap();
  for (size_t at = 0; at < pages && used <= KEPT_MOST; at += LOOKED_AT) {
    size_t count = MIN(pages - at, LOOKED_AT);
    char *from = mapped + at * SMALL_PAGE;
    if (mincore(from, count * SMALL_PAGE, there) != 0 || (wiped && !wipe_pages(from, count, there, swaps)))
      return G_MAXSIZE;
    for (size_t i = 0; i < count; i++)
      used += there[i] & 1 ? SMALL_PAGE : 0;
  }
  return used;
}

/* Notes that a mapping of so many bytes will be kept. Returns as how much it counts, 0: too much is kept already. */
static size_t room_for(char *mapped, size_t bytes) {
  g_mutex_lock(&kept_mutex);
  size_t room = KEPT_MOST - kept_used, used = pages_of(bytes) * SMALL_PAGE;
  g_mutex_unlock(&kept_mutex);
  if (used > room)
    used = bytes_used(mapped, bytes, FALSE);
  g_mutex_lock(&kept_mutex);
  gboolean fits = used <= KEPT_MOST && used <= KEPT_MOST - kept_used;
  kept_used += fits ? used : 0;
  g_mutex_unlock(&kept_mutex);
  return fits ? used : 0;
}

/* Keeps a mapping, unless too much is kept. */
static gboolean keep(Header *header) {
  size_t bytes = header->mapped, room = header->enlarged ? 0 : room_for((char *)header, bytes);
  if (!room)
    return FALSE;
  size_t used = bytes_used((char *)header, bytes, TRUE);
  gboolean wiped = used <= KEPT_MOST;
  *header = (Header){.mapped = bytes, .used = used};
  g_mutex_lock(&kept_mutex);
  kept_used -= room;
  if (wiped) {
    unsigned size = size_of(&bytes);
    kept_used += used;
    if (kept[size].first)
      kept[size].last->next = header;
    else
      kept[size].first = header;
    kept[size].last = header;
  }
  g_mutex_unlock(&kept_mutex);
  return wiped;
}

/* A mapping of size `size` that was kept. NULL: none was, and what was kept beyond KEPT_ANYWAY makes room for a new
 * one, of each size in turn. */
static Header *take_kept(unsigned size, size_t bytes) {
  g_mutex_lock(&kept_mutex);
  Header *found = kept[size].first, *given_back = NULL;
  if (found) {
    kept[size].first = found->next;
    kept_used -= found->used;
  }
  size_t room = 0;
  for (unsigned i = 0; !found && i < SIZES && kept_used > KEPT_ANYWAY && room < bytes; i++) {
    next_given_back = (next_given_back + 1) % SIZES;
    Header *first = kept[next_given_back].first;
    if (!first)
      continue;
    kept[next_given_back].first = first->next;
    room += first->used;
    kept_used -= first->used;
    first->next = given_back;
    given_back = first;
    i = 0;
  }
  g_mutex_unlock(&kept_mutex);
  while (given_back) {
    Header *next = given_back->next;
    munmap(given_back, given_back->mapped);
    given_back = next;
  }
  return found;
}

void *pages_new(size_t count, size_t size) {
  if (size && count > (G_MAXSIZE - HEADER_BYTES) / size)
    give_up(count, size);
  size_t bytes = HEADER_BYTES + count * size;
  if (is_of_heap(bytes))
    return (char *)g_malloc0(bytes) + HEADER_BYTES;
  unsigned number = size_of(&bytes);
  Header *header = take_kept(number, bytes);
  if (!header)
    header = map(bytes);
  *header = (Header){.mapped = bytes};
  return (char *)header + HEADER_BYTES;
}

void pages_free(void *pages) {
  if (!pages)
    return;
  Header *header = (Header *)(void *)((char *)pages - HEADER_BYTES);
  if (!header->mapped)
    g_free(header);
  else if (!keep(header))
    munmap(header, header->mapped);
}

/* A reserve of so many bytes that was kept, or NULL. */
static void *take_reserve(size_t bytes) {
  void *found = NULL;
  g_mutex_lock(&kept_mutex);
  for (unsigned i = reserves_kept; i-- > 0 && !found;)
    if (reserves[i].bytes == bytes) {
      found = reserves[i].pages;
      reserves[i] = reserves[--reserves_kept];
    }
  g_mutex_unlock(&kept_mutex);
  return found;
}

static bool keep_reserve(void *pages, size_t bytes, size_t used) {
  if (used > RESERVE_KEPT_MOST || bytes_used(pages, used, TRUE) > KEPT_MOST)
    return false;
  g_mutex_lock(&kept_mutex);
  bool fits = reserves_kept < RESERVES_KEPT;
  if (fits) {
    reserves[reserves_kept].pages = pages;
    reserves[reserves_kept++].bytes = bytes;
  }
  g_mutex_unlock(&kept_mutex);
  return fits;
}

void *pages_reserve(size_t most, size_t size, size_t *count) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    most = MIN(most, limit.rlim_cur / LIMITED_SHARE / size);
  for (*count = most; *count; *count /= 2) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *mapped = take_reserve(*count * size);
    if (mapped)
      return mapped;
    mapped = mmap(NULL, *count * size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (mapped != MAP_FAILED)
      return mapped;
  }
  give_up(1, size);
  return NULL;
}

void pages_give_back(void *pages, size_t count, size_t size, size_t used) {
  if (!keep_reserve(pages, count * size, used * size))
    munmap(pages, count * size);
}

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
  ((Header *)(void *)mapped)->enlarged = TRUE;
  /* A host that refuses has small pages. */
  (void)madvise(mapped, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
  for (size_t at = 0; at + LARGE_PAGE <= bytes; at += LARGE_PAGE)
    if (is_used(mapped + at))
      (void)madvise(mapped + at, LARGE_PAGE, MADV_COLLAPSE);
}
