#!/usr/bin/env python3
"""Writes random kernels that log the order in which lanes take their steps, and the masks to run them with.

orders.py KERNELS > FILE.cu;  orders.py MASKS > FILE.txt. Compile FILE.cu with `nvcc -cubin -arch=native`; orders.cu runs it.

A step (LOG) takes the next number of a counter and notes it for its lane. Branches go by masks of lanes, and loops by counters of
their own, so that nobody waits for anybody: the order shows who runs next at each branch, BSYNC, YIELD and EXIT.
"""
import random
import sys

KERNELS, SETS, MASKS, COUNTS = 48, 24, 8, 8

HEAD = """#define B(k) (m[8 + (k)] >> lane & 1)
#define LOG { int t = atomicAdd(m, one); m[512 + lane * 64 + (n++ & 63)] = t; }
#define C(j) (atomicAdd(m + 256 + lane * 8 + (j), 1) < m[16 + (j)] + (B(j) ? 1 : 0))
"""


def statements(rng, depth, count):
    return " ".join(statement(rng, depth) for _ in range(count))


def statement(rng, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return "LOG"
    mask = rng.randrange(MASKS)
    if kind < 0.55:
        return f"if (B({mask})) {{ LOG {statements(rng, depth - 1, rng.randint(0, 2))} }}"
    if kind < 0.8:
        first, second = (statements(rng, depth - 1, rng.randint(0, 2)) for _ in range(2))
        return f"if (B({mask})) {{ LOG {first} }} else {{ LOG {second} LOG }}"
    return f"do {{ {statements(rng, depth - 1, rng.randint(1, 2))} }} while (C({mask}));"


def kernels(rng):
    print(HEAD)
    for number in range(KERNELS):
        body = ""
        while body.count("LOG") < 3 or body.count("if") + body.count("do") < 1:
            body = statements(rng, 3 if number % 2 else 2, rng.randint(1, 3))
        tail = rng.choice(["", " __syncwarp(); LOG", " LOG"])
        early = rng.choice(["", "", "if (B(0)) return; "])
        print(f'extern "C" __global__ void o_{number}(int *m) {{ '
              f"int lane = threadIdx.x, n = 0, one = m[128 + lane]; {early}{body}{tail} }}")


def masks(rng):
    for number in range(KERNELS):
        for _ in range(SETS):
            threads = rng.choice([2, 3, 4, 4, 5, 8, 32])
            words = [rng.getrandbits(32) if rng.random() < 0.8 else rng.choice([1, 2, 4, 8, 3, 0xFFFFFFFE])
                     for _ in range(MASKS)]
            print(number, threads, *words, *[rng.randint(0, 2) for _ in range(COUNTS)])


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("KERNELS", "MASKS"):
        sys.exit("usage: orders.py KERNELS > FILE.cu, or orders.py MASKS > FILE.txt")
    (kernels if sys.argv[1] == "KERNELS" else masks)(random.Random(5 if sys.argv[1] == "KERNELS" else 9))


if __name__ == "__main__":
    main()
