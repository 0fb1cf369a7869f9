# Draws requests of a timeline (lockstep run --timeline) step by step, as SVG: a column for each unit that they come to, a row for each
# step, with its cycle, and what happens there. For few requests of one part each.
# Usage: awk -f way.awk TIMELINE >PICTURE.svg

# The text of member `name`, or the number; "" if there is none.
function member(line, name,   at, rest) {
  at = index(line, "\"" name "\":")
  if (!at)
    return ""
  rest = substr(line, at + length(name) + 3)
  if (substr(rest, 1, 1) == "\"") {
    rest = substr(rest, 2)
    return substr(rest, 1, index(rest, "\"") - 1)
  }
  match(rest, /^[-0-9.e+]+/)
  return substr(rest, 1, RLENGTH)
}

function escaped(text) {
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  gsub(/>/, "\\&gt;", text)
  return text
}

# Whole, or with one digit.
function cycle_text(time) { return time == int(time) ? sprintf("%d", time) : sprintf("%.1f", time) }

/"ph":"X"/ && /"cat":"instruction"/ {
  instructions++
  track[instructions] = member($0, "pid") " " member($0, "tid")
  issued[instructions] = member($0, "ts") + 0
  text[instructions] = member($0, "name")
}

/"ph":"b"/ && /"cat":"request"/ {
  requests++
  sm[requests] = member($0, "pid")
  warp[requests] = member($0, "pid") " " member($0, "tid")
  what[requests] = member($0, "name")
  kind[requests] = what[requests]
  sub(/ .*/, "", kind[requests])
  slice[requests] = member($0, "slice")
  count = split("sent|left port|at slice|served|from DRAM|at atomic unit|turn|turn over|performed|replied", names, "|")
  for (i = 1; i <= count; i++) {
    time = member($0, names[i])
    step[requests, names[i]] = time == "" ? "" : time + 0
  }
}

# A step: its time, request, columns from and to, and what happens.
function add(time, request, from, to, says) {
  steps++
  when[steps] = time + 0
  whose[steps] = request
  starts[steps] = from
  ends[steps] = to
  label[steps] = says
}

# Request `request` waits, or is served (`busy`), in a column: from step `from` to step `to`, or (`to` is 0) to a time.
function stay(request, column, from, to, time, busy) {
  if (time + 0 <= when[from])
    return
  stays++
  stay_of[stays] = request
  stay_in[stays] = column
  stay_from[stays] = from
  stay_to[stays] = to
  stay_time[stays] = time + 0
  stay_busy[stays] = busy
}

function column(name) {
  if (!(name in place)) {
    columns++
    place[name] = columns
    title[columns] = name
  }
  return place[name]
}

function waited(from, to) { return to > from ? ", after waiting " cycle_text(to - from) " cycles" : "" }

# What request `r` does; `first` says that it is the first in its atomic unit.
function tell(r, first,   own, port, cross, home, unit, dram, i, next_one, at, came) {
  own = column("SM " sm[r]); port = place["port"]; cross = place["crossbar"]; home = place["slice " slice[r]]
  for (i = 1; i <= instructions; i++)
    if (track[i] == warp[r] && issued[i] == step[r, "sent"])
      add(step[r, "sent"], r, own, port, "SM " sm[r] " issues " text[i] "; its coalescer makes one part")
  add(step[r, "left port"], r, port, cross, "port of SM " sm[r] ": the part leaves")
  add(step[r, "at slice"], r, cross, home, "crossbar: it comes to slice " slice[r] " (" cycle_text(step[r, "at slice"] - step[r, "left port"]) " cycles)")
  came = steps
  at = step[r, "served"]
  add(at, r, home, home, "slice " slice[r] ": its turn in the queue" waited(step[r, "at slice"], at) (step[r, "from DRAM"] == "" ? "; its line is there" : "; its line isn't there"))
  stay(r, home, came, steps, at, 0)
  if (step[r, "from DRAM"] != "") {
    dram = place["DRAM"]
    add(at, r, home, dram, "slice " slice[r] " asks DRAM for the sector")
    came = steps
    add(step[r, "from DRAM"], r, dram, home, "DRAM: the sector is there (" cycle_text(step[r, "from DRAM"] - at) " cycles)")
    stay(r, dram, came, steps, step[r, "from DRAM"], 1)
  }
  at = home
  if (step[r, "turn"] != "") {
    unit = place["atomic unit"]
    add(step[r, "at atomic unit"], r, home, unit, "atomic unit: it comes, " (kind[r] != "atomic" ? "a hostage, since atomics hold its line" : first ? "and holds its line from now on" : "and queues behind those before"))
    came = steps
    add(step[r, "turn"], r, unit, unit, "atomic unit: its turn, for " cycle_text(step[r, "turn over"] - step[r, "turn"]) " cycles" waited(step[r, "at atomic unit"], step[r, "turn"]))
    stay(r, unit, came, steps, step[r, "turn"], 0)
    stay(r, unit, steps, 0, step[r, "turn over"], 1)
    at = unit
  }
  add(step[r, "performed"], r, at, at, kind[r] == "load" ? "what was asked for is read" : kind[r] == "store" ? "the words are stored" : "the word is changed")
  add(step[r, "replied"], r, at, own, (kind[r] == "atomic" ? "reply: the latency of the atomic unit, then the crossbar, to SM " : "reply: back through the crossbar to SM ") sm[r] " (" cycle_text(step[r, "replied"] - step[r, "performed"]) " cycles)")
  next_one = 0
  for (i = 1; i <= instructions; i++)
    if (track[i] == warp[r] && issued[i] >= step[r, "replied"] && (!next_one || issued[i] < issued[next_one]))
      next_one = i
  if (next_one)
    add(issued[next_one], r, own, own, "SM " sm[r] " issues " text[next_one] ", which waited for it")
}

