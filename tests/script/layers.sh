#!/bin/sh
# A file includes headers of its own layer or of one below, core doesn't know detect, and only cli prints (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
layers="base isa isa/flow isa/sass isa/ptx isa/lower sim/engine sim/machine sim/memory sim/core \
sim/detect/proof sim/detect/naming sim/detect/race sim/detect/misuse sim/detect sim/scenario sim/study sim/report sim/cli"

rank() { # prints the place of folder $1 in the order of layers, nothing if it is none
  place=0
  for layer in $layers; do
    place=$((place + 1))
    if test "$layer" = "$1"; then
      echo "$place"
    fi
  done
}

check_includes() { # complains about includes in folder $1
  own=$(rank "$1")
  grep -Hn '^ *# *include *"' "$1"/*.c "$1"/*.h "$1"/*.def 2>/dev/null |
    sed -n 's/^\([^:]*\):\([0-9]*\):.*"\([^"]*\)".*/\1 \2 \3/p' |
    while read -r file line included; do
      folder=${included%/*}
      theirs=$(rank "$folder")
      if test "$included" = config.h; then
        :
      elif test -z "$theirs"; then
        echo "$file:$line: \"$included\" isn't a header of a layer; name it from the root of the tree"
      elif test "$theirs" -gt "$own"; then
        echo "$file:$line: $1 may not include \"$included\": $folder is a layer above it"
      fi
    done
}

check_printing() { # complains about writing to standard output or error in folder $1
  grep -HnE '(^|[^_[:alnum:]])(printf|puts|putchar|perror|g_print|g_printerr|vprintf) *\(|f(printf|puts|putc|write) *\(.*(stdout|stderr)' \
    "$1"/*.c "$1"/*.h 2>/dev/null | sed 's/^\([^:]*:[0-9]*\):.*/\1: only sim\/cli prints; return text or append to a Diag/' || :
}

plan 40
for layer in $layers; do
  point "includes of $layer" "$(check_includes "$layer")"
  if test "$layer" = sim/cli; then
    stray=$(find base sim isa -name '*.[ch]' | sed 's|/[^/]*$||' | sort -u | while read -r folder; do
      test -n "$(rank "$folder")" || echo "$folder: not one of the layers"
    done)
    point "every folder is a layer" "$stray"
  else
    point "printing in $layer" "$(check_printing "$layer")"
  fi
done
point "sim/core doesn't know sim/detect" "$(grep -Hn 'sim/detect/' sim/core/*.[ch] 2>/dev/null |
  sed 's/:.*include.*"\(.*\)".*/: core fires sim\/core\/probe.h and doesn'"'"'t include \1/' || :)"
point "every source file is built" "$(for file in $(find base sim isa tests/unit -name '*.[ch]'); do
  grep -qF "${file%.c}" base/local.mk sim/local.mk isa/local.mk tests/local.mk || echo "$file: not named in a local.mk"
done)"
finish
