/* virtual_lab.h - virtual kernels for tests: short ways to make them, and an interpreter that runs one lane of them
 * before and after allocation. */
#ifndef LOCKSTEP_TESTS_VIRTUAL_LAB_H
#define LOCKSTEP_TESTS_VIRTUAL_LAB_H

#include "isa/flow/virtual_view.h"

VKernel *lab_virtual(void);
/* Appends `vinst` and returns its index. */
uint32_t lab_add(VKernel *vkernel, VInst vinst);
VInst lab_op(Opcode op, int32_t dst, int32_t a, int32_t b);
VInst lab_set(int32_t pdst, CmpOp cmp, int32_t a, int32_t b);
VInst lab_branch(uint32_t target, int32_t guard, bool negated);
int32_t lab_const(VKernel *vkernel, uint32_t value);
void lab_load(VKernel *vkernel, int32_t dst, MemWidth width, int32_t address);
void lab_store(VKernel *vkernel, int32_t address, MemWidth width, int32_t value);

/* What one lane does: a digest of all stores in their order, and how many; `ended` is false if it ran out of
 * steps. */
typedef struct LabRun {
  uint64_t digest;
  uint32_t stores;
  bool ended;
} LabRun;
LabRun lab_run_virtual(const VKernel *vkernel, uint32_t steps);
LabRun lab_run_kernel(const Kernel *kernel, uint32_t steps);

#endif
