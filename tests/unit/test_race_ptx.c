/* Races by the PTX memory model: strong accesses and their scopes, fences, lanes of a warp. Programs are written in
 * SASS and taken for PTX (lab_as_ptx()). */
#include <glib.h>
#include <string.h>

#include "sim/core/host.h"
#include "sim/detect/race/race.h"
#include "tests/unit/lab.h"
#include "tests/unit/unit.h"

/* A race is a pair of lines, the smaller first; 0: none. `says`: what the finding's last evidence contains. */
typedef struct Case {
  const char *name, *text;
  uint32_t block, grid;
  bool lane_groups;
  uint32_t race[2];
  const char *says;
  uint32_t steps;
  HostStep host[5];
} Case;

/* Lines 1 to 6: R0 the thread, R1 its word, R2 the block's number, R8 the buffer; P1 in warp 0, P2 in block 0, P3 in
 * the first half of a warp. */
#define HEAD                                                                                        \
  ".target sm_20\n"                                                                                 \
  ".kernel k\n"                                                                                     \
  ".shared 512\n"                                                                                   \
  "S2R R0, SR_Tid_X; SHL R1, R0, 0x2; S2R R2, SR_CTAid_X; MOV R8, c[0x0][0x20]; MOV R5, 0x1;\n"     \
  "LOP.XOR R3, R1, 0x80; SHR.U32 R9, R0, 0x5; ISETP.EQ.AND P1, pt, R9, RZ, pt; MOV32I R20, -0x1;\n" \
  "ISETP.EQ.AND P2, pt, R2, RZ, pt; LOP.AND R10, R0, 0x1f; ISETP.LT.AND P3, pt, R10, 0x10, pt;\n"
#define END "EXIT;\n"
/* Block 0 stores data in out[0] (line 8) and sets out[1] (line 10); block 1 gets that (line 12) and reads (line
 * 15). */
#define HAND_OVER(before, set, get, behind) \
  "@!P2 BRA wait;\n"                        \
  "ST [R8], R5;\n" before "\n" set "\n"     \
  "EXIT;\n"                                 \
  "wait: " get "\n"                         \
  "ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA wait;\n" behind "\nLD R7, [R8];\n" END
#define FENCE "MEMBAR.GL;"
#define GET "ATOM.ADD R6, [R8+0x4], RZ;"
#define SET "ATOM.EXCH RZ, [R8+0x4], R5;"

/* Block 0 stores out[0] (line 8), which block 1 sees (line 9), and tells block 2 (line 11), which reads (line 14). */
#define TOLD_WHAT_WAS_SEEN(before, behind)                                                                \
  HEAD "ISETP.EQ.AND P4, pt, R2, 0x1, pt; @P4 BRA second; @!P2 BRA third;\nST.WT [R8], R5; EXIT;\n"       \
       "second: LD.CV R6, [R8]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA second;\n" before                \
       "\nST.WT [R8+0x4], R5; EXIT;\n"                                                                    \
       "third: LD.CV R6, [R8+0x4]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA third;\n" behind              \
       "\nLD R7, [R8];\n" END

/* Each block adds to out[0] under a lock in out[1]. */
#define LOCKED(acquire, release)                                                                    \
  "again: ATOM.CAS R6, [R8+0x4], RZ, R5; ISETP.NE.AND P0, pt, R6, RZ, pt; @P0 BRA again;\n" acquire \
  "\nLD R7, [R8]; IADD R7, R7, R5;\nST [R8], R7;\n" release "\nATOM.EXCH RZ, [R8+0x4], RZ;\n" END

/* Eight lanes of block 0 store (line 8), and lane 0 tells (line 11); those of block 1 read (line 15). */
#define TOLD_BY_LANE(meet, fence, set)                                                                        \
  HEAD "@!P2 BRA wait; IADD R14, R8, R1; ISETP.EQ.AND P4, pt, R0, RZ, pt; ISETP.NE.AND P5, pt, R0, RZ, pt;\n" \
       "ST [R14+0x10], R5;\n" meet "\n" fence "\n" set "\nEXIT;\n"                                            \
       "wait: LD.CV R6, [R8+0x4]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA wait;\n" FENCE                     \
       "\nIADD R14, R8, R1; LD R7, [R14+0x10];\n" END
