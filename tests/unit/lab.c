#include "tests/unit/lab.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

Program *lab_parse(const char *text) {
  g_autoptr(Diag) diag = diag_new();
  Program *program = sass_parse("prog.sass", text, strlen(text), diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(program != NULL, "%s\nin\n%s", messages, text);
  return program;
}

static void set_all(Machine *machine, const char *settings) {
  g_auto(GStrv) each = g_strsplit(settings, " ", -1);
  for (char **setting = each; *setting; setting++) {
    if (!**setting)
      continue;
    g_autoptr(Diag) diag = diag_new();
    char *equals = strchr(*setting, '=');
    ck_assert_msg(equals != NULL, "no = in %s", *setting);
    *equals = '\0';
    bool fine = machine_set(machine, *setting, equals + 1, diag);
    g_autofree char *messages = diag_render(diag);
    ck_assert_msg(fine, "%s", messages);
  }
}

Machine *lab_machine(const char *settings) {
  Machine *machine = machine_new_default();
  set_all(machine, "sm.jitter_cycles=0 gpu.sms=1");
  set_all(machine, settings);
  return machine;
}

static void note_issue(void *user, const ProbePoint *point, uint64_t until) {
  Lab *lab = user;
  LabIssue issue = {.cycle = point->cycle,
                    .block = point->block->index,
                    .launch = point->block->launch->index,
                    .sm = point->sm->index,
                    .slot = point->warp->slot,
                    .warp = point->warp->warp_in_block,
                    .pc = point->pc,
                    .lanes = point->lanes};
  g_array_append_val(lab->trace, issue);
}

Lab *lab_new_seeded(const char *settings, const char *text, uint64_t seed) {
  Lab *lab = g_new0(Lab, 1);
  lab->machine = lab_machine(settings);
  lab->program = lab_parse(text);
  lab->backing = backing_new();
  lab->gpu = gpu_new(lab->machine, lab->backing, seed);
  lab->args = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  lab->trace = g_array_new(FALSE, FALSE, sizeof(LabIssue));
  lab->probe = (Probe){.user = lab, .issued = note_issue};
  gpu_subscribe(lab->gpu, &lab->probe);
  return lab;
}

Lab *lab_new(const char *settings, const char *text) { return lab_new_seeded(settings, text, 1); }

void lab_free(Lab *lab) {
  gpu_free(lab->gpu);
  backing_free(lab->backing);
  program_free(lab->program);
  machine_free(lab->machine);
  g_array_free(lab->args, TRUE);
  g_array_free(lab->trace, TRUE);
  g_free(lab);
}

uint32_t *lab_buffer(Lab *lab, uint32_t words) {
  guint index = backing_add(lab->backing, "buffer", words, NULL);
  BackingBuffer *buffer = backing_buffer(lab->backing, index);
  lab_arg(lab, (uint32_t)buffer->base);
  return buffer->data;
}

void lab_arg(Lab *lab, uint32_t value) { g_array_append_val(lab->args, value); }

void lab_launch_grid(Lab *lab, unsigned index, uint32_t blocks, uint32_t threads, uint32_t shared, int stream) {
  g_autofree char *why = NULL;
  LaunchConfig config = {.program = lab->program,
                         .kernel = program_kernel(lab->program, index),
                         .grid = {blocks, 1, 1},
                         .block = {threads, 1, 1},
                         .shared_bytes = shared,
                         .stream = stream,
                         .args = (const uint8_t *)lab->args->data,
                         .args_bytes = lab->args->len * 4};
  bool fine = gpu_add_launch(lab->gpu, &config, &why);
  ck_assert_msg(fine, "%s", why);
}

void lab_launch(Lab *lab, uint32_t blocks, uint32_t threads) { lab_launch_grid(lab, 0, blocks, threads, 0, 0); }

void lab_place(Lab *lab) { ck_assert_int_eq(gpu_run(lab->gpu, 0, UINT64_MAX), GPU_BUDGET); }

GpuStop lab_run(Lab *lab) {
  GpuStop stop = gpu_run(lab->gpu, 10000000, 10000000);
  ck_assert_msg(stop != GPU_BUDGET && stop != GPU_LIMIT, "runs on and on");
  return stop;
}

void lab_finish(Lab *lab) {
  GpuStop stop = lab_run(lab);
  ck_assert_msg(stop == GPU_FINISHED, "stop %d, fault: %s", stop, lab->gpu->fault.message);
}

void lab_expect_fault(Lab *lab, const char *words) {
  GpuStop stop = lab_run(lab);
  ck_assert_msg(stop == GPU_FAULT, "stop %d instead of a fault with: %s", stop, words);
  ck_assert_msg(strstr(lab->gpu->fault.message, words) != NULL, "\"%s\" lacks \"%s\"", lab->gpu->fault.message,
                words);
}

Warp *lab_warp(Lab *lab, unsigned slot) { return &lab->gpu->sms[0].warps[slot]; }

uint32_t *lab_row(Lab *lab, unsigned slot, unsigned reg) {
  Warp *warp = lab_warp(lab, slot);
  uint32_t *row = warp->regs + WARP_LANES * reg;
  for (unsigned lane = 0; lane < WARP_LANES; lane++) /* a warp may exit before what it loads has come */
    row[lane] = flights_register(&lab->gpu->sms[0].flights, warp, reg, lane);
  return row;
}

const LabIssue *lab_issue(const Lab *lab, guint index) {
  ck_assert_uint_lt(index, lab->trace->len);
  return &g_array_index(lab->trace, LabIssue, index);
}

uint64_t lab_cycle(const Lab *lab, unsigned slot, uint32_t pc, unsigned nth) {
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    if (issue->sm == 0 && issue->slot == slot && issue->pc == pc && nth-- == 0)
      return issue->cycle;
  }
  ck_abort_msg("slot %u never issues instruction %u so often", slot, pc);
}

