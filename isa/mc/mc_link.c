#include "isa/mc/mc_link.h"

#include <string.h>

typedef struct Linker {
  McModule *module;
  unsigned sm;
  GHashTable *functions; /* interned name -> 1 + index in McModule.kernels, of this architecture */
  GHashTable *taken;     /* the same of those whose address the module takes */
  uint32_t end;          /* above all code that has an address */
} Linker;

static McKernel *kernel_at(const Linker *linker, guint index) {
  return &g_array_index(linker->module->kernels, McKernel, index);
}

static McInst *inst_at(const Linker *linker, const McKernel *kernel, guint index) {
  return &g_array_index(linker->module->insts, McInst, kernel->first_inst + index);
}

static McOperand *operand_at(const Linker *linker, const McInst *inst, guint index) {
  return &g_array_index(linker->module->operands, McOperand, inst->first_operand + index);
}

static bool is_call(const McInst *inst) { return strcmp(inst->root, "CALL") == 0; }

/* A function's address is that of its first instruction. */
static const McKernel *find_function(const Linker *linker, const char *name) {
  guint index = GPOINTER_TO_UINT(g_hash_table_lookup(linker->functions, name));
  return index ? kernel_at(linker, index - 1) : NULL;
}

static uint32_t address_of(const Linker *linker, const McKernel *function) {
  return inst_at(linker, function, 0)->address;
}

/* ---- addresses ---- */

/* RET.ABS and CALL.ABS have no place of their own: they go where a register says. */
static bool is_place(const McInst *inst, const McOperand *operand) {
  return operand->kind == MC_TARGET && !mc_has_modifier(inst, "ABS");
}

static void move_code(Linker *linker, McKernel *function) {
  for (guint i = 0; i < function->insts; i++) {
    McInst *inst = inst_at(linker, function, i);
    inst->address += linker->end;
    for (guint o = 0; o < inst->operands; o++)
      if (is_place(inst, operand_at(linker, inst, o)))
        operand_at(linker, inst, o)->value += linker->end;
  }
  for (guint i = 0; function->targets && i < function->targets->len; i++)
    g_array_index(function->targets, uint32_t, i) += linker->end;
  linker->end += function->insts * MC_INST_BYTES;
}

static void place_functions(Linker *linker) {
  const GArray *kernels = linker->module->kernels;
  for (guint i = 0; i < kernels->len; i++) {
    const McKernel *kernel = kernel_at(linker, i);
    if (kernel->sm == linker->sm && kernel->entry)
      linker->end = MAX(linker->end, kernel->insts * MC_INST_BYTES);
  }
  for (guint i = 0; i < kernels->len; i++) {
    McKernel *kernel = kernel_at(linker, i);
    if (kernel->sm != linker->sm || kernel->entry || !kernel->insts)
      continue;
    g_hash_table_insert(linker->functions, (gpointer)kernel->name, GUINT_TO_POINTER(i + 1));
    move_code(linker, kernel);
  }
}

/* ---- names of functions ---- */

/* A call's target keeps its name, which says what the kernel needs. */
static void resolve_operands(Linker *linker, const McKernel *kernel) {
  for (guint i = 0; i < kernel->insts; i++) {
    const McInst *inst = inst_at(linker, kernel, i);
    for (guint o = 0; o < inst->operands && !is_call(inst); o++) {
      McOperand *operand = operand_at(linker, inst, o);
      const McKernel *function = operand->kind == MC_SYMBOL ? find_function(linker, operand->text) : NULL;
      if (!function)
        continue;
      g_hash_table_add(linker->taken, (gpointer)function->name);
      operand->kind = MC_INTEGER;
      operand->value = operand->part == MC_SYMBOL_HIGH32 ? 0 : address_of(linker, function);
    }
  }
}

static void put_word(McData *data, const McReloc *reloc, uint64_t value) {
  for (guint i = 0; i < reloc->bytes && reloc->offset + i < data->bytes; i++)
    data->data[reloc->offset + i] = (uint8_t)(value >> 8 * i);
}

static void resolve_data(Linker *linker, McData *data) {
  for (guint i = data->relocs ? data->relocs->len : 0; i-- > 0;) {
    const McReloc *reloc = &g_array_index(data->relocs, McReloc, i);
    const McKernel *function = find_function(linker, reloc->symbol);
    if (!function || !data->data)
      continue;
    uint64_t value = reloc->part == MC_SYMBOL_HIGH32 ? 0 : address_of(linker, function) + (uint64_t)reloc->addend;
    put_word(data, reloc, value);
    g_hash_table_add(linker->taken, (gpointer)function->name);
    g_array_remove_index(data->relocs, i);
  }
}

