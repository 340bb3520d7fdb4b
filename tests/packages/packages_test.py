#!/usr/bin/env python3
"""What `./dev package` makes, made of the programs of a build: read, installed, run and removed.

usage: packages_test.py BUILD_DIR [unittest options]

The commands of docs/installation.md are those that run here. Issue 21, section 1 (packages), and of section 7: from a package the first run takes seconds.
"""
import argparse, gzip, json, os, re, shutil, signal, stat, subprocess, sys, tarfile, tempfile, time, unittest
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGING = ROOT / "scripts" / "package"
sys.path[:0] = [str(Path(__file__).resolve().parent), str(PACKAGING)]

import clean_root  # noqa: E402
import components  # noqa: E402
import image  # noqa: E402
import manual  # noqa: E402
import oci_reader  # noqa: E402
from spdx_check import errors_of  # noqa: E402

INSIDE = "HINDSIGHT_PACKAGES_INSIDE"
PAGE = ROOT / "docs" / "installation.md"
QUICKSTART = "/usr/share/hindsight/examples/quickstart"
# A machine with two busy cores; on a free one it is four seconds.
FIRST_RUN_SECONDS_MAX = 40
IMAGE_BYTES_MAX, ARCHIVE_BYTES_MAX = 100 << 20, 45 << 20
BUILD, FOLDER, MADE = None, None, None


def run(*words, status=0, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False,
                          timeout=600, errors="replace", **more)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(map(str, words))[:300]} ended with {done.returncode}, not {status}:\n{done.stdout[-3000:]}")
    return done.stdout


