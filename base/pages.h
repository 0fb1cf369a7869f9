/* pages.h - large arrays of zeros. A page of them takes no memory, and costs nothing, before somebody writes to it:
 * the heap would fill them with zeros again whenever it has had their memory before (`check` makes a machine for each
 * schedule).
 * Small pages are what such an array needs, and what makes it slow: a host looks up the place of each page, and has
 * room for some thousand of them. What a long run has filled can be moved to large pages (pages_enlarge()).
 * From 32 KB on an array begins with a line of the host's cache. What was freed is kept for the next array of its
 * size, as `check` makes them, as far as that takes no memory from others.
 * Ownership: the caller's, until pages_free(). Memory that isn't there ends the program, as with g_malloc(). */
#ifndef LOCKSTEP_BASE_PAGES_H
#define LOCKSTEP_BASE_PAGES_H

#include <stddef.h>

enum { HOST_LINE = 64 }; /* bytes of a line of the host's cache */

void *pages_new(size_t count, size_t size);
/* NULL is fine. */
void pages_free(void *pages);
/* Room for an array that grows: addresses of `most` elements, or of fewer where addresses are limited (ulimit -v), a
 * sixteenth of which it takes then. *count: how many. A page takes no memory before somebody writes to it.
 * pages_give_back() frees it: none behind the first `used` elements was written to. */
void *pages_reserve(size_t most, size_t size, size_t *count);
void pages_give_back(void *pages, size_t count, size_t size, size_t used);
/* Parts of the array a quarter of which is in use, and those that will be, get large pages, where the host has them.
 * What it holds stays as it is, and nobody may access it meanwhile. NULL is fine. */
void pages_enlarge(void *pages);

#define PAGES_NEW(Type, count) ((Type *)pages_new((count), sizeof(Type)))

#endif
