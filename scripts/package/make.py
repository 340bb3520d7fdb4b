#!/usr/bin/python3
"""Makes all that a release consists of, from a build: a .deb, an image, what each is made of, and checksums.

usage: make.py --build DIR --out DIR [--compression xz|gzip] [--only deb|image]

--build: a folder in which hindsight and hindsight-verify were built. --only deb leaves the image out; --only image makes the .deb, of which
the image is made, in a folder that is thrown away. Equal sources on a machine with equal packages give equal files: times are that of
SOURCE_DATE_EPOCH, else of the commit that the program names. Prints one line for each file.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import image
import sbom
from components import ROOT, PackagingError, output_of

PROGRAMS = ("hindsight", "hindsight-verify")
EARLIEST = 315532800  # 1980-01-01: what has no commit and was told no time


def facts_of(program):
    """(commit, seconds): what the program itself says of its commit, and the time that all files get."""
    told = json.loads(output_of([program, "version", "-o", "json"]))
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if seconds is not None:
        if not re.fullmatch(r"\d{1,11}", seconds):
            raise PackagingError(f"SOURCE_DATE_EPOCH: found {seconds!r}; allowed: seconds since 1970")
        return told["commit"], int(seconds)
    try:
        return told["commit"], int(datetime.datetime.fromisoformat(told["commitDate"]).timestamp())
    except ValueError:
        return told["commit"], EARLIEST


def make_deb(build, out, seconds, compression):
    if not (build / "CPackConfig.cmake").is_file():
        raise PackagingError(f"{build} has no CPackConfig.cmake; allowed: the folder of a build that was configured without sanitizers")
    with tempfile.TemporaryDirectory(prefix="hindsight-deb-") as work:
        output_of(["cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", work, "-D", f"CPACK_DEBIAN_COMPRESSION_TYPE={compression}"],
                  {"SOURCE_DATE_EPOCH": str(seconds)})
        made = list(Path(work).glob("*.deb"))
        if len(made) != 1:
            raise PackagingError(f"cpack made {len(made)} packages; allowed: one")
        return Path(shutil.move(made[0], out / made[0].name))


def write_checksums(out, files):
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(files)]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def make(build, out, compression, only):
    out.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        if not (build / program).is_file():
            raise PackagingError(f"{build / program} is missing; allowed: a folder in which it was built")
    revision, seconds = facts_of(build / "hindsight")
    programs = [build / program for program in PROGRAMS]
    files = []
    with tempfile.TemporaryDirectory(prefix="hindsight-package-") as apart:
        deb = make_deb(build, Path(apart) if only == "image" else out, seconds, compression)
        _, version, architecture = deb.stem.split("_")
        if only != "image":
            bill = out / f"{deb.name}.spdx.json"
            sbom.write(bill, sbom.document(deb, version, revision, seconds, f"pkg:deb/hindsight/hindsight@{version}?arch={architecture}", build, programs))
            files += [deb, bill]
        if only != "deb":
            archive = out / f"hindsight-{version}-{architecture}.oci.tar"
            digest, size, packages = image.make_image(deb, archive, seconds, revision)
            bill = out / f"{archive.name}.spdx.json"
            sbom.write(bill, sbom.document(archive, version, revision, seconds, f"pkg:oci/hindsight@{digest.replace(':', '%3A')}?arch={architecture}&tag={version}", build,
                                           programs[:1], packages))
            files += [archive, bill]
            print(f"image {digest}, {size / 1e6:.0f} MB of files")
    write_checksums(out, files)
    for file in [*files, out / "SHA256SUMS"]:
        print(f"{file.stat().st_size / 1e6:8.1f} MB  {file}")


def main():
    parser = argparse.ArgumentParser(prog="./dev package", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "packages")
    parser.add_argument("--compression", choices=["xz", "gzip", "zstd"], default="xz")
    parser.add_argument("--only", choices=["deb", "image"])
    arguments = parser.parse_args()
    os.umask(0o022)  # folders of a package are made as files of this user are
    try:
        make(arguments.build.resolve(), arguments.out, arguments.compression, arguments.only)
    except (PackagingError, OSError) as error:
        print(f"package: error: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