def commands_below(heading):
    """The commands of the page's blocks below a heading, to the next one."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise AssertionError(f"{PAGE} has no heading {heading!r}")
    return [line for block in re.findall(r"^<!-- run by tests/packages/packages_test.py -->\n```shell\n(.*?)```", found.group(1), re.MULTILINE | re.DOTALL) for line in block.splitlines()]


def release():
    return re.search(r'release = "([0-9.]+)"', (ROOT / "runtime" / "release.hpp").read_text(encoding="utf-8")).group(1)


def make(out, **more):
    return [sys.executable, str(PACKAGING / "make.py"), "--build", str(BUILD), "--out", str(out), "--compression", "gzip"], more


def made(pattern):
    found = list(MADE.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{MADE} has {[file.name for file in found]} for {pattern}; allowed: one file")
    return found[0]


def commands_of_the_program():
    """As the reference names them: a test of its own compares that with the program."""
    return re.findall(r"^<!-- options: (.*) -->$", (ROOT / "docs" / "commands.md").read_text(encoding="utf-8"), re.MULTILINE)


# ---------------------------------------------------------------- what was made


class Files(unittest.TestCase):
    def test_checksums_are_those_of_all_files(self):
        for command in commands_below("Making the packages"):
            if not command.startswith("./dev"):  # that one builds a release first; what it calls then made these files
                self.assertNotIn("FAILED", run("bash", "-c", command, cwd=MADE))
        listed = {line.split("  ")[1] for line in (MADE / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(listed | {"SHA256SUMS"}, {file.name for file in MADE.iterdir()})
        self.assertEqual(len(listed), 4)

    def test_equal_inputs_give_equal_files(self):
        again = FOLDER / "again"
        words, _ = make(again)
        # Nothing of where, when and for whom it is made may show.
        environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "HOME": "/nonexistent", "COLUMNS": "40", "HINDSIGHT_LOG": "/nonexistent"}
        run(*words, cwd="/", env=environment, preexec_fn=lambda: os.umask(0o077))
        for file in sorted(MADE.iterdir()):
            self.assertEqual(file.read_bytes() == (again / file.name).read_bytes(), True, f"{file.name} is not the same")
        shutil.rmtree(again)

    def test_what_cannot_be_packed_is_told(self):
        words, _ = make(FOLDER / "none")
        words[words.index(str(BUILD))] = str(FOLDER)
        self.assertRegex(run(*words, status=1), r"package: error: .*(CPackConfig|hindsight)")
        words, _ = make(FOLDER / "none")
        self.assertIn("SOURCE_DATE_EPOCH: found 'yesterday'; allowed: seconds", run(*words, status=1, env={**os.environ, "SOURCE_DATE_EPOCH": "yesterday"}))

    # One place has the version: the others follow, or say the same.
    def test_versions_agree(self):
        version = release()
        self.assertEqual(made("*.deb").name.split("_")[1], version)
        self.assertEqual(json.loads(run(BUILD / "hindsight", "version", "-o", "json"))["version"], version)
        first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(first.group(1), version)
        for file in sorted((ROOT / "deploy").rglob("*")):
            if file.suffix in (".yaml", "") and file.is_file() and not file.is_symlink():
                for found in re.findall(r"(?:image: \"?hindsight:|^appVersion: \"?|--tag hindsight:)([0-9][0-9.]*[0-9])", file.read_text(encoding="utf-8"), re.MULTILINE):
                    self.assertEqual(found, version, file)
        for found in re.findall(r"hindsight[-_:]([0-9]+\.[0-9.]*[0-9])", PAGE.read_text(encoding="utf-8")):
            self.assertEqual(found, version, PAGE)


class BillsOfMaterials(unittest.TestCase):
    def documents(self):
        for file in MADE.glob("*.spdx.json"):
            yield file, json.loads(file.read_text(encoding="utf-8"))

    def test_are_spdx(self):
        for file, document in self.documents():
            self.assertEqual(errors_of(document), [], file.name)
            described = next(entry for entry in document["packages"] if entry["SPDXID"] == "SPDXRef-hindsight")
            self.assertIn(f"{described['checksums'][0]['checksumValue']}  {described['packageFileName']}", (MADE / "SHA256SUMS").read_text())
            self.assertEqual(described["versionInfo"], release())

    # The check itself: each breach is found.
    def test_breaches_are_found(self):
        _, good = next(self.documents())
        breaches = {
            "versionInfo": lambda d: d["packages"][1].pop("versionInfo"),
            "is not there": lambda d: d["packages"].pop(1),
            "twice": lambda d: d["packages"].append(d["packages"][1]),
            "spdxVersion": lambda d: d.update(spdxVersion="SPDX-2.2"),
            "checksum": lambda d: d["packages"][0]["checksums"][0].update(checksumValue="12"),
            "purl": lambda d: d["packages"][1]["externalRefs"][0].update(referenceLocator="libc6"),
            "SPDXID": lambda d: d["packages"][1].update(SPDXID="libc6"),
            "created": lambda d: d["creationInfo"].update(created="yesterday"),
            "no relationship": lambda d: d.update(relationships=[r for r in d["relationships"] if r["relatedSpdxElement"] != d["packages"][1]["SPDXID"]]),
            "describes": lambda d: d["relationships"].pop(0),
        }
        for sought, breach in breaches.items():
            document = json.loads(json.dumps(good))
            breach(document)
            self.assertTrue([error for error in errors_of(document) if sought in error], (sought, errors_of(document)))

    def test_have_all_that_is_there(self):
        bills = {file.name.split(".spdx")[0].rsplit(".", 1)[-1]: document for file, document in self.documents()}
        deb = {entry["name"]: entry["versionInfo"] for entry in bills["deb"]["packages"]}
        for dependency in re.findall(r"([a-z0-9+.-]+)(?: \([^)]*\))?(?:, |$)", run("dpkg-deb", "-f", made("*.deb"), "Depends").strip()):
            # A virtual package stands for one that provides it.
            names = [name for name in deb if name == dependency or dependency.startswith(f"{name}-")]
            self.assertTrue(names, f"{dependency} is in Depends and not in the bill")
        # What the build of the page says that it took.
        licences = gzip.decompress(self.of_deb("usr/share/doc/hindsight/third-party.gz")).decode()
        page = licences[licences.index("The page in the browser"):]
        in_page = dict(re.findall(r"^([@a-z][\w@/.-]*) (\d+\.\d+\.\d+\S*)$", page, re.MULTILINE))
        self.assertGreaterEqual(len(in_page), 3, page[:300])
        for name, version in in_page.items():
            self.assertEqual(deb.get(name), version, name)
        # The headers of these are compiled in, so their terms have to go with the program.
        for name in ("nlohmann-json3-dev", "libcli11-dev", "libflatbuffers-dev"):
            self.assertIn(name, deb)
            self.assertIn(f"(Debian package {name})", licences)
        in_image = {entry["name"]: entry["versionInfo"] for entry in bills["tar"]["packages"]}
        entries = oci_reader.entries_of(oci_reader.read_image(made("*.oci.tar")))
        known = [path for path in entries if path.startswith("var/lib/dpkg/status.d/") and not path.endswith("/hindsight")]
        self.assertGreater(len(known), 30)
        for path in known:
            name = os.path.basename(path)
            self.assertEqual(in_image.get(name), run("dpkg-query", "-W", "-f", "${Version}\n", name).split()[0], name)

    @staticmethod
    def of_deb(path):
        return image.deb_files(made("*.deb"))[path][1]


class Documents(unittest.TestCase):
    """The documents lie in the package as they do in the sources, so that a message which names a page can be followed where the program is."""

    BELOW = "usr/share/doc/hindsight"
    # What documents name of the sources and no package has.
    OF_THE_SOURCES = {"web/src/api/types.ts", "deploy/container/Dockerfile"}

    @classmethod
    def setUpClass(cls):
        cls.files = image.deb_files(made("*.deb"))

    def text(self, page):
        return self.files[f"{self.BELOW}/{page}"][1].decode()

    def is_there(self, path):
        """Whether the package has a file or a folder of this path, also behind the links to deploy and examples."""
        inside = re.sub(r"^(deploy|examples)(?=/|$)", r"../../hindsight/\1", path)
        whole = os.path.normpath(f"{self.BELOW}/{inside}")
        return whole in self.files or any(file.startswith(whole + "/") for file in self.files)

    def test_the_runbook_of_every_alert_is_there(self):
        rules = self.files["usr/share/hindsight/deploy/monitoring/rules/hindsight.yaml"][1].decode()
        places = re.findall(r"runbook: (\S+)#(\S+)", rules)
        self.assertGreater(len(places), 10)
        for page, section in places:
            self.assertIn(section, [heading.lower() for heading in re.findall(r"^## (.*)$", self.text(page), re.MULTILINE)], page)

    def test_links_lead_somewhere(self):
        pages = [path.removeprefix(self.BELOW + "/") for path in self.files if path.startswith(self.BELOW) and path.endswith(".md")]
        self.assertGreater(len(pages), 30)
        links = [(page, os.path.normpath(os.path.join(os.path.dirname(page), link)))
                 for page in pages for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", self.text(page))]
        self.assertGreater(len(links), 100)
        self.assertEqual([link for link in links if not self.is_there(link[1]) and link[1] not in self.OF_THE_SOURCES], [])


class ManualPages(unittest.TestCase):
    def test_every_command_has_one(self):
        files = image.deb_files(made("*.deb"))
        pages = {os.path.basename(path).removesuffix(".1.gz"): gzip.decompress(content).decode() for path, (_, content) in files.items() if "/man1/" in path}
        for command in commands_of_the_program():
            name = "hindsight-" + command.replace(" ", "-")
            self.assertIn(name, pages)
            has_examples = "\nExamples:" in run(BUILD / "hindsight", *command.split(), "--help")
            self.assertEqual(".SH EXAMPLES" in pages[name], has_examples, name)
        self.assertIn("hindsight\\-verify \\- ", pages["hindsight-verify"])
        self.assertIn("\\-\\-public\\-key", pages["hindsight-verify"])
        self.assertIn("HINDSIGHT_LOG.", pages["hindsight-get"])
        # Each option of a help text is in its page.
        for words in (["run"], ["log", "cat"], ["what-if"]):
            text = run(BUILD / "hindsight", *words, "--help")
            for option in re.findall(r"^  (?:-\w,)?(--[a-z-]+)", text, re.MULTILINE):
                self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", pages["hindsight-" + "-".join(words)], (words, option))

    def test_what_troff_would_obey_is_text(self):
        help_ = manual.parse_help("It does.\nUsage: x [OPTIONS]\n\nOptions:\n  --a TEXT:{b,c}=b (Env:X_Y) REQUIRED Needs: --d\n"
                                  + " " * 30 + ".so /etc/passwd \\n and 'quotes'\n  --number INT:1 or more\n" + " " * 30 + "How many\n\nExamples:\n  .x --a b\n")
        page = manual.page_of("x", help_, manual.Stamp("2026-01-31", "x 1"), [])
        self.assertIn("\n\\&.so /etc/passwd \\en and \\(aqquotes\\(aq. Required. One of b, c. Default: b. Environment: X_Y. Needs \\-\\-d.", page.replace("\\-\\-d.", "\\-\\-d."))
        self.assertIn("\nHow many. Allowed: 1 or more.", page)
        self.assertIn("\n\\&.x \\-\\-a b\n", page)
        self.assertFalse([line for line in page.splitlines() if line.startswith(".so")])
        self.assertEqual(manual.entry_of("  quota                       What it has"), manual.Entry("quota", "", "What it has"))


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = made("*.oci.tar")
        cls.image = oci_reader.read_image(cls.file)
        cls.entries = oci_reader.entries_of(cls.image)

    def test_says_how_it_runs(self):
        config = self.image.config["config"]
        self.assertEqual(config["User"], "65532:65532")
        self.assertEqual(config["Entrypoint"], ["/usr/bin/hindsight"])
        self.assertEqual(config["Volumes"], {"/var/lib/hindsight": {}})
        self.assertEqual(config["Labels"]["org.opencontainers.image.version"], release())
        self.assertEqual(config["Labels"]["org.opencontainers.image.revision"], json.loads(run(BUILD / "hindsight", "version", "-o", "json"))["commit"])
        self.assertEqual(self.image.names, [f"hindsight:{release()}", f"docker.io/library/hindsight:{release()}"])
        # So that a kubelet finds what deploy/ asks for.
        manifest = (ROOT / "deploy" / "hindsight.yaml").read_text(encoding="utf-8")
        self.assertIn(f"image: {self.image.names[0]}", manifest)
        self.assertIn(f"runAsUser: {config['User'].split(':')[0]}", manifest)

    def test_the_dockerfile_says_the_same(self):
        last = (ROOT / "deploy" / "container" / "Dockerfile").read_text(encoding="utf-8").split("FROM scratch")[1]
        config = self.image.config["config"]
        for line in (f"USER {config['User']}", f"WORKDIR {config['WorkingDir']}", f"STOPSIGNAL {config['StopSignal']}", f"ENTRYPOINT {json.dumps(config['Entrypoint'])}",
                     f"CMD {json.dumps(config['Cmd'])}", f"ENV {' '.join(config['Env'])}", *(f"VOLUME {volume}" for volume in config["Volumes"])):
            self.assertIn(f"\n{line}\n", last)
        # What it copies are the files of the archive.
        folder = FOLDER / "image-files"
        run(sys.executable, PACKAGING / "image.py", "--deb", made("*.deb"), "--root", folder)
        here = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
        self.assertEqual(set(here), set(self.entries))
        for path, file in here.items():
            entry, found = self.entries[path], file.lstat()
            if entry.issym():
                self.assertEqual(os.readlink(file), entry.linkname, path)
                continue
            self.assertEqual((stat.S_ISDIR(found.st_mode), stat.S_IMODE(found.st_mode)), (entry.isdir(), entry.mode), path)
            if entry.isfile():
                self.assertEqual(found.st_size, entry.size, path)
            if os.geteuid() == 0:
                self.assertEqual((found.st_uid, found.st_gid), (entry.uid, entry.gid), f"{path}: COPY keeps its owner")
        shutil.rmtree(folder)
        for name in ("title", "description", "licenses"):
            name = f"org.opencontainers.image.{name}"
            self.assertIn(f'{name}="{config["Labels"][name]}"', last)

    def test_holds_little_and_nothing_loose(self):
        for path, entry in self.entries.items():
            own = path == "var/lib/hindsight"
            self.assertEqual((entry.uid, entry.gid), (65532, 65532) if own else (0, 0), path)
            self.assertFalse(entry.mode & 0o6000, f"{path} changes its user")
            self.assertTrue(path == "tmp" or entry.issym() or not entry.mode & 0o022, f"{path} can be written to by others")
        programs = {path for path, entry in self.entries.items() if entry.isfile() and entry.mode & 0o111 and "/lib/" not in f"/{path}"}
        self.assertEqual(programs, {"usr/bin/hindsight"})
        self.assertLess(sum(entry.size for entry in self.entries.values()), IMAGE_BYTES_MAX)
        self.assertLess(self.file.stat().st_size, ARCHIVE_BYTES_MAX)

    def test_a_changed_image_is_refused(self):
        breaches = {
            "has the content of": lambda files, blob: files.update({blob: files[blob][:-1] + b"?"}),
            "size: found": lambda files, blob: files.update({blob: files[blob] + b"?"}),
            "is not in the archive": lambda files, blob: files.pop(blob),
            "named by nothing": lambda files, blob: files.update({"blobs/sha256/" + "0" * 64: b"loose"}),
            "imageLayoutVersion": lambda files, blob: files.update({"oci-layout": b'{"imageLayoutVersion": "2.0.0"}'}),
            "not JSON": lambda files, blob: files.update({"index.json": b"{"}),
        }
        layer = "blobs/sha256/" + self.image.manifest["layers"][1]["digest"][7:]
        for sought, breach in breaches.items():
            files = oci_reader.files_of(self.file)
            breach(files, layer)
            with mock.patch.object(oci_reader, "files_of", return_value=files), self.assertRaisesRegex(oci_reader.BadImage, sought):
                oci_reader.read_image(self.file)
        cut = FOLDER / "cut.tar"
        cut.write_bytes(self.file.read_bytes()[:5000])
        with self.assertRaises(oci_reader.BadImage):
            oci_reader.read_image(cut)

    def test_a_file_that_is_not_as_delivered_is_refused(self):
        library = components.libraries_of([BUILD / "hindsight"])[0]
        image.as_delivered(library.path, library.package)
        with mock.patch.object(image, "checksums_of", return_value={library.path: "0" * 32}), self.assertRaisesRegex(components.PackagingError, "was changed after it was installed"):
            image.as_delivered(library.path, library.package)
        with self.assertRaisesRegex(components.PackagingError, "of no Debian package"):
            components.owners_of([str(PACKAGING / "image.py")])

    # ---- started, by the commands of the page

    def start(self, *words, status=0, data=None):
        return run(PACKAGING / "run_image.py", *(["--data", data] if data else []), self.file, *words, status=status)

    def test_runs_the_quick_start(self):
        folder = FOLDER / "from-image"
        folder.mkdir()
        shutil.copy(self.file, folder)
        commands = commands_below("Without a container runtime")
        self.assertEqual(len(commands), 2)
        for command in commands:
            said = run("bash", "-c", command.replace("scripts/package/", f"{PACKAGING}/"), cwd=folder)
        self.assertRegex(said, r"\d+ decisions")
        log = folder / "data" / "quickstart.db"
        self.assertGreater(log.stat().st_size, 100000)
        # The libraries of the image, its time zones and its user.
        self.assertEqual(json.loads(self.start("version", "-o", "json")), json.loads(run(BUILD / "hindsight", "version", "-o", "json")))
        self.assertIn("team-a", self.start("get", "workloads", "-A", "--log", "quickstart.db", "--tz", "Europe/Berlin", "--at", "2026-01-01T01:00:10", data=folder / "data"))

    def test_writes_nowhere_else(self):
        self.assertIn("records", self.start("simulate", QUICKSTART, "--log", "sqlite:/tmp/x.db"))
        for place in ("/usr", "/etc/hindsight", "/"):
            said = self.start("simulate", QUICKSTART, "--log", f"sqlite:{place}/x.db", status=1)
            self.assertRegex(said, "(?i)read-only|permission denied|unable to open|cannot", place)

    def test_has_no_rights(self):
        words = [PACKAGING / "run_image.py", self.file, "run", "--quickstart", QUICKSTART, "--keep", "--ui", "127.0.0.1:0"]
        starter = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            program = self.program_below(starter.pid)
            status = dict(line.split(":\t", 1) for line in Path(f"/proc/{program}/status").read_text().splitlines() if ":\t" in line)
            self.assertEqual(status["NoNewPrivs"], "1")
            for rights in ("CapPrm", "CapEff", "CapBnd", "CapAmb", "CapInh"):
                self.assertEqual(int(status[rights], 16), 0, rights)
            if os.geteuid() == 0:
                self.assertEqual(status["Uid"].split(), ["65532"] * 4)
                self.assertEqual(status["Groups"].split(), [])
            mounts = [line.split() for line in Path(f"/proc/{program}/mountinfo").read_text().splitlines()]
            of_root = [mount for mount in mounts if mount[4] == "/"]
            if clean_root.mounts_allowed():
                self.assertIn("ro", of_root[-1][5].split(","), of_root)
            # SIGTERM, as a kubelet sends it, ends it by itself. The first process of a namespace hears only what it asked for, so it has to be up.
            while "http://127.0.0.1" not in (line := starter.stdout.readline()):
                self.assertNotEqual(line, "", "it ended before it served the page")
            starter.send_signal(signal.SIGTERM)
            self.assertEqual(starter.wait(60), 0, starter.stdout.read())
        finally:
            if starter.poll() is None:
                starter.kill()
            starter.stdout.close()

    def program_below(self, pid):
        """The process that has become the program, when it has."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            at = pid
            for _ in range(4):
                if Path(f"/proc/{at}/cmdline").read_bytes().startswith(b"/usr/bin/hindsight\0"):
                    return at
                below = Path(f"/proc/{at}/task/{at}/children").read_text().split()
                if not below:
                    break
                at = int(below[0])
            time.sleep(0.1)
        raise AssertionError("the program did not start")


