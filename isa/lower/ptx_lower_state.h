/* ptx_lower_state.h - what the files isa/lower/ptx_lower*.c share. Private to them.
 *
 * ptx_lower.c makes the kernels one after the other; a scan (ptx_lower_scan.c) first finds what each function names
 * and calls. Each instruction of PTX has a function lower_<OP>(), found by its number, that appends VInsts.
 * A register of 8 or 16 bits holds its value zero-extended, whatever its type; lower_value() extends it as an
 * instruction needs it.
 * A sequence writes the instruction's result in its last VInst only: source and destination may be the same
 * register. */
#ifndef LOCKSTEP_ISA_LOWER_PTX_LOWER_STATE_H
#define LOCKSTEP_ISA_LOWER_PTX_LOWER_STATE_H

#include "isa/flow/virtual.h"
#include "isa/lower/ptx_target.h"
#include "isa/ptx/ptx_tree.h"

enum {
  LOWER_INSTS_MAX = 1000000, /* of a kernel, calls inlined */
  LOWER_WORK_MAX = 8000000,  /* instructions and labels looked at, all kernels together */
  LOWER_DEPTH_MAX = 256,     /* of calls */
  LOWER_CONSTS_MAX = 32767,
  LOWER_PARAM_BYTES_MAX = 32764, /* PTX ISA, sm_70 and newer */
  LOWER_RESERVED_BYTES = 1024,   /* of shared memory: what a kernel sees that names %reserved_smem_offset_* */
  LOWER_RESERVED_1 =
      512, /* where %reserved_smem_offset_1 stands in it; cooperative groups use 288 bytes from there */
};

/* An operand of a VInst. 64-bit constants are two rows. */
typedef struct Value {
  int32_t index; /* virtual register; < 0: row ~index of the constants; VREG_SINK */
  uint8_t row;
} Value;

typedef struct Pred {
  int32_t index;
  bool negated;
} Pred;

/* Where a result goes: `value` is what a VInst writes; lower_finish() does the rest. */
typedef struct Result {
  Value value, reg;
  uint8_t type, reg_bytes;
} Result;

/* One function, as it was inlined at one place. */
typedef struct LowerFrame {
  const PtxFunction *function;
  struct LowerFrame *caller;
  GHashTable *registers; /* PTX register + 1 -> virtual register, type */
  GHashTable *words;     /* variable and word of a `.param` -> virtual register, row */
  GHashTable *aliases;   /* a formal `.param` + 1 -> the caller's variable that it is, + 1 */
  int32_t *label_pc;
  GArray *fixups;      /* LowerFixup */
  uint32_t local_base; /* byte in the lane's local memory */
} LowerFrame;

typedef struct LowerFixup {
  uint32_t pc, label; /* PTX_NO_INDEX: the end of the function */
} LowerFixup;

/* What the scan found out about a function. */
typedef struct LowerFunction {
  enum { SCAN_NEW, SCAN_OPEN, SCAN_DONE } state;
  GArray *callees; /* uint32_t: those that are called by name or have one candidate */
  GArray *vars;    /* uint32_t: `.shared`, `.global`, `.const` variables that it names */
  uint32_t local_bytes;
  bool names_reserved; /* %reserved_smem_offset_* */
  uint32_t height;     /* how deep calls are nested in it */
  Diag *errors;        /* of the function itself: a kernel that reaches it is refused; NULL before the scan */
  uint32_t caller;     /* while it is SCAN_OPEN: who called it there; itself: nobody */
  uint32_t kernel;     /* the kernel that reached it last, + 1 */
} LowerFunction;

/* Where a `.loc` leads. */
typedef struct LowerPlace {
  uint32_t line, column, inlined, frame;
  uint16_t file;
} LowerPlace;

