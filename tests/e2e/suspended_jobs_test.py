#!/usr/bin/env python3
"""Suspended Jobs on a real API server: sized at admission, edited by their users, held back by gates, while Hindsight is killed in between.

usage: suspended_jobs_test.py HINDSIGHT

The three stories of 5440 and both contracts of 6915, with webhooks. Then the same server with its feature gates off: there a job keeps its
own resources, and waits for them.
MR-4, MR-35, MR-40, MR-45, MR-47, MR-48, MR-51, MR-59, MR-61, MR-65, MR-66, MR-72, MR-73, MR-75, MR-83, MR-88, MR-90, MR-94
SG-5, SG-7, SG-17, SG-18, SG-23, SG-24, SG-25, SG-60, SG-61, SG-62, SG-63, SG-74
"""
import argparse, glob, json, os, shutil, sys, tempfile, unittest

import jobs_test
from jobs_test import ROOT, Cluster, Controller
from steps import CommandFailed, eventually, free_port, run
from what_if_again import plays_again

MUTABLE = ("MutablePodResourcesForSuspendedJobs", "MutableSchedulingDirectivesForSuspendedJobs")
GATES = {"AdjustResourcesOnAdmission": True, "SchedulingGatedBy": True}
CONFIGURATION = """apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: hindsight-system
"""
BOUNDS = {"hindsight.dev/resource-policy": "Shrink", "hindsight.dev/resource-bounds": json.dumps({"c": {"cpu": {"min": "1", "step": "1"}}})}
SCHEDULING, ADMISSION = "kueue.x-k8s.io/scheduling-gated-by", "kueue.x-k8s.io/admission-gated-by"


def queue(name, cpu):
    out = jobs_test.queue(name, cpu)
    del out[0]["spec"]["cohortName"]
    return out


