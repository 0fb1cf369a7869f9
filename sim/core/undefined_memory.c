/* Values that nobody has written: where they come from, and what memory does with them. */
#include <glib.h>

#include "sim/core/members.h"
#include "sim/core/undefined_rows.h"

enum { ALL_BYTES = 15 };

/* A mask of bytes, and the bits of those. */
static uint32_t bits_of_bytes(uint8_t bytes) {
  uint32_t bits = 0;
  for (unsigned b = 0; b < 4; b++)
    bits |= bytes >> b & 1 ? 0xffu << 8 * b : 0;
  return bits;
}

/* What leaves in that row: lanes in which no byte is defined, and those in which bits are undefined in bytes of which
 * others are, as a comparison leaves them. */
typedef struct Leaving {
  uint32_t none, some_bits;
} Leaving;

static Leaving leaving(const Issue *issue, const UndefinedRow *row, uint32_t bytes) {
  uint32_t all = issue->mask, some = 0, whole = 0;
  for (uint32_t b = 0; b < MIN(bytes, 4u); b++) {
    uint32_t marked = lanes_with(row, 0xffu << 8 * b);
    all &= marked;
    some |= marked;
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      whole |= (row->bits[lane] >> 8 * b & 0xff) == 0xff ? lane_bit[lane] : 0;
  }
  return (Leaving){all, issue->mask & some & ~whole};
}

/* Padding beside a value is no use of it, in one row or in two that lie together: nvcc makes a 32-bit member and the
 * padding behind it one value of 64 bits, or a vector of two. */
void undefined_leaves(const Issue *issue) {
  uint32_t bytes = width_bytes[issue->inst->width], rows = access_words(bytes);
  Leaving row[4] = {0};
  const UndefinedRow *value[4] = {NULL};
  for (uint32_t part = 0; part < rows && issue->inst->b >= 0; part++) {
    value[part] = value_row(issue, issue->inst->b, part, true);
    row[part] = value[part] ? leaving(issue, value[part], bytes) : (Leaving){0};
  }
  for (uint32_t part = 0; part < rows; part++) {
    uint32_t beside = rows > 1 ? row[part ^ 1].none : UINT32_MAX;
    uint32_t lanes = (row[part].none & beside) | row[part].some_bits;
    if (lanes)
      tell(issue, lanes, &value[part]->from);
  }
}

static void make_room(Warp *warp, uint32_t registers) {
  uint32_t rows = registers + PRED_ROWS;
  if (warp->undefined_room >= rows)
    return;
  warp->undefined = g_renew(UndefinedRow, warp->undefined, rows);
  memset(warp->undefined + warp->undefined_room, 0, (rows - warp->undefined_room) * sizeof *warp->undefined);
  warp->undefined_room = rows;
}

void undefined_unset(const Issue *issue, unsigned number, bool is_predicate, uint32_t lanes) {
  make_room(issue->warp, rows_of(issue));
  uint32_t at = is_predicate ? pred_row(issue, number) : number;
  UndefinedRow value = issue->warp->undefined[at];
  value.from = (UndefinedFrom){.pc = issue->warp->pc,
                               .kind = is_predicate ? UNDEFINED_PREDICATE : UNDEFINED_REGISTER,
                               .address = number,
                               .lane = (unsigned)__builtin_ctz(lanes),
                               .warp = issue->warp->warp_in_block};
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    value.bits[lane] = lanes & lane_bit[lane] ? UINT32_MAX : value.bits[lane];
  set_row(issue->warp, at, ALL_LANES, &value);
}

/* The masks of the lanes that shuffle at `pc`; NULL: all lanes'. False: it has none (`shfl` without `.sync`). */
static bool find_members(const Issue *issue, const Kernel *kernel, const uint32_t **members) {
  const Inst *before = issue->pc > 0 ? &kernel->insts[issue->pc - 1] : NULL;
  bool has_mask = before && before->op == OP_WARPSYNC;
  *members = has_mask && before->mode != WARPSYNC_ALL ? issue_operand(issue, before->a) : NULL;
  return has_mask || issue->inst->flags & INST_SYNCED;
}

/* The lanes of a mask may come to the same operation at another place too: then who has exited may have taken
 * part. */
static bool has_alike(const Kernel *kernel, uint32_t shuffle) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_WARPSYNC && pc + 1 != shuffle && members_alike(kernel, pc, shuffle - 1))
      return true;
  return false;
}

