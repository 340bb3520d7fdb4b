#!/usr/bin/python3
"""Puts the manifests of deploy/ into a C++ file of the build, for `hindsight doctor`.

    embed_manifests.py --out FILE.cpp --deploy DIR

A manifest is called as its file is, without the ending: "rbac", "webhooks"; definitions are called "crds/PLURAL.GROUP", those of
crds/with-webhooks "crds-with-webhooks/PLURAL.GROUP".
"""

import argparse
import sys
from pathlib import Path

# A string literal may be only so long for some compilers; pieces side by side are one text.
PIECE_BYTES = 16_000

BEGIN = """// Written by scripts/embed_manifests.py. Do not edit.
#include "doctor/manifests.hpp"

namespace hindsight::doctor {

std::span<const EmbeddedManifest> embedded_manifests() {
  static constexpr EmbeddedManifest all[] = {
"""
END = """  };
  return all;
}

}  // namespace hindsight::doctor
"""


def manifests(deploy):
    for prefix, folder in (("crds", "crds"), ("crds-with-webhooks", "crds/with-webhooks")):
        for path in sorted((deploy / folder).glob("*.yaml")):
            group, plural = path.stem.split("_", 1)
            yield f"{prefix}/{plural}.{group}", path
    for path in sorted(deploy.glob("*.yaml")):
        yield path.stem, path


def literal(data):
    """The bytes as raw strings, so that the file stays readable; cut between lines."""
    pieces, piece = [], ""
    for line in data.decode().splitlines(keepends=True):
        if len(piece) + len(line) > PIECE_BYTES and piece:
            pieces.append(piece)
            piece = ""
        piece += line
    pieces.append(piece)
    for text in pieces:
        if ')yaml"' in text:
            sys.exit('embed_manifests: a manifest has )yaml" in it')
    return "\n".join(f'R"yaml({text})yaml"' for text in pieces)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--deploy", type=Path, required=True)
    args = parser.parse_args()
    entries = "".join(f'    {{"{name}",\n{literal(path.read_bytes())}}},\n' for name, path in manifests(args.deploy))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    text = BEGIN + entries + END
    if not args.out.exists() or args.out.read_text(encoding="utf-8") != text:
        args.out.write_text(text, encoding="utf-8")
    args.out.touch()


if __name__ == "__main__":
    main()
