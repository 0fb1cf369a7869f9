#include "isa/mc/mc_fatbin.h"

#include <string.h>

#include "isa/mc/mc_cubin.h"
#include "isa/mc/mc_cubin_elf.h"
#include "isa/mc/mc_unpack.h"

#define FATBIN_MAGIC UINT32_C(0xba55ed50)

/* A fat binary: a head, then entries, each with a head of its own. Where the fields are, in bytes. */
enum {
  HEAD_BYTES = 16,
  HEAD_SIZE = 6,   /* 16 bits: of the head */
  HEAD_LENGTH = 8, /* 64: of all entries */
  ENTRY_BYTES = 64,
  ENTRY_KIND = 0,      /* 16 */
  ENTRY_SIZE = 4,      /* 32: of the entry's head */
  ENTRY_LENGTH = 8,    /* 64: of what follows it */
  ENTRY_PACKED = 16,   /* 32: of its compressed bytes, which zeros follow */
  ENTRY_ARCH = 28,     /* 32: 90 for sm_90 */
  ENTRY_FLAGS = 40,    /* 64 */
  ENTRY_UNPACKED = 56, /* 64: bytes that compressed ones become */
  KIND_PTX = 1,
  KIND_CUBIN = 2,
  FLAG_LZ4 = 0x2000,
  FLAG_ZSTANDARD = 0x8000,
};

typedef struct Reader {
  const char *file;
  Diag *diag;
  const uint8_t *start; /* of what is read, for messages */
  unsigned units;       /* before the fat binary that is read */
  GArray *entries;
} Reader;

static uint64_t number_at(const uint8_t *at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint64_t)at[i] << 8 * i;
  return value;
}

static bool begins_fatbin(const uint8_t *bytes, gsize length) {
  return length >= HEAD_BYTES && number_at(bytes, 4) == FATBIN_MAGIC;
}

bool mc_is_fatbin(const uint8_t *bytes, gsize length) {
  return begins_fatbin(bytes, length) ||
         (length >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0 && !mc_is_cubin(bytes, length));
}

static bool cut_off(Reader *reader, const uint8_t *at) {
  return diag_error(reader->diag, reader->file, 0, 0,
                    "the fat binary is cut off, or has an unknown form, at byte %" G_GSIZE_FORMAT " of it",
                    (gsize)(at - reader->start));
}

static bool has_code(const uint8_t *bytes, gsize length) {
  McElf elf;
  const char *problem;
  bool found = false;
  if (mc_elf_open(&elf, bytes, length, MC_ELF_CUDA, &problem))
    for (guint i = 1; i < elf.count && !found; i++)
      found = g_str_has_prefix(mc_elf_name(&elf, i), ".text.");
  mc_elf_clear(&elf);
  return found;
}

static bool has_kernel(const uint8_t *text, gsize length) {
  return g_strstr_len((const char *)text, (gssize)length, ".entry") != NULL;
}

static McPacking packing_of(const uint8_t *at) {
  uint64_t flags = number_at(at + ENTRY_FLAGS, 8);
  return flags & FLAG_ZSTANDARD ? MC_ZSTANDARD : flags & FLAG_LZ4 ? MC_LZ4 : MC_PLAIN;
}

static void unpack(McFatEntry *entry, const uint8_t *at) {
  McPacking packing = packing_of(at);
  uint64_t unpacked = number_at(at + ENTRY_UNPACKED, 8);
  if (packing == MC_PLAIN)
    return;
  entry->unpacked =
      mc_unpack(packing, entry->at, MIN(entry->length, number_at(at + ENTRY_PACKED, 4)), unpacked, &entry->problem);
  if (!entry->unpacked)
    return;
  entry->problem = NULL;
  entry->at = entry->unpacked;
  entry->length = unpacked;
}

/* The entry at `at`; *length is that of what is left, and becomes that of the entry. One that can't be unpacked is
 * kept for the message. */
