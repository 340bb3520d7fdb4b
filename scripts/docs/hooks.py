"""What mkdocs does besides: pages that lie elsewhere in the repository, and links that lead out of docs/.

The same files are read in the repository, where a link from docs/audit.md to ../ARCHITECTURE.md is right. On the site that page has another place, and
files that are no page have none.
"""
import os, posixpath, re

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(`+)(.+?)\1")


def on_files(files, config):
    for source, page in config.extra["included"].items():
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            files.append(File.generated(config, page, content=file.read()))
    return files


def source_of(page, config):
    """The file of the repository that a page of the site is made of."""
    for source, included in config.extra["included"].items():
        if included == page:
            return source
    return posixpath.join("docs", page)


def place_of(path, config):
    """The place on the site of a file or folder of the repository, or nothing."""
    for candidate in (path, posixpath.join(path, "README.md")):
        if candidate in config.extra["included"]:
            return config.extra["included"][candidate]
    if path in ("README.md", "docs", "docs/README.md"):
        return "index.md"
    if path.startswith("docs/") and os.path.isfile(os.path.join(ROOT, path)):
        return path[len("docs/"):]
    return None


def rewritten_link(bang, text, target, page, config):
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return f"{bang}[{text}]({target})"
    path, _, anchor = target.partition("#")
    source = source_of(page, config)
    found = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    place = place_of(found, config)
    if place is not None:
        relative = posixpath.relpath(place, posixpath.dirname(page) or ".")
        return f"{bang}[{text}]({relative}{'#' + anchor if anchor else ''})"
    if not os.path.exists(os.path.join(ROOT, found)):
        # mkdocs says that it is missing, and with `strict` ends.
        return f"{bang}[{text}]({target})"
    if config.extra["source"]:
        return f"{bang}[{text}]({posixpath.join(config.extra['source'], found)})"
    name = text.strip("`")
    return f"`{name}`" if name.rstrip("/") == found.rstrip("/") else f"{text} (`{found}`)"


def outside_of_code(line, change):
    """Applies `change` to the parts of a line that are not code."""
    out, at = [], 0
    for code in CODE.finditer(line):
        # A link's text may be code: [`name`](place). Only code that is not within a link ends a part.
        if line[:code.start()].endswith("[") and line[code.end():].startswith("]("):
            continue
        out += [change(line[at:code.start()]), code.group(0)]
        at = code.end()
    return "".join(out) + change(line[at:])


def on_page_markdown(markdown, page, config, files):
    out, fence, paragraph = [], None, False
    for line in markdown.split("\n"):
        found = FENCE.match(line)
        if fence is not None:
            out.append(line)
            if found and found.group(1).startswith(fence):
                fence = None
            continue
        if found:
            fence = found.group(1)
            out.append(line)
            continue
        if line.startswith("    "):
            out.append(line)
            continue
        # A list may follow a paragraph at once where the repository is read, and needs an empty line here.
        begins_list = re.match(r"([-*]|\d+\.) ", line) is not None
        if begins_list and paragraph:
            out.append("")
        paragraph = bool(line.strip()) and not begins_list and not line.startswith(("  ", "#", "|", "<!--"))
        out.append(outside_of_code(line, lambda part: LINK.sub(lambda m: rewritten_link(*m.groups(), page.file.src_uri, config), part)))
    return "\n".join(out)
