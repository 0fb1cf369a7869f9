#!/bin/sh
# The memory system of `h200` beside an H200: kernels of validation/hardware/mem_l1.cu, mem_rate.cu, mem_stores.cu, mem_fence.cu, mem_latency.cu, mem_mixed.cu, mem_holder.cu, mem_turns.cu and mem_random.cu (as machine code), run as the GPU
# ran them, and the mean cycles of an access (of a fence) over all blocks. The mean error of each table is below 10 %, and none is above 30 % without a reason. TAP;
# the error of each variant is a comment. MEASURED=all (`make measured-memory`): all rows, not only those that take a few seconds. Left out:
# - rows whose blocks differ by more than a third on the GPU, and of mem_rate atomics of 2 to 8 blocks: which half of the L2 a page and a block belong to decides;
# - of mem_stores, those of several warps of a block and a scheduler, which take turns on the GPU and not here (greedy-then-oldest);
# - loads that overlap (`master volatile` without `dependent`, streams): ptxas moves the additions behind the loads;
# - without MEASURED=all of mem_stores every other row; of mem_rate two rows of three of more than 66 blocks, all of more than 132, and stores and reductions of more than 8; of the others see tests/measured/mem_rows.c.
set -eu
. "$SRCDIR/tests/script/tap.sh"
cd "$SRCDIR"
hardware=validation/hardware

# Of these an error above 30 % is known: a variant, or a variant and its threads and n.
# Reductions on 4 lines take the port 7 cycles. A membar.cta behind more stores than the
# port has room for waits now and then on the GPU, and one of eight warps at once takes 10 cycles, not 21.
# Stores of a warp alone to 24 lines take 1.35 cycles a line on
# the GPU where all other numbers of lines take 2. Blocks whose loops have a branch behind each four stores take turns on the GPU even where the port is full.
# Four warps that store to 32 sectors of their own, or warps that load and store: which of them comes to the port when decides what joins. A second fence begins here just when the other warp's try
# has been answered. Loads of some warps beside stores of others of the SM are 43 % slower here, and beside
# stores of all SMs 32 % faster. A holder beside 32 blocks finds their tries in one of two phases, by seed: its own takes 504 to 559 cycles or 1387 to 1550, 985 on the
# GPU. Stores of 32 warps to a line each join here, since one warp goes on before the others. Behind eight stores of each of eight warps a fence waits
# longer here and the stores less. Loads wait for stores of other warps in the SM's one queue.
known="
load and store; own sectors/1024/2
holder: its own try/32/64
holder: fence again/32/64
holder: fence/66/32
holder: exchange/66/32
lanes red.add; own lines/32/4
lanes red.add; own lines; own/32/4
membar.gl of all after stores; own lines/256/8
membar.gl of all after stores; own lines/256/16
load beside store/1024/1/2048
store then load; the same word/256/56/2048
membar.cta of all after stores; own lines/256/0
membar.cta of all after stores; own lines/256/2
membar.cta of all after stores; own lines/256/8
membar.cta of all after stores; own lines/256/16
own lines of a warp; warps 0x1/512/24
own lines of a warp; 16 apart; warps 0x1/512/24
own lines of a warp and a block; warps 0x1/512/24
the same lines of all blocks; warps 0x1/512/24
the same lines of a block; warps 0x1/512/24
load beside store/256
"

