#!/bin/sh
# What `make install` installs holds together where it is (TAP): the links of each document, and the program with the
# scenarios that the documents name. And `make dist` takes all files along.
set -eu
. "$SRCDIR/tests/script/tap.sh"
plan 5

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

make -C "$BUILDDIR" distdir distdir="$folder/dist" >"$folder/made" 2>&1 </dev/null || :
left_out() { # of a clone
  test -x "$folder/dist/configure" || tail -5 "$folder/made"
  { git -C "$SRCDIR" ls-files 2>/dev/null || :; } | grep -vE '^\.(ci/|gitignore)' | while read -r file; do
    test -e "$folder/dist/$file" || echo "$file isn't distributed"
  done
}
point "what is distributed" "$(left_out)"
finish
