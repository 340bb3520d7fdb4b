#!/usr/bin/env python3
"""From the real Kueue to Hindsight and back, on a real API server with running pods, as docs/migration.md tells.

usage: from_kueue_test.py HINDSIGHT [--keep]

The controller of Kueue's release runs with its own manifests, account, webhooks and lease. It admits, lets wait, preempts, asks a check and
places in a topology. Beside it Hindsight observes, with the rights that docs/observe.md gives it, and the report must find no difference; a
second observer with another configuration must find some. Then the commands of docs/migration.md are run: Kueue stops, Hindsight takes over
and goes on, and Kueue comes back and goes on with what Hindsight left. In neither direction a job, a pod or an admission changes, and
Hindsight writes nothing at its takeover that no rule demands. It proves points 2 (its last sentence) and 3 of issue 21.
"""
import argparse, json, os, re, shutil, sys, tempfile, time, unittest

import yaml

import jobs_test
import real_kueue
from adoption_test import Write, demanded
from jobs_test import ROOT, Cluster, Controller, eventually, run
from migration_page import Reader, blocks
from real_kueue import Kueue, account_kubeconfig, drive, tool
from steps import is_ready

API = "kueue.x-k8s.io/v1beta2"
QUEUE = "kueue.x-k8s.io/queue-name"
CLASS = "kueue.x-k8s.io/priority-class"
RACK = "topology.hindsight.dev/rack"
HINDSIGHT = "system:serviceaccount:hindsight-system:hindsight"
OTHER_CONFIGURATION = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nresources: {excludeResourcePrefixes: [cpu]}\n"
MANY = 36  # jobs of two pods, of which four run at a time
CALM_SECONDS = 5  # what a controller would still do after it has started follows within a second or two
KINDS = ("Job", "JobSet", "Workload", "ClusterQueue", "LocalQueue", "ResourceFlavor", "AdmissionCheck", "Topology", "Cohort")
ARGS = None


def kueue_object(kind, name, spec, namespace=None):
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}, "spec": spec}


def queue(name, *flavors, **spec):
    """A ClusterQueue with so much cpu of each flavor, and its LocalQueue."""
    groups = [{"coveredResources": ["cpu"], "flavors": [{"name": f, "resources": [{"name": "cpu", "nominalQuota": cpu}]} for f, cpu in flavors]}]
    return [kueue_object("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": groups, **spec}),
            kueue_object("LocalQueue", name, {"clusterQueue": name}, "default")]


def configuration():
    preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    return [
        {"apiVersion": API, "kind": "Topology", "metadata": {"name": "racks"}, "spec": {"levels": [{"nodeLabel": RACK}, {"nodeLabel": "kubernetes.io/hostname"}]}},
        kueue_object("ResourceFlavor", "pool-a", {"nodeLabels": {"pool": "a"}}), kueue_object("ResourceFlavor", "pool-b", {"nodeLabels": {"pool": "b"}}),
        kueue_object("ResourceFlavor", "any", {}), kueue_object("ResourceFlavor", "racks", {"nodeLabels": {"type": "kwok"}, "topologyName": "racks"}),
        {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": "urgent"}, "value": 100},
        kueue_object("AdmissionCheck", "approval", {"controllerName": "example.com/approval"}),
        *queue("team-a", ("pool-a", 4), ("pool-b", 2), cohortName="both", preemption=preemption),
        *queue("team-b", ("pool-a", 4), ("pool-b", 2), cohortName="both", preemption=preemption),
        *queue("line", ("any", 2), preemption={"withinClusterQueue": "LowerPriority"}),
        *queue("gated", ("any", 4), admissionChecksStrategy={"admissionChecks": [{"name": "approval"}]}),
        *queue("placed", ("racks", 1000)), *queue("sets", ("any", 3)), *queue("many", ("any", 8)),
    ]


def pods(cpu, seconds, annotations=None):
    return {"metadata": {"annotations": {"hindsight.dev/run-seconds": str(seconds), **(annotations or {})}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}]}}


def job(name, local_queue, count, cpu=1, seconds=36000, suspend=None, urgent=False, annotations=None):
    """As users of Kueue write it: its webhook is who suspends it."""
    labels = {QUEUE: local_queue, **({CLASS: "urgent"} if urgent else {})}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default", "labels": labels},
            "spec": {**({} if suspend is None else {"suspend": suspend}), "parallelism": count, "completions": count, "backoffLimit": 0,
                     "template": pods(cpu, seconds, annotations)}}


