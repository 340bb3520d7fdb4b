#!/usr/bin/env python3
"""Every block of commands in the documents runs: here, or in a test that the page names.

usage: commands_test.py HINDSIGHT [unittest options]

Blocks of a page are run in their order, in one folder of their own in which `examples`, `deploy`, `schemas` and `docs` lie, with `hindsight` and
`hindsight-verify` in the path and no cluster. Where a block shows a prompt ("$ "), what is printed has to be what stands there; a line "..." stands for any number of
lines. HINDSIGHT_WRITE_DOCS=1 writes what is printed into the page. Where there is no prompt, each command has to end with 0.

Comments right above a block say otherwise:

    <!-- before: COMMAND -->    runs first, and readers of the site do not see it
    <!-- exit N -->             the last command ends with N
    <!-- until: TEXT -->        the last command stays; it is told to end when it has printed this, and ends with 0 (or as `exit` says)
    <!-- on a cluster -->       not here: cluster_test.py runs it on a real API server
    <!-- run by FILE ... -->    not here: these tests run it. Each file exists, one of them is registered with ctest, and they have the words of each command:
                                its subcommands, its options and its paths of this repository. A test that reads the page itself has them all.
    <!-- not run: REASON -->    nowhere; the reason says why not. There are few of these, and their number is kept here.

Issue 21, section 4: every command block runs in the suite.
"""
import json, os, re, shlex, subprocess, sys, unittest

import yaml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages
from pages import ROOT
from runner import Folder, matches, play, run

HINDSIGHT = ""
# Pages whose blocks with a prompt a test of its own runs and compares.
READ_BY = {
    "README.md": "tests/cli/reference_test.cpp",
    "docs/commands.md": "tests/cli/reference_test.cpp",
    "docs/tutorial.md": "tests/cli/reference_test.cpp",
    "docs/debugger.md": "tests/cli/reference_test.cpp",
    "docs/evidence.md": "tests/cli/reference_test.cpp",
}
# Pages of which a test of its own reads and runs what is ours; cluster_test.py looks whether kubectl understands the rest.
RUNBOOKS = {"docs/runbooks.md": "tests/monitoring/rules_test.py"}
# Symptoms of docs/troubleshooting.md without a block of commands: the test that has them, and what stands in it.
SYMPTOMS = {
    "WaitingForQuota": ("tests/cli/reference_test.cpp", '"docs/tutorial.md"'),
    "Its Workload was deleted": ("tests/e2e/suspended_jobs_test.py", "an Event says why"),
    "PodsReadyTimeout": ("tests/connectors/event_recorder/decision_events_test.cpp", "PodsReadyTimeout"),
    "Jobs run although nobody admitted them": ("tests/e2e/forged_owners_test.py", "owner"),
    "Nothing is admitted any more": ("tests/operations/health_test.cpp", '"mirror"'),
    "The process does not start, or ends": ("tests/cli/machine_test.cpp", "no memory, no threads"),
    "The clock is wrong": ("tests/cli/machine_test.cpp", "ClockStepped"),
    "The page shows an error": ("tests/cli/ui_test.cpp", "hindsight"),
}
NOT_RUN_AT_MOST = 8
PROGRAMS = {"hindsight", "hindsight-verify", "kubectl", "helm", "./dev", "systemctl", "dpkg", "apt-get", "apt", "promtool", "docker", "podman", "kustomize"}


def documents():
    return ["README.md", "deploy/README.md", "examples/README.md"] + [p for p in pages.markdown_files() if p.startswith("docs/") and p != "docs/README.md"]


def registered():
    """The text of all lists of tests."""
    out = []
    for folder, _, files in os.walk(os.path.join(ROOT, "tests")):
        if "CMakeLists.txt" in files:
            with open(os.path.join(folder, "CMakeLists.txt"), encoding="utf-8") as file:
                out.append(file.read())
    return "\n".join(out)


def words_of(command):
    """What of a command a test that runs it has to have: subcommands, options, and paths of this repository."""
    try:
        parts = shlex.split(command.replace("\\\n", " "), comments=True)
    except ValueError:
        parts = command.split()
    words, program = [], None
    while parts and re.match(r"[A-Z_]+=", parts[0]):
        parts.pop(0)
    if parts and os.path.basename(parts[0]) in ("sudo", "env", "nice"):
        parts.pop(0)
    for at, part in enumerate(parts):
        if at == 0 or parts[at - 1] in ("|", "&&", ";", "xargs"):
            program = part
            words.append(os.path.basename(part))
        elif part.startswith("--"):
            words.append(part.split("=")[0])
        elif re.match(r"(deploy|examples|scripts|charts|packaging)/", part):
            words.append(part.rstrip("/"))
        elif at == 1 and program in PROGRAMS and re.fullmatch(r"[a-z][a-z-]*", part):
            words.append(part)
    return words


def missing_words(command, text):
    """Words of a command that a test does not have. Its own way of calling programs is its own business: those that are under test may have any path."""
    return [word for word in words_of(command) if word not in PROGRAMS and word not in text]


