#!/usr/bin/env python3
"""docs/migration.md on a real API server: every command of the page, in its order, while pods run. None of them ends.

usage: migration_test.py HINDSIGHT

What Kueue left is made by Hindsight itself, whose objects have the forms of Kueue's (adoption_test.py compares them), and its log is thrown
away; so each process that starts finds a cluster with nothing but objects. Kueue's Deployment, webhooks and configuration are objects with
Kueue's names behind which nobody answers. It proves point 3 of issue 21.
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile, time, unittest, urllib.request

import jobs_test
from jobs_test import ROOT, Cluster, Controller, eventually, job, queue, run

PAGE = os.path.join(ROOT, "docs", "migration.md")
ARGS = None

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system"},
              "spec": {"replicas": 1, "selector": {"matchLabels": {"control-plane": "controller-manager"}},
                       "template": {"metadata": {"labels": {"control-plane": "controller-manager"}},
                                    "spec": {"containers": [{"name": "manager", "image": "kueue", "args": ["--feature-gates=PriorityBoost=true"]}]}}}}


def webhook(kind, prefix):
    rules = [{"apiGroups": ["batch"], "apiVersions": ["v1"], "resources": ["jobs"], "operations": ["CREATE"]}]
    client = {"service": {"name": "kueue-webhook-service", "namespace": "kueue-system", "path": "/x"}}
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": f"kueue-{prefix}-webhook-configuration"},
            "webhooks": [{"name": f"{prefix[0]}job.kb.io", "rules": rules, "clientConfig": client, "failurePolicy": "Fail", "sideEffects": "None",
                          "admissionReviewVersions": ["v1"]}]}


MANIFESTS = [DEPLOYMENT, webhook("MutatingWebhookConfiguration", "mutating"), webhook("ValidatingWebhookConfiguration", "validating")]
CONFIGURATION = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
integrations:
  frameworks: [batch/job, jobset.x-k8s.io/jobset]
waitForPodsReady:
  timeout: 30m
"""


