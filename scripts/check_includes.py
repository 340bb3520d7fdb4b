#!/usr/bin/python3
"""Proves the include direction of the folders, that no text is cut by bytes, and that every folder says what it is for.

    check_includes.py [--root DIR]

    vocabulary <- evidence, admission, schemas <- events <- {actors, projections, connectors, replay, routing} <- {whatif, casefile} <- operations <- page <- runtime <- doctor <- cli

Rules, for every C++ file outside tests/ and bench/ (where anything of ours may be included):
  direction   "folder/file.hpp" may come only from the folders in MAY_INCLUDE
  rooms       within a folder that has rooms (ROOMS), a room includes only those that it may
  root        an include in quotes is written from the repository root and names a file that exists (generated headers: GENERATED)
  pure        vocabulary/ and admission/ include only the standard library and tl/expected.hpp (vocabulary/ also pthread.h)
  library     a library in LIBRARY_HOMES is included only in the folders named there; this rule holds in tests/ and bench/ too, where
              tests/<folder>/ counts as <folder>
  cut         no text is cut by bytes: .substr(0, LIMIT) may end in half a character, which is no text; cut_text (vocabulary/text.hpp) does not
  readme      every folder at the top, and every folder with C++ sources, has a README.md (tests/ and bench/ need one at their top only)

Prints one line for each finding: file:line, what was found, what is allowed. Status 1 if there is any.
"""

import argparse
import re
import sys
from pathlib import Path

CODE_FOLDERS = ["vocabulary", "evidence", "admission", "schemas", "events", "actors", "projections", "connectors", "replay", "whatif", "casefile", "routing", "simulation", "operations", "page", "runtime", "doctor", "cli"]
FREE_FOLDERS = ["tests", "bench"]
NOT_OURS = ["build", "node_modules", "__pycache__"]

MAY_INCLUDE = {
    "vocabulary": {"vocabulary"},
    "evidence": {"vocabulary", "evidence"},
    "admission": {"vocabulary", "admission"},
    "schemas": {"vocabulary", "schemas"},
    "events": {"vocabulary", "evidence", "admission", "schemas", "events"},
    "actors": {"vocabulary", "admission", "events", "actors"},
    "projections": {"vocabulary", "admission", "events", "projections"},
    "connectors": {"vocabulary", "admission", "events", "connectors"},
    "replay": {"vocabulary", "evidence", "admission", "schemas", "events", "replay"},
    "whatif": {"vocabulary", "admission", "events", "replay", "projections", "whatif"},
    "casefile": {"vocabulary", "evidence", "admission", "events", "replay", "projections", "casefile"},
    "routing": {"vocabulary", "admission", "events", "routing"},
    "simulation": {"vocabulary", "admission", "events", "connectors", "simulation"},
    "operations": set(CODE_FOLDERS) - {"page", "runtime", "doctor", "cli"},
    "page": {"vocabulary", "evidence", "admission", "schemas", "events", "replay", "projections", "whatif", "operations", "page"},
    "runtime": set(CODE_FOLDERS) - {"doctor", "cli"},
    "doctor": set(CODE_FOLDERS) - {"cli"},
    "cli": set(CODE_FOLDERS),
}

# Folders that are divided into rooms: the rooms that each may include beside itself. "": what stands beside the rooms.
TO_SCHEDULING = ["tables", "model", "quota", "topology", "scheduling"]
ROOMS = {
    "admission": {
        "tables": [],
        "model": ["tables"],
        "quota": ["tables", "model"],
        "topology": ["tables", "model"],
        "options": ["tables", "model"],
        "scheduling": ["tables", "model", "quota", "topology"],
        "": TO_SCHEDULING,
        "queue": ["", *TO_SCHEDULING],
        "workload": ["", "options", *TO_SCHEDULING],
        "domain": ["", "queue", "workload", "options", *TO_SCHEDULING],
        "state": ["", "queue", "workload", "domain", "options", *TO_SCHEDULING],
    },
    "connectors/kubernetes": {
        "auth": [""],
        "http": ["", "auth"],
        "mirror": ["", "http"],
        "lease": ["", "http"],
        "": ["auth", "http", "mirror", "lease"],
    },
}

# flatc writes these into the build folder.
GENERATED = re.compile(r"^schemas/\w+_generated\.h$")

# First path element of a library's headers -> the folders that keep it to themselves.
LIBRARY_HOMES = {
    "caf": {"actors"},
    "flatbuffers": {"schemas", "events", "replay"},
    "librdkafka": {"events"},
    "boost": {"operations", "connectors"},
    "archive.h": {"casefile"},
    "archive_entry.h": {"casefile"},
}

