#include "isa/lower/ptx_lower.h"

#include <stdarg.h>
#include <string.h>

#include "isa/flow/copies.h"
#include "isa/flow/unroll.h"
#include "isa/lower/ptx_lower_state.h"

static LowerFunctionOf *const functions[PTX_OP_COUNT] = {
#define OP(id, mnemonic, doc) [PTX_OP_##id] = lower_##id,
#define FORM(modifiers, operands)
#include "isa/ptx/ptx_ops.def"
#undef OP
#undef FORM
};

/* -- errors -- */

bool lower_error(Lower *lower, uint32_t at, const char *format, ...) {
  lower->failed = true;
  if (!g_hash_table_add(lower->reported, GSIZE_TO_POINTER((gsize)at + 1)))
    return false;
  unsigned line, column;
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  ptx_module_place(lower->module, at, &line, &column);
  return diag_error(lower->diag, lower->module->file, line, column, "%s", message);
}

void lower_unsupported(Lower *lower, const char *what) {
  lower_error(lower, lower->inst->at, "%s isn't supported", what);
}

bool lower_needs(Lower *lower, unsigned capability, const char *what) {
  if (lower->target->capability >= capability)
    return true;
  return lower_error(lower, lower->inst->at, "%s needs compute capability %u.%u, and the machine has %u.%u", what,
                     capability / 10, capability % 10, lower->target->capability / 10,
                     lower->target->capability % 10);
}

/* -- the instructions of a function -- */

LowerFrame *lower_frame_new(const PtxFunction *function, LowerFrame *caller) {
  LowerFrame *frame = g_new0(LowerFrame, 1);
  frame->function = function;
  frame->caller = caller;
  frame->label_pc = g_new0(int32_t, function->nlabels + 1);
  frame->fixups = g_array_new(FALSE, FALSE, sizeof(LowerFixup));
  return frame;
}

void lower_frame_free(LowerFrame *frame) {
  g_clear_pointer(&frame->registers, g_hash_table_destroy);
  g_clear_pointer(&frame->words, g_hash_table_destroy);
  g_clear_pointer(&frame->aliases, g_hash_table_destroy);
  g_array_free(frame->fixups, TRUE);
  g_free(frame->label_pc);
  g_free(frame);
}

static bool is_temporary(const GByteArray *flags, int32_t index) { return index < 0 || flags->data[index]; }

/* What only writes temporaries of a guarded instruction's expansion needs no guard: a register written under a guard
 * would seem to keep an older value. */
static void drop_guards(Lower *lower, guint first) {
  for (guint i = first; i < lower->vkernel->insts->len; i++) {
    VInst *vinst = &g_array_index(lower->vkernel->insts, VInst, i);
    Unit unit = op_info[vinst->inst.op].unit;
    bool pure = unit_is_arithmetic(unit) || unit == UNIT_SYSREG;
    if (pure && !(vinst->inst.flags & INST_CARRY_OUT) &&
        (vinst->dst == VREG_SINK || is_temporary(lower->temporary, vinst->dst)) &&
        is_temporary(lower->temporary_preds, vinst->pdst) && is_temporary(lower->temporary_preds, vinst->pdst2)) {
      vinst->guard = VPRED_TRUE;
      vinst->inst.flags &= ~(uint32_t)INST_GUARD_NOT;
    }
  }
}

static void lower_inst(Lower *lower, const PtxInst *inst) {
  guint first = lower->vkernel->insts->len;
  LowerFrame *frame = lower->frame;
  PtxWord type;
  lower->inst = inst;
  lower->rolled |= inst->rolled || frame->function->rolled || lower->module->rolled;
  lower->guard = PRED_ALWAYS;
  if (inst->guard != PTX_NO_INDEX)
    lower->guard = (Pred){lower_register(lower, frame, inst->guard, &type).index, inst->guard_not};
  lower_set_place(lower);
  functions[inst->op](lower, inst);
  if (inst->guard != PTX_NO_INDEX && inst->op != PTX_OP_CALL)
    drop_guards(lower, first);
}

static void resolve_branches(Lower *lower, LowerFrame *frame) {
  for (guint i = 0; i < frame->fixups->len; i++) {
    const LowerFixup *fixup = &g_array_index(frame->fixups, LowerFixup, i);
    uint32_t end = lower->vkernel->insts->len;
    VInst *vinst = &g_array_index(lower->vkernel->insts, VInst, fixup->pc);
    vinst->inst.target =
        fixup->label == PTX_NO_INDEX ? (int32_t)end : frame->label_pc[fixup->label - frame->function->first_label];
  }
}

