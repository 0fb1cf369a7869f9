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

compare() { # complains if document $1 isn't what the rest of the arguments print
  page=$1
  shift
  "$@" >"$folder/page"
  diff -u "$SRCDIR/$page" "$folder/page" || echo "run \`make update-docs\`"
}

# shellcheck disable=SC2317 # called by name
draw() { # prints the way of the requests of scenario $1
  lockstep run "$SRCDIR/$1" --timeline "$folder/way" >/dev/null
  awk -f "$SRCDIR/doc/way.awk" "$folder/way"
}

# Examples run in a folder that looks like the source's: what they leave there goes with it.
make_tree() {
  mkdir "$folder/tree"
  for entry in "$(cd "$SRCDIR" && pwd)"/*; do
    ln -s "$entry" "$folder/tree/"
  done
}

# The examples of document $1 run, and print on standard output what the document shows: the lines below each, up to
# `...`, another example or the end. Most show nothing. What several documents show runs once.
run_examples() {
  rm -f "$folder"/command* "$folder"/shown*
  awk '
    /^ *\$ lockstep / { n++; showing = /^    \$/; sub(/^ *\$ /, ""); print >(folder "/command" n); next }
    showing && /^    \.\.\.$/ { showing = 0; next }
    showing && /^    / { print substr($0, 5) >(folder "/shown" n); next }
    { showing = 0 }' folder="$folder" "$1"
  for command in "$folder"/command*; do
    test -e "$command" || continue
    # Pictures alone need gnuplot.
    ! grep -q '^lockstep plot' "$command" || command -v gnuplot >/dev/null || continue
    status=0
    printed=$folder/printed_$(cksum <"$command" | tr ' ' _)
    test -e "$printed" ||
      (cd "$folder/tree" && eval "$(cat "$command")") >"$printed" 2>"$folder/errors" </dev/null || status=$?
    case $status in
    0 | 1 | 4) ;;
    *) echo "exit status $status" && head -5 "$folder/errors" && cat "$command" ;;
    esac
    shown=$folder/shown${command##*command}
    test -e "$shown" || continue
    head -n "$(wc -l <"$shown")" "$printed" | diff "$shown" - || cat "$command"
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

# Options that `--help` of a command lists and that the manual page doesn't give to it: what it says of the option names
# other commands only, nor does what it says of the command name the option.
missing_options() {
  commands='run check draw rank sweep plot tune sensitivity validate machine show doc'
  for command in $commands; do
    lockstep "$command" --help | sed -n '/^Options:/,/^  -h/s/^ *\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' |
      awk -v command="$command" -v commands="$commands" '
        NR == FNR { wanted[$1] = 1; next }
        { colons = index($0, "::"); head = substr($0, 1, colons); text = substr($0, colons) }
        !colons { next }
        head == "*" command "*:" { own = text }
        { for (option in wanted)
            if (index(head, "*" option "*")) {
              found[option] = 1
              others = 0
              for (n = split(commands, names, " "); n; n--)
                others += index(text, "*" names[n] "*") > 0
              given[option] = !others || text ~ "[*]" command "( [a-z]+)?[*]"
            }
        }
        END { for (option in wanted)
            if (!(found[option] && given[option]) && !index(own, "*" option "*"))
              print command " " option }' - "$SRCDIR/doc/lockstep.1.adoc"
  done
}

# shellcheck disable=SC2086 # one word for each document
set -- $documents
make_tree
pictures=$(sed '/^#/d' "$SRCDIR/doc/pictures.txt")
plan $(($# * 2 + 8 + $(echo "$pictures" | wc -l)))
for document; do
  name=${document#"$SRCDIR"/}
  point "examples of $name" "$(run_examples "$document")"
  point "links of $name" "$(missing_links "$document")"
done
for what in load atomic; do
  point "doc/memory_$what.svg is drawn from today's run" "$(compare "doc/memory_$what.svg" draw "traces/steps/$what.yaml")"
done
echo "$pictures" >"$folder/pictures"
while read -r name arguments; do
  # shellcheck disable=SC2086 # arguments are words
  point "doc/$name.svg is drawn from today's run" "$(cd "$SRCDIR" && compare "doc/$name.svg" lockstep draw $arguments 2>/dev/null)"
done <"$folder/pictures"
point "the manual page has each command's options" "$(missing_options)"
for page in isa ptx-forms machine counters findings; do
  point "doc/$page.md is up to date" "$(compare "doc/$page.md" lockstep doc "$page")"
done
finish
