#!/usr/bin/env python3
"""The dashboards of deploy/monitoring: issue 21, section 5 ("Grafana dashboards ... tested with Debian's prometheus tools").

Their text is what generate.py writes; Grafana 10 or later can read them; no panel lies on another; each expression is PromQL, as promtool
parses it, and asks for metrics and labels that are served. The queries that Kueue's documents show find all that they ask for, too.
"""
import os, re, shutil, subprocess, sys, tempfile, unittest

import yaml

from monitoring import DEPLOY, TARGET_LABELS, dashboards, judge_names, metrics_of_page, names_of, promtool, read

WIDTH = 24
UNITS = {"short", "s", "ops", "bytes", "percentunit"}
# What Grafana puts in before it asks.
VARIABLES = {"$__rate_interval": "5m", "$__interval": "1m", "$__range": "6h", "$cluster_queue": "a|b", "$cluster": ".*", "$namespace": ".*"}
# Of metrics that name a namespace of their own, Prometheus calls it so.
RENAMED = {"exported_namespace"}
# What the queries on Kueue's page "Common Grafana Queries" ask for, but for MultiKueue: metrics, and labels by which they select or group.
OF_KUEUE = {
    "kueue_cluster_queue_resource_usage": {"cluster_queue", "resource"}, "kueue_cluster_queue_nominal_quota": {"cluster_queue", "resource"},
    "kueue_pending_workloads": {"cluster_queue", "status"}, "kueue_admission_wait_time_seconds": {"cluster_queue"},
    "kueue_pod_scheduling_gate_removal_seconds": {"cluster_queue", "name", "is_group"}, "kueue_admitted_until_ready_wait_time_seconds": {"cluster_queue", "priority_class"},
    "kueue_admitted_workloads_total": {"cluster_queue"}, "kueue_finished_workloads_total": {"cluster_queue"}, "kueue_evicted_workloads_total": {"cluster_queue", "reason"},
    "kueue_workload_eviction_latency_seconds": {"cluster_queue", "reason"}, "kueue_cluster_queue_status": {"status"}, "kueue_admitted_active_workloads": {"cluster_queue"},
}


def filled(expression):
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return expression


def panels():
    """(dashboard, panel), without headings."""
    return [(name, p) for name, d in dashboards().items() for p in d["panels"] if p["type"] != "row"]


def expressions():
    return [(f"{name}: {p['title']}", t["expr"]) for name, p in panels() for t in p["targets"]]


class DashboardsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hindsight-dashboards-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def test_they_are_what_the_generator_writes(self):
        subprocess.run([sys.executable, os.path.join(DEPLOY, "generate.py"), self.folder], check=True, timeout=60)
        for name in (*(os.path.join("dashboards", d) for d in sorted(os.listdir(os.path.join(self.folder, "dashboards")))), "prometheus-rule.yaml"):
            self.assertEqual(read(self.folder, name), read(DEPLOY, name), f"{name}: run deploy/monitoring/generate.py")
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "dashboards"))), sorted(os.listdir(os.path.join(DEPLOY, "dashboards"))))

    def test_grafana_can_read_them(self):
        all_of_them = dashboards()
        self.assertEqual(sorted(all_of_them), ["log.json", "overview.json", "preemption.json", "queues.json"])
        for part in ("uid", "title"):
            self.assertEqual(len({d[part] for d in all_of_them.values()}), len(all_of_them))
        for name, d in all_of_them.items():
            with self.subTest(name):
                self.assertGreaterEqual(d["schemaVersion"], 38)  # of Grafana 10
                self.assertIsNone(d["id"])
                self.assertLessEqual(len(d["uid"]), 40)
                self.assertEqual(len({p["id"] for p in d["panels"]}), len(d["panels"]))
                variables = {v["name"] for v in d["templating"]["list"]}
                self.assertLessEqual({"datasource", "cluster", "namespace"}, variables)
                used = set(re.findall(r"\$\{?([a-z]\w*)", read(DEPLOY, "dashboards", name)))
                self.assertEqual(used - variables, set(), "variables that nobody defines")
                self.assertEqual(variables - used, set(), "variables that nobody uses")

    def test_no_panel_lies_on_another(self):
        for name, d in dashboards().items():
            taken = {}
            for p in d["panels"]:
                place = p["gridPos"]
                self.assertGreater(min(place["w"], place["h"]), 0)
                self.assertLessEqual(place["x"] + place["w"], WIDTH, p["title"])
                for x in range(place["x"], place["x"] + place["w"]):
                    for y in range(place["y"], place["y"] + place["h"]):
                        self.assertNotIn((x, y), taken, f"{name}: {p['title']} lies on {taken.get((x, y))}")
                        taken[x, y] = p["title"]
            lines = 1 + max(y for _, y in taken)
            self.assertEqual({y for _, y in taken}, set(range(lines)), f"{name}: an empty line")
            # Lines are full, but for the last of a section.
            self.assertGreater(len(taken), 0.85 * WIDTH * lines, f"{name}: holes")

    def test_each_panel_says_what_it_shows(self):
        for name, p in panels():
            with self.subTest(f"{name}: {p['title']}"):
                self.assertTrue(p["title"] and p["description"].endswith((".", "?")))
                self.assertIn(p["fieldConfig"]["defaults"]["unit"], UNITS)
                self.assertEqual(p["datasource"]["uid"], "${datasource}")
                self.assertTrue(p["targets"])
                self.assertEqual(len({t["refId"] for t in p["targets"]}), len(p["targets"]))
        titles = [(name, p["title"]) for name, p in panels()]
        self.assertEqual(len(titles), len(set(titles)))

    def test_promtool_parses_each_expression(self):
        everything = [(where, filled(e)) for where, e in expressions()]
        self.assertGreater(len(everything), 70)
        for _, e in everything:
            self.assertNotIn("$", e)
        path = os.path.join(self.folder, "expressions.yaml")
        group = {"name": "dashboards", "rules": [{"record": f"panel:{i}", "expr": e} for i, (_, e) in enumerate(everything)]}
        with open(path, "w", encoding="utf-8") as out:
            yaml.safe_dump({"groups": [group]}, out)
        self.assertIn(f"{len(everything)} rules found", promtool("check", "rules", path))

    def test_every_name_is_served(self):
        known = metrics_of_page()
        for where, e in expressions():
            self.assertEqual(judge_names(filled(e), known, RENAMED), [], where)
            self.assertTrue(names_of(filled(e))[0], where)

    def test_legends_show_labels_that_the_metrics_have(self):
        known = metrics_of_page()
        for name, p in panels():
            for t in p["targets"]:
                labels = set(re.findall(r"\{\{(\w+)\}\}", t["legendFormat"]))
                grouped = re.search(r"\bby \(([^)]*)\)", t["expr"])
                # Of what is added up by labels, only these are left.
                left = set(re.split(r", *", grouped[1])) if grouped and "group_right" not in t["expr"] else None
                metrics = [m for m in names_of(filled(t["expr"]))[0] if m in known]
                has = left if left is not None else TARGET_LABELS.union(*(known[m][1] | known[m][2] for m in metrics))
                self.assertLessEqual(labels, has, f"{name}: {p['title']}: {t['legendFormat']}")

    def test_variables_ask_for_what_is_served(self):
        known = metrics_of_page()
        for name, d in dashboards().items():
            for v in d["templating"]["list"]:
                if v["type"] != "query":
                    continue
                selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", v["query"]["query"]).groups()
                self.assertEqual(judge_names(filled(selector), known), [], name)
                metric = names_of(filled(selector))[0][0]
                self.assertIn(label, TARGET_LABELS | known[metric][1] | known[metric][2])

    # BA-185: queries that were written for Kueue work.
    def test_queries_of_kueue_find_what_they_ask_for(self):
        known = metrics_of_page()
        for metric, labels in OF_KUEUE.items():
            self.assertIn(metric, known)
            self.assertLessEqual(labels, known[metric][1], metric)


if __name__ == "__main__":
    unittest.main()
