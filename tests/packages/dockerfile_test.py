#!/usr/bin/env python3
"""deploy/container/Dockerfile, built from nothing by buildah and started: what it makes is the image that `./dev package` makes.

usage: dockerfile_test.py BUILD_DIR [unittest options]

There is no registry here. What the recipe calls debian:12 is made with mmdebstrap from the mirrors of this machine's apt, with the
certificate authorities that this machine trusts, and leaves documents out when packages are installed, as the slim image of Debian does.
Building the program takes ten minutes and more. Issue 21, section 1.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile, unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(Path(__file__).resolve().parent), str(ROOT / "scripts" / "package")]

import clean_root  # noqa: E402
import image  # noqa: E402
import oci_reader  # noqa: E402

DOCKERFILE = ROOT / "deploy" / "container" / "Dockerfile"
BASE, TAG = "docker.io/library/debian:12", "hindsight:of-the-test"
AUTHORITIES = Path("/usr/local/share/ca-certificates")
QUICKSTART = "/usr/share/hindsight/examples/quickstart"
BUILD_SECONDS_MAX = 5400
BUILD, FOLDER = None, None


def run(*words, seconds=600, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, check=False,
                          timeout=seconds, errors="replace", **more)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))[:300]} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def buildah(*words, **more):
    return run("buildah", *words, env={**os.environ, "CONTAINERS_STORAGE_CONF": str(FOLDER / "storage.conf")}, **more)


def make_base():
    archive = FOLDER / "debian.tar"
    options = [f"--aptopt={option.rstrip(';')}" for option in clean_root.apt_options()]
    run("mmdebstrap", "--variant=minbase", "--dpkgopt=force-unsafe-io", '--aptopt=Acquire::Retries "3"', *options, "", archive, *clean_root.sources(), seconds=1500)
    extra = FOLDER / "extra"
    (extra / "etc/dpkg/dpkg.cfg.d").mkdir(parents=True)
    (extra / "etc/dpkg/dpkg.cfg.d/docker").write_text("path-exclude /usr/share/doc/*\npath-include /usr/share/doc/*/copyright\n", encoding="ascii")
    if AUTHORITIES.is_dir():
        shutil.copytree(AUTHORITIES, extra / AUTHORITIES.relative_to("/"))
    container = buildah("from", "scratch").split()[-1]
    for what in (archive, extra):
        buildah("add", "--quiet", container, what, "/")
    # Programs with authorities of their own are told of those of the machine.
    buildah("config", "--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt", container)
    buildah("commit", "--quiet", container, BASE)
    buildah("rm", container)
    archive.unlink()


def files_below(root):
    return {str(path.relative_to(root)) for path in Path(root).rglob("*")}


class Dockerfile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make_base()
        # As a user's clone has it: what is not in the repository does not help.
        context = FOLDER / "context"
        run("git", "clone", "--quiet", ROOT, context)
        shutil.copy(DOCKERFILE, context / DOCKERFILE.relative_to(ROOT))
        cls.told = buildah("build", "--isolation", "chroot", "--pull-never", "--file", DOCKERFILE.relative_to(ROOT), "--tag", TAG, ".", cwd=context, seconds=BUILD_SECONDS_MAX)
        cls.config = json.loads(buildah("inspect", "--type", "image", TAG))["OCIv1"]["config"]
        cls.container = buildah("from", "--pull-never", TAG).split()[-1]
        cls.files = Path(buildah("mount", cls.container).split()[-1])

    def test_it_is_set_up_as_the_archive_is(self):
        for setting, value in image.SETTINGS.items():
            self.assertEqual(self.config[setting], value, setting)

    def test_it_has_the_files_of_the_archive(self):
        made = FOLDER / "made"
        run(sys.executable, ROOT / "scripts/package/make.py", "--build", BUILD, "--out", made, "--compression", "gzip")
        archive = next(made.glob("*.oci.tar"))
        entries = set(oci_reader.entries_of(oci_reader.read_image(archive)))
        # What an engine puts there when it mounts a root.
        found = files_below(self.files) - {"dev", "proc", "sys", "run", "etc/hosts", "etc/resolv.conf"}
        self.assertEqual(found - entries, set())
        self.assertEqual({entry for entry in entries if entry not in found and entry not in ("dev", "proc", "sys", "run")}, set())

    def test_it_starts_as_nobody_and_runs_the_quick_start(self):
        data = FOLDER / "data"
        data.mkdir()
        os.chown(data, image.USER, image.USER)

        def inside(*words):
            return buildah("run", "--isolation", "chroot", "--volume", f"{data}:/var/lib/hindsight", self.container, "--", "/usr/bin/hindsight", *words)
        told = json.loads(inside("version", "-o", "json"))
        self.assertEqual(told["commit"], run("git", "-C", FOLDER / "context", "rev-parse", "HEAD").strip())
        log = "sqlite:/var/lib/hindsight/quickstart.db"
        self.assertRegex(inside("run", "--quickstart", QUICKSTART, "--log", log), r"\d+ records, \d+ decisions")
        self.assertEqual((data / "quickstart.db").stat().st_uid, image.USER)
        self.assertIn("sound: ", inside("verify", "--log", log))


def main():
    global BUILD, FOLDER
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    arguments, rest = parser.parse_known_args()
    BUILD = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix="dockerfile-", dir=os.environ.get("TMPDIR", "/tmp")) as folder:
        FOLDER = Path(folder)
        (FOLDER / "storage.conf").write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{FOLDER}/graph"\nrunroot = "{FOLDER}/run"\n', encoding="utf-8")
        try:
            unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
        finally:
            # What it keeps belongs to it alone; mounts have to go first.
            for command in (["umount", "--all"], ["rm", "--all"], ["rmi", "--all", "--force"]):
                subprocess.run(["buildah", *command], env={**os.environ, "CONTAINERS_STORAGE_CONF": str(FOLDER / "storage.conf")}, capture_output=True, check=False, timeout=300)


if __name__ == "__main__":
    main()
