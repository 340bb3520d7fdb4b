#!/usr/bin/env python3
"""Jobs on a real API server while the controller is killed, the server stops, and its history is compacted.

usage: jobs_test.py HINDSIGHT LOG_INVARIANTS [--jobs N] [--kills N] [--seed S]

60 Jobs of three queues go through kubectl. Meanwhile Hindsight is killed (SIGKILL) at random moments and started again, the API server is
stopped for some seconds, and restarted with a compacted history (410 Gone). Afterwards every Job has run and finished exactly once, every
Workload is finished, all quota is free, no quota was exceeded at any recorded moment, and the log verifies.
BA-41, BA-154, BA-169, BA-173, BA-174
"""
import argparse, glob, json, os, random, shutil, signal, subprocess, sys, tempfile, time, unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARGS = None


def run(*words, check=True, timeout=120, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.dev = os.path.join(ROOT, "dev")
        run(self.dev, "cluster", "up", "--dir", folder, timeout=900)
        self.kubeconfig = os.path.join(folder, "kubeconfig")

    def command(self, *words):
        return run(self.dev, "cluster", *words, "--dir", self.folder, timeout=120)

    def kubectl(self, *words, **more):
        return run(self.dev, "cluster", "kubectl", "--dir", self.folder, "--", *words, **more)

    def down(self):
        self.command("down")


class Controller:
    """One `hindsight run`, which may be killed and started again."""

    def __init__(self, kubeconfig, log, output):
        self.words = [ARGS.hindsight, "run", "--kubeconfig", kubeconfig, "--log", "sqlite:" + log, "--no-lease"]
        self.output = output
        self.process = None
        self.starts = 0

    def start(self):
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(self.words, stdout=out, stderr=out)
        self.starts += 1

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """SIGTERM; within seconds."""
        if self.process is None or self.process.poll() is not None:
            return None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=15)


def queue(name, cpu):
    flavors = [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]
    return [
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name},
         "spec": {"cohortName": "all", "namespaceSelector": {}, "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
                  "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}]}},
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": name, "namespace": "default"}, "spec": {"clusterQueue": name}},
    ]


def job(name, local_queue, pods, seconds):
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "default", "labels": {"kueue.x-k8s.io/queue-name": local_queue}},
            "spec": {"suspend": True, "parallelism": pods, "completions": pods, "backoffLimit": 0,
                     "template": {"metadata": {"annotations": {"hindsight.dev/run-seconds": str(seconds)}},
                                  "spec": {"restartPolicy": "Never",
                                           "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}}}


class JobsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        cls.cluster = Cluster(os.path.join(cls.folder, "cluster"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.addClassCleanup(cls.cluster.down)
        for crd in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))):
            cls.cluster.kubectl("apply", "-f", crd)
        for attempt in range(30):  # the API server serves a new kind a moment later
            if "clusterqueues" in cls.cluster.kubectl("api-resources", "--api-group=kueue.x-k8s.io", check=False):
                break
            time.sleep(0.5)

    def apply(self, objects):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        self.cluster.kubectl("apply", "-f", "-", input=text)

    def get(self, kind):
        return json.loads(self.cluster.kubectl("get", kind, "-A", "-o", "json"))["items"]

    def test_every_job_runs_once_whatever_is_killed(self):
        seed = ARGS.seed if ARGS.seed is not None else random.randrange(1 << 32)
        print("seed", seed, flush=True)
        rng = random.Random(seed)
        log = os.path.join(self.folder, "log.db")
        controller = Controller(self.cluster.kubeconfig, log, os.path.join(self.folder, "hindsight.out"))
        controller.start()
        try:
            self.apply([{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {}}])
            self.apply([o for name, cpu in (("red", 6), ("green", 4), ("blue", 2)) for o in queue(name, cpu)])
            names = [f"job-{i:02}" for i in range(ARGS.jobs)]
            jobs = [job(n, rng.choice(["red", "green", "blue"]), rng.randint(1, 2), rng.randint(1, 2)) for n in names]
            events = ["kill"] * ARGS.kills + ["server", "compact"]
            rng.shuffle(events)
            at = sorted(rng.sample(range(1, ARGS.jobs), len(events)))
            for i, one in enumerate(range(0, ARGS.jobs, 5)):
                self.apply(jobs[one:one + 5])
                while at and at[0] < one + 5:
                    at.pop(0)
                    self.disturb(events.pop(), controller, rng)
            self.wait_for_jobs(names, controller)
            self.assertEqual(controller.stop(), 0, "SIGTERM ends it with status 0")
        except BaseException:
            with open(controller.output, errors="replace") as out:
                sys.stderr.write(out.read()[-6000:])
            raise
        finally:
            if controller.process.poll() is None:
                controller.kill()

        self.assertGreater(controller.starts, ARGS.kills)
        pods = self.get("pods")
        for j in self.get("jobs"):
            name = j["metadata"]["name"]
            wanted = j["spec"]["completions"]
            self.assertEqual(j["status"].get("succeeded"), wanted, name)
            self.assertEqual(len([p for p in pods if p["metadata"].get("labels", {}).get("job-name") == name]), wanted, f"{name} ran once")
        workloads = self.get("workloads.kueue.x-k8s.io")
        self.assertEqual(len(workloads), ARGS.jobs)
        for w in workloads:
            conditions = {c["type"]: c["status"] for c in w["status"]["conditions"]}
            self.assertEqual(conditions.get("Finished"), "True", w["metadata"]["name"])
            if conditions.get("Admitted") != "True":  # preempted while its last pod was ending: finished all the same, and never twice
                self.assertEqual(conditions.get("Evicted"), "True", w["metadata"]["name"])
        for q in self.get("clusterqueues.kueue.x-k8s.io"):
            self.assertEqual((q["status"].get("pendingWorkloads", 0), q["status"].get("reservingWorkloads", 0)), (0, 0), q["metadata"]["name"])
        print(run(ARGS.hindsight, "verify", "--log", log), flush=True)
        print(run(ARGS.invariants, log), flush=True)

    def disturb(self, what, controller, rng):
        print("disturb:", what, flush=True)
        if what == "kill":
            time.sleep(rng.uniform(0, 1.5))
            controller.kill()
            time.sleep(rng.uniform(0, 0.5))
            controller.start()
        elif what == "server":
            self.cluster.command("stop", "apiserver")
            time.sleep(3)
            self.cluster.command("start", "apiserver")
        else:
            self.cluster.command("compact", "--expire-watches")

    def wait_for_jobs(self, names, controller):
        deadline = time.time() + 240
        open_jobs = names
        while time.time() < deadline:
            self.assertIsNone(controller.process.poll(), "the controller runs")
            complete = {j["metadata"]["name"] for j in self.get("jobs") if any(c["type"] == "Complete" and c["status"] == "True" for c in j["status"].get("conditions", []))}
            open_jobs = [n for n in names if n not in complete]
            finished = [w for w in self.get("workloads.kueue.x-k8s.io") if any(c["type"] == "Finished" and c["status"] == "True" for c in w.get("status", {}).get("conditions", []))]
            busy = [q for q in self.get("clusterqueues.kueue.x-k8s.io") if q.get("status", {}).get("reservingWorkloads", 0) or q.get("status", {}).get("pendingWorkloads", 0)]
            if not open_jobs and len(finished) == len(names) and not busy:
                return
            time.sleep(1)
        self.fail(f"not finished: {open_jobs}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("invariants")
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
