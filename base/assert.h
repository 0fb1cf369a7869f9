/* assert.h - preconditions with a stable id.
 * LS_REQUIRE marks a bad call by our own code, never bad input: it aborts with the id, and a test triggers each id. */
#ifndef LOCKSTEP_BASE_ASSERT_H
#define LOCKSTEP_BASE_ASSERT_H

#include <glib.h>

#define LS_REQUIRE(id, condition)                                                         \
  do {                                                                                    \
    if (G_UNLIKELY(!(condition)))                                                         \
      g_error("%s:%d: precondition %s violated: %s", __FILE__, __LINE__, id, #condition); \
  } while (0)

#endif
