/* mc_cubin_elf.h - the sections of a 64-bit ELF file, with every offset checked against its length. */
#ifndef LOCKSTEP_ISA_MC_MC_CUBIN_ELF_H
#define LOCKSTEP_ISA_MC_MC_CUBIN_ELF_H

#include <elf.h>
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { MC_ELF_ANY = 0, MC_ELF_CUDA = 190 }; /* e_machine */

typedef struct McElf {
  const uint8_t *bytes;
  gsize length;
  Elf64_Ehdr header;
  Elf64_Shdr *sections;
  guint count;
} McElf;

/* Bytes of a section or a table in it. */
typedef struct McBytes {
  const uint8_t *at;
  gsize length;
} McBytes;

/* A file for that machine. False with what is wrong in *problem, which is static. Afterwards mc_elf_clear(). */
bool mc_elf_open(McElf *elf, const uint8_t *bytes, gsize length, unsigned machine, const char **problem);
void mc_elf_clear(McElf *elf);
/* The section's name, in the file's bytes; "" if it has none. */
const char *mc_elf_name(const McElf *elf, guint section);
/* Its bytes; none if it has none in the file. */
McBytes mc_elf_bytes(const McElf *elf, guint section);
/* The section of that name, or 0. */
guint mc_elf_find(const McElf *elf, const char *name);
/* The string that begins there, in the table, or NULL if it doesn't end in the table. */
const char *mc_elf_string(McBytes table, guint64 offset);

#endif
