#!/bin/sh
# PTX and CUDA programs on the command line: what a launch needs, machines, nvcc, places, what is reported (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"
unset LOCKSTEP_DATA NVCC

# A kernel that writes out[thread] = n.
cat >fill.ptx <<'EOF'
.version 9.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 total;
.visible .entry fill(
  .param .u64 fill_out,
  .param .u32 fill_n
)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<6>;
  .loc 1 5 3
  ld.param.u64 %rd1, [fill_out];
  ld.param.u32 %r1, [fill_n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  cvta.to.global.u64 %rd3, %rd1;
  add.s64 %rd4, %rd3, %rd2;
  .loc 1 6 3
  st.global.u32 [%rd4], %r1;
  mov.u64 %rd5, total;
  atom.global.add.u32 %r3, [%rd5], 1;
  ret;
}
.file 1 "fill.cu"
EOF
cat >fill.cu <<'EOF'
// The PTX beside this was written by hand.
__device__ unsigned total;

extern "C" __global__ void fill(unsigned *out, unsigned n) {
  unsigned i = threadIdx.x;
  out[i] = n;
  atomicAdd(&total, 1);
}
EOF
sed 's/fill/other/g; s/total/sum/g' fill.ptx | sed '1,3d; /^.file/d' >tail.ptx
cat fill.ptx tail.ptx >two.ptx
sed 's/^{$/.maxntid 64\n{/' fill.ptx >small.ptx
cat >fill.yaml <<'EOF'
about: fill, with a module variable
program: fill.ptx
buffers: {out: {words: 32}}
launches: [{grid: 2, block: 32, args: [out, 7]}]
machines: [h200, gtx1080ti]
expect: {verdict: completed, findings: [data-race], buffers: {out: {sum: 7 * 32}, total: [64]}}
EOF
sed 's/grid: 2, block: 32/grid: 265, block: 1024, cooperative: true/' fill.yaml >coop.yaml
# Stands for nvcc: copies the PTX beside the .cu, tells what it was asked for, and fails on what isn't CUDA.
mkdir bin temporary
cat >bin/nvcc <<'EOF'
#!/bin/sh
echo "$*" >>asked
while test $# -gt 1; do
  test "$1" != -o || into=$2
  shift
done
if grep -q oops "$1"; then
  echo "$1(3): error: identifier \"oops\" is undefined" >&2
  echo "1 error detected in the compilation of \"$1\"." >&2
  exit 2
fi
cat fill.ptx >"$into"
EOF
chmod +x bin/nvcc
printf '\n\noops\n' >bad.cu

