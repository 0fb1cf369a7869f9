#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/machine.h"
#include "sim/machine/params.h"
#include "tests/unit/unit.h"

static Machine *parse(const char *text, const char *const *overrides, Diag *diag) {
  return machine_parse("m.yaml", text, strlen(text), overrides, diag);
}

static Machine *parse_good(const char *text) {
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = parse(text, NULL, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(machine && !*messages, "%s", messages);
  return machine;
}

static void expect_messages(const Diag *diag, int index, const char *expected, int status) {
  g_autofree char *text = diag_render(diag);
  ck_assert_msg(strcmp(text, expected) == 0, "case %d gave\n%sexpected\n%s", index, text, expected);
  ck_assert_int_eq(diag_exit_status(diag), status);
}

/* ---- the table ---- */

START_TEST(has_the_defaults_of_the_table) {
  g_autoptr(Machine) machine = machine_new_default();
  ck_assert_uint_eq(machine->gpu.sms, 15);
  ck_assert(machine->clocks.sm == 1464e6);
  ck_assert_uint_eq(machine->sm.lock_unit.bits, 1024);
  ck_assert_int_eq(machine->sm.policy, POLICY_LRR);
  ck_assert_int_eq(machine->sm.simt_stack.implicit_reconvergence, IMPLICIT_IPDOM);
  ck_assert_str_eq(machine->name, "default");
  g_autoptr(Machine) empty = parse_good("{}");
  g_autofree char *difference = machine_diff(machine, empty);
  ck_assert_str_eq(difference, "");
}
END_TEST

START_TEST(lists_the_parameters) {
  g_autoptr(Machine) machine = machine_new_default();
  ck_assert_str_eq(machine_param_path(0), "gpu.compute_capability");
  ck_assert_str_eq(machine_param_path(PARAM_COUNT - 1), "host.poll_interval");
  g_autofree char *clock = machine_param_text(machine, param_index(param_find("clocks.sm")));
  ck_assert_str_eq(clock, "1464 MHz");
  for (unsigned i = 0; i < PARAM_COUNT; i++)
    ck_assert_uint_eq(param_index(param_at(i)), i);
}
END_TEST

/* Each numeric parameter in a YAML file of its own: `{sm: {latency: {alu: TEXT}}}`. */
static char *nest(const Param *param, const char *text) {
  g_auto(GStrv) keys = g_strsplit(param->path, ".", -1);
  g_autofree char *inner = g_strjoinv(": {", keys);
  g_autofree char *close = g_strnfill(g_strv_length(keys), '}');
  return g_strdup_printf("{%s: %s%s\n", inner, text, close);
}

static void expect_out_of_range(const Param *param, double value) {
  g_autofree char *text = units_format(value, param->unit), *yaml = nest(param, text);
  g_autofree char *min = units_format(param->min, param->unit), *max = units_format(param->max, param->unit);
  unsigned column = (unsigned)(strlen(yaml) - strlen(text) - param_depth(param) - 1);
  g_autoptr(Diag) diag = diag_new();
  ck_assert_ptr_null(parse(yaml, NULL, diag));
  g_autofree char *expected = g_strdup_printf("m.yaml:1:%u: error: %s is %s, must lie between %s and %s\n", column,
                                              param->path, text, min, max);
  expect_messages(diag, (int)param_index(param), expected, 3);
}

START_TEST(refuses_what_is_out_of_range) {
  const Param *param = param_at((unsigned)_i);
  if (param->kind == PARAM_ENUM)
    return;
  ck_assert_msg(param->min <= param->dflt && param->dflt <= param->max, "%s: default", param->path);
  expect_out_of_range(param, param->min - 1);
  expect_out_of_range(param, param->max + 1);
  g_autoptr(Machine) machine = machine_new_default();
  g_autofree char *min = units_format(param->min, param->unit), *max = units_format(param->max, param->unit);
  ck_assert_msg(!param_parse(machine, param, min), "%s: its least value", param->path);
  ck_assert(param_get(machine, param) == param->min);
  ck_assert_msg(!param_parse(machine, param, max), "%s: its greatest value", param->path);
  ck_assert(param_get(machine, param) == param->max);
}
END_TEST

START_TEST(takes_each_choice) {
  const Param *param = param_at((unsigned)_i);
  if (param->kind != PARAM_ENUM)
    return;
  for (unsigned i = 0; param->choices[i]; i++) {
    g_autofree char *yaml = nest(param, param->choices[i]);
    g_autoptr(Machine) machine = parse_good(yaml);
    ck_assert_msg(param_get(machine, param) == i, "%s: %s", param->path, param->choices[i]);
    g_autofree char *text = machine_param_text(machine, (unsigned)_i);
    ck_assert_str_eq(text, param->choices[i]);
  }
}
END_TEST

/* ---- reading ---- */

START_TEST(reads_values_and_sources) {
  g_autoptr(Machine) m = parse_good("name: my gpu\nabout: a test\ngpu: {sms: 3}\nclocks: {sm: 1.5 GHz}\n"
                                    "sm:\n  policy: random\n  latency:\n    alu: {value: 20 cycles, source: \"me\"}\n"
                                    "    vote: '7 cycles'\n  shared: {max_block_bytes: 16 KiB}\n");
  ck_assert_str_eq(m->name, "my gpu");
  ck_assert_str_eq(m->about, "a test");
  ck_assert_str_eq(m->file, "m.yaml");
  ck_assert_uint_eq(m->gpu.sms, 3);
  ck_assert(m->clocks.sm == 1.5e9);
  ck_assert_int_eq(m->sm.policy, POLICY_RANDOM);
  ck_assert_uint_eq(m->sm.latency.alu, 20);
  ck_assert_uint_eq(m->sm.latency.vote, 7);
  ck_assert_uint_eq(m->sm.shared.max_block_bytes, 16384);
  ck_assert_str_eq(m->sources[param_index(param_find("sm.latency.alu"))], "me");
  ck_assert_ptr_null(m->sources[param_index(param_find("sm.latency.vote"))]);
}
END_TEST

/* An interval has thousandths of a cycle, and is written as it was read. */
START_TEST(reads_fractions_of_a_cycle) {
  static const struct {
    const char *text, *written;
    Milli value;
  } cases[] = {
      {"1.45", "1.45 cycles", 1450}, {"0.001 cycles", "0.001 cycles", 1},         {"18 cycles", "18 cycles", 18000},
      {"1", "1 cycle", 1000},        {"99999.999", "99999.999 cycles", 99999999}, {"8.29", "8.29 cycles", 8290}};
  for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *yaml = g_strdup_printf("memory: {atomic_interval: %s}\n", cases[i].text);
    g_autoptr(Machine) m = parse_good(yaml);
    ck_assert_uint_eq(m->memory.atomic_interval, cases[i].value);
    g_autofree char *text = machine_param_text(m, param_index(param_find("memory.atomic_interval")));
    ck_assert_str_eq(text, cases[i].written);
  }
}
END_TEST

