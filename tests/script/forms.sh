#!/bin/sh
# Each scenario for an h200 whose PTX has machine code beside it, as PTX and as machine code: verdict and findings of
# `lockstep check --schedules 1`, beside what a real H200 did where that was recorded (validation/hardware/run_ptx_h200.csv,
# run_code_h200.csv). They must be those of tests/machine_code/forms.csv, in which each row that differs has a reason
# (doc/machine_code.md says what the reasons mean). TAP; UPDATE=yes writes the file anew and keeps its reasons.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
recorded=tests/machine_code/forms.csv
hardware="validation/hardware/run_ptx_h200.csv validation/hardware/run_code_h200.csv"

# Long runs, whose kernels other scenarios run, too.
slow="barrier_over_capacity_h200 barrier_capacity_h200 cuda_slow_fence_live flight_stale flight_stale_live atomic_add lanes lanes_fence
cuda_polled_rounds_nobody cuda_two_tries_warps cuda_kept_two cuda_still_gives_up_live cuda_dispatch_ticket_groups_live cuda_dispatch_index_groups lanes_volatile lanes_fences lanes_volatile_fences
nested_small_together maximum_server cuda_reduction_rounds"

scenarios() {
  for file in $(grep -l '^machines:.*h200' tests/corpus/*.yaml tests/divergent/*.yaml traces/*/*.yaml); do
    program=$(sed -n 's/^program: *\(.*\)\.ptx$/\1/p' "$file")
    name=${file##*/}
    test -n "$program" && test -f "${file%/*}/$program.sm_90.cubin" || continue
    case " $(echo $slow) " in
    *" ${name%.yaml} "*) ;;
    *) echo "$file" ;;
    esac
  done
}

# look CODE: `NAME,VERDICT,FINDINGS` of each scenario, findings in the order of their names.
look() {
  # shellcheck disable=SC2046 # one word for each file
  "$LOCKSTEP" check $(cat "$folder/scenarios") -m h200 --code "$1" --schedules 1 -j 2 --format json \
    >"$folder/$1.json" 2>"$folder/$1.err" || :
  awk -F'"' '
    /^  "file" :/ { name = $4; sub(/\.yaml$/, "", name) }
    /^  "verdict" :/ { verdict = $4 }
    /^  "findings" :/ { print name "," verdict "," }
    /^      "id" :/ { print name "," verdict "," $4 }' "$folder/$1.json" | LC_ALL=C sort -u | awk -F, '
    $1 != name { if (name != "") print name "," verdict "," found; name = $1; verdict = $2; found = "" }
    { found = found (found == "" || $3 == "" ? "" : " ") $3 }
    END { if (name != "") print name "," verdict "," found }' >"$folder/$1.csv"
}

# What all runs of the GPU ended as; empty: none was recorded.
# shellcheck disable=SC2086 # two files
awk -F, '/^t/ { outcome[$1] = outcome[$1] == "" || outcome[$1] == $2 ? $2 : "either" }
  END { for (name in outcome) print name "," outcome[name] }' $hardware >"$folder/gpu.csv"

# The program: ends_alike() is true if the verdict is how the GPU ended, or that wasn't recorded.
ends='function ends_alike(verdict, gpu) {
    if (gpu != "completed" && gpu != "hung" && gpu != "fault") return 1
    return gpu == (verdict == "completed" || verdict == "fault" ? verdict : "hung")
  }
'


scenarios >"$folder/scenarios"
look ptx
look sass
{
  echo "scenario,ptx,ptx findings,machine code,machine code findings,h200,reason"
  awk -F, "$ends"'
    function verdict(row) { sub(/,.*/, "", row); return row }
    FILENAME ~ /ptx.csv$/ { ptx[$1] = $2 "," $3 }
    FILENAME ~ /sass.csv$/ { sass[$1] = $2 "," $3 }
    FILENAME ~ /gpu.csv$/ { gpu[$1] = $2 }
    FILENAME ~ /forms.csv$/ { reason[$1] = $7 }
    FILENAME ~ /scenarios$/ {
      name = $1
      sub(/\.yaml$/, "", name)
      if (!(name in ptx)) ptx[name] = "refused,"
      if (!(name in sass)) sass[name] = "refused,"
      print name "," ptx[name] "," sass[name] "," gpu[name] "," (ptx[name] == sass[name] && ends_alike(verdict(sass[name]), gpu[name]) ? "" : reason[name])
    }' "$folder/ptx.csv" "$folder/sass.csv" "$folder/gpu.csv" "$recorded" "$folder/scenarios"
} >"$folder/now.csv"
test "${UPDATE:-}" != yes || cp "$folder/now.csv" "$recorded"

plan 3
point "verdicts and findings as recorded" "$(diff "$recorded" "$folder/now.csv" || :)"
point "each difference between PTX and machine code has a reason" "$(awk -F, 'NR > 1 && $2 "," $3 != $4 "," $5 && $7 == ""' "$recorded")"
point "so has each end of machine code that isn't that of the H200" "$(awk -F, "$ends"'NR > 1 && !ends_alike($4, $6) && $7 == ""' "$recorded")"
finish