#define LANE_SETS "@P4 ATOM.EXCH RZ, [R8+0x4], R5;"

/* Warp 1 stores (line 8) and exits; warp 0 reads (line 11) behind what stands in line 10. */
#define EXITS_BEFORE(meet) "@P1 BRA wait;\nSTS [R3], R5;\nEXIT;\nwait: " meet "\nLDS R7, [R1];\n" END

/* Each lane stores (line 8), and all try for one word at once: the first gets it. Those that don't read what lane
 * `whose` stored (line 12). */
#define LANES_TRY(before, behind, whose)                                                                             \
  HEAD "IADD R14, R8, R1; IADD R15, R0, R5;\nST [R14+0x10], R5;\n" before                                            \
       "\nATOM.CAS R6, [R8+0x4], RZ, R15; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 EXIT;\n" behind "\nLD R7, [R8+" whose \
       "];\n" END

static const Case cases[] = {
    {"lanes of one compare-and-swap, and what its winner stored", LANES_TRY(FENCE, FENCE, "0x10"), 8, 1, true,
     .race = {0}},
    {"lanes of one compare-and-swap, and what one stored that lost",
     LANES_TRY(FENCE, FENCE, "0x14"),
     8,
     1,
     true,
     {8, 12},
     .says = "nothing orders them"},
    {"lanes of one compare-and-swap, no fence before",
     LANES_TRY("", FENCE, "0x10"),
     8,
     1,
     true,
     {8, 12},
     .says = "in line 10 without a fence between"},
    {"lanes of one compare-and-swap, no fence behind",
     LANES_TRY(FENCE, "", "0x10"),
     8,
     1,
     true,
     {8, 12},
     .says = "in line 10, without a fence behind that"},
    {"fences on both sides", HEAD HAND_OVER(FENCE, SET, GET, FENCE), 1, 2, .race = {0}},
    {"no fence before the flag", HEAD HAND_OVER("", SET, GET, FENCE), 1, 2, .race = {8, 15},
     .says = "`ATOM.EXCH RZ, [R8+0x4], R5;` in line 10 without a fence between"},
    {"no fence before the flag, and a count behind it", /* the flag is what the reader waits for */
     HEAD "@!P2 BRA wait;\nST [R8], R5;\n" SET "\nATOM.ADD R11, [R8+0x8], R5;\nEXIT;\n"
          "wait: " GET " ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA wait;\nMEMBAR.GL;\nATOM.ADD R11, [R8+0x8], R5;\n"
          "LD R7, [R8];\n" END,
     1, 2, .race = {8, 15}, .says = "in line 9 without a fence between"},
    {"no fence before the flag, told by a third block behind a fence",
     HEAD
     "ISETP.EQ.AND P4, pt, R2, 0x1, pt; @P4 BRA second; @!P2 BRA third;\nST [R8], R5;\nST.WT [R8+0x4], R5; EXIT;\n"
     "second: LD.CV R6, [R8+0x4]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA second; MEMBAR.GL; "
     "ST.WT [R8+0x8], R5; EXIT;\n"
     "third: LD.CV R6, [R8+0x8]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA third; MEMBAR.GL; LD R7, [R8];\n" END,
     1, 3, .race = {8, 11}, .says = "handed on by `ST.WT [R8+0x4], R5; EXIT;` in line 9 without a fence between"},
    {"a fence before the flag, told by a third block without a fence behind the flag",
     HEAD
     "ISETP.EQ.AND P4, pt, R2, 0x1, pt; @P4 BRA second; @!P2 BRA third;\nST [R8], R5;\nMEMBAR.GL; ST.WT [R8+0x4], "
     "R5; EXIT;\n"
     "second: LD.CV R6, [R8+0x4]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA second;\nST.WT [R8+0x8], R5; EXIT;\n"
     "third: LD.CV R6, [R8+0x8]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA third; MEMBAR.GL; LD R7, [R8];\n" END,
     1, 3, .race = {8, 12}, .says = "P0 BRA second;` in line 10, without a fence behind that"},
    {"a store that a second block has seen, which tells a third",
     TOLD_WHAT_WAS_SEEN(FENCE, FENCE), 1, 3, .race = {0}},
    {"the same without a fence of the second", TOLD_WHAT_WAS_SEEN("", FENCE), 1, 3, .race = {8, 14},
     .says = "handed on by `ST.WT [R8+0x4], R5; EXIT;` in line 11 without a fence between"},
    {"the same without a fence of the third", TOLD_WHAT_WAS_SEEN(FENCE, ""), 1, 3, .race = {8, 14},
     .says = "P0 BRA third;` in line 12, without a fence behind that"},
    {"a fence behind the flag, and the flag once more after it is taken",
     HEAD "MOV32I R11, 0x200; @!P2 BRA wait; ST [R8], R5;\nST.WT [R8+0x4], R5;\n"
          "late: IADD R11, R11, R20; ISETP.NE.AND P0, pt, R11, RZ, pt; @P0 BRA late; MEMBAR.GL; ST.WT [R8+0x4], R5; "
          "EXIT;\n"
          "wait: LD.CV R6, [R8+0x4]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA wait; MEMBAR.GL; MOV32I R11, 0x2000;\n"
          "later: IADD R11, R11, R20; ISETP.NE.AND P0, pt, R11, RZ, pt; @P0 BRA later; LD R7, [R8];\n" END,
     1, 2, .race = {7, 11}, .says = "in line 8 without a fence between"},
    {"no fence behind the flag", HEAD HAND_OVER(FENCE, SET, GET, ""), 1, 2, .race = {8, 15},
     .says = "taken by `wait: ATOM.ADD R6, [R8+0x4], RZ;` in line 12, without a fence behind that"},
    {"a fence behind the flag instead", HEAD HAND_OVER("", SET FENCE, GET, FENCE), 1, 2, .race = {8, 15},
     .says = "without a fence between"},
    {"a fence of block scope", HEAD HAND_OVER("MEMBAR.CTA;", SET, GET, FENCE), 1, 2, .race = {8, 15},
     .says = "for threads of its own block only: the scope is too small"},
    {"a fence of block scope behind the flag", HEAD HAND_OVER(FENCE, SET, GET, "MEMBAR.CTA;"), 1, 2, .race = {8, 15},
     .says = "`MEMBAR.CTA;` in line 14, is for threads of its own block only"},
    {"fences, and a flag that is taken for the block only",
     HEAD HAND_OVER(FENCE, "ST.WT [R8+0x4], R5;", "LD.CG R6, [R8+0x4];", FENCE), 1, 2, .race = {8, 15},
     .says = "in line 12, which is for threads of its own block only"},
    {"fences of the system", HEAD HAND_OVER("MEMBAR.SYS;", SET, GET, "MEMBAR.SYS;"), 1, 2, .race = {0}},
    {"release and acquire", HEAD HAND_OVER("", "ST.CS [R8+0x4], R5;", "LD.CS R6, [R8+0x4];", ""), 1, 2, .race = {0}},
    {"release and a fence", HEAD HAND_OVER("", "ST.CS [R8+0x4], R5;", "LD.CV R6, [R8+0x4];", FENCE), 1, 2,
     .race = {0}},
    {"release and nothing", HEAD HAND_OVER("", "ST.CS [R8+0x4], R5;", "LD.CV R6, [R8+0x4];", ""), 1, 2,
     .race = {8, 15}, .says = "without a fence behind"},
    {"volatile with fences", HEAD HAND_OVER(FENCE, "ST.WT [R8+0x4], R5;", "LD.CV R6, [R8+0x4];", FENCE), 1, 2,
     .race = {0}},
    {"a plain poll isn't strong", HEAD HAND_OVER(FENCE, "ST.WT [R8+0x4], R5;", "LD R6, [R8+0x4];", FENCE), 1, 2,
     .race = {10, 12}, .says = "one of the two is strong"},
    {"relaxed for the block only", HEAD HAND_OVER(FENCE, "ST.CG [R8+0x4], R5;", "LD.CG R6, [R8+0x4];", FENCE), 1, 2,
     .race = {10, 12}, .says = "its own block"},
    {"a warp that has exited, and a barrier", HEAD EXITS_BEFORE("BAR.SYNC 0x0;"), 64, 1, .race = {0}},
    {"the same with lane groups", HEAD EXITS_BEFORE("BAR.SYNC 0x0;"), 64, 1, .lane_groups = true, .race = {0}},
    {"a warp that has exited, and no barrier", HEAD EXITS_BEFORE("NOP;"), 64, 1, .race = {8, 11},
     .says = "no barrier"},
    {"the same with lane groups, and no barrier", HEAD EXITS_BEFORE("NOP;"), 64, 1, .lane_groups = true,
     .race = {8, 11}, .says = "no barrier"},
    {"relaxed for the block, in one block",
     HEAD "@!P1 BRA wait;\nST.CG [R8], R5;\nEXIT;\nwait: LD.CG R6, [R8];\n" END, 64, 1, .race = {0}},
    {"a fence of block scope in one block",
     HEAD "@!P1 BRA wait;\nST [R8], R5;\nMEMBAR.CTA;\nST.WT [R8+0x4], R5;\nEXIT;\n"
          "wait: LD.CV R6, [R8+0x4]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA wait;\nMEMBAR.CTA;\nLD R7, [R8];\n" END,
     64, 1, .race = {0}},
    {"a fence, a barrier, then the flag",
     HEAD "@!P2 BRA wait;\n@!P1 ST [R8+0x8], R5;\nMEMBAR.GL;\nBAR.SYNC 0x0;\n@!P1 EXIT;\n" SET "\nEXIT;\n"
          "wait: @!P1 BRA rest;\nspin: " GET "ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA spin;\nMEMBAR.GL;\n"
          "rest: BAR.SYNC 0x0;\nLD R7, [R8+0x8];\n" END,
     64, 2, .race = {0}},
    {"a ticket that its last holder resets",
     HEAD "ATOM.ADD R6, [R8], R5; ISETP.NE.AND P0, pt, R6, 0x3, pt;\n@!P0 ST [R8], RZ;\n" END, 1, 4, .race = {0}},
    {"a ticket that its first holder resets",
     HEAD "ATOM.ADD R6, [R8], R5; ISETP.NE.AND P0, pt, R6, RZ, pt;\n@!P0 ST [R8], RZ;\n" END, 1, 4, .race = {7, 8},
     .says = "one of the two is strong"},
    {"a flag that its reader resets, without fences", /* the reader's own load observed the store */
     HEAD "@!P2 BRA wait;\nST.WT [R8+0x4], R5;\nEXIT;\n"
          "wait: LD.CV R6, [R8+0x4]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA wait;\nST [R8+0x4], RZ;\n" END,
     1, 2, .race = {0}},
    {"a fence of the lane that tells", TOLD_BY_LANE("", "@P4 MEMBAR.GL;", LANE_SETS), 8, 2, .race = {8, 15},
     .says = "hasn't met these lanes"},
    {"the same with lane groups", TOLD_BY_LANE("", "@P4 MEMBAR.GL;", LANE_SETS), 8, 2, .lane_groups = true,
     .race = {8, 15}, .says = "hasn't met these lanes"},
    {"a fence of the lane that tells, behind a warp sync", TOLD_BY_LANE("NOP;", "@P4 MEMBAR.GL;", LANE_SETS), 8, 2,
     .race = {0}},
    {"a release of the lane that tells", TOLD_BY_LANE("", "", "@P4 ST.CS [R8+0x4], R5;"), 8, 2, .race = {8, 15},
     .says = "hasn't met these lanes"},
    {"a release of the lane that tells, behind a warp sync", TOLD_BY_LANE("NOP;", "", "@P4 ST.CS [R8+0x4], R5;"), 8,
     2, .race = {0}},
    {"a fence of all lanes before one tells", TOLD_BY_LANE("", "MEMBAR.GL;", LANE_SETS), 8, 2, .race = {0}},
    {"a fence of the other lanes, then of the one that tells", /* who knows the second knows the first */
     TOLD_BY_LANE("@P5 MEMBAR.GL;", "@P4 MEMBAR.GL;", LANE_SETS), 8, 2, .race = {0}},
    {"a fence of the one that tells, then of the other lanes",
     TOLD_BY_LANE("@P4 MEMBAR.GL;", "@P5 MEMBAR.GL;", LANE_SETS), 8, 2, .race = {0}},
    {"a fence of all lanes before one tells, with lane groups", TOLD_BY_LANE("", "MEMBAR.GL;", LANE_SETS), 8, 2,
     .lane_groups = true, .race = {8, 15}, .says = "hasn't met these lanes"},
    {"a fence of the other lanes, then of the one that tells, with lane groups",
     TOLD_BY_LANE("@P5 MEMBAR.GL;", "@P4 MEMBAR.GL;", LANE_SETS), 8, 2, .lane_groups = true, .race = {8, 15},
     .says = "hasn't met these lanes"},
    {"a fence of all lanes, and a warp sync, before one tells", TOLD_BY_LANE("", "MEMBAR.GL; NOP;", LANE_SETS), 8, 2,
     .lane_groups = true, .race = {0}},
    {"a block barrier behind the fence of a lane",
     TOLD_BY_LANE("@P4 MEMBAR.GL;", "BAR.SYNC 0x0; @P4 MEMBAR.GL;", LANE_SETS), 8, 2, .race = {0}},
    {"lanes that change a byte each", HEAD "LDS.U8 R4, [R0]; IADD R4, R4, R5;\nSTS.U8 [R0], R4;\n" END, 32, 1, true,
     .race = {0}},
    {"lanes that read their neighbour's byte", HEAD "LOP.XOR R3, R0, 0x1;\nSTS.U8 [R0], R0;\nLDS.U8 R4, [R3];\n" END,
     32, 1, true, .race = {8, 9}, .says = "no __syncwarp()"},
    {"lanes that read their neighbour's byte behind a warp sync",
     HEAD "LOP.XOR R3, R0, 0x1;\nSTS.U8 [R0], R0;\nNOP;\nLDS.U8 R4, [R3];\n" END, 32, 1, true, .race = {0}},
    {"a lock with fences", HEAD LOCKED(FENCE, FENCE), 1, 4, .race = {0}},
    {"a lock freed without a fence", HEAD LOCKED(FENCE, ""), 1, 4, .race = {9, 10},
     .says = "without a fence between"},
    {"a lock taken without a fence", HEAD LOCKED("", FENCE), 1, 4, .race = {9, 10}, .says = "without a fence behind"},
    {"a barrier needs no fence", HEAD "STS [R1], R0;\nBAR.SYNC 0x0;\nLDS R4, [R3];\n" END, 64, 1, .race = {0}},

    {"lock-step of the machine", HEAD "LOP.XOR R3, R1, 0x4;\nSTS [R1], R0;\nLDS R4, [R3];\n" END, 32, 1,
     .race = {8, 9}, .says = "only the lock-step of this machine"},
    {"lock-step and a warp sync", HEAD "LOP.XOR R3, R1, 0x4;\nSTS [R1], R0;\nNOP;\nLDS R4, [R3];\n" END, 32, 1,
     .race = {0}},
    {"lock-step and a warp sync that was left out",
     HEAD "LOP.XOR R3, R1, 0x4;\nSTS [R1], R0;\n@!PT MEMBAR.SYS; LDS R4, [R3];\n" END, 32, 1, .race = {0}},
    {"lock-step and a warp sync that no lane's guard lets by",
     HEAD "LOP.XOR R3, R1, 0x4;\nSTS [R1], R0;\n@!PT MEMBAR.SYS; @!PT LDS R4, [R3];\nLDS R4, [R3];\n" END, 32, 1,
     .race = {0}},
    {"a warp sync of one side of a branch",
     HEAD "LOP.XOR R3, R1, 0x40;\nSTS [R1], R0;\n@P3 BRA over;\nNOP;\nover: LDS R4, [R3];\n" END, 32, 1,
     .race = {8, 11}, .says = "no __syncwarp()"},
    {"lanes that store one value together", HEAD "STS [0x0], R5;\n" END, 32, 1, .race = {0}},
    {"lanes that count", HEAD "LDS R4, [0x0]; IADD R4, R4, R5; STS [0x0], R4;\n" END, 32, 1, .race = {7, 7},
     .says = "no __syncwarp()"},
    {"no lock-step", HEAD "LOP.XOR R3, R1, 0x4;\nSTS [R1], R0;\nLDS R4, [R3];\n" END, 32, 1, .lane_groups = true,
     .race = {8, 9}, .says = "lanes of a warp don't run in lock-step on"},
    {"a warp sync", HEAD "LOP.XOR R3, R1, 0x4;\nSTS [R1], R0;\nNOP;\nLDS R4, [R3];\n" END, 32, 1, true, .race = {0}},
    {"a warp sync too early", HEAD "LOP.XOR R3, R1, 0x4;\nNOP;\nSTS [R1], R0;\nLDS R4, [R3];\n" END, 32, 1,
     .lane_groups = true, .race = {9, 10}, .says = "no __syncwarp()"},
    {"a barrier for one warp", HEAD "LOP.XOR R3, R1, 0x4;\nSTS [R1], R0;\nBAR.SYNC 0x0;\nLDS R4, [R3];\n" END, 32, 1,
     true, .race = {0}},
    {"a lane's own words", HEAD "STS [R1], R0;\nLDS R4, [R1];\nSTS [R1], R4;\n" END, 32, 1, true, .race = {0}},
    {"both sides of a branch", HEAD "@P3 STS [0x0], R5;\n@!P3 LDS R4, [0x0];\n" END, 32, 1, .lane_groups = true,
     .race = {7, 8}, .says = "no __syncwarp()"},
    {"a flag in a warp, with fences",
     HEAD "MOV R11, 0x0;\n@P3 ST [R8], R5;\nMEMBAR.GL;\n@P3 ATOM.EXCH RZ, [R8+0x4], R5;\n@!P3 ATOM.ADD R6, [R8+0x4], "
          "RZ;\nMEMBAR.GL;\n@!P3 LD R7, [R8];\n" END,
     32, 1, true, .race = {0}},
    {"a flag in a warp, without fences",
     HEAD "MOV R11, 0x0;\n@P3 ST [R8], R5;\n@P3 ATOM.EXCH RZ, [R8+0x4], R5;\n@!P3 ATOM.ADD R6, [R8+0x4], "
          "RZ;\n@!P3 LD R7, [R8];\n" END,
     32, 1, .lane_groups = true, .race = {8, 11}, .says = "without a fence"},
};

