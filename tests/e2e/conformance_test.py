#!/usr/bin/env python3
"""Recorded scenarios of Kueue, played against a real API server where Hindsight runs: every state must agree in every field.

usage: conformance_test.py HINDSIGHT [--all | --cases NAME[,NAME...]] [--settle S]

As when they were recorded, no controller-manager, no scheduler and no webhooks take part. Without options a few cases of each family are
played, with --all every case of the families quota, fair and life. Cases of equal configuration share one controller.
BA-27
"""
import argparse, collections, glob, json, os, shutil, subprocess, sys, tempfile, unittest

import yaml

import jobs_test
from jobs_test import ROOT, Cluster, Controller, eventually, run

CONFORMANCE = os.path.join(ROOT, "tests", "conformance")
FAMILIES = ("quota", "fair", "life")
SAMPLE = ["quota-012", "quota-032", "quota-052", "fair-010", "fair-026", "fair-042", "life-010", "life-030", "life-052"]
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


class ConformanceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"), "--no-kwok", "--no-controller-manager", "--no-scheduler")
        cls.addClassCleanup(cls.cluster.down)
        for crd in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))):
            cls.cluster.kubectl("apply", "-f", crd)

        run(os.path.join(ROOT, "scripts", "tools.sh"), "build", "jobset")
        cls.cluster.kubectl("apply", "--server-side", "-f", run(os.path.join(ROOT, "scripts", "tools.sh"), "path", "jobset-crd.yaml").strip())
        kinds = ("workloads", "clusterqueues", "localqueues", "resourceflavors", "cohorts", "admissionchecks", "topologies", "workloadpriorityclasses")
        eventually(lambda: cls.cluster.kubectl("get", ",".join([*(kind + ".kueue.x-k8s.io" for kind in kinds), "jobsets.jobset.x-k8s.io"]), "-A"))  # served a moment later

    def test_states_agree_in_every_field(self):
        groups = collections.defaultdict(list)
        for name in chosen():
            with open(os.path.join(CONFORMANCE, "cases", name + ".yaml"), encoding="utf-8") as file:
                spec = yaml.safe_load(file)["spec"]
            groups[json.dumps([spec.get("config") or {}, spec.get("featureGates") or {}], sort_keys=True)].append(name)
        results = os.path.join(self.folder, "actual.jsonl")
        for settings, names in groups.items():
            self.play(*json.loads(settings), names, results)
        expected = os.path.join(self.folder, "expected")
        os.makedirs(expected)
        for name in chosen():
            shutil.copy(os.path.join(CONFORMANCE, "expected", name + ".json"), expected)
        print(run(sys.executable, os.path.join(CONFORMANCE, "tools", "compare.py"), expected, results, "--show", "30"), flush=True)

    def play(self, config, gates, names, results):
        """The cases, one after another, under one controller of this configuration; states are added to the file."""
        if config.get("fairSharing") == {}:  # what a scenario means by it; a configuration file has to say it
            config = {**config, "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}}
        configuration = os.path.join(self.folder, "config.json")
        with open(configuration, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **config, **({"featureGates": gates} if gates else {})}, file)
        log = os.path.join(self.folder, f"log-{names[0]}.db")
        controller = Controller(self.cluster.kubeconfig, log, os.path.join(self.folder, "hindsight.out"), "--config", configuration)
        controller.start()
        try:
            with open(results, "ab") as out:
                for name in names:
                    print(name, flush=True)
                    self.assertIsNone(controller.process.poll(), "the controller runs")
                    subprocess.run([sys.executable, os.path.join(CONFORMANCE, "tools", "drive.py"), "--kubeconfig", self.cluster.kubeconfig,
                                    "--settle", str(ARGS.settle), os.path.join(CONFORMANCE, "cases", name + ".yaml")],
                                   stdout=out, check=True, timeout=600)
            self.assertIsNone(controller.process.poll(), "the controller runs")
        except Exception:
            with open(controller.output, errors="replace") as said:
                print(said.read()[-6000:], flush=True)
            raise
        finally:
            status = controller.stop()
        self.assertEqual(status, 0, "SIGTERM ends it with status 0")
        self.assertIn("sound", run(ARGS.hindsight, "verify", "--log", log))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cases")
    parser.add_argument("--settle", type=float, default=0.7, help="seconds without change after which a state counts: more than wake-ups are batched for")
    ARGS, rest = parser.parse_known_args()
    jobs_test.ARGS = ARGS
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