char *lab_path(const Lab *lab, unsigned slot) {
  GString *path = g_string_new(NULL);
  for (guint i = 0; i < lab->trace->len; i++) {
    const LabIssue *issue = lab_issue(lab, i);
    if (issue->sm == 0 && issue->slot == slot)
      g_string_append_printf(path, "%s%u:%x", path->len ? " " : "", issue->pc, issue->lanes);
  }
  return g_string_free(path, FALSE);
}

void lab_expect_path(const Lab *lab, unsigned slot, const char *path) {
  g_autofree char *got = lab_path(lab, slot);
  ck_assert_msg(strcmp(got, path) == 0, "went   %s\nnot    %s", got, path);
}

Lab *lab_new_local(const char *settings, const char *text, uint32_t local_bytes) {
  Lab *lab = lab_new(settings, text);
  program_kernel(lab->program, 0)->local_bytes = local_bytes;
  return lab;
}

Inst *lab_inst(Lab *lab, uint32_t pc) { return &program_kernel(lab->program, 0)->insts[pc]; }

void lab_set_row(Lab *lab, unsigned reg, uint32_t first, uint32_t step) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    lab_row(lab, 0, reg)[lane] = first + lane * step;
}

void lab_as_ptx(Program *program) {
  Kernel *kernel = program_kernel(program, 0);
  program->dialect = DIALECT_PTX;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    Inst *inst = &kernel->insts[pc];
    bool load = inst->op == OP_LD;
    if (inst->op == OP_NOP) {
      inst->op = OP_WARPSYNC;
      inst->a = 20;
    }
    if (inst->op == OP_MEMBAR && inst->flags & INST_GUARD_NOT) {
      inst->op = OP_NOP;
      inst[1].flags |= INST_SYNCED;
      pc++;
      continue;
    }
    if (inst->op != OP_LD && inst->op != OP_ST)
      continue;
    switch (inst->cache) {
    case CACHE_CV:
    case CACHE_WT: inst->sem = SEM_VOLATILE; break;
    case CACHE_CS: inst->sem = load ? SEM_ACQUIRE : SEM_RELEASE; break;
    case CACHE_CG:
      inst->sem = SEM_RELAXED;
      inst->scope = SCOPE_CTA;
      break;
    default: continue;
    }
    inst->cache = CACHE_DEFAULT;
  }
}
