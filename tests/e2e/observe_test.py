#!/usr/bin/env python3
"""Hindsight looks on beside Kueue on a real API server: it writes nothing, and tells where it would decide otherwise.

usage: observe_test.py HINDSIGHT [--cases NAME[,NAME...]]

Kueue itself is not here (it is in from_kueue_test.py). `StandIn` writes what Kueue wrote: it makes the Workloads of Jobs with Kueue's names,
labels and owners, and puts into their statuses, step by step, what the recorded states of tests/conformance say that Kueue had made of them.
Where the two decide alike the report must say so; differences that are made on purpose must be found. By the server's audit log the observing
account has only sent get, list and watch, and nothing about leases. It proves the last sentence of point 2 of issue 21.
"""
import argparse, copy, glob, json, os, shutil, subprocess, sys, tempfile, time, unittest

import yaml

import jobs_test
from jobs_test import ROOT, Cluster, Controller, eventually, run

sys.path.insert(0, os.path.join(ROOT, "tests", "conformance", "tools"))
import drive  # noqa: E402

CONFORMANCE = os.path.join(ROOT, "tests", "conformance")
# Recorded cases in which nobody is preempted or evicted; the second one with a Job that is admitted with fewer pods.
SAMPLE = ["quota-018", "quota-034"]
# A step of a case is over when what it wrote has been seen and looked at.
STEP_SECONDS = 0.7
KUEUE = "kueue.x-k8s.io"
ARGS = None


def owner_reference(job):
    return {"apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"], "uid": job["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}


def workload_of(job, priority):
    """The Workload that Kueue makes of a Job."""
    template = copy.deepcopy(job["spec"]["template"])
    labels = template.get("metadata", {}).get("labels", {})
    for key in ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name"):
        labels.pop(key, None)
    pod_set = {"name": "main", "count": job["spec"]["parallelism"], "template": template}
    least = job["metadata"].get("annotations", {}).get(KUEUE + "/job-min-parallelism")
    if least:
        pod_set["minCount"] = int(least)
    spec = {"active": True, "queueName": job["metadata"]["labels"][KUEUE + "/queue-name"], "podSets": [pod_set], "priority": priority}
    of_class = job["metadata"]["labels"].get(KUEUE + "/priority-class")
    if of_class:
        spec["priorityClassRef"] = {"group": KUEUE, "kind": "WorkloadPriorityClass", "name": of_class}
    return {"apiVersion": KUEUE + "/v1beta2", "kind": "Workload",
            "metadata": {"name": f"job-{job['metadata']['name']}-{job['metadata']['uid'][:5]}", "namespace": job["metadata"]["namespace"],
                         "labels": {KUEUE + "/job-uid": job["metadata"]["uid"]}, "ownerReferences": [owner_reference(job)]},
            "spec": spec}


class StandIn:
    """Writes what Kueue would, when it is told what that is."""

    def __init__(self, api):
        self.api = api
        self.written = {}  # name of a Workload -> its status

    def jobs(self):
        return {"/".join(("Job", j["metadata"]["namespace"], j["metadata"]["name"])): j for j in self.api.list("Job")}

    def makes_workload(self, job, priority=0):
        made = workload_of(job, priority)
        self.api.call("POST", self.api.path("Workload", made["metadata"]["namespace"]), made)
        return made["metadata"]["name"]

    def writes_status(self, namespace, name, status):
        if self.written.get(name) == status:
            return
        self.written[name] = copy.deepcopy(status)
        now = drive.now()
        body = {**status, "conditions": [{"message": "as recorded", **c, "lastTransitionTime": now} for c in status["conditions"]]}
        body.setdefault("admission", None)
        self.api.call("PATCH", self.api.path("Workload", namespace, name, "status"), {"status": body}, "application/merge-patch+json")

    def admits(self, namespace, name, cluster_queue, assignments):
        self.writes_status(namespace, name, {
            "admission": {"clusterQueue": cluster_queue, "podSetAssignments": assignments},
            "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved"}, {"type": "Admitted", "status": "True", "reason": "Admitted"}]})

    def starts(self, job, parallelism, selector):
        """The Job as an admission leaves it."""
        m = job["metadata"]
        path = self.api.path("Job", m["namespace"], m["name"])
        self.api.call("PATCH", path, {"spec": {"suspend": False, "parallelism": parallelism, "template": {"spec": {"nodeSelector": selector}}}}, "application/merge-patch+json")

    def follows(self, state):
        """Everything as this recorded state has it."""
        jobs = self.jobs()
        names = {w["metadata"]["ownerReferences"][0]["uid"]: w["metadata"]["name"] for w in self.api.list("Workload")}
        for key, wanted in state["workloads"].items():
            uid = jobs[key]["metadata"]["uid"]
            if uid not in names:
                names[uid] = self.makes_workload(jobs[key], wanted["priority"])
        for key, wanted in state["workloads"].items():
            job = jobs[key]
            status = {"conditions": [{"type": kind, "status": now, "reason": reason or "Recorded"} for kind, (now, reason) in sorted(wanted["conditions"].items())]}
            if "clusterQueue" in wanted:
                status["admission"] = {"clusterQueue": wanted["clusterQueue"],
                                       "podSetAssignments": [{"name": n, "count": a["count"], "flavors": a["flavors"], "resourceUsage": a["usage"]} for n, a in wanted["admitted"].items()]}
            self.writes_status(job["metadata"]["namespace"], names[job["metadata"]["uid"]], status)
            shown = state["jobs"].get(key, {})
            if job["spec"].get("suspend") and shown and not shown["suspended"]:
                self.starts(job, shown["parallelism"], shown["nodeSelectors"]["main"])


class ObserveTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"), "--no-kwok", "--no-controller-manager", "--no-scheduler", "--audit-writes",
                              "--no-admission-plugins", "TaintNodesByCondition")
        cls.addClassCleanup(cls.cluster.down)
        for crd in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))):
            cls.cluster.kubectl("apply", "-f", crd)
        cls.api = drive.Api(cls.cluster.kubeconfig)

        def served():  # each kind a moment after its definition
            for kind, (group, version, plural, _) in drive.KINDS.items():
                try:
                    if group == KUEUE:
                        cls.api.call("GET", f"/apis/{group}/{version}/{plural}")
                except drive.ApiError as not_yet:
                    raise AssertionError(f"{kind} is not served: {not_yet}") from not_yet

        eventually(served)

    def setUp(self):
        self.player = drive.Player(self.api, 0.2, 30)
        self.player.clean()

    def observer(self, name, *options):
        """Under an account of its own, so that the audit log tells what it did."""
        controller = Controller(os.path.join(self.cluster.folder, "hindsight.kubeconfig"), self.log(name), os.path.join(self.folder, name + ".out"))
        controller.words = [w for w in controller.words if w != "--no-lease"] + ["--observe", *options]
        self.addCleanup(controller.stop)
        controller.start()
        self.looks_on(controller)
        return controller

    def log(self, name):
        return os.path.join(self.folder, name + ".db")

    def said(self, controller):
        with open(controller.output, encoding="utf-8", errors="replace") as file:
            return file.read()

    def looks_on(self, controller):
        def look():
            self.assertIsNone(controller.process.poll(), self.said(controller)[-3000:])
            self.assertGreaterEqual(self.said(controller).count("the domain is observed"), controller.starts)
            self.assertGreaterEqual(self.records(controller).count("MirrorSynced"), controller.starts)

        eventually(look)

    def records(self, controller, *options):
        log = controller.words[controller.words.index("--log") + 1]
        return run(ARGS.hindsight, "log", "cat", "--log", log, *options, check=False)

    def hindsight(self, name, *words, **more):
        return run(ARGS.hindsight, *words, "--log", "sqlite:" + self.log(name), **more)

    def compared(self, name, *words):
        return json.loads(self.hindsight(name, "compare-kueue", "-o", "json", *words))

    def objects(self):
        return {(kind, o["metadata"].get("namespace"), o["metadata"]["name"]): o["metadata"]["resourceVersion"]
                for kind in ("Job", "Workload", "ClusterQueue", "LocalQueue", "ResourceFlavor") for o in self.api.list(kind)}

    def test_1_where_both_decide_alike_it_says_so(self):
        for case in ARGS.cases.split(",") if ARGS.cases else SAMPLE:
            with self.subTest(case=case):
                self.player.clean()
                self.plays(case)

    def plays(self, case):
        with open(os.path.join(CONFORMANCE, "cases", case + ".yaml"), encoding="utf-8") as file:
            steps = yaml.safe_load(file)["spec"]["steps"]
        with open(os.path.join(CONFORMANCE, "expected", case + ".json"), encoding="utf-8") as file:
            states = json.load(file)["states"]
        controller = self.observer(case)
        kueue = StandIn(self.api)
        admitted = set()
        for number, (step, state) in enumerate(zip(steps, states)):
            self.player.step(step)
            kueue.follows(state)
            before = self.objects()
            time.sleep(STEP_SECONDS)
            self.assertEqual(self.objects(), before, f"{case}, step {number}: somebody has changed something")
            admitted |= {key for key, w in state["workloads"].items() if "clusterQueue" in w}
            if number == len(steps) // 2:  # it may be killed, and goes on in its log
                controller.kill()
                controller.start()
                self.looks_on(controller)
        self.assertEqual(controller.stop(), 0, self.said(controller)[-3000:])
        found = self.compared(case, "--all")
        told = json.dumps([m for m in found["matters"] if m["verdict"] not in ("Same", "BothWait")], indent=1)
        self.assertEqual(found["differences"], 0, f"{case}: {told}")
        same = {m["workload"] for m in found["matters"] if m["verdict"] == "Same"}
        self.assertGreaterEqual(len(same), len(admitted) - found["sums"]["Unseen"], f"{case}: admitted {sorted(admitted)}, the same {sorted(same)}; {told}")
        self.assertGreaterEqual(len(same), 3, told)
        verified = json.loads(self.hindsight(case, "verify", "-o", "json"))
        self.assertEqual((verified["clean"], verified["decisions"]), (True, 0), json.dumps(verified, indent=1))
        self.assertGreaterEqual(verified["notesJudged"], 1)

    def test_2_differences_are_found_and_told(self):
        def flavor(name):
            return {"apiVersion": KUEUE + "/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": name}}

        def queue(name, *flavors):
            return [{"apiVersion": KUEUE + "/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name},
                     "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
                         {"name": f, "resources": [{"name": "cpu", "nominalQuota": cpu}]} for f, cpu in flavors]}]}},
                    {"apiVersion": KUEUE + "/v1beta2", "kind": "LocalQueue", "metadata": {"name": name, "namespace": "default"}, "spec": {"clusterQueue": name}}]

        for one in (flavor("first"), flavor("second"), *queue("narrow", ("first", "2")), *queue("wide", ("first", "4"), ("second", "4"))):
            self.player.apply(one)
        controller = self.observer("differences")
        kueue = StandIn(self.api)
        names = {}
        for name, local_queue in (("a", "narrow"), ("b", "narrow"), ("c", "narrow"), ("d", "wide")):
            self.player.apply(jobs_test.job(name, local_queue, 1, 1))
            time.sleep(1.1)  # the order in which they came is that of whole seconds
            names[name] = kueue.makes_workload(kueue.jobs()["Job/default/" + name])

        def assignment(chosen):
            return [{"name": "main", "count": 1, "flavors": {"cpu": chosen}, "resourceUsage": {"cpu": "1"}}]

        kueue.admits("default", names["a"], "narrow", assignment("first"))
        time.sleep(4)  # b is what Hindsight would admit now, and Kueue does not
        kueue.admits("default", names["c"], "narrow", assignment("first"))
        kueue.admits("default", names["d"], "wide", assignment("second"))

        def all_told():
            verdicts = {m["workload"].split("/")[1]: m["verdict"] for m in self.compared("differences", "--tolerance", "3s", "--all")["matters"]}
            self.assertEqual(verdicts, {names["a"]: verdicts[names["a"]], names["b"]: "OnlyHindsight", names["c"]: "OnlyKueue", names["d"]: "OtherFlavors"})
            self.assertIn(verdicts[names["a"]], ("Same", "Earlier"))  # the stand-in took seconds to begin

        eventually(all_told)
        report = self.compared("differences", "--tolerance", "3s")
        by_name = {m["workload"].split("/")[1]: m for m in report["matters"]}
        other = by_name[names["d"]]
        self.assertEqual((other["hindsight"]["assignments"], other["kueue"]["assignments"]), (["main x1: cpu=first"], ["main x1: cpu=second"]))
        self.assertTrue(by_name[names["c"]]["why"], "a difference has a reason")
        self.assertNotIn("Same", {m["verdict"] for m in report["matters"]})
        table = self.hindsight("differences", "compare-kueue", "--tolerance", "3s")
        self.assertIn("OnlyKueue", table)
        nothing_yet = run(ARGS.hindsight, "compare-kueue", "--until", "1", "--log", "sqlite:" + self.log("differences"))
        self.assertIn("no difference", nothing_yet)

        # what reads logs tells notes from decisions
        self.assertIn("would have", self.hindsight("differences", "history", "default/" + names["b"]))
        self.assertIn("would have", self.hindsight("differences", "why", "default/" + names["b"]))
        self.assertIn("DecisionsNoted", self.hindsight("differences", "log", "cat", "--kind", "DecisionsNoted"))
        self.assertEqual(self.hindsight("differences", "log", "cat", "--kind", "Decisions").strip(), "")

        # a log of an observer is none of who acts
        self.assertEqual(controller.stop(), 0, self.said(controller)[-3000:])
        before = self.objects()
        acting = subprocess.run([ARGS.hindsight, "run", "--kubeconfig", self.cluster.kubeconfig, "--log", "sqlite:" + self.log("differences"), "--no-lease"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.assertNotEqual(acting.returncode, 0, acting.stdout)
        self.assertIn("found notes of a run with --observe", acting.stdout)
        self.assertEqual(self.objects(), before, "what was refused has done nothing")

    def test_3_it_has_only_read(self):
        asked = {}
        with open(os.path.join(self.cluster.folder, "logs", "audit.log"), encoding="utf-8") as file:
            for line in file:
                event = json.loads(line)
                if event["user"]["username"] != "hindsight":
                    continue
                what = (event["verb"], event.get("objectRef", {}).get("resource", event["requestURI"].split("?")[0]))
                asked[what] = asked.get(what, 0) + 1
        self.assertTrue(any(verb == "watch" and resource == "workloads" for verb, resource in asked), asked)
        self.assertEqual({verb for verb, _ in asked} - {"get", "list", "watch"}, set(), asked)
        self.assertEqual([what for what in asked if what[1] in ("leases", "events")], [], asked)


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("--cases", help="recorded cases of tests/conformance without evictions, in place of two of them")
    ARGS, rest = parser.parse_known_args()
    jobs_test.ARGS = ARGS
    ARGS.hindsight = os.path.abspath(ARGS.hindsight)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
