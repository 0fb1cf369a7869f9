/* Where lanes of a warp wait for other lanes of it: entries of the SIMT stack; with lane groups, a BSYNC, a WARPSYNC, or the
 * warp itself, which runs another group and won't switch. */
#include "sim/detect/naming/locate.h"
#include "sim/detect/naming/waitgraph.h"
#include "sim/detect/proof/explore_groups.h"

static const LaneGroup *group_at(const WarpView *view, uint32_t entry) { return &view->warp->groups->group[entry]; }

/* True if lanes that meet at the WARPSYNC.ALL at `pc` do so for a block barrier. In machine code it may be for an operation of the whole
 * warp as well, which stands somewhere behind it. */
static bool is_for_barrier(const Kernel *kernel, uint32_t pc) {
  for (pc++; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    Unit unit = op_info[inst->op].unit;
    if (unit == UNIT_BARRIER)
      return true;
    if (unit == UNIT_VOTE || unit == UNIT_SHUFFLE ||
        op_info[inst->op].flags & (OPF_SWITCH | OPF_BRANCH | OPF_CONTROL))
      return false;
  }
  return false;
}

EntryKind wait_entry_kind(const WarpView *view, uint32_t entry) {
  if (!view->warp->groups)
    return view->warp->stack[entry].kind == STACK_PATH ? ENTRY_PATH : ENTRY_JOIN;
  if (entry == ENTRY_OF_TURN)
    return ENTRY_TURN;
  switch ((GroupState)group_at(view, entry)->state) {
  case GROUP_AT_WARPSYNC: return ENTRY_WARPSYNC;
  case GROUP_AT_MEETING:
    return is_for_barrier(view->launch->kernel, group_at(view, entry)->pc) ? ENTRY_MEETING : ENTRY_WARPSYNC;
  default: return ENTRY_JOIN;
  }
}

/* Nothing that others see comes between `pc` and an operation of the warp, whatever way is taken. */
static bool leads_to_operation(const Kernel *kernel, uint32_t pc) {
  g_autofree bool *seen = g_new0(bool, kernel->ninsts);
  g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  bool meets = false;
  g_array_append_val(ways, pc);
  while (ways->len) {
    pc = g_array_index(ways, uint32_t, ways->len - 1);
    g_array_set_size(ways, ways->len - 1);
    for (; pc < kernel->ninsts && !seen[pc]; pc++) {
      const Inst *inst = &kernel->insts[pc];
      uint32_t flags = op_info[inst->op].flags, target = (uint32_t)inst->target;
      seen[pc] = true;
      meets |= inst->flags & INST_SYNCED || inst->op == OP_WARPSYNC;
      if (inst->flags & INST_SYNCED || inst->op == OP_WARPSYNC)
        break;
      if (flags & (OPF_STORE | OPF_ATOMIC | OPF_LOCK) || (flags & OPF_BRANCH && inst->op != OP_BRA) ||
          inst->op == OP_EXIT)
        return false;
      if (inst->op == OP_BRA)
        g_array_append_val(ways, target);
      if (inst->op == OP_BRA && !inst_is_guarded(inst))
        break;
    }
  }
  return meets;
}

bool wait_entry_is_meant(const WarpView *view, uint32_t entry) {
  switch (wait_entry_kind(view, entry)) {
  case ENTRY_WARPSYNC: return true;
  case ENTRY_JOIN:
  case ENTRY_PATH: return leads_to_operation(view->launch->kernel, wait_entry_pc(view, entry));
  case ENTRY_MEETING:
  case ENTRY_TURN: break;
  }
  return false;
}

uint32_t wait_entry_pc(const WarpView *view, uint32_t entry) {
  if (!view->warp->groups)
    return view->warp->stack[entry].pc;
  return entry == ENTRY_OF_TURN ? view->warp->pc : group_at(view, entry)->pc;
}

uint32_t wait_entry_missing(const WarpView *view, uint32_t entry) {
  uint32_t missing = 0;
  if (view->warp->groups)
    return entry == ENTRY_OF_TURN ? view->warp->active : explore_group_misses(view, group_at(view, entry));
  for (uint32_t rest = view->warp->alive; rest; rest &= rest - 1) {
    const LaneReach *reach = &view->reach[__builtin_ctz(rest)];
    missing |= !reach->may_exit && reach->lowest_entry > entry ? rest & -rest : 0;
  }
  return missing;
}

uint32_t wait_entry_of_group(const WarpView *view, unsigned lane) {
  const LaneGroup *group = explore_group_of(view, lane);
  return group && explore_group_misses(view, group) ? (uint32_t)(group - view->warp->groups->group) : ENTRY_OF_TURN;
}

char *wait_entry_text(const WarpView *view, uint32_t entry) {
  g_autofree char *line = locate_line_text(view->launch, wait_entry_pc(view, entry));
  switch (wait_entry_kind(view, entry)) {
  case ENTRY_PATH: return g_strdup_printf("on the SIMT stack, to go on at %s,", line);
  case ENTRY_JOIN: return g_strdup_printf("at the reconvergence point in %s", line);
  case ENTRY_WARPSYNC: return g_strdup_printf("at the warp-wide synchronization in %s", line);
  case ENTRY_MEETING:
    return g_strdup_printf("at the meeting of all lanes of the warp before the barrier in %s", line);
  case ENTRY_TURN: return g_strdup("to run, which it can't before a switch of the warp;");
  }
  return NULL;
}

char *wait_entry_name(const WarpView *view, uint32_t entry) {
  static const char *const names[] = {[ENTRY_PATH] = "reconvergence",
                                      [ENTRY_JOIN] = "reconvergence",
                                      [ENTRY_WARPSYNC] = "warp-wide synchronization",
                                      [ENTRY_MEETING] = "meeting before the barrier",
                                      [ENTRY_TURN] = "running lanes"};
  g_autofree char *line = locate_line_text(view->launch, wait_entry_pc(view, entry));
  return g_strdup_printf("%s of warp %u of block %" G_GUINT64_FORMAT " at %s", names[wait_entry_kind(view, entry)],
                         view->warp->warp_in_block, view->block->index, line);
}
