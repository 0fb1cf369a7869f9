# Sourced by ./quickstart and ./runtests: packages and the build tree. Works from the root of the tree.
# shellcheck shell=sh

as_root() {
  if test "$(id -u)" = 0; then
    "$@"
  else
    sudo "$@"
  fi
}

# Installs those of the named Debian packages that aren't installed, without questions.
need_packages() {
  command -v dpkg-query >/dev/null || return 0
  missing=
  for package; do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=
    test "$state" = installed || missing="$missing $package"
  done
  test -n "$missing" || return 0
  echo "installing:$missing"
  # shellcheck disable=SC2086 # one word for each package
  {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $missing >/dev/null
  }
}

# True where a package that has services may be installed, since nothing starts them by itself: for root, in a container or in continuous
# integration, without systemd.
may_hold_services() {
  test "$(id -u)" = 0 && test ! -d /run/systemd/system || return 1
  test -n "${CI-}" || test -e /.dockerenv || test -e /run/.containerenv || grep -qz '^container=' /proc/1/environ
}

# True if $1 is missing or older than one of the files that decide it.
outdated() {
  made=$1
  shift
  test -e "$made" || return 0
  for file; do
    test -z "$(find "$file" -newer "$made")" || return 0
  done
  return 1
}

# Configures, if needed, and builds the folder $1.
build_tree() {
  if outdated configure configure.ac Makefile.am ./*/local.mk; then
    ./autogen.sh >/dev/null
  fi
  mkdir -p "$1"
  if outdated "$1/Makefile" configure; then
    (cd "$1" && ../configure -q)
  fi
  make -C "$1" --no-print-directory -s -j "$(nproc)" all
}
