#include "isa/mc/mc_lower.h"

#include <stdio.h>
#include <string.h>

#include "isa/flow/cfg.h"
#include "isa/mc/mc_build.h"
#include "isa/mc/mc_hazards.h"
#include "isa/mc/mc_issue.h"

enum { RESERVED_SHARED = 0x400, ROWS_MAX = 250, INSTS_MAX = 1 << 20 };

McLowerer mc_lowerer(const char *root) {
  static const struct {
    const char *root;
    McLowerer function;
  } table[] = {
#define MC(root, function) {#root, function},
#include "isa/mc/mc_ops.def"
#undef MC
  };
  for (guint i = 0; i < G_N_ELEMENTS(table); i++)
    if (strcmp(table[i].root, root) == 0)
      return table[i].function;
  return NULL;
}

unsigned mc_choose_arch(const McModule *module, unsigned capability) {
  unsigned best = 0;
  for (guint i = 0; i < module->kernels->len; i++) {
    unsigned sm = mc_kernel(module, i)->sm;
    if (sm / 10 == capability / 10 && sm <= capability)
      best = MAX(best, sm);
  }
  return best;
}

/* ---- data ---- */

static bool is_bank(const char *section) { return g_str_has_prefix(section, ".nv.constant") && section[12] >= '2'; }

static bool is_global(const char *section) { return g_str_has_prefix(section, ".nv.global"); }

static int find_variable(const Program *program, const char *name) {
  for (guint i = 0; i < program->variables->len; i++)
    if (strcmp(((const ProgramVariable *)g_ptr_array_index(program->variables, i))->name, name) == 0)
      return (int)i;
  return -1;
}

static void set_init(ProgramVariable *variable, uint32_t bytes, const uint8_t *data) {
  g_free(variable->init);
  g_clear_pointer(&variable->relocs, g_array_unref);
  variable->init = g_new0(uint32_t, (variable->bytes + 3) / 4);
  memcpy(variable->init, data, bytes);
}

/* One that PTX has, too, begins as the machine code says: the address of a function is another number there. */
static void add_variable(Program *program, const char *name, bool constant, uint32_t bytes, const uint8_t *data) {
  int known = find_variable(program, name);
  ProgramVariable *variable = known >= 0 ? g_ptr_array_index(program->variables, known) : g_new0(ProgramVariable, 1);
  if (known < 0) {
    *variable = (ProgramVariable){.name = g_strdup(name), .constant = constant, .bytes = MAX(bytes, 4), .align = 256};
    g_ptr_array_add(program->variables, variable);
  }
  if (data && bytes <= variable->bytes)
    set_init(variable, bytes, data);
}

/* Global variables and `__constant__` ones by their names; of banks, whose words the program indexes, the whole. */
static void add_variables(Program *program, const McModule *module) {
  for (guint i = 0; i < module->symbols->len; i++) {
    const McSymbol *symbol = &g_array_index(module->symbols, McSymbol, i);
    bool global = symbol->section && is_global(symbol->section);
    bool user = symbol->section && g_str_has_prefix(symbol->section, ".nv.constant3");
    const McData *data = global || user ? mc_find_data(module, symbol->section) : NULL;
    if (!data || symbol->function || !symbol->bytes || symbol->value + symbol->bytes > data->bytes)
      continue;
    add_variable(program, symbol->name, user, (uint32_t)symbol->bytes,
                 data->data ? data->data + symbol->value : NULL);
  }
  for (guint i = 0; i < module->data->len; i++) {
    const McData *data = &g_array_index(module->data, McData, i);
    if (is_bank(data->section))
      add_variable(program, data->section, true, data->bytes, data->data);
  }
}

/* Those of the same program from PTX, or of another architecture, by the same numbers. Banks are each architecture's
 * own. */
static void copy_variables(Program *program, const Program *like) {
  for (guint i = 0; i < like->variables->len; i++) {
    const ProgramVariable *from = g_ptr_array_index(like->variables, i);
    if (is_bank(from->name))
      continue;
    ProgramVariable *variable = g_memdup2(from, sizeof *from);
    variable->name = g_strdup(from->name);
    variable->init = from->init ? g_memdup2(from->init, (from->bytes + 3) / 4 * 4) : NULL;
    variable->relocs = from->relocs ? g_array_copy(from->relocs) : NULL;
    g_ptr_array_add(program->variables, variable);
  }
}

