/* Plans of sweeps (sim/study/sweep): values of an axis, points and their order, errors with their places; the store's
 * journal. */
#include <glib/gstdio.h>
#include <string.h>

#include "sim/study/sweep/plan.h"
#include "sim/study/sweep/row.h"
#include "sim/study/sweep/store.h"
#include "tests/unit/unit.h"

/* --- axes --- */

static const struct {
  const char *text, *values; /* blanks between them; NULL: an error that holds `error` */
  const char *error;
} axes[] = {
    {"7", "7", NULL},
    {"1,2,4", "1 2 4", NULL},
    {" youngest , random ", "youngest random", NULL},
    {"1..5", "1 2 3 4 5", NULL},
    {"1..240:80", "1 81 161", NULL},
    {"0..1:0.25", "0 0.25 0.5 0.75 1", NULL},
    {"0.1..0.3:0.1", "0.1 0.2 0.3", NULL},
    {"1..1024*4", "1 4 16 64 256 1024", NULL},
    {"3,8..16*2,20..22", "3 8 16 20 21 22", NULL},
    {"-2..2:2", "-2 0 2", NULL},
    {"5..5", "5", NULL},
    {"18 cycles", "18 cycles", NULL},
    {"min(n, (2 + 1)),4", "min(n, (2 + 1)) 4", NULL}, /* a comma in parentheses is an expression's */
    {"min(2,3", "min(2,3", NULL},
    {"2),3", "2) 3", NULL},
    {"", NULL, "a value is missing"},
    {"1,,2", NULL, "a value is missing"},
    {"1..", NULL, "isn't a range"},
    {"..4", NULL, "isn't a range"},
    {"a..b", NULL, "isn't a range"},
    {"1..4:", NULL, "expected a number as the step"},
    {"1..4*x", NULL, "expected a number as the factor"},
    {"4..1", NULL, "a range goes upwards"},
    {"1..4:0", NULL, "the step must be above 0"},
    {"1..4:-1", NULL, "the step must be above 0"},
    {"1..4*1", NULL, "a factor above 1"},
    {"0..4*2", NULL, "a first value above 0"},
    {"1..1e9", NULL, "more than 100000 values"},
};

START_TEST(values_of_an_axis) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
  AxisPlace place = {.option = "-p n"};
  bool good = axis_parse(axes[_i].text, &place, values, diag);
  g_ptr_array_add(values, NULL);
  g_autofree char *found = g_strjoinv(" ", (char **)values->pdata);
  ck_assert_msg(good == (axes[_i].values != NULL), "`%s`", axes[_i].text);
  if (good)
    ck_assert_msg(strcmp(found, axes[_i].values) == 0, "`%s` gives %s", axes[_i].text, found);
  else
    ck_assert_msg(strstr(diag_item(diag, 0)->message, axes[_i].error) != NULL, "`%s`: %s", axes[_i].text,
                  diag_item(diag, 0)->message);
}
END_TEST

/* --- plans --- */

static Plan *parse(const char *text, Diag *diag) { return plan_parse("plan.yaml", text, strlen(text), diag); }

static char *list_points(const Plan *plan) {
  GString *out = g_string_new(NULL);
  for (guint64 i = 0; i < plan_points(plan); i++) {
    PlanPoint point;
    plan_point(plan, i, &point);
    g_autofree char *settings = g_strjoinv(" ", point.settings);
    g_autofree char *params = g_strjoinv(" ", point.params);
    g_string_append_printf(out, "%s|%s|%s|%s|%" G_GUINT64_FORMAT "\n", point.scenario,
                           point.machine ? point.machine : "-", settings, params, point.seed);
    plan_point_clear(&point);
  }
  return g_string_free(out, FALSE);
}

START_TEST(points_in_order) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Plan) plan = parse("scenarios: [a.yaml]\n"
                               "seeds: 2\n"
                               "seed: 5\n"
                               "params: {n: [1, 2]}\n"
                               "parts:\n"
                               "  - {machines: [x, y], set: {sm.k: '1..2'}}\n"
                               "  - {scenarios: b.yaml, params: {n: 9, m: '1,3'}}\n",
                               diag);
  ck_assert(plan != NULL);
  g_autofree char *points = list_points(plan);
  ck_assert_str_eq(points, "a.yaml|x|sm.k=1|n=1|5\na.yaml|x|sm.k=1|n=1|6\na.yaml|x|sm.k=1|n=2|5\n"
                           "a.yaml|x|sm.k=1|n=2|6\na.yaml|x|sm.k=2|n=1|5\na.yaml|x|sm.k=2|n=1|6\n"
                           "a.yaml|x|sm.k=2|n=2|5\na.yaml|x|sm.k=2|n=2|6\na.yaml|y|sm.k=1|n=1|5\n"
                           "a.yaml|y|sm.k=1|n=1|6\na.yaml|y|sm.k=1|n=2|5\na.yaml|y|sm.k=1|n=2|6\n"
                           "a.yaml|y|sm.k=2|n=1|5\na.yaml|y|sm.k=2|n=1|6\na.yaml|y|sm.k=2|n=2|5\n"
                           "a.yaml|y|sm.k=2|n=2|6\nb.yaml|-||n=9 m=1|5\nb.yaml|-||n=9 m=1|6\n"
                           "b.yaml|-||n=9 m=3|5\nb.yaml|-||n=9 m=3|6\n");
  g_autofree char *header = row_header(plan);
  ck_assert(g_str_has_prefix(header, "scenario,machine,sm.k,n,m,seed,verdict,"));
}
END_TEST

