/* Two states of a warp that may go on differently aren't alike. */
#include "sim/core/lane_groups.h"
#include "sim/detect/proof/warp_digest.h"
#include "tests/unit/group_lab.h"
#include "tests/unit/ptx_lab.h"
#include "tests/unit/unit.h"

/* Lanes 0 and 1 wait at a WARPSYNC, the others are at the other one's end. P1 is read there alone. */
#define TEXT "@P0 BRA a; NOP; b: @P1 MOV R2, 1; ST [R1], R2; EXIT; a: NOP; WARPSYNC 15; EXIT"
enum { AT_B = 2, LANE = 1 };

static uint64_t digest_of(Lab *lab, const KernelState *state) {
  const Sm *sm = &lab->gpu->sms[0];
  return warp_digest(0, sm, &sm->warps[0], state);
}

START_TEST(tells_places_apart) {
  g_autoptr(Lab) lab = group_lab_new("", TEXT, 32);
  KernelState state = {0};
  kernel_state_init(&state, program_kernel(lab->program, 0));
  Warp *warp = &lab->gpu->sms[0].warps[0];
  LaneGroups *groups = warp->groups;
  uint64_t before = digest_of(lab, &state);
  ck_assert_uint_eq(before, digest_of(lab, &state));
  groups->comes_back[LANE] = AT_B;
  ck_assert_uint_ne(before, digest_of(lab, &state));
  groups->comes_back[LANE] = 0;
  groups->sync.saved[1] = 1u << LANE;
  ck_assert_uint_ne(before, digest_of(lab, &state));
  groups->sync.saved[1] = 0;
  warp->ssys = 1;
  ck_assert_uint_ne(before, digest_of(lab, &state));
  warp->ssys = 0;
  ck_assert_uint_eq(before, digest_of(lab, &state));
  kernel_state_clear(&state);
}
END_TEST

/* Inside a collective a predicate is dead that lanes read where they come back to. */
START_TEST(knows_what_is_read_behind_a_collective) {
  g_autoptr(Lab) lab = group_lab_new("", TEXT, 32);
  KernelState state = {0};
  kernel_state_init(&state, program_kernel(lab->program, 0));
  Warp *warp = &lab->gpu->sms[0].warps[0];
  warp->pc = program_kernel(lab->program, 0)->ninsts - 1;
  warp->groups->comes_back[LANE] = AT_B;
  uint64_t before = digest_of(lab, &state);
  warp->pred[1] ^= 1u << LANE;
  ck_assert_uint_ne(before, digest_of(lab, &state));
  kernel_state_clear(&state);
}
END_TEST

/* The next block of the slot begins with nothing of the one before. */
START_TEST(begins_anew) {
  g_autoptr(Lab) lab = group_lab_new("", TEXT, 32);
  LaneGroups *groups = lab->gpu->sms[0].warps[0].groups;
  groups->comes_back[LANE] = AT_B;
  groups->sync.saved[1] = 1u << LANE;
  lane_groups_reset(groups);
  ck_assert_uint_eq(groups->comes_back[LANE], 0);
  ck_assert_uint_eq(groups->sync.saved[1], 0);
}
END_TEST

/* A shuffle may read what no lane would read any more that goes on by itself. */
START_TEST(knows_what_shuffles_read) {
  PtxTarget target = {.capability = 70, .convergence_barriers = true, .max_registers = 255};
  g_autoptr(Program) program =
      ptx_lab_lower_body("ld.param.u64 %l0, [in];\nld.volatile.global.u32 %r1, [%l0];\n"
                         "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nst.global.u32 [%l0], %r2;\n",
                         &target);
  const Kernel *kernel = program_kernel(program, 0);
  KernelState state = {0};
  kernel_state_init(&state, kernel);
  bool seen = false;
  for (uint32_t pc = 0; pc < kernel->ninsts; pc++) {
    const Inst *inst = &kernel->insts[pc];
    seen |= inst->op == OP_SHFL;
    ck_assert(inst->op != OP_SHFL || regset_has(&state.shuffled, (unsigned)inst->a));
  }
  ck_assert(seen);
  kernel_state_clear(&state);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("warp_digest");
  TCase *tcase = tcase_create("warp_digest");
  tcase_add_test(tcase, tells_places_apart);
  tcase_add_test(tcase, knows_what_is_read_behind_a_collective);
  tcase_add_test(tcase, begins_anew);
  tcase_add_test(tcase, knows_what_shuffles_read);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
