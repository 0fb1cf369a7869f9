/* guesses.h - loads whose value is a guess only: what a compare-and-swap of the same word expects to find there.
 * An old value makes that fail, and the word is looked at again; so it does no harm.
 *
 * On every way from such a load, as far as its value goes,
 * - the value and what is computed of it reach nothing but both values of a compare-and-swap of the word: no
 *   address, no store but the following one, no guard, no other lane, no branch but the following ones. The compared
 *   value is the loaded one as it is, or with some of its bytes replaced (PRMT), and then what is stored depends on
 *   the other bytes only;
 * - a store of it to another word, whose address doesn't depend on it, comes again in each other round before that
 *   one's compare-and-swap (`do next[node] = head; while (!swapped)`): who finds the word by what was swapped finds
 *   the newest value there;
 * - a branch that the value decides leads on both ways to that compare-and-swap or back to the load, past nothing
 *   that changes memory, that ends the thread, or that loads, but strong loads and `atomicAdd(p, 0)`;
 * - behind the compare-and-swap a branch compares its result with the value, for equality: in all bits, or in the
 *   bytes that weren't replaced. If they differ the next thing is another round, as above, or a compare-and-swap
 *   of the word that expects that result; if they are equal the value was the newest one after all, and all that
 *   was computed of it may be used;
 * - or, where another round has to come, another word that is looked at behind the value decides that the thread
 *   leaves for good, without the value (`while (*left > 0) { ... if (is empty) continue; ... }`): who leaves knew
 *   nothing more when it looked for the value.
 * Looks at loads of 32 and 64 bits; narrow_guesses.h has those of bytes and halves. A kernel with very many ways
 * (GUESS_STATES_MAX) has none. */
#ifndef LOCKSTEP_DETECT_RACE_GUESSES_H
#define LOCKSTEP_DETECT_RACE_GUESSES_H

#include <stdbool.h>

#include "isa/program.h"

/* Of each instruction of the kernel: whether it is one; NULL if none is. Free with g_free. */
bool *guesses_find(const Kernel *kernel);

#endif