void undefined_shuffled(const Issue *issue, const uint8_t source[WARP_LANES]) {
  const Launch *launch = issue->block->launch;
  const uint32_t *members;
  uint32_t exited = 0, outside = 0;
  if (launch->program->dialect != DIALECT_PTX || !find_members(issue, launch->kernel, &members))
    return;
  for (uint32_t rest = issue->mask; rest; rest &= rest - 1) {
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t from = lane_bit[source[lane]];
    if (from & issue->mask)
      continue;
    outside |= members && !(members[lane] & from) ? lane_bit[lane] : 0;
    exited |= from & ~issue->warp->alive ? lane_bit[lane] : 0;
  }
  exited &= ~outside;
  if (exited && !(issue->inst->flags & INST_SYNCED) && has_alike(launch->kernel, issue->pc))
    exited = 0;
  if (!(exited | outside) || (uint32_t)issue->inst->dst >= rows_of(issue))
    return;
  make_room(issue->warp, rows_of(issue));
  UndefinedRow value = issue->warp->undefined[issue->inst->dst];
  unsigned first = (unsigned)__builtin_ctz(exited | outside);
  value.from = (UndefinedFrom){.pc = issue->pc,
                               .kind = outside & lane_bit[first] ? UNDEFINED_OUTSIDE : UNDEFINED_EXITED,
                               .address = source[first],
                               .lane = first,
                               .warp = issue->warp->warp_in_block};
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    value.bits[lane] = (exited | outside) & lane_bit[lane] ? UINT32_MAX : value.bits[lane];
  set_row(issue->warp, (uint32_t)issue->inst->dst, ALL_LANES, &value);
}

/* Where undefined bytes of a word come from that somebody stored there, and which of its bits are undefined. */
typedef struct Kept {
  uint64_t place;
  uint64_t block;
  uint32_t launch, bits;
  UndefinedFrom from;
} Kept;

static uint64_t place_of(const Issue *issue, unsigned lane, MemSpace space, uint64_t address) {
  uint64_t sm = (uint64_t)issue->sm->index << 48, word = address / 4;
  return space == MEM_LOCAL ? UINT64_C(1) << 63 | sm | (uint64_t)issue->warp->slot << 40 | word << 5 | lane
                            : sm | word;
}

/* NULL: nobody of the block has stored them. */
static const Kept *find_kept(const Issue *issue, unsigned lane, MemSpace space, uint64_t address) {
  if (!issue->sm->undefined_kept || space == MEM_GLOBAL)
    return NULL;
  uint64_t place = place_of(issue, lane, space, address);
  const Kept *kept = g_hash_table_lookup(issue->sm->undefined_kept, &place);
  const Block *block = warp_block(issue->sm, issue->warp);
  return kept && kept->block == block->index && kept->launch == block->launch->index ? kept : NULL;
}

/* Of an access of less than a word: the bits of its value, and how far up they lie in the word. */
static uint32_t narrow_mask(uint32_t bytes) { return bytes < 4 ? (1u << 8 * bytes) - 1 : UINT32_MAX; }
static uint32_t narrow_shift(uint32_t bytes, uint64_t address) { return bytes < 4 ? 8 * (uint32_t)(address % 4) : 0; }

/* A word of predicates that was spilled, and one of bit fields, have bits with and without a value. */
static uint32_t loaded_bits(const Issue *issue, uint8_t undefined, const Kept *kept, uint64_t address) {
  MemWidth width = issue->inst->width;
  uint32_t bytes = width_bytes[width], mask = narrow_mask(bytes), all = bits_of_bytes(undefined);
  if (!kept)
    return all;
  uint32_t bits = kept->bits >> narrow_shift(bytes, address) & mask & all;
  bool extends = (width == WIDTH_S8 || width == WIDTH_S16) && bits & ~(mask >> 1);
  return extends ? bits | ~mask : bits;
}

void undefined_loaded(const Issue *issue, uint32_t part, const uint8_t undefined[WARP_LANES], MemSpace space,
                      const uint64_t address[WARP_LANES]) {
  uint32_t rows = rows_of(issue);
  UndefinedRow value = {{0}, {.pc = issue->pc, .space = space, .warp = issue->warp->warp_in_block}};
  if ((uint32_t)issue->inst->dst + part >= rows)
    return;
  for (unsigned lane = WARP_LANES; lane-- > 0;) {
    if (!(issue->mask >> lane & 1) || !undefined[lane])
      continue;
    value.from.lane = lane;
    value.from.address = address[lane] + 4 * part;
    const Kept *own = find_kept(issue, lane, space, value.from.address);
    value.bits[lane] = loaded_bits(issue, undefined[lane], own, value.from.address);
  }
  const Kept *kept = find_kept(issue, value.from.lane, space, value.from.address);
  if (kept)
    value.from = kept->from;
  make_room(issue->warp, rows);
  set_row(issue->warp, (uint32_t)issue->inst->dst + part, issue->mask, &value);
}

