/* Sections of nvdisasm's listings: labels, symbols, words of data. Names are looked up when all has been read. */
#include <string.h>

#include "base/quote.h"
#include "isa/mc/mc_listing_reader.h"

void mc_blob_clear(gpointer item) {
  McBlob *blob = item;
  if (blob->data)
    g_byte_array_unref(blob->data);
  if (blob->relocs)
    g_array_unref(blob->relocs);
}

/* ---- sections ---- */

static McSectionKind kind_of(const char *name) {
  static const char *const data[] = {".nv.constant", ".nv.global", ".nv.shared", ".nv.local"};
  if (g_str_has_prefix(name, ".text."))
    return MC_TEXT;
  if (strcmp(name, ".nv.info") == 0 || g_str_has_prefix(name, ".nv.info."))
    return MC_INFO;
  for (guint i = 0; i < G_N_ELEMENTS(data); i++)
    if (g_str_has_prefix(name, data[i]))
      return MC_DATA;
  return MC_IGNORED;
}

/* .section .text.kernel,"ax",@progbits */
bool mc_read_section(McReader *reader) {
  mc_reader_space(reader);
  const char *name = reader->p;
  gsize length = mc_reader_word(reader, name);
  if (length == 0 || length > MC_WORD_MAX)
    return mc_reader_unexpected(reader, name, "the name of a section");
  reader->section = mc_reader_intern(reader, name, length);
  mc_end_kernel(reader);
  reader->module->has_data = true;
  reader->kind = kind_of(reader->section);
  reader->blob = NULL;
  if (reader->kind == MC_TEXT) {
    mc_begin_kernel(reader, mc_module_intern(reader->module, reader->section + strlen(".text.")));
  } else if (reader->kind != MC_IGNORED) {
    McBlob blob = {.section = reader->section, .kind = reader->kind};
    blob.reserved = g_strstr_len(name, reader->stop - name, "@nobits") != NULL;
    if (!blob.reserved)
      blob.data = g_byte_array_new();
    g_array_append_val(reader->blobs, blob);
    reader->blob = &g_array_index(reader->blobs, McBlob, reader->blobs->len - 1);
  }
  return true;
}

static uint64_t position(const McReader *reader) {
  if (reader->kind == MC_TEXT)
    return reader->expected;
  return reader->blob ? reader->blob->bytes : 0;
}

static bool grow(McReader *reader, const char *at, uint64_t bytes) {
  McBlob *blob = reader->blob;
  uint64_t whole = blob->bytes + bytes;
  bool kept = blob->data != NULL;
  if (whole > INT32_MAX || (kept && (reader->zeros += bytes) > MC_ZEROS_MAX))
    return mc_reader_error(reader, at, "the sections' data are above %u MiB", kept ? MC_ZEROS_MAX >> 20 : 2048u);
  if (kept) {
    g_byte_array_set_size(blob->data, (guint)whole);
    memset(blob->data->data + blob->bytes, 0, bytes);
  }
  blob->bytes = (uint32_t)whole;
  return true;
}

/* ---- words of data ---- */

typedef struct Item {
  bool number;
  uint64_t value;
  McPending pending;
} Item;

static const char *keep(McReader *reader, const char *name, gsize length) {
  return g_string_chunk_insert_len(reader->strings, name, length);
}

static bool read_item_name(McReader *reader, const char **name) {
  const char *at = reader->p;
  gsize length = mc_reader_word(reader, at);
  if (length == 0 || length > MC_WORD_MAX || g_ascii_isdigit(*at))
    return mc_reader_unexpected(reader, at, "a number, a label or a symbol");
  reader->p += length;
  *name = keep(reader, at, length);
  return true;
}

/* What an item wraps its name in: index@(name), 32@lo(name), fun@R_CUDA_G64(name), (name). How many brackets are
 * open. */
static guint open_item(McReader *reader, McPending *pending) {
  const char *start = reader->p;
  guint open = 0;
  if (mc_reader_take(reader, "index@(")) {
    open = 1;
    pending->position = true;
  } else if (mc_reader_take(reader, "32@lo(")) {
    open = 1;
    pending->part = MC_SYMBOL_LOW32;
  } else if (mc_reader_take(reader, "32@hi(")) {
    open = 1;
    pending->part = MC_SYMBOL_HIGH32;
  } else if (mc_reader_take(reader, "fun@")) {
    reader->p += mc_reader_word(reader, reader->p);
    if (mc_reader_take(reader, "("))
      open = 1;
    else
      reader->p = start;
  }
  while (mc_reader_take(reader, "("))
    open++;
  return open;
}

