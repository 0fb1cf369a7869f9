/* .debug_line of a cubin: a line table of DWARF 2, with two opcodes of NVIDIA's that say where the lines that follow
 * were inlined: the place is an earlier row of the same sequence (a kernel's rows), by its number. */
#include <string.h>

#include "isa/mc/mc_cubin_reader.h"

enum {
  VERSION_MIN = 2,
  VERSION_MAX = 4,
  EXTENDED_END = 1,
  EXTENDED_ADDRESS = 2,
  EXTENDED_INLINED = 0x90,
  STANDARD_COPY = 1,
  STANDARD_ADVANCE_PC = 2,
  STANDARD_ADVANCE_LINE = 3,
  STANDARD_SET_FILE = 4,
  STANDARD_CONST_ADD_PC = 8,
  STANDARD_FIXED_ADVANCE_PC = 9,
};

typedef struct Row {
  uint64_t address;
  uint32_t file, line; /* file: index + 1 into McModule.files */
  uint32_t inlined;    /* index + 1 into the rows of where it was inlined */
} Row;

typedef struct Lines {
  McCubin *cubin;
  guint section;
  const uint8_t *start, *p, *end; /* of the section; end: of this unit */
  bool cut;                       /* it ended too early */
  uint8_t opcode_base, line_range, min_bytes;
  int8_t line_base;
  const uint8_t *lengths; /* of standard opcodes */
  GPtrArray *folders;     /* char * */
  GArray *files;          /* uint32_t: of the table, index + 1 into McModule.files */
  GArray *rows;           /* Row, of the whole unit */
  guint first;            /* of this sequence */
  McKernel *kernel;       /* whose code the sequence is, or NULL */
  GHashTable *frames;     /* row number -> 1 + index in McModule.frames, within a unit */
  uint64_t address;
  uint32_t file, inlined;
  int64_t line;
} Lines;

/* ---- bytes ---- */

static uint64_t take(Lines *lines, guint bytes) {
  uint64_t value = 0;
  if ((gsize)(lines->end - lines->p) < bytes) {
    lines->cut = true;
    lines->p = lines->end;
    return 0;
  }
  for (guint i = 0; i < bytes; i++)
    value |= (uint64_t)*lines->p++ << 8 * i;
  return value;
}

static void skip(Lines *lines, guint bytes) {
  if ((gsize)(lines->end - lines->p) < bytes)
    lines->cut = true;
  lines->p = lines->cut ? lines->end : lines->p + bytes;
}

static uint64_t take_uleb(Lines *lines) {
  uint64_t value = 0;
  for (guint shift = 0;; shift += 7) {
    uint64_t byte = take(lines, 1);
    if (shift < 64)
      value |= (byte & 127) << shift;
    if (!(byte & 128))
      return value;
  }
}

static uint32_t take_index(Lines *lines) {
  uint64_t value = take_uleb(lines);
  return (uint32_t)MIN(value, (uint64_t)UINT32_MAX);
}

static int64_t take_sleb(Lines *lines) {
  uint64_t value = 0;
  for (guint shift = 0;;) {
    uint64_t byte = take(lines, 1);
    if (shift < 64)
      value |= (byte & 127) << shift;
    shift += 7;
    if (!(byte & 128)) {
      if (shift < 64 && (byte & 64))
        value |= UINT64_MAX << shift;
      return (int64_t)value;
    }
  }
}

/* A string with its end, or NULL. */
static const char *take_string(Lines *lines) {
  const uint8_t *zero = memchr(lines->p, '\0', lines->end - lines->p);
  const char *string = (const char *)lines->p;
  if (!zero) {
    lines->cut = true;
    lines->p = lines->end;
    return NULL;
  }
  lines->p = zero + 1;
  return string;
}

/* ---- header ---- */

static uint32_t find_file(McModule *module, const char *name) {
  for (guint i = 0; i < module->files->len; i++)
    if (strcmp(g_ptr_array_index(module->files, i), name) == 0)
      return i + 1;
  g_ptr_array_add(module->files, g_strdup(name));
  return module->files->len;
}

static void add_file(Lines *lines, const char *name, uint64_t folder) {
  bool inside = folder > 0 && folder <= lines->folders->len && name[0] != '/';
  g_autofree char *whole =
      inside ? g_build_filename(g_ptr_array_index(lines->folders, folder - 1), name, NULL) : g_strdup(name);
  g_autofree char *shown = g_utf8_make_valid(whole, -1);
  uint32_t file = find_file(lines->cubin->module, shown);
  g_array_append_val(lines->files, file);
}

