#!/usr/bin/python3
"""The local cluster's process records: it stops what it started and never a process that only has the same pid."""

import json
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import cluster  # noqa: E402


class ProcessRecord(unittest.TestCase):
    def setUp(self):
        # The script leaves its children running when it ends; only unittest warns about that.
        warnings.simplefilter("ignore", ResourceWarning)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = Path(self.folder.name)
        (self.dir / "pids").mkdir()
        (self.dir / "logs").mkdir()
        self.process = cluster.Process(self.dir, "etcd")

    def test_a_started_process_is_known_and_stopped(self):
        self.process.start(["sleep", "60"])
        pid = self.process.pid()
        self.assertIsNotNone(pid)
        self.process.stop()
        self.assertIsNone(cluster.start_ticks(pid))
        self.assertFalse(self.process.file.exists())

    def test_a_process_with_the_recorded_pid_that_is_not_ours_is_left_alone(self):
        stranger = subprocess.Popen(["sleep", "60"])
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        for wrong in ({"start_ticks": cluster.start_ticks(stranger.pid) - 1}, {"boot": "another boot"}):
            with self.subTest(wrong):
                self.process.file.write_text(json.dumps({**cluster.identity(stranger.pid), **wrong}))
                self.assertIsNone(self.process.pid())
                self.process.stop()
                self.assertIsNone(stranger.poll())

    def test_a_process_that_ended_is_not_taken_for_a_live_one(self):
        self.process.start(["true"])
        self.assertTrue(cluster.wait_until(lambda: self.process.pid() is None, 10, 0.01))


if __name__ == "__main__":
    unittest.main()
