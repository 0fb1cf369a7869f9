#include "sim/core/mbarrier.h"

enum { COUNT_BITS = 20, OLD_COUNT_BITS = 30, BYTES_BITS = 22 };
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define OLD_COUNT_MASK ((UINT32_C(1) << OLD_COUNT_BITS) - 1)
#define BYTES_MASK ((UINT64_C(1) << BYTES_BITS) - 1)

/* sm_90: bits 1 to 20 are minus the arrivals that each phase expects, 43 to 62 minus those that are still to come in this one, 63 the
 * phase (what SYNCS.EXCH stores). Bytes that are still to come are between them (a guess: no program sees them). */
enum { EXPECTED_AT = 1, BYTES_AT = 21, PENDING_AT = 43, PHASE_AT = 63 };

static uint64_t arrive(const Inst *inst, uint64_t word, uint32_t operand) {
  uint64_t expected = word >> EXPECTED_AT & COUNT_MASK, pending = word >> PENDING_AT & COUNT_MASK;
  uint64_t bytes = word >> BYTES_AT & BYTES_MASK, phase = word >> PHASE_AT;
  uint32_t arrivals = inst->lop & MBARRIER_ONE ? 1 : inst->lop & MBARRIER_COUNT ? operand : 0;
  if (inst->lop & MBARRIER_DROPS)
    expected = (expected + arrivals) & COUNT_MASK;
  if (inst->lop & MBARRIER_EXPECTS)
    bytes = (bytes + operand) & BYTES_MASK;
  if (inst->lop & MBARRIER_COMPLETES)
    bytes = (bytes - operand) & BYTES_MASK;
  pending = (pending + arrivals) & COUNT_MASK;
  if (pending == 0 && bytes == 0) {
    phase ^= 1;
    pending = expected;
  }
  return (word & 1) | expected << EXPECTED_AT | bytes << BYTES_AT | pending << PENDING_AT | phase << PHASE_AT;
}

/* sm_80: the low word is 2^30 less the arrivals that each phase expects, the high one counts up to its highest bit, the phase. */
static uint64_t arrive_before_hopper(uint64_t word) {
  uint32_t expected = (uint32_t)word, before = (uint32_t)(word >> 32), pending = before + 1;
  if ((pending ^ before) >> 31)
    pending = (pending & UINT32_C(1) << 31) | UINT32_C(1) << OLD_COUNT_BITS | (expected & OLD_COUNT_MASK);
  return (uint64_t)pending << 32 | expected;
}

uint64_t mbarrier_arrive(const Inst *inst, uint64_t word, uint32_t operand) {
  return inst->lop & MBARRIER_BEFORE_HOPPER ? arrive_before_hopper(word) : arrive(inst, word, operand);
}

MbarrierCounts mbarrier_counts(const Inst *inst, uint64_t word) {
  if (inst->lop & MBARRIER_BEFORE_HOPPER)
    return (MbarrierCounts){.expected = -(uint32_t)word & OLD_COUNT_MASK,
                            .missing = -(uint32_t)(word >> 32) & OLD_COUNT_MASK};
  uint32_t bytes = (uint32_t)(word >> BYTES_AT & BYTES_MASK);
  bool surplus = bytes >> (BYTES_BITS - 1);
  return (MbarrierCounts){.expected = (uint32_t)(-(word >> EXPECTED_AT) & COUNT_MASK),
                          .missing = (uint32_t)(-(word >> PENDING_AT) & COUNT_MASK),
                          .bytes = surplus ? (uint32_t)(BYTES_MASK + 1) - bytes : bytes,
                          .surplus = surplus};
}
