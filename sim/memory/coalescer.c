#include "sim/memory/coalescer.h"

#include <string.h>

#include "base/bits.h"
#include "sim/memory/mem_clock.h"

void coalescer_init(Coalescer *coalescer, const Machine *machine) {
  coalescer->line_shift = (uint32_t)__builtin_ctz(machine->memory.l2.line);
  coalescer->sector_shift = (uint32_t)__builtin_ctz(machine->memory.l2.sector);
  coalescer->word_milli = mem_clock_core(machine, machine->memory.atomic.word_interval);
  coalescer->float_milli = MAX(mem_clock_core(machine, machine->memory.atomic.float_interval), coalescer->word_milli);
  coalescer->double_milli =
      MAX(mem_clock_core(machine, machine->memory.atomic.double_interval), coalescer->word_milli);
  coalescer->sector_milli = mem_clock_core(machine, machine->memory.atomic.sector_interval);
  coalescer->cas_milli = mem_clock_core(machine, machine->memory.atomic.cas_interval);
  coalescer->span_shift = (uint32_t)__builtin_ctz(machine->memory.atomic.cas_span);
  coalescer->queue_milli = coalescer->word_milli + mem_clock_core(machine, machine->memory.queue.slot_interval);
  coalescer->queue_bytes = machine->memory.queue.bytes;
}

/* The sector of an address within its line, as a bit. */
static uint32_t sector_bit(const Coalescer *coalescer, uint64_t address) {
  uint32_t in_line = (uint32_t)address & ((1u << coalescer->line_shift) - 1);
  return 1u << (in_line >> coalescer->sector_shift);
}

/* Bits from the lower to the higher one. */
static uint32_t between(uint32_t low, uint32_t high) { return high | (high - low); }

static void count_sectors(MemPiece piece[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t sectors = piece[i].sectors, more = sectors & (sectors - 1);
    piece[i].shape = (MemShape){.sector_count = (uint16_t)(more ? bits_count(sectors) : 1) & 63};
  }
}

/* Of a run. */
static uint32_t split_run(const Coalescer *coalescer, const MemRequest *request, MemPiece piece[]) {
  uint64_t start = request->address[0], end = request->address[31], line = start >> coalescer->line_shift;
  if (end >> coalescer->line_shift == line) {
    piece[0] =
        (MemPiece){.lanes = UINT32_MAX, .sectors = between(sector_bit(coalescer, start), sector_bit(coalescer, end))};
    return 1;
  }
  uint32_t count = 0, lane = 0, shift = (uint32_t)__builtin_ctz(request->bytes);
  for (; lane < 32; line++) {
    uint64_t until = (((line + 1) << coalescer->line_shift) - start) >> shift;
    uint32_t next = until < 32 ? (uint32_t)until : 32;
    uint32_t below = next < 32 ? (1u << next) - 1 : UINT32_MAX;
    uint32_t first = sector_bit(coalescer, request->address[lane]);
    piece[count++] = (MemPiece){.lanes = below & ~((1u << lane) - 1),
                                .sectors = between(first, sector_bit(coalescer, request->address[next - 1]))};
    lane = next;
  }
  return count;
}

/* Lines come in rising order, mostly: then nothing is searched for. */
static uint32_t split(const Coalescer *coalescer, const MemRequest *request, MemPiece piece[]) {
  uint64_t lines[32], highest = 0;
  uint32_t count = 0, i = 0;
  for (uint32_t rest = request->mask; rest; rest &= rest - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(rest);
    uint64_t address = request->address[lane], line = address >> coalescer->line_shift;
    if (count == 0 || line > highest)
      i = count;
    else if (line != lines[i])
      for (i = 0; i < count && lines[i] != line; i++)
        ;
    MemPiece *own = &piece[i];
    uint32_t before = 0, sectors = 0;
    if (i == count) {
      highest = line > highest ? line : highest;
      lines[count++] = line;
      own->busy = 0;
    } else {
      before = own->lanes;
      sectors = own->sectors;
    }
    own->lanes = before | 1u << lane;
    own->sectors = sectors | sector_bit(coalescer, address);
  }
  return count;
}

/* Of queues of the lanes, each in one line. */
static void take_queues(const Coalescer *coalescer, const MemRequest *request, MemPiece piece[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t rest = piece[i].lanes; rest; rest &= rest - 1) {
      uint64_t first = request->address[__builtin_ctz(rest)], last = first + coalescer->queue_bytes - 1;
      piece[i].sectors |= between(sector_bit(coalescer, first), sector_bit(coalescer, last));
    }
}