# A number, or a name of a limit, as the second argument. Whoever cuts at what was found (`text.substr(0, slash)`) cuts at a border.
CUT = re.compile(r"\.substr\(\s*0\s*,[^;]*?(\b[1-9]\d+\b|_(max|bytes|limit|chars)\b|\blimits::)")

# What they may include beside the standard library; pthread.h for the names of threads.
PURE_EXTRA = {"vocabulary": {"tl/expected.hpp", "pthread.h"}, "admission": {"tl/expected.hpp"}}
STANDARD_HEADERS = set(
    """
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits clocale cmath
    codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime
    cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream functional future initializer_list iomanip
    ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream
    queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token
    streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility valarray variant vector version
    """.split()
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def cpp_files(root):
    for folder in CODE_FOLDERS + FREE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".h", ".ipp") and not set(path.relative_to(root).parts) & set(NOT_OURS):
                yield path


def includes(path):
    """Line number, whether in quotes, and name of each include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def role_of(relative):
    """The folder whose library rules hold for a file: tests/actors/x_test.cpp counts as actors."""
    parts = relative.parts
    return parts[1] if parts[0] in FREE_FOLDERS and len(parts) > 2 else parts[0]


def room_of(house, name):
    """The room of a file in a folder with rooms; None: it is in another folder."""
    if not name.startswith(house + "/"):
        return None
    parts = name[len(house) + 1 :].split("/")
    return parts[0] if len(parts) > 1 else ""


def check_room(relative, name):
    for house, rooms in ROOMS.items():
        room, target = room_of(house, relative.as_posix()), room_of(house, name)
        if room is None or target is None or room == target:
            continue
        if room not in rooms or target not in rooms:
            return f"{house}/ has no room '{room if room not in rooms else target}'; allowed: {', '.join(sorted(rooms))}"
        if target not in rooms[room]:
            allowed = [f"{house}/{r}" for r in [room, *rooms[room]]]
            return f'{house}/{room} includes "{name}"; allowed: {", ".join(sorted(allowed))}'
    return None


def check_include(root, relative, quoted, name):
    """What is wrong with one include, or None."""
    folder = relative.parts[0]
    target = name.split("/")[0]
    if quoted:
        if not GENERATED.match(name) and not (root / name).is_file():
            return f'"{name}" is not a file seen from the repository root; allowed: a path from the root'
        if folder in MAY_INCLUDE and target not in MAY_INCLUDE[folder]:
            return f'{folder}/ includes "{name}"; allowed: {", ".join(sorted(MAY_INCLUDE[folder]))}'
        return check_room(relative, name)
    if target in CODE_FOLDERS and (root / name).is_file():
        return f'<{name}> is our own header; allowed: "{name}"'
    if folder in PURE_EXTRA and name not in STANDARD_HEADERS and name not in PURE_EXTRA[folder]:
        return f"{folder}/ includes <{name}>; allowed: the standard library and {', '.join(sorted(PURE_EXTRA[folder]))}"
    homes = LIBRARY_HOMES.get(target)
    if homes is not None and role_of(relative) not in homes:
        return f"{role_of(relative)}/ includes <{name}>; allowed only in: {', '.join(sorted(homes))}"
    return None


def cuts(path):
    """Numbers of the lines that cut a text by bytes."""
    return [number for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if CUT.search(line)]


def folders_with_duty(root):
    """Folders that need a README.md."""
    wanted = {path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".") and path.name not in NOT_OURS}
    wanted = {path for path in wanted if any(file.is_file() for file in path.rglob("*"))}
    for path in cpp_files(root):
        if path.relative_to(root).parts[0] not in FREE_FOLDERS:
            wanted.add(path.parent)
    return sorted(wanted)


def check(root):
    findings = []
    for path in cpp_files(root):
        relative = path.relative_to(root)
        for number, quoted, name in includes(path):
            problem = check_include(root, relative, quoted, name)
            if problem:
                findings.append(f"{relative}:{number}: {problem}")
        if relative.parts[0] in CODE_FOLDERS:
            for number in cuts(path):
                findings.append(f"{relative}:{number}: cuts a text by bytes; allowed: cut_text, cut_message (vocabulary/text.hpp)")
    for folder in folders_with_duty(root):
        if not (folder / "README.md").is_file():
            findings.append(f"{folder.relative_to(root)}/: no README.md; needed: a few lines on what belongs there and what it may include")
    return findings


def main():
    parser = argparse.ArgumentParser(description="Proves the include direction of the folders.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    findings = check(root)
    for finding in findings:
        print(finding)
    if findings:
        sys.exit(1)
    print(f"include direction: {sum(1 for _ in cpp_files(root))} files, nothing found")


if __name__ == "__main__":
    main()