/* name, name@srel, name + 0x10, .L_2 - .L_1, within what open_item() has read. */
static bool read_reference(McReader *reader, McPending *pending) {
  guint open = open_item(reader, pending);
  if (!read_item_name(reader, &pending->name))
    return false;
  pending->relative = mc_reader_take(reader, "@srel");
  mc_reader_space(reader);
  bool minus = mc_reader_take(reader, "-");
  if (minus || mc_reader_take(reader, "+")) {
    mc_reader_space(reader);
    uint64_t value = 0;
    bool number = reader->p < reader->stop && g_ascii_isdigit(*reader->p);
    if (number ? !mc_reader_number(reader, &value) : !read_item_name(reader, &pending->minus))
      return false;
    if (!number && !minus)
      return mc_reader_unexpected(reader, reader->p, "a number behind `+`");
    pending->addend = (int64_t)(minus ? -value : value);
  }
  for (; open > 0; open--)
    if (!mc_reader_take(reader, ")"))
      return mc_reader_unexpected(reader, reader->p, "`)`");
  return true;
}

static bool read_item(McReader *reader, Item *item) {
  memset(item, 0, sizeof *item);
  item->pending.line = reader->number;
  item->pending.column = (uint32_t)(reader->p - reader->line) + 1;
  bool minus = mc_reader_take(reader, "-");
  if (reader->p < reader->stop && g_ascii_isdigit(*reader->p) && !mc_reader_starts(reader, "32@")) {
    item->number = true;
    if (!mc_reader_number(reader, &item->value))
      return false;
    if (minus)
      item->value = -item->value;
    return true;
  }
  return read_reference(reader, &item->pending);
}

static void put_word(GByteArray *data, uint32_t offset, uint32_t bytes, uint64_t value) {
  for (uint32_t i = 0; i < bytes && offset + i < data->len; i++)
    data->data[offset + i] = (uint8_t)(value >> 8 * i);
}

static bool at_line_end(McReader *reader, const char *expected) {
  mc_reader_space(reader);
  return reader->p == reader->stop || mc_reader_starts(reader, "//") ||
         mc_reader_unexpected(reader, reader->p, expected);
}

static bool read_words(McReader *reader, uint32_t bytes) {
  do {
    mc_reader_space(reader);
    const char *at = reader->p;
    Item item;
    if (!read_item(reader, &item))
      return false;
    McBlob *blob = reader->blob;
    uint32_t offset = blob->bytes;
    if (!blob->data)
      return mc_reader_error(reader, at, "%s has no bytes in the file, expected `.zero`", blob->section);
    if (!grow(reader, at, bytes))
      return false;
    if (item.number) {
      put_word(blob->data, offset, bytes, item.value);
    } else {
      item.pending.kind = MC_PENDING_DATA;
      item.pending.index = (uint32_t)(blob - (McBlob *)reader->blobs->data);
      item.pending.offset = offset;
      item.pending.bytes = (uint8_t)bytes;
      g_array_append_val(reader->pending, item.pending);
    }
    mc_reader_space(reader);
  } while (mc_reader_take(reader, ","));
  return at_line_end(reader, "`,` or the end of the line");
}

static bool read_zeros(McReader *reader) {
  const char *at = reader->p;
  uint64_t bytes;
  return mc_reader_number(reader, &bytes) && at_line_end(reader, "the end of the line") &&
         grow(reader, at, MIN(bytes, (uint64_t)UINT32_MAX));
}

static bool align(McReader *reader) {
  const char *at = reader->p;
  uint64_t bytes;
  if (!mc_reader_number(reader, &bytes))
    return false;
  if (bytes == 0 || bytes > 1 << 20 || (bytes & (bytes - 1)))
    return mc_reader_unexpected(reader, at, "a power of two");
  if (!reader->blob)
    return true;
  uint64_t over = reader->blob->bytes & (bytes - 1);
  return over == 0 || grow(reader, at, bytes - over);
}

/* ---- symbols ---- */

