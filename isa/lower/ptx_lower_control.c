/* Branches, ends, marks and calls. */
#include <string.h>

#include "isa/lower/ptx_lower_state.h"

/* -- branches -- */

static void branch(Lower *lower, uint32_t label, Pred guard) {
  Pred own = lower->guard;
  lower->guard = guard;
  VInst *vinst = lower_op0(lower, OP_BRA);
  lower->guard = own;
  vinst->inst.target = 0;
  vinst->inst.flags |= lower->inst->mods.flags & PTX_FLAG_UNI ? (uint32_t)INST_UNIFORM : 0;
  LowerFixup fixup = {lower->vkernel->insts->len - 1, label};
  g_array_append_val(lower->frame->fixups, fixup);
}

void lower_BRA(Lower *lower, const PtxInst *inst) { branch(lower, lower_operand(lower, 0)->index, lower->guard); }

/* A comparison and a branch for each label; the last one needs none, since an index behind the table isn't
 * defined. */
void lower_BRX(Lower *lower, const PtxInst *inst) {
  const PtxTable *table = ptx_table(lower->module, lower_operand(lower, 1)->index);
  Value index = lower_value(lower, 0, PTX_U32);
  int32_t skip = lower_begin_skip(lower);
  lower->work += table->noperands;
  for (uint32_t i = 0; i < table->noperands; i++) {
    bool last = i + 1 == table->noperands;
    Pred hit = last ? PRED_ALWAYS : lower_compare(lower, CMP_EQ, TYPE_U32, index, lower_imm(lower, i));
    branch(lower, ptx_operand(lower->module, table->operands + i)->index, hit);
  }
  lower_end_skip(lower, skip);
}

void lower_EXIT(Lower *lower, const PtxInst *inst) { lower_op0(lower, OP_EXIT); }

/* In an inlined function a jump behind it; none from the last instruction, which goes on there anyway. */
void lower_RET(Lower *lower, const PtxInst *inst) {
  const PtxFunction *function = lower->frame->function;
  bool last = inst == ptx_inst(lower->module, function->first_inst + function->ninsts - 1);
  if (!lower->frame->caller)
    lower_op0(lower, OP_EXIT);
  else if (!last)
    branch(lower, PTX_NO_INDEX, lower->guard);
}

void lower_TRAP(Lower *lower, const PtxInst *inst) { lower_op0(lower, OP_TRAP); }

/* There is no debugger. */
void lower_BRKPT(Lower *lower, const PtxInst *inst) {}

/* A launch begins when those that it depends on have ended: nothing is left to wait for, and nobody is waiting. */
void lower_GRIDDEPCONTROL(Lower *lower, const PtxInst *inst) { lower_needs(lower, 90, "griddepcontrol"); }

/* There are registers enough: what a warp gives back nobody lacks, and who asks for more has them. */
void lower_SETMAXNREG(Lower *lower, const PtxInst *inst) { lower_needs(lower, 90, "setmaxnreg"); }

/* A guarded mark stands at an instruction of its own, which lanes without it jump over. */
void lower_PMEVENT(Lower *lower, const PtxInst *inst) {
  enum { EVENTS = 16 };
  uint32_t bits = (uint32_t)lower_operand(lower, 0)->bits;
  int32_t skip = lower_begin_skip(lower);
  Mark mark = {lower->vkernel->insts->len, bits};
  if (inst->mods.flags & PTX_FLAG_MASK) {
    for (mark.number = 0; mark.number < EVENTS; mark.number++)
      if (bits >> mark.number & 1)
        g_array_append_val(lower->marks, mark);
  } else {
    g_array_append_val(lower->marks, mark);
  }
  if (skip != NO_TARGET)
    lower_op0(lower, OP_NOP);
  lower_end_skip(lower, skip);
}

/* -- calls of what isn't in the file -- */

/* Argument `i` of the call as that type. */
static Value argument(Lower *lower, unsigned i, PtxWord type) {
  const PtxOperand *operand = lower_part(lower, lower_operand(lower, 2), i);
  if (operand->kind != PTX_OPERAND_VAR)
    return lower_value_of(lower, operand, type);
  return lower_param_value(lower, lower->frame, operand->index, 0, ptx_type_bytes(type));
}

