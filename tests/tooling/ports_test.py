"""Ports for what is started side by side: no two owners get one, and what an owner had is free when it has gone."""
import concurrent.futures
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))

import ports  # noqa: E402


class PortsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        ports.CLAIMS = Path(self.folder.name) / "claims"
        ports.PORT_RANGE = (20000, 20400)
        self.owner = Path(self.folder.name) / "owner"
        self.owner.mkdir()

    def test_nobody_gets_what_another_one_has(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            given = sum(pool.map(lambda _: ports.free_ports(6, self.owner), range(20)), [])
        self.assertEqual(len(given), 120)
        self.assertEqual(len(set(given)), 120, "a port was given twice while nobody listened on it")

    def test_what_an_owner_had_is_free_when_it_has_gone(self):
        ports.PORT_RANGE = (20000, 20040)
        first = set(ports.free_ports(15, self.owner))
        self.owner.rmdir()
        # More than are left of the range: some of them must be those of the owner that has gone.
        again = set(ports.free_ports(26, self.folder.name))
        self.assertTrue(first & again)


if __name__ == "__main__":
    unittest.main()