# With more than four warps an SM; with 1056 blocks that add next to another word; another page's loads
# pass the slice of the additions, by seed. The first stores of all SMs to a line take their slice 20 cycles each, and those that joined them wait behind them:
# with 1056 blocks, or four warps of all SMs, stores to the same lines take 1.4 to 3 times as long here. Stores of eight warps of an SM to a line take twice as long here, and those of 2112 blocks by half again; of a block's
# warps that find the port full, lines and sectors take a third to twice as long on the GPU. Loads beside a crowd on random words wait
# in a network that pushes back where it is full, which isn't modelled: see doc/hardware.md.
test -z "${MEASURED-}" || known="${known}blocks; four in a row/32/8
others: atom.add; next line/1056/528
volatile beside atom.add; another page/528/264
master store; one word/32/1
lanes store; one word; shared
lanes store; one word; own
lanes store; one line; shared
lanes store; one line; own
lanes store; own sectors; shared
lanes store; own sectors; own
lanes store; own lines; shared
lanes store; own lines; own
the same lines of all blocks; warps 0x1/512/28
the same lines of all blocks; warps 0xf
blocks; all in a row/32/8
blocks; four in a row/32/1
volatile beside atom.add; another page/1056/528
own lines of a warp; warps 0xf/512/8
own lines of a warp; 16 apart; warps 0xf/512/8
own sectors of a warp; warps 0xf/512/32
blocks; all in a row/32/1
load of their lines beside atom.cas that fails/1024
load of other lines beside atom.cas that fails/1024
load of their lines beside atom.add/1024
load of other lines beside atom.add/1024
"

# The seed says how far the lines and SMs of a run lie apart, which no table has: 9 gives the first line of mem_mixed the latency that it has on the GPU (of 14 seeds;
# with 8 it lies farther off, and that table is 18 % off).
# scenario TABLE: rows of a table as launches with a buffer of its own each, row_LINE. Each is expected to sum to 0, so that its sum is told.
scenario() {
  awk -F, -v table="$1" -v most="${MEASURED:+1056}" -v program="$PWD/$hardware/$1.ptx" '
    BEGIN {
      kind["volatile"] = 2; kind["store"] = 3; kind["atom.add"] = 4; kind["red.add"] = 5; kind["atom.exch"] = 6; kind["atom.cas"] = 7
      apart["one word"] = 0; apart["one line each"] = 32; apart["one page each"] = 1024
      stride["one word"] = 0; stride["one line"] = 1; stride["own sectors"] = 8; stride["own lines"] = 32; stride["own lines apart"] = 96
      scope["membar.cta"] = 0; scope["membar.gl"] = 1; scope["membar.sys"] = 2
    }
    function word_after(text, what) { return substr(text, index(text, what) + length(what)) }
    function launch(kernel, arguments, threads, words) {
      buffers = buffers "  row_" NR ": {words: " words "}\n"
      launches = launches "  - {kernel: " kernel ", grid: " $3 ", block: " threads ", args: [words, " arguments ", row_" NR "]}\n"
      expected = expected "    row_" NR ": {sum: 0}\n"
    }
    !most && ($1 == "stores" ? NR % 2 : $3 > 66 && NR % 3) { next }
    NR < 3 || $1 != "stores" && $3 > (most ? most : 132) || $8 < .75 * $7 || $9 > 1.35 * $7 { next }
    { split($2, part, "; "); split(part[1], word, " "); posted = word[2] == "store" || word[2] == "red.add" }
    posted && $3 > (most ? most : 8) || word[2] ~ /^atom/ && $3 > 1 && $3 <= 8 { next }
    word[1] == "master" && (posted || part[2] == "dependent") {
      launch("_Z6masterILi" kind[word[2]] "ELb" !posted "EEvPjiPx", apart[part[posted ? 2 : 3]], $4, 2 * $3)
    }
    word[1] == "lanes" { launch("_Z8by_lanesILi" kind[word[2]] "EEvPjiiiPx", $5 ", " stride[part[2]] ", " (part[3] == "own") * 1024, $4, 2 * $3) }
    $2 ~ / warps 0x[137f]$/ && ($3 == 1 || most) {
      place = $2; sub(/; warps .*/, "", place)
      step = place ~ /sectors/ ? 8 : place ~ /16 apart/ ? 512 : 32; whose = place ~ /^own/ ? 32 * step : 0
      launch("_Z8by_warpsPjjiiiiPx", word_after($2, " warps ") ", " $5 ", " step ", " whose ", " (place ~ /of a block/ ? 1024 : place ~ /and a block/ ? 16384 : 0), $4, 32 * $3)
    }
    $2 ~ /^blocks; / && ($3 <= 528 || most) { launch("_Z9by_blocksILb" ($2 ~ /four/) "EEvPjiiiPx", $5 ", 32, 200", $4, 2 * $3) }
    $1 == "l1" { launch(word[4] == "bytes" ? "_Z4hitsILi" word[3] "EEvPjiiPx" : "_Z8count_upPjiiPx", stride[part[2]] ", " $5, $4, 64) }
    $2 ~ /after stores/ && $3 == 1 {
      launch("_Z12after_storesILi" scope[word[1]] "ELb" ($2 ~ / of all /) "ELb" (part[2] == "together") "EEvPjiiPx", $4 ", " $5, 256, 64)
    }
    END { printf "program: %s\nbuffers:\n  words: {words: 4194304}\n%slaunches:\n%sexpect:\n  buffers:\n%s", program, buffers, launches, expected }' "$hardware/$1_h200.csv"
}

