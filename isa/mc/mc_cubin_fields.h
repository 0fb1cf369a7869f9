/* mc_cubin_fields.h - what the parts of the disassembler share: mc_cubin_decode.c (rows of the table, words, numbers)
 * and mc_cubin_operand.c (operands of arithmetic, addresses). Only McEncoding is for others. */
#ifndef LOCKSTEP_ISA_MC_MC_CUBIN_FIELDS_H
#define LOCKSTEP_ISA_MC_MC_CUBIN_FIELDS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct McEncoding {
  unsigned sm;
  uint32_t address; /* of the instruction in its section: targets are relative to what follows it */
  uint64_t low, high;
} McEncoding;

typedef struct McDecoder {
  McEncoding code;
  uint64_t read_low, read_high; /* bits that a field has read */
  const char *p;                /* in the row's text */
  GString *out;
  bool failed; /* a field has a value without a name */
} McDecoder;

/* Up to 64 bits from bit `at` on. They count as read. */
uint64_t mc_field(McDecoder *decoder, unsigned at, unsigned width);
int64_t mc_signed_field(McDecoder *decoder, unsigned at, unsigned width);
/* The decimal number at p, which goes behind it. */
unsigned mc_form_number(McDecoder *decoder);

void mc_print_register_field(McDecoder *decoder, unsigned at);
void mc_print_uniform_field(McDecoder *decoder, unsigned at);

/* {A:-|}, {B:s-}, {uQ:u}: at the letter. */
void mc_decode_operand(McDecoder *decoder, bool uniform);
/* {GL}, {HS}, {L}, {K}: at the letter. */
void mc_decode_global(McDecoder *decoder);
void mc_decode_shared(McDecoder *decoder);
void mc_decode_local(McDecoder *decoder);
void mc_decode_bank(McDecoder *decoder, bool base);

#endif
