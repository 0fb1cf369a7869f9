#!/bin/sh
# Makes ./configure from a fresh checkout.
set -eu
cd "$(dirname "$0")"
mkdir -p build-aux
autoreconf --force --install "$@"
