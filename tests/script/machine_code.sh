#!/bin/sh
# Machine code on the command line: which form of a program runs, what is said of it, and what can't run (TAP). An nvcc isn't needed: a
# script stands for it, which gives what was recorded of traces/blog.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$folder"
unset LOCKSTEP_DATA

cat >nvcc <<EOF
#!/bin/sh
echo "\$*" >>"$folder/asked"
while test \$# -gt 1; do
  case \$1 in
  -cubin) form=sm_90.cubin ;;
  -ptx) form=ptx ;;
  -o) into=\$2 ;;
  esac
  shift
done
case \$1 in
*pointers.cu) cat "$SRCDIR/tests/machine_code/pointers.\$form" >"\$into" ;;
*) cat "$SRCDIR/traces/blog/counter.\$form" >"\$into" ;;
esac
EOF
chmod +x nvcc
NVCC=$folder/nvcc
export NVCC
cp "$SRCDIR/traces/blog/counter.cu" "$SRCDIR/traces/blog/counter.ptx" .
cp "$SRCDIR/tests/machine_code/spin_lock.sm_80.sass" listing.sass
launch="--kernel counter_naive --grid 1 --block 32 --buffer locked=1 --buffer total=1 --arg locked --arg total"

plan 63
# shellcheck disable=SC2086 # options
{
  expect "CUDA source runs as machine code" 0 'code +machine code of sm_90, compiled by nvcc' "$LOCKSTEP" run counter.cu \
    -m h200 $launch
  point "for which nvcc is asked" "$(grep -q -- '-cubin -lineinfo -arch=sm_90 .* counter.cu$' asked || cat asked)"
  expect "--code ptx" 0 'code +PTX, as --code says' "$LOCKSTEP" run counter.cu -m h200 --code ptx $launch
  expect "a machine that nvcc makes no code for" 1 'code +PTX: nvcc makes no machine code' "$LOCKSTEP" check counter.cu \
    -m gtx1060 $launch --limit-seconds 20
  expect "PTX runs as PTX" 0 '^counter on h200: completed' "$LOCKSTEP" run counter.ptx -m h200 $launch
  point "and says nothing of it" "$(grep 'machine code' out || :)"
  expect "nothing beside it" 3 'neither counter.sm_90.sass nor counter.sm_90.cubin' "$LOCKSTEP" run counter.ptx -m h200 \
    --code sass $launch
  cp "$SRCDIR/traces/blog/counter.sm_90.cubin" .
  expect "a cubin beside it" 0 'code +machine code of sm_90' "$LOCKSTEP" run counter.ptx -m h200 --code sass $launch
  expect "a cubin" 0 '^counter.sm_90 on h200: completed' "$LOCKSTEP" run counter.sm_90.cubin -m h200 $launch
  expect "whose check says what it can't" 0 'code +machine code without its PTX: missing fences' "$LOCKSTEP" check counter.sm_90.cubin \
    -m h200 $launch --schedules 1
  cp "$SRCDIR/tests/corpus/cuda_pipes.sm_90.cubin" "$SRCDIR/tests/corpus/cuda_pipes.ptx" "$SRCDIR/tests/corpus/cuda_pipes.cu" .
  ring="-m h200 --kernel ring_without_fences --grid 2 --block 32 --buffer ring=6 --buffer total=1 --arg ring --arg total --arg 12 --schedules 1"
  expect "with its PTX" 1 'code +machine code of sm_90; races and misuse are looked for in its PTX' "$LOCKSTEP" check cuda_pipes.ptx --code sass $ring
  point "whose races are found, by their lines" "$(grep -q '^cuda_pipes.cu:30: warning: data-race: .* a fence is missing' out || cat out)"
  expect "a swap of what was changed and changed back" 0 'cuda_stale_swap.cu:24: warning: stale-swap: ' "$LOCKSTEP" check \
    "$SRCDIR/tests/corpus/cuda_stale_swap.yaml" -m h200 --code sass
  expect "of another generation" 3 'no machine code that runs on a GPU of compute capability 8.6, only sm_90' "$LOCKSTEP" run \
    counter.sm_90.cubin -m rtx3070 $launch
  expect "a listing" 0 'ATOM.E.CAS.STRONG.GPU' "$LOCKSTEP" show listing.sass --kernel lock_gpu
  expect "that lacks data" 3 'kernel .lock_cpu. reads constant bank [34], and the listing' "$LOCKSTEP" show listing.sass \
    --kernel lock_cpu
  cp "$SRCDIR/tests/machine_code/pointers.cu" .
  calls="--kernel by_table --grid 1 --block 32 --buffer out=32 --buffer in=32 --arg out --arg in"
  expect "calls through pointers, which PTX can't run" 0 '^pointers on h200: completed' "$LOCKSTEP" run pointers.cu -m h200 $calls
  expect "and says so" 3 'a call through a register isn.t supported' "$LOCKSTEP" run pointers.cu -m h200 --code ptx $calls
  cp "$SRCDIR/traces/blog/counter.sm_86.cubin" "$SRCDIR/tests/machine_code/add.packed.fatbin" "$SRCDIR/tests/machine_code/add.lz4.fatbin" .
  cp "$SRCDIR/tests/machine_code/add.object" add.o
  expect "machine code for another machine" 0 'code +machine code of sm_86' "$LOCKSTEP" run counter.ptx -m rtx3070 \
    --code sass $launch
  adds="--grid 1 --block 32 --buffer sum=1 --buffer values=32:2 --arg sum --arg values"
  expect "an object of the host" 0 'code +machine code of sm_80' "$LOCKSTEP" run add.o -m rtx3070 $adds
  expect "its other architecture" 0 'code +machine code of sm_90' "$LOCKSTEP" run add.o -m h200 $adds
  cp add.o executable
  expect "a file without an ending" 0 '^executable on h200: completed' "$LOCKSTEP" run executable -m h200 $adds
  expect "no entry for the machine" 3 'that runs on a GPU of compute capability 6.1, only sm_80, sm_90' "$LOCKSTEP" run add.o \
    -m gtx1060 $adds
  # compressed NAME LIBRARY MACHINE PATTERN: what is compressed runs, or lockstep was built without the library.
  compressed() {
    if grep -q "HAVE_$(echo "$2" | tr a-z A-Z) 1" "$BUILDDIR/config.h"; then
      expect "compressed with $2, on $3" 0 "$4" "$LOCKSTEP" run "$1" -m "$3" $adds
    else
      expect "compressed with $2, on $3" 3 "built without lib$2" "$LOCKSTEP" run "$1" -m "$3" $adds
    fi
  }
  compressed add.packed.fatbin zstd rtx3070 'code +machine code of sm_80'
  compressed add.lz4.fatbin lz4 rtx3070 'code +machine code of sm_80'
  compressed add.lz4.fatbin lz4 h200 'code +PTX: it has no machine code for that machine'
  { head -c 1800 add.lz4.fatbin && head -c 216 /dev/zero; } >damaged.fatbin
  for code in "" "--code ptx"; do
    # shellcheck disable=SC2086 # an option and its value
    expect "damaged PTX $code" 3 'its PTX of compute_90 can.t be read: it is compressed' "$LOCKSTEP" run damaged.fatbin -m h200 $code $adds
  done
  cp "$SRCDIR/tests/machine_code/add.linked.object" linked.o
  expect "linked, with the PTX of its object" 0 'code +machine code of sm_90; races and misuse are looked for in its PTX' \
    "$LOCKSTEP" check linked.o -m h200 $adds
  cat "$SRCDIR/traces/mbarrier/ring.fatbin" "$SRCDIR/tests/machine_code/plain.fatbin" >two.fatbin
  expect "of several source files, without a name" 2 'lockstep: error: two.fatbin has code of 2 source files with kernels: say which' \
    "$LOCKSTEP" run two.fatbin -m h200 $adds
  expect "with one" 0 '^two on h200: completed' "$LOCKSTEP" run two.fatbin -m h200 --kernel add $adds
  expect "with a wrong one" 3 'did you mean `add`' "$LOCKSTEP" run two.fatbin -m h200 --kernel ad $adds
  expect "no PTX in it" 3 'it has no PTX that can be read, which --code ptx asks for' "$LOCKSTEP" run add.o -m h200 --code ptx $adds
  expect "no CUDA in it" 3 'there is no CUDA code in it: it has no section ..nv_fatbin' "$LOCKSTEP" run "$(command -v env)" -m h200 $adds
  head -c 700 "$SRCDIR/traces/mbarrier/ring.fatbin" >cut.fatbin
  expect "cut off" 3 'the fat binary is cut off, or has an unknown form, at byte 0 of it' "$LOCKSTEP" run cut.fatbin -m h200 $adds
  expect "a file of another kind" 3 'or a file with CUDA code' "$LOCKSTEP" run asked -m h200 $adds
  corpus=$SRCDIR/tests/corpus
  expect "a register that is unset where it doesn't matter" 0 '^as expected' "$LOCKSTEP" run $corpus/cuda_unset_decided_live.yaml \
    -m h200 --code sass
  expect "one that matters" 0 'cuda_unset_decided.cu:26: warning: unset-register' "$LOCKSTEP" run $corpus/cuda_unset_decided.yaml \
    -m h200 --code sass
  cluster="$LOCKSTEP run $SRCDIR/tests/machine_code/cluster.sm_90.cubin -m h200 --block 1 --buffer out=2 --arg out --grid"
  expect "a cluster of two blocks" 0 '^cluster.sm_90 on h200: completed' $cluster 2 --kernel pairs
  expect "half a cluster" 2 'the grid has 1 blocks in x, which isn.t a multiple of the cluster.s 2' $cluster 1 --kernel pairs
  expect "clusters of other sizes" 2 'clusters of 1 x 1 x 1 blocks, and its kernel is for clusters of 2 x 1 x 1' \
    $cluster 2 --kernel pairs --cluster 1
  expect "clusters of sixteen" 2 'clusters of 16 blocks, h200 can have 8 .*not portable' $cluster 16 --kernel meets --cluster 16
  expect "a cluster of one" 0 '^cluster.sm_90 on h200: completed' $cluster 2 --kernel alone
  for kernel in meets meets_alone; do
    expect "and its barrier, $kernel" 0 '^cluster.sm_90 on h200: completed' "$LOCKSTEP" check "$SRCDIR/tests/machine_code/cluster.sm_90.cubin" \
      -m h200 --kernel $kernel --grid 1 --block 64 --buffer out=64 --arg out
  done
  expect "an instruction that isn't read" 3 'aren.t modelled: .*LDSM.*, 1 use' "$LOCKSTEP" run \
    "$SRCDIR/tests/machine_code/matrix.sm_90.cubin" -m h200 $adds
  for kernel in phases halves sums; do
    for sm in 80 86 90; do
      case $sm in
      90) machine=h200 ;;
      *) machine=rtx3070 ;;
      esac
      expect "plain loads that race with nothing, $kernel of sm_$sm" 0 "^looks.sm_$sm on $machine: completed" "$LOCKSTEP" check \
        "$SRCDIR/tests/machine_code/looks.sm_$sm.cubin" -m $machine --kernel $kernel --grid 1 --block 64 --buffer out=64 --arg out
    done
  done
  launch2="--grid 2 --block 32 --buffer out=80 --arg out"
  for run in "sm_80 -m rtx3070 -s gpu.compute_capability=80" "sm_90 -m h200"; do
    # shellcheck disable=SC2086 # options
    set -- $run
    arch=$1
    shift
    expect "a half that a compare-and-swap checks, $arch" 0 "^looks.$arch on .*: completed" "$LOCKSTEP" check \
      "$SRCDIR/tests/machine_code/looks.$arch.cubin" "$@" --kernel counts $launch2
    expect "one that is kept, $arch" 1 "looks.cu:[0-9]*: warning: data-race" "$LOCKSTEP" check \
      "$SRCDIR/tests/machine_code/looks.$arch.cubin" "$@" --kernel kept $launch2
  done
  bare="--kernel lock_gpu --grid 1 --block 32 --buffer locked=1 --buffer total=1 --arg locked"
  expect "arguments of a listing that doesn't name them" 0 '^listing on rtx3070: completed' "$LOCKSTEP" run listing.sass \
    -m rtx3070 $bare --arg total
  expect "too few of them" 2 'reads 16 bytes of arguments, 8 given .8 for an address, 4 for a number' "$LOCKSTEP" run \
    listing.sass -m rtx3070 $bare
  expect "an argument that a cubin misses" 2 'parameter .argument 0. .*is missing: add --arg' "$LOCKSTEP" run \
    "$SRCDIR/tests/machine_code/sorted.sm_90.cubin" -m h200 --grid 1 --block 32
  expect "a kind that there isn't" 2 'did you mean `sass`' "$LOCKSTEP" run counter.cu -m h200 --code sas $launch
}
finish
