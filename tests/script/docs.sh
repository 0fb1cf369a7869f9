#!/bin/sh
# The documents hold: each example (a line "$ lockstep ...") runs, and generated pages are what the program generates
# (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
documents=$(find "$SRCDIR/README.md" "$SRCDIR/doc" -name '*.md' -o -name '*.adoc' | sort)

# shellcheck disable=SC2317 # called by name
lockstep() {
  "$LOCKSTEP" "$@"
}

run_examples() { # complains about the examples of document $1 that don't run
  sed -n 's/^ *\$ \(lockstep .*\)/\1/p' "$1" | while read -r example; do
    status=0
    (cd "$SRCDIR" && eval "$example") >"$folder/out" 2>&1 </dev/null || status=$?
    case $status in
    0 | 1 | 4) ;;
    *) echo "$example: exit status $status" && head -5 "$folder/out" ;;
    esac
  done
}

compare() { # complains if document $1 isn't what the rest of the arguments print
  page=$1
  shift
  "$@" >"$folder/page"
  diff -u "$SRCDIR/$page" "$folder/page" || echo "run \`make update-docs\`"
}

# shellcheck disable=SC2086 # one word for each document
set -- $documents
plan $(($# + 4))
for document; do
  point "examples of ${document#"$SRCDIR"/}" "$(run_examples "$document")"
done
for page in isa machine counters findings; do
  point "doc/$page.md is up to date" "$(compare "doc/$page.md" lockstep doc "$page")"
done
finish
