/* demangle.h - names of C++ as people write them, by c++filt (of binutils, which every compiler brings along).
 * Private to sim/scenario. */
#ifndef LOCKSTEP_SCENARIO_DEMANGLE_H
#define LOCKSTEP_SCENARIO_DEMANGLE_H

#include <stdbool.h>

/* "void ns::f<128, true>(int*)" for each of `names`, one that isn't mangled as it is; NULL-terminated like them. NULL
 * if there is no c++filt; free with g_strfreev. */
char **demangle_names(char **names);
/* The part of a demangled name without result type and parameters: "ns::f<128, true>". Free with g_free. */
char *demangle_short(const char *demangled);
/* Of all of them, where no two then are alike; NULL-terminated, to be freed with g_strfreev(). */
char **demangle_brief(char **demangled);
/* True if `wanted` means that function: with or without parameters, namespaces and template arguments; blanks don't
 * count, and `unsigned` is `unsigned int`. */
bool demangle_matches(const char *demangled, const char *wanted);

#endif
