#!/usr/bin/python3
"""Manual pages and completion scripts of the programs, from what the programs say of themselves.

    manual.py man --hindsight PROGRAM --verify PROGRAM --out DIR [--date 2026-01-31]     DIR/hindsight.1.gz, DIR/hindsight-get.1.gz, ...
    manual.py completion --hindsight PROGRAM --out DIR                                   DIR/bash, DIR/zsh, DIR/fish

Each command has a page; `hindsight verify` and the program hindsight-verify share one. Equal programs and dates give equal files.
"""

import argparse
import gzip
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

COLUMN = 30  # where descriptions begin in a help text
HEADING = re.compile(r"^[A-Z][A-Za-z \[\]:]*:$")
SHELLS = ("bash", "zsh", "fish")
SECONDS_MAX = 60


def fail(message):
    print(f"manual: error: {message}", file=sys.stderr)
    sys.exit(1)


def output_of(words):
    """What a program prints. Only what it was built with shall show, nothing of this environment."""
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=SECONDS_MAX, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        fail(f"{' '.join(words)}: {error}")
    if done.returncode != 0:
        fail(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[:400]}")
    return done.stdout


# ---------------------------------------------------------------- reading a help text


@dataclass
class Entry:
    """One line of a list in a help text: an option, an argument or a command."""

    name: str
    values: str  # what it takes, as the parser writes it
    text: str


@dataclass
class Help:
    description: str = ""
    usage: str = ""
    sections: list = field(default_factory=list)  # (heading, [Entry])
    footer: list = field(default_factory=list)  # lines

    def entries(self, heading):
        return next((entries for name, entries in self.sections if name == heading), [])


def entry_of(line):
    """`  --log TEXT (Env:HINDSIGHT_LOG)` with its description at column 30, or none yet where the name is too long."""
    text = ""
    if len(line) > COLUMN and line[COLUMN - 1] == " " and line[:COLUMN].rstrip() != "":
        line, text = line[:COLUMN], line[COLUMN:]
    name, _, values = line.strip().partition(" ")
    return Entry(name, values.strip(), text.strip())


def parse_help(text):
    out = Help()
    before = []
    entries = None
    footer = False
    for line in text.rstrip("\n").split("\n"):
        if footer:
            out.footer.append(line)
        elif line.startswith("Usage: "):
            out.usage = line[len("Usage: "):].strip()
            out.description = " ".join(part.strip() for part in before if part.strip())
        elif not out.usage:
            before.append(line)
        elif line == "Examples:":
            footer = True
            out.footer.append(line)
        elif HEADING.match(line):
            entries = []
            out.sections.append((line[:-1], entries))
        elif not line.strip():
            pass
        elif line.startswith(" " * COLUMN) and entries:
            entries[-1].text = (entries[-1].text + " " + line.strip()).strip()
        elif line.startswith("  ") and entries is not None:
            entries.append(entry_of(line))
        else:
            footer = True
            out.footer.append(line)
    if not out.usage or not out.description:
        fail(f"this is no help text: {text[:200]!r}")
    return out


def remarks_on(entry):
    """What an option takes, and sentences on what else the parser knows: allowed values, default, environment, what it goes with."""
    rest = entry.values
    remarks = []

    def peel(pattern):
        nonlocal rest
        found = re.search(pattern, rest)
        if found is None:
            return None
        rest = (rest[:found.start()] + rest[found.end():]).strip()
        return found.group(1) if found.groups() else ""

    excludes = peel(r" ?Excludes: (.+)$")
    needs = peel(r" ?Needs: (.+)$")
    environment = peel(r" ?\(Env:([A-Z_]+)\)")
    if peel(r"(?:^| )REQUIRED\b") is not None:
        remarks.append("Required.")
    several = peel(r" ?\.\.\.(?:$|(?= ))") is not None
    kind, equals, default = rest.partition("=") if "{" not in rest else (rest[:rest.rfind("}") + 1], *rest[rest.rfind("}") + 1:].partition("=")[1:])
    values = re.search(r":?\{(.*)\}", kind)
    if values is not None:
        kind = kind[:values.start()]
        remarks.append(f"One of {values.group(1).replace(',', ', ')}.")
    # "TEXT:MOMENT" is called by what it means, "POSITION:1 or more" by what stands before its bounds.
    first, colon, last = kind.rpartition(":")
    if colon:
        if last[:1].isdigit():
            remarks.append(f"Allowed: {last}.")
            kind = first
        else:
            kind = last
    if several:
        kind += " ..."
    if equals and default:
        remarks.append(f"Default: {default}.")
    if environment:
        remarks.append(f"Environment: {environment}.")
    if needs:
        remarks.append(f"Needs {', '.join(needs.split())}.")
    if excludes:
        remarks.append(f"Not with {', '.join(excludes.split())}.")
    return kind.strip(), " ".join(remarks)


# ---------------------------------------------------------------- writing a page


