"""A clean Debian root of the release that this machine runs, made with mmdebstrap from the mirrors of this machine's apt, and commands in it.

It is made once and kept in the user's cache; in it lie the archives of all that the package depends on, so that installing it needs no
network. It is made anew when the sources, the dependencies or their versions on this machine change.
"""

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

RECIPE = "2"  # raise it when something below changes what is in the root
MAKE_SECONDS_MAX = 1500
# What a machine has that Hindsight is installed on: a reader of manual pages, and systemd, which does not run here.
ALSO_THERE = ["man-db", "systemd"]
KEPT = 2


class NoCleanRoot(Exception):
    """Why there is none, in words."""


def output_of(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise NoCleanRoot(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[:600]}")
    return done.stdout


def sources():
    """The lines of sources.list by which this machine gets its own Debian, also where they stand in other forms."""
    release = re.search(r"^VERSION_CODENAME=\"?(\w+)", Path("/etc/os-release").read_text(encoding="utf-8"), re.MULTILINE)
    if release is None:
        raise NoCleanRoot("/etc/os-release names no VERSION_CODENAME; allowed: Debian")
    lines = []
    for line in output_of("apt-get", "indextargets", "--format", "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)", "Created-By: Packages").splitlines():
        uri, suite, component, key = line.split("|")
        if component == "main" and suite.split("-")[0].split("/")[0] == release.group(1) and "debian" in uri:
            lines.append(f"deb {f'[signed-by={key}] ' if key.startswith('/') else ''}{uri} {suite} {component}")
    if not lines:
        raise NoCleanRoot(f"apt has no source for Debian {release.group(1)} main; found: {output_of('apt-get', 'indextargets', '--format', '$(REPO_URI) $(RELEASE)')[:300]!r}")
    return sorted(set(lines))


def apt_options():
    """How this machine reaches its mirrors: proxies, and what it believes of their dates."""
    wanted = re.compile(r'^Acquire::(http|https|ftp|Check-Valid-Until|Check-Date|Retries|ForceIPv4|ForceIPv6)\b.*"[^"]*";$')
    return [line for line in output_of("apt-config", "dump").splitlines() if wanted.match(line) and not line.endswith('"";')]


def installed_versions(packages):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package}=${Version}\n", *packages], capture_output=True, text=True, check=False, timeout=60)
    return sorted(done.stdout.split())


def prepared(packages):
    """The archive of a root in which `packages` and what they need can be installed without a network."""
    from_where, options = sources(), apt_options()
    about = "\n".join([RECIPE, os.uname().machine, *from_where, *ALSO_THERE, *sorted(packages), *installed_versions(packages)])
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hindsight" / "clean-root"
    cache.mkdir(parents=True, exist_ok=True)
    archive = cache / f"debian-{hashlib.sha256(about.encode()).hexdigest()[:16]}.tar"
    with open(cache / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if archive.exists():
            return archive
        print(f"clean root: making {archive} from {'; '.join(from_where)}", file=sys.stderr, flush=True)
        hook = ('rm -f "$1"/var/cache/apt/archives/*.deb && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get install -y -qq -o APT::Install-Recommends=true --download-only '
                + " ".join(sorted(packages)))
        # Under its last name only when it is whole.
        new = archive.with_suffix(".new.tar")
        words = ["mmdebstrap", "--variant=minbase", f"--include={','.join(ALSO_THERE)}", "--skip=cleanup/apt", "--dpkgopt=force-unsafe-io",
                 '--aptopt=Acquire::Retries "3"', *(f"--aptopt={option.rstrip(';')}" for option in options), f"--customize-hook={hook}", "", str(new), *from_where]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=MAKE_SECONDS_MAX)
        except FileNotFoundError as error:
            raise NoCleanRoot("mmdebstrap is not installed; './dev test' installs it on Debian") from error
        except subprocess.TimeoutExpired as error:
            raise NoCleanRoot(f"mmdebstrap was not done after {MAKE_SECONDS_MAX} s") from error
        if done.returncode != 0:
            new.unlink(missing_ok=True)
            raise NoCleanRoot(f"mmdebstrap ended with {done.returncode}: {done.stderr[-2000:]}")
        new.rename(archive)
        for old in sorted(cache.glob("debian-*.tar"), key=lambda file: file.stat().st_mtime)[:-KEPT]:
            old.unlink()
    return archive


# ---------------------------------------------------------------- commands in a root

# Devices are those of the machine: not everybody may make new ones.
FURNISH = """
root="$1"
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for name in null zero full random urandom tty; do
  [ -e "/dev/$name" ] || continue
  : >"$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
mkdir "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" && ln -s pts/ptmx "$root/dev/ptmx" || true
mount -t proc proc "$root/proc" || true
shift
exec chroot "$root" "$@"
"""
ENVIRONMENT = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "TERM=dumb"]
OWN_MOUNTS = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net"]


def mounts_allowed():
    return subprocess.run([*OWN_MOUNTS, "sh", "-c", "mount --make-rprivate / && mount -t tmpfs tmpfs /mnt"], capture_output=True, check=False, timeout=30).returncode == 0


@contextmanager
def unpacked(archive, folder):
    """The root in a new folder; it goes when this ends."""
    root = Path(folder) / "debian"
    root.mkdir()
    own_mounts = mounts_allowed()
    devices = ["--exclude=./dev/*"] if own_mounts else []
    try:
        subprocess.run(["tar", "-x", "-f", archive, "-C", root, "--numeric-owner", *devices], check=True, timeout=300)
        yield CleanRoot(root, own_mounts)
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", root], check=True, timeout=300)


class CleanRoot:
    def __init__(self, root, own_mounts):
        self.root, self.own_mounts = root, own_mounts

    def words(self, *words):
        into = [*OWN_MOUNTS, "sh", "-euc", FURNISH, "sh", str(self.root)] if self.own_mounts else ["chroot", str(self.root)]
        return [*into, *ENVIRONMENT, *words]

    def run(self, *words, status=0, seconds=300):
        """Both streams together; without a network where that can be had."""
        done = subprocess.run(self.words(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False, timeout=seconds, errors="replace")
        if status is not None and done.returncode != status:
            raise AssertionError(f"{' '.join(words)[:300]} ended with {done.returncode}, not {status}:\n{done.stdout[-3000:]}")
        return done.stdout

    def shell(self, line, **more):
        return self.run("bash", "-euo", "pipefail", "-c", line, **more)

    def path(self, absolute):
        return self.root / absolute.lstrip("/")
