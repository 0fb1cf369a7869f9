/* pages.h - large arrays of zeros. A page of them takes no memory, and costs nothing, before somebody writes to it:
 * the heap would fill them with zeros again whenever it has had their memory before (`check` makes a machine for each
 * schedule).
 * Ownership: the caller's, until pages_free(). Memory that isn't there ends the program, as with g_malloc(). */
#ifndef LOCKSTEP_BASE_PAGES_H
#define LOCKSTEP_BASE_PAGES_H

#include <stddef.h>

void *pages_new(size_t count, size_t size);
/* NULL is fine. */
void pages_free(void *pages);

#define PAGES_NEW(Type, count) ((Type *)pages_new((count), sizeof(Type)))

#endif
