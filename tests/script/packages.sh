#!/bin/sh
# Usage: packages.sh PKG-CONFIG NAME... - prints for each NAME whether it is here: a library by its pkg-config module and version
# ('check >= 0.15'), a program by its name. configure writes this to packages.found, and make configures again when it changes.
set -eu
pkg_config=$1
shift
for name; do
  case $name in
  *' '*) found=$("$pkg_config" --exists "$name" 2>/dev/null && echo yes) || found=no ;;
  *) found=$(command -v "$name") || found=no ;;
  esac
  echo "$name: $found"
done
