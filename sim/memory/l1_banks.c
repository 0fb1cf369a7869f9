#include "sim/memory/l1_banks.h"

#include <glib.h>

enum { BANKS = 32, LANES = 32, TAG_BANKS = 4 };

/* Bits of a line's number whose parity is the low and the high bit of its bank's number. */
static const uint32_t low_bits = 0x37ab5, high_bits = 0x2d5da;

static uint32_t tag_bank(uint64_t line) {
  return (uint32_t)(__builtin_parity((uint32_t)line & low_bits) | __builtin_parity((uint32_t)line & high_bits) << 1);
}

uint32_t l1_banks_tags(const uint64_t *lines, uint32_t count, uint32_t banks) {
  uint32_t turns[TAG_BANKS] = {0}, most = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t *own = &turns[tag_bank(lines[i]) & (banks - 1)];
    ++*own;
    most = MAX(most, *own);
  }
  return most;
}

/* How many of the masks have the bit that most of them have. */
static uint32_t most_common(const uint32_t *mask, uint32_t count) {
  uint32_t digit[6] = {0}, among = UINT32_MAX, most = 0; /* digit[i]: bit i of each bit's number */
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t carry = mask[i], k = 0; carry; k++) {
      uint32_t both = digit[k] & carry;
      digit[k] ^= carry;
      carry = both;
    }
  for (uint32_t k = G_N_ELEMENTS(digit); k-- > 0;)
    if (digit[k] & among) {
      among &= digit[k];
      most |= 1u << k;
    }
  return most;
}

uint32_t l1_banks_words(const uint64_t address[32], const uint32_t *lanes, uint32_t count, uint32_t bytes) {
  uint32_t words[LANES], own = (1u << MAX(bytes / 4, 1u)) - 1;
  for (uint32_t i = 0; i < count; i++) {
    words[i] = 0;
    for (uint32_t rest = lanes[i]; rest; rest &= rest - 1)
      words[i] |= own << (address[__builtin_ctz(rest)] >> 2 & (BANKS - 1));
  }
  return most_common(words, count);
}