/* What the command line says goes before the plan: in place of an axis, or as a further one, in every part. */
START_TEST(options_change_a_plan) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Plan) plan = parse("scenarios: [a.yaml]\nparams: {n: [1, 2]}\n", diag);
  ck_assert(plan_set_axis(plan, AXIS_PARAM, "n=7", diag));
  ck_assert(plan_set_axis(plan, AXIS_PARAM, "m=1..2", diag));
  ck_assert(plan_set_axis(plan, AXIS_SETTING, "sm.k=youngest", diag));
  g_autofree char *points = list_points(plan);
  ck_assert_str_eq(points, "a.yaml|-|sm.k=youngest|n=7 m=1|1\na.yaml|-|sm.k=youngest|n=7 m=2|1\n");
  ck_assert(!plan_set_axis(plan, AXIS_PARAM, "=3", diag));
  ck_assert(!plan_set_axis(plan, AXIS_PARAM, "n", diag));
}
END_TEST

START_TEST(text_reads_back) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Plan) plan = parse("scenarios: [/a b.yaml, \"/c\\\"d.yaml\"]\nseeds: 3\ncounters: [warps, blocks]\n"
                               "code: ptx\npoint_seconds: 2.5\nlimit_cycles: 1000\n"
                               "parts: [{machines: [x], params: {n: '1..9:4'}}, {set: {a.b: '1,2'}}]\n",
                               diag);
  ck_assert(plan != NULL);
  g_autofree char *text = plan_text(plan);
  g_autoptr(Plan) again = parse(text, diag);
  ck_assert(again != NULL);
  g_autofree char *text_again = plan_text(again);
  g_autofree char *points = list_points(plan);
  g_autofree char *points_again = list_points(again);
  ck_assert_str_eq(text, text_again);
  ck_assert_str_eq(points, points_again);
  ck_assert_uint_eq(again->seeds, 3);
  ck_assert_uint_eq(again->numbers->len, 2);
  ck_assert_int_eq(again->code, CODE_PTX);
  ck_assert(again->point_seconds == 2.5 && again->limit_cycles == 1000);
}
END_TEST

static const struct {
  const char *text, *error;
} bad_plans[] = {
    {"scenarios: []\n", "plan.yaml:1:12: error: expected a list of scenarios, found"},
    {"params: {n: 1}\n", "no scenario named"},
    {"scenarios: [a.yaml]\nparms: {n: 1}\n", "did you mean `params`?"},
    {"scenarios: [a.yaml]\nparams: {n: '4..1'}\n", "plan.yaml:2:13: error: `4..1`: a range goes upwards"},
    {"scenarios: [a.yaml]\ncounters: [warp]\n", "did you mean `warps`?"},
    {"scenarios: [a.yaml]\nseeds: 0\n", "expected seeds between 1 and 1000000"},
    {"scenarios: [a.yaml]\ncode: cuda\n", "expected `ptx` or `sass`"},
    {"scenarios: [a.yaml]\npoint_seconds: -1\n", "expected point_seconds above 0"},
    {"scenarios: [a.yaml]\nparts: [3]\n", "expected a part: a mapping"},
    {"scenarios: [a.yaml]\nparams: {a: 1..1000, b: 1..1000, c: 1..1000}\n", "more than 10000000 points"},
    {"[]\n", "expected a plan"},
};

START_TEST(errors_of_plans) {
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(Plan) plan = parse(bad_plans[_i].text, diag);
  g_autofree char *messages = diag_render(diag);
  ck_assert(plan == NULL);
  ck_assert_msg(strstr(messages, bad_plans[_i].error) != NULL, "%s", messages);
}
END_TEST

/* --- the store --- */

static char *folder;
static char *path, *journal;

static void make_folder(void) {
  folder = g_dir_make_tmp("lockstep-XXXXXX", NULL);
  path = g_build_filename(folder, "out.csv", NULL);
  journal = g_strdup_printf("%s.journal", path);
}

