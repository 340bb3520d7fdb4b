#!/usr/bin/env python3
"""Recorded scenarios of Kueue, played against a real API server where Hindsight runs: every state must agree in every field.

usage: conformance_test.py HINDSIGHT [--all | --cases NAME[,NAME...]] [--settle S] [--clusters N] [--keep FILE]

As when they were recorded, no controller-manager, no scheduler and no webhooks take part. Without options a few cases of each family are
played, with --all every case. A scenario owns its API server, so cases go side by side on as
many of them as --clusters says; most of their time is waiting for calm. Cases of equal configuration share one controller.
BA-27
"""
import argparse, collections, glob, json, os, queue, re, shutil, subprocess, sys, tempfile, threading, time, unittest, urllib.request

import yaml

import jobs_test
from jobs_test import ROOT, Cluster, Controller, eventually, run
from what_if_again import plays_again

CONFORMANCE = os.path.join(ROOT, "tests", "conformance")
FAMILIES = ("quota", "fair", "life", "elastic", "tas")
SAMPLE = ["quota-012", "quota-032", "quota-052", "fair-010", "fair-026", "fair-042", "life-010", "life-030", "life-052", "elastic-010", "elastic-030", "tas-010", "tas-034"]
# Where the specification departs from what was recorded (docs/deviations.md): case, step, where in the state, and what it is instead.
DEVIATIONS = [("elastic-005", step, ("workloads", "Job/default/j4", "conditions", condition), ["False", reason])
              for step in (11, 12) for condition, reason in (("Admitted", "NoReservation"), ("QuotaReserved", "ExceedsMaxQuota"))]
DEVIATIONS += [("elastic-038", 5, ("workloads", "Job/default/j0#1", "conditions", "QuotaReserved"), ["False", "ExceedsMaxQuota"])]
DEVIATIONS += [("tas-044", 10, ("workloads", "Job/default/j6", "conditions", "QuotaReserved"), ["False", "TopologyPlacementFailed"])]
IMPOSSIBLE_SINCE = {"tas-052": 6}  # step from which on Kueue has three pods on a host that has room for two (TAS-31)
CASES_A_SHARE = 7  # played under one controller before the next cluster that is free takes over
CASE_SECONDS_MAX = 600
ARGS = None


def chosen():
    every = sorted(os.path.basename(f)[:-5] for family in FAMILIES for f in glob.glob(os.path.join(CONFORMANCE, "cases", family + "-*.yaml")))
    if ARGS.all:
        return every
    names = ARGS.cases.split(",") if ARGS.cases else SAMPLE
    unknown = [n for n in names if n not in every]
    if unknown:
        sys.exit(f"error: --cases: found {', '.join(unknown)}; allowed: names of cases of {', '.join(FAMILIES)}")
    return names


def expectation(name):
    """What was recorded, with the documented deviations in it."""
    with open(os.path.join(CONFORMANCE, "expected", name + ".json"), encoding="utf-8") as file:
        expected = json.load(file)
    for case, step, (*way, last), value in DEVIATIONS:
        if case == name:
            place = expected["states"][step]
            for key in way:
                place = place[key]
            place[last] = value
    del expected["states"][IMPOSSIBLE_SINCE.get(name, len(expected["states"])):]
    return expected


def shares(names):
    """The cases in pieces of equal configuration: [(configuration, feature gates, names)]."""
    groups = collections.defaultdict(list)
    for name in names:
        with open(os.path.join(CONFORMANCE, "cases", name + ".yaml"), encoding="utf-8") as file:
            spec = yaml.safe_load(file)["spec"]
        groups[json.dumps([spec.get("config") or {}, spec.get("featureGates") or {}], sort_keys=True)].append(name)
    return [(*json.loads(settings), group[i:i + CASES_A_SHARE]) for settings, group in groups.items() for i in range(0, len(group), CASES_A_SHARE)]


