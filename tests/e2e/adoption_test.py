#!/usr/bin/env python3
"""Hindsight takes over what the real Kueue left: nothing is stopped, and nothing is written that its rules do not demand.

usage: adoption_test.py HINDSIGHT [--all | --states NAME[,NAME...]] [--clusters N] [--settle S]

Each state of tests/adoption is loaded into a real API server where no controller runs. Then Hindsight starts with an empty log. No job
changes, no admission changes, and each write that the API server was asked for is one that a rule demands (`demanded`). From a state in
the middle of its scenario the remaining steps are played, and each state must agree with the recorded one in every field. At the end
what Hindsight leaves has the forms that Kueue left: that is the way back. It proves point 3 of issue 21.
"""
import argparse, collections, glob, json, os, queue, shutil, subprocess, sys, tempfile, threading, time, unittest

import yaml

import conformance_test
import jobs_test
from jobs_test import ROOT, Cluster, Controller, eventually, run
from kueue_left import Loader, states_left
from left_forms import MISSING_HERE, ONLY_HERE, Forms

sys.path.insert(0, os.path.join(ROOT, "tests", "conformance", "tools"))
import drive  # noqa: E402

# Of each family a state in the middle; with those at the end they have whatever stands in any of the 55 (CheckTest).
SAMPLE = ["life-046-08", "quota-018-09", "fair-002-07", "elastic-018-08", "tas-014-05", "fair-012-17", "life-036-15", "life-018-18", "tas-002-14", "life-002-16"]
ARGS = None
LATE_MAX = 5  # times that a state is waited for again


def chosen():
    every = states_left()
    if ARGS.all:
        return list(every.values())
    names = ARGS.states.split(",") if ARGS.states else SAMPLE
    unknown = [n for n in names if n not in every]
    if unknown:
        sys.exit(f"error: --states: found {', '.join(unknown)}; allowed: CASE-STEP of tests/adoption")
    return [every[n] for n in names]


def marks_of(left):
    """What makes one state another kind of state than others: what was decided about Workloads, how far jobs are, and what they are marked with."""
    out = set()
    for o in left["objects"]:
        kind, status = o["kind"], o.get("status", {})
        if kind not in ("Workload", "Job", "JobSet"):
            continue
        out |= {f"{kind}: {mark}" for part in ("labels", "annotations", "finalizers") for mark in o["metadata"].get(part) or () if "kueue" in mark}
        out |= {f"{kind}: {part}.{field}" for part in ("spec", "status") for field in o.get(part) or ()}
        out |= {f"{kind}: {c['type']} {c['status']} {c.get('reason') if kind == 'Workload' else ''}" for c in status.get("conditions", [])}
        out |= {f"{kind}: check {check['state']}" for check in status.get("admissionChecks", [])}
        out |= {f"{kind}: assigned {field}" for one in (status.get("admission") or {}).get("podSetAssignments", []) for field in one}
        out |= {f"{kind}: {field} {o['spec'][field]}" for field in ("active", "suspend") if field in o["spec"]}
    return out


def name_of(left):
    return f"{left['case']}-{left['step']:02}"


