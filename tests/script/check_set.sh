# What tests/script/corpus_check.sh and programs_check.sh share: `lockstep check` of many scenarios in one process. Sourced behind tap.sh.
# shellcheck shell=sh
# shellcheck disable=SC2154 # tap.sh has the folder

# check_together IDS MACHINE OPTIONS FILE...: complains about files that don't end as they expect, and about findings with these ids that they list and
# `check` doesn't say.
check_together() {
  ids=$1
  machine=$2
  options=$3
  shift 3
  # shellcheck disable=SC2086 # an option and its value
  "$LOCKSTEP" check "$@" -m "$machine" $options --format json >"$folder/out" 2>"$folder/err" || :
  grep -E '^  findings:' "$@" /dev/null >"$folder/listed" || :
  awk -v ids="$ids" -v machine="$machine" -v errors="$folder/err" '
    function complain(file, what) { print file " on " machine ": " what }
    FILENAME ~ /\/listed$/ {
      file = $0; sub(/:.*/, "", file)
      for (id in severity) if ($0 ~ "[^a-z-]" id "([^a-z-]|$)") listed[file, id]
      next
    }
    /^  "file" : / { split($0, part, "\""); file = part[4]; ran[file]; in_failures = 0 }
    /^  "exit_status" : / && $3 != "0," { complain(file, "exit status " $3) }
    /^  "failures" : \[$/ { in_failures = 1; next }
    /^  \]/ { in_failures = 0 }
    in_failures { complain(file, $0) }
    /^      "id" : / { split($0, part, "\""); id = part[4] }
    /^      "severity" : / { split($0, part, "\""); told[file, id, part[4]] }
    BEGIN {
      for (i = split(ids, part, " "); i > 0; i--) severity[part[i]] = part[i] == "speculative-load" ? "note" : "warning"
      for (i = 3; i < ARGC; i++) files[i] = ARGV[i]
      count = ARGC
      ARGC = 3
    }
    END {
      for (i = 3; i < count; i++) {
        if (!(files[i] in ran)) { complain(files[i], "no run"); refused = 1 }
        for (id in severity)
          if ((files[i], id) in listed && !((files[i], id, severity[id]) in told)) complain(files[i], "no " id)
      }
      while (refused && (getline line <errors) > 0)
        if (line ~ / error: /) print line
    }' "$folder/listed" "$folder/out" "$@"
}
