/* mem_clock.h - cycles of a chip's other clocks in thousandths of an SM cycle, in which the memory system reckons. */
#ifndef LOCKSTEP_MEMORY_MEM_CLOCK_H
#define LOCKSTEP_MEMORY_MEM_CLOCK_H

#include "sim/machine/machine.h"

static inline uint64_t mem_clock_scaled(double ratio, uint64_t cycles) { return (uint64_t)(cycles * ratio + 0.5); }
static inline uint64_t mem_clock_core(const Machine *machine, uint64_t cycles) {
  return mem_clock_scaled(machine->clocks.sm / machine->clocks.core, cycles);
}
static inline uint64_t mem_clock_dram(const Machine *machine, uint64_t cycles) {
  return mem_clock_scaled(machine->clocks.sm / machine->clocks.dram, cycles);
}

#endif