START_TEST(takes_its_name_from_the_file) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = machine_parse("some/where/fast.gpu.yaml", "{}", 2, NULL, diag);
  ck_assert_str_eq(machine->name, "fast.gpu");
  ck_assert_str_eq(machine->about, "");
}
END_TEST

typedef struct Refusal {
  const char *text, *message;
} Refusal;

static const Refusal refusals[] = {
    {"gpu: {smms: 3}\n", "m.yaml:1:7: error: unknown key `smms` in section `gpu`\n  did you mean `sms`?\n"},
    {"sm:\n  lok_unit: {bits: 3}\n",
     "m.yaml:2:3: error: unknown key `lok_unit` in section `sm`\n  did you mean `lock_unit`?\n"},
    {"lock_unit: {bits: 3}\n",
     "m.yaml:1:1: error: unknown key `lock_unit` in a machine\n  did you mean `sm.lock_unit`?\n"},
    {"sm: {alu: 3}\n", "m.yaml:1:6: error: unknown key `alu` in section `sm`\n  did you mean `sm.latency.alu`?\n"},
    {"sm.latency.alu: 3\n", "m.yaml:1:1: error: unknown key `sm.latency.alu` in a machine\n"
                            "  a path is for -s; in a file, nest the sections\n"},
    {"zzzzzzzz: 3\n",
     "m.yaml:1:1: error: unknown key `zzzzzzzz` in a machine\n"
     "  valid keys: `gpu`, `clocks`, `grid`, `sm`, `memory`, `heap`, `host`, `name`, `about`, `base`\n"},
    {"abuot: x\n", "m.yaml:1:1: error: unknown key `abuot` in a machine\n  did you mean `about`?\n"},
    {"sm:\n  latency:\n    alu: 18 ns\n", "m.yaml:3:10: error: sm.latency.alu: `18 ns` has the wrong unit `ns`; "
                                          "expected cycles, for example `18 cycles`\n"},
    {"clocks: {sm: 1464}\n",
     "m.yaml:1:14: error: clocks.sm: `1464` has no unit; expected Hz, kHz, MHz or GHz, for example `1464 MHz`\n"},
    {"sm: {latency: {alu: 1.5 cycles}}\n",
     "m.yaml:1:21: error: sm.latency.alu is 1.5 cycles, must be a whole number\n"},
    {"gpu: {sms: }\n", "m.yaml:1:12: error: gpu.sms: no value; expected a plain number, for example `16`\n"},
    {"gpu: {sms: 0}\n", "m.yaml:1:12: error: gpu.sms is 0, must lie between 1 and 1024\n"},
    {"gpu: {sms: -1}\n", "m.yaml:1:12: error: gpu.sms is -1, must lie between 1 and 1024\n"},
    {"sm: {shared: {bytes: 2 MiB}}\n",
     "m.yaml:1:22: error: sm.shared.bytes is 2 MiB, must lie between 1 KiB and 1 MiB\n"},
    {"gpu: {sms: 3, sms: 4}\n", "m.yaml:1:15: error: duplicate key `sms`; the first one is in line 1\n"},
    {"gpu: {sms: [3]}\n", "m.yaml:1:12: error: gpu.sms: expected a single value, found a list\n"},
    {"gpu: 3\n", "m.yaml:1:6: error: section `gpu`: expected a mapping, found `3`\n"},
    {"gpu:\n", "m.yaml:1:5: error: section `gpu`: expected a mapping, found nothing\n"},
    {"- gpu\n", "m.yaml:1:1: error: a machine: expected a mapping, found a list\n"},
    {"gpu: {sms: {value: 3, sorce: x}}\n",
     "m.yaml:1:23: error: unknown key `sorce` in gpu.sms\n  did you mean `source`?\n"},
    {"gpu: {sms: {source: x}}\n", "m.yaml:1:12: error: gpu.sms has no `value`\n"},
    {"gpu: {sms: {value: [1], source: x}}\n", "m.yaml:1:20: error: gpu.sms: expected a single value, found a list\n"},
    {"gpu: {sms: {value: 3, source: [x]}}\n",
     "m.yaml:1:31: error: source of gpu.sms: expected a single value, found a list\n"},
    {"sm: {policy: yungest}\n",
     "m.yaml:1:14: error: sm.policy is `yungest`, must be one of `loose-round-robin`, "
     "`greedy-then-oldest`, `youngest`, `random`, `greedy-then-waiting`\n  did you mean `youngest`?\n"},
    {"sm: {simt_stack: {branch_order: }}\n",
     "m.yaml:1:33: error: sm.simt_stack.branch_order is empty, must be one of "
     "`taken-first`, `fallthrough-first`, `smaller-first`\n"},
    {"name: [x]\n", "m.yaml:1:7: error: name: expected a single value, found a list\n"},
    {"name: ''\n", "m.yaml:1:7: error: name must be one line of 1 to 64 bytes\n"},
    {"about: |\n  x\n  y\n", "m.yaml:1:8: error: about must be one line of 1 to 1000 bytes\n"},
    {"about: \"\\e[31m\"\n", "m.yaml:1:8: error: about must be one line of 1 to 1000 bytes\n"},
    {"base: [x]\n", "m.yaml:1:7: error: base: expected a single value, found a list\n"},
    {"base:\n", "m.yaml:1:6: error: base is empty; it names a machine or a file\n"},
    {"base: ./nonesuch.yaml\n", "m.yaml:1:7: error: `./nonesuch.yaml`: no such file\n"},
    {"base: /.yaml/..\n", "m.yaml:1:7: error: `/.yaml/..`: no such file\n"},
    {"base: ./\n", "m.yaml:1:7: error: `./`: is a directory, not a file\n"},
    /* Several in one go, in the order of the file. */
    {"gpu: {sms: 0}\nsm: {latency: {alv: 3, vote: 0}}\n",
     "m.yaml:1:12: error: gpu.sms is 0, must lie between 1 and 1024\n"
     "m.yaml:2:16: error: unknown key `alv` in section `sm.latency`\n  did you mean `alu`?\n"
     "m.yaml:2:30: error: sm.latency.vote is 0 cycles, must lie between 1 cycle and 10000 cycles\n"},
    /* Values against each other. */
    {"sm: {max_threads: 1024}\n",
     "m.yaml:1:19: error: sm.max_threads is 1024, must be 32 times sm.max_warps, which is 48 (32 * 48 = 1536)\n"},
    {"sm: {max_threads: 2048,\n  max_warps: 32}\n",
     "m.yaml:2:14: error: sm.max_threads is 2048, must be 32 times sm.max_warps, which is 32 (32 * 32 = 1024)\n"},
    {"sm: {max_threads: 512, max_warps: 16}\n",
     "m.yaml:1:19: error: grid.max_block_threads is 1024, must not exceed sm.max_threads, which is 512\n"},
    {"sm: {max_threads: 32, max_warps: 1, schedulers: 2}\ngrid: {max_block_threads: 32}\n",
     "m.yaml:1:49: error: sm.schedulers is 2, must not exceed sm.max_warps, which is 1\n"},
    {"sm: {registers: 2000}\n", "m.yaml:1:17: error: sm.registers is 2000, must hold one warp of "
                                "sm.max_thread_registers (63) registers a thread: 2048\n"},
    {"sm: {shared: {max_block_bytes: 64 KiB}}\n",
     "m.yaml:1:32: error: sm.shared.max_block_bytes is 64 KiB, must not exceed sm.shared.bytes, which is 48 KiB\n"},
    {"sm: {l1: {bytes: 1536, line: 96}}\n", "m.yaml:1:30: error: sm.l1.line is 96 bytes, must be a power of two\n"},
    {"sm: {l1: {bytes: 16 KiB, sector: 256}}\n",
     "m.yaml:1:34: error: sm.l1.sector is 256 bytes, must not exceed sm.l1.line, which is 128 bytes\n"},
    {"sm: {l1: {bytes: 16 KiB, line: 1 KiB, sector: 16}}\n",
     "m.yaml:1:47: error: sm.l1.line is 1024 bytes, must have at most 32 sectors of sm.l1.sector, which is 16 "
     "bytes\n"},
    {"sm: {l1: {bytes: 1000}}\n",
     "m.yaml:1:18: error: sm.l1.bytes is 1000 bytes, must be a multiple of sm.l1.line times "
     "sm.l1.ways (128 * 4 = 512)\n"},
    {"sm: {l1: {bytes: 48 KiB, carveout: sm_86}}\n",
     "m.yaml:1:18: error: sm.l1.bytes is 48 KiB, must exceed with a carveout sm.shared.bytes, which is 48 KiB\n"},
    {"sm: {shared: {granule: 96}}\n", "m.yaml:1:24: error: sm.shared.granule is 96 bytes, must be a power of two\n"},
    {"sm: {shared: {granule: 32 KiB}}\n",
     "m.yaml:1:24: error: sm.shared.bytes is 48 KiB, must be a multiple of sm.shared.granule, which is 32 KiB\n"},
    {"memory: {atomic_interval: 1.4567}\n",
     "m.yaml:1:27: error: memory.atomic_interval is 1.4567 cycles, must be a multiple of 0.001 cycles\n"},
    {"memory: {atomic_interval: 0}\n", "m.yaml:1:27: error: memory.atomic_interval is 0 cycles, must lie between "
                                       "0.001 cycles and 100000 cycles\n"},
    {"memory: {atomic_interval: 1.5 bytes}\n", "m.yaml:1:27: error: memory.atomic_interval: `1.5 bytes` has the "
                                               "wrong unit `bytes`; expected cycles, for example "
                                               "`18 cycles`\n"},
    {"memory: {l2: {line: 96}}\n", "m.yaml:1:21: error: memory.l2.line is 96 bytes, must be a power of two\n"},
    {"memory: {l2: {line: 32, sector: 64}}\n",
     "m.yaml:1:33: error: memory.l2.sector is 64 bytes, must not exceed memory.l2.line, which is 32 bytes\n"},
    {"memory: {slices: 7, l2: {halves: 2, bytes: 1 MiB}}\n",
     "m.yaml:1:34: error: memory.slices is 7, must be a multiple of memory.l2.halves, which is 2\n"},
    {"memory: {slices: 8, l2: {halves: 2}}\n",
     "m.yaml:1:34: error: memory.l2.bytes is 0 bytes, must hold lines to go with memory.l2.halves, which is 2\n"},
    {"memory: {slices: 8, l2: {bytes: 8 KiB}}\n", "m.yaml:1:33: error: memory.l2.bytes is 8 KiB, must hold "
                                                  "memory.l2.ways lines for each slice (8 slices * 16 ways * "
                                                  "128 bytes = 16384)\n"},
    {"memory: {slices: 8, l2: {line: 128, granule: 64}}\n",
     "m.yaml:1:46: error: memory.l2.granule is 64 bytes, must not be less than memory.l2.line, which is 128 bytes\n"},
    {"memory: {slices: 8, l2: {line: 256}}\n", "m.yaml:1:32: error: memory.l2.granule is 128 bytes, must not be less "
                                               "than memory.l2.line, which is 256 bytes\n"},
    {"memory: {slices: 8, dram: {channels: 9}}\n", "m.yaml:1:38: error: memory.dram.channels is 9, must not exceed "
                                                   "memory.slices for each of memory.l2.halves, which "
                                                   "share them (8 / 1 = 8)\n"},
    {"memory: {slices: 8, l2: {halves: 2, bytes: 1 MiB}, dram: {channels: 8}}\n",
     "m.yaml:1:69: error: memory.dram.channels is 8, must not exceed memory.slices for each of memory.l2.halves, "
     "which "
     "share them (8 / 2 = 4)\n"},
    {"memory: {crossbar: {clusters: 8}, atomic: {groups: 25}}\n",
     "m.yaml:1:52: error: memory.atomic.groups is 25, must be 1 or a multiple of memory.crossbar.clusters, which is "
     "8\n"},
    {"memory: {crossbar: {clusters: 8}, atomic: {groups: 7}}\n",
     "m.yaml:1:52: error: memory.atomic.groups is 7, must be 1 or a multiple of memory.crossbar.clusters, which is "
     "8\n"},
    {"memory: {atomic: {occupies: line, holds: slice, batch_loads: 2, groups: 2}}\n",
     "m.yaml:1:42: error: memory.atomic.holds is slice, must be line with memory.atomic.occupies: line\n"
     "m.yaml:1:62: error: memory.atomic.batch_loads is 2, must be 1 with memory.atomic.occupies: line\n"
     "m.yaml:1:73: error: memory.atomic.groups is 2, must be 1 with memory.atomic.occupies: line\n"},
    {"memory: {latency: 100, request_latency: 200}\n", "m.yaml:1:41: error: memory.request_latency is 200 cycles, "
                                                       "must not exceed memory.latency, which is 100 cycles\n"},
    {"sm: {lock_queue: {l1_ways: 5, keep: 1}}\n",
     "m.yaml:1:28: error: sm.lock_queue.l1_ways is 5, must not exceed sm.l1.ways, which is 4\n"},
    {"sm: {lock_queue: {l1_ways: 1, l2_ways: 17, keep: 1}}\n",
     "m.yaml:1:40: error: sm.lock_queue.l2_ways is 17, must not exceed memory.l2.ways, which is 16\n"},
    {"sm: {lock_queue: {l1_ways: 1, l2_ways: 1}}\n",
     "m.yaml:1:28: error: sm.lock_queue.keep is 0 cycles, must be above 0 to go with sm.lock_queue.l1_ways, which is "
     "1\n"},
    {"sm: {spin_backoff: {confidence: 4, least: 2000, most: 1000}}\n",
     "m.yaml:1:55: error: sm.spin_backoff.least is 2000 cycles, must not exceed sm.spin_backoff.most, which is 1000 "
     "cycles\n"},
    {"memory: {queue: {bytes: 96}}\n",
     "m.yaml:1:25: error: memory.queue.bytes is 96 bytes, must be a power of two\n"},
    {"memory: {queue: {bytes: 256}}\n",
     "m.yaml:1:25: error: memory.queue.bytes is 256 bytes, must not exceed memory.l2.line, which is 128 bytes\n"},
    {"memory: {queue: {bytes: 4}}\n",
     "m.yaml:1:25: error: memory.queue.bytes is 4, must be 0 or at least 8: the word of a queue, and a slot\n"},
    {"memory: {page: 3000}\n", "m.yaml:1:16: error: memory.page is 3000 bytes, must be a power of two\n"},
    {"memory: {buffer_alignment: 1000}\n",
     "m.yaml:1:28: error: memory.buffer_alignment is 1000 bytes, must be a power of two\n"},
    {"memory: {segment: 100}\n", "m.yaml:1:19: error: memory.segment is 100 bytes, must be a power of two\n"},
};