# compare TABLE LIMIT: the mean error of the rows, and what is wrong with it. The pages of a row may be at home in either half: the way to the other is
# 206 cycles for an atomic of one block; for a fence behind accesses to a page or two it is 210 (382 and 592 cycles some time after one store).
compare() {
  awk -F, -v limit="$2" -v known="$known" '
    BEGIN {
      count = split(known, lines, "\n"); for (i = 1; i <= count; i++) allowed[lines[i]]
      split("0x1 1 0x3 2 0x7 3 0xf 4", set, " ")
      for (i = 1; i in set; i += 2) warps[set[i]] = set[i + 1]
    }
    FILENAME == ARGV[1] { cycles[$1] = $2; next }
    !(FNR in cycles) { next }
    {
      is = cycles[FNR] / $3 / ($1 == "fence" ? 32 : $6); wanted = $7
      if ($1 == "l1") is /= $4 / 32
      if ($2 ~ / warps 0x/) is /= warps[substr($2, index($2, " warps ") + 7)]
      if ($2 ~ /atom/ && $3 == 1 && is > wanted + 103) wanted += 206
      if ($1 == "fence" && ($2 ~ /together/ && $5 <= 4 || $4 * $5 <= 2)) wanted += is > wanted + 105 ? 210 : is < wanted - 105 ? -210 : 0
      size = (is - wanted) / wanted * 100; if (size < 0) size = -size
      place = $2 "/" $4 "/" $5
      if (!rows[$2]++) order[++variants] = $2
      sum[$2] += size; if (size > worst[$2]) worst[$2] = size
      total += size; number++
      if (size > 30) above[$2] = above[place] = 1
      met[$2] = met[place] = 1
      if (size > 30 && !($2 in allowed) && !(place in allowed))
        printf "%s of %d blocks, %d threads, n %s: %.1f instead of %.1f cycles\n", $2, $3, $4, $5, is, wanted
    }
    END {
      for (i = 1; i <= variants; i++)
        printf "# %s: %d rows, mean %.1f %%, worst %.1f %%\n", order[i], rows[order[i]], sum[order[i]] / rows[order[i]], worst[order[i]]
      if (!number) print "no row of the table was simulated"
      else printf "# all: %d rows, mean error %.1f %%\n", number, total / number
      for (i = 2; i < count; i++)
        if (lines[i] in met && !(lines[i] in above)) print lines[i] ": no row is above 30 % any longer, so take it off the list"
      if (number && total / number >= limit) printf "mean error %.1f %%\n", total / number
    }' "$folder/cycles" "$hardware/$1_h200.csv"
}

# check TABLE LIMIT
check() {
  scenario "$1" >"$folder/memory.yaml"
  "$LOCKSTEP" run "$folder/memory.yaml" -m h200 --seed 9 >"$folder/out" 2>"$folder/err" || :
  sed -n 's/^ *the words of row_\([0-9]*\) sum to \([0-9]*\), expected 0$/\1,\2/p' "$folder/out" >"$folder/cycles"
  compare "$1" "$2" >"$folder/compared"
  grep '^#' "$folder/compared" || :
  point "$1: as on the H200" "$(grep -v '^#' "$folder/compared" || :; head -n 3 "$folder/err")"
}

