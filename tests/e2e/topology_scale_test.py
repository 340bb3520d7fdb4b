#!/usr/bin/env python3
"""Thousands of nodes and pods on a real API server: gangs of 4 to 1,024 pods find places, are released and bound by the real scheduler, while
nodes fail, are cordoned and come back, and Hindsight is killed.

usage: topology_scale_test.py HINDSIGHT LOG_INVARIANTS [--nodes N] [--pods P] [--kills K] [--minutes M] [--kafka N]

With --kafka a connector and N nodes share a log on a Kafka broker, and the one that decides is killed.

At the end each pod stands on a host that its Workload was assigned, no host has more pods than it was assigned or more than it can hold, and
the log says so at every record. Prints how long it took. TAS-31, TAS-80, TAS-88, TAS-126
"""
import argparse, collections, json, os, subprocess, sys, time, unittest

import jobs_test
from jobs_test import Controller  # noqa: F401 (the fixture makes one)
from steps import ROOT, Program, run
from suspended_jobs_test import Fixture
from topologies_test import BLOCK, HOST, RACK, gang

CPU = 8  # a node holds four pods
SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)


def gangs(pods):
    """Gangs of all sizes, the small ones more often, of so many pods together."""
    out, left, turn = [], pods, 0
    while left > 0:
        size = min(SIZES[(turn * 5) % 9], left)
        topology = {"required_topology": RACK} if size <= 16 else {"required_topology": BLOCK} if size <= 32 else {"preferred_topology": BLOCK}
        out.append(gang(f"gang-{len(out):03}", size, CPU, **topology))
        left -= size
        turn += 1
    return out


class OnKafka:
    """A connector and nodes on one broker, in place of a process that does both."""

    def __init__(self, controller, folder, nodes):
        self.folder = os.path.join(folder, "kafka")
        self.log = "kafka:" + self.broker("up", "--brokers", "1").strip()
        settings = os.path.join(folder, "kafka.properties")
        with open(settings, "w", encoding="utf-8") as out:
            out.write("partitions=1\n")
        way = self.way = ["--log", self.log, "--log-config", settings]
        run(jobs_test.ARGS.hindsight, "log", "init", *way)
        words = controller.words  # with its configuration, but another log
        at = words.index("--log")
        output = lambda name: os.path.join(folder, name + ".out")  # noqa: E731
        self.connector = Program("connector", output("connector"), *words[:2], "--role", "connector", *words[2:at], *way, *words[at + 2:])
        self.nodes = [Program(f"node-{i}", output(f"node-{i}"), jobs_test.ARGS.hindsight, "run", "--role", "node", *way, "--session-timeout", "6")
                      for i in range(nodes)]
        for one in (self.connector, *self.nodes):
            one.start()

    def broker(self, *words):
        words = ["/usr/bin/python3", os.path.join(ROOT, "scripts", "kafka.py"), *words, "--dir", self.folder]
        return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=600).stdout

    def kill(self):
        """The one that decides."""
        decides = [n for n in self.nodes if n.runs() and "is decided here" in n.said()]
        self.killed = max(decides, key=lambda n: os.path.getmtime(n.output), default=self.nodes[0])
        self.killed.kill()

    def start(self):
        self.killed.start()

    def stop(self):
        for one in (self.connector, *self.nodes):
            one.stop()

    def said(self):
        return "".join(one.said()[-3000:] for one in (self.connector, *self.nodes))


