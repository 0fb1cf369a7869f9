#include "isa/flow/fenced.h"

#include <string.h>

#include "base/assert.h"

/* Where an instruction comes to stand: behind the fences before it. */
static uint32_t moved(const FencedPlaces *places, uint32_t pc) {
  uint32_t before = 0;
  while (before < places->count && places->pc[before] < pc)
    before++;
  return pc + before;
}

uint32_t fenced_before(const FencedPlaces *places, uint32_t pc) {
  uint32_t before = 0;
  while (before < places->count && places->pc[before] + 1 + before <= pc)
    before++;
  return pc - before;
}

static Inst fence_behind(const Inst *place) {
  return (Inst){.op = OP_MEMBAR,
                .guard = place->guard,
                .flags = place->flags & INST_GUARD_NOT,
                .pdst = PRED_SINK,
                .pdst2 = PRED_SINK,
                .psrc = {PRED_TRUE, PRED_TRUE, PRED_TRUE},
                .mode = FENCE_GL,
                .scope = SCOPE_GPU,
                .sem = SEM_SC,
                .target = NO_TARGET,
                .reconv = NO_TARGET,
                .address = place->address,
                .line = place->line,
                .column = place->column,
                .file = place->file,
                .inlined = place->inlined};
}

static void move_target(const FencedPlaces *places, int32_t *target) {
  if (*target != NO_TARGET)
    *target = (int32_t)moved(places, (uint32_t)*target);
}

/* A branch to what stands behind such a place goes past the fence. */
static Kernel *put_fences(const Kernel *kernel, const FencedPlaces *places) {
  Kernel *fenced = g_memdup2(kernel, sizeof *kernel);
  fenced->ninsts += places->count;
  fenced->insts = g_new(Inst, fenced->ninsts);
  for (uint32_t pc = 0, next = 0; pc < kernel->ninsts; pc++) {
    Inst *inst = &fenced->insts[moved(places, pc)];
    *inst = kernel->insts[pc];
    move_target(places, &inst->target);
    move_target(places, &inst->reconv);
    if (next < places->count && places->pc[next] == pc) {
      inst[1] = fence_behind(&kernel->insts[pc]);
      next++;
    }
  }
  fenced->marks = g_memdup2(kernel->marks, kernel->nmarks * sizeof *kernel->marks);
  for (uint32_t i = 0; i < kernel->nmarks; i++)
    fenced->marks[i].pc = moved(places, kernel->marks[i].pc);
  fenced->labels = g_memdup2(kernel->labels, kernel->nlabels * sizeof *kernel->labels);
  for (uint32_t i = 0; i < kernel->nlabels; i++)
    fenced->labels[i].pc = moved(places, kernel->labels[i].pc);
  fenced->jumps = g_memdup2(kernel->jumps, kernel->njumps * sizeof *kernel->jumps);
  for (uint32_t i = 0; i < kernel->njumps; i++)
    fenced->jumps[i] = moved(places, kernel->jumps[i]);
  return fenced;
}

static void free_changed(gpointer data) {
  Kernel *kernel = data;
  g_free(kernel->insts);
  g_free(kernel->marks);
  g_free(kernel->labels);
  g_free(kernel->jumps);
  g_free(kernel);
}

Program *fenced_new(const Program *program, const FencedPlaces *places, unsigned count) {
  LS_REQUIRE("fenced-ptx", program->dialect == DIALECT_PTX);
  Program *fenced = g_memdup2(program, sizeof *program);
  fenced->kernels = g_ptr_array_new_with_free_func(free_changed);
  for (guint i = 0; i < program->kernels->len; i++) {
    const Kernel *kernel = g_ptr_array_index(program->kernels, i);
    FencedPlaces none = {.kernel = kernel->name}, found = none;
    for (unsigned k = 0; k < count; k++)
      found = strcmp(places[k].kernel, kernel->name) == 0 ? places[k] : found;
    g_ptr_array_add(fenced->kernels, put_fences(kernel, &found));
  }
  return fenced;
}

void fenced_free(Program *fenced) {
  if (!fenced)
    return;
  g_ptr_array_unref(fenced->kernels);
  g_free(fenced);
}
