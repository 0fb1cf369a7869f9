/* ptx_forms.h - arithmetic instructions of PTX on edge values: what ptx_forms.cu runs on a GPU and
 * tests/unit/test_ptx_forms.c in the simulator. Each instruction is a kernel of its own: THREADS threads load three
 * 64-bit values, take of them what the instruction's types need (%h2 %r2 %l2 %f2 %d2 %p2 from the first, 3 and 4 from the
 * others; a carry from %r2 + %r3), and store its result and then carry and %p5, two words of 64 bits.
 * Plain C, for both compilers. */
#ifndef LOCKSTEP_VALIDATION_PTX_FORMS_H
#define LOCKSTEP_VALIDATION_PTX_FORMS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FORMS_THREADS = 256, FORMS_INPUTS = 3, FORMS_TEXT_MAX = 4096 };

#define FORMS_HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"

/* Value k of a thread: integers, f32 pairs, f64, then random bits. */
static inline uint64_t forms_input(unsigned thread, unsigned k) {
  static const uint64_t integers[] = {0,
                                      1,
                                      2,
                                      3,
                                      7,
                                      8,
                                      15,
                                      16,
                                      17,
                                      31,
                                      32,
                                      33,
                                      63,
                                      64,
                                      65,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x100,
                                      0x7fff,
                                      0x8000,
                                      0xffff,
                                      0x10000,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0xfffffffe,
                                      0xdeadbeef,
                                      0x1ffffffff,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff,
                                      0xfffffffffffffffd,
                                      0x123456789abcdef0};
  static const uint32_t floats[] = {
      0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1,          0x80000001,
      0x7fffff,   0x800000,   0x3f000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x4f000000, 0x4effffff, 0x4f7fffff,
      0x5f000000, 0x7f7fffff, 0x3eaaaaab, 0x42f6e979, 0xc2f6e979, 0x4b000001, 0x3f7fffff, 0x33800000};
  static const double doubles[] = {
      0.0,          -0.0,         1.0,          -1.0,          0.5,    1.5,    2.5,     -2.5,
      2147483647.5, 2147483648.0, 4294967295.9, -2147483649.0, 9.3e18, 1.9e19, -9.3e18, 1.0 / 3,
      123.456,      -123.456,     0.1,          1e300,         1e-300, 5e-324, -5e-324, 2.2250738585072014e-308,
      1e-40,        1e38,         4e38,         127.5,         255.5,  -128.7, 32767.9, 65535.5};
  uint64_t random = (thread * 3 + k + 1) * 0x9e3779b97f4a7c15u, bits;
  random = (random ^ random >> 30) * 0xbf58476d1ce4e5b9u;
  random = (random ^ random >> 27) * 0x94d049bb133111ebu;
  random ^= random >> 31;
  switch (thread / 64) {
  case 0: return integers[random % (sizeof integers / sizeof *integers)];
  case 1:
    bits = floats[random % (sizeof floats / sizeof *floats)];
    return bits | (uint64_t)floats[(random >> 32) % (sizeof floats / sizeof *floats)] << 32;
  case 2: memcpy(&bits, &doubles[random % (sizeof doubles / sizeof *doubles)], sizeof bits); return bits;
  default: return random;
  }
}

/* The letter of the register that an instruction, perhaps with a guard, writes: p h r l f d. */
static inline char forms_class(const char *instruction) {
  const char *space = strchr(instruction, ' ');
  if (*instruction == '@' && space)
    space = strchr(space + 1, ' ');
  return space && space[1] == '%' ? space[2] : '\0';
}

/* The kernel k<number> of an instruction, in `text`. */
static inline void forms_kernel(const char *instruction, unsigned number, char text[FORMS_TEXT_MAX]) {
  const char *result = "";
  switch (forms_class(instruction)) {
  case 'p': result = "selp.u64 %l8, 1, 0, %p1;"; break;
  case 'h': result = "cvt.u64.u16 %l8, %h1;"; break;
  case 'r': result = "cvt.u64.u32 %l8, %r1;"; break;
  case 'f': result = "mov.b32 %r1, %f1; cvt.u64.u32 %l8, %r1;"; break;
  case 'l': result = "mov.b64 %l8, %l1;"; break;
  case 'd': result = "mov.b64 %l8, %d1;"; break;
  default: break;
  }
  int n = snprintf(text, FORMS_TEXT_MAX,
                   ".visible .entry k%u(.param .u64 in, .param .u64 out) {\n"
                   ".reg .pred %%p<8>; .reg .b16 %%h<8>; .reg .b32 %%r<12>; .reg .b64 %%l<12>; .reg .f32 %%f<8>; "
                   ".reg .f64 %%d<8>;\n"
                   "ld.param.u64 %%l5, [in]; ld.param.u64 %%l6, [out]; mov.u32 %%r5, %%tid.x;\n"
                   "mul.wide.u32 %%l7, %%r5, 24; add.u64 %%l5, %%l5, %%l7; mul.wide.u32 %%l7, %%r5, 16; add.u64 "
                   "%%l6, %%l6, %%l7;\n",
                   number);
  for (unsigned i = 2; i < 5; i++)
    n += snprintf(
        text + n, (size_t)(FORMS_TEXT_MAX - n),
        "ld.global.u64 %%l%u, [%%l5+%u]; cvt.u32.u64 %%r%u, %%l%u; cvt.u16.u64 %%h%u, %%l%u; mov.b32 %%f%u, %%r%u;\n"
        "mov.b64 %%d%u, %%l%u; and.b32 %%r6, %%r%u, 1; setp.ne.u32 %%p%u, %%r6, 0;\n",
        i, 8 * (i - 2), i, i, i, i, i, i, i, i, i, i);
  snprintf(text + n, (size_t)(FORMS_TEXT_MAX - n),
           "setp.ne.u32 %%p5, %%r5, %%r5; mov.u32 %%r7, 0; add.cc.u32 %%r6, %%r2, %%r3;\n%s;\n"
           "addc.u32 %%r7, %%r7, 0; selp.u32 %%r8, 2, 0, %%p5; or.b32 %%r7, %%r7, %%r8; cvt.u64.u32 %%l9, %%r7;\n"
           "%s st.global.u64 [%%l6], %%l8; st.global.u64 [%%l6+8], %%l9; ret; }\n",
           instruction, result);
}

/* FNV-1a of what all threads stored. The payload of a NaN doesn't count: PTX leaves it open. */
static inline uint64_t forms_hash(const char *instruction, const uint64_t *stored) {
  uint64_t hash = 0xcbf29ce484222325u;
  char kind = forms_class(instruction);
  for (unsigned i = 0; i < 2 * FORMS_THREADS; i++) {
    uint64_t word = stored[i];
    if (i % 2 == 0 && kind == 'd' && word << 1 > UINT64_C(0xffe0000000000000))
      word = UINT64_C(0x7ff8000000000000);
    if (i % 2 == 0 && kind == 'f' && (word & 0x7fffffff) > 0x7f800000)
      word = 0x7fffffff;
    for (unsigned byte = 0; byte < 8; byte++)
      hash = (hash ^ (word >> 8 * byte & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

#endif
