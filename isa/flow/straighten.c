/* Branches over branches, and branches to branches. */
#include "isa/flow/virtual_view.h"

typedef struct Straighten {
  VKernel *vkernel;
  uint8_t *marked;  /* of each instruction, and of the place behind the last one: a mark stands there */
  uint32_t *comers; /* branches that go to each instruction */
} Straighten;

static VInst *inst_at(const Straighten *straighten, uint32_t i) {
  return &g_array_index(straighten->vkernel->insts, VInst, i);
}

static bool is_jump(const VInst *vinst) { return vinst->inst.op == OP_BRA && vinst->inst.target != NO_TARGET; }

static bool is_bare_jump(const Straighten *straighten, uint32_t i) {
  return i < straighten->vkernel->insts->len && is_jump(inst_at(straighten, i)) &&
         !vinst_is_guarded(inst_at(straighten, i)) && !straighten->marked[i];
}

/* Where a branch to `target` comes to at last; two branches to each other are left alone. */
static int32_t way_end(const Straighten *straighten, int32_t target) {
  enum { STEPS_MAX = 64 };
  int32_t end = target;
  for (unsigned step = 0; step < STEPS_MAX; step++) {
    if (!is_bare_jump(straighten, (uint32_t)end))
      return end;
    end = inst_at(straighten, (uint32_t)end)->inst.target;
  }
  return target;
}

static void count_comers(Straighten *straighten) {
  guint n = straighten->vkernel->insts->len;
  for (uint32_t i = 0; i < n; i++)
    if (inst_at(straighten, i)->inst.target != NO_TARGET)
      straighten->comers[inst_at(straighten, i)->inst.target]++;
}

/* `@p BRA on; BRA away; on:` is `@!p BRA away`, if all lanes go one way: of those that part some go on at once, by
 * which way it is. */
static bool turns_round(const Straighten *straighten, uint32_t i) {
  const VInst *branch = inst_at(straighten, i);
  return is_jump(branch) && vinst_is_guarded(branch) && branch->together && branch->inst.target == (int32_t)i + 2 &&
         is_bare_jump(straighten, i + 1) && !straighten->comers[i + 1];
}

/* From one jump to its target nothing stands but jumps that nobody comes to. */
static bool leads_on(const Straighten *straighten, uint32_t i) {
  uint32_t target = (uint32_t)inst_at(straighten, i)->inst.target;
  for (i++; i < target; i++)
    if (!is_bare_jump(straighten, i) || straighten->comers[i])
      return false;
  return i == target;
}

/* Nobody comes there any more, or those who do would go on without it. */
static bool is_idle(const Straighten *straighten, uint32_t i) {
  if (!is_bare_jump(straighten, i))
    return false;
  const VInst *before = i ? inst_at(straighten, i - 1) : NULL;
  bool falls = !before || !(op_info[before->inst.op].flags & OPF_BRANCH) || vinst_is_guarded(before);
  return leads_on(straighten, i) || (!falls && !straighten->comers[i]);
}

static void rewrite(Straighten *straighten) {
  VKernel *vkernel = straighten->vkernel;
  VEdit edit;
  vedit_init(&edit, vkernel);
  for (uint32_t i = 0; i < vkernel->insts->len; i++) {
    VInst vinst = *inst_at(straighten, i);
    edit.moved[i] = edit.insts->len;
    if (turns_round(straighten, i)) {
      vinst.inst.target = inst_at(straighten, i + 1)->inst.target;
      vinst.inst.flags ^= INST_GUARD_NOT;
      edit.moved[++i] = edit.insts->len + 1;
    } else if (is_idle(straighten, i) && i + 1 < vkernel->insts->len) {
      vedit_leave_out(&edit, &vinst);
      continue;
    }
    vedit_append(&edit, &vinst);
  }
  vedit_finish(&edit, vkernel);
}

void vkernel_straighten(VKernel *vkernel) {
  guint n = vkernel->insts->len;
  g_autofree uint8_t *marked = g_new0(uint8_t, n + 1);
  g_autofree uint32_t *comers = g_new0(uint32_t, n + 1);
  Straighten straighten = {.vkernel = vkernel, .marked = marked, .comers = comers};
  for (uint32_t i = 0; i < vkernel->kernel->nmarks; i++)
    marked[vkernel->kernel->marks[i].pc] = 1;
  for (uint32_t i = 0; i < n; i++)
    if (is_jump(inst_at(&straighten, i)))
      inst_at(&straighten, i)->inst.target = way_end(&straighten, inst_at(&straighten, i)->inst.target);
  count_comers(&straighten);
  rewrite(&straighten);
}
