#!/usr/bin/env python3
"""Elastic Jobs on a real API server, resized at random while others arrive, finish and preempt them, and Hindsight is killed now and then.

usage: elastic_soak.py HINDSIGHT LOG_INVARIANTS [--jobs N] [--others N] [--resizes N] [--kills N] [--seed S]

Afterwards every Job is complete, every slice is finished, no quota is in use, no quota was exceeded and no pod was released beyond its
slice at any moment that the log recorded, and the log verifies. The defaults take about a minute; for a long run: --jobs 200 --resizes 2000.
EJ-16, EJ-18, EJ-51, EJ-55, EJ-69, EJ-70, EJ-84, EJ-88
"""
import argparse, glob, json, os, random, shutil, sys, tempfile, time, unittest

import jobs_test
from jobs_test import ROOT, Cluster, Controller, queue
from steps import CommandFailed, eventually, run
from what_if_again import plays_again

ELASTIC = "kueue.x-k8s.io/elastic-job"
STALL_SECONDS_MAX = 300  # without any Job or Workload finishing
QUEUES = (("red", 8), ("green", 5))


def job(name, local_queue, parallelism, completions, seconds, elastic, priority):
    out = jobs_test.job(name, local_queue, parallelism, seconds)
    out["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = priority
    out["spec"]["completions"] = completions
    if elastic:
        out["metadata"]["annotations"] = {ELASTIC: "true"}
        out["spec"]["template"]["spec"]["schedulingGates"] = [{"name": ELASTIC}]  # what the webhook adds (EJ-65)
    return out


def is_true(o, condition):
    return any(c["type"] == condition and c["status"] == "True" for c in o.get("status", {}).get("conditions", []))


class ElasticSoak(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="hindsight-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.cluster = Cluster(os.path.join(self.folder, "cluster"))
        self.addCleanup(self.cluster.down)
        self.cluster.kubectl("apply", *[w for f in sorted(glob.glob(os.path.join(ROOT, "deploy", "crds", "*.yaml"))) for w in ("-f", f)])
        self.log = os.path.join(self.folder, "log.db")
        self.controller = Controller(self.cluster.kubeconfig, self.log, os.path.join(self.folder, "hindsight.out"))

    def apply(self, objects):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})

        def once():  # definitions are served a moment after they are applied
            try:
                self.cluster.kubectl("apply", "-f", "-", input=text)
            except CommandFailed as failure:
                if "no matches for kind" not in failure.output:
                    raise RuntimeError(failure) from failure
                raise

        eventually(once)

    def get(self, kind):
        return json.loads(self.cluster.kubectl("get", kind, "-A", "-o", "json"))["items"]

    def test_elastic_jobs_are_resized_while_everything_else_happens(self):
        seed = jobs_test.ARGS.seed if jobs_test.ARGS.seed is not None else random.randrange(1 << 32)
        print("seed", seed, flush=True)
        self.rng = random.Random(seed)
        self.controller.start()
        try:
            self.soak()
            print(run(jobs_test.ARGS.hindsight, "verify", "--log", self.log), flush=True)
            print(run(jobs_test.ARGS.invariants, self.log), flush=True)
            plays_again(jobs_test.ARGS.hindsight, self.log)
            self.must_have_happened()
        except BaseException:
            self.tell()
            raise
        finally:
            if self.controller.process.poll() is None:
                self.controller.kill()

    def soak(self):
        args, rng = jobs_test.ARGS, self.rng
        self.resized = 0
        self.apply([{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {}}])
        self.apply([{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": n}, "value": v} for n, v in (("low", 0), ("high", 100))])
        self.apply([o for name, cpu in QUEUES for o in queue(name, cpu)])

        def some_queue():
            return rng.choice(QUEUES)[0]

        elastic = [f"elastic-{i:03}" for i in range(args.jobs)]
        others = [f"other-{i:03}" for i in range(args.others)]
        actions = ["kill"] * args.kills + ["resize"] * args.resizes + ["other"] * args.others
        rng.shuffle(actions)
        waiting = [job(n, some_queue(), rng.randint(1, 3), rng.randint(3, 8), rng.randint(1, 4), True, "low") for n in elastic]
        started, left_others = [], list(others)
        step = max(1, len(actions) // max(1, len(waiting) // 4))
        for number, action in enumerate(actions):
            if number % step == 0 and waiting:
                batch, waiting = waiting[:4], waiting[4:]
                self.apply(batch)
                started += [j["metadata"]["name"] for j in batch]
            if action == "kill":
                time.sleep(rng.uniform(0, 1))
                self.controller.kill()
                time.sleep(rng.uniform(0, 0.5))
                self.controller.start()
            elif action == "resize":
                size = json.dumps({"spec": {"parallelism": rng.randint(1, 5)}})
                self.resized += "patched" in self.cluster.kubectl("patch", "job", rng.choice(started), "--type=merge", "-p", size, check=False)
            else:
                pods = rng.randint(1, 3)
                self.apply([job(left_others.pop(), some_queue(), pods, pods, rng.randint(1, 3), False, rng.choice(["low", "high"]))])
        if waiting:
            self.apply(waiting)
        self.wait(elastic + others)
        self.contend()
        self.assertEqual(self.controller.stop(), 0, "SIGTERM ends it with status 0")

    def contend(self):
        """Somebody is preempted, however slowly everything above went: elastic Jobs fill both queues until they are deleted, and a more urgent Job comes."""
        full = [job(f"elastic-fills-{name}", name, quota, quota, 3600, True, "low") for name, quota in QUEUES]
        self.apply(full)

        def all_run():
            stands = {j["metadata"]["name"]: j["spec"].get("suspend") for j in self.get("jobs") if j["metadata"]["name"].startswith("elastic-fills-")}
            assert len(stands) == len(full) and not any(stands.values()), stands
        eventually(all_run)
        self.apply([job("other-urgent", QUEUES[0][0], 3, 3, 1, False, "high")])

        def urgent_is_complete():
            assert any(is_true(j, "Complete") for j in self.get("jobs") if j["metadata"]["name"] == "other-urgent")
        eventually(urgent_is_complete)
        self.cluster.kubectl("delete", "job", *(j["metadata"]["name"] for j in full))
        self.wait([])

    def must_have_happened(self):
        """Else it proves nothing."""
        stats = json.loads(run(jobs_test.ARGS.hindsight, "log", "stats", "-o", "json", "--log", self.log))
        decided = {d["event"]: d["count"] for d in stats["decided"]}
        print(f"{self.resized} resizes were taken; decided: {decided}", flush=True)
        # A Job that is complete or has gone takes no other size.
        self.assertGreater(self.resized, jobs_test.ARGS.resizes // 2)
        for event in ("SliceReplaced", "PodsReleased", "WorkloadPreempted"):
            self.assertGreater(decided.get(event, 0), 0, event)

    def wait(self, names):
        """Until all Jobs are complete, all Workloads finished and no quota is in use; fails when nothing of it moves any more."""
        left, last_change = None, time.monotonic()
        while True:
            self.assertIsNone(self.controller.process.poll(), "the controller runs")
            complete = {j["metadata"]["name"] for j in self.get("jobs") if is_true(j, "Complete")}
            now = {"Jobs not complete": sorted(set(names) - complete),
                   "Workloads not finished": sorted(w["metadata"]["name"] for w in self.get("workloads.kueue.x-k8s.io") if not is_true(w, "Finished")),
                   "ClusterQueues in use": [q["metadata"]["name"] for q in self.get("clusterqueues.kueue.x-k8s.io")
                                            if any(q.get("status", {}).get(k, 0) for k in ("reservingWorkloads", "pendingWorkloads", "admittedWorkloads"))
                                            or any(r.get("total", "0") != "0" for f in q.get("status", {}).get("flavorsReservation", []) for r in f["resources"])]}
            if not any(now.values()):
                return
            if now != left:
                left, last_change = now, time.monotonic()
            if time.monotonic() - last_change > STALL_SECONDS_MAX:
                self.fail(f"nothing has changed for {STALL_SECONDS_MAX} s: {left}")
            time.sleep(1)

    def tell(self):
        """After a failure; the log stays in build/."""
        kept = os.path.join(ROOT, "build", "elastic_soak-failed.db")
        for suffix in ("", "-wal"):
            if os.path.exists(self.log + suffix):
                shutil.copyfile(self.log + suffix, kept + suffix)
        with open(self.controller.output, errors="replace") as out:
            print(f"---- what hindsight said last\n{out.read()[-6000:]}", flush=True)
        for words in (("get", "jobs", "-A"), ("get", "workloads.kueue.x-k8s.io", "-A"), ("get", "pods", "-A")):
            print(f"---- kubectl {' '.join(words)}\n{run(self.cluster.dev, 'cluster', 'kubectl', '--dir', self.cluster.folder, '--', *words, check=False)[-6000:]}", flush=True)
        print(f"---- the log is kept as {os.path.relpath(kept, ROOT)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hindsight")
    parser.add_argument("invariants")
    parser.add_argument("--jobs", type=int, default=12, help="elastic Jobs")
    parser.add_argument("--others", type=int, default=8, help="Jobs that arrive and finish beside them")
    parser.add_argument("--resizes", type=int, default=40)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int)
    jobs_test.ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)
