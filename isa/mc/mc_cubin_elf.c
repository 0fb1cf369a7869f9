#include "isa/mc/mc_cubin_elf.h"

#include <string.h>

enum {
  SECTIONS_MAX = 1 << 16,
  /* Sections of object files for the linker that have a size and no bytes. */
  CUDA_GLOBAL = SHT_LOPROC + 7,
  CUDA_LOCAL = SHT_LOPROC + 9,
  CUDA_SHARED = SHT_LOPROC + 10,
};

static bool has_bytes(const Elf64_Shdr *section) {
  switch (section->sh_type) {
  case SHT_NULL:
  case SHT_NOBITS:
  case CUDA_GLOBAL:
  case CUDA_LOCAL:
  case CUDA_SHARED: return false;
  default: return true;
  }
}

static bool lies_within(const McElf *elf, guint64 offset, guint64 length) {
  return offset <= elf->length && length <= elf->length - offset;
}

bool mc_elf_open(McElf *elf, const uint8_t *bytes, gsize length, unsigned machine, const char **problem) {
  *elf = (McElf){.bytes = bytes, .length = length};
  Elf64_Ehdr *header = &elf->header;
  *problem = "it isn't an ELF file";
  if (length < sizeof *header || memcmp(bytes, ELFMAG, SELFMAG) != 0)
    return false;
  memcpy(header, bytes, sizeof *header);
  *problem = machine == MC_ELF_CUDA ? "it isn't an ELF file of 64 bits, lowest byte first, for CUDA"
                                    : "it isn't an ELF file of 64 bits, lowest byte first";
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      (machine != MC_ELF_ANY && header->e_machine != machine))
    return false;
  *problem = "its table of sections lies outside the file";
  guint64 count = header->e_shnum;
  if (header->e_shentsize != sizeof(Elf64_Shdr) || !lies_within(elf, header->e_shoff, sizeof(Elf64_Shdr)))
    return false;
  if (count == 0) { /* more than the header can count */
    Elf64_Shdr first;
    memcpy(&first, bytes + header->e_shoff, sizeof first);
    count = first.sh_size;
  }
  if (count > SECTIONS_MAX || !lies_within(elf, header->e_shoff, count * sizeof(Elf64_Shdr)))
    return false;
  elf->sections = g_new0(Elf64_Shdr, count + 1);
  elf->count = (guint)count;
  memcpy(elf->sections, bytes + header->e_shoff, count * sizeof(Elf64_Shdr));
  *problem = "a section lies outside the file";
  for (guint i = 0; i < elf->count; i++)
    if (has_bytes(&elf->sections[i]) && !lies_within(elf, elf->sections[i].sh_offset, elf->sections[i].sh_size))
      return false;
  return true;
}

void mc_elf_clear(McElf *elf) { g_clear_pointer(&elf->sections, g_free); }

McBytes mc_elf_bytes(const McElf *elf, guint section) {
  if (section >= elf->count)
    return (McBytes){0};
  const Elf64_Shdr *found = &elf->sections[section];
  if (!has_bytes(found))
    return (McBytes){0};
  return (McBytes){elf->bytes + found->sh_offset, found->sh_size};
}

const char *mc_elf_string(McBytes table, guint64 offset) {
  if (offset >= table.length || !memchr(table.at + offset, '\0', table.length - offset))
    return NULL;
  return (const char *)table.at + offset;
}

const char *mc_elf_name(const McElf *elf, guint section) {
  if (section >= elf->count)
    return "";
  const char *name = mc_elf_string(mc_elf_bytes(elf, elf->header.e_shstrndx), elf->sections[section].sh_name);
  return name ? name : "";
}

guint mc_elf_find(const McElf *elf, const char *name) {
  for (guint i = 1; i < elf->count; i++)
    if (strcmp(mc_elf_name(elf, i), name) == 0)
      return i;
  return 0;
}
