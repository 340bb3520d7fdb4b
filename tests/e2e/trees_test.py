#!/usr/bin/env python3
"""A cluster of many trees, each of them an admission domain, on a real API server and a real Kafka broker with several partitions.

usage: trees_test.py HINDSIGHT LOG_INVARIANTS [--jobs N] [--trees N] [--partitions N] [--seed S]

A connector routes what it sees to one domain a tree, and two nodes share the partitions. While Jobs go through kubectl, queues move to other
cohorts, cohorts join and split, and the connector is killed, sometimes while a queue moves. Afterwards every Job has run and finished exactly once,
no job held quota twice, no decision exceeded a quota, every sum is right in every domain, every domain verifies, and no Workload is left in two.
"""
import argparse, glob, json, os, random, shutil, sys, tempfile, time, unittest

import jobs_test, nodes_test
from jobs_test import Cluster, eventually, job
from steps import ROOT, Program, run

ARGS = None


def queue(name, cohort, cpu):
    flavors = [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name},
            "spec": {"cohortName": cohort, "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}}


def local_queue(name):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name, "namespace": "default"}, "spec": {"clusterQueue": name}}


def cohort(name, parent=""):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": name}, "spec": {"parentName": parent} if parent else {}}


class TreesTest(unittest.TestCase):
    kafka = nodes_test.NodesTest.__dict__["kafka"]
    apply = nodes_test.NodesTest.apply
    get = nodes_test.NodesTest.get
    wait_for_jobs = nodes_test.NodesTest.wait_for_jobs

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-trees-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.kafka_folder = os.path.join(cls.folder, "kafka")
        cls.bootstrap = cls.kafka("up").strip()
        cls.addClassCleanup(cls.kafka, "down")
        cls.log = "kafka:" + cls.bootstrap
        settings = os.path.join(cls.folder, "kafka.properties")
        with open(settings, "w", encoding="utf-8") as out:
            out.write(f"partitions={ARGS.partitions}\n")
        run(ARGS.hindsight, "log", "init", "--log", cls.log, "--log-config", settings)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"))
        cls.addClassCleanup(cls.cluster.down)
        for crd in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))):
            cls.cluster.kubectl("apply", "-f", crd)

        def served():
            kinds = cls.cluster.kubectl("api-resources", "--api-group=kueue.x-k8s.io", check=False)
            for kind in ("clusterqueues", "cohorts", "localqueues", "resourceflavors", "workloads"):
                assert kind in kinds, f"{kind} is not served: {kinds}"

        eventually(served)

    def nodes(self):
        return json.loads(run(ARGS.hindsight, "nodes", "--log", self.log, "-o", "json"))

    def test_every_job_runs_once_in_whatever_tree(self):
        seed = ARGS.seed if ARGS.seed is not None else random.randrange(1 << 32)
        print("seed", seed, flush=True)
        rng = random.Random(seed)
        output = lambda name: os.path.join(self.folder, name + ".out")
        connector = Program("connector", output("connector"), ARGS.hindsight, "run", "--role", "connector", "--domains", "trees", "--domain", "east",
                            "--kubeconfig", self.cluster.kubeconfig, "--log", self.log, "--no-lease")
        nodes = [Program(f"node-{i}", output(f"node-{i}"), ARGS.hindsight, "run", "--role", "node", "--log", self.log) for i in range(2)]
        everybody = [connector, *nodes]
        queues = [f"q{i:02}" for i in range(ARGS.trees)]
        cohorts = [f"c{i:02}" for i in range(ARGS.trees)]
        try:
            for one in everybody:
                one.start()
            self.apply([{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {}}])
            self.apply([o for q, c in zip(queues, cohorts) for o in (queue(q, c, 3), local_queue(q))])
            names = [f"job-{i:04}" for i in range(ARGS.jobs)]
            jobs = [job(n, rng.choice(queues), rng.randint(1, 2), rng.randint(1, 4)) for n in names]
            at_once = max(5, ARGS.jobs // 12)
            for one in range(0, ARGS.jobs, at_once):
                self.apply(jobs[one:one + at_once])
                self.disturb(rng, connector, queues, cohorts)
            self.wait_for_jobs(names, everybody)
            for one in reversed(everybody):
                self.assertEqual(one.stop(), 0, f"SIGTERM ends {one.name} with status 0")
        except BaseException:
            for one in everybody:
                print(f"---- what {one.name} said last\n{one.said()[-5000:]}", flush=True)
            print(run(ARGS.hindsight, "nodes", "--log", self.log, check=False), flush=True)
            raise
        finally:
            for one in everybody:
                one.kill()
        eventually(lambda: jobs_test.JobsTest.check_pods(self))
        self.check_domains()

    def disturb(self, rng, connector, queues, cohorts):
        what = rng.choice(["move", "move", "join", "split", "connector"])
        print("disturb:", what, flush=True)
        if what == "connector":
            connector.kill()
            if rng.random() < 0.5:  # nobody watches
                self.apply([queue(rng.choice(queues), rng.choice(cohorts), 3)])
            connector.start()
        elif what == "move":
            self.apply([queue(rng.choice(queues), rng.choice(cohorts), 3)])
            if rng.random() < 0.3:
                time.sleep(rng.uniform(0, 0.2))
                connector.kill()
                connector.start()
        elif what == "join":
            below, above = rng.sample(range(len(cohorts)), 2)
            self.apply([cohort(cohorts[max(below, above)], cohorts[min(below, above)])])  # never a circle
        else:
            self.apply([cohort(rng.choice(cohorts))])
        time.sleep(rng.uniform(0, 1))

    def check_domains(self):
        found = self.nodes()
        print(run(ARGS.hindsight, "nodes", "--log", self.log), flush=True)
        self.assertGreater(len(found), ARGS.trees // 2)
        self.assertGreater(len({d["partition"] for d in found}), 1, "domains are spread over the partitions")
        workloads = {}
        for d in found:
            where = f"{self.log}?partition={d['partition']}"
            self.assertTrue(d["synced"], f"{d['domain']} was told everything that belongs together")
            self.assertTrue(d["owner"], d["domain"])
            print(d["domain"], run(ARGS.invariants, where, d["domain"]).strip(), flush=True)
            verified = json.loads(run(ARGS.hindsight, "verify", "--log", where, "--domain", d["domain"], "-o", "json"))
            self.assertTrue(verified["clean"], verified)
            for w in json.loads(run(ARGS.hindsight, "get", "workloads", "-A", "--log", where, "--domain", d["domain"], "-o", "json"))["items"]:
                name = w["metadata"]["name"]
                self.assertNotIn(name, workloads, f"{name} is in two domains")
                workloads[name] = d["domain"]
        self.assertEqual(set(workloads), {w["metadata"]["name"] for w in self.get("workloads.kueue.x-k8s.io")})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("invariants")
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--trees", type=int, default=6)
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--seed", type=int)
    ARGS, rest = parser.parse_known_args()
    nodes_test.ARGS = ARGS
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
