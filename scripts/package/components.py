"""What a build of Hindsight is made of, asked of the machine that built it: shared libraries, Debian packages whose headers or archives
were compiled in, and packages of npm that lie in the page. Nothing here is a list that somebody has to keep.
"""

import base64
import functools
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DPKG_INFO = Path("/var/lib/dpkg/info")
SECONDS_MAX = 120


class PackagingError(Exception):
    """Something outside is not as it must be; the message says what was found and what is allowed."""


def output_of(words, environment=None, allowed=(0,)):
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=SECONDS_MAX, stdin=subprocess.DEVNULL,
                              env={**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})})
    except FileNotFoundError as error:
        raise PackagingError(f"{words[0]} is not installed; './dev package' installs what it needs on Debian") from error
    except subprocess.TimeoutExpired as error:
        raise PackagingError(f"{' '.join(map(str, words))} did not end within {SECONDS_MAX} s") from error
    if done.returncode not in allowed:
        raise PackagingError(f"{' '.join(map(str, words))[:300]} ended with {done.returncode}: {done.stderr.strip()[:600]}")
    return done.stdout


# ---------------------------------------------------------------- Debian packages


@dataclass(frozen=True, order=True)
class DebianPackage:
    name: str
    version: str
    architecture: str
    source: str
    source_version: str
    maintainer: str
    homepage: str
    summary: str

    @property
    def copyright_file(self):
        return Path("/usr/share/doc") / self.name / "copyright"


FIELDS = ("Package", "Version", "Architecture", "source:Package", "source:Version", "Maintainer", "Homepage", "binary:Summary")


@functools.cache
def debian_package(name):
    """The installed package that dpkg calls so, as libc6:amd64 or tzdata."""
    text = output_of(["dpkg-query", "-W", "-f", "\\t".join(f"${{{field}}}" for field in FIELDS) + "\\n", name])
    return DebianPackage(*text.splitlines()[0].split("\t"))


def spellings(path):
    """/lib and /usr/lib are one folder; dpkg knows a file by the name that its package has for it."""
    path = str(path)
    return [path, path[4:]] if path.startswith(("/usr/lib", "/usr/bin", "/usr/sbin")) else [path, "/usr" + path]


def owners_of(paths):
    """{path: dpkg's name of the package that holds it}. A file that no package holds is an error."""
    asked = [spelling for path in paths for spelling in spellings(path)]
    known = {}
    for at in range(0, len(asked), 2000):
        # 1: some are of no package, which is looked at below.
        for line in output_of(["dpkg-query", "-S", *asked[at:at + 2000]], allowed=(0, 1)).splitlines():
            package, separator, path = line.partition(": ")
            if separator and not line.startswith("diversion "):
                known[path] = package.split(", ")[0]
    out = {}
    for path in paths:
        found = [known[spelling] for spelling in spellings(path) if spelling in known]
        if not found:
            raise PackagingError(f"{path} is of no Debian package; allowed: what Debian's packages installed")
        out[path] = found[0]
    return out


@functools.cache
def checksums_of(package):
    """{path: MD5} as the package was delivered, by the names that dpkg has."""
    name = package.split(":")[0]
    for file in (DPKG_INFO / f"{package}.md5sums", *sorted(DPKG_INFO.glob(f"{name}:*.md5sums")), DPKG_INFO / f"{name}.md5sums"):
        if file.is_file():
            lines = file.read_text(encoding="utf-8").splitlines()
            return {"/" + path: digest for digest, path in (line.split("  ", 1) for line in lines)}
    raise PackagingError(f"{package} has no list of checksums in {DPKG_INFO}")


# ---------------------------------------------------------------- shared libraries


@dataclass(frozen=True, order=True)
class Library:
    soname: str  # a file name, or for the loader a whole path
    path: str  # where it really lies, below /usr
    package: str  # as dpkg calls it


def libraries_of(programs):
    """The shared libraries that these programs load, with those that they load in turn, the loader included."""
    found = {}
    for program in programs:
        for line in output_of(["ldd", program]).splitlines():
            words = line.split()
            if words[0].startswith("linux-vdso"):
                continue
            if "not found" in line:
                raise PackagingError(f"{program} needs {words[0]}, which is not installed")
            where = words[2] if "=>" in words else words[0]
            found[words[0]] = os.path.realpath(where)
    packages = owners_of(sorted(set(found.values())))
    return sorted(Library(soname, path, packages[path]) for soname, path in found.items())


# ---------------------------------------------------------------- what was compiled in

# Parts of the compiler and of libc that are in every program; their licences ask for no notice in one (GCC runtime library exception; headers).
OF_THE_COMPILER = re.compile(r"^(libc6-dev|linux-libc-dev|libstdc\+\+-\d+-dev|libgcc-\d+-dev|libc-dev-bin)$")


def contained_packages(build):
    """Debian packages of which headers were read, or archives linked, by a build with ninja; without those that only belong to a shared library."""
    deps = output_of(["ninja", "-C", build, "-t", "deps"])
    headers = sorted(set(re.findall(r"(?<=\s)(/usr/(?:include|lib)/\S+)", deps)))
    if not headers:
        raise PackagingError(f"{build} knows of no header that it read; allowed: the folder of a build with ninja that has compiled hindsight")
    archives = [line for line in output_of(["ninja", "-C", build, "-t", "inputs", "hindsight", "hindsight-verify"]).splitlines() if line.startswith("/") and line.endswith(".a")]
    # Headers that an update took away are still on record; they are of no package.
    present = [path for path in (*headers, *archives) if os.path.exists(path)]
    names = sorted(set(owners_of(present).values()))
    return [package for package in map(debian_package, names) if not OF_THE_COMPILER.match(package.name)]


# ---------------------------------------------------------------- the page


@dataclass(frozen=True, order=True)
class NpmPackage:
    name: str
    version: str
    licence: str
    resolved: str
    sha512: str  # hexadecimal; of the archive that the registry has


def npm_packages(lock=ROOT / "web" / "package-lock.json"):
    """What the page is made of: without what only builds or tests it."""
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    out = []
    for path, entry in packages.items():
        if not path or entry.get("dev") or entry.get("optional") or entry.get("peer"):
            continue
        algorithm, _, digest = entry.get("integrity", "").partition("-")
        if algorithm != "sha512":
            raise PackagingError(f"{lock}: {path}: integrity: found {entry.get('integrity')!r}; allowed: sha512-...")
        out.append(NpmPackage(path.rpartition("node_modules/")[2], entry["version"], entry.get("license", "NOASSERTION"),
                              entry.get("resolved", "NOASSERTION"), base64.b64decode(digest).hex()))
    return sorted(out)


# ---------------------------------------------------------------- notices

RULE = "\n" + "-" * 80 + "\n\n"


def notices(contained, page_licences):
    """The licences of all that is in the programs and not beside them, as these licences ask."""
    parts = ["Hindsight contains code of the packages below, by these terms. Shared libraries of Debian that it uses have theirs in /usr/share/doc/PACKAGE/copyright.\n"]
    for package in contained:
        if not package.copyright_file.is_file():
            raise PackagingError(f"{package.copyright_file} is missing; some systems are set up to leave documents out (path-exclude in /etc/dpkg)")
        parts.append(f"{package.source} {package.source_version} (Debian package {package.name})\n\n" + package.copyright_file.read_text(encoding="utf-8", errors="replace").strip() + "\n")
    parts.append("The page in the browser\n\n" + page_licences.read_text(encoding="utf-8").strip() + "\n")
    return RULE.join(parts)