/* Words of the data at [start, start + bytes) of a section that are addresses. */
static void relocate(Program *program, const McData *data, int index, uint64_t start, uint64_t bytes) {
  ProgramVariable *variable = g_ptr_array_index(program->variables, index);
  for (guint i = 0; data->relocs && i < data->relocs->len; i++) {
    const McReloc *from = &g_array_index(data->relocs, McReloc, i);
    int symbol = find_variable(program, from->symbol);
    if (symbol < 0 || from->offset < start || from->offset - start >= bytes || from->part == MC_SYMBOL_HIGH32)
      continue;
    ProgramReloc reloc = {(uint32_t)(from->offset - start) / 4, (uint32_t)symbol, (int32_t)from->addend};
    if (!variable->relocs)
      variable->relocs = g_array_new(FALSE, FALSE, sizeof(ProgramReloc));
    g_array_append_val(variable->relocs, reloc);
  }
}

static void relocate_all(Program *program, const McModule *module) {
  for (guint i = 0; i < module->data->len; i++) {
    const McData *data = &g_array_index(module->data, McData, i);
    if (is_bank(data->section))
      relocate(program, data, find_variable(program, data->section), 0, data->bytes);
  }
  for (guint i = 0; i < module->symbols->len; i++) {
    const McSymbol *symbol = &g_array_index(module->symbols, McSymbol, i);
    const McData *data = symbol->section && is_global(symbol->section) ? mc_find_data(module, symbol->section) : NULL;
    int index = data ? find_variable(program, symbol->name) : -1;
    if (index >= 0 && !((const ProgramVariable *)g_ptr_array_index(program->variables, index))->relocs)
      relocate(program, data, index, symbol->value, symbol->bytes);
  }
}

/* ---- one kernel ---- */

/* DEPBAR names those that it waits for as operands: `SB0, 0x0` and `{2,1}`. */
static uint32_t named_scoreboards(const McBuild *build, const McInst *inst) {
  uint32_t named = 0;
  for (unsigned i = 0; strcmp(inst->root, "DEPBAR") == 0 && i < mc_count(build); i++) {
    const McOperand *operand = mc_at(build, i);
    named |= operand->kind == MC_SCOREBOARD    ? 1u << operand->number
             : operand->kind == MC_SCOREBOARDS ? (uint32_t)operand->value
                                               : 0;
  }
  return named;
}

static uint32_t control_of(const McBuild *build, const McInst *inst) {
  McControl control = mc_control(inst);
  uint32_t wait = control.wait | named_scoreboards(build, inst);
  return (uint32_t)MAX(control.stall, 1) | (uint32_t)control.write << CONTROL_WRITE_SHIFT |
         (uint32_t)control.read << CONTROL_READ_SHIFT | wait << CONTROL_WAIT_SHIFT;
}

/* The first part waits for scoreboards, the last one raises its own. */
static void add_control(McBuild *build) {
  uint32_t whole = control_of(build, build->inst),
           none = CONTROL_NONE << CONTROL_WRITE_SHIFT | CONTROL_NONE << CONTROL_READ_SHIFT;
  uint32_t unit = mc_issue_bits(build->module, build->inst, &build->reuse);
  uint32_t waits = whole & ~((1u << CONTROL_WAIT_SHIFT) - 1), raises = whole & ((1u << CONTROL_WAIT_SHIFT) - 1);
  for (guint i = build->first; i < build->insts->len; i++) {
    bool accesses = op_info[g_array_index(build->insts, Inst, i).op].unit == UNIT_GLOBAL;
    bool last = build->raises_each ? accesses : i + 1 == build->insts->len;
    uint32_t word = (i == build->first ? waits : 0) | (last ? raises : none) | unit;
    g_array_append_val(build->control, word);
  }
}

