/* tests/memory/NAME.mem: units of the memory system, pinned by hand calculation; and what the reader says of bad
 * lines. */
#include <glib.h>
#include <string.h>

#include "tests/unit/mem_script.h"
#include "tests/unit/unit.h"

static const char *const scripts[] = {
    "after_loads",    "atomic",        "atomic_latency", "cas",
    "clocks",         "clusters",      "coalescer",      "copies",
    "copies_room",    "copies_void",   "copies_whole",   "counts",
    "crossbar_ports", "dram",          "floats",         "fractions",
    "gates",          "goes_on",       "halves",         "halves_as_others",
    "halves_back",    "halves_links",  "halves_pass",    "halves_reductions",
    "halves_shared",  "hash_pairs",    "hold_again",     "hold_batch",
    "hold_line",      "hold_queue",    "hold_slice",     "hold_unit",
    "host",           "late",          "merge",          "merge_credits",
    "merged_credits", "merge_sectors", "no_l2",          "no_queue",
    "packets",        "pairs",         "path_exchange",  "paths",
    "port",           "port_banks",    "port_quads",     "queues",
    "queues_no_l2",   "queues_server", "reacquire",      "read_ahead",
    "replies",        "reply_sectors", "reply_slots",    "server",
    "slice",          "slice_sectors", "spread_far",     "spread_slices",
    "spread_sms",     "store_again",   "store_split",    "tags",
    "turns",          "turns_gate",    "turns_groups",   "untagged",
    "warm",           "write_back",
};

START_TEST(a_script_comes_out) {
  g_autofree char *file = g_strdup_printf("%s/tests/memory/%s.mem", g_getenv("SRCDIR"), scripts[_i]), *text = NULL;
  ck_assert_msg(g_file_get_contents(file, &text, NULL, NULL), "%s can't be read", file);
  g_autofree char *found = mem_script_run(file, text);
  ck_assert_msg(!found, "%s", found);
}
END_TEST

typedef struct Wrong {
  const char *text, *says;
} Wrong;

#define START "buffer a 64\nat 10 SM0 load a[0]\n"
static const Wrong wrongs[] = {
    {START "expect reply 3\n", "x:3: reply is "},
    {START "expect replies 3\n",
     "x:3: reply, performed, accesses, segments, atomics or another counter was expected, not `replies`"},
    {START "at 9 SM0 load a[0]\n", "x:3: a cycle no earlier"},
    {START "at 10 SM9 load a[0]\n", "x:3: an SM of the machine"},
    {START "at 10 SM0 fetch a[0]\n",
     "x:3: load, keep, store, atomic, exchange, cas, red, enqueue or dequeue was expected, not `fetch`"},
    {START "at 10 SM0 load.24 a[0]\n", "x:3: 8, 16, 32, 64 or 128"},
    {START "at 10 SM0 load a[64]\n", "x:3: a has 64 words"},
    {START "at 10 SM0 load b[0]\n", "x:3: there is no buffer `b`"},
    {START "at 10 SM0 load a\n", "x:3: a place such as a[0]"},
    {START "at 10 SM0 load a[0] x33\n", "x:3: a number was expected"},
    {START "at 10 SM0 load a[63] x2\n", "x:3: lane 1 has no aligned word"},
    {START "at 10 SM0 load.64 a[1]\n", "x:3: lane 0 has no aligned word"},
    {START "at 10 SM0 load a[0] step\n", "x:3: a number was expected, not `the end of the line`"},
    {START "at 10 SM0 load a[0] scheduler 2\n",
     "x:3: x1 to x32, mask, step, turn, warp, a scheduler of the SM or as was expected, not `scheduler`"},
    {START "expect read 3\n", "x:3: read is 0, not 3"},
    {START "machine memory.latency=5\n", "x:3: the machine comes first"},
    {START "buffer b 4\n", "x:3: buffers come before"},
    {START "expect reply 3 4\n", "x:3: the end of the line was expected, not `4`"},
    {START "expect first reply 3\n", "x:3: there is no access `first`"},
    {START "expect l1_hits 3\n", "x:3: l1_hits is 0, not 3"},
    {START "expect reply 3\nexpect segments 1\n", "x:3: reply is "},
    {"buffer a 64 64\n", "x:1: the end of the line was expected, not `64`"},
    {"\n# nothing\nwait 5\n", "x:3: machine, seed, buffer, at, times or expect"},
    {"times 3\n", "x:1: an access before"},
    {"seed x\n", "x:1: a number was expected, not `x`"},
    {"expect reply 3\n", "x:1: an access before"},
    {"expect slice 0 loads 3\n", "x:1: an access before"},
    {START "expect slice 0 loads 3\n", "x:3: loads is 1, not 3"},
    {START "expect slice 1 loads 3\n", "x:3: there is no slice 1"},
    {START "expect slice 0 lods 3\n", "x:3: a field of mem_stats.h was expected, not `lods`"},
    {START "expect slice 0 loads\n", "x:3: a field and a number was expected"},
};

START_TEST(a_bad_line_is_told) {
  g_autofree char *found = mem_script_run("x", wrongs[_i].text);
  ck_assert_msg(found && g_str_has_prefix(found, wrongs[_i].says), "%s: %s", wrongs[_i].text, found);
}
END_TEST

/* A script that the list lacks would never run. */
START_TEST(each_script_is_listed) {
  g_autofree char *folder = g_build_filename(g_getenv("SRCDIR"), "tests/memory", NULL);
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  guint files = 0;
  for (const char *name; dir && (name = g_dir_read_name(dir));)
    files += g_str_has_suffix(name, ".mem");
  ck_assert_uint_eq(files, G_N_ELEMENTS(scripts));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("mem_scripts");
  TCase *tcase = tcase_create("mem_scripts");
  tcase_add_loop_test(tcase, a_script_comes_out, 0, G_N_ELEMENTS(scripts));
  tcase_add_test(tcase, each_script_is_listed);
  tcase_add_loop_test(tcase, a_bad_line_is_told, 0, G_N_ELEMENTS(wrongs));
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
