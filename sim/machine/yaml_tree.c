#include "sim/machine/yaml_tree.h"

#include <string.h>
#include <yaml.h>

#include "base/quote.h"

enum { SCALAR_MAX = 65536, BLOCK_NODES = 1024, COLLECTION_COST = 4, ERRORS_MAX = 1000 };

/* A collection that is being read. In a mapping `key` is the key whose value comes next. */
typedef struct Frame {
  YamlNode *node;
  YamlNode *key;
  GHashTable *seen; /* MAPPING: text -> YamlNode, to find duplicates */
} Frame;

typedef struct Builder {
  YamlTree *tree;
  Diag *diag;
  Frame frames[YAML_DEPTH_MAX];
  const char *input;
  gsize length;
  unsigned depth, used, budget, errors_before;
  bool done; /* the document has ended */
} Builder;

static bool fail(Builder *b, yaml_mark_t at, const char *message) {
  return diag_error(b->diag, b->tree->file, (unsigned)at.line + 1, (unsigned)at.column + 1, "%s", message);
}

/* Nodes come from blocks: a million of them stay under the memory cap, and freeing needs no recursion. A collection
 * costs more of the budget because its arrays are what takes memory. */
static YamlNode *add_node(Builder *b, YamlNodeType type, yaml_mark_t at) {
  unsigned cost = type == YAML_NODE_SCALAR ? 1 : COLLECTION_COST;
  if (b->budget < cost) {
    g_autofree char *message =
        g_strdup_printf("too much data: at most %d values are read, and a list or mapping counts as %d",
                        YAML_NODES_MAX, COLLECTION_COST);
    fail(b, at, message);
    return NULL;
  }
  b->budget -= cost;
  if (b->used % BLOCK_NODES == 0)
    g_ptr_array_add(b->tree->blocks, g_new0(YamlNode, BLOCK_NODES));
  YamlNode *block = g_ptr_array_index(b->tree->blocks, b->tree->blocks->len - 1);
  YamlNode *node = &block[b->used++ % BLOCK_NODES];
  node->type = type;
  node->line = (unsigned)at.line + 1;
  node->column = (unsigned)at.column + 1;
  return node;
}

static GPtrArray *add_array(Builder *b) {
  GPtrArray *array = g_ptr_array_new();
  g_ptr_array_add(b->tree->arrays, array);
  return array;
}

static bool take_key(Builder *b, Frame *frame, YamlNode *node, yaml_mark_t at) {
  if (node->type != YAML_NODE_SCALAR)
    return fail(b, at,
                node->type == YAML_NODE_MAPPING ? "a key must be plain text, found a mapping"
                                                : "a key must be plain text, found a list");
  const YamlNode *first = g_hash_table_lookup(frame->seen, node->scalar);
  if (first) {
    g_autofree char *quoted = quote_text(node->scalar);
    diag_error(b->diag, b->tree->file, node->line, node->column, "duplicate key %s; the first one is in line %u",
               quoted, first->line);
    if (diag_error_count(b->diag) - b->errors_before >= ERRORS_MAX)
      return false;
  } else {
    g_hash_table_insert(frame->seen, node->scalar, node);
  }
  frame->key = node;
  return true;
}

/* Puts a node where the document has it: as root, list item, key or value. */
static bool place(Builder *b, YamlNode *node, yaml_mark_t at) {
  if (b->depth == 0) {
    b->tree->root = node;
    return true;
  }
  Frame *frame = &b->frames[b->depth - 1];
  if (frame->node->type == YAML_NODE_MAPPING && !frame->key)
    return take_key(b, frame, node, at);
  if (frame->node->type == YAML_NODE_MAPPING)
    g_ptr_array_add(frame->node->keys, frame->key);
  frame->key = NULL;
  g_ptr_array_add(frame->node->values, node);
  return true;
}