/* What can't be lowered is counted, and nothing of it stays. */
static void drop_refused(McBuild *build) {
  gpointer uses = g_hash_table_lookup(build->refused, build->inst->name);
  g_hash_table_insert(build->refused, (gpointer)build->inst->name, GINT_TO_POINTER(GPOINTER_TO_INT(uses) + 1));
  g_array_set_size(build->insts, build->first);
  Inst nothing = mc_blank(build, OP_TRAP);
  g_array_append_val(build->insts, nothing);
}

/* The frame, from 1, of a place, with those that it was inlined at behind it; the place of the last is the
 * outermost. */
static uint32_t frame_of(McBuild *build, uint32_t file, uint32_t line, uint32_t inlined, Inst *outermost) {
  GArray *frames = build->program->frames;
  SourceFrame frame = {.line = line, .column = 1, .file = (uint16_t)file};
  const McFrame *at = inlined ? &g_array_index(build->module->frames, McFrame, inlined - 1) : NULL;
  if (at) {
    frame.parent = frame_of(build, at->file, at->line, at->parent, outermost);
  } else {
    outermost->file = (uint16_t)file;
    outermost->line = line;
  }
  for (guint i = frames->len; i-- > 0;)
    if (memcmp(&g_array_index(frames, SourceFrame, i), &frame, sizeof frame) == 0)
      return i + 1;
  g_array_append_val(frames, frame);
  return frames->len;
}

static void set_place(McBuild *build, Inst *inst) {
  const McInst *from = build->inst;
  inst->address = from->address;
  if (!from->source_file)
    return;
  inst->column = 1;
  inst->file = (uint16_t)from->source_file;
  inst->line = from->source_line;
  if (from->inlined)
    inst->inlined = frame_of(build, from->source_file, from->source_line, from->inlined, inst);
}

static void lower_inst(McBuild *build, guint index) {
  build->inst = mc_inst(build->module, build->source, index);
  build->index = index;
  build->first = build->insts->len;
  build->scratch = build->scratch_predicates = 0;
  build->failed = build->raises_each = false;
  const McOperand *guard = &build->inst->guard;
  build->guard = guard->number == MC_PT ? PRED_TRUE : mc_predicate_out(guard);
  build->guard_not = guard->negated;
  McLowerer function = mc_lowerer(build->inst->root);
  if (!function || !function(build) || build->failed)
    drop_refused(build);
  for (guint i = build->first; i < build->insts->len; i++)
    set_place(build, &g_array_index(build->insts, Inst, i));
  build->encoded &= build->inst->encoded;
  add_control(build);
}

/* ---- rows ---- */

typedef struct Rows {
  int16_t uniform, scratch, result, sink;
} Rows;

static int16_t number_row(const Rows *rows, int16_t row) {
  return row < MC_ROW_UNIFORM   ? row
         : row < MC_ROW_SCRATCH ? (int16_t)(rows->uniform + row - MC_ROW_UNIFORM)
         : row < MC_ROW_RESULT  ? (int16_t)(rows->scratch + row - MC_ROW_SCRATCH)
         : row < MC_ROW_SINK    ? rows->result
                                : rows->sink;
}

/* False if there are too many. */
static bool number_rows(McBuild *build) {
  Rows rows = {.uniform = (int16_t)build->top_register};
  rows.scratch = (int16_t)(rows.uniform + build->top_uniform);
  rows.result = (int16_t)(rows.scratch + build->scratch_rows);
  rows.sink = (int16_t)(rows.result + build->uses_result);
  for (guint i = 0; i < build->insts->len; i++) {
    Inst *inst = &g_array_index(build->insts, Inst, i);
    inst->dst = number_row(&rows, inst->dst);
    inst->a = number_row(&rows, inst->a);
    inst->b = number_row(&rows, inst->b);
    inst->c = number_row(&rows, inst->c);
  }
  Kernel *kernel = build->kernel;
  int32_t registers = build->source->registers >= 0 ? build->source->registers : build->top_register;
  kernel->nregs = (uint32_t)rows.sink;
  kernel->uniform_registers = (uint32_t)(rows.sink - build->top_register);
  kernel->inner_rows = (uint32_t)(rows.sink - rows.scratch);
  kernel->hidden_registers = (uint32_t)MAX(registers - build->top_register, 0);
  return rows.sink < ROWS_MAX;
}