launch="--grid 1 --block 32 --buffer out=64 --arg out --arg 7"
plan 32
# shellcheck disable=SC2086 # options
{
  expect "no grid and block" 2 'kernel .fill. has no grid: add --grid N' "$LOCKSTEP" run fill.ptx -m h200
  expect "no machine" 2 'no machine named for .fill.ptx., whose target is sm_75' "$LOCKSTEP" run fill.ptx $launch
  expect "a missing argument has a name" 2 'takes 2 arguments, 1 given; parameter .fill_n. \(u32\) is missing: add --arg' \
    "$LOCKSTEP" run fill.ptx -m h200 --grid 1 --block 32 --buffer out=64 --arg out
  expect "too many arguments" 2 'takes 2 arguments, of which parameter .fill_n. \(u32\) is the last' "$LOCKSTEP" run fill.ptx \
    -m h200 $launch --arg 1
  expect "an address for a number" 2 'parameter .fill_n. \(u32\) can.t take buffer .out., an address' "$LOCKSTEP" \
    run fill.ptx -m h200 --grid 1 --block 32 --buffer out=64 --arg out --arg out
  expect "a number out of range" 2 'parameter .fill_n. \(u32\) is .*, expected -2147483648 to 4294967295' "$LOCKSTEP" \
    run fill.ptx -m h200 --grid 1 --block 32 --buffer out=64 --arg out --arg 0x100000000
  expect "several kernels" 2 'has 2 kernels: say which with --kernel NAME' "$LOCKSTEP" run two.ptx -m h200 $launch
  expect "one of several" 0 '^two on h200: completed' "$LOCKSTEP" run two.ptx -m h200 $launch --kernel other
  expect "too large a block" 2 'the block has 128 threads, kernel .fill. allows at most 64' "$LOCKSTEP" run small.ptx \
    -m h200 --grid 1 --block 128 --buffer out=128 --arg out --arg 1
  for machine in gtx1080ti gtx1060 rtx3070 h200; do
    expect "a run on $machine" 0 "^fill on $machine: completed" "$LOCKSTEP" run fill.ptx -m $machine $launch
  done
  expect "an older machine is a note" 0 '^fill.ptx: note: the program is for sm_75, newer than gtx1080ti' "$LOCKSTEP" \
    check fill.ptx -m gtx1080ti $launch
  point "the note comes once" "$(test "$(grep -c note: err)" = 1 || cat err)"
  expect "a scenario, with a module variable" 0 '^as expected' "$LOCKSTEP" run fill.yaml
  expect "a scenario on another machine" 0 '^as expected' "$LOCKSTEP" run fill.yaml -m gtx1080ti
  expect "a cooperative launch that can't be resident" 3 \
    '^coop.yaml:4:12: error: a cooperative launch of 265 blocks, but h200 holds at most 264' "$LOCKSTEP" run coop.yaml
  expect "occupancy" 0 '^  occupancy +2  blocks per SM \(limited by warps\), 64 of 64 warps, ' "$LOCKSTEP" run fill.ptx \
    -m h200 --grid 1 --block 1024 --buffer out=1024 --arg out --arg 1
  expect "occupancy of small blocks" 0 '"blocks_per_sm" : 16' "$LOCKSTEP" run fill.ptx -m h200 --grid 1 --block 128 \
    --buffer out=128 --arg out --arg 1 --format json
  expect "a finding names the line of the .cu" 1 '^fill.cu:6: error: fault' "$LOCKSTEP" run fill.ptx -m h200 --grid 1 \
    --block 32 --buffer out=16 --arg out --arg 7
  point "and shows it" "$(grep -q '6 | out\[i\] = n;' out || cat out)"
  expect "PTX as it was read" 0 '^.target sm_75' "$LOCKSTEP" show fill.ptx
  expect "PTX as a machine runs it" 0 'EXIT' "$LOCKSTEP" show fill.ptx -m h200
  expect "its control flow graph" 0 '^digraph' "$LOCKSTEP" show fill.ptx -m h200 --cfg

  PATH=$folder/bin:$PATH
  TMPDIR=$folder/temporary
  export TMPDIR
  expect "CUDA source" 0 '^fill on rtx3070: completed' "$LOCKSTEP" run fill.cu --code ptx -m rtx3070 $launch
  point "is compiled once, for the machine" "$(grep -c . asked | grep -qx 1 &&
    grep -q -- '-ptx -lineinfo -arch=sm_86 .* fill.cu$' asked || cat asked)"
  point "and leaves nothing" "$(ls temporary)"
  expect "what nvcc complains of" 3 '^bad.cu:3: error: nvcc: identifier "oops" is undefined' "$LOCKSTEP" run bad.cu \
    -m h200 $launch
  expect "a compiler that isn't there" 3 'fill.cu: error: can.t run nvcc' env NVCC="$folder/none" "$LOCKSTEP" run fill.cu \
    -m h200 $launch
  expect "no nvcc" 3 'nvcc -ptx -lineinfo -arch=sm_90 fill.cu' env PATH=/nowhere CUDA_HOME=/nowhere "$LOCKSTEP" run \
    fill.cu -m h200 $launch
  mkdir cuda
  cp -r bin cuda/bin
  expect "nvcc where CUDA_HOME says" 0 '^fill on h200: completed' env PATH="$(echo "$PATH" | sed 's/[^:]*://')" \
    CUDA_HOME="$folder/cuda" "$LOCKSTEP" run fill.cu --code ptx -m h200 $launch
}
finish
