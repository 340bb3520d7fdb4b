#!/usr/bin/python3
"""The image of Hindsight: its program out of the .deb, and of this machine's Debian packages the files that the program needs, no more: the
shared libraries that it loads, certificate authorities, time zones, licences. There is no shell and no package manager in it.

    image.py --deb FILE.deb --out FILE.tar [--epoch SECONDS] [--revision COMMIT]     an OCI archive
    image.py --deb FILE.deb --root DIR                                              the same files in a new folder, for a Dockerfile

Every file of a Debian package is compared with the checksums of its package first.
"""

import argparse
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import oci
from components import PackagingError, checksums_of, debian_package, libraries_of, output_of, owners_of, spellings
from filetree import FileTree

USER = 65532  # as deploy/ has it
PROGRAM = "usr/bin/hindsight"
# What of the .deb goes into the image; the rest is for machines with a shell and a service manager.
FROM_DEB = re.compile(r"usr/bin/hindsight|usr/share/hindsight/examples/quickstart/.+|usr/share/doc/hindsight/(copyright|third-party\.gz)")
ZONES_LEFT_OUT = {"posix", "right", "localtime", "posixrules", "leapseconds", "leap-seconds.list", "tzdata.zi"}
SETTINGS = {
    "User": f"{USER}:{USER}",
    "Entrypoint": ["/usr/bin/hindsight"],
    "Cmd": ["help"],
    "Env": ["PATH=/usr/bin", "HOME=/var/lib/hindsight"],
    "WorkingDir": "/var/lib/hindsight",
    "Volumes": {"/var/lib/hindsight": {}},
    "StopSignal": "SIGTERM",
}


def as_delivered(path, package):
    """An error if a file is not as its package brought it."""
    sums = checksums_of(package)
    expected = next((sums[spelling] for spelling in spellings(path) if spelling in sums), None)
    if expected is None:
        raise PackagingError(f"{path}: the list of checksums of {package} does not have it")
    found = hashlib.md5(Path(path).read_bytes(), usedforsecurity=False).hexdigest()
    if found != expected:
        raise PackagingError(f"{path}: its MD5 is {found}, that of package {package} {expected}: it was changed after it was installed")


