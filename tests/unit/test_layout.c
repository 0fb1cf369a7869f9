/* Structs as C lays them out, in arguments and in what buffers hold; names of C++. */
#include <glib/gstdio.h>
#include <string.h>

#include "sim/scenario/demangle.h"
#include "sim/scenario/scenario.h"
#include "tests/unit/unit.h"

/* A struct of 24 bytes: a pointer, an int, a float, a double. */
static const char program[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry k(.param .align 8 .b8 k_p[24], .param .u64 k_out) {\n"
                              "  .reg .u64 %l<3>; .reg .b32 %r<3>; .reg .f32 %f<2>; .reg .f64 %d<2>;\n"
                              "  ld.param.u64 %l1, [k_p];\n  ld.param.u32 %r1, [k_p+8];\n"
                              "  ld.param.f32 %f1, [k_p+12];\n  ld.param.f64 %d1, [k_p+16];\n  ret;\n}\n";

static Scenario *load(const char *arg, const char *buffers[], Diag *diag) {
  const char *args[] = {arg, "out", NULL};
  ScenarioOptions options = {.grid = "1", .block = "1", .args = args, .buffers = buffers};
  return scenario_parse("k.ptx", program, strlen(program), &options, diag);
}

/* Bytes as they are expected, an address as zeros. */
static const struct {
  const char *arg, *hex;
  int address_at; /* of buffer 0, or -1 */
} structs[] = {
    {"[out, 3, 0.5, 2.5]", "0000000000000000030000000000003f0000000000000440", 0},
    {"{struct: [out, -1, {f32: 1}, {f64: 0}]}", "0000000000000000ffffffff0000803f0000000000000000", 0},
    {"[{u8: [1, 2, 3]}, {i16: -2}, {u32: 4294967295}, out]", "01020300feff0000ffffffff000000000000000000000000", 16},
    {"[{u32: 1}, {pad: 12}, {u64: 2}]", "010000000000000000000000000000000200000000000000", -1},
    {"[{i64: -1}, [{u8: 1}, {u16: 2}], [{u8: 3}], {f64: 1}]", "ffffffffffffffff0100020003000000000000000000f03f", -1},
    {"[{u64: 1}, {bytes: 1}]", NULL, -1},
};

START_TEST(lays_out_as_c_does) {
  const char *buffers[] = {"out=4", NULL};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = load(structs[_i].arg, buffers, diag);
  g_autofree char *messages = diag_render(diag);
  if (!structs[_i].hex) {
    ck_assert_ptr_null(scenario);
    return;
  }
  ck_assert_msg(scenario != NULL, "%s: %s", structs[_i].arg, messages);
  const ScenarioLaunch *launch = g_ptr_array_index(scenario->launches, 0);
  const ScenarioArg *arg = &g_array_index(launch->args, ScenarioArg, 0);
  gsize size;
  const guint8 *bytes = g_bytes_get_data(arg->bytes, &size);
  g_autoptr(GString) hex = g_string_new(NULL);
  for (gsize i = 0; i < size; i++)
    g_string_append_printf(hex, "%02x", bytes[i]);
  ck_assert_str_eq(hex->str, structs[_i].hex);
  if (structs[_i].address_at < 0)
    return;
  const ScenarioAddress *address = &g_array_index(arg->addresses, ScenarioAddress, 0);
  ck_assert_uint_eq(arg->addresses->len, 1);
  ck_assert(address->offset == (uint32_t)structs[_i].address_at && address->buffer == 0 && address->bytes == 8);
}
END_TEST

static const struct {
  const char *arg, *message, *hint;
} mistakes[] = {
    {"[out, 3, 0.5]", "struct: its members take 16 bytes, but parameter `k_p` (a struct of 24 bytes) has 24",
     "the kernel loads u64 at 0, u32 at 8, f32 at 12, f64 at 16 of it"},
    {"[out, 3, 0.5, 2.5, 1]", "struct: its members take 32 bytes", NULL},
    {"[out, 5000000000, 0.5, 2.5]", "a 32-bit number is 5000000000, expected -2147483648 to 4294967295",
     "that is member 2 of the struct, at byte 8"},
    {"[ouch, 3, 0.5, 2.5]", "unknown name `ouch`: neither a param nor a buffer", "did you mean `out`?"},
    {"[out, {f16: 1}]", "unknown key `f16` in a member", "did you mean"},
    {"[out, {f32: 1, f64: 1}]", "a member: expected one type, as in {f32: 1.5}, found 2", "member 2"},
    {"[out, {u8: 256}]", "u8 is 256, expected 0 to 255", "member 2"},
    {"[{pad: -1}]", "pad is -1", "member 1"},
    {"[{pad: 999999999999}]", "pad is 999999999999", NULL},
    {"[{pad: 99999}]", "the members have more than 4096 bytes", "member 1"},
    {"{struct: 3}", "struct: expected a list, found", NULL},
    {"{struct: [], f32: 1}", "an argument: expected one of `f32`, `f64`, `bytes` and `struct`", NULL},
    {"{struct: []}", "struct: its members take 0 bytes", NULL},
};

START_TEST(explains_wrong_structs) {
  const char *buffers[] = {"out=4", NULL};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = load(mistakes[_i].arg, buffers, diag);
  ck_assert_ptr_null(scenario);
  const DiagItem *item = diag_item(diag, 0);
  ck_assert_msg(strstr(item->message, mistakes[_i].message) != NULL, "%s: %s", mistakes[_i].arg, item->message);
  if (mistakes[_i].hint)
    ck_assert_msg(item->hint && strstr(item->hint, mistakes[_i].hint), "%s: %s", mistakes[_i].arg, item->hint);
  ck_assert_int_eq(diag_exit_status(diag), 2);
}
END_TEST

START_TEST(buffers_hold_addresses) {
  const char *buffers[] = {"out=8:[next, 7, 1, next]", "next=2:[1, 2]", "one=3:5", "more=4:{f32: [0.5]}", NULL};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = load("[out, 0, 0, 0]", buffers, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert_msg(scenario != NULL, "%s", messages);
  const ScenarioBuffer *out = g_ptr_array_index(scenario->buffers, 0), *one = g_ptr_array_index(scenario->buffers, 2);
  ck_assert_uint_eq(out->addresses->len, 2);
  ck_assert_uint_eq(g_array_index(out->addresses, ScenarioAddress, 1).offset, 16);
  ck_assert_uint_eq(g_array_index(out->addresses, ScenarioAddress, 1).buffer, 1);
  ck_assert_uint_eq(out->init[2], 7);
  ck_assert_uint_eq(out->init[3], 1);
  ck_assert_uint_eq(one->init[2], 5);
  ck_assert_uint_eq(((const ScenarioBuffer *)g_ptr_array_index(scenario->buffers, 3))->init[0], 0x3f000000);
}
END_TEST

static const struct {
  const char *buffer, *message;
} wrong_buffers[] = {
    {"out=4:", "--buffer out: `4:`: a value is missing after the last `:`"},
    {"out=:4", "--buffer out: `:4`: a value is missing before the `:`"},
    {"out=4:1:2", "`out=4:1:2`: expected NAME=WORDS or NAME=WORDS:INIT"},
    {"out=2:[nobody]", "--buffer out: unknown name `nobody`"},
    {"out=1:[out]", "init has 8 bytes, but buffer `out` has 1 word"},
    {"out=4:[1, 2", "--buffer out: "},
    {"out=4:{struct: 1}", "struct: expected a list"},
    {"out=4:iotta", "unknown name `iotta`"},
    {"4", "`4`: expected NAME=WORDS"},
    {"=4", "can't name a buffer"},
};

START_TEST(explains_wrong_buffers) {
  const char *buffers[] = {wrong_buffers[_i].buffer, NULL};
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Scenario) scenario = load("[out, 0, 0, 0]", buffers, diag);
  ck_assert_ptr_null(scenario);
  ck_assert_msg(strstr(diag_item(diag, 0)->message, wrong_buffers[_i].message) != NULL, "%s: %s",
                wrong_buffers[_i].buffer, diag_item(diag, 0)->message);
}
END_TEST

static const struct {
  const char *demangled, *brief;
} names[] = {
    {"void f<128, true>(P, int*)", "f<128, true>"},
    {"ns::plain(int**, int)", "ns::plain"},
    {"void (anonymous namespace)::h<ns::A<int>, (bool)1>(int*)", "(anonymous namespace)::h<ns::A<int>, (bool)1>"},
    {"ns::A<int> ns::make<ns::A<int> >(ns::A<int>, void (*)(int))", "ns::make<ns::A<int> >"},
    {"k", "k"},
    {"", ""},
};

START_TEST(shortens_names) {
  g_autofree char *brief = demangle_short(names[_i].demangled);
  ck_assert_str_eq(brief, names[_i].brief);
  ck_assert(demangle_matches(names[_i].demangled, brief) == (*brief != '\0'));
}
END_TEST

static const struct {
  const char *demangled, *wanted;
  bool matches;
} matches[] = {
    {"void f<128, true>(P, int*)", "f<128,true>", true},
    {"void f<128, true>(P, int*)", " f < 128 , true > ", true},
    {"void f<128, true>(P, int*)", "f", true},
    {"void f<128, true>(P, int*)", "f<128, true>(P, int*)", true},
    {"void f<128, true>(P, int*)", "void f<128, true>(P, int*)", true},
    {"void f<128, true>(P, int*)", "f<128>", false},
    {"void f<128, true>(P, int*)", "f<1", false},
    {"void ff<1>(int)", "f", false},
    {"void a::b::f<1>(int)", "f<1>", true},
    {"void a::b::f<1>(int)", "a::b::f", true},
    {"void a::b::f<1>(int)", "b::f", false},
    {"void f<a::b>(int)", "b", false},
    {"void f<unsigned int>(int)", "f<unsigned>", true},
    {"void f<unsigned int, unsigned long>(int)", "f<unsigned, unsigned long int>", true},
    {"void f<unsigned char>(int)", "f<unsigned>", false},
    {"void f<short>(int)", "f<short int>", true},
    {"void f<my_unsigned>(int)", "f<my_unsigned>", true},
    {"k", "", false},
};

START_TEST(matches_names) {
  ck_assert_msg(demangle_matches(matches[_i].demangled, matches[_i].wanted) == matches[_i].matches, "%s: %s",
                matches[_i].demangled, matches[_i].wanted);
}
END_TEST

START_TEST(demangles_all_or_nothing) {
  char *mangled[] = {"_Z1fILi128ELb1EEv1PPi", "plain", "-x", NULL};
  g_auto(GStrv) readable = demangle_names(mangled);
  if (!readable)
    return; /* there is no c++filt */
  ck_assert_uint_eq(g_strv_length(readable), 3);
  ck_assert_str_eq(readable[0], "void f<128, true>(P, int*)");
  ck_assert_str_eq(readable[1], "plain");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("layout");
  TCase *tcase = tcase_create("layout");
  tcase_add_loop_test(tcase, lays_out_as_c_does, 0, G_N_ELEMENTS(structs));
  tcase_add_loop_test(tcase, explains_wrong_structs, 0, G_N_ELEMENTS(mistakes));
  tcase_add_test(tcase, buffers_hold_addresses);
  tcase_add_loop_test(tcase, explains_wrong_buffers, 0, G_N_ELEMENTS(wrong_buffers));
  tcase_add_loop_test(tcase, shortens_names, 0, G_N_ELEMENTS(names));
  tcase_add_loop_test(tcase, matches_names, 0, G_N_ELEMENTS(matches));
  tcase_add_test(tcase, demangles_all_or_nothing);
  suite_add_tcase(suite, tcase);
  return unit_run(suite);
}