uint32_t coalescer_split(const Coalescer *coalescer, const MemRequest *request, MemPiece piece[]) {
  uint32_t count = 1;
  if (request->together && request->mask)
    piece[0] = (MemPiece){.lanes = request->mask,
                          .sectors = sector_bit(coalescer, request->address[__builtin_ctz(request->mask)])};
  else if (request->run && request->mask == UINT32_MAX)
    count = split_run(coalescer, request, piece);
  else
    count = split(coalescer, request, piece);
  if (request->queue)
    take_queues(coalescer, request, piece, count);
  count_sectors(piece, count);
  return count;
}

/* How many lanes are on the word of a piece that most are on, and on that which is second in this. */
typedef struct Crowds {
  uint32_t most, second;
} Crowds;

static void add_crowd(Crowds *crowds, uint32_t lanes) {
  if (lanes > crowds->most)
    *crowds = (Crowds){lanes, crowds->most};
  else if (lanes > crowds->second)
    crowds->second = lanes;
}

/* Of one sector: how many lanes are on that of its words that most are on, and on that of all its words that fewest
 * are on: so many turns take the whole sector. */
static uint32_t most_on_a_word(const Coalescer *coalescer, const MemRequest *request, uint32_t lanes,
                               uint32_t *fewest, Crowds *crowds) {
  uint8_t on[256] = {0};
  uint32_t most = 0, size = 1u << coalescer->sector_shift, width = MAX(4u, request->bytes);
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint32_t word = (uint32_t)(request->address[__builtin_ctz(rest)] & (size - 1)) / width;
    uint8_t now = ++on[word];
    most = now > most ? now : most;
  }
  *fewest = most;
  for (uint32_t word = 0; word < size / width; word++) {
    *fewest = MIN(*fewest, on[word]);
    add_crowd(crowds, on[word]);
  }
  return most;
}

/* True if all lanes of the piece are on one word. */
static bool is_one_word(const MemRequest *request, uint32_t lanes) {
  uint64_t address = request->address[__builtin_ctz(lanes)];
  for (; lanes && request->address[__builtin_ctz(lanes)] == address; lanes &= lanes - 1)
    ;
  return lanes == 0;
}

/* True if the lanes are one lane, of which no other of the piece is in the same span of a compare-and-swap. */
static bool is_alone(const Coalescer *coalescer, const MemRequest *request, const MemPiece *piece, uint32_t lanes) {
  if (lanes & (lanes - 1))
    return false;
  uint64_t span = request->address[__builtin_ctz(lanes)] >> coalescer->span_shift;
  for (uint32_t rest = piece->lanes & ~lanes; rest; rest &= rest - 1)
    if (request->address[__builtin_ctz(rest)] >> coalescer->span_shift == span)
      return false;
  return true;
}

void coalescer_turns(const Coalescer *coalescer, const MemRequest *request, MemPiece *piece) {
  uint64_t busy = 0;
  uint32_t turns = 0, alone = 0;
  Crowds crowds = {0};
  piece->packets = (MemPackets){0};
  if (request->queue) {
    piece->shape.turns = (uint16_t)bits_count(piece->lanes);
    piece->busy = (uint32_t)(piece->shape.turns * coalescer->queue_milli);
    return;
  }
  if (request->together || is_one_word(request, piece->lanes)) {
    piece->shape.turns = request->merged ? 1 : (uint16_t)bits_count(piece->lanes);
    uint64_t behind = request->floats ? coalescer->float_milli : coalescer->word_milli;
    piece->busy = (uint32_t)(coalescer->word_milli + (piece->shape.turns - 1u) * behind);
    return;
  }
  bool doubles = request->floats && request->bytes == 8;
  uint64_t turn = doubles ? coalescer->double_milli : coalescer->word_milli,
           whole_turn = doubles ? MAX(turn, coalescer->sector_milli) : coalescer->sector_milli;
  for (uint32_t sectors = piece->sectors; sectors; sectors &= sectors - 1) {
    uint32_t lanes = 0, whole;
    for (uint32_t rest = piece->lanes; rest; rest &= rest - 1)
      if (sector_bit(coalescer, request->address[__builtin_ctz(rest)]) == (sectors & -sectors))
        lanes |= rest & -rest;
    uint32_t most = most_on_a_word(coalescer, request, lanes, &whole, &crowds);
    uint64_t takes = whole * whole_turn + (most - whole) * turn;
    bool by_itself = request->cas && is_alone(coalescer, request, piece, lanes);
    busy += request->cas && !by_itself ? MAX(takes, most * coalescer->cas_milli) : takes;
    alone += by_itself;
    turns += most;
  }
  if (request->floats) /* those on one word wait for each other, sectors don't */
    busy = MAX(busy, coalescer->word_milli + (crowds.most - 1) * coalescer->float_milli);
  piece->shape.turns = (uint16_t)turns;
  piece->packets = (MemPackets){.several = crowds.second & 63, .alone = alone & 63};
  piece->busy = (uint32_t)busy;
}
