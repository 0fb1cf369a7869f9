#include "isa/flow/prefer.h"

#include "isa/flow/scratch.h"

enum {
  READS_FOR = 8,      /* an access to global memory reads its registers for 18 cycles (H200), issue takes 2 to 3 */
  LOADED_BEFORE = 10, /* instructions that a constant, or the base of an address, is loaded before at most */
};

static const VInst *inst_at(const Prefer *prefer, guint i) {
  return &g_array_index(prefer->vkernel->insts, VInst, i);
}

/* -- what an access reads -- */

static uint32_t late_end(const Prefer *prefer, uint32_t i) {
  return 2 * MIN(i + 1 + READS_FOR, prefer->flow->first[prefer->flow->block_of[i] + 1]);
}

static void own_spans(SpanList *list) {
  if (!list->owned)
    *list = (SpanList){g_memdup2(list->spans, list->count * sizeof(Span)), list->count, true};
}

/* The span that ends where instruction `i` reads lasts some instructions longer, to the end of the block at most. */
static void read_late(SpanList *list, uint32_t i, uint32_t end) {
  uint32_t at = span_behind(list->spans, list->count, 2 * i);
  if (at == list->count || list->spans[at].from > 2 * i || list->spans[at].to > 2 * i + 2)
    return;
  if (at + 1 < list->count)
    end = MIN(end, list->spans[at + 1].from);
  own_spans(list);
  list->spans[at].to = MAX(list->spans[at].to, end);
}

static void read_all_late(Prefer *prefer) {
  for (guint i = 0; i < prefer->vkernel->insts->len; i++) {
    VRegUse uses[8];
    unsigned count = scratch_reads_late(inst_at(prefer, i)) ? vinst_reads(inst_at(prefer, i), uses) : 0;
    for (unsigned u = 0; u < count; u++)
      for (unsigned row = 0; row < uses[u].rows; row++)
        read_late(classes_list(prefer->classes, uses[u].reg, uses[u].row + row), i, late_end(prefer, i));
  }
}

Span prefer_access_span(const Prefer *prefer, uint32_t i) { return (Span){2 * i, late_end(prefer, i)}; }

static bool writes(const VInst *vinst, int32_t reg) {
  VRegUse uses[8];
  unsigned count = vinst_writes(vinst, uses);
  return count && uses[0].reg == reg;
}

bool prefer_copies_address(const Prefer *prefer, uint32_t i) {
  const VInst *vinst = inst_at(prefer, i);
  if (!scratch_reads_late(vinst) || !(vinst->inst.flags & INST_ADDR64) || vinst->a < 0)
    return false;
  for (uint32_t next = i + 1; 2 * next < late_end(prefer, i); next++)
    if (writes(inst_at(prefer, next), vinst->a))
      return inst_at(prefer, next)->inst.op == OP_IADD64;
  return false;
}

/* -- what is loaded early -- */

static bool is_clock(uint8_t special) {
  return special == SR_CLOCKLO || special == SR_CLOCKHI || special == SR_CLOCK64;
}

/* Its result comes when it comes, and a scoreboard waits for it. */
static bool takes_long(const Inst *inst) {
  if (op_info[inst->op].flags & OPF_LOAD)
    return true;
  switch ((Opcode)inst->op) {
  case OP_S2R: return !is_clock(inst->mode);
  case OP_SHFL:
  case OP_MATCH:
  case OP_REDUX:
  case OP_MUFU:
  case OP_POPC:
  case OP_FLO:
  case OP_I2F:
  case OP_F2I:
  case OP_CVT: return true;
  default: return false;
  }
}

/* The sum of an index and a base in the constant bank is an IMAD.WIDE, whose base comes by LDC. */
static bool waits_for_base(const VKernel *vkernel, const VInst *vinst) {
  int32_t base = vinst->a < 0 ? vinst->a : vinst->b;
  return vinst->inst.op == OP_IADD64 && base < 0 && vkernel->kernel->consts[~base].kind != CONST_IMMEDIATE;
}