static void run(const Case *test, GPtrArray *findings) {
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_new_default();
  ck_assert(machine_set(machine, "gpu.sms", "4", diag));
  ck_assert(machine_set(machine, "sm.max_blocks", "1", diag));
  if (test->lane_groups)
    ck_assert(machine_set(machine, "sm.convergence", "barrier", diag));
  Backing *backing = backing_new();
  backing_add(backing, "out", 16, NULL);
  Program *program = lab_parse(test->text);
  lab_as_ptx(program);
  Gpu *gpu = gpu_new(machine, backing, 1);
  RaceDetector *detector = race_detector_new(gpu, findings, NULL);
  uint32_t argument = (uint32_t)backing_buffer(backing, 0)->base;
  LaunchConfig config = {.program = program,
                         .kernel = program_kernel(program, 0),
                         .grid = {test->grid, 1, 1},
                         .block = {test->block, 1, 1},
                         .args = (const uint8_t *)&argument,
                         .args_bytes = sizeof argument};
  g_autofree char *why = NULL;
  ck_assert_msg(gpu_add_launch(gpu, &config, &why), "%s: %s", test->name, why);
  if (test->steps) {
    backing_buffer(backing, 0)->host = true;
    ck_assert_msg(gpu_set_host(gpu, test->host, test->steps, &why), "%s: %s", test->name, why);
  }
  ck_assert_msg(gpu_run(gpu, 1000000, 1000000) == GPU_FINISHED, "%s: doesn't end", test->name);
  race_detector_finish(detector);
  gpu_free(gpu);
  race_detector_free(detector);
  backing_free(backing);
  program_free(program);
  machine_free(machine);
}

