#!/usr/bin/env python3
"""Concurrent admission on a real API server, with the real Job controller, garbage collector, scheduler and KWOK nodes, while Hindsight is killed.

usage: concurrent_admission_test.py HINDSIGHT [--kills N] [--seed S]

The worked examples of 8691 §4 that need a whole cluster to be believed, with webhooks. A check controller of this test answers as late as it
likes. Whatever is looked at comes from one list of Workloads, and in none of these lists are two Options of a job admitted, but for one that
is evicted: writes to several objects arrive in any order.
CA-1, CA-3, CA-5, CA-6, CA-7, CA-8, CA-9, CA-11, CA-12, CA-20, CA-22, CA-25, CA-28, CA-40, CA-41, CA-42, CA-43, CA-44, CA-45, CA-52, CA-60,
CA-61, CA-66, CA-70, CA-73, CA-80, CA-81, CA-82, CA-83, CA-84, CA-95, CA-97, CA-100, CA-101, CA-103, CA-110, CA-111, CA-112, CA-113, CA-114,
CA-115, CA-118, CA-119, CA-120, CA-122, CA-123, CA-133, CA-145
SG-54, SG-55
"""
import argparse, collections, json, os, random, re, sys, tempfile, time, unittest

import jobs_test, suspended_jobs_test
from jobs_test import ROOT, Controller  # noqa: F401 (the fixture makes one)
from steps import CommandFailed, eventually, run
from suspended_jobs_test import Fixture

GATES = {"ConcurrentAdmission": True, "SchedulingGatedBy": True}
WORKLOADS, QUEUES, CHECKS = (kind + ".kueue.x-k8s.io" for kind in ("workloads", "clusterqueues", "admissionchecks"))
API = "kueue.x-k8s.io/v1beta2"
PARENT = "kueue.x-k8s.io/parent-option"
PARENT_LABEL = "kueue.x-k8s.io/concurrent-admission-parent"
ALLOWED = "kueue.x-k8s.io/workload-allowed-resource-flavors"
GATE = "kueue.x-k8s.io/concurrent-admission"
ADMISSION, SCHEDULING = suspended_jobs_test.ADMISSION, suspended_jobs_test.SCHEDULING
# Where the pods of each flavor go; the fixture's nodes have these labels.
FLAVORS = {"res": {"pool": "a"}, "od": {"pool": "b"}, "spot": {"type": "kwok"}, "gpu": {"kubernetes.io/os": "linux"}}
PAGE = os.path.join(ROOT, "docs", "concurrent-admission.md")


def groups(**quotas):
    return [{"coveredResources": ["cpu"], "flavors": [{"name": f, "resources": [{"name": "cpu", "nominalQuota": q}]} for f, q in quotas.items()]}]


def queue(name, quotas, checks=None, **spec):
    """A ClusterQueue whose flavors have so much cpu, in order of preference; `checks`: the flavors that ask for each."""
    if checks:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": c, "onFlavors": f} for c, f in checks.items()]}
    return [{"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": name},
             "spec": {"namespaceSelector": {}, "resourceGroups": groups(**quotas), **spec}},
            {"apiVersion": API, "kind": "LocalQueue", "metadata": {"name": name, "namespace": "default"}, "spec": {"clusterQueue": name}}]


def policy(on_success, target=None, options=None):
    out = {"onSuccess": on_success}
    if target:
        out["removeBelowTargetConfig"] = {"targetResourceFlavor": target}
    if options:
        out["explicitOptions"] = options
    return {"concurrentAdmission": out}


def job(name, local_queue, cpu="4", seconds=3600, ending=0, **more):
    out = suspended_jobs_test.job(name, local_queue, cpu, seconds, **more)
    out["spec"]["template"]["metadata"]["annotations"]["hindsight.dev/termination-seconds"] = str(ending)
    out["spec"]["backoffLimit"] = 100
    return out


def condition(w, kind):
    return next((c for c in w.get("status", {}).get("conditions", []) if c["type"] == kind), {"status": None, "reason": None, "message": None})


def is_true(w, kind):
    return condition(w, kind)["status"] == "True"