START_TEST(refuses) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert_ptr_null(parse(refusals[_i].text, NULL, diag));
  expect_messages(diag, _i, refusals[_i].message, 3);
}
END_TEST

START_TEST(stops_after_a_thousand_errors) {
  GString *text = g_string_new("gpu:\n");
  for (unsigned i = 0; i < 20000; i++)
    g_string_append_printf(text, "  k%u: 1\n", i);
  g_autoptr(Diag) diag = diag_new();
  ck_assert_ptr_null(parse(text->str, NULL, diag));
  ck_assert_uint_eq(diag_error_count(diag), 1000);
  g_string_free(text, TRUE);
}
END_TEST

/* ---- overrides ---- */

START_TEST(applies_overrides) {
  static const char *const overrides[] = {"sm.lock_unit.bits=2048",
                                          " sm.latency.alu = 20 cycles",
                                          "sm.policy=youngest",
                                          "gpu.sms=3",
                                          "gpu.sms=4",
                                          "sm.max_warps=64",
                                          "sm.max_threads=2048",
                                          NULL};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) m = parse("gpu: {sms: {value: 9, source: \"x\"}}\n", overrides, diag);
  ck_assert_ptr_nonnull(m);
  ck_assert_uint_eq(m->sm.lock_unit.bits, 2048);
  ck_assert_uint_eq(m->sm.latency.alu, 20);
  ck_assert_int_eq(m->sm.policy, POLICY_YOUNGEST);
  ck_assert_uint_eq(m->gpu.sms, 4);
  ck_assert_str_eq(m->sources[param_index(param_find("gpu.sms"))], "set by hand (-s)");
}
END_TEST

