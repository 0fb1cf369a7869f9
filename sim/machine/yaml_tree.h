/* yaml_tree.h - a YAML document as a tree in which each node knows its line and column.
 * Built on libyaml's events. Caps keep hostile input cheap: file size, depth, number of nodes; aliases and anchors
 * are refused with a message, as are duplicate keys and several documents.
 * Ownership: yaml_tree_free() frees all nodes; strings are borrowed from the tree. */
#ifndef LOCKSTEP_MACHINE_YAML_TREE_H
#define LOCKSTEP_MACHINE_YAML_TREE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* Of the nodes, a list or mapping counts as four. So many stay under 200 MB with the sanitizers too. */
enum { YAML_DEPTH_MAX = 32, YAML_NODES_MAX = 250000, YAML_FILE_MAX = 16 << 20 };

typedef enum { YAML_NODE_SCALAR, YAML_NODE_SEQUENCE, YAML_NODE_MAPPING } YamlNodeType;

typedef struct YamlNode {
  YamlNodeType type;
  unsigned line, column; /* from 1 */
  char *scalar;          /* SCALAR: its text */
  bool quoted;           /* SCALAR: written in quotes, so never a number */
  GPtrArray *keys;       /* MAPPING: YamlNode * scalars, in order */
  GPtrArray *values;     /* MAPPING and SEQUENCE: YamlNode * */
} YamlNode;

typedef struct YamlTree {
  char *file;
  YamlNode *root;
  GPtrArray *blocks, *arrays; /* private: what the nodes are made of */
  GStringChunk *text;
} YamlTree;

/* Reads text; `file` is for messages. NULL after errors. An empty document is an error. */
YamlTree *yaml_tree_parse(const char *file, const char *text, gsize length, Diag *diag);
void yaml_tree_free(YamlTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlTree, yaml_tree_free)

/* The value of `key` in a mapping, or NULL. */
const YamlNode *yaml_get(const YamlNode *mapping, const char *key);
/* "a mapping", "a list", "`text`": for messages. Newly allocated. */
char *yaml_describe(const YamlNode *node);
/* Reports each key of `mapping` that isn't in `allowed` (NULL-terminated), with the nearest valid one. */
bool yaml_check_keys(const YamlTree *tree, const YamlNode *mapping, const char *const *allowed, const char *what,
                     Diag *diag);
/* Checks the type of a node and reports "expected a list, found ..." otherwise. */
bool yaml_expect(const YamlTree *tree, const YamlNode *node, YamlNodeType type, const char *what, Diag *diag);

#endif
