/* args.c - the arguments of a launch. SASS doesn't say what it takes: an argument is what was written, in 32-bit
 * words. PTX declares its parameters: an argument takes the parameter's type, and one that doesn't fit is an
 * error. */
#include <string.h>

#include "base/quote.h"
#include "sim/scenario/layout.h"
#include "sim/scenario/loader.h"
#include "sim/scenario/programs.h"

/* ---- parameters of PTX ---- */

/* What a scalar type holds: its name, and the numbers that may be written for it (those of the signed and of the
 * unsigned type of that width, since PTX often doesn't tell them apart). */
typedef struct TypeFacts {
  const char *name;
  bool is_float;
  int64_t lowest, highest;
} TypeFacts;

static const TypeFacts type_facts[] = {
    [TYPE_S8] = {"s8", false, INT8_MIN, UINT8_MAX},
    [TYPE_U8] = {"u8", false, INT8_MIN, UINT8_MAX},
    [TYPE_S16] = {"s16", false, INT16_MIN, UINT16_MAX},
    [TYPE_U16] = {"u16", false, INT16_MIN, UINT16_MAX},
    [TYPE_F16] = {"f16", false, 0, UINT16_MAX},
    [TYPE_S32] = {"s32", false, INT32_MIN, UINT32_MAX},
    [TYPE_U32] = {"u32", false, INT32_MIN, UINT32_MAX},
    [TYPE_S64] = {"s64", false, INT64_MIN, INT64_MAX},
    [TYPE_U64] = {"u64", false, INT64_MIN, INT64_MAX},
    [TYPE_F32] = {"f32", true, 0, 0},
    [TYPE_F64] = {"f64", true, 0, 0},
};

/* What nvcc calls KERNEL_param_0 has no name of its own: it is 1. */
static char *param_name(const KernelParam *param) {
  const char *number = g_strrstr(param->name, "_param_");
  guint64 index;
  if (number && g_ascii_string_to_unsigned(number + strlen("_param_"), 10, 0, 4096, &index, NULL))
    return g_strdup_printf("%u", (unsigned)index + 1);
  return g_strdup_printf("`%s`", param->name);
}

/* "1 (u32)", "`size` (u32)", "2 (a struct of 24 bytes)": what stands behind "parameter" */
static char *param_text(const KernelParam *param) {
  g_autofree char *name = param_name(param);
  if (param->bytes_array)
    return g_strdup_printf("%s (a struct of %u bytes)", name, param->bytes);
  return g_strdup_printf("%s (%s)", name, type_facts[param->type].name);
}

static char *kernel_name(const Loader *loader, const ScenarioLaunch *launch) {
  return programs_kernel_name(loader->scenario->programs, launch->kernel);
}

static bool wrong_type(Loader *loader, const YamlNode *node, const KernelParam *param, const char *found) {
  g_autofree char *text = param_text(param);
  return loader_error(loader, node, "parameter %s can't take %s", text, found);
}

/* The parameter that the next argument is for; NULL of SASS. */
static const KernelParam *next_param(const Loader *loader, const ScenarioLaunch *launch) {
  const Kernel *kernel = program_kernel(loader->scenario->program, launch->kernel);
  return kernel->params && launch->args->len < kernel->params->len
             ? &g_array_index(kernel->params, KernelParam, launch->args->len)
             : NULL;
}

/* True if a parameter is as wide as the program's addresses: a pointer, a number, or a struct that holds nothing but
 * a pointer. A narrower one can't be meant for a buffer. */
static bool takes_address(const Loader *loader, const KernelParam *param) {
  uint32_t bytes = programs_address_bytes(loader->scenario->programs);
  if (!param || param->bytes_array)
    return !param || param->bytes == bytes;
  return !type_facts[param->type].is_float && param->bytes >= bytes;
}

