/* wide.h - WIDE_CLONES before a function with a long loop: it is compiled for wide registers, too, and the loader
 * takes what the host has. */
#ifndef LOCKSTEP_BASE_WIDE_H
#define LOCKSTEP_BASE_WIDE_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define WIDE_CLONES __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define WIDE_CLONES
#endif

#endif
