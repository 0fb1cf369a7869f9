#!/bin/sh
# ./quickstart and then ./runtests in a fresh clone on a machine that has no library for unit tests yet: quickstart doesn't
# need it, runtests installs it, and then builds and runs the unit tests, too (TAP). The clone has the real scripts and
# makefiles, but tests and sources of one line: how tests come to be built is what counts here. The commands that know what
# is installed are stand-ins, for which the library `check` is there when the file installed-check is.
set -eu
. "$SRCDIR/tests/script/tap.sh"
unset LOCKSTEP LOCKSTEP_DATA BUILDDIR MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS DESTDIR VPATH
unset PKG_CONFIG PKG_CONFIG_PATH CFLAGS LDFLAGS TESTS AM_TAP_AWK
mkdir "$folder/bin" "$folder/clone"

# The machine.
real_pkg_config=$(command -v pkg-config)
installed=$folder/installed-check
write() { # write FILE: the script FILE of standard input
  cat >"$1"
  chmod +x "$1"
}
write "$folder/bin/dpkg-query" <<END
#!/bin/sh
for package; do :; done
if test "\$package" = check && test ! -e "$installed"; then exit 1; fi
echo installed
END
write "$folder/bin/apt-get" <<END
#!/bin/sh
case "\$*" in
*update) ;;
*\ install\ check) : >"$installed" ;;
*) echo "unexpected: apt-get \$*" >&2; exit 1 ;;
esac
END
write "$folder/bin/sudo" <<'END'
#!/bin/sh
exec "$@"
END
write "$folder/bin/pkg-config" <<END
#!/bin/sh
case "\$*" in
*--exists*check*) test -e "$installed" ;;
*check*) test -e "$installed" && echo ;;
*) exec "$real_pkg_config" "\$@" ;;
esac
END
PATH=$folder/bin:$PATH
# What configure finds out the first time it needn't look for again, but for libraries, which it doesn't keep.
echo "cache_file=$folder/config.cache" >"$folder/config.site"
CONFIG_SITE=$folder/config.site
export CONFIG_SITE

# The clone: the lists of unit tests, of fuzz targets and of scripts end with their last line, the only one without a
# backslash. Of the tests of properties those whose names begin with an s stay, and of the scripts one of each kind that
# summary.sh knows.
cd "$SRCDIR"
cp quickstart runtests autogen.sh configure.ac Makefile.am "$folder/clone"
mkdir "$folder/clone/tests" "$folder/clone/tests/script" "$folder/clone/traces"
sed -e '/^  tests\/unit\/test_[a-z_0-9]* \\$/d' -e '/^  tests\/property\/test_[^s][a-z_0-9]* \\$/d' \
  -e '/^  tests\/fuzz\/fuzz_[a-z_0-9]* \\$/d' -e '/^TEST_FILES/,/^TESTS/{
/script\/\(corpus\|docs\|fuzz_replay\|golden\|hardware\|traces\)\.sh/!{
/^  .*\\$/d
}
}' tests/local.mk >"$folder/clone/tests/local.mk"
cp traces/local.mk "$folder/clone/traces"
for name in corpus machines_of packages run_scenario scenario_set setup summary tap traces; do
  cp "tests/script/$name.sh" "$folder/clone/tests/script"
done
cd "$folder/clone"
chmod -R u+w .
for name in $(sed -n 's|^  \(tests/script/[a-z_0-9]*\.sh\).*|\1|p' tests/local.mk); do
  test -e "$name" || printf 'echo 1..1\necho ok 1\n' >"$name"
done
{ grep -o 'tests/[a-z]*/[a-z_0-9]*\.[ch]' tests/local.mk && grep -o 'tests/[a-z]*/test_[a-z_0-9]*' tests/local.mk; } | sort -u >"$folder/names"
# shellcheck disable=SC2046 # one word for each folder
mkdir -p $(sed 's|/[^/]*$||' "$folder/names" | sort -u)
while read -r name; do
  case $name in
  */test_*.c) ;;
  */test_*) printf '#include <stdio.h>\nint main(void) {\n  puts("1..1\\nok 1");\n}\n' >"$name.c" ;;
  */fuzz_file.c | */replay.c) : >"$name" ;;
  */fuzz_*.c | */mem_rows.c) echo 'int main(void) { return 0; }' >"$name" ;;
  *) : >"$name" ;;
  esac
done <"$folder/names"
mkdir -p base configs doc isa sim/cli tests/corpus traces/some validation
for name in base configs doc isa validation; do
  : >$name/local.mk
done
cat >sim/local.mk <<'END'
liblockstep_a_SOURCES += sim/nothing.c
bin_PROGRAMS += lockstep
lockstep_SOURCES = sim/cli/main.c
END
: >sim/nothing.c
echo 'int main(void) { return 0; }' >sim/cli/main.c
echo >tests/corpus/some.sass
echo 'machines: [gtx570, h200]' >traces/some/some.yaml

# says FILE LINE: complains if LINE isn't a line of FILE.
says() {
  grep -qxF -- "$2" "$1" || { echo "no line: $2" && tail -n 30 "$1"; }
}
# run STATUS COMMAND...: complains if COMMAND exits with another status. What it prints stays in $folder/out.
run() {
  wanted=$1
  shift
  status=0
  "$@" >"$folder/out" 2>&1 </dev/null || status=$?
  test "$status" = "$wanted" || { echo "$*: exit status $status, expected $wanted" && tail -n 30 "$folder/out"; }
}

plan 9
point "quickstart" "$(run 0 ./quickstart)"
point "doesn't install what only tests need" "$(ls "$installed" 2>/dev/null || :)"
point "make check without unit tests" "$(run 0 make -C build check)"
point "says that there are none" "$(says "$folder/out" 'unit: none, since check is not installed')"
properties=$(grep -c "^  tests/property/test_" tests/local.mk)
run 0 ./runtests >"$folder/complaints"
point "runtests" "$(cat "$folder/complaints")"
point "runs unit tests now" "$(says "$folder/out" 'unit: 1 passed, 0 failed' && says "$folder/out" "property: $properties passed, 0 failed")"
point "has a last line" "$(tail -n 1 "$folder/out" | grep -vxE '[0-9]+ passed, 0 failed' || :)"
rm tests/corpus/some.sass
run 2 ./runtests >"$folder/complaints"
point "runtests without a corpus fails" "$(cat "$folder/complaints" &&
  says "$folder/out" 'corpus: 0 passed, 1 failed')"
echo >tests/corpus/some.sass
rm "$installed"
point "unit tests go with the library" "$(run 0 make -C build check && says "$folder/out" 'unit: none, since check is not installed')"
finish
