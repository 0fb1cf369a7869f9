/* lab.h - a machine with a program on it, for tests of the core: parse, launch, stop before the first instruction to
 * set registers and memory, run, look at what was left and at what was issued when.
 * The machine has the table's defaults except for one SM and no jitter; `settings` change it further
 * ("sm.latency.alu=10 sm.policy=random"). Every mistake in a text or a setting fails the test.
 * Ownership: a Lab owns everything in it. */
#ifndef LOCKSTEP_TESTS_LAB_H
#define LOCKSTEP_TESTS_LAB_H

#include "isa/sass/sass.h"
#include "sim/core/gpu.h"

/* One issued instruction. */
typedef struct LabIssue {
  uint64_t cycle, block;
  uint32_t launch, sm, slot, warp; /* slot in the SM, warp in the block */
  uint32_t pc, lanes;              /* lanes: active and guard true */
} LabIssue;

typedef struct Lab {
  Machine *machine;
  Program *program;
  Backing *backing;
  Gpu *gpu;
  GArray *args;  /* uint32_t */
  GArray *trace; /* LabIssue, in order */
  Probe probe;
} Lab;

Program *lab_parse(const char *text);
Machine *lab_machine(const char *settings);

Lab *lab_new(const char *settings, const char *text);
/* The same; each lane has local memory. */
Lab *lab_new_local(const char *settings, const char *text, uint32_t local_bytes);
/* Instruction `pc` of the kernel, to be changed before the launch. */
Inst *lab_inst(Lab *lab, uint32_t pc);
/* A register of all lanes of warp 0: `first`, and `step` more in each lane. */
void lab_set_row(Lab *lab, unsigned reg, uint32_t first, uint32_t step);
Lab *lab_new_seeded(const char *settings, const char *text, uint64_t seed);
void lab_free(Lab *lab);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lab, lab_free)

/* Adds a buffer whose address becomes the next argument, c[0x0][0x20] and on. Returns its data. */
uint32_t *lab_buffer(Lab *lab, uint32_t words);
void lab_arg(Lab *lab, uint32_t value);

/* Launches kernel `index` with the arguments so far. */
void lab_launch_grid(Lab *lab, unsigned index, uint32_t blocks, uint32_t threads, uint32_t shared, int stream);
/* Kernel 0, stream 0, no dynamic shared memory. */
void lab_launch(Lab *lab, uint32_t blocks, uint32_t threads);
/* Dispatches without issuing: registers and memory can be set. */
void lab_place(Lab *lab);
/* Runs to the end, which must come within 10^7 cycles and instructions. */
GpuStop lab_run(Lab *lab);
/* The same, and it must finish. */
void lab_finish(Lab *lab);
/* It must stop with a fault whose message contains `words`. */
void lab_expect_fault(Lab *lab, const char *words);

/* Warp in slot `slot` of SM 0, and one of its registers; both stay readable after the end. */
Warp *lab_warp(Lab *lab, unsigned slot);
uint32_t *lab_row(Lab *lab, unsigned slot, unsigned reg);
const LabIssue *lab_issue(const Lab *lab, guint index);
/* Cycle in which the warp in `slot` of SM 0 issued `pc` for the `nth` time (from 0). */
uint64_t lab_cycle(const Lab *lab, unsigned slot, uint32_t pc, unsigned nth);
/* "0:f 1:3 ...": the instructions of the warp in `slot` of SM 0 with their lanes. Free with g_free. */
char *lab_path(const Lab *lab, unsigned slot);
/* Fails unless the path is that. */
void lab_expect_path(const Lab *lab, unsigned slot, const char *path);

/* The program, written in SASS, is taken for PTX; a cache operator says which access of PTX is meant: LD.CV and ST.WT
 * are volatile, LD.CS acquires, ST.CS releases, LD.CG and ST.CG are relaxed for their block only. NOP is
 * bar.warp.sync of the lanes in R20, @!PT MEMBAR.SYS one that the compiler left out before the next instruction. */
void lab_as_ptx(Program *program);

#endif
