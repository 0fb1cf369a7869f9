# Prints a document with a file between the marks <!-- NAME --> and <!-- end -->: awk -v name=NAME -v file=FILE -f insert.awk PAGE.
$0 == "<!-- " name " -->" {
  print $0 "\n"
  while ((getline line <file) > 0)
    print line
  print ""
  skips = 1
  next
}
/^<!-- end/ { skips = 0 }
!skips { print }