void lower_body(Lower *lower) {
  LowerFrame *frame = lower->frame;
  const PtxFunction *function = frame->function;
  uint32_t label = 0;
  lower->work += function->ninsts + function->nlabels + 1;
  for (uint32_t i = 0; i <= function->ninsts; i++) {
    uint32_t at = function->first_inst + i;
    uint32_t labels = label;
    for (; label < function->nlabels && ptx_label(lower->module, function->first_label + label)->inst <= at; label++)
      frame->label_pc[label] = (int32_t)lower->vkernel->insts->len;
    lower->rolled &= label == labels;
    if (i == function->ninsts)
      break;
    if (lower->vkernel->insts->len > LOWER_INSTS_MAX || lower->work > LOWER_WORK_MAX) {
      bool own = lower->vkernel->insts->len > LOWER_INSTS_MAX;
      lower_error(lower, function->at, "the %s more than %d instructions once calls are inlined",
                  own ? "kernel has" : "kernels of this file have", own ? LOWER_INSTS_MAX : LOWER_WORK_MAX);
      break;
    }
    lower_inst(lower, ptx_inst(lower->module, at));
  }
  resolve_branches(lower, frame);
}

/* -- a kernel -- */

static uint32_t threads_of(const uint32_t size[3]) {
  uint64_t threads = size[0];
  for (unsigned axis = 1; axis < 3; axis++)
    threads = MIN(threads * MAX(size[axis], 1u), UINT32_MAX);
  return (uint32_t)threads;
}

/* The kernel may run in clusters of several blocks: by its own dimensions, or by those of a launch. */
static void set_cluster(const Lower *lower, Kernel *kernel, const PtxFunction *function) {
  uint64_t blocks = 1;
  for (unsigned axis = 0; axis < 3 && function->cluster[0]; axis++) {
    kernel->cluster[axis] = MAX(function->cluster[axis], 1u);
    blocks = MIN(blocks * kernel->cluster[axis], UINT32_MAX);
  }
  kernel->ranked = lower->target->capability >= 90 && lower->target->convergence_barriers &&
                   (lower->target->clusters || blocks > 1);
}

/* S2R and SHL: where the block's shared memory begins among that of its cluster. */
static void find_rank(Lower *lower) {
  Value rank = lower_temp(lower, 1);
  lower->place = (Inst){.line = lower->kernel->line, .column = 1, .address = lower->kernel->line};
  lower->guard = PRED_ALWAYS;
  lower->rank_base = lower_temp(lower, 1);
  VInst *read = lower_op0(lower, OP_S2R);
  read->inst.mode = SR_CLUSTER_CTARANK;
  read->dst = rank.index;
  lower_op2(lower, OP_SHL, lower->rank_base, rank, lower_imm(lower, CLUSTER_RANK_SHIFT));
}

static void set_launch_bounds(Kernel *kernel, const PtxFunction *function) {
  kernel->max_threads = threads_of(function->maxntid);
  if (!function->reqntid[0])
    return;
  kernel->max_threads = threads_of(function->reqntid);
  for (unsigned axis = 0; axis < 3; axis++)
    kernel->exact_block[axis] = MAX(function->reqntid[axis], 1u);
}

/* ptxas 13.0: `.maxnreg` is at least 24; `.minnctapersm` blocks of `.maxntid` threads have to fit, one if it isn't
 * given. */
static unsigned register_limit(const Lower *lower, const PtxFunction *function) {
  enum { LANES = 32, LEAST = 24 };
  const PtxTarget *target = lower->target;
  unsigned limit = target->max_registers, granule = MAX(target->register_granule / LANES, 1u);
  uint64_t warps = (uint64_t)(lower->kernel->max_threads + LANES - 1) / LANES * MAX(function->minnctapersm, 1u);
  if (warps && target->sm_registers) {
    uint64_t room = target->sm_registers / LANES / warps / granule * granule;
    limit = (unsigned)MIN(limit, MAX(room, (uint64_t)LEAST));
  }
  if (function->maxnreg)
    limit = MIN(limit, MAX(function->maxnreg, (unsigned)LEAST));
  return limit;
}

/* The labels that branches name; nvcc puts in many others for debuggers. */
static void add_labels(Lower *lower, const LowerFrame *frame) {
  const PtxFunction *function = frame->function;
  g_autofree uint8_t *used = g_new0(uint8_t, function->nlabels + 1);
  for (guint i = 0; i < frame->fixups->len; i++) {
    uint32_t label = g_array_index(frame->fixups, LowerFixup, i).label;
    if (label != PTX_NO_INDEX)
      used[label - function->first_label] = 1;
  }
  for (uint32_t i = 0; i < function->nlabels; i++)
    if (used[i]) {
      const PtxLabel *label = ptx_label(lower->module, function->first_label + i);
      Label entry = {g_strdup(ptx_module_name(lower->module, label->name)), (uint32_t)frame->label_pc[i]};
      g_array_append_val(lower->labels, entry);
    }
}

