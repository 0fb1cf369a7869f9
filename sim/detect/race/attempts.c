#include "sim/detect/race/attempts.h"

bool attempts_has(const Inst *inst) {
  return (inst->op == OP_ATOM || inst->op == OP_ATOMS) && (inst->mode == ATOM_CAS || inst->mode == ATOM_EXCH);
}

static void count_for_good(WarpOrder *warp, const Attempt *attempt) {
  vclock_join(&warp->clock, &attempt->clock);
  if (attempt->decides)
    vclock_join(&warp->relied, &attempt->clock);
}

void attempts_take(WarpOrder *warp, const Attempt *attempt) {
  unsigned at = 0;
  while (at < warp->attempts && warp->attempt[at].pc != attempt->pc)
    at++;
  if (at == ATTEMPTS_MAX) {
    attempts_settle(warp);
    at = 0;
  }
  if (at == warp->attempts)
    warp->attempts++;
  else if (!warp->attempt[at].in_vain)
    count_for_good(warp, &warp->attempt[at]);
  VClock clock = warp->attempt[at].clock;
  vclock_assign(&clock, &attempt->clock);
  warp->attempt[at] = *attempt;
  warp->attempt[at].clock = clock;
}

void attempts_settle(WarpOrder *warp) {
  for (unsigned i = 0; i < warp->attempts; i++)
    if (!warp->attempt[i].in_vain)
      count_for_good(warp, &warp->attempt[i]);
  warp->attempts = 0;
}

bool attempts_know(const WarpOrder *warp, uint32_t actor, uint32_t time) {
  for (unsigned i = 0; i < warp->attempts; i++)
    if (warp->attempt[i].decides && vclock_knows(&warp->attempt[i].clock, actor, time))
      return true;
  return false;
}