def tests_text(files):
    text = ""
    for file in files:
        with open(os.path.join(ROOT, file), encoding="utf-8") as opened:
            text += opened.read() + "\n"
    # os.path.join(ROOT, "deploy", "crds") has the path deploy/crds.
    return text + re.sub(r'",\s*"', "/", text)


def complaint_about_run_by(block, lists):
    """What is wrong with `run by`, or nothing."""
    files = " ".join(block.marks["run by"]).split()
    absent = [file for file in files if not os.path.isfile(os.path.join(ROOT, file))]
    if absent:
        return f"{block.where}: run by {absent[0]}: there is no such file"
    outside = [file for file in files if not file.startswith(("tests/", "scripts/"))]
    if outside:
        return f"{block.where}: run by {outside[0]}: allowed are files below tests/ and scripts/"
    if not any(os.path.basename(file) in lists for file in files):
        return f"{block.where}: run by {' '.join(files)}: none of them stands in a CMakeLists.txt below tests/"
    text = tests_text(files)
    if block.page in text or f'"{os.path.basename(block.page)}"' in text:
        return None
    for command, _ in block.commands():
        missing = missing_words(command, text)
        if missing:
            return f"{block.where}: run by {' '.join(files)}: not one of them has {missing[0]!r} of the command: {command}"
    return None


def runs_here(block):
    if any(mark in block.marks for mark in ("run by", "not run", "on")):
        return False
    return block.page not in RUNBOOKS and not (block.page in READ_BY and block.shows_output)