# The height of a time: that of the last step up to it, and a share of the way to the next.
function height(time,   i, last) {
  for (i = 1; i <= steps; i++)
    if (when[order[i]] <= time)
      last = i
  if (last == steps || when[order[last]] == time)
    return TOP + last * ROW
  return TOP + (last + (time - when[order[last]]) / (when[order[last + 1]] - when[order[last]])) * ROW
}

function middle(c) { return LEFT + (c - 0.5) * WIDE }

# By time; of equal times in the order in which they were told.
function sort_steps(   i, j, one) {
  for (i = 1; i <= steps; i++) {
    one = i
    for (j = i - 1; j >= 1 && when[order[j]] > when[one]; j--)
      order[j + 1] = order[j]
    order[j + 1] = one
  }
  for (i = 1; i <= steps; i++)
    row[order[i]] = i
}

END {
  LEFT = 60; WIDE = 80; TOP = 44; ROW = 22
  split("#0072b2 #d55e00 #009e73 #9b3f86 #7a5c00", colour, " ")
  for (i = 0; i < 1000; i++)
    for (r = 1; r <= requests; r++)
      if (sm[r] == i)
        column("SM " i)
  column("port"); column("crossbar")
  for (r = 1; r <= requests; r++)
    column("slice " slice[r])
  for (r = 1; r <= requests; r++) {
    if (step[r, "turn"] != "")
      column("atomic unit")
    if (step[r, "from DRAM"] != "")
      column("DRAM")
  }
  for (r = 1; r <= requests; r++)
    tell(r, r == 1)
  sort_steps()
  right = LEFT + columns * WIDE
  all_wide = right + 520
  all_high = TOP + (steps + 1) * ROW
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", all_wide, all_high, all_wide, all_high
  print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
  print "<defs>"
  for (r = 1; r <= requests; r++)
    printf "<marker id=\"m%d\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"%s\"/></marker>\n", r, colour[(r - 1) % 5 + 1]
  print "</defs>"
  printf "<text x=\"%d\" y=\"20\" text-anchor=\"end\" fill=\"#555\">cycle</text>\n", LEFT - 8
  for (c = 1; c <= columns; c++) {
    printf "<text x=\"%.1f\" y=\"20\" text-anchor=\"middle\" font-weight=\"bold\">%s</text>\n", middle(c), escaped(title[c])
    printf "<path d=\"M%.1f 28V%d\" stroke=\"#bbb\"/>\n", middle(c), all_high - 8
  }
  for (i = 1; i <= stays; i++) {
    y = TOP + row[stay_from[i]] * ROW
    bottom = stay_to[i] ? TOP + row[stay_to[i]] * ROW : height(stay_time[i])
    x = middle(stay_in[i]) - 4 + 9 * (stay_of[i] - 1) - 4.5 * (requests - 1)
    tint = colour[(stay_of[i] - 1) % 5 + 1]
    printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"%.1f\" fill=\"%s\" fill-opacity=\"%s\" stroke=\"%s\"/>\n", x, y, bottom - y, tint, stay_busy[i] ? "1" : "0.2", tint
  }
  for (i = 1; i <= steps; i++) {
    s = order[i]
    y = TOP + i * ROW
    tint = colour[(whose[s] - 1) % 5 + 1]
    if (i == 1 || when[order[i - 1]] != when[s])
      printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#555\">%s</text>\n", LEFT - 8, y + 4, cycle_text(when[s])
    if (starts[s] == ends[s])
      printf "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n", middle(starts[s]), y, tint
    else
      printf "<path d=\"M%.1f %dH%.1f\" stroke=\"%s\" stroke-width=\"1.5\" marker-end=\"url(#m%d)\"/>\n", middle(starts[s]), y, middle(ends[s]), tint, whose[s]
    printf "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", right + 8, y + 4, tint, escaped(label[s])
  }
  print "</svg>"
}