/* ---- places ---- */

static bool set_targets(McBuild *build, Diag *diag) {
  Kernel *kernel = build->kernel;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    Inst *inst = &kernel->insts[pc];
    if (inst->target == NO_TARGET)
      continue;
    int32_t to = kernel_at_address(kernel, (uint32_t)inst->target);
    if (to < 0)
      return diag_error(diag, build->module->file, inst->line, inst->column,
                        "branch to 0x%x, where `%s` has no instruction", (uint32_t)inst->target, kernel->name);
    inst->target = to;
  }
  return true;
}

static int by_number(gconstpointer a, gconstpointer b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void set_jumps(McBuild *build) {
  Kernel *kernel = build->kernel;
  g_array_sort(build->jumps, by_number);
  kernel->jumps = g_new(uint32_t, build->jumps->len + 1);
  for (guint i = 0; i < build->jumps->len; i++) {
    uint32_t address = g_array_index(build->jumps, uint32_t, i);
    int32_t to = kernel_at_address(kernel, address);
    if (to >= 0 && (i == 0 || address != g_array_index(build->jumps, uint32_t, i - 1)))
      kernel->jumps[kernel->njumps++] = (uint32_t)to;
  }
}

/* ---- resources ---- */

static uint32_t known_or(int32_t value, uint32_t otherwise) { return value >= 0 ? (uint32_t)value : otherwise; }

/* The kernel moves its stack pointer down by so many bytes. */
static uint32_t frame_bytes(const McBuild *build) {
  uint32_t bytes = 0;
  for (guint i = 0; i < build->source->insts; i++) {
    const McInst *inst = mc_inst(build->module, build->source, i);
    for (guint o = 1; o < inst->operands; o++) {
      const McOperand *to = mc_operand(build->module, inst, 0), *value = mc_operand(build->module, inst, o);
      int64_t by = (int32_t)value->value;
      if (to->kind == MC_REGISTER && to->number == 1 && value->kind == MC_INTEGER && by < 0)
        bytes += (uint32_t)-by;
    }
  }
  return bytes;
}

/* Local memory of a thread. Where calls go by pointers or in circles, the compiler gives the kernel's own frame, or
 * none; a thread has what CUDA gives each then, if the program asks for no more (cudaLimitStackSize). */
static uint32_t stack_bytes(const McBuild *build) {
  enum { USUAL_LIMIT = 1024 };
  uint32_t moved = frame_bytes(build), known = known_or(build->source->stack_bytes, moved);
  bool unknown = build->module->has_data && build->source->stack_bytes < 0;
  return build->calls_pointers || moved > known || unknown ? MAX(known, USUAL_LIMIT) : known;
}

static uint16_t param_base(const McBuild *build) {
  enum { BEFORE_HOPPER = 0x160, HOPPER = 0x210 };
  return (uint16_t)known_or(build->source->param_base, build->sm >= 90 ? HOPPER : BEFORE_HOPPER);
}

static bool touches_shared(const McBuild *build) {
  for (guint i = 0; i < build->insts->len; i++)
    if (op_info[g_array_index(build->insts, Inst, i).op].unit == UNIT_SHARED)
      return true;
  return false;
}

static void copy_params(Kernel *kernel, const Kernel *like) {
  kernel->param_bytes = like->param_bytes;
  if (!like->params)
    return;
  kernel->params = kernel_params_new();
  for (guint i = 0; i < like->params->len; i++) {
    KernelParam param = g_array_index(like->params, KernelParam, i);
    param.name = g_strdup(param.name);
    g_array_append_val(kernel->params, param);
  }
}

static void set_params(McBuild *build) {
  Kernel *kernel = build->kernel;
  const GArray *params = build->source->params;
  kernel->param_bytes = known_or(build->source->param_bytes, 0);
  if (!params)
    return;
  kernel->params = kernel_params_new();
  for (guint i = 0; i < params->len; i++) {
    const McParam *from = &g_array_index(params, McParam, i);
    bool scalar = from->bytes == 1 || from->bytes == 2 || from->bytes == 4 || from->bytes == 8;
    KernelParam param = {.name = g_strdup_printf("argument %u", from->ordinal),
                         .offset = from->offset,
                         .bytes = from->bytes,
                         .bytes_array = !scalar,
                         .type = from->bytes == 8   ? TYPE_U64
                                 : from->bytes == 4 ? TYPE_U32
                                 : from->bytes == 2 ? TYPE_U16
                                                    : TYPE_U8};
    g_array_append_val(kernel->params, param);
    kernel->param_bytes = MAX(kernel->param_bytes, from->offset + from->bytes);
  }
}

/* Its own code names it by its place in bank 0; without optimization the place is in a register first. */
static bool reads_word(const McBuild *build, uint32_t offset) {
  bool indexes = false, names = false;
  for (guint i = 0; i < build->consts->len; i++) {
    const ConstRef *ref = &g_array_index(build->consts, ConstRef, i);
    if (ref->kind == CONST_BANK && ref->value == offset)
      return true;
    names |= ref->kind == CONST_IMMEDIATE && ref->value == offset;
  }
  for (guint i = 0; names && i < build->insts->len; i++) {
    const Inst *inst = &g_array_index(build->insts, Inst, i);
    indexes |= inst->op == OP_LD && inst->space == MEM_PARAM;
  }
  return indexes;
}

/* Cooperative groups of several warps use the system's part of shared memory (%reserved_smem_offset_1). */
static bool reads_reserved(const McBuild *build) { return reads_word(build, build->sm >= 90 ? 0x6c : 0x124); }

static void set_resources(McBuild *build, const Kernel *like) {
  Kernel *kernel = build->kernel;
  const McKernel *source = build->source;
  kernel->bank = BANK_VOLTA;
  kernel->max_threads = known_or(source->max_threads, 0);
  kernel->local_bytes = (stack_bytes(build) + 15u) / 16 * 16;
  /* ptxas may load 16 bytes where the last variable has fewer: the rest is there on a GPU, which gives out larger
   * pieces. */
  kernel->shared_bytes = (known_or(source->shared_bytes, like ? like->shared_bytes : 0) + 15u) / 16 * 16;
  if (build->sm < 90) {
    kernel->shared_behind = reads_reserved(build) ? RESERVED_SHARED : 0;
    return;
  }
  if (!kernel->shared_bytes && !touches_shared(build) && !reads_reserved(build))
    return;
  kernel->shared_system = RESERVED_SHARED;
  if (source->shared_bytes < RESERVED_SHARED) /* otherwise it is counted there */
    kernel->shared_bytes += RESERVED_SHARED;
}

/* A function saves registers of its caller on the stack, which may never have been written: no value is used. */
static void settle_saves(Kernel *kernel) {
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++)
    if (kernel->insts[pc].op == OP_STL)
      kernel->insts[pc].flags &= ~(uint32_t)INST_MAYBE_UNSET;
}