/* A plain number takes the parameter's type: `2` is a float where one is wanted. */
static bool arg_number(Loader *loader, ScenarioArg *arg, const YamlNode *node, const KernelParam *param) {
  if (!param)
    return loader_word(loader, node, "an argument", &arg->integer);
  if (param->bytes_array)
    return wrong_type(loader, node, param, "a number; expected {struct: [...]} or {bytes: [...]}");
  g_autofree char *text = param_text(param);
  g_autofree char *what = g_strdup_printf("parameter %s", text);
  const TypeFacts *facts = &type_facts[param->type];
  if (!facts->is_float && loader_is_fraction(node)) {
    g_autofree char *found = g_strdup_printf("`%s`; expected a whole number%s", node->scalar,
                                             takes_address(loader, param) ? ", or a buffer" : "");
    return wrong_type(loader, node, param, found);
  }
  if (!facts->is_float)
    return loader_range(loader, node, what, facts->lowest, facts->highest, &arg->integer);
  double value;
  if (!loader_real(loader, node, what, &value))
    return false;
  arg->kind = param->type == TYPE_F32 ? ARG_F32 : ARG_F64;
  arg->f32 = (float)value;
  arg->f64 = value;
  return true;
}

/* ---- the forms of an argument ---- */

bool loader_unknown_name(Loader *loader, const YamlNode *node) {
  g_autofree char *quoted = quote_text(node->scalar);
  loader_error(loader, node, "unknown name %s: neither a param nor a buffer", quoted);
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i + 1 < loader->param_names->len; i++)
    g_ptr_array_add(names, g_ptr_array_index(loader->param_names, i));
  for (guint i = 0; i < loader->scenario->buffers->len; i++)
    g_ptr_array_add(names, ((ScenarioBuffer *)g_ptr_array_index(loader->scenario->buffers, i))->name);
  g_ptr_array_add(names, NULL);
  diag_hint_nearest(loader->diag, node->scalar, (const char *const *)names->pdata);
  return false;
}

static bool arg_buffer(Loader *loader, ScenarioArg *arg, const YamlNode *node, const KernelParam *param) {
  int buffer = loader_find_buffer(loader, node->scalar);
  if (buffer < 0)
    return loader_unknown_name(loader, node);
  if (!takes_address(loader, param)) {
    g_autofree char *found = g_strdup_printf("buffer `%s`, an address", node->scalar);
    return wrong_type(loader, node, param, found);
  }
  arg->kind = ARG_BUFFER;
  arg->buffer = (guint)buffer;
  return true;
}

static bool arg_float(Loader *loader, ScenarioArg *arg, const YamlNode *node, const KernelParam *param, bool is_f64) {
  if (param && (param->bytes_array || param->type != (is_f64 ? TYPE_F64 : TYPE_F32)))
    return wrong_type(loader, node, param, is_f64 ? "an f64" : "an f32");
  if (!loader_real(loader, node, is_f64 ? "f64" : "f32", &arg->f64))
    return false;
  arg->kind = is_f64 ? ARG_F64 : ARG_F32;
  arg->f32 = (float)arg->f64;
  return true;
}

static bool check_length(Loader *loader, const YamlNode *node, const KernelParam *param) {
  guint length = node->values->len;
  if (param && length != param->bytes) {
    g_autofree char *text = param_text(param);
    return loader_error(loader, node, "bytes: parameter %s has %u byte%s, %u given", text, param->bytes,
                        param->bytes == 1 ? "" : "s", length);
  }
  if (length == 0 || (!param && length % 4))
    return loader_error(loader, node, "bytes: expected %s, found %u", param ? "one or more" : "a multiple of four",
                        length);
  if (length > SCENARIO_ARG_BYTES_MAX)
    return loader_error(loader, node, "bytes: %u values, at most %d", length, SCENARIO_ARG_BYTES_MAX);
  return true;
}

static bool arg_bytes(Loader *loader, ScenarioArg *arg, const YamlNode *node, const KernelParam *param) {
  if (!loader_expect(loader, node, YAML_NODE_SEQUENCE, "bytes") || !check_length(loader, node, param))
    return false;
  guint length = node->values->len;
  g_autofree uint8_t *bytes = g_new(uint8_t, length);
  for (guint i = 0; i < length; i++) {
    int64_t value;
    if (!loader_range(loader, g_ptr_array_index(node->values, i), "a byte", -128, 255, &value))
      return false;
    bytes[i] = (uint8_t)value;
  }
  arg->kind = ARG_BYTES;
  arg->bytes = g_bytes_new(bytes, length);
  return true;
}

static bool check_struct(Loader *loader, const YamlNode *node, const KernelParam *param, const LayoutLoads *loads,
                         guint length) {
  if (!param && (length == 0 || length % 4))
    return loader_error(loader, node, "struct: its members take %u bytes, expected a multiple of four", length);
  if (!param || length == param->bytes)
    return true;
  g_autofree char *text = param_text(param), *loaded = layout_loads_text(loads);
  loader_error(loader, node, "struct: its members take %u byte%s, but parameter %s has %u", length,
               length == 1 ? "" : "s", text, param->bytes);
  if (loaded)
    diag_hint(loader->diag, "the kernel loads %s of it", loaded);
  return false;
}

