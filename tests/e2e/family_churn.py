"""Families of concurrent admission in constant change: what users, administrators and a check controller do, kills in the middle of migrations, and
what must hold meanwhile and afterwards. Whoever runs it says what is killed and how (SQLite: families_churn_test.py, Kafka: families_fleet_test.py).
"""
import collections, json, os, random, shutil, threading, time

import concurrent_admission_test as families
from api_client import Api, Refused
from family_witness import STEPS, FamilyLog, Witness, conditions, usage_of
from steps import ROOT, eventually, run

API, FLAVORS = families.API, families.FLAVORS
RANKS = ("res", "od", "spot")
COHORTS = {"alpha": "both", "beta": "both", "gamma": None}  # of each ClusterQueue
FIRST = {"res": 2, "od": 3, "spot": 7}  # cpu of each flavor
RANGES = {"res": (0, 6), "od": (0, 6), "spot": (2, 10)}
CHECK = "late"
LONG = 3600  # seconds that a job runs until somebody ends it
# Longer than it takes on a busy machine to hear of a lost admission and to stop the job, or to start again after a kill.
STOP_SECONDS_MAX = 30
STEP_SECONDS_MAX = 4  # after which another migration is tried for
TRIES_MAX = 4
CALM_SECONDS_MAX = 240