void undefined_keep(const Issue *issue, uint32_t part, unsigned lane, MemSpace space, uint64_t address) {
  enum { KEPT_MAX = 1 << 16 };
  const Block *block = warp_block(issue->sm, issue->warp);
  const UndefinedRow *row = value_row(issue, issue->inst->b, part, true);
  GHashTable **kept = &issue->sm->undefined_kept;
  if (!*kept)
    *kept = g_hash_table_new_full(bits_hash_key, g_int64_equal, NULL, g_free);
  if (!row || g_hash_table_size(*kept) >= KEPT_MAX)
    return;
  uint32_t bytes = width_bytes[issue->inst->width], shift = narrow_shift(bytes, address);
  uint32_t mask = narrow_mask(bytes) << shift;
  const Kept *before = find_kept(issue, lane, space, address);
  uint32_t others = (before ? before->bits : UINT32_MAX) & ~mask;
  Kept *new = g_new(Kept, 1);
  *new = (Kept){.place = place_of(issue, lane, space, address),
                .block = block->index,
                .launch = block->launch->index,
                .bits = others | (row->bits[lane] << shift & mask),
                .from = row->from};
  g_hash_table_replace(*kept, &new->place, new);
}

uint8_t undefined_stored(const Issue *issue, uint32_t part, unsigned lane) {
  const UndefinedRow *row = issue->warp->undefined_rows ? value_row(issue, issue->inst->b, part, true) : NULL;
  uint8_t undefined = 0;
  for (unsigned b = 0; row && b < 4; b++)
    undefined |= row->bits[lane] >> 8 * b & 0xff ? (uint8_t)(1u << b) : 0;
  return undefined;
}

uint8_t undefined_narrowed(uint8_t undefined, uint32_t bytes, uint32_t offset) {
  uint8_t wanted = (uint8_t)((1u << bytes) - 1), narrow = undefined >> offset & wanted;
  return narrow == wanted ? ALL_BYTES : narrow;
}

/* The operation puts its operand, or bits of it, in place of what is there: it hands on what it meets, and uses
 * none. */
static bool replaces(const Inst *inst) {
  return inst->mode == ATOM_EXCH || inst->mode == ATOM_AND || inst->mode == ATOM_OR;
}

uint8_t undefined_meet(UndefinedMet *met, const Inst *inst, uint32_t part, unsigned lane, uint8_t undefined,
                       uint64_t address, uint64_t operand) {
  uint32_t bytes = width_bytes[inst->width];
  uint8_t left = 0;
  if (!met->lanes)
    memset(met->bytes, 0, sizeof met->bytes);
  met->lanes |= lane_bit[lane];
  met->bytes[part][lane] = bytes < 4 ? undefined_narrowed(undefined, bytes, address % 4) : undefined;
  met->address[lane] = address;
  if (inst->mode == ATOM_AND || inst->mode == ATOM_OR)
    for (unsigned b = 0; b < 4; b++)
      left |= (operand >> (32 * part + 8 * b) & 0xff) == (inst->mode == ATOM_AND ? 0xff : 0) ? 1u << b : 0;
  return undefined & left;
}

void undefined_atomic(const Issue *issue, const UndefinedMet *met, MemSpace space, bool marks) {
  unsigned lane = (unsigned)__builtin_ctz(met->lanes);
  UndefinedFrom from = {.pc = issue->pc,
                        .space = space,
                        .address = met->address[lane],
                        .lane = lane,
                        .warp = issue->warp->warp_in_block};
  if (!replaces(issue->inst))
    tell(issue, met->lanes, &from);
  marks = marks && replaces(issue->inst);
  for (uint32_t part = 0; part < access_words(width_bytes[issue->inst->width]) && marks; part++)
    if (op_info[issue->inst->op].flags & OPF_LOAD)
      undefined_loaded(issue, part, met->bytes[part], space, met->address);
}
