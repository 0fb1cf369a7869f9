#include "sim/scenario/layout.h"

#include <string.h>

#include "base/quote.h"
#include "sim/scenario/programs.h"

enum { LOADS_SHOWN_MAX = 12 };

typedef struct MemberType {
  const char *name;
  unsigned bytes;
  bool is_float;
  int64_t lowest, highest;
} MemberType;

static const MemberType member_types[] = {
    {"i8", 1, false, INT8_MIN, INT8_MAX},
    {"u8", 1, false, 0, UINT8_MAX},
    {"i16", 2, false, INT16_MIN, INT16_MAX},
    {"u16", 2, false, 0, UINT16_MAX},
    {"i32", 4, false, INT32_MIN, INT32_MAX},
    {"u32", 4, false, 0, UINT32_MAX},
    {"i64", 8, false, INT64_MIN, INT64_MAX},
    {"u64", 8, false, INT64_MIN, INT64_MAX},
    {"f32", 4, true, 0, 0},
    {"f64", 8, true, 0, 0},
};
/* Of a plain number, whose sign nobody knows: both may be written. */
static const MemberType plain_types[] = {
    {"a byte", 1, false, INT8_MIN, UINT8_MAX},
    {"a 16-bit number", 2, false, INT16_MIN, UINT16_MAX},
    {"a 32-bit number", 4, false, INT32_MIN, UINT32_MAX},
    {"a 64-bit number", 8, false, INT64_MIN, INT64_MAX},
};

typedef struct Layout {
  Loader *loader;
  const LayoutLoads *loads;
  GByteArray *bytes;
  GArray *addresses;
  uint64_t max;       /* bytes */
  unsigned alignment; /* the largest of a member so far */
} Layout;

/* ---- what the program loads ---- */

/* The function with that name and a body, or PTX_NO_INDEX. */
static uint32_t find_function(const PtxModule *module, const char *name) {
  uint32_t id = ptx_names_find(module->names, name, strlen(name));
  for (guint i = 0; id && i < module->functions->len; i++)
    if (ptx_function(module, i)->name == id && ptx_function(module, i)->has_body)
      return i;
  return PTX_NO_INDEX;
}

LayoutLoads layout_loads(const Scenario *scenario, guint kernel, guint parameter) {
  const PtxModule *module = programs_module(scenario->programs);
  LayoutLoads none = {.module = NULL};
  if (!module)
    return none;
  uint32_t function = find_function(module, program_kernel(scenario->program, kernel)->name);
  if (function == PTX_NO_INDEX || parameter >= ptx_function(module, function)->nparams)
    return none;
  return (LayoutLoads){module, function, parameter};
}

typedef bool (*EachLoad)(uint32_t offset, PtxWord type, gpointer user);

/* Calls `each` for every value that is loaded from the parameter, until it returns true. */
static void each_load(const LayoutLoads *loads, EachLoad each, gpointer user) {
  if (!loads || !loads->module)
    return;
  const PtxFunction *function = ptx_function(loads->module, loads->function);
  uint32_t var = function->first_var + function->nrets + loads->parameter;
  for (uint32_t i = 0; i < function->ninsts; i++) {
    const PtxInst *inst = ptx_inst(loads->module, function->first_inst + i);
    if (inst->op != PTX_OP_LD || inst->noperands < 2)
      continue;
    const PtxOperand *from = ptx_operand(loads->module, inst->operands + 1);
    if (from->kind != PTX_OPERAND_MEM_VAR || from->index != var || from->offset < 0)
      continue;
    unsigned count = inst->mods.vec == PTX_V4 ? 4 : inst->mods.vec == PTX_V2 ? 2 : 1;
    for (unsigned part = 0; part < count; part++)
      if (each((uint32_t)from->offset + part * ptx_type_bytes(inst->mods.type), inst->mods.type, user))
        return;
  }
}

typedef struct LoadAt {
  uint32_t offset;
  PtxWord type; /* PTX_NONE: none there */
} LoadAt;

static bool is_load_at(uint32_t offset, PtxWord type, gpointer user) {
  LoadAt *wanted = user;
  if (offset == wanted->offset)
    wanted->type = type;
  return offset == wanted->offset;
}