static const Evidence *evidence(const Finding *finding, guint index) {
  return g_ptr_array_index(finding->evidence, index);
}

static void free_finding(gpointer finding) { finding_free(finding); }

START_TEST(finds_the_race) {
  const Case *test = &cases[_i];
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(free_finding);
  run(test, findings);
  const Finding *finding = findings->len ? g_ptr_array_index(findings, 0) : NULL;
  if (!test->race[0]) {
    ck_assert_msg(!finding, "%s: %s, %s", test->name, finding ? finding->message : "",
                  finding ? evidence(finding, 2)->text : "");
    return;
  }
  bool found = false;
  GString *told = g_string_new(NULL);
  for (guint i = 0; i < findings->len; i++) {
    finding = g_ptr_array_index(findings, i);
    uint32_t first = evidence(finding, 0)->line, then = evidence(finding, 1)->line;
    const char *text = evidence(finding, 2)->text;
    g_string_append_printf(told, "%u, %u: %s; %s\n", first, then, finding->message, text);
    found = found || (MIN(first, then) == test->race[0] && MAX(first, then) == test->race[1] &&
                      strstr(text, test->says) && finding->repair);
  }
  ck_assert_msg(found, "%s:\n%s", test->name, told->str);
  g_string_free(told, TRUE);
}
END_TEST

