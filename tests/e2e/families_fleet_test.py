#!/usr/bin/env python3
"""Families of concurrent admission in constant change, decided by three nodes over a real Kafka broker, of which the owner is killed.

usage: families_fleet_test.py HINDSIGHT LOG_INVARIANTS [--families N] [--kills N] [--minutes M] [--seed S] [--nodes N] [--partitions N]

As families_churn_test.py. Each tree of ClusterQueues is a domain in a partition of its own; while a job moves, the node that decides its domain is killed,
sometimes the connector too, and another node goes on.
CA-43, CA-44, CA-130, CA-131, CA-132, CA-133
"""
import argparse, json, os, random, re, sys, unittest

import family_churn, nodes_test
from steps import Program, run

DOMAIN = "south"  # the names that follow from it lie in three partitions
GATE = ["--feature-gates", "ConcurrentAdmission=true"]


class FamiliesFleetTest(family_churn.Churn, nodes_test.NodesTest):
    test_every_job_runs_once_whoever_decides = None
    steps_to_kill = ("evicted", "told", "suspended", "cleared")  # what comes then is decided already, and the connector does it without a node

    def test_families_in_constant_change(self):
        args = self.args = nodes_test.ARGS
        self.hindsight, self.kubeconfig, self.killed = args.hindsight, self.cluster.kubeconfig, []
        seed = args.seed if args.seed is not None else random.randrange(1 << 32)
        print("seed", seed, flush=True)
        output = lambda name: os.path.join(self.folder, name + ".out")
        self.connector_words = [args.hindsight, "run", "--role", "connector", "--domains", "trees", "--domain", DOMAIN, "--kubeconfig", self.kubeconfig,
                                "--log", self.log, "--no-lease"]
        self.connector = Program("connector", output("connector"), *self.connector_words, *GATE)
        self.nodes = [Program(f"node-{i}", output(f"node-{i}"), args.hindsight, "run", "--role", "node", "--log", way, "--session-timeout",
                              str(nodes_test.SESSION_SECONDS), *(["--standby"] if i == 1 else [])) for i, way in enumerate(self.ways())]
        everybody = [self.connector, *self.nodes]
        try:
            for one in everybody:
                one.start()
            self.begin(seed)
            self.set_up_objects()
            self.churn()
            self.end_of_everything()
            for one in reversed(everybody):
                self.assertEqual(one.stop(), 0, f"SIGTERM ends {one.name} with status 0")
            self.assertGreater(len({where[1] for where, _ in self.logs()}), 1, "domains are spread over the partitions")
            self.last_words()
        except BaseException:
            for one in everybody:
                print(f"---- what {one.name} said last\n{one.said()[-3000:]}", flush=True)
            self.keep_logs()
            raise
        finally:
            for one in everybody:
                one.kill()

    def logs(self):
        found = json.loads(run(self.hindsight, "nodes", "--log", self.log, "-o", "json"))
        return [(["--log", f"{self.log}?partition={d['partition']}"], d["domain"]) for d in found]

    def keep_logs(self):
        for partition in range(self.args.partitions):
            kept = os.path.join(nodes_test.ROOT, "build", f"families-failed-{partition}.db")
            for suffix in ("", "-wal", "-shm", ".lock"):
                if os.path.exists(kept + suffix):
                    os.remove(kept + suffix)
            run(self.hindsight, "log", "copy", f"{self.log}?partition={partition}", "sqlite:" + kept, check=False)
            print(f"---- partition {partition} is kept as {kept}", flush=True)

    def owner_of(self, q):
        """The node that has begun the last epoch of the domain of a ClusterQueue; any one where that is not known."""
        cohort = family_churn.COHORTS.get(q)
        domain = f"{DOMAIN}/cohort/{cohort}" if cohort else f"{DOMAIN}/queue/{q}"
        epochs = [(int(epoch), n) for n in self.nodes if n.runs()
                  for epoch in re.findall(rf"domain {re.escape(domain)} is decided here from epoch (\d+)", n.said())]
        return max(epochs, key=lambda e: e[0])[1] if epochs else self.rng.choice(self.nodes)

    def kill(self, q):
        self.killed = [self.owner_of(q or self.rng.choice(list(family_churn.COHORTS)))]
        if self.rng.random() < 0.2:
            self.killed.append(self.connector)
        for one in self.killed:
            one.kill()

    def start(self):
        for one in self.killed:
            one.start()
        self.killed = []

    def check_processes(self):
        for one in [self.connector, *self.nodes]:
            if not one.runs():
                raise RuntimeError(f"{one.name} has ended")

    def set_gate(self, on):
        self.connector.kill()
        self.connector.words = (*self.connector_words, *(GATE if on else []))
        self.connector.start()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("invariants")
    family_churn.add_options(parser, 60, 8, 2)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--partitions", type=int, default=3)
    parser.set_defaults(brokers=1)
    nodes_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
