/* Symbols, data sections and relocations of a cubin. */
#include <string.h>

#include "isa/mc/mc_cubin_reader.h"

enum {
  ENTRY = 0x10, /* of st_other: STO_CUDA_ENTRY */
  /* Types of relocations: words of 32 and 64 bits, generic addresses of both sizes, and the halves of an address in
   * an immediate. */
  RELOCATION_32 = 1,
  RELOCATION_64 = 2,
  RELOCATION_GENERIC_32 = 3,
  RELOCATION_GENERIC_64 = 4,
  RELOCATION_LOW_32 = 0x38,
  RELOCATION_HIGH_32 = 0x39,
  /* The target of CALL.ABS, before sm_90 and of it. */
  RELOCATION_CALL = 0x3a,
  RELOCATION_CALL_90 = 0x4b,
  IMMEDIATE_BIT = 32,
};

/* ---- symbols ---- */

static void add_symbol(McCubin *cubin, const Elf64_Sym *from, McBytes names) {
  bool is_section = ELF64_ST_TYPE(from->st_info) == STT_SECTION;
  guint section = from->st_shndx < cubin->elf.count ? from->st_shndx : 0;
  const char *name = is_section ? mc_elf_name(&cubin->elf, section) : mc_elf_string(names, from->st_name);
  McCubinSymbol symbol = {
      .name = name ? name : "", .section = section, .value = from->st_value, .entry = (from->st_other & ENTRY) != 0};
  bool function = ELF64_ST_TYPE(from->st_info) == STT_FUNC;
  symbol.entry = symbol.entry && function;
  g_array_append_val(cubin->symbols, symbol);
  if (*symbol.name == '\0')
    return;
  McModule *module = cubin->module;
  McSymbol known = {.name = mc_module_intern(module, symbol.name),
                    .section = section ? mc_module_intern(module, mc_elf_name(&cubin->elf, section)) : NULL,
                    .value = from->st_value,
                    .bytes = from->st_size,
                    .function = function};
  g_array_append_val(module->symbols, known);
}

void mc_cubin_read_symbols(McCubin *cubin) {
  for (guint i = 1; i < cubin->elf.count; i++) {
    const Elf64_Shdr *section = &cubin->elf.sections[i];
    if (section->sh_type != SHT_SYMTAB)
      continue;
    McBytes bytes = mc_elf_bytes(&cubin->elf, i), names = mc_elf_bytes(&cubin->elf, section->sh_link);
    for (gsize at = 0; at + sizeof(Elf64_Sym) <= bytes.length; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      memcpy(&symbol, bytes.at + at, sizeof symbol);
      add_symbol(cubin, &symbol, names);
    }
    return;
  }
}

/* ---- data ---- */

static bool is_data(const char *name) {
  static const char *const prefixes[] = {".nv.constant", ".nv.global", ".nv.shared", ".nv.local"};
  for (guint i = 0; i < G_N_ELEMENTS(prefixes); i++)
    if (g_str_has_prefix(name, prefixes[i]))
      return true;
  return false;
}

void mc_cubin_read_data(McCubin *cubin) {
  for (guint i = 1; i < cubin->elf.count; i++) {
    const Elf64_Shdr *section = &cubin->elf.sections[i];
    const char *name = mc_elf_name(&cubin->elf, i);
    if (!is_data(name) || section->sh_type == SHT_NULL)
      continue;
    if (section->sh_size > INT32_MAX) {
      mc_cubin_error(cubin, i, "data are above 2 GiB");
      continue;
    }
    McBytes bytes = mc_elf_bytes(&cubin->elf, i);
    McData data = {.section = mc_module_intern(cubin->module, name), .bytes = (uint32_t)section->sh_size};
    if (bytes.length > 0)
      data.data = g_memdup2(bytes.at, bytes.length);
    g_array_append_val(cubin->module->data, data);
  }
}

/* ---- relocations ---- */

