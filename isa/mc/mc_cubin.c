#include "isa/mc/mc_cubin.h"

#include <string.h>

#include "base/quote.h"
#include "isa/mc/mc_cubin_decode.h"
#include "isa/mc/mc_cubin_reader.h"
#include "isa/mc/mc_info.h"
#include "isa/mc/mc_link.h"
#include "isa/mc/mc_listing_reader.h"

enum {
  ABI_NEW = 0x41, /* EI_OSABI of CUDA 13: bits 8 to 15 of the flags have the architecture; before, bits 0 to 7 */
  CUBIN_BYTES_MAX = 1 << 30,
};

bool mc_cubin_error(McCubin *cubin, guint section, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  g_autofree char *name = quote_text(mc_elf_name(&cubin->elf, section));
  return diag_error(cubin->diag, cubin->file, 0, 0, "section %s: %s", name, message);
}

const McCubinSymbol *mc_cubin_symbol(const McCubin *cubin, guint64 index) {
  return index < cubin->symbols->len ? &g_array_index(cubin->symbols, McCubinSymbol, index) : NULL;
}

McKernel *mc_cubin_kernel(McCubin *cubin, guint section) {
  static const char text[] = ".text.";
  const char *name = mc_elf_name(&cubin->elf, section);
  return g_str_has_prefix(name, text) ? mc_info_kernel(cubin->module, name + strlen(text)) : NULL;
}

/* ---- code ---- */

static uint64_t word_at(const uint8_t *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return GUINT64_FROM_LE(word);
}

void mc_cubin_make_unknown(McModule *module, McInst *inst, uint64_t low) {
  char opcode[16];
  g_snprintf(opcode, sizeof opcode, "?.0x%03x", (unsigned)(low & 0xfff));
  inst->guard = (McOperand){.kind = MC_PREDICATE,
                            .number = (int16_t)(low >> 12 & 7),
                            .negated = low >> 15 & 1,
                            .scale = 1,
                            .base = MC_NO_REGISTER};
  inst->name = mc_module_intern(module, opcode);
  inst->root = "?";
  memset(inst->modifiers, 0, sizeof inst->modifiers);
  inst->modifiers[0] = mc_module_intern(module, opcode + 2);
  inst->operands = 0;
}

static void add_unknown(McReader *reader, const McEncoding *encoding) {
  McInst inst = {.address = encoding->address, .first_operand = reader->module->operands->len};
  mc_cubin_make_unknown(reader->module, &inst, encoding->low);
  g_array_append_val(reader->module->insts, inst);
  reader->kernel->insts++;
  reader->expected += MC_INST_BYTES;
}

static void read_inst(McReader *reader, const uint8_t *bytes, GString *text) {
  McEncoding encoding = {.sm = reader->kernel->sm,
                         .address = reader->kernel->insts * MC_INST_BYTES,
                         .low = word_at(bytes),
                         .high = word_at(bytes + 8)};
  g_string_truncate(text, 0);
  if (!mc_decode(&encoding, text) || !mc_reader_inst_text(reader, text->str))
    add_unknown(reader, &encoding);
  McInst *inst = &g_array_index(reader->module->insts, McInst, reader->module->insts->len - 1);
  inst->line = inst->column = 0;
  inst->encoded = true;
  inst->low = encoding.low;
  inst->high = encoding.high;
}

static bool is_entry(const McCubin *cubin, guint section, const char *name) {
  for (guint i = 0; i < cubin->symbols->len; i++) {
    const McCubinSymbol *symbol = &g_array_index(cubin->symbols, McCubinSymbol, i);
    if (symbol->entry && symbol->section == section && strcmp(symbol->name, name) == 0)
      return true;
  }
  return false;
}

static void read_code(McCubin *cubin, McReader *reader, guint section) {
  McBytes bytes = mc_elf_bytes(&cubin->elf, section);
  const char *name = mc_elf_name(&cubin->elf, section);
  if (bytes.length == 0 || bytes.length % MC_INST_BYTES != 0) {
    mc_cubin_error(cubin, section, "expected instructions of %d bytes, found %" G_GSIZE_FORMAT " bytes",
                   MC_INST_BYTES, bytes.length);
    return;
  }
  reader->kind = MC_TEXT;
  reader->section = mc_module_intern(cubin->module, name);
  mc_begin_kernel(reader, mc_module_intern(cubin->module, name + strlen(".text.")));
  reader->kernel->entry = is_entry(cubin, section, reader->kernel->name);
  reader->kernel->line = 0;
  g_autoptr(GString) text = g_string_new(NULL);
  for (gsize at = 0; at < bytes.length; at += MC_INST_BYTES)
    read_inst(reader, bytes.at + at, text);
  mc_end_kernel(reader);
}

