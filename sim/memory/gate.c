#include "sim/memory/gate.h"

#include <glib.h>

void gates_init(Gates *gates, const Machine *machine, const uint16_t *sm_group, uint32_t groups) {
  uint32_t sms = machine->gpu.sms, slices = machine->memory.slices, planes = machine->memory.crossbar.planes,
           in_half = MAX(slices / machine->memory.l2.halves, 1);
  bool grouped = machine->memory.l2.group_queue;
  *gates = (Gates){.unit = g_new(uint16_t, sms),
                   .plane = g_new(uint16_t, slices),
                   .planes = planes,
                   .units = grouped ? groups : sms,
                   .queue = machine->memory.l2.queue,
                   .places = machine->memory.l2.group_queue};
  for (uint32_t sm = 0; sm < sms; sm++)
    gates->unit[sm] = (uint16_t)(grouped ? sm_group[sm] : sm);
  for (uint32_t slice = 0; slice < slices; slice++)
    gates->plane[slice] = (uint16_t)(slice % in_half % planes);
  gates->gate = g_new(Gate, gates->units * planes);
  for (uint32_t i = 0; i < gates->units * planes; i++)
    gates->gate[i] = (Gate){{PART_NONE, PART_NONE}, PART_NONE};
  if (grouped) {
    gates->admitted = g_new0(uint16_t, (gsize)slices * gates->units);
    gates->heads = g_new0(uint16_t, slices);
    return;
  }
  gates->waiting = g_new(PartList, slices);
  for (uint32_t slice = 0; slice < slices; slice++)
    gates->waiting[slice] = (PartList){PART_NONE, PART_NONE};
}

void gates_clear(Gates *gates) {
  g_free(gates->heads);
  g_free(gates->gate);
  g_free(gates->unit);
  g_free(gates->plane);
  g_free(gates->admitted);
  g_free(gates->waiting);
}
