/* pressure.h - how many rows of registers hold values while the instructions of a stretch are put into another order.
 * Private to isa/.
 *
 * A value lives from the instruction that writes it to the last that reads it. Instructions are issued one by one, in
 * any order that keeps each register's writes and what reads between them. */
#ifndef LOCKSTEP_ISA_FLOW_PRESSURE_H
#define LOCKSTEP_ISA_FLOW_PRESSURE_H

#include "isa/flow/live_range.h"

typedef struct Pressure Pressure;

/* Of a kernel as it is; NULL if the walk would take too long. It has to stay as it is but for the order within
 * stretches. Release with pressure_free(). */
Pressure *pressure_new(const VKernel *vkernel);
void pressure_free(Pressure *pressure);
/* The most rows that are in use at once anywhere. */
unsigned pressure_peak(const Pressure *pressure);

/* From here on it is about the `count` instructions from `first` on, in the order that they had in pressure_new(). */
void pressure_begin(Pressure *pressure, const VKernel *vkernel, guint first, unsigned count);
/* None of them has been issued. */
void pressure_restart(Pressure *pressure);
/* By how many rows there are more behind the one of that number (from 0), if it is issued next. */
int pressure_change(const Pressure *pressure, unsigned number);
void pressure_issue(Pressure *pressure, unsigned number);
/* Rows in use now. */
unsigned pressure_now(const Pressure *pressure);

#endif
