#!/usr/bin/python3
"""The sum over test reports counts cases and never reports success for a run that failed, crashed or did not happen."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "test_summary.py"


def gtest_report(*cases):
    """A GoogleTest report; each case is passed, failed or skipped."""
    suite = []
    for index, outcome in enumerate(cases):
        case = {"name": f"case{index}", "status": "RUN", "result": "SKIPPED" if outcome == "skipped" else "COMPLETED"}
        if outcome == "failed":
            case["failures"] = [{"failure": "expected 1, found 2", "type": ""}]
        suite.append(case)
    return json.dumps({"tests": len(cases), "testsuites": [{"name": "Suite", "testsuite": suite}]})


class Summary(unittest.TestCase):
    def run_on(self, entries, reports=None, arguments=()):
        """Status and lines for ctest entries {name: (status, output)} and GoogleTest reports {name: text}."""
        with tempfile.TemporaryDirectory() as folder:
            cases = "".join(f'<testcase name="{n}" status="{s}"><system-out>{o}</system-out></testcase>' for n, (s, o) in entries.items())
            junit = Path(folder) / "junit.xml"
            junit.write_text(f"<testsuite>{cases}</testsuite>")
            for name, text in (reports or {}).items():
                (Path(folder) / f"{name}.json").write_text(text)
            word = f"unit={junit}={folder}"
            run = subprocess.run([sys.executable, SCRIPT, *arguments, word], capture_output=True, text=True, check=False)
            return run.returncode, run.stdout.splitlines()

    def test_gtest_cases_are_counted_one_by_one(self):
        status, lines = self.run_on({"quota": ("run", "")}, {"quota": gtest_report("passed", "passed", "skipped")})
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed"))
        self.assertIn("1 skipped", lines[0])

    def test_a_failed_case_is_named_and_the_status_is_not_zero(self):
        status, lines = self.run_on({"quota": ("fail", "")}, {"quota": gtest_report("passed", "failed")})
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed"))
        self.assertEqual(lines[lines.index("FAILED unit: Suite.case1") + 1], "    expected 1, found 2")

    def test_a_crash_counts_as_a_failure_although_no_report_exists(self):
        status, lines = self.run_on({"quota": ("fail", ""), "other": ("run", "")}, {"other": gtest_report("passed")})
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed"))

    def test_a_failed_entry_whose_cases_all_passed_counts_as_a_failure(self):
        status, lines = self.run_on({"quota": ("fail", "")}, {"quota": gtest_report("passed")})
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed"))

    def test_a_script_is_counted_by_its_last_count_line(self):
        status, lines = self.run_on({"crd": ("run", "noise\n3 passed, 0 failed\n41 passed, 0 failed\n")})
        self.assertEqual((status, lines[-1]), (0, "41 passed, 0 failed"))
        status, lines = self.run_on({"crd": ("fail", "40 passed, 1 failed\n")})
        self.assertEqual((status, lines[-1]), (1, "40 passed, 1 failed"))

    def test_what_a_script_says_of_its_failed_checks_is_repeated(self):
        output = "FAILED: the copy is clean: found False\nnoise\nFAILED: " + "x" * 5000 + "\n7 passed, 3 failed\n"
        status, lines = self.run_on({"crd": ("fail", output)})
        self.assertEqual((status, lines[-1]), (1, "7 passed, 3 failed"))
        self.assertIn("FAILED unit: crd: the copy is clean: found False", lines)
        self.assertIn("FAILED unit: crd: " + "x" * 400, lines)
        self.assertIn("FAILED unit: crd: ?", lines)

    def test_python_unittest_output_is_counted(self):
        status, lines = self.run_on({"py": ("run", "...\nRan 7 tests in 0.01s\n\nOK (skipped=2)\n")})
        self.assertEqual((status, lines[-1]), (0, "5 passed, 0 failed"))
        text = "FAIL: test_a (x)\nERROR: test_b (x)\nRan 7 tests in 0.01s\n\nFAILED (failures=1, errors=1)\n"
        status, lines = self.run_on({"py": ("fail", text)})
        self.assertEqual((status, lines[-1]), (1, "5 passed, 2 failed"))
        self.assertIn("FAILED unit: py: test_b", lines)

    def test_other_scripts_count_as_one(self):
        status, lines = self.run_on({"a": ("run", "fine"), "b": ("run", "")})
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed"))

    def test_nothing_run_is_no_success(self):
        status, lines = self.run_on({})
        self.assertEqual((status, lines[-1]), (1, "0 passed, 0 failed"))

    def test_a_missing_ctest_report_is_a_failure(self):
        word = "unit=/nonexistent/junit.xml=/nonexistent"
        run = subprocess.run([sys.executable, SCRIPT, word], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout.splitlines()[-1]), (1, "0 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
