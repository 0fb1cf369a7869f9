#include "isa/flow/hoist.h"

/* So many accesses wait together: registers are held meanwhile. So long is a stretch. */
enum { ACCESSES_MAX = 8, STRETCH_MAX = 128 };

typedef struct Hoist {
  VKernel *vkernel;
  uint8_t *starts; /* of each instruction: a block, mark or label begins with it */
  VInst now[STRETCH_MAX], later[STRETCH_MAX];
  unsigned nows, laters, accesses;
  guint first; /* where the stretch begins */
} Hoist;

static bool meets(const VRegUse *a, unsigned as, const VRegUse *b, unsigned bs) {
  for (unsigned i = 0; i < as; i++)
    for (unsigned k = 0; k < bs; k++)
      if (a[i].reg == b[k].reg)
        return true;
  return false;
}

static bool preds_meet(const int32_t *a, unsigned as, const int32_t *b, unsigned bs) {
  for (unsigned i = 0; i < as; i++)
    for (unsigned k = 0; k < bs; k++)
      if (a[i] == b[k])
        return true;
  return false;
}

/* `after` must stay behind `before`. */
static bool depends(const VInst *before, const VInst *after) {
  VRegUse read[8], written[8], its_read[8], its_written[8];
  int32_t pread[4], pwritten[2], its_pread[4], its_pwritten[2];
  unsigned reads = vinst_reads(before, read), writes = vinst_writes(before, written);
  unsigned its_reads = vinst_reads(after, its_read), its_writes = vinst_writes(after, its_written);
  unsigned preads = vinst_pred_reads(before, pread), pwrites = vinst_pred_writes(before, pwritten);
  unsigned its_preads = vinst_pred_reads(after, its_pread), its_pwrites = vinst_pred_writes(after, its_pwritten);
  return meets(written, writes, its_read, its_reads) || meets(written, writes, its_written, its_writes) ||
         meets(read, reads, its_written, its_writes) || preds_meet(pwritten, pwrites, its_pread, its_preads) ||
         preds_meet(pwritten, pwrites, its_pwritten, its_pwrites) ||
         preds_meet(pread, preads, its_pwritten, its_pwrites);
}

/* Loads, and atomic operations that each lane makes for itself; none that acquires or releases. */
static bool is_access(const VInst *vinst) {
  switch (vinst->inst.op) {
  case OP_LD:
  case OP_LDS: return vinst->inst.sem <= SEM_RELAXED;
  case OP_ATOM: return vinst->inst.sem <= SEM_RELAXED && vinst->inst.cmp == MERGE_NONE;
  default: return false;
  }
}

static bool can_stand_in(const VInst *vinst) {
  return (is_access(vinst) || unit_is_arithmetic(op_info[vinst->inst.op].unit)) && !vinst_is_guarded(vinst) &&
         !(vinst->inst.flags & (INST_CARRY_IN | INST_CARRY_OUT | INST_SYNCED));
}

/* The stretch is over: behind the last access comes what was held back. */
static void end_stretch(Hoist *hoist) {
  guint at = hoist->first;
  if (hoist->accesses > 1) {
    for (unsigned i = 0; i < hoist->nows; i++)
      g_array_index(hoist->vkernel->insts, VInst, at++) = hoist->now[i];
    for (unsigned i = 0; i < hoist->laters; i++)
      g_array_index(hoist->vkernel->insts, VInst, at++) = hoist->later[i];
  }
  hoist->nows = hoist->laters = hoist->accesses = 0;
}

static bool is_held_back(const Hoist *hoist, const VInst *vinst) {
  for (unsigned i = 0; i < hoist->laters; i++)
    if (depends(&hoist->later[i], vinst))
      return true;
  for (unsigned i = 0; i < hoist->nows; i++)
    if (is_access(&hoist->now[i]) && depends(&hoist->now[i], vinst))
      return true;
  return false;
}

static void add(Hoist *hoist, guint i) {
  VInst vinst = g_array_index(hoist->vkernel->insts, VInst, i);
  bool access = is_access(&vinst);
  if (hoist->nows + hoist->laters == STRETCH_MAX || (access && hoist->accesses == ACCESSES_MAX) ||
      (access && is_held_back(hoist, &vinst)))
    end_stretch(hoist);
  if (hoist->nows + hoist->laters == 0)
    hoist->first = i;
  if (is_held_back(hoist, &vinst))
    hoist->later[hoist->laters++] = vinst;
  else
    hoist->now[hoist->nows++] = vinst;
  hoist->accesses += access;
}

static uint8_t *find_starts(const VKernel *vkernel) {
  Flow flow;
  vkernel_flow(vkernel, &flow);
  uint8_t *starts = g_new0(uint8_t, vkernel->insts->len + 1);
  for (uint32_t b = 0; b < flow.nblocks; b++)
    starts[flow.first[b]] = 1;
  for (uint32_t m = 0; m < vkernel->kernel->nmarks; m++)
    starts[vkernel->kernel->marks[m].pc] = 1;
  for (uint32_t l = 0; l < vkernel->kernel->nlabels; l++)
    starts[vkernel->kernel->labels[l].pc] = 1;
  flow_clear(&flow);
  return starts;
}

void accesses_hoist(VKernel *vkernel) {
  g_autofree Hoist *hoist = g_new0(Hoist, 1);
  hoist->vkernel = vkernel;
  hoist->starts = find_starts(vkernel);
  for (guint i = 0; i < vkernel->insts->len; i++) {
    if (hoist->starts[i])
      end_stretch(hoist);
    if (can_stand_in(&g_array_index(vkernel->insts, VInst, i)))
      add(hoist, i);
    else
      end_stretch(hoist);
  }
  end_stretch(hoist);
  g_free(hoist->starts);
}
