/* l1_banks.h - what a load takes of an L1's tags and data: both lie in banks that have a turn each cycle.
 * Models: four banks of tags, chosen by a hash of the line's number, and 32 banks of words. Lines of one bank of tags
 * take turns, and so do words of one bank that lie in different lines; one turn of a line serves all its words, and
 * tags are looked up beside data of loads before. (An H200: validation/hardware/mem_gather.cu; the hash is known up
 * to bit 17 of a line's number.)
 * Does not model: that the data of a load that misses come later. */
#ifndef LOCKSTEP_MEMORY_L1_BANKS_H
#define LOCKSTEP_MEMORY_L1_BANKS_H

#include <stdint.h>

/* The turns of the bank that has most of `lines`, numbers that differ; of 1, 2 or 4 banks. */
uint32_t l1_banks_tags(const uint64_t *lines, uint32_t count, uint32_t banks);
/* The turns of the bank that has most of the words that lanes load, `bytes` each, aligned to that. lanes[i]: those
 * that come to the i-th of `count` lines. */
uint32_t l1_banks_words(const uint64_t address[32], const uint32_t *lanes, uint32_t count, uint32_t bytes);

#endif
