#include "isa/program.h"

#include <string.h>

#include "base/assert.h"

void kernel_free(Kernel *kernel) {
  if (!kernel)
    return;
  for (uint32_t i = 0; i < kernel->nlabels; i++)
    g_free(kernel->labels[i].name);
  g_free(kernel->name);
  g_free(kernel->insts);
  g_free(kernel->consts);
  g_free(kernel->marks);
  g_free(kernel->labels);
  if (kernel->params)
    g_array_unref(kernel->params);
  if (kernel->undefined)
    g_ptr_array_unref(kernel->undefined);
  g_free(kernel->control);
  g_free(kernel->hazards);
  g_free(kernel->jumps);
  diag_free(kernel->refusal);
  g_free(kernel);
}

static void free_kernel(gpointer data) { kernel_free(data); }

static void clear_param(gpointer data) { g_free(((KernelParam *)data)->name); }

GArray *kernel_params_new(void) {
  GArray *params = g_array_new(FALSE, TRUE, sizeof(KernelParam));
  g_array_set_clear_func(params, clear_param);
  return params;
}

static void free_source(gpointer data) {
  SourceFile *source = data;
  if (!source)
    return;
  g_free(source->name);
  g_free(source->lines);
  g_free(source);
}

static void free_variable(gpointer data) {
  ProgramVariable *variable = data;
  g_free(variable->name);
  g_free(variable->init);
  if (variable->relocs)
    g_array_unref(variable->relocs);
  g_free(variable);
}

static void free_launch(gpointer data) {
  LaunchDirective *launch = data;
  g_free(launch->name);
  g_free(launch->text);
  g_free(launch);
}

Program *program_new(const char *file, Dialect dialect) {
  Program *program = g_new0(Program, 1);
  program->file = g_strdup(file);
  program->dialect = dialect;
  program->kernels = g_ptr_array_new_with_free_func(free_kernel);
  program->launch = g_ptr_array_new_with_free_func(free_launch);
  program->sources = g_ptr_array_new_with_free_func(free_source);
  g_ptr_array_add(program->sources, g_new0(SourceFile, 1));
  program->frames = g_array_new(FALSE, FALSE, sizeof(SourceFrame));
  program->variables = g_ptr_array_new_with_free_func(free_variable);
  program_set_source(program, "", 0);
  return program;
}

void program_free(Program *program) {
  if (!program)
    return;
  g_free(program->file);
  g_free(program->made_of);
  g_ptr_array_unref(program->kernels);
  g_ptr_array_unref(program->launch);
  g_ptr_array_unref(program->sources);
  g_array_unref(program->frames);
  g_ptr_array_unref(program->variables);
  g_free(program->lines);
  g_free(program);
}

/* Pointers and text share one allocation: a file of a million short lines would otherwise cost a million of them. */
static char **split_lines(const char *text, gsize length, uint32_t *nlines) {
  gsize count = 1;
  for (gsize i = 0; i < length; i++)
    count += text[i] == '\n';
  char **lines = g_malloc((count + 1) * sizeof *lines + length + 1);
  char *copy = (char *)(lines + count + 1);
  if (length)
    memcpy(copy, text, length);
  copy[length] = '\0';
  char *start = copy;
  for (gsize i = 0; i < count; i++) {
    char *end = i + 1 < count ? memchr(start, '\n', (gsize)(copy + length - start)) : copy + length;
    *end = '\0';
    if (end > start && end[-1] == '\r')
      end[-1] = '\0';
    lines[i] = start;
    start = end + 1;
  }
  lines[count] = NULL;
  *nlines = (uint32_t)count;
  return lines;
}

void program_set_source(Program *program, const char *text, gsize length) {
  g_free(program->lines);
  program->lines = split_lines(text, length, &program->nlines);
}

uint16_t program_add_source(Program *program, const char *name, const char *text, gsize length) {
  SourceFile *source = g_new0(SourceFile, 1);
  source->name = g_strdup(name);
  if (text)
    source->lines = split_lines(text, length, &source->nlines);
  g_ptr_array_add(program->sources, source);
  return (uint16_t)(program->sources->len - 1);
}

static const SourceFile *source_file(const Program *program, uint16_t file) {
  LS_REQUIRE("program-source-index", file < program->sources->len);
  return g_ptr_array_index(program->sources, file);
}

void program_fill_source(Program *program, uint16_t file, const char *name, const char *text, gsize length) {
  LS_REQUIRE("program-source-index", file > 0 && file < program->sources->len);
  SourceFile *source = g_ptr_array_index(program->sources, file);
  char *shown = g_strdup(name);
  g_free(source->name);
  g_free(source->lines);
  source->name = shown;
  source->lines = split_lines(text, length, &source->nlines);
}

const char *program_file_name(const Program *program, uint16_t file) {
  return file == 0 ? program->file : source_file(program, file)->name;
}

char *program_file_line(const Program *program, uint16_t file, unsigned line) {
  const SourceFile *source = file == 0 ? NULL : source_file(program, file);
  char **lines = source ? source->lines : program->lines;
  uint32_t nlines = source ? source->nlines : program->nlines;
  return g_strstrip(g_strdup(line == 0 || line > nlines ? "" : lines[line - 1]));
}

Kernel *program_kernel(const Program *program, guint index) {
  LS_REQUIRE("program-kernel-index", index < program->kernels->len);
  return g_ptr_array_index(program->kernels, index);
}

uint32_t kernel_registers(const Kernel *kernel) {
  return kernel->nregs - kernel->uniform_registers + kernel->hidden_registers;
}

