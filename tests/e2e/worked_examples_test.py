#!/usr/bin/env python3
"""The worked examples of elastic jobs and of gates on a real API server, with the real Job controller, webhooks and pods.

usage: worked_examples_test.py HINDSIGHT

S1, S2, S3, S5, S6 and S12 of 77 §4; E1, E2, E3, E5, E7, E9 and E10 of 6915 §4; and of 5440 §4 what suspended_jobs_test.py and
job_updates_test.py do not play: E3 with pods that take their time to end, E7 write by write. Every example has a queue of its own, named as
it is. What lasts for a moment only is looked up in the log afterwards.
"""
import argparse, glob, hashlib, http.client, json, os, re, shutil, sys, tempfile, time, unittest, urllib.request

import jobs_test
from jobs_test import ROOT, Cluster
from steps import WAIT_SECONDS_MAX, Program, eventually, free_port, run
from what_if_again import plays_again

sys.path.insert(0, os.path.join(ROOT, "tests", "deploy"))
import api_server  # noqa: E402

ELASTIC = "kueue.x-k8s.io/elastic-job"
REPLACES, SLICE = "kueue.x-k8s.io/workload-slice-replacement-for", "kueue.x-k8s.io/workload-slice-name"
SCHEDULING, ADMISSION = "kueue.x-k8s.io/scheduling-gated-by", "kueue.x-k8s.io/admission-gated-by"
STOPPING = "kueue.x-k8s.io/stopping"
CONFIGURATION = ("{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, namespace: hindsight-system, "
                 "featureGates: {SchedulingGatedBy: %s}}\n")
JOBS, PODS = "/apis/batch/v1/namespaces/default/jobs", "/api/v1/namespaces/default/pods"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
WORKLOADS, QUEUES = KUEUE + "/namespaces/default/workloads", KUEUE + "/clusterqueues"
POLL_SECONDS = 0.1
QUEUE_SIZES = {"s1": 5, "s2": 10, "s3": 9, "s5": 2, "s6": 4, "s12": 10, "e1": 5, "e2": 5, "e3": 5, "e5": 5, "e7": 5, "e9": 5, "e10": 5,
               "r3": 8, "r7": 3}
PREEMPTION = {"s5": "LowerOrNewerEqualPriority", "s6": "LowerPriority", "r7": "LowerPriority"}
NO_PLACE = "couldn't assign flavors to pod set main: "


def kueue(kind, name, spec=None, namespace=None, **more):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, **({} if spec is None else {"spec": spec}), **more}


def containers(cpu):
    return [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]


def job(name, local_queue, pods=1, cpu="1", elastic=False, annotations=None, priority=None, seconds=3600, pod_annotations=None, **spec):
    """Not suspended: that is for the webhook. Its pods run for so many seconds."""
    labels = {"kueue.x-k8s.io/queue-name": local_queue, **({"kueue.x-k8s.io/priority-class": priority} if priority else {})}
    template = {"metadata": {"annotations": {"hindsight.dev/run-seconds": str(seconds), **(pod_annotations or {})}},
                "spec": {"restartPolicy": "Never", "containers": containers(cpu)}}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "default", "labels": labels,
                         "annotations": {**({ELASTIC: "true"} if elastic else {}), **(annotations or {})}},
            "spec": {"suspend": False, "parallelism": pods, "completions": 100 if elastic else pods, "template": template, **spec}}


def slice_name(owner, generation):
    """The name that 77 §2.4 gives to the slice of a Job's generation."""
    name, uid = owner["metadata"]["name"], owner["metadata"]["uid"]
    digest = hashlib.sha1(f"Job\nbatch\n{name}\n{uid}\n{generation}".encode()).hexdigest()
    return f"job-{name}-{digest[:5]}"


def conditions(o, *kinds):
    return [c for c in (o or {}).get("status", {}).get("conditions", []) if c["type"] in kinds]


def condition(o, kind):
    """"True Reason"; empty: it is not there."""
    return next((f"{c['status']} {c['reason']}" for c in conditions(o, kind)), "")


def message(o, kind):
    return next((c["message"] for c in conditions(o, kind)), None)


def annotations(o):
    return o["metadata"].get("annotations", {})


def names(objects):
    return sorted(o["metadata"]["name"] for o in objects)


def is_gated(pod):
    return any(g["name"] == ELASTIC for g in pod["spec"].get("schedulingGates", []))


def cpu_of(template):
    return template["spec"]["containers"][0]["resources"]["requests"]["cpu"]


def started(pods):
    """Which they are, and since when they run."""
    return {p["metadata"]["uid"]: p["status"]["startTime"] for p in pods}


class WorkedExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"))
        cls.addClassCleanup(cls.cluster.down)
        cls.server = api_server.Cluster(cls.cluster.folder)
        cls.server.connect()
        deploy = os.path.join(ROOT, "deploy")
        files = [*sorted(glob.glob(deploy + "/crds/*.yaml")), deploy + "/rbac.yaml", deploy + "/webhooks.yaml"]
        cls.cluster.kubectl("apply", *[w for f in files for w in ("-f", f)])
        cls.log, cls.config = os.path.join(cls.folder, "log.db"), os.path.join(cls.folder, "config.yaml")
        here = f"127.0.0.1:{free_port()}"
        cls.program = Program("hindsight", os.path.join(cls.folder, "hindsight.out"), jobs_test.ARGS.hindsight, "run",
                              "--kubeconfig", cls.cluster.kubeconfig, "--log", "sqlite:" + cls.log, "--no-lease", "--config", cls.config,
                              "--webhooks", "--webhook-address", here, "--webhook-url", "https://" + here)
        cls.addClassCleanup(cls.program.kill)
        cls.gate_on = None

    def setUp(self):
        self.use(not self._testMethodName.startswith("test_a_"))

    def run(self, result=None):
        before = len(result.failures) + len(result.errors) if result else 0
        super().run(result)
        if result and len(result.failures) + len(result.errors) > before:
            sys.stderr.write(self.program.said()[-6000:])

    def use(self, on, anew=False):
        """Hindsight runs, with feature gate SchedulingGatedBy on or off. `anew`: it ends first, and begins again."""
        if self.gate_on is on and self.program.runs() and not anew:
            return
        self.assertIn(self.program.stop(), (0, None))
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION % str(on).lower())
        WorkedExamples.gate_on = on
        self.program.start()
        eventually(lambda: self.program.heard("webhooks are registered", times=self.program.starts))
        if self.program.starts == 1:
            self.make_queues()

        def suspends():  # the API server hears of the webhooks a moment later
            made = self.post(JOBS + "?dryRun=All", job("probe", "s1", elastic=True))
            self.assertTrue(made["spec"]["suspend"] and is_gated(made["spec"]["template"]))
        eventually(suspends)

    def make_queues(self):
        self.post(KUEUE + "/resourceflavors", kueue("ResourceFlavor", "default", {"nodeLabels": {"type": "kwok"}}))
        for name, value in (("low", -1), ("high", 100)):
            self.post(KUEUE + "/workloadpriorityclasses", kueue("WorkloadPriorityClass", name, value=value))
        for name, cpu in QUEUE_SIZES.items():
            flavors = [{"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]
            spec = {"namespaceSelector": {}, "preemption": {"withinClusterQueue": PREEMPTION.get(name, "Never")},
                    "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}
            self.post(QUEUES, kueue("ClusterQueue", name, spec))
            self.post(KUEUE + "/namespaces/default/localqueues", kueue("LocalQueue", name, {"clusterQueue": name}, "default"))

    def call(self, method, path, body=None, content="application/json"):
        """Repeated while the definitions or the webhooks are not there: these come and go with Hindsight."""
        def once():
            try:
                return self.server.call(method, path, body, content)
            except api_server.Refused as refused:
                if refused.code == 429 or (refused.code, method) == (404, "POST") or "failed calling webhook" in str(refused):
                    raise AssertionError(str(refused)) from refused
                raise
            except (http.client.HTTPException, OSError) as error:
                self.server.connection.close()
                raise AssertionError(str(error)) from error
        return eventually(once)

    def post(self, path, body):
        return self.call("POST", path, body)
    def patch(self, path, body):
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def find(self, path):
        """None: it is not there."""
        try:
            return self.call("GET", path)
        except api_server.Refused as refused:
            if refused.code != 404:
                raise
            return None

    def refused(self, words, write, *arguments):
        with self.assertRaises(api_server.Refused) as refusal:
            write(*arguments)
        self.assertEqual((refusal.exception.code, str(refusal.exception)),
                         (403, 'admission webhook "vjob.kb.io" denied the request: ' + words))

    def soon(self, look):
        """What `look` returns when it no longer fails; as steps.eventually, but looking more often."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while True:
            try:
                return look()
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(POLL_SECONDS)

    def becomes(self, wanted, look, *arguments):
        self.soon(lambda: self.assertEqual(look(*arguments), wanted))

    def job(self, name):
        return self.call("GET", f"{JOBS}/{name}")
    def suspended(self, name):
        return self.job(name)["spec"]["suspend"]
    def marks(self, name):
        """Whether a stop is under way, and whether its pods would go where a flavor says: neither once it is restored."""
        found = self.job(name)
        return STOPPING in annotations(found), "nodeSelector" in found["spec"]["template"]["spec"]
    def resize(self, name, parallelism):
        return self.patch(f"{JOBS}/{name}", {"spec": {"parallelism": parallelism}})
    def ungate(self, name, *keys, **more):
        return self.patch(f"{JOBS}/{name}", {"metadata": {"annotations": {key: None for key in keys}}, **more})

    def workloads(self, of_job):
        return [w for w in self.call("GET", WORKLOADS)["items"] if of_job in [o["name"] for o in w["metadata"].get("ownerReferences", [])]]

    def workload(self, name):
        """By its name, or the only one of a Job."""
        if name.startswith("job-"):
            return self.find(f"{WORKLOADS}/{name}")
        found = self.workloads(name)
        self.assertEqual(len(found), 1, names(found))
        return found[0]

    def stands(self, name, kind):
        return condition(self.workload(name), kind)
    def admitted(self, name):
        self.becomes("True Admitted", self.stands, name, "Admitted")
    def replaced(self, first, second):
        self.admitted(second)
        self.becomes("True WorkloadSliceReplaced", self.stands, first, "Finished")
    def reserves(self, name):
        return self.stands(name, "QuotaReserved").split()[0]

    def all_pods(self, of_job):
        return self.call("GET", f"{PODS}?labelSelector=job-name%3D{of_job}")["items"]
    def pods(self, of_job):
        return [p for p in self.all_pods(of_job) if not p["metadata"].get("deletionTimestamp")]

    def run_pods(self, of_job, running, gated=0):
        """Until so many pods run, and so many wait behind the gate; those that run."""
        def look():
            pods = self.pods(of_job)
            found = [p for p in pods if p["status"].get("phase") == "Running" and not is_gated(p)]
            self.assertEqual((len(found), sum(map(is_gated, pods))), (running, gated), names(pods))
            return found
        return self.soon(look)

    def usage(self, queue_name):
        """cpu in use, as the status of the ClusterQueue tells."""
        status = self.call("GET", f"{QUEUES}/{queue_name}").get("status", {})
        return next((r.get("total", "0") for f in status.get("flavorsUsage", []) for r in f["resources"]), "0")

    def events(self, about, *reasons):
        """Reason, message and how often."""
        found = self.call("GET", f"/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3D{about}")["items"]
        return [(e["reason"], e["message"], e.get("count") or 1) for e in found if e["reason"] in reasons]

    def told(self, about, reason, words):
        """By an Event, once."""
        self.becomes([(reason, words, 1)], self.events, about, reason)

    def records(self, *words):
        said = run(jobs_test.ARGS.hindsight, "log", "cat", *words, "-o", "json", "--log", self.log)
        return [json.loads(line) for line in said.splitlines()]

    def observed(self, kind, name):
        return [(r["offset"], r["body"]) for r in self.records("--kind", kind) if r["body"]["meta"]["name"] == name]

    def decided(self, kind, about):
        """(offset, event) of the decisions about that Workload, or else that Job."""
        part = "workload" if about.startswith("job-") else "job"
        return [(r["offset"], e) for r in self.records("--kind", kind) for e in r["body"]["events"]
                if e["event"] == kind and e.get(part, {}).get("name") == about]
    def offsets(self, kind, about):
        return [offset for offset, _ in self.decided(kind, about)]
    def releases(self, of_job):
        """(offset, names of pods) of each decision that released pods of the Job."""
        return [(offset, [p["name"] for p in e["pods"]]) for offset, e in self.decided("PodsReleased", of_job)]
    def gate_changes(self, of_job):
        return [e["change"] for _, e in self.decided("GateChanged", of_job)]

    def has_none(self, name):
        """No Workload, and none was ever asked for."""
        self.assertEqual((self.workloads(name), self.offsets("WorkloadRequested", name)), ([], []))

    def folded(self, patched):
        """Until the log knows a Job as the API server answered it."""
        name, version = patched["metadata"]["name"], int(patched["metadata"]["resourceVersion"])
        self.soon(lambda: self.assertGreaterEqual(int(self.observed("JobObserved", name)[-1][1]["meta"]["resourceVersion"]), version))

    # SG-1, SG-3, SG-5: E10; and the last steps of E2 and E3, which are about the feature gate being off
    def test_a_gate_that_is_switched_on_late_is_ignored(self):
        made = self.post(JOBS, job("late", "e10", annotations={SCHEDULING: "example.com/mygate"}))
        self.assertTrue(made["spec"]["suspend"])
        self.admitted("late")
        pod = names(self.run_pods("late", 1))
        for number, value in enumerate(("not a domain", "Example.com/g", "a.io/x,b.io/y", "", "a.io/" + "x" * 59)):
            self.post(JOBS, job(f"stored-{number}", "e3", cpu="100m", seconds=1, annotations={SCHEDULING: value}))
            self.admitted(f"stored-{number}")
        self.post(JOBS, job("inert", "e2", cpu="6"))
        self.becomes("False ExceedsMaxQuota", self.stands, "inert", "QuotaReserved")
        patched = self.patch(f"{JOBS}/inert", {"metadata": {"annotations": {SCHEDULING: "example.com/mygate"}}})
        self.assertEqual(annotations(patched)[SCHEDULING], "example.com/mygate")
        self.folded(patched)
        self.assertEqual(self.records("--kind", "GateChanged"), [])

        self.use(True)
        ignored = "The job has a Workload already; its scheduling gate is ignored: example.com/mygate"
        self.told("late", "SchedulingGateIgnored", ignored)
        self.assertEqual(names(self.run_pods("late", 1)), pod, "it keeps running")
        before = self.workload("late")["metadata"]["uid"]
        self.folded(self.ungate("late", SCHEDULING))
        self.use(True, anew=True)
        self.assertEqual(names(self.run_pods("late", 1)), pod)
        self.assertEqual((self.workload("late")["metadata"]["uid"], self.suspended("late")), (before, False))
        self.told("late", "SchedulingGateIgnored", ignored)
        self.assertEqual(self.gate_changes("late"), ["Ignored"])

    # SG-19, SG-23, SG-24, SG-25, SG-32, SG-33, SG-69, SG-85
    def test_e1_a_job_is_held_back_until_its_gate_is_removed(self):
        made = self.post(JOBS, job("prep", "e1", cpu="100m", annotations={SCHEDULING: "example.com/mygate"}))
        self.assertTrue(made["spec"]["suspend"], "the webhook suspends it")
        self.told("prep", "SchedulingGated", "Workload creation is gated by: example.com/mygate")
        self.use(True, anew=True)
        self.post(JOBS, job("beside", "e1", seconds=0.5))
        self.becomes("True Succeeded", self.stands, "beside", "Finished")
        self.becomes("0", self.usage, "e1")
        status = self.call("GET", f"{QUEUES}/e1")["status"]
        self.assertEqual((status.get("pendingWorkloads", 0), status.get("reservingWorkloads", 0)), (0, 0))
        self.has_none("prep")

        released = self.ungate("prep", SCHEDULING, spec={"template": {"spec": {"containers": containers("200m")}}})
        self.assertEqual(cpu_of(released["spec"]["template"]), "200m", "both in one request")
        self.admitted("prep")
        w = self.workload("prep")
        self.assertEqual((condition(w, "QuotaReserved"), cpu_of(w["spec"]["podSets"][0]["template"])), ("True QuotaReserved", "200m"))
        self.assertNotIn(SCHEDULING, annotations(w))
        self.assertEqual(cpu_of(self.run_pods("prep", 1)[0]), "200m")
        self.assertFalse(self.suspended("prep"))
        self.told("prep", "SchedulingGateCleared", "Scheduling gate cleared")
        self.told("prep", "CreatedWorkload", f"Created Workload: default/{w['metadata']['name']}")
        self.told("prep", "Started", "Admitted by clusterQueue e1")

    # SG-15, SG-20
    def test_e2_a_gate_is_not_added_later(self):
        self.post(JOBS, job("settled", "e2", cpu="7"))  # unlike "inert": what equals a parked one is parked without a word (§3.6)
        self.becomes("False ExceedsMaxQuota", self.stands, "settled", "QuotaReserved")
        before, w = self.job("settled"), self.workload("settled")
        for key, kind in ((SCHEDULING, "scheduling"), (ADMISSION, "admission")):
            change = {"metadata": {"labels": {"team": "a"}, "annotations": {key: "example.com/mygate"}}}
            words = f"metadata.annotations[{key}]: Forbidden: cannot add {kind} gate after creation"
            self.refused(words, self.patch, f"{JOBS}/settled", change)
        for old, new in ((before, self.job("settled")), (w, self.workload("settled"))):
            for part in ("labels", "annotations", "generation", "uid"):
                self.assertEqual((new["spec"], new["metadata"].get(part)), (old["spec"], old["metadata"].get(part)))

    # SG-8, SG-9, SG-10
    def test_e3_a_gate_that_is_no_domain_prefixed_path_is_not_stored(self):
        host = ("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
                "with an alphanumeric character (e.g. 'example.com', regex used for validation is "
                "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
        for value, words in (("not a domain", 'Invalid value: "not a domain": must be a domain-prefixed path (such as "acme.io/foo")'),
                             ("Example.com/g", f'Invalid value: "Example.com": {host}'),
                             ("a.io/x,b.io/y", 'Invalid value: "a.io/x,b.io/y": only one gate is supported'),
                             ("", "Required value"),
                             ("a.io/" + "x" * 59, "Too long: may not be more than 63 bytes")):
            wrong = job("wrong", "e3", annotations={SCHEDULING: value})
            self.refused(f"metadata.annotations[{SCHEDULING}]: {words}", self.post, JOBS, wrong)
        self.assertIsNone(self.find(f"{JOBS}/wrong"))

    # SG-47, SG-49
    def test_e5_an_elastic_job_begins_with_its_size_at_release(self):
        made = self.post(JOBS, job("stretch", "e5", 2, elastic=True, annotations={SCHEDULING: "example.com/mygate"}))
        self.resize("stretch", 5)
        self.folded(self.resize("stretch", 3))
        self.has_none("stretch")
        self.ungate("stretch", SCHEDULING)
        self.admitted("stretch")
        w = self.workload("stretch")
        first = w["metadata"]["name"]
        self.assertEqual((w["spec"]["podSets"][0]["count"], first), (3, slice_name(made, 3)), "its two resizes were generations 2 and 3")
        self.assertEqual((annotations(w)[SLICE], annotations(w).get(REPLACES)), (first, None))
        self.run_pods("stretch", 3)
        second = slice_name(made, self.resize("stretch", 4)["metadata"]["generation"])
        self.replaced(first, second)
        held = annotations(self.workload(second))
        self.assertEqual((held[REPLACES], held[SLICE]), ("default/" + first, first))
        self.assertFalse({SCHEDULING, ADMISSION} & set(held))
        self.run_pods("stretch", 4)

    # SG-22, SG-26, SG-27
    def test_e7_a_gated_job_that_is_unsuspended_is_stopped_and_can_be_deleted(self):
        self.post(JOBS, job("runaway", "e7", annotations={SCHEDULING: "example.com/mygate"}))
        self.told("runaway", "SchedulingGated", "Workload creation is gated by: example.com/mygate")
        self.assertFalse(self.patch(f"{JOBS}/runaway", {"spec": {"suspend": False}})["spec"]["suspend"])
        self.becomes(True, self.suspended, "runaway")
        self.told("runaway", "Stopped", "Missing Workload; unable to restore pod templates")
        self.becomes([], self.all_pods, "runaway")
        self.has_none("runaway")
        self.cluster.kubectl("delete", "job", "runaway", f"--timeout={WAIT_SECONDS_MAX}s")
        self.assertIsNone(self.find(f"{JOBS}/runaway"), "no finalizer is left over")
        self.becomes("ObjectDeleted", lambda: self.records("--object", "default/runaway")[-1]["kind"])

    # SG-67
    def test_e9_both_gates_go_in_any_order(self):
        both = {SCHEDULING: "s.io/x", ADMISSION: "a.io/x"}
        for name in ("first", "second", "once"):
            self.post(JOBS, job(name, "e9", annotations=both))
        self.folded(self.ungate("first", ADMISSION))
        self.has_none("first")
        self.ungate("first", SCHEDULING)
        self.admitted("first")
        self.assertFalse(set(both) & set(annotations(self.workload("first"))))

        self.ungate("second", SCHEDULING)
        self.becomes("False AdmissionGated", self.stands, "second", "QuotaReserved")
        w = self.workload("second")
        self.assertEqual((message(w, "QuotaReserved"), annotations(w)[ADMISSION]), ("Admission is gated by: a.io/x", "a.io/x"))
        self.assertTrue(self.suspended("second"))
        self.ungate("second", ADMISSION)
        self.admitted("second")
        self.assertEqual(self.workload("second")["metadata"]["uid"], w["metadata"]["uid"])

        self.ungate("once", *both)
        self.admitted("once")
        for name in ("first", "second", "once"):
            self.run_pods(name, 1)

    def start_elastic(self, name, queue_name, pods, **more):
        """The Job as it was made, and the names that its first two slices have; its pods run."""
        made = self.post(JOBS, job(name, queue_name, pods, elastic=True, **more))
        self.admitted(slice_name(made, 1))
        self.run_pods(name, pods)
        return made, slice_name(made, 1), slice_name(made, 3)  # to start it took a generation

    # EJ-5, EJ-7, EJ-9, EJ-17, EJ-52, EJ-57, EJ-58, EJ-65
    def test_s1_a_scale_down(self):
        made, first, _ = self.start_elastic("shrinks", "s1", 3)
        self.assertEqual((made["spec"]["suspend"], made["metadata"]["generation"]), (True, 1), "the webhook suspends it,")
        self.assertEqual(made["spec"]["template"]["spec"]["schedulingGates"], [{"name": ELASTIC}], "and its pods wait")
        self.assertEqual((self.suspended("shrinks"), self.job("shrinks")["metadata"]["generation"]), (False, 2))
        self.becomes("3", self.usage, "s1")
        old = self.run_pods("shrinks", 3)
        self.assertEqual(sorted(n for _, pods in self.releases("shrinks") for n in pods), names(old), "made gated, then released")
        self.post(JOBS, job("other", "s1", 3))
        self.becomes("False WaitingForQuota", self.stands, "other", "QuotaReserved")
        self.assertEqual(message(self.workload("other"), "QuotaReserved"),
                         NO_PLACE + "insufficient unused quota for cpu in flavor default, 1 more needed")
        before = self.workload(first)

        self.assertEqual(self.resize("shrinks", 2)["metadata"]["generation"], 3)
        self.assertTrue(started(self.run_pods("shrinks", 2)).items() <= started(old).items(), "two go on as they were")
        self.admitted("other")
        self.becomes("5", self.usage, "s1")
        w = self.workload("shrinks")
        self.assertEqual((w["metadata"]["uid"], w["spec"]["podSets"][0]["count"]), (before["metadata"]["uid"], 2))
        self.assertEqual(w["status"]["admission"], before["status"]["admission"])
        [assignment] = w["status"]["admission"]["podSetAssignments"]
        self.assertEqual((assignment["count"], assignment["resourceUsage"]), (3, {"cpu": "3"}))
        self.assertEqual(conditions(w, "QuotaReserved", "Admitted"), conditions(before, "QuotaReserved", "Admitted"))
        self.run_pods("other", 3)

    # EJ-8, EJ-9, EJ-34, EJ-51, EJ-52, EJ-70, EJ-72, EJ-138
    def test_s2_a_scale_up(self):
        made, first, second = self.start_elastic("grows", "s2", 3)
        old = started(self.run_pods("grows", 3))
        began = len(self.releases("grows"))
        self.assertEqual(self.resize("grows", 10)["metadata"]["generation"], 3)
        self.replaced(first, second)
        w1, w2 = self.workload(first), self.workload(second)
        words = (f"Replaced to accommodate a workload (UID: {w2['metadata']['uid']}, JobUID: {made['metadata']['uid']}) "
                 "due to workload slice aggregation")
        self.assertEqual(message(w1, "Finished"), words)
        self.assertEqual([condition(w1, kind) for kind in ("QuotaReserved", "Admitted", "Evicted", "Preempted")],
                         ["True QuotaReserved", "True Admitted", "", ""])
        self.assertEqual([annotations(w2)[key] for key in (REPLACES, SLICE, ELASTIC)], ["default/" + first, first, "true"])
        [assignment] = w2["status"]["admission"]["podSetAssignments"]
        self.assertEqual((assignment["count"], assignment["resourceUsage"]), (10, {"cpu": "10"}))
        self.assertTrue(old.items() <= started(self.run_pods("grows", 10)).items(), "the old ones run on as they were")
        self.becomes("10", self.usage, "s2")
        released = [pods for _, pods in self.releases("grows")[began:]]
        self.assertEqual(sum(map(len, released)), 7)
        self.assertEqual(released, [sorted(pods) for pods in released], "in the order of their names")
        self.becomes(2, lambda: len(self.events(second, "QuotaReserved", "Admitted")))
        self.told(first, "WorkloadSliceReplaced", words)
        address = re.findall(r'"message":"HTTP listens","address":"([^"]+)"', self.program.said())[-1]
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=60) as answer:
            self.assertRegex(answer.read().decode(), r'(?m)^kueue_replaced_workload_slices_total\{[^}]*cluster_queue="s2"[^}]*\} 1$')
        self.patch(f"{PODS}/{names(self.pods('grows'))[0]}/status", {"status": {"phase": "Failed"}})  # step 6: see test_zz

    # EJ-16, EJ-19, EJ-37, EJ-73
    def test_s3_growing_while_pending_and_back(self):
        self.post(JOBS, job("fixed", "s3", 3))
        self.run_pods("fixed", 3)
        _, first, second = self.start_elastic("wishes", "s3", 3)

        def waits(reason, words):
            def look():
                w = self.workload(second)
                self.assertEqual((condition(w, "QuotaReserved"), message(w, "QuotaReserved")), ("False " + reason, NO_PLACE + words))
                return w["metadata"]["uid"]
            return self.soon(look)
        self.resize("wishes", 13)
        uid = waits("ExceedsMaxQuota", "insufficient quota for cpu in flavor default, previously considered podsets requests (0) + current "
                                       "podset request (10) > maximum capacity (9)")
        self.run_pods("wishes", 3, gated=10)
        self.becomes("6", self.usage, "s3")
        self.resize("wishes", 8)
        self.assertEqual(waits("WaitingForQuota", "insufficient unused quota for cpu in flavor default, 2 more needed"), uid, "one object")
        self.assertEqual(self.workload(second)["spec"]["podSets"][0]["count"], 8)
        self.run_pods("wishes", 3, gated=5)
        self.resize("wishes", 6)
        self.replaced(first, second)
        self.run_pods("wishes", 6)
        self.becomes("9", self.usage, "s3")
        self.assertEqual(self.workload(second)["metadata"]["uid"], uid)
        self.assertEqual(names(self.workloads("wishes")), sorted([first, second]), "never a third one")

    # EJ-38, EJ-39, EJ-58
    def test_s5_a_scale_up_preempts_another_job_and_gives_back(self):
        self.post(JOBS, job("lesser", "s5", priority="low"))
        self.run_pods("lesser", 1)
        _, first, second = self.start_elastic("greater", "s5", 1, priority="high")
        self.becomes("2", self.usage, "s5")
        low = self.workload("lesser")["metadata"]["name"]
        self.resize("greater", 2)
        self.replaced(first, second)
        self.becomes("True Preempted", self.stands, low, "Evicted")
        self.assertEqual(self.stands(first, "Evicted"), "")
        self.becomes(True, self.suspended, "lesser")
        self.run_pods("greater", 2)
        self.becomes("2", self.usage, "s5")
        [(evicted, preemption)] = self.decided("WorkloadPreempted", low)
        self.assertEqual(preemption["preemptor"]["name"], second)
        waited = [offset for offset, e in self.decided("EntryRequeued", second) if e["reason"] == "WaitingForPreemptedWorkloads"]
        [cleared], [reserved] = self.offsets("ReservationCleared", low), self.offsets("QuotaReserved", second)
        self.assertTrue(evicted <= waited[0] < cleared < reserved, (evicted, waited, cleared, reserved))

        self.resize("greater", 1)
        self.admitted("lesser")
        self.assertEqual(self.stands("lesser", "Evicted").split()[0], "False")
        for name in ("lesser", "greater"):
            self.run_pods(name, 1)
        self.becomes("2", self.usage, "s5")
        self.assertEqual(self.workload(second)["spec"]["podSets"][0]["count"], 1)

    # EJ-69, EJ-83, EJ-84, EJ-85, EJ-86
    def test_s6_a_pending_scale_up_does_not_save_the_job_from_preemption(self):
        self.post(JOBS, job("x", "s6", priority="high"))
        self.run_pods("x", 1)
        _, first, second = self.start_elastic("train", "s6", 3)
        self.becomes("4", self.usage, "s6")
        self.resize("train", 4)
        self.becomes("False WaitingForQuota", self.stands, second, "QuotaReserved")
        self.run_pods("train", 3, gated=1)
        self.post(JOBS, job("urgent", "s6", 2, priority="high"))
        self.admitted("urgent")
        self.becomes("True WorkloadSliceReplaced", self.stands, first, "Finished")
        self.assertEqual((self.stands(first, "Evicted"), self.reserves(first), self.reserves(second)), ("True Preempted", "False", "False"))
        self.assertEqual(self.workload(second)["spec"]["podSets"][0]["count"], 4)
        self.becomes(True, self.suspended, "train")
        self.becomes([], self.pods, "train")
        self.run_pods("urgent", 2)
        self.becomes("3", self.usage, "s6")
        # What was so for a moment: quota stayed until the last pod had gone, and no gate was taken away meanwhile.
        [evicted], [cleared] = self.offsets("WorkloadPreempted", first), self.offsets("ReservationCleared", first)
        seen = [body for offset, body in self.observed("JobObserved", "train") if offset < cleared]
        self.assertFalse(seen[-1].get("active", False), "no pod was active when the quota was given back")
        [reserved] = self.offsets("QuotaReserved", self.workload("urgent")["metadata"]["name"])
        self.assertTrue(evicted < cleared < reserved, (evicted, cleared, reserved))
        self.assertEqual([pods for offset, pods in self.releases("train") if offset > evicted], [])

        for pod in names(self.pods("x") + self.pods("urgent")):
            self.patch(f"{PODS}/{pod}/status", {"status": {"phase": "Succeeded"}})
        self.admitted(second)
        self.assertEqual(self.workload(second)["status"]["admission"]["podSetAssignments"][0]["count"], 4, "in full")
        self.becomes(False, self.suspended, "train")
        self.run_pods("train", 4)
        self.becomes("4", self.usage, "s6")

    # EJ-30, EJ-69, EJ-70, EJ-72, EJ-74, EJ-75, EJ-77: the Job is managed by somebody else, namely this test, which makes its pods by hand
    def test_s12_ungating_in_detail(self):
        made = self.post(JOBS, job("hand", "s12", 1, elastic=True, managedBy="example.com/by-hand"))
        first, second = slice_name(made, 1), slice_name(made, 3)
        self.admitted(first)
        self.becomes(False, self.suspended, "hand")

        def add(name, gated=True, pod_set="main", seconds=3600):
            steering = {"hindsight.dev/run-seconds": str(seconds)} if seconds else {}  # without it, a pod of a Job is done at once
            owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "hand", "uid": made["metadata"]["uid"], "controller": True}
            metadata = {"name": name, "namespace": "default", "labels": {"kueue.x-k8s.io/podset": pod_set} if pod_set else {},
                        "annotations": {SLICE: first, **steering}, "ownerReferences": [owner]}
            gates = {"schedulingGates": [{"name": ELASTIC}]} if gated else {}
            self.post(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata,
                             "spec": {"restartPolicy": "Never", "containers": containers("1"), **gates}})

        def gated():
            return [name for name in ("p-3", "p-4", "p-5", "q-0") if is_gated(self.find(f"{PODS}/{name}"))]

        def phases(*pods):
            return [self.find(f"{PODS}/{name}")["status"]["phase"] for name in pods]

        def last_seen(kind, name, field):
            return self.observed(kind, name)[-1][1].get(field, False)
        # The first slice grants one pod, which runs: so all others are there before any is released.
        add("p-1", gated=False)
        add("p-2", gated=False, seconds=0)
        for name in ("p-5", "p-3", "p-4"):
            add(name)
        add("q-0", pod_set="")
        self.becomes(["Running", "Succeeded"], phases, "p-1", "p-2")
        self.resize("hand", 3)
        self.replaced(first, second)
        self.becomes(["p-5", "q-0"], gated)
        self.assertEqual([n for _, pods in self.releases("hand") for n in pods], ["p-3", "p-4"])
        self.becomes(["Running", "Running"], phases, "p-3", "p-4")

        self.patch(f"{JOBS}/hand/status", {"status": {"active": 3}})
        self.becomes(True, last_seen, "JobObserved", "hand", "active")
        self.patch(f"{QUEUES}/s12", {"spec": {"stopPolicy": "HoldAndDrain"}})
        self.becomes("True ClusterQueueStopped", self.stands, second, "Evicted")
        self.becomes(True, self.suspended, "hand")
        self.patch(f"{PODS}/p-3/status", {"status": {"phase": "Failed"}})
        self.becomes(True, last_seen, "PodObserved", "p-3", "ended")
        self.assertEqual(self.reserves(second), "True", "a pod is active")
        self.call("DELETE", f"{WORKLOADS}/{first}")
        self.becomes(None, self.workload, first)
        self.assertEqual(gated(), ["p-5", "q-0"], "nothing is released while the job is evicted")

        self.patch(f"{JOBS}/hand/status", {"status": {"active": 0}})
        self.becomes("False", self.reserves, second)
        self.becomes((False, False), self.marks, "hand")
        self.patch(f"{QUEUES}/s12", {"spec": {"stopPolicy": "None"}})
        self.admitted(second)
        self.becomes(["q-0"], gated)
        [released] = [offset for offset, pods in self.releases("hand") if pods == ["p-5"]]
        self.assertGreater(released, self.offsets("QuotaReserved", second)[-1], "only after it was admitted again")

    # MR-31, MR-33, MR-36, MR-62, MR-73: E3, steps 4 to 8
    def test_r3_pods_that_take_their_time_to_end_are_no_obstacle(self):
        slow = {"hindsight.dev/termination-seconds": "6"}
        self.post(JOBS, job("fat", "r3", 2, cpu="4", pod_annotations=slow, podReplacementPolicy="Failed"))
        old = names(self.run_pods("fat", 2))
        before = self.workload("fat")["metadata"]
        self.patch(f"{WORKLOADS}/{before['name']}", {"spec": {"active": False}})
        self.becomes("True Deactivated", self.stands, "fat", "Evicted")
        self.becomes("True JobSuspended", lambda: condition(self.job("fat"), "Suspended"))
        self.becomes("False", self.reserves, "fat")
        stopped = self.job("fat")["status"]
        self.assertEqual((stopped.get("startTime"), stopped.get("active", 0)), (None, 0))
        self.becomes((False, False), self.marks, "fat")
        self.patch(f"{JOBS}/fat", {"spec": {"template": {"spec": {"containers": containers("1")}}}})
        self.becomes("1", lambda: cpu_of(self.workload("fat")["spec"]["podSets"][0]["template"]))
        w = self.workload("fat")
        self.assertEqual((w["metadata"]["uid"], w["spec"]["active"]), (before["uid"], False), "the same one, still inactive")
        self.patch(f"{WORKLOADS}/{before['name']}", {"spec": {"active": True}})
        self.admitted("fat")
        self.becomes("False JobResumed", lambda: condition(self.job("fat"), "Suspended"))
        self.assertIn("startTime", self.job("fat")["status"])
        self.becomes("2", self.usage, "r3")

        def renewed():
            running = [p for p in self.pods("fat") if p["metadata"]["name"] not in old and p["status"].get("phase") == "Running"]
            self.assertEqual([cpu_of(p) for p in running], ["1", "1"])
        self.soon(renewed)

    # MR-59, MR-61: E7
    def test_r7_a_stop_is_two_writes_none_of_which_is_refused(self):
        self.post(JOBS, job("victim", "r7", 3, priority="low"))
        self.run_pods("victim", 3)
        running = self.job("victim")
        self.assertEqual((running["metadata"]["generation"], running["spec"]["template"]["spec"]["nodeSelector"]), (2, {"type": "kwok"}))
        self.post(JOBS, job("pushes", "r7", 3, priority="high"))
        self.run_pods("pushes", 3)
        # the start of the one and the status of the other are writes of their own
        self.becomes(("True Preempted", "False"), lambda: (self.stands("victim", "Evicted"), self.reserves("victim")))
        self.becomes((False, False), self.marks, "victim")
        self.assertEqual((self.suspended("victim"), self.job("victim")["metadata"]["generation"]), (True, 4), "suspended, and restored")
        self.becomes(1, lambda: sum(count for _, _, count in self.events("victim", "Stopped")))
        self.assertEqual(self.events("victim", "ResourcesRestored"), [], "no plan was in force")
        self.assertEqual([r["body"] for r in self.records("--kind", "WriteRefused") if r["body"].get("name") == "victim"], [])

    # EJ-74: S2, step 6. The Job controller waits ten seconds before it makes another pod for one that failed: others are played meanwhile
    def test_zz_s2_a_pod_that_failed_is_replaced_and_the_log_verifies(self):
        running = self.run_pods("grows", 10)
        self.assertEqual(len([p for p in self.pods("grows") if p["status"]["phase"] == "Failed"]), 1)
        latest = max(running, key=lambda p: p["metadata"]["creationTimestamp"])["metadata"]["name"]
        self.assertEqual(self.releases("grows")[-1][1], [latest], "made gated, then released")
        self.assertEqual(self.usage("s2"), "10")
        self.assertEqual(self.program.stop(), 0)
        run(jobs_test.ARGS.hindsight, "verify", "--log", self.log)
        plays_again(jobs_test.ARGS.hindsight, self.log)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    jobs_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