class CheckController(threading.Thread):
    """Answers as late as it likes: mostly Ready, now and then Retry or Rejected, and sometimes when nobody asks any more."""

    def __init__(self, api, seed, witness):
        super().__init__(daemon=True)
        self.api, self.rng = api, random.Random(seed)
        self.lock, self.due, self.ending = threading.Lock(), {}, threading.Event()
        self.answers = collections.Counter()
        self.failure = None
        witness.listeners.append(self.see)

    def see(self, w):
        asked = [c for c in w.get("status", {}).get("admissionChecks", []) if c["name"] == CHECK and c["state"] == "Pending"]
        if asked:
            with self.lock:
                if w["metadata"]["name"] not in self.due:
                    late = self.rng.uniform(5, 10) if self.rng.random() < 0.15 else self.rng.uniform(0, 2)
                    self.due[w["metadata"]["name"]] = (time.monotonic() + late, asked[0])

    def run(self):
        try:
            while not self.ending.wait(0.1):
                with self.lock:
                    now = [(n, c) for n, (at, c) in self.due.items() if at <= time.monotonic()]
                    for name, _ in now:
                        del self.due[name]
                for name, asked in now:
                    answer = self.rng.choices(["Ready", "Retry", "Rejected"], [80, 12, 8])[0]
                    new = {**asked, "state": answer, "message": "the test says so", "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
                    if self.api.patch("workloads", name, {"status": {"admissionChecks": [new]}}, "status"):
                        self.answers[answer] += 1
        except BaseException as failure:  # the test asks for it
            self.failure = failure

    def end(self):
        self.ending.set()
        self.join()
        self.api.close()

    def is_quiet(self):
        with self.lock:
            return not self.due


class Churn:
    """Mixed into a test case, which has `args` (families, kills, minutes, invariants), `hindsight`, `kubeconfig`, `logs()`: [(words of a log, domain or None)],
    `kill(queue)`, `start()`, `check_processes()` and `set_gate(on)`."""

    steps_to_kill = STEPS[1:]  # "decided" is heard of when its first write is seen

    def begin(self, seed):
        self.rng = random.Random(seed)
        self.api = Api(self.kubeconfig)
        self.witness = Witness(self.api)
        self.checks = CheckController(Api(self.kubeconfig), seed + 1, self.witness)
        self.checks.start()
        self.began = time.monotonic()
        self.made, self.movers, self.done = 0, 0, collections.Counter()
        self.kills = collections.Counter()  # by the step that was waited for
        self.quota = {q: dict(FIRST) for q in COHORTS}
        self.policy = {q: {"onSuccess": "RemoveLower"} for q in COHORTS}
        self.checked = {q: [] for q in COHORTS}
        self.off = set()  # ClusterQueues whose feature is switched off
        self.addCleanup(self.witness.end)
        self.addCleanup(self.checks.end)

    def set_up_objects(self):
        active = {"type": "Active", "status": "True", "reason": "Active", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for name, labels in FLAVORS.items():
            self.api.create("resourceflavors", {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": {"nodeLabels": labels}})
        for name, value in (("low", 0), ("high", 100)):
            self.api.create("workloadpriorityclasses", {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value})
        self.api.create("admissionchecks", {"apiVersion": API, "kind": "AdmissionCheck", "metadata": {"name": CHECK}, "spec": {"controllerName": "example.com/late"}})
        self.api.patch("admissionchecks", CHECK, {"status": {"conditions": [active]}}, "status")
        for name, cohort in COHORTS.items():
            more = {"cohortName": cohort} if cohort else {}
            preemption = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
            for o in families.queue(name, self.quota[name], preemption=preemption, concurrentAdmission=self.policy[name], **more):
                self.api.create(o["kind"].lower() + "s", o)

    # ---- what administrators do

    def configure(self, q):
        policy = None
        if q not in self.off:
            policy = {"removeBelowTargetConfig": None, **self.policy[q]}
        checks = {"admissionChecks": [{"name": CHECK, "onFlavors": self.checked[q]}]} if self.checked[q] else None
        self.api.patch("clusterqueues", q, {"spec": {"resourceGroups": families.groups(**self.quota[q]), "concurrentAdmission": policy, "admissionChecksStrategy": checks}})

    def change_quota(self):
        q, flavor = self.rng.choice(list(COHORTS)), self.rng.choice(RANKS)
        self.quota[q][flavor] = self.rng.randint(*RANGES[flavor])
        self.configure(q)

    def change_policy(self):
        q = self.rng.choice(list(COHORTS))
        success = self.rng.choice(["RemoveOther", "RemoveLower", "RemoveLower", "RemoveBelowTarget"])
        self.policy[q] = {"onSuccess": success}
        if success == "RemoveBelowTarget":
            self.policy[q]["removeBelowTargetConfig"] = {"targetResourceFlavor": self.rng.choice(RANKS)}
        self.configure(q)

    def change_checks(self):
        q, flavor = self.rng.choice(list(COHORTS)), self.rng.choice(RANKS)
        self.checked[q] = [f for f in RANKS if (f in self.checked[q]) != (f == flavor)]
        self.configure(q)

    def switch_feature(self, on):
        for q in COHORTS:
            (self.off.discard if on else self.off.add)(q)
            self.configure(q)

    # ---- what users do

    def make_jobs(self, count):
        for _ in range(min(count, self.args.families - self.made)):
            rng, name = self.rng, f"f-{self.made:03}"
            self.made += 1
            seconds = rng.choice([rng.randint(2, 10), rng.randint(2, 10), LONG])
            o = families.job(name, rng.choice(list(COHORTS)), str(rng.choice([1, 1, 2, 3])), seconds, rng.choice([0, 0, 0.5, 2]),
                             **{"kueue.x-k8s.io/priority-class": rng.choice(["low", "low", "low", "high"])})
            self.api.create("jobs", o)

    def some(self, plural, holds=lambda o: True):
        found = [o for o in self.api.items(plural) if holds(o)]
        return self.rng.choice(found) if found else None

    def is_going(self, j):
        return "deletionTimestamp" not in j["metadata"] and not any(c["status"] == "True" for t, c in conditions(j).items() if t in ("Complete", "Failed"))

    def finish_job(self):
        p = self.some("pods", lambda p: p["status"].get("phase") == "Running" and "deletionTimestamp" not in p["metadata"])
        if p:
            self.api.patch("pods", p["metadata"]["name"], {"status": {"phase": "Succeeded"}}, "status")

    def delete_job(self):
        j = self.some("jobs", self.is_going)
        if j:
            self.api.delete("jobs", j["metadata"]["name"])

    def change_priority(self):
        j = self.some("jobs", self.is_going)
        if j:
            self.api.patch("jobs", j["metadata"]["name"], {"metadata": {"labels": {"kueue.x-k8s.io/priority-class": self.rng.choice(["low", "high"])}}})

    def delete_option(self):
        w = self.some("workloads", lambda w: "-option-" in w["metadata"]["name"] and "Finished" not in conditions(w))
        if w:
            self.api.delete("workloads", w["metadata"]["name"])

    ACTIONS = {"change_quota": 30, "change_policy": 8, "change_checks": 7, "finish_job": 12, "delete_job": 6, "change_priority": 8, "delete_option": 8}

    def act(self, *allowed):
        names = [n for n in self.ACTIONS if not allowed or n in allowed]
        name = self.rng.choices(names, [self.ACTIONS[n] for n in names])[0]
        self.done[name] += 1
        try:
            getattr(self, name)()
        except Refused as refusal:  # somebody was faster
            if refusal.status not in (404, 409):
                raise

    # ---- kills

    def movable(self):
        """(queue, better flavor, cpu that it needs) for a job that runs and could move if there was room."""
        now = self.witness.now()
        held = collections.Counter()
        for w in now.values():
            if hasattr(w, "usage") and not w.parent and w.reserved:
                for flavor, amount in w.usage.items():
                    held[w.queue, flavor] += amount
        found = []
        for w in now.values():
            if not (hasattr(w, "usage") and w.owner_kind == "Workload" and w.admitted and not w.evicted and not w.finished):
                continue
            parent = now.get(w.owner)
            job = parent and now.get(parent.owner)
            if not job or job.suspended or job.finished or w.queue in self.off:
                continue
            policy, rank = self.policy[w.queue], RANKS.index(next(iter(w.usage)))
            better = [f for f in RANKS[:rank] if f not in self.checked[w.queue]]
            if policy["onSuccess"] == "RemoveBelowTarget":
                target = RANKS.index(policy["removeBelowTargetConfig"]["targetResourceFlavor"])
                better = [f for f in better if RANKS.index(f) <= target]
            if policy["onSuccess"] != "RemoveOther" and better:
                found.append((w.queue, better[0], held[w.queue, better[0]] + sum(w.usage.values())))
        return found

    def provoke(self, anew):
        """Something moves: a job that runs, or one that is made for it."""
        if anew or not self.movable():
            q = self.rng.choice(list(COHORTS))
            self.off.discard(q)
            self.policy[q], self.checked[q] = {"onSuccess": "RemoveLower"}, []
            self.quota[q] = {"res": 0, "od": 0, "spot": 40}
            self.configure(q)
            self.movers += 1
            mover = families.job(f"mover-{self.movers}", q, "1", LONG, self.rng.choice([0, 0.5, 2]), **{"kueue.x-k8s.io/priority-class": "high"})
            self.api.create("jobs", mover)
            deadline = time.monotonic() + 30
            while q not in [where for where, _, _ in self.movable()] and not self.witness.reached.is_set() and time.monotonic() < deadline:
                time.sleep(0.2)
        where = self.movable()
        if where:
            q, flavor, need = self.rng.choice(where)
            self.quota[q][flavor] = max(need, self.quota[q][flavor])
            self.configure(q)

    def kill_once(self, step):
        """`step`: the one of a migration that is waited for; None: any moment."""
        self.witness.want(step)
        found = []
        killer = threading.Thread(target=self.strike, args=(step, self.rng.choice([0, 0, self.rng.uniform(0, 0.1)]), self.rng.uniform(0, 1), found))
        killer.start()
        tries = 0
        while step and killer.is_alive() and tries < TRIES_MAX:
            self.provoke(anew=tries > 0)
            killer.join(STEP_SECONDS_MAX)
            tries += 1
        self.witness.reached.set()
        killer.join()
        if found:
            raise RuntimeError("the kill has failed") from found[0]

    def strike(self, step, delay, pause, found):
        """In a thread of its own, so that nothing is between the step and the kill."""
        try:
            if step:
                self.witness.reached.wait()
            time.sleep(delay)
            begin = time.monotonic()
            self.kill(self.witness.where)
            reached = "any moment" if step is None else step if self.witness.where else "not reached"
            self.kills[reached] += 1
            self.say(f"kill: {reached}")
            if pause < 0.5:  # not of a kind that asks a webhook, which is away
                self.act("delete_job", "finish_job", "delete_option")
            time.sleep(pause)
            self.start()
            self.witness.away.append((begin, time.monotonic()))
        except BaseException as failure:
            found.append(failure)

    def say(self, what):
        print(f"{time.monotonic() - self.began:6.1f} s: {what}", flush=True)

    def start_anew(self, gate):
        begin = time.monotonic()
        self.set_gate(gate)
        self.witness.away.append((begin, time.monotonic()))

    # ---- all of it

    def churn(self):
        args = self.args
        steps = 2 * args.families
        deadline = time.monotonic() + 60 * args.minutes
        # Every step of a migration in turn, and every fifth kill anywhere.
        order = [None if i % 5 == 4 else self.steps_to_kill[i % len(self.steps_to_kill)] for i in range(args.kills)]
        self.rng.shuffle(order)
        # None while there are no families, for nothing would move.
        with_families = [s for s in range(steps // 10, steps) if not (4 <= s * 10 // steps < 5 or 6 <= s * 10 // steps < 7)]
        at = collections.Counter(self.rng.choice(with_families) for _ in range(args.kills))
        feature = {steps * 4 // 10: lambda: self.switch_feature(False), steps * 5 // 10: lambda: self.switch_feature(True),
                   steps * 6 // 10: lambda: self.start_anew(False), steps * 7 // 10: lambda: self.start_anew(True)}
        for step in range(steps):
            self.check_processes()
            if self.checks.failure:
                raise RuntimeError("the check controller has ended") from self.checks.failure
            if step in feature:
                feature[step]()
            for _ in range(at[step]):
                self.kill_once(order.pop())
            wanted = args.families * (step + 1) * 5 // (steps * 4)
            if self.made < min(wanted, args.families):
                self.make_jobs(self.rng.randint(1, 4))
            self.act()
            if step % max(1, steps // 20) == 0:
                self.witness.look(STOP_SECONDS_MAX)
            if step and step % max(1, steps // 4) == 0:
                self.calm(f"at step {step}")
            left = (deadline - time.monotonic()) / (steps - step)
            time.sleep(max(0.0, self.rng.uniform(0, 2 * left)))
        self.make_jobs(args.families)
        self.assertEqual(self.made, args.families)
        self.assertEqual(order, [])

    def calm(self, when):
        """Soon all that the API server shows of usage is what Options hold."""
        def look():
            self.check_processes()
            self.witness.look(STOP_SECONDS_MAX)
            self.compare_usage()
        self.say(f"{self.made} families, {when}")
        try:
            eventually(look, CALM_SECONDS_MAX)
        except AssertionError as failure:
            raise AssertionError(f"{when}: {failure}") from failure
        self.say("calm")

    def compare_usage(self):
        """Of a moment in which nobody wrote: usage is told a little later than it changes."""
        shown, held = {}, collections.defaultdict(collections.Counter)
        for q in self.api.items("clusterqueues"):
            name = q["metadata"]["name"]
            shown[name] = {f["name"]: int(r["total"]) for f in q.get("status", {}).get("flavorsReservation", []) for r in f["resources"] if r["total"] != "0"}
        for w in self.api.items("workloads"):
            told = conditions(w)
            reserved = told.get("QuotaReserved", {}).get("status") == "True" and told.get("Finished", {}).get("status") != "True"
            if reserved and families.PARENT_LABEL not in w["metadata"].get("labels", {}):
                held[w["status"]["admission"]["clusterQueue"]].update(usage_of(w))
        self.assertEqual(shown, {q: dict(held[q]) for q in shown}, "usage that is shown and usage that is held")

    def told_by_log(self):
        out = {}
        for where, domain in self.logs():
            more = ["--domain", domain] if domain else []
            for w in json.loads(run(self.hindsight, "get", "workloads", "-A", "-o", "json", *where, *more))["items"]:
                self.assertNotIn(w["metadata"]["name"], out, "a Workload is in one domain")
                out[w["metadata"]["name"]] = w
        return out

    def compare_log(self):
        """What a fold of the log says of each Workload is what the API server shows."""
        def shape(w):
            status = w.get("status", {})
            admission = status.get("admission") or {}
            return {"active": w["spec"].get("active", True), "priority": w["spec"].get("priority", 0),
                    "conditions": sorted((t, c["status"], c["reason"], c["message"]) for t, c in conditions(w).items()),
                    "queue": admission.get("clusterQueue"), "usage": usage_of(w),
                    "checks": sorted((c["name"], c["state"]) for c in status.get("admissionChecks", [])),
                    "options": [(o["name"], o["state"]) for o in status.get("options", [])]}
        live = {w["metadata"]["name"]: shape(w) for w in self.api.items("workloads")}
        told = {name: shape(w) for name, w in self.told_by_log().items()}
        self.assertEqual(sorted(live), sorted(told), "Workloads of the API server and of the log")
        for name, found in live.items():
            self.assertEqual(found, told[name], f"{name} as the API server shows it, and as the log says")

    def compare_families(self):
        """CA-41, CA-42, CA-100: the Parent shows the admission of its Option."""
        every = self.api.items("workloads")
        for parent in [w for w in every if families.PARENT_LABEL in w["metadata"].get("labels", {})]:
            options = [w for w in every if any(o["uid"] == parent["metadata"]["uid"] for o in w["metadata"].get("ownerReferences", []))]
            admitted = [w for w in options if families.state(w) == "A"]
            name = parent["metadata"]["name"]
            self.assertLess(len(admitted), 2, name)
            self.assertEqual(families.state(parent) == "A", bool(admitted), f"{name} shows an admission if an Option has one")
            if admitted:
                self.assertEqual(parent["status"]["admission"], admitted[0]["status"]["admission"], name)
            shown = {o["name"]: o["state"] for o in parent.get("status", {}).get("options", [])}
            self.assertEqual(shown, {w["metadata"]["name"]: families.SHOWN[families.state(w)] for w in options}, f"{name}: status.options")

    def end_of_everything(self):
        """The world comes to rest; then all jobs go, and nothing is left."""
        def at_rest():
            self.check_processes()
            self.assertTrue(self.checks.is_quiet(), "checks are answered")
            self.compare_usage()
            self.compare_families()
            self.compare_log()
        self.calm("after the churn")
        eventually(at_rest, CALM_SECONDS_MAX)
        self.say(f"at rest: {dict(collections.Counter(families.state(w) for w in self.api.items('workloads')))}")
        for j in self.api.items("jobs"):
            self.api.delete("jobs", j["metadata"]["name"])

        def gone():
            self.check_processes()
            self.assertEqual([w["metadata"]["name"] for w in self.api.items("workloads")], [], "Workloads are left")
            for q in self.api.items("clusterqueues"):
                status = q.get("status", {})
                self.assertEqual([status.get(k, 0) for k in ("pendingWorkloads", "reservingWorkloads", "admittedWorkloads")], [0, 0, 0], q["metadata"]["name"])
            self.compare_usage()
            self.assertEqual(self.told_by_log(), {}, "Workloads are left in the log")
        eventually(gone, CALM_SECONDS_MAX)
        self.say("everything is gone")

    def last_words(self):
        """Judges all versions and the whole log. Hindsight has ended by now."""
        time.sleep(self.witness.lag_seconds)
        judge = self.witness.last_judgement(STOP_SECONDS_MAX)
        families_of, job_of, names = {}, {}, {}
        for v in self.witness.all:
            names[v.object.uid] = v.object.name
            if v.plural == "workloads" and v.object.owner:
                (families_of if v.object.owner_kind == "Workload" else job_of)[v.object.uid] = v.object.owner
        told = FamilyLog(families_of, job_of)
        for where, domain in self.logs():
            more = ["--domain", domain] if domain else []
            verified = json.loads(run(self.hindsight, "verify", "-o", "json", *where, *more))
            self.assertTrue(verified["clean"], verified)
            hashes = {json.loads(run(self.hindsight, "replay", "-o", "json", *where, *more, *start))["hash"] for start in ([], ["--from-start"])}
            self.assertEqual(len(hashes), 1, "a fold from a snapshot and one of all records")
            print(run(self.args.invariants, where[1], *filter(None, [domain])).strip(), flush=True)
            told.read(self.hindsight, where[1], *more)
        for where in sorted({tuple(where) for where, _ in self.logs()}):
            self.assertEqual(json.loads(run(self.hindsight, "log", "check", "-o", "json", *where))["findings"], [])
        ends = told.compare(judge.turns, names)
        longest = collections.defaultdict(float)
        for what, _, _, begin, end in judge.spans:
            longest[what] = max(longest[what], end - begin)
        inside = [steps for _, _, steps in told.takeovers if steps]
        print(f"{self.made} families; {dict(self.done)}; checks answered: {dict(self.checks.answers)}")
        print(f"kills waited for: {dict(self.kills)}")
        print(f"{len(told.takeovers)} starts after the first, {len(inside)} of them inside a migration, at {dict(collections.Counter(s for one in inside for s in one))}")
        of_families = ("Family", "Option", "Migration", "Preemption", "WorkloadEvicted", "WorkloadPreempted")
        print(f"migrations: {dict(ends)}; decided: { {k: n for k, n in sorted(told.counts.items()) if k.startswith(of_families)} }")
        print(f"{judge.versions} versions; longest spans: { {k: round(v, 1) for k, v in longest.items()} }; an evicted Option beside the next one: {len(judge.overlaps)} {judge.overlaps[:5]}", flush=True)
        self.assertEqual(told.findings, [])
        self.assertEqual(judge.early, [], "a job starts when the admission of its Option is written")
        self.assertGreater(ends["admitted"], 0, "something has moved")
        if self.args.kills:
            self.assertGreaterEqual(2 * len(inside), self.args.kills, "half of the kills are inside a migration")

    def keep(self, path):
        """After a failure: a log in a file stays in build/."""
        kept = os.path.join(ROOT, "build", f"{type(self).__name__}-failed.db")
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        for suffix in ("", "-wal"):
            if os.path.exists(path + suffix):
                shutil.copyfile(path + suffix, kept + suffix)
        print(f"---- the log is kept as {os.path.relpath(kept, ROOT)}", flush=True)


def add_options(parser, count, kills, minutes):
    parser.add_argument("--families", type=int, default=count)
    parser.add_argument("--kills", type=int, default=kills)
    parser.add_argument("--minutes", type=float, default=minutes, help="how long the churn lasts, but for its kills")
    parser.add_argument("--seed", type=int)