static PtxWord load_at(const LayoutLoads *loads, uint32_t offset) {
  LoadAt wanted = {offset, PTX_NONE};
  each_load(loads, is_load_at, &wanted);
  return wanted.type;
}

static bool collect_load(uint32_t offset, PtxWord type, gpointer user) {
  LoadAt load = {offset, type};
  GArray *all = user;
  for (guint i = 0; i < all->len; i++)
    if (g_array_index(all, LoadAt, i).offset == offset)
      return false;
  g_array_append_val(all, load);
  return false;
}

static gint compare_loads(gconstpointer a, gconstpointer b) {
  uint32_t x = ((const LoadAt *)a)->offset, y = ((const LoadAt *)b)->offset;
  return (x > y) - (x < y);
}

char *layout_loads_text(const LayoutLoads *loads) {
  g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(LoadAt));
  each_load(loads, collect_load, all);
  if (all->len == 0 || all->len > LOADS_SHOWN_MAX)
    return NULL;
  g_array_sort(all, compare_loads);
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < all->len; i++)
    g_string_append_printf(text, "%s%s at %u", i ? ", " : "", ptx_word_text(g_array_index(all, LoadAt, i).type),
                           g_array_index(all, LoadAt, i).offset);
  return g_string_free(text, FALSE);
}

/* ---- members ---- */

static bool grow(Layout *layout, const YamlNode *node, uint64_t bytes) {
  static const guint8 zeros[64];
  if (bytes > layout->max || layout->bytes->len + bytes > layout->max)
    return loader_error(layout->loader, node, "the members have more than %" G_GUINT64_FORMAT " bytes", layout->max);
  for (; bytes; bytes -= MIN(bytes, sizeof zeros))
    g_byte_array_append(layout->bytes, zeros, (guint)MIN(bytes, sizeof zeros));
  return true;
}

static bool align(Layout *layout, const YamlNode *node, unsigned bytes) {
  layout->alignment = MAX(layout->alignment, bytes);
  return grow(layout, node, (bytes - layout->bytes->len % bytes) % bytes);
}

static bool add_number(Layout *layout, const YamlNode *node, const MemberType *type) {
  int64_t integer = 0;
  double real = 0;
  bool good = type->is_float ? loader_real(layout->loader, node, type->name, &real)
                             : loader_range(layout->loader, node, type->name, type->lowest, type->highest, &integer);
  if (!good || !align(layout, node, type->bytes))
    return false;
  float narrow = (float)real;
  uint64_t bits = (uint64_t)integer;
  if (type->is_float && type->bytes == 4) {
    uint32_t low;
    memcpy(&low, &narrow, sizeof low);
    bits = low;
  } else if (type->is_float) {
    memcpy(&bits, &real, sizeof bits);
  }
  bits = GUINT64_TO_LE(bits);
  g_byte_array_append(layout->bytes, (const guint8 *)&bits, type->bytes);
  return true;
}

/* The type that a plain number has here. A 64-bit value may begin behind padding. */
static const MemberType *type_here(const Layout *layout) {
  uint32_t at = layout->bytes->len;
  PtxWord type = load_at(layout->loads, at);
  if (type == PTX_NONE)
    type = load_at(layout->loads, (at + 3) / 4 * 4);
  if (type == PTX_NONE)
    type = load_at(layout->loads, (at + 7) / 8 * 8);
  unsigned bytes = type == PTX_NONE ? 4 : MIN(ptx_type_bytes(type), 8);
  if (type == PTX_F32 || type == PTX_F64)
    return &member_types[type == PTX_F32 ? 8 : 9];
  for (gsize i = 0; i < G_N_ELEMENTS(plain_types); i++)
    if (plain_types[i].bytes == bytes)
      return &plain_types[i];
  return &plain_types[2];
}

static bool add_address(Layout *layout, const YamlNode *node, guint buffer) {
  unsigned bytes = programs_address_bytes(layout->loader->scenario->programs);
  if (!align(layout, node, bytes))
    return false;
  ScenarioAddress address = {layout->bytes->len, buffer, bytes};
  g_array_append_val(layout->addresses, address);
  return grow(layout, node, bytes);
}

/* Of a float whose type nothing says. */
static bool refuse_fraction(Layout *layout, const YamlNode *node) {
  loader_error(layout->loader, node, "`%s` is no whole number, and nothing says which float it is", node->scalar);
  diag_hint(layout->loader->diag, "write {f32: %s} or {f64: %s}", node->scalar, node->scalar);
  return false;
}

