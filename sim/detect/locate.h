/* locate.h - puts a finding at its place in the source, and names threads for people. */
#ifndef LOCKSTEP_DETECT_LOCATE_H
#define LOCKSTEP_DETECT_LOCATE_H

#include "sim/core/gpu.h"
#include "sim/detect/finding.h"

/* The source line (number from 1) of an instruction of a launch's kernel. */
unsigned locate_line(const Launch *launch, uint32_t pc);
/* That instruction's text as written, without comments and address; newly allocated. */
char *locate_source(const Launch *launch, uint32_t pc);
/* A finding at instruction `pc`. Takes ownership of `message`. */
Finding *locate_finding(FindingId id, char *message, const Launch *launch, uint32_t pc);
/* "lane 3 of warp 0 of block 0", with the kernel's name if there are several launches. Newly allocated. */
char *locate_lanes_text(const Gpu *gpu, const Launch *launch, uint64_t block, uint32_t warp, uint32_t lanes);
char *locate_thread_text(const Gpu *gpu, ThreadId thread);
/* "shared address 0x10" as the resident block `block` (may be NULL) sees the physical address. Newly allocated. */
char *locate_shared_text(const Block *block, uint32_t physical);
/* "counter[3] (global 0x1000c)". Newly allocated. */
char *locate_global_text(const Gpu *gpu, uint64_t address);

#endif