class Blocks(unittest.TestCase):
    maxDiff = None

    def command_blocks(self):
        for path in documents():
            for block in pages.read(path).blocks:
                if block.is_command:
                    yield block

    def test_blocks_that_are_run_elsewhere_are_run_there(self):
        lists, findings, elsewhere = registered(), [], 0
        for block in self.command_blocks():
            if "run by" in block.marks:
                elsewhere += 1
                complaint = complaint_about_run_by(block, lists)
                if complaint:
                    findings.append(complaint)
        self.assertEqual(findings, [], "\n" + "\n".join(findings))
        self.assertGreater(elsewhere, 3)
        for page, test in [*READ_BY.items(), *RUNBOOKS.items()]:
            text = tests_text([test])
            self.assertTrue(f'"{page}"' in text or f'/{page}"' in text, f"{test} does not read {page}")
            self.assertIn(os.path.basename(test), lists)

    def test_what_needs_a_cluster_is_run_on_one(self):
        self.assertIn("documents/cluster_test.py", registered())
        for block in self.command_blocks():
            if "on" in block.marks:
                self.assertEqual(block.marks["on"], ["a cluster"], block.where)

    def test_few_blocks_are_not_run_and_each_says_why(self):
        reasons = [(block.where, reason) for block in self.command_blocks() for reason in block.marks.get("not run", [])]
        for where, reason in reasons:
            self.assertGreaterEqual(len(reason.split()), 5, f"{where}: a reason is a sentence")
        self.assertLessEqual(len(reasons), NOT_RUN_AT_MOST, "\n".join(f"{where}: {reason}" for where, reason in reasons))

    def test_every_symptom_has_a_command_or_a_test(self):
        page, lists = pages.read("docs/troubleshooting.md"), registered()
        headings = [(number, line) for number, line in page.text if re.match(r"##", line)]
        self.assertGreater(len(headings), 15)
        without = set()
        for at, (number, line) in enumerate(headings):
            end, level = (headings[at + 1][0], headings[at + 1][1].count("#")) if at + 1 < len(headings) else (len(page.lines), 0)
            chapter_of_symptoms = line.startswith("## ") and level == 3
            if not any(number < block.line < end and block.is_command for block in page.blocks) and not (chapter_of_symptoms and line.lstrip("# ") not in SYMPTOMS):
                without.add(line.lstrip("# "))
        # A chapter that begins with symptoms of its own needs nothing besides.
        self.assertEqual(without, set(SYMPTOMS))
        for symptom, (test, text) in SYMPTOMS.items():
            self.assertIn(text, tests_text([test]), symptom)
            self.assertIn(os.path.basename(test), lists, symptom)

    def test_marks_stand_above_blocks(self):
        findings = []
        for path in documents():
            page = pages.read(path)
            marks = sum(len(values) for block in page.blocks for values in block.marks.values())
            written = sum(1 for line in page.lines if pages.MARK.match(line.strip()))
            if marks != written:
                findings.append(f"{path}: {written} comments for blocks, of which {marks} stand right above one")
            for block in page.blocks:
                if not block.is_command and block.marks:
                    findings.append(f"{block.where}: the comment above is for commands, and this block has none")
        self.assertEqual(findings, [])

    def test_fences_name_their_language(self):
        findings = []
        for path in documents():
            for block in pages.read(path).blocks:
                if not block.indent and not block.language and not block.is_command:
                    findings.append(f"{block.where}: say which language it is, as ```yaml, ```console or ```text")
        self.assertEqual(findings, [])

    def test_yaml_can_be_read(self):
        count = 0
        for path in documents():
            for block in pages.read(path).blocks:
                first = next((line for line in block.lines if line.strip()), "")
                if block.is_command or not (block.language == "yaml" or first.startswith("apiVersion:")):
                    continue
                count += 1
                with self.subTest(block.where):
                    list(yaml.safe_load_all("\n".join(block.lines)))
        self.assertGreater(count, 5)

    def test_questions_to_sqlite_have_answers(self):
        """What a page asks a log in a file with sqlite3 (```sql)."""
        count = 0
        with Folder(HINDSIGHT) as folder:
            for command in ("hindsight simulate examples/quickstart --log sqlite:log.db", "hindsight log key key.pem", "hindsight audit --checkpoint --key key.pem --log log.db",
                            "hindsight log quarantine 351 --log log.db --why 'a test'"):
                status, printed = run(command, folder)
                self.assertEqual(status, 0, command + "\n" + "\n".join(printed))
            for path in documents():
                for block in pages.read(path).blocks:
                    if block.language == "sql":
                        count += 1
                        with open(os.path.join(folder, "questions.sql"), "w", encoding="utf-8") as file:
                            file.write("\n".join(block.lines))
                        status, printed = run("sqlite3 -bail -readonly log.db < questions.sql", folder)
                        self.assertEqual(status, 0, f"{block.where}\n" + "\n".join(printed[-5:]))
                        self.assertGreater(len(printed), 20, block.where)
        self.assertGreater(count, 0)

    # The checks themselves.
    def test_a_block_is_read_as_it_is_written(self):
        page = pages.parse("docs/x.md", "text\n\n<!-- before: true -->\n```console\n$ echo a \\\n  b\na b\n\n$ false\n```\n\n    hindsight get\n\n    # no\n    kubectl x\n\n    key: value\n\ntext\n    not code")
        console, plain = page.blocks
        self.assertEqual(console.commands(), [["echo a \\\n  b", ["a b"]], ["false", []]])
        self.assertEqual(console.marks, {"before": ["true"]})
        self.assertTrue(console.is_command and plain.is_command)
        self.assertEqual([c for c, _ in plain.commands()][:2], ["hindsight get", "kubectl x"])
        self.assertFalse(pages.parse("docs/x.md", "\n    key: value\n").blocks[0].is_command)

    def test_what_is_shown_is_compared(self):
        self.assertTrue(matches(["a", "...", "d"], ["a", "b", "c", "d"]))
        self.assertTrue(matches(["a", "..."], ["a"]))
        for shown in (["a"], ["a", "...", "e"], ["a", "b", "d"], []):
            self.assertFalse(matches(shown, ["a", "b", "c", "d"]), shown)

    def test_a_test_that_does_not_run_a_command_is_found(self):
        def complaint(files, command):
            block = pages.Block("docs/elsewhere.md", 1, "shell", [command], {"run by": [files]})
            return complaint_about_run_by(block, registered())

        self.assertIn("no such file", complaint("tests/none_test.py", "kubectl get pods"))
        self.assertIn("none of them stands", complaint("tests/documents/pages.py", "kubectl get pods"))
        self.assertIn("allowed are files", complaint("README.md", "kubectl get pods"))
        self.assertIn("'--no-such-option'", complaint("tests/documents/links_test.py", "hindsight " + "--no-such" + "-option"))
        self.assertEqual(words_of("sudo kubectl apply -f deploy/crds --server-side=true | grep x # c"), ["kubectl", "apply", "deploy/crds", "--server-side", "grep"])


class Here(unittest.TestCase):
    """One test a page, made below."""
    maxDiff = None

    def play(self, path):
        # Nobody's cluster is touched by a block that was not marked.
        with Folder(HINDSIGHT, {"kubectl": "#!/bin/sh\necho 'this block needs a cluster: <!-- on a cluster --> or <!-- run by ... -->'\nexit 1\n"}) as folder:
            play(self, path, folder, runs_here)


class Changes(unittest.TestCase):
    def test_the_newest_release_names_the_rules_and_the_schema_of_this_build(self):
        newest = re.split(r"^## ", open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8").read(), flags=re.MULTILINE)[1]
        version = json.loads(subprocess.run([HINDSIGHT, "version", "-o", "json"], stdout=subprocess.PIPE, text=True, check=True).stdout)
        self.assertIn(f"**Logs.** Records of schema {version['schema']}; decisions by rules {version['rules']}.", newest)


def add_pages():
    for path in documents():
        if any(block.is_command and runs_here(block) for block in pages.read(path).blocks):
            name = "test_" + re.sub(r"\W", "_", path[:-3])
            setattr(Here, name, lambda self, path=path: self.play(path))


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    HINDSIGHT = os.path.abspath(sys.argv.pop(1))
    if not os.access(HINDSIGHT, os.X_OK):
        sys.exit(f"{HINDSIGHT} is no program")
    add_pages()
    unittest.main()
