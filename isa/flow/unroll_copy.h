/* unroll_copy.h - copies of a loop's rounds, one behind the other, as instructions of an edit. Private to isa/.
 *
 * In each copy what lives in one round only has a name of its own, so that the copies can be mixed. A register that
 * each round adds a constant to is added to once, at the end of the last copy: the others add so many times the
 * constant to the offsets of accesses, and once more where it is an operand, as ptxas does. */
#ifndef LOCKSTEP_ISA_FLOW_UNROLL_COPY_H
#define LOCKSTEP_ISA_FLOW_UNROLL_COPY_H

#include "isa/flow/counted.h"

typedef struct Copier {
  VKernel *vkernel;
  const Counting *counting;
  VEdit edit;
  GArray *jumps;      /* within what is new */
  int32_t *renamed;   /* of each register and predicate of before: its name in the copy that is written */
  uint32_t registers; /* of before */
  int32_t *place;     /* of each instruction of the loop: where the copy that is written has it */
  GArray *inductions; /* of the loop */
} Copier;

void copier_init(Copier *copier, VKernel *vkernel, const Counting *counting);
/* Puts the new instructions into the kernel, and frees. */
void copier_finish(Copier *copier);

/* Before the copies of a loop. */
void copier_begin(Copier *copier, const CountedLoop *loop);

/* Which copy of how many that stand behind each other; it has the comparison, too; labels of the loop go to it. */
typedef struct CopyOf {
  uint64_t number, count;
  bool compares, named;
} CopyOf;
/* A round without the branch back. */
void copier_write_round(Copier *copier, const CountedLoop *loop, CopyOf copy);
/* The loop as it was. */
void copier_write_loop(Copier *copier, const CountedLoop *loop);

void copier_append(Copier *copier, const VInst *vinst);
/* Where the next instruction will be. */
uint32_t copier_next(const Copier *copier);
/* A branch to the new instruction `to`; copier_land(): to the next one, by the number of the branch. */
guint copier_append_jump(Copier *copier, const VInst *vinst, uint32_t to);
void copier_land(Copier *copier, guint jump);
/* The names of the last copy. */
void copier_put_names(const Copier *copier, VInst *vinst);
/* The loop that begins there isn't looked at again. */
void copier_keep(Copier *copier, uint32_t top);

/* A new constant operand. */
int32_t copier_constant(Copier *copier, bool wide, uint64_t value);
/* dst = operand + value, of 32 or 64 bits; beside `beside` in the source. */
VInst copier_sum(Copier *copier, bool wide, int32_t dst, int32_t a, uint8_t a_row, uint64_t value,
                 const VInst *beside);

#endif
