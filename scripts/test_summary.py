#!/usr/bin/python3
"""Adds up the reports of ./dev test.

    test_summary.py [--filtered] SUITE=JUNIT_XML=GTEST_JSON_FOLDER...

Counts test cases, not ctest entries: a GoogleTest entry by its JSON report, a script by its last line "N passed, N failed" (its lines
"FAILED: ..." say what failed) or by what Python's unittest prints, any other entry as one. An entry that failed although no case of it did
(a crash, a leak, a time-out) counts as one failure. The last line printed is "N passed, N failed"; the status is 0 only if something
passed and nothing failed (with --filtered a suite may be empty, not all of them).
"""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

COUNT_LINE = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
FAILED_CHECK = re.compile(r"^FAILED: (.+)$", re.MULTILINE)
LONGEST_CHECK = 400  # characters of what a failed check says
LONGEST_REASON = 1200  # characters of the first failure of a GoogleTest case
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
UNITTEST_RESULT = re.compile(r"^(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)


def reason(failures):
    """What the first failure of a case says, shortened and indented: where only the end of a log is kept, this is what is seen of it."""
    text = failures[0].get("failure", "")
    text = text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON] + " ..."
    return "".join(f"\n    {line}" for line in text.splitlines() if line.strip())


def gtest_counts(report):
    """Passed, skipped and the names of failed cases of one GoogleTest JSON report; None if it is missing or cut off."""
    try:
        document = json.loads(report.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    passed, skipped, failed = 0, 0, []
    for suite in document["testsuites"]:
        for case in suite["testsuite"]:
            if case.get("failures"):
                failed.append(f"{suite['name']}.{case['name']}" + reason(case["failures"]))
            elif case.get("result") == "SKIPPED":
                skipped += 1
            elif case.get("status") == "RUN":
                passed += 1
    return passed, skipped, failed


def script_counts(name, output):
    """Passed, skipped and names of failures that a script printed; None if it printed no counts."""
    lines = COUNT_LINE.findall(output)
    if lines:
        failures = int(lines[-1][1])
        checks = [check[:LONGEST_CHECK] for check in FAILED_CHECK.findall(output)[:failures]]
        return int(lines[-1][0]), 0, [f"{name}: {check}" for check in checks + ["?"] * (failures - len(checks))]
    ran, result = UNITTEST_RAN.findall(output), UNITTEST_RESULT.findall(output)
    if ran and result:
        numbers = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", result[-1])}
        failures, skipped = numbers.get("failures", 0) + numbers.get("errors", 0), numbers.get("skipped", 0)
        names = re.findall(r"^(?:FAIL|ERROR): (\w+)", output, re.MULTILINE)
        names += ["?"] * max(0, failures - len(names))
        return max(0, sum(map(int, ran)) - failures - skipped), skipped, [f"{name}: {case}" for case in names[:failures]]
    return None


def entry_counts(entry, results):
    """Passed, skipped and names of what failed in one ctest entry."""
    name, ok = entry.get("name"), entry.get("status") == "run"
    counts = gtest_counts(results / f"{name}.json")
    if counts is None:
        counts = script_counts(name, entry.findtext("system-out") or "")
    if counts is None:
        counts = (1 if ok else 0), 0, []
    passed, skipped, failed = counts
    if not ok and not failed:
        failed = [f"{name} (the entry itself: crash, sanitizer report or time-out)"]
    return passed, skipped, failed


def main():
    arguments = sys.argv[1:]
    filtered = "--filtered" in arguments
    passed_all, failed_all, broken = 0, [], False
    for word in (word for word in arguments if word != "--filtered"):
        suite, junit, results = word.split("=")
        try:
            entries = ElementTree.parse(junit).getroot().findall("testcase")
        except (FileNotFoundError, ElementTree.ParseError) as error:
            print(f"suite {suite}: ctest left no report: {error}")
            broken = True
            continue
        passed, skipped, failed = 0, 0, []
        for entry in entries:
            if entry.get("status") in ("notrun", "disabled") and entry.find("failure") is None:
                skipped += 1
                continue
            entry_passed, entry_skipped, entry_failed = entry_counts(entry, Path(results))
            passed += entry_passed
            skipped += entry_skipped
            failed += entry_failed
        print(f"suite {suite}: {passed} passed, {len(failed)} failed, {skipped} skipped, in {len(entries)} entries")
        passed_all += passed
        failed_all += [f"{suite}: {name}" for name in failed]

    for name in failed_all:
        print(f"FAILED {name}")
    if passed_all + len(failed_all) == 0:
        print("no test matches" if filtered else "no test ran")
    print(f"{passed_all} passed, {len(failed_all) + broken} failed")
    sys.exit(0 if passed_all and not failed_all and not broken else 1)


if __name__ == "__main__":
    main()
