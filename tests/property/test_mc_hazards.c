/* Hazards of control bits: none in any cubin of the tree, and one at each place where a mutation of the bits takes
 * away what an instruction waits for. */
#include <glib.h>
#include <string.h>

#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_lower.h"
#include "tests/unit/unit.h"

enum { STALL = 15, CONTROL_SHIFT = 41 };

static void collect(const char *folder, GPtrArray *files) {
  GDir *dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    char *path = g_build_filename(folder, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR) && name[0] != '_' && strcmp(name, "fuzz") != 0)
      collect(path, files);
    if (g_str_has_suffix(name, ".cubin"))
      g_ptr_array_add(files, path);
    else
      g_free(path);
  }
  if (dir)
    g_dir_close(dir);
}

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static GPtrArray *all_cubins(void) {
  GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < 3; i++) {
    const char *folder[] = {"tests", "traces", "validation"};
    g_autofree char *path = g_build_filename(g_getenv("SRCDIR"), folder[i], NULL);
    collect(path, files);
  }
  g_ptr_array_sort(files, by_name);
  return files;
}

static McModule *read_cubin(const char *path) {
  g_autofree char *bytes = NULL;
  gsize length;
  g_autoptr(Diag) diag = diag_new();
  ck_assert_msg(g_file_get_contents(path, &bytes, &length, NULL), "%s can't be read", path);
  McModule *module = mc_cubin_read(path, (const uint8_t *)bytes, length, diag);
  ck_assert_msg(module != NULL, "%s", path);
  return module;
}

static Program *lower(const McModule *module) {
  g_autoptr(Diag) diag = diag_new();
  Program *program = mc_lower(module, mc_kernel(module, 0)->sm, NULL, NULL, false, diag);
  ck_assert_msg(program != NULL, "%s", module->file);
  return program;
}

START_TEST(test_no_false_hazard) {
  g_autoptr(GPtrArray) files = all_cubins();
  unsigned kernels = 0;
  for (guint f = 0; f < files->len; f++) {
    g_autoptr(McModule) module = read_cubin(g_ptr_array_index(files, f));
    g_autoptr(Program) program = lower(module);
    for (guint k = 0; k < program->kernels->len; k++) {
      const Kernel *kernel = program_kernel(program, k);
      kernels += kernel->control != NULL;
      ck_assert_msg(kernel->nhazards == 0, "%s: %s at 0x%x by 0x%x", module->file, kernel->name,
                    kernel->nhazards ? kernel->insts[kernel->hazards[0].pc].address : 0,
                    kernel->nhazards ? kernel->insts[kernel->hazards[0].producer].address : 0);
    }
  }
  ck_assert_uint_gt(kernels, 1500);
}
END_TEST

/* ---- mutations ---- */

/* Bits of an instruction's control that a mutation changes, and what it is to be found by. */
typedef struct Mutation {
  const char *name;
  /* Finds the next place behind instruction `from` of a kernel whose mutation is a hazard for certain: the
   * instruction that is changed and the one that issues too early then. False: none. */
  bool (*find)(const McModule *module, const McKernel *kernel, guint from, guint *changed, guint *early);
  uint32_t clear, set; /* of bits 105 and on of the changed one */
  CodeHazardKind kind;
  unsigned places; /* how many are tried */
} Mutation;

static McControl control(const McModule *module, const McKernel *kernel, guint index) {
  return mc_control(mc_inst(module, kernel, index));
}

static bool ends_block(const McInst *inst) {
  static const char *const roots[] = {"BRA",   "BRX",    "EXIT", "CALL",  "RET",      "BSYNC",
                                      "BREAK", "BPT",    "JMP",  "YIELD", "WARPSYNC", "ENDCOLLECTIVE",
                                      "BAR",   "MEMBAR", "BMOV", "WARP",  "DEPBAR",   "NANOSLEEP"};
  for (guint i = 0; i < G_N_ELEMENTS(roots); i++)
    if (strcmp(roots[i], inst->root) == 0)
      return true;
  return false;
}

