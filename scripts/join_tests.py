#!/usr/bin/python3
"""Writes one file out of several test files, so that what they include is read once.

usage: join_tests.py OUTPUT FILE...

Test files have helpers of the same short names in unnamed namespaces, which is why an #include of each would not do: here the unnamed
namespaces of each file get a name of their own. A file of helpers, whose name does not end in _test.cpp, defines things for others too,
with names out of its unnamed namespace, so the named one is opened there. #line keeps errors, stack traces and failed expectations where
the text stands. The paths are those given, so that equal sources give equal files in every checkout.
"""

import re
import sys
from pathlib import Path

UNNAMED = re.compile(r"^((?:inline )?namespace) \{", re.MULTILINE)


def joined(files):
    parts = ["// Made by scripts/join_tests.py.\n"]
    for number, file in enumerate(files):
        name = f"file_{number}"
        opened = "" if file.endswith("_test.cpp") else f"namespace {name} {{}} using namespace {name}; "
        text = UNNAMED.sub(rf"{opened}\1 {name} {{", Path(file).read_text(encoding="utf-8"))
        parts.append(f'#line 1 "{file}"\n{text}\n')
    return "".join(parts)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    Path(sys.argv[1]).write_text(joined(sys.argv[2:]), encoding="utf-8")


if __name__ == "__main__":
    main()
