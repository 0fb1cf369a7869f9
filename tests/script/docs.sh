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

# Document $1 shows what its examples really print on standard output: the lines below each, up to `...`, another
# example or the end.
shown_output() {
  rm -f "$folder"/command* "$folder"/shown*
  awk '
    /^    \$ lockstep / { n++; showing = 1; print substr($0, 7) >(folder "/command" n); next }
    showing && /^    \.\.\.$/ { showing = 0; next }
    showing && /^    / { print substr($0, 5) >(folder "/shown" n); next }
    { showing = 0 }' folder="$folder" "$1"
  for shown in "$folder"/shown*; do
    test -e "$shown" || continue
    command=$folder/command${shown##*shown}
    (cd "$SRCDIR" && eval "$(cat "$command")") >"$folder/printed" 2>/dev/null </dev/null || :
    head -n "$(wc -l <"$shown")" "$folder/printed" | diff "$shown" - || cat "$command"
  done
}

missing_links() { # complains about the links of document $1 to files that aren't there
  grep -o '](\([^)#]*\)' "$1" | cut -c3- | while read -r link; do
    case $link in
    http*) ;;
    *) test -e "$(dirname "$1")/$link" || echo "no $link" ;;
    esac
  done
}

# shellcheck disable=SC2086 # one word for each document
set -- $documents
plan $(($# * 3 + 5))
for document; do
  name=${document#"$SRCDIR"/}
  point "examples of $name" "$(run_examples "$document")"
  point "output in $name" "$(shown_output "$document")"
  point "links of $name" "$(missing_links "$document")"
done
for page in isa ptx-forms machine counters findings; do
  point "doc/$page.md is up to date" "$(compare "doc/$page.md" lockstep doc "$page")"
done
finish