/* What the call returns. */
static void give_result(Lower *lower, PtxWord type, Value value) {
  const PtxOperand *results = lower_operand(lower, 0);
  if (!results->count)
    return;
  const PtxOperand *result = lower_part(lower, results, 0);
  if (result->kind == PTX_OPERAND_VAR)
    lower_param_store(lower, lower->frame, result->index, 0, type, value);
  else
    lower_store_result(lower, result, type, value);
}

static void call_vprintf(Lower *lower, PtxWord pointer) {
  Value format = argument(lower, 0, pointer), buffer = argument(lower, 1, pointer), count = lower_temp(lower, 1);
  lower_op2(lower, OP_PRINTF, count, format, buffer)->inst.wide = lower_is_wide(pointer) ? WIDE_A | WIDE_B : 0;
  give_result(lower, PTX_B32, count);
}

/* malloc(size), and what `new` of an aligned type calls: (size, alignment). */
static void call_malloc(Lower *lower, PtxWord pointer, bool aligned) {
  bool wide = lower_is_wide(pointer);
  Value size = argument(lower, 0, pointer), alignment = lower_imm(lower, 1), memory = lower_temp(lower, wide ? 2 : 1);
  if (aligned)
    alignment = argument(lower, 1, pointer); /* the low word says all of it */
  lower_op2(lower, OP_MALLOC, memory, size, alignment)->inst.wide = wide ? WIDE_DST | WIDE_A : 0;
  give_result(lower, pointer, memory);
}

static void call_free(Lower *lower, PtxWord pointer) {
  Value memory = argument(lower, 0, pointer);
  lower_op1(lower, OP_FREE, VALUE_SINK, memory)->inst.wide = lower_is_wide(pointer) ? WIDE_A : 0;
}

static void call_assertfail(Lower *lower, PtxWord pointer) {
  Value message = argument(lower, 0, pointer), file = argument(lower, 1, pointer), line = argument(lower, 2, PTX_U32);
  lower_op3(lower, OP_ASSERTFAIL, VALUE_SINK, message, file, line)->inst.wide =
      lower_is_wide(pointer) ? WIDE_A | WIDE_B : 0;
}

/* Nothing is wrong before a lane comes here. */
static void call_undefined(Lower *lower, const char *name) {
  Kernel *kernel = lower->kernel;
  guint index = 0;
  if (!kernel->undefined)
    kernel->undefined = g_ptr_array_new_with_free_func(g_free);
  if (!g_ptr_array_find_with_equal_func(kernel->undefined, name, g_str_equal, &index)) {
    index = kernel->undefined->len;
    g_ptr_array_add(kernel->undefined, g_strdup(name));
  }
  lower_op0(lower, OP_TRAP)->inst.imm = (int32_t)index + 1;
}

/* __syncblocks(), for machines that have it: __threadfence() on both sides, as threads of other blocks are to see
 * what this one wrote, and the other way round. */
static void call_syncblocks(Lower *lower, PtxWord pointer) {
  (void)pointer;
  lower_fence_of_gpu(lower);
  lower_op0(lower, OP_SYNCBLOCKS)->inst.flags |= INST_UNALIGNED;
  lower_fence_of_gpu(lower);
}

/* __enqueue(queue, value) returns 1 or 0, __dequeue(queue) the value in the low word and 1 or 0 in the high one; for
 * machines that have them. */
static void call_queue(Lower *lower, PtxWord pointer, bool puts) {
  bool wide = lower_is_wide(pointer);
  Value queue = argument(lower, 0, pointer), value = puts ? argument(lower, 1, PTX_B32) : VALUE_SINK;
  Value result = lower_temp(lower, puts ? 1 : 2);
  VInst *vinst = lower_op0(lower, puts ? OP_ENQUEUE : OP_DEQUEUE);
  vinst->dst = result.index;
  vinst->dst_row = result.row;
  vinst->a = queue.index;
  vinst->a_row = queue.row;
  if (puts) {
    vinst->b = value.index;
    vinst->b_row = value.row;
  }
  vinst->inst.width = puts ? WIDTH_32 : WIDTH_64;
  vinst->inst.space = MEM_GENERIC;
  vinst->inst.flags |= wide ? INST_ADDR64 : 0;
  vinst->inst.wide = (uint8_t)((wide ? WIDE_A : 0) | (puts ? 0 : WIDE_DST));
  give_result(lower, puts ? PTX_B32 : PTX_B64, result);
}