def case_of(left):
    with open(os.path.join(conformance_test.CONFORMANCE, "cases", left["case"] + ".yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)["spec"]


def last_step_of(case):
    with open(os.path.join(conformance_test.CONFORMANCE, "expected", case + ".json"), encoding="utf-8") as file:
        return len(json.load(file)["states"]) - 1


def flat(value, path=()):
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from flat(value[key], path + (str(key),))
    else:
        yield "/".join(path), value


def differences(expected, found):
    before, now = dict(flat(expected)), dict(flat(found))
    return [f"{path}: expected {before.get(path, 'absent')!r}, found {now.get(path, 'absent')!r}"
            for path in sorted(set(before) | set(now)) if path not in before or path not in now or before[path] != now[path]]


class Write:
    """One request of Hindsight that changed an object, or was to."""

    def __init__(self, event):
        ref = event["objectRef"]
        self.verb, self.resource, self.subresource = event["verb"], ref["resource"], ref.get("subresource", "")
        self.name = "/".join(filter(None, (ref.get("namespace"), ref.get("name"))))
        self.body = event.get("requestObject") or {}
        self.code = event["responseStatus"]["code"]

    def fields(self):
        """What it changes, by dotted path, down to the second level."""
        out = set()
        for top, inner in self.body.items():
            if top in ("apiVersion", "kind"):
                continue
            for key in (inner if isinstance(inner, dict) else {}):
                if (top, key) not in (("metadata", "resourceVersion"), ("metadata", "uid"), ("metadata", "name"), ("metadata", "namespace")):
                    out.add(f"{top}.{key}")
        return out

    def __str__(self):
        return f"{self.verb} {self.resource}{'/' + self.subresource if self.subresource else ''} {self.name} ({self.code}): {json.dumps(self.body)[:700]}"


class AdoptionStage(conformance_test.Stage):
    def __init__(self, folder, number):
        self.folder = os.path.join(folder, f"stage-{number}")
        self.controllers = 0
        os.makedirs(self.folder)
        self.cluster = Cluster(os.path.join(self.folder, "cluster"), "--no-kwok", "--no-controller-manager", "--no-scheduler", "--audit-writes",
                               "--no-admission-plugins", "TaintNodesByCondition")

    def audit(self):
        return os.path.join(self.cluster.folder, "logs", "audit.log")

    def writes_since(self, offset):
        """What Hindsight's account asked the API server to change, Events left out: they tell, and change nothing."""
        out = []
        with open(self.audit(), encoding="utf-8") as file:
            file.seek(offset)
            for line in file:
                if not line.endswith("\n"):
                    break
                event = json.loads(line)
                if event["user"]["username"] == "hindsight" and event["verb"] in ("create", "update", "patch", "delete", "deletecollection"):
                    if event.get("objectRef", {}).get("resource") not in ("events", "subjectaccessreviews", "tokenreviews"):
                        out.append(Write(event))
        return out

    def objects(self, api):
        kinds = ("Job", "JobSet", "Workload", "ClusterQueue", "LocalQueue", "ResourceFlavor", "AdmissionCheck", "Topology", "Cohort")
        return {(kind, o["metadata"].get("namespace"), o["metadata"]["name"]): o for kind in kinds for o in api.list(kind)}

    def adopt(self, left, forms):
        """One state: loaded, taken over, and played to the end of its scenario. Returns what was found wrong."""
        wrong = []
        case = case_of(left)
        config, gates = case.get("config") or {}, case.get("featureGates") or {}
        if config.get("fairSharing") == {}:
            config = {**config, "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}}
        configuration = os.path.join(self.folder, "config.json")
        with open(configuration, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **config, **({"featureGates": gates} if gates else {})}, file)
        api = drive.Api(self.cluster.kubeconfig)
        player = drive.Player(api, ARGS.settle, 30)
        player.clean()
        Loader(api, left).load()
        if differences(left["state"], player.state()):
            return [f"not loaded as it was left: {d}" for d in differences(left["state"], player.state())]
        before, offset = self.objects(api), os.path.getsize(self.audit())

        log = os.path.join(self.folder, f"log-{name_of(left)}.db")
        controller = Controller(os.path.join(self.cluster.folder, "hindsight.kubeconfig"), log, os.path.join(self.folder, "hindsight.out"), "--config", configuration)
        controller.start()
        self.controllers += 1
        try:
            eventually(lambda: self.assert_ready(controller))
            player.wait()
            player.wait()  # twice: a status that follows another one may come a second later
            wrong += self.judge_takeover(left, before, self.objects(api), self.writes_since(offset))
            wrong += [f"state after the change: {d}" for d in differences(left["state"], player.state())]
            other_history = self.play_on(left, case, player)
            wrong += other_history
            wrong += [] if other_history else [f"the way back: {p}" for p in forms.judge(left["case"], [{"kind": key[0], **o} for key, o in self.objects(api).items()])]
            self.assert_runs(controller)
        finally:
            try:
                player.clean()
            finally:
                status = controller.stop()
        if status != 0:
            wrong.append(f"SIGTERM ends it with status 0; found {status}")
        if "sound" not in run(ARGS.hindsight, "verify", "--log", log):
            wrong.append("its log does not verify")
        os.remove(log)
        return wrong

    @staticmethod
    def judge_takeover(left, before, after, writes):
        """Nothing is stopped, started, admitted or evicted, nothing is made or deleted, and of the rest each write is demanded."""
        wrong = []
        if set(before) != set(after):
            wrong.append(f"gone or new: {set(before) ^ set(after)}")
        for key in set(before) & set(after):
            old, new = before[key], after[key]
            if key[0] in ("Job", "JobSet") and old["spec"] != new["spec"]:
                wrong.append(f"{key}: spec changed")
            if key[0] == "Workload":
                for field in ("admission", "admissionChecks", "requeueState", "reclaimablePods"):
                    if old.get("status", {}).get(field) != new.get("status", {}).get(field):
                        wrong.append(f"{key}: status.{field}: was {old.get('status', {}).get(field)}, is {new.get('status', {}).get(field)}")
                if old["spec"] != new["spec"]:
                    wrong.append(f"{key}: spec changed")
        for write in writes:
            why = demanded(write, before, after)
            if why is None:
                wrong.append(f"written, and no rule demands it: {write}")
            else:
                AdoptionTest.count(why)
        return wrong

    @staticmethod
    def play_on(left, case, player):
        """The remaining steps; each state must be the recorded one."""
        wrong = []
        expected = conformance_test.expectation(left["case"])["states"]
        for number in range(left["step"] + 1, min(len(case["steps"]), len(expected))):
            refused = player.step(case["steps"][number])
            calm = player.wait()
            state = player.state()
            if refused:
                state["refused"] = refused
            if not calm:
                state["unsettled"] = True
            found = differences(expected[number], state)
            for _ in range(LATE_MAX):  # calm may be no more than a slow machine
                if not found or refused or not calm:
                    break
                player.wait()
                found = differences(expected[number], player.state())
            wrong += [f"step {number}: {d}" for d in found]
            if found:
                break  # what follows is another history
        return wrong


def condition_of(o, kind):
    return next((c for c in o.get("status", {}).get("conditions", []) if c["type"] == kind), {})


def demanded(write, before, after):
    """Which rule demands a write of the takeover; None: none does."""
    if write.verb != "patch" or write.code not in (200, 409):
        return None
    kinds = {"workloads": "Workload", "clusterqueues": "ClusterQueue", "localqueues": "LocalQueue"}
    namespace, _, name = write.name.rpartition("/")
    old = before.get((kinds.get(write.resource), namespace or None, name))
    new = after.get((kinds.get(write.resource), namespace or None, name))
    if old is None or new is None:
        return None
    if write.resource == "workloads" and not write.subresource and write.fields() <= {"metadata.finalizers"}:
        if condition_of(old, "Finished").get("status") == "True":
            return "a finished Workload loses the finalizer (base-admission 8.8)"
        return None
    if write.resource == "workloads" and write.subresource == "status":
        return demanded_of_status(write, old, new)
    return None


def demanded_of_status(write, old, new):
    """Of a Workload that waits the reason may be told in other words; nothing else of a status may change."""
    fields = lambda o: {k: v for k, v in o.get("status", {}).items() if k != "conditions"}
    verdicts = lambda o: {c["type"]: (c["status"], c.get("reason")) for c in o.get("status", {}).get("conditions", [])}
    if verdicts(old) == verdicts(new) and fields(old) == fields(new):
        return "the message of a condition is told in Hindsight's words (BA-84)"
    return None


class CheckTest(unittest.TestCase):
    def test_the_sample_has_whatever_stands_in_any_state(self):
        """So that the states that are taken over each time differ in kind, and not in numbers."""
        every = states_left()
        taken = set().union(*(marks_of(every[name]) for name in SAMPLE))
        for name, left in every.items():
            self.assertEqual(sorted(marks_of(left) - taken), [], name)
        for family in ("quota", "fair", "life", "elastic", "tas"):
            self.assertTrue(any(name.startswith(family) and every[name]["step"] < last_step_of(every[name]["case"]) for name in SAMPLE), family)

    def test_nothing_stands_in_the_way_of_what_kueue_left(self):
        """`hindsight migrate check` finds nothing in any of these states, from which the others of this file go on."""
        with tempfile.TemporaryDirectory(prefix="hindsight-e2e-") as folder:
            file, config = os.path.join(folder, "objects.json"), os.path.join(folder, "config.yaml")
            with open(config, "w", encoding="utf-8") as out:
                out.write("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n")
            for name, left in states_left().items():
                with open(file, "w", encoding="utf-8") as out:
                    json.dump({"objects": left["objects"]}, out)
                told = json.loads(run(ARGS.hindsight, "migrate", "check", "-f", file, "--kueue-config", config, "-o", "json"))
                self.assertEqual(told["findings"], [], name)

    def test_definitions_of_a_release_of_kueue_have_the_same_fields(self):
        """But for those that left_forms and docs/migration.md name, in both directions; for the real definitions these are."""
        run(os.path.join(ROOT, "scripts", "tools.sh"), "build", "kueue", timeout=900)
        with open(run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "kueue-manifests.yaml").strip(), encoding="utf-8") as file:
            theirs = fields_of(yaml.load_all(file, yaml.CSafeLoader))
        definitions = []
        for name in glob.glob(os.path.join(ROOT, "deploy", "crds", "kueue*.yaml")):
            with open(name, encoding="utf-8") as file:
                definitions.append(yaml.load(file, yaml.CSafeLoader))
        ours = fields_of(definitions)
        self.assertEqual(sorted(theirs), sorted(ours))
        only_here = {kind: sorted(topmost(set(ours[kind]) - set(theirs[kind]))) for kind in ours}
        self.assertEqual({kind: paths for kind, paths in only_here.items() if paths}, {kind: sorted(paths) for kind, paths in ONLY_HERE.items()})
        for kind, fields in theirs.items():
            open_here = [path for path, is_open in ours[kind].items() if is_open]
            missing = {p for p in set(fields) - set(ours[kind]) if not any(p.startswith((o + ".", o + "[]")) for o in open_here)}
            self.assertEqual(sorted(missing), MISSING_HERE.get(kind, []), kind)


def fields_of(definitions):
    """Of v1beta2: {kind: {path: whether it keeps fields that it does not know}}."""
    def walk(schema, path):
        for name, inner in (schema.get("properties") or {}).items():
            here = f"{path}.{name}" if path else name
            yield here, bool(inner.get("x-kubernetes-preserve-unknown-fields"))
            yield from walk(inner, here)
        if isinstance(schema.get("items"), dict):
            if schema["items"].get("x-kubernetes-preserve-unknown-fields"):
                yield path, True
            yield from walk(schema["items"], path + "[]")

    out = {}
    for o in definitions:
        if o and o["kind"] == "CustomResourceDefinition":
            version = next(v for v in o["spec"]["versions"] if v["name"] == "v1beta2")
            out[o["spec"]["names"]["kind"]] = dict(walk(version["schema"]["openAPIV3Schema"], ""))
    return out


def topmost(paths):
    return {p for p in paths if not any(p.startswith((other + ".", other + "[]")) for other in paths if other != p)}


class AdoptionTest(unittest.TestCase):
    demands = collections.Counter()
    lock = threading.Lock()

    @classmethod
    def count(cls, why):
        with cls.lock:
            cls.demands[why] += 1

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        run(os.path.join(ROOT, "scripts", "tools.sh"), "build", "jobset")
        cls.stages = [AdoptionStage(cls.folder, number) for number in range(ARGS.clusters)]
        for stage in cls.stages:
            cls.addClassCleanup(stage.cluster.down)
            stage.prepare()

    def test_what_kueue_left_is_taken_over(self):
        waiting, wrong, lock = queue.SimpleQueue(), {}, threading.Lock()
        for left in chosen():
            waiting.put(left)
        forms = Forms(states_left().values(), last_step_of)

        def work(stage):
            while True:
                try:
                    left = waiting.get_nowait()
                except queue.Empty:
                    return
                begin = time.monotonic()
                try:
                    found = stage.adopt(left, forms)
                except Exception as failure:  # told below, by the test's own thread
                    found = [f"{type(failure).__name__}: {failure}"]
                print(f"{name_of(left)} {time.monotonic() - begin:.1f} s: {len(found)} wrong", *(one[:300] for one in found[:6]), sep="\n  ", flush=True)
                if found:
                    with lock:
                        wrong[name_of(left)] = found

        workers = [threading.Thread(target=work, args=(stage,)) for stage in self.stages]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for why, count in sorted(self.demands.items()):
            print(f"{count} writes: {why}", flush=True)
        told = [f"{name}: {one}" for name, all_of_it in sorted(wrong.items()) for one in all_of_it[:12]]
        self.assertFalse(wrong, "\n" + "\n".join(told[:60]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--states")
    parser.add_argument("--clusters", type=int, default=2, help="API servers on which states are played side by side")
    parser.add_argument("--settle", type=float, default=1.1, help="seconds without change after which a state counts")
    ARGS, rest = parser.parse_known_args()
    jobs_test.ARGS = ARGS
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