def job(name, local_queue, cpu, seconds=3600, annotations=None, **labels):
    out = jobs_test.job(name, local_queue, 1, seconds)
    out["metadata"]["annotations"] = annotations or {}
    out["metadata"]["labels"].update(labels)
    out["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}
    return out


def cpu_of(pod_template):
    return pod_template["spec"]["containers"][0]["resources"]


class Fixture(unittest.TestCase):
    options = ()
    gates = GATES  # of Hindsight
    webhooks = True

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"), *cls.options)
        cls.addClassCleanup(cls.cluster.down)
        files = sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))) + [os.path.join(ROOT, "deploy", f) for f in ("rbac.yaml", "webhooks.yaml")[:1 + cls.webhooks]]
        cls.cluster.kubectl("apply", *[w for f in files for w in ("-f", f)])
        config = os.path.join(cls.folder, "config.yaml")
        with open(config, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION + f"featureGates: {json.dumps(cls.gates)}\n")
        words = ["--config", config]
        if cls.webhooks:
            port = free_port()
            words += ["--webhooks", "--webhook-address", f"127.0.0.1:{port}", "--webhook-url", f"https://127.0.0.1:{port}"]
        cls.log = os.path.join(cls.folder, "log.db")
        cls.controller = Controller(cls.cluster.kubeconfig, cls.log, os.path.join(cls.folder, "hindsight.out"), *words)
        cls.controller.start()
        cls.addClassCleanup(cls.controller.stop)
        cls.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {"nodeLabels": {"type": "kwok"}}},
                  {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "high"}, "value": 100},
                  {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": "low"}, "value": 0})

    def run(self, result=None):
        before = len(result.failures) + len(result.errors) if result else 0
        super().run(result)
        if result and len(result.failures) + len(result.errors) > before:
            sys.stderr.write(self.said()[-6000:])

    @classmethod
    def kubectl(cls, *words, **more):
        return cls.cluster.kubectl(*words, **more)

    @classmethod
    def apply(cls, *objects):
        """Until the webhooks are there (again)."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})

        def once():
            try:
                cls.kubectl("apply", "-f", "-", input=text)
            except CommandFailed as failure:
                if "no matches for kind" not in failure.output and "failed calling webhook" not in failure.output:
                    raise RuntimeError(failure) from failure
                raise

        eventually(once)

    def patch(self, kind, name, patch, **more):
        return self.kubectl("patch", kind, name, "--type=merge", "-p", json.dumps(patch), **more)

    def resize(self, name, cpu, **more):
        # The container list is a whole: a strategic patch names the container instead.
        amounts = {"cpu": cpu}
        container = {"name": "c", "resources": {"requests": amounts, "limits": amounts}}
        return self.kubectl("patch", "job", name, "-p", json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}}), **more)

    def get(self, *words):
        text = self.kubectl("get", *words, "-o", "json", "--ignore-not-found")
        return json.loads(text) if text.strip() else None

    def items(self, *words):
        return (self.get(*words) or {"items": []})["items"]

    def job(self, name):
        return self.get("job", name)

    def template(self, name):
        return self.job(name)["spec"]["template"]

    def workloads(self, name):
        return [w for w in self.items("workloads.kueue.x-k8s.io") if any(o["name"] == name for o in w["metadata"].get("ownerReferences", []))]

    def condition(self, name, kind="QuotaReserved"):
        for w in self.workloads(name):
            for c in w.get("status", {}).get("conditions", []):
                if c["type"] == kind:
                    return c
        return {"status": None, "reason": None, "message": None}

    def reasons(self, name):
        return [e["reason"] for e in self.get("events", "--field-selector", f"involvedObject.name={name}")["items"]]

    def pods(self, name):
        return [p for p in self.items("pods", "-l", f"job-name={name}") if not p["metadata"].get("deletionTimestamp")]

    def until(self, look, what):
        def once():
            self.assertTrue(look(), what)
        eventually(once)

    def started(self, name, cpu):
        self.until(lambda: self.job(name)["spec"]["suspend"] is False, f"{name} is started")
        self.until(lambda: self.pods(name), f"{name} has a pod")
        for amounts in [cpu_of(self.template(name))] + [cpu_of(p) for p in self.pods(name)]:
            self.assertEqual(amounts, {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}})

    def stopped(self, name, cpu):
        def look():
            j = self.job(name)
            self.assertTrue(j["spec"]["suspend"])
            self.assertNotIn("kueue.x-k8s.io/stopping", j["metadata"].get("annotations", {}))
            self.assertEqual(cpu_of(j["spec"]["template"]), {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}})
            self.assertNotIn("nodeSelector", j["spec"]["template"]["spec"])
        eventually(look)

    def restart(self):
        self.controller.kill()
        self.controller.start()

    def said(self):
        with open(self.controller.output, encoding="utf-8", errors="replace") as out:
            return out.read()

    def verify(self):
        run(jobs_test.ARGS.hindsight, "verify", "--log", self.log)
        plays_again(jobs_test.ARGS.hindsight, self.log)


class WithGates(Fixture):
    # MR-35, MR-40, MR-45, MR-47, MR-59, MR-61, MR-66, MR-83: sized to what is free, preempted while the controller is killed, and whole again
    def test_story_1_a_job_is_sized_to_the_capacity(self):
        self.apply(*queue("one", 2), job("train", "one", "4", annotations=BOUNDS, **{"kueue.x-k8s.io/priority-class": "low"}))
        self.started("train", "2")
        uid = self.job("train")["metadata"]["uid"]
        w = self.workloads("train")[0]
        self.assertEqual(cpu_of(w["spec"]["podSets"][0]["template"])["requests"], {"cpu": "4"})
        self.assertEqual(w["status"]["admission"]["podSetAssignments"][0]["resourceUsage"], {"cpu": "2"})
        self.until(lambda: "resource-plan" in json.dumps(self.workloads("train")[0]["metadata"]["annotations"]), "the plan is shown")
        pod = self.pods("train")[0]["metadata"]["uid"]
        self.restart()
        self.started("train", "2")
        self.assertEqual([p["metadata"]["uid"] for p in self.pods("train")], [pod], "a restart of ours does not touch what runs")

        self.apply(job("urgent", "one", "2", seconds=5, **{"kueue.x-k8s.io/priority-class": "high"}))
        self.until(lambda: self.condition("train", "Evicted")["status"] == "True", "train is preempted")
        self.restart()
        self.stopped("train", "4")
        self.until(lambda: self.condition("urgent", "Finished")["status"] == "True", "urgent has run")
        self.started("train", "2")
        self.kubectl("patch", "clusterqueues.kueue.x-k8s.io", "one", "--type=json", "-p",
                     json.dumps([{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": 6}]))
        for active in (False, True):
            self.patch("workloads.kueue.x-k8s.io", self.workloads("train")[0]["metadata"]["name"], {"spec": {"active": active}})
            if not active:
                self.stopped("train", "4")
        self.started("train", "4")
        self.assertEqual(self.job("train")["metadata"]["uid"], uid)
        self.until(lambda: {"ResourcesAdjusted", "ResourcesRestored", "Started", "Stopped"} <= set(self.reasons("train")), "events tell it")
        self.assertNotIn("was refused", self.said())
        history = run(jobs_test.ARGS.hindsight, "history", "job/train", "--log", self.log)
        for part in ("sized: c cpu 4 -> 2", "sized at admission", "its own again"):  # MR-84
            self.assertIn(part, history)

    # MR-72
    def test_story_2_a_queued_job_is_made_smaller(self):
        self.apply(*queue("two", 4), job("large", "two", "6"))
        self.until(lambda: self.condition("large")["reason"] == "ExceedsMaxQuota", "it does not fit")
        before = self.workloads("large")[0]["metadata"]
        self.resize("large", "3")
        self.started("large", "3")
        after = self.workloads("large")[0]["metadata"]
        self.assertEqual([after[k] for k in ("uid", "name", "creationTimestamp")], [before[k] for k in ("uid", "name", "creationTimestamp")])
        self.assertIn("spec.template: Invalid value", self.resize("large", "2", check=False))

    # MR-73, MR-94
    def test_story_3_an_oversized_job_is_suspended_made_smaller_and_resumed(self):
        self.apply(*queue("three", 8), job("fat", "three", "4"))
        self.started("fat", "4")
        self.assertIn("spec.template: Invalid value", self.resize("fat", "1", check=False))
        name = self.workloads("fat")[0]["metadata"]["name"]
        self.patch("workloads.kueue.x-k8s.io", name, {"spec": {"active": False}})
        self.stopped("fat", "4")
        self.until(lambda: any(c["type"] == "Suspended" and c["status"] == "True" for c in self.job("fat")["status"].get("conditions", [])), "the Job is suspended")
        self.assertNotIn("startTime", self.job("fat")["status"])
        eventually(lambda: self.resize("fat", "1"))
        self.until(lambda: cpu_of(self.workloads("fat")[0]["spec"]["podSets"][0]["template"])["requests"] == {"cpu": "1"}, "the Workload follows")
        self.assertFalse(self.workloads("fat")[0]["spec"]["active"])
        self.patch("workloads.kueue.x-k8s.io", name, {"spec": {"active": True}})
        self.started("fat", "1")
        self.assertEqual(self.workloads("fat")[0]["status"]["admission"]["podSetAssignments"][0]["resourceUsage"], {"cpu": "1"})

    # BA-174, MR-65, MR-70: it has no finalizer (D16), and goes while Hindsight runs, and while it is away
    def test_a_deleted_workload_keeps_its_quota_until_its_job_has_stopped(self):
        self.apply(job("runs", "four", "4", annotations=BOUNDS))
        original = self.template("runs")
        self.apply(*queue("four", 2))
        self.started("runs", "2")
        self.apply(job("waits", "four", "2"))
        self.until(lambda: self.condition("waits")["status"] == "False", "no room")
        for away in (False, True):
            running = next(name for name in ("runs", "waits") if not self.job(name)["spec"]["suspend"])
            old = self.workloads(running)[0]["metadata"]
            self.assertNotIn("finalizers", old)
            said = len(self.records())
            if away:
                self.controller.kill()
            self.kubectl("delete", "workloads.kueue.x-k8s.io", old["name"], "--timeout=20s")
            self.assertNotIn(old["uid"], [w["metadata"]["uid"] for w in self.workloads(running)], "it goes at once")
            if away:
                self.controller.start()
            self.until(lambda: any(self.condition(name)["status"] == "True" for name in ("runs", "waits")
                                   if old["uid"] not in [w["metadata"]["uid"] for w in self.workloads(name)]), "somebody has the quota")
            told = self.records()[said:]
            at_rest = next(n for n, r in enumerate(told) if r["kind"] == "JobObserved" and r["body"]["meta"]["name"] == running
                           and r["body"].get("suspended") and not r["body"].get("active"))
            reserved = [n for n, r in enumerate(told) for e in r["body"].get("events", [])
                        if e["event"] == "QuotaReserved" and e["workload"]["name"].startswith(("job-runs", "job-waits"))]
            self.assertGreater(min(reserved), at_rest, "it is free when the job has stopped")
            self.until(lambda: "Stopped" in self.reasons(running), "an Event says why")
            self.until(lambda: {False, True} == {self.job(name)["spec"]["suspend"] for name in ("runs", "waits")}, "one of them runs")

        # What a stop restores is told by the log: sizes, node selector, labels and annotations.
        self.patch("clusterqueues.kueue.x-k8s.io", "four", {"spec": {"stopPolicy": "HoldAndDrain"}})
        self.stopped("runs", "4")
        self.kubectl("delete", "job", "waits")
        self.patch("clusterqueues.kueue.x-k8s.io", "four", {"spec": {"stopPolicy": "None"}})
        self.started("runs", "2")
        self.assertNotEqual(self.template("runs"), original)
        self.patch("clusterqueues.kueue.x-k8s.io", "four", {"spec": {"stopPolicy": "Hold"}})
        self.controller.kill()
        self.kubectl("delete", "workloads.kueue.x-k8s.io", self.workloads("runs")[0]["metadata"]["name"], "--timeout=20s")
        self.controller.start()
        self.stopped("runs", "4")
        self.assertEqual(self.template("runs"), original)

    def records(self):
        lines = run(jobs_test.ARGS.hindsight, "log", "cat", "--log", self.log, "-o", "json", "--kind", "JobObserved", "--kind", "QuotaReserved").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    # MR-75
    def test_what_excludes_each_other_is_refused(self):
        for more, message in (({"kueue.x-k8s.io/elastic-job": "true"}, "resources cannot be adjusted together with an elastic job"),
                              ({"hindsight.dev/resource-policy": "Grow"}, "must be None, Shrink or Fit"),
                              ({"hindsight.dev/resource-bounds": "{}}"}, "allowed: JSON {container: {resource: {min, max, step}}}")):
            text = json.dumps(job("no", "one", "4", annotations={**BOUNDS, **more}))

            def refused():
                said = self.kubectl("create", "-f", "-", input=text, check=False)
                self.assertIn('admission webhook "vjob.kb.io" denied the request: ', said)
                self.assertIn(message, said)
            eventually(refused)

    # SG-5, SG-7, SG-17, SG-18, SG-23, SG-24, SG-25, SG-74: contract S
    def test_a_scheduling_gate_holds_back_the_workload(self):
        self.apply(*queue("gates", 4))
        self.apply(job("held", "gates", "1", seconds=1, annotations={SCHEDULING: "example.com/data"}))
        self.until(lambda: "SchedulingGated" in self.reasons("held"), "it is told")
        self.assertEqual(self.workloads("held"), [])
        self.restart()
        self.apply(job("free", "gates", "1", seconds=1))
        self.until(lambda: self.condition("free", "Finished")["status"] == "True", "another job runs")
        self.assertEqual(self.workloads("held"), [], "after a restart, too")
        self.assertTrue(self.job("held")["spec"]["suspend"])
        self.assertIn("example.com/data", run(jobs_test.ARGS.hindsight, "get", "gates", "--log", self.log))

        def annotate(name, *words):
            return self.kubectl("annotate", "job", name, "--overwrite", *words, check=False)
        denied = 'admission webhook "vjob.kb.io" denied the request: metadata.annotations[' + SCHEDULING + "]: Forbidden: "
        self.assertIn(denied + "scheduling gate can only be removed, not modified", annotate("held", SCHEDULING + "=example.com/other"))
        self.assertIn(denied + "cannot add scheduling gate after creation", annotate("free", SCHEDULING + "=example.com/late"))
        self.assertIn("must be a domain-prefixed path", self.kubectl("create", "-f", "-", check=False, input=json.dumps(job("bad", "gates", "1", annotations={SCHEDULING: "nonsense"}))))
        annotate("held", SCHEDULING + "-")
        self.until(lambda: self.condition("held", "Finished")["status"] == "True", "released, it runs and finishes")
        self.until(lambda: "SchedulingGateCleared" in self.reasons("held"), "it is told")

    # SG-60, SG-61, SG-62, SG-63: contract A
    def test_an_admission_gate_holds_back_the_admission(self):
        self.apply(*queue("audits", 4))
        self.apply(job("checked", "audits", "1", seconds=1, annotations={ADMISSION: "example.com/budget,example.com/data"}))
        self.until(lambda: self.condition("checked")["reason"] == "AdmissionGated", "it has a Workload that is not admitted")
        self.assertEqual(self.condition("checked")["message"], "Admission is gated by: example.com/budget,example.com/data")
        self.restart()

        def annotate(*words):
            return self.kubectl("annotate", "job", "checked", "--overwrite", *words, check=False)
        denied = 'admission webhook "vjob.kb.io" denied the request: metadata.annotations[' + ADMISSION + "]: "
        eventually(lambda: self.assertIn(denied + "Forbidden: can only remove gates, not add new ones", annotate(ADMISSION + "=example.com/other")))
        annotate(ADMISSION + "=example.com/data")
        self.until(lambda: self.condition("checked")["message"] == "Admission is gated by: example.com/data", "one gate is left")
        self.assertTrue(self.job("checked")["spec"]["suspend"])
        annotate(ADMISSION + "-")
        self.until(lambda: self.condition("checked", "Finished")["status"] == "True", "released, it runs and finishes")

    def test_zz_the_log_verifies(self):
        self.verify()


# MR-4, MR-51, MR-90: the feature switched off in the API server
class WithoutGates(Fixture):
    options = ("--feature-gates", ",".join(f"{g}=false" for g in MUTABLE))
    webhooks = False

    def test_a_job_keeps_its_resources_and_waits_for_them(self):
        self.apply(*queue("off", 2), job("train", "off", "4", annotations=BOUNDS))
        self.until(lambda: "ResourceUpdateUnsupported" in self.reasons("train"), "the server refuses other sizes")
        self.until(lambda: self.condition("train")["status"] == "False", "the reservation is given back")
        self.assertTrue(self.job("train")["spec"]["suspend"])
        self.assertEqual(cpu_of(self.template("train"))["requests"], {"cpu": "4"})
        self.kubectl("patch", "clusterqueues.kueue.x-k8s.io", "off", "--type=json", "-p",
                     json.dumps([{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": 4}]))
        self.started("train", "4")
        self.assertEqual(self.reasons("train").count("ResourceUpdateUnsupported"), 1)
        self.assertIn("spec.template: Invalid value", self.resize("train", "1", check=False))
        self.verify()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    jobs_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