/* ---- refusals ---- */

static int by_name(gconstpointer a, gconstpointer b) { return strcmp(a, b); }

/* What people call an instruction whose encoding isn't read, of which only bits 0 to 11 are known ("?.0x233");
 * NULL. */
static const char *usual_name(const char *name) {
  static const struct {
    unsigned opcode; /* bits 0 to 8 */
    const char *name;
  } names[] = {{0x002, "MOV"},       {0x015, "VABSDIFF4"},  {0x037, "IMMA"},    {0x03a, "MOVM"},
               {0x03b, "LDSM"},      {0x03c, "HMMA"},       {0x03d, "BMMA"},    {0x03f, "DMMA"},
               {0x143, "CALL.ABS"},  {0x1b4, "UTMALDG"},    {0x1b5, "UTMASTG"}, {0x1ba, "UBLKCP"},
               {0x1c5, "WARPGROUP"}, {0x1c7, "UCGABAR"},    {0x1f0, "HGMMA"}};
  unsigned opcode;
  if (sscanf(name, "?.0x%x", &opcode) == 1)
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
      if (names[i].opcode == (opcode & 0x1ff))
        return names[i].name;
  return NULL;
}

/* Machine code without a listing has no lines of its own: where its source begins, if it says so. */
static void hint_place(const McBuild *build, Diag *refusal) {
  const Kernel *kernel = build->kernel;
  const Inst *first = kernel->ninsts && !kernel->line ? &kernel->insts[0] : NULL;
  if (!first || !first->line)
    return;
  g_autofree char *name = g_path_get_basename(program_file_name(build->program, first->file));
  diag_hint(refusal, "its code begins in line %u of %s", first->line, name);
}

