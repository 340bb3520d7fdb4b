#!/usr/bin/python3
"""Joined test files: each keeps its names to itself, and whatever is told about it stands where its text stands."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import join_tests  # noqa: E402

TEST = """namespace product {
namespace {
int answer() { return %d; }
struct Registered { Registered() { sum += answer(); line = __LINE__; } } registered;
}  // namespace
}  // namespace product
"""
HELPER = """namespace product {
namespace {
int answer() { return 100; }
}  // namespace
int helped() { return answer(); }
}  // namespace product
"""
MAIN = """#include <cstdio>
int main() { std::printf("%d %d %s", sum + product::helped(), line, __FILE__); }
"""


class JoinTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def test_equal_names_in_unnamed_namespaces_stay_apart(self):
        files = [
            self.write("globals.cpp", "int sum = 0, line = 0;\n"),
            self.write("one_test.cpp", TEST % 1),
            self.write("two_test.cpp", "// another line\n" + TEST % 20),
            self.write("helper.cpp", HELPER),
            self.write("main.cpp", MAIN),
        ]
        joined = self.dir / "joined.cpp"
        joined.write_text(join_tests.joined(files), encoding="utf-8")
        program = self.dir / "program"
        subprocess.run(["c++", "-std=c++20", "-Wall", "-Werror", "-o", program, joined], check=True)
        out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out, f"121 5 {files[-1]}")

    def test_nothing_else_is_changed(self):
        text = "namespace named {\n// namespace {\nconst char* s = \"namespace {\";\n}\n"
        file = self.write("plain_test.cpp", text)
        self.assertIn(text, join_tests.joined([file]))


if __name__ == "__main__":
    unittest.main()