/* ---- what a kernel needs ---- */

enum { NO_COPY = -1, COPIED_INSTS_MAX = 1 << 15, RETURN_WITHIN = 32 };

typedef struct Place {
  uint32_t file, line, inlined; /* as in an McInst */
} Place;

/* The code of a function, or of the kernel itself, in a kernel. */
typedef struct Copy {
  const McKernel *function;
  uint32_t address; /* of its first instruction */
  uint32_t back;    /* where a copy for one call returns to; 0: one for all calls, to where its register says */
  int caller;       /* the copy that has this call, or NO_COPY */
  Place place;      /* of the call */
  GArray *calls;    /* int: for each of its calls by name the copy that is called, or NO_COPY */
} Copy;

typedef struct Build {
  const Linker *linker;
  McKernel *kernel;
  GArray *copies;     /* Copy; the first one is the kernel itself */
  GHashTable *shared; /* names of functions -> 1 + index of the copy for all calls */
  GHashTable *frames; /* McFrame -> 1 + index in McModule.frames */
  uint32_t end;       /* above all addresses of this kernel */
  uint32_t copied;    /* instructions of copies for one call */
} Build;

static Copy *copy_at(const Build *build, guint index) { return &g_array_index(build->copies, Copy, index); }

static int add_copy(Build *build, const McKernel *function, uint32_t address, uint32_t back, int caller) {
  Copy copy = {.function = function,
               .address = address,
               .back = back,
               .caller = caller,
               .calls = g_array_new(FALSE, FALSE, sizeof(int))};
  g_array_append_val(build->copies, copy);
  return (int)build->copies->len - 1;
}

/* The one that pointers lead to, too, or NO_COPY if there is no such function. */
static int shared_copy(Build *build, const char *name) {
  const McKernel *function = find_function(build->linker, name);
  int known = GPOINTER_TO_INT(g_hash_table_lookup(build->shared, name));
  if (!function || known)
    return known - 1;
  int copy = add_copy(build, function, address_of(build->linker, function), 0, NO_COPY);
  g_hash_table_insert(build->shared, (gpointer)name, GINT_TO_POINTER(copy + 1));
  return copy;
}

static bool calls_itself(const Build *build, const McKernel *function) {
  for (guint i = 0; i < function->insts; i++) {
    const McInst *inst = inst_at(build->linker, function, i);
    const McOperand *target = is_call(inst) && inst->operands ? operand_at(build->linker, inst, 0) : NULL;
    if (target && target->kind == MC_TARGET && target->value == address_of(build->linker, function))
      return true;
  }
  return false;
}

static bool is_under_way(const Build *build, int copy, const McKernel *function) {
  for (; copy != NO_COPY; copy = copy_at(build, (guint)copy)->caller)
    if (copy_at(build, (guint)copy)->function == function)
      return true;
  return false;
}

/* The place behind the call is put into a register not far above it: that is where the function returns to. */
static bool returns_behind(const Build *build, const McKernel *function, guint call) {
  uint32_t behind = inst_at(build->linker, function, call)->address + MC_INST_BYTES;
  for (guint i = call; i-- > 0 && call - i < RETURN_WITHIN;) {
    const McInst *inst = inst_at(build->linker, function, i);
    const McOperand *value = inst->operands > 1 ? operand_at(build->linker, inst, inst->operands - 1) : NULL;
    if (value && value->kind == MC_TARGET && value->value == behind &&
        operand_at(build->linker, inst, 0)->kind == MC_REGISTER)
      return true;
  }
  return false;
}

/* Each call has a copy of its own, as if the compiler had put the code there; recursion hasn't. */
static int called_copy(Build *build, guint caller, guint call, const char *name) {
  const McKernel *function = find_function(build->linker, name), *from = copy_at(build, caller)->function;
  if (!function)
    return NO_COPY;
  if (is_under_way(build, (int)caller, function) || calls_itself(build, function) ||
      !returns_behind(build, from, call) || build->copied + function->insts > COPIED_INSTS_MAX)
    return shared_copy(build, name);
  uint32_t back = copy_at(build, caller)->address + (call + 1) * MC_INST_BYTES, address = build->end;
  build->copied += function->insts;
  build->end += function->insts * MC_INST_BYTES;
  return add_copy(build, function, address, back, (int)caller);
}

