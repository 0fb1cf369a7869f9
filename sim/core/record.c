#include "sim/core/record.h"

void record_fault(Issue *issue, uint32_t lanes, const char *space, uint64_t address, char *message, char *repair) {
  Gpu *gpu = issue->gpu;
  Fault *fault = &gpu->fault;
  if (gpu->in_window && !issue->sm->fault)
    issue->sm->fault = g_new0(Fault, 1);
  if (gpu->in_window)
    fault = issue->sm->fault;
  issue->sm->faulted = true;
  if (fault->happened) {
    g_free(message);
    g_free(repair);
    return;
  }
  const Block *block = warp_block(issue->sm, issue->warp);
  *fault = (Fault){.happened = true,
                   .message = message,
                   .launch = block->launch->index,
                   .block = block->index,
                   .warp = issue->warp->warp_in_block,
                   .lanes = lanes,
                   .pc = (uint32_t)(issue->inst - block->launch->kernel->insts),
                   .cycle = issue->now,
                   .space = space,
                   .address = address,
                   .repair = repair,
                   .taken.thread = THREAD_NONE,
                   .given.thread = THREAD_NONE};
}

void record_mark(Gpu *gpu, uint32_t number, uint64_t now) {
  for (guint i = 0; i < gpu->marks->len; i++) {
    MarkTime *mark = &g_array_index(gpu->marks, MarkTime, i);
    if (mark->number == number) {
      mark->last = now;
      return;
    }
  }
  MarkTime mark = {.number = number, .first = now, .last = now};
  g_array_append_val(gpu->marks, mark);
}

const MarkTime *record_mark_time(const Gpu *gpu, uint32_t number) {
  for (guint i = 0; i < gpu->marks->len; i++)
    if (g_array_index(gpu->marks, MarkTime, i).number == number)
      return &g_array_index(gpu->marks, MarkTime, i);
  return NULL;
}