static bool reads_marked(const VInst *vinst, const uint32_t *marks, uint32_t mark) {
  VRegUse uses[8];
  bool marked = false;
  unsigned count = vinst_reads(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    marked |= marks[uses[u].reg] == mark;
  return marked;
}

static void find_waits(Prefer *prefer) {
  const Flow *flow = prefer->flow;
  g_autofree uint32_t *coming = g_new0(uint32_t, prefer->vkernel->rows->len + 1); /* in block b: b + 1 */
  prefer->waits = g_new(uint32_t, flow->nblocks + 1);
  for (uint32_t b = 0; b < flow->nblocks; b++) {
    prefer->waits[b] = UINT32_MAX;
    for (uint32_t i = flow->first[b]; i < flow->first[b + 1] && prefer->waits[b] == UINT32_MAX; i++) {
      const VInst *vinst = inst_at(prefer, i);
      if (reads_marked(vinst, coming, b + 1) || waits_for_base(prefer->vkernel, vinst))
        prefer->waits[b] = i;
      VRegUse uses[8];
      if (vinst_writes(vinst, uses))
        coming[uses[0].reg] = takes_long(&vinst->inst) ? b + 1 : 0;
    }
  }
}

/* The instruction before which ptxas would load what `i` makes; `i` itself if that depends on anything. */
static uint32_t find_load(const Prefer *prefer, uint32_t i) {
  const VInst *vinst = inst_at(prefer, i);
  uint32_t block = prefer->flow->block_of[i], place = i;
  if (vinst_is_guarded(vinst))
    return i;
  switch ((Opcode)vinst->inst.op) {
  case OP_S2R: place = is_clock(vinst->inst.mode) ? i : prefer->flow->first[block]; break;
  case OP_IMULW:
    place = vinst->b < 0 && !vinst->shifted ? prefer->flow->first[block] : i;
    break; /* the base of IMAD.WIDE */
  case OP_MOV: place = vinst->a < 0 ? MIN(i, prefer->waits[block]) : i; break;
  case OP_MOV64: place = vinst->a < 0 ? prefer->flow->first[block] : i; break;
  default: break;
  }
  return MAX(place, i - MIN(i, LOADED_BEFORE));
}

/* The span that begins where instruction `i` writes begins before instruction `place` instead, but behind the one
 * before. */
static void write_early(SpanList *list, uint32_t i, uint32_t place) {
  uint32_t at = span_behind(list->spans, list->count, 2 * i + 1), from = 2 * place + 1;
  if (at == list->count || list->spans[at].from != 2 * i + 1)
    return;
  if (at > 0)
    from = MAX(from, list->spans[at - 1].to);
  own_spans(list);
  list->spans[at].from = MIN(from, 2 * i + 1);
}

static void write_all_early(Prefer *prefer) {
  for (guint i = prefer->vkernel->insts->len; i-- > 0;) {
    VRegUse uses[8];
    uint32_t place = find_load(prefer, i);
    unsigned count = place < i ? vinst_writes(inst_at(prefer, i), uses) : 0;
    for (unsigned row = 0; count && row < uses[0].rows; row++)
      write_early(classes_list(prefer->classes, uses[0].reg, uses[0].row + row), i, place);
  }
}

Span prefer_constant_span(const Prefer *prefer, uint32_t i) {
  uint32_t place = MIN(i, prefer->waits[prefer->flow->block_of[i]]);
  return (Span){2 * MAX(place, i - MIN(i, LOADED_BEFORE)), late_end(prefer, i)};
}

/* -- banks -- */

/* A row that an instruction reads beside the one row of class `root`. */
typedef struct Neighbour {
  uint32_t root, other;
  uint8_t row;
  bool pair; /* it is part of a pair, whose first row is even: `root` wants an odd row, whatever `other` has */
} Neighbour;

static int compare_neighbours(const void *x, const void *y) {
  const Neighbour *a = x, *b = y;
  return a->root < b->root ? -1 : a->root > b->root;
}

static bool is_counted_row(const Prefer *prefer, uint32_t root) {
  return prefer->classes->members[root].rows == 1 && !prefer->classes->members[root].uniform;
}

static void add_neighbour(Prefer *prefer, VRegUse mine, VRegUse other) {
  uint32_t my_offset, offset;
  Neighbour neighbour = {.root = classes_root(prefer->classes, (uint32_t)mine.reg, &my_offset),
                         .other = classes_root(prefer->classes, (uint32_t)other.reg, &offset)};
  neighbour.row = (uint8_t)(offset + other.row);
  neighbour.pair = other.rows > 1;
  if (is_counted_row(prefer, neighbour.root) && !prefer->classes->members[neighbour.other].uniform &&
      neighbour.root != neighbour.other)
    g_array_append_val(prefer->neighbours, neighbour);
}

/* The factor of an IMAD.WIDE stands beside the pair with the base: in 75 % of 898 it is odd. */
static void add_index(Prefer *prefer, const VInst *vinst, VRegUse index) {
  uint32_t offset;
  Neighbour neighbour = {.root = classes_root(prefer->classes, (uint32_t)index.reg, &offset), .pair = true};
  if (vinst->inst.op == OP_IMULW && !vinst->shifted && is_counted_row(prefer, neighbour.root))
    g_array_append_val(prefer->neighbours, neighbour);
}

/* Of two registers that an instruction reads one is even and one odd in 76 to 92 % of IADD3, IMAD, ISETP, LOP3, SEL,
 * SHF, FADD and FSETP. */
static void collect_neighbours(Prefer *prefer) {
  for (guint i = 0; i < prefer->vkernel->insts->len; i++) {
    const VInst *vinst = inst_at(prefer, i);
    VRegUse uses[8];
    unsigned count = unit_is_arithmetic(op_info[vinst->inst.op].unit) ? vinst_reads(vinst, uses) : 0;
    for (unsigned u = 0; u < count; u++)
      for (unsigned o = 0; o < count; o++)
        if (o != u)
          add_neighbour(prefer, uses[u], uses[o]);
    if (count == 1)
      add_index(prefer, vinst, uses[0]);
  }
  g_array_sort(prefer->neighbours, compare_neighbours);
}

static guint first_neighbour(const Prefer *prefer, uint32_t root) {
  guint low = 0, high = prefer->neighbours->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    if (g_array_index(prefer->neighbours, Neighbour, middle).root < root)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int prefer_parity(const Prefer *prefer, uint32_t root, const uint32_t *rows) {
  if (prefer->classes->members[root].rows != 1)
    return -1;
  if (prefer->classes->members[root].odd)
    return 1;
  int odd = 0;
  for (guint i = first_neighbour(prefer, root); i < prefer->neighbours->len; i++) {
    const Neighbour *neighbour = &g_array_index(prefer->neighbours, Neighbour, i);
    if (neighbour->root != root)
      break;
    if (neighbour->pair)
      odd++;
    else if (prefer->placed[neighbour->other])
      odd += (rows[neighbour->other] + neighbour->row) % 2 ? -1 : 1;
  }
  return odd > 0 ? 1 : odd < 0 ? 0 : -1;
}

/* What is stored is odd. */
static void want_odd_rows(Prefer *prefer) {
  for (guint i = 0; i < prefer->vkernel->insts->len; i++) {
    const VInst *vinst = inst_at(prefer, i);
    if (!scratch_wants_odd(vinst) || vinst->b < 0 || vinst->b == VREG_SINK)
      continue;
    uint32_t offset, root = classes_root(prefer->classes, (uint32_t)vinst->b, &offset);
    prefer->classes->members[root].odd |= prefer->classes->members[root].rows == 1;
  }
}

/* -- all of it -- */

void prefer_init(Prefer *prefer, const VKernel *vkernel, const Flow *flow, Classes *classes) {
  *prefer = (Prefer){.vkernel = vkernel,
                     .flow = flow,
                     .classes = classes,
                     .neighbours = g_array_new(FALSE, FALSE, sizeof(Neighbour)),
                     .placed = g_new0(uint8_t, classes->count + 1)};
  want_odd_rows(prefer);
  read_all_late(prefer);
  find_waits(prefer);
  write_all_early(prefer);
  collect_neighbours(prefer);
}

void prefer_clear(Prefer *prefer) {
  g_free(prefer->waits);
  g_free(prefer->placed);
  g_array_unref(prefer->neighbours);
  *prefer = (Prefer){0};
}