static bool open_collection(Builder *b, YamlNodeType type, yaml_mark_t at) {
  if (b->depth == YAML_DEPTH_MAX) {
    g_autofree char *message = g_strdup_printf("nested more than %d levels deep", YAML_DEPTH_MAX);
    return fail(b, at, message);
  }
  YamlNode *node = add_node(b, type, at);
  if (!node || !place(b, node, at))
    return false;
  node->values = add_array(b);
  Frame *frame = &b->frames[b->depth++];
  *frame = (Frame){.node = node};
  if (type == YAML_NODE_MAPPING) {
    node->keys = add_array(b);
    frame->seen = g_hash_table_new(g_str_hash, g_str_equal);
  }
  return true;
}

static void close_collection(Builder *b) {
  Frame *frame = &b->frames[--b->depth];
  if (frame->seen)
    g_hash_table_destroy(frame->seen);
}

static bool take_scalar(Builder *b, const yaml_event_t *event) {
  const char *text = (const char *)event->data.scalar.value;
  size_t length = event->data.scalar.length;
  if (length > SCALAR_MAX) {
    g_autofree char *message = g_strdup_printf("a value of %zu bytes; at most %d are read", length, SCALAR_MAX);
    return fail(b, event->start_mark, message);
  }
  if (memchr(text, '\0', length))
    return fail(b, event->start_mark, "a NUL character (\\0) cannot be part of a value");
  YamlNode *node = add_node(b, YAML_NODE_SCALAR, event->start_mark);
  if (!node)
    return false;
  node->scalar = g_string_chunk_insert_len(b->tree->text, text, (gssize)length);
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  return place(b, node, event->start_mark);
}

static bool refuse_extras(Builder *b, yaml_mark_t at, const yaml_char_t *anchor, const yaml_char_t *tag) {
  if (anchor)
    return fail(b, at, "anchors (`&name`) are not accepted here; write the value out");
  if (tag)
    return fail(b, at, "tags (`!name`) are not accepted here; write the plain value");
  return true;
}