class Stage:
    """A cluster of its own, on which cases are played one after another."""

    def __init__(self, folder, number):
        self.folder = os.path.join(folder, f"stage-{number}")
        self.controllers = 0  # started so far
        os.makedirs(self.folder)
        self.cluster = Cluster(os.path.join(self.folder, "cluster"), "--no-kwok", "--no-controller-manager", "--no-scheduler",
                               "--no-admission-plugins", "TaintNodesByCondition")  # nobody would take the taint of a new node away

    def prepare(self):
        for crd in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))):
            self.cluster.kubectl("apply", "-f", crd)
        self.cluster.kubectl("apply", "--server-side", "-f", run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "jobset-crd.yaml").strip())
        kinds = ("workloads", "clusterqueues", "localqueues", "resourceflavors", "cohorts", "admissionchecks", "topologies", "workloadpriorityclasses")
        eventually(lambda: self.cluster.kubectl("get", ",".join([*(kind + ".kueue.x-k8s.io" for kind in kinds), "jobsets.jobset.x-k8s.io"]), "-A"))  # served a moment later

    def play(self, config, gates, names, out):
        """The cases, one after another, under one controller of this configuration; `out` takes what each came to, as bytes."""
        if config.get("fairSharing") == {}:  # what a scenario means by it; a configuration file has to say it
            config = {**config, "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}}
        configuration = os.path.join(self.folder, "config.json")
        with open(configuration, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **config, **({"featureGates": gates} if gates else {})}, file)
        log = os.path.join(self.folder, f"log-{names[0]}.db")
        controller = Controller(self.cluster.kubeconfig, log, os.path.join(self.folder, "hindsight.out"), "--config", configuration)
        controller.start()
        self.controllers += 1
        try:
            eventually(lambda: self.assert_ready(controller))  # else a slow start looks like calm
            for name in names:
                self.assert_runs(controller)
                begin = time.monotonic()
                drive = os.path.join(CONFORMANCE, "tools", "drive.py")
                out(subprocess.run([sys.executable, drive, "--kubeconfig", self.cluster.kubeconfig, "--settle", str(ARGS.settle),
                                    os.path.join(CONFORMANCE, "cases", name + ".yaml")],
                                   stdout=subprocess.PIPE, check=True, timeout=CASE_SECONDS_MAX).stdout)
                print(f"{name} {time.monotonic() - begin:.1f} s", flush=True)
            self.assert_runs(controller)
        except Exception:
            with open(controller.output, errors="replace") as said:
                print(said.read()[-6000:], flush=True)
            raise
        finally:
            status = controller.stop()
        assert status == 0, f"SIGTERM ends it with status 0; found {status}"
        assert "sound" in run(ARGS.hindsight, "verify", "--log", log)
        plays_again(ARGS.hindsight, log)

    def assert_ready(self, controller):
        self.assert_runs(controller)
        with open(controller.output, encoding="utf-8") as out:  # it goes on from controller to controller
            addresses = re.findall(r'"message":"HTTP listens","address":"([^"]+)"', out.read())
        assert len(addresses) == self.controllers, "it listens"
        try:
            with urllib.request.urlopen(f"http://{addresses[-1]}/readyz", timeout=10):
                pass
        except OSError as error:  # among them every status but 200
            raise AssertionError(f"/readyz: {error}") from error

    @staticmethod
    def assert_runs(controller):
        assert controller.process.poll() is None, "the controller runs"


class ConformanceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        run(os.path.join(ROOT, "scripts", "tools.sh"), "build", "jobset")
        cls.stages = []
        for number in range(ARGS.clusters):
            cls.stages.append(Stage(cls.folder, number))
            cls.addClassCleanup(cls.stages[-1].cluster.down)
            cls.stages[-1].prepare()

    def test_states_agree_in_every_field(self):
        results = ARGS.keep or os.path.join(self.folder, "actual.jsonl")
        waiting, failures, lock = queue.SimpleQueue(), [], threading.Lock()
        for share in shares(chosen()):
            waiting.put(share)

        def take(result):
            played = json.loads(result)
            del played["states"][IMPOSSIBLE_SINCE.get(played["case"], len(played["states"])):]
            result = (json.dumps(played) + "\n").encode()
            with lock, open(results, "ab") as file:
                file.write(result)

        def work(stage):
            while not failures:
                try:
                    share = waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    stage.play(*share, take)
                except Exception as failure:  # told below, by the test's own thread
                    failures.append(failure)

        workers = [threading.Thread(target=work, args=(stage,)) for stage in self.stages]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]

        expected = os.path.join(self.folder, "expected")
        os.makedirs(expected)
        for name in chosen():
            with open(os.path.join(expected, name + ".json"), "w", encoding="utf-8") as file:
                json.dump(expectation(name), file)
        print(run(sys.executable, os.path.join(CONFORMANCE, "tools", "compare.py"), expected, results, "--show", "30"), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cases")
    parser.add_argument("--settle", type=float, default=1.1,
                        help="seconds without change after which a state counts: more than wake-ups are batched for, and than the second that\n"
                             "creation times are cut to, for what was created in the same one has no order")
    parser.add_argument("--clusters", type=int, default=1, help="API servers on which cases are played side by side")
    parser.add_argument("--keep", help="a file for the states found")
    ARGS, rest = parser.parse_known_args()
    jobs_test.ARGS = ARGS
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
