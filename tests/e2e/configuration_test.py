#!/usr/bin/env python3
"""What the base API says beside queueing, on a real API server: defaults and limits of the namespace, finalizers, who is looked after.

usage: configuration_test.py HINDSIGHT

BA-4, BA-43, BA-64, BA-146, BA-147, BA-171, BA-172, BA-175, BA-176
"""
import argparse, glob, json, os, shutil, sys, tempfile, time, unittest

import jobs_test
from jobs_test import ROOT, Cluster, Controller, job, queue

IN_USE = "kueue.x-k8s.io/resource-in-use"
QUEUE_NAME = "kueue.x-k8s.io/queue-name"


def config(kind, name, spec, group="kueue.x-k8s.io/v1beta2", **more):
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name, **more}, "spec": spec}


def plain_job(name, local_queue, seconds=3600, cpu=None, namespace="default", **metadata):
    out = job(name, local_queue, 1, seconds)
    out["metadata"].update(namespace=namespace, **metadata)
    container = out["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": cpu}} if cpu else {}
    return out


class ConfigurationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"))
        cls.addClassCleanup(cls.cluster.down)
        for crd in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))):
            cls.cluster.kubectl("apply", "-f", crd)
        cls.until(lambda: "clusterqueues" in cls.cluster.kubectl("api-resources", "--api-group=kueue.x-k8s.io", check=False), "CRDs are served")
        configuration = os.path.join(cls.folder, "config.json")
        with open(configuration, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "integrations": {"labelKeysToCopy": ["example.com/team"]},
                       "featureGates": {"PartialAdmission": False}}, file)
        cls.controller = Controller(cls.cluster.kubeconfig, os.path.join(cls.folder, "log.db"), os.path.join(cls.folder, "hindsight.out"),
                                    "--config", configuration)
        cls.controller.words.remove("--no-lease")  # as on a cluster where nothing was installed: the lease's namespace is not there yet
        cls.controller.start()
        cls.addClassCleanup(cls.controller.stop)

    def run(self, result=None):
        before = len(result.failures) + len(result.errors) if result else 0
        super().run(result)
        if result and len(result.failures) + len(result.errors) > before:
            with open(self.controller.output, errors="replace") as out:
                sys.stderr.write(out.read()[-6000:])

    @staticmethod
    def until(condition, what, seconds=120):
        deadline = time.time() + seconds
        seen = None
        while time.time() < deadline:
            seen = condition()
            if seen:
                return seen
            time.sleep(0.3)
        raise AssertionError(f"not within {seconds} s: {what}; seen last: {seen!r}")

    def apply(self, *objects):
        self.cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def get(self, kind, name=None, namespace="default"):
        """The object; None when there is none. Without a name: all of the namespace."""
        text = self.cluster.kubectl("get", kind, *([name] if name else []), "-n", namespace, "-o", "json", "--ignore-not-found")
        found = json.loads(text) if text.strip() else None
        return found if name else (found or {}).get("items", [])

    def workload_of(self, name, namespace="default"):
        for w in self.get("workloads.kueue.x-k8s.io", namespace=namespace):
            if any(o["name"] == name for o in w["metadata"].get("ownerReferences", [])):
                return w
        return None

    def condition(self, name, kind):
        w = self.workload_of(name)
        for c in (w or {}).get("status", {}).get("conditions", []):
            if c["type"] == kind:
                return c
        return None

    def wait_for_reason(self, name, reason):
        self.until(lambda: (self.condition(name, "QuotaReserved") or {}).get("reason") == reason, f"{name} is {reason}: {self.condition(name, 'QuotaReserved')}")
        return self.condition(name, "QuotaReserved")["message"]

    def usage(self, name):
        w = self.until(lambda: (self.workload_of(name) or {}).get("status", {}).get("admission") and self.workload_of(name), f"{name} has an admission")
        return w["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]

    def finalizers(self, kind, name):
        return (self.get(kind, name) or {}).get("metadata", {}).get("finalizers", [])

    # BA-43, BA-64: what LimitRanges and RuntimeClasses add and forbid
    def test_defaults_and_limits_of_the_namespace(self):
        ns = "limits"
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ns}})
        self.apply(config("LimitRange", "r", {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}, "min": {"cpu": "500m"}}]}, "v1", namespace=ns),
                   {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "heavy"}, "handler": "x", "overhead": {"podFixed": {"cpu": "250m"}}},
                   config("ResourceFlavor", "limited", {}))
        cq, lq = queue("limits", 10)
        cq["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "limited"
        lq["metadata"]["namespace"] = ns
        self.apply(cq, lq)
        heavy = plain_job("heavy", "limits", namespace=ns)
        heavy["spec"]["template"]["spec"]["runtimeClassName"] = "heavy"
        self.apply(plain_job("defaulted", "limits", namespace=ns), heavy, plain_job("small", "limits", cpu="100m", namespace=ns))

        def usage(name):
            w = self.workload_of(name, ns) or {}
            sets = w.get("status", {}).get("admission", {}).get("podSetAssignments")
            return sets[0]["resourceUsage"] if sets else None

        def pending(name):
            w = self.workload_of(name, ns) or {}
            return next((c for c in w.get("status", {}).get("conditions", []) if c["type"] == "QuotaReserved" and c["status"] == "False"), None)

        self.assertEqual(self.until(lambda: usage("defaulted"), "defaulted is admitted"), {"cpu": "1"})
        self.assertEqual(self.until(lambda: usage("heavy"), "heavy is admitted"), {"cpu": "1250m"})
        found = self.until(lambda: pending("small"), "small is refused")
        self.assertEqual((found["reason"], found["message"]),
                         ("Misconfigured", "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec.containers[0]: "
                          "Invalid value: [\"cpu\"]: requests must not be below the limitRange min"))
        self.cluster.kubectl("delete", "limitrange", "r", "-n", ns)
        self.assertEqual(self.until(lambda: usage("small"), "small is admitted once nothing forbids it"), {"cpu": "100m"})

    # BA-4, BA-146, BA-147
    def test_what_is_in_use_stays_until_it_is_not(self):
        self.apply(config("ResourceFlavor", "held", {}), config("AdmissionCheck", "unused", {"controllerName": "example.com/none"}))
        cq, lq = queue("held", 4)
        cq["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "held"
        cq["spec"].pop("cohortName")
        self.apply(cq, lq)
        for kind, name in (("resourceflavors", "held"), ("clusterqueues", "held"), ("admissionchecks", "unused")):
            self.until(lambda: IN_USE in self.finalizers(kind, name), f"{kind}/{name} has the finalizer")
        self.cluster.kubectl("delete", "admissioncheck", "unused", timeout=120)  # nobody uses it: goes at once
        self.apply(plain_job("holder", "held", cpu="1"))
        self.usage("holder")
        self.cluster.kubectl("delete", "resourceflavor/held", "clusterqueue/held", "--wait=false")

        def active():
            return next((c for c in self.get("clusterqueues", "held").get("status", {}).get("conditions", []) if c["type"] == "Active" and c["status"] == "False"), None)

        found = self.until(active, "the queue is not active")
        self.assertEqual((found["reason"], found["message"]), ("Terminating", "Can't admit new workloads; clusterQueue is terminating"))
        self.apply(plain_job("late", "held", cpu="1"))
        self.assertEqual(self.wait_for_reason("late", "Suspended"), "ClusterQueue held is inactive")
        self.assertFalse(self.get("jobs", "holder")["spec"].get("suspend"), "what runs goes on")
        self.cluster.kubectl("delete", "job", "holder")
        self.until(lambda: self.get("clusterqueues", "held") is None, "the queue goes with its last reservation")
        self.until(lambda: self.get("resourceflavors", "held") is None, "the flavor goes with its last queue")
        self.cluster.kubectl("delete", "job", "late")

    # BA-171, BA-172
    def test_jobs_that_are_not_ours_are_left_alone(self):
        self.apply(config("ResourceFlavor", "ours", {}))
        cq, lq = queue("ours", 8)
        cq["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "ours"
        elsewhere = json.loads(json.dumps(lq))
        elsewhere["metadata"]["namespace"] = "kube-system"
        self.apply(cq, lq, elsewhere)
        system = plain_job("system", "ours", cpu="1", namespace="kube-system")
        system["spec"]["suspend"] = False
        unnamed = plain_job("unnamed", "ours", cpu="1", labels={})
        unnamed["spec"]["suspend"] = False
        self.apply(system, unnamed, plain_job("top", "ours", cpu="1"))
        self.usage("top")
        uid = self.get("jobs", "top")["metadata"]["uid"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "top", "uid": uid, "controller": True}
        self.apply(plain_job("forged", "ours", cpu="1", ownerReferences=[owner]))
        self.apply(plain_job("after", "ours", cpu="1"))
        self.usage("after")  # whatever came before it has been seen
        self.assertIsNotNone(self.workload_of("forged"), "no controller makes Jobs for a Job")
        self.assertIsNone(self.workload_of("unnamed"))
        self.assertIsNone(self.workload_of("system", "kube-system"))
        self.assertFalse(self.get("jobs", "system", "kube-system")["spec"].get("suspend"))
        self.assertFalse(self.get("jobs", "unnamed")["spec"].get("suspend"))

    # BA-176: tolerations come with their seconds and go with them
    def test_workloads_are_made_as_the_configuration_says(self):
        """integrations.labelKeysToCopy, and the gate PartialAdmission, which is off."""
        labels = {QUEUE_NAME: "nowhere", "example.com/team": "a", "example.com/other": "b"}
        wide = plain_job("wide", "nowhere", labels=labels, annotations={"kueue.x-k8s.io/job-min-parallelism": "1"})
        wide["spec"].update(parallelism=3, completions=3)
        self.apply(wide)
        made = self.until(lambda: self.workload_of("wide"), "the job has a Workload")
        self.assertEqual(made["metadata"]["labels"].get("example.com/team"), "a")
        self.assertNotIn("example.com/other", made["metadata"]["labels"])
        self.assertEqual(made["spec"]["podSets"][0]["count"], 3)
        self.assertNotIn("minCount", made["spec"]["podSets"][0])
        self.cluster.kubectl("delete", "job", "wide", "--wait=false")

    def test_tolerations_keep_their_seconds(self):
        toleration = {"key": "spot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
        self.apply(config("ResourceFlavor", "spot", {"tolerations": [toleration]}))
        cq, lq = queue("spot", 4)
        cq["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "spot"
        self.apply(cq, lq)
        self.apply(plain_job("tolerant", "spot", cpu="1"))
        self.usage("tolerant")
        self.until(lambda: not self.get("jobs", "tolerant")["spec"].get("suspend"), "it is started")
        self.assertEqual(self.get("jobs", "tolerant")["spec"]["template"]["spec"].get("tolerations"), [toleration])
        self.cluster.kubectl("patch", "clusterqueue", "spot", "--type=merge", "-p", json.dumps({"spec": {"stopPolicy": "HoldAndDrain"}}))

        def restored():
            spec = self.get("jobs", "tolerant")["spec"]
            return spec.get("suspend") and not spec["template"]["spec"].get("tolerations")

        self.until(restored, "it is stopped and has no toleration of ours")

    # base-api §5
    def test_a_prebuilt_workload_is_taken_over(self):
        self.apply(config("ResourceFlavor", "prebuilt", {}))
        cq, lq = queue("prebuilt", 4)
        cq["spec"]["resourceGroups"][0]["flavors"][0]["name"] = "prebuilt"
        self.apply(cq, lq)
        named = plain_job("named", "prebuilt", cpu="1", labels={QUEUE_NAME: "prebuilt", "kueue.x-k8s.io/prebuilt-workload-name": "made-before"})
        self.apply(named)
        template = {"metadata": named["spec"]["template"]["metadata"], "spec": named["spec"]["template"]["spec"]}
        self.apply(config("Workload", "made-before", {"queueName": "prebuilt", "podSets": [{"name": "main", "count": 1, "template": template}]},
                          namespace="default"))
        w = self.until(lambda: self.workload_of("named"), "the Workload has its owner")
        self.assertEqual(w["metadata"]["name"], "made-before")
        self.assertEqual(w["metadata"]["labels"]["kueue.x-k8s.io/job-uid"], self.get("jobs", "named")["metadata"]["uid"])
        self.until(lambda: not self.get("jobs", "named")["spec"].get("suspend"), "the job runs with it")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    jobs_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
