#!/usr/bin/env python3
"""Writes CUDA kernels whose lanes wait for each other in divergent regions: progress.py SEED COUNT > FILE.cu

Each kernel is a list of events in an order: one role sets a flag, others wait for it, or all meet at a __syncwarp(). A role is a lane, each lane of a
residue, or a part of the warp. So a kernel ends if each lane gets its turn. Where the events stand is drawn by lot: in branches one after another, in an else-if chain, a
switch, nested branches, a loop, a function that isn't inlined, before an early return; and how a lane waits: with volatile loads or atomics of global or shared memory, with a break, a flag, a count, a fence,
a vote. Whether a kernel ends on a GPU shows which lanes get turns there. A kernel's name is FORM_ROLES_BLOCK_NUMBER; validation/hardware/lanes.cu runs it.
"""
import random
import sys

LOADS = ["((volatile int *)m)[{}]", "s[{}]", "atomicAdd(m + {}, 0)", "atomicAdd((int *)s + {}, 0)", "atomicCAS(m + {}, -1, 0)",
         "atomicOr((int *)s + {}, 0)", "atomicMin(m + {}, 1000)"]
SHARED = (1, 3, 5)
STORES = {True: ["s[{}] = {};", "atomicExch((int *)s + {}, {});", "__threadfence_block(); s[{}] = {};"],
          False: ["((volatile int *)m)[{}] = {};", "atomicExch(m + {}, {});", "__threadfence(); ((volatile int *)m)[{}] = {};",
                  "atomicMax(m + {}, {});"]}
WAITS = [
    "while ({load} < {value});",
    "while ({load} < {value}) x = x * 3 + 1;",
    "do x++; while ({load} < {value});",
    "for (;;) {{ if ({load} >= {value}) break; }}",
    "for (;;) {{ x++; if ({load} >= {value}) break; x ^= 5; }}",
    "for (bool done = false; !done;) {{ if ({load} >= {value}) {{ x += 7; done = true; }} }}",
    "for (int c = 0; {load} < {value} && c < 2000000000; c++);",
    "for (int c = 0; ({load} < {value}) & (c < 2000000000); c++);",
    "while ({load} < {value}) __threadfence_block();",
    "while ({load} < {value}) {{ if (x & 1) m[63] = x; x++; }}",
    "while ({load} < {value}) x += __popc(__activemask());",
    "while (true) {{ int v = {load}; if (v >= {value}) break; if (v < -1) return; }}",
]


