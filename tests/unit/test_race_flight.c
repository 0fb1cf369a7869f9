/* The race detector where accesses take time: they are performed later than they are issued, in another order, in
 * parts, and when their warp has exited. Each race stands beside its race-free twin. Scripts: race_memory.h. */
#include <glib.h>
#include <string.h>

#include "tests/unit/race_memory.h"
#include "tests/unit/unit.h"

/* The races: pairs of names, the one of the smaller line first; NULL: none. */
typedef struct Case {
  const char *name, *script;
  const char *race[2], *says, *then; /* then: which of the two comes second, if not NULL */
  const char *sees;                  /* what the message says, if not NULL */
  bool lane_groups, fermi; /* fermi: no PTX, so plain accesses may hand on, and are performed by the script, too */
  uint32_t locked;         /* word 1 at the beginning */
  bool in_order;           /* plain accesses are performed by the script */
} Case;

#define SEEN " c.see c.see! c.fence c.get"

static const Case cases[] = {
    {"fences on both sides", "a.put a.fence a.set a.set!" SEEN, .race = {NULL}},
    {"no fence before the flag", "a.put a.set a.set!" SEEN, .race = {"put", "get"},
     .says = "in line 9 without a fence between"},
    {"a fence when the flag is under way", "a.put a.set a.fence a.set!" SEEN, .race = {"put", "get"},
     .says = "without a fence between"},
    {"more data when the flag is under way", "a.fence a.set a.put a.set!" SEEN, .race = {"put", "get"},
     .says = "nothing orders them"},
    {"more data, and a fence, when the flag is under way", "a.fence a.set a.put a.fence a.set!" SEEN,
     .race = {"put", "get"}, .says = "nothing orders them"},
    {"no fence behind the flag", "a.put a.fence a.set a.set! c.see c.see! c.get", .race = {"put", "get"},
     .says = "taken by `LD.CV R6, [R8+0x4];` in line 10, without a fence behind that"},
    {"data that is read while the poll is under way", "a.put a.fence a.set a.set! c.see c.get c.see!",
     .race = {"put", "get"}, .says = "taken by `LD.CV R6, [R8+0x4];` in line 10, without a fence behind that"},
    {"data that is read before the poll", "a.put a.fence a.set a.set! c.get c.see c.see!", .race = {"put", "get"},
     .says = "nothing orders them"},
    {"data that is read while two polls are under way",
     "a.put a.fence a.set a.set! c.see2 c.see c.get c.see! c.see2!", .race = {"put", "get"},
     .says = "taken by `LD.CV R6, [R8+0x4];` in line 10, without a fence behind that"},
    {"data that is read while a poll is under way, and the warp exits",
     "a.put a.fence a.set a.set! a.see a.exit c.see c.get c.see! a.see!", .race = {"put", "get"},
     .says = "taken by `LD.CV R6, [R8+0x4];` in line 10, without a fence behind that"},
    {"a poll that is performed behind a fence", "a.put a.fence a.set c.see a.set! c.fence c.see! c.get",
     .race = {NULL}},
    {"a fence before the poll, performed behind it", "a.put a.fence a.set a.set! c.fence c.see c.see! c.get",
     .race = {"put", "get"}, .says = "without a fence behind that"},
    {"a poll before the flag is performed", "a.put a.fence a.set c.see c.see! a.set! c.fence c.get",
     .race = {"put", "get"}, .says = "nothing orders them"},
    {"release and acquire under way", "a.put a.rel c.acq a.rel! c.acq! c.get", .race = {NULL}},
    {"data behind a release under way", "a.rel a.put a.rel! c.acq c.acq! c.get", .race = {"put", "get"},
     .says = "nothing orders them"},

    {"release and acquire in a block", "a.put a.rel b.acq a.rel! b.acq! b.get", .race = {NULL}},
    {"data behind a release in a block", "a.rel a.put a.rel! b.acq b.acq! b.get", .race = {"put", "get"},
     .says = "nothing orders them"},

    {"a warp that exits before its flag is performed", "a.put a.fence a.set a.exit a.set!" SEEN, .race = {NULL}},
    {"the same without a fence; the next warp has one", "a.put a.set a.exit e.fence a.set!" SEEN,
     .race = {"put", "get"}, .says = "without a fence between"},
    {"the next warp's data", "a.fence a.set a.exit e.put e.fence a.set!" SEEN, .race = {"put", "get"}},
    {"a count that nobody waits for", "a.put a.fence a.count a.exit a.count! c.see c.see! c.fence c.get",
     .race = {NULL}},
    {"the same without a fence", "a.put a.count a.exit e.fence a.count! c.see c.see! c.fence c.get",
     .race = {"put", "get"}, .says = "in line 15 without a fence between"},

    {"a lock that is freed under way",
     "a.lock a.lock! a.fence a.put a.fence a.free c.lock a.free! c.lock! c.fence c.put", .race = {NULL}},
    {"a lock that is freed without a fence",
     "a.lock a.lock! a.fence a.put a.free a.fence c.lock a.free! c.lock! c.fence c.put", .race = {"put", "put"},
     .says = "in line 14 without a fence between"},
    {"a CAS that fails since the lock is still taken",
     "a.lock a.lock! a.fence a.put a.fence a.free c.lock c.lock! a.free! c.lock c.lock! c.fence c.put",
     .race = {NULL}},
    {"a CAS that fails takes nothing",
     "a.lock a.lock! a.fence a.put a.fence a.free c.lock c.lock! a.free! c.fence c.put", .race = {"put", "put"},
     .says = "nothing orders them"},
    {"a CAS that fails hands nothing on", "a.put a.fence a.lock a.lock! c.see c.see! c.fence c.get",
     .race = {"put", "get"}, .says = "nothing orders them", .locked = 7},
    {"a CAS under way beside a load that comes first", "c.look a.lock a.lock!", .race = {"look", "lock"},
     .says = "the other isn't"},
    {"a CAS under way beside a load that comes between", "a.lock c.look a.lock!", .race = {"look", "lock"},
     .says = "the other isn't"},
    {"an atomic under way beside a load that comes between", "a.count c.look a.count!", .race = {"look", "count"},
     .says = "the other isn't", .then = "look"},
    {"an atomic under way beside a load that comes first", "c.look a.count a.count!", .race = {"look", "count"},
     .says = "the other isn't", .then = "count"},
    {"a CAS that fails beside a load that comes first", "c.look a.lock a.lock!", .locked = 1},
    {"a CAS that fails beside a load that comes between", "a.lock c.look a.lock!", .locked = 1},
    {"data behind a CAS under way", "a.fence a.lock a.put a.lock! c.see c.see! c.fence c.get", .race = {"put", "get"},
     .says = "nothing orders them"},
    {"data behind a CAS that was performed", "a.fence a.lock a.lock! a.put c.see c.see! c.fence c.get",
     .race = {"put", "get"}, .says = "nothing orders them"},
    {"data before it", "a.put a.fence a.lock a.lock! c.see c.see! c.fence c.get", .race = {NULL}},

    {"a flag in two parts", "a.put a.fence a3.set a1.set! c.see c.see! c.fence c.get a2.set!", .race = {NULL}},
    {"data between them", "a.fence a3.set a1.set! a.put a.fence a2.set!" SEEN, .race = {"put", "get"}},
    {"a lock that two lanes try, in two parts, beside a load", "a3.lock c.look a2.lock! a1.lock!",
     .race = {"look", "lock"}},
    {"a load behind the first of them, which it has seen", "a3.lock a2.lock! c.see c.see! c.look a1.lock!",
     .race = {NULL}},
    {"a load when both fail", "a3.lock a2.lock! c.look a1.lock!", .locked = 1},

    {"a barrier while a store is under way", "a.vput ab.bar b.get a.vput!", .race = {NULL}},
    {"no barrier", "a.vput b.get a.vput!", .race = {"get", "vput"}, .says = "__syncthreads()"},
    {"a barrier while a load is under way", "a.vget ab.bar b.put a.vget!", .race = {NULL}},
    {"a barrier too late for a load under way", "a.vget b.put ab.bar b.put a.vget!", .race = {"put", "vget"}},
    {"a warp sync while a store is under way", "a1.vput a.sync a2.get a1.vput!", .lane_groups = true},
    {"a warp sync too late for a store under way", "a1.vput a2.get a.sync a1.vput!", .race = {"get", "vput"},
     .says = "__syncwarp()", .lane_groups = true},
    {"a warp sync while a load is under way", "a1.vget a.sync a2.put a1.vget!", .lane_groups = true},
    {"a warp sync too late for a load under way", "a1.vget a2.put a.sync a1.vget!", .race = {"put", "vget"},
     .says = "__syncwarp()", .lane_groups = true},

    {"a lane's data, which it fences itself, and another lane's flag", "a2.put a3.fence a1.set a1.set!" SEEN,
     .race = {"put", "get"}, .says = "hasn't met these lanes", .lane_groups = true},
    {"the same, and the other lane fences once more", "a2.put a3.fence a1.fence a1.set a1.set!" SEEN,
     .race = {"put", "get"}, .says = "hasn't met these lanes", .lane_groups = true},
    {"the same, and the other lane releases", "a2.put a3.fence a1.rel a1.rel! c.acq c.acq! c.get",
     .race = {"put", "get"}, .says = "hasn't met these lanes", .lane_groups = true},
    {"the lanes meet before the fence", "a2.put a.sync a3.fence a1.set a1.set!" SEEN, .lane_groups = true},
    {"the lanes meet behind the fence", "a2.put a3.fence a.sync a1.set a1.set!" SEEN, .lane_groups = true},
    {"each lane has its flag, and fences itself", "a2.put a3.fence a1.set a1.set! a2.set a2.set!" SEEN,
     .lane_groups = true},
    {"the lane has handed it on before the other one comes",
     "a2.put a3.fence a2.set a2.set! a1.set2 a1.set2!" SEEN, .lane_groups = true},
    {"the lanes meet, and the flag is set once more", "a2.put a3.fence a1.set a1.set! a.sync a1.set a1.set!" SEEN,
     .lane_groups = true},
    {"a block barrier behind the fence", "a2.put a3.fence ab.bar a1.set a1.set!" SEEN, .lane_groups = true},
    {"the lane stores again behind its fence", "a2.put a3.fence a.sync a2.put a1.set a1.set!" SEEN,
     .race = {"put", "get"}, .says = "without a fence between", .lane_groups = true},
    {"lanes of a warp with a SIMT stack go together", "a2.put a3.fence a1.set a1.set!" SEEN, .lane_groups = false},

    {"a word that is cleared before it is released, and acquired", "c.acq a.clear a.rel a.rel! c.acq!",
     .race = {NULL}},
    {"the same, but it is read too early", "c.acq a.clear a.rel c.acq! a.rel!", .race = {"clear", "acq"},
     .says = "the other isn't"},
    {"the same without an acquire", "c.see a.clear a.rel a.rel! c.see!", .race = {"clear", "see"},
     .says = "without a fence behind"},

    {"it passes on what it saw before",
     "a.put a.fence a.set a.set! c.see c.see! c.fence c.set2 c.set2! d.see2 d.see2! d.fence d.get", .race = {NULL}},
    {"it passes on what it didn't know yet",
     "a.put a.fence a.set c.set2 c.see a.set! c.see! c.fence c.set2! d.see2 d.see2! d.fence d.get",
     .race = {"put", "get"}},

    {"volatile data behind a flag", "a.vput a.set a.vput! a.set! c.see c.see! c.vget c.vget!",
     .race = {"vput", "vget"}, .says = "without a fence between"},
    {"volatile data, both under way", "a.vput a.set a.vput! a.set! c.see c.vget c.see! c.vget!",
     .race = {"vput", "vget"}, .says = "without a fence between"},
    {"volatile data, both under way, and a fence behind",
     "a.vput a.set a.vput! a.set! c.see c.vget c.fence c.see! c.vget!", .race = {"vput", "vget"},
     .says = "without a fence between"},
    {"volatile data that is performed behind its flag", "a.vput a.set a.set! c.see c.see! c.vget c.vget! a.vput!",
     .race = {"vput", "vget"}, .sees = "is seen, and here it isn't, and a fence is missing"},
    {"volatile data that is read before the flag, which was first",
     "c.see c.vget c.vget! a.vput a.vput! a.set a.set! c.see!", .race = {"vput", "vget"},
     .sees = "is seen, and here it isn't, and a fence is missing"},
    {"volatile data that is read before the flag, which was first, and seen",
     "a.vput a.vput! c.see c.vget c.vget! a.set a.set! c.see!", .race = {"vput", "vget"},
     .sees = "is seen, and a fence"},
    {"volatile data that is read before the flag, both too early",
     "c.see c.vget c.vget! c.see! a.vput a.vput! a.set a.set!", .race = {NULL}},
    {"volatile data in the other order, the flag performed first",
     "c.vget c.see a.vput a.vput! a.set a.set! c.see! c.vget!", .race = {NULL}},
    {"volatile data alone, seen while a poll is under way", "a.vput a.vput! c.see c.vget c.vget! c.see!",
     .race = {NULL}},
    {"volatile data first seen, then missed",
     "a.vput a.set a.vput! a.set! c.see c.see! c.vget c.vget! a.vput a.set a.set! c.see "
     "c.see! c.vget c.vget! a.vput!",
     .race = {"vput", "vget"}, .sees = "is seen, and here it isn't, and a fence is missing"},
    {"volatile data before the flag, performed behind it", "a.vput a.set a.vput! a.set! c.vget c.see c.see! c.vget!",
     .race = {NULL}},
    {"volatile data with fences", "a.vput a.fence a.set a.vput! a.set! c.see c.see! c.fence c.vget c.vget!",
     .race = {NULL}},

    {"an atomic that a load observed, which saw the word before", "d.see d.see! a.count a.count! d.see d.see! d.look",
     .race = {NULL}},
    {"an atomic behind a load of the word", "d.see d.see! a.count a.count! d.look", .race = {"look", "count"}},
    {"a store that was observed, and then loaded", "a.rel a.rel! d.see d.see! d.look d.clear", .race = {NULL}},
    {"a store that was loaded only", "a.rel a.rel! d.look", .race = {"look", "rel"}},
    {"a store that an atomic under way observes, before a load", "a.rel d.count d.look a.rel! d.count!",
     .race = {NULL}},
    {"a store that an atomic under way misses, before a load", "a.rel d.count d.look d.count! a.rel!",
     .race = {"look", "rel"}},
    {"an atomic of a warp that has stored, observes another", "d.clear d.count a.lock a.lock! d.count! d.look",
     .race = {"clear", "lock"}},
    {"a load observes a store, and its warp's next store is under way",
     "d.vget d.vput a.vput a.vput! d.vget! d.vput! d.put", .race = {NULL}},

    {"a store that is issued behind a plain one, and observed by an exchange before that",
     "a.free a.clear c.rel c.rel! a.free!", .race = {NULL}},
    {"the same, but the exchange is performed first", "a.free a.clear c.rel a.free! c.rel!",
     .race = {"clear", "rel"}},
    {"the same, but the exchange is issued behind the plain one", "a.clear a.free c.rel c.rel! a.free!",
     .race = {"clear", "rel"}},
    {"the same with an exchange of another lane, and a warp sync", "a1.free a.sync a2.clear c.rel c.rel! a.free!",
     .race = {NULL}},
    {"an atomic that is issued behind a load, and observed by a CAS before that",
     "c.lock c.look a.count a.count! c.lock!", .race = {NULL}},
    {"the same, but the CAS is performed first", "c.lock c.look a.count c.lock! a.count!", .race = {"look", "count"}},
    {"a volatile load that repeats another observes a store", "b.vget b.vget! b.vget b.put c.vput c.vput! b.vget!",
     .race = {NULL}},
    {"the same, but it is performed first", "b.vget b.vget! b.vget b.put c.vput b.vget! c.vput!",
     .race = {"put", "vput"}},
    {"a load before the load that observes, of a word that its warp stores to then",
     "c.look c.see c.clear a.lock a.lock! c.see!", .race = {"look", "lock"}},
    {"a load before the acquire that observes, while another load is under way",
     "c.lock a.vget a.look a.acq c.lock! a.acq! a.vget!", .race = {"look", "lock"}},
    {"the same behind the acquire", "c.lock a.vget a.acq c.lock! a.acq! a.look a.vget!", .race = {NULL}},
    {"two stores of one instruction, one of which is observed", "a.vput b.vget a.vput b.put a.vput! b.vget! a.vput!",
     .race = {"put", "vput"}},
    {"both are observed", "a.vput b.vget a.vput b.put a.vput! a.vput! b.vget!", .race = {"put", "vput"}},
    {"a CAS observes a store, and the next one repeats it",
     "a.rel a.rel! c.vget c.lock c.look c.lock c.lock! c.lock! c.vget!", .race = {NULL}},
    {"an exchange observes a store, and a plain store and a CAS of its warp follow",
     "a.rel a.rel! b.free b.lock b.look b.free! b.clear b.lock!", .race = {NULL}},

    {"an exchange of another warp, behind a barrier, observes a store", "a.free ab.bar b.clear c.rel c.rel! a.free!",
     .race = {NULL}},
    {"the same, but the exchange is performed first", "a.free ab.bar b.clear c.rel a.free! c.rel!",
     .race = {"clear", "rel"}},
    {"the same, the store issued first", "c.rel a.free ab.bar b.clear c.rel! a.free!", .race = {NULL}},
    {"the same, but the exchange is performed first", "c.rel a.free ab.bar b.clear a.free! c.rel!",
     .race = {"clear", "rel"}},
    {"a volatile load of another warp, behind a barrier, observes a store",
     "a.vget ab.bar b.get c.vput c.vput! a.vget!", .race = {NULL}},
    {"the same without a barrier", "a.vget b.get c.vput c.vput! a.vget!", .race = {"get", "vput"}},
    {"a load observes a store, then another warp's behind a barrier, and a plain load of the first warp follows",
     "c.rel c.rel! b.see b.see! ab.bar a.see a.see! b.look", .race = {NULL}},
    {"the same without the first load", "c.rel c.rel! ab.bar a.see a.see! b.look", .race = {"look", "rel"}},
    {"two warps' loads under way, the older of which observes a store",
     "a.vget ab.bar b.vget b.put c.vput b.vget! c.vput! a.vget!", .race = {NULL}},
    {"the same, but both are performed first", "a.vget ab.bar b.vget b.put c.vput b.vget! a.vget! c.vput!",
     .race = {"put", "vput"}},
    {"an exchange under way observes a store, and a plain store stands behind it",
     "c.rel a.free c.rel! a.clear a.free! a.clear!", .race = {NULL}, .in_order = true},
    {"the same, but the exchange is performed first", "c.rel a.free a.clear a.free! c.rel! a.clear!",
     .race = {"clear", "rel"}, .in_order = true},

    {"a plain flag of Fermi", "a.put a.tell c.poll a.put! a.tell! c.poll! c.get c.get!", .race = {NULL},
     .fermi = true},
    {"a plain flag that is performed before its data", "a.put a.tell c.poll a.tell! c.poll! c.get c.get! a.put!",
     .race = {NULL}, .fermi = true},
    {"a plain flag that is polled too early", "a.put a.tell c.poll a.put! c.poll! a.tell! c.get c.get!",
     .race = {"put", "get"}, .says = "no atomic or flag is handed", .fermi = true},
    {"data behind a plain flag under way", "a.tell a.put a.put! a.tell! c.poll c.poll! c.get c.get!",
     .race = {"put", "get"}, .says = "no atomic or flag is handed", .fermi = true},
    {"a plain flag whose warp has exited", "a.put a.put! a.tell a.exit a.tell! c.poll c.poll! c.get c.get!",
     .race = {NULL}, .fermi = true},
    {"the next warp's data behind it", "a.tell a.exit e.put e.put! a.tell! c.poll c.poll! c.get c.get!",
     .race = {"put", "get"}, .says = "no atomic or flag is handed", .fermi = true},
};

