#!/usr/bin/env python3
"""docs/migration.md on a real API server: every command of the page, in its order, while pods run. None of them ends.

usage: migration_test.py HINDSIGHT

The cluster is one in which Kueue was installed: definitions, webhooks, roles, configuration and Deployment are the manifests of a release
of Kueue, and the certificate that its process puts into definitions and webhooks is there. Kueue's process is not (that is in
from_kueue_test.py): nobody answers its webhooks, and the Workloads are made by Hindsight itself, whose objects have the forms of Kueue's
(adoption_test.py compares them), and whose log is thrown away; so each process that starts finds a cluster with nothing but objects. It
proves point 3 of issue 21.
"""
import argparse, base64, json, os, shutil, sys, tempfile, time, unittest

import yaml

import jobs_test
from jobs_test import ROOT, Cluster, Controller, eventually, job, queue, run
from migration_page import Reader, blocks
from steps import is_ready

ARGS = None

CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")  # by Kueue, as its release has it
WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def manifests():
    """Those of a release of Kueue, with what an administrator may have changed in them: a gate, and a timeout."""
    run(os.path.join(ROOT, "scripts", "tools.sh"), "build", "kueue", timeout=900)
    with open(run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "kueue-manifests.yaml").strip(), encoding="utf-8") as file:
        objects = [o for o in yaml.load_all(file, yaml.CSafeLoader) if o]
    for o in objects:
        if o["kind"] == "Deployment":
            o["spec"]["template"]["spec"]["containers"][0]["args"].append("--feature-gates=PriorityBoost=true")
        elif o["kind"] == "ConfigMap":
            o["data"]["controller_manager_config.yaml"] += "waitForPodsReady:\n  timeout: 30m\nnamespace: kueue-system\n"
    return objects


class MigrationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"), "--nodes", "2")
        cls.addClassCleanup(cls.cluster.down)
        cls.reader = Reader(cls.folder, cls.cluster.kubeconfig, ARGS.hindsight)
        cls.running = None
        cls.addClassCleanup(lambda: cls.running and cls.running.stop())

    def apply(self, *objects):
        self.cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def get(self, kind, namespace="default"):
        return json.loads(self.cluster.kubectl("get", kind, "-n", namespace, "-o", "json"))["items"]

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

    def apply_as_kueue_says(self, objects):
        """With the command of Kueue's own installation page."""
        self.cluster.kubectl("apply", "--server-side", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), timeout=120)

    def put_certificates(self):
        """What Kueue's process does when it starts, under a name of its own, so that no later `kubectl apply` takes it away."""
        key, certificate = (os.path.join(self.folder, name) for name in ("kueue.key", "kueue.crt"))
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate, "-subj", "/CN=kueue-ca", "-days", "30")
        with open(certificate, "rb") as file:
            bundle = base64.b64encode(file.read()).decode()
        for definition in self.get("crd"):
            if definition["spec"]["conversion"]["strategy"] == "Webhook":
                patch = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": bundle}}}}}
                self.cluster.kubectl("patch", "crd", definition["metadata"]["name"], "--field-manager=kueue", "--type=merge", "-p", json.dumps(patch))
        for kind in WEBHOOKS:
            for configuration in self.get(kind):
                for webhook in configuration["webhooks"]:
                    webhook["clientConfig"]["caBundle"] = bundle
                self.cluster.kubectl("replace", "--field-manager=kueue", "-f", "-", input=json.dumps(configuration))

    def kueue_left(self):
        """A cluster in which two jobs run and two wait, and in which everything that decides is gone."""
        objects = manifests()
        self.apply_as_kueue_says([o for o in objects if o["kind"] not in WEBHOOKS])
        self.cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        config = os.path.join(self.folder, "kueue.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(next(o for o in objects if o["kind"] == "ConfigMap")["data"]["controller_manager_config.yaml"])
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
        with open(self.reader.file("kueue-manifests.yaml"), "w", encoding="utf-8") as file:
            yaml.dump_all(objects, file, yaml.CSafeDumper)
        self.apply_as_kueue_says([o for o in objects if o["kind"] in WEBHOOKS])
        self.put_certificates()

    def creating(self, o):
        """What somebody sees who creates this now; it is not kept."""
        return self.cluster.kubectl("create", "-f", "-", "--dry-run=server", input=json.dumps(o), check=False)

    def converters(self):
        """Which Service converts each kind of the Kueue API, where one does."""
        found = {d["spec"]["names"]["plural"]: d["spec"]["conversion"] for d in self.get("crd") if d["spec"]["group"] == "kueue.x-k8s.io"}
        return {plural: conversion["webhook"]["clientConfig"]["service"]["name"] for plural, conversion in found.items() if conversion["strategy"] == "Webhook"}

    def refused_without_kueue(self):
        """Why the next commands are run together: what the rule webhook-of-kueue says."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new", "namespace": "default"}, "spec": job("new", "team", 1, 1)["spec"]["template"]["spec"]}
        for o in (job("new", "team", 1, 1), pod):
            self.assertIn("failed calling webhook", self.creating(o))

    def refused_beside_the_converter(self):
        """Why the converter goes before the definitions come: what the rule converted-by-kueue says."""
        told = self.cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", os.path.join(ROOT, "deploy", "crds", "kueue.x-k8s.io_workloads.yaml"), check=False)
        self.assertIn("spec.conversion", told)
        self.assertIn("is invalid", told)
        self.assertEqual(self.converters(), {plural: "kueue-webhook-service" for plural in CONVERTED})

    def test_every_command_of_the_page(self):
        self.kueue_left()
        before = self.world()
        played = 0
        for marks, lines in blocks():
            self.assertIn("run by", marks, f"a block that nobody runs: {lines}")
            text = "\n".join(lines)
            if "scale deployment kueue-controller-manager --replicas=0" in text:
                self.refused_without_kueue()
            elif "/spec/conversion" in text:
                self.refused_beside_the_converter()
            printed = self.reader.play(marks, lines)
            played += 1
            if "migrate check" in text and "exit" in marks:
                self.judge_first_check(printed)
            elif "scale deployment kueue-controller-manager --replicas=0" in text:
                self.assertIn("job.batch/new created", self.creating(job("new", "team", 1, 1)))
            elif "/spec/conversion" in text:
                self.assertEqual(self.converters(), {})
            elif "deploy/hindsight.yaml" in text:
                self.start("hindsight", self.reader.file("config.yaml"))
                self.taken_over(before)
            elif "comm -23" in text:
                self.assertNotIn("default/", printed)  # no job, and no pod of one
            elif "delete namespace kueue-system" in text:
                self.taken_over(before)  # the definitions are there, and all that hangs on them
            elif "scale deployment hindsight --replicas=0" in text:
                self.stop()
                self.back_to_kueue(before)
        self.assertEqual(played, 12)

    def judge_first_check(self, printed):
        for part in ("Deployment kueue-system/kueue-controller-manager", "MutatingWebhookConfiguration kueue-mutating-webhook-configuration", "--feature-gates PriorityBoost"):
            self.assertIn(part, printed)
        lines = printed.splitlines()
        self.assertEqual(len([line for line in lines if line.startswith("blocks")]), 3, printed)  # nothing else stands in the way
        converted = [line for line in lines if "Webhook, Service kueue-system/kueue-webhook-service" in line]
        self.assertEqual(len(converted), len(CONVERTED), printed)

    def back_to_kueue(self, before):
        """Kueue's definitions and webhooks are there, and whoever comes then finds objects, and no log. That is Hindsight once more."""
        self.assertEqual(self.converters(), {plural: "kueue-webhook-service" for plural in CONVERTED})
        self.assertEqual(self.world(), before)
        self.assertIn("failed calling webhook", self.creating(job("new", "team", 1, 1)))
        self.cluster.kubectl("delete", *WEBHOOKS[:1], "--all")  # Kueue's process would answer them
        self.cluster.kubectl("delete", *WEBHOOKS[1:], "--all")
        self.start("after", os.path.join(self.folder, "kueue.yaml"))
        self.taken_over(before)
        self.stop()

    def taken_over(self, before):
        """It looks after everything: a job that somebody creates is judged. And nothing has changed."""
        eventually(lambda: is_ready(self.running))
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
