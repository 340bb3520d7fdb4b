#!/usr/bin/python3
"""Makes the page that is served (web/) and puts it into a C++ file of the build.

    embed_page.py --out FILE.cpp --web DIR --work DIR    build web/ in --work, then embed what came out
    embed_page.py --out FILE.cpp --dist DIR              embed a page that was built before

--work is shared by all builds of a checkout: the page is made once, by whoever comes first, and again when something of web/ has changed.
Packages come from web/package-lock.json, with their checksums; none of them runs a script when it is installed. Nothing is written to web/.
"""

import argparse
import fcntl
import gzip
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

INPUTS = ["package.json", "package-lock.json", "build.mjs", "tsconfig.json", "src"]
# What a browser is told that a file is.
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
NOT_SERVED = {".map"}
COMPRESSED = {".js", ".css", ".svg", ".json"}


def fail(message):
    print(f"embed_page: {message}", file=sys.stderr)
    sys.exit(1)


# ---------------------------------------------------------------- building


def input_files(web):
    for name in INPUTS:
        path = web / name
        if path.is_dir():
            yield from sorted(file for file in path.rglob("*") if file.is_file())
        elif path.is_file():
            yield path


def digest_of(web):
    out = hashlib.sha256()
    for path in input_files(web):
        content = path.read_bytes()
        out.update(f"{path.relative_to(web)} {len(content)}\n".encode())
        out.update(content)
    return out.hexdigest()


def run(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        sys.stderr.buffer.write(done.stdout)
        fail(f"'{' '.join(map(str, command))}' ended with {done.returncode} in {folder}")


def build(web, work, node, npm):
    """The folder with the page, made anew if web/ has changed since it was made."""
    work.mkdir(parents=True, exist_ok=True)
    dist, stamp, tree = work / "dist", work / "made-of", work / "tree"
    with open(work / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two builds at the same time make it once
        digest = digest_of(web)
        if dist.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
            return dist
        tree.mkdir(exist_ok=True)
        shutil.rmtree(tree / "src", ignore_errors=True)
        for path in input_files(web):
            copy = tree / path.relative_to(web)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        packages = hashlib.sha256((tree / "package-lock.json").read_bytes()).hexdigest()
        installed = work / "packages-of"
        if not installed.is_file() or installed.read_text(encoding="utf-8") != packages:
            if npm:
                run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], tree)
            else:
                run([sys.executable, str(Path(__file__).resolve().with_name("npm_packages.py")), str(tree)], tree)
            installed.write_text(packages, encoding="utf-8")
        fresh = work / "dist.new"
        shutil.rmtree(fresh, ignore_errors=True)
        run([node, "build.mjs", "--out", str(fresh)], tree)
        shutil.rmtree(dist, ignore_errors=True)
        fresh.rename(dist)
        stamp.write_text(digest, encoding="utf-8")
    return dist


# ---------------------------------------------------------------- embedding


def literal(content):
    """The bytes as C++ string literals of some length each. Escapes have three digits, so that no byte joins the next one's."""
    lines = []
    for at in range(0, len(content), 64):
        lines.append('    "' + "".join(f"\\{byte:03o}" for byte in content[at : at + 64]) + '"')
    return "\n".join(lines) or '    ""'


def is_hashed(path):
    """Whether the name changes with what is in it, as "assets/page-4LN2V7QK.js" does."""
    stem = path.stem.rsplit("-", 1)
    return path.parts[0] == "assets" and len(stem) == 2 and len(stem[1]) >= 8 and stem[1].isalnum()


def embedded(dist):
    entries = []
    for path in sorted(file for file in dist.rglob("*") if file.is_file()):
        if path.suffix in NOT_SERVED:
            continue
        if path.suffix not in TYPES:
            fail(f"{path}: found a file of type '{path.suffix}'; allowed: {', '.join(sorted(TYPES))}")
        relative = path.relative_to(dist)
        content = path.read_bytes()
        etag = hashlib.sha256(content).hexdigest()[:16]
        packed = path.suffix in COMPRESSED
        if packed:
            content = gzip.compress(content, 9, mtime=0)
        entries.append(
            f'    {{"{relative.as_posix()}", "{TYPES[path.suffix]}", "\\"{etag}\\"", std::string_view(\n{literal(content)},\n'
            f"    {len(content)}), {str(packed).lower()}, {str(is_hashed(relative)).lower()}}},"
        )
    if not (dist / "index.html").is_file():
        fail(f"{dist}: has no index.html")
    return entries


def source(entries):
    lines = "\n".join(entries)
    return (
        "// Made by scripts/embed_page.py.\n"
        '#include "page/server/static_files.hpp"\n\n'
        "#include <array>\n\n"
        "namespace hindsight::page {\nnamespace {\n\n"
        f"constexpr std::array<EmbeddedFile, {len(entries)}> files_of_page{{{{\n{lines}\n}}}};\n\n"
        "}  // namespace\n\n"
        "std::span<const EmbeddedFile> embedded_files() { return files_of_page; }\n\n"
        "}  // namespace hindsight::page\n"
    )


def main():
    parser = argparse.ArgumentParser(description="Builds the page and embeds it.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--web", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--dist", type=Path)
    parser.add_argument("--node", default="node")
    parser.add_argument("--npm", default="", help="Nothing: npm_packages.py takes its place.")
    options = parser.parse_args()
    if options.dist is None and (options.web is None or options.work is None):
        fail("found neither --dist nor --web with --work; allowed: one of both")
    dist = options.dist.resolve() if options.dist else build(options.web.resolve(), options.work.resolve(), options.node, options.npm)
    text = source(embedded(dist))
    # What has not changed is not compiled again.
    if not options.out.is_file() or options.out.read_text(encoding="utf-8") != text:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
