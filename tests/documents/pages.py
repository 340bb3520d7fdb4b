"""Reads the Markdown pages of the repository: headings, links and blocks of code, each with its line."""
import dataclasses, os, re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

FENCE = re.compile(r"^( {0,3})(```+|~~~+)\s*([^\s`]*)")
MARK = re.compile(r"^<!-- (run by|not run:|before:|until:|exit|on) (.*) -->$")
COMMANDS = "hindsight hindsight-verify ./dev kubectl curl helm docker podman systemctl apt apt-get dpkg sudo install openssl tar base64 printf sacct sqlite3 flatc chmod for H cd \
git kustomize promtool pip npm ssh scripts/ export rm mkdir".split()


@dataclasses.dataclass
class Block:
    """A block of code. `marks`: what the comments right above it say, by name."""
    page: str
    line: int
    language: str
    lines: list
    marks: dict
    indent: str = ""

    @property
    def where(self):
        return f"{self.page}:{self.line}"

    @property
    def shows_output(self):
        return any(line.startswith("$ ") for line in self.lines)

    @property
    def is_command(self):
        if self.language:
            return self.language in ("shell", "bash", "sh", "console")
        if self.shows_output:
            return True
        first = next((line for line in self.lines if line.strip() and not line.startswith("#")), "")
        word = first.split(" ")[0]
        return not first.startswith(" ") and (word in COMMANDS or word.startswith("./"))

    def commands(self):
        """The commands, each with the lines of output below it; a line that ends with a backslash goes on in the next one."""
        out, open_command = [], False
        for number, line in enumerate(self.lines):
            if self.shows_output:
                if line.startswith("$ "):
                    out.append([line[2:], []])
                    open_command = line.endswith("\\")
                elif open_command:
                    out[-1][0] += "\n" + line
                    open_command = line.endswith("\\")
                elif out:
                    out[-1][1].append(line)
            elif open_command:
                out[-1][0] += "\n" + line
                open_command = line.endswith("\\")
            elif line.strip() and not line.startswith("#"):
                out.append([line, []])
                open_command = line.endswith("\\")
        for command in out:
            while command[1] and not command[1][-1].strip():
                command[1].pop()
        return out


@dataclasses.dataclass
class Page:
    path: str
    lines: list
    blocks: list
    text: list  # (line number, line) of what is not code


def markdown_files():
    """Every Markdown file of the repository, by its path from the root."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("build", "node_modules", "dist", "__pycache__"))
        found += [os.path.relpath(os.path.join(folder, file), ROOT) for file in sorted(files) if file.endswith(".md")]
    return found


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return parse(path, file.read())


def parse(path, content):
    lines = content.split("\n")
    page = Page(path, lines, [], [])
    marks, at, in_list = {}, 0, False
    while at < len(lines):
        line = lines[at]
        fence = FENCE.match(line)
        mark = MARK.match(line.strip())
        if fence:
            body, start = [], at + 1
            at += 1
            while at < len(lines) and not (lines[at].strip().startswith(fence.group(2)) and not lines[at].strip().strip(fence.group(2)[0])):
                body.append(lines[at][len(fence.group(1)):])
                at += 1
            page.blocks.append(Block(path, start, fence.group(3), body, marks))
            marks = {}
        elif line.startswith("    ") and not in_list and (at == 0 or not lines[at - 1].strip() or lines[at - 1].strip().startswith("<!--")):
            start = at + 1
            body = []
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                body.append(lines[at][4:])
                at += 1
            while not body[-1].strip():
                body.pop()
                at -= 1
            page.blocks.append(Block(path, start, "", body, marks, "    "))
            marks = {}
            continue
        elif mark:
            marks.setdefault(mark.group(1).rstrip(":"), []).append(mark.group(2))
        else:
            if line.strip():
                marks = {}
                if re.match(r"([-*]|\d+\.) ", line):
                    in_list = True
                elif not line.startswith(" "):
                    in_list = False
            page.text.append((at + 1, line))
        at += 1
    return page


def without_code(line):
    return re.sub(r"(`+).+?\1", lambda m: "`" + "x" * (len(m.group(0)) - 2) + "`", line)


def slug(heading):
    """The anchor of a heading, as the repository's viewers and the site make it."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"<[^>]*>", "", text).replace("`", "").strip().lower()
    text = re.sub(r"(?<!\w)[*_]+|[*_]+(?!\w)", "", text)
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page):
    found, seen = set(), {}
    for _, line in page.text:
        heading = re.match(r"#{1,6} +(.*?)(?: +#+)?$", line)
        if heading:
            name = slug(heading.group(1))
            number = seen.get(name, 0)
            seen[name] = number + 1
            found.add(name if number == 0 else f"{name}-{number}")
        found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return found


def links(page):
    """(line, text, target) of every link and picture, of those by reference too."""
    named = {}
    for _, line in page.text:
        definition = re.match(r" {0,3}\[([^\]^]+)\]: +(\S+)", line)
        if definition:
            named[definition.group(1).lower()] = definition.group(2)
    for number, line in page.text:
        plain = without_code(line)
        for link in re.finditer(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)(?: \"[^\"]*\")?\)", plain):
            yield number, link.group(1), link.group(2)
            for inner in re.finditer(r"!\[[^\]]*\]\(([^)\s]+)\)", link.group(1)):
                yield number, "", inner.group(1)
        # Usage texts have brackets side by side, too; so only where a page defines names at all.
        for link in re.finditer(r"\[([^\]]+)\]\[([^\]]*)\]", plain) if named else ():
            target = named.get((link.group(2) or link.group(1)).lower())
            yield number, link.group(1), target if target is not None else "#no definition of " + (link.group(2) or link.group(1))
        for source in re.findall(r'<(?:img|a) [^>]*(?:src|href)="([^"]+)"', plain):
            yield number, "", source