static void read_header(Lines *lines, unsigned version, const uint8_t *program) {
  lines->min_bytes = (uint8_t)take(lines, 1);
  if (version >= 4)
    take(lines, 1);
  take(lines, 1);
  lines->line_base = (int8_t)take(lines, 1);
  lines->line_range = (uint8_t)take(lines, 1);
  lines->opcode_base = (uint8_t)take(lines, 1);
  lines->lengths = lines->p;
  skip(lines, lines->opcode_base > 0 ? lines->opcode_base - 1u : 0);
  const char *name;
  while ((name = take_string(lines)) && *name)
    g_ptr_array_add(lines->folders, (char *)name);
  while (!lines->cut && (name = take_string(lines)) && *name) {
    uint64_t folder = take_uleb(lines);
    take_uleb(lines); /* time */
    take_uleb(lines); /* size */
    add_file(lines, name, folder);
  }
  if (!lines->cut && program >= lines->start && program <= lines->end)
    lines->p = program;
  else
    lines->cut = true;
}

/* ---- rows into instructions ---- */

/* The frame of a row that others were inlined at. Rows refer to earlier ones, so this ends. */
static uint32_t frame_of(Lines *lines, uint32_t number) {
  uint32_t parent = 0;
  g_autoptr(GArray) chain = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  while (number > 0) {
    gpointer known = g_hash_table_lookup(lines->frames, GUINT_TO_POINTER(number));
    if (known) {
      parent = GPOINTER_TO_UINT(known);
      break;
    }
    g_array_append_val(chain, number);
    number = g_array_index(lines->rows, Row, number - 1).inlined;
  }
  for (guint i = chain->len; i > 0; i--) {
    number = g_array_index(chain, uint32_t, i - 1);
    const Row *row = &g_array_index(lines->rows, Row, number - 1);
    McFrame frame = {.file = row->file, .line = row->line, .parent = parent};
    g_array_append_val(lines->cubin->module->frames, frame);
    parent = lines->cubin->module->frames->len;
    g_hash_table_insert(lines->frames, GUINT_TO_POINTER(number), GUINT_TO_POINTER(parent));
  }
  return parent;
}

/* Of rows with the same address the last one is the innermost. */
static void end_sequence(Lines *lines) {
  McKernel *kernel = lines->kernel;
  for (guint i = lines->first; kernel && i < lines->rows->len; i++) {
    const Row *row = &g_array_index(lines->rows, Row, i);
    uint64_t end = i + 1 < lines->rows->len ? row[1].address : lines->address;
    end = MIN(end, (uint64_t)kernel->insts * MC_INST_BYTES);
    if (row->address >= end)
      continue;
    uint32_t frame = frame_of(lines, row->inlined);
    for (uint64_t at = row->address / MC_INST_BYTES; at * MC_INST_BYTES < end; at++) {
      McInst *inst = (McInst *)mc_inst(lines->cubin->module, kernel, (guint)at);
      inst->source_file = row->file;
      inst->source_line = row->line;
      inst->inlined = frame;
    }
  }
  lines->first = lines->rows->len;
  lines->kernel = NULL;
  lines->address = 0;
  lines->file = lines->inlined = 0;
  lines->line = 1;
}

static void add_row(Lines *lines) {
  Row row = {.address = lines->address,
             .file = lines->file > 0 && lines->file <= lines->files->len
                         ? g_array_index(lines->files, uint32_t, lines->file - 1)
                         : 0,
             .line = (uint32_t)CLAMP(lines->line, 0, INT32_MAX),
             .inlined = lines->inlined <= lines->rows->len ? lines->inlined : 0};
  g_array_append_val(lines->rows, row);
}

/* ---- the program ---- */

/* The address of a sequence is a relocation: whose code it is, and where that starts. */
static void set_address(Lines *lines) {
  uint64_t offset = (uint64_t)(lines->p - lines->start);
  lines->address = take(lines, 8);
  McCubin *cubin = lines->cubin;
  for (guint i = 1; i < cubin->elf.count; i++) {
    const Elf64_Shdr *section = &cubin->elf.sections[i];
    if (section->sh_info != lines->section || (section->sh_type != SHT_REL && section->sh_type != SHT_RELA))
      continue;
    gsize size = section->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    McBytes bytes = mc_elf_bytes(&cubin->elf, i);
    for (gsize at = 0; at + size <= bytes.length; at += size) {
      Elf64_Rela entry = {0};
      memcpy(&entry, bytes.at + at, size);
      const McCubinSymbol *symbol = mc_cubin_symbol(cubin, ELF64_R_SYM(entry.r_info));
      if (entry.r_offset != offset || !symbol)
        continue;
      lines->kernel = mc_cubin_kernel(cubin, symbol->section);
      lines->address += symbol->value + (uint64_t)entry.r_addend;
      return;
    }
  }
}