/* An end that no path reaches still needs an instruction: a label or mark may stand there. */
static void close_end(Lower *lower) {
  lower->guard = PRED_ALWAYS;
  const GArray *insts = lower->vkernel->insts;
  const VInst *last = insts->len ? &g_array_index(insts, VInst, insts->len - 1) : NULL;
  bool open = !last || !(op_info[last->inst.op].flags & OPF_BRANCH) || last->guard != VPRED_TRUE ||
              (last->inst.flags & INST_GUARD_NOT);
  for (guint i = 0; i < insts->len && !open; i++)
    open = g_array_index(insts, VInst, i).inst.target == (int32_t)insts->len;
  for (guint i = 0; i < lower->marks->len && !open; i++)
    open = g_array_index(lower->marks, Mark, i).pc == insts->len;
  if (open)
    lower_op0(lower, OP_EXIT);
}

#define STEAL(array, field, count)                                 \
  do {                                                             \
    lower->kernel->count = (array)->len;                           \
    lower->kernel->field = (gpointer)g_array_free((array), FALSE); \
  } while (0)

/* From Volta on a thread's program counter takes two registers that no instruction names. */
static unsigned hidden_registers(const PtxTarget *target) { return target->capability >= 70 ? 2 : 0; }

static Kernel *new_kernel(const Lower *lower, uint32_t index) {
  const PtxFunction *function = ptx_function(lower->module, index);
  unsigned column;
  Kernel *kernel = g_new0(Kernel, 1);
  kernel->name = g_strdup(ptx_module_name(lower->module, function->name));
  ptx_module_place(lower->module, function->at, &kernel->line, &column);
  return kernel;
}

static void begin_kernel(Lower *lower, uint32_t index) {
  lower->kernel = new_kernel(lower, index);
  lower->kernel->hidden_registers = hidden_registers(lower->target);
  set_launch_bounds(lower->kernel, ptx_function(lower->module, index));
  set_cluster(lower, lower->kernel, ptx_function(lower->module, index));
  lower->vkernel = vkernel_new(lower->kernel);
  lower->vkernel->uniform_datapath = lower->target->capability >= 75;
  lower->vkernel->drops_atomics = lower->target->capability >= 75 || lower->target->capability / 10 == 2;
  lower->vkernel->loads_bases = lower->target->capability >= 90;
  lower->consts = g_array_new(FALSE, FALSE, sizeof(ConstRef));
  lower->marks = g_array_new(FALSE, FALSE, sizeof(Mark));
  lower->labels = g_array_new(FALSE, FALSE, sizeof(Label));
  lower->temporary = g_byte_array_new();
  lower->temporary_preds = g_byte_array_new();
  lower->local_top = 0;
  lower->rolled = false;
  lower_lay_out(lower, index);
}

static void finish_marks(Kernel *kernel) {
  for (uint32_t i = 0; i < kernel->nmarks; i++)
    if (kernel->marks[i].pc < kernel->ninsts)
      kernel->insts[kernel->marks[i].pc].flags |= INST_MARKS;
}

/* ptxas 13.0: a kernel that calls a function which isn't in the file has at least the registers of the ABI, up to the
 * return address in R20 and R21. */
static void add_abi_registers(Kernel *kernel) {
  enum { ABI_REGISTERS = 22 };
  bool calls = false;
  for (uint32_t i = 0; i < kernel->ninsts && !calls; i++)
    calls = kernel->insts[i].op == OP_PRINTF || kernel->insts[i].op == OP_ASSERTFAIL ||
            kernel->insts[i].op == OP_MALLOC || kernel->insts[i].op == OP_FREE;
  uint32_t named = kernel->nregs - kernel->uniform_registers;
  if (calls && named < ABI_REGISTERS)
    kernel->hidden_registers += ABI_REGISTERS - named;
}

/* Hands the VKernel through the passes. NULL after errors. */
static Kernel *pass_on(Lower *lower, uint32_t index) {
  const bool *wanted = lower->target->wanted;
  if (lower->target->without_code || (wanted && !wanted[lower->program->kernels->len]))
    return g_steal_pointer(&lower->vkernel->kernel);
  vkernel_early_exits(lower->vkernel);
  if (lower->target->convergence_barriers) {
    vkernel_fold_copies(lower->vkernel);
    if (lower->target->capability >= 75) /* what ptxas of today is known to do */
      vkernel_unroll(lower->vkernel, lower->target->capability);
    vkernel_converge(lower->vkernel, lower->target->capability, lower->module->target_sm >= 70);
    if (lower->target->capability >= 75)
      vkernel_straighten(lower->vkernel);
  } else {
    vkernel_lockstep(lower->vkernel);
  }
  Kernel *kernel = vkernel_allocate(lower->vkernel, register_limit(lower, ptx_function(lower->module, index)),
                                    lower->module->file, lower->diag);
  if (kernel) {
    finish_marks(kernel);
    add_abi_registers(kernel);
  }
  return kernel;
}