static void refuse_kernel(McBuild *build) {
  Kernel *kernel = build->kernel;
  g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(build->refused), by_name);
  GString *text = g_string_new(NULL);
  kernel->refusal = diag_new();
  for (GList *name = names; name; name = name->next) {
    int uses = GPOINTER_TO_INT(g_hash_table_lookup(build->refused, name->data));
    const char *shown = name->data, *usual = usual_name(shown);
    const char *encoding = g_str_has_prefix(shown, "?.") ? shown + 2 : "";
    g_string_append_printf(text, "%s`%s` (%s%s%s%d use%s)", text->len ? ", " : "", usual ? usual : shown,
                           *encoding ? "encoding " : "", encoding, *encoding ? ", " : "", uses, uses == 1 ? "" : "s");
  }
  if (build->missing_bank) {
    diag_error(kernel->refusal, build->module->file, kernel->line, 1,
               "kernel `%s` reads constant bank %d, and the listing doesn't say what it holds", kernel->name,
               build->missing_bank);
    diag_hint(kernel->refusal, "a cubin has it, and what `nvdisasm -hex` prints of one");
  } else {
    diag_error(kernel->refusal, build->module->file, kernel->line, 1,
               "kernel `%s` has instructions that aren't modelled: %s", kernel->name, text->str);
    hint_place(build, kernel->refusal);
  }
  g_string_free(text, TRUE);
}

static void drop_code(Kernel *kernel) {
  g_clear_pointer(&kernel->insts, g_free);
  g_clear_pointer(&kernel->control, g_free);
  kernel->ninsts = 0;
}

/* ---- all ---- */

/* The kernel's own clusters; or those of a launch, unless it says that they have one block. */
static void set_cluster(McBuild *build, bool clusters) {
  const uint32_t *size = build->source->cluster;
  uint64_t blocks = (uint64_t)size[0] * size[1] * size[2];
  memcpy(build->kernel->cluster, size, sizeof build->kernel->cluster);
  build->kernel->ranked = build->sm >= 90 && (blocks > 1 || (clusters && !blocks));
}

static void build_init(McBuild *build, const McModule *module, const McKernel *source, Program *program) {
  *build = (McBuild){.module = module, .source = source, .program = program, .sm = source->sm, .encoded = true};
  mc_reuse_init(&build->reuse);
  build->kernel = g_new0(Kernel, 1);
  build->kernel->name = g_strdup(source->name);
  build->kernel->line = source->line;
  build->kernel->param_base = param_base(build);
  build->insts = g_array_new(FALSE, FALSE, sizeof(Inst));
  build->control = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  build->consts = g_array_new(FALSE, FALSE, sizeof(ConstRef));
  build->jumps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  build->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  build->refused = g_hash_table_new(g_str_hash, g_str_equal);
}

static void build_clear(McBuild *build) {
  g_array_unref(build->insts);
  g_array_unref(build->control);
  g_array_unref(build->consts);
  g_array_unref(build->jumps);
  g_hash_table_unref(build->known);
  g_hash_table_unref(build->refused);
}

/* Padding behind the last instruction that isn't a NOP goes. */
static guint trimmed(const McBuild *build) {
  guint count = build->source->insts;
  while (count > 1 && strcmp(mc_inst(build->module, build->source, count - 1)->root, "NOP") == 0)
    count--;
  return count;
}