def roff(text):
    """A text that troff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    text = text.replace("…", "\\&...").replace("–", "\\(en").replace("’", "\\(aq").replace("×", "\\(mu").replace("≥", "\\(>=").replace("≤", "\\(<=")
    return "\\&" + text if text[:1] == "." else text


def with_stop(text):
    return text if not text or text[-1] in ".!?:" else text + "."


def list_of(entries, options):
    out = []
    for entry in entries:
        kind, remarks = remarks_on(entry)
        names = ", ".join(f"\\fB{roff(name)}\\fR" for name in entry.name.split(",")) if options else f"\\fI{roff(entry.name)}\\fR"
        out += [".TP", names + (f" \\fI{roff(kind)}\\fR" if kind and options else "")]
        out.append(roff(" ".join(part for part in (with_stop(entry.text), remarks) if part) or "\\&"))
    return out


def footer_of(lines):
    """Examples, and paragraphs of text."""
    out = []
    verbatim = False
    for line in lines:
        if line == "Examples:":
            out.append(".SH EXAMPLES")
        elif line.startswith("  "):
            if not verbatim:
                out += [".nf", ".RS 2"]
                verbatim = True
            out.append(roff(line[2:]))
        else:
            if verbatim:
                out += [".RE", ".fi"]
                verbatim = False
            out.append(roff(line) if line.strip() else ".PP")
    if verbatim:
        out += [".RE", ".fi"]
    while out and out[-1] == ".PP":
        out.pop()
    return out


def body_of(help_):
    out = [".SH SYNOPSIS", f".B {roff(help_.usage)}", ".SH DESCRIPTION", roff(with_stop(help_.description))]
    footer = footer_of(help_.footer)
    examples = footer.index(".SH EXAMPLES") if ".SH EXAMPLES" in footer else len(footer)
    if footer[:examples]:
        out += [".PP", *footer[:examples]]
    for heading, entries in help_.sections:
        if heading == "Subcommands":
            out += [".SH COMMANDS"]
            for entry in entries:
                out += [".TP", f"\\fB{roff(' '.join((entry.name, entry.values)).strip())}\\fR", roff(with_stop(entry.text))]
        else:
            out += [f".SH {'ARGUMENTS' if heading == 'Positionals' else roff(heading.upper())}", *list_of(entries, heading != "Positionals")]
    return out + footer[examples:]


def page_of(name, help_, stamp, see, more=()):
    words = [f'.TH {roff(name.upper())} 1 "{stamp.date}" "{roff(stamp.release)}" "Hindsight"', ".SH NAME"]
    # One line without a stop, as whatis wants it.
    words.append(f"{roff(name)} \\- {roff(help_.description.rstrip('.'))}")
    words += body_of(help_)
    words += more
    words += [".SH EXIT STATUS", "0: done. 1: it failed, or something was found that should not be. 2: wrong usage."]
    if see:
        words.append(".SH SEE ALSO")
        words += [f".BR {roff(page)} (1){'' if page == see[-1] else ','}" for page in see]
    return "\n".join(words) + "\n"


@dataclass
class Stamp:
    date: str
    release: str


def commands_of(program, path=()):
    """(path, Help) of a program and of all that is below it."""
    help_ = parse_help(output_of([program, "help", *path]))
    yield path, help_
    for entry in help_.entries("Subcommands"):
        yield from commands_of(program, (*path, entry.name.rstrip(",")))  # "clusterqueue, cq": other names follow


def pages(hindsight, verify, date):
    """Name of each page and its text."""
    commands = dict(commands_of(hindsight))
    release = " ".join(output_of([hindsight, "version"]).split()[:2])
    stamp = Stamp(date, release)
    out = {}
    for path, help_ in commands.items():
        name = "-".join(("hindsight", *path))
        below = ["-".join(("hindsight", *other)) for other in commands if other[:-1] == path and other != path]
        above = ["-".join(("hindsight", *path[:-1]))] if path else []
        more = []
        if name == "hindsight-verify":
            program = parse_help(output_of([verify, "--help"]))
            more = [".SH THE PROGRAM hindsight\\-verify", "A program of its own checks evidence where nothing else of Hindsight is installed.",
                    *[line.replace(".SH ", ".SS ", 1) for line in body_of(program)]]
        out[name] = page_of(name, help_, stamp, above + below, more)
    if "hindsight-verify" not in out:
        fail(f"{hindsight} has no command 'verify', with whose page that of {verify} is")
    return out


def write_compressed(path, text):
    with open(path, "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=9, mtime=0) as out:
        out.write(text.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["man", "completion"])
    parser.add_argument("--hindsight", required=True)
    parser.add_argument("--verify")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--date", default="")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.what == "completion":
        for shell in SHELLS:
            (arguments.out / shell).write_text(output_of([arguments.hindsight, "completion", shell]), encoding="utf-8")
        return
    if arguments.verify is None:
        parser.error("man: --verify is needed")
    if not re.fullmatch(r"|\d{4}-\d{2}-\d{2}", arguments.date):
        parser.error(f"--date: found {arguments.date!r}; allowed: YYYY-MM-DD")
    made = pages(arguments.hindsight, arguments.verify, arguments.date)
    for old in arguments.out.glob("*.1.gz"):
        if old.name.removesuffix(".1.gz") not in made:
            old.unlink()
    for name, text in made.items():
        write_compressed(arguments.out / f"{name}.1.gz", text)


if __name__ == "__main__":
    main()
