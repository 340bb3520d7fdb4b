#!/usr/bin/python3
"""scripts/npm_packages.py against a registry on loopback: what it installs, and what it refuses."""

import base64
import hashlib
import http.server
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "npm_packages.py"


def archive(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, (content, mode) in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), mode
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def integrity(content):
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


class Registry(http.server.BaseHTTPRequestHandler):
    archives = {}
    asked = []

    def do_GET(self):
        self.asked.append((self.path, self.headers.get("Authorization")))
        content = self.archives.get(self.path)
        self.send_response(200 if content else 404)
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *_):
        pass


class NpmPackages(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        Registry.archives, Registry.asked = {}, []

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def install(self, packages, npmrc=""):
        (self.root / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": {"": {}, **packages}}))
        (self.root / ".npmrc").write_text(npmrc)
        environment = {**os.environ, "HOME": self.folder.name, "npm_config_registry": f"http://127.0.0.1:{self.server.server_port}/npm/"}
        environment.pop("npm_config_cafile", None)
        return subprocess.run([sys.executable, SCRIPT, self.folder.name], env=environment, capture_output=True, text=True, timeout=60)

    def test_installs_what_suits_this_machine(self):
        plain = archive({"package/index.js": (b"1", 0o644), "package/bin/tool": (b"#!", 0o755)})
        Registry.archives = {"/npm/@a/b/-/b-1.0.0.tgz": plain}
        done = self.install(
            {
                "node_modules/@a/b": {"version": "1.0.0", "integrity": integrity(plain)},
                "node_modules/elsewhere": {"version": "1.0.0", "integrity": integrity(plain), "os": ["win32"]},
                "node_modules/no-processor": {"version": "1.0.0", "integrity": integrity(plain), "cpu": ["none"]},
            },
            npmrc=f"//127.0.0.1:{self.server.server_port}/npm/:_authToken=secret\n",
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Registry.asked, [("/npm/@a/b/-/b-1.0.0.tgz", "Bearer secret")])
        self.assertEqual((self.root / "node_modules/@a/b/index.js").read_bytes(), b"1")
        self.assertTrue(os.access(self.root / "node_modules/@a/b/bin/tool", os.X_OK))

    def refused(self, content, package, words):
        Registry.archives = {"/npm/a/-/a-1.0.0.tgz": content}
        done = self.install({"node_modules/a": package})
        self.assertEqual(done.returncode, 1)
        self.assertIn(words, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertFalse((self.root / "node_modules").exists())

    def test_refuses_another_content(self):
        good, other = archive({"package/a": (b"1", 0o644)}), archive({"package/a": (b"2", 0o644)})
        self.refused(other, {"version": "1.0.0", "integrity": integrity(good)}, "a 1.0.0: found an archive with sha512")

    def test_refuses_a_package_without_checksum(self):
        self.refused(archive({}), {"version": "1.0.0"}, "'node_modules/a' has no version or no integrity")
        self.refused(archive({}), {"version": "1.0.0", "integrity": "md5-x"}, "integrity: found 'md5-x'")

    def test_refuses_files_outside_of_the_package(self):
        bad = archive({"package/../../../evil": (b"1", 0o644)})
        self.refused(bad, {"version": "1.0.0", "integrity": integrity(bad)}, "outside of the package")
        self.assertFalse((self.root.parent / "evil").exists())

    def test_says_what_is_not_there(self):
        self.refused(b"", {"version": "1.0.0", "integrity": "sha512-x"}, "404")

    def test_says_what_is_no_archive(self):
        self.refused(b"no archive", {"version": "1.0.0", "integrity": integrity(b"no archive")}, "npm_packages: ")


if __name__ == "__main__":
    unittest.main()
