#include "isa/flow/atomics.h"

#include <string.h>

#include "isa/flow/fenced.h"

static void put(Kernel *kernel, const AtomicUpdate *update) {
  Inst *load = &kernel->insts[update->load], *store = &kernel->insts[update->store];
  bool shared = op_info[load->op].unit == UNIT_SHARED;
  load->op = shared ? OP_ATOMS : OP_ATOM;
  load->b = update->operand;
  load->mode = (uint8_t)update->op;
  load->type = (uint8_t)update->type;
  load->cache = 0;
  load->sem = SEM_RELAXED;
  load->scope = SCOPE_GPU;
  load->flags |= update->type == TYPE_F32 && !shared ? INST_FTZ : 0;
  *store = (Inst){.op = OP_NOP,
                  .guard = store->guard,
                  .flags = store->flags & INST_GUARD_NOT,
                  .pdst = PRED_SINK,
                  .pdst2 = PRED_SINK,
                  .psrc = {PRED_TRUE, PRED_TRUE, PRED_TRUE},
                  .dst = (int16_t)kernel->nregs,
                  .target = NO_TARGET,
                  .reconv = NO_TARGET,
                  .address = store->address,
                  .line = store->line,
                  .column = store->column,
                  .file = store->file,
                  .inlined = store->inlined};
}

Program *atomics_new(const Program *program, const AtomicUpdates *updates) {
  Program *changed = fenced_new(program, NULL, 0);
  for (guint i = 0; i < changed->kernels->len; i++) {
    Kernel *kernel = g_ptr_array_index(changed->kernels, i);
    for (guint k = 0; k < updates->all->len && strcmp(kernel->name, updates->kernel) == 0; k++)
      put(kernel, &g_array_index(updates->all, AtomicUpdate, k));
  }
  return changed;
}