def blocks():
    """The blocks of the page with what stands right above each: [(marks, lines)]."""
    with open(PAGE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    out, marks, i = [], {}, 0
    while i < len(lines):
        mark = re.match(r"<!-- (run by|exit) (.*) -->$", lines[i])
        if mark:
            marks[mark.group(1)] = mark.group(2)
        elif lines[i].startswith("    ") and not lines[i - 1].strip():
            begin = i
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                i += 1
            out.append((marks, [line[4:] for line in lines[begin:i] if line.strip()]))
            marks = {}
            continue
        elif lines[i].strip():
            marks = {}
        i += 1
    return out


class MigrationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"), "--nodes", "2")
        cls.addClassCleanup(cls.cluster.down)
        cls.place = os.path.join(cls.folder, "place")  # where the page's reader stands
        programs = os.path.join(cls.folder, "bin")
        for folder in (cls.place, programs):
            os.makedirs(folder)
        os.symlink(os.path.join(ROOT, "deploy"), os.path.join(cls.place, "deploy"))
        os.symlink(os.path.abspath(ARGS.hindsight), os.path.join(programs, "hindsight"))
        os.symlink(run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "kubectl").strip(), os.path.join(programs, "kubectl"))
        cls.environment = {**os.environ, "PATH": programs + ":" + os.environ["PATH"], "KUBECONFIG": cls.cluster.kubeconfig}
        cls.running = None
        cls.addClassCleanup(lambda: cls.running and cls.running.stop())

    def apply(self, *objects):
        self.cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def get(self, kind, namespace="default"):
        return json.loads(self.cluster.kubectl("get", kind, "-n", namespace, "-o", "json"))["items"]

    def play(self, marks, lines):
        """One block in a shell, as a reader runs it. Returns what it printed."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(lines)], cwd=self.place, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
        self.assertEqual(done.returncode, int(marks.get("exit", 0)), "\n".join(lines) + "\n" + done.stdout)
        return done.stdout

    def start(self, name, config):
        """A controller that has nothing but the objects."""
        type(self).running = Controller(self.cluster.kubeconfig, os.path.join(self.folder, name + ".db"), os.path.join(self.folder, name + ".out"), "--config", config)
        self.running.start()

    def stop(self):
        self.assertEqual(self.running.stop(), 0)

    def admitted(self):
        return sorted(w["metadata"]["name"] for w in self.get("workloads.kueue.x-k8s.io")
                      if any(c["type"] == "Admitted" and c["status"] == "True" for c in w.get("status", {}).get("conditions", [])))

    def world(self):
        """What must not change: jobs and their pods."""
        jobs = {j["metadata"]["name"]: (j["spec"]["suspend"], j.get("status", {}).get("startTime"), j["metadata"]["generation"]) for j in self.get("jobs.batch")}
        pods = {p["metadata"]["name"]: (p["metadata"]["uid"], p["metadata"].get("deletionTimestamp")) for p in self.get("pods")}
        admissions = {w["metadata"]["name"]: w.get("status", {}).get("admission") for w in self.get("workloads.kueue.x-k8s.io")}
        return jobs, pods, admissions

    def kueue_left(self):
        """A cluster in which two jobs run and two wait, and in which everything that decides is gone."""
        for crd in sorted(os.listdir(os.path.join(ROOT, "deploy", "crds"))):
            if crd.startswith("kueue"):
                self.cluster.kubectl("apply", "-f", os.path.join(ROOT, "deploy", "crds", crd))
        self.cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        config = os.path.join(self.folder, "kueue.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION)
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}},
                   {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
                    "data": {"controller_manager_config.yaml": CONFIGURATION}})
        self.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}}, *queue("team", 4))
        self.start("before", config)
        self.apply(job("runs-a", "team", 2, 3600), job("runs-b", "team", 2, 3600))
        eventually(lambda: self.assertEqual(len(self.admitted()), 2))
        self.apply(job("waits-a", "team", 3, 3600), job("waits-b", "team", 1, 3600))

        def at_rest():
            self.assertEqual([p["status"]["phase"] for p in self.get("pods")], ["Running"] * 4)
            ready = [c["status"] for w in self.get("workloads.kueue.x-k8s.io") for c in w["status"]["conditions"] if c["type"] == "PodsReady"]
            self.assertEqual(sorted(ready), ["False", "False", "True", "True"])

        eventually(at_rest)
        self.stop()
        with open(os.path.join(self.place, "kueue-manifests.yaml"), "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "List", "items": MANIFESTS}, file)
        self.apply(*MANIFESTS)

    def creating_a_job(self):
        """What a user sees who creates a job now; the job is not kept."""
        return self.cluster.kubectl("create", "-f", "-", "--dry-run=server", input=json.dumps(job("new", "team", 1, 1)), check=False)

    def test_every_command_of_the_page(self):
        self.kueue_left()
        before = self.world()
        played = 0
        for marks, lines in blocks():
            self.assertIn("run by", marks, f"a block that nobody runs: {lines}")
            text = "\n".join(lines)
            printed = self.play(marks, lines)
            played += 1
            if "migrate check" in text and "exit" in marks:
                for part in ("Deployment kueue-system/kueue-controller-manager", "MutatingWebhookConfiguration kueue-mutating-webhook-configuration", "--feature-gates PriorityBoost"):
                    self.assertIn(part, printed)
                blocking = [line for line in printed.splitlines() if line.startswith("blocks")]
                self.assertEqual(len(blocking), 3, printed)  # nothing else stands in the way
            elif "scale deployment kueue-controller-manager --replicas=0" in text:
                self.assertIn("failed calling webhook", self.creating_a_job())  # what webhook-of-kueue says
            elif "delete mutatingwebhookconfiguration kueue" in text:
                self.assertIn("job.batch/new created", self.creating_a_job())
            elif "deploy/hindsight.yaml" in text:
                self.start("hindsight", os.path.join(self.place, "config.yaml"))
                self.taken_over(before)
            elif "comm -23" in text:
                self.assertNotIn("default/", printed)  # no job, and no pod of one
            elif "scale deployment hindsight --replicas=0" in text:
                self.stop()
                self.start("after", os.path.join(self.folder, "kueue.yaml"))  # whoever comes then finds objects, and no log
                self.taken_over(before, users=False)  # Kueue's webhooks are back, and nobody answers them here
                self.stop()
        self.assertEqual(played, 11)

    def ready(self):
        self.assertIsNone(self.running.process.poll(), "it runs")
        with open(self.running.output, encoding="utf-8") as out:
            address = re.search(r'"message":"HTTP listens","address":"([^"]+)"', out.read())
        self.assertTrue(address, "it listens")
        try:
            with urllib.request.urlopen(f"http://{address.group(1)}/readyz", timeout=10):
                pass
        except OSError as error:  # among them every status but 200
            raise AssertionError(f"/readyz: {error}") from error

    def taken_over(self, before, users=True):
        """It looks after everything, and nothing has changed. `users`: somebody may create a job now, and it is judged."""
        eventually(self.ready)
        if users:
            probe = job("probe", "team", 1, 3600)
            probe["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "100"
            self.apply(probe)

            def judged():
                mine = [w for w in self.get("workloads.kueue.x-k8s.io") if any(o["name"] == "probe" for o in w["metadata"]["ownerReferences"])]
                self.assertEqual([c["reason"] for w in mine for c in w.get("status", {}).get("conditions", []) if c["type"] == "QuotaReserved"], ["ExceedsMaxQuota"])

            eventually(judged)
            self.cluster.kubectl("delete", "job", "probe")
            eventually(lambda: self.assertEqual(len(self.get("workloads.kueue.x-k8s.io")), len(before[2])))
        time.sleep(3)  # what it would still do follows within a second or two
        self.assertEqual(self.world(), before)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    ARGS, rest = parser.parse_known_args()
    jobs_test.ARGS = ARGS
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
