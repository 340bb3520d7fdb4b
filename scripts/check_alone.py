#!/usr/bin/env python3
"""Each C++ file compiles by itself, leaning on no other: the build joins sixteen, so it would not notice.

usage: check_alone.py BUILD_DIR [FILE...]

Compiles the named files without making objects, `all` of them, or of those that the last 30 commits changed as many as two minutes allow;
where there is no history, some of all. BUILD_DIR: where the generated headers are, as configured by CMake. Prints one line for each file that
does not compile, with the compiler's first error, and the count of all. `./dev lint` asks for all files.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("vocabulary", "evidence", "admission", "events", "schemas", "projections", "connectors", "actors", "replay", "whatif", "casefile", "routing", "simulation", "runtime", "doctor", "operations", "page", "cli", "tests", "bench")
COMMITS = 30
FILES_MAX = 60  # of those that nobody named


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
            yield str(path.relative_to(ROOT))


def changed():
    """None: there is no history to ask."""
    known = subprocess.run(["git", "rev-list", "--count", f"--max-count={COMMITS + 1}", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    if known.returncode != 0 or int(known.stdout) <= COMMITS:
        return None
    said = subprocess.run(["git", "diff", "--name-only", "--diff-filter=d", f"HEAD~{COMMITS}"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(said.stdout.split("\n"))


@functools.cache
def paths_given():
    """Names that targets define as a path, whatever it is."""
    lists = [p for folder in FOLDERS for p in (ROOT / folder).rglob("CMakeLists.txt")]
    return sorted({name for p in lists for name in re.findall(r'\b(HINDSIGHT_[A-Z_]+)="', p.read_text(encoding="utf-8"))})


def flags(build):
    generated = [str(build), str(build / "generated")]
    return ["-std=c++20", "-fsyntax-only", "-w", "-DGTEST_HAS_PTHREAD=1", "-I.", *(f"-I{folder}" for folder in generated),
            *(f'-D{name}=""' for name in paths_given())]


def complaint(compiler, build, path):
    words = [compiler, *flags(build), "-x", "c++", path]
    if path.endswith(".hpp"):  # as a main file it would only warn of its #pragma once
        words[-1:] = ["-include", path, os.devnull]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:200])


def main():
    build, named = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    every = list(sources())
    if named == ["all"]:
        chosen = every
    elif named:
        chosen = named
    else:
        lately = changed()
        chosen = sorted((p for p in every if lately is None or p in lately), key=lambda p: zlib.crc32(p.encode()))[:FILES_MAX]
    compiler = os.environ.get("CXX", "c++")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda path: complaint(compiler, build, path), chosen))
    wrong = [(path, what) for path, what in zip(chosen, said) if what is not None]
    for path, what in wrong:
        print(f"{path}: does not compile by itself: {what}")
    print(f"alone: {len(chosen)} files, {len(wrong)} lean on others")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
