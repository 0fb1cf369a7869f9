#!/bin/sh
# Bad PTX and CUDA files, alone and in scenarios, and compilers that don't do their work: one clear message and the right exit
# status, within 5 seconds of processor time (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"
unset LOCKSTEP_DATA NVCC CUDA_HOME

# shellcheck disable=SC2317 # called by name
lockstep() {
  # shellcheck disable=SC3045 # dash and bash have it
  (ulimit -t 5 && exec timeout 60 "$LOCKSTEP" "$@")
}

head='.version 9.0\n.target sm_75\n.address_size 64\n'
megabytes() { # megabytes N CHARACTER
  head -c "$1"000000 /dev/zero | tr '\0' "$2"
}
# shellcheck disable=SC2059 # the formats have no arguments
{
  : >empty.ptx
  head -c 65536 "$LOCKSTEP" >garbage.ptx
  megabytes 5 a >name.ptx
  { printf "$head.entry k() {\n" && megabytes 5 a && printf '\nret; }\n'; } >line.ptx
  { printf "$head.entry k() { //" && megabytes 5 a && printf '\nret; }\n'; } >comment.ptx
  { printf "$head.entry k() { " && megabytes 5 '{'; } >nested.ptx
  printf "$head.entry k(.param .u64 out) {\n  .reg .b64 %%rd<3>;\n  ld.param.u64 %%rd1, [ou" >cut.ptx
  printf "$head.global .u32 p = generic(s);\n.shared .u32 s;\n.entry k() { ret; }\n" >initial.ptx
  printf "$head.global .u64 p = generic(s);\n.shared .u32 s;\n.visible .entry k() { ret; }\n" >unordered.ptx
  printf "$head.shared .u32 s;\n.visible .global .u64 p = generic(s);\n.entry k() { ret; }\n" >address.ptx
  printf "$head.global .u32 x;\n" >kernels.ptx
  printf "$head.entry old(.param .u64 p) { ret; }\n.entry new() {\n  .reg .b32 %%r<3>;\n" >two.ptx
  printf '  redux.sync.add.u32 %%r1, %%r2, -1;\n  fence.proxy.alias;\n  ret;\n}\n' >>two.ptx
  printf "$head.extern .func gone(.param .b32 a);\n.entry k(.param .u32 n) {\n  .reg .b32 %%r; .reg .pred %%p;\n" >gone.ptx
  printf '  .param .b32 a;\n  ld.param.u32 %%r, [n];\n  setp.eq.u32 %%p, %%r, 0;\n  @%%p call gone, (a);\n  ret;\n}\n' >>gone.ptx
  printf '__global__ void k() {}\n' >k.cu
}
mkdir folder.ptx folder.cu

scenario() { # scenario NAME PROGRAM LAUNCH...: a scenario with those launches
  name=$1
  printf 'about: test\nprogram: %s\nmachines: [h200]\nlaunches:\n' "$2" >"$name.yaml"
  shift 2
  for each; do printf '  - {grid: 1, block: 32, %s}\n' "$each" >>"$name.yaml"; done
}
scenario missing none.ptx ''
scenario broken cut.ptx ''
scenario fine two.ptx 'kernel: old, args: [1]'
scenario refused two.ptx 'kernel: old, args: [1]' 'kernel: new' 'kernel: new'
scenario nearest two.ptx 'kernel: olt'
scenario few two.ptx 'kernel: old'
scenario many two.ptx 'kernel: old, args: [1, 2]'
scenario type two.ptx 'kernel: old, args: [1.5]'
scenario struct two.ptx 'kernel: old, args: [{bytes: [1]}]'
scenario cuda k.cu ''

