#!/bin/sh
# Bad input of every kind gives one clear message with its place and the right exit status, within 2 seconds of processor time and 200 MB
# (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"

# The sanitizers reserve more address space than any limit allows.
if ! grep -q __asan_init "$LOCKSTEP"; then
  # shellcheck disable=SC3045 # dash and bash have it
  ulimit -v 204800
  MALLOC_ARENA_MAX=1 # a second thread's arena would take half of it
  export MALLOC_ARENA_MAX
fi

# shellcheck disable=SC2317 # called by name
lockstep() {
  # shellcheck disable=SC3045
  (ulimit -t 2 && exec timeout 60 "$LOCKSTEP" "$@")
}

program() { # program NAME: a bare program of two warps with the lines of standard input as its body
  { printf '.target sm_20\n.kernel k\n.shared 64\n.grid 1\n.block 64\n' && cat && printf '  EXIT;\n'; } >"$1.sass"
}

scenario() { # scenario NAME GRID BLOCK: launches good.sass
  printf 'about: test\nprogram: good.sass\nlaunches:\n  - kernel: k\n    grid: %s\n    block: %s\n' "$2" "$3" >"$1.yaml"
}

machine() { # machine NAME: a machine made of the lines of standard input
  { printf 'name: %s\nabout: test\n' "$1" && cat; } >"$1.yaml"
}

program good <<'END'
  S2R R0, SR_TID_X;
END
program opcode <<'END'
  IADDD R0, RZ, RZ;
END
program operand <<'END'
  IADD R0, P1, RZ;
END
program branch <<'END'
  BRA 0x4000;
END
program register <<'END'
  IADD R64, RZ, RZ;
END
program several <<'END'
  IADDD R0, RZ, RZ;
  BRA nowhere;
  IADD R64, RZ, RZ;
END
program outside <<'END'
  MOV32I R0, 0x10000;
  LDS R1, [R0];
END
program misaligned <<'END'
  MOV32I R0, 0x2;
  LDS R1, [R0];
END
machine key <<'END'
base: gtx570
sm: {lock_unti: {bits: 5}}
END
machine unit <<'END'
base: gtx570
sm: {shared: {bytes: 48 cycles}}
END
machine range <<'END'
base: gtx570
sm: {lock_unit: {bits: 0}}
END
machine ring <<'END'
base: ./ring2.yaml
END
machine ring2 <<'END'
base: ./ring.yaml
END
scenario grid 100000000 32
scenario zero 0 32
scenario block 1 2048
printf 'about: test\nprogram: good.sass\nlaunchs: []\n' >key_scenario.yaml
printf 'about: test\nprogram: missing.sass\nlaunches:\n  - {kernel: k, grid: 1, block: 32}\n' >no_program.yaml
mkdir -p directory.yaml directory.sass
head -c 65536 "$LOCKSTEP" >garbage.sass
cp garbage.sass garbage.yaml
head -c 100000000 /dev/zero | tr '\0' '[' >nested.yaml
head -c 100000000 /dev/zero | tr '\0' '(' >nested.sass

printf '.version 9.0\n.target sm_75\n.address_size 64\n.entry k { ret; }\n' >good.ptx
printf '.version 9.0\n.target sm_75\n.entry k {\n  adt.s32;\n  ret;\n}\n' >bad.ptx
printf '.version 9.0\n.target sm_75\n.entry k {\n  mma.sync;\n  ret;\n}\n' >matrix.ptx


# 64 words of local memory for each of 67,584 threads: 17 MB if each lane has its own, 1 GB if their pages were there before.
cat >local.ptx <<'END'
.version 9.0
.target sm_90
.address_size 64
.visible .entry k() {
  .local .align 4 .b8 array[16384];
  .reg .u32 %r<4>; .reg .u64 %l<4>;
  mov.u32 %r1, %laneid;
  mov.u64 %l1, array;
  st.local.u32 [%l1+8192], %r1;
  ret;
}
END

# 50,000 words of shared memory on each of 66 SMs, all written: 106 MB if each word has its own record of who changed it.
cat >shared.ptx <<'END'
.version 9.0
.target sm_90
.address_size 64
.extern .shared .align 4 .b8 array[];
.visible .entry k() {
  .reg .u32 %r<6>; .reg .pred %p<2>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, array;
loop:
  shl.b32 %r2, %r1, 2;
  add.u32 %r2, %r2, %r3;
  add.u32 %r4, %r1, 1;
  st.shared.u32 [%r2], %r4;
  add.u32 %r1, %r1, 1024;
  setp.lt.u32 %p1, %r1, 50000;
  @%p1 bra loop;
  ret;
}
END

printf "\001\000\002\003" >bytes.cubin
limited() { # limited NAME LIMITS: a scenario of good.sass whose grid is the param `size`
  printf 'program: good.sass\nparams: {size: 4, least: 2}\nlimits:\n  %s\n' "$2" >"$1.yaml"
  printf 'launches:\n  - {grid: size, block: 32}\n' >>"$1.yaml"
}
limited limits 'size: {least: least, most: 64, multiple: 4, power: true}'
limited limits_name 'sizes: {least: 1}'
limited limits_least 'size: {most: 8}'
limited limits_most 'size: {least: 1, most: 0}'
plan 43
expect "a param within its limits" 0 '^as expected|: completed' lockstep run limits.yaml -p size=32
expect "a param that is too large" 3 \
  '^limits.yaml:4:3: error: param `size` is 128, expected a power of two, a multiple of 4, 2 to 64' \
  lockstep run limits.yaml -p size=128
