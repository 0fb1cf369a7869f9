/* expect.c - what a scenario expects: read it, and compare it with what a run gave. */
#include <string.h>

#include "base/quote.h"
#include "sim/scenario/loader.h"

static void clear_expected_buffer(gpointer data) {
  ExpectBuffer *buffer = data;
  if (buffer->words)
    g_array_free(buffer->words, TRUE);
}

void expectation_init(Expectation *expect) {
  expect->verdicts = g_array_new(FALSE, FALSE, sizeof(Verdict));
  expect->findings = g_array_new(FALSE, FALSE, sizeof(FindingId));
  expect->buffers = g_array_new(FALSE, FALSE, sizeof(ExpectBuffer));
  g_array_set_clear_func(expect->buffers, clear_expected_buffer);
}

void expectation_clear(Expectation *expect) {
  if (!expect->verdicts)
    return;
  g_array_free(expect->verdicts, TRUE);
  g_array_free(expect->findings, TRUE);
  g_array_free(expect->buffers, TRUE);
  *expect = (Expectation){0};
}

static bool has_verdict(const Expectation *expect, Verdict verdict) {
  for (guint i = 0; i < expect->verdicts->len; i++)
    if (g_array_index(expect->verdicts, Verdict, i) == verdict)
      return true;
  return false;
}

static bool unknown(Loader *loader, const YamlNode *name, const char *kind, const char *const *names) {
  g_autofree char *all = g_strjoinv(", ", (char **)names);
  g_autofree char *quoted = quote_text(name->scalar);
  loader_error(loader, name, "unknown %s %s", kind, quoted);
  diag_hint_nearest(loader->diag, name->scalar, names);
  diag_hint(loader->diag, "expected one of %s", all);
  return false;
}

bool loader_add_verdict(Loader *loader, Expectation *expect, const YamlNode *name) {
  if (!loader_expect(loader, name, YAML_NODE_SCALAR, "verdict"))
    return false;
  Verdict verdict = verdict_from_name(name->scalar);
  if (verdict == VERDICT_COUNT)
    return unknown(loader, name, "verdict", verdict_names());
  if (has_verdict(expect, verdict))
    return loader_error(loader, name, "verdict `%s` is listed twice", name->scalar);
  g_array_append_val(expect->verdicts, verdict);
  return true;
}

bool loader_add_finding(Loader *loader, Expectation *expect, const YamlNode *name) {
  if (!loader_expect(loader, name, YAML_NODE_SCALAR, "a finding"))
    return false;
  FindingId id = finding_from_name(name->scalar);
  if (id == FINDING_COUNT)
    return unknown(loader, name, "finding", finding_names());
  g_array_append_val(expect->findings, id);
  return true;
}

static bool expected_list(Loader *loader, ExpectBuffer *expected, const YamlNode *node) {
  bool good = true;
  for (guint i = 0; i < node->values->len; i++) {
    int64_t value = 0;
    good &= loader_word(loader, g_ptr_array_index(node->values, i), "an expected word", &value);
    g_array_append_val(expected->words, value);
  }
  return good;
}

static bool expected_file(Loader *loader, ExpectBuffer *expected, const YamlNode *node) {
  uint64_t words;
  g_autofree uint32_t *values = loader_word_file(loader, node, &words);
  for (uint64_t i = 0; values && i < words; i++) {
    int64_t value = values[i];
    g_array_append_val(expected->words, value);
  }
  return values != NULL;
}

static bool expected_mapping(Loader *loader, ExpectBuffer *expected, const YamlNode *node) {
  static const char *const keys[] = {"sum", "equals_file", NULL};
  if (!loader_check_keys(loader, node, keys, "an expected buffer"))
    return false;
  const YamlNode *sum = yaml_get(node, "sum"), *file = yaml_get(node, "equals_file");
  if (!sum == !file)
    return loader_error(loader, node, "an expected buffer: expected one of `sum` and `equals_file`");
  if (file)
    return expected_file(loader, expected, file);
  expected->is_sum = true;
  return loader_range(loader, sum, "sum", 0, INT64_MAX, &expected->sum);
}

bool loader_add_expected_buffer(Loader *loader, Expectation *expect, const YamlNode *name, const YamlNode *value) {
  int index = loader_known_buffer(loader, name);
  if (index < 0)
    return false;
  if (value->type == YAML_NODE_SCALAR) {
    g_autofree char *found = yaml_describe(value);
    return loader_error(loader, value,
                        "buffer `%s`: expected a list of words, {sum: ...} or {equals_file: ...}, found %s",
                        name->scalar, found);
  }
  const ScenarioBuffer *buffer = g_ptr_array_index(loader->scenario->buffers, index);
  ExpectBuffer expected = {.buffer = (guint)index, .words = g_array_new(FALSE, FALSE, sizeof(int64_t))};
  bool good = value->type == YAML_NODE_SEQUENCE ? expected_list(loader, &expected, value)
                                                : expected_mapping(loader, &expected, value);
  if (good && expected.words->len > buffer->words)
    good = loader_error(loader, value, "%u words are expected of buffer `%s`, which has %u", expected.words->len,
                        buffer->name, buffer->words);
  if (!good || expected.is_sum)
    g_clear_pointer(&expected.words, g_array_unref);
  if (good)
    g_array_append_val(expect->buffers, expected);
  return good;
}