/* Adds the copies that those of the copy call. */
static void follow_calls(Build *build, guint index) {
  const Linker *linker = build->linker;
  const McKernel *function = copy_at(build, index)->function;
  for (guint i = 0; i < function->insts; i++) {
    const McInst *inst = inst_at(linker, function, i);
    const McOperand *target = is_call(inst) && inst->operands ? operand_at(linker, inst, 0) : NULL;
    if (target && target->kind == MC_SYMBOL) {
      int called = called_copy(build, index, i, target->text);
      g_array_append_val(copy_at(build, index)->calls, called);
    }
    if (!target || target->kind != MC_REGISTER || !mc_has_modifier(inst, "ABS"))
      continue;
    GHashTableIter all;
    gpointer name;
    g_hash_table_iter_init(&all, linker->taken);
    while (g_hash_table_iter_next(&all, &name, NULL))
      shared_copy(build, name);
  }
}

/* ---- places in the source ---- */

static guint hash_frame(gconstpointer key) {
  const McFrame *frame = key;
  return frame->file * 31 + frame->line * 7919 + frame->parent * 104729;
}

static gboolean same_frame(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(McFrame)) == 0; }

static uint32_t find_frame(Build *build, McFrame frame) {
  GArray *frames = build->linker->module->frames;
  gpointer known = g_hash_table_lookup(build->frames, &frame);
  if (known)
    return GPOINTER_TO_UINT(known);
  g_array_append_val(frames, frame);
  g_hash_table_insert(build->frames, g_memdup2(&frame, sizeof frame), GUINT_TO_POINTER(frames->len));
  return frames->len;
}

/* The frames from `inlined` on, with the call outside of the outermost. */
static uint32_t frames_within(Build *build, uint32_t inlined, const Place *call) {
  if (!inlined)
    return find_frame(build, (McFrame){.file = call->file, .line = call->line, .parent = call->inlined});
  McFrame frame = g_array_index(build->linker->module->frames, McFrame, inlined - 1);
  frame.parent = frames_within(build, frame.parent, call);
  return find_frame(build, frame);
}

/* What has no line (of the compiler's own functions) has the call's. */
static void set_place(Build *build, McInst *inst, const Copy *copy) {
  const Place *call = &copy->place;
  if (copy->caller == NO_COPY || !call->file)
    return;
  if (inst->source_file) {
    inst->inlined = frames_within(build, inst->inlined, call);
    return;
  }
  inst->source_file = call->file;
  inst->source_line = call->line;
  inst->inlined = call->inlined;
}

/* ---- one kernel with its functions ---- */

/* To the next of the copy's calls. */
static void direct_call(Build *build, const Copy *copy, guint number, const McInst *inst, McOperand *target) {
  int called = g_array_index(copy->calls, int, number);
  if (called == NO_COPY)
    return;
  target->kind = MC_TARGET;
  target->value = copy_at(build, (guint)called)->address;
  copy_at(build, (guint)called)->place = (Place){inst->source_file, inst->source_line, inst->inlined};
}

static void move_operands(Build *build, const Copy *copy, McInst *inst, uint32_t by, guint *calls) {
  GArray *operands = build->linker->module->operands;
  guint from = inst->first_operand, first = operands->len;
  g_array_set_size(operands, first + inst->operands);
  memcpy(&g_array_index(operands, McOperand, first), &g_array_index(operands, McOperand, from),
         inst->operands * sizeof(McOperand));
  inst->first_operand = first;
  McOperand *operand = &g_array_index(operands, McOperand, first);
  for (guint o = 0; o < inst->operands; o++)
    if (is_place(inst, &operand[o]))
      operand[o].value += by;
  if (is_call(inst) && inst->operands && operand->kind == MC_SYMBOL) {
    direct_call(build, copy, *calls, inst, operand);
    ++*calls;
  }
  if (copy->back && strcmp(inst->root, "RET") == 0 && mc_has_modifier(inst, "ABS")) {
    *operand = (McOperand){.kind = MC_TARGET, .scale = 1, .base = MC_NO_REGISTER, .value = copy->back};
    inst->operands = 1;
  }
}

static bool has_table_branch(const Linker *linker, const McKernel *kernel) {
  for (guint i = 0; i < kernel->insts; i++)
    if (g_str_has_prefix(inst_at(linker, kernel, i)->root, "BRX"))
      return true;
  return false;
}

/* Where the places of one table aren't known, those of none are. */
static void add_targets(const Build *build, const Copy *copy, uint32_t by, GArray *targets, bool *known) {
  if (!has_table_branch(build->linker, copy->function))
    return;
  *known = *known && copy->function->targets;
  for (guint i = 0; *known && i < copy->function->targets->len; i++) {
    uint32_t target = g_array_index(copy->function->targets, uint32_t, i) + by;
    g_array_append_val(targets, target);
  }
}