static bool read_entry(Reader *reader, const uint8_t *at, gsize *length) {
  uint64_t head = *length >= ENTRY_BYTES ? number_at(at + ENTRY_SIZE, 4) : 0;
  if (head < ENTRY_BYTES || head > *length || number_at(at + ENTRY_LENGTH, 8) > *length - head)
    return cut_off(reader, at);
  uint64_t kind = number_at(at + ENTRY_KIND, 2);
  McFatEntry entry = {.ptx = kind == KIND_PTX,
                      .sm = (unsigned)number_at(at + ENTRY_ARCH, 4),
                      .unit = reader->units,
                      .at = at + head,
                      .length = number_at(at + ENTRY_LENGTH, 8)};
  *length = head + entry.length;
  if (kind != KIND_PTX && kind != KIND_CUBIN)
    return true;
  unpack(&entry, at);
  if (entry.problem || (entry.ptx ? has_kernel(entry.at, entry.length) : has_code(entry.at, entry.length)))
    g_array_append_val(reader->entries, entry);
  else
    g_free(entry.unpacked);
  return true;
}

/* Fat binaries one behind another, with zeros between them. */
static bool read_all(Reader *reader, const uint8_t *at, const uint8_t *end) {
  reader->start = at;
  while (at < end) {
    if (*at == 0) {
      at++;
      continue;
    }
    gsize left = (gsize)(end - at);
    uint64_t head = begins_fatbin(at, left) ? number_at(at + HEAD_SIZE, 2) : 0;
    if (head < HEAD_BYTES || head > left || number_at(at + HEAD_LENGTH, 8) > left - head)
      return cut_off(reader, at);
    const uint8_t *stop = at + head + number_at(at + HEAD_LENGTH, 8);
    gsize length;
    guint before = reader->entries->len;
    for (at += head; at < stop; at += length) {
      length = (gsize)(stop - at);
      if (!read_entry(reader, at, &length))
        return false;
    }
    reader->units += reader->entries->len > before;
  }
  return true;
}

static void clear_entry(gpointer entry) { g_free(((McFatEntry *)entry)->unpacked); }

static const McFatEntry *entry_at(const GArray *entries, guint index) {
  return &g_array_index(entries, McFatEntry, index);
}

unsigned mc_fatbin_units(const GArray *entries) {
  return entries->len ? entry_at(entries, entries->len - 1)->unit + 1 : 0;
}

static GArray *new_entries(void) {
  GArray *entries = g_array_new(FALSE, FALSE, sizeof(McFatEntry));
  g_array_set_clear_func(entries, clear_entry);
  return entries;
}

static bool has_ptx(const GArray *entries) {
  bool found = false;
  for (guint i = 0; i < entries->len; i++)
    found |= entry_at(entries, i)->ptx;
  return found;
}

/* What was linked has no PTX, but its object has: if it is of one object, that is its PTX, too. */
static void add_ptx_of_object(Reader *reader, McBytes section) {
  g_autoptr(Diag) ignored = diag_new();
  g_autoptr(GArray) others = new_entries();
  Reader object = {.file = reader->file, .diag = ignored, .entries = others};
  if (!section.at || mc_fatbin_units(reader->entries) != 1 || has_ptx(reader->entries) ||
      !read_all(&object, section.at, section.at + section.length) || mc_fatbin_units(others) != 1)
    return;
  for (guint i = 0; i < others->len; i++) {
    McFatEntry *entry = &g_array_index(others, McFatEntry, i);
    if (!entry->ptx)
      continue;
    g_array_append_val(reader->entries, *entry);
    entry->unpacked = NULL;
  }
}

/* Executables have theirs in a section of the host's; what `-rdc=true` makes is linked there, and an object has it
 * unlinked in another. */
static bool read_host(Reader *reader, const uint8_t *bytes, gsize length) {
  static const char *const names[] = {".nv_fatbin", "__nv_relfatbin"};
  McElf elf;
  const char *problem;
  bool good = mc_elf_open(&elf, bytes, length, MC_ELF_ANY, &problem), found = false;
  if (!good)
    diag_error(reader->diag, reader->file, 0, 0, "this is no file with CUDA code that can be read: %s", problem);
  for (guint n = 0; good && n < G_N_ELEMENTS(names) && !reader->entries->len; n++) {
    guint at = mc_elf_find(&elf, names[n]);
    McBytes section = mc_elf_bytes(&elf, at);
    found |= at != 0;
    good = section.at == NULL || read_all(reader, section.at, section.at + section.length);
  }
  if (good)
    add_ptx_of_object(reader, mc_elf_bytes(&elf, mc_elf_find(&elf, names[1])));
  mc_elf_clear(&elf);
  return good && (found || diag_error(reader->diag, reader->file, 0, 0,
                                      "there is no CUDA code in it: it has no section `.nv_fatbin`"));
}

