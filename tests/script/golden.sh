#!/bin/sh
# Each tests/golden/NAME.txt starts with a command, "$ lockstep ...", and goes on with what it prints, messages included
# (TAP). UPDATE=yes takes what it prints now as right: `make update-golden`.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"

# shellcheck disable=SC2317 # the commands call it
lockstep() {
  "$LOCKSTEP" "$@"
}

check_golden() { # complains if the command in file $1 prints something else
  command=$(sed -n '1s/^\$ //p' "$1")
  { printf '$ %s\n' "$command" && { eval "$command" 2>&1 </dev/null || :; }; } >"$folder/now"
  if test "${UPDATE-}" = yes; then
    cmp -s "$1" "$folder/now" || cp "$folder/now" "$1"
  else
    diff -u "$1" "$folder/now" || echo "if this is right: make update-golden"
  fi
}

set -- tests/golden/*.txt
plan $#
for file; do
  name=${file##*/}
  point "${name%.txt}" "$(check_golden "$file")"
done
finish