static Kernel *finish_kernel(Lower *lower, uint32_t index) {
  Kernel *kernel = NULL;
  STEAL(lower->consts, consts, nconsts);
  STEAL(lower->marks, marks, nmarks);
  STEAL(lower->labels, labels, nlabels);
  g_clear_pointer(&lower->const_rows, g_hash_table_destroy);
  g_byte_array_free(lower->temporary, TRUE);
  g_byte_array_free(lower->temporary_preds, TRUE);
  if (!lower->failed)
    kernel = pass_on(lower, index);
  g_clear_pointer(&lower->vkernel, vkernel_free);
  return kernel;
}

/* What stands for a kernel that can't run. Its machine code may: that needs the parameters. */
static Kernel *refused_kernel(Lower *lower, uint32_t index, Diag *why) {
  Kernel *kernel = lower->kernel = new_kernel(lower, index);
  g_autoptr(Diag) said = diag_new(); /* what is wrong with parameters has been said */
  lower->diag = said;
  lower_params(lower, ptx_function(lower->module, index));
  kernel->refusal = why;
  return kernel;
}

static Kernel *lower_kernel(Lower *lower, uint32_t index) {
  begin_kernel(lower, index);
  lower->frame = lower_frame_new(ptx_function(lower->module, index), NULL);
  lower->local_top = lower->kernel->local_bytes = lower->functions[index].local_bytes;
  if (lower->kernel->ranked)
    find_rank(lower);
  if (!lower->failed)
    lower_body(lower);
  close_end(lower);
  add_labels(lower, lower->frame);
  lower_frame_free(lower->frame);
  return finish_kernel(lower, index);
}

/* The kernel, refused if anything of it can't be lowered. */
static void add_kernel(Lower *lower, uint32_t index) {
  Diag *diag = lower->diag;
  lower->diag = diag_new();
  g_hash_table_remove_all(lower->reported);
  Kernel *kernel = lower_kernel(lower, index);
  if (kernel)
    diag_free(lower->diag);
  else
    kernel = refused_kernel(lower, index, lower->diag);
  g_ptr_array_add(lower->program->kernels, kernel);
  lower->failed = false;
  lower->diag = diag;
}

/* -- the module -- */

static bool is_kernel(const PtxFunction *function) { return function->entry && function->has_body; }

static void lower_kernels(Lower *lower) {
  const PtxModule *module = lower->module;
  bool any = false;
  for (guint i = 0; i < module->functions->len; i++)
    if (is_kernel(ptx_function(module, i))) {
      any = true;
      lower_scan(lower, i);
    }
  if (!any) {
    diag_error(lower->diag, module->file, 0, 0, "there is no kernel (`.entry`)");
    lower->failed = true;
    return;
  }
  lower_variables(lower);
  lower_lines(lower);
  for (guint i = 0; i < module->functions->len && !lower->failed; i++)
    if (is_kernel(ptx_function(module, i)))
      add_kernel(lower, i);
}

Program *ptx_lower(const PtxModule *module, const PtxTarget *target, Diag *diag) {
  Lower lower = {.module = module, .target = target, .diag = diag};
  lower.program = program_new(module->file, DIALECT_PTX);
  lower.program->target_sm = module->target_sm;
  lower.reported = g_hash_table_new(NULL, NULL);
  lower.functions = g_new0(LowerFunction, module->functions->len + 1);
  lower.var_byte = g_new0(uint32_t, module->vars->len + 1);
  lower.symbol = g_new0(uint32_t, module->vars->len + 1);
  lower_kernels(&lower);
  for (guint i = 0; i < module->functions->len; i++) {
    g_clear_pointer(&lower.functions[i].callees, g_array_unref);
    g_clear_pointer(&lower.functions[i].vars, g_array_unref);
    g_clear_pointer(&lower.functions[i].errors, diag_free);
  }
  g_clear_pointer(&lower.candidates, g_hash_table_destroy);
  g_hash_table_destroy(lower.reported);
  g_free(lower.functions);
  g_free(lower.var_byte);
  g_free(lower.symbol);
  g_free(lower.places);
  if (lower.failed)
    g_clear_pointer(&lower.program, program_free);
  return lower.program;
}