def state(w):
    """As §4 of the specification writes it."""
    if is_true(w, "Finished"):
        return "F"
    if is_true(w, "QuotaReserved"):
        return "A" if is_true(w, "Admitted") else "R"
    return "P" if w["spec"].get("active", True) else "D"


SHOWN = {"F": "Finished", "A": "Admitted", "R": "Pending", "P": "Pending", "D": "Deactivated"}

Family = collections.namedtuple("Family", "parent options")  # options: by what their names end in


class ConcurrentAdmissionTest(Fixture):
    gates = GATES
    options = ("--nodes", "4")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.apply(*[{"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": n}, "spec": {"nodeLabels": l}} for n, l in FLAVORS.items()])

    def tearDown(self):
        """What the jobs leave behind goes with them: by the garbage collector, past no finalizer, and no quota stays in use."""
        self.kubectl("delete", "jobs", "--all", "-n", "default", "--wait=true", "--timeout=120s")

        def gone():
            left = [(w["metadata"]["name"], w["metadata"].get("finalizers"), w["metadata"].get("deletionTimestamp")) for w in self.items(WORKLOADS)]
            self.assertEqual(left, [], "Workloads are left")
            for q in self.items(QUEUES):
                status = q.get("status", {})
                self.assertEqual([status.get(k, 0) for k in ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads")], [0, 0, 0], q["metadata"]["name"])
                for field in ("flavorsReservation", "flavorsUsage"):
                    self.assertEqual(self.usage(q["metadata"]["name"], field), {}, q["metadata"]["name"])
        eventually(gone)

    # ---- looking

    def family(self, name):
        """The Parent of a job and its Options, all from one list."""
        every = self.items(WORKLOADS)
        parents = [w for w in every if any((o["kind"], o["name"]) == ("Job", name) for o in w["metadata"].get("ownerReferences", []))]
        self.assertEqual(len(parents), 1, f"{name} has one Workload")
        parent = parents[0]
        options = {}
        for w in every:
            if any(o["uid"] == parent["metadata"]["uid"] for o in w["metadata"].get("ownerReferences", [])):
                options[w["metadata"]["name"].partition("-option-")[2]] = w
        admitted = [n for n, w in options.items() if state(w) == "A"]
        if len([n for n in admitted if not is_true(options[n], "Evicted")]) > 1:
            raise RuntimeError(f"two Options of {name} are admitted: {admitted}")  # no assertion: nothing to be waited for
        self.assertLess(len(admitted), 2, f"{name}: of {admitted} one is evicted, and has given back what it held")
        return Family(parent, options)

    def row(self, name):
        return {n: state(w) for n, w in self.family(name).options.items()}

    def until_row(self, name, **expected):
        """Until the Options are in these states and the Parent says the same."""
        def look():
            f = self.family(name)
            self.assertEqual({n: state(w) for n, w in f.options.items()}, expected, name)
            shown = {o["name"].partition("-option-")[2]: o["state"] for o in f.parent["status"].get("options", [])}
            self.assertEqual(shown, {n: SHOWN[s] for n, s in expected.items()}, f"{name}: status.options")
            admitted = [w for w in f.options.values() if state(w) == "A"]
            self.assertEqual(state(f.parent) == "A", bool(admitted), f"{name}: the Parent shows it")
            if admitted:
                self.assertEqual(f.parent["status"]["admission"], admitted[0]["status"]["admission"])
            return f
        return eventually(look)

    def runs_on(self, name, flavor):
        """Its template selects the nodes of the flavor, and one pod of it runs there."""
        def look():
            self.assertFalse(self.job(name)["spec"]["suspend"], name)
            selector = self.template(name)["spec"].get("nodeSelector", {})
            for label, value in FLAVORS[flavor].items():
                self.assertEqual(selector.get(label), value, f"{name}: {selector}")
            pods = [p for p in self.pods(name) if p["status"].get("phase") == "Running"]
            self.assertEqual([p["spec"]["nodeSelector"] for p in pods], [selector], f"{name}: one pod, on {flavor}")
            return pods[0]["metadata"]["uid"]
        return eventually(look)

    def usage(self, name, field="flavorsReservation"):
        """Flavor → cpu that is in use of a ClusterQueue, which a reservation already is."""
        q = self.get(QUEUES, name)
        return {f["name"]: int(r["total"]) for f in q.get("status", {}).get(field, []) for r in f["resources"] if r["total"] != "0"}

    def until_usage(self, name, **expected):
        eventually(lambda: self.assertEqual(self.usage(name), expected, name))

    def stays(self, look, seconds=4):
        """What is not to happen has had its time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            look()
            time.sleep(0.5)

    def history(self, name):
        return run(jobs_test.ARGS.hindsight, "history", "job/" + name, "--full", "-n", "default", "--log", self.log)

    # ---- doing

    def quotas(self, name, **quotas):
        self.patch(QUEUES, name, {"spec": {"resourceGroups": groups(**quotas)}})

    def check(self, name):
        """A check, whose controller is this test."""
        self.apply({"apiVersion": API, "kind": "AdmissionCheck", "metadata": {"name": name}, "spec": {"controllerName": "example.com/late"}})
        active = {"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        self.kubectl("patch", CHECKS, name, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"conditions": [active]}}))

    def answer(self, name, option, answer, pod_set_updates=None):
        """Of the one check that the Option lists."""
        def once():
            w = self.family(name).options[option]
            checks = w["status"].get("admissionChecks", [])
            self.assertEqual(len(checks), 1, f"{option} lists its check")
            new = {**checks[0], "state": answer, "message": "the test says so"}
            if pod_set_updates:
                new["podSetUpdates"] = pod_set_updates
            self.kubectl("patch", WORKLOADS, w["metadata"]["name"], "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"admissionChecks": [new]}}))
        eventually(once)

    # ---- stories

    def test_01_the_page_of_the_documentation(self):
        """CA-145: a ClusterQueue that stands there is accepted, and a command prints what stands below it (HINDSIGHT_WRITE_DOCS=1 writes it anew)."""
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        manifests = [re.sub("^    ", "", m, flags=re.MULTILINE) for m in re.findall(r"^    apiVersion:.*\n(?:    .*\n)+", page, re.MULTILINE)]
        self.assertGreaterEqual(len(manifests), 7)
        for text in manifests:
            try:
                said = self.kubectl("apply", "--dry-run=server", "-f", "-", input=text)
            except CommandFailed as failure:
                self.fail(f"{text}\n{failure}")
            self.assertNotIn("Warning", said, text)
        with tempfile.TemporaryDirectory(prefix="hindsight-e2e-") as folder:
            os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
            os.symlink(os.path.abspath(jobs_test.ARGS.hindsight), os.path.join(folder, "hindsight"))
            path = folder + os.pathsep + os.environ["PATH"]

            def printed(command):
                said = run("bash", "-c", command[1], cwd=folder, env={**os.environ, "PATH": path})
                return command[0] + "".join("    " + line + "\n" if line else "\n" for line in said.splitlines())
            now = re.sub(r"^    \$ (.*)\n(?:    (?!\$ ).*\n)*", lambda m: printed((f"    $ {m[1]}\n", m[1])), page, flags=re.MULTILINE)
        if os.environ.get("HINDSIGHT_WRITE_DOCS"):
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(now)
            return
        self.assertGreaterEqual(page.count("    $ hindsight "), 7)
        self.assertEqual(page.splitlines(), now.splitlines())

    def test_02_a_job_moves_to_what_is_better(self):
        """E1, Story 1."""
        self.apply(*queue("e1", {"res": 0, "od": 0, "spot": 8}, **policy("RemoveLower")), job("e1", "e1", ending=1))
        f = self.until_row("e1", res="P", od="P", spot="A")
        self.runs_on("e1", "spot")
        self.until_usage("e1", spot=4)
        meta = f.parent["metadata"]
        self.assertEqual(meta["annotations"][PARENT], "true")
        self.assertEqual(meta["labels"][PARENT_LABEL], "true")
        self.assertEqual([o["name"] for o in f.parent["status"]["options"]], [meta["name"] + "-option-" + n for n in ("res", "od", "spot")], "by rank")
        self.assertEqual(condition(f.parent, "Admitted")["reason"], "Admitted")
        for name, w in f.options.items():
            owner = {"apiVersion": API, "kind": "Workload", "name": meta["name"], "uid": meta["uid"], "controller": True, "blockOwnerDeletion": True}
            self.assertEqual(w["metadata"]["ownerReferences"], [owner])
            self.assertEqual(w["spec"]["admissionConstraints"], {"allowedResourceFlavors": [name]})
            self.assertEqual(w["metadata"]["annotations"][ALLOWED], name)
            self.assertEqual(w["spec"]["preemptionGates"], [{"name": GATE}])
            self.assertNotIn(PARENT, w["metadata"]["annotations"])
            self.assertNotIn(PARENT_LABEL, w["metadata"].get("labels", {}))
            self.assertEqual(w["metadata"].get("finalizers", []), [], "no finalizer holds an Option")
        counters = self.get(QUEUES, "e1")["status"]
        self.assertEqual((counters.get("admittedWorkloads"), counters.get("pendingWorkloads")), (1, 0), "a family counts once")

        self.quotas("e1", res=0, od=4, spot=8)
        f = self.until_row("e1", res="P", od="A", spot="D")
        self.runs_on("e1", "od")
        self.until_usage("e1", od=4)
        self.assertEqual(condition(f.options["spot"], "Evicted")["reason"], "FlavorMigration")
        self.quotas("e1", res=4, od=4, spot=8)
        self.until_row("e1", res="A", od="D", spot="D")
        self.runs_on("e1", "res")
        self.until_usage("e1", res=4)
        events = collections.Counter(self.reasons(meta["name"]))
        self.assertEqual(events["CreatedVariant"], 3)
        for option in ("od", "spot"):
            told = self.reasons(f"{meta['name']}-option-{option}")
            self.assertIn("EvictedDueToFlavorMigration", told)
            self.assertIn("DeactivatedVariant", told)
        self.assertEqual(self.history("e1").count("admitted by its Option"), 3)

        # The job ends: every Option is finished with it (CA-110).
        pods = self.pods("e1")
        self.kubectl("patch", "pod", pods[0]["metadata"]["name"], "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"phase": "Succeeded"}}))
        f = self.until_finished("e1")
        for w in f.options.values():
            for key in ("reason", "message"):
                self.assertEqual(condition(w, "Finished")[key], condition(f.parent, "Finished")[key])
        self.until_usage("e1")

    def until_finished(self, name):
        def look():
            f = self.family(name)
            self.assertEqual({state(w) for w in [f.parent, *f.options.values()]}, {"F"}, name)
            return f
        return eventually(look)

    def test_03_no_option_below_the_target_is_kept(self):
        """E2, Story 2, in Kueue's form."""
        form = {"concurrentAdmissionPolicy": {"migration": {"mode": "TryPreferredFlavors", "constraints": {"lastAcceptableFlavorName": "res"}}}}
        self.apply(*queue("e2", {"res": 0, "od": 0, "spot": 8}, **form), job("e2", "e2"))
        self.until_row("e2", res="P", od="D", spot="A")
        pod = self.runs_on("e2", "spot")
        self.quotas("e2", res=0, od=4, spot=8)
        self.stays(lambda: self.assertEqual(self.row("e2"), {"res": "P", "od": "D", "spot": "A"}))
        self.assertEqual(self.runs_on("e2", "spot"), pod)
        self.quotas("e2", res=4, od=4, spot=8)
        self.until_row("e2", res="A", od="D", spot="D")
        self.runs_on("e2", "res")

    def test_04_racing_checks(self):
        """E4, Story 4: the first answer wins, and what comes late changes nothing."""
        self.check("late")
        flavors = ["res", "od", "spot"]
        self.apply(*queue("race", {f: 4 for f in flavors}, {"late": flavors}, **policy("RemoveOther")), job("race", "race"))
        self.until_row("race", res="R", od="R", spot="R")
        self.until_usage("race", res=4, od=4, spot=4)
        self.assertTrue(self.job("race")["spec"]["suspend"], "a reservation starts no job")
        status = self.get(QUEUES, "race")["status"]
        self.assertEqual([status.get(k, 0) for k in ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads")], [0, 1, 0], "a family counts once")
        self.restart()
        self.answer("race", "od", "Retry")
        self.until(lambda: "EvictedDueToAdmissionCheck" in self.reasons(self.family("race").options["od"]["metadata"]["name"]), "it tries again")
        self.until_row("race", res="R", od="R", spot="R")
        self.answer("race", "spot", "Ready", [{"name": "main", "nodeSelector": {"kubernetes.io/arch": "amd64"}}])
        f = self.until_row("race", res="D", od="D", spot="A")
        self.runs_on("race", "spot")
        self.until_usage("race", spot=4)
        self.assertEqual(self.template("race")["spec"]["nodeSelector"].get("kubernetes.io/arch"), "amd64", "what the check adds reaches the pods")
        self.assertEqual(f.parent["status"].get("admissionChecks", []), [])
        # A check controller that was slow, and does not know that it is over.
        late = [{"name": "late", "state": "Ready", "message": "at last", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
        self.kubectl("patch", WORKLOADS, f.options["res"]["metadata"]["name"], "--subresource=status", "--type=merge", "-p", json.dumps({"status": {"admissionChecks": late}}))
        self.stays(lambda: self.assertEqual(self.row("race"), {"res": "D", "od": "D", "spot": "A"}))
        self.until_usage("race", spot=4)
        self.assertIsNone(condition(self.family("race").parent, "Evicted")["status"], "losers do not touch the job (CA-66)")

    def test_05_an_upgrade_runs_its_checks_beside_the_job(self):
        """E12: the job runs until the check is ready; a rejection leaves it alone."""
        self.check("slow")
        self.apply(*queue("e12", {"res": 4, "od": 4}, {"slow": ["res"]}, **policy("RemoveLower")), job("e12", "e12", ending=1))
        self.until_row("e12", res="R", od="A")
        pod = self.runs_on("e12", "od")
        self.until_usage("e12", res=4, od=4)
        self.stays(lambda: self.assertEqual(self.row("e12"), {"res": "R", "od": "A"}))
        self.assertEqual(self.runs_on("e12", "od"), pod)
        self.answer("e12", "res", "Ready")
        self.until_row("e12", res="A", od="D")
        self.runs_on("e12", "res")
        self.until_usage("e12", res=4)
        self.kubectl("delete", "job", "e12")
        self.until_usage("e12")
        self.apply(job("no", "e12"))
        self.until_row("no", res="R", od="A")
        pod = self.runs_on("no", "od")
        self.answer("no", "res", "Rejected")
        self.until_row("no", res="D", od="A")
        self.until_usage("e12", od=4)
        self.assertEqual(self.runs_on("no", "od"), pod)

    def test_06_a_job_whose_every_check_is_rejected_is_deactivated(self):
        """CA-84, CA-113: and begins anew when somebody activates it."""
        self.check("never")
        self.apply(*queue("never", {"res": 4, "od": 4}, {"never": ["res", "od"]}, **policy("RemoveLower")), job("never", "never"))
        self.until_row("never", res="R", od="R")
        self.answer("never", "res", "Rejected")
        self.until_row("never", res="D", od="R")
        self.answer("never", "od", "Rejected")
        self.until(lambda: self.family("never").parent["spec"]["active"] is False, "the Parent is deactivated")
        self.until_usage("never")
        self.patch(WORKLOADS, self.family("never").parent["metadata"]["name"], {"spec": {"active": True}})
        self.until_row("never", res="R", od="R")
        self.answer("never", "od", "Ready")
        self.until_row("never", res="R", od="A")

    def test_07_what_somebody_does_to_an_option_by_hand(self):
        """CA-11, CA-112."""
        self.apply(*queue("hands", {"res": 0, "od": 4}, **policy("RemoveLower")), job("hands", "hands", ending=1))
        f = self.until_row("hands", res="P", od="A")
        pod = self.runs_on("hands", "od")
        old = f.options["res"]["metadata"]
        self.kubectl("delete", WORKLOADS, old["name"])

        def made_again():
            new = self.family("hands").options["res"]["metadata"]
            self.assertNotEqual(new["uid"], old["uid"])
        eventually(made_again)
        self.until_row("hands", res="P", od="A")
        self.patch(WORKLOADS, old["name"], {"spec": {"active": False}})
        self.until_row("hands", res="P", od="A")
        self.assertEqual(self.runs_on("hands", "od"), pod, "none of this touches what runs")
        # The one that is admitted: the job stops, and starts again on the same flavor.
        self.kubectl("delete", WORKLOADS, f.options["od"]["metadata"]["name"])

        def starts_again():
            new = self.family("hands").options["od"]["metadata"]["uid"]
            self.assertNotEqual(new, f.options["od"]["metadata"]["uid"])
        eventually(starts_again)
        self.until_row("hands", res="P", od="A")
        self.assertNotEqual(self.runs_on("hands", "od"), pod)
        self.until_usage("hands", od=4)
        self.assertIn("evicted: ConcurrentAdmission", self.history("hands"))

    def test_08_switched_off_and_on(self):
        """E16, CA-119, CA-120: nobody is evicted for it, and no quota is counted twice."""
        self.apply(*queue("e16", {"res": 0, "spot": 4}, **policy("RemoveOther")), job("runs", "e16"))
        self.until_row("runs", res="D", spot="A")
        pod = self.runs_on("runs", "spot")
        self.apply(job("waits", "e16"))
        self.until_row("waits", res="P", spot="P")

        def on(on_success):
            self.patch(QUEUES, "e16", {"spec": {"concurrentAdmission": {"onSuccess": on_success}}})

        def alone(name, expected):
            def look():
                f = self.family(name)
                self.assertEqual(f.options, {})
                self.assertEqual(state(f.parent), expected)
                self.assertNotIn(PARENT, f.parent["metadata"].get("annotations", {}))
                self.assertNotIn(PARENT_LABEL, f.parent["metadata"].get("labels", {}))
                self.assertEqual(f.parent["status"].get("options", []), [])
            eventually(look)
        on("RemoveLower")
        self.until_row("runs", res="P", spot="A")
        for _ in range(2):
            self.patch(QUEUES, "e16", {"spec": {"concurrentAdmission": None}})
            alone("runs", "A")
            alone("waits", "P")
            self.until_usage("e16", spot=4)
            self.restart()
            on("RemoveLower")
            self.until_row("runs", res="P", spot="A")
            self.until_row("waits", res="P", spot="P")
            self.until_usage("e16", spot=4)
        on("RemoveOther")
        self.until_row("runs", res="D", spot="A")
        self.assertEqual(self.runs_on("runs", "spot"), pod, "the job has run all the time")
        self.assertIsNone(condition(self.family("runs").parent, "Evicted")["status"])
        # While it is off somebody else leaves; what waited is admitted as a Workload of its own, and gets Options later.
        self.patch(QUEUES, "e16", {"spec": {"concurrentAdmission": None}})
        self.kubectl("delete", "job", "runs")
        alone("waits", "A")
        pod = self.runs_on("waits", "spot")
        on("RemoveLower")
        self.until_row("waits", res="P", spot="A")
        self.assertEqual(self.runs_on("waits", "spot"), pod)

    def test_09_flavors_come_and_go(self):
        """E11, CA-114, CA-115."""
        self.apply(*queue("e11", {"res": 4, "spot": 0}, **policy("RemoveLower")), job("e11", "e11", ending=1))
        self.until_row("e11", res="A", spot="D")
        pod = self.runs_on("e11", "res")
        self.quotas("e11", od=0, res=4, spot=0)
        self.until_row("e11", od="P", res="A", spot="D")
        self.assertEqual(self.runs_on("e11", "res"), pod)
        self.quotas("e11", od=0, spot=4)
        self.until_row("e11", od="P", spot="A")
        self.runs_on("e11", "spot")
        self.until_usage("e11", spot=4)
        self.until(lambda: "DeletedVariant" in self.reasons(self.family("e11").parent["metadata"]["name"]), "it is told")
        self.quotas("e11", spot=4, od=0)
        self.until_row("e11", spot="A", od="D")

    def test_10_delays(self):
        """E5 and E6, with seconds for hours."""
        options = [{"name": "reservation", "allowedResourceFlavors": ["res"], "deleteDelaySeconds": 5},
                   {"name": "later", "allowedResourceFlavors": ["od"], "createDelaySeconds": 5}]
        self.apply(*queue("delays", {"res": 0, "od": 4}, **policy("RemoveLower", options=options)))
        self.restart()
        self.apply(job("delays", "delays"))
        self.until_row("delays", reservation="P", later="D")
        message = next(o["message"] for o in self.family("delays").parent["status"]["options"] if o["name"].endswith("later"))
        self.assertIn("createDelaySeconds", message)
        f = self.until_row("delays", reservation="D", later="A")
        message = next(o["message"] for o in f.parent["status"]["options"] if o["name"].endswith("reservation"))
        self.assertIn("deleteDelaySeconds", message)
        pod = self.runs_on("delays", "od")
        self.quotas("delays", res=4, od=4)
        self.stays(lambda: self.assertEqual(self.row("delays"), {"reservation": "D", "later": "A"}))
        self.assertEqual(self.runs_on("delays", "od"), pod, "the window is over")

    def test_11_one_option_preempts(self):
        """E9: both need a victim, and one is taken."""
        preemption = {"preemption": {"withinClusterQueue": "LowerPriority"}}
        self.apply(*queue("e9", {"res": 4, "od": 4}, **policy("RemoveOther"), **preemption))
        for name in ("low-1", "low-2"):
            self.apply(job(name, "e9", **{"kueue.x-k8s.io/priority-class": "low"}))
        self.until_row("low-1", res="A", od="D")
        self.until_row("low-2", res="D", od="A")
        pod = self.runs_on("low-2", "od")
        self.apply(job("high", "e9", **{"kueue.x-k8s.io/priority-class": "high"}))
        self.until_row("high", res="A", od="D")
        self.runs_on("high", "res")
        self.until_row("low-1", res="P", od="P")
        self.assertEqual(self.runs_on("low-2", "od"), pod, "nobody else has gone for it")
        self.assertTrue(self.job("low-1")["spec"]["suspend"])
        self.assertIn("PreemptionUngatedVariant", self.reasons(self.family("high").options["res"]["metadata"]["name"]))
        self.assertNotIn("PreemptionUngatedVariant", self.reasons(self.family("high").options["od"]["metadata"]["name"]))
        self.kubectl("delete", "job", "high")
        self.until_row("low-1", res="A", od="D")

    def test_12_gates_hold_back_all_options(self):
        """CA-97, SG-54, SG-55."""
        self.apply(*queue("gated", {"res": 4, "od": 4}, **policy("RemoveLower")))
        self.apply(job("held", "gated", annotations={SCHEDULING: "example.com/data"}), job("checked", "gated", annotations={ADMISSION: "example.com/budget"}))
        self.until_row("checked", res="P", od="P")
        self.stays(lambda: self.assertEqual(self.row("checked"), {"res": "P", "od": "P"}))
        self.assertEqual(self.workloads("held"), [], "no Parent before the release")
        self.until_usage("gated")
        self.kubectl("annotate", "job", "checked", ADMISSION + "-")
        f = self.until_row("checked", res="A", od="D")
        for w in f.options.values():
            self.assertEqual(w["spec"]["preemptionGates"], [{"name": GATE}])
            self.assertEqual([g for g in w["status"].get("preemptionGates", []) if g["position"] == "Open"], [], "no gate of another kind is opened")
        self.kubectl("annotate", "job", "held", SCHEDULING + "-")
        self.until_row("held", res="P", od="A")

    def test_13_elastic_jobs_grow_where_they_run(self):
        """CA-95, EJ-45, EJ-55: the new slice is a family on the flavor of the old one, and takes its place at once."""
        elastic = job("grows", "elastic", cpu="1", annotations={"kueue.x-k8s.io/elastic-job": "true"})
        elastic["spec"].pop("completions", None)
        self.apply(*queue("elastic", {"res": 0, "od": 4}, **policy("RemoveLower")), elastic)
        self.until_usage("elastic", od=1)

        def resize(pods):
            self.kubectl("patch", "job", "grows", "--type=merge", "-p", json.dumps({"spec": {"parallelism": pods}}))

        def slices():
            return sorted((is_true(w, "Finished"), w["spec"]["podSets"][0]["count"]) for w in self.items(WORKLOADS)
                          if any((o["kind"], o["name"]) == ("Job", "grows") for o in w["metadata"].get("ownerReferences", [])))
        resize(3)
        self.until(lambda: slices() == [(False, 3), (True, 1)], "the new slice runs, the old one has ended")
        self.until_usage("elastic", od=3)
        resize(2)
        self.until_usage("elastic", od=2)
        self.assertEqual(slices(), [(False, 2), (True, 1)], "it is made smaller in place")
        self.patch(QUEUES, "elastic", {"spec": {"resourceGroups": groups(res=4, od=4)}})
        self.until_usage("elastic", res=2)

    def test_14_priority_and_queue_reach_the_options(self):
        """CA-122, CA-123."""
        self.apply(*queue("from", {"res": 0, "od": 0}, **policy("RemoveLower")), *queue("to", {"spot": 4}, **policy("RemoveLower")), job("moves", "from"))
        self.until_row("moves", res="P", od="P")
        self.kubectl("label", "job", "moves", "--overwrite", "kueue.x-k8s.io/priority-class=high")

        def followed():
            self.assertEqual({w["spec"].get("priority") for w in self.family("moves").options.values()}, {100})
        eventually(followed)
        self.kubectl("label", "job", "moves", "--overwrite", "kueue.x-k8s.io/queue-name=to")
        self.until_row("moves", spot="A")
        self.runs_on("moves", "spot")
        self.until_usage("from")

    def test_15_killed_in_the_middle_of_a_migration(self):
        """E15, CA-133: whenever Hindsight is killed, the job ends up in the same place, having stopped once."""
        seed = jobs_test.ARGS.seed if jobs_test.ARGS.seed is not None else random.randrange(1 << 32)
        rng = random.Random(seed)
        print("seed", seed, flush=True)
        self.apply(*queue("e15", {"res": 0, "od": 0, "spot": 8}, **policy("RemoveLower")))
        for number in range(jobs_test.ARGS.kills):
            name = f"e15-{number}"
            self.quotas("e15", res=0, od=0, spot=8)
            self.apply(job(name, "e15", ending=rng.choice([0, 0.5, 2])))
            self.until_row(name, res="P", od="P", spot="A")
            self.runs_on(name, "spot")
            self.quotas("e15", res=0, od=4, spot=8)
            for _ in range(rng.choice([1, 1, 2])):
                time.sleep(rng.choice([rng.uniform(0, 0.3), rng.uniform(0, 2.5)]))
                self.controller.kill()
                time.sleep(rng.uniform(0, 1))
                self.controller.start()
            f = self.until_row(name, res="P", od="A", spot="D")
            self.runs_on(name, "od")
            self.until_usage("e15", od=4)
            story = self.history(name)
            self.assertEqual(condition(f.options["spot"], "Evicted")["reason"], "FlavorMigration", story)
            self.assertEqual(story.count("evicted: VariantEvicted"), 1, story)
            self.assertEqual(story.count("admitted by its Option"), 2, story)
            for change, times in (("started", 2), ("suspended", 1)):
                self.assertEqual(len(re.findall(rf"Job default/{name} +{change}$", story, re.MULTILINE)), times, story)
            self.kubectl("delete", "job", name)
            self.until_usage("e15")

    def test_16_flavors_that_a_job_may_not_use(self):
        """CA-8, CA-118: by its own constraint; and an explicit Option under another name."""
        options = [{"name": "best", "allowedResourceFlavors": ["res"]}, {"name": "any", "allowedResourceFlavors": ["res", "od"]}]
        self.apply(*queue("named", {"res": 0, "od": 4}, **policy("RemoveLower", options=options)), job("named", "named"))
        self.until_row("named", best="P", any="A")
        pod = self.runs_on("named", "od")
        options[1]["name"] = "whatever"
        self.patch(QUEUES, "named", {"spec": policy("RemoveLower", options=options)})
        self.until_row("named", best="P", whatever="A")
        self.assertEqual(self.runs_on("named", "od"), pod, "only the name has changed")
        self.until_usage("named", od=4)

    def test_zz_the_log_verifies(self):
        self.verify()
        self.assertEqual(json.loads(run(jobs_test.ARGS.hindsight, "log", "check", "--log", self.log, "-o", "json"))["findings"], [])
        self.assertNotIn("was refused", self.said())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int)
    jobs_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
