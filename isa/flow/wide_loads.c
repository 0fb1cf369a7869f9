#include "isa/flow/wide_loads.h"

#include "isa/flow/alignment.h"

enum { WORD = 4, PENDING_MAX = 64 };

/* A load that may be one of several: from a register that hasn't changed since. */
typedef struct Pending {
  uint32_t inst;
  bool taken;
} Pending;

/* What becomes of each instruction: the first of the wide load that it is a word of, and which word. */
typedef struct Part {
  uint32_t first; /* UINT32_MAX: it stays as it is */
  int32_t reg;    /* that the wide load writes */
  uint8_t row, words;
} Part;

typedef struct Widening {
  VKernel *vkernel;
  uint8_t *alignment;
  Part *parts;
  Pending pending[PENDING_MAX];
  unsigned count;
  bool any;
} Widening;

static const VInst *inst_at(const Widening *widening, uint32_t i) {
  return &g_array_index(widening->vkernel->insts, VInst, i);
}

static bool is_candidate(const Widening *widening, const VInst *vinst) {
  const Inst *inst = &vinst->inst;
  return inst->op == OP_LDS && inst->width == WIDTH_32 && inst->sem == SEM_WEAK && inst->cache != CACHE_CV &&
         !inst->lop && !inst->flags && !vinst_is_guarded(vinst) && vinst->a >= 0 && vinst->a != VREG_SINK &&
         vinst->a_row == 0 && vinst->dst >= 0 && vinst->dst != VREG_SINK && vinst->dst != vinst->a &&
         inst->imm % WORD == 0 && widening->alignment[vinst->a] >= 2 * WORD;
}

/* No load moves over it. */
static bool ends_group(const VInst *vinst) {
  const OpInfo *info = &op_info[vinst->inst.op];
  if (unit_is_arithmetic(info->unit))
    return (vinst->inst.flags & (INST_MARKS | INST_SYNCED)) != 0;
  bool loads = vinst->inst.op == OP_LD || vinst->inst.op == OP_LDS;
  bool global = vinst->inst.op == OP_ST && vinst->inst.space == MEM_GLOBAL;
  return !(loads || global) || vinst->inst.sem != SEM_WEAK || vinst->inst.flags & (INST_MARKS | INST_SYNCED) ||
         (vinst->inst.op == OP_LDS && vinst->inst.lop);
}

static bool is_beside(const VInst *one, const VInst *other) {
  return one->a == other->a && one->inst.line == other->inst.line && one->inst.file == other->inst.file &&
         one->inst.inlined == other->inst.inlined;
}

/* The pending load of the word at `offset` beside `vinst`, or -1. */
static int find_word(const Widening *widening, const VInst *vinst, int32_t offset) {
  for (unsigned p = 0; p < widening->count; p++) {
    const VInst *other = inst_at(widening, widening->pending[p].inst);
    if (!widening->pending[p].taken && other->inst.imm == offset && is_beside(vinst, other))
      return (int)p;
  }
  return -1;
}

/* One load of all words, if each of them is there. */
static bool join(Widening *widening, const VInst *vinst, int32_t offset, unsigned words) {
  int found[4];
  uint32_t first = UINT32_MAX;
  for (unsigned word = 0; word < words; word++) {
    found[word] = find_word(widening, vinst, offset + (int32_t)(WORD * word));
    if (found[word] < 0)
      return false;
    first = MIN(first, widening->pending[found[word]].inst);
  }
  int32_t reg = vkernel_register(widening->vkernel, (uint8_t)words);
  for (unsigned word = 0; word < words; word++) {
    Pending *pending = &widening->pending[found[word]];
    pending->taken = true;
    widening->parts[pending->inst] = (Part){first, reg, (uint8_t)word, (uint8_t)words};
  }
  widening->any = true;
  return true;
}

static int32_t align_down(int32_t offset, int32_t bytes) { return offset - ((offset % bytes) + bytes) % bytes; }

/* The loads so far, fours before twos. */
static void end_group(Widening *widening) {
  for (unsigned words = 4; words >= 2; words /= 2)
    for (unsigned p = 0; p < widening->count; p++) {
      const VInst *vinst = inst_at(widening, widening->pending[p].inst);
      if (!widening->pending[p].taken && widening->alignment[vinst->a] >= WORD * words)
        join(widening, vinst, align_down(vinst->inst.imm, (int32_t)(WORD * words)), words);
    }
  widening->count = 0;
}

/* Loads from a register end where it is written. */
static bool writes_base(const Widening *widening, const VInst *vinst) {
  VRegUse uses[8];
  unsigned count = vinst_writes(vinst, uses);
  for (unsigned u = 0; u < count; u++)
    for (unsigned p = 0; p < widening->count; p++)
      if (inst_at(widening, widening->pending[p].inst)->a == uses[u].reg)
        return true;
  return false;
}

static void find_groups(Widening *widening, const Flow *flow) {
  for (uint32_t i = 0; i < widening->vkernel->insts->len; i++) {
    const VInst *vinst = inst_at(widening, i);
    bool starts = flow->first[flow->block_of[i]] == i;
    if (starts || widening->count == PENDING_MAX || ends_group(vinst))
      end_group(widening);
    if (is_candidate(widening, vinst) && find_word(widening, vinst, vinst->inst.imm) < 0)
      widening->pending[widening->count++] = (Pending){.inst = i};
    if (writes_base(widening, vinst))
      end_group(widening);
  }
  end_group(widening);
}

/* The wide load stands where the first of its words was loaded, and each word is copied where it was. */
static void write_loads(Widening *widening) {
  VEdit edit;
  vedit_init(&edit, widening->vkernel);
  uint32_t n = widening->vkernel->insts->len;
  for (uint32_t i = 0; i < n; i++) {
    VInst vinst = *inst_at(widening, i);
    const Part *part = &widening->parts[i];
    edit.moved[i] = edit.insts->len;
    if (part->first == i) {
      VInst load = vinst;
      load.inst.width = part->words == 4 ? WIDTH_128 : WIDTH_64;
      load.inst.imm -= WORD * part->row;
      load.dst = part->reg;
      load.dst_row = 0;
      vedit_append(&edit, &load);
    }
    if (part->first != UINT32_MAX) {
      VInst copy = vinst_beside(OP_MOV, &vinst);
      copy.dst = vinst.dst;
      copy.dst_row = vinst.dst_row;
      copy.a = part->reg;
      copy.a_row = part->row;
      vinst = copy;
    }
    vedit_append(&edit, &vinst);
  }
  vedit_finish(&edit, widening->vkernel);
}

static bool has_loads(const VKernel *vkernel) {
  unsigned loads = 0;
  for (guint i = 0; i < vkernel->insts->len; i++)
    loads += g_array_index(vkernel->insts, VInst, i).inst.op == OP_LDS;
  return loads > 1;
}

void vkernel_widen_loads(VKernel *vkernel) {
  if (!has_loads(vkernel))
    return;
  Widening widening = {.vkernel = vkernel, .alignment = alignment_new(vkernel)};
  widening.parts = g_new(Part, vkernel->insts->len + 1);
  for (guint i = 0; i < vkernel->insts->len; i++)
    widening.parts[i] = (Part){.first = UINT32_MAX};
  Flow flow;
  vkernel_flow(vkernel, &flow);
  find_groups(&widening, &flow);
  if (widening.any)
    write_loads(&widening);
  flow_clear(&flow);
  g_free(widening.parts);
  g_free(widening.alignment);
}