class TopologyScaleTest(Fixture):
    webhooks = False

    @classmethod
    def setUpClass(cls):
        args = jobs_test.ARGS
        cls.options = ("--nodes", str(args.nodes), "--node-lease-seconds", "400")
        super().setUpClass()
        if args.kafka:
            cls.controller.stop()
            cls.controller = OnKafka(cls.controller, cls.folder, args.kafka)
            cls.addClassCleanup(cls.controller.broker, "down")
            cls.addClassCleanup(cls.controller.stop)
        cls.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "dc"},
                   "spec": {"levels": [{"nodeLabel": BLOCK}, {"nodeLabel": RACK}, {"nodeLabel": HOST}]}},
                  {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "gpu"},
                   "spec": {"nodeLabels": {"type": "kwok"}, "topologyName": "dc"}})
        flavors = [{"name": "gpu", "resources": [{"name": "cpu", "nominalQuota": 32 * args.nodes}]}]
        cls.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "gpu"},
                   "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}},
                  {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "gpu", "namespace": "default"},
                   "spec": {"clusterQueue": "gpu"}})

    def said(self):
        return self.controller.said() if jobs_test.ARGS.kafka else super().said()

    def count(self, *selector):
        return len(self.kubectl("get", "pods", "-n", "default", "-o", "name", *selector).split())

    def pods_now(self):
        """name, job, node, selected host, phase of each."""
        columns = "N:.metadata.name,J:.metadata.labels.job-name,H:.spec.nodeName,S:.spec.nodeSelector.kubernetes\\.io/hostname,P:.status.phase,D:.metadata.deletionTimestamp"
        text = self.kubectl("get", "pods", "-n", "default", "--no-headers", "-o", "custom-columns=" + columns)
        return [line.split() for line in text.splitlines()]

    def test_gangs_stand_where_they_were_told(self):
        args = jobs_test.ARGS
        jobs = gangs(args.pods)
        wanted = sum(j["spec"]["parallelism"] for j in jobs)
        start = time.monotonic()
        said = lambda what: print(f"{time.monotonic() - start:7.1f} s  {what}", flush=True)  # noqa: E731
        for at in range(0, len(jobs), 50):
            self.apply(*jobs[at:at + 50])
        said(f"{len(jobs)} Jobs of {wanted} pods are made")
        kills, disturbed, gone, deadline = 0, False, None, start + 60 * args.minutes
        while True:
            waiting = self.count("--field-selector", "spec.nodeName=,status.phase=Pending")
            running = self.count("--field-selector", "status.phase=Running")
            said(f"{running} run, {waiting} wait")
            if running >= wanted and waiting == 0:
                break
            self.assertLess(time.monotonic(), deadline, "it takes too long")
            if running > wanted * (kills + 1) / (args.kills + 1) and kills < args.kills:
                kills += 1
                self.controller.kill()
                self.controller.start()
                said("Hindsight was killed and started again")
            if not disturbed and running > wanted / 3:
                disturbed = True
                self.kubectl("cordon", *[f"node-{i}" for i in range(args.nodes - 8, args.nodes)])
                self.kubectl("taint", "node", "node-1", "node-21", "broken=yes:NoExecute")
                gone = json.loads(self.kubectl("get", "node", "node-41", "-o", "json"))
                self.kubectl("delete", "node", "node-41", "--wait=false")
                said("nodes were cordoned, tainted and deleted")
            elif gone is not None and running > wanted / 2:
                for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields"):
                    gone["metadata"].pop(key, None)
                self.kubectl("create", "-f", "-", input=json.dumps(gone))
                self.kubectl("uncordon", *[f"node-{i}" for i in range(args.nodes - 8, args.nodes)])
                self.kubectl("taint", "node", "node-1", "node-21", "broken-")
                gone = None
                said("they are back")
            time.sleep(5)
        said("all pods are bound")
        print("\n".join(line[:400] for line in self.log_cat("WorkloadEvicted").splitlines()), flush=True)
        self.check(jobs)
        self.controller.stop()
        print(run(args.log_invariants, self.controller.log if args.kafka else "sqlite:" + self.log, timeout=1800), flush=True)
        said("the log holds what it must at every record")

    def log_cat(self, kind):
        way = self.controller.way if jobs_test.ARGS.kafka else ["--log", "sqlite:" + self.log]
        return run(jobs_test.ARGS.hindsight, "log", "cat", *way, "--kind", kind, timeout=600)

    def history(self, job):
        """The last decisions about the Workload of the job."""
        text = self.log_cat("Decisions")
        return "\n".join(line[:600] for line in text.splitlines() if f"job-{job}-" in line and "PodsPlaced" not in line)[-20000:]

    def check(self, jobs):
        assigned = {}
        for w in self.items("workloads.kueue.x-k8s.io"):
            owner = w["metadata"]["ownerReferences"][0]["name"]
            assigned[owner] = collections.Counter()
            for p in w["status"]["admission"]["podSetAssignments"]:
                for s in p["topologyAssignment"]["slices"]:
                    values, n = s["valuesPerLevel"][-1], s["domainCount"]
                    individual = values.get("individual", {})
                    hosts = [values["universal"]] * n if "universal" in values else [
                        individual.get("prefix", "") + r + individual.get("suffix", "") for r in individual["roots"]]
                    counts = [s["podCounts"]["universal"]] * n if "universal" in s["podCounts"] else s["podCounts"]["individual"]
                    for host, count in zip(hosts, counts):
                        assigned[owner][host] += count
        stand, on_host = {j["metadata"]["name"]: collections.Counter() for j in jobs}, collections.Counter()
        for name, job, node, selected, phase, deleted in self.pods_now():
            if phase != "Running" or deleted != "<none>":
                continue
            self.assertEqual(node, selected, name)
            stand[job][node] += 1
            on_host[node] += 1
        for job, hosts in stand.items():
            if hosts != assigned[job]:
                self.fail(f"{job}: not where they were told: {dict(hosts - assigned[job])}; told and not there: {dict(assigned[job] - hosts)}\n" +
                          self.history(job))
        self.assertLessEqual(max(on_host.values()), 32 // CPU)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("log_invariants")
    parser.add_argument("--nodes", type=int, default=3000)
    parser.add_argument("--pods", type=int, default=10000)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--kafka", type=int, default=0, metavar="NODES", help="on a Kafka broker, with so many nodes")
    parser.add_argument("--minutes", type=float, default=60, help="so long at most until all pods are bound")
    jobs_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest + ["TopologyScaleTest"], verbosity=2)