def deb_files(deb):
    """{path: (mode, content)} of the plain files of a .deb."""
    done = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(deb)], capture_output=True, check=False, timeout=120)
    if done.returncode != 0:
        raise PackagingError(f"{deb}: {done.stderr.decode(errors='replace').strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        return {os.path.normpath(entry.name): (entry.mode, archive.extractfile(entry).read()) for entry in archive if entry.isfile()}


def status_of(package):
    """The package's entry in dpkg's database, less what only dpkg needs: scanners of images read it."""
    text = output_of(["dpkg-query", "-s", package])
    out, kept = [], False
    for line in text.splitlines():
        if not line.startswith(" "):
            kept = line.partition(":")[0] in ("Package", "Status", "Priority", "Section", "Installed-Size", "Maintainer", "Architecture", "Multi-Arch", "Source", "Version", "Description", "Homepage")
        if kept:
            out.append(line)
    return "\n".join(out) + "\n"


def authorities(tree):
    """All certificate authorities of the package in one file, as update-ca-certificates makes it; nothing that this machine added."""
    folder = Path("/usr/share/ca-certificates/mozilla")
    files = sorted(folder.glob("*.crt"))
    if not files:
        raise PackagingError(f"{folder} is empty: Debian package ca-certificates is needed")
    for file in files:
        as_delivered(file, "ca-certificates")
    tree.file("etc/ssl/certs/ca-certificates.crt", b"".join(file.read_bytes().rstrip(b"\n") + b"\n" for file in files))
    tree.link("usr/lib/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt")


def time_zones(tree):
    folder = Path("/usr/share/zoneinfo")
    if not (folder / "Europe/Berlin").exists():
        raise PackagingError(f"{folder} has no Europe/Berlin: Debian package tzdata is needed")
    zones = FileTree()
    zones.copy_tree(folder, "usr/share/zoneinfo", lambda relative: relative in ZONES_LEFT_OUT)
    files = ["/" + path for path, node in zones.nodes.items() if node.kind == "file"]
    for file, package in owners_of(files).items():
        as_delivered(file, package)
    tree.nodes.update(zones.nodes)


def base_tree(program):
    """What the program needs of Debian, and an account to run as. Returns the tree and dpkg's names of the packages that it is from."""
    tree = FileTree()
    for path in ("etc", "tmp", "usr/bin", "usr/lib", "var/lib", "proc", "sys", "dev", "run"):
        tree.folder(path)
    tree.folder("tmp", 0o1777)
    for short in ("bin", "lib", "lib64"):
        tree.link(short, f"usr/{short}")
    tree.folder("usr/lib64")
    tree.file("etc/passwd", f"root:x:0:0:root:/:/nonexistent\nhindsight:x:{USER}:{USER}::/var/lib/hindsight:/nonexistent\n")
    tree.file("etc/group", f"root:x:0:\nhindsight:x:{USER}:\n")
    tree.file("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
    tree.folder("etc/hindsight")
    tree.folder("var/lib/hindsight", 0o700, USER)

    libraries = libraries_of([program])
    packages = {"ca-certificates", "tzdata", "base-files"}
    for library in libraries:
        as_delivered(library.path, library.package)
        packages.add(library.package)
        tree.copy(library.path, library.path.lstrip("/"))
        # The name by which the loader looks for it, beside it; the loader itself is called by a path.
        name = library.soname if library.soname.startswith("/") else f"{os.path.dirname(library.path)}/{library.soname}"
        if not name.startswith("/usr/"):
            name = "/usr" + name
        if name != library.path:
            tree.link(name.lstrip("/"), os.path.basename(library.path) if os.path.dirname(name) == os.path.dirname(library.path) else library.path)
    authorities(tree)
    time_zones(tree)
    # For who asks what it is made of: /etc/os-release, the licences, and dpkg's entry of each package.
    as_delivered("/usr/lib/os-release", "base-files")
    tree.copy("/usr/lib/os-release", "usr/lib/os-release")
    tree.link("etc/os-release", "../usr/lib/os-release")
    for package in sorted(packages):
        facts = debian_package(package)
        if not facts.copyright_file.is_file():
            raise PackagingError(f"{facts.copyright_file} is missing; some systems are set up to leave documents out (path-exclude in /etc/dpkg)")
        tree.file(f"usr/share/doc/{facts.name}/copyright", facts.copyright_file.read_bytes())
        tree.file(f"var/lib/dpkg/status.d/{facts.name}", status_of(package))
    for licence in sorted(Path("/usr/share/common-licenses").iterdir()):
        tree.link(f"usr/share/common-licenses/{licence.name}", os.readlink(licence)) if licence.is_symlink() else tree.copy(licence, f"usr/share/common-licenses/{licence.name}")
    return tree, sorted(packages)


def trees_of(deb):
    """(tree of Debian's files, tree of Hindsight's, dpkg's names of the packages)."""
    files = deb_files(deb)
    if PROGRAM not in files:
        raise PackagingError(f"{deb} has no {PROGRAM}")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "hindsight"
        program.write_bytes(files[PROGRAM][1])
        program.chmod(0o755)
        base, packages = base_tree(program)
    own = FileTree()
    for path, (mode, content) in sorted(files.items()):
        if FROM_DEB.fullmatch(path):
            own.file(path, content, mode & 0o755)
    own.file("var/lib/dpkg/status.d/hindsight", "\n".join(
        line for line in output_of(["dpkg-deb", "-f", deb, "Package", "Version", "Architecture", "Maintainer", "Description"]).splitlines()) + "\n")
    return base, own.without(base), packages


def make_image(deb, out, seconds, revision):
    """Writes the archive; returns (digest of its manifest, size of its files, dpkg's names of the packages in it)."""
    base, own, packages = trees_of(deb)
    fields = dict(line.split(": ", 1) for line in output_of(["dpkg-deb", "-f", deb, "Version", "Architecture"]).splitlines())
    about = {
        "org.opencontainers.image.title": "Hindsight",
        "org.opencontainers.image.description": "Batch admission control for Kubernetes that never forgets",
        "org.opencontainers.image.version": fields["Version"],
        "org.opencontainers.image.revision": revision,
        "org.opencontainers.image.created": oci.moment_of(seconds),
        "org.opencontainers.image.licenses": "Apache-2.0",
    }
    layers = [(f"files of the Debian packages {' '.join(packages)}", base.tar(seconds)), (f"files of {Path(deb).name}", own.tar(seconds))]
    digest = oci.write_archive(out, f"hindsight:{fields['Version']}", layers, fields["Architecture"], {**SETTINGS, "Labels": about}, about, seconds)
    return digest, base.size() + own.size(), packages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deb", required=True, type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--root", type=Path)
    parser.add_argument("--epoch", type=int, default=int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    parser.add_argument("--revision", default="unknown")
    arguments = parser.parse_args()
    if (arguments.out is None) == (arguments.root is None):
        parser.error("allowed: either --out or --root")
    try:
        if arguments.root is not None:
            base, own, _ = trees_of(arguments.deb)
            base.nodes.update(own.nodes)
            base.write_to(arguments.root, arguments.epoch)
        else:
            digest, size, _ = make_image(arguments.deb, arguments.out, arguments.epoch, arguments.revision)
            print(f"{arguments.out}: {digest}, {size / 1e6:.1f} MB of files")
    except (PackagingError, OSError) as error:
        print(f"image: error: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