typedef struct Relocation {
  guint target; /* section */
  uint64_t offset;
  uint32_t type;
  const McCubinSymbol *symbol;
  bool has_addend;
  int64_t addend;
} Relocation;

static McData *find_data(McCubin *cubin, guint section) {
  const char *name = mc_elf_name(&cubin->elf, section);
  return (McData *)mc_find_data(cubin->module, name);
}

/* Where it has none of its own, the word is the addend. */
static int64_t addend_in(const uint8_t *bytes, uint8_t width) {
  uint64_t value = 0;
  for (guint i = 0; i < width; i++)
    value |= (uint64_t)bytes[i] << 8 * i;
  return width == 4 ? (int32_t)value : (int64_t)value;
}

static void relocate_data(McCubin *cubin, McData *data, const Relocation *from) {
  static const uint8_t widths[] = {
      [RELOCATION_32] = 4, [RELOCATION_64] = 8, [RELOCATION_GENERIC_32] = 4, [RELOCATION_GENERIC_64] = 8};
  uint8_t width = from->type < G_N_ELEMENTS(widths) ? widths[from->type] : 0;
  if (width == 0) {
    mc_cubin_error(cubin, from->target,
                   "the relocation at byte %#" G_GINT64_MODIFIER "x is of type %u, which isn't known", from->offset,
                   from->type);
    return;
  }
  if (!data->data || from->offset > data->bytes || data->bytes - from->offset < width) {
    mc_cubin_error(cubin, from->target, "the relocation at byte %#" G_GINT64_MODIFIER "x lies outside it",
                   from->offset);
    return;
  }
  McReloc reloc = {.offset = (uint32_t)from->offset,
                   .bytes = width,
                   .symbol = mc_module_intern(cubin->module, from->symbol->name),
                   .addend = from->addend};
  if (!from->has_addend)
    reloc.addend = addend_in(data->data + from->offset, width);
  memset(data->data + from->offset, 0, width);
  if (!data->relocs)
    data->relocs = g_array_new(FALSE, FALSE, sizeof(McReloc));
  g_array_append_val(data->relocs, reloc);
}

/* The operand that is the instruction's 32-bit immediate. */
static McOperand *find_immediate(McCubin *cubin, const McInst *inst) {
  uint32_t bits = (uint32_t)(inst->low >> IMMEDIATE_BIT);
  for (guint i = 0; i < inst->operands; i++) {
    McOperand *operand = (McOperand *)mc_operand(cubin->module, inst, i);
    if (operand->kind == MC_INTEGER && (uint32_t)operand->value == bits)
      return operand;
  }
  return NULL;
}

/* The name of a function, also where its section stands for it. */
static const char *name_of_function(McCubin *cubin, const McCubinSymbol *symbol) {
  static const char text[] = ".text.";
  gsize skipped = g_str_has_prefix(symbol->name, text) ? strlen(text) : 0;
  return mc_module_intern(cubin->module, symbol->name + skipped);
}

/* CALL.ABS `(name). */
static void relocate_call(McCubin *cubin, McInst *inst, const Relocation *from) {
  McOperand *operand = inst->operands ? (McOperand *)mc_operand(cubin->module, inst, 0) : NULL;
  bool calls = operand && strcmp(inst->root, "CALL") == 0 && operand->kind == MC_TARGET;
  uint64_t addend = from->has_addend ? (uint64_t)from->addend : calls ? operand->value : 0;
  if (!calls || !from->symbol || !*from->symbol->name || from->symbol->value + addend != 0) {
    mc_cubin_make_unknown(cubin->module, inst, inst->low);
    return;
  }
  operand->kind = MC_SYMBOL;
  operand->text = name_of_function(cubin, from->symbol);
}

/* MOV R4, 32@lo(name). A place in the kernel itself is a target, as in nvdisasm's listings. Object files for the
 * linker have relocations of many more kinds; an instruction with one of them is unknown until it is linked. */
