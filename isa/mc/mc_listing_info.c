/* Resources of kernels: attributes in nvdisasm's listings, and what `cuobjdump -res-usage` prints. */
#include <string.h>

#include "isa/mc/mc_info.h"
#include "isa/mc/mc_listing_reader.h"

/* ---- cuobjdump -res-usage ---- */

/* Function name: */
bool mc_read_usage_function(McReader *reader) {
  mc_reader_space(reader);
  const char *name = reader->p;
  gsize length = mc_reader_word(reader, name);
  if (length == 0 || length > MC_WORD_MAX)
    return mc_reader_unexpected(reader, name, "the name of a kernel");
  reader->p += length;
  if (!mc_reader_take(reader, ":"))
    return mc_reader_unexpected(reader, reader->p, "`:`");
  McUsage usage = {.kernel = mc_reader_intern(reader, name, length),
                   .sm = reader->sm,
                   .registers = -1,
                   .stack_bytes = -1,
                   .shared_bytes = -1,
                   .constant_bytes = -1};
  g_array_append_val(reader->usages, usage);
  return true;
}

/* REG:24 STACK:48 SHARED:0 LOCAL:0 CONSTANT[0]:428 TEXTURE:0 SURFACE:0 SAMPLER:0 */
bool mc_read_usage(McReader *reader) {
  if (reader->usages->len == 0)
    return mc_reader_unexpected(reader, reader->p, "`Function name:` before a kernel's resources");
  McUsage *usage = &g_array_index(reader->usages, McUsage, reader->usages->len - 1);
  int32_t local = 0;
  struct {
    const char *name;
    int32_t *value;
  } fields[] = {{"REG", &usage->registers},
                {"STACK", &usage->stack_bytes},
                {"SHARED", &usage->shared_bytes},
                {"LOCAL", &local},
                {"CONSTANT[0]", &usage->constant_bytes}};
  while (reader->p < reader->stop) {
    const char *name = reader->p, *colon = memchr(name, ':', reader->stop - name);
    if (!colon)
      return mc_reader_unexpected(reader, name, "a resource such as REG:24");
    reader->p = colon + 1;
    const char *at = reader->p;
    uint64_t value;
    if (!mc_reader_number(reader, &value))
      return false;
    if (value > INT32_MAX)
      return mc_reader_unexpected(reader, at, "a number below 2147483648");
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
      if (strlen(fields[i].name) == (gsize)(colon - name) && strncmp(fields[i].name, name, colon - name) == 0)
        *fields[i].value = (int32_t)value;
    mc_reader_space(reader);
  }
  if (usage->stack_bytes >= 0 && local <= INT32_MAX - usage->stack_bytes)
    usage->stack_bytes += local;
  return true;
}

static void apply_usage(McKernel *kernel, const McUsage *usage) {
  if (kernel->name != usage->kernel || (usage->sm && kernel->sm != usage->sm))
    return;
  kernel->registers = usage->registers;
  kernel->stack_bytes = usage->stack_bytes;
  kernel->shared_bytes = usage->shared_bytes;
  if (kernel->param_base < 0 && usage->constant_bytes >= mc_usual_param_base(kernel->sm)) {
    kernel->param_base = mc_usual_param_base(kernel->sm);
    kernel->param_bytes = usage->constant_bytes - kernel->param_base;
  }
}

/* ---- nvdisasm ---- */

static const char *name_at(const void *context, uint32_t index) {
  const GPtrArray *names = context;
  return index < names->len ? g_ptr_array_index(names, index) : NULL;
}

static void read_info(McReader *reader, const McBlob *blob) {
  static const char own[] = ".nv.info.";
  if (!blob->data)
    return;
  McInfo info = {.bytes = blob->data->data, .length = blob->data->len, .symbol = name_at, .context = reader->names};
  if (g_str_has_prefix(blob->section, own))
    info.kernel = blob->section + strlen(own);
  gsize at;
  if (!mc_info_read(reader->module, &info, &at))
    diag_error(reader->diag, reader->file, 0, 0, "%s ends inside the attribute at byte %04" G_GSIZE_MODIFIER "x",
               blob->section, at);
}

void mc_read_infos(McReader *reader) {
  for (guint i = 0; i < reader->blobs->len; i++) {
    const McBlob *blob = &g_array_index(reader->blobs, McBlob, i);
    if (blob->kind == MC_INFO)
      read_info(reader, blob);
  }
  mc_settle_kernels(reader->module);
  for (guint i = 0; i < reader->usages->len; i++)
    for (guint k = 0; k < reader->module->kernels->len; k++)
      apply_usage(&g_array_index(reader->module->kernels, McKernel, k), &g_array_index(reader->usages, McUsage, i));
}
