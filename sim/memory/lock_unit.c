#include "sim/memory/lock_unit.h"

#include <glib.h>

void lock_unit_init(LockUnit *unit, const Machine *machine) {
  uint32_t bits = machine->sm.lock_unit.bits;
  *unit = (LockUnit){.bits = bits, .low_bit = machine->sm.lock_unit.low_bit};
  unit->mask = (bits & (bits - 1)) == 0 ? bits - 1 : 0;
  unit->bit = g_new0(LockBit, bits);
}

void lock_unit_clear(LockUnit *unit) {
  g_free(unit->bit);
  *unit = (LockUnit){0};
}

void lock_unit_release_all(LockUnit *unit) {
  for (uint32_t i = 0; i < unit->bits; i++)
    unit->bit[i].held = false;
}