static void relocate_inst(McCubin *cubin, const McKernel *kernel, const Relocation *from) {
  bool low = from->type == RELOCATION_LOW_32, high = from->type == RELOCATION_HIGH_32;
  if (from->offset / MC_INST_BYTES >= kernel->insts) {
    mc_cubin_error(cubin, from->target, "the relocation at byte %#" G_GINT64_MODIFIER "x lies outside it",
                   from->offset);
    return;
  }
  McInst *inst = (McInst *)mc_inst(cubin->module, kernel, (guint)(from->offset / MC_INST_BYTES));
  if (from->type == RELOCATION_CALL || from->type == RELOCATION_CALL_90) {
    relocate_call(cubin, inst, from);
    return;
  }
  McOperand *operand = find_immediate(cubin, inst);
  bool named = from->symbol && *from->symbol->name && (low || high);
  int64_t addend = from->has_addend ? from->addend : operand ? (int64_t)operand->value : 0;
  bool own = named && from->symbol->section == from->target;
  if (!operand || !named || (!own && addend != 0)) {
    mc_cubin_make_unknown(cubin->module, inst, inst->low);
  } else if (own) {
    operand->kind = low ? MC_TARGET : MC_INTEGER;
    operand->value = low ? from->symbol->value + (uint64_t)addend : 0;
  } else {
    operand->kind = MC_SYMBOL;
    operand->part = low ? MC_SYMBOL_LOW32 : MC_SYMBOL_HIGH32;
    operand->text = name_of_function(cubin, from->symbol);
  }
}

static void relocate(McCubin *cubin, const Relocation *relocation) {
  McKernel *kernel = mc_cubin_kernel(cubin, relocation->target);
  McData *data = find_data(cubin, relocation->target);
  if (kernel)
    relocate_inst(cubin, kernel, relocation);
  else if (data && relocation->symbol && *relocation->symbol->name)
    relocate_data(cubin, data, relocation);
  else if (data)
    mc_cubin_error(cubin, relocation->target,
                   "the relocation at byte %#" G_GINT64_MODIFIER "x is of a symbol that isn't there",
                   relocation->offset);
}

static gint compare_relocs(gconstpointer a, gconstpointer b) {
  uint32_t left = ((const McReloc *)a)->offset, right = ((const McReloc *)b)->offset;
  return left < right ? -1 : left > right;
}

static bool is_relocated(const McCubin *cubin, guint section) {
  return section > 0 && section < cubin->elf.count &&
         (is_data(mc_elf_name(&cubin->elf, section)) ||
          g_str_has_prefix(mc_elf_name(&cubin->elf, section), ".text."));
}

static void read_table(McCubin *cubin, guint table) {
  const Elf64_Shdr *section = &cubin->elf.sections[table];
  bool has_addend = section->sh_type == SHT_RELA;
  gsize size = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  McBytes bytes = mc_elf_bytes(&cubin->elf, table);
  if (!is_relocated(cubin, section->sh_info))
    return;
  for (gsize at = 0; at + size <= bytes.length; at += size) {
    Elf64_Rela entry = {0};
    memcpy(&entry, bytes.at + at, size);
    Relocation relocation = {.target = section->sh_info,
                             .offset = entry.r_offset,
                             .type = (uint32_t)ELF64_R_TYPE(entry.r_info),
                             .symbol = mc_cubin_symbol(cubin, ELF64_R_SYM(entry.r_info)),
                             .has_addend = has_addend,
                             .addend = has_addend ? entry.r_addend : 0};
    relocate(cubin, &relocation);
  }
}

void mc_cubin_read_relocations(McCubin *cubin) {
  for (guint i = 1; i < cubin->elf.count; i++)
    if (cubin->elf.sections[i].sh_type == SHT_REL || cubin->elf.sections[i].sh_type == SHT_RELA)
      read_table(cubin, i);
  for (guint i = 0; i < cubin->module->data->len; i++) {
    McData *data = &g_array_index(cubin->module->data, McData, i);
    if (data->relocs)
      g_array_sort(data->relocs, compare_relocs);
  }
}
