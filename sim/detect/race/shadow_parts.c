/* Bytes of a word that are stored apart from the others. */
#include "sim/detect/race/shadow.h"

unsigned cell_part(Cell *cell, uint32_t bytes, CellPart *added[CELL_PARTS_MAX]) {
  unsigned count = 0;
  if (!cell->parts) {
    cell->parts = g_new0(CellParts, 1);
    cell->parts->count = 1;
    cell->parts->bytes[0] = CELL_BYTES;
    cell->parts->part[0] = cell->whole;
  }
  CellParts *parts = cell->parts;
  for (unsigned i = 0, before = parts->count; i < before; i++) {
    uint8_t others = (uint8_t)(parts->bytes[i] & ~bytes);
    if (!others || others == parts->bytes[i])
      continue;
    parts->bytes[i] &= (uint8_t)bytes;
    parts->bytes[parts->count] = others;
    parts->part[parts->count] = parts->part[i];
    added[count++] = &parts->part[parts->count++];
  }
  return count;
}

uint32_t shadow_chain_of_parts(const Cell *cell, uint32_t bytes) {
  uint32_t newest = 0, behind = UINT32_MAX;
  for (unsigned i = 0; i < cell->parts->count; i++) {
    uint32_t chain = cell->parts->part[i].chain;
    if (!(cell->parts->bytes[i] & bytes) || cell->whole.chain - chain >= behind)
      continue;
    newest = chain;
    behind = cell->whole.chain - chain;
  }
  return newest;
}

void shadow_end_chain_of_parts(Cell *cell, uint32_t bytes) {
  CellPart *part;
  for (unsigned at = 0; (part = cell_next_part(cell, bytes, &at));)
    part->chain = cell->whole.chain;
}
