#include "sim/memory/coalescer.h"

#include <string.h>

#include "sim/memory/mem_clock.h"

void coalescer_init(Coalescer *coalescer, const Machine *machine) {
  coalescer->line_shift = (uint32_t)__builtin_ctz(machine->memory.l2.line);
  coalescer->sector_shift = (uint32_t)__builtin_ctz(machine->memory.l2.sector);
  coalescer->word_milli = mem_clock_core(machine, machine->memory.atomic.word_interval);
  coalescer->sector_milli = mem_clock_core(machine, machine->memory.atomic.sector_interval);
}

/* The sector of an address within its line, as a bit. */
static uint32_t sector_bit(const Coalescer *coalescer, uint64_t address) {
  uint32_t in_line = (uint32_t)address & ((1u << coalescer->line_shift) - 1);
  return 1u << (in_line >> coalescer->sector_shift);
}

/* Bits from the lower to the higher one. */
static uint32_t between(uint32_t low, uint32_t high) { return high | (high - low); }

/* True if all 32 lanes access one piece of memory, one lane's bytes behind the other's. */
static bool is_run(const MemRequest *request) {
  uint64_t apart = request->bytes, differ = 0;
  for (uint32_t lane = 0; lane < 31; lane++)
    differ |= (request->address[lane + 1] - request->address[lane]) ^ apart;
  return differ == 0;
}

static uint32_t split_run(const Coalescer *coalescer, const MemRequest *request, Piece pieces[32]) {
  uint64_t start = request->address[0], line = start >> coalescer->line_shift;
  uint32_t count = 0, lane = 0;
  for (; lane < 32; line++) {
    uint64_t end = (line + 1) << coalescer->line_shift;
    uint64_t until = (end - start) / request->bytes;
    uint32_t next = until < 32 ? (uint32_t)until : 32;
    uint32_t below = next < 32 ? (1u << next) - 1 : UINT32_MAX;
    uint32_t first = sector_bit(coalescer, request->address[lane]);
    pieces[count++] = (Piece){.line = line,
                              .lanes = below & ~((1u << lane) - 1),
                              .sectors = between(first, sector_bit(coalescer, request->address[next - 1]))};
    lane = next;
  }
  return count;
}

uint32_t coalescer_split(const Coalescer *coalescer, const MemRequest *request, Piece pieces[32]) {
  if (request->mask == UINT32_MAX && is_run(request))
    return split_run(coalescer, request, pieces);
  uint32_t count = 0;
  for (uint32_t rest = request->mask; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(rest);
    uint64_t address = request->address[lane], line = address >> coalescer->line_shift;
    uint32_t i = count;
    while (i > 0 && pieces[i - 1].line != line)
      i--;
    if (i == 0) {
      pieces[count] = (Piece){.line = line};
      i = ++count;
    }
    pieces[i - 1].lanes |= 1u << lane;
    pieces[i - 1].sectors |= sector_bit(coalescer, address);
  }
  return count;
}

/* Of one sector: how many lanes are on that of its words that most are on; *bytes: how many of its bytes are accessed. */
static uint32_t most_on_a_word(const Coalescer *coalescer, const MemRequest *request, uint32_t lanes,
                               uint32_t *bytes) {
  uint8_t on[256] = {0};
  uint32_t most = 0, words = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t word = (uint32_t)(request->address[__builtin_ctz(rest)] & ((1u << coalescer->sector_shift) - 1)) / 4;
    uint8_t now = ++on[word];
    words += now == 1;
    most = now > most ? now : most;
  }
  *bytes = words * request->bytes;
  return most;
}

uint32_t coalescer_turns(const Coalescer *coalescer, const MemRequest *request, const Piece *piece, uint64_t *busy) {
  uint32_t turns = 0;
  if ((piece->lanes & (piece->lanes - 1)) == 0) {
    *busy = coalescer->word_milli;
    return 1;
  }
  *busy = 0;
  for (uint32_t sectors = piece->sectors; sectors; sectors &= sectors - 1) {
    uint32_t lanes = 0, bytes;
    for (uint32_t rest = piece->lanes; rest; rest &= rest - 1)
      if (sector_bit(coalescer, request->address[__builtin_ctz(rest)]) == (sectors & -sectors))
        lanes |= rest & -rest;
    uint32_t most = most_on_a_word(coalescer, request, lanes, &bytes);
    bool whole = most == 1 && bytes == 1u << coalescer->sector_shift;
    *busy += whole ? coalescer->sector_milli : most * coalescer->word_milli;
    turns += most;
  }
  return turns;
}