/* The register that operand `index` is, or -1. */
static int register_at(const McModule *module, const McInst *inst, guint index) {
  const McOperand *operand = index < inst->operands ? mc_operand(module, inst, index) : NULL;
  return operand && operand->kind == MC_REGISTER && operand->number != MC_RZ ? operand->number : -1;
}

/* A comparison whose predicate guards the next instruction. */
static bool find_guard(const McModule *module, const McKernel *kernel, guint from, guint *changed, guint *early) {
  for (guint i = from; i + 1 < kernel->insts; i++) {
    const McInst *inst = mc_inst(module, kernel, i), *next = mc_inst(module, kernel, i + 1);
    const McOperand *to = inst->operands ? mc_operand(module, inst, 0) : NULL;
    bool exclusive = inst->guard.number == next->guard.number;
    if (strcmp(inst->root, "ISETP") != 0 || !to || to->number == MC_PT || next->guard.kind != MC_PREDICATE ||
        next->guard.number != to->number || exclusive)
      continue;
    *changed = i;
    *early = i + 1;
    return true;
  }
  return false;
}

/* A LOP3 whose result the next one reads. */
static bool find_sum(const McModule *module, const McKernel *kernel, guint from, guint *changed, guint *early) {
  for (guint i = from; i + 1 < kernel->insts; i++) {
    const McInst *inst = mc_inst(module, kernel, i), *next = mc_inst(module, kernel, i + 1);
    int to = register_at(module, inst, 0);
    bool open = inst->guard.number == MC_PT && next->guard.number == MC_PT;
    if (strcmp(inst->root, "LOP3") != 0 || strcmp(next->root, "LOP3") != 0 || to < 0 || !open ||
        register_at(module, next, 1) != to)
      continue;
    *changed = i;
    *early = i + 1;
    return true;
  }
  return false;
}

/* The instruction behind `producer`, in its basic block, that waits for `scoreboard`, if none between raises any. 0:
 * there is none. */
static guint waits_for(const McModule *module, const McKernel *kernel, guint producer, unsigned scoreboard) {
  for (guint i = producer + 1; i < kernel->insts; i++) {
    McControl bits = control(module, kernel, i);
    if (bits.wait >> scoreboard & 1)
      return i;
    if (ends_block(mc_inst(module, kernel, i)) || bits.write != MC_NO_SCOREBOARD || bits.read != MC_NO_SCOREBOARD)
      return 0;
  }
  return 0;
}

/* A load whose word the instruction reads that waits for it. */
static bool find_load_and_use(const McModule *module, const McKernel *kernel, guint from, guint *load, guint *early) {
  for (guint i = from; i + 1 < kernel->insts; i++) {
    const McInst *inst = mc_inst(module, kernel, i);
    unsigned scoreboard = control(module, kernel, i).write;
    bool loads = strcmp(inst->root, "LDG") == 0 || strcmp(inst->root, "LDS") == 0 || strcmp(inst->root, "S2R") == 0;
    guint use = loads && scoreboard != MC_NO_SCOREBOARD ? waits_for(module, kernel, i, scoreboard) : 0;
    const McInst *user = use ? mc_inst(module, kernel, use) : NULL;
    int to = register_at(module, inst, 0);
    if (!use || to < 0 || inst->guard.number != MC_PT ||
        (register_at(module, user, 1) != to && register_at(module, user, 2) != to))
      continue;
    *load = i;
    *early = use;
    return true;
  }
  return false;
}

/* Its wait mask is changed ... */
static bool find_load(const McModule *module, const McKernel *kernel, guint from, guint *changed, guint *early) {
  guint load;
  bool found = find_load_and_use(module, kernel, from, &load, early);
  *changed = *early;
  return found;
}

