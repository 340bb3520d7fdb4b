#!/usr/bin/env python3
"""Several nodes, a connector, a real API server and a real Kafka broker, all of which are disturbed while Jobs run.

usage: nodes_test.py HINDSIGHT LOG_INVARIANTS [--jobs N] [--kills N] [--nodes N] [--brokers N] [--seed S]

A connector mirrors the cluster into the log and carries decisions out; nodes share the log's partitions by a consumer group and decide. While
Jobs go through kubectl, nodes and the connector are killed (SIGKILL) at random moments and started again, the node that decides is paused for
longer than the session time-out and goes on as a zombie, its network is cut for as long, and the broker is away for longer than one call waits.
One of the nodes stands by for what the others decide. With several brokers each of
them is killed or cut off in turn, so that the log's leader is among them, and the others go on. Afterwards every Job has run and finished
exactly once, no quota was exceeded at any recorded moment, decisions of replaced nodes did not count, and the log verifies.
"""
import argparse, glob, json, os, random, shutil, signal, subprocess, sys, tempfile, time, unittest

import jobs_test
from jobs_test import Cluster, eventually, job, queue
from proxy import Proxy
from steps import ROOT, Program, run
from what_if_again import plays_again

ARGS = None

SESSION_SECONDS = 6  # the shortest that a broker allows
PATIENCE_SECONDS = 3  # of one call of the log
BROKER_AWAY_SECONDS = 12  # longer than brokers wait for one another (9 s), so that another one leads
STALL_SECONDS_MAX = 300


class NodesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-nodes-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.kafka_folder = os.path.join(cls.folder, "kafka")
        cls.proxies = [Proxy() for _ in range(ARGS.nodes if ARGS.brokers == 1 else 0)]
        for proxy in cls.proxies:
            cls.addClassCleanup(proxy.close)
        cls.bootstrap = cls.kafka("up", "--brokers", str(ARGS.brokers), *(w for p in cls.proxies for w in ("--through", str(p.port)))).strip()
        cls.addClassCleanup(cls.kafka, "down")
        with open(os.path.join(cls.kafka_folder, "kafka.json"), encoding="utf-8") as settings:
            through = json.load(settings)["through"]
        for proxy in cls.proxies:
            proxy.target = through[str(proxy.port)]
        cls.log = "kafka:" + cls.bootstrap
        cls.config = os.path.join(cls.folder, "kafka.properties")
        with open(cls.config, "w", encoding="utf-8") as out:
            out.write(f"patience.ms={PATIENCE_SECONDS * 1000}\npartitions={getattr(ARGS, 'partitions', 1)}\n")
        run(ARGS.hindsight, "log", "init", "--log", cls.log, "--log-config", cls.config)
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"))
        cls.addClassCleanup(cls.cluster.down)
        for crd in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))):
            cls.cluster.kubectl("apply", "-f", crd)

        def served():
            kinds = cls.cluster.kubectl("api-resources", "--api-group=kueue.x-k8s.io", check=False)
            for kind in ("clusterqueues", "cohorts", "localqueues", "resourceflavors", "workloads"):
                assert kind in kinds, f"{kind} is not served: {kinds}"

        eventually(served)

    @classmethod
    def kafka(cls, *words):
        done = subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "scripts", "kafka.py"), *words, "--dir", cls.kafka_folder],
                              stdout=subprocess.PIPE, text=True, check=True, timeout=600)
        return done.stdout

    def apply(self, objects):
        self.cluster.kubectl("apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def get(self, kind):
        return json.loads(self.cluster.kubectl("get", kind, "-A", "-o", "json"))["items"]

    def test_every_job_runs_once_whoever_decides(self):
        seed = ARGS.seed if ARGS.seed is not None else random.randrange(1 << 32)
        print("seed", seed, flush=True)
        rng = random.Random(seed)
        log = ["--log", self.log, "--log-config", self.config]
        output = lambda name: os.path.join(self.folder, name + ".out")
        connector = Program("connector", output("connector"), ARGS.hindsight, "run", "--role", "connector", "--kubeconfig", self.cluster.kubeconfig, *log,
                            "--no-lease")
        nodes = [Program(f"node-{i}", output(f"node-{i}"), ARGS.hindsight, "run", "--role", "node", "--log", way, "--log-config", self.config,
                         "--session-timeout", str(SESSION_SECONDS), *(["--member", f"node-{i}"] if i == 0 else []),  # one of them as a static member
                         *(["--standby"] if i == 1 else []))
                 for i, way in enumerate(self.ways())]
        everybody = [connector, *nodes]
        try:
            for one in everybody:
                one.start()
            self.apply([{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {}}])
            self.apply([o for name, cpu in (("red", 6), ("green", 4), ("blue", 2)) for o in queue(name, cpu)])
            names = [f"job-{i:02}" for i in range(ARGS.jobs)]
            jobs = [job(n, rng.choice(["red", "green", "blue"]), rng.randint(1, 2), rng.randint(1, 2)) for n in names]
            events = ["owner", *self.faults(rng)] + [rng.choice(["owner", "node", "connector"]) for _ in range(ARGS.kills - 1)]
            rng.shuffle(events)
            at = sorted(rng.sample(range(1, ARGS.jobs), min(len(events), ARGS.jobs - 1)))
            for one in range(0, ARGS.jobs, 5):
                self.apply(jobs[one:one + 5])
                while at and at[0] < one + 5:
                    at.pop(0)
                    self.disturb(events.pop(), connector, nodes, rng)
            self.wait_for_jobs(names, everybody)
            for one in reversed(everybody):
                self.assertEqual(one.stop(), 0, f"SIGTERM ends {one.name} with status 0")
        except BaseException:
            self.tell(everybody)
            raise
        finally:
            for one in everybody:
                one.kill()
        eventually(lambda: jobs_test.JobsTest.check_pods(self))
        verified = json.loads(run(ARGS.hindsight, "verify", "--log", self.log, "-o", "json"))
        print(json.dumps(verified), flush=True)
        self.assertTrue(verified["clean"])
        print(run(ARGS.invariants, self.log), flush=True)
        plays_again(ARGS.hindsight, self.log)
        checked = json.loads(run(ARGS.hindsight, "log", "check", "--log", self.log, "-o", "json"))
        self.assertEqual(checked["findings"], [])
        # Whoever decided, they did so one after another, each in epochs of its own.
        begun = [json.loads(line) for line in run(ARGS.hindsight, "log", "cat", "--log", self.log, "-o", "json").splitlines()]
        epochs = [r["epoch"] for r in begun if r.get("kind") == "EpochStarted"]
        print("epochs", len(epochs), flush=True)
        self.assertGreater(len(set(epochs)), 1, "somebody took over")

    def ways(self):
        """Each node has a way of its own to the one broker, which can be cut."""
        return [f"kafka:127.0.0.1:{p.port}" for p in self.proxies] or [self.log] * ARGS.nodes

    def faults(self, rng):
        """Of nodes that go on, and of brokers: each kind once."""
        return ["pause"] + (["broker", "cut"] if ARGS.brokers == 1 else [f"{rng.choice(['kill', 'cut'])} {i + 1}" for i in range(ARGS.brokers)])

    def owner(self, nodes):
        """The node that begins to decide last, as its output says."""
        decides = [n for n in nodes if n.runs() and "is decided here" in n.said()]
        return max(decides, key=lambda n: os.path.getmtime(n.output), default=None)

    def disturb(self, what, connector, nodes, rng):
        owner = self.owner(nodes) or nodes[0]
        print("disturb:", what, owner.name if what in ("owner", "pause", "cut") else "", flush=True)
        time.sleep(rng.uniform(0, 1.5))
        if what == "pause":
            owner.signal(signal.SIGSTOP)
            time.sleep(SESSION_SECONDS + 4)
            owner.signal(signal.SIGCONT)
        elif what == "cut":
            way = self.proxies[nodes.index(owner)]
            way.cut()
            time.sleep(SESSION_SECONDS + 4)
            way.mend()
        elif what == "broker":
            self.kafka("stop", "1")
            time.sleep(3 * PATIENCE_SECONDS)
            self.kafka("start", "1")
        elif what.startswith(("kill ", "cut ")):
            how, broker = what.split()
            away, back = ("kill", "start") if how == "kill" else ("pause", "resume")
            self.kafka(away, broker)
            time.sleep(BROKER_AWAY_SECONDS)
            self.kafka(back, broker)
        else:
            victim = {"owner": owner, "connector": connector, "node": rng.choice(nodes)}[what]
            victim.kill()
            time.sleep(rng.uniform(0, 2))
            victim.start()

    def wait_for_jobs(self, names, everybody):
        def has(o, condition):
            return any(c["type"] == condition and c["status"] == "True" for c in o.get("status", {}).get("conditions", []))

        left, last_change = None, time.monotonic()
        while True:
            for one in everybody:
                self.assertTrue(one.runs(), f"{one.name} runs")
            complete = {j["metadata"]["name"] for j in self.get("jobs") if has(j, "Complete")}
            unfinished = [w["metadata"]["name"] for w in self.get("workloads.kueue.x-k8s.io") if not has(w, "Finished")]
            now_left = ([n for n in names if n not in complete], unfinished)
            if not any(now_left):
                return
            if now_left != left:
                left, last_change = now_left, time.monotonic()
            self.assertLess(time.monotonic() - last_change, STALL_SECONDS_MAX, f"nothing moves any more: {left}")
            time.sleep(1)

    def tell(self, everybody):
        for one in everybody:
            print(f"---- what {one.name} said last\n{one.said()[-5000:]}", flush=True)
        for words in (("log", "stats"), ("get", "workloads", "-A"), ("get", "clusterqueues")):
            print(f"---- hindsight {' '.join(words)}\n{run(ARGS.hindsight, *words, '--log', self.log, check=False)[-5000:]}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("invariants")
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--seed", type=int)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