static const Refusal bad_overrides[] = {
    {"gpu.sms", "`gpu.sms` isn't PATH=VALUE, for example `sm.lock_unit.bits=2048`"},
    {"=3", "`=3` isn't PATH=VALUE, for example `sm.lock_unit.bits=2048`"},
    {"sm=3", "`sm` is a section of parameters; set one of them"},
    {"sm.lock_unit.bit=3", "unknown parameter `sm.lock_unit.bit`\n  did you mean `sm.lock_unit.bits`?"},
    {"lock_unit.bits=3", "unknown parameter `lock_unit.bits`\n  did you mean `sm.lock_unit.bits`?"},
    {"alu=3", "unknown parameter `alu`\n  did you mean `sm.latency.alu`?"},
    {"zzzzzzzzzzzz=3", "unknown parameter `zzzzzzzzzzzz`"},
    {"gpu.sms=0", "gpu.sms is 0, must lie between 1 and 1024"},
    {"gpu.sms=", "gpu.sms: no value; expected a plain number, for example `16`"},
    {"sm.latency.alu=18 ns",
     "sm.latency.alu: `18 ns` has the wrong unit `ns`; expected cycles, for example `18 cycles`"},
    {"sm.policy=randmo",
     "sm.policy is `randmo`, must be one of `loose-round-robin`, `greedy-then-oldest`, `youngest`, "
     "`random`, `greedy-then-waiting`\n  did you mean `random`?"},
    {"sm.max_warps=64", "sm.max_threads is 1536, must be 32 times sm.max_warps, which is 64 (32 * 64 = 2048)"},
};

