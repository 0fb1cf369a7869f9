/* expr.h - integer expressions over named values: + - * / % ( ) unary minus, min(a, b, ...), max(a, b, ...).
 * Signed 64-bit; overflow, division by zero, unknown names (with the nearest one) and syntax errors are errors with
 * the column. Nesting depth and length are capped. Numbers: decimal, 0x hexadecimal; no units, but a hint where
 * somebody writes one. */
#ifndef LOCKSTEP_SCENARIO_EXPR_H
#define LOCKSTEP_SCENARIO_EXPR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

/* Gives the value of a name; false if there is none. */
typedef bool (*ExprLookup)(const char *name, int64_t *value, gpointer user);

typedef struct ExprScope {
  ExprLookup lookup;
  gpointer user;
  const char *const *names; /* NULL-terminated, for "did you mean"; may be NULL */
} ExprScope;

/* Evaluates `text`, which stands at file:line:column (for messages). False after an error. */
bool expr_evaluate(const char *text, const ExprScope *scope, const char *file, unsigned line, unsigned column,
                   int64_t *value, Diag *diag);
/* True if `text` is one plain name (an identifier). */
bool expr_is_name(const char *text);

#endif