# ---------------------------------------------------------------- the package in a clean root


class Installed(unittest.TestCase):
    """In the order of their names: each test finds what the one before left."""

    @classmethod
    def setUpClass(cls):
        cls.stack = ExitStack()
        cls.addClassCleanup(cls.stack.close)
        cls.deb = made("*.deb")
        archive = Path(os.environ[INSIDE]) if INSIDE in os.environ else clean_root.prepared(wanted_packages(cls.deb))
        cls.root = cls.stack.enter_context(clean_root.unpacked(archive, FOLDER))
        shutil.copy(cls.deb, cls.root.path("/root"))
        cls.before = cls.files_named_so()

    @classmethod
    def files_named_so(cls):
        """All files of the root with the program's name, but for what dpkg, apt and man keep of what they did."""
        found = cls.root.run("find", "/", "-xdev", "-iname", "*hindsight*").split()
        return {path for path in found if not path.startswith(("/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/man/", "/proc/", "/root/"))}

    def in_root(self, command, **more):
        return self.root.shell(f"cd /root && {command}", **more)

    def test_1_installs_and_runs_in_seconds(self):
        commands = commands_below("Debian package")
        self.assertEqual([command.split()[0] for command in commands], ["apt-get", "hindsight", "hindsight", "hindsight", "hindsight", "man", "man", "hindsight"])
        # All that it needs lies in the root's cache, so what is installed is what Depends says.
        self.in_root(commands[0], seconds=600)
        self.assertEqual(self.in_root("dpkg --audit").strip(), "")
        begin = time.monotonic()
        self.in_root(commands[1])
        took = time.monotonic() - begin
        print(f"the first run took {took:.1f} s", file=sys.stderr)
        self.assertLess(took, FIRST_RUN_SECONDS_MAX)
        self.assertIn("team-a", self.in_root(commands[2]))
        self.assertIn("It waits: ", self.in_root(commands[3]))
        self.in_root(commands[4])
        told = json.loads(self.in_root(commands[7]))
        self.assertEqual(told["version"], release())

    def test_2_what_was_delivered(self):
        self.assertEqual(self.in_root("dpkg --verify hindsight").strip(), "")
        listed = set(self.in_root("dpkg -L hindsight").split())
        for path in ("/usr/bin/hindsight", "/usr/bin/hindsight-verify", "/usr/bin/kubectl-hindsight", "/etc/hindsight/config.yaml", "/usr/lib/systemd/system/hindsight.service",
                     "/usr/share/hindsight/deploy/crds/kueue.x-k8s.io_clusterqueues.yaml", "/usr/share/hindsight/deploy/rbac.yaml", "/usr/share/hindsight/deploy/helm/hindsight/Chart.yaml",
                     "/usr/share/doc/hindsight/copyright", "/usr/share/doc/hindsight/changelog.gz"):
            self.assertIn(path, listed)
        # No link of the package leads nowhere, and all belongs to root.
        self.assertEqual(self.in_root("dpkg -L hindsight | xargs -d '\\n' sh -c 'for f; do [ -e \"$f\" ] || echo \"$f\"; done' sh").strip(), "")
        self.assertEqual(self.in_root("dpkg -L hindsight | xargs -d '\\n' stat -c '%U:%G' | sort -u").split(), ["root:root"])
        self.assertEqual(self.in_root("dpkg -L hindsight | xargs -d '\\n' -I F find F -maxdepth 0 ! -type l -perm /6022").strip(), "")
        self.assertIn("0:", self.in_root("hindsight-verify --help | head -1; echo 0:"))
        self.assertIn("kubectl hindsight list", self.in_root("kubectl-hindsight list --help"))

    def test_3_manual_and_completion(self):
        for command in commands_below("Debian package")[5:7]:
            self.assertRegex(self.in_root(command), r"(?s)NAME.*SYNOPSIS.*OPTIONS")
        # troff has nothing to say of any page.
        self.assertEqual(self.in_root("for page in /usr/share/man/man1/hindsight*; do man --warnings=w -l $page 2>&1 >/dev/null; done").strip(), "")
        self.assertRegex(self.in_root("whatis hindsight-why"), r"hindsight-why \(1\) +- ")
        complete = "source /usr/share/bash-completion/completions/hindsight; COMP_WORDS=(hindsight log ch); COMP_CWORD=2; _hindsight; echo \"${COMPREPLY[*]}\""
        self.assertEqual(self.in_root(complete).strip(), "check checkpoints")
        for shell, file in (("zsh", "/usr/share/zsh/vendor-completions/_hindsight"), ("fish", "/usr/share/fish/vendor_completions.d/hindsight.fish")):
            self.assertEqual(self.root.path(file).read_text(), self.in_root(f"hindsight completion {shell}"))

    def test_4_the_service(self):
        self.assertEqual(self.in_root("systemd-analyze verify --man=no hindsight.service").strip(), "")
        exposure = re.search(r"Overall exposure level for hindsight.service: ([0-9.]+)", self.in_root("systemd-analyze security --offline=true hindsight.service"))
        self.assertLess(float(exposure.group(1)), 2.0)
        commands = commands_below("As a service")
        self.assertEqual(len(commands), 2)
        # There is no server; all else is good, so that is what it ends with.
        self.root.path("/root/kubeconfig").write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"token": "t"}}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        self.in_root(commands[0])
        # Nothing boots here, so it is not started.
        self.in_root(commands[1].replace(" --now", ""))
        self.assertTrue(self.root.path("/etc/systemd/system/multi-user.target.wants/hindsight.service").is_symlink())
        unit = self.root.path("/usr/lib/systemd/system/hindsight.service").read_text()
        line = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE).group(1).replace("%d", "/etc/hindsight").replace("%S", "/tmp")
        self.in_root("mkdir -p /tmp/hindsight")
        said = self.in_root(f"{line} --connect-timeout 1", status=1)
        self.assertIn("127.0.0.1:1", said)
        self.in_root(f"hindsight run --quickstart {QUICKSTART} --log sqlite:/tmp/hindsight/with-config.db --config /etc/hindsight/config.yaml")
        self.in_root("rm -r /tmp/hindsight")

    def test_5_an_update_keeps_what_was_changed(self):
        config = self.root.path("/etc/hindsight/config.yaml")
        config.write_text(config.read_text() + "# ours\n")
        self.in_root(commands_below("Debian package")[0].replace("install -y", "install -y --reinstall"))
        self.assertTrue(config.read_text().endswith("# ours\n"))
        self.assertTrue(self.root.path("/etc/systemd/system/multi-user.target.wants/hindsight.service").is_symlink(), "an update switched the service off")

    def test_6_removing_leaves_what_is_yours(self):
        remove, purge = commands_below("Removing it")
        log = self.root.path("/var/lib/hindsight/log.db")
        log.parent.mkdir()
        log.write_bytes(b"records")
        self.in_root(remove)
        self.assertFalse(self.root.path("/usr/bin/hindsight").exists())
        self.assertTrue(self.root.path("/etc/hindsight/config.yaml").exists())
        self.assertTrue(log.exists())
        # The kubeconfig is the administrator's, who takes it away.
        self.root.path("/etc/hindsight/kubeconfig").unlink()
        said = self.in_root(purge)
        self.assertIn("/var/lib/hindsight is kept", said)
        self.assertTrue(log.exists())
        self.assertEqual(self.files_named_so() - self.before, {"/var/lib/hindsight"})

    def test_7_a_purge_leaves_nothing(self):
        shutil.rmtree(self.root.path("/var/lib/hindsight"))
        self.in_root(commands_below("Debian package")[0])
        self.in_root(commands_below("Removing it")[1])
        self.assertEqual(self.files_named_so() - self.before, set())
        self.assertEqual(self.in_root("dpkg-query -W -f '${db:Status-Status}' hindsight 2>&1 || true").strip().splitlines()[-1:], ["dpkg-query: no packages found matching hindsight"])