START_TEST(refuses_bad_overrides) {
  const char *const overrides[] = {bad_overrides[_i].text, NULL};
  g_autoptr(Diag) diag = diag_new();
  ck_assert_ptr_null(parse("sm: {max_threads: 1536}\n", overrides, diag));
  g_autofree char *expected = g_strdup_printf("lockstep: error: %s\n", bad_overrides[_i].message);
  expect_messages(diag, _i, expected, 2);
}
END_TEST

START_TEST(sets_and_copies) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Machine) machine = parse_good("about: x\ngpu: {sms: {value: 9, source: \"y\"}}\n");
  g_autoptr(Machine) copy = machine_copy(machine);
  ck_assert(machine_set(copy, "sm.policy", "random", diag));
  ck_assert(!machine_set(copy, "sm.policy", "x", diag));
  ck_assert(!machine_set(copy, "sm.polizy", "random", diag));
  ck_assert_int_eq(copy->sm.policy, POLICY_RANDOM);
  ck_assert_int_eq(machine->sm.policy, POLICY_LRR);
  ck_assert_str_eq(copy->about, "x");
  ck_assert_str_eq(copy->sources[param_index(param_find("gpu.sms"))], "y");
  g_autofree char *difference = machine_diff(machine, copy);
  ck_assert_str_eq(difference, "parameter  m                  m\nsm.policy  loose-round-robin  random\n");
}
END_TEST