/* True if a line from `text` on is a directive; with `leading`, only before the first line of content. */
static bool find_directive(const char *text, gsize length, bool leading, unsigned *line) {
  const char *end = text + length;
  for (*line = 0; text < end; ++*line) {
    if (*text == '%')
      return true;
    const char *newline = memchr(text, '\n', (gsize)(end - text));
    const char *next = newline ? newline + 1 : end;
    while (text < next && (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n'))
      text++;
    if (leading && text < next && *text != '#')
      return false;
    text = next;
  }
  return false;
}

/* Directives are refused before libyaml sees them: its check for duplicate %TAGs takes quadratic time. */
static bool refuse_directives(Builder *b, bool leading) {
  unsigned line;
  if (!find_directive(b->input, b->length, leading, &line))
    return true;
  return fail(b, (yaml_mark_t){.line = line}, "directives (`%YAML`, `%TAG`) are not accepted");
}

static bool take_event(Builder *b, const yaml_event_t *event) {
  yaml_mark_t at = event->start_mark;
  switch (event->type) {
  case YAML_ALIAS_EVENT: return fail(b, at, "aliases (`*name`) are not accepted here; write the value out");
  case YAML_SCALAR_EVENT:
    return refuse_extras(b, at, event->data.scalar.anchor, event->data.scalar.tag) && take_scalar(b, event);
  case YAML_SEQUENCE_START_EVENT:
    return refuse_extras(b, at, event->data.sequence_start.anchor, event->data.sequence_start.tag) &&
           open_collection(b, YAML_NODE_SEQUENCE, at);
  case YAML_MAPPING_START_EVENT:
    return refuse_extras(b, at, event->data.mapping_start.anchor, event->data.mapping_start.tag) &&
           open_collection(b, YAML_NODE_MAPPING, at);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT: close_collection(b); return true;
  case YAML_DOCUMENT_START_EVENT:
    if (b->tree->root)
      return fail(b, at, "a second document (`---`) is not accepted; put one document into a file");
    return true;
  case YAML_DOCUMENT_END_EVENT: return refuse_directives(b, false);
  case YAML_STREAM_END_EVENT: b->done = true; return true;
  default: return true;
  }
}

/* libyaml's problem texts, as a user would say them. */
static const char *const problems[][2] = {
    {"did not find expected key", "expected a `key: value` line here; check the indentation"},
    {"could not find expected ':'", "expected `:` after this key"},
    {"found unexpected ':'", "a `:` without a space behind it; write `key: value`, or quote the text"},
    {"mapping values are not allowed in this context",
     "a second `:` in one line; quote the text if it belongs to the value"},
    {"did not find expected '-' indicator", "expected a list item (`- ...`) here; check the indentation"},
    {"block sequence entries are not allowed in this context", "a list item (`- ...`) cannot stand here"},
    {"did not find expected ',' or ']'", "expected `,` or `]` in the list"},
    {"did not find expected ',' or '}'", "expected `,` or `}` in the mapping"},
    {"did not find expected node content", "expected a value here"},
    {"did not find expected <document start>", "text after the end of the document; check the indentation"},
    {"found unexpected end of stream", "the file ends inside quotes"},
    {"found unknown escape character", "unknown escape (`\\...`) inside double quotes"},
    {"found character that cannot start any token", "a value cannot start with this character; quote it"},
    {"found a tab character that violates indentation", "a tab cannot indent; use spaces"},
    {"found a tab character where an indentation space is expected", "a tab cannot indent; use spaces"},
};

static const char *translate(const char *problem) {
  for (gsize i = 0; i < G_N_ELEMENTS(problems); i++)
    if (strcmp(problems[i][0], problem) == 0)
      return problems[i][1];
  return problem;
}

/* libyaml's `index` counts characters. */
static bool tab_stands_at(const char *text, gsize length, yaml_mark_t at) {
  gsize characters = 0, i = 0;
  while (i < length && (characters += (text[i] & 0xc0) != 0x80) <= at.index)
    i++;
  return i < length && text[i] == '\t';
}

/* A byte that isn't text: libyaml gives its offset, not its place. */
static void report_bytes(Builder *b, const yaml_parser_t *parser) {
  const char *text = b->input;
  gsize offset = MIN(parser->problem_offset, b->length);
  unsigned line = 1, column = 1;
  for (gsize i = 0; i < offset; i++) {
    bool newline = text[i] == '\n';
    line += newline;
    column = newline ? 1 : column + ((text[i] & 0xc0) != 0x80);
  }
  if (parser->problem_value == -1)
    diag_error(b->diag, b->tree->file, line, column, "not a text file: the text ends in the middle of a character");
  else
    diag_error(b->diag, b->tree->file, line, column, "not a text file: the byte 0x%02x cannot be part of YAML",
               (unsigned)(unsigned char)text[MIN(offset, b->length - 1)]);
}

static void report_parser(Builder *b, const yaml_parser_t *parser) {
  if (parser->error == YAML_READER_ERROR && b->length > 0) {
    report_bytes(b, parser);
    return;
  }
  yaml_mark_t at = parser->problem_mark;
  const char *message = parser->problem ? translate(parser->problem) : "not valid YAML";
  if (tab_stands_at(b->input, b->length, at))
    message = "a tab cannot indent; use spaces";
  fail(b, at, message);
  if (parser->context && parser->context_mark.line != at.line)
    diag_hint(b->diag, "%s that starts in line %zu", parser->context, parser->context_mark.line + 1);
}

static bool parse_events(Builder *b, yaml_parser_t *parser) {
  while (!b->done) {
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event)) {
      report_parser(b, parser);
      return false;
    }
    bool good = take_event(b, &event);
    yaml_event_delete(&event);
    if (!good)
      return false;
  }
  if (!b->tree->root)
    return diag_error(b->diag, b->tree->file, 0, 0, "the file is empty");
  return true;
}

