"""Runs the blocks of commands of a page, and compares what they print with what the page shows."""
import os, re, shutil, signal, subprocess, tempfile, time

import pages
from pages import ROOT

SECONDS = 120
WRITE = os.environ.get("HINDSIGHT_WRITE_DOCS") is not None


def matches(shown, printed):
    """Whether lines are what is shown; "..." stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def environment(folder, kubeconfig="/nonexistent"):
    return {"PATH": os.path.join(folder, ".bin") + ":" + os.environ["PATH"], "HOME": folder, "TMPDIR": folder, "LANG": "C.UTF-8", "TZ": "UTC", "KUBECONFIG": kubeconfig}


def printed_lines(output):
    lines = output.decode("utf-8", "replace").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return [line.rstrip() for line in lines]


def run(command, folder, kubeconfig="/nonexistent"):
    """The status of a command, and the lines that it prints on both streams."""
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment(folder, kubeconfig), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    return done.returncode, printed_lines(done.stdout)


def run_until(command, text, folder, kubeconfig="/nonexistent"):
    """The same of a command that stays: it is told to end (SIGTERM) when it has printed `text`."""
    path = os.path.join(folder, ".until")
    with open(path, "wb") as out:
        process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder, env=environment(folder, kubeconfig), stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with open(path, "rb") as said:
                if text.encode() in said.read():
                    process.send_signal(signal.SIGTERM)
                    process.wait(SECONDS)
                    break
            time.sleep(0.05)
        with open(path, "rb") as said:
            output = said.read()
        found = text.encode() in output
        return (process.poll() if found else -1), printed_lines(output)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


class Folder:
    """Where the blocks of a page run. `programs`: scripts that lie in the path, by name."""

    def __init__(self, hindsight, programs=None):
        self.hindsight, self.programs = hindsight, programs or {}

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="hindsight-documents-")
        os.mkdir(os.path.join(self.path, ".bin"))
        for program in ("hindsight", "hindsight-verify"):
            binary = os.path.join(os.path.dirname(self.hindsight), program)
            if os.path.exists(binary):
                os.symlink(binary, os.path.join(self.path, ".bin", program))
        for name, text in self.programs.items():
            with open(os.path.join(self.path, ".bin", name), "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(file.name, 0o755)
        for shared in ("examples", "deploy", "schemas", "docs"):
            os.symlink(os.path.join(ROOT, shared), os.path.join(self.path, shared))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def play(test, path, folder, chosen, kubeconfig="/nonexistent"):
    """Runs the blocks of a page that `chosen` takes. A failure of `test` names the page, the line and the command."""
    page, written = pages.read(path), []
    for block in page.blocks:
        if not block.is_command or not chosen(block):
            continue
        for command in block.marks.get("before", []):
            status, printed = run(command, folder, kubeconfig)
            test.assertEqual(status, 0, f"{block.where}: before: {command}\n" + "\n".join(printed))
        commands = block.commands()
        test.assertTrue(commands, f"{block.where}: a block without a command")
        fresh = []
        for number, (command, shown) in enumerate(commands):
            last = number == len(commands) - 1
            if last and "until" in block.marks:
                status, printed = run_until(command, block.marks["until"][0], folder, kubeconfig)
            else:
                status, printed = run(command, folder, kubeconfig)
            wanted = int(block.marks["exit"][0]) if "exit" in block.marks and last else 0
            if not block.shows_output or (last and ("exit" in block.marks or "until" in block.marks)):
                test.assertEqual(status, wanted, f"{block.where}: {command}\n" + "\n".join(printed))
            fresh += ["$ " + command] + (shown if matches(shown, printed) else printed)
            if block.shows_output and not WRITE:
                test.assertTrue(matches(shown, printed), f"{block.where}: {command}\nshows\n" + "\n".join(shown) + "\nand prints\n" + "\n".join(printed) +
                                "\nHINDSIGHT_WRITE_DOCS=1 writes it anew")
        if block.shows_output and WRITE:
            written.append((block, "\n".join(fresh).split("\n")))
    for block, fresh in reversed(written):
        start = block.line - 1 if block.indent else block.line
        page.lines[start:start + len(block.lines)] = [(block.indent + line).rstrip() for line in fresh]
    if written:
        with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
            file.write("\n".join(page.lines))
