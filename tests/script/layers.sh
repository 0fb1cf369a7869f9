#!/bin/sh
# A file includes headers of its own layer or of one below, core doesn't know detect, only cli prints, and the modules of a
# folder don't include each other in a circle (TAP).
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
layers="base isa isa/flow isa/sass isa/ptx isa/mc isa/lower sim/engine sim/machine sim/memory sim/core \
sim/detect/proof sim/detect/naming sim/detect/race sim/detect/misuse sim/detect sim/scenario sim/study sim/study/sweep sim/report sim/report/plot sim/cli"

check_includes() { # complains about includes in folder $1
  # shellcheck disable=SC2046 # one word for each file
  awk -v layers="$layers" -v own="$1" '
    BEGIN {
      for (i = split(layers, layer, " "); i > 0; i--)
        rank[layer[i]] = i
    }
    /^ *# *include *"/ {
      split($0, part, "\"")
      included = folder = part[2]
      sub(/\/[^\/]*$/, "", folder)
      if (included == "config.h") next
      if (!(folder in rank))
        print FILENAME ":" FNR ": \"" included "\" isn\047t a header of a layer; name it from the root of the tree"
      else if (rank[folder] > rank[own])
        print FILENAME ":" FNR ": " own " may not include \"" included "\": " folder " is a layer above it"
    }' $(find "$1" -maxdepth 1 -name '*.[ch]' -o -maxdepth 1 -name '*.def' | LC_ALL=C sort)
}

check_printing() { # complains about writing to standard output or error in folder $1
  grep -HnE '(^|[^_[:alnum:]])(printf|puts|putchar|perror|g_print|g_printerr|vprintf) *\(|f(printf|puts|putc|write) *\(.*(stdout|stderr)' \
    "$1"/*.c "$1"/*.h 2>/dev/null | sed 's/^\([^:]*:[0-9]*\):.*/\1: only sim\/cli prints; return text or append to a Diag/' || :
}

# Prints FOLDER MODULE for each module, x.c with x.h, that includes itself by way of others of its folder. A .def is a table and
# no module.
circles() {
  find base isa sim -name '*.[ch]' -exec grep -H '^ *# *include *"' {} + | sed 's/^\([^:]*\)\.[ch]:.*"\([^"]*\)\.h".*/\1 \2/' | awk '
    function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
    NF == 2 && $1 != $2 && folder_of($1) == folder_of($2) {
      reaches[$1, $2] = 1
      module[$1] = module[$2] = folder_of($1)
    }
    END {
      for (via in module)
        for (from in module)
          if ((from, via) in reaches)
            for (to in module)
              if ((via, to) in reaches)
                reaches[from, to] = 1
      for (one in module)
        if ((one, one) in reaches)
          print module[one], substr(one, length(module[one]) + 2)
    }' | LC_ALL=C sort
}

complain_of_circles() {
  circles | while read -r place module; do
    echo "$place/$module includes itself by way of others of its folder"
  done
}

# Who looks at memory without being part of it: sim/core/look.h has what it holds. sim/study/simulation.c makes the buffers.
check_looks() {
  grep -HnE 'backing_(find|buffer|nearest|digest)\(|change_log_|shared\.(words|changes)|lock_unit\.bit\[|local_memory_word|buffer->data' \
    sim/detect/*.[ch] sim/detect/*/*.[ch] sim/study/*.[ch] sim/study/*/*.[ch] sim/report/*.[ch] sim/cli/*.[ch] |
    grep -v '^sim/study/simulation\.c:' |
    sed 's/^\([^:]*:[0-9]*\):.*/\1: memory is read through sim\/core\/look.h/' || :
}

# Traffic goes by memsys.h: nobody else knows the units behind it. What an SM has itself (shared memory, L1, lock bits, local memory), locks in tags,
# and the words, with their changes and the heap among them, are no traffic.
check_traffic() {
  own='memsys|shared|l1|l1_banks|lock_unit|lock_queue|local|local_defined|backing|change_log|heap|thread_id'
  grep -Hn '^ *# *include *"sim/memory/' sim/core/*.[ch] sim/detect/*.[ch] sim/detect/*/*.[ch] sim/scenario/*.[ch] sim/study/*.[ch] \
    sim/report/*.[ch] sim/cli/*.[ch] | grep -vE "\"sim/memory/($own)\.h\"" |
    sed 's/^\([^:]*:[0-9]*\):.*"\(.*\)".*/\1: \2 is a unit of the memory system: traffic goes by sim\/memory\/memsys.h/' || :
}

plan 51
for layer in $layers; do
  point "includes of $layer" "$(check_includes "$layer")"
  if test "$layer" = sim/cli; then
    stray=$(find base sim isa -name '*.[ch]' | sed 's|/[^/]*$||' | sort -u | while read -r folder; do
      case " $layers " in *" $folder "*) ;; *) echo "$folder: not one of the layers" ;; esac
    done)
    point "every folder is a layer" "$stray"
  else
    point "printing in $layer" "$(check_printing "$layer")"
  fi
done
point "sim/core doesn't know sim/detect" "$(grep -Hn 'sim/detect/' sim/core/*.[ch] 2>/dev/null |
  sed 's/:.*include.*"\(.*\)".*/: core fires sim\/core\/probe.h and doesn'"'"'t include \1/' || :)"
point "detectors, studies and reports read memory through sim/core/look.h" "$(check_looks)"
point "memory traffic goes by sim/memory/memsys.h alone" "$(check_traffic)"
point "modules of a folder don't include each other in a circle" "$(complain_of_circles)"
cat base/local.mk sim/local.mk isa/local.mk tests/local.mk | tr -s ' \\\t' '\n' | sort -u >"$folder/named"
unnamed() { # complains about the files on standard input of which neither the name nor the stem is named
  awk -v named="$folder/named" '
    BEGIN { while ((getline line <named) > 0) is_named[line] }
    { stem = $0; sub(/\.c$/, "", stem) }
    !($0 in is_named || stem in is_named) { print $0 ": not named in a local.mk" }'
}
point "every source file is built" \
  "$(find base sim isa tests/unit tests/property tests/fuzz tests/bench -name '*.[ch]' | unnamed)"
point "every script is called" "$(printf '%s\n' tests/script/*.sh | unnamed)"
# nvcc writes where it found the .cu into PTX, and ptxas into machine code: traces/make_ptx.sh leaves the name. What a distribution has is in /usr.
folders() {
  find tests traces validation -name '*.ptx' -exec grep -H '\.file.*"/' {} + | grep -v '"/usr/'
  find tests traces validation -name '*.cubin' | while read -r file; do
    tr '\0' '\n' <"$file" | LC_ALL=C grep -a '^[[:cntrl:]]*/[a-z0-9_.-]*/[a-z0-9_./-]*$' | tr -d '\001-\011' | grep -v '^/usr/' | sed "s|^|$file: |"
  done
}
point "recorded programs don't name folders of the machine that made them" "$(folders || :)"
finish