/* A store whose value is overwritten by the instruction that waits for it. */
static bool find_store(const McModule *module, const McKernel *kernel, guint from, guint *changed, guint *early) {
  for (guint i = from; i + 1 < kernel->insts; i++) {
    const McInst *inst = mc_inst(module, kernel, i);
    unsigned scoreboard = control(module, kernel, i).read;
    bool stores = strcmp(inst->root, "STG") == 0 || strcmp(inst->root, "STS") == 0;
    guint use = stores && scoreboard != MC_NO_SCOREBOARD ? waits_for(module, kernel, i, scoreboard) : 0;
    const McInst *user = use ? mc_inst(module, kernel, use) : NULL;
    int value = register_at(module, inst, 1);
    if (!use || value < 0 || inst->guard.number != MC_PT || register_at(module, user, 0) != value ||
        control(module, kernel, use).write != MC_NO_SCOREBOARD ||
        control(module, kernel, use).read != MC_NO_SCOREBOARD)
      continue;
    *changed = i;
    *early = use;
    return true;
  }
  return false;
}

static const Mutation mutations[] = {
    {"a stall count of 13 before a guard lowered", find_guard, STALL, 1, HAZARD_LATENCY, 100},
    {"a stall count between two LOP3 lowered", find_sum, STALL, 1, HAZARD_LATENCY, 100},
    {"a wait mask cleared", find_load, 63u << 11, 0, HAZARD_READ, 100},
    {"a write scoreboard removed", find_load_and_use, 0, 7u << 5, HAZARD_READ, 100},
    {"a read scoreboard removed", find_store, 0, 7u << 8, HAZARD_SOURCE, 20},
};

static bool is_told(const Program *program, const McModule *module, const McKernel *source, guint early,
                    CodeHazardKind kind) {
  for (guint k = 0; k < program->kernels->len; k++) {
    const Kernel *kernel = program_kernel(program, k);
    if (strcmp(kernel->name, source->name) != 0)
      continue;
    for (uint32_t i = 0; i < kernel->nhazards; i++)
      if (kernel->hazards[i].kind == kind &&
          kernel->insts[kernel->hazards[i].pc].address == mc_inst(module, source, early)->address)
        return true;
  }
  return false;
}

static bool is_refused(const Program *program, const char *name) {
  for (guint k = 0; k < program->kernels->len; k++)
    if (strcmp(program_kernel(program, k)->name, name) == 0)
      return program_kernel(program, k)->refusal != NULL;
  return true;
}

/* Each place of a kernel, one after the other. */
static unsigned mutate_kernel(McModule *module, const McKernel *kernel, const Mutation *mutation) {
  enum { PLACES_MAX = 4 };
  unsigned done = 0;
  guint changed, early;
  for (guint from = 0; done < PLACES_MAX && mutation->find(module, kernel, from, &changed, &early); from = early) {
    McInst *inst = &g_array_index(module->insts, McInst, kernel->first_inst + changed);
    uint64_t before = inst->high;
    inst->high &= ~((uint64_t)mutation->clear << CONTROL_SHIFT);
    inst->high |= (uint64_t)mutation->set << CONTROL_SHIFT;
    g_autoptr(Program) program = lower(module);
    ck_assert_msg(is_told(program, module, kernel, early, mutation->kind), "%s: %s: %s at 0x%x", mutation->name,
                  module->file, kernel->name, inst->address);
    inst->high = before;
    done++;
  }
  return done;
}

START_TEST(test_mutations) {
  const Mutation *mutation = &mutations[_i];
  g_autoptr(GPtrArray) files = all_cubins();
  unsigned done = 0;
  for (guint f = 0; f < files->len && done < mutation->places; f++) {
    g_autoptr(McModule) module = read_cubin(g_ptr_array_index(files, f));
    g_autoptr(Program) program = lower(module);
    for (guint k = 0; k < module->kernels->len && done < mutation->places; k++)
      if (mc_kernel(module, k)->entry && !is_refused(program, mc_kernel(module, k)->name))
        done += mutate_kernel(module, mc_kernel(module, k), mutation);
  }
  ck_assert_msg(done >= mutation->places, "%s: only %u places", mutation->name, done);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("mc_hazards");
  TCase *tcase = tcase_create("mc_hazards");
  tcase_add_test(tcase, test_no_false_hazard);
  tcase_add_loop_test(tcase, test_mutations, 0, G_N_ELEMENTS(mutations));
  tcase_set_timeout(tcase, 120 * unit_patience());
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
