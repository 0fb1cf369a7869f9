#include "sim/scenario/demangle.h"

#include <glib.h>
#include <string.h>

char **demangle_names(char **names) {
  guint count = g_strv_length(names);
  g_autofree char *program = g_find_program_in_path("c++filt");
  if (!program)
    return NULL;
  g_autoptr(GPtrArray) argv = g_ptr_array_new();
  g_ptr_array_add(argv, program);
  g_ptr_array_add(argv, (gpointer) "--");
  for (guint i = 0; i < count; i++)
    g_ptr_array_add(argv, names[i]);
  g_ptr_array_add(argv, NULL);
  g_autofree char *output = NULL;
  if (!g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &output, NULL, NULL,
                    NULL))
    return NULL;
  char **lines = g_strsplit(output, "\n", -1);
  if (g_strv_length(lines) != count + 1)
    g_clear_pointer(&lines, g_strfreev);
  else
    g_clear_pointer(&lines[count], g_free); /* behind the last newline */
  return lines;
}

/* Behind the brackets that begin at `at`; a shift or a comparison in a template argument stands in parentheses of its
 * own. */
static const char *skip_brackets(const char *at) {
  unsigned depth = 0;
  for (; *at; at++) {
    depth += strchr("<([{", *at) != NULL;
    if (strchr(">)]}", *at) && --depth == 0)
      return at + 1;
  }
  return at;
}

/* Where the parameters begin, or the end. */
static const char *find_parameters(const char *name) {
  static const char anonymous[] = "(anonymous namespace)";
  while (*name && *name != '(') {
    name = *name == '<' ? skip_brackets(name) : name + 1;
    if (g_str_has_prefix(name, anonymous))
      name += strlen(anonymous);
  }
  return name;
}

char *demangle_short(const char *demangled) {
  const char *end = find_parameters(demangled), *start = demangled;
  bool has_result = *end && memchr(demangled, ' ', (gsize)(end - demangled));
  for (const char *at = demangled; has_result && at < end;) {
    if (*at == ' ')
      start = at + 1; /* a template's name has its result in front */
    at = *at == '<' || *at == '(' ? skip_brackets(at) : at + 1;
  }
  return g_strndup(start, (gsize)(end - start));
}

char **demangle_brief(char **demangled) {
  char **names = g_strdupv(demangled);
  g_autoptr(GHashTable) count = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (char **name = names; *name; name++) {
    char *brief = demangle_short(*name);
    g_hash_table_replace(count, brief, GINT_TO_POINTER(GPOINTER_TO_INT(g_hash_table_lookup(count, brief)) + 1));
  }
  for (char **name = names; *name; name++) {
    g_autofree char *brief = demangle_short(*name);
    if (GPOINTER_TO_INT(g_hash_table_lookup(count, brief)) > 1)
      continue;
    g_free(*name);
    *name = g_steal_pointer(&brief);
  }
  return names;
}

static char *replaced(const char *text, const char *pattern, const char *by) {
  g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW, 0, NULL);
  return g_regex_replace(regex, text, -1, 0, by, 0, NULL);
}

/* Without blanks, and integers as c++filt spells them: `unsigned int` for `unsigned`, `long` for `long int`. */
static char *canonical(const char *text) {
  g_autofree char *whole = replaced(text, "\\bunsigned\\b(?!\\s+(char|short|int|long)\\b)", "unsigned int");
  g_autofree char *brief = replaced(whole, "\\b(long|short)\\s+int\\b", "\\1");
  return replaced(brief, "\\s+", "");
}

/* Where the last part of a qualified name begins. */
static const char *last_part(const char *name) {
  const char *part = name;
  for (const char *at = name; *at;) {
    if (at[0] == ':' && at[1] == ':')
      part = at + 2;
    at = *at == '<' || *at == '(' ? skip_brackets(at) : at + 1;
  }
  return part;
}

bool demangle_matches(const char *demangled, const char *wanted) {
  g_autofree char *brief = demangle_short(demangled);
  g_autofree char *all = canonical(demangled), *name = canonical(brief), *asked = canonical(wanted);
  g_autofree char *with_parameters = g_strconcat(name, find_parameters(demangled), NULL);
  g_autofree char *called = canonical(with_parameters);
  if (!*asked)
    return false;
  if (strcmp(all, asked) == 0 || strcmp(called, asked) == 0)
    return true;
  const char *forms[] = {name, last_part(name)};
  for (gsize i = 0; i < G_N_ELEMENTS(forms); i++) {
    gsize bare = strcspn(forms[i], "<");
    if (strcmp(forms[i], asked) == 0 || (strlen(asked) == bare && strncmp(forms[i], asked, bare) == 0))
      return true;
  }
  return false;
}
