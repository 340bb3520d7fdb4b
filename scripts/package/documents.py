#!/usr/bin/python3
"""What the package says of itself beside its manual pages: the list of changes, and the licences of code that lies in the programs.

    documents.py --build BUILD_DIR --out DIR     DIR/changelog.gz, DIR/third-party.gz
"""

import argparse
import re
import sys
from pathlib import Path

from components import ROOT, PackagingError, contained_packages, notices
from manual import write_compressed


def page_licences(build):
    """The file that the build of the page left beside it: in the folder that the build was told of, else where scripts/embed_page.py works."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    told = re.search(r"^HINDSIGHT_PAGE_DIST:\w+=(.+)$", cache, re.MULTILINE)
    file = (Path(told.group(1)) if told else ROOT / "build" / "web" / "dist") / "licenses.txt"
    if not file.is_file():
        raise PackagingError(f"{file} is missing, which the build of the page makes")
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--out", required=True, type=Path)
    arguments = parser.parse_args()
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        write_compressed(arguments.out / "changelog.gz", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
        write_compressed(arguments.out / "third-party.gz", notices(contained_packages(arguments.build), page_licences(arguments.build)))
    except (PackagingError, OSError) as error:
        print(f"documents: error: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
