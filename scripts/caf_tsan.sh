#!/usr/bin/env bash
# Builds Debian's CAF once more, with ThreadSanitizer, and prints the path of the static library.
#
# Debian's libcaf_core.so is not instrumented: the tool cannot see its locks and atomics and reports a race for every message sent. With
# this build it reports none, so a report is a race of ours and no suppression is needed. Headers stay those of libcaf-dev.
# The library lies in ${XDG_CACHE_HOME:-~/.cache}/hindsight/caf-<version>-tsan and is built only when absent (about a minute).
set -euo pipefail

say() { echo "caf: $*" >&2; }

package_version="$(dpkg-query -W -f '${source:Version}' libcaf-dev)"
home="${XDG_CACHE_HOME:-$HOME/.cache}/hindsight/caf-$package_version-tsan"
library="$home/libcaf_core.a"

if [[ ! -f "$library" ]]; then
  mkdir -p "$home"
  exec 9>"$home/lock"
  flock 9
fi
if [[ ! -f "$library" ]]; then
  scratch="$(mktemp -d)"
  trap 'rm -rf "$scratch"' EXIT
  # A source list and package lists of our own: the machine's configuration stays as it is. World-readable for apt's own user.
  chmod 755 "$scratch"
  mkdir -p "$scratch/lists/partial"
  . /etc/os-release
  echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" \
    >"$scratch/sources.list"
  apt_options=(-qq -o "Dir::Etc::sourcelist=$scratch/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$scratch/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o APT::Sandbox::User=root)
  say "fetching the source of actor-framework $package_version"
  (cd "$scratch" && apt-get "${apt_options[@]}" update >&2 \
    && apt-get "${apt_options[@]}" source --download-only --tar-only "actor-framework=$package_version" >&2 \
    && tar xf actor-framework_*.orig.tar.*)
  say "building it with ThreadSanitizer"
  launcher=()
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  # CAF_LOG_LEVEL as Debian built it: the level changes inline code in the headers.
  cmake -S "$scratch"/actor-framework-* -B "$scratch/build" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=None \
    "-DCMAKE_CXX_FLAGS=-O1 -g1 -fPIC -fsanitize=thread -ffile-prefix-map=$scratch=." "${launcher[@]}" \
    -DCAF_BUILD_STATIC_ONLY=yes -DCAF_LOG_LEVEL=QUIET -DCAF_NO_IO=yes -DCAF_NO_OPENSSL=yes -DCAF_NO_OPENCL=yes -DCAF_NO_PYTHON=yes \
    -DCAF_NO_TOOLS=yes -DCAF_NO_EXAMPLES=yes -DCAF_NO_UNIT_TESTS=yes >"$scratch/configure.log" 2>&1 \
    || { cat "$scratch/configure.log" >&2; exit 1; }
  nice -n 5 ninja -C "$scratch/build" >&2
  mv "$scratch/build/lib/libcaf_core_static.a" "$library"
fi
echo "$library"