#define PLAIN_STORE HEAD "ST [R8], R5;\n" END
/* Line 7 reads out[0] once out[1] is set. */
#define TOLD(fence) \
  HEAD "again: LD.CV R6, [R8+0x4]; ISETP.EQ.AND P0, pt, R6, RZ, pt; @P0 BRA again; " fence " LD R7, [R8];\n" END
/* Sets out[1] behind out[0]. */
#define TELLS(fence) HEAD "ST [R8], R5; " fence " ST.WT [R8+0x4], R5;\n" END
#define STEPS(...) .steps = sizeof((HostStep[]){__VA_ARGS__}) / sizeof(HostStep), .host = {__VA_ARGS__}
#define POLL(word) \
  { .kind = HOST_POLL, .compare = HOST_NE, .index = word }
#define WRITE(word) \
  { .kind = HOST_WRITE, .value = 1, .index = word }
#define LAUNCH \
  { .kind = HOST_LAUNCH }
#define WAIT \
  { .kind = HOST_WAIT }

static const Case host_cases[] = {
    {"the host writes before the launch and reads behind it", PLAIN_STORE, 1, 1,
     STEPS(WRITE(0), LAUNCH, WAIT, POLL(0))},
    {"the host reads what is running", PLAIN_STORE, 1, 1, .says = "the access of the GPU is plain",
     STEPS(LAUNCH, POLL(0), WAIT)},
    {"the host writes what is running", HEAD "LD R7, [R8];\n" END, 1, 1, .says = "the access of the GPU is plain",
     STEPS(LAUNCH, WRITE(0))},
    {"both only read", HEAD "LD R7, [R8];\n" END, 1, 1, STEPS(LAUNCH, {.kind = HOST_POLL, .compare = HOST_EQ})},
    {"the GPU's access is volatile", HEAD "ST.WT [R8], R5;\n" END, 1, 1, STEPS(LAUNCH, POLL(0))},
    {"the GPU tells the host", TELLS("MEMBAR.SYS;"), 1, 1, STEPS(LAUNCH, POLL(1), POLL(0))},
    {"the GPU tells the host without a fence", TELLS(""), 1, 1, .says = "handed on through the host without a fence",
     STEPS(LAUNCH, POLL(1), POLL(0))},
    {"the GPU tells the host behind a fence for the GPU", TELLS("MEMBAR.GL;"), 1, 1,
     .says = "whose scope is the system", STEPS(LAUNCH, POLL(1), POLL(0))},
    {"the host tells the GPU, whose fence is for the GPU", TOLD("MEMBAR.GL;"), 1, 1,
     .says = "the fence behind the load that sees it is for the GPU only", STEPS(LAUNCH, WRITE(0), WRITE(1))},
    {"the GPU's atomic is for the GPU", HEAD "ATOM.ADD R6, [R8], R5;\n" END, 1, 1, .says = "(.cta, .gpu)",
     STEPS(LAUNCH, POLL(0))},
    {"the host tells the GPU", TOLD("MEMBAR.SYS;"), 1, 1, STEPS(LAUNCH, WRITE(0), WRITE(1))},
    {"the host tells the GPU, which has no fence", TOLD(""), 1, 1, .says = "has no fence behind the load",
     STEPS(LAUNCH, WRITE(0), WRITE(1))},
};

