"""The commands of docs/migration.md, as a reader of the page runs them."""
import os, re, subprocess

from steps import ROOT, run

PAGE = os.path.join(ROOT, "docs", "migration.md")
BLOCK_SECONDS_MAX = 200


def blocks():
    """The blocks of the page with what stands right above each: [(marks, lines)]."""
    with open(PAGE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    out, marks, i = [], {}, 0
    while i < len(lines):
        mark = re.match(r"<!-- (run by|exit) (.*) -->$", lines[i])
        if mark:
            marks[mark.group(1)] = mark.group(2)
        elif lines[i].startswith("    ") and not lines[i - 1].strip():
            begin = i
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                i += 1
            out.append((marks, [line[4:] for line in lines[begin:i] if line.strip()]))
            marks = {}
            continue
        elif lines[i].strip():
            marks = {}
        i += 1
    return out


class Reader:
    """Stands in a folder with `deploy`, has kubectl and hindsight, and is administrator of a cluster."""

    def __init__(self, folder, kubeconfig, hindsight):
        self.place = os.path.join(folder, "place")
        programs = os.path.join(folder, "bin")
        for path in (self.place, programs):
            os.makedirs(path)
        os.symlink(os.path.join(ROOT, "deploy"), os.path.join(self.place, "deploy"))
        os.symlink(os.path.abspath(hindsight), os.path.join(programs, "hindsight"))
        os.symlink(run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "kubectl").strip(), os.path.join(programs, "kubectl"))
        self.environment = {**os.environ, "PATH": programs + ":" + os.environ["PATH"], "KUBECONFIG": kubeconfig}

    def file(self, name):
        return os.path.join(self.place, name)

    def play(self, marks, lines):
        """One block in a shell. Returns what it printed; fails where it does not end with the status that the page says."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], cwd=self.place, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=BLOCK_SECONDS_MAX, check=False)
        expected = int(marks.get("exit", 0))
        if done.returncode != expected:
            raise AssertionError("\n".join([*lines, f"status {done.returncode}, the page says {expected}", done.stdout]))
        return done.stdout