/* int __lock_acquire(unsigned *lock), void __lock_release(unsigned *lock), for machines with locks in tags. */
static void call_lock_acquire(Lower *lower, PtxWord pointer) {
  Value address = argument(lower, 0, pointer), old = lower_temp(lower, 1), result = lower_temp(lower, 1);
  lower_lock_try(lower, pointer, address, old);
  Pred taken = lower_compare(lower, CMP_EQ, TYPE_U32, old, lower_imm(lower, 0));
  lower_select(lower, result, lower_imm(lower, 1), lower_imm(lower, 0), taken, false);
  give_result(lower, PTX_B32, result);
}

static void call_lock_release(Lower *lower, PtxWord pointer) {
  lower_lock_release(lower, pointer, argument(lower, 0, pointer));
}

static void call_enqueue(Lower *lower, PtxWord pointer) { call_queue(lower, pointer, true); }
static void call_dequeue(Lower *lower, PtxWord pointer) { call_queue(lower, pointer, false); }

/* -- functions of machines that nobody has built -- */

enum { NO_BYTES = 0, POINTER_BYTES = 1 };

typedef struct MachineFunction {
  const char *name, *declaration;
  void (*call)(Lower *lower, PtxWord pointer);
  uint8_t result, argument[2]; /* bytes, or one of the above */
} MachineFunction;

static const MachineFunction machine_functions[] = {
    {"__syncblocks", "void __syncblocks()", call_syncblocks, NO_BYTES, {NO_BYTES}},
    {"__enqueue", "int __enqueue(void *queue, unsigned value)", call_enqueue, 4, {POINTER_BYTES, 4}},
    {"__dequeue", "unsigned long long __dequeue(void *queue)", call_dequeue, 8, {POINTER_BYTES}},
    {"__lock_acquire", "int __lock_acquire(unsigned *lock)", call_lock_acquire, 4, {POINTER_BYTES}},
    {"__lock_release", "void __lock_release(unsigned *lock)", call_lock_release, NO_BYTES, {POINTER_BYTES}},
};

/* `list` has values of so many bytes; NO_BYTES: none from there on. */
static bool has_sizes(const Lower *lower, const PtxOperand *list, const uint8_t *bytes, unsigned most) {
  unsigned count = 0;
  for (; count < most && bytes[count] != NO_BYTES; count++) {
    const PtxOperand *operand = count < list->count ? lower_part(lower, list, count) : NULL;
    unsigned wanted = bytes[count] == POINTER_BYTES ? lower->module->address_size / 8 : bytes[count];
    if (operand && operand->kind == PTX_OPERAND_VAR &&
        ptx_var_bytes(ptx_var(lower->module, operand->index)) != wanted)
      return false;
  }
  return list->count == count;
}

/* True if it is one of them, and has been lowered or told to be declared otherwise. */
static bool call_machine(Lower *lower, const char *name, PtxWord pointer) {
  for (unsigned i = 0; i < G_N_ELEMENTS(machine_functions); i++) {
    const MachineFunction *function = &machine_functions[i];
    if (strcmp(name, function->name) != 0)
      continue;
    if (has_sizes(lower, lower_operand(lower, 0), &function->result, 1) &&
        has_sizes(lower, lower_operand(lower, 2), function->argument, G_N_ELEMENTS(function->argument)))
      function->call(lower, pointer);
    else
      lower_error(lower, lower->inst->at, "`%s` is declared otherwise; expected `extern \"C\" __device__ %s;`", name,
                  function->declaration);
    return true;
  }
  return false;
}

static void call_extern(Lower *lower, const char *name) {
  PtxWord pointer = lower->module->address_size == 64 ? PTX_B64 : PTX_B32;
  unsigned arguments = lower_operand(lower, 2)->count;
  if (strcmp(name, "vprintf") == 0 && arguments == 2)
    call_vprintf(lower, pointer);
  else if (strcmp(name, "__assertfail") == 0 && arguments == 5)
    call_assertfail(lower, pointer);
  else if (strcmp(name, "malloc") == 0 && arguments == 1)
    call_malloc(lower, pointer, false);
  else if (strcmp(name, "__cuda_syscall_aligned_malloc") == 0 && arguments == 2)
    call_malloc(lower, pointer, true);
  else if (strcmp(name, "free") == 0 && arguments == 1)
    call_free(lower, pointer);
  else if (!call_machine(lower, name, pointer))
    call_undefined(lower, name);
}

/* -- inlined calls -- */