static guint find_symbol(McReader *reader, const char *name, gsize length) {
  const char *interned = mc_reader_intern(reader, name, length);
  gpointer found = g_hash_table_lookup(reader->symbols, interned);
  if (found)
    return GPOINTER_TO_UINT(found) - 1;
  McSymbol symbol = {.name = interned};
  g_array_append_val(reader->module->symbols, symbol);
  g_hash_table_insert(reader->symbols, (char *)interned, GUINT_TO_POINTER(reader->module->symbols->len));
  return reader->module->symbols->len - 1;
}

static McSymbol *symbol_at(McReader *reader, guint index) {
  return &g_array_index(reader->module->symbols, McSymbol, index);
}

/* .type name,@function; .size name,(end - name); .other name,@"STO_CUDA_ENTRY ..." */
static bool read_of_symbol(McReader *reader, const char *directive) {
  const char *name = reader->p;
  gsize length = mc_reader_word(reader, name);
  if (length == 0 || length > MC_WORD_MAX)
    return mc_reader_unexpected(reader, name, "a symbol");
  reader->p += length;
  guint index = find_symbol(reader, name, length);
  mc_reader_space(reader);
  if (!mc_reader_take(reader, ","))
    return mc_reader_unexpected(reader, reader->p, "`,`");
  mc_reader_space(reader);
  if (strcmp(directive, ".type") == 0) {
    symbol_at(reader, index)->function = mc_reader_starts(reader, "@function");
  } else if (strcmp(directive, ".other") == 0) {
    bool entry = g_strstr_len(reader->p, reader->stop - reader->p, "STO_CUDA_ENTRY") != NULL;
    if (entry && reader->kernel && symbol_at(reader, index)->name == reader->kernel->name)
      reader->kernel->entry = true;
  } else {
    Item item;
    if (!read_item(reader, &item))
      return false;
    item.pending.kind = MC_PENDING_SIZE;
    item.pending.index = index;
    if (item.number)
      symbol_at(reader, index)->bytes = item.value;
    else
      g_array_append_val(reader->pending, item.pending);
  }
  return true;
}

bool mc_read_label(McReader *reader, gsize length) {
  const char *at = reader->p;
  if (length > MC_WORD_MAX)
    return mc_reader_error(reader, at, "a label has at most %d bytes", MC_WORD_MAX);
  if (reader->kind == MC_IGNORED)
    return true;
  McLabel *label = g_new(McLabel, 1);
  *label = (McLabel){.section = reader->section, .value = position(reader)};
  const char *name = keep(reader, at, length);
  if (!g_hash_table_insert(reader->labels, (char *)name, label))
    return mc_reader_error(reader, at, "the label %.60s stands twice", name);
  if (!g_str_has_prefix(name, ".L_")) {
    McSymbol *symbol = symbol_at(reader, find_symbol(reader, at, length));
    symbol->section = reader->section;
    symbol->value = label->value;
  }
  return true;
}

/* ---- directives ---- */

/* Data stand where their address says; what the listing leaves out before them is zero. */
static bool go_to(McReader *reader, bool has_address, uint64_t address) {
  if (!has_address || address == reader->blob->bytes)
    return true;
  if (address < reader->blob->bytes)
    return mc_reader_error(reader, reader->line, "expected data at %04x or above, found %04" G_GINT64_MODIFIER "x",
                           reader->blob->bytes, address);
  return grow(reader, reader->line, address - reader->blob->bytes);
}

bool mc_read_directive(McReader *reader, bool has_address, uint64_t address) {
  static const struct {
    const char *name;
    uint32_t bytes;
  } words[] = {{".byte", 1}, {".short", 2}, {".word", 4}, {".dword", 8}};
  static const char *const of_symbols[] = {".type", ".size", ".other"};
  static const char *const ignored[] = {
      ".global",  ".weak",        ".local",       ".globl",        ".hidden",      ".target",
      ".elftype", ".headerflags", ".sectioninfo", ".sectionflags", ".tkinfo",      ".sectionentsize",
      ".string",  ".visibility",  ".file",        ".version",      ".address_size"};
  const char *at = reader->p;
  gsize length = mc_reader_word(reader, at);
  g_autofree char *name = g_strndup(at, MIN(length, (gsize)MC_WORD_MAX));
  reader->p += length;
  mc_reader_space(reader);
  if (reader->kind == MC_IGNORED)
    return true;
  for (guint i = 0; i < G_N_ELEMENTS(of_symbols); i++)
    if (strcmp(name, of_symbols[i]) == 0)
      return read_of_symbol(reader, name);
  if (strcmp(name, ".align") == 0)
    return align(reader);
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    if (reader->blob && strcmp(name, words[i].name) == 0)
      return go_to(reader, has_address, address) && read_words(reader, words[i].bytes);
  if (reader->blob && strcmp(name, ".zero") == 0)
    return go_to(reader, has_address, address) && read_zeros(reader);
  for (guint i = 0; i < G_N_ELEMENTS(ignored); i++)
    if (strcmp(name, ignored[i]) == 0)
      return true;
  reader->p = at;
  if (!reader->blob)
    return mc_reader_unexpected(reader, at, "an instruction, a label or a directive of nvdisasm");
  return mc_reader_unexpected(reader, at,
                              "data (.byte .short .word .dword .zero), a label or a directive of nvdisasm");
}

