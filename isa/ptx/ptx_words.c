/* Words, types and special registers: lookups in ptx_words.def and ptx_special.def. */
#include <string.h>

#include "isa/ptx/ptx_ops.h"

typedef struct Word {
  const char *text;
  uint8_t length, bytes, kind;
} Word;

static const Word words[PTX_WORD_COUNT] = {
    [PTX_NONE] = {"", 0, 0, PTX_KIND_NONE},
#define T(id, word, bytes, kind) [PTX_##id] = {word, sizeof(word) - 1, bytes, PTX_KIND_##kind},
#define W(id, word) [PTX_##id] = {word, sizeof(word) - 1, 0, PTX_KIND_NONE},
#include "isa/ptx/ptx_words.def"
#undef T
#undef W
};

typedef struct Special {
  const char *name;
  PtxWord type;
} Special;

static const Special specials[PTX_SR_COUNT] = {
#define SPECIAL(id, name, type) [PTX_SR_##id] = {name, PTX_##type},
#include "isa/ptx/ptx_special.def"
#undef SPECIAL
};

static bool equals(const char *word, const char *text, gsize length) {
  return (length == 0 || *word == *text) && strncmp(word, text, length) == 0 && word[length] == '\0';
}

const char *ptx_word_text(PtxWord word) { return words[word].text; }

PtxWord ptx_word_find(const char *text, gsize length) {
  for (unsigned i = 1; i < PTX_WORD_COUNT; i++)
    if (words[i].length == length && *words[i].text == *text && memcmp(words[i].text, text, length) == 0)
      return (PtxWord)i;
  return PTX_NONE;
}

PtxTypeKind ptx_type_kind(PtxWord type) { return (PtxTypeKind)words[type].kind; }
unsigned ptx_type_bytes(PtxWord type) { return words[type].bytes; }

const char *ptx_special_name(PtxSpecial special) { return specials[special].name; }
PtxWord ptx_special_type(PtxSpecial special) { return specials[special].type; }

PtxSpecial ptx_special_find(const char *name, gsize length) {
  for (unsigned i = 0; i < PTX_SR_COUNT; i++)
    if (equals(specials[i].name, name, length))
      return (PtxSpecial)i;
  return PTX_SR_COUNT;
}

const char **ptx_special_names(void) {
  const char **names = g_new0(const char *, PTX_SR_COUNT + 1);
  for (unsigned i = 0; i < PTX_SR_COUNT; i++)
    names[i] = specials[i].name;
  return names;
}