static void read_all_code(McCubin *cubin, unsigned sm) {
  g_autoptr(Diag) diag = diag_new(); /* text of our own making has no errors that concern anyone */
  McReader reader;
  mc_reader_init(&reader, cubin->module, cubin->file, "", 0, diag);
  reader.sm = sm;
  for (guint i = 1; i < cubin->elf.count; i++)
    if (g_str_has_prefix(mc_elf_name(&cubin->elf, i), ".text.") && cubin->elf.sections[i].sh_type == SHT_PROGBITS)
      read_code(cubin, &reader, i);
  mc_reader_clear(&reader);
}

/* ---- attributes ---- */

static const char *name_of_symbol(const void *context, uint32_t index) {
  const McCubinSymbol *symbol = mc_cubin_symbol(context, index);
  return symbol ? symbol->name : NULL;
}

static void read_attributes(McCubin *cubin) {
  static const char own[] = ".nv.info.";
  for (guint i = 1; i < cubin->elf.count; i++) {
    const char *name = mc_elf_name(&cubin->elf, i);
    McBytes bytes = mc_elf_bytes(&cubin->elf, i);
    McInfo info = {.bytes = bytes.at, .length = bytes.length, .symbol = name_of_symbol, .context = cubin};
    if (g_str_has_prefix(name, own))
      info.kernel = name + strlen(own);
    else if (strcmp(name, ".nv.info") != 0)
      continue;
    gsize at;
    if (!mc_info_read(cubin->module, &info, &at))
      mc_cubin_error(cubin, i, "the attribute at byte %#" G_GSIZE_MODIFIER "x is cut off or has an unknown format",
                     at);
  }
  mc_settle_kernels(cubin->module);
}

/* ---- the whole ---- */

static unsigned architecture(const McElf *elf) {
  unsigned flags = elf->header.e_flags;
  return elf->header.e_ident[EI_OSABI] == ABI_NEW ? flags >> 8 & 255 : flags & 255;
}

bool mc_is_cubin(const uint8_t *bytes, gsize length) {
  Elf64_Ehdr header;
  if (length < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0)
    return false;
  memcpy(&header, bytes, sizeof header);
  return header.e_ident[EI_CLASS] == ELFCLASS64 && GUINT16_FROM_LE(header.e_machine) == MC_ELF_CUDA;
}

static void read_all(McCubin *cubin) {
  unsigned sm = architecture(&cubin->elf);
  if (sm < MC_SM_MIN || sm > MC_SM_MAX) {
    diag_error(cubin->diag, cubin->file, 0, 0, "this cubin is of sm_%u, expected sm_%d to sm_%d", sm, MC_SM_MIN,
               MC_SM_MAX);
    return;
  }
  mc_cubin_read_symbols(cubin);
  read_all_code(cubin, sm);
  mc_cubin_read_data(cubin);
  read_attributes(cubin);
  mc_cubin_read_relocations(cubin);
  mc_cubin_read_lines(cubin);
  if (diag_error_count(cubin->diag) == cubin->errors)
    mc_link(cubin->module);
  if (cubin->module->kernels->len == 0 && diag_error_count(cubin->diag) == cubin->errors)
    diag_error(cubin->diag, cubin->file, 0, 0, "this cubin has no code");
}

McModule *mc_cubin_read(const char *file, const uint8_t *bytes, gsize length, Diag *diag) {
  McCubin cubin = {.file = file, .diag = diag, .errors = diag_error_count(diag)};
  const char *problem = "it is above 1 GiB";
  if (length > CUBIN_BYTES_MAX || !mc_elf_open(&cubin.elf, bytes, length, MC_ELF_CUDA, &problem)) {
    diag_error(diag, file, 0, 0, "this is no cubin that can be read: %s", problem);
    mc_elf_clear(&cubin.elf);
    return NULL;
  }
  cubin.symbols = g_array_new(FALSE, TRUE, sizeof(McCubinSymbol));
  cubin.module = mc_module_new(file);
  cubin.module->has_data = true;
  read_all(&cubin);
  g_array_unref(cubin.symbols);
  mc_elf_clear(&cubin.elf);
  if (diag_error_count(diag) > cubin.errors)
    g_clear_pointer(&cubin.module, mc_module_free);
  return cubin.module;
}
