/* classes.h - virtual registers that share their rows: those that moves join, and the parts of vectors. Private to
 * isa/. */
#ifndef LOCKSTEP_ISA_FLOW_CLASSES_H
#define LOCKSTEP_ISA_FLOW_CLASSES_H

#include "isa/flow/place.h"

/* A register's class is at the end of its `parent` chain; `offset` counts from the parent's row 0. */
typedef struct Member {
  uint32_t parent;
  uint8_t offset;
  uint8_t rows;   /* of the class, if this is its root */
  bool odd;       /* of a class of one row, if this is its root: its row is to be odd */
  bool uniform;   /* it is a uniform register (uniform.h): its rows don't count */
  SpanList *list; /* of each row of the class, if this is its root */
} Member;

typedef struct Classes {
  Member *members;
  uint32_t count;
  SpanList *lists; /* of each unit */
} Classes;

/* Each register alone. `uniform` may be NULL. */
void classes_init(Classes *classes, const VKernel *vkernel, const LiveRanges *ranges, const uint8_t *uniform);
void classes_clear(Classes *classes, const LiveRanges *ranges);
/* The root of the register's class, and at which of its rows the register begins. */
uint32_t classes_root(Classes *classes, uint32_t reg, uint32_t *offset);
/* The spans of that row of the register. */
SpanList *classes_list(Classes *classes, int32_t reg, unsigned row);
/* Joins the two sides of moves that never hold two values at once, those first that come first: nvcc writes the
 * copies of a loop's variables and the parts of vectors as moves. */
void classes_join_moves(Classes *classes, const VKernel *vkernel);

#endif