/* ---- files and inheritance ---- */

static char *folder;

static void make_folder(void) {
  folder = g_dir_make_tmp("lockstep-machine-XXXXXX", NULL);
  ck_assert_int_eq(g_chdir(folder), 0);
  ck_assert_int_eq(g_mkdir("configs", 0700), 0);
  g_setenv("LOCKSTEP_DATA", folder, TRUE);
}

static void remove_files(const char *path) {
  GDir *dir = g_dir_open(path, 0, NULL);
  const char *name;
  while (dir && (name = g_dir_read_name(dir))) {
    g_autofree char *file = g_build_filename(path, name, NULL);
    g_unlink(file);
  }
  if (dir)
    g_dir_close(dir);
}

static void remove_folder(void) {
  remove_files("configs");
  g_rmdir("configs");
  remove_files(".");
  ck_assert_int_eq(g_chdir("/"), 0);
  g_rmdir(folder);
  g_free(folder);
}

static void write_file(const char *name, const char *text) { ck_assert(g_file_set_contents(name, text, -1, NULL)); }

static Machine *load(const char *name, const char *expected, int status) {
  g_autoptr(Diag) diag = diag_new();
  Machine *machine = machine_load(name, NULL, diag);
  expect_messages(diag, 0, expected, status);
  ck_assert(!machine == (status != 0));
  return machine;
}

START_TEST(inherits) {
  write_file("configs/parent.yaml",
             "name: old\nabout: old\ngpu: {sms: {value: 3, source: \"p\"}}\n"
             "sm: {latency: {alu: {value: 20, source: \"p\"}, vote: {value: 21, source: \"p\"}}}\n");
  write_file("configs/child.yaml", "sm: {latency: {vote: 22}}\nbase: parent\n");
  write_file("configs/grandchild.yaml", "base: ./child.yaml\nabout: youngest\nsm: {latency: {sysreg: 23}}\n");
  g_autoptr(Machine) m = load("grandchild", "", 0);
  ck_assert_str_eq(m->name, "grandchild");
  ck_assert_str_eq(m->about, "youngest");
  ck_assert_uint_eq(m->gpu.sms, 3);
  ck_assert_uint_eq(m->sm.latency.alu, 20);
  ck_assert_uint_eq(m->sm.latency.vote, 22);
  ck_assert_uint_eq(m->sm.latency.sysreg, 23);
  ck_assert_str_eq(m->sources[param_index(param_find("gpu.sms"))], "p");
  /* The parent's source says nothing about the child's value. */
  ck_assert_ptr_null(m->sources[param_index(param_find("sm.latency.vote"))]);
  g_autoptr(Machine) child = load("child", "", 0);
  ck_assert_str_eq(child->about, "");
  g_auto(GStrv) names = machine_list();
  g_autofree char *list = g_strjoinv(" ", names);
  ck_assert_str_eq(list, "child grandchild parent");
}
END_TEST

START_TEST(refuses_cycles) {
  write_file("self.yaml", "base: ./self.yaml\n");
  write_file("a.yaml", "base: b.yaml\n");
  write_file("b.yaml", "about: x\nbase: c.yaml\n");
  write_file("c.yaml", "base: a.yaml\n");
  load("self.yaml", "self.yaml:1:7: error: a machine cannot inherit from itself: self.yaml -> ./self.yaml\n", 3);
  load("a.yaml", "c.yaml:1:7: error: a machine cannot inherit from itself: a.yaml -> b.yaml -> c.yaml -> a.yaml\n",
       3);
}
END_TEST

