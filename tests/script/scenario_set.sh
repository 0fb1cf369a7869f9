# What tests/script/corpus.sh and traces.sh share: many scenarios and bare programs, each on every machine that it names. Sourced.
# shellcheck shell=sh
# shellcheck disable=SC2154 # tap.sh has the folder
. "$SRCDIR/tests/script/tap.sh"
. "$SRCDIR/tests/script/machines_of.sh"

# scenario_set FILE...: a point for each file and machine. `lockstep run` must exit with 0, which means that each run ended as its file expects. The
# files of one machine run in one process, each for $scenario_limit cycles at most if that is set; if that fails, each runs alone.
scenario_set() {
  machines_of "$@" >"$folder/pairs"
  if test "$#" = 0; then
    plan 1
    point "there are some" "no file"
    return
  fi
  plan "$(wc -l <"$folder/pairs")"
  for machine in $(cut -d' ' -f2 "$folder/pairs" | sort -u); do
    files=$(awk -v machine="$machine" '$2 == machine { print $1 }' "$folder/pairs")
    together=0
    # shellcheck disable=SC2086 # one word for each file
    "$LOCKSTEP" run $files -m "$machine" ${scenario_limit:+--limit-cycles "$scenario_limit"} >/dev/null 2>&1 </dev/null || together=$?
    for file in $files; do
      test "$together" = 0 || alone "$file" "$machine"
      point "$file on $machine" "$(test "$together" = 0 || cat "$folder/complaint")"
    done
  done
}

# alone FILE MACHINE: what is wrong with one run goes to $folder/complaint.
alone() {
  status=0
  "$LOCKSTEP" run "$1" -m "$2" >"$folder/out" 2>&1 </dev/null || status=$?
  test "$status" = 0 || printf 'exit status %s\n' "$status" | cat - "$folder/out"
} >"$folder/complaint"
