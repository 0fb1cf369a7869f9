#!/usr/bin/env python3
"""Writes the list that run_ptx.cu reads, from scenarios of machine MACHINE: scenarios.py MACHINE FILE.yaml... > LIST

Scenarios with steps of the CPU are left out. The list has one item a line, its words separated by blanks:
  case NAME                        a scenario
  module FILE.ptx
  buffer NAME WORDS INITIAL...     words; the others are 0
  launch KERNEL GX GY GZ BX BY BZ SHARED ARGUMENT...   a buffer's name or a number
"""
import re
import sys

import yaml

MASK = (1 << 64) - 1


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def random_words(seed, below, count):
    """SplitMix64, stream 0 (sim/engine/rng.h)."""
    state = mix((seed + 0x9E3779B97F4A7C15) & MASK) ^ mix(0xD1342543DE82EF95)
    words = []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        high = mix(state) >> 32
        words.append(high if below > 0xFFFFFFFF else high * below >> 32)
    return words


def value(text, params):
    if isinstance(text, int):
        return text
    if not re.fullmatch(r"[\w\s+*/%(),-]+", text):
        raise ValueError(f"not an expression: {text}")
    functions = {"min": min, "max": max, "__builtins__": {}}
    return int(eval(text.replace("/", "//"), functions, params))


def initial(init, words, params):
    if init is None:
        return []
    if init == "iota":
        return list(range(words))
    if isinstance(init, list):
        return [value(item, params) for item in init]
    if isinstance(init, dict):
        random = init["random"]
        return random_words(value(random.get("seed", 1), params), value(random.get("below", 1 << 32), params), words)
    return [value(init, params)] * words


def three(sizes, params):
    sizes = sizes if isinstance(sizes, list) else [sizes]
    return [value(size, params) for size in sizes] + [1] * (3 - len(sizes))


def show(path, scenario):
    folder = path.rsplit("/", 1)[0]
    params = {}
    for name, text in scenario.get("params", {}).items():
        params[name] = value(text, params)
    print("case", path.removesuffix(".yaml"))
    print("module", f"{folder}/{scenario['program']}")
    buffers = scenario.get("buffers", {})
    for name, buffer in buffers.items():
        words = value(buffer["words"], params)
        print("buffer", name, words, *(word & 0xFFFFFFFF for word in initial(buffer.get("init"), words, params)))
    for launch in scenario["launches"]:
        args = [arg if arg in buffers else value(arg, params) for arg in launch.get("args", [])]
        for _ in range(value(launch.get("times", 1), params)):
            print("launch", launch["kernel"], *three(launch["grid"], params), *three(launch["block"], params),
                  value(launch.get("shared", 0), params), *args)


for file in sys.argv[2:]:
    with open(file) as text:
        tree = yaml.safe_load(text)
    if sys.argv[1] in tree["machines"] and "host" not in tree and str(tree["program"]).endswith(".ptx"):
        show(file, tree)