expect "a param that is too small" 3 'param `size` is -4, expected' lockstep run limits.yaml -p size=-4
expect "a param that is no power of two" 3 'param `size` is 12, expected' lockstep run limits.yaml -p size=12
expect "a param that is no multiple" 3 'param `size` is 2, expected' lockstep run limits.yaml -p size=2
expect "a limit of no param" 3 '^limits_name.yaml:4:3: error: limits: no param is called `sizes`' \
  lockstep run limits_name.yaml
expect "a limit without least" 3 '^limits_least.yaml:4:3: error: the limit has no `least`' \
  lockstep run limits_least.yaml
expect "limits that nothing meets" 3 '^limits_most.yaml:4:[0-9]+: error: most is 0, expected 1 to ' \
  lockstep run limits_most.yaml
expect "misspelt machine key" 3 '^(\./)?key.yaml:4:[0-9]+: error: .*lock_unti' lockstep run good.sass -m ./key.yaml
expect "nearest key" 3 'did you mean .*lock_unit' lockstep run good.sass -m ./key.yaml
expect "misspelt scenario key" 3 '^key_scenario.yaml:3:1: error: .*launchs' lockstep run key_scenario.yaml
expect "wrong unit" 3 '^(\./)?unit.yaml:4:[0-9]+: error: ' lockstep machine check ./unit.yaml
expect "value out of range" 3 '^(\./)?range.yaml:4:[0-9]+: error: ' lockstep machine check ./range.yaml
expect "inheritance cycle" 3 '^(\./)?ring2?.yaml:3:[0-9]+: error: ' lockstep machine check ./ring.yaml
expect "bad override" 2 'sm.lock_unit.bits' lockstep run good.sass -s sm.lock_unit.bits=many
expect "unknown override" 2 'sm.lock_unit.bit' lockstep run good.sass -s sm.lock_unit.bit=1
expect "missing file" 3 '^missing.yaml: error: ' lockstep run missing.yaml
expect "missing machine" 2 'gtx571' lockstep run good.sass -m gtx571
expect "missing program" 3 '^no_program.yaml:2:[0-9]+: error: .*missing.sass' lockstep run no_program.yaml
expect "bytes that are no cubin" 3 "^bytes.cubin: error: neither a cubin nor a listing" lockstep show bytes.cubin -m h200
expect "directory as scenario" 3 '^directory.yaml: error: .*directory' lockstep run directory.yaml
expect "directory as program" 3 '^directory.sass: error: .*directory' lockstep run directory.sass
expect "garbage as program" 3 '^garbage.sass:[0-9]+:[0-9]+: error: ' lockstep run garbage.sass
expect "garbage as scenario" 3 '^garbage.yaml:[0-9]+:[0-9]+: error: |^garbage.yaml: error: ' lockstep run garbage.yaml
expect "garbage as machine" 3 '^(\./)?garbage.yaml:[0-9]+:[0-9]+: error: |^(\./)?garbage.yaml: error: ' lockstep machine check ./garbage.yaml
expect "nested scenario" 3 '^nested.yaml:?.* error: ' lockstep run nested.yaml
expect "nested program" 3 '^nested.sass:?.* error: ' lockstep run nested.sass
expect "unknown opcode" 3 '^opcode.sass:6:3: error: .*IADDD' lockstep run opcode.sass
expect "wrong operand kind" 3 '^operand.sass:6:[0-9]+: error: .*P1' lockstep run operand.sass
expect "branch to nowhere" 3 '^branch.sass:6:[0-9]+: error: ' lockstep run branch.sass
expect "register above the limit" 3 '^register.sass:6:[0-9]+: error: .*R64' lockstep run register.sass
expect "several errors at once" 3 '^several.sass:8:[0-9]+: error: .*R64' lockstep run several.sass
expect "shared access out of bounds" 1 '^outside.sass:7: error: fault: ' lockstep run outside.sass
expect "misaligned access" 1 '^misaligned.sass:7: error: fault: ' lockstep run misaligned.sass
expect "grid too large" 3 '^grid.yaml:[0-9]+:[0-9]+: error: ' lockstep run grid.yaml
expect "zero blocks" 3 '^zero.yaml:[0-9]+:[0-9]+: error: ' lockstep run zero.yaml
expect "block above the limit" 3 '^block.yaml:[0-9]+:[0-9]+: error: ' lockstep run block.yaml
expect "PTX that isn't supported" 3 "^matrix.ptx:4:3: error: .mma.sync. isn't supported" lockstep run matrix.ptx
expect "nearest PTX instruction" 3 'did you mean .add' lockstep show bad.ptx
expect "PTX without a launch" 2 'kernel .k. has no grid: add --grid N' lockstep run good.ptx
expect "untouched local memory" 0 '^local on h200: completed' lockstep run local.ptx -m h200 --grid 66 --block 1024
# shellcheck disable=SC2317 # called by name
roomy() (
  # shellcheck disable=SC3045 # dash and bash have it
  ulimit -v 140000
  lockstep "$@"
)
if grep -q __asan_init "$LOCKSTEP"; then
  point "written shared memory" ""
else
  expect "written shared memory" 0 '^shared on h200: completed' \
    roomy run shared.ptx -m h200 --grid 66 --block 1024 --shared 200000
fi
# shellcheck disable=SC2317 # called by name
cramped() (
  # shellcheck disable=SC3045 # dash and bash have it
  ulimit -v 40000
  lockstep "$@"
)
if grep -q __asan_init "$LOCKSTEP"; then
  point "out of memory" ""
else
  expect "out of memory" 3 '^lockstep: error: out of memory: failed to allocate [0-9]+ bytes' \
    cramped run local.ptx -m h200 --grid 264 --block 1024
fi
finish