START_TEST(the_host_races) {
  const Case *test = &host_cases[_i];
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(free_finding);
  run(test, findings);
  ck_assert_msg((findings->len > 0) == (test->says != NULL), "%s: %u", test->name, findings->len);
  for (guint i = 0; i < findings->len; i++) {
    const Finding *finding = g_ptr_array_index(findings, i);
    ck_assert_uint_eq(finding->line, 7);
    ck_assert_msg(strstr(finding->message, "the host"), "%s: %s", test->name, finding->message);
    ck_assert_msg(strstr(evidence(finding, 2)->text, test->says), "%s: %s", test->name, evidence(finding, 2)->text);
    ck_assert(strstr(evidence(finding, 0)->text, "the host") || strstr(evidence(finding, 1)->text, "the host"));
  }
}
END_TEST

/* Lanes that come to words in another order than the words have. */
static const Case swaps[] = {
    {"words", HEAD "LOP.XOR R4, R1, 0x4; STS [R1], R5;\nLDS R6, [R4];\n" END, 32, 1, .lane_groups = true,
     .says = "read the 32 words from shared address 0x0 to shared address 0x7c"},
    {"bytes", HEAD "LOP.XOR R4, R0, 0x1; STS.U8 [R0], R5;\nLDS.U8 R6, [R4];\n" END, 32, 1, .lane_groups = true,
     .says = "read the 8 words from shared address 0x0 to shared address 0x1c"},
};

START_TEST(names_all_lanes) {
  const Case *test = &swaps[_i];
  g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(free_finding);
  run(test, findings);
  ck_assert_uint_eq(findings->len, 1);
  const Finding *finding = g_ptr_array_index(findings, 0);
  ck_assert_uint_eq(finding->lanes, UINT32_MAX);
  ck_assert_msg(strstr(finding->message, test->says), "%s: %s", test->name, finding->message);
  for (guint i = 0; i < 2; i++)
    ck_assert_msg(strstr(evidence(finding, i)->text, "all 32 lanes"), "%s: %s", test->name,
                  evidence(finding, i)->text);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("race_ptx");
  TCase *tcase = tcase_create("race_ptx");
  tcase_add_loop_test(tcase, finds_the_race, 0, G_N_ELEMENTS(cases));
  tcase_add_loop_test(tcase, names_all_lanes, 0, G_N_ELEMENTS(swaps));
  tcase_add_loop_test(tcase, the_host_races, 0, G_N_ELEMENTS(host_cases));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