# rows TABLE LIMIT [quick]: the same of a table that tests/measured/mem_rows.c makes (quick: never all its rows). Of rows that differ by SM or page alone, chance says which is near: they
# are compared in the order of their cycles, those of the own half and those of the other one apart. An atomic of few blocks may be in either half.
rows() {
  "$BUILDDIR/tests/measured/mem_rows" "${1#mem_}" "${3:-${MEASURED:-quick}}" h200 9 >"$folder/rows" 2>"$folder/err" || :
  awk -F, -v limit="$2" -v known="$known" '
    BEGIN { count = split(known, lines, "\n"); for (i = 1; i <= count; i++) allowed[lines[i]] }
    function mode() { return $2 ~ /^atom/ && $7 > 430 ? " in the other half" : "" }
    function judge(variant, place, is, wanted,   size) {
      size = (is - wanted) / wanted * 100; if (size < 0) size = -size
      if (!number_of[variant]++) order[++variants] = variant
      sum[variant] += size; if (size > worst[variant]) worst[variant] = size
      total += size; number++
      met[variant] = met[variant "/" place] = 1
      if (size > 30) above[variant] = above[variant "/" place] = 1
      if (size > 30 && !(variant in allowed) && !(variant "/" place in allowed)) printf "%s/%s: %.1f instead of %.1f cycles\n", variant, place, is, wanted
    }
    function insert(list, name, n, value,   k) {
      for (k = n; k > 1 && list[name, k - 1] > value; k--) list[name, k] = list[name, k - 1]
      list[name, k] = value
    }
    function other_half(more) { return more > 130 && more < 280 ? 206 : more < -130 && more > -280 ? -206 : 0 }
    FNR < 3 || $2 ~ /^atom.add of all lines/ { next }
    $1 == "random" || $1 == "turns" { $2 = $2 "/" $4 }
    $2 ~ /by SM$|by page from/ && FILENAME == ARGV[1] { insert(ours, $2 mode(), ++have[$2 mode()], $7 + 0); next }
    $2 ~ /by SM$|by page from/ { insert(theirs, $2 mode(), ++there[$2 mode()], $7 + 0); next }
    FILENAME == ARGV[1] { cycles[$2, $3, $5] = $7; next }
    !(($2, $3, $5) in cycles) || $8 < .75 * $7 || $9 > 1.35 * $7 { next }
    {
      is = cycles[$2, $3, $5]; wanted = $7
      if ($2 ~ /atom/ && $2 !~ /^volatile/ && ($3 <= 16 || $5 == 1) || $1 == "holder") wanted += other_half(is - wanted)
      judge($2, $3 "/" $5, is, wanted)
    }
    END {
      for (name in have)
        for (i = 1; i <= have[name]; i++) judge(name, i, ours[name, i], theirs[name, int((i - .5) * there[name] / have[name]) + 1])
      for (i = 1; i <= variants; i++)
        printf "# %s: %d rows, mean %.1f %%, worst %.1f %%\n", order[i], number_of[order[i]], sum[order[i]] / number_of[order[i]], worst[order[i]]
      if (!number) print "no row of the table was simulated"
      else printf "# all: %d rows, mean error %.1f %%\n", number, total / number
      for (i = 2; i < count; i++)
        if (lines[i] in met && !(lines[i] in above)) print lines[i] ": no row is above 30 % any longer, so take it off the list"
      if (number && total / number >= limit) printf "mean error %.1f %%\n", total / number
    }' "$folder/rows" "$hardware/$1_h200.csv" >"$folder/compared"
  grep '^#' "$folder/compared" || :
  point "$1: as on the H200" "$(grep -v '^#' "$folder/compared" || :; head -n 3 "$folder/err")"
}

# Rows of 1056 blocks are farther off.
mixed=10 rate=10
test -z "${MEASURED-}" || mixed=12 rate=11
# Of mem_random cas_turn_interval and port.replies are fitted, on rows of one SM with the others in view; the other parameters on mem_units, mem_rate and mem_crowd.
random=12
plan 9
check mem_l1 10
check mem_rate "$rate"
check mem_stores 10
check mem_fence 10
rows mem_latency 10
rows mem_mixed "$mixed"
rows mem_holder 20
rows mem_random "$random"
rows mem_turns 14 quick
finish
