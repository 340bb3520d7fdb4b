#!/usr/bin/env python3
"""The blocks of the documents that need a cluster (<!-- on a cluster -->), on a real API server.

usage: cluster_test.py HINDSIGHT [unittest options]

One server for all pages, one after another in the order of PAGES, for a page may use what the one before it has applied. In each folder lie what
commands_test.py puts there, and `kubectl`. No kubelet runs here, so blocks do not wait for pods.
Issue 21, section 4: every command block runs in the suite.
"""
import os, re, shutil, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages
from pages import ROOT
from runner import Folder, play, run as play_one
from commands_test import RUNBOOKS

sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
from steps import run  # noqa: E402

HINDSIGHT = ""
# What is installed comes first.
PAGES = ["deploy/README.md", "README.md", "examples/README.md"]


def on_a_cluster(block):
    return "on" in block.marks


def chosen():
    """Every page that has such blocks, those of PAGES first."""
    rest = sorted(p for p in pages.markdown_files() if p.startswith("docs/") and p not in PAGES)
    return [path for path in PAGES + rest if any(on_a_cluster(block) for block in pages.read(path).blocks)]


class OnACluster(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-documents-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = os.path.join(cls.folder, "cluster")
        run(os.path.join(ROOT, "dev"), "cluster", "up", "--dir", cls.cluster, "--no-kwok", "--no-scheduler")
        cls.addClassCleanup(run, os.path.join(ROOT, "dev"), "cluster", "down", "--dir", cls.cluster)
        cls.kubeconfig = os.path.join(cls.cluster, "kubeconfig")

    def test_blocks_do_what_they_say(self):
        kubectl = run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "kubectl").strip().split("\n")[-1]
        paths = chosen()
        self.assertIn("deploy/README.md", paths)
        for path in paths:
            with self.subTest(path), Folder(HINDSIGHT, {"kubectl": f'#!/bin/sh\nexec {kubectl} "$@"\n'}) as folder:
                shutil.copyfile(self.kubeconfig, os.path.join(folder, "kubeconfig"))
                play(self, path, folder, on_a_cluster, self.kubeconfig)

    def test_kubectl_understands_the_runbooks(self):
        """Their commands look at an installation that is not here. So they may find nothing, but must be commands."""
        kubectl = run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "kubectl").strip().split("\n")[-1]
        nothing_there = re.compile(r"not ?found|no such host|Metrics API not available|could not find the requested resource|^no$|timed out", re.IGNORECASE | re.MULTILINE)
        count = 0
        for path in RUNBOOKS:
            for block in pages.read(path).blocks:
                for command, _ in block.commands() if block.is_command else []:
                    if not command.startswith("kubectl "):
                        continue
                    count += 1
                    with self.subTest(command), Folder(HINDSIGHT, {"kubectl": f'#!/bin/sh\nexec {kubectl} "$@"\n'}) as folder:
                        status, printed = play_one(command, folder, self.kubeconfig)
                        self.assertTrue(status == 0 or nothing_there.search("\n".join(printed)), f"{block.where}: {command}\n" + "\n".join(printed))
        self.assertGreater(count, 5)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    HINDSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
