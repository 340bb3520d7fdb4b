#!/usr/bin/env python3
"""Jobs on a real API server while the controller is killed, the server stops, and its history is compacted.

usage: jobs_test.py HINDSIGHT LOG_INVARIANTS [--jobs N] [--kills N] [--seed S]

60 Jobs of three queues go through kubectl. Meanwhile Hindsight is killed (SIGKILL) at random moments and started again, the API server is
stopped for some seconds, and restarted with a compacted history (410 Gone). Afterwards every Job has run and finished exactly once, every
Workload is finished, all quota is free, no quota was exceeded at any recorded moment, and the log verifies. Then the same log goes on, of
which only the last seconds are kept.
BA-41, BA-154, BA-169, BA-173, BA-174
"""
import argparse, contextlib, glob, json, os, random, shutil, signal, subprocess, sys, tempfile, time, unittest

import steps
from steps import ROOT, CommandFailed, run
from what_if_again import plays_again

ARGS = None

STALL_SECONDS_MAX = 300  # without any Job finishing
STOP_SECONDS_MAX = 60
SERVER_SECONDS_MAX = 120

# What kubectl says when it is the server that does not answer.
NO_SERVER = ("connection refused", "Unable to connect", "connection reset", "unexpected EOF", "i/o timeout", "TLS handshake timeout",
             "the server is currently unable", "ServiceUnavailable", "etcdserver:", "request timed out", "http2: client connection lost")


def eventually(look, seconds=STALL_SECONDS_MAX):
    return steps.eventually(look, seconds)


class Cluster:
    def __init__(self, folder, *options):
        self.folder = folder
        self.dev = os.path.join(ROOT, "dev")
        run(self.dev, "cluster", "up", "--dir", folder, *options, timeout=900)
        self.kubeconfig = os.path.join(folder, "kubeconfig")

    def command(self, *words):
        return run(self.dev, "cluster", *words, "--dir", self.folder)

    def kubectl(self, *words, **more):
        """Repeated while the server is not there, which need not be its fault: it is stopped and started here. May so be done twice."""
        deadline = time.monotonic() + SERVER_SECONDS_MAX
        while True:
            try:
                return run(self.dev, "cluster", "kubectl", "--dir", self.folder, "--", *words, **more)
            except CommandFailed as failure:
                if time.monotonic() > deadline or not any(sign in failure.output for sign in NO_SERVER):
                    raise
            time.sleep(0.5)

    def down(self):
        self.command("down")


