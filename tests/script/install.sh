#!/bin/sh
# What `make install` installs holds together where it is (TAP): the links of each document, and the program with the
# scenarios that the documents name.
set -eu
. "$SRCDIR/tests/script/tap.sh"
plan 4

make -C "$BUILDDIR" install DESTDIR="$folder/root" >"$folder/made" 2>&1 </dev/null || :
program=$(find "$folder/root" -path '*/bin/lockstep')
readme=$(find "$folder/root" -path '*/lockstep/README.md')
point "is installed" "$(test -x "$program" || tail -5 "$folder/made")"
data=${readme%/README.md}

missing_links() {
  find "$data" -name '*.md' | while read -r page; do
    { grep -o '](\([^)#]*\)' "$page" || :; } | cut -c3- | while read -r link; do
      case $link in
      http* | '') ;;
      *) test -e "${page%/*}/$link" || echo "${page#"$data"/}: no $link" ;;
      esac
    done
  done
}
point "the links of documents" "$(missing_links)"

unset LOCKSTEP_DATA
cd "$folder"
missing_scenarios() { # complains about scenarios that an example of a document names and that aren't there
  find "$data" -name '*.md' -exec sed -n 's/^ *\$ lockstep //p' {} + | grep -oE '(doc|traces)/[A-Za-z0-9_/]*\.(yaml|sass|ptx|cu)' |
    sort -u | while read -r file; do
      test -e "$data/$file" || echo "no $file"
    done
}
point "the scenarios in their examples" "$(missing_scenarios)"
expect "an example runs from anywhere" 0 'completed' "$program" run doc/blog_totals.yaml -m gtx1060
finish
