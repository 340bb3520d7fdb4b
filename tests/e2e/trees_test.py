#!/usr/bin/env python3
"""A cluster of many trees, each of them an admission domain, on a real API server and a real Kafka broker with several partitions.

usage: trees_test.py HINDSIGHT LOG_INVARIANTS [--jobs N] [--trees N] [--partitions N] [--nodes N] [--kills N] [--brokers N] [--seed S]

A connector routes what it sees to one domain a tree, and nodes share the partitions. While Jobs go through kubectl, queues move to other
cohorts, cohorts join and split, nodes and the connector are killed, the latter sometimes while a queue moves; in a long run nodes are also paused
and cut off, and brokers go away. The long run: --jobs 2000 --trees 40 --partitions 8 --nodes 3 --kills 100. Afterwards every Job has run and finished exactly once,
no job held quota twice, no decision exceeded a quota, every sum is right in every domain, every domain verifies, no Workload is left in two,
and /metrics of the connector tells of all domains as of one.
"""
import argparse, collections, json, os, random, re, sys, time, unittest, urllib.request

import jobs_test, nodes_test
from jobs_test import eventually, job
from steps import ROOT, Program, run
from what_if_again import plays_again

ARGS = None
LONG_RUN = 20  # kills


def queue(name, cohort, cpu):
    flavors = [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name},
            "spec": {"cohortName": cohort, "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}}


def local_queue(name):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name, "namespace": "default"}, "spec": {"clusterQueue": name}}


def cohort(name, parent=""):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": name}, "spec": {"parentName": parent} if parent else {}}


class TreesTest(nodes_test.NodesTest):
    test_every_job_runs_once_whoever_decides = None  # that of one domain

    def found_domains(self):
        return json.loads(run(ARGS.hindsight, "nodes", "--log", self.log, "-o", "json"))

    def test_every_job_runs_once_in_whatever_tree(self):
        seed = ARGS.seed if ARGS.seed is not None else random.randrange(1 << 32)
        print("seed", seed, flush=True)
        rng = random.Random(seed)
        output = lambda name: os.path.join(self.folder, name + ".out")
        connector = Program("connector", output("connector"), ARGS.hindsight, "run", "--role", "connector", "--domains", "trees", "--domain", "east",
                            "--kubeconfig", self.cluster.kubeconfig, "--log", self.log, "--no-lease")
        nodes = [Program(f"node-{i}", output(f"node-{i}"), ARGS.hindsight, "run", "--role", "node", "--log", way, "--session-timeout",
                         str(nodes_test.SESSION_SECONDS), *(["--standby"] if i == 1 else [])) for i, way in enumerate(self.ways())]
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
            # As many kills as asked for, each fault of brokers and networks once when there are many, and trees that change in between.
            faults = [rng.choice(["node", "owner", "connector"]) for _ in range(ARGS.kills)] + (self.faults(rng) if ARGS.kills >= LONG_RUN else [])
            changes = [rng.choice(["move", "move", "join", "split", "kill while it moves"]) for _ in range(max(12, ARGS.kills // 2))]
            events = faults + changes
            rng.shuffle(events)
            for number, what in enumerate(events):
                self.apply(jobs[len(jobs) * number // len(events):len(jobs) * (number + 1) // len(events)])
                if what in changes:
                    self.change(rng, what, connector, queues, cohorts)
                else:
                    self.disturb(what, connector, nodes, rng)
            self.wait_for_jobs(names, everybody)
            eventually(lambda: self.check_metrics(connector, queues))
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
        try:
            self.check_domains()
        except BaseException:
            self.keep_logs()
            raise

    def keep_logs(self):
        """What is needed to find out why; the brokers go with the test."""
        for partition in range(ARGS.partitions):
            kept = os.path.join(ROOT, "build", f"trees-failed-{partition}.db")
            for suffix in ("", "-wal", "-shm", ".lock"):
                if os.path.exists(kept + suffix):
                    os.remove(kept + suffix)
            run(ARGS.hindsight, "log", "copy", f"{self.log}?partition={partition}", "sqlite:" + kept, check=False)
            print(f"---- partition {partition} is kept as {os.path.relpath(kept, ROOT)}", flush=True)

    def change(self, rng, what, connector, queues, cohorts):
        print("change:", what, flush=True)
        if what == "move":
            self.apply([queue(rng.choice(queues), rng.choice(cohorts), 3)])
        elif what == "kill while it moves":
            before = rng.random() < 0.5  # nobody watches
            if before:
                connector.kill()
            self.apply([queue(rng.choice(queues), rng.choice(cohorts), 3)])
            if not before:
                time.sleep(rng.uniform(0, 0.2))
                connector.kill()
            connector.start()
        elif what == "join":
            below, above = rng.sample(range(len(cohorts)), 2)
            self.apply([cohort(cohorts[max(below, above)], cohorts[min(below, above)])])  # never a circle
        else:
            self.apply([cohort(rng.choice(cohorts))])
        time.sleep(rng.uniform(0, 1))

    def check_metrics(self, connector, queues):
        """One exposition, in which each queue is described once and each Workload counted once, whatever moved; all have finished by now."""
        addresses = re.findall(r'"message":"HTTP listens","address":"([^"]+)"', connector.said())
        self.assertTrue(addresses, "the connector listens")
        try:
            with urllib.request.urlopen(f"http://{addresses[-1]}/metrics", timeout=60) as answer:
                lines = answer.read().decode().splitlines()
        except OSError as away:  # it was started a moment ago
            raise AssertionError(f"/metrics: {away}") from away
        for kind in ("# HELP ", "# TYPE "):
            said = collections.Counter(line.split()[2] for line in lines if line.startswith(kind))
            self.assertEqual([name for name, times in said.items() if times > 1], [], kind)
        samples = [line.rpartition(" ") for line in lines if not line.startswith("#")]
        self.assertEqual(len({name for name, _, _ in samples}), len(samples), "no sample stands twice")
        family = lambda name: [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value))
                               for labels, _, value in samples if labels.startswith(name + "{")]
        status = [labels["cluster_queue"] for labels, value in family("kueue_cluster_queue_status") if value == 1]
        self.assertEqual(sorted(status), queues)
        pending = [(labels["cluster_queue"], labels["status"]) for labels, value in family("kueue_pending_workloads") if value == 0]
        self.assertEqual(sorted(pending), [(q, s) for q in queues for s in ("active", "inadmissible")])
        held = [labels["cluster_queue"] for labels, value in family("kueue_reserving_active_workloads") if value == 0]
        self.assertEqual(sorted(held), queues)
        finished = sum(value for _, value in family("kueue_finished_workloads"))
        self.assertEqual(finished, len(self.get("workloads.kueue.x-k8s.io")))

    def check_domains(self):
        found = self.found_domains()
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
            plays_again(ARGS.hindsight, where, "--domain", d["domain"])
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
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5, help=f"of nodes and of the connector; from {LONG_RUN} on with other faults")
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--seed", type=int)
    ARGS, rest = parser.parse_known_args()
    nodes_test.ARGS = ARGS
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