START_TEST(refuses_long_chains) {
  for (unsigned i = 0; i < 20; i++) {
    g_autofree char *name = g_strdup_printf("m%u.yaml", i), *text = g_strdup_printf("base: m%u.yaml\n", i + 1);
    write_file(name, i == 19 ? "{}" : text);
  }
  machine_free(load("m4.yaml", "", 0));
  load("m3.yaml", "m18.yaml:1:7: error: base: more than 16 machines inherit from each other\n", 3);
}
END_TEST

START_TEST(reports_bad_bases_and_names) {
  write_file("configs/gtx570.yaml", "{}");
  write_file("bad.yaml", "gpu: {sms: 0}\n");
  write_file("x.yaml", "base: bad.yaml\nsm: {latency: {alu: 0}}\n");
  write_file("y.yaml", "base: gtx57\n");
  write_file("z.yaml", "base: far away\n");
  write_file("d.yaml", "base: /dev/zero\n");
  load("x.yaml",
       "bad.yaml:1:12: error: gpu.sms is 0, must lie between 1 and 1024\n"
       "x.yaml:2:21: error: sm.latency.alu is 0 cycles, must lie between 1 cycle and 10000 cycles\n",
       3);
  load("y.yaml", "y.yaml:1:7: error: base: there is no machine `gtx57`\n  did you mean `gtx570`?\n", 3);
  load("z.yaml",
       "z.yaml:1:7: error: base: there is no machine `far away`\n"
       "  machines: gtx570; a file is given by its path\n",
       3);
  load("d.yaml", "d.yaml:1:7: error: `/dev/zero`: is not a regular file\n", 3);
  load("gtx750", "lockstep: error: there is no machine `gtx750`\n  did you mean `gtx570`?\n", 2);
  load("nonesuch.yaml", "nonesuch.yaml: error: no such file\n", 3);
  load("./", "./: error: is a directory, not a file\n", 3);
}
END_TEST

/* ---- what comes out ---- */

static void expect_same(const Machine *a, const Machine *b) {
  g_autofree char *difference = machine_diff(a, b);
  ck_assert_str_eq(difference, "");
  ck_assert_str_eq(a->name, b->name);
  ck_assert_str_eq(a->about, b->about);
  for (unsigned i = 0; i < PARAM_COUNT; i++)
    ck_assert_msg(g_strcmp0(a->sources[i], b->sources[i]) == 0, "source of %s", machine_param_path(i));
}

START_TEST(dumps_what_it_reads) {
  g_autoptr(Machine) machine = parse_good(
      "name: \"it's: a \\\"name\\\"\"\nabout: \"back\\\\slash # \\u00e9\"\nclocks: {sm: 1234567891.25 Hz}\n"
      "sm: {latency: {alu: {value: 19, source: \"a \\\"b\\\"\\n\\tc: {d} \\e\"}}, policy: greedy-then-oldest}\n"
      "memory: {segment: {value: 64, source: \"\"}}\n");
  g_autofree char *text = machine_dump(machine);
  g_autoptr(Machine) again = parse_good(text);
  expect_same(machine, again);
}
END_TEST

/* Random values within the ranges; the ones that are checked against each other keep their defaults. */
START_TEST(dumps_any_values) {
  g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)_i);
  g_autoptr(Machine) machine = machine_new_default();
  for (unsigned i = 0; i < PARAM_COUNT; i++) {
    const Param *param = param_at(i);
    bool tied = g_str_has_prefix(param->path, "sm.max_") || g_str_has_prefix(param->path, "sm.register") ||
                g_str_has_prefix(param->path, "sm.shared") || g_str_has_prefix(param->path, "sm.l1") ||
                g_str_has_prefix(param->path, "sm.spin_backoff") || g_str_has_prefix(param->path, "sm.lock_queue") ||
                g_str_has_prefix(param->path, "memory.l2") || g_str_equal(param->path, "memory.dram.row") ||
                g_str_equal(param->path, "memory.slices") || g_str_equal(param->path, "memory.segment") ||
                g_str_equal(param->path, "memory.buffer_alignment") || g_str_equal(param->path, "memory.page") ||
                g_str_equal(param->path, "memory.queue.bytes") ||
                g_str_equal(param->path, "memory.request_latency") ||
                g_str_equal(param->path, "memory.atomic.groups") ||
                g_str_equal(param->path, "memory.atomic.cas_span");
    if (!tied && param->kind == PARAM_FREQ)
      param_set(machine, param, g_rand_double_range(rand, param->min, param->max));
    else if (!tied && param->kind == PARAM_MILLI)
      param_set(machine, param, g_rand_double_range(rand, param->min, param->max));
    else if (!tied && param->kind == PARAM_U32)
      param_set(machine, param, g_rand_int_range(rand, (gint32)param->min, (gint32)param->max));
  }
  g_autofree char *text = machine_dump(machine);
  g_autoptr(Machine) again = parse_good(text);
  expect_same(machine, again);
}
END_TEST