/* A formal parameter as an operand of its own function. */
static PtxOperand formal_operand(const PtxVar *var) {
  return (PtxOperand){.kind = PTX_OPERAND_REG, .index = var->base};
}

static bool names_variable(const Lower *lower, const PtxOperand *list, uint32_t var) {
  for (unsigned i = 0; i < list->count; i++) {
    const PtxOperand *operand = lower_part(lower, list, i);
    if (operand->kind == PTX_OPERAND_VAR && operand->index == var)
      return true;
  }
  return false;
}

static void alias(LowerFrame *frame, uint32_t formal, uint32_t actual) {
  if (!frame->aliases)
    frame->aliases = g_hash_table_new(NULL, NULL);
  g_hash_table_insert(frame->aliases, GSIZE_TO_POINTER((gsize)formal + 1), GUINT_TO_POINTER(actual + 1));
}

/* Copies a `.param` variable of the caller, word by word. */
static void copy_param(Lower *lower, LowerFrame *frame, uint32_t formal, uint32_t actual) {
  uint64_t bytes = MIN(ptx_var_bytes(ptx_var(lower->module, formal)), ptx_var_bytes(ptx_var(lower->module, actual)));
  lower->work += bytes / 4;
  for (uint32_t byte = 0; byte < bytes && lower->work <= LOWER_WORK_MAX; byte += 4)
    lower_param_store(lower, frame, formal, byte, PTX_B32, lower_param_value(lower, lower->frame, actual, byte, 4));
}

static void pass_argument(Lower *lower, LowerFrame *frame, uint32_t formal, const PtxOperand *actual) {
  const PtxVar *var = ptx_var(lower->module, formal);
  PtxWord type = (PtxWord)var->type;
  LowerFrame *caller = lower->frame;
  if (var->space == PTX_PARAM && actual->kind == PTX_OPERAND_VAR) {
    if (names_variable(lower, lower_operand(lower, 0), actual->index) ||
        lower_is_kernel_param(lower, caller, actual->index))
      copy_param(lower, frame, formal, actual->index);
    else
      alias(frame, formal, actual->index);
  } else if (var->space == PTX_PARAM) {
    lower_param_store(lower, frame, formal, 0, type, lower_value_of(lower, actual, type));
  } else if (type == PTX_PRED) {
    Pred value = lower_pred_of(lower, actual);
    PtxOperand operand = formal_operand(var);
    lower->frame = frame;
    VInst *vinst = lower_op0(lower, OP_PSETP);
    vinst->pdst = lower_pred_result(lower, &operand);
    lower_set_psrc(vinst, 0, value);
    lower->frame = caller;
  } else {
    Value value = actual->kind == PTX_OPERAND_VAR
                      ? lower_param_value(lower, caller, actual->index, 0, ptx_type_bytes(type))
                      : lower_value_of(lower, actual, type);
    PtxOperand operand = formal_operand(var);
    lower->frame = frame;
    lower_store_result(lower, &operand, type, value);
    lower->frame = caller;
  }
}

static void take_result(Lower *lower, LowerFrame *frame, uint32_t formal, const PtxOperand *actual) {
  const PtxVar *var = ptx_var(lower->module, formal);
  PtxWord type = (PtxWord)var->type;
  LowerFrame *caller = lower->frame;
  if (actual->kind == PTX_OPERAND_SINK || (var->space == PTX_PARAM && actual->kind == PTX_OPERAND_VAR))
    return;
  if (type == PTX_PRED) {
    PtxOperand operand = formal_operand(var);
    int32_t pdst = lower_pred_result(lower, actual);
    lower->frame = frame;
    Pred value = lower_pred_of(lower, &operand);
    lower->frame = caller;
    VInst *vinst = lower_op0(lower, OP_PSETP);
    vinst->pdst = pdst;
    lower_set_psrc(vinst, 0, value);
    return;
  }
  Value value;
  if (var->space == PTX_PARAM) {
    value = lower_param_value(lower, frame, formal, 0, ptx_type_bytes(type));
  } else {
    PtxOperand operand = formal_operand(var);
    lower->frame = frame;
    value = lower_value_of(lower, &operand, type);
    lower->frame = caller;
  }
  if (actual->kind == PTX_OPERAND_VAR)
    lower_param_store(lower, caller, actual->index, 0, type, value);
  else
    lower_store_result(lower, actual, type, value);
}