class Controller:
    """One `hindsight run`, which may be killed and started again."""

    def __init__(self, kubeconfig, log, output, *options):
        self.words = [ARGS.hindsight, "run", "--kubeconfig", kubeconfig, "--log", "sqlite:" + log, "--no-lease", *options]
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
        return self.process.wait(timeout=STOP_SECONDS_MAX)


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

        def served():  # a moment later
            kinds = cls.cluster.kubectl("api-resources", "--api-group=kueue.x-k8s.io", check=False)
            for kind in ("clusterqueues", "localqueues", "resourceflavors", "workloads"):
                assert kind in kinds, f"{kind} is not served: {kinds}"

        eventually(served)

    def apply(self, objects):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        self.cluster.kubectl("apply", "-f", "-", input=text)

    def get(self, kind):
        return json.loads(self.cluster.kubectl("get", kind, "-A", "-o", "json"))["items"]

    def test_every_job_runs_once_whatever_is_killed(self):
        seed = ARGS.seed if ARGS.seed is not None else random.randrange(1 << 32)
        print("seed", seed, flush=True)
        log = os.path.join(self.folder, "log.db")
        names = [f"job-{i:02}" for i in range(ARGS.jobs)]
        with self.running(log, "hindsight.out") as controller:
            self.disturbed_run(random.Random(seed), log, controller, names)
        with self.running(log, "forgetful.out", "--keep-history", "2s") as controller:
            self.goes_on_with_little_history(log, controller, names)

    @contextlib.contextmanager
    def running(self, log, output, *options):
        """A controller; what it said is shown after a failure, and at the end it is gone."""
        controller = Controller(self.cluster.kubeconfig, log, os.path.join(self.folder, output), *options)
        controller.start()
        try:
            yield controller
        except BaseException:
            self.tell(log, controller)
            raise
        finally:
            if controller.process.poll() is None:
                controller.kill()

    def disturbed_run(self, rng, log, controller, names):
        self.apply([{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {}}])
        self.apply([o for name, cpu in (("red", 6), ("green", 4), ("blue", 2)) for o in queue(name, cpu)])
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
        self.assertGreater(controller.starts, ARGS.kills)
        eventually(self.check_pods)  # those of a preempted Job go in their own time
        workloads = self.get("workloads.kueue.x-k8s.io")
        self.assertEqual(len(workloads), ARGS.jobs)
        for w in workloads:
            conditions = {c["type"]: c["status"] for c in w["status"]["conditions"]}
            self.assertEqual(conditions.get("Finished"), "True", w["metadata"]["name"])
            if conditions.get("Admitted") != "True":  # preempted while its last pod was ending: finished all the same, and never twice
                story = "" if conditions.get("Evicted") == "True" else run(ARGS.hindsight, "history", f"default/{w['metadata']['name']}", "--log", log, check=False)
                self.assertEqual(conditions.get("Evicted"), "True", f"{w['metadata']['name']}: {json.dumps(w['status'])}\n{story}")
        for q in self.get("clusterqueues.kueue.x-k8s.io"):
            self.assertEqual((q["status"].get("pendingWorkloads", 0), q["status"].get("reservingWorkloads", 0)), (0, 0), q["metadata"]["name"])
        print(run(ARGS.hindsight, "verify", "--log", log), flush=True)
        print(run(ARGS.invariants, log), flush=True)
        plays_again(ARGS.hindsight, log)

    def goes_on_with_little_history(self, log, controller, names):
        """The same log, of which only the last seconds are kept from now on, and kills on the way."""
        more = [f"more-{i}" for i in range(10)]
        for half in (more[:5], more[5:]):
            self.apply([job(n, "red", 1, 1) for n in half])
            self.wait_for_jobs(names + half, controller)
            controller.kill()
            controller.start()
        self.wait_for_jobs(names + more, controller)

        def forgotten():
            past = run(ARGS.hindsight, "get", "workloads", "-A", "--at", "1", "--log", log, check=False)
            assert "was trimmed" in past, past

        eventually(forgotten)
        self.assertEqual(controller.stop(), 0)
        eventually(self.check_pods)
        print(run(ARGS.hindsight, "verify", "--log", log), flush=True)
        self.assertEqual(json.loads(run(ARGS.hindsight, "log", "check", "--log", log, "-o", "json"))["findings"], [])

    def check_pods(self):
        pods = self.get("pods")
        for j in self.get("jobs"):
            name = j["metadata"]["name"]
            wanted = j["spec"]["completions"]
            self.assertEqual(j["status"].get("succeeded"), wanted, name)
            self.assertEqual(len([p for p in pods if p["metadata"].get("labels", {}).get("job-name") == name]), wanted, f"{name} ran once")

    def tell(self, log, controller):
        """After a failure: what the controller said, what stands in the cluster and in the log. The log stays in build/."""
        kept = os.path.join(ROOT, "build", "jobs_test-failed.db")
        for suffix in ("", "-wal"):
            if os.path.exists(log + suffix):
                shutil.copyfile(log + suffix, kept + suffix)
        with open(controller.output, errors="replace") as out:
            print(f"---- what hindsight said last\n{out.read()[-8000:]}", flush=True)
        left = [j["metadata"]["name"] for j in self.get("jobs") if j.get("status", {}).get("succeeded") != j["spec"]["completions"]]
        whole = [words for name in left[:3] for words in (("get", "job", name, "-o", "yaml"), ("get", "pods", "-l", "job-name=" + name, "-o", "yaml"),
                                                          ("events", "--for", "job/" + name))]
        for words in (("get", "jobs", "-A"), ("get", "workloads.kueue.x-k8s.io", "-A"), ("get", "clusterqueues.kueue.x-k8s.io"), ("get", "pods", "-A"), *whole):
            print(f"---- kubectl {' '.join(words)}\n{run(self.cluster.dev, 'cluster', 'kubectl', '--dir', self.cluster.folder, '--', *words, check=False)[-6000:]}", flush=True)
        for words in (("log", "stats"), ("get", "workloads", "-A"), ("get", "clusterqueues")):
            print(f"---- hindsight {' '.join(words)}\n{run(ARGS.hindsight, *words, '--log', log, check=False)[-6000:]}", flush=True)
        print(f"---- the log is kept as {os.path.relpath(kept, ROOT)}", flush=True)

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
        """Until all Jobs are complete, all Workloads finished and all quota is free; fails when nothing of it moves any more."""
        def has(o, condition):
            return any(c["type"] == condition and c["status"] == "True" for c in o.get("status", {}).get("conditions", []))

        left, last_change = None, time.monotonic()
        while True:
            self.assertIsNone(controller.process.poll(), "the controller runs")
            complete = {j["metadata"]["name"] for j in self.get("jobs") if has(j, "Complete")}
            unfinished = [w["metadata"]["name"] for w in self.get("workloads.kueue.x-k8s.io") if not has(w, "Finished")]
            busy = [q["metadata"]["name"] for q in self.get("clusterqueues.kueue.x-k8s.io")
                    if q.get("status", {}).get("reservingWorkloads", 0) or q.get("status", {}).get("pendingWorkloads", 0)]
            now_left = {"Jobs not complete": [n for n in names if n not in complete], "Workloads not finished": unfinished, "ClusterQueues in use": busy}
            if not any(now_left.values()):
                return
            if now_left != left:
                left, last_change = now_left, time.monotonic()
            if time.monotonic() - last_change > STALL_SECONDS_MAX:
                self.fail(f"nothing has changed for {STALL_SECONDS_MAX} s: {left}")
            time.sleep(1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("invariants")
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
