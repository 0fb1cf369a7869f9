#!/usr/bin/env python3
"""Writes CUDA kernels whose lanes must take turns: lanes.py SEED COUNT > FILE.cu

Each kernel is a little program for two to four lanes of one warp. A lane does one to four steps; a step exchanges a word of
memory, and what it finds there decides which step comes next. Lanes that have no steps are idle: where they go is part of
the form of the kernel. Every kernel ends if each lane gets its turn again and again (the generator explores all its states),
and hangs under some order of turns. Whether it does on a GPU shows which lanes get turns there: ptxas places YIELD and
convergence barriers, and the hardware chooses who goes on (doc/warps.md, "Lane groups").

Forms: goto (branches as they come), machine (a loop around a switch over the step), loops (a `do while` for each step
that goes back to itself, no other jumps), each with the lanes' programs in one else-if chain or in ifs one after another;
sleep (a loop with __nanosleep), syncwarp (all lanes meet behind their programs, then a second program follows).
A kernel's name is FORM_LANES_BLOCK_NUMBER; it is launched with one block of BLOCK threads.
"""
import random
import sys

WORDS = 2
FORMS = ["goto", "flag", "machine", "loops", "ladder", "else", "returns", "round", "stay",
         "sleep", "syncwarp"]


def steps_of(rng, lanes, form):
    """A program for each lane: steps (word, written, compared, target). The target is taken if what was there is equal. What
    isn't written (None) is only read, by an atomic add of 0; a step that compares with None goes on to the next."""
    programs = []
    for _ in range(lanes):
        count = rng.randint(1, 4)
        program = []
        for at in range(count):
            target = at if form in ("loops", "sleep", "syncwarp") else rng.randint(0, count)
            if form in ("loops", "sleep", "syncwarp") and rng.random() < 0.4:
                target = at + 1
            written = None if rng.random() < 0.3 else rng.randint(0, 2)
            compared = None if rng.random() < 0.2 else rng.randint(0, 2)
            program.append((rng.randrange(WORDS), written, compared, at + 1 if compared is None else target))
        programs.append(program)
    return programs


def step(programs, state, lane):
    memory, at = state
    word, written, compared, target = programs[lane][at[lane]]
    where = target if memory[word] == compared else at[lane] + 1
    left = memory[word] if written is None else written
    return (memory[:word] + (left,) + memory[word + 1:], at[:lane] + (where,) + at[lane + 1:])


def explore(programs):
    start = ((0,) * WORDS, (0,) * len(programs))
    edges, todo = {}, [start]
    while todo:
        state = todo.pop()
        if state in edges:
            continue
        alive = [lane for lane in range(len(programs)) if state[1][lane] < len(programs[lane])]
        edges[state] = [(lane, step(programs, state, lane)) for lane in alive]
        todo += [to for _, to in edges[state]]
    return edges


def components(edges):
    """Strongly connected components (Tarjan, iterative)."""
    index, low, stack, on, result = {}, {}, [], set(), []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for _, to in rest:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(edges[to])))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = set()
                    while True:
                        to = stack.pop()
                        on.discard(to)
                        part.add(to)
                        if to == node:
                            break
                    result.append(part)
    return result


def wanted(programs):
    """Ends if every lane gets turns, and some unfair order keeps it from ending."""
    edges = explore(programs)
    unfair = False
    for part in components(edges):
        inside = {lane for state in part for lane, to in edges[state] if to in part}
        if not inside:
            continue
        unfair = True
        alive = {lane for lane, _ in edges[next(iter(part))]}
        if inside == alive:
            return False
    return unfair


def exchange(part):
    word, written, _, _ = part
    return f"atomicAdd(m + {word}, 0)" if written is None else f"atomicExch(m + {word}, {written})"


def choice(part, at):
    """An expression for the step that follows."""
    if part[2] is None:
        return f"({exchange(part)}, {at + 1})"
    return f"{exchange(part)} == {part[2]} ? {part[3]} : {at + 1}"


def decision(part, taken, other):
    if part[2] is None:
        return [f"        {exchange(part)};", f"        {other};"]
    return [f"        if ({exchange(part)} == {part[2]}) {taken}; else {other};"]


def body_goto(lane, program, tag):
    lines, targets = [], {part[3] for part in program if part[2] is not None}
    for at, part in enumerate(program):
        if at in targets:
            lines.append(f"  {tag}{lane}_{at}:")
        if part[2] is None:
            lines.append(f"    {exchange(part)};")
            continue
        lines.append(f"    if ({exchange(part)} == {part[2]})")
        lines.append(f"      goto {tag}{lane}_{part[3]};")
    if len(program) in targets:
        lines.append(f"  {tag}{lane}_{len(program)}:;")
    return lines


def body_machine(lane, program, tag):
    lines = [f"    for (int at = 0; at < {len(program)};) {{", "      switch (at) {"]
    for at, part in enumerate(program):
        lines.append(f"      case {at}: at = {choice(part, at)}; break;")
    return lines + ["      }", "    }"]


def body_loops(lane, program, tag, sleep=False):
    lines = []
    for at, part in enumerate(program):
        if part[3] != at or part[2] is None:
            lines.append(f"    {exchange(part)};")
        elif sleep:
            lines.append(f"    while ({exchange(part)} == {part[2]}) __nanosleep(20);")
        else:
            lines.append(f"    while ({exchange(part)} == {part[2]});")
    return lines


