#include "isa/flow/fenced.h"

#include <string.h>

#include "base/assert.h"

/* Fences at places below this one. */
static uint32_t count_below(const FencedPlaces *places, uint32_t place) {
  uint32_t below = 0;
  while (below < places->count && places->place[below] < place)
    below++;
  return below;
}

/* Where an instruction comes to stand, and where who branches to it goes: to the fences before it. */
static uint32_t moved(const FencedPlaces *places, uint32_t pc) { return pc + count_below(places, fenced_behind(pc)); }
static uint32_t moved_target(const FencedPlaces *places, uint32_t pc) {
  return pc + count_below(places, fenced_before(pc));
}

uint32_t fenced_original(const FencedPlaces *places, uint32_t pc) {
  uint32_t before = 0;
  while (before < places->count && fenced_inst(places->place[before]) + places->place[before] % 2 + before <= pc)
    before++;
  return pc - before;
}

static Inst fence_beside(const Inst *place) {
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
    *target = (int32_t)moved_target(places, (uint32_t)*target);
}

static Kernel *put_fences(const Kernel *kernel, const FencedPlaces *places) {
  Kernel *fenced = g_memdup2(kernel, sizeof *kernel);
  fenced->ninsts += places->count;
  fenced->insts = g_new(Inst, fenced->ninsts);
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    Inst *inst = &fenced->insts[moved(places, pc)];
    *inst = kernel->insts[pc];
    move_target(places, &inst->target);
    move_target(places, &inst->reconv);
  }
  for (uint32_t i = 0; i < places->count; i++) {
    uint32_t pc = fenced_inst(places->place[i]), at = pc + places->place[i] % 2 + i;
    fenced->insts[at] = fence_beside(&kernel->insts[pc]);
  }
  fenced->marks = g_memdup2(kernel->marks, kernel->nmarks * sizeof *kernel->marks);
  for (uint32_t i = 0; i < kernel->nmarks; i++)
    fenced->marks[i].pc = moved_target(places, kernel->marks[i].pc);
  fenced->labels = g_memdup2(kernel->labels, kernel->nlabels * sizeof *kernel->labels);
  for (uint32_t i = 0; i < kernel->nlabels; i++)
    fenced->labels[i].pc = moved_target(places, kernel->labels[i].pc);
  fenced->jumps = g_memdup2(kernel->jumps, kernel->njumps * sizeof *kernel->jumps);
  for (uint32_t i = 0; i < kernel->njumps; i++)
    fenced->jumps[i] = moved_target(places, kernel->jumps[i]);
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