typedef struct Lower {
  const PtxModule *module;
  const PtxTarget *target;
  Diag *diag; /* of the module, or of the function or kernel that is looked at */
  Program *program;
  bool failed;              /* the module, or the kernel */
  GHashTable *reported;     /* places that have an error already: a function is lowered at each call */
  LowerFunction *functions; /* of each function of the module */
  uint32_t *var_byte; /* of each variable: `.shared` of the block, `.local` of the frame, `.param` of the kernel */
  uint32_t *symbol;   /* of each variable: its number in the program + 1 */
  LowerPlace *places; /* of each loc */
  GHashTable *candidates; /* functions whose address is taken; NULL: not yet known */
  uint64_t work;

  /* the kernel */
  VKernel *vkernel;
  Kernel *kernel;
  GArray *consts, *marks, *labels;
  GHashTable *const_rows;
  GByteArray *temporary, *temporary_preds; /* of each virtual register, predicate: written by one expansion only */
  uint32_t local_top;
  uint32_t reserved_byte; /* where the reserved shared memory begins */
  Value
      rank_base; /* of a kernel whose clusters may have several blocks (Kernel.ranked): the address where the block's
                    * shared memory begins */

  /* the instruction */
  LowerFrame *frame;
  const PtxInst *inst;
  bool rolled; /* the next VInst stands behind `.pragma "nounroll"` */
  Inst place;
  Pred guard;
} Lower;

typedef void LowerFunctionOf(Lower *lower, const PtxInst *inst);
#define OP(id, mnemonic, doc) LowerFunctionOf lower_##id;
#define FORM(modifiers, operands)
#include "isa/ptx/ptx_ops.def"
#undef OP
#undef FORM

/* -- ptx_lower.c -- */