/* ---- names ---- */

static void missing(McReader *reader, const McPending *pending, const char *name) {
  g_autofree char *shown = quote_text(name);
  diag_error(reader->diag, reader->file, pending->line, pending->column, "the label %s stands nowhere", shown);
}

static void resolve_operand(McReader *reader, const McPending *pending) {
  McOperand *operand = &g_array_index(reader->module->operands, McOperand, pending->index);
  const McLabel *label = g_hash_table_lookup(reader->labels, pending->name);
  if (label && label->section == pending->section) {
    bool high = pending->part == MC_SYMBOL_HIGH32;
    operand->kind = high ? MC_INTEGER : MC_TARGET;
    operand->part = 0;
    operand->value = high ? 0 : label->value;
  } else if (g_str_has_prefix(pending->name, ".L_")) {
    missing(reader, pending, pending->name);
  } else {
    operand->text = mc_module_intern(reader->module, pending->name);
  }
}

/* The difference of two labels, or the place of one in its section. */
static bool find_value(McReader *reader, const McPending *pending, uint64_t *value) {
  const McLabel *label = g_hash_table_lookup(reader->labels, pending->name);
  const McLabel *minus = pending->minus ? g_hash_table_lookup(reader->labels, pending->minus) : NULL;
  if (!label || (pending->minus && !minus)) {
    missing(reader, pending, label ? pending->minus : pending->name);
    return false;
  }
  *value = label->value - (minus ? minus->value : 0) + (uint64_t)pending->addend;
  return true;
}

static void resolve_data(McReader *reader, const McPending *pending) {
  McBlob *blob = &g_array_index(reader->blobs, McBlob, pending->index);
  uint64_t value;
  if (pending->position) {
    put_word(blob->data, pending->offset, pending->bytes, reader->names->len);
    g_ptr_array_add(reader->names, (char *)pending->name);
  } else if (pending->minus || pending->relative || g_str_has_prefix(pending->name, ".L_")) {
    if (find_value(reader, pending, &value))
      put_word(blob->data, pending->offset, pending->bytes, value);
  } else {
    McReloc reloc = {.offset = pending->offset,
                     .bytes = pending->bytes,
                     .part = pending->part,
                     .symbol = mc_module_intern(reader->module, pending->name),
                     .addend = pending->addend};
    if (!blob->relocs)
      blob->relocs = g_array_new(FALSE, FALSE, sizeof(McReloc));
    g_array_append_val(blob->relocs, reloc);
  }
}

void mc_resolve(McReader *reader) {
  for (guint i = 0; i < reader->pending->len; i++) {
    const McPending *pending = &g_array_index(reader->pending, McPending, i);
    uint64_t bytes;
    switch (pending->kind) {
    case MC_PENDING_OPERAND: resolve_operand(reader, pending); break;
    case MC_PENDING_DATA: resolve_data(reader, pending); break;
    case MC_PENDING_SIZE:
      if (find_value(reader, pending, &bytes))
        symbol_at(reader, pending->index)->bytes = bytes;
      break;
    }
  }
  for (guint i = 0; i < reader->blobs->len; i++) {
    McBlob *blob = &g_array_index(reader->blobs, McBlob, i);
    if (blob->kind != MC_DATA)
      continue;
    McData data = {.section = blob->section, .bytes = blob->bytes, .relocs = g_steal_pointer(&blob->relocs)};
    if (blob->data)
      data.data = g_byte_array_free(g_steal_pointer(&blob->data), FALSE);
    g_array_append_val(reader->module->data, data);
  }
}