static void append_copy(Build *build, guint index) {
  const McKernel *function = copy_at(build, index)->function;
  GArray *insts = build->linker->module->insts;
  guint calls = 0;
  for (guint i = 0; i < function->insts; i++) {
    McInst inst = *inst_at(build->linker, function, i);
    const Copy *copy = copy_at(build, index);
    uint32_t by = copy->address + i * MC_INST_BYTES - inst.address;
    set_place(build, &inst, copy);
    inst.address += by;
    move_operands(build, copy, &inst, by, &calls);
    g_array_append_val(insts, inst);
  }
}

static gint by_address(gconstpointer a, gconstpointer b, gpointer user) {
  const Build *build = user;
  uint32_t left = copy_at(build, *(const guint *)a)->address, right = copy_at(build, *(const guint *)b)->address;
  return (left > right) - (left < right);
}

/* In order of their addresses. A copy for one call stands behind the one that calls it. */
static void append_copies(Build *build) {
  McKernel *kernel = build->kernel, whole = *kernel;
  g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(guint));
  GArray *targets = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
         *starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  bool known = true;
  for (guint i = 0; i < build->copies->len; i++)
    g_array_append_val(order, i);
  g_array_sort_with_data(order, by_address, build);
  whole.first_inst = build->linker->module->insts->len;
  for (guint i = 0; i < order->len; i++) {
    guint index = g_array_index(order, guint, i);
    const Copy *copy = copy_at(build, index);
    if (i > 0)
      g_array_append_val(starts, copy->address);
    add_targets(build, copy, copy->address - inst_at(build->linker, copy->function, 0)->address, targets, &known);
    append_copy(build, index);
    /* ptxas and nvlink count the stack of calls, but not always registers and barriers. */
    if (whole.registers >= 0)
      whole.registers = MAX(whole.registers, copy_at(build, index)->function->registers);
    if (whole.barriers >= 0)
      whole.barriers = MAX(whole.barriers, copy_at(build, index)->function->barriers);
  }
  whole.insts = build->linker->module->insts->len - whole.first_inst;
  g_clear_pointer(&whole.targets, g_array_unref);
  whole.targets = known && targets->len ? g_array_ref(targets) : NULL;
  whole.starts = starts;
  g_array_unref(targets);
  *kernel = whole;
}

static void copy_clear(gpointer copy) { g_array_unref(((Copy *)copy)->calls); }

static void link_kernel(const Linker *linker, McKernel *kernel) {
  Build build = {.linker = linker,
                 .kernel = kernel,
                 .copies = g_array_new(FALSE, FALSE, sizeof(Copy)),
                 .shared = g_hash_table_new(g_str_hash, g_str_equal),
                 .frames = g_hash_table_new_full(hash_frame, same_frame, g_free, NULL),
                 .end = linker->end};
  g_array_set_clear_func(build.copies, copy_clear);
  add_copy(&build, kernel, 0, 0, NO_COPY);
  for (guint i = 0; i < build.copies->len; i++)
    follow_calls(&build, i);
  if (build.copies->len > 1)
    append_copies(&build);
  g_array_unref(build.copies);
  g_hash_table_unref(build.shared);
  g_hash_table_unref(build.frames);
}

/* ---- all ---- */

static void link_architecture(McModule *module, unsigned sm) {
  Linker linker = {.module = module,
                   .sm = sm,
                   .functions = g_hash_table_new(g_str_hash, g_str_equal),
                   .taken = g_hash_table_new(g_str_hash, g_str_equal)};
  place_functions(&linker);
  for (guint i = 0; i < module->kernels->len; i++)
    if (kernel_at(&linker, i)->sm == sm)
      resolve_operands(&linker, kernel_at(&linker, i));
  for (guint i = 0; i < module->data->len; i++)
    resolve_data(&linker, &g_array_index(module->data, McData, i));
  for (guint i = 0; i < module->kernels->len; i++)
    if (kernel_at(&linker, i)->sm == sm && kernel_at(&linker, i)->entry)
      link_kernel(&linker, kernel_at(&linker, i));
  g_hash_table_unref(linker.functions);
  g_hash_table_unref(linker.taken);
}

/* Only what comes from nvdisasm or a cubin names functions, and is of one architecture. */
void mc_link(McModule *module) {
  bool functions = false;
  for (guint i = 0; i < module->kernels->len; i++)
    functions |= !mc_kernel(module, i)->entry && mc_kernel(module, i)->insts;
  if (functions && module->has_data)
    link_architecture(module, mc_kernel(module, 0)->sm);
}
