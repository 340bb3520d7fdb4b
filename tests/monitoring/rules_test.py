#!/usr/bin/env python3
"""The alerts of deploy/monitoring: issue 21, section 5 ("alert rules with runbooks, tested with Debian's prometheus tools").

usage: rules_test.py HINDSIGHT

promtool says that they are rules, and that each fires with series for which it should, and does not with others. Each names a section of
docs/runbooks.md, and every command of `hindsight` that stands there is run on a log.
"""
import os, re, shutil, subprocess, sys, tempfile, unittest

import yaml

from alert_cases import CASES, as_promtool
from monitoring import DEPLOY, ROOT, RULES, judge_names, metrics_of_page, names_of, promtool, read, rules, tokens

HINDSIGHT = None
SEVERITIES = {"critical", "warning", "info"}
PARTS = ["What it means", "What it costs", "How to look", "What to do"]
RUNBOOK = "docs/runbooks.md"  # a file of the repository


def sections():
    """Heading -> text, of docs/runbooks.md, for each alert."""
    parts = re.split(r"^## (Hindsight\w+)\n", read(ROOT, "docs", "runbooks.md"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def commands(text):
    """The lines of indented blocks."""
    return [line[4:] for line in text.splitlines() if line.startswith("    ") and line.strip()]


class RulesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hindsight-rules-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_promtool_takes_them(self):
        self.assertIn(f"{len(rules())} rules found", promtool("check", "rules", RULES))

    def test_each_fires_and_does_not_fire(self):
        for rule in rules():
            cases = [c for c in CASES if c["alert"] == rule["alert"]]
            self.assertTrue(any(c["fires"] for c in cases), f"{rule['alert']}: no case in which it fires")
            self.assertTrue(any(not c["fires"] for c in cases), f"{rule['alert']}: no case in which it does not")
        self.assertIn("SUCCESS", self.judge(CASES))

    def test_a_case_that_is_wrong_is_noticed(self):
        for change in ({"fires": ()}, {"series": {"up": "1x10"}}):
            with self.assertRaises(AssertionError, msg=str(change)):
                self.judge([{**CASES[0], **change, "alert": CASES[0]["alert"], "minute": 1 if "fires" not in change else 7}])

    def judge(self, cases):
        path = os.path.join(self.folder, "cases.yaml")
        with open(path, "w", encoding="utf-8") as out:
            yaml.safe_dump(as_promtool(cases, rules(), RULES), out)
        return promtool("test", "rules", path)

    def test_every_name_is_served(self):
        known = metrics_of_page()
        self.assertGreater(len(known), 100)
        for rule in rules():
            self.assertEqual(judge_names(rule["expr"], known), [], rule["alert"])
            self.assertGreater(len(names_of(rule["expr"])[0]), 0, rule["alert"])

    def test_names_that_are_not_served_are_noticed(self):
        known = metrics_of_page()
        for wrong in ("hindsight_leadr == 0", "sum by (cluster_que) (kueue_pending_workloads)", 'kueue_pending_workloads{state="active"}',
                      "kueue_admission_wait_time_seconds > 1", "rate(hindsight_leader_bucket[5m])", "hindsight_leader{le=\"1\"}"):
            self.assertNotEqual(judge_names(wrong, known), [], wrong)
        with self.assertRaises(AssertionError):
            tokens("rate(x[5m]) ; 1")

    def test_people_are_told_what_to_do(self):
        for rule in rules():
            with self.subTest(rule["alert"]):
                self.assertIn(rule["labels"]["severity"], SEVERITIES)
                self.assertEqual(set(rule["annotations"]), {"summary", "description", "runbook"})
                self.assertEqual(rule["annotations"]["runbook"], RUNBOOK + "#" + rule["alert"].lower())
                self.assertLessEqual(len(rule["annotations"]["summary"]), 120)

    def test_each_has_a_runbook_and_each_runbook_an_alert(self):
        found = sections()
        self.assertEqual(sorted(found), sorted(rule["alert"] for rule in rules()))
        for alert, text in found.items():
            with self.subTest(alert):
                self.assertEqual(re.findall(r"^\*\*(.+?)\.\*\*", text, flags=re.MULTILINE), PARTS)
                self.assertTrue(commands(text), "no command to look with")

    def test_the_command_of_the_readme_makes_links_of_the_names(self):
        """To the address that the site gives to each section: tests/documents/site_test.py finds them there."""
        command = next(line for line in commands(read(DEPLOY, "README.md")) if line.startswith("sed "))
        shutil.copytree(DEPLOY, os.path.join(self.folder, "monitoring"))
        subprocess.run(["bash", "-c", command], cwd=os.path.join(self.folder, "monitoring"), check=True, timeout=60)
        linked = os.path.join(self.folder, "monitoring", "rules", "hindsight.yaml")
        self.assertIn(f"{len(rules())} rules found", promtool("check", "rules", linked))
        for group in yaml.safe_load(read(linked))["groups"]:
            for rule in group["rules"]:
                self.assertEqual(rule["annotations"]["runbook_url"], "https://docs.example.org/hindsight/runbooks/#" + rule["alert"].lower())
                self.assertNotIn("runbook", rule["annotations"])
        self.assertEqual(yaml.safe_load(read(self.folder, "monitoring", "prometheus-rule.yaml"))["spec"], yaml.safe_load(read(linked)))

    def test_the_object_of_the_operator_has_the_same_rules(self):
        plain = yaml.safe_load(read(RULES))
        self.assertEqual(yaml.safe_load(read(DEPLOY, "prometheus-rule.yaml"))["spec"], plain)

    def test_the_service_monitor_finds_the_service(self):
        monitor = yaml.safe_load(read(DEPLOY, "service-monitor.yaml"))
        services = [o for o in yaml.safe_load_all(read(ROOT, "deploy", "hindsight.yaml")) if o and o["kind"] == "Service"]
        chosen = [s for s in services if monitor["spec"]["selector"]["matchLabels"].items() <= s["metadata"].get("labels", {}).items()]
        self.assertEqual([s["metadata"]["namespace"] for s in chosen], [monitor["metadata"]["namespace"]])
        self.assertLessEqual({e["port"] for e in monitor["spec"]["endpoints"]}, {p["name"] for p in chosen[0]["spec"]["ports"]})

    def test_commands_of_runbooks_run(self):
        """On the log of the quick start, with its address in place of the one of an installation."""
        log = "sqlite:" + os.path.join(self.folder, "log.db")
        done = subprocess.run([HINDSIGHT, "run", "--quickstart", os.path.join(ROOT, "examples", "quickstart"), "--log", log], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        environment = {**os.environ, "HINDSIGHT_LOG": log, "PATH": os.path.dirname(HINDSIGHT) + ":" + os.environ["PATH"]}
        ran = 0
        for alert, text in sections().items():
            for line in commands(text):
                if not line.startswith("hindsight "):
                    self.assertRegex(line, r"^(kubectl|df|timedatectl) ", f"{alert}: what is this?")
                    continue
                ran += 1
                done = subprocess.run(["bash", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False, env=environment)
                self.assertEqual(done.returncode, 0, f"{alert}: {line}\n{done.stdout[-2000:]}")
        self.assertGreater(ran, 10)


if __name__ == "__main__":
    HINDSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
