# Sourced by the test scripts: TAP points. A script calls `plan N` first and `finish` last.
# shellcheck shell=sh

number=0
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

plan() {
  echo "1..$1"
}

# point NAME MESSAGES: passes if there are no messages.
point() {
  number=$((number + 1))
  if test -z "$2"; then
    echo "ok $number - $1"
  else
    failed=1
    echo "not ok $number - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
  fi
}

# expect NAME STATUS PATTERN COMMAND...: COMMAND must exit with STATUS, and a line of its output or messages must match
# the extended regular expression PATTERN. What it printed stays in $folder/out and $folder/err.
expect() {
  expect_name=$1
  expect_status=$2
  expect_pattern=$3
  shift 3
  status=0
  "$@" >"$folder/out" 2>"$folder/err" </dev/null || status=$?
  complaint=
  if test "$status" != "$expect_status"; then
    complaint="exit status $status, expected $expect_status"
  elif ! cat "$folder/out" "$folder/err" | grep -qE -- "$expect_pattern"; then
    complaint="nothing matches: $expect_pattern"
  fi
  test -z "$complaint" || complaint="$*
$complaint
$(head -c 2000 "$folder/out")
$(head -c 2000 "$folder/err")"
  point "$expect_name" "$complaint"
}

finish() {
  exit $failed
}