static bool lower_kernel(Program *program, const McModule *module, const McKernel *source, const Kernel *like,
                         bool clusters, Diag *diag) {
  McBuild build;
  build_init(&build, module, source, program);
  set_cluster(&build, clusters);
  for (guint i = 0, count = trimmed(&build); i < count; i++)
    lower_inst(&build, i);
  bool fits = number_rows(&build), good = true;
  Kernel *kernel = build.kernel;
  if (like)
    copy_params(kernel, like);
  else
    set_params(&build);
  set_resources(&build, like);
  kernel->ninsts = build.insts->len;
  kernel->insts = g_memdup2(build.insts->data, kernel->ninsts * sizeof(Inst));
  kernel->control = build.encoded ? g_memdup2(build.control->data, kernel->ninsts * sizeof(uint32_t)) : NULL;
  kernel->nconsts = build.consts->len;
  kernel->consts = g_memdup2(build.consts->data, kernel->nconsts * sizeof(ConstRef));
  if (!fits)
    g_hash_table_insert(build.refused, (gpointer) "more than 250 registers, uniform ones included",
                        GINT_TO_POINTER(1));
  if (g_hash_table_size(build.refused))
    refuse_kernel(&build);
  if (kernel->refusal) {
    drop_code(kernel);
  } else {
    good = set_targets(&build, diag);
    set_jumps(&build);
    if (good) {
      cfg_annotate(kernel);
      mc_hazards_find(module, source, kernel);
    }
    settle_saves(kernel);
  }
  g_ptr_array_add(program->kernels, kernel);
  build_clear(&build);
  return good;
}

static void add_sources(Program *program, const McModule *module) {
  for (guint i = 0; i < module->files->len; i++)
    program_add_source(program, g_ptr_array_index(module->files, i), NULL, 0);
}

static const McKernel *find_kernel(const McModule *module, unsigned sm, const char *name) {
  for (guint i = 0; i < module->kernels->len; i++) {
    const McKernel *kernel = mc_kernel(module, i);
    if (kernel->sm == sm && kernel->entry && kernel->insts && strcmp(kernel->name, name) == 0)
      return kernel;
  }
  return NULL;
}

/* The compiler left it out (`missing`), or nobody wants its instructions. */
static void add_without_code(Program *program, const Kernel *like, bool missing) {
  Kernel *kernel = g_new0(Kernel, 1);
  kernel->name = g_strdup(like->name);
  kernel->line = like->line;
  kernel->refusal = missing ? diag_new() : NULL;
  if (missing)
    diag_error(kernel->refusal, program->file, 0, 0, "there is no machine code of kernel `%s`", like->name);
  g_ptr_array_add(program->kernels, kernel);
}

static bool lower_alike(Program *program, const McModule *module, unsigned sm, const Program *like,
                        const bool *wanted, bool clusters, Diag *diag) {
  bool good = true;
  for (guint i = 0; i < like->kernels->len; i++) {
    const Kernel *model = program_kernel(like, i);
    const McKernel *kernel = find_kernel(module, sm, model->name);
    if (kernel && (!wanted || wanted[i]))
      good &= lower_kernel(program, module, kernel, model, clusters, diag);
    else
      add_without_code(program, model, !kernel);
  }
  return good;
}

Program *mc_lower(const McModule *module, unsigned sm, const Program *like, const bool *wanted, bool clusters,
                  Diag *diag) {
  Program *program = program_new(module->file, DIALECT_MACHINE_CODE);
  bool good = true;
  program->target_sm = sm;
  add_sources(program, module);
  if (like)
    copy_variables(program, like);
  add_variables(program, module);
  relocate_all(program, module);
  if (like)
    good = lower_alike(program, module, sm, like, wanted, clusters, diag);
  for (guint i = 0; !like && i < module->kernels->len; i++) {
    const McKernel *kernel = mc_kernel(module, i);
    if (kernel->sm == sm && kernel->entry && kernel->insts)
      good &= lower_kernel(program, module, kernel, NULL, clusters, diag);
  }
  if (good && !program->kernels->len)
    good = diag_error(diag, module->file, 0, 0, "no kernel of sm_%u in it", sm);
  if (!good)
    g_clear_pointer(&program, program_free);
  return program;
}