static bool add_scalar(Layout *layout, const YamlNode *node) {
  const MemberType *type = type_here(layout);
  if (loader_is_fraction(node) && !type->is_float)
    return refuse_fraction(layout, node);
  if (!loader_is_buffer(layout->loader, node))
    return add_number(layout, node, type);
  int buffer = loader_find_buffer(layout->loader, node->scalar);
  return buffer < 0 ? loader_unknown_name(layout->loader, node) : add_address(layout, node, (guint)buffer);
}

static bool add_padding(Layout *layout, const YamlNode *node) {
  int64_t bytes;
  return loader_range(layout->loader, node, "pad", 0, INT32_MAX, &bytes) && grow(layout, node, (uint64_t)bytes);
}

static bool add_typed(Layout *layout, const YamlNode *node) {
  const char *names[G_N_ELEMENTS(member_types) + 2] = {NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(member_types); i++)
    names[i] = member_types[i].name;
  names[G_N_ELEMENTS(member_types)] = "pad";
  if (!loader_check_keys(layout->loader, node, names, "a member"))
    return false;
  if (node->keys->len != 1)
    return loader_error(layout->loader, node, "a member: expected one type, as in {f32: 1.5}, found %u",
                        node->keys->len);
  const YamlNode *value = g_ptr_array_index(node->values, 0);
  if (yaml_get(node, "pad"))
    return add_padding(layout, value);
  const MemberType *type = member_types;
  while (!yaml_get(node, type->name))
    type++;
  bool good = true;
  if (value->type != YAML_NODE_SEQUENCE)
    return add_number(layout, value, type);
  for (guint i = 0; i < value->values->len && good; i++)
    good = add_number(layout, g_ptr_array_index(value->values, i), type);
  return good;
}

static bool add_struct(Layout *layout, const YamlNode *list);

/* Of a struct in the struct, whose place depends on it. */
static unsigned alignment_of(const Layout *layout, const YamlNode *node) {
  if (loader_is_buffer(layout->loader, node))
    return programs_address_bytes(layout->loader->scenario->programs);
  unsigned most = node->type == YAML_NODE_SCALAR ? 4 : 1;
  for (gsize i = 0; node->type == YAML_NODE_MAPPING && i < G_N_ELEMENTS(member_types); i++)
    if (yaml_get(node, member_types[i].name))
      most = MAX(most, member_types[i].bytes);
  for (guint i = 0; node->type == YAML_NODE_SEQUENCE && i < node->values->len; i++)
    most = MAX(most, alignment_of(layout, g_ptr_array_index(node->values, i)));
  return most;
}

static bool add_member(Layout *layout, const YamlNode *node) {
  if (node->type == YAML_NODE_MAPPING)
    return add_typed(layout, node);
  if (node->type == YAML_NODE_SCALAR)
    return add_scalar(layout, node);
  unsigned alignment = alignment_of(layout, node);
  return align(layout, node, alignment) && add_struct(layout, node) && align(layout, node, alignment);
}

static bool add_struct(Layout *layout, const YamlNode *list) {
  for (guint i = 0; i < list->values->len; i++) {
    unsigned before = diag_count(layout->loader->diag);
    if (add_member(layout, g_ptr_array_index(list->values, i)))
      continue;
    if (diag_count(layout->loader->diag) > before)
      diag_hint(layout->loader->diag, "that is member %u of the struct, at byte %u", i + 1, layout->bytes->len);
    return false;
  }
  return true;
}

bool layout_members(Loader *loader, const YamlNode *list, const LayoutLoads *loads, uint64_t max, GByteArray *bytes,
                    GArray *addresses) {
  Layout layout = {loader, loads, bytes, addresses, max, 1};
  return loader_expect(loader, list, YAML_NODE_SEQUENCE, "struct") && add_struct(&layout, list) &&
         align(&layout, list, layout.alignment);
}

bool layout_is_needed(const Loader *loader, const YamlNode *list) {
  for (guint i = 0; i < list->values->len; i++) {
    const YamlNode *node = g_ptr_array_index(list->values, i);
    if (node->type != YAML_NODE_SCALAR || loader_is_buffer(loader, node))
      return true;
  }
  return false;
}
