#include "sim/detect/race/copy_gap.h"

#include "sim/core/bulk.h"

typedef struct GapRow {
  Opcode op;
  bool writes;
  CopyGap gap;
} GapRow;

static const GapRow rows[] = {
    {OP_BULKSTORE,
     false,
     {"the copy in bulk reads until its group has been waited for by its thread, and nothing orders the other access "
      "behind that",
      "wait for the copy's group in the thread that began it (cp.async.bulk.wait_group.read), and put a barrier "
      "between that and what other threads store there"}},
    {OP_BULKRED,
     false,
     {"the reduction in bulk reads until its group has been waited for by its thread, and nothing orders the other "
      "access behind that",
      "wait for its group in the thread that began it (cp.async.bulk.wait_group.read), and put a barrier between "
      "that "
      "and what other threads store there"}},
    {OP_BULKSTORE,
     true,
     {"the copy in bulk writes until its group has been waited for by its thread (and not for its reads alone), and "
      "nothing orders the other access behind that",
      "wait for the copy's group in the thread that began it (cp.async.bulk.wait_group, without .read), and hand "
      "over "
      "behind that"}},
    {OP_BULKRED,
     true,
     {"the reduction in bulk writes until its group has been waited for by its thread (and not for its reads alone), "
      "and nothing orders the other access behind that",
      "wait for its group in the thread that began it (cp.async.bulk.wait_group, without .read), and hand over "
      "behind "
      "that"}},
    {OP_BULKLOAD,
     true,
     {"the copy in bulk writes until the phase of its mbarrier is over, and nothing orders the other access behind "
      "that",
      "wait for that phase of the mbarrier before, or hand over behind that"}},
    {OP_LDGSTS,
     true,
     {"the asynchronous copy writes until its thread has waited for it, and nothing orders the other access behind "
      "that",
      "wait for the copy in the thread that began it (cp.async.wait_group, __pipeline_wait_prior()), and put a "
      "barrier "
      "between that and other threads' accesses"}},
};

static const CopyGap *gap_of(const ProbePoint *point, const RaceEnd *end) {
  const Inst *inst = &race_launch_of(point, end)->kernel->insts[end->pc];
  for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
    if (rows[i].op == (Opcode)inst->op && rows[i].writes == end->write)
      return &rows[i].gap;
  return NULL;
}

const CopyGap *copy_gap_find(const ProbePoint *point, const Race *race, const RaceEnd *second) {
  const RaceEnd *first = &race->first;
  if (race_is_host(first) || race_is_host(second) || !race_of_one_launch(race, second) ||
      race_launch_of(point, second)->program->dialect != DIALECT_PTX)
    return NULL;
  uint64_t since = bulk_told_since(point->sm);
  if (point->sm && point->sm->copy_told)
    since = point->sm->copy_told - 1;
  bool told_late = first->cycle > since; /* the copy was under way when the other came */
  const Inst *inst = &race_launch_of(point, second)->kernel->insts[second->pc];
  return told_late && (inst_is_bulk(inst) || inst->op == OP_LDGSTS) ? gap_of(point, second) : gap_of(point, first);
}