def job_set(name, local_queue, count):
    template = {"spec": {"parallelism": count, "completions": count, "backoffLimit": 0, "template": pods(1, 36000)}}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name, "namespace": "default", "labels": {QUEUE: local_queue}},
            "spec": {"replicatedJobs": [{"name": "workers", "replicas": 1, "template": template}]}}


def conditions(o):
    return {c["type"]: (c["status"], c.get("reason")) for c in o.get("status", {}).get("conditions", [])}


def verdicts(workload):
    """What was decided, without how a wait is called: without UnadmittedWorkloadsObservability, which is off by default, Kueue gives every wait
    the reason Pending and needs no condition Admitted for it; Hindsight tells the reasons that Kueue tells with that gate."""
    waits = {kind: status for kind, (status, _) in conditions(workload).items() if kind == "QuotaReserved" and status == "False"}
    return {**{kind: found for kind, found in conditions(workload).items() if kind not in ("QuotaReserved", "Admitted") or found[0] == "True"}, **waits}


def owner(workload):
    return workload["metadata"]["ownerReferences"][0]["name"]


class FromKueueTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        if not ARGS.keep:
            cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        print("folder", cls.folder, flush=True)
        crd = tool("jobset-crd.yaml", "jobset")
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"), "--nodes", "8", "--endpoint-routing", "--audit-writes")
        cls.addClassCleanup(cls.cluster.down)
        cls.reader = Reader(cls.folder, cls.cluster.kubeconfig, ARGS.hindsight)
        cls.cluster.kubectl("apply", "--server-side", "-f", crd)
        objects = real_kueue.manifests()
        for o in objects:
            if o["kind"] == "ConfigMap":
                o["data"]["controller_manager_config.yaml"] += "waitForPodsReady:\n  timeout: 30m\nnamespace: kueue-system\n"
        with open(cls.reader.file("kueue-manifests.yaml"), "w", encoding="utf-8") as file:
            yaml.dump_all(objects, file, yaml.CSafeDumper)
        # With the command of Kueue's own installation page.
        cls.cluster.kubectl("apply", "--server-side", "-f", cls.reader.file("kueue-manifests.yaml"), timeout=120)
        cls.cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        cls.api = drive.Api(cls.cluster.kubeconfig)
        cls.player = drive.Player(cls.api, 1, 60)
        cls.kueue = Kueue(cls.cluster, cls.folder)
        cls.addClassCleanup(cls.kueue.stop)
        cls.hindsight = None
        cls.addClassCleanup(lambda: cls.hindsight and cls.hindsight.stop())

    # ---- what is there

    def one(self, kind, name):
        return self.api.call("GET", self.api.path(kind, "default", name))

    def workloads(self):
        return {owner(w): w for w in self.api.list("Workload")}

    def admitted(self):
        """Who holds quota and may run, by the name of its job; what has finished holds none."""
        return sorted(name for name, w in self.workloads().items()
                      if conditions(w).get("Admitted", ("",))[0] == "True" and conditions(w).get("Finished", ("",))[0] != "True")

    def pods_of(self, name):
        return [p for p in self.api.list("Pod") if p["metadata"]["namespace"] == "default" and p["metadata"].get("labels", {}).get("job-name") == name]

    def running(self):
        """Who has pods that run."""
        return sorted({p["metadata"]["labels"]["job-name"] for p in self.api.list("Pod")
                       if p["metadata"]["namespace"] == "default" and p["status"].get("phase") == "Running" and "deletionTimestamp" not in p["metadata"]})

    def world(self):
        """What must not change when the controller does: jobs, their pods, and whatever was decided about Workloads."""
        jobs = {j["metadata"]["name"]: (j["metadata"]["uid"], j["metadata"]["generation"], j["spec"].get("suspend"), j.get("status", {}).get("startTime"),
                                        j.get("status", {}).get("active")) for kind in ("Job", "JobSet") for j in self.api.list(kind)}
        of_jobs = {p["metadata"]["name"]: (p["metadata"]["uid"], p["metadata"].get("deletionTimestamp"), p["status"].get("phase"), p["spec"].get("nodeName"))
                   for p in self.api.list("Pod") if p["metadata"]["namespace"] == "default"}
        decided = {w["metadata"]["name"]: {"uid": w["metadata"]["uid"], "conditions": verdicts(w), "spec": {k: v for k, v in w["spec"].items() if k != "podSets"},
                                           **{k: v for k, v in w.get("status", {}).items() if k != "conditions"}} for w in self.api.list("Workload")}
        return {"jobs": jobs, "pods": of_jobs, "workloads": decided}

    def served(self):
        """Definitions that have changed are served again a moment later."""
        for kind in KINDS:
            try:
                self.api.list(kind)
            except drive.ApiError as not_yet:
                raise AssertionError(f"{kind} is not served: {not_yet}") from not_yet

    def stays(self, before, seconds=CALM_SECONDS):
        time.sleep(seconds)
        eventually(self.served)
        self.maxDiff = None
        self.assertEqual(self.world(), before)

    def objects(self):
        return {(kind, o["metadata"].get("namespace"), o["metadata"]["name"]): o for kind in KINDS for o in self.api.list(kind)}

    def stage(self, text):
        print(f"{time.monotonic() - self.begin:6.1f} s  {text}", flush=True)

    # ---- what users, pods and the controller of the check do

    def create(self, o):
        """The order in which jobs come is that of whole seconds."""
        self.api.call("POST", self.api.path(o["kind"], "default"), o)
        time.sleep(1.1)

    def finish(self, name):
        """All its pods end well; the Job controller does the rest."""
        for pod in self.pods_of(name):
            self.api.call("PATCH", self.api.path("Pod", "default", pod["metadata"]["name"], "status"), {"status": {"phase": "Succeeded"}}, "application/merge-patch+json")
        eventually(lambda: self.assertEqual(conditions(self.one("Job", name)).get("Complete", ("",))[0], "True", name))

    def approve(self, name):
        workload = self.workloads()[name]
        checks = [{**c, "state": "Ready", "message": "approved", "lastTransitionTime": drive.now()} for c in workload["status"]["admissionChecks"]]
        self.api.call("PATCH", self.api.path("Workload", "default", workload["metadata"]["name"], "status"), {"status": {"admissionChecks": checks}}, "application/merge-patch+json")

    def are_admitted(self, *names):
        """These and no others, and those of them that are Jobs have pods that run."""
        def look():
            self.assertEqual(self.admitted(), sorted(names))
            self.assertEqual(self.running(), sorted(n for n in names if not n.startswith("set")))

        eventually(look)

    def place_of(self, name):
        """The nodes of its assignment, and the racks of its pods."""
        assignment = self.workloads()[name]["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]
        racks = {n["metadata"]["name"]: n["metadata"]["labels"][RACK] for n in self.api.list("Node")}
        return assignment, {racks[p["spec"]["nodeName"]] for p in self.pods_of(name)}

    # ---- the parts

    def kueue_decides(self):
        """The mixture. The test knows what Kueue makes of it; were that something else, it would prove less."""
        for o in configuration():
            self.player.apply(o)
        active = {"type": "Active", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": drive.now()}
        self.api.call("PATCH", self.api.path("AdmissionCheck", None, "approval", "status"), {"status": {"conditions": [active]}}, "application/merge-patch+json")
        for name in ("team-a", "team-b", "line", "gated", "placed", "sets"):
            eventually(lambda n=name: self.assertEqual(conditions(self.api.call("GET", self.api.path("ClusterQueue", None, n)))["Active"][0], "True", n))
        self.observe()
        required = {"kueue.x-k8s.io/podset-required-topology": RACK}
        for o in (job("a1", "team-a", 3), job("a2", "team-a", 3), job("b1", "team-b", 2), job("b2", "team-b", 2), job("b3", "team-b", 2)):
            self.create(o)
        self.are_admitted("a1", "a2", "b1", "b2", "b3")
        self.create(job("b4", "team-b", 2))  # for which a2 has to go, that borrows
        self.are_admitted("a1", "b1", "b2", "b3", "b4")
        for name in ("line-0", "line-1", "line-2", "line-3"):
            self.create(job(name, "line", 2))
        self.create(job("passed", "gated", 2))
        self.create(job("asked", "gated", 2))
        eventually(lambda: self.assertEqual([conditions(self.workloads()[n])["QuotaReserved"][0] for n in ("passed", "asked")], ["True", "True"]))
        eventually(lambda: self.assertTrue(self.workloads()["passed"]["status"].get("admissionChecks")))
        self.approve("passed")
        for name, count in (("placed-1", 3), ("placed-2", 3), ("placed-3", 2)):
            self.create(job(name, "placed", count, cpu=17, annotations=required))
        self.create(job("done", "sets", 1, seconds=1))
        eventually(lambda: self.assertEqual(conditions(self.workloads()["done"]).get("Finished", ("",))[0], "True"))
        self.create(job_set("set-1", "sets", 2))
        self.create(job_set("set-2", "sets", 2))
        self.are_admitted("a1", "b1", "b2", "b3", "b4", "line-0", "passed", "placed-1", "placed-2", "set-1")
        workloads = self.workloads()
        self.assertEqual(conditions(workloads["a2"])["Evicted"], ("True", "Preempted"))
        self.assertEqual([c["state"] for c in workloads["asked"]["status"]["admissionChecks"]], ["Pending"])
        self.assertEqual({n: a["flavors"]["cpu"] for n in ("a1", "b1", "b2", "b3", "b4") for a in workloads[n]["status"]["admission"]["podSetAssignments"]},
                         {"a1": "pool-a", "b1": "pool-a", "b2": "pool-b", "b3": "pool-b", "b4": "pool-a"})
        self.assertEqual(sorted(len(self.place_of(n)[1]) for n in ("placed-1", "placed-2")), [1, 1])

    def observe(self):
        """Two look on, with the rights of docs/observe.md: one as Kueue is configured, and one that would not count cpu."""
        with open(os.path.join(ROOT, "docs", "observe.md"), encoding="utf-8") as file:
            role = re.search(r"(?m)^    apiVersion: rbac.authorization.k8s.io/v1\n(?:    .*\n)+", file.read()).group(0)
        role = yaml.safe_load("\n".join(line[4:] for line in role.splitlines()))
        name, subject = role["metadata"]["name"], {"kind": "ServiceAccount", "name": "observer", "namespace": "default"}
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name}, "subjects": [subject],
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}}
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "observer", "namespace": "default"}}
        self.cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [role, account, binding]}))
        kubeconfig = account_kubeconfig(self.cluster, "default", "observer", os.path.join(self.folder, "observer.kubeconfig"))
        live = json.loads(self.cluster.kubectl("get", "configmap", "kueue-manager-config", "-n", "kueue-system", "-o", "json"))
        self.observers = {}
        for name, config in (("alike", live["data"]["controller_manager_config.yaml"]), ("other", OTHER_CONFIGURATION)):
            path = os.path.join(self.folder, f"observer-{name}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(config)
            one = Controller(kubeconfig, os.path.join(self.folder, f"observer-{name}.db"), os.path.join(self.folder, f"observer-{name}.out"), "--observe", "--config", path)
            one.words.remove("--no-lease")
            self.addCleanup(one.stop)
            one.start()
            self.observers[name] = one
        for one in self.observers.values():
            eventually(lambda o=one: self.assertIn("MirrorSynced", run(ARGS.hindsight, "log", "cat", "--log", self.log_of(o), check=False)))

    @staticmethod
    def log_of(controller):
        return controller.words[controller.words.index("--log") + 1]

    def compare(self):
        """The report beside the real Kueue: no difference where both are configured alike."""
        for one in self.observers.values():
            self.assertEqual(one.stop(), 0)
        found = json.loads(run(ARGS.hindsight, "compare-kueue", "--log", self.log_of(self.observers["alike"]), "--all", "-o", "json"))
        verdicts = {}
        for matter in found["matters"]:
            verdicts.setdefault(matter["verdict"], []).append(matter["workload"].split("/")[1].rsplit("-", 1)[0])
        print({verdict: len(of) for verdict, of in verdicts.items()}, flush=True)
        told = run(ARGS.hindsight, "compare-kueue", "--log", self.log_of(self.observers["alike"]))
        self.assertEqual(found["differences"], 0, told)
        self.assertGreaterEqual(len(verdicts.get("Same", [])), 12, told)
        verified = json.loads(run(ARGS.hindsight, "verify", "-o", "json", "--log", self.log_of(self.observers["alike"])))
        self.assertEqual((verified["clean"], verified["decisions"]), (True, 0), verified)
        other = json.loads(run(ARGS.hindsight, "compare-kueue", "--log", self.log_of(self.observers["other"]), "--tolerance", "3s", "-o", "json"))
        self.assertGreaterEqual(other["sums"]["OnlyHindsight"], 1, other)
        self.assertIn("line-1", {m["workload"].split("/")[1].rsplit("-", 1)[0][4:] for m in other["matters"] if m["verdict"] == "OnlyHindsight"})

    def over(self, audit_from, before, objects):
        """Hindsight has taken over: nothing has changed, and each of its writes is demanded by a rule."""
        eventually(lambda: is_ready(self.hindsight))
        self.stays(before)
        after = self.objects()
        rules = {}
        for write in self.writes_of(HINDSIGHT, audit_from):
            why = demanded(write, objects, after) or self.told_as_with_the_gate(write, objects, after)
            self.assertIsNotNone(why, f"written, and no rule demands it: {write}")
            rules[why] = rules.get(why, 0) + 1
        for why, count in sorted(rules.items()):
            print(f"{count} writes: {why}", flush=True)

    @staticmethod
    def told_as_with_the_gate(write, before, after):
        """Of a Workload without admission: the reasons of QuotaReserved and Admitted, and nothing else."""
        namespace, _, name = write.name.rpartition("/")
        old, new = (objects.get(("Workload", namespace, name)) for objects in (before, after))
        if old is None or new is None or (write.verb, write.resource, write.subresource, write.code) != ("patch", "workloads", "status", 200):
            return None
        rest = lambda o: {k: v for k, v in o.get("status", {}).items() if k != "conditions"}
        if rest(old) != rest(new) or verdicts(old) != verdicts(new) or conditions(old).get("Admitted", ("False",))[0] != "False":
            return None
        told = {kind: (conditions(old).get(kind), now) for kind, now in conditions(new).items() if conditions(old).get(kind) != now}
        allowed = {"QuotaReserved": ([("False", "Pending")], [("False", "WaitingForQuota"), ("False", "TopologyPlacementFailed")]),
                   "Admitted": ([None, ("False", "UnsatisfiedChecks")], [("False", "NoReservation"), ("False", "UnsatisfiedAdmissionChecks")])}
        if all(kind in allowed and was in allowed[kind][0] and now in allowed[kind][1] for kind, (was, now) in told.items()):
            return "why a Workload waits is told as with UnadmittedWorkloadsObservability (docs/migration.md)"
        return None

    def writes_of(self, account, offset):
        out = []
        for event in self.audited(offset):
            if event["user"]["username"] == account and event["verb"] in ("create", "update", "patch", "delete", "deletecollection"):
                if event.get("objectRef", {}).get("resource") not in ("events", "subjectaccessreviews", "tokenreviews"):
                    out.append(Write(event))
        return out

    def audited(self, offset):
        with open(os.path.join(self.cluster.folder, "logs", "audit.log"), encoding="utf-8") as file:
            file.seek(offset)
            for line in file:
                if line.endswith("\n"):  # else it is being written
                    yield json.loads(line)

    def stopped_since(self, offset):
        """Of which jobs pods were deleted, whoever asked for it."""
        out = set()
        for event in self.audited(offset):
            ref = event.get("objectRef", {})
            if event["verb"] in ("delete", "deletecollection") and (ref.get("resource"), ref.get("namespace")) == ("pods", "default"):
                out.add(ref.get("name", "any").rpartition("-")[0])
        return out

    def audit_size(self):
        return os.path.getsize(os.path.join(self.cluster.folder, "logs", "audit.log"))

    def hindsight_starts(self, name="log"):
        """With a log of its own, as the page says of each change."""
        kubeconfig = account_kubeconfig(self.cluster, "hindsight-system", "hindsight", os.path.join(self.folder, "hindsight.kubeconfig"))
        type(self).hindsight = Controller(kubeconfig, os.path.join(self.folder, name + ".db"), os.path.join(self.folder, name + ".out"), "--config", self.reader.file("config.yaml"))
        self.hindsight.start()

    def hindsight_goes_on(self):
        """What waits is admitted in its order when room comes; the check is heard; who was preempted comes back; and it preempts itself."""
        here = {"a1", "b1", "b2", "b3", "b4", "line-0", "passed", "placed-1", "placed-2", "set-1"}
        self.finish("line-0")
        here = here - {"line-0"} | {"line-1"}
        self.are_admitted(*here)
        self.finish("line-1")
        here = here - {"line-1"} | {"line-2"}
        self.are_admitted(*here)
        self.approve("asked")
        here |= {"asked"}
        self.are_admitted(*here)
        rack = self.place_of("placed-1")[1]
        self.finish("placed-1")
        here = here - {"placed-1"} | {"placed-3"}
        self.are_admitted(*here)
        eventually(lambda: self.assertEqual(self.place_of("placed-3")[1], rack))
        self.finish("b4")
        here = here - {"b4"} | {"a2"}
        self.are_admitted(*here)
        self.create(job("urgent", "line", 2, suspend=True, urgent=True))
        here = here - {"line-2"} | {"urgent"}
        self.are_admitted(*here)
        self.assertEqual(conditions(self.workloads()["line-2"])["Evicted"], ("True", "Preempted"))
        self.create(job("short", "sets", 1, seconds=1, suspend=True))
        eventually(lambda: self.assertEqual(conditions(self.workloads()["short"]).get("Finished", ("",))[0], "True"))
        self.are_admitted(*here)
        return here

    def kueue_goes_on(self, here):
        """With what Hindsight left: one that it preempted, those that wait in their order, and new jobs, which Kueue's webhook suspends."""
        self.finish("urgent")
        here = here - {"urgent"} | {"line-2"}
        self.are_admitted(*here)
        self.finish("line-2")
        here = here - {"line-2"} | {"line-3"}
        self.are_admitted(*here)
        self.api.call("DELETE", self.api.path("JobSet", "default", "set-1"), {"propagationPolicy": "Background"})
        here = here - {"set-1"} | {"set-2"}
        self.are_admitted(*here)
        self.finish("placed-3")
        here = here - {"placed-3"} | {"placed-4"}
        self.create(job("placed-4", "placed", 2, cpu=17, annotations={"kueue.x-k8s.io/podset-required-topology": RACK}))
        self.are_admitted(*here)
        self.create(job("after", "sets", 1, seconds=1))
        eventually(lambda: self.assertEqual(conditions(self.workloads()["after"]).get("Finished", ("",))[0], "True"))
        self.create(job("again", "line", 2, urgent=True))  # and it preempts what it has itself admitted
        here = here - {"line-3"} | {"again"}
        self.are_admitted(*here)

    def test_1_over_and_back(self):
        self.begin = time.monotonic()
        self.stage(f"Kueue is ready after {self.kueue.start():.1f} s")
        self.kueue_decides()
        self.stage("Kueue has decided")
        before = here = audit = objects = None
        for marks, lines in blocks():
            text = "\n".join(lines)
            # What is run in the cluster's place: each process ends with the first command of the block that ends it, and no sooner.
            if "scale deployment kueue-controller-manager --replicas=0" in text:
                time.sleep(CALM_SECONDS)
                before = self.world()
                self.assertEqual(self.kueue.stop(), 0, self.kueue.program.said()[-3000:])
            elif "deploy/hindsight.yaml" in text:
                self.stays(before, 0)
                audit, objects = self.audit_size(), self.objects()
            elif "scale deployment hindsight --replicas=0" in text:
                time.sleep(CALM_SECONDS)
                before = self.world()
                self.assertEqual(self.hindsight.stop(), 0)
            printed = self.reader.play(marks, lines)
            if "scale deployment kueue-controller-manager --replicas=0" in text:
                self.compare()
                self.stage("Kueue is stopped, and the reports are as they should be")
            elif "hindsight migrate check" in text:
                self.judge_check("exit" in marks, printed)
            elif "deploy/hindsight.yaml" in text:
                self.hindsight_starts()
                self.over(audit, before, objects)
                self.stage("Hindsight has taken over")
            elif "comm -23" in text:
                self.assertNotIn("default/", printed)  # no job, and no pod of one
                here = self.hindsight_goes_on()
                self.stage("Hindsight has gone on")
            elif "scale deployment hindsight --replicas=0" in text:
                self.back(before, here)
                return
        self.fail("the page has no way back")

    def back(self, before, here):
        self.assertIn("sound", run(ARGS.hindsight, "verify", "--log", self.log_of(self.hindsight)))
        self.stays(before, 0)
        audit = self.audit_size()
        self.stage(f"Hindsight is stopped; Kueue is ready after {self.kueue.start():.1f} s")
        self.stays(before)
        written = {}
        for write in self.writes_of(real_kueue.ACCOUNT, audit):
            what = f"{write.verb} {write.resource}{'/' + write.subresource if write.subresource else ''}"
            written[what] = written.get(what, 0) + 1
            if write.resource in ("jobs", "jobsets", "pods"):
                # It sends one patch with no field to the Job that Hindsight has stopped.
                self.assertEqual((write.resource, write.fields()), ("jobs", set()), str(write))
        print("Kueue wrote when it came back:", written, flush=True)
        self.kueue_goes_on(here)
        self.stage("Kueue has gone on")
        self.assertEqual(self.stopped_since(0), {"a2", "line-2", "line-3"})  # who was preempted: by Kueue, by Hindsight, and by Kueue
        self.assertEqual(self.kueue.stop(), 0)

    def test_2_in_the_middle_of_everything(self):
        """Each is killed while jobs start and end, and the other goes on: every job runs once, and none is stopped."""
        self.begin = time.monotonic()
        self.kueue.start()
        offset, names = self.audit_size(), [f"many-{i:02}" for i in range(MANY)]
        jobs = [job(name, "many", 2, seconds=3, suspend=True) for name in names]
        self.cluster.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": jobs}))

        def finished():
            return sum(conditions(j).get("Complete", ("",))[0] == "True" for j in self.api.list("Job") if j["metadata"]["name"] in names)

        eventually(lambda: self.assertGreaterEqual(finished(), MANY // 6))
        self.kueue.program.kill()
        self.kueue.stop()
        by_kueue = finished()
        for marks, lines in blocks():
            if re.search("scale deployment kueue-controller-manager --replicas=0|/spec/conversion|-f deploy/crds", "\n".join(lines)):
                self.reader.play(marks, lines)
        by_nobody = finished()
        self.hindsight_starts("second")
        eventually(lambda: is_ready(self.hindsight))
        eventually(lambda: self.assertGreaterEqual(finished(), by_nobody + MANY // 3))
        self.hindsight.kill()
        by_hindsight = finished()
        self.assertLess(by_hindsight, MANY - 8, "something is left for Kueue")
        for marks, lines in blocks():
            if "scale deployment hindsight --replicas=0" in "\n".join(lines):
                self.reader.play(marks, lines)
        self.kueue.start()
        eventually(lambda: self.assertEqual(finished(), MANY))
        self.stage(f"of {MANY} jobs had finished: {by_kueue} when Kueue was killed, {by_nobody} when Hindsight came, {by_hindsight} when that was killed")
        self.assertEqual(self.stopped_since(offset), set())
        for name in names:
            self.assertEqual([p["status"]["phase"] for p in self.pods_of(name)], ["Succeeded"] * 2, name)
        eventually(lambda: self.assertEqual({n for n in names if conditions(self.workloads()[n]).get("Finished", ("",))[0] != "True"}, set()))
        usage = self.api.call("GET", self.api.path("ClusterQueue", None, "many"))["status"]["flavorsReservation"]
        self.assertEqual([r["total"] for flavor in usage for r in flavor["resources"]], ["0"])
        self.assertIn("sound", run(ARGS.hindsight, "verify", "--log", self.log_of(self.hindsight)))
        self.assertEqual(self.kueue.stop(), 0)

    def judge_check(self, first, printed):
        """While Kueue runs nothing blocks but Kueue itself. Those that Kueue lets wait without telling a reason are counted."""
        print(printed.strip().splitlines()[-1], flush=True)
        blocking = [line for line in printed.splitlines() if line.startswith("blocks")]
        self.assertEqual(len(blocking), 3 if first else 0, printed)
        for line in blocking:
            self.assertRegex(line, "kueue-controller-manager|kueue-mutating-webhook-configuration|kueue-validating-webhook-configuration")
        pending = sum(conditions(w).get("QuotaReserved") == ("False", "Pending") for w in self.api.list("Workload"))
        self.assertGreaterEqual(pending, 3)
        self.assertIn(f"Pending, {pending} of them", printed)


def main():
    global ARGS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("--keep", action="store_true", help="leave the logs of all processes, and those of Hindsight")
    ARGS, rest = parser.parse_known_args()
    ARGS.hindsight = os.path.abspath(ARGS.hindsight)
    jobs_test.ARGS = ARGS
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)


if __name__ == "__main__":
    main()