/* A list of members, in place of the bytes of a struct. */
static bool arg_struct(Loader *loader, ScenarioArg *arg, const YamlNode *node, const ScenarioLaunch *launch,
                       const KernelParam *param) {
  LayoutLoads loads = layout_loads(loader->scenario, launch->kernel, launch->args->len);
  if (param && !param->bytes_array)
    return wrong_type(loader, node, param, "a struct");
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(ScenarioAddress));
  if (!layout_members(loader, node, &loads, SCENARIO_ARG_BYTES_MAX, bytes, addresses) ||
      !check_struct(loader, node, param, &loads, bytes->len))
    return false;
  arg->kind = ARG_BYTES;
  arg->bytes = g_byte_array_free_to_bytes(g_steal_pointer(&bytes));
  arg->addresses = g_steal_pointer(&addresses);
  return true;
}

static bool arg_mapping(Loader *loader, ScenarioArg *arg, const YamlNode *node, const ScenarioLaunch *launch,
                        const KernelParam *param) {
  static const char *const keys[] = {"f32", "f64", "bytes", "struct", NULL};
  if (!loader_check_keys(loader, node, keys, "an argument"))
    return false;
  const YamlNode *f32 = yaml_get(node, "f32"), *f64 = yaml_get(node, "f64"), *bytes = yaml_get(node, "bytes");
  const YamlNode *members = yaml_get(node, "struct");
  if (!!f32 + !!f64 + !!bytes + !!members != 1)
    return loader_error(loader, node, "an argument: expected one of `f32`, `f64`, `bytes` and `struct`");
  if (members)
    return arg_struct(loader, arg, members, launch, param);
  if (f64 && !param)
    return loader_error(loader, f64, "an f64 can't be an argument of SASS, whose arguments are 32-bit words");
  return bytes ? arg_bytes(loader, arg, bytes, param) : arg_float(loader, arg, f32 ? f32 : f64, param, f64 != NULL);
}

static bool too_many(Loader *loader, const ScenarioLaunch *launch, const YamlNode *node) {
  const Kernel *kernel = program_kernel(loader->scenario->program, launch->kernel);
  guint count = kernel->params->len;
  g_autofree char *name = kernel_name(loader, launch);
  if (count == 0)
    return loader_error(loader, node, "kernel `%s` takes no arguments", name);
  g_autofree char *last = param_text(&g_array_index(kernel->params, KernelParam, count - 1));
  return loader_error(loader, node, "kernel `%s` takes %u argument%s, of which parameter %s is the last", name, count,
                      count == 1 ? "" : "s", last);
}

bool loader_add_arg(Loader *loader, ScenarioLaunch *launch, const YamlNode *node) {
  ScenarioArg arg = {.kind = ARG_INTEGER};
  const KernelParam *param = next_param(loader, launch);
  bool good;
  if (!param && loader->scenario->program->dialect == DIALECT_PTX)
    return too_many(loader, launch, node);
  if (node->type == YAML_NODE_SEQUENCE && param && param->bytes_array)
    good = arg_struct(loader, &arg, node, launch, param);
  else if (node->type == YAML_NODE_SEQUENCE)
    good = loader_error(
        loader, node,
        "an argument: expected a buffer, a number, {f32: ...}, {struct: [...]} or {bytes: [...]}, found a list");
  else if (node->type == YAML_NODE_MAPPING)
    good = arg_mapping(loader, &arg, node, launch, param);
  else if (loader_is_buffer(loader, node))
    good = arg_buffer(loader, &arg, node, param);
  else
    good = arg_number(loader, &arg, node, param);
  if (good || param) /* one that is wrong still stands for its parameter */
    g_array_append_val(launch->args, arg);
  return good;
}

/* ---- all of them ---- */

/* Words of the argument area that a Fermi kernel reads: its highest constant at or above c[0x0][0x20]. */
static uint32_t words_read(const Kernel *kernel) {
  uint32_t words = 0, base = kernel->param_base ? kernel->param_base : PARAM_BANK_OFFSET;
  for (uint32_t i = 0; i < kernel->nconsts; i++)
    if (kernel->consts[i].kind == CONST_BANK && kernel->consts[i].value >= base)
      words = MAX(words, (kernel->consts[i].value - base) / 4 + 1);
  return words;
}

