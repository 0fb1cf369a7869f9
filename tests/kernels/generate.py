#!/usr/bin/env python3
"""Writes expressions.h: seeded random expressions over all types, one function each, C and CUDA alike.

    ./generate.py > expressions.h
"""
import random

random.seed(20261121)
TYPES = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"]
WIDTH = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64}
COUNT, DEPTH = 64, 5


def cast(kind, text):
    return f"(({kind})({text}))"


def unsigned(kind):
    return {8: "u32", 16: "u32", 32: "u32", 64: "u64"}[WIDTH[kind]]


def integer(kind, depth):
    if depth == 0 or random.random() < 0.1:
        choice = random.random()
        if choice < 0.25:
            return cast(kind, str(random.choice([0, 1, 2, 3, 5, 7, 31, 63, 127, 255, 4095, 65535, 1000003])) + "u")
        return cast(kind, random.choice(["a", "b", "c", "d", "tid"]))
    wide = unsigned(kind)
    x = lambda k=kind: integer(k, depth - 1)
    pick = random.randrange(16)
    if pick < 3:
        op = random.choice(["+", "-", "*"])
        return cast(kind, f"({wide}){x()} {op} ({wide}){x()}")
    if pick < 5:
        return cast(kind, f"{x()} {random.choice(['&', '|', '^'])} {x()}")
    if pick == 5:
        return cast(kind, f"~{x()}")
    if pick == 6:
        return cast(kind, f"({wide}){x()} << ((u32){x()} & {WIDTH[kind] - 1})")
    if pick == 7:
        return cast(kind, f"{x()} >> ((u32){x()} & {WIDTH[kind] - 1})")
    if pick == 8:
        divisor = f"({x()} | 1)" if kind[0] == "u" else f"(({x()} & 63) + 1)"
        return cast(kind, f"{x()} {random.choice(['/', '%'])} {divisor}")
    if pick == 9:
        return cast(kind, f"{x()} {random.choice(['<', '<=', '==', '!=', '>', '>='])} {x()} ? {x()} : {x()}")
    if pick == 10:
        return f"{random.choice(['least', 'most'])}_{kind}({x()}, {x()})"
    if pick == 11:
        other = random.choice([k for k in WIDTH if k != kind])
        return cast(kind, integer(other, depth - 1))
    if pick == 12:
        source = random.choice(["f32", "f64"])
        return f"from_{source}_{kind}({floating(source, depth - 1)})"
    if pick == 13 and WIDTH[kind] >= 32:
        return f"rotate_{wide}(({wide}){x()}, (u32){x()})" if kind[0] == "u" else cast(kind, f"rotate_{wide}(({wide}){x()}, 9u)")
    if pick == 14:
        return cast(kind, f"high_u32((u32){x('u32')}, (u32){x('u32')})")
    return cast(kind, f"({wide}){x()} * ({wide}){x()} + ({wide}){x()}")


def floating(kind, depth):
    if depth == 0 or random.random() < 0.1:
        return cast(kind, f"({random.choice(['s32', 'u32', 's64', 'u16', 's8'])}){random.choice(['a', 'b', 'c', 'd'])}")
    x = lambda: floating(kind, depth - 1)
    pick = random.randrange(9)
    if pick < 4:
        return cast(kind, f"{x()} {random.choice('+-*')} {x()}")
    if pick == 4:
        return cast(kind, f"{x()} / {x()}")
    if pick == 5:
        return cast(kind, f"{x()} {random.choice(['<', '>=', '=='])} {x()} ? {x()} : {x()}")
    if pick == 6:
        return f"fused_{kind}({x()}, {x()}, {x()})"
    if pick == 7:
        other = "f64" if kind == "f32" else "f32"
        return cast(kind, floating(other, depth - 1))
    return cast(kind, f"-{x()}")


print("/* Random expressions, written by generate.py. Included by bodies.h. */")
for i in range(COUNT):
    kind = TYPES[i % len(TYPES)]
    text = floating(kind, DEPTH) if kind[0] == "f" else integer(kind, DEPTH)
    print(f"BODY {kind} expression_{i}(u64 a, u64 b, u64 c, u64 d, u32 tid) {{")
    print("  (void)a, (void)b, (void)c, (void)d, (void)tid;")
    print(f"  return {text};")
    print("}")
print("#define EXPRESSIONS(X) \\")
for i in range(COUNT):
    print(f"  X({i}, {TYPES[i % len(TYPES)]})" + (" \\" if i + 1 < COUNT else ""))