def body_ladder(lane, program, tag):
    """A loop that asks for each step in turn; the steps that a round has done make room for the next."""
    lines = ["    for (int at = 0;;) {"]
    for at, part in enumerate(program):
        lines.append(f"      if (at == {at}) at = {choice(part, at)};")
    return lines + [f"      if (at >= {len(program)}) break;", "    }"]


def body_else(lane, program, tag):
    lines = ["    for (int at = 0, over = 0; !over;) {"]
    for at, part in enumerate(program):
        lines.append(f"      {'else ' if at else ''}if (at == {at}) {{")
        lines += decision(part, f"at = {part[3]}", f"at = {at + 1}")
        lines.append("      }")
    return lines + ["      else over = 1;", "    }"]


def body_flag(lane, program, tag):
    """A switch whose last case says that it is over, which the next round asks."""
    lines = ["    int at = 0, over = 0;", "    while (true) {", "      if (over) break;", "      switch (at) {"]
    for at, part in enumerate(program):
        lines.append(f"      case {at}:")
        lines += decision(part, f"at = {part[3]}", f"at = {at + 1}") + ["        break;"]
    return lines + [f"      case {len(program)}: over = 1; break;", "      }", "    }"]


def body_returns(lane, program, tag):
    """As a ladder, with returns where a lane has done."""
    lines = ["    for (int at = 0;;) {"]
    for at, part in enumerate(program):
        taken = "return" if part[3] == len(program) else f"at = {part[3]}"
        other = "return" if at + 1 == len(program) else f"at = {at + 1}"
        lines.append(f"      if (at == {at}) {{")
        lines += decision(part, taken, other)
        lines.append("      }")
    return lines + ["    }"]


BODIES = {"goto": body_goto, "machine": body_machine, "ladder": body_ladder, "else": body_else, "returns": body_returns,
          "flag": body_flag}


def body(form, lane, program, tag):
    if form in BODIES:
        return BODIES[form](lane, program, tag)
    return body_loops(lane, program, tag, form == "sleep")


def whole(form, programs, order, offset):
    """One loop for all lanes: round (idle lanes leave it at once), stay (idle lanes never come to it)."""
    most = max(len(program) for program in programs)
    lines = ["  int lane = threadIdx.x;"]
    if form == "stay":
        lines.append(f"  if (lane < {offset} || lane >= {len(programs) + offset}) {{ m[60] = lane; return; }}")
    lines.append("  for (int at = 0;;) {")
    for lane in order:
        lines.append(f"    if (lane == {lane + offset}) {{")
        for at, part in enumerate(programs[lane]):
            lines.append(f"      {'else ' if at else ''}if (at == {at}) at = "
                         f"{choice(part, at)};")
        lines.append(f"      if (at >= {len(programs[lane])}) break;" if form == "stay" else
                     f"      if (at >= {len(programs[lane])}) at = {most};")
        lines.append("    }")
    if form == "round":
        lines.append(f"    if (lane < {offset} || lane >= {len(programs) + offset}) at = {most};")
        lines.append(f"    if (at >= {most}) break;")
    return lines + ["  }"]


def chain(form, programs, order, chained, tag, offset):
    lines = []
    for place, lane in enumerate(order):
        head = "else if" if chained and place else "if"
        lines.append(f"  {head} (threadIdx.x == {lane + offset}) {{")
        lines += body(form, lane, programs[lane], tag)
        lines.append("  }")
    return lines


def kernel(rng, form, number):
    lanes = rng.choice([2, 2, 3, 3, 4])
    while True:
        programs = steps_of(rng, lanes, form)
        if wanted(programs):
            break
    idle = rng.choice([0, 0, 1, 2, 28])
    offset = rng.choice([0, 0, 1]) if idle else 0
    order = list(range(lanes))
    rng.shuffle(order)
    block = lanes + idle
    lines = [f'extern "C" __global__ void {form}_{lanes}_{block}_{number}(int *m) {{']
    if form in ("round", "stay"):
        lines += whole(form, programs, order, offset)
    else:
        lines += chain(form, programs, order, rng.random() < 0.6, "s", offset)
    if form == "syncwarp":
        lines.append("  __syncwarp();")
        lines.append("  m += 2;")
        lines += chain("loops", programs, order[::-1], rng.random() < 0.5, "t", offset)
    if rng.random() < 0.3:
        lines.append("  m[4 + threadIdx.x] = 1;")
    return lines + ["}"]


def main():
    if len(sys.argv) < 3 or set(sys.argv[3:]) - set(FORMS):
        sys.exit(f"usage: lanes.py SEED COUNT [FORM...] > FILE.cu\nforms: {' '.join(FORMS)}")
    rng = random.Random(int(sys.argv[1]))
    print(f"// Made by validation/hardware/lanes.py {' '.join(sys.argv[1:])}")
    forms = sys.argv[3:] or FORMS
    for number in range(int(sys.argv[2])):
        print("\n".join(kernel(rng, forms[number % len(forms)], number)))


if __name__ == "__main__":
    main()