/* An error at a byte of the text, once. Returns false. */
bool lower_error(Lower *lower, uint32_t at, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* "... isn't supported" at the instruction. */
void lower_unsupported(Lower *lower, const char *what);
/* True if the machine is new enough; otherwise an error that says from which capability on there is `what`. */
bool lower_needs(Lower *lower, unsigned capability, const char *what);
/* The instructions of lower->frame. */
void lower_body(Lower *lower);
LowerFrame *lower_frame_new(const PtxFunction *function, LowerFrame *caller);
void lower_frame_free(LowerFrame *frame);

/* -- ptx_lower_scan.c -- */

/* Looks at a function and all that it calls; what is wrong with each is kept in LowerFunction.errors. */
void lower_scan(Lower *lower, uint32_t function);
/* The function that a call calls, with a body; PTX_NO_INDEX after an error or for an extern one (`*name`). */
uint32_t lower_callee(Lower *lower, const PtxInst *call, const char **name);

/* -- ptx_lower_var.c -- */

/* Program.variables. */
void lower_variables(Lower *lower);
/* Places the `.shared` variables that the kernel reaches, and its parameters. What is wrong with a function that it
 * reaches, the scan's errors, are the kernel's. */
void lower_lay_out(Lower *lower, uint32_t kernel);
/* The parameters of lower->kernel alone. */
void lower_params(Lower *lower, const PtxFunction *function);
/* The address of a variable in its own space (32 bits; the upper ones are 0). */
Value lower_address(Lower *lower, const PtxOperand *operand, bool wide, uint32_t window);

/* -- ptx_lower_line.c -- */

/* The places of all locs, and Program.sources and frames. */
void lower_lines(Lower *lower);
/* lower->place, of lower->inst. */
void lower_set_place(Lower *lower);

/* -- ptx_lower_value.c: registers, constants, operands -- */

Value lower_temp(Lower *lower, uint8_t rows);
Pred lower_temp_pred(Lower *lower);
Value lower_imm(Lower *lower, uint32_t bits);
Value lower_imm64(Lower *lower, uint64_t bits);
/* A row of the constants; two rows one behind the other. */
Value lower_const(Lower *lower, ConstRef ref);
Value lower_const_pair(Lower *lower, ConstRef low, ConstRef high);
/* The same value from its next row on. */
Value lower_row(Value value, unsigned row);
/* A register, and its type; *lanes: 2 or 4 of a vector. */
Value lower_register(Lower *lower, LowerFrame *frame, uint32_t number, PtxWord *type);
/* Component `lane` of an operand that is a register. */
Value lower_operand_register(Lower *lower, const PtxOperand *operand, unsigned lane, PtxWord *type);

static inline const PtxOperand *lower_operand(const Lower *lower, unsigned i) {
  return ptx_operand(lower->module, lower->inst->operands + i);
}
static inline const PtxOperand *lower_part(const Lower *lower, const PtxOperand *whole, unsigned i) {
  return ptx_operand(lower->module, whole->index + i);
}

/* What an operand holds as that type: 8 and 16 bits extended as the type says, 64 bits in two rows. */
Value lower_value_of(Lower *lower, const PtxOperand *operand, PtxWord type);
Value lower_value(Lower *lower, unsigned i, PtxWord type);
/* As lower_value_of(), but with any bits above the type's. */
Value lower_low_bits(Lower *lower, const PtxOperand *operand, PtxWord type);
/* How many components `.v2` or `.v4` has, or 1; one of them, of `{...}` or of a vector register. */
unsigned lower_lanes(const PtxInst *inst);
PtxOperand lower_lane(const Lower *lower, const PtxOperand *operand, unsigned lane);
Pred lower_pred_of(Lower *lower, const PtxOperand *operand);
Pred lower_pred(Lower *lower, unsigned i);
/* The predicate that an operand writes; VPRED_SINK for `_`. */
int32_t lower_pred_result(Lower *lower, const PtxOperand *operand);
Result lower_result_of(Lower *lower, const PtxOperand *operand, PtxWord type);
Result lower_result(Lower *lower, unsigned i, PtxWord type);
void lower_finish(Lower *lower, const Result *result);
/* Instead of it, for a type of 8 or 16 bits: the result stands in a row from that bit on. */
void lower_extract(Lower *lower, const Result *result, Value row, unsigned bit);
/* Puts the value of a type that stands in `word` from that byte on into a register of the instruction; in it and the
 * next if it has 64 bits. */
void lower_take(Lower *lower, const PtxOperand *operand, PtxWord type, Value word, unsigned byte);
/* Puts a value of a type into a register of the instruction. */
void lower_store_result(Lower *lower, const PtxOperand *operand, PtxWord type, Value value);
/* The low `bits` of a row, extended. */
Value lower_extend(Lower *lower, Value value, unsigned bits, bool is_signed);

/* -- VInsts; `wide` is set as the opcode says. What they return is valid until the next one -- */

VInst *lower_op0(Lower *lower, Opcode op);
/* __threadfence(). */
void lower_fence_of_gpu(Lower *lower);
/* An access to the lock at that address of global memory, one of the machine's (sim/core/locks.h): tries to take it,
 * `old` is 0 if that succeeds; frees it. */
void lower_lock_try(Lower *lower, PtxWord pointer, Value address, Value old);
void lower_lock_release(Lower *lower, PtxWord pointer, Value address);
VInst *lower_op1(Lower *lower, Opcode op, Value dst, Value a);
VInst *lower_op2(Lower *lower, Opcode op, Value dst, Value a, Value b);
VInst *lower_op3(Lower *lower, Opcode op, Value dst, Value a, Value b, Value c);
void lower_set_psrc(VInst *vinst, unsigned i, Pred pred);
/* Into a new temporary. */
Value lower_to_temp(Lower *lower, Opcode op, DataType type, Value a, Value b);
void lower_move(Lower *lower, Value dst, Value src, bool wide);
/* A value of that type, of up to four rows. */
void lower_move_as(Lower *lower, PtxWord type, Value dst, Value src);
void lower_logic(Lower *lower, LogicOp lop, Value dst, Value a, Value b);
/* d = p ? a : b */
void lower_select(Lower *lower, Value dst, Value a, Value b, Pred pred, bool wide);
/* A predicate of a comparison of 32- or 64-bit integers. */
Pred lower_compare(Lower *lower, CmpOp cmp, DataType type, Value a, Value b);
/* A branch around what follows, taken where the instruction's guard is false, if it has one: the place for
 * lower_end_skip(), or NO_TARGET. What stands between has no guard. */
int32_t lower_begin_skip(Lower *lower);
void lower_end_skip(Lower *lower, int32_t skip);

static const Value VALUE_SINK = {VREG_SINK, 0};
static const Pred PRED_ALWAYS = {VPRED_TRUE, false};

static inline bool lower_is_wide(PtxWord type) { return ptx_type_bytes(type) == 8; }
static inline bool lower_is_signed(PtxWord type) { return ptx_type_kind(type) == PTX_KIND_SIGNED; }
static inline bool lower_is_half(PtxWord type) {
  return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}
/* S32 or U32, S64 or U64: how the value of an integer type is taken once it is extended. */
DataType lower_int_type(PtxWord type);
/* The DataType of a PTX type; bits count as unsigned. */
DataType lower_data_type(PtxWord type);

/* -- ptx_lower_float.c: the forms of instructions that integers have, too -- */

void lower_float_add(Lower *lower, bool subtract);
void lower_float_multiply(Lower *lower);
void lower_float_fma(Lower *lower);
void lower_float_divide(Lower *lower);
/* abs (AND) and neg (XOR) */
void lower_float_sign(Lower *lower, LogicOp lop);
void lower_float_minmax(Lower *lower, bool minimum);

FloatRound lower_round(const PtxInst *inst);
/* Zero to one, NaN becomes zero (f64, `dst` may be `value`). */
void lower_saturate64(Lower *lower, Value dst, Value value);

/* -- ptx_lower_half.c: the same of f16, bf16 and pairs of them -- */

/* HADD2 or HMUL2 */
void lower_half_binary(Lower *lower, Opcode op, bool subtract);
void lower_half_fma(Lower *lower);
void lower_half_sign(Lower *lower, bool negate);
void lower_half_minmax(Lower *lower, bool minimum);
void lower_half_setp(Lower *lower, int32_t pdst, int32_t pdst2);
void lower_half_set(Lower *lower);
void lower_half_pack(Lower *lower);

/* -- ptx_lower_convert.c -- */

/* What a comparison itself needs: operands 1 and 2, and the predicate 3 if there is a boolop. */
VInst *lower_comparison(Lower *lower, Opcode op, Value dst, PtxWord type);

/* -- ptx_lower_mem.c -- */

/* Where an access goes: `base`, one row or (`wide`) two, and so many bytes. */
typedef struct LowerAddress {
  Value base;
  int32_t offset;
  uint8_t space; /* PTX_GLOBAL, SHARED, LOCAL, CONST, PARAM, or 0: generic */
  bool wide;
} LowerAddress;

/* `space`: the PtxWord that the instruction says, or 0; a variable says itself where it lies. */
LowerAddress lower_address_in(Lower *lower, const PtxOperand *operand, uint8_t space);
/* Operand a, space, width, and order, scope and cache as the instruction says. */
void lower_set_memory(Lower *lower, VInst *vinst, const LowerAddress *address, MemWidth width);

/* -- ptx_lower_async.c, ptx_lower_bulk.c -- */

/* So many bytes are complete at the mbarrier that operand `where` names. */
void lower_complete_bytes(Lower *lower, unsigned where, uint32_t bytes);
/* cp.async.bulk */
void lower_bulk(Lower *lower);

/* -- ptx_lower_param.c: parameters of kernels and around calls -- */

/* True if the variable is a parameter of the kernel itself. */
bool lower_is_kernel_param(const Lower *lower, const LowerFrame *frame, uint32_t var);
/* `bytes` (4 or 8) of a parameter from that byte on. */
Value lower_param_value(Lower *lower, LowerFrame *frame, uint32_t var, uint32_t byte, unsigned bytes);
void lower_param_store(Lower *lower, LowerFrame *frame, uint32_t var, uint32_t byte, PtxWord type, Value value);
void lower_param_load(Lower *lower);
void lower_param_write(Lower *lower);

#endif
