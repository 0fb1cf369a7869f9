# Prints a document with the output of its examples as it is now: of each `    $ lockstep ...` that has lines below it, in
# the folder that the examples are for. Run by `make update-docs`, with lockstep in the PATH.
function run() {
  if (!command || !shown)
    return
  quiet = "(" command ") 2>/dev/null </dev/null"
  for (n = 0; (quiet | getline line) > 0;)
    if (!(more && n >= shown))
      printed[++n] = line
  close(quiet)
  if (!n)
    printed[++n] = "(no output)"
  for (i = 1; i <= n; i++)
    print "    " printed[i]
}
/^    \$ lockstep / { run(); print; command = substr($0, 7); shown = more = 0; next }
command && /^    \.\.\.$/ { more = 1; run(); print; command = ""; next }
command && /^    / { shown++; next }
{ run(); command = ""; print }
END { run() }