class Maker:
    def __init__(self, rng, number):
        self.rng, self.number = rng, number
        self.roles = rng.choice([2, 2, 2, 3, 3, 4])
        self.kind = rng.choice(["lane", "lane", "residue", "part"])
        self.block = rng.choice([32, 32, 32, self.roles, self.roles + 3]) if self.kind == "lane" else 32
        self.flags, self.functions = 0, []
        self.load = rng.choice(range(len(LOADS)))

    def test(self, role):
        if self.kind == "lane":
            return f"lane == {role}"
        return f"lane % {self.roles} == {role}" if self.kind == "residue" else f"lane / {32 // self.roles} == {role}"

    def wait(self, flag, value):
        load = self.load if self.rng.random() < 0.7 else (self.load + 2) % len(LOADS)
        if (load in SHARED) != (self.load in SHARED):
            load = self.load
        return self.rng.choice(WAITS[:8] if self.rng.random() < 0.7 else WAITS).format(load=LOADS[load].format(flag), value=value)

    def set(self, flag, value):
        return self.rng.choice(STORES[self.load in SHARED]).format(flag, value)

    def events(self, value):
        """Statements of each role: flags are set and waited for in one order."""
        todo = {role: [] for role in range(self.roles)}
        for _ in range(self.rng.choice([1, 2, 2, 3])):
            flag, setter = self.flags % 32, self.rng.randrange(self.roles)
            self.flags += 1
            others = [role for role in range(self.roles) if role != setter]
            waiters = self.rng.sample(others, self.rng.randint(1, len(others)))
            if self.rng.random() < 0.3:
                todo[setter].append("x = x * 5 + lane;")
            todo[setter].append(self.set(flag, value))
            for waiter in waiters:
                todo[waiter].append(self.wait(flag, value))
        return todo

    def arms(self, todo):
        order = [role for role in todo if todo[role]]
        self.rng.shuffle(order)
        return order

    def chain(self, value, joined):
        todo, lines = self.events(value), []
        for place, role in enumerate(self.arms(todo)):
            lines += [f"{'else ' if joined and place else ''}if ({self.test(role)}) {{"] + todo[role] + ["}"]
        return lines

    def switch(self, value):
        todo = self.events(value)
        number = {"lane": "lane", "residue": f"lane % {self.roles}", "part": f"lane / {32 // self.roles}"}[self.kind]
        lines = [f"switch ({number}) {{"]
        for role in self.arms(todo):
            lines += [f"case {role}:"] + todo[role] + ["break;"]
        return lines + ["}"]

    def nested(self, value):
        todo = self.events(value)
        order = list(todo)
        self.rng.shuffle(order)
        first, rest = order[0], order[1:]
        inner = []
        for role in rest:
            inner += [f"if ({self.test(role)}) {{"] + todo[role] + ["x ^= lane;", "}"]
        lines = [f"if (!({self.test(first)})) {{"] + inner
        if self.rng.random() < 0.5:
            return lines + ["x += 3;", "} else {"] + todo[first] + ["}"]
        return lines + ["x += 3;", "}", f"if ({self.test(first)}) {{"] + todo[first] + ["}"]

    def loop(self, value):
        times = self.rng.choice([2, 3, 5])
        inside = self.segment(self.rng.choice(["chain", "ifs", "switch", "nested"]), "i + 1")
        if self.rng.random() < 0.4:
            inside.append("__syncwarp(members);")
        return ["#pragma unroll 1", f"for (int i = 0; i < {times}; i++) {{"] + inside + ["}"]

    def call(self, value):
        todo, lines = self.events(value), []
        for role in self.arms(todo):
            name = f"f{self.number}_{len(self.functions)}"
            self.functions.append([f"static __device__ __noinline__ int {name}(int *m, volatile int *s, int x, int lane) {{"]
                                  + [text.replace("return;", "return x;") for text in todo[role]] + ["return x + 1;", "}"])
            lines.append(f"if ({self.test(role)}) x += {name}(m, s, x, lane);")
        return lines

    def breaks(self, value):
        todo, lines = self.events(value), ["#pragma unroll 1", "for (int k = 0; k < 4; k++) {"]
        for role in self.arms(todo):
            lines += [f"if ({self.test(role)}) {{"] + todo[role] + ["break;", "}"]
        return lines + ["x += k;", "}"]

    def returns(self, value):
        todo = self.events(value)
        order = self.arms(todo)
        lines = []
        for role in order[:1]:
            lines += [f"if ({self.test(role)}) {{"] + todo[role] + ["m[40 + lane % 8] = x;", "return;", "}"]
        for role in order[1:]:
            lines += [f"if ({self.test(role)}) {{"] + todo[role] + ["}"]
        return lines

    def segment(self, form, value="1"):
        if form in ("chain", "ifs"):
            return self.chain(value, form == "chain")
        return getattr(self, form)(value)

    def kernel(self):
        rng = self.rng
        form = FORMS[self.number % len(FORMS)]
        forms = [form] if form == "returns" else [form] + rng.choices(["chain", "ifs", "nested", "switch"], k=rng.choice([0, 0, 1]))
        lines = []
        for place, each in enumerate(forms):
            if place and rng.random() < 0.5:
                lines.append("__syncwarp(members);")
            lines += self.segment(each)
        if form != "returns" and rng.random() < 0.4:
            lines.append(rng.choice(["__syncwarp(members);", "x += __popc(__ballot_sync(members, x > 3));", "__syncthreads();",
                                     "x += __shfl_xor_sync(members, x, 1);"]))
        name = f"{form}_{self.roles}_{self.block}_{self.number}"
        members = (1 << self.block) - 1
        head = [f'extern "C" __global__ void {name}(int *m) {{', "__shared__ volatile int s[32];", "int lane = threadIdx.x, x = lane;",
                "for (int i = lane; i < 32; i += blockDim.x)", "s[i] = 0;", f"const unsigned members = 0x{members:x}u;", "(void)members;", "__syncthreads();"]
        body = head + lines + ["m[32 + lane % 8] = 1;", "m[62] = x;", "}"]
        return [line for function in self.functions for line in function] + body


FORMS = ["chain", "ifs", "switch", "nested", "loop", "loop", "call", "breaks", "returns", "chain"]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: progress.py SEED COUNT > FILE.cu")
    rng = random.Random(int(sys.argv[1]))
    print(f"// Made by validation/hardware/progress.py {' '.join(sys.argv[1:])}")
    for number in range(int(sys.argv[2])):
        print("\n".join(Maker(rng, number).kernel()))


if __name__ == "__main__":
    main()
