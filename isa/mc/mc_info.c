#include "isa/mc/mc_info.h"

#include <string.h>

enum {
  FORMAT_NONE = 1,
  FORMAT_BYTE = 2,
  FORMAT_SHORT = 3,
  FORMAT_SIZED = 4,

  ATTRIBUTE_MAX_THREADS = 0x05,
  ATTRIBUTE_PARAM_CBANK = 0x0a,
  ATTRIBUTE_MIN_STACK_SIZE = 0x12,
  ATTRIBUTE_KPARAM_INFO = 0x17,
  ATTRIBUTE_REGCOUNT = 0x2f,
  ATTRIBUTE_INDIRECT_BRANCH_TARGETS = 0x34,
  ATTRIBUTE_CTA_PER_CLUSTER = 0x3d,
  ATTRIBUTE_NUM_BARRIERS = 0x4c,
  PARAM_SIZE_SHIFT = 18, /* of the flags of KPARAM_INFO */
};

typedef struct Attribute {
  uint8_t number;
  const uint8_t *value;
  uint32_t bytes;
} Attribute;

static uint32_t get16(const Attribute *attribute, uint32_t offset) {
  const uint8_t *p = attribute->value + offset;
  return offset + 2 <= attribute->bytes ? p[0] | (uint32_t)p[1] << 8 : 0;
}

static uint32_t get32(const Attribute *attribute, uint32_t offset) {
  return offset + 4 <= attribute->bytes ? get16(attribute, offset) | get16(attribute, offset + 2) << 16 : 0;
}

McKernel *mc_info_kernel(McModule *module, const char *name) {
  for (guint i = 0; i < module->kernels->len; i++) {
    McKernel *kernel = &g_array_index(module->kernels, McKernel, i);
    if (strcmp(kernel->name, name) == 0)
      return kernel;
  }
  return NULL;
}

static gint compare_params(gconstpointer a, gconstpointer b) {
  uint32_t left = ((const McParam *)a)->ordinal, right = ((const McParam *)b)->ordinal;
  return left < right ? -1 : left > right;
}

static void add_param(McKernel *kernel, const Attribute *attribute) {
  McParam param = {.ordinal = get16(attribute, 4),
                   .offset = get16(attribute, 6),
                   .bytes = get32(attribute, 8) >> PARAM_SIZE_SHIFT};
  g_array_append_val(kernel->params, param);
  g_array_sort(kernel->params, compare_params);
}

/* For each branch: its address, two numbers, how many targets, and them. */
static void add_targets(McKernel *kernel, const Attribute *attribute) {
  if (!kernel->targets)
    kernel->targets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  for (uint32_t at = 0; at + 12 <= attribute->bytes;) {
    uint32_t count = get32(attribute, at + 8);
    at += 12;
    for (uint32_t i = 0; i < count && at + 4 <= attribute->bytes; i++, at += 4) {
      uint32_t target = get32(attribute, at);
      g_array_append_val(kernel->targets, target);
    }
  }
}

static void note_of_kernel(McKernel *kernel, const Attribute *attribute) {
  switch (attribute->number) {
  case ATTRIBUTE_PARAM_CBANK:
    kernel->param_base = (int32_t)get16(attribute, 4);
    kernel->param_bytes = (int32_t)get16(attribute, 6);
    break;
  case ATTRIBUTE_KPARAM_INFO: add_param(kernel, attribute); break;
  case ATTRIBUTE_INDIRECT_BRANCH_TARGETS: add_targets(kernel, attribute); break;
  case ATTRIBUTE_CTA_PER_CLUSTER:
    for (unsigned axis = 0; axis < 3; axis++)
      kernel->cluster[axis] = get32(attribute, 4 * axis) & 0xffff;
    break;
  case ATTRIBUTE_NUM_BARRIERS: kernel->barriers = attribute->bytes > 0 ? attribute->value[0] : 0; break;
  case ATTRIBUTE_MAX_THREADS: {
    uint64_t threads = (uint64_t)get32(attribute, 0) * get32(attribute, 4);
    threads = MIN(threads, (uint64_t)INT32_MAX) * get32(attribute, 8);
    kernel->max_threads = (int32_t)MIN(threads, (uint64_t)INT32_MAX);
    break;
  }
  }
}

/* An attribute of the whole module names the kernel or function. */
static void note_of_module(McModule *module, const McInfo *info, const Attribute *attribute) {
  if (attribute->number != ATTRIBUTE_REGCOUNT && attribute->number != ATTRIBUTE_MIN_STACK_SIZE)
    return;
  const char *name = info->symbol(info->context, get32(attribute, 0));
  McKernel *kernel = name ? mc_info_kernel(module, name) : NULL;
  uint32_t value = get32(attribute, 4);
  if (value > INT32_MAX) /* ptxas doesn't know the stack of functions that call each other in circles */
    return;
  if (kernel && attribute->number == ATTRIBUTE_REGCOUNT)
    kernel->registers = (int32_t)value;
  else if (kernel)
    kernel->stack_bytes = (int32_t)value;
}

/* The attribute at *at, which goes behind it. */
static bool next(const McInfo *info, gsize *at, Attribute *attribute) {
  if (*at + 4 > info->length)
    return false;
  const uint8_t *p = info->bytes + *at;
  uint32_t size = p[2] | (uint32_t)p[3] << 8;
  *attribute = (Attribute){.number = p[1], .value = p + 2};
  switch (p[0]) {
  case FORMAT_NONE: break;
  case FORMAT_BYTE: attribute->bytes = 1; break;
  case FORMAT_SHORT: attribute->bytes = 2; break;
  case FORMAT_SIZED:
    if (*at + 4 + size > info->length)
      return false;
    attribute->value = p + 4;
    attribute->bytes = size;
    *at += size;
    break;
  default: return false;
  }
  *at += 4;
  return true;
}

bool mc_info_read(McModule *module, const McInfo *info, gsize *at) {
  McKernel *kernel = info->kernel ? mc_info_kernel(module, info->kernel) : NULL;
  if (kernel && !kernel->params)
    kernel->params = g_array_new(FALSE, FALSE, sizeof(McParam));
  Attribute attribute;
  for (*at = 0; *at < info->length;) {
    if (!next(info, at, &attribute))
      return false;
    if (kernel)
      note_of_kernel(kernel, &attribute);
    else if (!info->kernel)
      note_of_module(module, info, &attribute);
  }
  return true;
}

int32_t mc_usual_param_base(unsigned sm) { return sm >= 90 ? 0x210 : 0x160; }

static void note_shared(McModule *module, const McData *data) {
  static const char shared[] = ".nv.shared.";
  McKernel *kernel = g_str_has_prefix(data->section, shared)
                         ? mc_info_kernel(module, data->section + strlen(shared))
                         : NULL;
  if (kernel)
    kernel->shared_bytes = (int32_t)data->bytes;
}

void mc_settle_kernels(McModule *module) {
  for (guint i = 0; i < module->data->len; i++)
    note_shared(module, &g_array_index(module->data, McData, i));
  for (guint i = 0; i < module->kernels->len; i++) {
    McKernel *kernel = &g_array_index(module->kernels, McKernel, i);
    if (kernel->params && kernel->params->len == 0 && kernel->param_base < 0) {
      kernel->param_base = mc_usual_param_base(kernel->sm);
      kernel->param_bytes = 0;
    }
  }
}
