#!/bin/sh
# `lockstep check` on the programs of the slides and of the blog (TAP, two points for each machine): each ends as it
# expects under nine schedules (on two machines, under three), with no data race but where one is listed; and each race that is listed is found.
set -eu
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/check_set.sh"
cd "$SRCDIR"

# On a SIMT stack these hang before they come to the race.
hanging="
naive
naive_blocks
"

# options_of FILE SCHEDULES: how it is checked. The blog's counter with four blocks, since 32 take a minute; barriers at a GPU's capacity on one of 16 SMs.
options_of() {
  case $(sed -n 's/^params: {blocks: \([0-9]*\).*/\1/p' "$1") in
  32*) params='-p blocks=4' ;;
  264*) params='-p blocks=32 -s gpu.sms=16' ;;
  265*) params='-p blocks=33 -s gpu.sms=16' ;;
  *) params= ;;
  esac
  case ${1##*/} in
  # A block more than fits hangs under each schedule, and all that takes long is the proof, which is the same for each.
  barrier_over_capacity*) echo "--schedules 3 $params" ;;
  *) echo "$2 $params" ;;
  esac
}

check_all() { # check_all MACHINE HIDDEN: complaints go to $folder/wrong and $folder/missed
  # The other two are like these.
  case $1 in
  gtx1080ti | h200) schedules="--schedules 9" ;;
  *) schedules="--schedules 3" ;;
  esac
  for file in $(grep -l "^machines:.*\<$1\>" traces/slides/*.yaml traces/blog/*.yaml); do
    echo "$(options_of "$file" "$schedules");$file"
  done | LC_ALL=C sort >"$folder/runs"
  cut -d';' -f1 "$folder/runs" | uniq | while read -r options; do
    # shellcheck disable=SC2046 # one word for each file
    check_together data-race "$1" "$options" $(sed -n "s/^$options *;//p" "$folder/runs") </dev/null
  done >"$folder/complaints"
  grep -v ': no data-race$' "$folder/complaints" >"$folder/wrong" || :
  grep ': no data-race$' "$folder/complaints" | while read -r file rest; do
    name=${file##*/}
    case " $2 " in
      *"
${name%.yaml}
"*) ;;
      *) echo "$file $rest" ;;
    esac
  done >"$folder/missed"
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