static void remove_folder(void) {
  g_unlink(path);
  g_unlink(journal);
  g_rmdir(folder);
  g_free(journal);
  g_free(path);
  g_free(folder);
}

G_NO_INLINE static char *contents(const char *file) {
  char *text = NULL;
  ck_assert(g_file_get_contents(file, &text, NULL, NULL));
  return text;
}

/* A row is there after a crash, and half a row isn't; what comes after it is kept again. */
START_TEST(journal_survives) {
  g_autoptr(Diag) diag = diag_new();
  Store *store = store_open(path, "a,key", false, diag);
  ck_assert(store_add(store, "1,k1", diag) && store_add(store, "2,k2", diag));
  g_autofree char *text = contents(journal);
  store_close(store);
  g_autofree char *torn = g_strndup(text, strlen(text) - 3);
  ck_assert(g_file_set_contents(journal, torn, -1, NULL));
  store = store_open(path, "a,key", false, diag);
  ck_assert_str_eq(store_row(store, "k1"), "1,k1");
  ck_assert(store_row(store, "k2") == NULL);
  ck_assert(store_add(store, "3,k3", diag));
  store_close(store);
  store = store_open(path, "a,key", false, diag);
  ck_assert_uint_eq(store_count(store), 2);
  ck_assert(store_add(store, "2,k2", diag));
  g_autoptr(GPtrArray) keys = g_ptr_array_new();
  g_ptr_array_add(keys, "k1");
  g_ptr_array_add(keys, "k2");
  g_ptr_array_add(keys, "k3");
  ck_assert(store_finish(store, keys, diag));
  store_close(store);
  g_autofree char *whole = contents(path);
  ck_assert_str_eq(whole, "a,key\n1,k1\n2,k2\n3,k3\n");
  ck_assert(!g_file_test(journal, G_FILE_TEST_EXISTS));
}
END_TEST

/* A line whose bytes aren't what was written is no row. */
START_TEST(journal_is_checked) {
  g_autoptr(Diag) diag = diag_new();
  Store *store = store_open(path, "a,key", false, diag);
  ck_assert(store_add(store, "1,k1", diag) && store_add(store, "2,k2", diag));
  store_close(store);
  char *text = contents(journal), *row = strstr(text, "1,k1");
  ck_assert_ptr_nonnull(row);
  *row = '7';
  ck_assert(g_file_set_contents(journal, text, -1, NULL));
  g_free(text);
  store = store_read(path, "a,key", diag);
  ck_assert(store_row(store, "k1") == NULL);
  ck_assert(store_row(store, "k2") != NULL);
  store_close(store);
}
END_TEST

START_TEST(one_writer) {
  g_autoptr(Diag) diag = diag_new();
  Store *store = store_open(path, "a,key", false, diag);
  ck_assert(store_open(path, "a,key", false, diag) == NULL);
  ck_assert(strstr(diag_item(diag, 0)->message, "another sweep is writing it") != NULL);
  store_close(store);
  ck_assert(!g_file_test(journal, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST(other_columns) {
  g_autoptr(Diag) diag = diag_new();
  ck_assert(g_file_set_contents(path, "a,b,key\n", -1, NULL));
  ck_assert(store_open(path, "a,key", false, diag) == NULL);
  ck_assert(strstr(diag_item(diag, 0)->message, "has other columns") != NULL);
  Store *store = store_open(path, "a,key", true, diag);
  ck_assert(store != NULL);
  store_close(store);
}
END_TEST

START_TEST(finish_needs_a_file) {
  unit_expect_precondition("store-finish-opened");
  g_autoptr(Diag) diag = diag_new();
  g_autoptr(GPtrArray) keys = g_ptr_array_new();
  store_finish(store_new("a,key"), keys, diag);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("sweep");
  TCase *plans = tcase_create("plans");
  tcase_add_loop_test(plans, values_of_an_axis, 0, G_N_ELEMENTS(axes));
  tcase_add_test(plans, points_in_order);
  tcase_add_test(plans, options_change_a_plan);
  tcase_add_test(plans, text_reads_back);
  tcase_add_loop_test(plans, errors_of_plans, 0, G_N_ELEMENTS(bad_plans));
  suite_add_tcase(suite, plans);
  TCase *store = tcase_create("store");
  tcase_add_checked_fixture(store, make_folder, remove_folder);
  tcase_add_test(store, journal_survives);
  tcase_add_test(store, journal_is_checked);
  tcase_add_test(store, one_writer);
  tcase_add_test(store, other_columns);
  unit_add_precondition_test(store, finish_needs_a_file);
  suite_add_tcase(suite, store);
  return unit_run(suite);
}
