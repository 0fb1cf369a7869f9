/* ways.h - which instructions the ways through a kernel come to. */
#ifndef LOCKSTEP_DETECT_RACE_WAYS_H
#define LOCKSTEP_DETECT_RACE_WAYS_H

#include "isa/flow/cfg.h"

/* The instructions that ways from `start` on, or from behind it, come to, which end at `past`. Free with g_free. */
bool *ways_reach(const Kernel *kernel, const Cfg *cfg, uint32_t start, bool behind, uint32_t past);
/* True if `to` is one of those from `start` on. */
bool ways_lead(const Kernel *kernel, const Cfg *cfg, uint32_t start, uint32_t past, uint32_t to);

#endif