static const Evidence *evidence(const Finding *finding, guint index) {
  return g_ptr_array_index(finding->evidence, index);
}

START_TEST(finds_the_race_and_no_other) {
  const Case *test = &cases[_i];
  RaceMemory *memory = race_memory_new(test->lane_groups ? "sm.convergence=barrier" : "", test->fermi);
  const GPtrArray *findings = memory->findings;
  memory->words[1] = test->locked;
  memory->in_order = test->in_order;
  g_auto(GStrv) steps = g_strsplit(test->script, " ", -1);
  for (char **step = steps; *step; step++)
    race_memory_step(memory, *step);
  race_memory_finish(memory);
  g_autoptr(GString) told = g_string_new(NULL);
  bool found = false;
  guint count = 0;
  for (guint i = 0; i < findings->len; i++) {
    const Finding *finding = g_ptr_array_index(findings, i);
    if (finding->doubt && finding->doubt->edit[0].kind == EDIT_OLDER) /* `check` tries that */
      continue;
    count++;
    unsigned lines[] = {evidence(finding, 0)->line, evidence(finding, 1)->line};
    const char *first = race_memory_name(MIN(lines[0], lines[1])), *then = race_memory_name(MAX(lines[0], lines[1]));
    const char *second = race_memory_name(lines[1]), *text = evidence(finding, 2)->text;
    g_string_append_printf(told, "%s, %s: %s; %s\n", first, then, finding->message, text);
    found |= g_strcmp0(first, test->race[0]) == 0 && g_strcmp0(then, test->race[1]) == 0 &&
             (!test->says || strstr(text, test->says)) && (!test->then || strcmp(second, test->then) == 0) &&
             (!test->sees || strstr(finding->message, test->sees));
  }
  ck_assert_msg(count == (test->race[0] != NULL) && found == (test->race[0] != NULL), "%s:\n%s", test->name,
                told->str);
  race_memory_free(memory);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("race_flight");
  TCase *tcase = tcase_create("race_flight");
  tcase_add_loop_test(tcase, finds_the_race_and_no_other, 0, G_N_ELEMENTS(cases));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