/* The row, counted from 1 in this sequence; then the name of the function. */
static void take_inlined(Lines *lines) {
  uint32_t row = take_index(lines);
  lines->inlined = row ? lines->first + row : 0;
}

static void run_extended(Lines *lines) {
  uint64_t length = take_uleb(lines);
  const uint8_t *start = lines->p;
  if (length == 0 || length > (uint64_t)(lines->end - start)) {
    lines->cut = true;
    return;
  }
  switch (take(lines, 1)) {
  case EXTENDED_END: end_sequence(lines); break;
  case EXTENDED_ADDRESS: set_address(lines); break;
  case EXTENDED_INLINED: take_inlined(lines); break;
  }
  lines->p = start + length;
}

static void run_standard(Lines *lines, uint8_t opcode) {
  switch (opcode) {
  case STANDARD_COPY: add_row(lines); break;
  case STANDARD_ADVANCE_PC: lines->address += take_uleb(lines) * lines->min_bytes; break;
  case STANDARD_ADVANCE_LINE: lines->line += (int32_t)take_sleb(lines); break;
  case STANDARD_SET_FILE: lines->file = take_index(lines); break;
  case STANDARD_CONST_ADD_PC:
    lines->address += (255u - lines->opcode_base) / lines->line_range * lines->min_bytes;
    break;
  case STANDARD_FIXED_ADVANCE_PC: lines->address += take(lines, 2); break;
  default:
    for (uint8_t i = 0; i < lines->lengths[opcode - 1]; i++)
      take_uleb(lines);
  }
}

static void run_special(Lines *lines, uint8_t opcode) {
  unsigned adjusted = (unsigned)(opcode - lines->opcode_base);
  lines->address += adjusted / lines->line_range * lines->min_bytes;
  lines->line += lines->line_base + (int)(adjusted % lines->line_range);
  add_row(lines);
}

static void run_program(Lines *lines) {
  if (lines->line_range == 0 || lines->opcode_base == 0)
    lines->cut = true;
  lines->line = 1;
  while (!lines->cut && lines->p < lines->end) {
    uint8_t opcode = (uint8_t)take(lines, 1);
    if (opcode == 0)
      run_extended(lines);
    else if (opcode < lines->opcode_base)
      run_standard(lines, opcode);
    else
      run_special(lines, opcode);
  }
}

/* ---- units ---- */

static void read_unit(Lines *lines) {
  unsigned version = (unsigned)take(lines, 2);
  uint64_t header = take(lines, 4);
  if (lines->cut)
    return;
  if (version < VERSION_MIN || version > VERSION_MAX) {
    diag_note(lines->cubin->diag, lines->cubin->file, 0, 0,
              "lines of the source are left out: their table is of DWARF %u, not 2 to 4", version);
    lines->p = lines->end;
    return;
  }
  const uint8_t *program = lines->p + MIN(header, (uint64_t)(lines->end - lines->p));
  read_header(lines, version, program);
  run_program(lines);
}

static bool next_unit(Lines *lines, const uint8_t *section_end) {
  lines->end = section_end;
  uint64_t length = take(lines, 4);
  if (length > (uint64_t)(section_end - lines->p))
    lines->cut = true;
  if (lines->cut)
    return false;
  lines->end = lines->p + length;
  g_ptr_array_set_size(lines->folders, 0);
  g_array_set_size(lines->files, 0);
  g_array_set_size(lines->rows, 0);
  g_hash_table_remove_all(lines->frames);
  lines->first = 0;
  lines->kernel = NULL;
  lines->address = 0;
  lines->file = lines->inlined = 0;
  return true;
}

void mc_cubin_read_lines(McCubin *cubin) {
  guint section = mc_elf_find(&cubin->elf, ".debug_line");
  McBytes bytes = mc_elf_bytes(&cubin->elf, section);
  if (section == 0 || bytes.length == 0)
    return;
  Lines lines = {.cubin = cubin,
                 .section = section,
                 .start = bytes.at,
                 .p = bytes.at,
                 .folders = g_ptr_array_new(),
                 .files = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                 .rows = g_array_new(FALSE, FALSE, sizeof(Row)),
                 .frames = g_hash_table_new(NULL, NULL)};
  const uint8_t *end = bytes.at + bytes.length;
  while (lines.p < end && next_unit(&lines, end)) {
    read_unit(&lines);
    if (lines.cut)
      break;
    lines.p = lines.end;
  }
  if (lines.cut)
    mc_cubin_error(cubin, section, "the line table ends too early, at byte %#" G_GSIZE_MODIFIER "x",
                   (gsize)(lines.p - lines.start));
  g_ptr_array_unref(lines.folders);
  g_array_unref(lines.files);
  g_array_unref(lines.rows);
  g_hash_table_unref(lines.frames);
}