START_TEST(describes_every_parameter) {
  g_autofree char *text = machine_doc_markdown();
  for (unsigned i = 0; i < PARAM_COUNT; i++) {
    g_autofree char *row = g_strdup_printf("| `%s` | ", param_at(i)->path);
    ck_assert_msg(strstr(text, row), "%s", row);
    ck_assert_msg(strstr(text, param_at(i)->doc), "%s", param_at(i)->path);
  }
  ck_assert_ptr_nonnull(strstr(text, "| `sm.shared.bytes` | 48 KiB | 1 KiB to 1 MiB | shared memory of the SM |\n"));
  ck_assert_ptr_nonnull(strstr(text, "| `grid.dispatch_interval` | 0 cycles | 0 cycles to 1000000 cycles | "));
  ck_assert_ptr_nonnull(
      strstr(text, "| `memory.atomic.load_interval` | 1 cycle | 0 cycles to 100000 cycles, by 0.001 | "));
  ck_assert_ptr_nonnull(strstr(
      text, "| `sm.simt_stack.branch_order` | taken-first | `taken-first`, `fallthrough-first`, `smaller-first` | "));
}
END_TEST

/* The machines that come with the program: LOCKSTEP_DATA is what `make check` says. */
START_TEST(ships_gtx570_and_gtx580) {
  g_autoptr(Machine) a = load("gtx570", "", 0), b = load("gtx580", "", 0);
  g_autofree char *difference = machine_diff(a, b);
  ck_assert_str_eq(difference, "parameter               gtx570           gtx580\n"
                               "gpu.sms                 15               16\n"
                               "clocks.sm               1464 MHz         1544 MHz\n"
                               "clocks.core             732 MHz          772 MHz\n"
                               "clocks.dram             950 MHz          1002 MHz\n"
                               "memory.bytes_per_cycle  104 bytes/cycle  125 bytes/cycle\n"
                               "memory.slices           10               12\n"
                               "memory.l2.bytes         640 KiB          768 KiB\n"
                               "memory.dram.channels    5                6\n");
}
END_TEST

START_TEST(gives_a_source_for_every_value) {
  static const char *const labels[] = {"vendor: ", "measured: ", "derived: ", "recalled: ", "guess: ", "defined: "};
  g_auto(GStrv) names = machine_list();
  for (char **name = names; *name; name++) {
    g_autoptr(Machine) machine = load(*name, "", 0);
    ck_assert_str_eq(machine->name, *name);
    ck_assert_msg(*machine->about != '\0', "%s has no `about`", *name);
    for (unsigned i = 0; i < PARAM_COUNT; i++) {
      const char *source = machine->sources[i];
      bool labelled = false;
      for (gsize j = 0; source && j < G_N_ELEMENTS(labels); j++)
        labelled |= g_str_has_prefix(source, labels[j]);
      ck_assert_msg(labelled, "%s: %s: source is %s", *name, machine_param_path(i), source ? source : "missing");
    }
  }
}
END_TEST

START_TEST(requires_an_index_in_the_table) {
  unit_expect_precondition("param-index");
  machine_param_path(PARAM_COUNT);
}
END_TEST

START_TEST(requires_a_parameter_for_an_index) {
  unit_expect_precondition("param-not-section");
  param_index(param_find("sm"));
}
END_TEST

static TCase *make_files_case(void) {
  TCase *files = tcase_create("files");
  tcase_add_checked_fixture(files, make_folder, remove_folder);
  tcase_add_test(files, inherits);
  tcase_add_test(files, refuses_cycles);
  tcase_add_test(files, refuses_long_chains);
  tcase_add_test(files, reports_bad_bases_and_names);
  return files;
}

static TCase *make_output_case(void) {
  TCase *output = tcase_create("output");
  tcase_add_test(output, dumps_what_it_reads);
  tcase_add_loop_test(output, dumps_any_values, 0, 50);
  tcase_add_test(output, describes_every_parameter);
  tcase_add_test(output, ships_gtx570_and_gtx580);
  tcase_add_test(output, gives_a_source_for_every_value);
  unit_add_precondition_test(output, requires_an_index_in_the_table);
  unit_add_precondition_test(output, requires_a_parameter_for_an_index);
  return output;
}

int main(void) {
  Suite *suite = suite_create("machine");
  TCase *text = tcase_create("text");
  tcase_add_test(text, has_the_defaults_of_the_table);
  tcase_add_test(text, lists_the_parameters);
  tcase_add_loop_test(text, refuses_what_is_out_of_range, 0, PARAM_COUNT);
  tcase_add_loop_test(text, takes_each_choice, 0, PARAM_COUNT);
  tcase_add_test(text, reads_values_and_sources);
  tcase_add_test(text, reads_fractions_of_a_cycle);
  tcase_add_test(text, takes_its_name_from_the_file);
  tcase_add_loop_test(text, refuses, 0, G_N_ELEMENTS(refusals));
  tcase_add_test(text, stops_after_a_thousand_errors);
  tcase_add_test(text, applies_overrides);
  tcase_add_loop_test(text, refuses_bad_overrides, 0, G_N_ELEMENTS(bad_overrides));
  tcase_add_test(text, sets_and_copies);
  suite_add_tcase(suite, text);
  suite_add_tcase(suite, make_files_case());
  suite_add_tcase(suite, make_output_case());
  return unit_run(suite);
}
