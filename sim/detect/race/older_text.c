#include "sim/detect/race/older_text.h"

#include "sim/detect/naming/locate.h"

static RepairEdit edit_at(const Launch *launch, uint32_t pc, EditKind kind) {
  return (RepairEdit){.kind = kind, .kernel = g_intern_string(launch->kernel->name), .pc = pc};
}

/* "`done = 1;` in line 5" */
static char *code_text(const Launch *launch, uint32_t pc) {
  g_autofree char *source = locate_source(launch, pc), *line = locate_line_text(launch, pc);
  return g_strdup_printf("`%s` in %s", source, line);
}

static char *who_text(const Gpu *gpu, ThreadId base, uint32_t lanes) {
  return locate_lanes_text(gpu, gpu_launch(gpu, base.launch), base.block, thread_warp(base), lanes);
}

static void add_place(Finding *finding, const Launch *launch, uint32_t pc, char *text) {
  g_autofree char *source = locate_source(launch, pc);
  locate_evidence(finding, launch, pc, g_strdup_printf("%s (`%s`)", text, source));
  g_free(text);
}

/* Each of the two says what it is about before it looks: what is missing is the order of both. */
static void add_fences(Finding *finding, const Gpu *gpu, const OlderCase *found, const char *store,
                       const char *load) {
  const Launch *writer = gpu_launch(gpu, found->writer.launch), *reader = gpu_launch(gpu, found->launch);
  finding_add_evidence(
      finding, 0,
      g_strdup("release, acquire and fence.acq_rel don't order a store before a later load of another "
               "word: only fence.sc (__threadfence()) between the two does, in both threads (PTX ISA, "
               "\"Fence-SC\")"));
  if (gpu->machine->sm.convergence == CONVERGENCE_BARRIER)
    finding_add_evidence(finding, 0,
                         g_strdup("what ptxas makes of a release or of fence.acq_rel (MEMBAR.ALL) also waits for the "
                                  "stores before it, on the GPUs that were measured: PTX doesn't promise that"));
  finding->repair = g_strdup_printf("put __threadfence() (fence.sc) behind %s and before %s", store, load);
  RepairEdit fences[] = {edit_at(writer, found->write.pc, EDIT_SC_FENCE_BEHIND),
                         edit_at(reader, found->pc, EDIT_SC_FENCE_BEFORE)};
  finding_add_repair(finding, fences, 2, g_strdup(finding->repair));
}

/* A fence that would do stands right behind it: nothing but arithmetic comes before. */
static bool is_fenced(const Kernel *kernel, uint32_t store) {
  for (uint32_t pc = store + 1; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    if (inst->op == OP_MEMBAR)
      return inst->mode != FENCE_CTA && inst->sem == SEM_SC && !inst_is_guarded(inst);
    if (!unit_is_arithmetic(op_info[inst->op].unit))
      return false;
  }
  return false;
}

/* The reader looks, and nobody knows of it; or it lies not with the fences. */
static void add_atomic(Finding *finding, bool is_fenced) {
  finding_add_evidence(finding, 0,
                       g_strdup(is_fenced ? "both have their fences: the one may look before the other says so, and "
                                            "go on later than that"
                                          : "no other thread looks at what this one wrote before the load: two that "
                                            "look at once find nobody there, and both go on"));
  finding->repair =
      g_strdup("let one atomic operation look and take (atomicCAS(), atomicExch()), or wait for a value "
               "that the word hasn't had before");
}

Finding *older_place(const Gpu *gpu, const OlderCase *found) {
  const Launch *writer = gpu_launch(gpu, found->writer.launch), *reader = gpu_launch(gpu, found->launch);
  g_autofree char *who = who_text(gpu, found->reader, found->lanes),
                  *other = who_text(gpu, found->writer, found->write.lanes),
                  *where = locate_global_text(gpu, found->word * 4), *value = number_text(found->value);
  Finding *finding = locate_finding(
      FINDING_UNORDERED_ACCESS,
      g_strdup_printf("%s: reads %s from %s and goes on, as it would have before %s changed it; nothing orders that "
                      "change before the load, so both may go on at once",
                      who, value, where, other),
      reader, found->pc);
  add_place(finding, writer, found->write.pc,
            g_strdup_printf("first: %s changed it in cycle %" G_GUINT64_FORMAT, other, found->write.cycle));
  add_place(finding, reader, found->pc,
            g_strdup_printf("then: %s read it in cycle %" G_GUINT64_FORMAT, who, found->cycle));
  finding->cycle = found->cycle;
  finding->block = (int64_t)found->reader.block;
  finding->warp = thread_warp(found->reader);
  finding->lanes = found->lanes;
  finding->space = g_strdup("global");
  finding->address = found->word * 4;
  return finding;
}

Finding *older_finding(const Gpu *gpu, const OlderCase *found) {
  const Launch *writer = gpu_launch(gpu, found->writer.launch), *reader = gpu_launch(gpu, found->launch);
  g_autofree char *store = code_text(writer, found->write.pc), *load = code_text(reader, found->pc);
  Finding *finding = older_place(gpu, found);
  bool lacks = found->announced && !(found->fenced && is_fenced(writer->kernel, found->write.pc));
  if (lacks)
    add_fences(finding, gpu, found, store, load);
  else
    add_atomic(finding, found->announced);
  RepairEdit doubt = edit_at(reader, found->pc, EDIT_OLDER);
  doubt.value = found->value;
  finding_set_doubt(finding, doubt);
  return finding;
}

static void add_fence(Finding *finding, const Launch *launch, uint32_t store, char *where, char *why) {
  locate_evidence(finding, launch, store, why);
  LateFence fence = {.kernel = g_intern_string(launch->kernel->name),
                     .insts = locate_alike(launch, store),
                     .where = where,
                     .evidence = g_ptr_array_steal_index(finding->evidence, finding->evidence->len - 1),
                     .load = true};
  finding_add_fence(finding, &fence);
}

static const char *kind_of(const Launch *launch, uint32_t pc) {
  return op_info[launch->kernel->insts[pc].op].flags & OPF_ATOMIC ? "atomic operation" : "store";
}

void older_add_fences(Finding *finding, const Gpu *gpu, const OlderCase *found) {
  const Launch *writer = gpu_launch(gpu, found->writer.launch), *reader = gpu_launch(gpu, found->launch);
  g_autofree char *load = code_text(reader, found->pc), *change = code_text(writer, found->write.pc),
                  *store = code_text(reader, found->store), *who = who_text(gpu, found->reader, found->lanes);
  if (!found->fenced)
    add_fence(
        finding, reader, found->store,
        g_strdup_printf("behind the %s of %s and before the load of %s", kind_of(reader, found->store), store, load),
        g_strdup_printf("%s wrote here before that load, and there is no fence between the two", who));
  if (!is_fenced(writer->kernel, found->write.pc))
    add_fence(finding, writer, found->write.pc,
              g_strdup_printf("behind the %s of %s", kind_of(writer, found->write.pc), change),
              g_strdup("the change may come later than what stands behind it"));
}