static bool build(Builder *b) {
  if (!refuse_directives(b, true))
    return false;
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)b->input, b->length);
  bool good = parse_events(b, &parser);
  yaml_parser_delete(&parser);
  while (b->depth > 0)
    close_collection(b);
  return good;
}

static void free_array(gpointer array) { g_ptr_array_free(array, TRUE); }

YamlTree *yaml_tree_parse(const char *file, const char *text, gsize length, Diag *diag) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  if (length >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
    text += 3;
    length -= 3;
  }
  YamlTree *tree = g_new0(YamlTree, 1);
  tree->file = g_strdup(file);
  tree->blocks = g_ptr_array_new_with_free_func(g_free);
  tree->arrays = g_ptr_array_new_with_free_func(free_array);
  tree->text = g_string_chunk_new(4096);
  Builder builder = {.tree = tree, .diag = diag, .input = text, .length = length, .budget = YAML_NODES_MAX};
  builder.errors_before = diag_error_count(diag);
  bool good = build(&builder);
  if (!good || diag_error_count(diag) > builder.errors_before)
    g_clear_pointer(&tree, yaml_tree_free);
  return tree;
}

void yaml_tree_free(YamlTree *tree) {
  if (!tree)
    return;
  g_ptr_array_free(tree->blocks, TRUE);
  g_ptr_array_free(tree->arrays, TRUE);
  g_string_chunk_free(tree->text);
  g_free(tree->file);
  g_free(tree);
}

const YamlNode *yaml_get(const YamlNode *mapping, const char *key) {
  if (mapping->type != YAML_NODE_MAPPING)
    return NULL;
  for (guint i = 0; i < mapping->keys->len; i++) {
    const YamlNode *node = g_ptr_array_index(mapping->keys, i);
    if (strcmp(node->scalar, key) == 0)
      return g_ptr_array_index(mapping->values, i);
  }
  return NULL;
}

char *yaml_describe(const YamlNode *node) {
  if (node->type == YAML_NODE_MAPPING)
    return g_strdup("a mapping");
  if (node->type == YAML_NODE_SEQUENCE)
    return g_strdup(node->values->len ? "a list" : "an empty list");
  if (!*node->scalar)
    return g_strdup("nothing");
  return quote_text(node->scalar);
}

bool yaml_check_keys(const YamlTree *tree, const YamlNode *mapping, const char *const *allowed, const char *what,
                     Diag *diag) {
  bool good = true;
  for (guint i = 0; mapping->type == YAML_NODE_MAPPING && i < mapping->keys->len; i++) {
    const YamlNode *key = g_ptr_array_index(mapping->keys, i);
    if (g_strv_contains(allowed, key->scalar))
      continue;
    g_autofree char *quoted = quote_text(key->scalar);
    good = diag_error(diag, tree->file, key->line, key->column, "unknown key %s in %s", quoted, what);
    if (strchr(key->scalar, ':')) {
      diag_hint(diag, "a `:` without a space behind it is part of the key; write `key: value`");
    } else if (diag_nearest(key->scalar, allowed)) {
      diag_hint_nearest(diag, key->scalar, allowed);
    } else {
      g_autofree char *list = g_strjoinv("`, `", (char **)allowed);
      diag_hint(diag, "valid keys: `%s`", list);
    }
  }
  return good;
}

bool yaml_expect(const YamlTree *tree, const YamlNode *node, YamlNodeType type, const char *what, Diag *diag) {
  static const char *const names[] = {
      [YAML_NODE_SCALAR] = "a single value", [YAML_NODE_SEQUENCE] = "a list", [YAML_NODE_MAPPING] = "a mapping"};
  if (node->type == type)
    return true;
  g_autofree char *found = yaml_describe(node);
  return diag_error(diag, tree->file, node->line, node->column, "%s: expected %s, found %s", what, names[type],
                    found);
}
