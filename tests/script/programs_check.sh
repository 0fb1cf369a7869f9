#!/bin/sh
# `lockstep check` on the programs of the slides and of the blog (TAP, two points for each machine): each ends as it
# expects under every schedule (on two machines, under three), with no data race but where one is listed; and each race that is listed is found.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# On a SIMT stack these hang before they come to the race.
hanging="
naive
naive_blocks
"

# The blog's counter with four blocks, since 32 take a minute; barriers at a GPU's capacity on one of 16 SMs.
check_all() { # check_all MACHINE HIDDEN: complaints go to $folder/wrong and $folder/missed
  : >"$folder/wrong"
  : >"$folder/missed"
  # The other two are like these.
  case $1 in
  gtx1080ti | h200) schedules="--seeds 1" ;;
  *) schedules="--schedules 3" ;;
  esac
  for file in $(grep -l "^machines:.*\<$1\>" traces/slides/*.yaml traces/blog/*.yaml); do
    name=${file##*/}
    name=${name%.yaml}
    # A block more than fits hangs under each schedule, and all that takes long is the proof, which is the same for each.
    tried=$schedules
    test "${name#barrier_over_capacity}" = "$name" || tried="--schedules 3"
    params=
    ! grep -q '^params: {blocks: 32' "$file" || params='-p blocks=4'
    ! grep -q '^params: {blocks: 264' "$file" || params='-p blocks=32 -s gpu.sms=16'
    ! grep -q '^params: {blocks: 265' "$file" || params='-p blocks=33 -s gpu.sms=16'
    # shellcheck disable=SC2086 # some words
    "$LOCKSTEP" check "$file" -m "$1" $tried $params >"$folder/out" 2>"$folder/err" || {
      echo "$file: exit status $?"
      grep -A3 '^not as expected' "$folder/out" || head -3 "$folder/err"
    } >>"$folder/wrong"
    if ! grep -q 'findings:.*data-race' "$file" || grep -q 'warning: data-race: ' "$folder/out"; then
      continue
    fi
    case " $2 " in
      *"
$name
"*) ;;
      *) echo "$file: no data race" >>"$folder/missed" ;;
    esac
  done
}

plan 8
for machine in gtx1080ti gtx1060 rtx3070 h200; do
  case $machine in
    gtx*) check_all "$machine" "$hanging" ;;
    *) check_all "$machine" '' ;;
  esac
  point "as expected under check on $machine" "$(cat "$folder/wrong")"
  point "each data race that is listed, on $machine" "$(cat "$folder/missed")"
done
finish
