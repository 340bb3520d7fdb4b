#!/usr/bin/env python3
"""/metrics of a real process on a real API server, through promtool, the tables and the alerts: issue 21, section 5.

usage: real_run_test.py HINDSIGHT

A cluster with two queues of a cohort, fair sharing, a topology, an admission check and jobs that run, wait, are preempted and are set aside.
- promtool has nothing to find fault with.
- Whatever is served stands in docs/metrics.md, with this type and these labels; and whatever stands there is served here, or by the unit test
  that is named below.
- What was scraped while all was well makes no alert fire that should not; what was scraped after an object was set aside, and after the API
  server was stopped, makes those fire that should. Between two scrapes time runs faster there than it did here.
BA-185, BA-189
"""
import glob, json, math, os, shutil, sys, tempfile, time, unittest, urllib.request

import yaml

from monitoring import HISTOGRAM_PARTS, ROOT, RULES, metrics_of_page, names_of, promtool, read, rules, samples, types

sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
from jobs_test import Cluster, job  # noqa: E402
from steps import Program, eventually, free_port  # noqa: E402
from visibility_test import kueue  # noqa: E402

HINDSIGHT = None
CONFIGURATION = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: hindsight-system
metrics: {enableClusterQueueResources: true}
waitForPodsReady: {timeout: 10m, blockAdmission: false}
fairSharing: {preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]}
admissionFairSharing: {usageHalfLifeTime: 1h, usageSamplingInterval: 1m}
hindsight: {topologyMetrics: 1}
featureGates: {SchedulingGatedBy: true}
"""
# Served by what does not run here: where a unit test asks for it.
ELSEWHERE = {
    "tests/projections/metrics_story_test.cpp": [
        "hindsight_admissions_withheld_total",
        "kueue_admission_cycle_preemption_skips", "kueue_preemption_target_recomputations_total", "kueue_pods_ready_to_evicted_time_seconds"],
    "tests/projections/family_story_test.cpp": [
        "kueue_concurrent_admission_migrations_total", "kueue_concurrent_admission_options", "kueue_concurrent_admission_preemption_right_grants_total"],
    "tests/simulation/elastic_log_test.cpp": ["kueue_replaced_workload_slices_total"],
    "tests/projections/gates_test.cpp": ["kueue_gated_time_seconds"],
    "tests/cli/quarantine_test.cpp": ["hindsight_quarantined_records"],
    "tests/runtime/node_metrics_test.cpp": [
        "hindsight_partitions_open", "hindsight_partitions_wanted", "hindsight_standby_domains", "hindsight_standby_domains_ready"],
}
HEALTHY, ASIDE, AWAY = 30, 15, 1480  # minutes that each scrape counts for


def queue(name, cohort="all", flavor="any", cpu=4, quota=None, **spec):
    flavors = [{"name": flavor, "resources": [{"name": "cpu", "nominalQuota": cpu, **(quota or {})}]}]
    return [kueue("ClusterQueue", name, {**({"cohortName": cohort} if cohort else {}), "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
                                         "preemption": {"withinClusterQueue": "LowerPriority"}, **spec}),
            kueue("LocalQueue", name, {"clusterQueue": name}, "default")]


def with_labels(name, local_queue, pods, seconds, priority=None, annotations=None, template=None, cpu="1"):
    out = job(name, local_queue, pods, seconds)
    if priority:
        out["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = priority
    out["metadata"]["annotations"] = annotations or {}
    out["spec"]["template"]["metadata"]["annotations"].update(template or {})
    out["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return out


class RealRunTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"), "--nodes", "4")
        cls.addClassCleanup(cls.cluster.down)
        files = [*sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))), os.path.join(ROOT, "deploy", "rbac.yaml")]
        cls.cluster.kubectl("apply", *[w for f in files for w in ("-f", f)])
        config = os.path.join(cls.folder, "config.yaml")
        with open(config, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION)
        cls.port, webhooks = free_port(), free_port()
        # Without its configurations the webhook server is asked nothing; it shows a certificate all the same.
        cls.program = Program("hindsight", os.path.join(cls.folder, "hindsight.out"), HINDSIGHT, "run", "--kubeconfig", cls.cluster.kubeconfig, "--no-lease", "--config", config,
                              "--log", "sqlite:" + os.path.join(cls.folder, "log.db"), "--log-limit", "1Gi", "--http", f"127.0.0.1:{cls.port}",
                              "--webhooks", "--webhook-address", f"127.0.0.1:{webhooks}", "--webhook-url", f"https://127.0.0.1:{webhooks}", "--webhook-cert-dir",
                              os.path.join(cls.folder, "certificates"), "--webhook-cert-lifetime", "24h")
        os.mkdir(os.path.join(cls.folder, "certificates"))
        cls.addClassCleanup(cls.program.kill)
        cls.program.start()
        try:
            cls.play()
        except BaseException:
            print("---- what hindsight said\n" + cls.program.said()[-6000:], flush=True)
            raise

    @classmethod
    def play(cls):
        cls.apply(kueue("Topology", "dc", {"levels": [{"nodeLabel": "topology.hindsight.dev/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}),
                  kueue("ResourceFlavor", "any", {"nodeLabels": {"type": "kwok"}}), kueue("ResourceFlavor", "near", {"nodeLabels": {"type": "kwok"}, "topologyName": "dc"}),
                  kueue("WorkloadPriorityClass", "high", None) | {"value": 100}, kueue("WorkloadPriorityClass", "low", None) | {"value": 0},
                  kueue("AdmissionCheck", "budget", {"controllerName": "example.com/budget"}), kueue("Cohort", "all", {}),
                  *queue("prod", quota={"borrowingLimit": 0}, admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"}), *queue("dev"), *queue("near", flavor="near", cpu=16),
                  *queue("checked", cohort=None, admissionChecksStrategy={"admissionChecks": [{"name": "budget"}]}))
        cls.cluster.kubectl("patch", "admissionchecks.kueue.x-k8s.io", "budget", "--subresource=status", "--type=merge", "-p", json.dumps(
            {"status": {"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}))
        cls.apply(with_labels("long", "prod", 4, 3600, "low"), with_labels("short", "dev", 1, 1), with_labels("gang", "near", 2, 3600, template={"kueue.x-k8s.io/podset-required-topology": "topology.hindsight.dev/rack"}),
                  with_labels("checked", "checked", 1, 3600), with_labels("large", "dev", 1, 3600, cpu="1000"),
                  with_labels("gated", "dev", 1, 3600, annotations={"kueue.x-k8s.io/scheduling-gated-by": "example.com/later"}))
        cls.until_value("kueue_finished_workloads_total", 1)
        cls.check_is_ready()
        cls.until_value("kueue_admission_checks_wait_time_seconds_count", 1)
        cls.apply(with_labels("urgent", "prod", 3, 3600, "high"))
        cls.until_value("kueue_preempted_workloads_total", 1)
        cls.until_value("kueue_workload_eviction_latency_seconds_count", 1)
        cls.until_value("kueue_ready_wait_time_seconds_count", 1)
        cls.until_value("kueue_pod_scheduling_gate_removal_seconds_count", 1)
        cls.healthy, cls.healthy_at = cls.at_rest(), time.time()
        cls.apply(with_labels("odd", "dev", 1, 60, annotations={"kueue.x-k8s.io/admission-gated-by": ",".join(f"example.com/gate-{i:05}" for i in range(300))}))
        cls.until_value("hindsight_quarantined_objects", 1)
        cls.aside = cls.at_rest()
        cls.cluster.command("stop", "apiserver")
        cls.until_value("hindsight_watch_failing", 1)
        cls.until_value("hindsight_api_server_reachable", 0, exactly=True)
        cls.away = cls.at_rest()
        assert cls.program.runs(), "an API server that is away is no reason to end without a Lease"

    @classmethod
    def apply(cls, *objects):
        for o in objects:
            if o.get("spec", 0) is None:
                del o["spec"]
        cls.cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    @classmethod
    def scrape(cls):
        with urllib.request.urlopen(f"http://127.0.0.1:{cls.port}/metrics", timeout=60) as answer:
            return answer.read().decode()

    @classmethod
    def at_rest(cls):
        """A scrape while no message waits: series() stretches it over many minutes, and a message that waits so long would be a fault."""
        def look():
            text = cls.scrape()
            waiting = [float(value) for n, _, value in samples(text) if n == "hindsight_inbox"]
            assert waiting and max(waiting) == 0, f"hindsight_inbox: {waiting}"
            return text
        return eventually(look)

    @classmethod
    def until_value(cls, name, least, exactly=False):
        def look():
            try:
                values = [float(value) for n, _, value in samples(cls.scrape()) if n == name]
            except OSError as error:
                raise AssertionError(error) from error
            assert values and (min(values) == least if exactly else max(values) >= least), f"{name}: {values}"
        eventually(look)

    @classmethod
    def check_is_ready(cls):
        def look():
            items = json.loads(cls.cluster.kubectl("get", "workloads.kueue.x-k8s.io", "-n", "default", "-o", "json"))["items"]
            one = next((w for w in items if w["spec"]["queueName"] == "checked"), None)
            assert one is not None
            states = one["status"]["admissionChecks"]
            cls.cluster.kubectl("patch", "workloads.kueue.x-k8s.io", one["metadata"]["name"], "-n", "default", "--subresource=status", "--type=merge", "-p",
                                json.dumps({"status": {"admissionChecks": [{**states[0], "state": "Ready", "message": "granted"}]}}))
        eventually(look)

    # ---- names ----------------------------------------------------------------------------------------------------------------------

    def test_promtool_finds_no_fault(self):
        for text in (self.healthy, self.aside, self.away):
            self.assertEqual(promtool("check", "metrics", input=text).strip(), "")

    def test_what_is_served_is_described(self):
        known = metrics_of_page()
        for text in (self.healthy, self.aside, self.away):
            kinds = types(text)
            for name, kind in kinds.items():
                self.assertIn(name, known, "served and not described")
                self.assertEqual(kind, known[name][0], name)
            for name, labels, _ in samples(text):
                base = next((name[: -len(p)] for p in HISTOGRAM_PARTS if name.endswith(p) and kinds.get(name[: -len(p)]) == "histogram"), name)
                self.assertIn(base, kinds, "a sample without a line # TYPE")
                _, always, sometimes = known[base]
                has = set(labels) - ({"le"} if name.endswith("_bucket") else set())
                self.assertLessEqual(always, has, name)
                self.assertLessEqual(has, always | sometimes, name)

    def test_what_is_described_is_served(self):
        served = set().union(*(types(text) for text in (self.healthy, self.aside, self.away)))
        elsewhere = {name: file for file, names in ELSEWHERE.items() for name in names}
        missing = set(metrics_of_page()) - served - set(elsewhere)
        self.assertEqual(missing, set(), "described, and neither served here nor asked for by a unit test")
        for name, file in elsewhere.items():
            text = read(ROOT, file)
            self.assertTrue(name in text or name.removeprefix("kueue_") in text, f"{file} does not ask for {name}")

    def test_figures_are_right(self):
        def value(text, name, **labels):
            found = [float(v) for n, l, v in samples(text) if n == name and labels.items() <= l.items()]
            self.assertEqual(len(found), 1, f"{name} {labels}")
            return found[0]
        self.assertEqual(value(self.healthy, "kueue_cluster_queue_nominal_quota", cluster_queue="prod", resource="cpu"), 4)
        self.assertEqual(value(self.healthy, "kueue_cluster_queue_lending_limit", cluster_queue="prod", resource="cpu"), math.inf)
        self.assertEqual(value(self.healthy, "hindsight_leader"), 1)
        self.assertEqual(value(self.healthy, "hindsight_deciding"), 1)
        self.assertEqual(value(self.healthy, "hindsight_api_server_reachable"), 1)
        self.assertEqual(value(self.healthy, "hindsight_mirror_objects", resource="clusterqueues.kueue.x-k8s.io"), 4)
        self.assertLess(value(self.healthy, "hindsight_log_behind_seconds"), 60)
        cycles = sum(value(self.healthy, "kueue_admission_attempt_duration_seconds_count", result=r) for r in ("success", "inadmissible"))
        decided = sum(float(v) for n, _, v in samples(self.healthy) if n == "kueue_admission_attempts_total")
        self.assertGreaterEqual(cycles, decided)
        self.assertGreater(cycles, 0)
        until = value(self.healthy, "hindsight_certificate_expiry_timestamp_seconds", use="webhooks")
        self.assertAlmostEqual(until, self.healthy_at + 86400, delta=7200)
        waits = self.healthy_at - value(self.healthy, "hindsight_oldest_pending_timestamp_seconds", cluster_queue="dev")
        self.assertTrue(0 < waits < 600, waits)

    # ---- alerts ---------------------------------------------------------------------------------------------------------------------

    def series(self):
        """What Prometheus would have of what the rules ask for, had it scraped these each minute."""
        values, asked = {}, {name for rule in rules() for name in names_of(rule["expr"])[0]}
        for at, text in enumerate((self.healthy, self.aside, self.away)):
            for name, labels, value in samples(text):
                if name not in asked:
                    continue
                if name.endswith("_timestamp_seconds"):
                    value = repr(float(value) - self.healthy_at)  # promtool's time begins at 0
                labels = {"exported_" + k if k == "namespace" else k: v for k, v in labels.items()} | {"job": "hindsight", "instance": "one"}
                key = name + "{" + ",".join(f'{k}="{v}"' for k, v in sorted(labels.items())) + "}"
                values.setdefault(key, ["_", "_", "_"])[at] = value
        minutes = (HEALTHY, ASIDE, AWAY)
        return [{"series": key, "values": " ".join(f"{v}x{n - 1}" for v, n in zip(three, minutes))} for key, three in values.items()]

    def test_alerts_fire_when_they_should(self):
        expected = {
            HEALTHY - 2: {"HindsightCertificateNearEnd"},  # it lasts a day here, and is told in time
            HEALTHY + 10: {"HindsightCertificateNearEnd", "HindsightQuarantineGrows"},
            HEALTHY + ASIDE + 10: {"HindsightCertificateNearEnd", "HindsightQuarantineGrows", "HindsightClusterOutOfReach", "HindsightWatchBroken"},
            HEALTHY + ASIDE + AWAY - 10: {"HindsightCertificateNearEnd", "HindsightClusterOutOfReach", "HindsightWatchBroken", "HindsightPendingTooLong"},
        }
        tests = [{"interval": "1m", "input_series": self.series(), "promql_expr_test": [
            {"expr": 'max by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{minute}m",
             "exp_samples": [{"labels": '{alertname="%s"}' % name, "value": 1} for name in sorted(names)]} for minute, names in expected.items()]}]
        path = os.path.join(self.folder, "real.yaml")
        with open(path, "w", encoding="utf-8") as out:
            yaml.safe_dump({"rule_files": [RULES], "evaluation_interval": "1m", "tests": tests}, out)
        self.assertIn("SUCCESS", promtool("test", "rules", path))


if __name__ == "__main__":
    HINDSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main()