GArray *mc_fatbin_read(const char *file, const uint8_t *bytes, gsize length, Diag *diag) {
  Reader reader = {.file = file, .diag = diag, .entries = new_entries()};
  bool good =
      begins_fatbin(bytes, length) ? read_all(&reader, bytes, bytes + length) : read_host(&reader, bytes, length);
  if (!good)
    g_clear_pointer(&reader.entries, g_array_unref);
  return reader.entries;
}

/* ---- choosing ---- */

static bool runs_on(unsigned sm, unsigned capability) {
  return !capability || (sm / 10 == capability / 10 && sm <= capability);
}

static char *architectures(const GArray *entries, unsigned unit) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < entries->len; i++) {
    const McFatEntry *entry = entry_at(entries, i);
    g_autofree char *name = g_strdup_printf("%s%u", entry->ptx ? "PTX of compute_" : "sm_", entry->sm);
    if (entry->unit == unit && !g_ptr_array_find(names, g_intern_string(name), NULL))
      g_ptr_array_add(names, (gpointer)g_intern_string(name));
  }
  g_ptr_array_add(names, NULL);
  return g_strjoinv(", ", (char **)names->pdata);
}

/* NULL if there is none. */
static const McFatEntry *best_cubin(const GArray *entries, unsigned unit, unsigned capability) {
  const McFatEntry *best = NULL;
  for (guint i = 0; i < entries->len; i++) {
    const McFatEntry *entry = entry_at(entries, i);
    if (!entry->ptx && entry->unit == unit && runs_on(entry->sm, capability) &&
        (!best || (capability ? entry->sm > best->sm : entry->sm < best->sm)))
      best = entry;
  }
  return best;
}

bool mc_fatbin_has_code(const GArray *entries, unsigned unit, unsigned capability) {
  return best_cubin(entries, unit, capability) != NULL;
}

bool mc_fatbin_say_packed(const GArray *entries, unsigned unit, Diag *diag) {
  for (guint i = 0; i < entries->len; i++) {
    const McFatEntry *entry = entry_at(entries, i);
    if (entry->ptx && entry->unit == unit && entry->problem)
      diag_hint(diag, "its PTX of compute_%u can't be read: it %s", entry->sm, entry->problem);
  }
  return false;
}

const McFatEntry *mc_fatbin_choose(const char *file, const GArray *entries, unsigned unit, unsigned capability,
                                   Diag *diag) {
  const McFatEntry *best = best_cubin(entries, unit, capability);
  if (best && !best->problem)
    return best;
  if (best) {
    diag_error(diag, file, 0, 0, "its cubin of sm_%u can't be read: it %s", best->sm, best->problem);
    diag_hint(diag, "`cuobjdump -xelf all %s` writes each cubin to a file of its own, which lockstep runs", file);
    return NULL;
  }
  g_autofree char *there = architectures(entries, unit);
  diag_error(diag, file, 0, 0, "no machine code that runs on a GPU of compute capability %u.%u, only %s",
             capability / 10, capability % 10, *there ? there : "code without a kernel, or nothing");
  mc_fatbin_say_packed(entries, unit, diag);
  diag_hint(diag, "compile it with -gencode arch=compute_%u,code=sm_%u", capability, capability);
  return NULL;
}

const McFatEntry *mc_fatbin_ptx(const GArray *entries, unsigned unit, unsigned capability) {
  const McFatEntry *best = NULL;
  for (guint i = 0; i < entries->len; i++) {
    const McFatEntry *entry = entry_at(entries, i);
    if (!entry->ptx || entry->unit != unit || entry->problem)
      continue;
    bool fits = entry->sm <= capability, best_fits = best && best->sm <= capability;
    if (!best || (fits ? !best_fits || entry->sm > best->sm : !best_fits && entry->sm < best->sm))
      best = entry;
  }
  return best;
}