/* Parameters are kinds of operand that a call can take, and as wide as the function's. */
static bool check_list(Lower *lower, const PtxOperand *list, const PtxFunction *callee, uint32_t first,
                       bool written) {
  for (unsigned i = 0; i < list->count; i++) {
    const PtxOperand *actual = lower_part(lower, list, i);
    const PtxVar *formal = ptx_var(lower->module, callee->first_var + first + i);
    bool is_var = actual->kind == PTX_OPERAND_VAR, is_sink = actual->kind == PTX_OPERAND_SINK && written;
    PtxWord have = PTX_NONE;
    if (is_var && (ptx_var(lower->module, actual->index)->space != PTX_PARAM || actual->offset))
      return lower_error(lower, actual->at, "a call takes registers, numbers and `.param` variables");
    if (actual->kind == PTX_OPERAND_REG)
      lower_operand_register(lower, actual, 0, &have);
    else if (!is_var && !is_sink && (written || actual->kind > PTX_OPERAND_F64))
      return lower_error(lower, actual->at, "a call takes registers, numbers and `.param` variables");
    uint64_t bytes = is_var ? ptx_var_bytes(ptx_var(lower->module, actual->index)) : ptx_type_bytes(have);
    bool mixes = (have == PTX_PRED) != (formal->type == PTX_PRED) && have;
    if (mixes || formal->vec || ((is_var || have) && bytes != ptx_var_bytes(formal)) || (!is_var && formal->array) ||
        (is_var && formal->type == PTX_PRED))
      return lower_error(lower, actual->at, "this isn't what the function takes: `.%s`%s of %u bytes",
                         ptx_word_text((PtxWord)formal->type), formal->vec || formal->array ? "s" : "",
                         (unsigned)ptx_var_bytes(formal));
  }
  return true;
}

static bool check_lists(Lower *lower, const PtxFunction *callee) {
  const PtxOperand *results = lower_operand(lower, 0), *arguments = lower_operand(lower, 2);
  if (results->count != callee->nrets || arguments->count != callee->nparams)
    return lower_error(lower, lower->inst->at, "the function has %u results and %u parameters, found %u and %u",
                       callee->nrets, callee->nparams, results->count, arguments->count);
  return check_list(lower, results, callee, 0, true) && check_list(lower, arguments, callee, callee->nrets, false);
}

static void call_inlined(Lower *lower, uint32_t index) {
  const PtxFunction *callee = ptx_function(lower->module, index);
  const PtxOperand *results = lower_operand(lower, 0), *arguments = lower_operand(lower, 2);
  const PtxInst *call = lower->inst;
  LowerFrame *caller = lower->frame, *frame = lower_frame_new(callee, caller);
  uint32_t local_top = lower->local_top;
  frame->local_base = local_top;
  lower->local_top += lower->functions[index].local_bytes;
  lower->kernel->local_bytes = MAX(lower->kernel->local_bytes, lower->local_top);
  if (lower->local_top > WINDOW_BYTES)
    lower_error(lower, call->at, "local memory of more than %u bytes isn't supported", WINDOW_BYTES);
  for (unsigned i = 0; i < results->count; i++) {
    const PtxOperand *actual = lower_part(lower, results, i);
    if (actual->kind == PTX_OPERAND_VAR && ptx_var(lower->module, callee->first_var + i)->space == PTX_PARAM)
      alias(frame, callee->first_var + i, actual->index);
  }
  for (unsigned i = 0; i < arguments->count; i++)
    pass_argument(lower, frame, callee->first_var + callee->nrets + i, lower_part(lower, arguments, i));
  lower->frame = frame;
  lower_body(lower);
  lower->frame = caller;
  lower->inst = call;
  lower->guard = PRED_ALWAYS;
  lower_set_place(lower);
  for (unsigned i = 0; i < results->count; i++)
    take_result(lower, frame, callee->first_var + i, lower_part(lower, results, i));
  lower->local_top = local_top;
  lower_frame_free(frame);
}

void lower_CALL(Lower *lower, const PtxInst *inst) {
  const char *name;
  uint32_t callee = lower_callee(lower, inst, &name);
  if (callee == PTX_NO_INDEX && !name)
    return; /* there is an error already */
  int32_t skip = lower_begin_skip(lower);
  if (callee == PTX_NO_INDEX)
    call_extern(lower, name);
  else if (check_lists(lower, ptx_function(lower->module, callee)))
    call_inlined(lower, callee);
  lower_end_skip(lower, skip);
}