int32_t kernel_at_address(const Kernel *kernel, uint32_t address) {
  uint32_t low = 0, high = kernel->ninsts;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (kernel->insts[middle].address < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < kernel->ninsts && kernel->insts[low].address == address ? (int32_t)low : -1;
}

uint32_t kernel_address(const Kernel *kernel, uint32_t pc) {
  return kernel->params && !kernel->param_base ? 8 * pc : kernel->insts[pc].address;
}

static uint32_t width_registers(uint8_t width) { return width == WIDTH_128 ? 4 : width == WIDTH_64 ? 2 : 1; }

static void add(RegList *list, int16_t row, uint32_t count) {
  if (row < 0)
    return;
  for (uint32_t i = 0; i < count; i++)
    list->reg[list->count++] = (int16_t)(row + (int16_t)i);
}

static uint32_t value_rows(const Inst *inst, uint8_t wide_bit) { return inst->wide & wide_bit ? 2 : 1; }

/* Of an atomic operation. */
static uint32_t atomic_rows(const Inst *inst, uint8_t wide_bit) {
  return inst->width == WIDTH_128 ? 4 : value_rows(inst, wide_bit);
}

static uint32_t result_rows(const Inst *inst) {
  Form form = (Form)op_info[inst->op].form;
  return form == FORM_D_M       ? width_registers(inst->width)
         : form == FORM_D_M_B_C ? atomic_rows(inst, WIDE_DST)
                                : value_rows(inst, WIDE_DST);
}

RegList inst_reads(const Inst *inst) {
  RegList list = {0};
  uint32_t address = inst->flags & INST_ADDR64 ? 2 : 1;
  switch ((Form)op_info[inst->op].form) {
  case FORM_D_A_B_C:
    add(&list, inst->c, value_rows(inst, WIDE_C));
    /* fall through */
  case FORM_D_A_B:
  case FORM_A_B:
  case FORM_D_A_B_S:
  case FORM_D_A_B_Q:
  case FORM_D_A_B_CMP:
  case FORM_P_A_B_CMP:
    add(&list, inst->b, value_rows(inst, WIDE_B));
    /* fall through */
  case FORM_D_A:
  case FORM_A:
  case FORM_P_A: add(&list, inst->a, value_rows(inst, WIDE_A)); break;
  case FORM_D_M:
  case FORM_P_D_M: add(&list, inst->a, address); break;
  case FORM_M_A:
  case FORM_P_M_A:
    add(&list, inst->a, address);
    add(&list, inst->b, inst->op == OP_LDGSTS ? 1 : width_registers(inst->width));
    break;
  case FORM_D_M_B_C:
    add(&list, inst->a, address);
    add(&list, inst->b, atomic_rows(inst, WIDE_B));
    if (inst->mode == ATOM_CAS || inst_is_bulk(inst))
      add(&list, inst->c, atomic_rows(inst, WIDE_C));
    break;
  case FORM_BAR:
    add(&list, inst->a, 1);
    if (inst->flags & INST_HAS_COUNT)
      add(&list, inst->b, 1);
    break;
  case FORM_D_P_Q:
    if (inst->flags & INST_HAS_MASK)
      add(&list, inst->a, 1);
    break;
  case FORM_NONE:
  case FORM_P_Q_Q_Q:
  case FORM_D_SR:
  case FORM_T: break;
  }
  return list;
}

RegList inst_writes(const Inst *inst, uint32_t nregs) {
  RegList list = {0};
  switch ((Form)op_info[inst->op].form) {
  case FORM_D_A:
  case FORM_D_A_B:
  case FORM_D_A_B_C:
  case FORM_D_A_B_S:
  case FORM_D_A_B_Q:
  case FORM_D_A_B_CMP:
  case FORM_D_SR:
  case FORM_D_P_Q:
  case FORM_D_M:
  case FORM_P_D_M:
  case FORM_D_M_B_C:
  case FORM_BAR:
    if ((uint32_t)inst->dst < nregs)
      add(&list, inst->dst, result_rows(inst));
    break;
  case FORM_NONE:
  case FORM_A:
  case FORM_A_B:
  case FORM_P_A:
  case FORM_P_A_B_CMP:
  case FORM_P_Q_Q_Q:
  case FORM_M_A:
  case FORM_P_M_A:
  case FORM_T: break;
  }
  return list;
}

bool inst_writes_to(const Inst *inst, uint32_t nregs, int16_t reg) {
  RegList writes = inst_writes(inst, nregs);
  for (unsigned i = 0; i < writes.count; i++)
    if (writes.reg[i] == reg)
      return true;
  return false;
}

uint32_t inst_pred_reads(const Inst *inst) {
  uint32_t mask = 1u << inst->guard;
  for (unsigned i = 0; i < G_N_ELEMENTS(inst->psrc); i++)
    mask |= 1u << inst->psrc[i];
  if (inst->flags & INST_CARRY_IN)
    mask |= 1u << PRED_CARRY;
  return mask & ~(1u << PRED_TRUE);
}

uint32_t inst_pred_writes(const Inst *inst) {
  uint32_t mask = 1u << inst->pdst | 1u << inst->pdst2;
  if (inst->flags & INST_CARRY_OUT)
    mask |= 1u << PRED_CARRY;
  return mask & ~(1u << PRED_SINK);
}

bool inst_is_guarded(const Inst *inst) { return inst->guard != PRED_TRUE || (inst->flags & INST_GUARD_NOT); }