uint32_t scenario_bare_arg_bytes(const Program *program, const ScenarioArg *arg) {
  bool wide = arg->kind == ARG_BUFFER || arg->kind == ARG_F64;
  return program->dialect == DIALECT_MACHINE_CODE && wide ? 8 : 4;
}

/* What is missing, or NULL. */
static char *missing_words(const Program *program, const Kernel *kernel, gsize bytes) {
  uint32_t needed = words_read(kernel);
  if (needed * 4 <= bytes)
    return NULL;
  if (program->dialect == DIALECT_MACHINE_CODE)
    return g_strdup_printf(
        "kernel `%s` reads %u bytes of arguments, %zu given (8 for an address, 4 for a number: the "
        "listing doesn't say what they are)",
        kernel->name, 4 * needed, bytes);
  return g_strdup_printf("kernel `%s` reads %u argument word%s, %zu given", kernel->name, needed,
                         needed == 1 ? "" : "s", bytes / 4);
}

static char *missing_params(const Loader *loader, const ScenarioLaunch *launch, const Kernel *kernel) {
  guint given = launch->args->len, count = kernel->params->len;
  if (given >= count)
    return NULL;
  g_autofree char *name = kernel_name(loader, launch);
  g_autofree char *next = param_text(&g_array_index(kernel->params, KernelParam, given));
  return g_strdup_printf("kernel `%s` takes %u argument%s, %u given; parameter %s is missing", name, count,
                         count == 1 ? "" : "s", given, next);
}

bool loader_check_args(Loader *loader, const ScenarioLaunch *launch, bool usage) {
  const Program *program = loader->scenario->program;
  const Kernel *kernel = program_kernel(program, launch->kernel);
  gsize bytes = 0;
  for (guint i = 0; i < launch->args->len; i++) {
    const ScenarioArg *arg = &g_array_index(launch->args, ScenarioArg, i);
    uint32_t size = scenario_bare_arg_bytes(program, arg);
    bytes = (bytes + size - 1) / size * size;
    bytes += arg->kind == ARG_BYTES ? g_bytes_get_size(arg->bytes) : size;
  }
  if (bytes > SCENARIO_ARG_BYTES_MAX)
    return diag_error(loader->diag, launch->file, launch->line, launch->column, "%zu bytes of arguments, at most %d",
                      bytes, SCENARIO_ARG_BYTES_MAX);
  g_autofree char *message =
      kernel->params ? missing_params(loader, launch, kernel) : missing_words(program, kernel, bytes);
  if (!message)
    return true;
  if (usage && program_is_compiled(program))
    return diag_usage(loader->diag, "%s: add --arg", message);
  if (usage)
    return diag_usage(loader->diag, "%s: add `.arg` to %s, or --arg", message, program->file);
  return diag_error(loader->diag, launch->file, launch->line, launch->column, "%s", message);
}

static bool refuse_launch(Loader *loader, const ScenarioLaunch *launch, const char *message) {
  if (!launch->file)
    return diag_usage(loader->diag, "%s", message);
  return diag_error(loader->diag, launch->file, launch->line, launch->column, "%s", message);
}

bool loader_check_block(Loader *loader, const ScenarioLaunch *launch) {
  const Kernel *kernel = program_kernel(loader->scenario->program, launch->kernel);
  const uint32_t *block = launch->block, *exact = kernel->exact_block;
  g_autofree char *message = NULL, *name = kernel_name(loader, launch);
  uint64_t threads = (uint64_t)block[0] * block[1];
  threads = threads > UINT32_MAX ? threads : threads * block[2];
  if (exact[0] && memcmp(block, exact, sizeof launch->block) != 0)
    message = g_strdup_printf("the block is %u x %u x %u, kernel `%s` needs %u x %u x %u (.reqntid)", block[0],
                              block[1], block[2], name, exact[0], exact[1], exact[2]);
  else if (kernel->max_threads && threads > kernel->max_threads)
    message = g_strdup_printf("the block has %" G_GUINT64_FORMAT " threads, kernel `%s` allows at most %u (.maxntid)",
                              threads, name, kernel->max_threads);
  return !message || refuse_launch(loader, launch, message);
}