def wanted_packages(deb):
    """What the clean root has archives of: all that the package depends on or recommends."""
    fields = run("dpkg-deb", "-f", deb, "Depends", "Recommends")
    names = re.findall(r"(?:^|[:,]) *([a-z0-9][a-z0-9+.-]+)", re.sub(r"\([^)]*\)", "", re.sub(r"^\w+: ", ", ", fields, flags=re.MULTILINE)))
    return sorted(set(names))


def into_a_namespace(archive):
    """Who is not root goes on as root of a user namespace with a range of users, as a rootless container does."""
    os.environ[INSIDE] = str(archive)
    words = ["unshare", "--map-root-user", "--map-auto", "--mount", "--fork", "--kill-child", sys.executable, *sys.argv]
    sys.exit(subprocess.run(words, check=False).returncode)


def main():
    global BUILD, FOLDER, MADE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    arguments, rest = parser.parse_known_args()
    BUILD = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix="packages-", dir=BUILD / "tests") as folder:
        FOLDER = Path(folder)
        FOLDER.chmod(0o755)
        MADE = FOLDER / "made"
        begin = time.monotonic()
        words, _ = make(MADE)
        print(run(*words), file=sys.stderr)
        print(f"made in {time.monotonic() - begin:.1f} s", file=sys.stderr)
        if os.geteuid() != 0 and INSIDE not in os.environ:
            into_a_namespace(clean_root.prepared(wanted_packages(made("*.deb"))))
        unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