compiler() { # compiler NAME COMMANDS: stands for nvcc; $into is where its output belongs
  printf '#!/bin/sh\nwhile test $# -gt 1; do test "$1" != -o || into=$2; shift; done\n%s\n' "$2" >"$1"
  chmod +x "$1"
}
compiler silent 'exit 0'
compiler fails 'exit 3'
compiler killed 'kill -9 $$'
compiler removes 'rm "$into"'
compiler writes 'echo junk >"$into"'
compiler explains 'echo "k.cu(1): error: identifier is undefined" >&2; exit 2'
compiler shouts 'printf "\033[31mno \377 licence\n" >&2; exit 1'
compiler quotes 'echo "k.cu:2:10: fatal error: x.h: No such file or directory" >&2; exit 1'
compiler lacks 'echo "ptxas fatal   : Unresolved extern function __syncblocks" >&2; exit 1'
cp explains unreadable
chmod -x unreadable

plan 49
launch='--grid 1 --block 32'
# shellcheck disable=SC2086 # options
{
  expect "missing PTX" 3 '^none.ptx: error: no such file' lockstep run none.ptx -m h200 $launch
  expect "a folder" 3 '^folder.ptx: error: is a directory' lockstep run folder.ptx -m h200 $launch
  expect "empty PTX" 3 '^empty.ptx:1:1: error: expected `.version`.*found the end of the file' \
    lockstep run empty.ptx -m h200 $launch
  expect "garbage" 3 '^garbage.ptx:1:1: error: ' lockstep run garbage.ptx -m h200 $launch
  expect "nothing but a name" 3 '^name.ptx:1:1: error: .{1,200}$' lockstep run name.ptx -m h200 $launch
  expect "a name of 5 MB" 3 '^line.ptx:5:1: error: this name is longer than 1023 bytes: .{1,80}$' \
    lockstep run line.ptx -m h200 $launch
  expect "a comment of 5 MB" 0 'completed' lockstep run comment.ptx -m h200 $launch
  expect "5 million scopes" 3 '^nested.ptx:4:[0-9]+: error: ' lockstep run nested.ptx -m h200 $launch
  expect "PTX cut off" 3 '^cut.ptx:6:23: error: there is no `ou` here' lockstep run cut.ptx -m h200 $launch
  expect "and what isn't closed" 3 "^cut.ptx:4:8: error: the body of .k. has no end" lockstep show cut.ptx
  expect "no kernel" 3 '^kernels.ptx: error: there is no kernel' lockstep show kernels.ptx
  expect "a bad initial value" 3 '^initial.ptx:4:[0-9]+: error: ' lockstep run initial.ptx -m h200 $launch
  expect "a name before its declaration" 3 '^unordered.ptx:4:[0-9]+: error: .*`s`' lockstep show unordered.ptx
  expect "an address that isn't known" 3 '^address.ptx:5:[0-9]+: error: the address of the `.shared` variable `s`' \
    lockstep run address.ptx -m h200 $launch
  expect "unknown machine" 2 'there is no machine .h20.' lockstep run two.ptx -m h20 $launch --kernel old --arg 1
  expect "nearest machine" 2 'did you mean .h200.' lockstep run two.ptx -m h20 $launch --kernel old --arg 1
  expect "several kernels" 2 'kernels: `old`, `new`' lockstep run two.ptx -m h200 $launch
  expect "unknown kernel" 2 'unknown kernel .nev. in two.ptx' lockstep run two.ptx -m h200 $launch --kernel nev
  expect "nearest kernel" 2 'did you mean .new.' lockstep show two.ptx -m h200 --kernel nev
  expect "a refused kernel" 3 "^two.ptx:8:3: error: fence.proxy.alias isn't supported" \
    lockstep run two.ptx -m h200 $launch --kernel new
  expect "a call of what isn't there" 1 '^gone on h200: fault' lockstep run gone.ptx -m h200 $launch --arg 0
  point "is named" "$(grep -q 'a call of `gone`, which has no body' out || cat out)"
  expect "and is no error where nobody comes there" 0 '^gone on h200: completed' lockstep run gone.ptx -m h200 $launch --arg 1
  expect "an instruction that the machine lacks" 3 \
    '^two.ptx:7:3: error: redux needs compute capability 8.0, and the machine has 6.1' \
    lockstep show two.ptx -m gtx1080ti --kernel new
  expect "another kernel of the file" 0 '^two on gtx1080ti: completed' \
    lockstep run two.ptx -m gtx1080ti $launch --kernel old --arg 1
  expect "show tells which is refused" 3 '^two.ptx:5: note: kernel .new. is refused' lockstep show two.ptx -m h200
  point "and shows the others only" "$(test "$(grep '^.kernel' out)" = '.kernel old' || cat out)"
  expect "show one kernel" 0 '^.kernel old' lockstep show two.ptx -m h200 --kernel old

  expect "a scenario without its program" 3 '^missing.yaml:2:10: error: .*none.ptx' lockstep run missing.yaml
  expect "a scenario of broken PTX" 3 '^cut.ptx:6:' lockstep run broken.yaml
  expect "a scenario of the other kernel" 0 'completed' lockstep run fine.yaml
  expect "a scenario of the refused one" 3 "^two.ptx:8:3: error: fence.proxy.alias isn't supported" lockstep run refused.yaml
  point "it is told once" "$(test "$(grep -c proxy err)" = 1 || cat err)"
  expect "a scenario of no kernel" 3 '^nearest.yaml:5:[0-9]+: error: unknown kernel .olt.' lockstep run nearest.yaml
  expect "too few arguments" 3 '^few.yaml:5:5: error: .*takes 1 argument, 0 given; parameter .p. \(u64\)' lockstep run few.yaml
  expect "too many" 3 '^many.yaml:5:[0-9]+: error: .*takes 1 argument, of which parameter .p. \(u64\)' lockstep run many.yaml
  expect "a float for an address" 3 '^type.yaml:5:[0-9]+: error: parameter .p. \(u64\) can.t take .1.5.; expected a whole number' lockstep run type.yaml
  expect "a struct for an address" 3 '^struct.yaml:5:[0-9]+: error: .*has 8 bytes, 1 given' lockstep run struct.yaml

  expect "missing CUDA" 3 '^none.cu: error: no such file' lockstep run none.cu -m h200 $launch
  expect "nvcc can't be run" 3 "^k.cu: error: can't run nvcc: .*unreadable" env NVCC=./unreadable "$LOCKSTEP" run k.cu \
    -m h200 $launch
  expect "nvcc explains" 3 '^k.cu:1: error: nvcc: identifier is undefined' env NVCC=./explains "$LOCKSTEP" run cuda.yaml
  expect "what only a hypothetical machine has" 3 'runs as PTX: --code ptx' env NVCC=./lacks "$LOCKSTEP" run cuda.yaml
  expect "the compiler behind nvcc explains" 3 '^k.cu:2:10: error: nvcc: x.h: No such file' env NVCC=./quotes "$LOCKSTEP" \
    run cuda.yaml
  expect "nvcc prints what isn't text" 3 '^k.cu: error: nvcc: .x1b.31mno .xff licence' env NVCC=./shouts "$LOCKSTEP" run \
    k.cu -m h200 $launch
  for nvcc in fails killed; do
    expect "nvcc $nvcc" 3 '^k.cu: error: nvcc failed without a word: .*(code 3|signal 9)' env NVCC=./$nvcc "$LOCKSTEP" \
      run k.cu -m h200 $launch
  done
  for nvcc in silent removes; do
    expect "nvcc writes nothing: $nvcc" 3 "^k.cu: error: .*$nvcc. wrote no PTX" env NVCC=./$nvcc "$LOCKSTEP" run k.cu \
      -m h200 $launch
  done
  expect "nvcc writes junk" 3 '^k.cu \(PTX\):1:1: error: expected `.version`.*found `junk`' env NVCC=./writes "$LOCKSTEP" \
    run k.cu -m h200 $launch
}
finish