const Expectation *scenario_expectation(const Scenario *scenario, const char *machine) {
  const Expectation *own = machine && scenario->expect_on ? g_hash_table_lookup(scenario->expect_on, machine) : NULL;
  if (own)
    return own;
  return scenario->has_expectation ? &scenario->expect : NULL;
}

static void compare_verdict(const Expectation *expect, Verdict verdict, GPtrArray *failures) {
  if (expect->verdicts->len == 0 || has_verdict(expect, verdict))
    return;
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "the verdict is %s, expected ", verdict_name(verdict));
  const char *separator = "";
  for (guint i = 0; i < expect->verdicts->len; i++) {
    g_string_append_printf(text, "%s%s", separator, verdict_name(g_array_index(expect->verdicts, Verdict, i)));
    separator = i + 2 < expect->verdicts->len ? ", " : " or ";
  }
  g_ptr_array_add(failures, g_string_free(text, FALSE));
}

/* That nothing was decided is a failure as a verdict already. */
bool expectation_allows(const Expectation *expect, FindingId id) {
  if (id == FINDING_UNDECIDED)
    return true;
  for (guint i = 0; i < expect->findings->len; i++)
    if (g_array_index(expect->findings, FindingId, i) == id)
      return true;
  Verdict verdict = verdict_from_name(finding_name(id));
  return verdict != VERDICT_COUNT && has_verdict(expect, verdict);
}

void expectation_findings(const Expectation *expect, const GPtrArray *findings, GPtrArray *failures) {
  bool reported[FINDING_COUNT] = {false};
  for (guint i = 0; findings && i < findings->len; i++) {
    const Finding *finding = g_ptr_array_index(findings, i);
    if (reported[finding->id] || expectation_allows(expect, finding->id))
      continue;
    reported[finding->id] = true;
    g_ptr_array_add(failures, g_strdup_printf("the finding %s isn't expected: %s", finding_name(finding->id),
                                              finding->message ? finding->message : finding_doc(finding->id)));
  }
}

static void compare_sum(const ScenarioBuffer *buffer, const ExpectBuffer *expected, const uint32_t *memory,
                        GPtrArray *failures) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < buffer->words; i++)
    total += memory[i];
  if (total != (uint64_t)expected->sum)
    g_ptr_array_add(failures,
                    g_strdup_printf("the words of %s sum to %" G_GUINT64_FORMAT ", expected %" G_GINT64_FORMAT,
                                    buffer->name, total, expected->sum));
}

static void compare_words(const ScenarioBuffer *buffer, const ExpectBuffer *expected, const uint32_t *memory,
                          GPtrArray *failures) {
  guint wrong = 0, first = 0;
  for (guint i = 0; i < expected->words->len; i++)
    if (memory[i] != (uint32_t)g_array_index(expected->words, int64_t, i) && wrong++ == 0)
      first = i;
  if (wrong == 0)
    return;
  int64_t wanted = g_array_index(expected->words, int64_t, first);
  int64_t found = wanted < 0 ? (int64_t)(int32_t)memory[first] : (int64_t)memory[first];
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s[%u] is %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, buffer->name, first,
                         found, wanted);
  if (wrong > 1)
    g_string_append_printf(text, " (and %u more word%s of %s)", wrong - 1, wrong == 2 ? "" : "s", buffer->name);
  g_ptr_array_add(failures, g_string_free(text, FALSE));
}

guint expectation_compare(const Scenario *scenario, const Expectation *expect, Verdict verdict,
                          const GPtrArray *findings, const uint32_t *const *memory, GPtrArray *failures) {
  compare_verdict(expect, verdict, failures);
  expectation_findings(expect, findings, failures);
  guint before = failures->len;
  for (guint i = 0; verdict == VERDICT_COMPLETED && i < expect->buffers->len; i++) {
    const ExpectBuffer *expected = &g_array_index(expect->buffers, ExpectBuffer, i);
    const ScenarioBuffer *buffer = g_ptr_array_index(scenario->buffers, expected->buffer);
    (expected->is_sum ? compare_sum : compare_words)(buffer, expected, memory[expected->buffer], failures);
  }
  return failures->len - before;
}
