/* locate.h - puts a finding at its place in the source, and names threads for people. */
#ifndef LOCKSTEP_DETECT_NAMING_LOCATE_H
#define LOCKSTEP_DETECT_NAMING_LOCATE_H

#include "sim/core/gpu.h"
#include "sim/detect/naming/finding.h"

/* The source line (number from 1) of an instruction of a launch's kernel. */
unsigned locate_line(const Launch *launch, uint32_t pc);
/* "line 12"; "list.h:12" if that isn't the file that the kernel's first instruction is from. Newly allocated. */
char *locate_line_text(const Launch *launch, uint32_t pc);
/* One number for the file and line of an instruction. */
uint64_t locate_key(const Launch *launch, uint32_t pc);
/* True if the other instruction is of the same line and does the same, or is a copy of no line, as in an unrolled
 * loop. */
bool locate_is_alike(const Launch *launch, uint32_t pc, uint32_t other);
/* All that are so, `pc` itself too: uint32_t, rising. The caller owns it. */
GArray *locate_alike(const Launch *launch, uint32_t pc);
/* Adds evidence at that instruction. Takes ownership of `text`. */
void locate_evidence(Finding *finding, const Launch *launch, uint32_t pc, char *text);
/* That instruction's text as written, without comments and address; newly allocated. */
char *locate_source(const Launch *launch, uint32_t pc);
/* A finding at instruction `pc`. Takes ownership of `message`. */
Finding *locate_finding(FindingId id, char *message, const Launch *launch, uint32_t pc);
/* "lane 3 of warp 0 of block 0", with the kernel's name if there are several launches. Newly allocated. */
char *locate_lanes_text(const Gpu *gpu, const Launch *launch, uint64_t block, uint32_t warp, uint32_t lanes);
char *locate_thread_text(const Gpu *gpu, ThreadId thread);
/* "cycle 12 (line 9)": when and where a thread changed a word; "cycle 12" for the host. Newly allocated. */
char *locate_change_text(const Gpu *gpu, const WordChange *change);
/* "shared address 0x10" as the resident block `block` (may be NULL) sees the physical address. Newly allocated. */
char *locate_shared_text(const Block *block, uint32_t physical);
/* The block that has the byte of shared memory which a probe tells of (remote_address()), in an access of `own`;
 * NULL: none any more. */
const Block *locate_shared_block(const Gpu *gpu, const Sm *own, uint64_t address);
/* The same as text, with the block's number if the SM isn't the own one. */
char *locate_cluster_text(const Gpu *gpu, const Sm *own, uint64_t address);
/* "counter[3] (global 0x1000c)". Newly allocated. */
char *locate_global_text(const Gpu *gpu, uint64_t address);

#endif
