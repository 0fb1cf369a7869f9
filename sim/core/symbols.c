#include "sim/core/symbols.h"

static const ProgramVariable *variable(const Program *program, guint index) {
  return g_ptr_array_index(program->variables, index);
}

/* Words of `buffer` that hold addresses of variables; the word behind a 64-bit one is zero already. */
static void relocate(const GArray *relocs, const uint64_t *symbols, BackingBuffer *buffer) {
  for (guint i = 0; relocs && i < relocs->len; i++) {
    const ProgramReloc *reloc = &g_array_index(relocs, ProgramReloc, i);
    buffer->data[reloc->word] = (uint32_t)symbols[reloc->symbol] + (uint32_t)reloc->addend;
  }
}

uint64_t *symbols_place(const Program *program, Backing *backing) {
  guint count = program->variables->len, first = backing->buffers->len;
  uint64_t *symbols = g_new0(uint64_t, count + 1);
  for (guint i = 0; i < count; i++) {
    uint64_t align = MAX(variable(program, i)->align, 1u);
    backing->next_address = (backing->next_address + align - 1) / align * align;
    guint index = backing_add(backing, variable(program, i)->name, (variable(program, i)->bytes + 3) / 4,
                              variable(program, i)->init);
    backing_buffer(backing, index)->constant = variable(program, i)->constant;
    symbols[i] = backing_buffer(backing, index)->base;
  }
  for (guint i = 0; i < count; i++)
    relocate(variable(program, i)->relocs, symbols, backing_buffer(backing, first + i));
  return symbols;
}
